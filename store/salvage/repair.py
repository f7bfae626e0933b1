"""Restore what the tables have lost from history, and the other way round, once both were read from a damaged file.

Each record is in a memory twice: as its row, and as the steps that made it. Where its row could not be read, the steps
restore it; where they differ, the steps win unless one after them is missing. What no step explains is recorded as
added by the salvage, in a step of its own.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

import apsw

from store.database.database import Database
from store.database.schema.tables import RECORDED
from store.database.writing.change_capture import Header, append, columns, framed
from store.health.hash_chain import LOST, ROWS, STEPS, taken_back, true
from store.health.record_history import Row, untold, walk
from store.history.checkpoint_payload import torn
from store.history.row_edits import primary_key

# for the time of a step whose header is damaged: that of the step before
AT_ITS_PLACE = """
UPDATE history SET at = coalesce((SELECT p.at FROM history p WHERE p.seq = history.seq - 1), at)
WHERE seq = ? AND (at > coalesce((SELECT n.at FROM history n WHERE n.seq = history.seq + 1), at)
  OR at < coalesce((SELECT p.at FROM history p WHERE p.seq = history.seq - 1), at)
  OR at NOT GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
"""
NOBODY = "agent"  # author of a step whose header is lost, and of the step that records what no other explains
EVERYTHING = (0, 1 << 62)


@dataclass
class Mended:
    """Result for history and the records: steps whose header (`headers`) or some of whose `rows` are lost; records
    restored from their steps (`again`) and records that are `gone`, by table; records that no step explains, and
    checkpoints that are `torn`: their content is not what was written."""

    headers: set[int] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)
    again: dict[str, int] = field(default_factory=dict)
    unexplained: int = 0
    torn: int = 0
    gone: dict[str, int] = field(default_factory=dict)


def mend(database: Database, newest: int) -> Mended:
    """Make records and history consistent, in the open transaction. `newest` is the highest number that the damaged
    file is known to have given to a step."""
    connection = database.connection
    mended = Mended()
    _rows_of_steps(connection, mended)
    _headers(connection, newest, mended)
    last = max(mended.headers | mended.rows, default=0)
    for table in RECORDED:
        _again(database, table, last, mended)
    broken = torn(database)
    connection.executemany("UPDATE checkpoints SET digest = x'' WHERE id = ?", [(number,) for number in broken])
    mended.torn = len(broken)
    undoes = dict(connection.execute("SELECT seq, undoes FROM history WHERE undoes IS NOT NULL ORDER BY seq"))
    connection.execute("UPDATE history SET undone_by = NULL")
    connection.executemany(
        "UPDATE history SET undone_by = ? WHERE seq = ?", [(by, seq) for seq, by in taken_back(undoes).items()]
    )
    return mended


def _rows_of_steps(connection: apsw.Connection, mended: Mended) -> None:
    """Delete the rows of history that do not match their leaf, and record the steps with missing rows."""
    false = []
    for seq, n, *row, salt, leaf, purged in connection.execute(
        "SELECT seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged FROM history_row"
    ):
        if not true(row, salt, leaf, purged):
            false.append((seq, n))
    connection.executemany("DELETE FROM history_row WHERE seq = ? AND n = ?", false)
    roots = {}
    for seq, group in groupby(connection.execute(ROWS.format("history_row"), EVERYTHING), itemgetter(0)):
        leaves, count = sha256(), 0
        for *_, leaf, _ in group:
            leaves.update(leaf)
            count += 1
        roots[seq] = (count, leaves.digest())
    for seq, changes, root in connection.execute("SELECT seq, changes, rows_root FROM history"):
        if roots.get(seq, (0, sha256().digest())) != (changes, root):
            mended.rows.add(seq)


def _headers(connection: apsw.Connection, newest: int, mended: Mended) -> None:
    """Record the headers that do not follow from the step before, and give the steps without one a header that says
    so."""
    digest: bytes | None = b""
    there: set[int] = set()
    before = 0
    for seq, *about, root, recorded in connection.execute(STEPS, EVERYTHING):
        if seq != before + 1:
            digest = None
        there.add(seq)
        before = seq
        if digest is not None and sha256(digest + framed(seq, *about) + root).digest() != recorded:
            mended.headers.add(seq)
            digest = None
        else:
            digest = recorded
    newest = max(newest, before, connection.execute("SELECT coalesce(max(seq), 0) FROM history_row").get)
    if newest > 2 * len(there) + 1_000:  # the numbers themselves are damaged
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
        [(seq, NOBODY) for seq in missing],
    )
    connection.executemany(AT_ITS_PLACE, [(seq,) for seq in sorted(mended.headers)])


def _again(database: Database, table: str, last: int, mended: Mended) -> None:
    """Restore the rows of a table from their steps, where no step after them is lost; or where there is no row."""
    connection = database.connection
    keys = primary_key(connection, table)
    where = " AND ".join(f"{name} = ?" for name in keys)
    names = columns(connection, table)
    for key, proved, row in walk(database, table):
        if proved.agrees(row):
            continue
        identity = json.loads(key)
        if row is not None and proved.seq <= last and not _flipped(proved.stated, row):
            continue  # a lost step may have changed it
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
                connection.execute(f"INSERT INTO {table}({all_names}) VALUES ({marks})", (*identity, *stated.values()))
            else:
                continue
        except apsw.ConstraintError:
            continue  # what a current check refuses is kept as it was read
        mended.again[table] = mended.again.get(table, 0) + 1


def _flipped(stated: Row, row: Row) -> bool:
    """Return whether a row differs from its steps only by a bit or two of a value: our own code never does that."""
    pairs = [(value, row[name]) for name, value in stated.items() if name in row and row[name] != value]
    return all(isinstance(then, str) and isinstance(now, str) and _bits(then, now) <= 2 for then, now in pairs)


def _bits(one: str, other: str) -> int:
    """Return by how many bits two texts differ; many if their lengths differ."""
    first, second = one.encode(), other.encode()
    if len(first) != len(second):
        return len(first) * 8
    return sum((a ^ b).bit_count() for a, b in zip(first, second, strict=True))


def explain(database: Database, mended: Mended, at: str) -> None:
    """Record, in one step, every record that still differs from its steps; and which steps are lost."""
    connection = database.connection
    edits: list[tuple[str, Row | None, Row | None]] = []  # table, the result of the steps, the row
    names = {table: columns(connection, table) for table in RECORDED}
    keys = {table: primary_key(connection, table) for table in RECORDED}
    for table in RECORDED:
        for key, proved, row in walk(database, table):
            if proved.agrees(row):
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
        for key in untold(database, table):
            text = connection.execute(f"SELECT json_object({pairs}) FROM {table} WHERE {where}", json.loads(key)).get
            edits.append((table, None, json.loads(text)))
    mended.unexplained = sum(row is not None for *_, row in edits)
    if edits:
        changeset = _changeset(connection, edits, names)
        append(connection, changeset, Header(at, NOBODY, database.door, "salvage", None))
    lost = {"steps": sorted(mended.headers), "rows": sorted(mended.rows)}
    if any(lost.values()):
        connection.execute(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
            (LOST, json.dumps(lost)),
        )


def _changeset(
    connection: apsw.Connection, edits: list[tuple[str, Row | None, Row | None]], names: dict[str, list[str]]
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
