"""Where the packed signs of vectors are kept, and who looks for the nearest by them: numpy, or `vec0` inside of SQLite.

`numpy` keeps them in blocks of an ordinary table, and the process that searches holds them in memory. `vec0` keeps them
in a table of its own, and reads through it for every question, so that nothing is held: for machines with little memory
and for files that many short commands open. What was measured stands in docs/vectors.md.
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.binary_index import Ids
    from store.embedding.provider import Vector

    Packed = NDArray[np.uint8]

NUMPY, VEC0 = "numpy", "vec0"
RECORDS = 10  # bits of a record's number that one block holds: some 50 KB at 384 numbers
MOST = 4_096  # that `vec0` finds at once
# how many that look near are compared exactly at first, and how many more where filters leave too few of them; `vec0`
# takes ten times as long for 2,000 as for 400
STEPS = {NUMPY: (2_000, 16_000, 128_000), VEC0: (400, MOST)}
SLOTS = (0, 1)


class Keeper(Protocol):
    """Keeps the signs of the vectors in a slot. All of it happens inside of `write`; `ids` are rows of the corpus."""

    name: str

    def begin(self, write: Transaction, model: EmbeddingModel) -> None:
        """Keep nothing yet."""

    def put(self, write: Transaction, slot: int, ids: "Ids", packed: "Packed") -> None:
        """Keep these signs (`bits.signs`), instead of what stood there under their ids."""

    def discard(self, write: Transaction, slot: int, ids: "Ids") -> None:
        """Keep the signs of these no longer."""

    def drop(self, write: Transaction, slot: int) -> None:
        """Keep nothing any more, and leave no byte of it."""


class Blocks:
    """In blocks of the table `vector_blocks`."""

    name = NUMPY

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
            names, signs = held[stay].tobytes(), b""
            if len(held):
                signs = np.frombuffer(row[1], np.uint8).reshape(len(held), -1)[stay].tobytes()
            if packed is not None:
                names, signs = names + ids[mine].astype("<i8").tobytes(), signs + packed[mine].tobytes()
            if names:
                write.execute("INSERT OR REPLACE INTO vector_blocks VALUES (?, ?, ?)", (key, names, signs))
            else:
                write.execute("DELETE FROM vector_blocks WHERE id = ?", (key,))

    @staticmethod
    def read(database: Database, model: EmbeddingModel) -> binary_index.Matrix:
        """All of them. To be called in a reading transaction."""
        import numpy as np

        rows = database.rows("SELECT ids, signs FROM vector_blocks WHERE id & 1 = ? ORDER BY id", (model.slot,))
        signs = np.frombuffer(b"".join(row[1] for row in rows), "<u8")
        return binary_index.Matrix(
            np.frombuffer(b"".join(row[0] for row in rows), "<i8"),
            signs.reshape(-1, binary_index.width(model.dimension) // 64),
        )


class Vec0:
    """In a table of the extension `vec0`, which must be loaded (`load`) for all but `drop`."""

    name = VEC0

    def begin(self, write: Transaction, model: EmbeddingModel) -> None:
        self.drop(write, model.slot)
        columns = f"id integer primary key, bits bit[{binary_index.width(model.dimension)}]"
        write.execute(f"CREATE VIRTUAL TABLE {_table(model.slot)} USING vec0({columns})")

    def drop(self, write: Transaction, slot: int) -> None:
        """Where the extension cannot be had, the table stays, emptied."""
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
        for id, row in zip(ids.tolist(), packed, strict=True):
            write.execute(f"INSERT INTO {_table(slot)}(id, bits) VALUES (?, vec_bit(?))", (id, row.tobytes()))

    def discard(self, write: Transaction, slot: int, ids: "Ids") -> None:
        for id in ids.tolist():  # `vec0` knows no other way of replacing a row
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
        """As `Matrix.candidates`, but MOST at the most."""
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
            (binary_index.signs(vector[None], model.mean)[0].tobytes(), min(count, MOST), *parameters),
        )
        return np.array([id for (id,) in rows], np.int64)


BLOCKS, IN_VEC0 = Blocks(), Vec0()
KEEPERS: tuple[Keeper, ...] = (BLOCKS, IN_VEC0)


def keeper(connection: apsw.Connection, name: str) -> Keeper:
    """Who keeps the signs where a person chose `name`; `numpy` where `vec0` cannot be had."""
    return IN_VEC0 if name == VEC0 and load(connection) else BLOCKS


def load(connection: apsw.Connection) -> bool:
    """Give this connection `vec0`, from the package sqlite-vec, which is found and not imported (its import: 74 ms)."""
    if without("vec0"):
        return False
    from importlib.util import find_spec

    found = find_spec("sqlite_vec")
    places = list(found.submodule_search_locations or ()) if found else []
    try:
        if connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'").get is not None:
            return True
        connection.enable_load_extension(True)
        try:
            connection.load_extension(os.path.join(places[0], "vec0"))
        finally:
            connection.enable_load_extension(False)
    except (apsw.Error, AttributeError, IndexError):  # not installed, or not for this machine
        return False
    return True


def _table(slot: int) -> str:
    return f"vector_bits_{slot}"


# how far they are kept up -------------------------------------------------------------------------------------------


def marker(slot: int) -> str:
    """The key in `meta` of who keeps the signs of a slot, and of which change of its vectors they are."""
    return f"embedding.bits.{slot}"


def kept(keeper: Keeper, model: EmbeddingModel, change: int) -> str:
    """The marker's value when it keeps what the vectors of `model` were at that change."""
    return f"{keeper.name} {binary_index.width(model.dimension)} {change}"


def drop(write: Transaction, slots: Iterable[int] = SLOTS) -> None:
    """Leave no byte of any signs of these slots; they are made anew from the vectors when those are next indexed."""
    for slot in slots:
        for one in KEEPERS:
            one.drop(write, slot)
        write.execute("DELETE FROM meta WHERE key = ?", (Verbatim(marker(slot)),))


def forget(write: Transaction) -> None:
    """Leave no byte of the signs of vectors that are gone, as part of a purge."""
    if write.execute("SELECT 1 FROM sqlite_schema WHERE name GLOB 'vector_bits_[01]'").get is not None:
        drop(write)  # cheaper than to look for them through `vec0`, and certain where it does not load
        return
    if write.execute("SELECT 1 FROM vector_blocks LIMIT 1").get is None:
        return
    import numpy as np

    for key, ids in write.database.rows("SELECT id, ids FROM vector_blocks"):
        held = np.frombuffer(ids, "<i8")
        there = write.database.rows(
            "SELECT v.key >> 1 FROM carray(?) c JOIN vectors v ON v.key = c.value", (integers(held * 2 + (key & 1)),)
        )
        gone = held[~np.isin(held, [id for (id,) in there])]
        if len(gone):
            BLOCKS.discard(write, key & 1, gone)
