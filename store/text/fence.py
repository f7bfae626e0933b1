"""Fences: recalled text is data. It stands in a context between two marks that nothing inside them can be.

What was written by files, tools, the web, agents and people long ago may hold orders, invisible letters and marks that
end a turn for a model. All that is invisible goes, the marks of chat templates and whatever looks like a fence are
broken, a line that begins like a turn of the conversation is quoted, and the fence carries a digest of what it holds.
"""

import re
import unicodedata

from store.base.hashing import sha256

MARK = "memoranda"
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200d\ufe0f"  # they hold emoji and some scripts together; after other characters they only hide
_LINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# the marks by which chat templates tell who speaks, however they are spaced
_TEMPLATE = re.compile(
    r"<\s*(?=/?\s*[|｜¦])|[|｜¦]\s*(?=>)|\[(?=\s*/?\s*(?:INST|SYS|TOOL_CALLS?|AVAILABLE_TOOLS)\b)"
    r"|<(?=\s*/?\s*(?:s|sys|eos|bos|sop|human)\s*>)"
    r"|<(?=\s*/?\s*(?:system|user|assistant|think|tool|function|instruction|(?:start|end|begin)[_-]of[_-])[\w-]*(?:\s[^<>]*)?>)"
    r"|<(?=<\s*/?\s*SYS)",
    re.IGNORECASE,
)
_LIKE_LESS = str.maketrans(dict.fromkeys("＜﹤‹〈⟨❮ᐸ˂", "<"))
_SPEAKER = re.compile(
    r"[\s#>*_\-–—•`]*(?:system|user|assistant|human|developer|tool|ai|sistema|usuario|asistente)\s*[*_`]*\s*[:：]",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """A text without what nobody sees in it, its lines parted by newlines alone."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINES.sub("\n", text).replace("\t", "    ")
    return _UNSEEN.sub(_held, text)


def _held(match: re.Match[str]) -> str:
    """A joiner where it joins, else nothing."""
    char, start = match[0], match.start()
    if char in _JOINERS and start:
        before = match.string[start - 1]
        if before >= "\u0900" and before not in _JOINERS and not _UNSEEN.match(before):
            return char
        if char == "\u200d" and before == "\ufe0f" and start > 1 and match.string[start - 2] >= "\u0900":
            return char
    return ""


def harmless(text: str) -> str:
    """A text as it may stand within a fence: plain, and with nothing in it that ends one, or a turn. Idempotent."""
    lines = plain(text).split("\n")
    text = "\n".join(f"| {line}" if _SPEAKER.match(_folded(line)) else line for line in lines)
    if "<" in text or "[" in text or "|" in text or not text.isascii():  # after the lines: `| ` can complete a mark
        text = _broken(_TEMPLATE.sub(_bent, text))
    return text


def _bent(match: re.Match[str]) -> str:
    """A mark of a template with the character that makes it one changed."""
    return match[0].replace("<", "‹").replace("[", "⟦").replace("|", "¦").replace("｜", "¦")


def _broken(text: str) -> str:
    """A text in which no bracket stands before our mark, however many other signs stand between."""
    folded = _folded(text)
    if MARK not in folded:
        return text
    chars = list(text)
    for found in re.finditer(MARK, folded):
        place = found.start() - 1
        while place >= 0 and not (folded[place].isalnum() or folded[place] == "_"):
            if folded[place] in "<[{":
                chars[place] = "("
            place -= 1
    return "".join(chars)


def _folded(text: str) -> str:
    """The text as a reader would take it, letter for letter: as long as the text is."""
    if text.isascii():
        return text.lower()
    text = text.translate(_LIKE_LESS)
    return "".join(
        form if len(form := unicodedata.normalize("NFKC", char).lower()) == 1 else char.lower()[:1] or char
        for char in text
    )


def fenced(name: str, heading: str, lines: list[str]) -> str:
    """Lines, each harmless already, under a heading of ours and between two marks; empty without lines."""
    if not lines:
        return ""
    body = "\n".join(lines)
    digest = sha256(body.encode("utf-8", "replace")).hexdigest()[:10]
    return f"{heading}\n<{MARK}-{name} {digest}>\n{body}\n</{MARK}-{name} {digest}>"


def item(start: str, text: str) -> str:
    """One thing in a fence: our own words at its start, then its text, harmless, its further lines indented, so that
    none of them passes for another thing."""
    first, *rest = harmless(text).strip("\n").split("\n")
    return "\n".join([f"{start}{first}", *(f"    {line}" for line in rest)])
