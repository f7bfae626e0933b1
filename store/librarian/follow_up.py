"""Whether a question leans on the exchange before it: it says too little alone, goes on, or points back."""

import re

FEW = 3  # words that say what a question is about, at most, where it leans

_GOES_ON = re.compile(r"^(?:y|e|and|but|pero|then|entonces|so)\b")
# the words by which a question points to what was told before it
POINTS = frozenset(
    "it its this these those they them their he she him her one ones same eso esa ese esos esas esto este ello ellos"
    " ellas ahi su sus aquello mismo misma".split()
)
# and those that do so in some places alone: “is there a fact”, “who said that Ana”, “¿dónde está la oficina?” do not
_POINTING = re.compile(
    r"\b(?:about|of|for|from|is|was|were|did|does|has|had|to|with|in|on|before|after|like|why) that\b|\bthat$|^that\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )\bthere\b"
    r"|\b(?:quien|quienes|cuando|como|donde|que|commit|se) (?:la|las|los|le|les) \w+$"
    r"|\blo (?!(?:que|de|del|mas|mejor|peor|ultimo|primero)\b)\w"
)
_THIS_ONE = re.compile(r"\besta(?:$| (?:decision|iteracion|tarea|opcion|eleccion|regla|idea|nota|respuesta)\b)")


def is_follow_up(plain: str, text: str, own: tuple[str, ...]) -> bool:
    """Whether a question leans: `plain` is it without capitals and accents, `text` as it was typed, `own` the words
    that say what it is about."""
    return not own or (len(own) <= FEW and (continues(plain) or _points(plain, text)))


def continues(plain: str) -> bool:
    """Whether a question begins as one that goes on: “and when?”."""
    return bool(_GOES_ON.search(plain))


def _points(plain: str, text: str) -> bool:
    if not POINTS.isdisjoint(plain.split()) or _POINTING.search(plain):
        return True
    return "está" not in text.casefold() and bool(_THIS_ONE.search(plain))
