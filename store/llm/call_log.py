"""Log of the model's last calls, for a person to read: the answer, why it was dropped, and what was used instead.

Entries are kept for a day. They are not searched and not sent to a model; a purge deletes all of them.
"""

from dataclasses import dataclass

from store.base.clock import days_before
from store.database.database import Database, Transaction
from store.database.values import Verbatim

DAYS = 1
MOST = 200  # calls
LONGEST = 4_000  # characters of an answer
FALLBACKS = {
    "extract_facts": "requests by rule",
    "reconfirm": "what was repeated word for word",
    "summarize": "whole sentences of what was said",
    "slug": "the first words of what was said",
    "classify_domain": "general",
    "rank_facts": "the order of the search",
    "consolidate": "the facts' own words",
    "answer": "the order of the search",
}
"""What each task uses where the model's answer cannot be used."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call. `dropped` is why its answer, or a part of it, was not used, and `fallback` what was used instead; both
    are empty where all of it was used. `seconds` is how long it took."""

    id: int
    at: str
    task: str
    model: str
    seconds: float
    answer: str
    dropped: str = ""
    fallback: str = ""


def record(write: Transaction, task: str, model: str, milliseconds: int, answer: str, dropped: str) -> None:
    """Add a call, and delete those that are too old or too many."""
    write.insert(
        "model_calls",
        at=Verbatim(write.at),
        task=Verbatim(task),
        model=model[:80],
        ms=milliseconds,
        answer=answer[:LONGEST],
        dropped=dropped,
    )
    write.execute("DELETE FROM model_calls WHERE at < ?", (Verbatim(days_before(write.at, DAYS)),))
    write.execute("DELETE FROM model_calls WHERE id <= (SELECT max(id) - ? FROM model_calls)", (MOST,))


def note(write: Transaction, task: str, column: str, text: str) -> None:
    """Note of the last call of a task why its answer, or a part of it, was not used (column `dropped`), or what was
    used in its place (`fallback`)."""
    last = "SELECT max(id) FROM model_calls WHERE task = ?"
    write.execute(f"UPDATE model_calls SET {column} = ? WHERE id = ({last})", (text, Verbatim(task)))


def recent(database: Database, now: str) -> list[LoggedCall]:
    """List the calls of the last day, the newest first."""
    rows = database.rows(
        "SELECT id, at, task, model, ms / 1000.0, answer, dropped, fallback FROM model_calls WHERE at >= ?"
        " ORDER BY id DESC",
        (days_before(now, DAYS),),
    )
    return [LoggedCall(*row) for row in rows]


def expire(database: Database, now: str) -> None:
    """Delete the calls that are older than a day."""
    cut = days_before(now, DAYS)
    if database.value("SELECT 1 FROM model_calls WHERE at < ? LIMIT 1", (cut,)):
        with database.write("agent", "model") as write:
            write.execute("DELETE FROM model_calls WHERE at < ?", (Verbatim(cut),))
