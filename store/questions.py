"""Questions: what two ways of asking have in common, which have an answer that keeps, and which only look alike.

Rules of words, in Spanish and English. They are strict: what is not kept is merely answered anew ([003] §5, §10.3).
"""

import re
import unicodedata

_WORD = re.compile(r"[\w+#]+(?:[.\-/'’:][\w+#]+)*")
_ACCENTS = str.maketrans("áàâéèêíìîóòôúùûü", "aaaeeeiiiooouuuu")  # ñ is a letter of its own: año, ano

# what makes the answer depend on when it is given
_MOMENT = """
    now nowadays today tonight yesterday tomorrow current currently presently recent recently lately ago just yet
    ahora hoy ayer anteayer mañana anoche recien recientemente ultimamente actual actuales actualmente reciente
    recientes
"""
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miercoles|jueves|viernes|sabado|domingo"
_TIMES = (
    "second|minute|hour|day|morning|noon|afternoon|evening|night|week|weekend|month|quarter|year|sprint"
    "|segundo|minuto|hora|dia|mañana|tarde|noche|semana|finde|fin de semana|mes|trimestre|año"
)
_RELATIVE = "this|next|last|past|coming|previous|este|esta|estos|estas|proxim[oa]|pasad[oa]|ultim[oa]s?|es[ae]"
_PERIOD = re.compile(
    rf"\b(?:(?:{_RELATIVE}) (?:{_TIMES}|{_DAYS})(?:e?s)?|(?:{_TIMES}|{_DAYS}) (?:pasad[oa]|que viene|proxim[oa])"
    r"|what (?:time|day|date|month|year)|so far|right away|at the moment|how (?:long|many days|much time)"
    r"|que (?:hora|dia|fecha)|hasta el momento|de momento|cuanto (?:falta|tiempo)|cuantos dias"
    r"|hace (?:\d+|un|una|unos|unas|dos|tres|poco|mucho|cuanto|rato))\b"
)
# what is about how somebody feels: it wants an answer of its own each time
_FEELING = """
    feel feels feeling feelings felt sad happy unhappy angry upset tired exhausted stressed anxious anxiety worried
    worry afraid scared lonely depressed frustrated frustrating overwhelmed bored excited ashamed hate love cry crying
    siento sientes sentis siente sentimos sienten sentir sentia sentido triste tristes feliz felices contento contenta
    enojado enojada enfadado enfadada cansado cansada agotado agotada estresado estresada ansioso ansiosa ansiedad
    preocupado preocupada preocupa preocupan miedo asustado asustada deprimido deprimida frustrado frustrada
    agobiado agobiada aburrido aburrida emocionado emocionada harto harta angustia angustiado angustiada odio amo
    llorar lloro verguenza animo
"""
MOMENT, FEELING = frozenset(_MOMENT.split()), frozenset(_FEELING.split())
_NEGATIONS = frozenset(
    "no not never none without nobody nothing cannot cant dont doesnt isnt arent wasnt wont nunca nadie nada ningun"
    " ninguno ninguna sin tampoco jamas".split()
)
# words that ask for a thing of one sort: two questions that ask for different sorts are not the same
_ASKS = {
    "who": "who whom whose quien quienes",
    "when": "when cuando",
    "where": "where donde adonde",
    "why": "why porque",
    "many": "many cuantos cuantas",
    "much": "much cuanto cuanta",
}
_SORTS = {word: sort for sort, words in _ASKS.items() for word in words.split()}


def words(question: str) -> list[str]:
    """The words of a question, without capitals, accents and punctuation; `C++`, `v1.2` and `F#12` are one each."""
    text = unicodedata.normalize("NFKC", question).casefold()
    return _WORD.findall(unicodedata.normalize("NFC", text).translate(_ACCENTS))


def normal(question: str) -> str:
    """What the ways of writing one question have in common. The order of the words stays: whether A depends on B is
    another question than whether B depends on A, though the seed would sort them."""
    return " ".join(words(question))


def deterministic(question: str) -> bool:
    """Whether the records alone decide the answer: not the moment, and not how somebody feels."""
    told = words(question)
    parts = {part for word in told for part in re.split(r"[-/'’:.]", word)} | set(told)
    return bool(told) and not parts & MOMENT and not parts & FEELING and not _PERIOD.search(" ".join(told))


def may_be_same(one: str, other: str) -> bool:
    """Whether two questions that are near in meaning may be taken for one: they name the same things and numbers, ask
    for the same sort of thing, both or neither deny, and are not the same words in another order."""
    first, second = words(one), words(other)
    if first != second and sorted(first) == sorted(second):
        return False
    return (
        _numbers(first) == _numbers(second)
        and _sorts(first) == _sorts(second)
        and _denies(first) == _denies(second)
        and _names(one) <= set(second)
        and _names(other) <= set(first)
    )


def _numbers(told: list[str]) -> set[str]:
    return {word for word in told if any(char.isdigit() for char in word)}


def _sorts(told: list[str]) -> set[str]:
    """What sorts of thing are asked for; `por qué` is two words."""
    found = {_SORTS[word] for word in told if word in _SORTS}
    return found | {"why"} if "por que" in " ".join(told) else found


def _denies(told: list[str]) -> bool:
    return any(word.replace("'", "").replace("’", "") in _NEGATIONS for word in told)


def _names(question: str) -> set[str]:
    from store.names import named

    return {word for name in named([question]) for word in words(name)}
