"""A question about the past: its language, which of the four kinds of answer it wants [000], and what it names.

By rule, in Spanish and English. What a rule gets wrong costs a worse search, never a wrong answer: nothing is said but
what the records say.
"""

import re
from dataclasses import dataclass

from store.citations import Citation, find
from store.librarian.period import period
from store.questions import words
from store.search.language import language
from store.search.query import STOP

DECISION, IMPLEMENTATION, CHRONOLOGY, STATISTICS = "decision", "implementation", "chronology", "statistics"
WHY, WHO, WHEN, WHAT = "why", "who", "when", "what"
LONGEST = 500  # characters of a question that are looked at

_SPANISH, _ACCENTED = re.compile(r"[¿¡ñ]", re.IGNORECASE), re.compile(r"[áéíóú]", re.IGNORECASE)
# the little words that only one of the two languages has, as they are typed without accents too
_ONLY_SPANISH = frozenset(
    "que cual cuales cuando cuanto cuanta cuantos cuantas como donde quien quienes por el y".split()
)
_HOW_MANY = re.compile(r"\b(?:how many|cuant[oa]s|number of|numero de|total de)\b")
_WHEN = re.compile(
    r"\b(?:when|cuando|since when|desde cuando|hasta cuando|how long ago|what (?:day|date|month|year)"
    r"|(?:que|en que) (?:dia|fecha|mes|año)|hace cuanto)\b"
)
_HAPPENED = re.compile(
    r"\b(?:what happened|what has happened|what was done|what did (?:we|you|they|i|the \w+) do|what changed|timeline"
    r"|history of|que paso|que ha pasado|que ocurrio|que sucedio|que se hizo|que hicimos|que hizo|que cambio"
    r"|cronologia|historia de|evolucion de)\b"
)
_WAS_DONE = re.compile(r"\b(?:did|decid\w+|decisi\w+|commits?|hicimos|hizo|hicieron|added|change[ds]?|cambi\w+)\b")
_COMMIT = re.compile(
    r"\b(?:commits?|implement\w*|sha|merge[ds]?|mergeo|diff|(?:in|en) (?:what|which|que|cual) (?:code|codigo|cambio))\b"
)
_WHY = re.compile(r"\b(?:why|por ?que|what for|para que|reasons?|razon(?:es)?|motivos?|how come)\b")
_WHO = re.compile(r"\b(?:who|whom|whose|quien|quienes|by whom|de quien)\b")
# what may stand before a question that goes on from the one before, and the words by which it points there
_GOES_ON = re.compile(r"^\W*(?:y|e|and|but|pero|then|entonces|so)\b")
_POINTS = frozenset(
    "it its that this those these they them their he she him her one ones there lo la los las le les eso esa ese esos"
    " esas esto esta este ello ellos ellas ahi su sus aquello same mismo misma".split()
)
# what of a question asks, and says nothing about what it is about
_ASKING = frozenset(
    """
    what which who whom whose when where why how much many long often do does did is are was were be been being has have
    had can could may might must shall should will would there here any some ever all every about tell show give list me
    us please know remember recorded record records registered memory say says said happen happened happens get got
    que cual cuales quien quienes cuando donde adonde como cuanto cuanta cuantos cuantas es son era eran fue fueron ser
    hay habia hubo ha han he hemos esta estan estaba puede pueden podemos debe deben se nos me te lo los la las le les
    sobre dime decime muestra mostra lista registro registros registrada registradas registrado registrados memoria paso
    pasado ocurrio sucedio tenemos tiene tienen hace hacen hizo hicieron algun alguna alguno algunos algunas
    use used uses using usar usamos usa usan uso usado utiliza utilizamos choose chose chosen elegir elegimos eligio
    we our they their them you your i my a an the of in on at to for by with from and or not no it its this that
    el un una unos unas de del al en por para con sin y o u e si mi mis su sus nuestro nuestra ya muy mas
    instead rather than vez lugar
    """.split()
)
_RECORDS = frozenset(
    "decision decisions decisiones decided decide decidio decidimos decidido tomo commit commits iteration iteracion"
    " implemented implement implements implemento implementa implementan implementaron added add añadio anadio agrego"
    " introduced introdujo".split()
)
# what a decision has, and any of its names: a question that asks for it is about something else
_PARTS = frozenset(
    "alternative alternatives option options considered consider rejected reject discarded discard advantage advantages"
    " benefit benefits reason reasons reasoning rationale context behind alternativa alternativas opcion opciones"
    " consideramos considero consideraron evaluamos descartamos descarto descartaron rechazamos rechazo ventaja"
    " ventajas beneficio beneficios razon razones motivo motivos contexto detras".split()
)
# what can be counted, by any of its names
_COUNTED = {
    "decision": "decision decisions decisiones",
    "commit": "commit commits",
    "iteration": "iteration iterations iteracion iteraciones",
    "event": "event events evento eventos",
    "fact": "fact facts hecho hechos",
    "task": "task tasks tarea tareas",
    "checkpoint": "checkpoint checkpoints",
    "turn": "turn turns turno turnos message messages mensaje mensajes",
    "summary": "summary summaries resumen resumenes",
    "proposal": "proposal proposals propuesta propuestas",
}
COUNTED = {name: kind for kind, names in _COUNTED.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read. `kind` is one of the four, `aspect` what of a record it wants to know, `words` those that say
    what it is about, `counted` the kind of record that is counted, `since` and `before` the time it names (empty
    without one), `follows` whether it leans on the exchange before it."""

    text: str
    language: str
    kind: str
    aspect: str
    words: tuple[str, ...]
    cited: tuple[Citation, ...]
    counted: str
    since: str
    before: str
    follows: bool

    @property
    def decided(self) -> bool:
        """Whether it asks what was decided."""
        return any(word.startswith(("decid", "decisi")) for word in words(self.text))


def read(question: str, now: str, before: str = "") -> Asked:
    """Read a question; `before` is the one asked before it, empty for the first. Never raises: every text is one."""
    text = " ".join(question.split())[:LONGEST]
    told = words(text)
    plain = " ".join(told)
    since, until, named = period(plain, now)
    past = bool(_HAPPENED.search(plain) or _WAS_DONE.search(plain) or _HOW_MANY.search(plain))
    if not past and any(word not in _ASKING and word not in STOP and word not in named for word in told):
        since, until, named = "", "", frozenset()  # "who is away in January": a word like others
    cited = [citation for _, _, citation in find(text)]
    cited += [Citation("iteration", number) for number in _iterations(plain)]
    own = tuple(
        _bare(word) for word in dict.fromkeys(told) if word not in _ASKING and word not in STOP and word not in named
    )
    own = tuple(word for word in own if not any(word in words(str(citation)) for citation in cited))
    counted = _counted(told) if _HOW_MANY.search(plain) else ""
    about = tuple(word for word in own if word not in _PARTS)
    if about or before:
        own = about
    return Asked(
        text,
        spoken(text, before),
        _kind(plain, counted, bool(cited and cited[0].kind == "iteration") or bool(since or until)),
        WHY if _WHY.search(plain) else WHEN if _WHEN.search(plain) else WHO if _WHO.search(plain) else WHAT,
        own if counted else tuple(word for word in own if word not in _RECORDS),
        tuple(dict.fromkeys(cited)),
        counted,
        since,
        until,
        bool(before) and not (cited or counted or since or until) and _leans(plain, told, own),
    )


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s")


def spoken(text: str, before: str = "") -> str:
    """`es` or `en`: the language that a question is asked in, of one that does not tell that of the one before."""
    found = language(text)
    if _SPANISH.search(text):
        return "es"
    if found:
        return found
    told = words(text)
    if any(word in _ONLY_SPANISH for word in told) or (not before and _ACCENTED.search(text)):
        return "es"
    return spoken(before) if before else "en"


def _kind(plain: str, counted: str, dated: bool) -> str:
    if counted:
        return STATISTICS
    if _COMMIT.search(plain):
        return IMPLEMENTATION
    if _HAPPENED.search(plain) or _WHEN.search(plain) or (dated and not _WHY.search(plain)):
        return CHRONOLOGY
    return DECISION


def _counted(told: list[str]) -> str:
    """The kind of record that stands nearest after `how many`."""
    return next((COUNTED[word] for word in told if word in COUNTED), "")


def _iterations(plain: str) -> list[int]:
    return [int(match[1]) for match in re.finditer(r"\b(?:iteration|iteracion)(?: number| numero)? (\d{1,9})\b", plain)]


def _leans(plain: str, told: list[str], own: tuple[str, ...]) -> bool:
    """Whether a question says too little to be understood alone: it goes on, points back, or is a word or two."""
    few = len(own) <= 3
    return (few and bool(_GOES_ON.search(plain))) or (few and not _POINTS.isdisjoint(told)) or len(own) == 0
