"""One turn that comes by two roads: a hook tells it at once, and the transcript tells it again. It is kept once.

Each turn of the one road is claimed by one of the other: who says the same twice has said it twice.
"""

from store.base.clock import from_ms, to_ms
from store.database.database import Transaction
from store.database.values import Verbatim, clean

LONGEST = 200_000  # characters of a turn; the rest of a longer one is cut off
APART_MS = 30 * 60_000  # a reply is told when it is over, and stands in the transcript from when it began
HOOK = "hook:"  # what the origin of a turn starts with that a hook told


def claim(write: Transaction, session: str, role: str, text: str, at: str, *, of_hook: bool) -> int:
    """The turn by the other road, a hook's if `of_hook`, that this one is, inside a transaction; 0 if there is none.
    It is claimed from now on."""
    rows = write.rows(
        "SELECT id, text, origin FROM turns WHERE session = ? AND role = ? AND at BETWEEN ? AND ? ORDER BY id",
        (
            clean(session),
            Verbatim(role),
            Verbatim(from_ms(max(0, to_ms(at) - APART_MS))),
            Verbatim(from_ms(to_ms(at) + APART_MS)),
        ),
    )
    said = clean(text).strip()
    for number, other, origin in list(rows):
        if origin.startswith(HOOK) == of_hook and other.strip() == said:
            write.execute("INSERT OR IGNORE INTO ingested(key) VALUES (?)", (b"turn %d" % number,))
            if write.database.connection.changes():
                return int(number)
    return 0
