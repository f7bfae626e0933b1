"""The turns that are still to be read, by rules and then by a model (`pending_extraction`).

An entry is added in the transaction that adds its turn, and removed in the one that writes what was learned from it: a
process killed between the two loses nothing. Turns that rules have read may then wait for a model, as
an entry for each of its TASKS: a few hundred at most, since there may never be a model. Operational data, of ids and
numbers only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store.base.clock import from_ms, to_ms
from store.database.database import Database, Transaction
from store.database.values import Verbatim

QUEUE_TASKS = (
    "extract_facts",
    "reconfirm",
)  # of a model; an entry for rules of either name means all that they do
# prefix of the tasks of a model
MODEL_PREFIX = "model."
# entries that wait for a model, at most: the newest are kept
MOST_WAITING = 400
MOST_ATTEMPTS = 3
READ_COUNT, FAILED_COUNT = (
    "extraction.read",
    "extraction.failed",
)  # in meta: how many attempts of rules succeeded, how many failed
# after the first, second and last attempt
BACKOFF_MS = (60_000, 600_000, 0)
DUE_SQL = "{} AND (next_at <= ? OR next_at > ?) AND attempts < ?"
FOR_RULES_SQL, FOR_MODEL_SQL = f"task NOT GLOB '{MODEL_PREFIX}*'", f"task GLOB '{MODEL_PREFIX}*'"


@dataclass(slots=True, eq=False)
class QueueEntry:
    """A turn that waits for a task, for the `attempts`-th time."""

    id: int
    turn: int
    task: str
    attempts: int


def enqueue_turn(write: Transaction, turn: int) -> None:
    """Queue a user's turn for learning, in the transaction that adds it."""
    _enqueue(write, turn, QUEUE_TASKS[0])


def enqueue_for_model(write: Transaction, turn: int) -> None:
    """Queue a turn that rules have read for a model, in the transaction that removes their entry. The oldest
    entries beyond MOST_WAITING are dropped."""
    for task in QUEUE_TASKS:
        _enqueue(write, turn, MODEL_PREFIX + task)
    write.execute(
        "DELETE FROM pending_extraction WHERE id IN"
        f" (SELECT id FROM pending_extraction WHERE {FOR_MODEL_SQL} ORDER BY id DESC LIMIT -1 OFFSET ?)",
        (MOST_WAITING,),
    )


def _enqueue(write: Transaction, turn: int, task: str) -> None:
    """Add an entry for a task to the queue."""
    write.execute(
        "INSERT INTO pending_extraction(turn, task, next_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (turn, Verbatim(task), write.at),
    )


def take_entries(write: Transaction, most: int, *, model: bool = False) -> list[QueueEntry]:
    """Return the next entries that are due, and count the attempt: one that kills its process is counted too. An entry
    with an earlier attempt is returned alone, so that it cannot make others fail. Entries for rules, or for a `model`,
    the newest first."""
    now = to_ms(write.at)
    rows = list(write.rows(due_entries_sql(model), (*map(Verbatim, _due_bounds(write.at)), MOST_ATTEMPTS, most)))
    if rows and rows[0][3] > 0:
        del rows[1:]
    taken = [
        QueueEntry(number, turn, task, tries + 1) for number, turn, task, tries in rows if tries == rows[0][3]
    ]
    for entry in taken:
        write.execute(
            "UPDATE pending_extraction SET attempts = ?, next_at = ?, error = '' WHERE id = ?",
            (entry.attempts, Verbatim(from_ms(now + BACKOFF_MS[entry.attempts - 1])), entry.id),
        )
    return taken


def due_entries_sql(model: bool) -> str:
    """Return the query for the entries that are due."""
    order = "attempts, id DESC" if model else "attempts, id"
    due = DUE_SQL.format(FOR_MODEL_SQL if model else FOR_RULES_SQL)
    return f"SELECT id, turn, task, attempts FROM pending_extraction WHERE {due} ORDER BY {order} LIMIT ?"


def complete_entry(write: Transaction, entry: QueueEntry) -> bool:
    """Remove an entry, in the transaction that writes its results; for rules all entries of its turn, since older
    files have one for each of QUEUE_TASKS. Return whether it still existed: if not, another process completed
    it meanwhile, and its results are not to be written."""
    rules = not entry.task.startswith(MODEL_PREFIX)
    which, number = (f"turn = ? AND {FOR_RULES_SQL}", entry.turn) if rules else ("id = ?", entry.id)
    there = write.first(f"DELETE FROM pending_extraction WHERE {which} RETURNING 1", (number,)) is not None
    write.add_to_count(READ_COUNT, int(there and rules))
    return there


def return_entries(write: Transaction, entries: Sequence[QueueEntry], later_ms: int = 0) -> None:
    """Return to the queue entries that were taken and not tried: due as before, or `later_ms` later."""
    at = from_ms(to_ms(write.at) + later_ms)
    for entry in entries:
        write.execute(
            "UPDATE pending_extraction SET attempts = attempts - 1, next_at = ? WHERE id = ?",
            (Verbatim(at), entry.id),
        )


def record_failure(write: Transaction, entry: QueueEntry, error: str) -> None:
    """Record why an entry failed; `error` holds no record's text."""
    write.execute("UPDATE pending_extraction SET error = ? WHERE id = ?", (error, entry.id))
    write.add_to_count(FAILED_COUNT, int(not entry.task.startswith(MODEL_PREFIX)))


def retry_given_up(database: Database) -> int:
    """Queue the entries that were given up once more, and make waiting ones due now; return how many turns were given
    up."""
    given_up: int = count_queued_turns(database)[1]
    if given_up or database.value("SELECT 1 FROM pending_extraction WHERE attempts > 0 LIMIT 1"):
        with database.write("agent", "extraction") as write:
            write.execute(
                "UPDATE pending_extraction SET attempts = 0, next_at = ? WHERE attempts > 0", (write.at,)
            )
    return given_up


def count_queued_turns(database: Database, *, model: bool = False) -> tuple[int, int]:
    """Return (how many turns wait for rules, or for a `model`; how many were given up after the last attempt)."""
    waiting, given_up = database.rows(
        "SELECT count(DISTINCT iif(attempts < ?1, turn, NULL)), count(DISTINCT iif(attempts >= ?1, turn, NULL))"
        f" FROM pending_extraction WHERE {FOR_MODEL_SQL if model else FOR_RULES_SQL}",
        (MOST_ATTEMPTS,),
    )[0]
    return waiting, given_up


def count_attempts(database: Database) -> tuple[int, int]:
    """Return (how many attempts to read a turn succeeded, how many failed), since this is counted."""
    return database.get_count(READ_COUNT), database.get_count(FAILED_COUNT)


def list_given_up(database: Database, limit: int) -> list[tuple[int, str]]:
    """List (turn, why) of the entries that were given up, the newest first; `why` is the code or the name of an
    error."""
    return database.rows(
        f"SELECT turn, max(error) FROM pending_extraction WHERE {FOR_RULES_SQL} AND attempts >= ?"
        " GROUP BY turn ORDER BY turn DESC LIMIT ?",
        (MOST_ATTEMPTS, limit),
    )


def has_due_entries(database: Database, now: str, *, model: bool = False) -> bool:
    """Return whether something is to be read, by rules or by a `model`; one cheap query."""
    return bool(database.rows(due_entries_sql(model), (*_due_bounds(now), MOST_ATTEMPTS, 1)))


def _due_bounds(now: str) -> tuple[str, str]:
    """Return now, and the latest time until which an entry can be delayed: one delayed longer means the clock was set
    back."""
    return now, from_ms(to_ms(now) + max(BACKOFF_MS))
