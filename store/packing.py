"""Packed history: rows that are old, about a thousand together, compressed; nothing of them is lost or squashed.

A row takes some 330 bytes in its table and 70 in a block. Whoever reads rows of history reads `every_row`, a view of
both, and never knows the difference. The leaf of a row that has its salt is not stored a second time, for it follows
from the row; the digest of its step, which stays where it was, says whether it is still the same.
"""

import json
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apsw

from store.clock import days_before
from store.database import Database, Verbatim, Write
from store.database.capture import framed
from store.database.lease import Lease, LeaseLost
from store.digest import sha256

Row = tuple[Any, ...]

BLOCK = 1_000  # rows of a block
LEVEL = 9  # 6 ms a block, outside of any transaction
COLUMNS = "seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged"
EVERY = "every_history_row"
SEQ, N, TABLE, KEY, OP, INDIRECT, BEFORE, AFTER, SALT, LEAF, PURGED = range(11)
_SALT, _LEAF = 16, 32  # bytes
_NO_SALT, _OWN_LEAF = 2, 4  # flags of a row beside `purged`: it has no salt; its leaf is not what its salt gives
_KEPT = 8  # blocks that a connection keeps unpacked


# reading


def every_row(database: Database) -> str:
    """What stands in a query in the place of history_row, so that it meets the packed rows too."""
    connection = database.connection
    if not connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (EVERY,)).get:
        view(connection, "true")
    return EVERY


def view(connection: apsw.Connection, condition: str) -> None:
    """Make the view of all rows of history for which a condition holds, for this connection."""
    module: Any = _Packed(connection)
    connection.create_module("packed_row", module, eponymous_only=True, read_only=True)
    parts = [f"SELECT {COLUMNS} FROM {table} WHERE {condition}" for table in ("main.history_row", "packed_row")]
    guarded = connection.pragma("query_only")
    connection.pragma("query_only", 0)  # a view of this connection alone is no change of the file
    connection.execute(f"CREATE TEMP VIEW {EVERY} AS {' UNION ALL '.join(parts)}")
    connection.pragma("query_only", guarded)


def rows(database: Database) -> Iterator[Row]:
    """Every row of history in its order, as COLUMNS, read some steps at a time."""
    source = every_row(database)
    newest = database.value("SELECT max(seq) FROM history") or 0
    for start in range(0, newest, BLOCK):
        yield from database.rows(
            f"SELECT {COLUMNS} FROM {source} WHERE seq > ? AND seq <= ? ORDER BY seq, n", (start, start + BLOCK)
        )


def befores(database: Database, seq: int, newest: int) -> Iterator[tuple[str, str, str, str | None]]:
    """(table, key, op, before) of the packed rows after one step and up to another; those of one record in their order.
    Much faster than through the view. To be read in one transaction with the rows that are not packed."""
    for directory, texts in database.rows(
        "SELECT directory, texts FROM history_block WHERE last_seq > ? AND first_seq <= ? ORDER BY first_seq, last_seq",
        (seq, newest),
    ):
        seqs, _, tables, keys, ops, *_ = _directory(directory)
        before = json.loads(zlib.decompress(texts).partition(b"\n")[0])
        part = slice(bisect_right(seqs, seq), bisect_right(seqs, newest))
        yield from zip(tables[part], keys[part], ops[part], before[part], strict=True)


def newest(database: Database, records: set[tuple[str, str]], until: int) -> dict[tuple[str, str], int]:
    """The newest packed step up to `until` that touched each of these records (table, key), as far as one did."""
    found: dict[tuple[str, str], int] = {}
    if not records:
        return found
    for directory in _directories(database, "first_seq <= ? ORDER BY last_seq DESC", until):
        seqs, _, tables, keys, *_ = directory
        for place in reversed(range(bisect_right(seqs, until))):
            record = tables[place], keys[place]
            if record in records and seqs[place] > found.get(record, 0):
                found[record] = seqs[place]
        if len(found) == len(records):
            break
    return found


def erased(database: Database, since: int) -> set[tuple[str, str]]:
    """The records (table, key) of which a packed row after a step has lost its text to a purge."""
    return {
        (table, key)
        for seqs, _, tables, keys, _, _, flags in _directories(database, "purged > 0 AND last_seq > ?", since)
        for seq, table, key, flag in zip(seqs, tables, keys, flags, strict=True)
        if flag & 1 and seq > since
    }


def _directories(database: Database, condition: str, seq: int) -> Iterator[list[list[Any]]]:
    for (packed,) in database.rows(f"SELECT directory FROM history_block WHERE {condition}", (seq,)):
        yield _directory(packed)


class _Block:
    """One block, unpacked; its texts when they are first asked for."""

    __slots__ = ("_columns", "_salts", "_texts")

    def __init__(self, directory: bytes, texts: bytes, salts: bytes) -> None:
        self._columns: list[list[Any] | None] = [*_directory(directory), None, None, None, None]
        flags = self._columns[6]
        # as in COLUMNS
        self._columns = [*self._columns[:6], None, None, None, None, [flag & 1 for flag in flags or ()]]
        self._texts, self._salts = texts, (salts, flags)

    @property
    def seqs(self) -> list[int]:
        return self.column(SEQ)

    def column(self, number: int) -> list[Any]:
        found = self._columns[number]
        if found is None:
            if number in (BEFORE, AFTER):
                self._columns[BEFORE:SALT] = map(json.loads, zlib.decompress(self._texts).split(b"\n"))
            else:
                self._columns[SALT:PURGED] = self._sealed()
            found = self._columns[number]
            assert found is not None
        return found

    def _sealed(self) -> tuple[list[bytes | None], list[bytes]]:
        """Salts and leaves: both stored, or one of the two."""
        raw, flags = self._salts
        salts: list[bytes | None] = []
        leaves: list[bytes] = []
        at = 0
        for place, flag in enumerate(flags or ()):
            salt = None
            if not flag & _NO_SALT:
                salt, at = raw[at : at + _SALT], at + _SALT
            if flag & (_NO_SALT | _OWN_LEAF):
                leaf, at = raw[at : at + _LEAF], at + _LEAF
            else:
                leaf = _leaf(salt or b"", [self.column(number)[place] for number in range(TABLE, SALT)])
            salts.append(salt)
            leaves.append(leaf)
        return salts, leaves

    def rows(self) -> list[Row]:
        return list(zip(*(self.column(number) for number in range(PURGED + 1)), strict=True))


def _directory(packed: bytes) -> list[list[Any]]:
    """seqs, ns, tables, keys, ops, whether indirect, flags: a list each."""
    found: list[list[Any]] = json.loads(zlib.decompress(packed))
    return found


def _leaf(salt: bytes, row: Iterable[Any]) -> bytes:
    return sha256(salt + framed(*row)).digest()


def _hash(table: str, key: str) -> int:
    return zlib.crc32(f"{table} {key}".encode())


class _Packed:
    """The packed rows as a table of SQLite, for one connection: looked up by step, by record, or from a step on."""

    SCHEMA = f"CREATE TABLE packed({COLUMNS})"

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._version: tuple[int, int] | None = None
        self._blocks: list[tuple[int, int, int]] = []  # (first step, last step, id), in order
        self._lasts: list[int] = []  # the highest last step up to each
        self._records: dict[int, array[int]] = {}  # id → hashes of its records
        self._kept: dict[int, _Block] = {}  # those used last, at the end

    def Connect(self, *names: Any) -> tuple[str, "_Packed"]:
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

    def Open(self) -> "_Cursor":
        return _Cursor(self)

    def Disconnect(self) -> None:
        self._kept.clear()

    Destroy = Disconnect

    def found(self, asked: dict[str, Any]) -> Iterator[tuple[_Block, int]]:
        """(block, place in it) of the rows that may be meant; SQLite looks at each once more."""
        self._look()
        first = asked.get("step", asked.get("from", 0))
        last = asked.get("step", asked.get("to"))
        if not all(isinstance(value, int | float | None) for value in (first, last)):
            first, last = 0, None
        number = _hash(asked["table"], asked["key"]) if "table" in asked else None
        start = bisect_left(self._lasts, first)
        for first_seq, last_seq, block in self._blocks[start:]:
            if last is not None and first_seq > last:
                break
            if last_seq < first or (number is not None and not self._holds(block, number)):
                continue
            yield from self._within(self._unpacked(block), asked, first, last)

    def _within(self, block: _Block, asked: dict[str, Any], first: Any, last: Any) -> Iterator[tuple[_Block, int]]:
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

    def _look(self) -> None:
        """Know which blocks there are. A block is never changed: another takes its place, with a higher id."""
        version = self._connection.execute("SELECT max(id), count(*) FROM history_block").get
        if version != self._version:
            self._version = version
            found: Any = self._connection.execute(
                "SELECT first_seq, last_seq, id FROM history_block ORDER BY first_seq, last_seq"
            ).fetchall()
            self._blocks = found
            self._lasts = []
            for _, last, _ in self._blocks:
                self._lasts.append(max(last, self._lasts[-1]) if self._lasts else last)
            there = {block for *_, block in self._blocks}
            self._records = {block: records for block, records in self._records.items() if block in there}

    def _holds(self, block: int, number: int) -> bool:
        records = self._records.get(block)
        if records is None:
            raw = self._connection.execute("SELECT records FROM history_block WHERE id = ?", (block,)).get
            records = self._records[block] = array("I", raw)
        place = bisect_left(records, number)
        return place < len(records) and records[place] == number

    def _unpacked(self, number: int) -> _Block:
        block = self._kept.pop(number, None)
        if block is None:
            block = _Block(
                *self._connection.execute(
                    "SELECT directory, texts, salts FROM history_block WHERE id = ?", (number,)
                ).get
            )
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[number] = block
        return block


class _Cursor:
    """A way through packed rows."""

    def __init__(self, packed: _Packed) -> None:
        self._packed = packed
        self._found: Iterator[tuple[_Block, int]] = iter(())
        self._at: tuple[_Block, int] | None = None

    def Filter(self, number: int, names: str, values: tuple[Any, ...]) -> None:
        self._found = self._packed.found(dict(zip(names.split(), values, strict=True)))
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


# packing and unpacking


def pack(
    database: Database,
    days: int,
    steps: int,
    cancelled: Callable[[], bool] = lambda: False,
    least: int = BLOCK,
) -> int:
    """Pack the rows of steps older than `days`, and of those before the newest `steps`, block by block, as long as
    there are `least` of them; how many blocks were made. One process at a time, each block in a transaction of its own
    (some 10 ms): a kill leaves each row either where it was or packed."""
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
            packed = _encoded(found)
            with database.write("agent", "pack") as write:
                lease.renew(write)
                if _oldest(database, horizon, BLOCK) != found:
                    continue  # purged meanwhile: what was packed is not what is there
                _keep(write, packed)
                ends = found[0][:2] + found[-1][:2]
                write.execute("DELETE FROM history_row WHERE (seq, n) >= (?, ?) AND (seq, n) <= (?, ?)", ends)
            made += 1
    except LeaseLost:
        pass
    finally:
        lease.release()
    return made


def unpack(write: Write, table: str, pk: str) -> int:
    """Put every packed row of a record (its key as history writes it, `[12]`) back into history_row; how many there
    were. Its blocks are written again without them, and of the old ones no byte stays."""
    number = _hash(table, pk)
    count = 0
    for block, records, *packed in list(
        write.rows("SELECT id, records, directory, texts, salts FROM history_block ORDER BY first_seq")
    ):
        hashes = array("I", records)
        place = bisect_left(hashes, number)
        if place == len(hashes) or hashes[place] != number:
            continue
        every = _Block(*packed).rows()
        mine = [row for row in every if (row[TABLE], row[KEY]) == (table, pk)]
        rest = [row for row in every if (row[TABLE], row[KEY]) != (table, pk)]
        if not mine:
            continue
        write.execute("DELETE FROM history_block WHERE id = ?", (block,))
        if rest:
            _keep(write, _encoded(rest))
        marks = ", ".join("?" * (PURGED + 1))
        for row in mine:
            values = [Verbatim(value) if isinstance(value, str) else value for value in row]
            write.execute(f"INSERT INTO history_row({COLUMNS}) VALUES ({marks})", values)
        count += len(mine)
    return count


def _horizon(database: Database, days: int, steps: int) -> int:
    """The newest step whose rows may be packed."""
    old = database.value(
        "SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (days_before(database.clock(), days),)
    )
    newest = database.value("SELECT max(seq) FROM history")
    return max(old or 0, (newest or 0) - steps)


def _oldest(database: Database, horizon: int, count: int) -> list[Row]:
    return database.rows(
        f"SELECT {COLUMNS} FROM main.history_row WHERE seq <= ? ORDER BY seq, n LIMIT ?", (horizon, count)
    )


def _encoded(found: list[Row]) -> Row:
    """Rows as the columns of a block."""
    columns = list(zip(*found, strict=True))
    flags, salts = [], []
    for row in found:
        flag = row[PURGED]
        if row[SALT] is None:
            flag |= _NO_SALT
        elif _leaf(row[SALT], row[TABLE:SALT]) != row[LEAF]:
            flag |= _OWN_LEAF
        salts += [row[SALT] or b"", row[LEAF] if flag & (_NO_SALT | _OWN_LEAF) else b""]
        flags.append(flag)
    hashes = array("I", sorted({_hash(row[TABLE], row[KEY]) for row in found}))
    return (
        found[0][SEQ],
        found[-1][SEQ],
        len(found),
        sum(row[PURGED] for row in found),
        hashes.tobytes(),
        _packed([*columns[:BEFORE], flags]),
        _packed(*columns[BEFORE:SALT]),
        b"".join(salts),
    )


def _packed(*values: Any) -> bytes:
    """Each value as a line of JSON, compressed; in JSON a newline is never raw."""
    lines = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    return zlib.compress("\n".join(lines).encode(), LEVEL)


def _keep(write: Write, block: Row) -> None:
    names = "first_seq, last_seq, rows, purged, records, directory, texts, salts"
    write.execute(f"INSERT INTO history_block({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", block)
