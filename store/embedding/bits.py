"""The first look: which stored vectors may be near, by the signs of their numbers alone.

48 bytes a vector instead of 1,536: where each number lies above or below the model's mean. A question is not cut down
so far, to four bits a number: of 900 e5 vectors of conversations the best 200 then hold .94 of the nearest hundred,
against .75 by signs on both sides; of 100,000 made from them with noise the best 2,000 hold .97, against .85. The best
are compared exactly afterwards (`vectors`), so all that this module holds is a cache that may be stale.

The signs of all vectors stand in memory as a matrix. Measured on two cores at 100,000 vectors: 3 ms a look, against 65
(k = 500) to 160 (k = 1,000) of `vec0`'s own search in SQLite, which therefore is not used. What `vec0` is good for is
to keep the signs packed on the disk: at 100,000 / 1,000,000 its blocks load in 5 / 180 ms, row by row in 180 / 1,440.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import apsw

from store.database import Database, Verbatim, Write
from store.embedding.slots import Model
from store.switches import without

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.provider import Vector

    Ids = NDArray[np.int64]
    Words = NDArray[np.uint64]

WORD = 64
PLANES = 4  # bits that each number of a question is cut down to
CENTRE = 0.5  # of the mean is taken off a question before it is cut down
BLOCK = 32_768  # vectors whose signs are compared at once
FILL = 5_000  # rows of one transaction while the blocks are made anew: some 50 ms


def width(dimension: int) -> int:
    """Bits that a vector's signs take: whole 64-bit words."""
    return -(-dimension // WORD) * WORD


def signs(vectors: "NDArray[np.float32]", mean: bytes) -> "NDArray[np.uint8]":
    """One row of bytes for each row of `vectors`: where it lies above the mean, by bits, the lowest first."""
    import numpy as np

    return _pack(vectors > np.frombuffer(mean, "<f4"))


def _pack(ones: "NDArray[Any]") -> "NDArray[np.uint8]":
    """Bits, packed into whole words along the last axis."""
    import numpy as np

    packed = np.packbits(ones, axis=-1, bitorder="little")
    missing = width(ones.shape[-1]) // 8 - packed.shape[-1]
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, missing)]) if missing else packed


class Matrix:
    """The signs of many vectors, each word a column, so that a look reads memory straight through.

    `ids` are corpus ids in the order of the rows; `embeddings`, where it is known, the row each vector is stored in.
    """

    __slots__ = ("above", "columns", "embeddings", "ids")

    def __init__(self, ids: "Ids", rows: "Words", embeddings: "Ids | None" = None) -> None:
        import numpy as np

        self.ids = ids
        self.columns = np.ascontiguousarray(rows.T)
        self.embeddings = embeddings
        self.above = self._common(np.full(len(self.columns), ~np.uint64(0)), self.columns)

    def candidates(
        self,
        asked: "Vector",
        mean: bytes,
        count: int,
        among: "Ids | None" = None,
        kinds: Collection[int] | None = None,
    ) -> "Ids":
        """The ids of the `count` vectors that look nearest to `asked`, the best first; only those of `among`, and of
        these numbers of kinds (`keys`), if given."""
        import numpy as np

        ids, columns, above = self.ids, self.columns, self.above
        if among is not None or kinds is not None:
            passing = np.ones(len(ids), bool) if among is None else np.isin(ids, among)
            if kinds is not None:
                passing &= np.isin(ids & 15, list(kinds))
            chosen = np.flatnonzero(passing)
            ids, columns, above = ids[chosen], columns[:, chosen], above[chosen]
        # the sum of the question's numbers where a vector has a one, less where it has a zero, by whole numbers; a
        # block at a time, which stays in the processor's cache: a million take 22 ms instead of 49
        score = np.multiply(above, -((1 << PLANES) - 1), dtype=np.int32)
        planes = _planes(asked, mean)
        for start in range(0, len(ids), BLOCK):
            block = columns[:, start : start + BLOCK]
            for plane, words in enumerate(planes):
                score[start : start + BLOCK] += self._common(words, block).astype(np.int32) << (plane + 1)
        best = np.argpartition(-score, count)[:count] if len(ids) > count else np.arange(len(ids))
        found: Ids = ids[best[np.argsort(-score[best], kind="stable")]]
        return found

    @staticmethod
    def _common(words: "Words", columns: "Words") -> "NDArray[np.uint16]":
        """How many ones each row shares with `words`."""
        import numpy as np

        shared = np.zeros(columns.shape[1], np.uint16)
        both, ones = np.empty(columns.shape[1], np.uint64), np.empty(columns.shape[1], np.uint8)
        for column, word in zip(columns, words, strict=True):
            np.bitwise_and(column, word, out=both)
            shared += np.bitwise_count(both, out=ones)
        return shared


def _planes(asked: "Vector", mean: bytes) -> "list[Words]":
    """A question in PLANES bits a number, from the least to the most below and above CENTRE times the mean, the lowest
    bits first; a few numbers far out are cut off."""
    import numpy as np

    numbers = asked - np.float32(CENTRE) * np.frombuffer(mean, "<f4")
    reach = max(float(np.quantile(np.abs(numbers), 0.99)), 1e-9)
    levels = (1 << PLANES) - 1
    cut = np.clip(np.rint((numbers + reach) * levels / (2 * reach)), 0, levels).astype(np.uint8)
    return [_pack((cut >> plane) & 1).view("<u8") for plane in range(PLANES)]


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


# the blocks ---------------------------------------------------------------------------------------------------------


def table(slot: int) -> str:
    return f"vector_bits_{slot}"


def marker(slot: int) -> str:
    """The key in `meta` of how far the blocks of a slot are kept: its model's width and the number of the change."""
    return f"embedding.bits.{slot}"


def kept(model: Model, change: int) -> str:
    """The marker's value when the blocks hold what the vectors of `model` were at that change."""
    return f"{width(model.dimension)} {change}"


def create(write: Write, model: Model) -> None:
    """Empty blocks. `vec0` must be loaded."""
    drop(write, model.slot)
    columns = f"id integer primary key, bits bit[{width(model.dimension)}]"
    write.execute(f"CREATE VIRTUAL TABLE {table(model.slot)} USING vec0({columns})")


def drop(write: Write, slot: int) -> None:
    write.execute(f"DROP TABLE IF EXISTS {table(slot)}")
    write.execute("DELETE FROM meta WHERE key = ?", (Verbatim(marker(slot)),))


def put(write: Write, model: Model, ids: Sequence[int], vectors: "Sequence[Vector]") -> None:
    """The signs of these vectors, instead of what stood there under their ids."""
    import numpy as np

    discard(write, model.slot, ids)
    if not ids:
        return
    packed = signs(np.stack(vectors), model.mean)
    for id, row in zip(ids, packed, strict=True):
        write.execute(f"INSERT INTO {table(model.slot)}(id, bits) VALUES (?, vec_bit(?))", (id, row.tobytes()))


def discard(write: Write, slot: int, ids: Iterable[int]) -> None:
    for id in ids:  # `vec0` knows no other way of replacing a row
        write.execute(f"DELETE FROM {table(slot)} WHERE id = ?", (id,))


def read(database: Database, model: Model) -> Matrix:
    """The blocks as they lie in the file, without `vec0`. Raises ValueError if sqlite-vec 0.1 did not lay them so.

    To be called in a reading transaction.
    """
    import numpy as np

    name, size = table(model.slot), width(model.dimension) // 8
    blocks = database.rows(
        f"SELECT c.size, c.validity, c.rowids, v.vectors FROM {name}_chunks c"
        f" LEFT JOIN {name}_vector_chunks00 v ON v.rowid = c.chunk_id ORDER BY c.chunk_id"
    )
    ids, rows = [np.empty(0, np.int64)], [np.empty((0, size // 8), np.uint64)]
    for count, validity, rowids, packed in blocks:
        if packed is None or (len(validity), len(rowids), len(packed)) != (count // 8, count * 8, count * size):
            raise ValueError("blocks of another layout")
        valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
        ids.append(np.frombuffer(rowids, "<i8")[valid])
        rows.append(np.frombuffer(packed, "<u8").reshape(count, size // 8)[valid])
    return Matrix(np.concatenate(ids), np.concatenate(rows))


def scan(database: Database, model: Model, before: Matrix | None = None) -> Matrix:
    """The signs of the stored vectors themselves; of `before`, those are kept that are still the same.

    Twenty times as slow as `read` at first, and needs nothing but the vectors. To be called in a reading transaction.
    """
    import numpy as np

    pairs = np.array(
        database.rows("SELECT key >> 1, embedding FROM vectors WHERE key & 1 = ? ORDER BY key", (model.slot,)), np.int64
    ).reshape(-1, 2)
    ids, embeddings = pairs[:, 0].copy(), pairs[:, 1].copy()
    rows = np.zeros((len(ids), width(model.dimension) // WORD), np.uint64)
    wanted = np.ones(len(ids), bool)
    if before is not None and before.embeddings is not None and len(before.ids) and len(ids):
        at = np.minimum(np.searchsorted(before.ids, ids), len(before.ids) - 1)
        wanted = (before.ids[at] != ids) | (before.embeddings[at] != embeddings)
        rows[~wanted] = before.columns.T[at[~wanted]]
    missing = np.flatnonzero(wanted)
    for start in range(0, len(missing), FILL):
        part = missing[start : start + FILL]
        vectors = fetch(database, embeddings[part])
        good = np.array([id in vectors for id in embeddings[part].tolist()], bool)
        if good.any():
            stacked = np.stack([vectors[id] for id in embeddings[part[good]].tolist()])
            rows[part[good]] = signs(stacked, model.mean).view("<u8")
    return Matrix(ids, rows, embeddings)


def fetch(database: Database, embeddings: "Ids") -> "dict[int, Vector]":
    """The stored vectors with these rows' ids."""
    import numpy as np

    found = database.rows(
        "SELECT e.id, e.vector FROM carray(?) c JOIN embeddings e ON e.id = c.value",
        (apsw.carray(np.ascontiguousarray(embeddings), flags=apsw.SQLITE_CARRAY_INT64),),
    )
    return {id: np.frombuffer(vector, "<f4") for id, vector in found}
