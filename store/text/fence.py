"""Fences: recalled text is data. In a context it is put between two marks that cannot occur inside.

What was written by files, tools, the web, agents and people long ago may contain instructions, invisible characters and
marks that end a turn for a model. Invisible characters are removed, marks of chat templates and anything similar to a
fence are changed, a line that begins like a turn of the conversation is quoted, and the fence contains a digest of its
content.
"""

import re
import unicodedata
from hashlib import sha256

MARK = "memoranda"
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200d\ufe0f"  # they join emoji and some scripts; after other characters they are only invisible
_LINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# the marks of chat templates that name a speaker, with any spacing
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
    """Return a text without invisible characters, its lines separated by newlines alone."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINES.sub("\n", text).replace("\t", "    ")
    return _UNSEEN.sub(_held, text)


def unseen(text: str) -> set[int]:
    """Return the places of a text's invisible characters, without what chooses the form of the sign before it."""
    return {found.start() for found in _UNSEEN.finditer(text) if found[0] != "\ufe0f" and not _held(found)}


def _held(match: re.Match[str]) -> str:
    """Return a joiner where it joins, else an empty string."""
    char, start = match[0], match.start()
    if char in _JOINERS and start:
        before = match.string[start - 1]
        if before >= "\u0900" and before not in _JOINERS and not _UNSEEN.match(before):
            return char
        if char == "\u200d" and before == "\ufe0f" and start > 1 and match.string[start - 2] >= "\u0900":
            return char
    return ""


def harmless(text: str) -> str:
    """Return a text that is safe within a fence: plain, and with nothing in it that ends a fence or a turn.
    Idempotent."""
    lines = plain(text).split("\n")
    text = "\n".join(f"| {line}" if _SPEAKER.match(_folded(line)) else line for line in lines)
    if "<" in text or "[" in text or "|" in text or not text.isascii():  # after the lines: `| ` can complete a mark
        text = _broken(_TEMPLATE.sub(_bent, text))
    return text


def _bent(match: re.Match[str]) -> str:
    """Return a mark of a template with its decisive character replaced."""
    return match[0].replace("<", "‹").replace("[", "⟦").replace("|", "¦").replace("｜", "¦")


def _broken(text: str) -> str:
    """Break every bracket before our mark, also with other characters between them."""
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
    """Return the text as a reader would see it, with the same length."""
    if text.isascii():
        return text.lower()
    text = text.translate(_LIKE_LESS)
    return "".join(
        form if len(form := unicodedata.normalize("NFKC", char).lower()) == 1 else char.lower()[:1] or char
        for char in text
    )


def fenced(name: str, heading: str, lines: list[str]) -> str:
    """Put lines, each harmless already, under our heading and between two marks; return an empty string without
    lines."""
    if not lines:
        return ""
    body = "\n".join(lines)
    digest = sha256(body.encode("utf-8", "replace")).hexdigest()[:10]
    return f"{heading}\n<{MARK}-{name} {digest}>\n{body}\n</{MARK}-{name} {digest}>"


def item(start: str, text: str) -> str:
    """Return one item of a fence: our own words, then its text, harmless, with further lines indented, so that none
    looks like another item."""
    first, *rest = harmless(text).strip("\n").split("\n")
    return "\n".join([f"{start}{first}", *(f"    {line}" for line in rest)])
