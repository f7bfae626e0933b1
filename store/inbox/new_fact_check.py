"""Compare the facts that a person has just remembered with the others; propose what to do with similar ones.

The fact is written at once, and compared soon after (by the application within seconds, else by the next command that
reads), so that `remember` does not wait: importing `rapidfuzz` and the rest would double its time in a shell. By words
alone, as `duplicates.alike`, a millisecond or two for each.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.database.database import Database

if TYPE_CHECKING:
    from store.inbox.inbox import Inbox
    from store.records.facts import Facts

BATCH = 20  # facts that are compared before the results are written


def due(database: Database) -> bool:
    """Return whether a fact waits to be compared; cheap."""
    return not database.read_only and bool(database.value("SELECT 1 FROM uncompared LIMIT 1"))


def compare(
    database: Database, facts: "Facts", inbox: "Inbox", cancelled: Callable[[], bool] = lambda: False
) -> list[int]:
    """Compare the waiting facts; return the ids of new proposals, whose origin is that of the duplicates. The same
    proposal is made once, by this or by a pass over all facts, whatever the decision. Raise StorageError."""
    asked: list[int] = []
    while not cancelled() and due(database):
        asked += _some(database, facts, inbox)
    return asked


def settle(database: Database) -> None:
    """Mark all facts remembered until now as compared."""
    with database.write("agent", "compared") as write:
        write.execute("DELETE FROM uncompared")


def _some(database: Database, facts: "Facts", inbox: "Inbox") -> list[int]:
    from store.inbox.duplicates import ORIGIN, about_new

    waiting = [number for (number,) in database.rows("SELECT fact FROM uncompared ORDER BY fact LIMIT ?", (BATCH,))]
    active = [fact for fact in facts.many(waiting) if fact.status == "active"]
    questions = {fact.id: about_new(database, facts, fact) for fact in active}
    new: list[int] = []
    with database.write(ORIGIN, "propose") as write:
        for number in waiting:
            write.execute("DELETE FROM uncompared WHERE fact = ?", (number,))
            question = questions.get(number)
            if question is None:  # no similar fact
                continue
            try:
                proposal, fresh = inbox.ask(write, question)  # not fresh if another process was first
            except MemorandaError:
                continue  # one of the two was deleted meanwhile
            new += [proposal] if fresh else []
        write.reason = inbox.proposed(new)
    return new
