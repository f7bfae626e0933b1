"""Packed history: old rows, some hundreds together, compressed; nothing is lost or merged.

A row takes some 330 bytes in its table and 70 in a block. Readers of history use `every_row_view`, a view of both. The
leaf of a row that has its salt is not stored, since it is derived from the row; the digest of its step, which is kept,
shows whether it is still the same.
"""

from __future__ import annotations

import json
import weakref
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from itertools import accumulate
from typing import Any

import apsw

from store.base.clock import days_before
from store.base.errors import DamagedFile
from store.database.change_capture import encode_for_hash
from store.database.database import Database, Lease, LeaseLost, Transaction
from store.database.values import Verbatim, dump_compact_json

# Blocks of packed history: their encoding, and the virtual table of SQLite that reads them.

PackedRow = tuple[Any, ...]

# 6 ms a block, outside of any transaction
ZLIB_LEVEL = 9
ROW_COLUMNS = "seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged"
SEQ, N, TABLE, KEY, OP, INDIRECT, BEFORE, AFTER, SALT, LEAF, PURGED = range(11)
INTO_HISTORY = f"INTO main.history_row({ROW_COLUMNS}) VALUES ({', '.join('?' * (PURGED + 1))})"
# bytes
_SALT_BYTES, _LEAF_BYTES = 16, 32
# flags of a row besides `purged` (0 to 2): it has no salt; its leaf is not derived from its salt
ERASED, PURGED_FLAGS, _NO_SALT, _OWN_LEAF = 1, 3, 4, 8
# blocks that a connection keeps decompressed
_KEPT_BLOCKS = 8


def encode_block(found: list[PackedRow]) -> PackedRow:
    """Encode rows as the columns of a block."""
    columns = list(zip(*found, strict=True))
    flags, salts = [], []
    for row in found:
        flag = row[PURGED]
        if row[SALT] is None:
            flag |= _NO_SALT
        elif _leaf_of_row(row[SALT], row[TABLE:SALT]) != row[LEAF]:
            flag |= _OWN_LEAF
        salts += [row[SALT] or b"", row[LEAF] if flag & (_NO_SALT | _OWN_LEAF) else b""]
        flags.append(flag)
    hashes = array("I", sorted({hash_record(row[TABLE], row[KEY]) for row in found}))
    return (
        found[0][SEQ],
        found[-1][SEQ],
        len(found),
        sum(row[PURGED] == ERASED for row in found),
        hashes.tobytes(),
        _compress_lines(*columns[:BEFORE], flags),
        _compress_lines(*columns[BEFORE:SALT]),
        b"".join(salts),
    )


def _compress_lines(*values: Any) -> bytes:
    """Compress values, each as a line of JSON; in JSON a newline is never raw."""
    lines = [dump_compact_json(value) for value in values]
    return zlib.compress("\n".join(lines).encode(), ZLIB_LEVEL)


@dataclass(eq=False, repr=False)
class HistoryBlock:
    """One block: its columns, compressed; each part is decompressed at first use."""

    directory: bytes
    texts: bytes
    salts: bytes

    @cached_property
    def _places(self) -> list[list[Any]]:
        """The columns up to INDIRECT, and the flags."""
        return decode_lists(self.directory, 7)

    @cached_property
    def _states(self) -> list[list[Any]]:
        return decode_lists(self.texts, 2)

    @property
    def seqs(self) -> list[int]:
        return self._places[SEQ]

    def column(self, number: int) -> list[Any]:
        """Return a column of ROW_COLUMNS."""
        if number < BEFORE:
            return self._places[number]
        if number < SALT:
            return self._states[number - BEFORE]
        return self._salts_and_leaves[number - SALT] if number < PURGED else self._purged

    @cached_property
    def _purged(self) -> list[int]:
        return [flag & PURGED_FLAGS for flag in self._places[-1]]

    @cached_property
    def _salts_and_leaves(self) -> tuple[list[bytes | None], list[bytes]]:
        """The salts and the leaves of the rows: both are stored, or one of the two."""
        raw = BytesIO(self.salts)
        salts: list[bytes | None] = []
        leaves: list[bytes] = []
        for flag, *row in zip(self._places[-1], *self._places[TABLE:-1], *self._states, strict=True):
            salt = None if flag & _NO_SALT else raw.read(_SALT_BYTES)
            stored = flag & (_NO_SALT | _OWN_LEAF)
            salts.append(salt)
            leaves.append(raw.read(_LEAF_BYTES) if stored else _leaf_of_row(salt or b"", row))
        return salts, leaves

    def all_rows(self) -> list[PackedRow]:
        """Return all rows of the block."""
        return list(zip(*(self.column(number) for number in range(PURGED + 1)), strict=True))


def decode_lists(packed: bytes, most: int) -> list[list[Any]]:
    """Decode the first lists of a value of `_compress_lines`: of a directory seqs, ns, tables, keys, ops, whether
    indirect, and flags. Raise DamagedFile."""
    try:
        found = [json.loads(line) for line in zlib.decompress(packed).split(b"\n")[:most]]
        if len(found) == most and all(len(values) == len(found[0]) for values in found):
            return found
    except (zlib.error, ValueError, TypeError):
        pass
    raise DamagedFile(
        "A block of old history is damaged.",
        "Keep the file as it is; `memoranda health --check` names the way out.",
    )


def _leaf_of_row(salt: bytes, row: Iterable[Any]) -> bytes:
    """Return the leaf of a row in the digest of its step."""
    return sha256(salt + encode_for_hash(*row)).digest()


def hash_record(table: str, key: str) -> int:
    """Return a short hash of a record, by which blocks are searched for it."""
    return zlib.crc32(f"{table} {key}".encode())


class PackedRows:
    """The packed rows as a virtual table of SQLite, for one connection: looked up by step, by record, or from a step
    on."""

    SCHEMA = f"CREATE TABLE packed({ROW_COLUMNS})"

    def __init__(self, connection: apsw.Connection) -> None:
        # it refers to this table: a cycle would keep both alive
        self._connection = weakref.proxy(connection)
        self._version: tuple[int, int] | None = None
        # (first step, last step, id), in order
        self._blocks: list[tuple[int, int, int]] = []
        # the highest last step up to each
        self._lasts: list[int] = []
        # id → hashes of its records
        self._records: dict[int, array[int]] = {}
        # most recently used last
        self._kept: dict[int, HistoryBlock] = {}

    def Connect(self, *names: Any) -> tuple[str, PackedRows]:
        return self.SCHEMA, self

    def BestIndex(self, constraints: list[tuple[int, int]], orders: Any) -> Any:
        places = {constraint: place for place, constraint in reversed(list(enumerate(constraints)))}
        equal = apsw.SQLITE_INDEX_CONSTRAINT_EQ
        bounds = [
            (places[SEQ, operator], name)
            for operators, name in (
                ((apsw.SQLITE_INDEX_CONSTRAINT_GT, apsw.SQLITE_INDEX_CONSTRAINT_GE), "from"),
                ((apsw.SQLITE_INDEX_CONSTRAINT_LT, apsw.SQLITE_INDEX_CONSTRAINT_LE), "to"),
            )
            for operator in operators
            if (SEQ, operator) in places
        ]
        if (SEQ, equal) in places:
            wanted, cost = [(places[SEQ, equal], "step")], 20.0
        elif (TABLE, equal) in places and (KEY, equal) in places:
            wanted, cost = [(places[TABLE, equal], "table"), (places[KEY, equal], "key"), *bounds], 500.0
        else:
            wanted, cost = bounds, 1e5 if bounds else 1e6
        used: list[int | None] = [None] * len(constraints)
        for argument, (place, _) in enumerate(wanted):
            used[place] = argument
        return used, 0, " ".join(name for _, name in wanted), False, cost

    def Open(self) -> _Cursor:
        return _Cursor(self)

    def Disconnect(self) -> None:
        self._kept.clear()

    Destroy = Disconnect

    def find_rows(self, asked: dict[str, Any]) -> Iterator[tuple[HistoryBlock, int]]:
        """Yield (block, index in it) of the rows that may match; SQLite checks each again."""
        self._refresh_blocks()
        first = asked.get("step", asked.get("from", 0))
        last = asked.get("step", asked.get("to"))
        if not all(isinstance(value, int | float | None) for value in (first, last)):
            first, last = 0, None
        number = hash_record(asked["table"], asked["key"]) if "table" in asked else None
        start = bisect_left(self._lasts, first)
        for first_seq, last_seq, block in self._blocks[start:]:
            if last is not None and first_seq > last:
                break
            if last_seq < first or (number is not None and not self._may_hold(block, number)):
                continue
            yield from self._rows_in_block(self._load_block(block), asked, first, last)

    def _rows_in_block(
        self, block: HistoryBlock, asked: dict[str, Any], first: Any, last: Any
    ) -> Iterator[tuple[HistoryBlock, int]]:
        """Yield (block, index) of the rows of a block that are asked for."""
        start = bisect_left(block.seqs, first)
        end = len(block.seqs) if last is None else bisect_right(block.seqs, last)
        if "table" in asked:
            tables, keys = block.column(TABLE), block.column(KEY)
            for place in range(start, end):
                if keys[place] == asked["key"] and tables[place] == asked["table"]:
                    yield block, place
        else:
            for place in range(start, end):
                yield block, place

    def _refresh_blocks(self) -> None:
        """Read the list of blocks. A block is never changed: another replaces it, with a higher id."""
        version = self._connection.execute("SELECT max(id), count(*) FROM history_block").get
        if version != self._version:
            self._version = version
            found: Any = self._connection.execute(
                "SELECT first_seq, last_seq, id FROM history_block ORDER BY first_seq, last_seq"
            ).fetchall()
            self._blocks = found
            self._lasts = list(accumulate((last for _, last, _ in self._blocks), max))
            there = {block for *_, block in self._blocks}
            self._records = {block: records for block, records in self._records.items() if block in there}

    def _may_hold(self, block: int, number: int) -> bool:
        """Tell whether a block may have rows of a record, by its hash."""
        records = self._records.get(block)
        if records is None:
            raw = self._connection.execute("SELECT records FROM history_block WHERE id = ?", (block,)).get
            records = self._records[block] = array("I", raw)
        place = bisect_left(records, number)
        return place < len(records) and records[place] == number

    def _load_block(self, number: int) -> HistoryBlock:
        """Return a decompressed block; the most recently used are kept."""
        block = self._kept.pop(number, None)
        if block is None:
            block = _read_block(self._connection, number)
            if len(self._kept) >= _KEPT_BLOCKS:
                del self._kept[next(iter(self._kept))]
        self._kept[number] = block
        return block


def _read_block(connection: apsw.Connection, number: Any) -> HistoryBlock:
    """Return a block, decompressed."""
    sql = "SELECT directory, texts, salts FROM history_block WHERE id = ?"
    return HistoryBlock(*connection.execute(sql, (number,)).get)


class _Cursor:
    """A cursor over packed rows."""

    def __init__(self, packed: PackedRows) -> None:
        self._packed = packed
        self._found: Iterator[tuple[HistoryBlock, int]] = iter(())
        self._at: tuple[HistoryBlock, int] | None = None

    def Filter(self, number: int, names: str, values: tuple[Any, ...]) -> None:
        self._found = self._packed.find_rows(dict(zip(names.split(), values, strict=True)))
        self.Next()

    def Next(self) -> None:
        self._at = next(self._found, None)

    def Eof(self) -> bool:
        return self._at is None

    def Column(self, number: int) -> Any:
        assert self._at is not None
        block, place = self._at
        return block.column(number)[place]

    def Rowid(self) -> int:
        assert self._at is not None
        block, place = self._at
        n: int = block.column(N)[place]
        return block.seqs[place] << 24 | n

    def Close(self) -> None:
        self._found = iter(())


# rows of a block: twice as many take 5 % less space, and twice as long to find one in
BLOCK_ROWS = 500
EVERY_ROW_VIEW = "every_history_row"


# read


def every_row_view(database: Database) -> str:
    """Return what replaces history_row in a query, so that it includes the packed rows."""
    return every_row_view_of(database.connection)


def every_row_view_of(connection: apsw.Connection) -> str:
    """Return `every_row_view` for a connection."""
    if not connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (EVERY_ROW_VIEW,)).get:
        create_every_row_view(connection, "true")
    return EVERY_ROW_VIEW


def create_every_row_view(connection: apsw.Connection, condition: str) -> None:
    """Create the view of all rows of history for which a condition holds, for this connection."""
    module: Any = PackedRows(connection)
    connection.create_module("packed_row", module, eponymous_only=True, read_only=True)
    parts = [
        f"SELECT {ROW_COLUMNS} FROM {table} WHERE {condition}" for table in ("main.history_row", "packed_row")
    ]
    guarded = connection.pragma("query_only")
    # a temporary view does not change the file
    connection.pragma("query_only", 0)
    connection.execute(f"CREATE TEMP VIEW {EVERY_ROW_VIEW} AS {' UNION ALL '.join(parts)}")
    connection.pragma("query_only", guarded)


def read_step_rows(database: Database, seq: int) -> list[PackedRow]:
    """Return (table, key, op, before, after, purged) of the rows of a step, in order."""
    return database.rows(
        f"SELECT tbl, pk, op, before, after, purged FROM {every_row_view(database)} WHERE seq = ? ORDER BY n",
        (seq,),
    )


def has_unpurged_row(database: Database, seq: int) -> bool:
    """Return whether a step has no rows, or at least one of them was not purged."""
    changes = database.value("SELECT changes FROM history WHERE seq = ?", (seq,))
    sql = f"SELECT 1 FROM {every_row_view(database)} WHERE seq = ? AND purged <> {ERASED} LIMIT 1"
    return not changes or database.value(sql, (seq,)) is not None


def read_packed_befores(database: Database, seq: int, newest: int) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield (table, key, op, before) of the packed rows after one step and up to another; those of one record in order.
    Much faster than through the view. To be read in one transaction with the rows that are not packed."""
    for places, texts in database.rows(
        "SELECT directory, texts FROM history_block WHERE last_seq > ? AND first_seq <= ? ORDER BY first_seq, last_seq",
        (seq, newest),
    ):
        seqs, _, tables, keys, ops = decode_lists(places, 5)
        (before,) = decode_lists(texts, 1)
        part = slice(bisect_right(seqs, seq), bisect_right(seqs, newest))
        yield from zip(tables[part], keys[part], ops[part], before[part], strict=True)


def find_newest_packed(
    database: Database, records: set[tuple[str, str]], since: int, until: int, but: Container[int]
) -> dict[tuple[str, str], int]:
    """Return the newest packed step after `since` up to `until`, none of `but`, that changed each of these records
    (table, key), where there is one."""
    found: dict[tuple[str, str], int] = {}
    if not records:
        return found
    for seqs, _, tables, keys, *_ in _read_directories(database, "first_seq <= ? ORDER BY last_seq DESC", until):
        for place in reversed(range(bisect_right(seqs, since), bisect_right(seqs, until))):
            record = tables[place], keys[place]
            if record in records and seqs[place] > found.get(record, 0) and seqs[place] not in but:
                found[record] = seqs[place]
        if len(found) == len(records):
            break
    return found


def find_packed_keys(database: Database, table: str, after: str) -> set[str]:
    """Return the keys of the records of a table that have packed rows and are after another key."""
    found: set[str] = set()
    for _, _, tables, keys, *_ in _read_directories(database, "last_seq >= ?", 0):
        found.update([key for name, key in zip(tables, keys, strict=True) if key > after and name == table])
    return found


def read_packed_afters(database: Database, table: str, above: str, end: str) -> list[PackedRow]:
    """Return (key, step, n, op, after, purged) of the packed rows of the records whose keys are above one and up to
    another, reading block by block."""
    found: list[PackedRow] = []
    for number in database.keys("SELECT id FROM history_block ORDER BY first_seq"):
        places, texts = database.rows("SELECT directory, texts FROM history_block WHERE id = ?", (number,))[0]
        seqs, ns, tables, keys, ops, _, flags = decode_lists(places, 7)
        mine = [at for at, key in enumerate(keys) if above < key <= end and tables[at] == table]
        if mine:
            _, states = decode_lists(texts, 2)
            found += [(keys[at], seqs[at], ns[at], ops[at], states[at], flags[at] & PURGED_FLAGS) for at in mine]
    return found


def find_erased_records(database: Database, since: int) -> set[tuple[str, str]]:
    """Return the records (table, key) of which a packed row after a step has lost its text to a purge."""
    return {
        (table, key)
        for seqs, _, tables, keys, _, _, flags in _read_directories(database, "purged > 0 AND last_seq > ?", since)
        for seq, table, key, flag in zip(seqs, tables, keys, flags, strict=True)
        if flag & ERASED and seq > since
    }


def _read_directories(database: Database, condition: str, seq: int) -> Iterator[list[list[Any]]]:
    """Yield the directories of blocks for which a condition holds."""
    for packed in database.column(f"SELECT directory FROM history_block WHERE {condition}", (seq,)):
        yield decode_lists(packed, 7)


# pack and unpack


def pack_history(
    database: Database,
    days: int,
    steps: int,
    cancelled: Callable[[], bool] = lambda: False,
    least: int = BLOCK_ROWS,
) -> int:
    """Pack the rows of steps older than `days`, and of those before the newest `steps`, block by block, while there are
    at least `least` of them; return how many blocks were made. One process at a time, each block in a transaction of
    its own (some 10 ms): after a kill each row is either unpacked or packed."""
    horizon = _newest_packable_step(database, days, steps)
    if database.read_only or len(_oldest_rows(database, horizon, least)) < least:
        return 0
    lease = Lease(database, "history")
    if not lease.acquire():
        return 0
    made = 0
    try:
        while not cancelled():
            found = _oldest_rows(database, horizon, BLOCK_ROWS)
            if len(found) < least:
                break
            packed = encode_block(found)
            with database.write("agent", "pack") as write:
                lease.renew(write)
                if _oldest_rows(database, horizon, BLOCK_ROWS) != found:
                    # purged meanwhile: the packed rows are no longer current
                    continue
                _insert_block(write, packed)
                ends = found[0][:2] + found[-1][:2]
                write.execute("DELETE FROM history_row WHERE (seq, n) >= (?, ?) AND (seq, n) <= (?, ?)", ends)
            made += 1
    except LeaseLost:
        pass
    finally:
        lease.release()
    return made


def unpack_records(write: Transaction, records: Collection[tuple[str, str]]) -> int:
    """Move every packed row of these records (table, key as history writes it, `[12]`) back into history_row; return
    how many. Their blocks are rewritten without them, and no byte of the old ones remains."""
    numbers = {hash_record(table, pk) for table, pk in records}
    count = 0
    for block, hashes in list(write.rows("SELECT id, records FROM history_block ORDER BY first_seq")):
        if numbers.isdisjoint(array("I", hashes)):
            continue
        every = _read_block(write.database.connection, block).all_rows()
        mine = [row for row in every if (row[TABLE], row[KEY]) in records]
        if not mine:
            continue
        write.execute("DELETE FROM history_block WHERE id = ?", (block,))
        if len(mine) < len(every):
            _insert_block(write, encode_block([row for row in every if (row[TABLE], row[KEY]) not in records]))
        for row in mine:
            values = [Verbatim(value) if isinstance(value, str) else value for value in row]
            write.execute(f"INSERT {INTO_HISTORY}", values)
        count += len(mine)
    return count


def unpack_all_records(connection: apsw.Connection) -> int:
    """Move all readable packed rows back into history_row, and drop the rest; return how many. For a file that is being
    salvaged."""
    count = 0
    for (block,) in connection.execute("SELECT id FROM history_block ORDER BY first_seq").fetchall():
        try:
            found = _read_block(connection, block).all_rows()
        except (DamagedFile, ValueError, TypeError, IndexError):
            # its rows are lost, and `mending` reports it
            continue
        before = connection.total_changes()
        connection.executemany(f"INSERT OR IGNORE {INTO_HISTORY}", found)
        count += connection.total_changes() - before
    connection.execute("DELETE FROM history_block")
    return count


def _newest_packable_step(database: Database, days: int, steps: int) -> int:
    """Return the newest step whose rows may be packed."""
    old = database.number(
        "SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (days_before(database.clock(), days),)
    )
    return max(old, database.newest_step() - steps)


def _oldest_rows(database: Database, horizon: int, count: int) -> list[PackedRow]:
    """Return the oldest rows that may be packed and are not, `count` at most."""
    return database.rows(
        f"SELECT {ROW_COLUMNS} FROM main.history_row WHERE seq <= ? ORDER BY seq, n LIMIT ?", (horizon, count)
    )


def _insert_block(write: Transaction, block: PackedRow) -> None:
    """Insert an encoded block."""
    names = "first_seq, last_seq, rows, purged, records, directory, texts, salts"
    write.execute(f"INSERT INTO history_block({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", block)
