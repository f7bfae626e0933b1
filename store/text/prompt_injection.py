"""Detect a text that looks like instructions to an agent instead of something to remember.

It adds a flag to the text and is never the only check: no text is accepted because it looks harmless. The patterns are
compiled at the first text (4 ms).
"""

import re
from functools import cache

# zero-width characters except the joiner of emoji, bidi controls, and the tag characters that hide ASCII
_HIDDEN = "[\u00ad\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
_TOLD = r"""
    \b(?:ignor[ae]\w*|disregard|forget|override|bypass|olvid[aáe]\w*|desestim\w+|omit[eií]\w*|anul[aáe]\w*)\b
        [^.\n]{0,40}\b(?:instructions?|prompts?|rules|guardrails|instrucci[oó]n\w*|reglas|[oó]rdenes|indicaciones)\b
    | \b(?:you\ are|act\ as|pretend\ to\ be|eres|sos|act[uú]a\ como|hac[eé]\ de)\ (?:now|ahora)\b
    | \b(?:from\ now\ on|a\ partir\ de\ ahora|de\ ahora\ en\ m[aá]s)\b[^.\n]{0,30}
        \b(?:you\ (?:must|will|are)|(?:deb[eé]s|vas\ a|ten[eé]s\ que|tienes\ que))\b
    | \b(?:system|developer|assistant|sistema)\ ?(?:prompt|message|mensaje)\b
    | ^\s*(?:system|assistant|developer|user|tool|human)\s*:
    | <\|?/?(?:im_start|im_end|system|assistant|user|endoftext|tool_call|instructions?)\b[^>]{0,20}\|?>
    | \[/?(?:INST|SYS)\] | <</?SYS>>
    | \b(?:do\ not|don't|never|no|nunca)\b[^.\n]{0,20}
        \b(?:tell|mention|reveal|show|le\ digas|cont[eé]s|menciones|reveles)\b[^.\n]{0,20}
        \b(?:user|person|human|anyone|usuario|persona|nadie)\b
    | \b(?:curl|wget|iwr)\b[^\n]{0,200}\|\s*(?:ba|z|pwsh)?sh\b | \brm\ -rf?\ [/~]
    | \b(?:send|post|upload|exfiltrate|mand[aáe]\w*|envi[aáe]\w*|sub[ií]\w*)\b[^\n]{0,80}\bhttps?://
    """


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_HIDDEN), re.compile(_TOLD, re.IGNORECASE | re.VERBOSE | re.MULTILINE)


@cache
def _addressed() -> re.Pattern[str]:
    return re.compile(_ADDRESSED, re.IGNORECASE)


def suspicious(text: str) -> bool:
    """Return whether a text looks like an attempt to control an agent: an order to ignore its instructions, a role
    line, a mark of a chat template, a command to run, hidden characters."""
    hidden, visible = _patterns()
    return bool(hidden.search(text) or visible.search(hidden.sub("", text)))


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
