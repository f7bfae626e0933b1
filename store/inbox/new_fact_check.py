"""Compare the facts that a person has just remembered with the others; propose what to do with similar ones.

The fact is written at once, and compared soon after (by the application within seconds, else by the next command that
reads), so that `remember` does not wait: importing `rapidfuzz` and the rest would double its time in a shell. By words
alone, as `find_similar_facts`, a millisecond or two for each.
"""

from __future__ import annotations

from collections.abc import Callable

from store.base.errors import MemorandaError
from store.database.database import Database
from store.inbox import duplicates
from store.inbox.duplicates import DUPLICATES_ORIGIN
from store.inbox.inbox import Inbox
from store.records.facts import Facts

COMPARE_BATCH = 20  # facts that are compared before the results are written


def has_uncompared_facts(database: Database) -> bool:
    """Return whether a fact waits to be compared; cheap."""
    return not database.read_only and bool(database.value("SELECT 1 FROM uncompared LIMIT 1"))


def compare_new_facts(
    database: Database, facts: Facts, inbox: Inbox, cancelled: Callable[[], bool] = lambda: False
) -> list[int]:
    """Compare the facts that wait to be compared; return the ids of new proposals, whose origin is
    DUPLICATES_ORIGIN. A proposal is made once, by this check or by a pass over all facts, whatever the
    decision. Raise StorageError."""
    asked: list[int] = []
    while not cancelled() and has_uncompared_facts(database):
        asked += _compare_batch(database, facts, inbox)
    return asked


def mark_all_compared(database: Database) -> None:
    """Mark all facts remembered until now as compared."""
    with database.write("agent", "compared") as write:
        write.execute("DELETE FROM uncompared")


def _compare_batch(database: Database, facts: Facts, inbox: Inbox) -> list[int]:
    waiting = [
        number for (number,) in database.rows("SELECT fact FROM uncompared ORDER BY fact LIMIT ?", (COMPARE_BATCH,))
    ]
    active = [fact for fact in facts.get_many(waiting) if fact.status == "active"]
    questions = {fact.id: duplicates.question_about_new_fact(database, facts, fact) for fact in active}
    new: list[int] = []
    with database.write(DUPLICATES_ORIGIN, "propose") as write:
        for number in waiting:
            write.execute("DELETE FROM uncompared WHERE fact = ?", (number,))
            question = questions.get(number)
            if question is None:  # no similar fact
                continue
            try:
                proposal, fresh = inbox.propose_within(write, question)  # not fresh if another process was first
            except MemorandaError:
                continue  # one of the two was deleted meanwhile
            new += [proposal] if fresh else []
        write.reason = inbox.proposing_reason(new)
    return new
