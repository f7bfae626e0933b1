"""Propose what to do with duplicates and contradictions automatically: after a flush, and once a day while the
application is idle. Results wait in the inbox; without a changed fact since the last time nothing is compared."""

from store.base.clock import DAY_MS, to_ms
from store.database.values import Verbatim
from store.inbox import duplicates
from store.memory import Memory

MOST = 8  # new proposals of one pass
FACTS = 2_000  # of a memory; a larger one is not compared automatically
_SEEN, _AT = "consolidated.facts", "consolidated.at"  # keys of meta


def after_flush(memory: Memory) -> tuple[int, ...]:
    """Compare the facts if one changed since the last time; return the ids of the new proposals."""
    database = memory.database
    if database.read_only or database.moment or not memory.config["enabled"]:
        return ()
    state = _state(memory)
    if state == database.value("SELECT value FROM meta WHERE key = ?", (_SEEN,)):
        return ()
    found: tuple[int, ...] = ()
    if memory.database.value("SELECT count(*) FROM facts WHERE status = 'active'") <= FACTS:
        found = duplicates.nominate(
            database, memory.facts, memory.inbox, memory.now, actor=duplicates.ORIGIN, most=MOST
        ).proposals
    with database.write("agent", "consolidate") as write:
        for key, value in ((_SEEN, state), (_AT, memory.now)):
            write.execute(
                "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
                (Verbatim(key), Verbatim(value)),
            )
    return found


def daily(memory: Memory) -> tuple[int, ...]:
    """Do the same, if a day has passed since the last time."""
    last = memory.database.value("SELECT value FROM meta WHERE key = ?", (_AT,))
    if last and 0 <= to_ms(memory.now) - to_ms(last) < DAY_MS:
        return ()
    return after_flush(memory)


def _state(memory: Memory) -> str:
    """Return a text that changes when a fact is added, confirmed, corrected or forgotten."""
    row = memory.database.row(
        "SELECT count(*), coalesce(max(id), 0), coalesce(max(last_confirmed_at), '') FROM facts WHERE status = 'active'"
    )
    return " ".join(map(str, row or ()))
