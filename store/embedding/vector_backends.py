"""Storage of the packed codes and search in them: numpy, or the SQLite extension `vec0`.

`numpy` stores them in blocks of an ordinary table, and the process that searches holds them in memory. `vec0` stores
them in a table of its own and reads it for every query, so that nothing is held in memory: for machines with little
memory and for files that many short commands open. docs/vectors.md has the measurements.
"""

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Protocol

import apsw

from store.base.feature_flags import without
from store.database.database import Database, Transaction
from store.database.integer_list import integers
from store.database.values import Verbatim
from store.embedding import binary_index
from store.embedding.model_registry import EmbeddingModel
from store.embedding.packages import package_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.binary_index import Ids
    from store.embedding.provider import Vector

    Packed = NDArray[np.uint8]

NUMPY, VEC0 = "numpy", "vec0"
RECORDS = 10  # low bits of a record's number within one block: some 50 KB a block at 384 dimensions
MOST = 4_096  # most results of one `vec0` query
# number of candidates that are compared exactly at first, and the larger numbers where filters leave too few; `vec0`
# takes ten times as long for 2,000 as for 400
STEPS = {NUMPY: (2_000, 16_000, 128_000), VEC0: (400, MOST)}
FEW, FEWER = 50_000, 1_000  # of so many vectors, so many candidates hold all of the nearest ten and 96 % of the hundred
SLOTS = (0, 1)


class Keeper(Protocol):
    """A backend that stores the codes of a slot's vectors, or their signs alone. Methods run inside `write`; `ids` are
    passage ids."""

    name: str
    bits: int  # for each number of a vector

    def begin(self, write: Transaction, model: EmbeddingModel) -> None:
        """Make an empty store."""

    def put(self, write: Transaction, slot: int, ids: "Ids", packed: "Packed") -> None:
        """Store these codes (`binary_index.codes`), replacing those with the same ids."""

    def discard(self, write: Transaction, slot: int, ids: "Ids") -> None:
        """Delete those of these ids."""

    def drop(self, write: Transaction, slot: int) -> None:
        """Delete the store; no byte of it remains."""


class Blocks:
    """Stores codes in blocks of the table `vector_blocks`."""

    name = NUMPY
    bits = 2

    def begin(self, write: Transaction, model: EmbeddingModel) -> None:
        self.drop(write, model.slot)

    def drop(self, write: Transaction, slot: int) -> None:
        write.execute("DELETE FROM vector_blocks WHERE id & 1 = ?", (slot,))

    def put(self, write: Transaction, slot: int, ids: "Ids", packed: "Packed") -> None:
        self._change(write, slot, ids, packed)

    def discard(self, write: Transaction, slot: int, ids: "Ids") -> None:
        self._change(write, slot, ids, None)

    def _change(self, write: Transaction, slot: int, ids: "Ids", packed: "Packed | None") -> None:
        import numpy as np

        blocks = (ids >> (RECORDS + 4)) << 4 | (ids & 15)
        for block in np.unique(blocks).tolist():
            mine = blocks == block
            key = block * 2 + slot
            row = next(iter(write.rows("SELECT ids, signs FROM vector_blocks WHERE id = ?", (key,))), (b"", b""))
            held = np.frombuffer(row[0], "<i8")
            stay = ~np.isin(held, ids[mine])
            names, codes = held[stay].tobytes(), b""
            if len(held):
                codes = np.frombuffer(row[1], np.uint8).reshape(len(held), -1)[stay].tobytes()
            if packed is not None:
                names, codes = names + ids[mine].astype("<i8").tobytes(), codes + packed[mine].tobytes()
            if names:
                write.execute("INSERT OR REPLACE INTO vector_blocks VALUES (?, ?, ?)", (key, names, codes))
            else:
                write.execute("DELETE FROM vector_blocks WHERE id = ?", (key,))

    @staticmethod
    def read(database: Database, model: EmbeddingModel) -> binary_index.Matrix:
        """Read all codes of a model. Call it in a read transaction."""
        import numpy as np

        rows = database.rows("SELECT ids, signs FROM vector_blocks WHERE id & 1 = ? ORDER BY id", (model.slot,))
        codes = np.frombuffer(b"".join(row[1] for row in rows), "<u8")
        return binary_index.Matrix(
            np.frombuffer(b"".join(row[0] for row in rows), "<i8"),
            codes.reshape(-1, Blocks.bits * binary_index.width(model.dimension) // 64),
        )


class Vec0:
    """Stores signs in a table of the extension `vec0`, which must be loaded (`load`) for all methods but `drop`."""

    name = VEC0
    bits = 1

    def begin(self, write: Transaction, model: EmbeddingModel) -> None:
        self.drop(write, model.slot)
        columns = f"id integer primary key, bits bit[{binary_index.width(model.dimension)}]"
        write.execute(f"CREATE VIRTUAL TABLE {_table(model.slot)} USING vec0({columns})")

    def drop(self, write: Transaction, slot: int) -> None:
        """Drop the table; where the extension cannot be loaded, empty it instead."""
        name = _table(slot)
        if write.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).get is None:
            return
        if load(write.database.connection):
            write.execute(f"DROP TABLE {name}")
            return
        parts = write.rows("SELECT name FROM sqlite_schema WHERE name GLOB ?", (f"{name}_*",))
        for (part,) in list(parts):
            if not part.endswith("_info"):
                write.execute(f'DELETE FROM "{part}"')

    def put(self, write: Transaction, slot: int, ids: "Ids", packed: "Packed") -> None:
        self.discard(write, slot, ids)
        for id, row in zip(ids.tolist(), _signs(packed), strict=True):
            write.execute(f"INSERT INTO {_table(slot)}(id, bits) VALUES (?, vec_bit(?))", (id, row.tobytes()))

    def discard(self, write: Transaction, slot: int, ids: "Ids") -> None:
        for id in ids.tolist():  # `vec0` cannot replace a row
            write.execute(f"DELETE FROM {_table(slot)} WHERE id = ?", (id,))

    @staticmethod
    def nearest(
        database: Database,
        model: EmbeddingModel,
        vector: "Vector",
        count: int,
        among: "Ids | None",
        kinds: Collection[int] | None,
    ) -> "Ids":
        """Return the same as `Matrix.candidates`, but at most MOST."""
        import numpy as np

        where, parameters = "", list[object]()
        if among is not None:
            where, parameters = " AND id IN (SELECT value FROM carray(?))", [integers(among)]
        if kinds is not None:
            listed = ", ".join(map(str, sorted(kinds)))
            where += f" AND id IN (SELECT key >> 1 FROM vectors WHERE key & 1 = ? AND (key >> 1) & 15 IN ({listed}))"
            parameters.append(model.slot)
        rows = database.rows(
            f"SELECT id FROM {_table(model.slot)} WHERE bits MATCH vec_bit(?) AND k = ?{where} ORDER BY distance",
            (_signs(binary_index.codes(vector[None], model.mean))[0].tobytes(), min(count, MOST), *parameters),
        )
        return np.array([id for (id,) in rows], np.int64)


BLOCKS, IN_VEC0 = Blocks(), Vec0()
KEEPERS: tuple[Keeper, ...] = (BLOCKS, IN_VEC0)


def keeper(connection: apsw.Connection, name: str) -> Keeper:
    """Return the backend for the setting `name`; `numpy` where `vec0` cannot be loaded."""
    return IN_VEC0 if name == VEC0 and load(connection) else BLOCKS


def load(connection: apsw.Connection) -> bool:
    """Load `vec0` into this connection and return whether it is there. It comes from the package sqlite-vec, which is
    located without importing it (74 ms)."""
    if without("vec0"):
        return False
    folder = package_folder("sqlite_vec")
    try:
        if connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'").get is not None:
            return True
        connection.enable_load_extension(True)
        try:
            connection.load_extension(os.path.join(folder or "", "vec0"))
        finally:
            connection.enable_load_extension(False)
    except (apsw.Error, AttributeError, IndexError):  # not installed, or not built for this machine
        return False
    return True


def _signs(codes: "Packed") -> "Packed":
    """Return the first half of each code."""
    return codes[:, : codes.shape[1] // 2]


def _table(slot: int) -> str:
    return f"vector_bits_{slot}"


# whether they are up to date ----------------------------------------------------------------------------------------


def marker(slot: int) -> str:
    """Return the key in `meta` for the backend of a slot and the change number that its codes are up to date with."""
    return f"embedding.bits.{slot}"


def kept(keeper: Keeper, model: EmbeddingModel, change: int) -> str:
    """Return the value under `marker` when this backend has the codes of `model` at that change number."""
    return f"{keeper.name} {keeper.bits * binary_index.width(model.dimension)} {change}"


def drop(write: Transaction, slots: Iterable[int] = SLOTS) -> None:
    """Delete all codes of these slots, leaving no byte; the next indexing computes them again from the vectors."""
    for slot in slots:
        for one in KEEPERS:
            one.drop(write, slot)
        write.execute("DELETE FROM meta WHERE key = ?", (Verbatim(marker(slot)),))


def forget(write: Transaction) -> None:
    """Delete the codes of deleted vectors, leaving no byte, as part of a purge."""
    if write.execute("SELECT 1 FROM sqlite_schema WHERE name GLOB 'vector_bits_[01]'").get is not None:
        drop(write)  # cheaper than searching through `vec0`, and works where it cannot be loaded
        return
    if write.execute("SELECT 1 FROM vector_blocks LIMIT 1").get is None:
        return
    import numpy as np

    for key, ids in write.database.rows("SELECT id, ids FROM vector_blocks"):
        held = np.frombuffer(ids, "<i8")
        there = write.database.rows(
            "SELECT v.key >> 1 FROM carray(?) c JOIN vectors v ON v.key = c.value", (integers(held * 2 + (key & 1)),)
        )
        deleted = held[~np.isin(held, [id for (id,) in there])]
        if len(deleted):
            BLOCKS.discard(write, key & 1, deleted)
