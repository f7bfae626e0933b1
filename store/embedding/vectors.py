"""The vectors of a memory: nearest-neighbour search, the state of the index, the serving model."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from store.base.runtime import IsCancelled, never_cancelled
from store.database.connection import bind_integers
from store.database.database import Database
from store.database.values import Verbatim
from store.embedding import vector_codes
from store.embedding.indexer import IndexResult, embed_queued_passages, rebuild_vectors
from store.embedding.model_registry import (
    EMBEDDING_ERROR_KEY,
    WEIGHTS_STAMP_KEY,
    EmbeddingModel,
    find_serving_model,
    list_embedding_models,
    list_refused_passages,
    read_vector_changes,
)
from store.embedding.provider import EmbeddingError, EmbeddingProvider
from store.embedding.vector_codes import (
    BLOCK_CODE_STORE,
    FEW_VECTORS_CANDIDATES,
    NUMPY_BACKEND,
    VEC0_BACKEND,
    VEC0_CODE_STORE,
    CodeMatrix,
    build_code_matrix,
    codes_marker_key,
    codes_marker_value,
    load_vec0,
)
from store.text.language import detect_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.embedding.provider import Vector
    from store.embedding.vector_codes import PassageIds


# The memory's own vector space: what all vectors have in common is reduced, so that differences count.
#
# The vectors of one memory are close together, in one cluster for each language: the mean of the language is
# subtracted, and directions of high variance are shrunk (a light whitening). Cosines in this space found 64 % of
# LoCoMo's evidence among ten hits where plain ones found 53 %, with the largest gain in multi-hop questions; strong
# whitening, or another memory's statistics, find less than plain cosines. The space is derived data: the worker
# computes it, and again when the number of vectors has changed by a tenth.

if TYPE_CHECKING:
    FloatMatrix = NDArray[np.float32]

# each direction is divided by its variance to this power; .5 would be full whitening
WHITENING_POWER = 0.125
# number of a language's vectors at which its own mean has half the weight of its centre
STEADY_COUNT = 20
# least vectors for a space
MIN_SPACE_VECTORS = 20
SPACE_SAMPLE = 10_000
REFRESH_GROWTH = 1.1
SPACE_LANGUAGES = ("", "en", "es")


class MeanRemoval:
    """`centres`, one row for each of SPACE_LANGUAGES, and `turn`, the square matrix that shrinks directions; both of
    the model's dimension."""

    def __init__(self, centres: FloatMatrix, turn: FloatMatrix) -> None:
        self._centres = centres
        self._turn = turn

    def move_vectors(self, vectors: FloatMatrix, languages: Sequence[str]) -> FloatMatrix:
        """Return vectors (one a row) of texts in these languages, moved into this space and of unit length."""
        import numpy as np

        moved = (vectors - self._centres[[SPACE_LANGUAGES.index(one) for one in languages]]) @ self._turn
        unit: FloatMatrix = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        return unit


def load_vector_space(database: Database, slot: int, fingerprint: str, dimension: int) -> MeanRemoval | None:
    """Return the space of the vectors in this slot; None where it has not been computed."""
    row = database.row(
        "SELECT centres, turn FROM meaning_space WHERE slot = ? AND fingerprint = ?", (slot, fingerprint)
    )
    if row is None:
        return None
    import numpy as np

    return MeanRemoval(
        np.frombuffer(row[0], "<f4").reshape(len(SPACE_LANGUAGES), dimension),
        np.frombuffer(row[1], "<f4").reshape(dimension, dimension),
    )


def refresh_vector_space(database: Database) -> bool:
    """Compute the space of the serving model if the number of vectors has changed by a tenth since the last time;
    return whether it did. Takes a fraction of a second, outside any transaction but the final write."""
    model = find_serving_model(database)
    if model is None or database.read_only:
        return False
    count = database.value("SELECT count(*) FROM vectors WHERE key & 1 = ?", (model.slot,))
    before = database.value(
        "SELECT vectors FROM meaning_space WHERE slot = ? AND fingerprint = ?", (model.slot, model.fingerprint)
    )
    if count < MIN_SPACE_VECTORS or (
        before is not None and before / REFRESH_GROWTH < count < before * REFRESH_GROWTH
    ):
        return False
    step = max(1, count // SPACE_SAMPLE)
    rows = database.rows(
        "SELECT e.vector, c.title || char(10) || substr(c.text, p.start + 1, p.end - p.start) FROM ("
        "SELECT key, embedding, row_number() OVER (ORDER BY key)"
        " AS n FROM vectors WHERE key & 1 = :slot) v JOIN embeddings e ON e.id = v.embedding"
        " JOIN passages p ON p.id = v.key >> 1 JOIN corpus c ON c.id = p.row"
        " WHERE v.n % :step = 0 AND length(e.vector) = :size",
        {"slot": model.slot, "step": step, "size": 4 * model.dimension},
    )
    if len(rows) < MIN_SPACE_VECTORS:
        return False
    centres, turn = _space_statistics([vector for vector, _ in rows], [detect_language(text) for _, text in rows])
    with database.write("agent", "index") as write:
        write.execute("DELETE FROM meaning_space WHERE slot = ?", (model.slot,))
        write.insert(
            "meaning_space",
            slot=model.slot,
            fingerprint=Verbatim(model.fingerprint),
            vectors=count,
            centres=centres,
            turn=turn,
        )
    return True


def build_vector_space(blobs: Sequence[bytes], languages: Sequence[str]) -> MeanRemoval:
    """Return the space of these vectors (32-bit floats each) of texts in these languages, without storing it: for
    benchmarks."""
    import numpy as np

    size = len(blobs[0]) // 4
    centres, turn = (np.frombuffer(blob, "<f4").reshape(-1, size) for blob in _space_statistics(blobs, languages))
    return MeanRemoval(centres, turn)


def _space_statistics(blobs: Sequence[bytes], languages: Sequence[str]) -> tuple[bytes, bytes]:
    """Return (centres, turn) of these vectors, in their stored form."""
    import numpy as np

    vectors = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
    centre = vectors.mean(axis=0)
    centres = [centre]
    for name in SPACE_LANGUAGES[1:]:
        mine = vectors[[one == name for one in languages]]
        centres.append((mine.sum(axis=0) + STEADY_COUNT * centre) / (len(mine) + STEADY_COUNT))
    variances, axes = np.linalg.eigh(np.cov((vectors - centre).T.astype(float)))
    variances = np.maximum(variances, 0)
    scale = (variances + variances.mean() + 1e-12) ** -WHITENING_POWER
    turn = (axes * scale) @ axes.T
    return np.stack(centres).astype("<f4").tobytes(), turn.astype("<f4").tobytes()


# upper bound of the error of a cosine computed with 32-bit floats
MAX_COSINE_ERROR = 1e-5
# memories whose codes are cached at once
MAX_CACHED_MATRICES = 3


class VectorStatus(NamedTuple):
    """The state of the vectors. `serving` and `building` are fingerprints, "" for none; `left` of `total` passages
    wait; `refused` is the number that could not be embedded; `error` is the last error of the background work, "" after
    a good run."""

    serving: str
    building: str
    left: int
    total: int
    refused: int
    error: str

    @property
    def provider(self) -> str:
        """Name of the provider whose vectors are searched."""
        return self.serving.partition(" ")[0]

    @property
    def model(self) -> str:
        return [*self.serving.split(" "), ""][1]


def _ignore(*arguments: object) -> None:
    """Ignore the arguments."""


# cache of codes, shared by all threads: (device, inode) of the file → (fingerprint, change number, matrix)
_matrix_cache: dict[tuple[int, int], tuple[str, int, CodeMatrix]] = {}
_matrix_lock = Lock()


class Vectors:
    """The vectors of one memory, over its connection. Cheap to create; the cache of codes belongs to the process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def serving(self) -> EmbeddingModel | None:
        """The model whose vectors are searched: a query must be embedded by a provider with its fingerprint."""
        return find_serving_model(self._database)

    @property
    def stamp(self) -> str:
        """The stamp of the weights that were verified when vectors were last computed here; for `choose_provider`."""
        return self._database.get_meta(WEIGHTS_STAMP_KEY)

    def matches(self, provider: EmbeddingProvider) -> bool:
        """Return whether this provider's queries can be compared with the stored vectors."""
        model = self.serving
        return model is not None and model.fingerprint == provider.fingerprint

    def nearest(self, vector: Vector, limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return the passage ids nearest to a vector of the serving model, and their cosines, nearest first.

        Cosines are exact; which ids are compared is decided by codes, so that among many thousands a few of the nearest
        hundred may be missing (see `CodeMatrix`). `among` restricts to these ids. Raise EmbeddingError for a vector
        of another size.
        """
        return self.compare_exactly(
            vector, self.candidates(vector, max(self.candidate_steps[0], 2 * limit), among), limit
        )

    def candidates(
        self,
        vector: Vector,
        count: int,
        among: Collection[int] | None = None,
        kinds: Collection[int] | None = None,
    ) -> PassageIds:
        """Return the passage ids of the `count` vectors nearest by their codes, the best first. `among` restricts to
        these ids, `kinds` to these numbers of kinds (`KIND_NUMBERS`). Raise EmbeddingError for a vector of another
        size."""
        import numpy as np

        model = self.serving
        if model is None or count <= 0 or (among is not None and not among):
            return np.empty(0, np.int64)
        if vector.shape != (model.dimension,):
            raise EmbeddingError(
                f"A vector of {vector.size} numbers cannot be compared with those of {model.fingerprint}."
            )
        chosen = None if among is None else np.fromiter(among, np.int64, len(among))
        if self.is_in_vec0(model):
            return VEC0_CODE_STORE.find_candidates(self._database, model, vector, count, chosen, kinds)
        return self.code_matrix(model).candidates(vector, model.mean, count, chosen, kinds)

    def compare_exactly(
        self, vector: Vector, ids: PassageIds, limit: int, read: dict[int, Vector] | None = None
    ) -> list[tuple[int, float]]:
        """Return the `limit` nearest of these passage ids by their stored vectors, and their cosines. Add the vectors
        read to `read`, if given, so that the caller need not read them again."""
        import numpy as np

        model = self.serving
        if model is None or limit <= 0 or not len(ids):
            return []
        # adjacent rows are on the same pages of the file
        ids = np.sort(ids)
        # a row deleted or changed since the codes were read is not in `vectors`, and so never found
        rows = self._database.rows(
            "SELECT c.value >> 1, e.vector FROM carray(?) c JOIN vectors v ON v.key = c.value"
            " JOIN embeddings e ON e.id = v.embedding WHERE length(e.vector) = ?",
            (bind_integers(ids * 2 + model.slot), 4 * model.dimension),
        )
        if not rows:
            return []
        stored = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), model.dimension)
        rough = stored @ vector.astype("<f4")
        best = np.arange(len(rows))
        if len(rows) > limit:
            best = np.flatnonzero(rough >= np.partition(rough, -limit)[-limit] - MAX_COSINE_ERROR)
        # in 64 bits and rounded to six digits, so that a cosine does not depend on the other rows of the product
        cosines = np.round(stored[best].astype(np.float64) @ vector.astype(np.float64), 6)
        found = np.array([row[0] for row in rows], np.int64)[best]
        order = np.lexsort((found, -cosines))[:limit]
        if read is not None:
            read.update((int(found[place]), stored[best[place]]) for place in order)
        return list(zip(found[order].tolist(), np.clip(cosines[order], -1.0, 1.0).tolist(), strict=True))

    @property
    def candidate_steps(self) -> tuple[int, ...]:
        """The number of candidates compared exactly at first (`CANDIDATE_STEPS` says how many of the nearest are among
        them), and the larger numbers for filters that leave too few."""
        model = self.serving
        if model is not None and self.is_in_vec0(model):
            return vector_codes.CANDIDATE_STEPS[VEC0_BACKEND]
        first, *more = vector_codes.CANDIDATE_STEPS[NUMPY_BACKEND]
        few = model is not None and len(self.code_matrix(model).ids) <= vector_codes.FEW_VECTORS
        return FEW_VECTORS_CANDIDATES if few else first, *more

    def is_in_vec0(self, model: EmbeddingModel) -> bool:
        """Return whether `vec0` searches, so that no codes are needed in memory."""
        there = codes_marker_value(VEC0_CODE_STORE, model, read_vector_changes(self._database))
        marked = self._database.get_meta(codes_marker_key(model.slot)) == there
        return marked and load_vec0(self._database.connection)

    def code_matrix(self, model: EmbeddingModel) -> CodeMatrix:
        """Return the codes as of the last change of the vectors by any process; may be read on any thread."""
        try:
            status = os.stat(self._database.path)
            key = status.st_dev, status.st_ino
        except OSError:
            key = 0, 0
        with _matrix_lock:
            known = _matrix_cache.pop(key, None)
        current = known and known[:2] == (model.fingerprint, read_vector_changes(self._database))
        if not known or not current:
            known = self._load_matrix(model)
        with _matrix_lock:
            _matrix_cache[key] = known
            while len(_matrix_cache) > MAX_CACHED_MATRICES:
                del _matrix_cache[next(iter(_matrix_cache))]
        return known[2]

    def _load_matrix(self, model: EmbeddingModel) -> tuple[str, int, CodeMatrix]:
        """Read the packed blocks in one snapshot if they are up to date; else compute the codes from the vectors, which
        takes long and so is not done in a transaction: a change meanwhile counts as later."""
        with self._database.read_snapshot():
            change = read_vector_changes(self._database)
            marker = self._database.get_meta(codes_marker_key(model.slot))
            if marker == codes_marker_value(BLOCK_CODE_STORE, model, change):
                return model.fingerprint, change, BLOCK_CODE_STORE.read_matrix(self._database, model)
        return model.fingerprint, change, build_code_matrix(self._database, model)

    def pending_counts(self) -> tuple[int, int]:
        """Return (number of passages waiting to be embedded, number of passages that get a vector)."""
        waiting = self._database.value("SELECT count(*) FROM embedding_queue")
        return waiting, self._database.value("SELECT count(*) FROM passage_ranks")

    def read_status(self) -> VectorStatus:
        """Read the state of the vectors."""
        found = list_embedding_models(self._database)
        serving = next((model.fingerprint for model in found if model.serving), "")
        building = next((model.fingerprint for model in found if not model.serving), "")
        left, total = self.pending_counts()
        refused = len(list_refused_passages(self._database))
        return VectorStatus(serving, building, left, total, refused, self._database.get_meta(EMBEDDING_ERROR_KEY))

    def embed_queue(
        self,
        provider: EmbeddingProvider,
        progress: Callable[[int, int], None] = _ignore,
        cancelled: IsCancelled = never_cancelled,
        trouble: Callable[[str], None] = _ignore,
        by: str = NUMPY_BACKEND,
    ) -> IndexResult | None:
        """Embed the queued passages: see `embed_queued_passages`."""
        return embed_queued_passages(self._database, provider, progress, cancelled, trouble, by)

    def rebuild(self) -> int:
        """Delete all vectors and queue everything: see `rebuild_vectors`."""
        return rebuild_vectors(self._database)
