"""The vectors of a memory: nearest-neighbour search, the state of the index, the serving model."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from store.base.cancelling import Cancelled, never
from store.database.database import Database, Transaction
from store.database.integer_list import integers
from store.embedding import binary_index, model_registry, vector_backends
from store.embedding.model_registry import EmbeddingModel
from store.embedding.provider import EmbeddingError, Provider

if TYPE_CHECKING:
    from store.embedding.indexer import Indexed
    from store.embedding.provider import Vector

ROUGH = 1e-5  # upper bound of the error of a cosine computed with 32-bit floats
OPEN = 3  # memories whose codes are cached at once


@dataclass(frozen=True, slots=True)
class Status:
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


def _quiet(*arguments: object) -> None:
    """Ignore the arguments."""


# cache of codes, shared by all threads: (device, inode) of the file → (fingerprint, change number, matrix)
_loaded: dict[tuple[int, int], tuple[str, int, binary_index.Matrix]] = {}
_loading = Lock()


class Vectors:
    """The vectors of one memory, over its connection. Cheap to create; the cache of codes belongs to the process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def serving(self) -> EmbeddingModel | None:
        """The model whose vectors are searched: a query must be embedded by a provider with its fingerprint."""
        return model_registry.serving(self._database)

    @property
    def stamp(self) -> str:
        """The stamp of the weights that were verified when vectors were last computed here; for
        `provider_selection.open`."""
        return model_registry.noted(self._database, model_registry.STAMP)

    def matches(self, provider: Provider) -> bool:
        """Return whether this provider's queries can be compared with the stored vectors."""
        model = self.serving
        return model is not None and model.fingerprint == provider.fingerprint

    def nearest(self, vector: "Vector", limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return the passage ids nearest to a vector of the serving model, and their cosines, nearest first.

        Cosines are exact; which ids are compared is decided by codes, so that among many thousands a few of the nearest
        hundred may be missing (see `binary_index`). `among` restricts to these ids. Raise EmbeddingError for a vector
        of another size.
        """
        return self.exact(vector, self.candidates(vector, max(self.steps[0], 2 * limit), among), limit)

    def candidates(
        self,
        vector: "Vector",
        count: int,
        among: Collection[int] | None = None,
        kinds: Collection[int] | None = None,
    ) -> "binary_index.Ids":
        """Return the passage ids of the `count` vectors nearest by their codes, the best first. `among` restricts to
        these ids, `kinds` to these numbers of kinds (`record_keys`). Raise EmbeddingError for a vector of another
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
        if self.in_vec0(model):
            return vector_backends.IN_VEC0.nearest(self._database, model, vector, count, chosen, kinds)
        return self.codes(model).candidates(vector, model.mean, count, chosen, kinds)

    def exact(
        self, vector: "Vector", ids: "binary_index.Ids", limit: int, read: "dict[int, Vector] | None" = None
    ) -> list[tuple[int, float]]:
        """Return the `limit` nearest of these passage ids by their stored vectors, and their cosines. Add the vectors
        read to `read`, if given, so that the caller need not read them again."""
        import numpy as np

        model = self.serving
        if model is None or limit <= 0 or not len(ids):
            return []
        ids = np.sort(ids)  # adjacent rows are on the same pages of the file
        # a row deleted or changed since the codes were read is not in `vectors`, and so never found
        rows = self._database.rows(
            "SELECT c.value >> 1, e.vector FROM carray(?) c JOIN vectors v ON v.key = c.value"
            " JOIN embeddings e ON e.id = v.embedding WHERE length(e.vector) = ?",
            (integers(ids * 2 + model.slot), 4 * model.dimension),
        )
        if not rows:
            return []
        stored = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), model.dimension)
        rough = stored @ vector.astype("<f4")
        best = np.arange(len(rows))
        if len(rows) > limit:
            best = np.flatnonzero(rough >= np.partition(rough, -limit)[-limit] - ROUGH)
        # in 64 bits and rounded to six digits, so that a cosine does not depend on the other rows of the product
        cosines = np.round(stored[best].astype(np.float64) @ vector.astype(np.float64), 6)
        found = np.array([row[0] for row in rows], np.int64)[best]
        order = np.lexsort((found, -cosines))[:limit]
        if read is not None:
            read.update((int(found[place]), stored[best[place]]) for place in order)
        return list(zip(found[order].tolist(), np.clip(cosines[order], -1.0, 1.0).tolist(), strict=True))

    @property
    def steps(self) -> tuple[int, ...]:
        """The number of candidates compared exactly at first (`binary_index` says how many of the nearest are among
        them), and the larger numbers for filters that leave too few."""
        model = self.serving
        if model is not None and self.in_vec0(model):
            return vector_backends.STEPS[vector_backends.VEC0]
        first, *more = vector_backends.STEPS[vector_backends.NUMPY]
        few = model is not None and len(self.codes(model).ids) <= vector_backends.FEW
        return vector_backends.FEWER if few else first, *more

    def warm(self) -> None:
        """Load what `nearest` needs; on a worker thread: 5 ms at 100,000 vectors, 200 ms at a million."""
        model = self.serving
        if model is not None and not self.in_vec0(model):
            self.codes(model)

    def in_vec0(self, model: EmbeddingModel) -> bool:
        """Return whether `vec0` searches, so that no codes are needed in memory."""
        there = vector_backends.kept(vector_backends.IN_VEC0, model, model_registry.changes(self._database))
        marked = model_registry.noted(self._database, vector_backends.marker(model.slot)) == there
        return marked and vector_backends.load(self._database.connection)

    def codes(self, model: EmbeddingModel) -> binary_index.Matrix:
        """Return the codes as of the last change of the vectors by any process; may be read on any thread."""
        try:
            status = os.stat(self._database.path)
            key = status.st_dev, status.st_ino
        except OSError:
            key = 0, 0
        with _loading:
            known = _loaded.pop(key, None)
        current = known and known[:2] == (model.fingerprint, model_registry.changes(self._database))
        if not known or not current:
            known = self._load(model)
        with _loading:
            _loaded[key] = known
            while len(_loaded) > OPEN:
                del _loaded[next(iter(_loaded))]
        return known[2]

    def _load(self, model: EmbeddingModel) -> tuple[str, int, binary_index.Matrix]:
        """Read the packed blocks in one snapshot if they are up to date; else compute the codes from the vectors, which
        takes long and so is not done in a transaction: a change meanwhile counts as later."""
        with self._database.read_snapshot():
            change = model_registry.changes(self._database)
            marker = model_registry.noted(self._database, vector_backends.marker(model.slot))
            if marker == vector_backends.kept(vector_backends.BLOCKS, model, change):
                return model.fingerprint, change, vector_backends.BLOCKS.read(self._database, model)
        return model.fingerprint, change, binary_index.scan(self._database, model)

    def pending(self) -> tuple[int, int]:
        """Return (number of passages waiting to be embedded, number of passages that get a vector)."""
        waiting = self._database.value("SELECT count(*) FROM embedding_queue")
        return waiting, self._database.value("SELECT count(*) FROM passage_ranks")

    def status(self) -> Status:
        found = model_registry.models(self._database)
        serving = next((model.fingerprint for model in found if model.serving), "")
        building = next((model.fingerprint for model in found if not model.serving), "")
        left, total = self.pending()
        refused = len(model_registry.refused(self._database))
        return Status(
            serving, building, left, total, refused, model_registry.noted(self._database, model_registry.ERROR)
        )

    def index(
        self,
        provider: Provider,
        progress: Callable[[int, int], None] = _quiet,
        cancelled: Cancelled = never,
        trouble: Callable[[str], None] = _quiet,
        by: str = vector_backends.NUMPY,
    ) -> "Indexed | None":
        """Embed the queued passages: see `indexer.index`."""
        from store.embedding.indexer import index

        return index(self._database, provider, progress, cancelled, trouble, by)

    def rebuild(self) -> int:
        """Delete all vectors and queue everything: see `indexer.rebuild`."""
        from store.embedding.indexer import rebuild

        return rebuild(self._database)

    def forget_cache(self, write: Transaction) -> int:
        """Delete the vectors of texts that are no longer in the memory, as part of a purge; return how many there were.

        A vector reveals much of its text. Call it after the records themselves are deleted.
        """
        from store.embedding.indexer import forget_cache

        return forget_cache(write)
