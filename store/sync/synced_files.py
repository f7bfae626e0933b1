"""Which files are kept in sync, and what is known of each: the version written last and the text of its lines then."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from store.database.database import Database, Transaction
from store.database.values import Verbatim

KEPT_VERSIONS = 200  # versions of a section whose lines are known
_COLUMNS = "id, path, version, digest, modified_ns, size, inode, step, day, head, own, problem"


class SyncedFile(NamedTuple):
    """A file that a person asked to keep in sync; the columns of `synced_files`."""

    id: int
    path: str
    version: int
    digest: bytes
    modified_ns: int
    size: int
    inode: int
    step: int
    day: str
    head: str
    own: str
    problem: str

    @property
    def stamp(self) -> tuple[int, int, int]:
        """What `read_file_stamp` returned when it was read or written last."""
        return self.modified_ns, self.size, self.inode


def list_synced_files(database: Database) -> list[SyncedFile]:
    """List the files that are kept in sync, by path."""
    return [SyncedFile(*row) for row in database.rows(f"SELECT {_COLUMNS} FROM synced_files ORDER BY path")]


def find_synced_file(database: Database, path: str) -> SyncedFile | None:
    """Return a file that is kept in sync, by its path; None if it is not."""
    row = database.row(f"SELECT {_COLUMNS} FROM synced_files WHERE path = ?", (path,))
    return None if row is None else SyncedFile(*row)


def read_line_digests(database: Database, file: SyncedFile, version: int | None) -> tuple[dict[int, bytes], bool]:
    """Return the digest of each line of a version of the section, by the fact that it cites, and whether that version
    is known; else those of the newest."""
    known = version is not None and max(0, file.version - KEPT_VERSIONS) < version <= file.version
    rows = database.rows(
        "SELECT fact, digest FROM synced_lines WHERE file = ?1 AND first <= ?2 AND coalesce(last, ?2) >= ?2"
        " ORDER BY seen",
        (file.id, version if known else file.version),
    )
    return dict(rows), known


def read_known_digests(database: Database, file: SyncedFile) -> Mapping[int, frozenset[bytes]]:
    """Return the digests that the line of each fact ever had in a file, as far as they are known."""
    found: dict[int, set[bytes]] = {}
    for fact, digest in database.rows("SELECT fact, digest FROM synced_lines WHERE file = ?", (file.id,)):
        found.setdefault(fact, set()).add(digest)
    return {fact: frozenset(some) for fact, some in found.items()}


def read_pending_states(database: Database, file: SyncedFile, version: int | None) -> dict[tuple[int, bytes], str]:
    """Return the state of the proposal that each changed line made, by (number cited, digest), as it counts for a file
    of this version: what was decided since is in a newer one. One whose proposal was erased or undone counts as
    rejected."""
    rows = database.rows(
        "SELECT s.fact, s.digest, coalesce(p.state, 'rejected') FROM synced_proposals AS s"
        " LEFT JOIN proposals AS p ON p.id = s.proposal WHERE s.file = ?1 AND (s.last IS NULL OR s.last >= ?2)",
        (file.id, file.version if version is None else version),
    )
    return {(fact, digest): state for fact, digest, state in rows}


def read_waiting_texts(database: Database, file: SyncedFile) -> dict[int, str]:
    """Return the text of the newest proposal that waits for the line of each fact."""
    rows = database.rows(
        "SELECT s.fact, p.text FROM synced_proposals AS s JOIN proposals AS p ON p.id = s.proposal"
        " WHERE s.file = ? AND s.fact > 0 AND s.last IS NULL AND p.state = 'waiting' ORDER BY p.id",
        (file.id,),
    )
    return dict(rows)


def settle_changes(write: Transaction, file: SyncedFile, decided: Iterable[tuple[int, bytes]]) -> None:
    """Record that changes were decided, and that versions newer than the file's have the outcome."""
    for fact, digest in decided:
        write.execute(
            "UPDATE synced_proposals SET last = ? WHERE file = ? AND fact = ? AND digest = ? AND last IS NULL",
            (file.version, file.id, fact, digest),
        )


def note_seen_lines(write: Transaction, file: SyncedFile, version: int, seen: Mapping[int, bytes]) -> None:
    """Record what lines of a version said that was taken: an editor that still shows them may save them again."""
    for fact, digest in seen.items():
        write.execute(
            "INSERT OR REPLACE INTO synced_lines(file, fact, first, seen, last, digest) VALUES (?, ?, ?, 1, ?, ?)",
            (file.id, fact, version, version, digest),
        )


def is_newest_version(write: Transaction, file: SyncedFile) -> bool:
    """Return whether the newest version of a file's section is still the one that is known here."""
    newest = write.first("SELECT version FROM synced_files WHERE id = ?", (file.id,))
    return bool(newest == file.version)


def note_section_version(write: Transaction, file: SyncedFile, version: int, lines: Mapping[int, bytes]) -> None:
    """Record the lines of the newest version of a section, with what changed since the one before."""
    open_rows = list(
        write.rows("SELECT fact, first, digest FROM synced_lines WHERE file = ? AND last IS NULL", (file.id,))
    )
    same = set()
    for fact, first, digest in open_rows:
        if lines.get(fact) == digest:
            same.add(fact)
        elif first >= version:
            write.execute(
                "DELETE FROM synced_lines WHERE file = ? AND fact = ? AND first = ? AND seen = 0",
                (file.id, fact, first),
            )
        else:
            write.execute(
                "UPDATE synced_lines SET last = ? WHERE file = ? AND fact = ? AND first = ? AND seen = 0",
                (version - 1, file.id, fact, first),
            )
    for fact, digest in lines.items():
        if fact not in same:
            write.execute(
                "INSERT INTO synced_lines(file, fact, first, seen, last, digest) VALUES (?, ?, ?, 0, NULL, ?)",
                (file.id, fact, version, digest),
            )
    write.execute("DELETE FROM synced_lines WHERE file = ? AND last < ?", (file.id, version - KEPT_VERSIONS))
    write.execute("DELETE FROM synced_proposals WHERE file = ? AND last < ?", (file.id, version - KEPT_VERSIONS))
    write.execute("UPDATE synced_files SET version = ? WHERE id = ?", (version, file.id))


def start_syncing(write: Transaction, path: str) -> None:
    """Keep a file in sync from now on."""
    write.execute("INSERT OR IGNORE INTO synced_files(path, version) VALUES (?, 0)", (Verbatim(path),))


def stop_syncing(write: Transaction, path: str) -> None:
    """Keep a file in sync no longer; the file stays as it is."""
    write.execute("DELETE FROM synced_files WHERE path = ?", (Verbatim(path),))
