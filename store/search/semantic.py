"""Semantic search: the query's vector, computed while the keywords are looked up, against the stored vectors."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.config.configuration import Config
from store.database.database import Database
from store.embedding import provider_selection
from store.embedding.model_registry import EmbeddingModel, calibrate_cosine
from store.embedding.provider import EmbeddingError, EmbeddingProvider
from store.embedding.vectors import Vectors, load_vector_space
from store.search.query_parser import CorpusFilters
from store.search.ranking import CandidatePassage
from store.text.language import detect_language

if TYPE_CHECKING:
    from store.embedding.provider import Vector
    from store.embedding.vector_codes import PassageIds


# factor of nearest passages taken, as some will be forgotten or superseded
EXTRA_NEAREST = 2
# most passing rows that are compared one by one: of more, enough are among the nearest
MAX_COMPARED_ROWS = 20_000
# characters of a question that the model reads: a passage has some 600, and time grows faster
QUESTION_START, QUESTION_END = 600, 300
# queries whose vectors are cached
MAX_CACHED_QUERIES = 64

_query_vectors: dict[tuple[str, str], Vector] = {}
# fingerprint → provider, kept for the life of the process
_providers: dict[str, EmbeddingProvider] = {}
# a model runs on one thread at a time
_model_lock = Lock()


class SemanticIndex:
    """The vectors of one memory, as searched."""

    def __init__(self, database: Database, config: Config) -> None:
        self._database = database
        self._config = config

    def for_database(self, database: Database) -> SemanticIndex:
        """Return the vectors of another memory, searched with the same settings."""
        return SemanticIndex(database, self._config)

    @property
    def has_vectors(self) -> bool:
        """Whether there are vectors to search."""
        return Vectors(self._database).serving is not None

    def start_query(self, text: str, kinds: Collection[int] | None = None) -> PendingQueryVector | None:
        """Start to search for a text among these kinds (of `KIND_NUMBERS`), on a thread of its own. Return None
        where no model has vectors to search. Of a long text its beginning and its end are read."""
        if len(text) > QUESTION_START + QUESTION_END:
            text = f"{text[:QUESTION_START]}\n{text[-QUESTION_END:]}"
        vectors = Vectors(self._database)
        model = vectors.serving
        if not (model and text):
            return None
        return PendingQueryVector(self._database, self._config, vectors, model, text, kinds)

    def embed_as_passage(self, text: str) -> tuple[EmbeddingModel, Vector] | None:
        """Return (the model whose vectors are searched, the vector it gives this text as a record); None without such a
        model or if it cannot be run. Blocks for one run of the model."""
        model = Vectors(self._database).serving
        if model is None or not text:
            return None
        try:
            with _model_lock:
                return model, _open_provider(self._config, model, Vectors(self._database).stamp).passages([text])[
                    0
                ]
        except MemorandaError:
            return None

    def query_from_stored(self, key: int) -> PendingQueryVector | None:
        """Return a search that starts from a record's stored vector, without running a model; None if it has no
        vector."""
        vectors = Vectors(self._database)
        model = vectors.serving
        vector = load_stored_vectors(self._database, model.slot, [key]).get(key) if model else None
        if model is None or vector is None:
            return None
        return PendingQueryVector(self._database, self._config, vectors, model, "", vector=vector)


class PendingQueryVector:
    """A query whose vector is being computed. After waiting, `notes` says why there is none, or that
    another provider answered than the one chosen."""

    def __init__(
        self,
        database: Database,
        config: Config,
        vectors: Vectors,
        model: EmbeddingModel,
        text: str,
        kinds: Collection[int] | None = None,
        vector: Vector | None = None,
    ) -> None:
        self.notes: list[str] = []
        self._database = database
        self._config = config
        self._vectors = vectors
        self._model = model
        self._text = text
        self._stamp = vectors.stamp
        self._vector = vector
        self._error: Exception | None = None
        self._stored: dict[int, Vector] = {}
        # candidates found by the binary index on the thread
        self._ids: PassageIds | None = None
        self._steps = vectors.candidate_steps
        self._thread: Thread | None = None
        if vector is None:
            self._codes = None if vectors.is_in_vec0(model) else vectors.code_matrix(model)
            self._kinds = kinds
            self._thread = Thread(target=self._compute, name="question", daemon=True)
            self._thread.start()

    def _compute(self) -> None:
        """Compute the query's vector and find candidates for it, on the thread of its own; keep an error for the
        waiting thread."""
        key = self._model.fingerprint, self._text
        try:
            with _model_lock:
                vector = _query_vectors.pop(key, None)
                if vector is None:
                    vector = _open_provider(self._config, self._model, self._stamp).query(self._text)
                _query_vectors[key] = vector
                if len(_query_vectors) > MAX_CACHED_QUERIES:
                    del _query_vectors[next(iter(_query_vectors))]
            if self._codes is not None:
                self._ids = self._codes.candidates(vector, self._model.mean, self._steps[0], kinds=self._kinds)
            self._vector = vector
        except Exception as error:  # raised again by `wait_for_vector`, on the waiting thread
            self._error = error

    def wait_for_vector(self) -> Vector | None:
        """Wait for the query's vector and return it; None when the model could not be run."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None and not isinstance(self._error, MemorandaError):
            raise self._error
        if self._error is not None and not self.notes:
            self.notes.append(f"Searched by keywords alone. {self._error}")
        return self._vector

    def nearest_passages(
        self, filters: CorpusFilters, also: Sequence[int], most: int, only: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return passage id → cosine of the `most` nearest passages that pass the filters, nearest first, and of those
        in `also`. With `only`, skip the nearest. Empty when the model could not be run."""
        vector = self.wait_for_vector()
        if vector is None:
            return {}
        if self._config["embedding.provider"] not in ("auto", "none", self.provider):
            self.notes.append(
                f"By the meaning that {self.provider} has of it: there are no vectors of"
                f" {self._config['embedding.provider']} yet, or it was down. memoranda health --check says which."
            )
        nearest = self._find_passing(vector, filters, most) if only is None else []
        cosines = dict(nearest)
        self._stored |= self.stored_vectors([key for key in (*cosines, *also) if key not in self._stored])
        for key in also:
            if key not in cosines and key in self._stored:
                cosines[key] = float(self._stored[key] @ vector)
        return cosines

    def _find_passing(self, vector: Vector, filters: CorpusFilters, most: int) -> list[tuple[int, float]]:
        """Return the nearest (passage id, cosine) that pass the filters: among the nearest of all, or among all that
        pass where too few of those do."""
        vectors, first = self._vectors, self._steps[0]
        ids = vectors.candidates(vector, first, kinds=filters.kinds) if self._ids is None else self._ids
        if not filters:
            found = vectors.compare_exactly(vector, ids, EXTRA_NEAREST * most, self._stored)
            passing = filters.passing_ids(self._database, [key for key, _ in found])
            nearest = [(key, cosine) for key, cosine in found if key in passing][:most]
            if len(nearest) == most or len(found) < EXTRA_NEAREST * most:
                return nearest
        for count in self._steps:
            if count > first:
                ids = vectors.candidates(vector, count, kinds=filters.kinds)
            keep = filters.passing_ids(self._database, ids)
            if len(keep) >= most or len(ids) < count:
                break
        else:
            few = filters.all_passing_ids(self._database, MAX_COMPARED_ROWS)
            if few is not None:
                return vectors.nearest(vector, most, few)
        import numpy as np

        return vectors.compare_exactly(vector, ids[np.isin(ids, list(keep))][:first], most, self._stored)

    @property
    def provider(self) -> str:
        """Who computed the query's vector, "" where it could not be computed."""
        return "" if self._vector is None else self._model.fingerprint.partition(" ")[0]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model whose vectors are searched."""
        return self._model.fingerprint

    def similarity_of(self, cosine: float) -> float:
        """Return a cosine as a similarity from 0 (unrelated texts) to 1 (paraphrases)."""
        return calibrate_cosine(cosine, self._model.zero, self._model.one)

    def unclipped_similarity(self, cosine: float) -> float:
        """Return a cosine as a similarity that is not clipped: below 0 for texts that are less similar than
        unrelated texts are."""
        return (cosine - self._model.zero) / (self._model.one - self._model.zero)

    def set_space_cosines(self, question: str, pool: Sequence[CandidatePassage]) -> None:
        """Set `near` of the passages to their cosine with the question in the memory's own space, if it has one."""
        model = self._model
        own = load_vector_space(self._database, model.slot, model.fingerprint, model.dimension)
        vector = self.wait_for_vector()
        if own is None or vector is None:
            return
        import numpy as np

        stored = self._stored
        seen = [one for one in pool if one.id in stored]
        if not seen:
            return
        moved = own.move_vectors(np.stack([stored[one.id] for one in seen]), [one.language for one in seen])
        asked = own.move_vectors(vector[None], [detect_language(question)])[0]
        for one, cosine in zip(seen, (moved @ asked).tolist(), strict=True):
            one.near = cosine

    def stored_vectors(self, keys: Sequence[int]) -> dict[int, Vector]:
        """Return the stored vectors of these passages, by id."""
        return load_stored_vectors(self._database, self._model.slot, keys)


def _open_provider(config: Config, model: EmbeddingModel, stamp: str) -> EmbeddingProvider:
    """Return the provider of this model's vectors; call it with `_model_lock` held. Raise EmbeddingError."""
    provider = _providers.get(model.fingerprint)
    if provider is None:
        provider = provider_selection.open_provider_for(config, model.fingerprint, stamp)
        if provider is None:
            raise EmbeddingError(
                f"The model {model.fingerprint.split(' ')[1]} cannot be asked.",
                "memoranda health --check says why.",
            )
        _providers[model.fingerprint] = provider
    return provider


def load_stored_vectors(database: Database, slot: int, keys: Sequence[int]) -> dict[int, Vector]:
    """Return the vectors of these passages in this slot, by id."""
    import numpy as np

    rows = database.rows(
        "SELECT v.key >> 1, e.vector FROM json_each(?) j CROSS JOIN vectors v ON v.key = j.value * 2 + ?"
        " JOIN embeddings e ON e.id = v.embedding",
        (json.dumps(list(keys)), slot),
    )
    return {key: np.frombuffer(blob, "<f4") for key, blob in rows}
