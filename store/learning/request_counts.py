"""Counts of turns that ask for something to be remembered, and of those that led to a fact.

Independent of the learning rules on purpose, so that the counts show what the rules miss. The patterns are few and
simple, and a turn counts once.
"""

from store.base.models import Turn
from store.conversations import extraction_queue
from store.database.database import Database, Transaction
from store.learning.grammar import sign
from store.text.folding import fold

ASKED, KEPT = "requests.asked", "requests.kept"  # keys in meta
LONGEST = 5_000  # characters of a turn that are read


def asks(turn: Turn) -> bool:
    """Return whether a turn asks for something to be remembered, by its words."""
    text = fold(turn.text[:LONGEST])
    return any(
        not sign("before_question").search(text[max(0, one.start() - 12) : one.start()])
        for one in sign("asks_for_memory").finditer(text)
    )


def count(write: Transaction, kept: bool) -> None:
    """Count one more turn that asks, in the transaction that removes it from the queue."""
    extraction_queue.count(write, ASKED, 1)
    extraction_queue.count(write, KEPT, int(kept))


def counted(database: Database) -> tuple[int, int]:
    """Return (turns that asked, those that created or confirmed a fact), since counting began."""
    return extraction_queue.counted(database, ASKED), extraction_queue.counted(database, KEPT)
