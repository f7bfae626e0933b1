"""How a memory fares, in numbers [003] §9, [002] §6: how old its facts are, what conversations and contexts cost, how
much of that was of use, how often an answer was at hand, and which sessions could be gone on with."""

import os
from dataclasses import dataclass
from statistics import median

from store.ageing import STATES
from store.memory import Memory

SESSIONS = 8  # conversations that are told, the newest first
QUERIES = 5
FILES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Measures:
    """`states` of active facts, by name; `oldest` is when the fact was confirmed that was not for longest, empty
    without facts. `sessions` are (name, turns, tokens); `contexts` how many agents were handed lately, `context_tokens`
    what one took (median), `useful` the share of these tokens that answers cited, None until one was answered.
    `answers` are (looked for, given again, kept). `queries` were asked last, and a search for one of them took
    `search_ms` by keywords (median), None where there are none. `covered` is the share of sessions with a checkpoint to
    go on from, None without sessions. `sizes` in bytes, by what they are of."""

    states: dict[str, int]
    oldest: str
    sessions: tuple[tuple[str, int, int], ...]
    contexts: int
    context_tokens: int | None
    useful: float | None
    answers: tuple[int, int, int]
    queries: tuple[str, ...]
    search_ms: float | None
    covered: float | None
    sizes: dict[str, int]


def measure(memory: Memory) -> Measures:
    """All of it; some 50 ms in a memory of 10,000 facts."""
    database = memory.database
    counts = memory.facts.counts(memory.now)
    oldest = database.value("SELECT min(last_confirmed_at) FROM facts WHERE status = 'active'") or ""
    sessions = database.rows(
        "SELECT session, count(*), sum(coalesce(tokens, (octet_length(text) + 3) / 4)) FROM turns"
        " GROUP BY session ORDER BY max(id) DESC LIMIT ?",
        (SESSIONS,),
    )
    tokens = [taken for (taken,) in database.rows("SELECT tokens FROM contexts")]
    told, covered = database.row(
        "SELECT count(*), count(*) FILTER (WHERE session IN (SELECT session FROM checkpoints))"
        " FROM (SELECT DISTINCT session FROM turns)"
    ) or (0, 0)
    queries = memory.search.asked.recent(QUERIES)
    times = [memory.search(query, meaning=False).milliseconds for query in queries]
    return Measures(
        {state: counts[state] for state in STATES},
        oldest,
        tuple(sessions),
        len(tokens),
        round(median(tokens)) if tokens else None,
        memory.context.sent.useful(),
        memory.answers.figures(),
        tuple(queries),
        median(times) if times else None,
        covered / told if told else None,
        {"memory": sum(map(_size, (memory.location.path + end for end in FILES))), "backups": _backups(memory)},
    )


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _backups(memory: Memory) -> int:
    folder = os.path.join(os.path.dirname(memory.location.path), "backups")
    try:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    except OSError:
        return 0
