"""Storage of the packed codes and search in them: numpy, or the SQLite extension `vec0`.

`numpy` stores them in blocks of an ordinary table, and the process that searches holds them in memory. `vec0` stores
them in a table of its own and reads it for every query, so that nothing is held in memory: for machines with little
memory and for files that many short commands open. docs/vectors.md has the measurements.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import apsw

from store.base.runtime import is_part_disabled
from store.database.connection import bind_integers
from store.database.database import Database, Transaction
from store.embedding.model_registry import EmbeddingModel
from store.embedding.provider import package_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.provider import Vector


# First stage of the vector search: candidates by two bits for each number of a vector.
#
# A vector takes 96 bytes instead of 1,536: one bit says on which side of the model's mean a number lies, the other
# whether it is in the upper part of that side, so that four levels are told apart. The query is quantized to four
# bits a number. `python -m bench.first_look` says how many of the exact nearest are among the candidates; with one
# bit a fifth of the nearest hundred was lost of 100,000. Candidates are compared exactly afterwards (`vectors`), so
# this index may be out of date.
#
# The codes of all vectors are held in memory as a matrix, read from where they are stored packed (`CodeStore`).

if TYPE_CHECKING:
    PassageIds = NDArray[np.int64]
    CodeWords = NDArray[np.uint64]

WORD_BITS = 64
# bits to which each number of a query is quantized
QUERY_BITS = 4
# share of the mean that is subtracted from a query before that
QUERY_CENTRE = 0.5
# from the mean to the next level, in standard deviations
LEVEL_STEP = 0.7
# vectors compared at once
COMPARED_AT_ONCE = 32_768
# vectors whose codes are computed at once and stored in one transaction of some 50 ms
CODES_PER_WRITE = 5_000


def code_width(dimension: int) -> int:
    """Return the number of bits of a vector's signs, rounded up to whole 64-bit words. Its code has twice as many."""
    return -(-dimension // WORD_BITS) * WORD_BITS


def encode_vectors(vectors: NDArray[np.float32], mean: bytes) -> NDArray[np.uint8]:
    """Return one row of packed bytes (uint8) for each row of `vectors`, which are of length 1: a bit for each number
    above the mean, the lowest bit first; then a bit for each number in the upper part of its side."""
    import numpy as np

    centre = np.frombuffer(mean, "<f4")
    numbers = vectors - centre
    # the variance of vectors of length 1, in all directions together, is what the mean leaves of it
    step = np.float32(LEVEL_STEP * (max(1e-6, 1.0 - float(centre @ centre)) / len(centre)) ** 0.5)
    signs = numbers > 0
    return np.concatenate(
        [_pack_bits(signs), _pack_bits(np.where(signs, numbers > step, numbers > -step))], axis=-1
    )


def _pack_bits(ones: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack booleans into bits, whole words along the last axis."""
    import numpy as np

    packed = np.packbits(ones, axis=-1, bitorder="little")
    missing = code_width(ones.shape[-1]) // 8 - packed.shape[-1]
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, missing)]) if missing else packed


class CodeMatrix:
    """The codes of many vectors, stored by columns of words, so that a search reads memory sequentially. `ids` are the
    passage ids in the order of the rows."""

    def __init__(self, ids: PassageIds, rows: CodeWords) -> None:
        import numpy as np

        self.ids = ids
        self.columns = np.ascontiguousarray(rows.T)
        self.above = self._weighted_sum(np.full(len(self.columns) // 2, ~np.uint64(0)), self.columns)

    def candidates(
        self,
        query: Vector,
        mean: bytes,
        count: int,
        among: PassageIds | None = None,
        kinds: Collection[int] | None = None,
    ) -> PassageIds:
        """Return the ids of the `count` vectors nearest to `query` by their codes, the best first. `among` restricts to
        these ids, `kinds` to these numbers of kinds (`KIND_NUMBERS`)."""
        import numpy as np

        ids, columns, above = self.ids, self.columns, self.above
        if among is not None or kinds is not None:
            passing = np.ones(len(ids), bool) if among is None else np.isin(ids, among)
            if kinds is not None:
                passing &= np.isin(ids & 15, list(kinds))
            chosen = np.flatnonzero(passing)
            ids, columns, above = ids[chosen], columns[:, chosen], above[chosen]
        # score: the sum of the query's numbers, each times the level of the vector's (0 to 3), as integers, computed by
        # blocks, as a block fits in the processor's cache
        score = np.multiply(above, -((1 << QUERY_BITS) - 1), dtype=np.int32)
        planes = _quantize_query(query, mean)
        for start in range(0, len(ids), COMPARED_AT_ONCE):
            block = columns[:, start : start + COMPARED_AT_ONCE]
            for plane, words in enumerate(planes):
                score[start : start + COMPARED_AT_ONCE] += self._weighted_sum(words, block) << (plane + 1)
        best = np.argpartition(-score, count)[:count] if len(ids) > count else np.arange(len(ids))
        found: PassageIds = ids[best[np.argsort(-score[best], kind="stable")]]
        return found

    @classmethod
    def _weighted_sum(cls, words: CodeWords, columns: CodeWords) -> NDArray[np.int32]:
        """Return the sum of each row's levels where `words` has a one: the first half of `columns` counts twice."""
        import numpy as np

        half = len(words)
        shared = cls._count_common_bits(words, columns[:half]).astype(np.int32)
        return (shared << 1) + cls._count_common_bits(words, columns[half:])

    @staticmethod
    def _count_common_bits(words: CodeWords, columns: CodeWords) -> NDArray[np.uint16]:
        """Return the number of ones that each row shares with `words`."""
        import numpy as np

        shared = np.zeros(columns.shape[1], np.uint16)
        both, ones = np.empty(columns.shape[1], np.uint64), np.empty(columns.shape[1], np.uint8)
        for column, word in zip(columns, words, strict=True):
            np.bitwise_and(column, word, out=both)
            shared += np.bitwise_count(both, out=ones)
        return shared


def _quantize_query(query: Vector, mean: bytes) -> list[CodeWords]:
    """Return a query quantized to QUERY_BITS bits a number, as bit planes, the lowest first. The range is symmetric
    around QUERY_CENTRE times the mean; numbers beyond the 99 % quantile are clipped."""
    import numpy as np

    numbers = query - np.float32(QUERY_CENTRE) * np.frombuffer(mean, "<f4")
    reach = max(float(np.quantile(np.abs(numbers), 0.99)), 1e-9)
    levels = (1 << QUERY_BITS) - 1
    cut = np.clip(np.rint((numbers + reach) * levels / (2 * reach)), 0, levels).astype(np.uint8)
    return [_pack_bits((cut >> plane) & 1).view("<u8") for plane in range(QUERY_BITS)]


def build_code_matrix(database: Database, model: EmbeddingModel) -> CodeMatrix:
    """Compute the codes from the stored vectors, where none are stored; without vectors that are deleted while it
    reads."""
    import numpy as np

    pairs = np.array(
        database.rows("SELECT key >> 1, embedding FROM vectors WHERE key & 1 = ? ORDER BY key", (model.slot,)),
        np.int64,
    ).reshape(-1, 2)
    rows = np.zeros((len(pairs), 2 * code_width(model.dimension) // WORD_BITS), np.uint64)
    there = np.zeros(len(pairs), bool)
    for start in range(0, len(pairs), CODES_PER_WRITE):
        embeddings = pairs[start : start + CODES_PER_WRITE, 1].tolist()
        vectors = read_embeddings(database, pairs[start : start + CODES_PER_WRITE, 1])
        if not vectors:
            continue
        found = start + np.flatnonzero([id in vectors for id in embeddings])
        stacked = np.stack([vectors[id] for id in embeddings if id in vectors])
        rows[found] = encode_vectors(stacked, model.mean).view("<u8")
        there[found] = True
    return CodeMatrix(pairs[there, 0], rows[there])


def read_embeddings(database: Database, embeddings: PassageIds) -> dict[int, Vector]:
    """Return the stored vectors with these row ids."""
    import numpy as np

    found = database.rows(
        "SELECT e.id, e.vector FROM carray(?) c JOIN embeddings e ON e.id = c.value",
        (bind_integers(embeddings),),
    )
    return {id: np.frombuffer(vector, "<f4") for id, vector in found}


if TYPE_CHECKING:
    PackedCodes = NDArray[np.uint8]

NUMPY_BACKEND, VEC0_BACKEND = "numpy", "vec0"
# low bits of a record's number within one block: some 50 KB a block at 384 dimensions
BLOCK_RECORD_BITS = 10
# most results of one `vec0` query
MAX_VEC0_RESULTS = 4_096
# number of candidates that are compared exactly at first, and the larger numbers where filters leave too few; `vec0`
# takes ten times as long for 2,000 as for 400
CANDIDATE_STEPS = {NUMPY_BACKEND: (2_000, 16_000, 128_000), VEC0_BACKEND: (400, MAX_VEC0_RESULTS)}
# of so many vectors, so many candidates hold all of the nearest ten and 96 % of the hundred
FEW_VECTORS, FEW_VECTORS_CANDIDATES = 50_000, 1_000
VECTOR_SLOTS = (0, 1)


class CodeStore(Protocol):
    """A backend that stores the codes of a slot's vectors, or their signs alone. Methods run inside `write`; `ids` are
    passage ids."""

    name: str
    # for each number of a vector
    bits: int

    def create_store(self, write: Transaction, model: EmbeddingModel) -> None:
        """Make an empty store."""

    def put_codes(self, write: Transaction, slot: int, ids: PassageIds, packed: PackedCodes) -> None:
        """Store codes (`encode_vectors`); codes that have the same ids are replaced."""

    def discard_codes(self, write: Transaction, slot: int, ids: PassageIds) -> None:
        """Delete the codes with these ids."""

    def drop_store(self, write: Transaction, slot: int) -> None:
        """Delete the store; no byte of it remains."""


class BlockCodeStore:
    """Stores codes in blocks of the table `vector_blocks`."""

    name = NUMPY_BACKEND
    bits = 2

    def create_store(self, write: Transaction, model: EmbeddingModel) -> None:
        self.drop_store(write, model.slot)

    def drop_store(self, write: Transaction, slot: int) -> None:
        write.execute("DELETE FROM vector_blocks WHERE id & 1 = ?", (slot,))

    def put_codes(self, write: Transaction, slot: int, ids: PassageIds, packed: PackedCodes) -> None:
        self._change_blocks(write, slot, ids, packed)

    def discard_codes(self, write: Transaction, slot: int, ids: PassageIds) -> None:
        self._change_blocks(write, slot, ids, None)

    def _change_blocks(self, write: Transaction, slot: int, ids: PassageIds, packed: PackedCodes | None) -> None:
        """Replace or delete the codes with these ids, block by block."""
        import numpy as np

        blocks = (ids >> (BLOCK_RECORD_BITS + 4)) << 4 | (ids & 15)
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
    def read_matrix(database: Database, model: EmbeddingModel) -> CodeMatrix:
        """Read all codes of a model. Call it in a read transaction."""
        import numpy as np

        rows = database.rows("SELECT ids, signs FROM vector_blocks WHERE id & 1 = ? ORDER BY id", (model.slot,))
        codes = np.frombuffer(b"".join(row[1] for row in rows), "<u8")
        return CodeMatrix(
            np.frombuffer(b"".join(row[0] for row in rows), "<i8"),
            codes.reshape(-1, BlockCodeStore.bits * code_width(model.dimension) // 64),
        )


class Vec0CodeStore:
    """Stores signs in a table of the extension `vec0`, which must be loaded (`load_vec0`) for all methods but
    `drop_store`."""

    name = VEC0_BACKEND
    bits = 1

    def create_store(self, write: Transaction, model: EmbeddingModel) -> None:
        self.drop_store(write, model.slot)
        columns = f"id integer primary key, bits bit[{code_width(model.dimension)}]"
        write.execute(f"CREATE VIRTUAL TABLE {_vec0_table(model.slot)} USING vec0({columns})")

    def drop_store(self, write: Transaction, slot: int) -> None:
        """Drop the table; where the extension cannot be loaded, empty it instead."""
        name = _vec0_table(slot)
        if write.first("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)) is None:
            return
        if load_vec0(write.database.connection):
            write.execute(f"DROP TABLE {name}")
            return
        parts = write.rows("SELECT name FROM sqlite_schema WHERE name GLOB ?", (f"{name}_*",))
        for (part,) in list(parts):
            if not part.endswith("_info"):
                write.execute(f'DELETE FROM "{part}"')

    def put_codes(self, write: Transaction, slot: int, ids: PassageIds, packed: PackedCodes) -> None:
        self.discard_codes(write, slot, ids)
        for id, row in zip(ids.tolist(), _first_halves(packed), strict=True):
            write.execute(f"INSERT INTO {_vec0_table(slot)}(id, bits) VALUES (?, vec_bit(?))", (id, row.tobytes()))

    def discard_codes(self, write: Transaction, slot: int, ids: PassageIds) -> None:
        # `vec0` cannot replace a row
        for id in ids.tolist():
            write.execute(f"DELETE FROM {_vec0_table(slot)} WHERE id = ?", (id,))

    @staticmethod
    def find_candidates(
        database: Database,
        model: EmbeddingModel,
        vector: Vector,
        count: int,
        among: PassageIds | None,
        kinds: Collection[int] | None,
    ) -> PassageIds:
        """Return what `CodeMatrix.candidates` returns, at most MAX_VEC0_RESULTS ids."""
        import numpy as np

        where, parameters = "", list[object]()
        if among is not None:
            where, parameters = " AND id IN (SELECT value FROM carray(?))", [bind_integers(among)]
        if kinds is not None:
            listed = ", ".join(map(str, sorted(kinds)))
            where += (
                f" AND id IN (SELECT key >> 1 FROM vectors WHERE key & 1 = ? AND (key >> 1) & 15 IN ({listed}))"
            )
            parameters.append(model.slot)
        rows = database.column(
            f"SELECT id FROM {_vec0_table(model.slot)} WHERE bits MATCH vec_bit(?) AND k = ?{where} ORDER BY distance",
            (
                _first_halves(encode_vectors(vector[None], model.mean))[0].tobytes(),
                min(count, MAX_VEC0_RESULTS),
                *parameters,
            ),
        )
        return np.array(rows, np.int64)


BLOCK_CODE_STORE, VEC0_CODE_STORE = BlockCodeStore(), Vec0CodeStore()
CODE_STORES: tuple[CodeStore, ...] = (BLOCK_CODE_STORE, VEC0_CODE_STORE)


def choose_code_store(connection: apsw.Connection, name: str) -> CodeStore:
    """Return the backend for the setting `name`; `numpy` where `vec0` cannot be loaded."""
    return VEC0_CODE_STORE if name == VEC0_BACKEND and load_vec0(connection) else BLOCK_CODE_STORE


def load_vec0(connection: apsw.Connection) -> bool:
    """Load `vec0` into this connection and return whether it is there. It comes from the package sqlite-vec, which is
    located without importing it (74 ms)."""
    if is_part_disabled("vec0"):
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


def _first_halves(codes: PackedCodes) -> PackedCodes:
    """Return the first half of each code."""
    return codes[:, : codes.shape[1] // 2]


def _vec0_table(slot: int) -> str:
    """Return the name of the table of a slot."""
    return f"vector_bits_{slot}"


# whether they are up to date ----------------------------------------------------------------------------------------


def codes_marker_key(slot: int) -> str:
    """Return the key in `meta` for the backend of a slot and the change number that its codes are up to date with."""
    return f"embedding.bits.{slot}"


def codes_marker_value(keeper: CodeStore, model: EmbeddingModel, change: int) -> str:
    """Return the value under `codes_marker_key` when this backend has the codes of `model` at that change number."""
    return f"{keeper.name} {keeper.bits * code_width(model.dimension)} {change}"


def drop_codes(write: Transaction, slots: Iterable[int] = VECTOR_SLOTS) -> None:
    """Delete all codes of these slots, leaving no byte; the next indexing computes them again from the vectors."""
    for slot in slots:
        for one in CODE_STORES:
            one.drop_store(write, slot)
        write.set_meta(codes_marker_key(slot), "")


def forget_deleted_codes(write: Transaction) -> None:
    """Delete the codes of deleted vectors, leaving no byte, as part of a purge."""
    if write.first("SELECT 1 FROM sqlite_schema WHERE name GLOB 'vector_bits_[01]'") is not None:
        # cheaper than searching through `vec0`, and works where it cannot be loaded
        drop_codes(write)
        return
    if write.first("SELECT 1 FROM vector_blocks LIMIT 1") is None:
        return
    import numpy as np

    for key, ids in write.database.rows("SELECT id, ids FROM vector_blocks"):
        held = np.frombuffer(ids, "<i8")
        there = write.database.column(
            "SELECT v.key >> 1 FROM carray(?) c JOIN vectors v ON v.key = c.value",
            (bind_integers(held * 2 + (key & 1)),),
        )
        deleted = held[~np.isin(held, there)]
        if len(deleted):
            BLOCK_CODE_STORE.discard_codes(write, key & 1, deleted)
