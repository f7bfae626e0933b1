"""`salvage`: write what can be read of a damaged memory to a new file."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import Conflict, DiskFull, ForeignFile, NotFound, StorageError
from store.base.installation import known
from store.database.connection import explain as explained
from store.database.database import Database
from store.database.schema.tables import DERIVED, PACKED, RECORDED
from store.database.writing import disk_reserve
from store.health.hash_chain import true
from store.history.compression import unpack_all
from store.salvage.pages import PageReader, Value
from store.salvage.repair import Mended, explain, mend
from store.salvage.table_detection import SEQUENCE, rows, shapes
from store.trust.ownership import IDENTITY, made_of

__all__ = ["Came", "SalvageReport", "salvage"]

BATCH = 2_000  # records between two reports of progress
COUNTED = ["facts", "decisions", "tasks", "commits", "events", "turns"]  # whose records tell whether a log is its own
FEW = 3  # records of a table whose number may be damaged
HIGHEST = 1 << 40  # of an assigned number: above it a counter is damaged
SMALL = ("leases", "month_words")  # of that machine and moment; or part of every new memory
DROPPED = "key LIKE 'embedding.%'"  # of `meta`: about vectors, which are made again


@dataclass(frozen=True)
class Came:
    """Result for a table: records that were `read`, that were restored `from_history`, and that are known to have
    existed and are `lost`; None where that is unknown."""

    table: str
    read: int
    from_history: int
    lost: int | None


@dataclass(frozen=True)
class SalvageReport:
    """Result of a salvage: the new file, the result by table, and sentences about the rest."""

    into: str
    tables: list[Came]
    notes: list[str]


def salvage(
    path: str,
    into: str | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    clock: Clock = utc_now,
) -> SalvageReport:
    """Write what can be read of the memory at `path` into a new one, `into` or a free name beside it.

    Raise NotFound, Conflict (the new file exists already), ForeignFile (nothing in it is of a memory) or StorageError.
    """
    if not os.path.lexists(path):
        raise NotFound(f"There is no file {path}.", "Name the damaged memory file.")
    into = into or _free(path)
    if os.path.lexists(into):
        raise Conflict(f"{into} is there already.", "Name another file with --into.")
    pages = PageReader(path)
    part = f"{into}.{os.urandom(4).hex()}.part"
    try:
        ours = known(path)
        report = _build(pages, part, into, progress, clock, ours.identity if ours else "")
        os.link(part, into)  # which refuses a name that was taken meanwhile
        made_of(path, into)
    except FileExistsError:
        raise Conflict(f"{into} is there already.", "Name another file with --into.") from None
    except OSError as error:
        raise StorageError(f"{into} cannot be written: {error.strerror}.", "Name another file with --into.") from None
    except DiskFull:
        raise
    except StorageError as error:  # of a file that is opened like a memory, which --db would name
        raise StorageError(error.message.replace(part, into), "Name another file with --into.") from None
    except apsw.Error as error:
        raise explained(error, into) from None
    finally:
        for name in (part, f"{part}-wal", f"{part}-shm", disk_reserve.path_of(part)):
            if os.path.lexists(name):
                os.unlink(name)
    return report


def _free(path: str) -> str:
    """Return a free name beside a file: memory-salvaged.db, memory-salvaged-2.db …"""
    stem, ending = os.path.splitext(path)
    number = 1
    while True:
        name = f"{stem}-salvaged{f'-{number}' if number > 1 else ''}{ending}"
        if not os.path.lexists(name):
            return name
        number += 1


def _build(
    pages: PageReader, part: str, into: str, progress: Callable[[str, int, int], None], clock: Clock, identity: str
) -> SalvageReport:
    database = Database(part, "cli", clock)
    try:
        notes = _choose(pages, database)
        connection = database.connection
        connection.pragma("foreign_keys", 0)
        connection.execute("BEGIN IMMEDIATE")
        triggers = _without_triggers(connection)
        read, numbers = _load(pages, connection, progress)
        if not any(count for table, count in read.items() if table != "meta"):
            raise ForeignFile("Nothing in this file is of a memory.", "Look for another copy of it.")
        progress("history", 0, 0)
        mended = mend(database, numbers.get("history", 0))
        cut = _references(connection)
        explain(database, mended, clock())
        _count_on(connection, numbers)
        connection.execute(
            "INSERT INTO meta(key, value) VALUES ('salvage.at', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1",
            (clock(),),
        )
        connection.execute("DELETE FROM meta WHERE key = ?", (IDENTITY,))
        if identity:  # what was salvaged from our memory is ours
            connection.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (IDENTITY, identity))
        for sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")
        connection.pragma("foreign_keys", 1)
        progress("the search index", 0, 0)
        _index(database)
        messages = [row[0] for row in database.rows("PRAGMA quick_check")]
        if messages != ["ok"] or database.rows("PRAGMA foreign_key_check"):
            raise StorageError("The new file is not sound.", "Look at the disk it was written to, and try another.")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        tables = _came(connection, read, mended, numbers)
    finally:
        database.close()
    return SalvageReport(into, tables, [*notes, *_notes(mended, cut)])


def _choose(pages: PageReader, database: Database) -> list[str]:
    """Decide whether the log beside the file is its own: use it if with it more steps follow from each other, or as
    many, and no fewer records are read. Return sentences."""
    log = pages.log
    if log is None:
        return []
    counts = {}
    for logged in (False, True):
        pages.logged = logged
        counts[logged] = _following(pages, database), _records(pages, database)
    pages.logged = counts[True] >= counts[False]
    if not pages.logged:
        return ["The log beside it is not its own, or of an earlier day: it was left out."]
    if log.damaged:
        return [f"The log beside it is damaged; {log.after:,} of its pages, that SQLite would not read, were read."]
    return []


def _records(pages: PageReader, database: Database) -> int:
    """Return how many records are read, each once: pages of another file's log take the place of some."""
    found = rows(pages, shapes(pages, database.connection, COUNTED))
    return len({(shape.name, row.get("id")) for shape, row in found})


def _following(pages: PageReader, database: Database) -> int:
    """Return how many steps of history have a digest that follows from the one before."""
    from hashlib import sha256

    from store.database.writing.change_capture import framed

    digests: dict[int, bytes] = {0: b""}
    due: dict[int, tuple[list[Value], bytes]] = {}
    for _, row in rows(pages, shapes(pages, database.connection, ["history"])):
        seq, root, digest = row.get("seq"), row.get("rows_root"), row.get("digest")
        if isinstance(seq, int) and isinstance(root, bytes) and isinstance(digest, bytes):
            head = [row.get(name) for name in ("seq", "at", "actor", "door", "reason", "undoes", "changes")]
            digests[seq] = digest
            due[seq] = (head, root)
    return sum(
        sha256(digests[seq - 1] + framed(*head) + root).digest() == digests[seq]  # type: ignore[arg-type]
        for seq, (head, root) in due.items()
        if seq - 1 in digests
    )


def _without_triggers(connection: apsw.Connection) -> list[str]:
    """Drop every trigger, as derived tables are rebuilt at the end; return their SQL."""
    found = list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"))
    for name, _ in found:
        connection.execute(f"DROP TRIGGER {name}")
    return [sql for _, sql in found]


def _load(
    pages: PageReader, connection: apsw.Connection, progress: Callable[[str, int, int], None]
) -> tuple[dict[str, int], dict[str, int]]:
    """Insert every readable record into the new tables; return (how many by table, the counters of assigned
    numbers)."""
    wanted = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        if name not in (*DERIVED, *SMALL)
    ]
    tables = shapes(pages, connection, wanted)
    known = {name: set(_names(connection, name)) for name in wanted}
    read, numbers = dict.fromkeys(wanted, 0), dict[str, int]()
    before = connection.total_changes()
    for done, (table, row) in enumerate(rows(pages, tables)):
        if done % BATCH == 0:
            progress("records", done, 0)
        if table.name == SEQUENCE:
            name, number = row.get("name"), row.get("seq")
            if isinstance(name, str) and isinstance(number, int) and number < HIGHEST:
                numbers[name] = max(number, numbers.get(name, 0))
            continue
        names = [name for name in row if name in known[table.name]]
        if not names:  # what was taken for a table's form matches none of the current ones
            continue
        if table.name == "history_row" and not _as_written(row):
            continue  # a torn page may hold half of it, and an intact one all of it
        marks = ", ".join("?" * len(names))
        try:
            connection.execute(
                f"INSERT OR IGNORE INTO {table.name}({', '.join(names)}) VALUES ({marks})",
                [row[name] for name in names],
            )
        except apsw.ConstraintError:
            continue
        after = connection.total_changes()
        read[table.name] += after - before
        before = after
    connection.execute(f"DELETE FROM meta WHERE {DROPPED}")
    read["history_row"] += unpack_all(connection)
    read.pop(PACKED[0], None)
    for name, count in _out_of_reach(connection, numbers).items():
        read[name] -= count
    return read, numbers


def _as_written(row: dict[str, Value]) -> bool:
    """Return whether a row of history matches its leaf."""
    fields = [row.get(name) for name in ("tbl", "pk", "op", "indirect", "before", "after")]
    salt, leaf = row.get("salt"), row.get("leaf")
    return isinstance(leaf, bytes) and true(fields, salt, leaf, bool(row.get("purged")))  # type: ignore[arg-type]


def _out_of_reach(connection: apsw.Connection, numbers: dict[str, int]) -> dict[str, int]:
    """Delete the few records whose number was never assigned: a bit of it is wrong, and does not identify them. Where
    there are many, the counter is damaged, and is dropped. Return how many by table."""
    dropped = {}
    for table, number in list(numbers.items()):
        key = "seq" if table == "history" else "id"
        if not connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, key)).get:
            del numbers[table]
            continue
        beyond, count = connection.execute(
            f"SELECT count(*) FILTER (WHERE {key} > ?), count(*) FROM {table}", (number,)
        ).get
        if beyond > FEW + count // 1_000:
            del numbers[table]
        elif beyond:
            connection.execute(f"DELETE FROM {table} WHERE {key} > ?", (number,))
            dropped[table] = beyond
    if "history" in numbers:
        before = connection.total_changes()
        connection.execute("DELETE FROM history_row WHERE seq > ?", (numbers["history"],))
        dropped["history_row"] = connection.total_changes() - before
    return dropped


def _names(connection: apsw.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _references(connection: apsw.Connection) -> int:
    """Clear references to what is lost: a record that refers to a missing one refers to none, or is deleted where it
    must refer to one; return how many."""
    before = connection.total_changes()
    tables = {table for table, *_ in connection.execute("PRAGMA foreign_key_check")}
    for table in tables:
        required = {
            name
            for name, needed in connection.execute('SELECT name, "notnull" FROM pragma_table_info(?)', (table,))
            if needed
        }
        for parent, child, column in list(
            connection.execute('SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (table,))
        ):
            lost = f"{child} IS NOT NULL AND {child} NOT IN (SELECT {column} FROM {parent})"
            if child in required:
                connection.execute(f"DELETE FROM {table} WHERE {lost}")
            else:
                connection.execute(f"UPDATE {table} SET {child} = NULL WHERE {lost}")
    return connection.total_changes() - before


def _count_on(connection: apsw.Connection, numbers: dict[str, int]) -> None:
    """Prevent a number from being assigned twice: continue from the highest that is known to have been assigned."""
    for table, number in numbers.items():
        key = "seq" if table == "history" else "id"  # the highest existing number may be a damaged one
        connection.execute(
            f"UPDATE {SEQUENCE} SET seq = max(?, (SELECT coalesce(max({key}), 0) FROM {table})) WHERE name = ?",
            (number, table),
        )
        connection.execute(
            f"INSERT INTO {SEQUENCE}(name, seq) SELECT ?1, ?2"
            " WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)"
            f" AND NOT EXISTS (SELECT 1 FROM {SEQUENCE} WHERE name = ?1)",
            (table, number),
        )
    newest = connection.execute("SELECT coalesce(max(seq), 0) FROM history").get
    connection.execute(f"UPDATE {SEQUENCE} SET seq = ? WHERE name = 'history'", (newest,))


def _index(database: Database) -> None:
    from store.embedding.vectors import Vectors
    from store.search import corpus

    corpus.rebuild(database)
    Vectors(database).rebuild()


def _came(connection: apsw.Connection, read: dict[str, int], mended: Mended, numbers: dict[str, int]) -> list[Came]:
    """Return the result, table by table. Where rows are never deleted, the counter of assigned numbers shows how many
    there were."""
    found = []
    for table, count in read.items():
        again = mended.again.get(table, 0)
        lost = mended.gone.get(table, 0) if table in RECORDED else None
        if table in NEVER_DELETED and table in numbers:
            there: int = connection.execute(f"SELECT count(*) FROM {table}").get
            lost = max(0, numbers[table] - there)
        if table == "history":
            lost = len(mended.headers)
        elif table == "history_row":
            lost = connection.execute(
                "SELECT max(0, sum(changes) - (SELECT count(*) FROM history_row)) FROM history"
            ).get
        if count or again or lost:
            found.append(Came(table, count, again, lost))
    return found


NEVER_DELETED = ("iterations", "commits")  # and numbered without gaps, except for a purge


def _notes(mended: Mended, cut: int) -> list[str]:
    """Return what a person should know besides the table, in sentences."""
    notes = []
    if mended.unexplained:
        notes.append(
            f"{mended.unexplained:,} records came through without all of their history; a step of their own says so."
        )
    if gone := sum(mended.gone.values()):
        notes.append(f"{gone:,} records did not come through; what is known of them is in that same step.")
    if mended.headers or mended.rows:
        steps = len(mended.headers | mended.rows)
        notes.append(f"{steps:,} steps of history did not come through whole, and can no longer be undone.")
    if cut:
        notes.append(f"{cut:,} references to what did not come through were removed.")
    if mended.torn:
        notes.append(f"{mended.torn:,} checkpoints hold something else than was written; they are as they were read.")
    return notes
