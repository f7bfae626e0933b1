"""What a person has just remembered is compared with what is known: something like it becomes a question in the inbox.

The fact is written at once, and looked at soon after (the application within seconds, else the next command that
reads), for who remembers does not wait for it: `rapidfuzz` and what else it takes would double what the shell's
`remember` costs. By words alone, as `duplicates.alike`, a millisecond or two for each.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.database.database import Database

if TYPE_CHECKING:
    from store.inbox.inbox import Inbox
    from store.records.facts import Facts

BATCH = 20  # facts that are looked at before what came of them is written


def due(database: Database) -> bool:
    """A cheap look at whether a fact waits to be compared."""
    return not database.read_only and bool(database.value("SELECT 1 FROM uncompared LIMIT 1"))


def compare(
    database: Database, facts: "Facts", inbox: "Inbox", cancelled: Callable[[], bool] = lambda: False
) -> list[int]:
    """Compare what waits; the ids of new proposals, whose origin is that of the duplicates. The same question is asked
    once, by this or by a pass over all facts, whatever was answered. Raises StorageError."""
    asked: list[int] = []
    while not cancelled() and due(database):
        asked += _some(database, facts, inbox)
    return asked


def settle(database: Database) -> None:
    """Let what was remembered until now be as it is."""
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
            if question is None:  # nothing is like it
                continue
            try:
                proposal, fresh = inbox.ask(write, question)  # not fresh if another process was here first
            except MemorandaError:
                continue  # one of the two went meanwhile
            new += [proposal] if fresh else []
        write.reason = inbox.proposed(new)
    return new
