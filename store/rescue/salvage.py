"""`health --salvage`: write what can be read of a damaged memory to a new file."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import Conflict, DiskFull, ForeignFile, NotFound, StorageError
from store.base.state_files import find_known_memory
from store.database.change_capture import (
    StepHeader,
    append_step,
    encode_for_hash,
    find_undone_steps,
    list_table_columns,
)
from store.database.connection import explain_sqlite_error
from store.database.database import Database
from store.database.files import reserve_path
from store.database.schema import DERIVED_TABLES, PACKED_TABLES, RECORDED_TABLES
from store.embedding.vectors import Vectors
from store.history.checkpoint_payload import find_damaged_checkpoints
from store.history.compression import unpack_all_records
from store.history.history import primary_key
from store.rescue.pages import SEQUENCE_TABLE, PageReader, RecordValue, read_table_records, table_shapes
from store.search.fulltext import rebuild_text_index
from store.trust.ownership import IDENTITY_KEY, register_copy_of
from store.upkeep.checks import (
    HISTORY_ROWS_SQL,
    HISTORY_STEPS_SQL,
    LOST_STEPS_KEY,
    RecordRow,
    find_rows_without_steps,
    is_row_intact,
    reconstruct_records,
)

# Restore what the tables have lost from history, and the other way round, once both were read from a damaged file.
#
# Each record is in a memory twice: as its row, and as the steps that made it. Where its row could not be read, the
# steps restore it; where they differ, the steps win unless one after them is missing. What no step explains is
# recorded as added by the salvage, in a step of its own.

# for the time of a step whose header is damaged: that of the step before
STEP_TIME_SQL = """
UPDATE history SET at = coalesce((SELECT p.at FROM history p WHERE p.seq = history.seq - 1), at)
WHERE seq = ? AND (at > coalesce((SELECT n.at FROM history n WHERE n.seq = history.seq + 1), at)
  OR at < coalesce((SELECT p.at FROM history p WHERE p.seq = history.seq - 1), at)
  OR at NOT GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
"""
# author of a step whose header is lost, and of the step that records what no other explains
LOST_ACTOR = "agent"
ALL_STEPS = (0, 1 << 62)


@dataclass
class RepairResult:
    """Result for history and the records: steps whose header (`headers`) or some of whose `rows` are lost; records
    restored from their steps (`again`) and records that are `gone`, by table; records that no step explains, and
    checkpoints that are `torn`: their content is not what was written."""

    headers: set[int] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)
    again: dict[str, int] = field(default_factory=dict)
    unexplained: int = 0
    torn: int = 0
    gone: dict[str, int] = field(default_factory=dict)


def repair_history(database: Database, newest: int) -> RepairResult:
    """Make records and history consistent, in the open transaction. `newest` is the highest number that the damaged
    file is known to have given to a step."""
    connection = database.connection
    mended = RepairResult()
    _check_step_rows(connection, mended)
    _check_headers(connection, newest, mended)
    last = max(mended.headers | mended.rows, default=0)
    for table in RECORDED_TABLES:
        _restore_rows(database, table, last, mended)
    broken = find_damaged_checkpoints(database)
    connection.executemany("UPDATE checkpoints SET digest = x'' WHERE id = ?", [(number,) for number in broken])
    mended.torn = len(broken)
    undone = find_undone_steps(connection)
    connection.execute("UPDATE history SET undone_by = NULL")
    connection.executemany(
        "UPDATE history SET undone_by = ? WHERE seq = ?",
        [(by, seq) for seq, by in undone.items()],
    )
    return mended


def _check_step_rows(connection: apsw.Connection, mended: RepairResult) -> None:
    """Delete the rows of history that do not match their leaf, and record the steps with missing rows."""
    false = []
    for seq, n, *row, salt, leaf, purged in connection.execute(
        "SELECT seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged FROM history_row"
    ):
        if not is_row_intact(row, salt, leaf, purged):
            false.append((seq, n))
    connection.executemany("DELETE FROM history_row WHERE seq = ? AND n = ?", false)
    roots = {}
    for seq, group in groupby(
        connection.execute(HISTORY_ROWS_SQL.format("history_row"), ALL_STEPS), itemgetter(0)
    ):
        leaves, count = sha256(), 0
        for *_, leaf, _ in group:
            leaves.update(leaf)
            count += 1
        roots[seq] = (count, leaves.digest())
    for seq, changes, root in connection.execute("SELECT seq, changes, rows_root FROM history"):
        if roots.get(seq, (0, sha256().digest())) != (changes, root):
            mended.rows.add(seq)


def _check_headers(connection: apsw.Connection, newest: int, mended: RepairResult) -> None:
    """Record the headers that do not follow from the step before, and give the steps without one a header that says
    so."""
    digest: bytes | None = b""
    there: set[int] = set()
    before = 0
    for seq, *about, root, recorded in connection.execute(HISTORY_STEPS_SQL, ALL_STEPS):
        if seq != before + 1:
            digest = None
        there.add(seq)
        before = seq
        if digest is not None and sha256(digest + encode_for_hash(seq, *about) + root).digest() != recorded:
            mended.headers.add(seq)
            digest = None
        else:
            digest = recorded
    newest = max(newest, before, connection.execute("SELECT coalesce(max(seq), 0) FROM history_row").get)
    # the numbers themselves are damaged
    if newest > 2 * len(there) + 1_000:
        newest = 2 * len(there) + 1_000
        connection.execute("DELETE FROM history_row WHERE seq > ?", (newest,))
        connection.execute("DELETE FROM history WHERE seq > ?", (newest,))
        mended.headers = {seq for seq in mended.headers if seq <= newest}
        newest = connection.execute("SELECT max(seq) FROM history").get or 0
    missing = sorted(set(range(1, newest + 1)) - there)
    mended.headers.update(missing)
    connection.executemany(
        "INSERT INTO history(seq, at, actor, door, reason, changes, rows_root, digest) VALUES"
        " (?1, coalesce((SELECT at FROM history WHERE seq < ?1 ORDER BY seq DESC LIMIT 1),"
        "   (SELECT at FROM history ORDER BY seq LIMIT 1), '1970-01-01T00:00:00.000Z'), ?2, 'cli', 'lost',"
        " (SELECT count(*) FROM history_row WHERE seq = ?1), x'', x'')",
        [(seq, LOST_ACTOR) for seq in missing],
    )
    connection.executemany(STEP_TIME_SQL, [(seq,) for seq in sorted(mended.headers)])


def _restore_rows(database: Database, table: str, last: int, mended: RepairResult) -> None:
    """Restore the rows of a table from their steps, where no step after them is lost; or where there is no row."""
    connection = database.connection
    keys = primary_key(connection, table)
    where = " AND ".join(f"{name} = ?" for name in keys)
    names = list_table_columns(connection, table)
    for key, proved, row in reconstruct_records(database, table):
        if proved.matches_row(row):
            continue
        identity = json.loads(key)
        if row is not None and proved.seq <= last and not _is_bit_flip(proved.stated, row):
            # a lost step may have changed it
            continue
        if proved.gone:
            connection.execute(f"DELETE FROM {table} WHERE {where}", identity)
            continue
        stated = {name: value for name, value in proved.stated.items() if name in names and name not in keys}
        try:
            if row is not None:
                sets = ", ".join(f"{name} = ?" for name in stated)
                connection.execute(f"UPDATE {table} SET {sets} WHERE {where}", (*stated.values(), *identity))
            elif proved.whole:
                all_names, marks = ", ".join([*keys, *stated]), ", ".join("?" * (len(keys) + len(stated)))
                connection.execute(
                    f"INSERT INTO {table}({all_names}) VALUES ({marks})", (*identity, *stated.values())
                )
            else:
                continue
        except apsw.ConstraintError:
            # what a current check refuses is kept as it was read
            continue
        mended.again[table] = mended.again.get(table, 0) + 1


def _is_bit_flip(stated: RecordRow, row: RecordRow) -> bool:
    """Tell whether a row differs from its steps only by a bit or two of a value: our own code never does that."""
    pairs = [(value, row[name]) for name, value in stated.items() if name in row and row[name] != value]
    return all(
        isinstance(then, str) and isinstance(now, str) and _count_different_bits(then, now) <= 2
        for then, now in pairs
    )


def _count_different_bits(one: str, other: str) -> int:
    """Return by how many bits two texts differ; many if their lengths differ."""
    first, second = one.encode(), other.encode()
    if len(first) != len(second):
        return len(first) * 8
    return sum((a ^ b).bit_count() for a, b in zip(first, second, strict=True))


def record_unexplained(database: Database, mended: RepairResult, at: str) -> None:
    """Record, in one step, every record that still differs from its steps; and which steps are lost."""
    connection = database.connection
    # table, the result of the steps, the row
    edits: list[tuple[str, RecordRow | None, RecordRow | None]] = []
    names = {table: list_table_columns(connection, table) for table in RECORDED_TABLES}
    keys = {table: primary_key(connection, table) for table in RECORDED_TABLES}
    for table in RECORDED_TABLES:
        for key, proved, row in reconstruct_records(database, table):
            if proved.matches_row(row):
                continue
            identity = json.loads(key)
            if row is not None:
                edits.append((table, None, row))
            else:
                known = dict.fromkeys(names[table]) | proved.stated | dict(zip(keys[table], identity, strict=True))
                edits.append((table, known, None))
                mended.gone[table] = mended.gone.get(table, 0) + 1
        pairs = ", ".join(f"'{name}', {name}" for name in names[table])
        where = " AND ".join(f"{name} = ?" for name in keys[table])
        for key in find_rows_without_steps(database, table):
            text = connection.execute(
                f"SELECT json_object({pairs}) FROM {table} WHERE {where}", json.loads(key)
            ).get
            edits.append((table, None, json.loads(text)))
    mended.unexplained = sum(row is not None for *_, row in edits)
    if edits:
        changeset = _build_changeset(connection, edits, names)
        append_step(connection, changeset, StepHeader(at, LOST_ACTOR, database.door, "salvage", None))
    lost = {"steps": sorted(mended.headers), "rows": sorted(mended.rows)}
    if any(lost.values()):
        connection.execute(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
            (LOST_STEPS_KEY, json.dumps(lost)),
        )


def _build_changeset(
    connection: apsw.Connection,
    edits: list[tuple[str, RecordRow | None, RecordRow | None]],
    names: dict[str, list[str]],
) -> bytes:
    """Return added and removed rows as a changeset, by column name."""
    builder = apsw.ChangesetBuilder()  # type: ignore[no-untyped-call]
    try:
        builder.schema(connection, "main")
        for table, gone, came in edits:
            values = tuple((gone or came or {}).get(name) for name in names[table])
            (builder.add_delete if came is None else builder.add_insert)(table, False, values)
        return builder.output()
    finally:
        builder.close()


# records between two reports of progress
PROGRESS_BATCH = 2_000
COUNTED_TABLES = [
    "facts",
    "decisions",
    "tasks",
    "commits",
    "events",
    "turns",
]  # whose records tell whether a log is its own
# records of a table whose number may be damaged
FEW_RECORDS = 3
# of an assigned number: above it a counter is damaged
HIGHEST_NUMBER = 1 << 40
# of that machine and moment; or part of every new memory
UNSALVAGED_TABLES = ("leases", "month_words")
# of `meta`: about vectors, which are made again
DROPPED_META_SQL = "key LIKE 'embedding.%'"


@dataclass(frozen=True)
class SalvagedTable:
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
    tables: list[SalvagedTable]
    notes: list[str]


def salvage_file(
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
    into = into or _free_name(path)
    if os.path.lexists(into):
        raise Conflict(f"{into} is there already.", "Name another file with --into.")
    pages = PageReader(path)
    part = f"{into}.{os.urandom(4).hex()}.part"
    try:
        ours = find_known_memory(path)
        report = _build_memory(pages, part, into, progress, clock, ours.identity if ours else "")
        # which refuses a name that was taken meanwhile
        os.link(part, into)
        register_copy_of(path, into)
    except FileExistsError:
        raise Conflict(f"{into} is there already.", "Name another file with --into.") from None
    except OSError as error:
        raise StorageError(
            f"{into} cannot be written: {error.strerror}.", "Name another file with --into."
        ) from None
    except DiskFull:
        raise
    except StorageError as error:  # of a file that is opened like a memory, which --db would name
        raise StorageError(error.message.replace(part, into), "Name another file with --into.") from None
    except apsw.Error as error:
        raise explain_sqlite_error(error, into) from None
    finally:
        for name in (part, f"{part}-wal", f"{part}-shm", reserve_path(part)):
            if os.path.lexists(name):
                os.unlink(name)
    return report


def _free_name(path: str) -> str:
    """Return a free name beside a file: memory-salvaged.db, memory-salvaged-2.db …"""
    stem, ending = os.path.splitext(path)
    number = 1
    while True:
        name = f"{stem}-salvaged{f'-{number}' if number > 1 else ''}{ending}"
        if not os.path.lexists(name):
            return name
        number += 1


def _build_memory(
    pages: PageReader,
    part: str,
    into: str,
    progress: Callable[[str, int, int], None],
    clock: Clock,
    identity: str,
) -> SalvageReport:
    """Write the new memory to `part`. Return the report."""
    database = Database(part, "cli", clock)
    try:
        notes = _choose_log(pages, database)
        connection = database.connection
        connection.pragma("foreign_keys", 0)
        connection.execute("BEGIN IMMEDIATE")
        triggers = _drop_triggers(connection)
        read, numbers = _load_records(pages, connection, progress)
        if not any(count for table, count in read.items() if table != "meta"):
            raise ForeignFile("Nothing in this file is of a memory.", "Look for another copy of it.")
        progress("history", 0, 0)
        mended = repair_history(database, numbers.get("history", 0))
        cut = _clear_lost_references(connection)
        record_unexplained(database, mended, clock())
        _continue_counters(connection, numbers)
        connection.execute(
            "INSERT INTO meta(key, value) VALUES ('salvage.at', ?1) ON CONFLICT(key) DO UPDATE SET value = ?1",
            (clock(),),
        )
        connection.execute("DELETE FROM meta WHERE key = ?", (IDENTITY_KEY,))
        # what was salvaged from our memory is ours
        if identity:
            connection.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (IDENTITY_KEY, identity))
        for sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")
        connection.pragma("foreign_keys", 1)
        progress("the search index", 0, 0)
        _rebuild_indexes(database)
        messages = [row[0] for row in database.rows("PRAGMA quick_check")]
        if messages != ["ok"] or database.rows("PRAGMA foreign_key_check"):
            raise StorageError(
                "The new file is not sound.", "Look at the disk it was written to, and try another."
            )
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        tables = _table_results(connection, read, mended, numbers)
    finally:
        database.close()
    return SalvageReport(into, tables, [*notes, *_salvage_notes(mended, cut)])


def _choose_log(pages: PageReader, database: Database) -> list[str]:
    """Decide whether the log beside the file is its own: use it if with it more steps follow from each other, or as
    many, and no fewer records are read. Return sentences."""
    log = pages.log
    if log is None:
        return []
    counts = {}
    for logged in (False, True):
        pages.logged = logged
        counts[logged] = _count_following_steps(pages, database), _count_records(pages, database)
    pages.logged = counts[True] >= counts[False]
    if not pages.logged:
        return ["The log beside it is not its own, or of an earlier day: it was left out."]
    if log.damaged:
        return [
            f"The log beside it is damaged; {log.after:,} of its pages, that SQLite would not read, were read."
        ]
    return []


def _count_records(pages: PageReader, database: Database) -> int:
    """Return how many records are read, each once: pages of another file's log take the place of some."""
    found = read_table_records(pages, table_shapes(pages, database.connection, COUNTED_TABLES))
    return len({(shape.name, row.get("id")) for shape, row in found})


def _count_following_steps(pages: PageReader, database: Database) -> int:
    """Return how many steps of history have a digest that follows from the one before."""
    digests: dict[int, bytes] = {0: b""}
    due: dict[int, tuple[list[RecordValue], bytes]] = {}
    for _, row in read_table_records(pages, table_shapes(pages, database.connection, ["history"])):
        seq, root, digest = row.get("seq"), row.get("rows_root"), row.get("digest")
        if isinstance(seq, int) and isinstance(root, bytes) and isinstance(digest, bytes):
            head = [row.get(name) for name in ("seq", "at", "actor", "door", "reason", "undoes", "changes")]
            digests[seq] = digest
            due[seq] = (head, root)
    return sum(
        sha256(digests[seq - 1] + encode_for_hash(*head) + root).digest() == digests[seq]  # type: ignore[arg-type]
        for seq, (head, root) in due.items()
        if seq - 1 in digests
    )


def _drop_triggers(connection: apsw.Connection) -> list[str]:
    """Drop every trigger, as derived tables are rebuilt at the end; return their SQL."""
    found = list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"))
    for name, _ in found:
        connection.execute(f"DROP TRIGGER {name}")
    return [sql for _, sql in found]


def _load_records(
    pages: PageReader, connection: apsw.Connection, progress: Callable[[str, int, int], None]
) -> tuple[dict[str, int], dict[str, int]]:
    """Insert every readable record into the new tables; return (how many by table, the counters of assigned
    numbers)."""
    wanted = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        if name not in (*DERIVED_TABLES, *UNSALVAGED_TABLES)
    ]
    tables = table_shapes(pages, connection, wanted)
    known = {name: set(list_table_columns(connection, name)) for name in wanted}
    read, numbers = dict.fromkeys(wanted, 0), dict[str, int]()
    before = connection.total_changes()
    for done, (table, row) in enumerate(read_table_records(pages, tables)):
        if done % PROGRESS_BATCH == 0:
            progress("records", done, 0)
        if table.name == SEQUENCE_TABLE:
            name, number = row.get("name"), row.get("seq")
            if isinstance(name, str) and isinstance(number, int) and number < HIGHEST_NUMBER:
                numbers[name] = max(number, numbers.get(name, 0))
            continue
        names = [name for name in row if name in known[table.name]]
        # what was taken for a table's form matches none of the current ones
        if not names:
            continue
        if table.name == "history_row" and not _is_as_written(row):
            # a torn page may hold half of it, and an intact one all of it
            continue
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
    connection.execute(f"DELETE FROM meta WHERE {DROPPED_META_SQL}")
    read["history_row"] += unpack_all_records(connection)
    read.pop(PACKED_TABLES[0], None)
    for name, count in _drop_unassigned(connection, numbers).items():
        read[name] -= count
    return read, numbers


def _is_as_written(row: dict[str, RecordValue]) -> bool:
    """Tell whether a row of history matches its leaf."""
    fields = [row.get(name) for name in ("tbl", "pk", "op", "indirect", "before", "after")]
    salt, leaf = row.get("salt"), row.get("leaf")
    return isinstance(leaf, bytes) and is_row_intact(fields, salt, leaf, bool(row.get("purged")))  # type: ignore[arg-type]


def _drop_unassigned(connection: apsw.Connection, numbers: dict[str, int]) -> dict[str, int]:
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
        if beyond > FEW_RECORDS + count // 1_000:
            del numbers[table]
        elif beyond:
            connection.execute(f"DELETE FROM {table} WHERE {key} > ?", (number,))
            dropped[table] = beyond
    if "history" in numbers:
        before = connection.total_changes()
        connection.execute("DELETE FROM history_row WHERE seq > ?", (numbers["history"],))
        dropped["history_row"] = connection.total_changes() - before
    return dropped


def _clear_lost_references(connection: apsw.Connection) -> int:
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


def _continue_counters(connection: apsw.Connection, numbers: dict[str, int]) -> None:
    """Prevent a number from being assigned twice: continue from the highest that is known to have been assigned."""
    for table, number in numbers.items():
        # the highest existing number may be a damaged one
        key = "seq" if table == "history" else "id"
        connection.execute(
            f"UPDATE {SEQUENCE_TABLE} SET seq = max(?, (SELECT coalesce(max({key}), 0) FROM {table})) WHERE name = ?",
            (number, table),
        )
        connection.execute(
            f"INSERT INTO {SEQUENCE_TABLE}(name, seq) SELECT ?1, ?2"
            " WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)"
            f" AND NOT EXISTS (SELECT 1 FROM {SEQUENCE_TABLE} WHERE name = ?1)",
            (table, number),
        )
    newest = connection.execute("SELECT coalesce(max(seq), 0) FROM history").get
    connection.execute(f"UPDATE {SEQUENCE_TABLE} SET seq = ? WHERE name = 'history'", (newest,))


def _rebuild_indexes(database: Database) -> None:
    rebuild_text_index(database)
    Vectors(database).rebuild()


def _table_results(
    connection: apsw.Connection, read: dict[str, int], mended: RepairResult, numbers: dict[str, int]
) -> list[SalvagedTable]:
    """Return the result, table by table. Where rows are never deleted, the counter of assigned numbers shows how many
    there were."""
    found = []
    for table, count in read.items():
        again = mended.again.get(table, 0)
        lost = mended.gone.get(table, 0) if table in RECORDED_TABLES else None
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
            found.append(SalvagedTable(table, count, again, lost))
    return found


# and numbered without gaps, except for a purge
NEVER_DELETED = ("iterations", "commits")


def _salvage_notes(mended: RepairResult, cut: int) -> list[str]:
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
        notes.append(
            f"{mended.torn:,} checkpoints hold something else than was written; they are as they were read."
        )
    return notes
