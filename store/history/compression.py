"""Packed history: old rows, some hundreds together, compressed; nothing is lost or merged.

A row takes some 330 bytes in its table and 70 in a block. Readers of history use `every_row`, a view of both. The leaf
of a row that has its salt is not stored, since it is derived from the row; the digest of its step, which is kept, shows
whether it is still the same.
"""

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterator
from operator import itemgetter
from typing import Any

import apsw

from store.base.clock import days_before
from store.base.errors import DamagedFile
from store.database.database import Database, Transaction
from store.database.lease import Lease, LeaseLost
from store.database.values import Verbatim
from store.history.block_table import (
    COLUMNS,
    ERASED,
    KEY,
    PURGED,
    TABLE,
    Block,
    PackedRows,
    Row,
    directory,
    encoded,
    first,
    hashed,
    opened,
    piece,
    purged,
)

BLOCK = 500  # rows of a block: twice as many take 5 % less space, and twice as long to find one in
EVERY = "every_history_row"


# read


def every_row(database: Database) -> str:
    """Return what replaces history_row in a query, so that it includes the packed rows."""
    return every_row_of(database.connection)


def every_row_of(connection: apsw.Connection) -> str:
    """Return `every_row` for a connection."""
    if not connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (EVERY,)).get:
        view(connection, "true")
    return EVERY


def view(connection: apsw.Connection, condition: str) -> None:
    """Create the view of all rows of history for which a condition holds, for this connection."""
    module: Any = PackedRows(connection)
    connection.create_module("packed_row", module, eponymous_only=True, read_only=True)
    parts = [f"SELECT {COLUMNS} FROM {table} WHERE {condition}" for table in ("main.history_row", "packed_row")]
    guarded = connection.pragma("query_only")
    connection.pragma("query_only", 0)  # a temporary view does not change the file
    connection.execute(f"CREATE TEMP VIEW {EVERY} AS {' UNION ALL '.join(parts)}")
    connection.pragma("query_only", guarded)


def rows(database: Database) -> Iterator[Row]:
    """Yield every row of history in order, as COLUMNS, reading some steps at a time."""
    source = every_row(database)
    newest = database.value("SELECT max(seq) FROM history") or 0
    for start in range(0, newest, BLOCK):
        yield from database.rows(
            f"SELECT {COLUMNS} FROM {source} WHERE seq > ? AND seq <= ? ORDER BY seq, n", (start, start + BLOCK)
        )


def of_step(database: Database, seq: int, count: int) -> list[Row]:
    """Return (table, key, op, before, after, purged) of the rows of a step that changed `count`, in order. Packed rows
    are read only if the table has not all of them, and without the view, which reads a block whole."""
    found = database.rows(
        "SELECT n, tbl, pk, op, before, after, purged FROM main.history_row WHERE seq = ? ORDER BY n", (seq,)
    )
    if len(found) < count:
        for number, lists, within in _of_step(database, seq):
            texts = database.value("SELECT texts FROM history_block WHERE id = ?", (number,))
            rows = piece(database.connection, lists, within)
            states = piece(database.connection, opened(texts, 2), within)
            for (_, n, table, key, op, _, flags), (before, after) in zip(rows, states, strict=True):
                found.append((n, table, key, op, before, after, purged(flags)))
        found.sort(key=itemgetter(0))
    return [tuple(row) for _, *row in found]


def whole(database: Database, seq: int) -> bool:
    """Return whether at least one row of a step was not purged."""
    changes, here = database.rows(
        "SELECT changes, EXISTS (SELECT 1 FROM main.history_row AS r WHERE r.seq = history.seq AND purged <> 1)"
        " FROM history WHERE seq = ?",
        (seq,),
    )[0]
    return (
        not changes
        or here
        or any(
            purged(flags) != ERASED
            for _, lists, within in _of_step(database, seq)
            for (flags,) in piece(database.connection, lists[-1:], within)
        )
    )


def _of_step(database: Database, seq: int) -> Iterator[tuple[int, list[str], range]]:
    """Yield (id, directory, indexes) of each block that holds rows of a step."""
    for number, packed in database.rows(
        "SELECT id, directory FROM history_block WHERE first_seq <= ?1 AND last_seq >= ?1", (seq,)
    ):
        lists = opened(packed, 7)
        seqs = json.loads(lists[0])
        within = range(bisect_left(seqs, seq), bisect_right(seqs, seq))
        if within:
            yield number, lists, within


def befores(database: Database, seq: int, newest: int) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield (table, key, op, before) of the packed rows after one step and up to another; those of one record in order.
    Much faster than through the view. To be read in one transaction with the rows that are not packed."""
    for places, texts in database.rows(
        "SELECT directory, texts FROM history_block WHERE last_seq > ? AND first_seq <= ? ORDER BY first_seq, last_seq",
        (seq, newest),
    ):
        seqs, _, tables, keys, ops = directory(places, 5)
        before = first(texts)
        part = slice(bisect_right(seqs, seq), bisect_right(seqs, newest))
        yield from zip(tables[part], keys[part], ops[part], before[part], strict=True)


def newest(
    database: Database, records: set[tuple[str, str]], since: int, until: int, but: Container[int]
) -> dict[tuple[str, str], int]:
    """Return the newest packed step after `since` up to `until`, none of `but`, that changed each of these records
    (table, key), where there is one."""
    found: dict[tuple[str, str], int] = {}
    if not records:
        return found
    for seqs, _, tables, keys, *_ in _directories(database, "first_seq <= ? ORDER BY last_seq DESC", until):
        for place in reversed(range(bisect_right(seqs, since), bisect_right(seqs, until))):
            record = tables[place], keys[place]
            if record in records and seqs[place] > found.get(record, 0) and seqs[place] not in but:
                found[record] = seqs[place]
        if len(found) == len(records):
            break
    return found


def records(database: Database, table: str, after: str) -> set[str]:
    """Return the keys of the records of a table that have packed rows and are after another key."""
    found: set[str] = set()
    for _, _, tables, keys, *_ in _directories(database, "last_seq >= ?", 0):
        found.update([key for name, key in zip(tables, keys, strict=True) if key > after and name == table])
    return found


def afters(database: Database, table: str, above: str, end: str) -> list[Row]:
    """Return (key, step, n, op, after, purged) of the packed rows of the records whose keys are above one and up to
    another, reading block by block."""
    found: list[Row] = []
    for number in database.keys("SELECT id FROM history_block ORDER BY first_seq"):
        places, texts = database.rows("SELECT directory, texts FROM history_block WHERE id = ?", (number,))[0]
        seqs, ns, tables, keys, ops, _, flags = directory(places)
        mine = [at for at, key in enumerate(keys) if above < key <= end and tables[at] == table]
        if mine:
            states = json.loads(opened(texts, 2)[1])
            found += [(keys[at], seqs[at], ns[at], ops[at], states[at], purged(flags[at])) for at in mine]
    return found


def erased(database: Database, since: int) -> set[tuple[str, str]]:
    """Return the records (table, key) of which a packed row after a step has lost its text to a purge."""
    return {
        (table, key)
        for seqs, _, tables, keys, _, _, flags in _directories(database, "purged > 0 AND last_seq > ?", since)
        for seq, table, key, flag in zip(seqs, tables, keys, flags, strict=True)
        if flag & ERASED and seq > since
    }


def _directories(database: Database, condition: str, seq: int) -> Iterator[list[list[Any]]]:
    for (packed,) in database.rows(f"SELECT directory FROM history_block WHERE {condition}", (seq,)):
        yield directory(packed)


# pack and unpack


def pack(
    database: Database,
    days: int,
    steps: int,
    cancelled: Callable[[], bool] = lambda: False,
    least: int = BLOCK,
) -> int:
    """Pack the rows of steps older than `days`, and of those before the newest `steps`, block by block, while there are
    at least `least` of them; return how many blocks were made. One process at a time, each block in a transaction of
    its own (some 10 ms): after a kill each row is either unpacked or packed."""
    horizon = _horizon(database, days, steps)
    if database.read_only or len(_oldest(database, horizon, least)) < least:
        return 0
    lease = Lease(database, "history")
    if not lease.take():
        return 0
    made = 0
    try:
        while not cancelled():
            found = _oldest(database, horizon, BLOCK)
            if len(found) < least:
                break
            packed = encoded(found)
            with database.write("agent", "pack") as write:
                lease.renew(write)
                if _oldest(database, horizon, BLOCK) != found:
                    continue  # purged meanwhile: the packed rows are no longer current
                _keep(write, packed)
                ends = found[0][:2] + found[-1][:2]
                write.execute("DELETE FROM history_row WHERE (seq, n) >= (?, ?) AND (seq, n) <= (?, ?)", ends)
            made += 1
    except LeaseLost:
        pass
    finally:
        lease.release()
    return made


def unpack(write: Transaction, records: Collection[tuple[str, str]]) -> int:
    """Move every packed row of these records (table, key as history writes it, `[12]`) back into history_row; return
    how many. Their blocks are rewritten without them, and no byte of the old ones remains."""
    numbers = {hashed(table, pk) for table, pk in records}
    count = 0
    for block, hashes in list(write.rows("SELECT id, records FROM history_block ORDER BY first_seq")):
        if numbers.isdisjoint(array("I", hashes)):
            continue
        packed = write.execute("SELECT directory, texts, salts FROM history_block WHERE id = ?", (block,)).get
        every = Block(*packed).rows()
        mine = [row for row in every if (row[TABLE], row[KEY]) in records]
        if not mine:
            continue
        write.execute("DELETE FROM history_block WHERE id = ?", (block,))
        if len(mine) < len(every):
            _keep(write, encoded([row for row in every if (row[TABLE], row[KEY]) not in records]))
        _put(write, mine)
        count += len(mine)
    return count


def _put(write: Transaction, found: list[Row]) -> None:
    marks = ", ".join("?" * (PURGED + 1))
    for row in found:
        values = [Verbatim(value) if isinstance(value, str) else value for value in row]
        write.execute(f"INSERT INTO main.history_row({COLUMNS}) VALUES ({marks})", values)


def unpack_all(connection: apsw.Connection) -> int:
    """Move all readable packed rows back into history_row, and drop the rest; return how many. For a file that is being
    salvaged."""
    count = 0
    marks = ", ".join("?" * (PURGED + 1))
    for (block,) in connection.execute("SELECT id FROM history_block ORDER BY first_seq").fetchall():
        packed = connection.execute("SELECT directory, texts, salts FROM history_block WHERE id = ?", (block,)).get
        try:
            found = Block(*packed).rows()
        except (DamagedFile, ValueError, TypeError, IndexError):
            continue  # its rows are lost, and `mending` reports it
        before = connection.total_changes()
        connection.executemany(f"INSERT OR IGNORE INTO main.history_row({COLUMNS}) VALUES ({marks})", found)
        count += connection.total_changes() - before
    connection.execute("DELETE FROM history_block")
    return count


def _horizon(database: Database, days: int, steps: int) -> int:
    """Return the newest step whose rows may be packed."""
    old = database.value(
        "SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (days_before(database.clock(), days),)
    )
    newest = database.value("SELECT max(seq) FROM history")
    return max(old or 0, (newest or 0) - steps)


def _oldest(database: Database, horizon: int, count: int) -> list[Row]:
    return database.rows(
        f"SELECT {COLUMNS} FROM main.history_row WHERE seq <= ? ORDER BY seq, n LIMIT ?", (horizon, count)
    )


def _keep(write: Transaction, block: Row) -> None:
    names = "first_seq, last_seq, rows, purged, records, directory, texts, salts"
    write.execute(f"INSERT INTO history_block({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", block)
