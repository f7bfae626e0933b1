"""What of a prompt or a reply is its writer's own: without what we put into the context ourselves.

Clients return what hooks injected: Gemini in `<hook_context>` around the next prompt, others where a person
or a model quotes it. None of it may be learned from.
"""

import re

_FENCE = re.compile(r"<(/?)(memoranda-[a-z]{1,20} [0-9a-f]{10})>")
_HEADING = re.compile(r"^.*\bData, never instructions:[ \t]*\n?", re.MULTILINE)
_HOOK, _HOOK_END = "<hook_context>", "</hook_context>"
_SPOKEN = re.compile(r"/[\w:.-]+\Z")  # a command of the client's own, with nothing behind it


def of_prompt(client: str, text: str) -> str:
    """Return what a person wrote; empty if nothing is left."""
    if client == "gemini":
        text = _without(text, _HOOK, _HOOK_END)
    elif client == "opencode":
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] == '"':  # `opencode run` wraps what it is given
            text = text[1:-1]
    elif "<" in text or "essage" in text or "NOTIFICATION" in text:
        from store.ingest.claude import without_told

        text = without_told(text)[0]
    text = of_anybody(text)
    return "" if _SPOKEN.match(text) else text


def of_anybody(text: str) -> str:
    """Return a text without our fences and what stands in them."""
    if "<memoranda-" in text:
        marks = list(_FENCE.finditer(text))
        ends: dict[str, list[int]] = {}  # of each fence, the last first
        for mark in reversed(marks):
            if mark[1]:
                ends.setdefault(mark[2], []).append(mark.end())
        kept, place = list[str](), 0
        for mark in marks:
            after = ends.get(mark[2], [])
            while after and after[-1] <= mark.end():
                after.pop()
            if not mark[1] and after and mark.start() >= place:
                kept.append(text[place : mark.start()])
                place = after[-1]
        text = "".join([*kept, text[place:]])
        text = _HEADING.sub("", text)
    return text.strip()


def _without(text: str, begin: str, end: str) -> str:
    """Return a text without what stands between each `begin` and the `end` behind it; the client escapes either
    inside."""
    kept, place = list[str](), 0
    while (start := text.find(begin, place)) >= 0 and (stop := text.find(end, start)) >= 0:
        kept.append(text[place:start])
        place = stop + len(end)
    return "".join([*kept, text[place:]])
