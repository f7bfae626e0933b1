"""How many turns ask for something to be remembered, and how many of these became a fact.

Apart from the rules that learn from turns, on purpose: what those do not hear is to be seen in these figures. So the
words here are few and plain, and a turn counts once.
"""

from store.base.models import Turn
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.learning.grammar import sign
from store.text.folding import fold

ASKED, KEPT = "requests.asked", "requests.kept"  # in meta
LONGEST = 5_000  # characters of a turn that are looked at


def asks(turn: Turn) -> bool:
    """Whether somebody asks in a turn for something to be remembered, as far as its words say."""
    text = fold(turn.text[:LONGEST])
    return any(
        not sign("before_question").search(text[max(0, one.start() - 12) : one.start()])
        for one in sign("asks_for_memory").finditer(text)
    )


def count(write: Transaction, kept: bool) -> None:
    """One more turn that asks, in the transaction that takes it off the queue."""
    for name, more in ((ASKED, 1), (KEPT, int(kept))):
        write.execute(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = value + ?2",
            (Verbatim(name), more),
        )


def counted(database: Database) -> tuple[int, int]:
    """(turns that asked, those of them that a fact came of or that confirmed one), since this is counted."""
    asked, kept = (int(database.value("SELECT value FROM meta WHERE key = ?", (name,)) or 0) for name in (ASKED, KEPT))
    return asked, kept
