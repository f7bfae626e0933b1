"""What a purge does after its transaction: the index, the log, the backups.

The memory's own backups: remove from each what is removed from the memory.

A backup is never changed in place. A private copy is opened and cleaned, and replaces the backup only if something was
removed. After any failure or kill the backup is the old one or the new one; one that held nothing is unchanged byte for
byte.
"""

import errno
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from typing import NamedTuple

import apsw

from store.base.errors import Busy, DiskFull, MemorandaError, StorageError
from store.base.location import BACKUPS_FOLDER, backup_folder
from store.conversations.hook_spool import drop_matching_lines, read_spool_lines
from store.conversion import convert_memory
from store.database.database import Database, Transaction
from store.database.tombstones import (
    PURGE_NOTE,
    HasTombstone,
    find_purged_texts,
    make_digest_lookup,
    make_tombstone_test,
)
from store.database.values import Verbatim
from store.exchange.backups import copy_pages, scratch_folder, seal_backup, tidy_backups
from store.exchange.exporter import publish_file
from store.purge.file_eraser import cut_from_guard, find_guard_matches, read_guard_texts
from store.purge.proof import search_files
from store.purge.registry import RECORD_TABLE, TEXT_TABLES, TextTable
from store.purge.word_search import PurgedTexts, find_strings

CleanBackup = Callable[[Database], bool]


class CleanupResult(NamedTuple):
    """State of the cleaning. `pending` is why it is not done yet, empty if it is; `rewritten` and `removed` are names
    of backups, `unread` those that could not be examined."""

    pending: str = ""
    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def list_own_backups(database: Database) -> list[str]:
    """List the backups of this memory that can be opened, sorted; backups of other memories in the folder are left
    out."""
    return [path for path, ours in _list_backups(database) if ours]


def _list_backups(database: Database) -> list[tuple[str, bool | None]]:
    """List (path, whether it is of this memory, None if unknown) for each file in the folder of backups, and in the one
    beside the memory, where something may be left."""
    birth, paths = database.get_meta("created_at"), list[str]()
    for folder in {backup_folder(database.path), os.path.join(os.path.dirname(database.path), BACKUPS_FOLDER)}:
        with suppress(OSError):
            paths += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".db")]
    found: list[tuple[str, bool | None]] = []
    for path in sorted(paths):
        try:
            found.append((path, _read_birth(path) == birth))
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.CantOpenError):
            found.append((path, None))
    return found


def clean_backups(database: Database, clean: CleanBackup, texts: Sequence[str] = ()) -> CleanupResult:
    """Run `clean` on each backup of this memory; `clean` returns whether it removed something. Delete a damaged backup
    that holds one of `texts`, and copies left by a killed process."""
    tidy_backups(database)
    rewritten, removed, unread, pending = list[str](), list[str](), list[str](), ""
    for path, ours in _list_backups(database):
        name = os.path.basename(path)
        if ours is False:
            # of another memory in the same folder
            continue
        try:
            if ours and _rewrite_backup(path, clean):
                rewritten.append(name)
                seal_backup(database, path)
            if ours:
                continue
        except DiskFull:
            pending = f"The disk is too full to rewrite the backup {name}."
            continue
        except apsw.BusyError:
            pending = f"Another program is using the backup {name}."
            continue
        except (MemorandaError, apsw.Error):
            pass
        if ours and texts and any(one.found for one in search_files(texts, [path])):
            os.unlink(path)
            # stop later purges from looking for it
            with database.write("agent", "backup") as write:
                write.execute("DELETE FROM backups WHERE name = ?", (Verbatim(name),))
            removed.append(name)
        else:
            unread.append(name)
    return CleanupResult(pending, tuple(rewritten), tuple(removed), tuple(unread))


def open_backup(path: str) -> apsw.Connection:
    """Open a backup for reading. Writing is allowed where permissions allow it: the journal of a process killed while
    writing must be rolled back first, and no log may be left beside the file."""
    writable = os.access(path, os.W_OK)
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY)


def _read_birth(path: str) -> str | None:
    """Return the creation time of the memory that this file is a backup of."""
    with closing(open_backup(path)) as connection:
        born: str | None = connection.execute("SELECT value FROM meta WHERE key = 'created_at'").get
        return born


def _rewrite_backup(path: str, clean: CleanBackup) -> bool:
    """Clean a copy of a backup and replace the backup if something was removed; return whether it was. Raise
    MemorandaError or apsw.Error."""
    try:
        times = os.stat(path)
        with scratch_folder(path) as folder:
            copy = os.path.join(folder, "memory.db")
            with closing(open_backup(path)) as source:
                copy_pages(source, copy)
            with closing(Database(copy, "worker", create=False, convert=convert_memory)) as backup:
                if not clean(backup):
                    return False
                # a backup is one file, without a log
                backup.connection.pragma("journal_mode", "delete")
            # the age of a backup is the time it was made
            os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
            publish_file(copy, path, replace=True)
            for beside in (f"{path}-wal", f"{path}-shm", f"{path}-journal"):
                if os.path.lexists(beside):
                    os.unlink(beside)
            return True
    except (OSError, apsw.FullError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(f"{path} cannot be rewritten: {error.strerror}.", "Look at its folder.") from None
        raise DiskFull(f"The disk that holds {path} is full.", "Free some space and try again.") from None


# Find the texts of an interrupted purge again. Only their digests are stored, and every place that may still hold the
# texts is compared with those. The texts are held in memory only, as in the process that was killed.


def recover_purged_texts(
    database: Database, backups: Iterable[str], more: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts and the names that were purged from this memory and are still in its spool, in these
    backups, or in `more`. Each distinct text is read once, some 0.7 s for a megabyte of them."""
    known_words = make_digest_lookup(database)
    if known_words is None:
        return (), ()
    texts, names = set[str](), set[str]()
    seen: set[int] = set()
    for text in _unpack_json(chain(_read_spool_and_backups(database, backups), more)):
        if hash(text) not in seen:
            seen.add(hash(text))
            found, called = find_purged_texts((text,), known_words)
            texts |= found
            names |= called
    return tuple(sorted(texts, key=len, reverse=True)), tuple(sorted(names - texts, key=len, reverse=True))


def _read_spool_and_backups(database: Database, backups: Iterable[str]) -> Iterator[str]:
    """Yield the texts in the spool and in these backups; skip a backup that cannot be read."""
    yield from read_spool_lines(database.path)
    for path in backups:
        try:
            yield from read_memory_texts(path)
        except (apsw.Error, zlib.error, ValueError):
            # whoever opens it to clean it reports the error
            continue


def read_memory_texts(path: str) -> Iterator[str]:
    """Yield every text of people in a memory's file, of any schema, its packed history included, and each record's
    once: the corpus of the index repeats it. Raise apsw.Error."""
    with closing(open_backup(path)) as connection:
        connection.pragma("trusted_schema", 0)
        for (table,) in list(
            connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        ):
            known = TEXT_TABLES.get(table, TextTable(RECORD_TABLE))
            names = [
                name
                for name, kind in connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
                if kind == "TEXT" and name not in (*known.names, *known.other) and table != "corpus"
            ]
            if names and not table.startswith("sqlite_"):
                for row in connection.execute(f'SELECT {", ".join(names)} FROM "{table}"'):
                    yield from (text for text in row if isinstance(text, str) and text)
            if table == "history_block":
                for (packed,) in connection.execute("SELECT texts FROM history_block"):
                    yield from zlib.decompress(packed).decode("utf-8", "replace").split("\n")


def _unpack_json(texts: Iterable[str]) -> Iterator[str]:
    """Yield each text, or if it is JSON each string in it, recursively."""
    for text in texts:
        if text[:1] in ("{", "[", '"'):
            try:
                yield from _unpack_json(find_strings(json.loads(text), names=True))
                continue
            except ValueError:
                pass
        yield text


# What follows a purge: merge the index, empty the log, rewrite our own backups.
#
# None of it fits into the transaction, and a reader may hold the log for any time. The transaction therefore writes a
# note; whoever opens the memory next continues from it, and it is deleted when all is done. The note holds no text:
# what
# was purged is then known by its digests.

# of the index, merged in one transaction: some 20 ms, so that no writer waits long
MERGE_PAGES = 400


PurgeBackup = Callable[
    [Database, Database, HasTombstone, Sequence[tuple[str, str]], Sequence[str], Sequence[str]], bool
]
"""(backup, memory, its tombstones, the rows kept there, words, names) → whether something was removed."""


def save_cleanup_note(write: Transaction, left: Iterable[tuple[str, str]], guard: bool = False) -> None:
    """Record, in the purge's own transaction, what is still to do. `left` are the rows that a person chose to keep,
    which backups keep too. Rows whose key is a text are not noted: the note would keep that text. `guard` is whether
    the words are to be cut out of all that guard keeps."""
    left = [(table, key) for table, key in left if table != "file" and _is_number_key(key)]
    earlier = write.database.get_meta(PURGE_NOTE)
    state = {"left": sorted({*_kept_rows(earlier), *left}), "guard": guard or _includes_guard(earlier)}
    write.set_meta(PURGE_NOTE, json.dumps(state))


def _is_number_key(key: str) -> bool:
    """Tell whether all values of a row's key are numbers."""
    return all(isinstance(value, int) for value in json.loads(key))


def _kept_rows(noted: str) -> list[tuple[str, str]]:
    """Return the rows that a note lists as kept; none if an earlier version wrote it."""
    found = json.loads(noted) if noted else {}
    return [(table, key) for table, key in found["left"]] if isinstance(found, dict) and found else []


def _includes_guard(noted: str) -> bool:
    """Tell whether a note asks to cut the words out of what guard keeps."""
    found = json.loads(noted) if noted else {}
    return isinstance(found, dict) and bool(found.get("guard"))


def clean_up_after_purge(
    database: Database, purge: PurgeBackup, texts: Sequence[str] = (), names: Sequence[str] = ()
) -> CleanupResult:
    """Clean up after a purge as far as possible now; do nothing if there was none. `purge` removes the same from a
    backup. `texts` and `names` are the purged words where still known; else they are looked for by their digests. Raise
    StorageError."""
    value = database.get_meta(PURGE_NOTE)
    if not value or database.read_only:
        return CleanupResult()
    if not texts:
        texts, names = recover_purged_texts(
            database, list_own_backups(database), read_guard_texts() if _includes_guard(value) else ()
        )
        if words := PurgedTexts(texts):
            drop_matching_lines(database.path, words)
            if _includes_guard(value):
                cut_from_guard(find_guard_matches(words), words)
    buried, left = make_tombstone_test(database), _kept_rows(value)
    done = clean_backups(database, lambda backup: purge(backup, database, buried, left, texts, names), texts)
    why = _clean_index_and_log(database) or done.pending
    if not why:
        # unless another purge added more to do
        with database.write("agent", "purge") as write:
            write.execute("DELETE FROM meta WHERE key = ? AND value = ?", (Verbatim(PURGE_NOTE), Verbatim(value)))
        database.checkpoint_wal()
    return done._replace(pending=why)


def _clean_index_and_log(database: Database) -> str:
    """Clear deleted rows from the index and the log; return why that is not possible now, empty if it was done."""
    try:
        merge_search_index(database)
        if not database.checkpoint_wal():
            return "Another program is reading the memory, and its file keeps the text until it closes it."
    except DiskFull:
        return "The disk is too full to rewrite the search index; free some space."
    except Busy:
        return "Another program is writing to the memory."
    return ""


def merge_search_index(database: Database) -> None:
    """Merge the search index into one segment without deleted rows, a part at a time."""
    pages = -MERGE_PAGES
    while True:
        with database.write("agent", "purge") as write:
            before = database.connection.total_changes()
            write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('merge', ?)", (pages,))
            # FTS5 reports that nothing is left to merge
            if database.connection.total_changes() - before < 2:
                return
        pages = MERGE_PAGES
