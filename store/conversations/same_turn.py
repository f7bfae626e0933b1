"""Keep a turn once that arrives twice: from a hook at once, and later from the transcript.

Each turn of one source is claimed by one of the other, so a turn that somebody wrote twice is kept twice.
"""

from store.base.clock import from_ms, to_ms
from store.database.database import Transaction
from store.database.values import Verbatim, clean

LONGEST = 200_000  # characters of a turn; the rest of a longer one is cut off
APART_MS = 30 * 60_000  # a hook reports a reply when it ends, the transcript has the time it began
HOOK = "hook:"  # prefix of the origin of a turn that a hook reported


def claim(write: Transaction, session: str, role: str, text: str, at: str, *, of_hook: bool) -> int:
    """Return the turn of the other source, a hook's if `of_hook`, that is the same as this one, and claim it, inside a
    transaction; 0 if there is none."""
    rows = write.rows(
        "SELECT id, text, origin FROM turns WHERE session = ? AND role = ? AND at BETWEEN ? AND ? ORDER BY id",
        (
            clean(session),
            Verbatim(role),
            Verbatim(from_ms(max(0, to_ms(at) - APART_MS))),
            Verbatim(from_ms(to_ms(at) + APART_MS)),
        ),
    )
    cleaned = clean(text).strip()
    for number, other, origin in list(rows):
        if origin.startswith(HOOK) == of_hook and other.strip() == cleaned:
            write.execute("INSERT OR IGNORE INTO ingested(key) VALUES (?)", (b"turn %d" % number,))
            if write.database.connection.changes():
                return int(number)
    return 0
