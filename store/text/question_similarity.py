"""Questions: what two ways of asking have in common, which have an answer that keeps, and which only look alike.

Rules of words, in Spanish and English. They are strict: what is not kept is merely answered anew.
"""

import re
import unicodedata

# a word, or a sign without which the question is another: a comparison, a currency, a minus before a number
_WORD = re.compile(r"[\w+#]+(?:[.\-/'’:][\w+#]+)*|[<>=≤≥≠]+|[$€£¥%&|*^~]|[-−](?=\s*[\d$€£¥])")
_ACCENTS = str.maketrans("áàâéèêíìîóòôúùûü", "aaaeeeiiiooouuuu")  # ñ is a letter of its own: año, ano

# what makes the answer depend on when it is given
_MOMENT = """
    now nowadays today tonight yesterday tomorrow current currently presently recent recently lately ago just yet
    still anymore already latest newest new next
    ahora hoy ayer anteayer mañana anoche recien recientemente ultimamente actual actuales actualmente reciente
    recientes todavia aun ya sigue siguen seguimos proximo proxima siguiente nuevo nueva nuevos nuevas
"""
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miercoles|jueves|viernes|sabado|domingo"
_TIMES = (
    "second|minute|hour|day|morning|noon|afternoon|evening|night|week|weekend|month|quarter|year|sprint"
    "|segundo|minuto|hora|dia|mañana|tarde|noche|semana|finde|fin de semana|mes|trimestre|año"
)
_RELATIVE = "this|next|last|past|coming|previous|este|esta|estos|estas|proxim[oa]|pasad[oa]|ultim[oa]s?|es[ae]"
_PERIOD = re.compile(
    rf"\b(?:(?:{_RELATIVE}) (?:{_TIMES}|{_DAYS})(?:e?s)?|(?:{_TIMES}|{_DAYS}) (?:pasad[oa]|que viene|proxim[oa])"
    r"|(?:what|the) (?:time|day|date|month|year)$|what (?:time|day|date|month|year)|these days|so far|right away"
    r"|at (?:the moment|present)|how (?:long|old|many days|much time)|since when|as of|up to date"
    r"|que (?:hora|dia|fecha|mes|año|edad)|estos dias|la (?:hora|fecha)$|hasta el momento|de momento"
    r"|cuanto (?:falta|tiempo)|cuantos dias"
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
    llorar lloro verguenza animo nervous nervioso nerviosa nervios estoy
"""
_SELF = re.compile(r"\b(?:am i|i am|how are you|como (?:estas|ando|andas|te va|me va))\b")
# what asks for all records of a sort, or for those in some state: every new record may be one of them
_RECORDS = (
    "tasks|todos|decisions|facts|notes|commits|proposals|reminders|iterations|checkpoints|questions|sessions"
    "|tareas|pendientes|decisiones|hechos|notas|propuestas|recordatorios|iteraciones|preguntas|sesiones"
)
_LIST = re.compile(
    r"\b(?:pending|overdue|unfinished|outstanding|remaining|in progress|to-?do|(?:is|are|still) (?:open|left|due)"
    r"|pendiente|vencid[oa]s?|sin terminar|en curso|por hacer|queda|quedan|falta|faltan)\b"
    rf"|\b(?:which|what|how many|list|show|all|any|every|open|que|cuales|cuant[oa]s|tod[oa]s|lista|hay|abiert[oa]s)"
    rf" (?:[\w'-]+ ){{0,3}}(?:{_RECORDS})\b"
)
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
# words that may stand for each other, or be left out, and the question is the same
_FRAME = frozenset(
    "what which que cual cuales the a an our we do does el la los las un una nuestro nuestra nuestros nuestras please"
    " exactly porfavor exactamente me tell".split()
)
_SORTS = {word: sort for sort, words in _ASKS.items() for word in words.split()}


def words(question: str) -> list[str]:
    """The words of a question, without capitals, accents and punctuation; `C++`, `v1.2` and `F#12` are one each."""
    text = unicodedata.normalize("NFKC", question).casefold()
    return _WORD.findall(unicodedata.normalize("NFC", text).translate(_ACCENTS))


def normal(question: str) -> str:
    """What the ways of writing one question have in common. The order of the words stays: whether A depends on B is
    another question than whether B depends on A."""
    return " ".join(words(question))


def deterministic(question: str) -> bool:
    """Whether the records at hand alone decide the answer: not the moment, not how somebody feels, and not what else
    there is of a sort."""
    told = words(question)
    parts = {part for word in told for part in re.split(r"[-/'’:.]", word)} | set(told)
    joined = " ".join(told)
    return (
        bool(told)
        and not parts & MOMENT
        and not parts & FEELING
        and not any(rule.search(joined) for rule in (_PERIOD, _SELF, _LIST))
    )


def may_be_same(one: str, other: str) -> bool:
    """Whether two questions that are near in meaning may be taken for one: they name the same things and numbers, ask
    for the same sort of thing, both or neither deny, and are neither the same words in another order nor the same but
    for one place: nobody asks `what did we reject` for another way to say `what did we choose`."""
    first, second = words(one), words(other)
    if first != second and (sorted(first) == sorted(second) or _one_place(*sorted((first, second)))):
        return False
    return (
        _numbers(first) == _numbers(second)
        and _sorts(first) == _sorts(second)
        and _denies(first) == _denies(second)
        and _names(one) <= set(second)
        and _names(other) <= set(first)
    )


def _one_place(first: list[str], second: list[str]) -> bool:
    """Whether they differ in one place alone, and there by words that tell."""
    from difflib import SequenceMatcher

    blocks = [
        (first[i:j], second[k:m])
        for tag, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if len(blocks) != 1 or len(blocks[0][0]) + len(blocks[0][1]) > len(first):
        return False
    one, other = ([word for word in side if word not in _FRAME] for side in blocks[0])
    if _sorts(blocks[0][0]) and _sorts(blocks[0][0]) == _sorts(blocks[0][1]):
        return False
    return bool(one or other) and not (len(one) == len(other) and all(map(_forms, one, other)))


def _forms(one: str, other: str) -> bool:
    """Whether two words may be forms of one: `deploy`, `deploying`."""
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= max(4, min(len(one), len(other)) - 2)


def _numbers(told: list[str]) -> set[str]:
    return {word for word in told if any(char.isdigit() for char in word)}


def _sorts(told: list[str]) -> set[str]:
    """What sorts of thing are asked for; `por qué` is two words."""
    found = {_SORTS[word] for word in told if word in _SORTS}
    return found | {"why"} if "por que" in " ".join(told) else found


def _denies(told: list[str]) -> bool:
    return any(word.replace("'", "").replace("’", "") in _NEGATIONS for word in told)


def _names(question: str) -> set[str]:
    from store.text.entities import named

    return {word for name in named([question]) for word in words(name)}
