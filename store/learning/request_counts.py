"""How many turns ask for something to be remembered, and how many of these became a fact.

Apart from the rules that learn from turns, on purpose: what those do not hear is to be seen in these figures. So the
words here are few and plain, and a turn counts once.
"""

import re

from store.base.models import Turn
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.text.folding import fold

ASKED, KEPT = "requests.asked", "requests.kept"  # in meta
LONGEST = 5_000  # characters of a turn that are looked at
_REQUEST = re.compile(
    r"\b(?:recorda(?:te|lo|me)?|recuerda(?:lo|me)?|record[ae]n|acordate|acuerdate"
    r"|(?:tene|ten|tenga) (?:en cuenta|presente)"
    r"|anota(?:lo|te)?|apunta(?:lo|te)?|memoriza(?:lo)?|que (?:quede|conste)|no (?:te )?olvid(?:es|ate)"
    r"|(?:a partir de|de) ahora|de aca en mas"
    r"|remember(?! (?:when|how|why|what|where|who|the time|me\b))|keep in mind|bear in mind|(?:do not|don't) forget"
    r"|note to self|for the record|(?:write|note|jot) (?:this|that|it) down|make a note|take note|memori[sz]e"
    r"|from now on|going forward)\b"
)
_QUESTION = re.compile(r"(?:\b(?:do|did|can|could|would) you |te )$")


def asks(turn: Turn) -> bool:
    """Whether somebody asks in a turn for something to be remembered, as far as its words say."""
    text = fold(turn.text[:LONGEST])
    return any(not _QUESTION.search(text[max(0, one.start() - 12) : one.start()]) for one in _REQUEST.finditer(text))


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
