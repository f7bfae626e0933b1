"""First stage of the vector search: candidates by the signs of the vectors' numbers.

A vector takes 48 bytes instead of 1,536: one bit for each number, set where it is above the model's mean. The query is
quantized less, to four bits a number: of 900 e5 vectors of conversations, the best 200 candidates then contain .94 of
the nearest hundred, against .75 with signs on both sides; of 100,000 vectors made from them with noise, the best 2,000
contain .97, against .85. Candidates are compared exactly afterwards (`vectors`), so this index may be out of date.

The signs of all vectors are held in memory as a matrix, read from where they are stored packed (`vector_backends`).
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from store.database.database import Database
from store.database.integer_list import integers
from store.embedding.model_registry import EmbeddingModel

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.provider import Vector

    Ids = NDArray[np.int64]
    Words = NDArray[np.uint64]

WORD = 64
PLANES = 4  # bits to which each number of a query is quantized
CENTRE = 0.5  # share of the mean that is subtracted from a query before that
BLOCK = 32_768  # vectors compared at once
FILL = 5_000  # vectors whose signs are computed at once and stored in one transaction of some 50 ms


def width(dimension: int) -> int:
    """Return the number of bits of a vector's signs, rounded up to whole 64-bit words."""
    return -(-dimension // WORD) * WORD


def signs(vectors: "NDArray[np.float32]", mean: bytes) -> "NDArray[np.uint8]":
    """Return one row of packed bytes (uint8) for each row of `vectors`: a bit is set where the number is above the
    mean, the lowest bit first."""
    import numpy as np

    return _pack(vectors > np.frombuffer(mean, "<f4"))


def _pack(ones: "NDArray[Any]") -> "NDArray[np.uint8]":
    """Pack booleans into bits, whole words along the last axis."""
    import numpy as np

    packed = np.packbits(ones, axis=-1, bitorder="little")
    missing = width(ones.shape[-1]) // 8 - packed.shape[-1]
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, missing)]) if missing else packed


class Matrix:
    """The signs of many vectors, stored by columns of words, so that a search reads memory sequentially. `ids` are the
    passage ids in the order of the rows."""

    __slots__ = ("above", "columns", "ids")

    def __init__(self, ids: "Ids", rows: "Words") -> None:
        import numpy as np

        self.ids = ids
        self.columns = np.ascontiguousarray(rows.T)
        self.above = self._common(np.full(len(self.columns), ~np.uint64(0)), self.columns)

    def candidates(
        self,
        query: "Vector",
        mean: bytes,
        count: int,
        among: "Ids | None" = None,
        kinds: Collection[int] | None = None,
    ) -> "Ids":
        """Return the ids of the `count` vectors nearest to `query` by their signs, the best first. `among` restricts to
        these ids, `kinds` to these numbers of kinds (`record_keys`)."""
        import numpy as np

        ids, columns, above = self.ids, self.columns, self.above
        if among is not None or kinds is not None:
            passing = np.ones(len(ids), bool) if among is None else np.isin(ids, among)
            if kinds is not None:
                passing &= np.isin(ids & 15, list(kinds))
            chosen = np.flatnonzero(passing)
            ids, columns, above = ids[chosen], columns[:, chosen], above[chosen]
        # score: the sum of the query's numbers where the vector has a one, minus those where it has a zero, as integers
        # computed by blocks, as a block fits in the processor's cache: a million vectors take 22 ms instead of 49
        score = np.multiply(above, -((1 << PLANES) - 1), dtype=np.int32)
        planes = _planes(query, mean)
        for start in range(0, len(ids), BLOCK):
            block = columns[:, start : start + BLOCK]
            for plane, words in enumerate(planes):
                score[start : start + BLOCK] += self._common(words, block).astype(np.int32) << (plane + 1)
        best = np.argpartition(-score, count)[:count] if len(ids) > count else np.arange(len(ids))
        found: Ids = ids[best[np.argsort(-score[best], kind="stable")]]
        return found

    @staticmethod
    def _common(words: "Words", columns: "Words") -> "NDArray[np.uint16]":
        """Return the number of ones that each row shares with `words`."""
        import numpy as np

        shared = np.zeros(columns.shape[1], np.uint16)
        both, ones = np.empty(columns.shape[1], np.uint64), np.empty(columns.shape[1], np.uint8)
        for column, word in zip(columns, words, strict=True):
            np.bitwise_and(column, word, out=both)
            shared += np.bitwise_count(both, out=ones)
        return shared


def _planes(query: "Vector", mean: bytes) -> "list[Words]":
    """Return a query quantized to PLANES bits a number, as bit planes, the lowest first. The range is symmetric around
    CENTRE times the mean; numbers beyond the 99 % quantile are clipped."""
    import numpy as np

    numbers = query - np.float32(CENTRE) * np.frombuffer(mean, "<f4")
    reach = max(float(np.quantile(np.abs(numbers), 0.99)), 1e-9)
    levels = (1 << PLANES) - 1
    cut = np.clip(np.rint((numbers + reach) * levels / (2 * reach)), 0, levels).astype(np.uint8)
    return [_pack((cut >> plane) & 1).view("<u8") for plane in range(PLANES)]


def scan(database: Database, model: EmbeddingModel) -> Matrix:
    """Compute the signs from the stored vectors, where none are stored; without vectors that are deleted while it
    reads."""
    import numpy as np

    pairs = np.array(
        database.rows("SELECT key >> 1, embedding FROM vectors WHERE key & 1 = ? ORDER BY key", (model.slot,)), np.int64
    ).reshape(-1, 2)
    rows = np.zeros((len(pairs), width(model.dimension) // WORD), np.uint64)
    there = np.zeros(len(pairs), bool)
    for start in range(0, len(pairs), FILL):
        embeddings = pairs[start : start + FILL, 1].tolist()
        vectors = fetch(database, pairs[start : start + FILL, 1])
        if not vectors:
            continue
        found = start + np.flatnonzero([id in vectors for id in embeddings])
        stacked = np.stack([vectors[id] for id in embeddings if id in vectors])
        rows[found] = signs(stacked, model.mean).view("<u8")
        there[found] = True
    return Matrix(pairs[there, 0], rows[there])


def fetch(database: Database, embeddings: "Ids") -> "dict[int, Vector]":
    """Return the stored vectors with these row ids."""
    import numpy as np

    found = database.rows(
        "SELECT e.id, e.vector FROM carray(?) c JOIN embeddings e ON e.id = c.value",
        (integers(embeddings),),
    )
    return {id: np.frombuffer(vector, "<f4") for id, vector in found}
