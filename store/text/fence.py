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
_VISIBLE = r"""
    \b(?!ignore\ rules\b)  # of a .gitignore
        (?:ignor[ae]\w*|disregard|forget|override|bypass|olvid[aáe]\w*|desestim\w+|omit[eií]\w*|anul[aáe]\w*)\b
        [^.\n]{0,40}\b(?:instructions?|prompts?|rules|guardrails|instrucci[oó]n\w*|reglas|[oó]rdenes|indicaciones)\b
    | \b(?:you\ are|act\ as|pretend\ to\ be|eres|sos|act[uú]a\ como|hac[eé]\ de)\ (?:now|ahora)\b
    | \b(?:from\ now\ on|a\ partir\ de\ ahora|de\ ahora\ en\ m[aá]s)\b[^.\n]{0,30}
        \b(?:you\ (?:must|will|are)|(?:deb[eé]s|vas\ a|ten[eé]s\ que|tienes\ que))\b
    | \b(?:system|developer|assistant|sistema)\ ?(?:prompt|message|mensaje)\b
    | ^[^\S\n]*(?:system|assistant|developer|user|tool|human)\s*:
    | <\|?/?(?:im_start|im_end|system|assistant|user|endoftext|tool_call|instructions?)\b[^>]{0,20}\|?>
    | \[/?(?:INST|SYS)\] | <</?SYS>>
    | \b(?:do\ not|don't|never|no|nunca)\b[^.\n]{0,20}
        \b(?:tell|mention|reveal|show|le\ digas|cont[eé]s|menciones|reveles)\b[^.\n]{0,20}
        \b(?:user|person|human|anyone|usuario|persona|nadie)\b
    | \b(?:curl|wget|iwr)\b[^\n]{0,200}\|\s*(?:ba|z|pwsh)?sh\b | \brm\ -rf?\ [/~]
    | (?<!blog\ )\b(?:send|post|upload|exfiltrate|mand[aáe]\w*|env[ií][aáe]\w*|sub[ií]\w*)\b(?=\s)
        (?!\s+(?:an?\ |the\ )?(?:\w+\ )?requests?\b)[^\n]{0,80}\bhttps?://
    """


@cache
def _suspicious_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of hidden characters and of visible orders."""
    return re.compile(_HIDDEN), re.compile(_VISIBLE, re.IGNORECASE | re.VERBOSE | re.MULTILINE)


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


@cache
def _reader_pattern() -> re.Pattern[str]:
    """Return the pattern of instructions to the reader of the memory."""
    return re.compile(_ADDRESSED, re.IGNORECASE)


def is_suspicious(text: str) -> bool:
    """Return whether a text looks like an attempt to control an agent: an order to ignore its instructions, a role
    line, a mark of a chat template, a command to run, what an agent is to do or to hide, hidden characters."""
    hidden, visible = _suspicious_patterns()
    if hidden.search(text) or visible.search(text):
        return True
    return any(
        (scope := found.start("scope")) < 0 or text[scope].isupper()
        for found in _orders_pattern().finditer(fold_text(text))
    )


# an order itself, and no word about one: what a report may name as wrong without a second look
_DATA = r"""(?:contents?|files?|memor(?:y|ies)|conversations?|history|secrets?|keys?|tokens?|passwords?|credentials?
    |env\w*|archivos?|ficheros?|memorias?|conversaci[oó]n\w*|claves?|contrase[nñ]as?|secretos?|historial)"""
_ORDER = rf"""
    (?:^[ \t]*|[.!?:;][ \t]*|\b(?:please|now|then|first|and|you\ must|por\ favor|ahora|primero|y)[ ])
        (?:ignor[ae]|disregard|forget|override|bypass|olvid[aáe]|desestim[aáe]|omit[eií]|anul[aáe])
        (?:lo|la|los|las|s)?[ ](?:[\w']+[ ]){{0,3}}
        (?:all|any|previous|prior|above|earlier|preceding|your|my|the\ system|these|those
            |tod[oa]s?|anterior(?:es)?|previ[oa]s?|tus?|sus?|las|los)\b[^.\n"”»]{{0,30}}
        \b(?:instructions?|prompts?|rules|guardrails|guidelines|instrucci[oó]n\w*|reglas|[oó]rdenes|indicaciones)\b
    | (?:^|[.!?]\s*|\bnow,?[ ])
        (?:you\ are\ now|pretend\ to\ be|ahora\ (?:eres|sos)|act[uú]a\ como|hac[eé]\ de)[ ]
    | \b(?:from\ now\ on|a\ partir\ de\ ahora|de\ ahora\ en\ m[aá]s),?[ ][^.\n]{{0,20}}
        \b(?:you\ (?:must|will|are)|(?:deb[eé]s|vas\ a|ten[eé]s\ que|tienes\ que))\b
    | \b(?:reveal|print|repeat|leak|output|revel[aáe]|imprim[eií]|repet[ií])[ ]
        (?:[\w']+[ ]){{0,3}}(?:system\ prompt|prompt\ del\ sistema)\b
    | <\|(?:im_start|im_end|system|assistant|user|endoftext)\|> | \[/?INST\] | <</?SYS>>
    | \b(?:do\ not|don't|never|no|nunca)[ ](?:[\w']+[ ]){{0,2}}
        (?:tell|mention|reveal|show|le\ digas|cont[eé]s|menciones|reveles)\b[^.\n]{{0,20}}
        \b(?:the|al?|el|la)\ (?:user|person|human|usuario|persona)\b(?!['’]s|\ to\ )
    | \b(?:send|post|upload|exfiltrate|mand[aáe]\w*|env[ií][aáe]\w*|sub[ií]\w*)[ ]
        (?:the|all|any|every|your|its|this|my|tod[oa]s?|las?|los|el|tus?)\b
        [^\n]{{0,60}}\b{_DATA}\b[^\n]{{0,60}}\bhttps?://
    """
# what no keyboard writes into a word: bidi controls, tags, a zero width between two letters
_WOVEN = "[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]|[a-z0-9][\u200b\u2060\ufeff]+[a-z0-9]"
_QUOTED = r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|`[^`\n]{0,300}`'


@cache
def _order_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of characters woven into words, of quotations, and of orders."""
    return (
        re.compile(_WOVEN, re.IGNORECASE),
        re.compile(_QUOTED),
        re.compile(_ORDER, re.IGNORECASE | re.VERBOSE | re.MULTILINE),
    )


def is_order_to_reader(text: str) -> bool:
    """Return whether a text is an order to whatever reads it, or hides characters. Quoted orders, install commands and
    words about prompts are none, unlike for `is_suspicious`, which leaves the look at them to a person."""
    woven, quoted, order = _order_patterns()
    hidden, _ = _suspicious_patterns()
    return bool(woven.search(text) or order.search(quoted.sub(" ", hidden.sub("", text))))


# instructions to the reader of the memory, not to a person: used, besides `is_suspicious`, only to show a mark
_READER = r"(?:assistants?|agents?|ais?|models?|llms?|bots?|asistentes?|agentes?|ias?|modelos?)"
_FEW = r"[^.\n]{0,30}\b"
_ADDRESSED = "|".join(
    (
        r"\b(?:note|message|attention|notice|instructions?|nota|aviso|mensaje|instrucciones) (?:to|for|a|para) "
        r"(?:(?:any|all|the|every|an?|cualquier|tod[oa]s?|el|la|los|las|un|una) ){0,2}" + _READER + r"\b",
        r"\b" + _READER + r"\b[,:]? (?:must|should|shall|will|has to|have to|deben?|debe|tienen?\ que)\b",
        r"\b(?:ignore|disregard|forget|ignor[aáe]\w*|olvid[aáe]\w*|descart[aáe]\w*) (?:[\w']+ ){0,3}"
        r"(?:records?|facts?|memor(?:y|ies)|above|previous|registros?|hechos?|memorias?|anterior(?:es)?)\b",
        r"\b(?:answer|respond|reply|say|output|responde\w*|respond[eé]|contest[aáe]\w*|escrib[ií]\w*)\b"
        + _FEW
        + r"(?:only|always|every question|nothing but|solo|s[oó]lo|siempre|a todo|cada pregunta)\b"
        + _FEW
        + r"(?:with|con|yes|no|s[ií])\b",
        r"\b(?:reveal|print|repeat|leak|revel[aáe]\w*|imprim[eií]\w*|repet[ií]\w*)\b"
        + _FEW
        + r"(?:prompt|passwords?|secrets?|tokens?|keys?|credentials?|contrase[nñ]as?|claves?|secretos?)\b",
        r"\b(?:grant|give|concede\w*|d[aá]le)\b"
        + _FEW
        + r"(?:admin|root|full access|acceso total|permisos? de administrador)\b",
    )
)


def has_reader_instructions(text: str) -> bool:
    """Return whether a text contains instructions to its reader, so that a mark is shown beside it."""
    return is_suspicious(text) or bool(_reader_pattern().search(text))
