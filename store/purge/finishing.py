"""What follows a purge: the index is merged, the log emptied, our own backups rewritten.

None of it fits into the transaction, and a reader may hold the log for as long as it likes. So the transaction leaves a
note; whoever opens the memory next goes on from it, and it goes when all is done. The note holds no text: a backup is
searched for what has a tombstone.
"""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import apsw

from store import tombstones
from store.database import Database, Verbatim, Write
from store.database.connection import SCHEMA_VERSION
from store.errors import Busy, DiskFull, MemorandaError, StorageError
from store.exchange.backup import FOLDER
from store.exchange.sealing import as_written, opened, seal
from store.purge.words import Words

NOTE = "purge.pending"
PAGES = 400  # of the index, merged in one transaction: some 20 ms, so that no writer waits long


@dataclass(frozen=True, slots=True)
class Finished:
    """How far the cleaning came. `pending` says why it is not done yet, empty if it is; `rewritten` and `removed` are
    names of backups, `unread` those that could not be looked at."""

    pending: str = ""
    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def pending(database: Database) -> bool:
    """Whether a purge is not finished: one look at one row."""
    return database.value("SELECT 1 FROM meta WHERE key = ?", (NOTE,)) is not None


def note(write: Write, places: Iterable[tuple[str, str]]) -> None:
    """Say, in the purge's own transaction, what is to follow; `places` are the rows that were scrubbed. Those whose key
    is a text are left out: it would be kept here, and a backup's are scrubbed unasked."""
    places = [(table, key) for table, key in places if all(isinstance(value, int) for value in json.loads(key))]
    earlier = write.execute("SELECT value FROM meta WHERE key = ?", (Verbatim(NOTE),)).get
    scrubbed = [tuple(place) for place in json.loads(earlier)] if earlier else []
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (Verbatim(NOTE), Verbatim(json.dumps(list(dict.fromkeys([*scrubbed, *places]))))),
    )


def finish(database: Database, texts: Sequence[str] = ()) -> Finished:
    """Clean up after a purge, as far as it can be done now; nothing if there was none. `texts` are its words where they
    are still known: backups are then searched for quotations too."""
    value = database.value("SELECT value FROM meta WHERE key = ?", (NOTE,))
    if value is None or database.read_only:
        return Finished()
    try:
        merge(database)
        if not database.empty_log():
            return Finished("Another program is reading the memory, and its file keeps the text until that lets go.")
    except DiskFull:
        return Finished("The disk is too full to rewrite the search index.")
    except Busy:
        return Finished("Another program is writing to the memory.")
    buried = tombstones.buried(database)
    places = [(table, key) for table, key in json.loads(value)]
    backups = in_backups(database, lambda backup: _purge_too(backup, buried, places, texts))
    with database.write("agent", "purge") as write:  # unless another purge left more to do
        write.execute("DELETE FROM meta WHERE key = ? AND value = ?", (Verbatim(NOTE), Verbatim(value)))
    database.empty_log()
    return backups


def merge(database: Database) -> None:
    """Merge the search index into one piece, in which nothing of deleted rows is left; a part at a time."""
    pages = -PAGES
    while True:
        with database.write("agent", "purge") as write:
            before = database.connection.total_changes()
            write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('merge', ?)", (pages,))
            if database.connection.total_changes() - before < 2:  # FTS5: nothing is left to merge
                return
        pages = PAGES


def backups_of(path: str) -> list[str]:
    """The backups beside the memory at `path`, Memoranda's own; sorted."""
    folder = os.path.join(os.path.dirname(path), FOLDER)
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".db"))
    except OSError:
        return []


def in_backups(database: Database, clean: Callable[[Database], bool]) -> Finished:
    """Have `clean` take out of each backup of this memory what was taken out of it; true where there was something.
    One that cannot be rewritten goes."""
    rewritten, removed, unread = list[str](), list[str](), list[str]()
    birth = database.value("SELECT value FROM meta WHERE key = 'created_at'")
    for path in backups_of(database.path):
        name = os.path.basename(path)
        try:
            born, version = _birth(path)
            if born != birth:
                continue  # another memory's, in the same folder
        except apsw.Error:
            unread.append(name)
            continue
        times = os.stat(path)
        sound = as_written(database, path)
        try:
            if changed := _rewrite(path, clean):
                rewritten.append(name)
            if changed or (sound and version != SCHEMA_VERSION):  # it is of today's schema now
                seal(database, path)
            elif sound:
                opened(database, path)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # its age is when it was taken
        except MemorandaError:
            for beside in (path, f"{path}-wal", f"{path}-shm"):
                if os.path.lexists(beside):
                    os.unlink(beside)
            removed.append(name)
    return Finished("", tuple(rewritten), tuple(removed), tuple(unread))


def _birth(path: str) -> tuple[str | None, int]:
    """(when the memory began of which this file is a backup, the version of its schema). Opened for writing: one whose
    rewriting was cut off has a journal beside it, which is to be rolled back first."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        born = connection.execute("SELECT value FROM meta WHERE key = 'created_at'").get
        return born, connection.pragma("user_version")
    finally:
        connection.close()


def _rewrite(path: str, clean: Callable[[Database], bool]) -> bool:
    backup = Database(path, "worker", create=False)
    try:
        changed = clean(backup)
        backup.connection.pragma("journal_mode", "delete")  # as a backup is left: one file, without a log
        return changed
    finally:
        backup.close()


def _purge_too(
    backup: Database, buried: tombstones.Buried, places: list[tuple[str, str]], texts: Sequence[str]
) -> bool:
    """Whether there was something to take out of a backup, which then is out of it. Raises MemorandaError."""
    from store.purge.erasing import Purge
    from store.purge.files import indexed

    purge = Purge(backup)
    plan = purge.same(buried, places, texts)
    if not plan.going and not plan.places and not indexed(backup, Words(plan.texts)):
        return False
    if purge.run(plan, range(len(plan.places)), actor="agent").finished.pending:
        raise StorageError("A backup is being read.")
    return True
