"""First stage of the vector search: candidates by two bits for each number of a vector.

A vector takes 96 bytes instead of 1,536: one bit says on which side of the model's mean a number lies, the other
whether it is in the upper part of that side, so that four levels are told apart. The query is quantized to four bits a
number. `python -m bench.first_look` says how many of the exact nearest are among the candidates; with one bit a fifth
of the nearest hundred was lost of 100,000. Candidates are compared exactly afterwards (`vectors`), so this index may be
out of date.

The codes of all vectors are held in memory as a matrix, read from where they are stored packed (`vector_backends`).
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
STEP = 0.7  # from the mean to the next level, in standard deviations
BLOCK = 32_768  # vectors compared at once
FILL = 5_000  # vectors whose codes are computed at once and stored in one transaction of some 50 ms


def width(dimension: int) -> int:
    """Return the number of bits of a vector's signs, rounded up to whole 64-bit words. Its code has twice as many."""
    return -(-dimension // WORD) * WORD


def codes(vectors: "NDArray[np.float32]", mean: bytes) -> "NDArray[np.uint8]":
    """Return one row of packed bytes (uint8) for each row of `vectors`, which are of length 1: a bit for each number
    above the mean, the lowest bit first; then a bit for each number in the upper part of its side."""
    import numpy as np

    centre = np.frombuffer(mean, "<f4")
    numbers = vectors - centre
    # the variance of vectors of length 1, in all directions together, is what the mean leaves of it
    step = np.float32(STEP * (max(1e-6, 1.0 - float(centre @ centre)) / len(centre)) ** 0.5)
    signs = numbers > 0
    return np.concatenate([_pack(signs), _pack(np.where(signs, numbers > step, numbers > -step))], axis=-1)


def _pack(ones: "NDArray[Any]") -> "NDArray[np.uint8]":
    """Pack booleans into bits, whole words along the last axis."""
    import numpy as np

    packed = np.packbits(ones, axis=-1, bitorder="little")
    missing = width(ones.shape[-1]) // 8 - packed.shape[-1]
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, missing)]) if missing else packed


class Matrix:
    """The codes of many vectors, stored by columns of words, so that a search reads memory sequentially. `ids` are the
    passage ids in the order of the rows."""

    __slots__ = ("above", "columns", "ids")

    def __init__(self, ids: "Ids", rows: "Words") -> None:
        import numpy as np

        self.ids = ids
        self.columns = np.ascontiguousarray(rows.T)
        self.above = self._weighed(np.full(len(self.columns) // 2, ~np.uint64(0)), self.columns)

    def candidates(
        self,
        query: "Vector",
        mean: bytes,
        count: int,
        among: "Ids | None" = None,
        kinds: Collection[int] | None = None,
    ) -> "Ids":
        """Return the ids of the `count` vectors nearest to `query` by their codes, the best first. `among` restricts to
        these ids, `kinds` to these numbers of kinds (`record_keys`)."""
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
        score = np.multiply(above, -((1 << PLANES) - 1), dtype=np.int32)
        planes = _planes(query, mean)
        for start in range(0, len(ids), BLOCK):
            block = columns[:, start : start + BLOCK]
            for plane, words in enumerate(planes):
                score[start : start + BLOCK] += self._weighed(words, block) << (plane + 1)
        best = np.argpartition(-score, count)[:count] if len(ids) > count else np.arange(len(ids))
        found: Ids = ids[best[np.argsort(-score[best], kind="stable")]]
        return found

    @classmethod
    def _weighed(cls, words: "Words", columns: "Words") -> "NDArray[np.int32]":
        """Return the sum of each row's levels where `words` has a one: the first half of `columns` counts twice."""
        import numpy as np

        half = len(words)
        shared = cls._common(words, columns[:half]).astype(np.int32)
        return (shared << 1) + cls._common(words, columns[half:])

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
    """Compute the codes from the stored vectors, where none are stored; without vectors that are deleted while it
    reads."""
    import numpy as np

    pairs = np.array(
        database.rows("SELECT key >> 1, embedding FROM vectors WHERE key & 1 = ? ORDER BY key", (model.slot,)), np.int64
    ).reshape(-1, 2)
    rows = np.zeros((len(pairs), 2 * width(model.dimension) // WORD), np.uint64)
    there = np.zeros(len(pairs), bool)
    for start in range(0, len(pairs), FILL):
        embeddings = pairs[start : start + FILL, 1].tolist()
        vectors = fetch(database, pairs[start : start + FILL, 1])
        if not vectors:
            continue
        found = start + np.flatnonzero([id in vectors for id in embeddings])
        stacked = np.stack([vectors[id] for id in embeddings if id in vectors])
        rows[found] = codes(stacked, model.mean).view("<u8")
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
