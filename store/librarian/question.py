"""A question about the past: its language, which of the four kinds of answer it wants, and what it names.

By rule, in Spanish and English. What a rule gets wrong costs a worse search, never a wrong answer: nothing is said but
what the records say.
"""

import re
from dataclasses import dataclass

from store.base.citations import Citation, find
from store.librarian.follow_up import POINTS, continues, is_follow_up
from store.librarian.ordinal import IDLE, Order, ordered
from store.text.dates import period, weekly
from store.text.language import language
from store.text.question_similarity import words
from store.text.vocabulary import stop_words

DECISION, IMPLEMENTATION, CHRONOLOGY, STATISTICS = "decision", "implementation", "chronology", "statistics"
WHY, WHO, WHEN, WHAT = "why", "who", "when", "what"
LONGEST = 500  # characters of a question that are looked at

_SPANISH, _ACCENTED = re.compile(r"[¿¡ñ]", re.IGNORECASE), re.compile(r"[áéíóú]", re.IGNORECASE)
_STOP = stop_words("search")
# the little words that only one of the two languages has, as they are typed without accents too
_ONLY_SPANISH = frozenset(
    "que cual cuales cuando cuanto cuanta cuantos cuantas como donde quien quienes por el y".split()
)
_HOW_MANY = re.compile(r"\b(?:how many|cuant[oa]s|number of|numero de|total de)\b")
_WHEN = re.compile(
    r"\b(?:when|cuando|since when|desde cuando|hasta cuando|how long ago|what (?:day|date|month|year)"
    r"|(?:que|en que) (?:dia|fecha|mes|año)|hace cuanto)\b"
)
# before it “when” asks nothing: “which tool tells us when it fails”; but “who did it, and when?”
_ASKED_BEFORE = re.compile(
    r"(?:\b(?:what|which|who|where|why|how|quien(?:es)?|cual(?:es)?|donde|como|por ?que)|^que)\b(?!.*\b(?:and|or|y|o)$)"
)
_HAPPENED = re.compile(
    r"\b(?:what (?:(?:has|have|had) )?(?:happened|changed|occurred)|what (?:was|has been|have \w+) done|what went on"
    r"|what (?:did|have|has) (?:we|you|they|i|he|she|(?:the |an )?\w+) (?:do|done|changed?|work(?:ed)? on)|what.s new"
    r"|timeline|history of|que (?:ha |habia |hay )?(?:paso|pasado|ocurrio|ocurrido|sucedio|sucedido|cambio|cambiado)"
    r"|que (?:se )?(?:ha |han |hemos )?(?:hizo|hicimos|hicieron|hice|hecho|cambiamos|cambiaron)"
    r"|que cambios (?:hubo|hay)|(?:any|some)thing (?:happen(?:ed)?|new|changed?)|paso algo|ha pasado algo|algo nuevo"
    r"|en que (?:trabajamos|trabajaron|trabajo)|novedades|que hay de nuevo|cronologia|historia de|evolucion de)\b"
)
_WAS_DONE = re.compile(
    r"\b(?:did|decid\w+|decisi\w+|commits?|committed|hicimos|hizo|hicieron|added|change[ds]?"
    r"|cambi\w+|hubo|(?:what|which)(?: \w+)? (?:was|were|got)|que se \w+(?:o|aron|ieron))\b"
)
# words by which such a question asks, and which say nothing about what it is about
_DOING = frozenset(
    "changed change changes changing do done new occurred went made make makes worked work cambio cambios cambiado"
    " cambiamos cambiaron hecho hicimos hicieron hice ocurrido sucedido novedades nuevo trabajamos trabajaron trabajo"
    " hubo take takes took taken tomo tomamos tomaron tomado tomada tomadas".split()
)
_NOTED = re.compile(
    r"\b(?:note[ds]?|(?:write|wrote|written) down|remember|remembered|recorded|anot(?:o|amos|aron|ad[oa]s?)"
    r"|apunt(?:o|amos|aron|ad[oa]s?)|guard(?:o|amos|aron|ad[oa]s?)|recordamos)\b"
)
_NOTING = frozenset(
    "note noted notes wrote write written down anoto anotamos anotaron anotado anotada anotados anotadas apunto"
    " apuntamos apuntaron apuntado apuntados guardo guardamos guardaron guardado guardados guardadas recordamos".split()
)
_SORT = re.compile(r"\b(?:what|which|que|cuales) (?:(?:are|were|son|fueron|the|las|los|new|nuev[oa]s) )*(\w+)")
_ACTED = (
    r"(?:decide[ds]?|did|do|done|change[ds]?|made?|record(?:ed)?|add(?:ed)?|note[ds]?|take|took|taken|decid\w+|hizo|hicieron|hecho"
    r"|cambi\w+|anot\w+|registr\w+|tom\w+|agreg\w+)"
)
_AGENTS = re.compile(
    rf"\b(?:(?:did|has|have) (?:the |an |any |our )?agents? {_ACTED}|by (?:the |an |any |our )?agents?"
    rf"|(?:the|an|any|which|what) agents? (?:has |have )?{_ACTED}|{_ACTED} (?:el |un |los |algun )?agentes?"
    rf"|(?:el|un|los|algun|que) agentes? (?:ha |han )?{_ACTED}|por (?:el |un |los |algun )?agentes?)\b"
)
_COMMIT = re.compile(
    r"\b(?:commits?|implement\w*|sha|merge[ds]?|mergeo|diff|(?:in|en) (?:what|which|que|cual) (?:code|codigo|cambio))\b"
)
_MADE = re.compile(
    r"\b(?:who|whom|anybody|anyone|somebody|did|quien|quienes|alguien)\b.*\b(?:wrote|coded|coding|programm?ed|fixed|built|shipped"
    r"|escribio|programo|arreglo|corrigio|implemento|construyo)\b"
)
_WHY = re.compile(r"\b(?:why|por ?que|what for|para que|reasons?|razon(?:es)?|motivos?|how come)\b")
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|que|cual|cuales|quien|quienes|cuando|donde|como|por ?que)\b"
)
_WHICH = re.compile(r"^(?:which|cuales) (?:are|is|were|was|remain|son|estan|siguen|quedan|fueron)\b")
_WHO = re.compile(r"\b(?:who|whom|whose|quien|quienes|by whom|de quien)\b")
# what of a question asks, and says nothing about what it is about
ASKING = frozenset(
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
    instead rather than vez lugar else besides too also another other others tambien demas otros otras anything
    something everything what's who's where's when's how's
    """.split()
)
_RECORDS = frozenset(
    "decision decisions decisiones decided decide decidio decidieron decidimos decidido tomo commit commits"
    " committed iteration iteracion implemented implement implements implemento implementa implementan implementaron"
    " added add añadio anadio agrego introduced introdujo".split()
)
# what a decision has, and any of its names: a question that asks for it is about something else
_PARTS = frozenset(
    "alternative alternatives option options considered consider rejected reject discarded discard advantage advantages"
    " benefit benefits reason reasons reasoning rationale context behind alternativa alternativas opcion opciones"
    " consideramos considero consideraron evaluamos descartamos descarto descartaron rechazamos rechazo ventaja"
    " ventajas beneficio beneficios razon razones motivo motivos contexto detras".split()
)
# what a question about the standing of what was told before asks with
_STANDING = frozenset(
    "still valid reverted revert superseded replaced undone revoked current holds hold stands stand true right changed"
    " sigue siguen todavia aun valida valido vigente revertida revertido revirtio reemplazada reemplazado reemplazo"
    " sustituida sustituido anulada anulado deshizo cierto change cambio cambiado cambiamos cambiaron".split()
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
LISTED = ("decision", "commit", "event", "iteration", "checkpoint", "fact", "task")  # kinds that a time is asked for
_LISTED = {name: kind for name, kind in COUNTED.items() if kind in LISTED}
_ONE = "|".join(name for name, kind in COUNTED.items() if kind != "commit" and not name.endswith("s"))
_NUMBERED = re.compile(rf"\b({_ONE})(?: number| numero| no| nro)? #?(\d{{1,9}})(?![\w.,:/-])")
_SHA = re.compile(r"\bcommit(?: number| numero)? #?((?=[a-f]*\d)(?=\d*[a-f]|\d{7})[0-9a-f]{4,40})\b")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question, read. `kind` is one of the four, `aspect` what of a record it wants to know, `words` those that say
    what it is about, `counted` the kind of record that is counted, `since` and `before` the time it names (empty
    without one) and `dated` the words that name it, `kinds` the only kinds of record it asks for, `agents` whether for
    those of agents alone, `standing` whether what was told before still holds, `follows` whether it leans on the
    exchange before it, `order` which end of the records of a kind it asks for."""

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
    dated: frozenset[str] = frozenset()
    kinds: tuple[str, ...] = ()
    agents: bool = False
    standing: bool = False
    order: Order | None = None

    @property
    def many(self) -> bool:
        """Whether it asks for all there is: of a time, of an iteration, by agents."""
        return self.kind == CHRONOLOGY and bool(self.since or self.before or self.cited or self.agents)


def read(question: str, now: str, before: str = "") -> ParsedQuestion:
    """Read a question; `before` is the one asked before it, empty for the first. Never raises: every text is one."""
    text = " ".join(question.split())[:LONGEST]
    told = words(text)
    plain = " ".join(told)
    since, until, dated = period(plain, now)
    happened = bool(_HAPPENED.search(plain))
    past = happened or any(rule.search(plain) for rule in (_WAS_DONE, _HOW_MANY, _NOTED))
    if not past and (
        weekly(dated) or any(word not in ASKING and word not in _STOP and word not in dated for word in told)
    ):
        since, until, dated = "", "", frozenset()  # "who is away in January", "what is on Friday": words like others
    agents = bool(_AGENTS.search(plain))
    limited = bool(since or until) or agents
    cited, naming = _cited(text, plain, dated)
    counted = _counted(plain, naming)
    kinds = _kinds(plain) if limited and not counted else ()
    idle = (
        dated
        | naming
        | (_DOING if (happened or limited) and not counted else frozenset())
        | (_NOTING if kinds else frozenset())
    )
    idle |= frozenset(word for word in told if COUNTED.get(word) in kinds or (agents and word.startswith("agent")))
    own = tuple(
        _bare(word) for word in dict.fromkeys(told) if word not in ASKING and word not in _STOP and word not in idle
    )
    about = tuple(word for word in own if word not in _PARTS)
    if about or before:
        own = about
    follows = standing = False
    if before:
        told_before = read(before, now)
        if told_before.counted and not counted and _counts_on(plain, bool(own or limited or cited)):
            counted, follows, kinds = next(filter(None, map(COUNTED.get, own)), told_before.counted), True, ()
        if not counted:
            own = tuple(word for word in own if word not in POINTS)
            content = tuple(word for word in own if word not in _RECORDS)
            listing = bool(told_before.counted and _WHICH.search(plain))
            standing = bool(content) and not listing and _STANDING.issuperset(content)
            content = () if standing else content
            if content and all(COUNTED.get(word) in LISTED for word in content) and continues(plain):
                kinds, content = tuple(COUNTED[word] for word in content), ()  # “and facts?”
            follows = not (cited or limited) and (listing or is_follow_up(plain, text, content))
            own, standing = content if follows else own, standing and follows
    order = None
    if not (cited or counted or follows):
        order = ordered(told, (word for word in own if word not in _RECORDS and word not in COUNTED), dated, _LISTED)
    if order:
        own, kinds = tuple(word for word in own if word not in IDLE), kinds or (order.kind,)
    return ParsedQuestion(
        text,
        spoken(text, before),
        _kind(
            plain, counted, bool(cited and cited[0].kind == "iteration") or limited, limited and bool(kinds or not own)
        ),
        WHY if _WHY.search(plain) else WHEN if _asks_when(plain) else WHO if _WHO.search(plain) else WHAT,
        own if counted else tuple(word for word in own if word not in _RECORDS),
        cited,
        counted,
        since,
        until,
        follows,
        dated,
        kinds,
        agents,
        standing,
        order,
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


def _kind(plain: str, counted: str, dated: bool, alone: bool) -> str:
    if counted:
        return STATISTICS
    why = _WHY.search(plain)
    if alone and not why:
        return CHRONOLOGY
    if _COMMIT.search(plain) or _MADE.search(plain):
        return IMPLEMENTATION
    if _HAPPENED.search(plain) or _asks_when(plain) or (dated and not why):
        return CHRONOLOGY
    return DECISION


def _asks_when(plain: str) -> bool:
    """Whether a question asks when something was."""
    return any(not _ASKED_BEFORE.search(plain[: match.start()].rstrip()) for match in _WHEN.finditer(plain))


def _counted(plain: str, naming: frozenset[str]) -> str:
    """The kind of record that stands nearest after `how many`, and names none."""
    asks = _HOW_MANY.search(plain)
    after = words(plain[asks.end() :]) if asks else []
    return next((COUNTED[word] for word in after if word in COUNTED and word not in naming), "")


def _counts_on(plain: str, says: bool) -> bool:
    """Whether a question after a count, which `says` something, goes on counting: “and how many are superseded?”, “and
    facts?”."""
    return bool(_HOW_MANY.search(plain)) or (continues(plain) and says and not _ASKS.search(plain))


def _kinds(plain: str) -> tuple[str, ...]:
    """The kinds of record that a question about a time asks for: “which tasks”, what was decided, what was noted."""
    named = [COUNTED.get(match[1], "") for match in _SORT.finditer(plain)]
    found = tuple(kind for kind in dict.fromkeys(named) if kind in LISTED)
    if found:
        return found
    if re.search(r"\bdecid|\bdecisi", plain):
        return ("decision",)
    if re.search(r"\bcommit(?:s|ted)?\b", plain):
        return ("commit",)
    return ("fact", "task") if _NOTED.search(plain) else ()


def _cited(text: str, plain: str, dated: frozenset[str]) -> tuple[tuple[Citation, ...], frozenset[str]]:
    """The records that a question names, by citation or in words (“decision 2”, “the commit a1b2c3d”), and its words
    that do."""
    cited = [citation for _, _, citation in find(text)]
    naming = {word for citation in cited for word in words(str(citation))}
    for match in _NUMBERED.finditer(plain):
        if int(match[2]) and match[2] not in dated:
            cited.append(Citation(COUNTED[match[1]], int(match[2])))
            naming.update(match[0].split())
    for match in _SHA.finditer(plain):
        cited.append(Citation("commit", match[1]))
        naming.update(match[0].split())
    return tuple(dict.fromkeys(cited)), frozenset(naming)
