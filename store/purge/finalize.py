"""What follows a purge: merge the index, empty the log, rewrite our own backups.

None of it fits into the transaction, and a reader may hold the log for any time. The transaction therefore writes a
note; whoever opens the memory next continues from it, and it is deleted when all is done. The note holds no text: what
was purged is then known by its digests.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from store.base.errors import Busy, DiskFull
from store.conversations import hook_spool
from store.database.database import Database, Transaction
from store.database.erasure import tombstones
from store.database.erasure.purge_state import NOTE
from store.database.values import Verbatim
from store.purge import guarded, interrupted
from store.purge.backups import backups_of, in_backups
from store.purge.scan.pattern import Words

PAGES = 400  # of the index, merged in one transaction: some 20 ms, so that no writer waits long


PurgeBackup = Callable[
    [Database, Database, tombstones.Tombstones, Sequence[tuple[str, str]], Sequence[str], Sequence[str]], bool
]
"""(backup, memory, its tombstones, the rows kept there, words, names) → whether something was removed."""


@dataclass(frozen=True, slots=True)
class Finished:
    """State of the cleaning. `pending` is why it is not done yet, empty if it is; `rewritten` and `removed` are names
    of backups, `unread` those that could not be examined."""

    pending: str = ""
    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def note(write: Transaction, left: Iterable[tuple[str, str]], guard: bool = False) -> None:
    """Record, in the purge's own transaction, what is still to do. `left` are the rows that a person chose to keep,
    which backups keep too. Rows whose key is a text are not noted: the note would keep that text. `guard` is whether
    the words are to be cut out of all that guard keeps."""
    left = [(table, key) for table, key in left if table != "file" and _numbers(key)]
    earlier = write.execute("SELECT value FROM meta WHERE key = ?", (Verbatim(NOTE),)).get
    state = {"left": sorted({*_left(earlier), *left}), "guard": guard or _guard(earlier)}
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (Verbatim(NOTE), Verbatim(json.dumps(state))),
    )


def _numbers(key: str) -> bool:
    return all(isinstance(value, int) for value in json.loads(key))


def _left(noted: str | None) -> list[tuple[str, str]]:
    """Return the rows that a note lists as kept; none if an earlier version wrote it."""
    found = json.loads(noted) if noted else {}
    return [(table, key) for table, key in found["left"]] if isinstance(found, dict) and found else []


def _guard(noted: str | None) -> bool:
    found = json.loads(noted) if noted else {}
    return isinstance(found, dict) and bool(found.get("guard"))


def finish(database: Database, purge: PurgeBackup, texts: Sequence[str] = (), names: Sequence[str] = ()) -> Finished:
    """Clean up after a purge as far as possible now; do nothing if there was none. `purge` removes the same from a
    backup. `texts` and `names` are the purged words where still known; else they are looked for by their digests. Raise
    StorageError."""
    value = database.value("SELECT value FROM meta WHERE key = ?", (NOTE,))
    if value is None or database.read_only:
        return Finished()
    if not texts:
        texts, names = interrupted.again(database, backups_of(database), guarded.texts() if _guard(value) else ())
        if words := Words(texts):
            hook_spool.drop(database.path, words)
            if _guard(value):
                guarded.cut(guarded.places(words), words)
    buried, left = tombstones.buried(database), _left(value)
    done = in_backups(database, lambda backup: purge(backup, database, buried, left, texts, names), texts)
    why = _cleaned(database) or done.pending
    if not why:
        with database.write("agent", "purge") as write:  # unless another purge added more to do
            write.execute("DELETE FROM meta WHERE key = ? AND value = ?", (Verbatim(NOTE), Verbatim(value)))
        database.checkpoint_wal()
    return Finished(why, done.rewritten, done.removed, done.unread)


def _cleaned(database: Database) -> str:
    """Clear deleted rows from the index and the log; return why that is not possible now, empty if it was done."""
    try:
        merge(database)
        if not database.checkpoint_wal():
            return "Another program is reading the memory, and its file keeps the text until it closes it."
    except DiskFull:
        return "The disk is too full to rewrite the search index; free some space."
    except Busy:
        return "Another program is writing to the memory."
    return ""


def merge(database: Database) -> None:
    """Merge the search index into one segment without deleted rows, a part at a time."""
    pages = -PAGES
    while True:
        with database.write("agent", "purge") as write:
            before = database.connection.total_changes()
            write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('merge', ?)", (pages,))
            if database.connection.total_changes() - before < 2:  # FTS5 reports that nothing is left to merge
                return
        pages = PAGES
