"""Fences: recalled text is data. In a context it is put between two marks that cannot occur inside.

What was written by files, tools, the web, agents and people long ago may contain instructions, invisible characters and
marks that end a turn for a model. Invisible characters are removed, marks of chat templates and anything similar to a
fence are changed, a line that begins like a turn of the conversation is quoted, and the fence contains a digest of its
content.
"""

import os
import re
import unicodedata
from collections import defaultdict
from functools import cache
from hashlib import sha256

from store.text.words import fold_text, list_languages, read_language_file

FENCE_MARK = "memoranda"
# they join emoji and some scripts; after other characters they are only invisible
_JOINERS = "\u200d\ufe0f"
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# the marks of chat templates that name a speaker, with any spacing
_TEMPLATE = (
    r"(?i)<\s*(?=/?\s*[|｜¦])|[|｜¦]\s*(?=>)|\[(?=\s*/?\s*(?:INST|SYS|TOOL_CALLS?|AVAILABLE_TOOLS)\b)"
    r"|<(?=\s*/?\s*(?:s|sys|eos|bos|sop|human)\s*>)"
    r"|<(?=\s*/?\s*(?:system|user|assistant|think|tool|function|instruction|(?:start|end|begin)[_-]of[_-])[\w-]*(?:\s[^<>]*)?>)"
    r"|<(?=<\s*/?\s*SYS)"
)
_LIKE_LESS = str.maketrans(dict.fromkeys("＜﹤‹〈⟨❮ᐸ˂", "<"))
_SPEAKER = (
    r"(?i)[\s#>*_\-–—•`]*(?:system|user|assistant|human|developer|tool|ai|sistema|usuario|asistente)"
    r"\s*[*_`]*\s*[:：]"
)


@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(
        # control characters except tab and newline
        "[\0-\x08\x0b-\x1f\x7f-\x9f"
        "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
        "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
        "\ud800-\udfff\U000e0000-\U000e0fff]"
    )


def strip_invisible(text: str) -> str:
    """Return a text without invisible characters, its lines separated by newlines alone."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text).replace("\t", "    ")
    return _invisible().sub(_keep_joiner, text)


def find_invisible(text: str) -> set[int]:
    """Return the places of a text's invisible characters, except joiners that join and the sign that chooses an
    emoji's form."""
    return {
        found.start() for found in _invisible().finditer(text) if found[0] != "\ufe0f" and not _keep_joiner(found)
    }


def _keep_joiner(match: re.Match[str]) -> str:
    """Return a joiner where it joins, else an empty string."""
    char, start = match[0], match.start()
    if char in _JOINERS and start:
        before = match.string[start - 1]
        if before >= "\u0900" and before not in _JOINERS and not _invisible().match(before):
            return char
        if char == "\u200d" and before == "\ufe0f" and start > 1 and match.string[start - 2] >= "\u0900":
            return char
    return ""


def make_harmless(text: str) -> str:
    """Return a text that is safe within a fence: plain, and with nothing in it that ends a fence or a turn.
    Idempotent."""
    lines = strip_invisible(text).split("\n")
    text = "\n".join(f"| {line}" if re.match(_SPEAKER, _fold_same_length(line)) else line for line in lines)
    # after the lines: `| ` can complete a mark
    if "<" in text or "[" in text or "|" in text or not text.isascii():
        text = _break_fence_marks(re.sub(_TEMPLATE, _break_template_mark, text))
    return text


def _break_template_mark(match: re.Match[str]) -> str:
    """Return a mark of a template with its decisive character replaced."""
    return match[0].replace("<", "‹").replace("[", "⟦").replace("|", "¦").replace("｜", "¦")


def _break_fence_marks(text: str) -> str:
    """Break every bracket before our mark, also with other characters between them."""
    folded = _fold_same_length(text)
    if FENCE_MARK not in folded:
        return text
    chars = list(text)
    for found in re.finditer(FENCE_MARK, folded):
        place = found.start() - 1
        while place >= 0 and not (folded[place].isalnum() or folded[place] == "_"):
            if folded[place] in "<[{":
                chars[place] = "("
            place -= 1
    return "".join(chars)


def _fold_same_length(text: str) -> str:
    """Return the text as a reader would see it, without changing its length."""
    if text.isascii():
        return text.lower()
    text = text.translate(_LIKE_LESS)
    return "".join(
        form if len(form := unicodedata.normalize("NFKC", char).lower()) == 1 else char.lower()[:1] or char
        for char in text
    )


def wrap_in_fence(name: str, heading: str, lines: list[str]) -> str:
    """Wrap lines in marks that tell a model where memory begins and ends. Return "" for no lines."""
    if not lines:
        return ""
    body = "\n".join(lines)
    digest = sha256(body.encode("utf-8", "replace")).hexdigest()[:10]
    return f"{heading}\n<{FENCE_MARK}-{name} {digest}>\n{body}\n</{FENCE_MARK}-{name} {digest}>"


def format_fence_item(start: str, text: str) -> str:
    """Return one item of a fence: our own words, then its text, harmless, with further lines indented, so that none
    looks like another item."""
    first, *rest = make_harmless(text).strip("\n").split("\n")
    return "\n".join([f"{start}{first}", *(f"    {line}" for line in rest)])


# Detect a text that looks like instructions to an agent instead of something to remember.
#
# It adds a flag to the text and is never the only check: no text is accepted because it looks harmless. What depends on
# the words of a language is in `agent_orders/`. The patterns are compiled at the first text (40 ms).

ORDERS_FOLDER = os.path.join(os.path.dirname(__file__), "agent_orders")
_PART = re.compile(r"\{([a-z_]+)\}")

# zero-width characters except the joiner of emoji, bidi controls, and the tag characters that hide ASCII
_HIDDEN = "[\u00ad\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
# what no keyboard writes into a word: bidi controls, tags, a zero width between two letters
_WOVEN = "[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]|[a-z0-9][\u200b\u2060\ufeff]+[a-z0-9]"
_QUOTED = r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|`[^`\n]{0,300}`'


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `agent_orders/forms.toml`."""
    forms = read_language_file(ORDERS_FOLDER, "forms")[name]
    return re.compile("|".join(forms), re.IGNORECASE | re.MULTILINE)


@cache
def _orders_pattern() -> re.Pattern[str]:
    """Return the pattern of the orders in `agent_orders/`, of all languages."""
    parts, told = defaultdict[str, list[str]](list), list[str]()
    for language in list_languages(ORDERS_FOLDER):
        table = read_language_file(ORDERS_FOLDER, language)
        told += table.get("told", ())
        for name, held in table["parts"].items():
            parts[name] += [held] if isinstance(held, str) else held

    def filled(text: str) -> str:
        return _PART.sub(lambda part: f"(?:{'|'.join(map(filled, parts[part[1]]))})", text)

    return re.compile("|".join(map(filled, told)), re.MULTILINE)


def is_suspicious(text: str) -> bool:
    """Return whether a text looks like an attempt to control an agent: an order to ignore its instructions, a role
    line, a mark of a chat template, a command to run, what an agent is to do or to hide, hidden characters."""
    if re.search(_HIDDEN, text) or _pattern("visible").search(text):
        return True
    return any(
        (scope := found.start("scope")) < 0 or text[scope].isupper()
        for found in _orders_pattern().finditer(fold_text(text))
    )


def is_order_to_reader(text: str) -> bool:
    """Return whether a text is an order to whatever reads it, or hides characters. Quoted orders, install commands and
    words about prompts are none, unlike for `is_suspicious`, which leaves the look at them to a person."""
    bare = re.sub(_QUOTED, " ", re.sub(_HIDDEN, "", text))
    return bool(re.search(_WOVEN, text, re.IGNORECASE) or _pattern("orders").search(bare))


def has_reader_instructions(text: str) -> bool:
    """Return whether a text contains instructions to the reader of the memory, and not to a person, so that a mark is
    shown beside it."""
    return is_suspicious(text) or bool(_pattern("addressed").search(text))
