"""Detect a text that looks like instructions to an agent instead of something to remember.

It adds a flag to the text and is never the only check: no text is accepted because it looks harmless. What depends on
the words of a language is in `agent_orders/`. The patterns are compiled at the first text (40 ms).
"""

import os
import re
from collections import defaultdict
from functools import cache

from store.text.folding import fold
from store.text.vocabulary import languages, whole_file

FOLDER = os.path.join(os.path.dirname(__file__), "agent_orders")
_PART = re.compile(r"\{([a-z_]+)\}")

# zero-width characters except the joiner of emoji, bidi controls, and the tag characters that hide ASCII
_HIDDEN = "[\u00ad\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
_TOLD = r"""
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
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_HIDDEN), re.compile(_TOLD, re.IGNORECASE | re.VERBOSE | re.MULTILINE)


@cache
def _worded() -> re.Pattern[str]:
    """Return the pattern of what is said in `agent_orders/`."""
    parts, told = defaultdict[str, list[str]](list), list[str]()
    for language in languages(FOLDER):
        table = whole_file(FOLDER, language)
        told += table.get("told", ())
        for name, held in table["parts"].items():
            parts[name] += [held] if isinstance(held, str) else held

    def filled(text: str) -> str:
        return _PART.sub(lambda part: f"(?:{'|'.join(map(filled, parts[part[1]]))})", text)

    return re.compile("|".join(map(filled, told)), re.MULTILINE)


@cache
def _addressed() -> re.Pattern[str]:
    return re.compile(_ADDRESSED, re.IGNORECASE)


def suspicious(text: str) -> bool:
    """Return whether a text looks like an attempt to control an agent: an order to ignore its instructions, a role
    line, a mark of a chat template, a command to run, what an agent is to do or to hide, hidden characters."""
    hidden, visible = _patterns()
    if hidden.search(text) or visible.search(text):
        return True
    return any((scope := found.start("scope")) < 0 or text[scope].isupper() for found in _worded().finditer(fold(text)))


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
def _ordering() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(_WOVEN, re.IGNORECASE),
        re.compile(_QUOTED),
        re.compile(_ORDER, re.IGNORECASE | re.VERBOSE | re.MULTILINE),
    )


def orders(text: str) -> bool:
    """Return whether a text is an order to whatever reads it, or hides characters. Quoted orders, install commands and
    words about prompts are none, unlike for `suspicious`, which leaves the look at them to a person."""
    woven, quoted, order = _ordering()
    hidden, _ = _patterns()
    return bool(woven.search(text) or order.search(quoted.sub(" ", hidden.sub("", text))))


# instructions to the reader of the memory, not to a person: used, besides `suspicious`, only to show a mark
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


def instructs(text: str) -> bool:
    """Return whether a text contains instructions to its reader, so that a mark is shown beside it."""
    return suspicious(text) or bool(_addressed().search(text))
