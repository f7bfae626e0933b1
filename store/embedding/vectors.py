"""The vectors of a memory: what is nearest to a question, what is still to be embedded, and by which model."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from store.database.database import Database, Transaction
from store.database.integer_list import integers
from store.embedding import binary_index, model_registry, vector_backends
from store.embedding.model_registry import EmbeddingModel
from store.embedding.provider import EmbeddingError, Provider

if TYPE_CHECKING:
    from store.embedding.indexer import Indexed
    from store.embedding.provider import Vector

ROUGH = 1e-5  # what a cosine of 32-bit numbers may be wrong by, and more
OPEN = 3  # memories whose signs are held at once


@dataclass(frozen=True)
class Status:
    """How the vectors stand. `serving` and `building` are fingerprints, "" for none; `left` of `total` texts wait;
    `refused` could not be embedded; `error` is the last trouble of the background work, "" after a good run."""

    serving: str
    building: str
    left: int
    total: int
    refused: int
    error: str

    @property
    def provider(self) -> str:
        """Whose vectors are searched."""
        return self.serving.partition(" ")[0]

    @property
    def model(self) -> str:
        return [*self.serving.split(" "), ""][1]


def _quiet(*arguments: object) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False


# the signs of the memories that were asked last, for all threads: a file's identity, model and change → its matrix
_loaded: dict[tuple[int, int], tuple[str, int, binary_index.Matrix]] = {}
_loading = Lock()


class Vectors:
    """The vectors of one memory, over its connection. Cheap to make; what is held in memory is held for the process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def serving(self) -> EmbeddingModel | None:
        """The model whose vectors are searched: a question must be embedded by a provider of its fingerprint."""
        return model_registry.serving(self._database)

    @property
    def stamp(self) -> str:
        """Which file of weights was found right when it last made vectors here; for `choice.open`."""
        return model_registry.noted(self._database, model_registry.STAMP)

    def speaks(self, provider: Provider) -> bool:
        """Whether this provider's questions can be compared with what is stored."""
        model = self.serving
        return model is not None and model.fingerprint == provider.fingerprint

    def nearest(self, vector: "Vector", limit: int, among: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The corpus ids nearest to a vector of the serving model, and their cosines, nearest first.

        Cosines are exact; which ids are compared is decided by the signs of the numbers, so that among many thousands
        a few of the hundred nearest may be missing (`bits`). `among` restricts to these corpus ids. Raises
        EmbeddingError for a vector of another size.
        """
        return self.exact(vector, self.candidates(vector, max(self.steps[0], 2 * limit), among), limit)

    def candidates(
        self,
        vector: "Vector",
        count: int,
        among: Collection[int] | None = None,
        kinds: Collection[int] | None = None,
    ) -> "binary_index.Ids":
        """The corpus ids of the `count` vectors that look nearest by their signs, the best first; only those of
        `among`, and of these numbers of kinds (`keys`), if given. Raises EmbeddingError for a vector of another size.
        """
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
        return self.signs(model).candidates(vector, model.mean, count, chosen, kinds)

    def exact(
        self, vector: "Vector", ids: "binary_index.Ids", limit: int, read: "dict[int, Vector] | None" = None
    ) -> list[tuple[int, float]]:
        """The `limit` of these corpus ids that are nearest, by their stored vectors, and their cosines. Their vectors
        are put into `read`, if given, so that nobody reads them twice."""
        import numpy as np

        model = self.serving
        if model is None or limit <= 0 or not len(ids):
            return []
        ids = np.sort(ids)  # neighbours lie on the same pages of the file
        # what is gone or was changed since the signs were read is not in `vectors`, and so never found
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
        # to six digits of 64 bits: the same vectors get the same cosine, whichever others they are compared with
        cosines = np.round(stored[best].astype(np.float64) @ vector.astype(np.float64), 6)
        found = np.array([row[0] for row in rows], np.int64)[best]
        order = np.lexsort((found, -cosines))[:limit]
        if read is not None:
            read.update((int(found[place]), stored[best[place]]) for place in order)
        return list(zip(found[order].tolist(), np.clip(cosines[order], -1.0, 1.0).tolist(), strict=True))

    @property
    def steps(self) -> tuple[int, ...]:
        """How many that look near are compared exactly at first (`bits` says how many of the nearest are among them),
        and how many more are looked at where filters leave too few."""
        model = self.serving
        return vector_backends.STEPS[
            vector_backends.VEC0 if model is not None and self.in_vec0(model) else vector_backends.NUMPY
        ]

    def warm(self) -> None:
        """Load what `nearest` needs, on a thread that may wait: 5 ms at 100,000 vectors, 200 ms at a million."""
        model = self.serving
        if model is not None and not self.in_vec0(model):
            self.signs(model)

    def in_vec0(self, model: EmbeddingModel) -> bool:
        """Whether `vec0` looks for the nearest, so that no signs need be in memory."""
        there = vector_backends.kept(vector_backends.IN_VEC0, model, model_registry.changes(self._database))
        marked = model_registry.noted(self._database, vector_backends.marker(model.slot)) == there
        return marked and vector_backends.load(self._database.connection)

    def signs(self, model: EmbeddingModel) -> binary_index.Matrix:
        """The signs as of the last change of the vectors, by whichever process; to be looked at on any thread."""
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
        """The packed blocks where they are kept up, as of one moment; else of the vectors themselves, which takes long
        and so is no transaction: what changes meanwhile counts as a change after it."""
        with self._database.read_snapshot():
            change = model_registry.changes(self._database)
            marker = model_registry.noted(self._database, vector_backends.marker(model.slot))
            if marker == vector_backends.kept(vector_backends.BLOCKS, model, change):
                return model.fingerprint, change, vector_backends.BLOCKS.read(self._database, model)
        return model.fingerprint, change, binary_index.scan(self._database, model)

    def pending(self) -> tuple[int, int]:
        """(how many passages wait to be embedded, how many there are that get a vector)."""
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
        cancelled: Callable[[], bool] = _never,
        trouble: Callable[[str], None] = _quiet,
        by: str = vector_backends.NUMPY,
    ) -> "Indexed | None":
        """Embed what waits: see `indexing.index`."""
        from store.embedding.indexer import index

        return index(self._database, provider, progress, cancelled, trouble, by)

    def rebuild(self) -> int:
        """Throw every derived vector away and queue everything; how many texts there are to be embedded."""
        from store.embedding.indexer import rebuild

        return rebuild(self._database)

    def forget_cache(self, write: Transaction) -> int:
        """Take away the vectors of texts that are no longer in the memory, as part of a purge: how many there were.

        A vector tells much of its text. To be called when the records themselves are gone.
        """
        from store.embedding.indexer import forget_cache

        return forget_cache(write)
