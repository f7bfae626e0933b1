"""Select the pairs of texts worth comparing: pairs that share rare words, and pairs whose vectors are near each other.

Neither compares every pair. Words: two texts that share half of their words share one of the rarest of each (prefix
filtering). Vectors: each is assigned to the nearest few of √n centres, and compared with those of the same centre only;
10,000 facts take some n^1.5 steps, and a pair as similar as a paraphrase is hardly ever missed (bench.duplicates).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from store.embedding.model_registry import EmbeddingModel
from store.embedding.provider import model_prefixes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


if TYPE_CHECKING:
    Matrix = NDArray[np.float32]

MIN_SHARED_PART = 0.5  # of their words, that two texts must share
IDENTIFYING_LETTERS = 5  # letters of a word that identify it
COMMON_WORD_TEXTS = 64  # texts with a word, above which the word selects no pairs
CENTRES_PER_VECTOR = 2  # centres that each vector is assigned to
CENTRE_ROUNDS = 4  # of moving the centres to the mean of their vectors
# Two passages of e5 are more similar than a question and a passage: the medians of the texts of calibration.tsv without
# the mean are .566 and .01, where those of questions would give .486 (bench.duplicates)
BOTH_PASSAGES = 1.165


def find_pairs_by_words(words: Sequence[Iterable[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of texts, by index, that share half of their words or more; the lower index first, each pair once.
    Only the beginning of a word counts, so that its forms are one."""
    sets = [frozenset(word[:IDENTIFYING_LETTERS] for word in one) for one in words]
    often = Counter(word for one in sets for word in one)
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(sets):
        rare = sorted(one, key=lambda word: (often[word], word))
        seen: set[int] = set()
        for word in rare[: len(rare) - int(MIN_SHARED_PART * len(rare) + 0.999) + 1]:
            held = holders.setdefault(word, [])
            if often[word] <= COMMON_WORD_TEXTS:
                seen.update(held)
            held.append(place)
        for other in sorted(seen):
            if len(one & sets[other]) >= MIN_SHARED_PART * max(len(one), len(sets[other])):
                yield other, place


def centre_vectors(vectors: Matrix, model: EmbeddingModel) -> Matrix:
    """Return unit vectors without the mean of all texts: their product is the similarity of two texts."""
    import numpy as np

    moved = vectors - np.frombuffer(model.mean, "<f4")
    lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return np.asarray(moved / lengths, np.float32)


def paraphrase_product(model: EmbeddingModel) -> float:
    """Return the product of two centred vectors that is 1 on the calibrated scale, that of paraphrases; the scale's 0
    is 0.

    With the mean m removed, (cosine - m²) / (1 - m²) is left, and m² is the median of unrelated texts.
    """
    both = BOTH_PASSAGES if model_prefixes(model.fingerprint.split(" ")[1])[0] else 1.0
    return (model.one - model.zero) / (1 - model.zero) * both


def find_pairs_by_vectors(vectors: Matrix, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield (lower index, higher index, product) of centred vectors whose product is `least` or more, each pair
    once."""
    import numpy as np

    count = len(vectors)
    if count < 2:
        return
    centres = _choose_centres(vectors)
    nearest = _nearest_centres(vectors, centres)
    found: dict[tuple[int, int], float] = {}
    for cell in range(len(centres)):
        members = np.flatnonzero((nearest == cell).any(axis=1))
        products = vectors[members] @ vectors[members].T
        rows, columns = np.nonzero(np.triu(products >= least, 1))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            found[int(members[row]), int(members[column])] = float(products[row, column])
    yield from ((one, other, product) for (one, other), product in sorted(found.items()))


def _choose_centres(vectors: Matrix) -> Matrix:
    """Return √n of the vectors, evenly chosen, each moved to the mean of the vectors nearest to it."""
    import numpy as np

    count = max(1, int(len(vectors) ** 0.5))
    centres = vectors[np.linspace(0, len(vectors) - 1, count).astype(np.int64)].copy()
    for _ in range(CENTRE_ROUNDS):
        owner = _nearest_centres(vectors, centres, 1)[:, 0]
        for cell in range(count):
            members = vectors[owner == cell]
            if len(members):
                middle = members.sum(axis=0)
                centres[cell] = middle / max(float(np.linalg.norm(middle)), 1e-9)
    return centres


def _nearest_centres(vectors: Matrix, centres: Matrix, cells: int = CENTRES_PER_VECTOR) -> NDArray[np.int64]:
    """Return the `cells` centres that are nearest to each vector, in no order."""
    import numpy as np

    cells = min(cells, len(centres))
    return np.argpartition(-(vectors @ centres.T), cells - 1, axis=1)[:, :cells]


def group_connected(pairs: Iterable[tuple[int, int]], most: int) -> list[list[int]]:
    """Group indexes that are connected by pairs, the closest pairs first, in groups of at most `most`."""
    home: dict[int, list[int]] = {}
    for one, other in pairs:
        left, right = home.get(one, [one]), home.get(other, [other])
        if left is right or len(left) + len(right) > most:
            continue
        joined = [*left, *right]
        home.update(dict.fromkeys(joined, joined))
    return [list(group) for group in {id(group): sorted(group) for group in home.values()}.values()]
