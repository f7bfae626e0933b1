"""What agents did by the doors: their sessions, and each call with what it read, wrote and cost. Operational."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from store.base.citations import cite, find_citations
from store.base.clock import parse_moment, to_ms
from store.base.errors import NotFound
from store.base.vocabulary import KIND_NUMBERS, pack_key, unpack_key
from store.database.change_capture import PURGED_MARK
from store.database.database import Database, Transaction
from store.database.tombstones import has_purged_text
from store.database.values import Verbatim
from store.doors.trust import agent_of, clean_client_name
from store.records.timeline import count_openings
from store.text.fence import format_fence_item
from store.text.words import shorten_to_tokens

MAX_AGENT_CALLS = 5_000  # calls
# an agent with a call within this time is shown as working
AT_WORK_MS = 15 * 60_000
# citations that are kept of one call
MAX_CALL_CITATIONS = 100
_OF_CLIENTS = "(?1 = 'null' OR client IN (SELECT value FROM json_each(?1)))"


class AgentCall(NamedTuple):
    """One call: `name` of the tool or hook event, `milliseconds` it took, `tokens` of its answer, `problem` the code of
    the error it ended with; the citations that it read and wrote."""

    id: int
    at: str
    client: str
    session: str
    door: str
    name: str
    milliseconds: float
    tokens: int
    problem: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class AgentActivity(NamedTuple):
    """What one agent did: its name as `connect` knows it, the names it introduced itself by, the model it reported
    last, when it was active last, whether that was within the last minutes, calls today, tokens that were put into its
    context today, proposals it made that wait, and how many it made in all."""

    agent: str
    clients: tuple[str, ...]
    model: str
    last_at: str
    at_work: bool
    calls_today: int
    tokens_today: int
    waiting: int
    proposed: int


def note_agent_session(write: Transaction, session: str, client: str, model: str = "") -> None:
    """Note which client a session is of, inside a transaction. The first client of a session keeps it."""
    if not session:
        return
    write.execute(
        "INSERT INTO agent_sessions(session, client, model, started_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)"
        " ON CONFLICT(session) DO UPDATE SET last_at = excluded.last_at,"
        " model = iif(excluded.model = '', model, excluded.model)",
        (session, Verbatim(clean_client_name(client)), " ".join(model.split())[:80], write.at),
    )


def note_agent_call(
    write: Transaction,
    *,
    client: str,
    session: str,
    door: str,
    name: str,
    milliseconds: float,
    tokens: int = 0,
    problem: str = "",
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    step: int | None = None,
) -> int:
    """Note a call, inside a transaction; return its number. `door` is mcp or hook, `step` the step of history that
    it made. The oldest beyond MAX_AGENT_CALLS are deleted."""
    number = write.insert(
        "agent_calls",
        at=write.at,
        client=Verbatim(clean_client_name(client)),
        session=session,
        door=Verbatim(door),
        name=Verbatim(name[:80]),
        milliseconds=milliseconds,
        tokens=tokens,
        problem=Verbatim(problem),
        step=step,
        reads=Verbatim(json.dumps(list(reads)[:MAX_CALL_CITATIONS])),
        writes=Verbatim(json.dumps(list(writes)[:MAX_CALL_CITATIONS])),
    )
    write.execute("DELETE FROM agent_calls WHERE id <= ?", (number - MAX_AGENT_CALLS,))
    return number


def list_agent_calls(database: Database, clients: Sequence[str] | None = None, limit: int = 50) -> list[AgentCall]:
    """Return the newest calls, the newest first; those of some clients if they are named."""
    rows = database.rows(
        "SELECT id, at, client, session, door, name, milliseconds, tokens, problem, reads, writes FROM agent_calls"
        f" WHERE {_OF_CLIENTS} ORDER BY id DESC LIMIT ?2",
        (json.dumps(clients), limit),
    )
    return [
        AgentCall(*(*row, tuple(json.loads(reads)), tuple(json.loads(writes)))) for *row, reads, writes in rows
    ]


def list_agent_activity(database: Database, now: str) -> list[AgentActivity]:
    """Return what each agent did, the one that was active last first."""
    today = parse_moment("today", now)
    calls = dict(database.rows("SELECT client, count(*) FROM agent_calls WHERE at >= ? GROUP BY client", (today,)))
    tokens = dict(
        database.rows("SELECT client, sum(tokens) FROM injections WHERE at >= ? GROUP BY client", (today,))
    )
    last = dict(
        database.rows(
            "SELECT client, max(at) FROM (SELECT client, max(at) AS at FROM agent_calls GROUP BY client"
            " UNION ALL SELECT client, max(last_at) FROM agent_sessions GROUP BY client) GROUP BY client"
        )
    )
    models = dict(database.rows("SELECT client, model FROM agent_sessions WHERE model <> '' ORDER BY last_at"))
    proposals: dict[str, list[int]] = {}
    for origin, waiting, made in database.rows(
        "SELECT origin, sum(state = 'waiting'), count(*) FROM proposals"
        " WHERE origin LIKE 'mcp:%' OR origin LIKE 'hook:%' GROUP BY origin"
    ):
        sums = proposals.setdefault(agent_of(origin), [0, 0])
        sums[0] += waiting
        sums[1] += made
    found = []
    for name in dict.fromkeys(
        agent_of(client) for client in sorted(last, key=lambda client: last[client], reverse=True)
    ):
        mine = tuple(client for client in last if agent_of(client) == name)
        at = max(last[client] for client in mine)
        found.append(
            AgentActivity(
                name,
                mine,
                next((models[client] for client in mine if client in models), ""),
                at,
                to_ms(now) - to_ms(at) < AT_WORK_MS,
                sum(calls.get(client, 0) for client in mine),
                sum(tokens.get(client, 0) for client in mine),
                *proposals.get(name, (0, 0)),
            )
        )
    return found


# What was put into agents' contexts: kept for a while, so that a person can open it, and see why it was sent.
#
# Operational, bounded. A prompt sends no record twice to a session, and which records a reply cited is noted here.

MAX_INJECTIONS = 1_000  # injections
# kinds of records
INJECTED_KINDS = (*KIND_NUMBERS, "global")


# of one record: a longer one is cut, and memory_get gives the whole
MAX_LINE_TOKENS = 60


class PackLine(NamedTuple):
    """One record as it may stand in a pack: its citation, our own words before it, its text as it was written, why it
    is there, and the origin of what nobody confirmed ("" of what is known)."""

    citation: str
    key: int
    start: str
    text: str
    why: str
    by: str = ""

    @property
    def line(self) -> str:
        """The record as a line of its fence, cut to MAX_LINE_TOKENS."""
        return format_fence_item(self.start, shorten_to_tokens(self.text, MAX_LINE_TOKENS))


class Pack(NamedTuple):
    """A text to be put into an agent's context, of `tokens`; empty if there is nothing to say. `lines` are the records
    in it, `event` what it is for, `question` the prompt that it was made for."""

    text: str
    tokens: int
    lines: tuple[PackLine, ...]
    event: str
    question: str = ""

    @property
    def citations(self) -> tuple[str, ...]:
        return tuple(line.citation for line in self.lines)


class Injection(NamedTuple):
    """One text that an agent was sent: for a start, a prompt, a context it asked for, or a recovery (`event`). `why`
    says of each citation in it why it was sent, `used` are those that the reply cited."""

    id: int
    at: str
    client: str
    session: str
    event: str
    question: str
    text: str
    tokens: int
    why: dict[str, str]
    used: tuple[str, ...]


def log_injection(write: Transaction, client: str, session: str, made: Pack) -> int:
    """Keep a text that is about to be sent, inside a transaction; return its number. The oldest beyond
    MAX_INJECTIONS are deleted. A question that contains a purged text is replaced by a mark."""
    purged = made.question and has_purged_text(write.database, made.question)
    number = write.insert(
        "injections",
        at=write.at,
        client=Verbatim(client),
        session=session,
        event=Verbatim(made.event),
        question=PURGED_MARK if purged else made.question,
        text=made.text,
        tokens=made.tokens,
    )
    keys = {
        pack_key(citation.kind, citation.target): line.why
        for line in made.lines
        for _, _, citation in find_citations(line.citation)
        if citation.kind in INJECTED_KINDS and isinstance(citation.target, int)
    }
    for key, reason in keys.items():
        write.insert("injected", injection=number, key=key, why=Verbatim(reason))
    count_openings(write, keys)
    write.execute(
        "DELETE FROM injections WHERE id <= (SELECT id FROM injections ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (MAX_INJECTIONS,),
    )
    return number


def find_sent_keys(database: Database, session: str) -> set[int]:
    """Return the keys of the records that a session was sent."""
    if not session:
        return set()
    return set(
        database.column(
            "SELECT DISTINCT d.key FROM injections i JOIN injected d ON d.injection = i.id WHERE i.session = ?",
            (session,),
        )
    )


def note_cited_records(write: Transaction, session: str, reply: str) -> int:
    """Note which of the records that a session was sent a reply cites, inside a transaction; return how many."""
    cited = {
        pack_key(citation.kind, int(citation.target))
        for _, _, citation in find_citations(reply)
        if citation.kind in INJECTED_KINDS and isinstance(citation.target, int)
    }
    if not cited:
        return 0
    write.execute(
        "UPDATE injected SET used = 1 WHERE used = 0 AND key IN (SELECT value FROM json_each(?))"
        " AND injection IN (SELECT id FROM injections WHERE session = ?)",
        (Verbatim(json.dumps(sorted(cited))), session),
    )
    return write.changed_rows()


def list_injections(
    database: Database, clients: Sequence[str] | None = None, limit: int = 50, session: str = ""
) -> list[Injection]:
    """Return what agents were sent, newest first; what some clients, or one session, were sent if they are named."""
    return _read_injections(
        database,
        f"{_OF_CLIENTS} AND (?3 = '' OR session = ?3) ORDER BY id DESC LIMIT ?2",
        (json.dumps(clients), limit, session),
    )


def get_injection(database: Database, number: int) -> Injection:
    """Return one text that an agent was sent. Raise NotFound."""
    found = _read_injections(database, "id = ?", (number,))
    if not found:
        raise NotFound("That is not kept any more.", f"The newest {MAX_INJECTIONS:,} are: memoranda agents")
    return found[0]


def _read_injections(database: Database, where: str, parameters: tuple[object, ...]) -> list[Injection]:
    """Return the injections that a condition selects, with the records in each."""
    rows = database.rows(
        f"SELECT id, at, client, session, event, question, text, tokens FROM injections WHERE {where}",
        parameters,
    )
    numbers = json.dumps([row[0] for row in rows])
    inside: dict[int, list[tuple[str, str, int]]] = {}
    for number, key, why, used in database.rows(
        "SELECT injection, key, why, used FROM injected WHERE injection IN (SELECT value FROM json_each(?))"
        " ORDER BY key",
        (numbers,),
    ):
        inside.setdefault(number, []).append((_citation_of_key(database, key), why, used))
    found = []
    for row in rows:
        those = inside.get(row[0], [])
        used = tuple(citation for citation, _, is_used in those if is_used)
        found.append(Injection(*(*row, {citation: why for citation, why, _ in those}, used)))
    return found


def _citation_of_key(database: Database, key: int) -> str:
    """Return the citation of the record with a key."""
    kind, number = unpack_key(key)
    if kind == "commit":
        return cite(
            kind, database.value("SELECT substr(sha, 1, 7) FROM commits WHERE id = ?", (number,)) or number
        )
    return cite(kind, number)
