"""Blocks of packed history: their encoding, and the virtual table of SQLite that reads them."""

import json
import weakref
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import apsw

from store.base.errors import DamagedFile
from store.database.writing.change_capture import framed

Row = tuple[Any, ...]

LEVEL = 9  # 6 ms a block, outside of any transaction
COLUMNS = "seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged"
SEQ, N, TABLE, KEY, OP, INDIRECT, BEFORE, AFTER, SALT, LEAF, PURGED = range(11)
_SALT, _LEAF = 16, 32  # bytes
# flags of a row besides `purged` (0 to 2): it has no salt; its leaf is not derived from its salt
ERASED, _PURGED, _NO_SALT, _OWN_LEAF = 1, 3, 4, 8
STRETCH = 1 << 15  # bytes that are decompressed at a time
FEW = 8  # rows that SQLite extracts from a block
_KEPT = 8  # blocks that a connection keeps decompressed


def encoded(found: list[Row]) -> Row:
    """Encode rows as the columns of a block."""
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
    hashes = array("I", sorted({hashed(row[TABLE], row[KEY]) for row in found}))
    return (
        found[0][SEQ],
        found[-1][SEQ],
        len(found),
        sum(row[PURGED] == ERASED for row in found),
        hashes.tobytes(),
        _packed(*columns[:BEFORE], flags),
        _packed(*columns[BEFORE:SALT]),
        b"".join(salts),
    )


def _packed(*values: Any) -> bytes:
    """Compress values, each as a line of JSON; in JSON a newline is never raw."""
    lines = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    return zlib.compress("\n".join(lines).encode(), LEVEL)


class Block:
    """One decompressed block; its texts are decompressed at first use."""

    __slots__ = ("_columns", "_salts", "_texts")

    def __init__(self, places: bytes, texts: bytes, salts: bytes) -> None:
        self._columns: list[list[Any] | None] = [*directory(places), None, None, None, None]
        flags = self._columns[6]
        # the columns in COLUMNS
        self._columns = [*self._columns[:6], None, None, None, None, [purged(flag) for flag in flags or ()]]
        self._texts, self._salts = texts, (salts, flags)

    @property
    def seqs(self) -> list[int]:
        return self.column(SEQ)

    def column(self, number: int) -> list[Any]:
        found = self._columns[number]
        if found is None:
            if number in (BEFORE, AFTER):
                self._columns[BEFORE:SALT] = _lines(self._texts, 2)
            else:
                self._columns[SALT:PURGED] = self._sealed()
            found = self._columns[number]
            assert found is not None
        return found

    def _sealed(self) -> tuple[list[bytes | None], list[bytes]]:
        """Return salts and leaves: both are stored, or one of the two."""
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


def directory(packed: bytes, most: int = 7) -> list[list[Any]]:
    """Return seqs, ns, tables, keys, ops, whether indirect, flags: a list each; the first `most` of them."""
    return _lines(packed, most)


def purged(flag: int) -> int:
    """Return the value of `purged` in a row's flags."""
    return flag & _PURGED


def _lines(packed: bytes, most: int) -> list[list[Any]]:
    """Decode the first lists of a value of `_packed`. Raise DamagedFile."""
    try:
        found = [json.loads(line) for line in zlib.decompress(packed).split(b"\n")[:most]]
        if len(found) == most and all(len(values) == len(found[0]) for values in found):
            return found
    except (zlib.error, ValueError, TypeError):
        pass
    raise _damaged()


def _damaged() -> DamagedFile:
    return DamagedFile(
        "A block of old history is damaged.", "Keep the file as it is; `memoranda doctor` names the way out."
    )


def opened(packed: bytes, most: int) -> list[str]:
    """Decompress the first lists of a value of `_packed`, still as JSON. Raise DamagedFile."""
    try:
        lines = zlib.decompress(packed).decode().split("\n")[:most]
    except (zlib.error, ValueError):
        raise _damaged() from None
    if len(lines) < most:
        raise _damaged()
    return lines


def first(packed: bytes) -> list[Any]:
    """Decode the first list of a value of `_packed`, without decompressing the rest. Raise DamagedFile."""
    unpacking, parts = zlib.decompressobj(), []
    try:
        while packed:
            part, newline, _ = unpacking.decompress(packed, STRETCH).partition(b"\n")
            parts.append(part)
            packed = b"" if newline else unpacking.unconsumed_tail
        found: list[Any] = json.loads(b"".join(parts))
    except (zlib.error, ValueError):
        raise _damaged() from None
    return found


def piece(connection: apsw.Connection, lists: list[str], places: range) -> list[Row]:
    """Return the items at these indexes of lists, one row for each. For a few, SQLite is four times as fast as decoding
    the lists in Python. Raise DamagedFile."""
    try:
        if len(places) > FEW:
            return list(zip(*(json.loads(line)[places.start : places.stop] for line in lists), strict=True))
        sql = f"SELECT {', '.join(f'?{number} ->> ?1' for number in range(2, len(lists) + 2))}"
        return [row for place in places for row in connection.execute(sql, (place, *lists))]
    except (ValueError, TypeError, apsw.SQLError):
        raise _damaged() from None


def _leaf(salt: bytes, row: Iterable[Any]) -> bytes:
    return sha256(salt + framed(*row)).digest()


def hashed(table: str, key: str) -> int:
    return zlib.crc32(f"{table} {key}".encode())


class PackedRows:
    """The packed rows as a virtual table of SQLite, for one connection: looked up by step, by record, or from a step
    on."""

    SCHEMA = f"CREATE TABLE packed({COLUMNS})"

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = weakref.proxy(connection)  # it refers to this table: a cycle would keep both alive
        self._version: tuple[int, int] | None = None
        self._blocks: list[tuple[int, int, int]] = []  # (first step, last step, id), in order
        self._lasts: list[int] = []  # the highest last step up to each
        self._records: dict[int, array[int]] = {}  # id → hashes of its records
        self._kept: dict[int, Block] = {}  # most recently used last

    def Connect(self, *names: Any) -> tuple[str, "PackedRows"]:
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

    def found(self, asked: dict[str, Any]) -> Iterator[tuple[Block, int]]:
        """Yield (block, index in it) of the rows that may match; SQLite checks each again."""
        self._look()
        first = asked.get("step", asked.get("from", 0))
        last = asked.get("step", asked.get("to"))
        if not all(isinstance(value, int | float | None) for value in (first, last)):
            first, last = 0, None
        number = hashed(asked["table"], asked["key"]) if "table" in asked else None
        start = bisect_left(self._lasts, first)
        for first_seq, last_seq, block in self._blocks[start:]:
            if last is not None and first_seq > last:
                break
            if last_seq < first or (number is not None and not self._holds(block, number)):
                continue
            yield from self._within(self._unpacked(block), asked, first, last)

    def _within(self, block: Block, asked: dict[str, Any], first: Any, last: Any) -> Iterator[tuple[Block, int]]:
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
        """Read the list of blocks. A block is never changed: another replaces it, with a higher id."""
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

    def _unpacked(self, number: int) -> Block:
        block = self._kept.pop(number, None)
        if block is None:
            block = Block(
                *self._connection.execute(
                    "SELECT directory, texts, salts FROM history_block WHERE id = ?", (number,)
                ).get
            )
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[number] = block
        return block


class _Cursor:
    """A cursor over packed rows."""

    def __init__(self, packed: PackedRows) -> None:
        self._packed = packed
        self._found: Iterator[tuple[Block, int]] = iter(())
        self._at: tuple[Block, int] | None = None

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
