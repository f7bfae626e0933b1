"""Meaning: the vector of a question, made while the keywords are looked up, against those of what is remembered."""

from collections.abc import Collection, Sequence
from threading import Lock, Thread

from store.base.errors import MemorandaError
from store.config.configuration import Config
from store.database.database import Database
from store.embedding import mean_removal, model_registry
from store.embedding.calibration import calibrated
from store.embedding.provider import EmbeddingError
from store.embedding.vectors import Vectors
from store.search.query.filters import Filters
from store.search.signals.ranking import Passage
from store.text.language import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.embedding.binary_index import Ids
    from store.embedding.model_registry import EmbeddingModel
    from store.embedding.provider import Provider, Vector

MORE = 2  # times as many near ones are taken as are wanted, for some will be forgotten or superseded
FEW = 20_000  # rows that pass: where they are more, enough of them are among the nearest
REMEMBERED = 64  # questions whose vectors are kept

_asked: dict[tuple[str, str], "Vector"] = {}
_providers: dict[str, "Provider"] = {}  # fingerprint → who makes its vectors, kept while the process lives
_asking = Lock()  # a model answers one thread at a time


class SemanticIndex:
    """What can be found by meaning in one memory."""

    def __init__(self, database: Database, config: Config) -> None:
        self._database = database
        self._config = config

    @property
    def serves(self) -> bool:
        """Whether there are vectors to be searched."""
        return Vectors(self._database).serving is not None

    def look(self, text: str, kinds: Collection[int] | None = None) -> "PendingQueryVector | None":
        """Begin to look for a text among these numbers of kinds (`keys`), on a thread of its own; None where no model's
        vectors are there to be searched."""
        vectors = Vectors(self._database)
        model = vectors.serving
        return PendingQueryVector(self._database, self._config, vectors, model, text, kinds) if model and text else None

    def as_stored(self, text: str) -> "tuple[EmbeddingModel, Vector] | None":
        """A text's vector as if it were remembered, and whose it is; None where no model's vectors are searched, or
        that model cannot be asked. Takes what one text takes."""
        model = Vectors(self._database).serving
        if model is None or not text:
            return None
        try:
            with _asking:
                return model, _provider(
                    self._config, model, model_registry.noted(self._database, model_registry.STAMP)
                ).passages([text])[0]
        except MemorandaError:
            return None

    def stored(self, key: int) -> "PendingQueryVector | None":
        """Look from where a record stands, by its stored vector: no model is asked. None where it has none."""
        vectors = Vectors(self._database)
        model = vectors.serving
        if model is None:
            return None
        vector = stored(self._database, model.slot, [key]).get(key)
        return (
            None
            if vector is None
            else PendingQueryVector(self._database, self._config, vectors, model, "", vector=vector)
        )


class PendingQueryVector:
    """A question on its way to its vector. `notes` says why there is none, once it was waited for."""

    def __init__(
        self,
        database: Database,
        config: Config,
        vectors: Vectors,
        model: "EmbeddingModel",
        text: str,
        kinds: Collection[int] | None = None,
        vector: "Vector | None" = None,
    ) -> None:
        self.notes: list[str] = []
        self._database = database
        self._config = config
        self._vectors = vectors
        self._model = model
        self._text = text
        self._stamp = model_registry.noted(database, model_registry.STAMP)
        self._vector = vector
        self._error: Exception | None = None
        self._stored: dict[int, Vector] = {}
        self._ids: Ids | None = None  # of those that look nearest, where the thread has seen to them
        self._steps = vectors.steps
        self._thread: Thread | None = None
        if vector is None:
            self._signs = None if vectors.in_vec0(model) else vectors.signs(model)
            self._kinds = kinds
            self._thread = Thread(target=self._ask, name="question", daemon=True)
            self._thread.start()

    def _ask(self) -> None:
        key = self._model.fingerprint, self._text
        try:
            with _asking:
                vector = _asked.pop(key, None)
                if vector is None:
                    vector = _provider(self._config, self._model, self._stamp).query(self._text)
                _asked[key] = vector
                if len(_asked) > REMEMBERED:
                    del _asked[next(iter(_asked))]
            if self._signs is not None:
                self._ids = self._signs.candidates(vector, self._model.mean, self._steps[0], kinds=self._kinds)
            self._vector = vector
        except Exception as error:  # raised where it is waited for: nobody hears of it on this thread
            self._error = error

    def vector(self) -> "Vector | None":
        """The question's vector, waited for; None when the model could not be asked."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None and not isinstance(self._error, MemorandaError):
            raise self._error
        if self._error is not None and not self.notes:
            self.notes.append(f"Searched by keywords alone. {self._error}")
        return self._vector

    def near(
        self, filters: Filters, also: Sequence[int], most: int, only: Collection[int] | None = None
    ) -> dict[int, float]:
        """The cosines of the `most` nearest passages that pass the filters, and of those in `also`; nearest first; of
        `only` these, where given. Empty when the model could not be asked."""
        vector = self.vector()
        if vector is None:
            return {}
        nearest = self._passing(vector, filters, most) if only is None else []
        cosines = dict(nearest)
        self._stored |= self.vectors([key for key in (*cosines, *also) if key not in self._stored])
        for key in also:
            if key not in cosines and key in self._stored:
                cosines[key] = float(self._stored[key] @ vector)
        return cosines

    def _passing(self, vector: "Vector", filters: Filters, most: int) -> list[tuple[int, float]]:
        """The nearest that pass the filters: of the nearest of all, or of all that pass where those are too few."""
        vectors, first = self._vectors, self._steps[0]
        ids = vectors.candidates(vector, first, kinds=filters.kinds) if self._ids is None else self._ids
        if not filters:
            found = vectors.exact(vector, ids, MORE * most, self._stored)
            passing = filters.among(self._database, [key for key, _ in found])
            nearest = [(key, cosine) for key, cosine in found if key in passing][:most]
            if len(nearest) == most or len(found) < MORE * most:
                return nearest
        for count in self._steps:
            if count > first:
                ids = vectors.candidates(vector, count, kinds=filters.kinds)
            keep = filters.among(self._database, ids)
            if len(keep) >= most or len(ids) < count:
                break
        else:
            few = filters.every(self._database, FEW)
            if few is not None:
                return vectors.nearest(vector, most, few)
        import numpy as np

        return vectors.exact(vector, ids[np.isin(ids, list(keep))][:first], most, self._stored)

    @property
    def provider(self) -> str:
        """Who made the question's vector, "" where none could be made."""
        return "" if self._vector is None else self._model.fingerprint.partition(" ")[0]

    @property
    def fingerprint(self) -> str:
        """Of the model whose vectors are looked at."""
        return self._model.fingerprint

    def calibrated(self, cosine: float) -> float:
        """A cosine as a similarity: 0 for unrelated texts, 1 for paraphrases."""
        return calibrated(cosine, self._model.zero, self._model.one)

    def scaled(self, cosine: float) -> float:
        """The same without its ends: less alike than unrelated texts are is below 0."""
        return (cosine - self._model.zero) / (self._model.one - self._model.zero)

    def move(self, question: str, pool: Sequence[Passage]) -> None:
        """Put into `near` of the passages their cosine to the question in the memory's own space, if it has one."""
        model = self._model
        own = mean_removal.load(self._database, model.slot, model.fingerprint, model.dimension)
        vector = self.vector()
        if own is None or vector is None:
            return
        import numpy as np

        stored = self._stored
        seen = [one for one in pool if one.id in stored]
        if not seen:
            return
        moved = own.move(np.stack([stored[one.id] for one in seen]), [one.language for one in seen])
        asked = own.move(vector[None], [language(question)])[0]
        for one, cosine in zip(seen, (moved @ asked).tolist(), strict=True):
            one.near = cosine

    def vectors(self, keys: Sequence[int]) -> "dict[int, Vector]":
        """The stored vectors of these rows."""
        return stored(self._database, self._model.slot, keys)


def _provider(config: Config, model: "EmbeddingModel", stamp: str) -> "Provider":
    """Who makes this model's vectors; to be asked while `_asking` is held. Raises EmbeddingError."""
    from store.embedding import provider_selection

    provider = _providers.get(model.fingerprint)
    if provider is None:
        provider = provider_selection.open_for(config, model.fingerprint, stamp)
        if provider is None:
            raise EmbeddingError(
                f"The model {model.fingerprint.split(' ')[1]} cannot be asked.", "memoranda doctor says why."
            )
        _providers[model.fingerprint] = provider
    return provider


def stored(database: Database, slot: int, keys: Sequence[int]) -> "dict[int, Vector]":
    """The vectors in this slot of these rows of the corpus."""
    import json

    import numpy as np

    rows = database.rows(
        "SELECT v.key >> 1, e.vector FROM json_each(?) j CROSS JOIN vectors v ON v.key = j.value * 2 + ?"
        " JOIN embeddings e ON e.id = v.embedding",
        (json.dumps(list(keys)), slot),
    )
    return {key: np.frombuffer(blob, "<f4") for key, blob in rows}
