"""How many there are of what a question counts: by the records themselves, which count better than a model.

What narrows a count is a state, a time, a record that is cited, a name, or what stands after “about”; any other word
narrows nothing, and an answer says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from store.base.citations import KINDS, Citation
from store.base.models import Commit, Event, Fact, Iteration, Record, Task
from store.database.database import Database
from store.librarian.question import COUNTED, ParsedQuestion
from store.librarian.relevance import Relevance
from store.librarian.sources import moment
from store.librarian.time_range import by_agent
from store.memory import Memory
from store.records.ageing import state
from store.search import lookup as records
from store.search.fts import FullTextIndex
from store.search.pipeline import body
from store.text.question_similarity import words

FEW = 5  # counted records that are named one by one
TABLES = {
    "decision": ("decisions", "status = 'active'"),
    "commit": ("commits", "true"),
    "iteration": ("iterations", "true"),
    "event": ("events", "true"),
    "fact": ("facts", "status = 'active'"),
    "task": ("tasks", "true"),
    "checkpoint": ("checkpoints", "true"),
    "turn": ("turns", "true"),
    "summary": ("summaries", "true"),
    "proposal": ("proposals", "state = 'waiting'"),
}
# a state, by any of its names
_STATES = {
    "active": "active activa activas activo activos running",
    "superseded": "superseded replaced reemplazaron reemplazado reemplazada reemplazadas sustituida sustituidas"
    " reemplazados",
    "forgotten": "forgotten olvidada olvidadas olvidado olvidados",
    "completed": "completed finished terminada terminadas terminaron complete completada completadas completaron"
    " terminar",
    "abandoned": "abandoned abandonada abandonadas abandonaron abandonamos",
    "open": "open pending abierta abiertas pendiente pendientes left quedan queda faltan falta restan remain remains"
    " remaining outstanding todo unfinished undone incompletas",
    "done": "done finished hecha hechas hicimos hicieron hecho finish completed complete terminada"
    " terminadas terminado terminamos terminaron acabada acabadas acabado acabamos hacer terminar acabar",
    "in_progress": "progress curso marcha",
    "fresh": "fresh fresco frescos confirmed unconfirmed confirmado confirmados confirmar",
    "aging": "aging ageing envejeciendo",
    "low": "low",
    "stale": "stale rancio rancios caducado caducados viejo viejos",
    "pinned": "pinned fijado fijados",
    "waiting": "waiting esperando esperan",
    "accepted": "accepted aceptada aceptadas",
    "rejected": "rejected rechazada rechazadas",
}
_UNDER_WAY = frozenset("open abierta abierto curso marcha progress".split())  # as an iteration is
_AGES = ("fresh", "aging", "low", "stale", "pinned")
_FOR = {
    "decision": ("active", "superseded", "forgotten"),
    "iteration": ("active", "completed", "abandoned"),
    "fact": (*_AGES, "superseded", "forgotten", "active"),
    "task": ("open", "done", "in_progress"),
    "proposal": ("waiting", "accepted", "rejected"),
}
# what says of a state that it is not the one: “not done”, “aren't done”, “quedan por hacer”
_NOT = frozenset("no not never nunca unconfirmed".split())
_NEGATED = ("n't", "n’t")
_TO_DO = frozenset("hacer terminar acabar confirmar".split())
_NEAR = 3  # words, that a state stands after its “not” at most
_ABOUT = re.compile(
    r"\b(?:about|on|regarding|concern(?:s|ing)?|with|by|from|for|mention(?:s|ed|ing)?|named|called|sobre|acerca|con|por|para"
    r"|del?|mencionan?|hablan?)\b"
)
_DOER = re.compile(r"\b(?:did|has|have|hizo|hicieron|escribio|anoto|tomo) (\w+)")
# words that go with a count and narrow nothing
_BESIDE = frozenset(
    "concern concerns total number numero all altogether far so now still currently made make makes take takes took"
    " taken write wrote written keep kept store stored exist exists remain remains mention mentions mentioned named"
    " called regarding concerning add added note noted log logged save saved create created land landed merge merged"
    " belong belongs done related linked implement implements implemented implementing revert reverts reverted"
    " supersede supersedes cite cites come came stay hizo hicieron hicimos hecho hechos tomo tomado tomada tomadas"
    " tomados tomaron tomamos anoto anotamos anotaron anotado anotados anotadas guardo guardaron guardamos guardado"
    " guardados guardadas agrego agregaron agregamos agregado agregados agregadas añadieron añadimos añadido"
    " añadidos añadidas creado creados creadas crearon existen existe hubo llevamos conocemos sabemos quedan"
    " implementan implementa revierten mencionan menciona hablan habla pertenecen sigue siguen proyecto project"
    " memory relacionadas relacionados acerca todos todas ahora".split()
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted: records of `kind`, of this `state` (empty for any) or `negated` of any other, about these
    words, of the records that are `cited`, by agents alone or by anybody; oldest first. `unused` are the words of the
    question that narrowed nothing."""

    kind: str
    state: str
    about: tuple[str, ...]
    records: tuple[Record, ...]
    negated: bool = False
    cited: tuple[Citation, ...] = ()
    agents: bool = False
    unused: tuple[str, ...] = ()


def tally(memory: Memory, asked: ParsedQuestion, before: ParsedQuestion | None = None) -> Tally:
    """Count what a question counts; what it leaves open is as in the question `before` it, where it goes on."""
    kind, database = asked.counted, memory.database
    status, negated = _state(asked)
    if status == "superseded" and any(citation.kind == "decision" for citation in asked.cited):
        status, negated = "", False  # “how many decisions replaced D#1?”
    keywords = FullTextIndex(database)
    judge = Relevance(asked, keywords)
    wanted, about = _wanted(asked), _about(asked, judge)
    if before is not None:
        asked = replace(
            asked,
            since=asked.since or before.since,
            before=asked.before or before.before,
            cited=asked.cited or before.cited,
            agents=asked.agents or before.agents,
        )
        about = about or (_about(before, Relevance(before, keywords)) if asked.cited == before.cited else [])
    table, holds = TABLES[kind]
    if status:  # all of them are looked at, also what holds no longer
        holds = "true"
    numbers = [number for (number,) in database.rows(f"SELECT id FROM {table} WHERE {holds} ORDER BY id")]
    cited = []
    for citation in asked.cited:
        if (those := _belonging(database, asked, citation)) is not None:
            numbers = [number for number in numbers if number in those]
            cited.append(citation)
    found = [
        record
        for record in records.many(database, kind, numbers)
        if (not asked.since or _when(record, status) >= asked.since)
        and (not asked.before or _when(record, status) < asked.before)
        and (not status or _counts(record, status, negated, memory.now))
        and (not asked.agents or by_agent(getattr(record, "origin", "")))
    ]
    held: list[str] = []
    for word in about:
        those_with = [record for record in found if judge.stands(word, _told(record))]
        if those_with or word not in _between(asked):
            found = those_with
            held.append(word)
    unused = [
        *(word for word in wanted if word not in held),
        *(str(citation) for citation in asked.cited if citation not in cited),
    ]
    return Tally(
        kind,
        status,
        tuple(held),
        tuple(sorted(found, key=lambda record: (moment(record), record.id))),
        negated,
        tuple(cited),
        asked.agents,
        tuple(unused),
    )


def ends(counted: Tally) -> Sequence[Record]:
    """The records that a count names: all of a few, else the first and the last."""
    those = counted.records
    return those if len(those) <= FEW else (those[0], those[-1])


def told_of(memory: Memory, counted: ParsedQuestion, last: Sequence[str]) -> Tally | None:
    """What the answer with these citations counted, `counted` being the question that it went on from."""
    kind = KINDS.get(last[0][:1], "") if last else ""
    for name in ("", *_FOR.get(kind, ())):
        word = _STATES[name].split()[0] if name else ""
        found = tally(memory, replace(counted, text=word, words=(word,), counted=kind), counted)
        if found.records and {record.citation for record in ends(found)} == set(last) - {*map(str, found.cited)}:
            return found
    return None


def _state(asked: ParsedQuestion) -> tuple[str, bool]:
    """(the state that a question counts, whether it counts what is not in it)."""
    told = words(asked.text)
    for at, word in enumerate(told):
        if word in asked.words and (status := _states(asked.counted, word)):
            ahead = told[max(0, at - _NEAR) : at + 1]
            denied = any(one in _NOT or one.endswith(_NEGATED) for one in ahead)
            return status, denied or word in _TO_DO
    return "", False


def states(kind: str, told: Sequence[str]) -> bool:
    """Whether these words name a state of a kind of record, and nothing else."""
    named = [word for word in told if _states(kind, word)]
    return bool(named) and all(word in named or word in _BESIDE for word in told)


def _states(kind: str, word: str) -> str:
    """The state of a kind of record that a word names, if it does."""
    if kind == "iteration" and word in _UNDER_WAY:
        return "active"
    return next((name for name in _FOR.get(kind, ()) if word in _STATES[name].split()), "")


def _wanted(asked: ParsedQuestion) -> list[str]:
    """The words of a question that may narrow its count."""
    return [
        word
        for word in asked.words
        if not (word in COUNTED or word in _BESIDE or word.endswith(_NEGATED) or _states(asked.counted, word))
    ]


def _about(asked: ParsedQuestion, judge: Relevance) -> list[str]:
    """The words that a count is narrowed by: names, who did it, what stands after “about” or before what is counted."""
    plain = " ".join(words(asked.text))
    asks = next((match.end() for match in re.finditer(r"\b(?:how many|cuant[oa]s|number of)\b", plain)), 0)
    match = _ABOUT.search(plain, asks)
    after = words(plain[match.end() :]) if match else []
    doers = [match[1] for match in _DOER.finditer(plain)]
    return [word for word in _wanted(asked) if word in (*judge.names, *after, *doers, *_between(asked))]


def _between(asked: ParsedQuestion) -> list[str]:
    """The words between “how many” and what is counted."""
    match = re.search(rf"\bhow many ((?:[\w'-]+ ){{1,3}}?)(?:{'|'.join(COUNTED)})\b", " ".join(words(asked.text)))
    return words(match[1]) if match else []


def _belonging(database: Database, asked: ParsedQuestion, citation: Citation) -> frozenset[int] | None:
    """The ids of the records of the kind that is counted that belong to the one cited; None where none can."""
    kind, target = asked.counted, citation.target
    if citation.kind == "iteration" and kind in ("decision", "commit", "event", "task"):
        rows = database.rows(f"SELECT id FROM {TABLES[kind][0]} WHERE iteration_id = ?", (target,))
    elif {citation.kind, kind} == {"decision", "commit"}:
        link = next((name for name in ("implement", "revert") if name in asked.text.casefold()), "")
        wanted, where = (
            ("l.commit_id", "l.decision_id = :target")
            if kind == "commit"
            else ("l.decision_id", "c.sha >= :target AND c.sha < :target || 'g'")
        )
        rows = database.rows(
            f"SELECT {wanted} FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            f" WHERE {where} AND l.link_type LIKE :link",
            {"target": target, "link": f"{link}%"},
        )
    elif citation.kind == kind == "decision":
        rows = database.rows("SELECT id FROM decisions WHERE supersedes = ?", (target,))
    elif kind == "fact":
        rows = database.rows(
            "SELECT f.id FROM facts AS f, json_each(f.evidence) AS e WHERE e.value = ?", (str(citation),)
        )
    else:
        return None
    return frozenset(number for (number,) in rows)


def _when(record: Record, status: str) -> str:
    """When a record came, or a task into the state it is in."""
    return record.created_at if isinstance(record, Task) and not status else moment(record)


def _told(record: Record) -> str:
    """The text of a record, with who made it."""
    by = record.author if isinstance(record, Commit) else getattr(record, "origin", "")
    event = record.event_type.replace("_", " ") if isinstance(record, Event) else ""
    return f"{by}\n{event}\n{body(record)}"


def _counts(record: Record, status: str, negated: bool, now: str) -> bool:
    """Whether a record is in a state or, `negated`, in another; what was forgotten is in no other."""
    if not negated:
        return _is(record, status, now)
    own = getattr(record, "status", "")
    ages = isinstance(record, Fact) and status in _AGES
    return own != "forgotten" and (own == "active" or not ages) and not _is(record, status, now)


def _is(record: Record, status: str, now: str) -> bool:
    if isinstance(record, Fact) and status in _AGES[:-1]:
        return record.status == "active" and status == state(
            now, record.last_confirmed_at, record.confidence, record.pinned
        )
    if isinstance(record, Fact) and status == "pinned":
        return record.pinned and record.status == "active"
    if isinstance(record, Task) and status == "open":
        return record.status != "done"
    own = record.status if isinstance(record, Iteration) else getattr(record, "status", getattr(record, "state", ""))
    return bool(own == status)
