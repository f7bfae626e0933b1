"""What agents did by the doors: their sessions, and each call with what it read, wrote and cost. Operational."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from store.base.clock import to_ms
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.doors.trust import agent, client_name

KEPT = 5_000  # calls
CONNECTED_MS = 15 * 60_000  # an agent with a call within this time is shown as working
MOST = 100  # citations that are kept of one call


@dataclass(frozen=True, slots=True)
class AgentCall:
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


@dataclass(frozen=True, slots=True)
class AgentActivity:
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


def note_session(write: Transaction, session: str, client: str, model: str = "") -> None:
    """Note which client a session is of, inside a transaction. The first client of a session keeps it."""
    if not session:
        return
    write.execute(
        "INSERT INTO agent_sessions(session, client, model, started_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)"
        " ON CONFLICT(session) DO UPDATE SET last_at = excluded.last_at,"
        " model = iif(excluded.model = '', model, excluded.model)",
        (session, Verbatim(client_name(client)), " ".join(model.split())[:80], Verbatim(write.at)),
    )


def note(
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
    """Note one call, inside a transaction: its number. `door` is mcp or hook, `step` that of history which it made. The
    oldest beyond KEPT go."""
    number = write.insert(
        "agent_calls",
        at=Verbatim(write.at),
        client=Verbatim(client_name(client)),
        session=session,
        door=Verbatim(door),
        name=Verbatim(name[:80]),
        milliseconds=milliseconds,
        tokens=tokens,
        problem=Verbatim(problem),
        step=step,
        reads=Verbatim(json.dumps(list(reads)[:MOST])),
        writes=Verbatim(json.dumps(list(writes)[:MOST])),
    )
    write.execute("DELETE FROM agent_calls WHERE id <= ?", (number - KEPT,))
    return number


def newest(database: Database, client: str = "", limit: int = 50) -> list[AgentCall]:
    """Return the newest calls, of one client if it is named."""
    rows = database.rows(
        "SELECT id, at, client, session, door, name, milliseconds, tokens, problem, reads, writes FROM agent_calls"
        " WHERE ?1 = '' OR client = ?1 ORDER BY id DESC LIMIT ?2",
        (client, limit),
    )
    return [AgentCall(*(*row, tuple(json.loads(reads)), tuple(json.loads(writes)))) for *row, reads, writes in rows]


def activity(database: Database, now: str) -> list[AgentActivity]:
    """Return what each agent did, the one that was active last first."""
    from store.base.clock import parse_moment

    today = parse_moment("today", now)
    calls = dict(database.rows("SELECT client, count(*) FROM agent_calls WHERE at >= ? GROUP BY client", (today,)))
    tokens = dict(database.rows("SELECT client, sum(tokens) FROM injections WHERE at >= ? GROUP BY client", (today,)))
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
        sums = proposals.setdefault(agent(origin), [0, 0])
        sums[0] += waiting
        sums[1] += made
    found = []
    for name in dict.fromkeys(agent(client) for client in sorted(last, key=lambda client: last[client], reverse=True)):
        mine = tuple(client for client in last if agent(client) == name)
        at = max(last[client] for client in mine)
        found.append(
            AgentActivity(
                name,
                mine,
                next((models[client] for client in mine if client in models), ""),
                at,
                to_ms(now) - to_ms(at) < CONNECTED_MS,
                sum(calls.get(client, 0) for client in mine),
                sum(tokens.get(client, 0) for client in mine),
                *proposals.get(name, (0, 0)),
            )
        )
    return found
