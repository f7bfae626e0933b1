"""The contract of embedding providers, and the checks on their vectors.

A provider is an `Embedder` around an `EmbeddingEngine`; engines differ (a library, a file, a server), the contract does
not. numpy is imported where vectors are made, so that code which only inspects providers does not load it.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from store.base.errors import MemorandaError

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]

FORM = 1  # version of `input_text.form`; a new one makes everything be embedded again
LONGEST = 8_000  # characters: more than the 512 tokens that the small models read
BLANK = "…"  # embedded in place of an empty text, which some servers refuse
PROBE = "The team meets on Mondays."


class EmbeddingError(MemorandaError):
    """A text could not be embedded, or the result is not a valid vector."""

    code = "embedding"


class ProviderDown(EmbeddingError):
    """The provider cannot work at all: not installed, not running, without its model. The text is not at fault."""

    code = "embedding-provider"


class Provider(Protocol):
    """Computes the vector of a text: 32-bit floats, finite, of unit length. For one thread at a time.

    `fingerprint` identifies what computed a vector (provider, model, dimension, form of the text, weights): only
    vectors with the same fingerprint can be compared. `stamp` identifies the file of verified weights, "" without one.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def stamp(self) -> str: ...

    def query(self, text: str) -> "Vector":
        """Return the vector of a search query. Raise EmbeddingError."""

    def passages(self, texts: Sequence[str]) -> "list[Vector]":
        """Return the vectors of texts to be found, in the order of the texts. Raise EmbeddingError."""

    def tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Return the number of tokens of each whole text by the model's own tokenizer; None where that is not
        available."""

    def close(self) -> None: ...


class EmbeddingEngine(Protocol):
    """The part of a provider that is particular to it.

    `weights` tells versions of the same model apart ("" where unknown); `batch` is the best number of texts for one
    call.
    """

    name: str
    model: str
    dimension: int
    weights: str
    stamp: str
    batch: int

    def encode(self, texts: Sequence[str], query: bool) -> "Iterable[Any]":
        """Return one row of numbers for each text, cut at the model's limit. Raise EmbeddingError."""

    def close(self) -> None: ...


@runtime_checkable
class Tokenizing(Protocol):
    """An engine that has its tokenizer."""

    def tokens(self, text: str) -> int:
        """Return the number of tokens of a text, without the special ones at its ends."""


class Embedder:
    """The provider made of an engine: prepares texts, checks vectors."""

    def __init__(self, engine: EmbeddingEngine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def model(self) -> str:
        return self._engine.model

    @property
    def dimension(self) -> int:
        return self._engine.dimension

    @property
    def stamp(self) -> str:
        return self._engine.stamp

    @property
    def fingerprint(self) -> str:
        """Words separated by spaces; provider and model come first (see `provider_selection.open_for`)."""
        engine = self._engine
        parts = [engine.name, engine.model, str(engine.dimension), f"form-{FORM}", "/".join(prefixes(engine.model))]
        return " ".join(part.replace(" ", "") for part in (*parts, engine.weights) if part)

    def query(self, text: str) -> "Vector":
        return self._vectors([text], query=True)[0]

    def passages(self, texts: Sequence[str]) -> "list[Vector]":
        return self._vectors(texts, query=False)

    def tokens(self, texts: Sequence[str]) -> list[int] | None:
        if not isinstance(self._engine, Tokenizing):
            return None
        return [self._engine.tokens(text.replace("\0", " ")) if text.strip() else 0 for text in texts]

    def close(self) -> None:
        self._engine.close()

    def _vectors(self, texts: Sequence[str], query: bool) -> "list[Vector]":
        """Embed in batches of texts of similar length, as padding wastes most of an engine's time."""
        plain = [_plain(text) for text in texts]
        order = sorted(range(len(plain)), key=lambda at: len(plain[at]))
        found: dict[int, Vector] = {}
        for start in range(0, len(order), self._engine.batch):
            batch = order[start : start + self._engine.batch]
            found.update(zip(batch, self._checked([plain[at] for at in batch], query), strict=True))
        return [found[at] for at in range(len(plain))]

    def _checked(self, texts: Sequence[str], query: bool) -> "list[Vector]":
        """Return the engine's vectors scaled to unit length. Raise EmbeddingError for an invalid one."""
        import numpy as np

        try:
            rows = [np.asarray(row, dtype=np.float32) for row in self._engine.encode(texts, query)]
        except (TypeError, ValueError, OverflowError):
            raise self._wrong("something that is not a list of numbers") from None
        if len(rows) != len(texts):
            raise self._wrong(f"{len(rows)} vectors for {len(texts)} texts")
        vectors = []
        for row in rows:
            if row.shape != (self.dimension,):
                raise self._wrong(f"a vector of {row.size} numbers, where {self.dimension} were expected,")
            length = float(np.linalg.norm(row.astype(np.float64)))
            if not np.isfinite(length):
                raise self._wrong("a vector with numbers that are not finite")
            if length < 1e-9:
                raise self._wrong("a vector of nothing but zeros")
            vectors.append((row / length).astype(np.float32))
        return vectors

    def _wrong(self, what: str) -> EmbeddingError:
        return EmbeddingError(
            f"{self.name} gave {what} with the model {self.model}.",
            "Choose another with `memoranda config embedding.model`, or look at its server.",
        )


def _plain(text: str) -> str:
    """Return the text in the form that every engine takes: valid UTF-8, without NUL (which ends a C string), at most
    LONGEST."""
    text = text[:LONGEST]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\0", " ").strip()
    return text or BLANK


def prefixes(model: str) -> tuple[str, str]:
    """Return the prefixes that this model was trained with for (a query, a passage); empty for most."""
    name = model.lower()
    if "e5" in name.replace("_", "-").split("/")[-1].split("-") and "instruct" not in name:
        return "query: ", "passage: "
    if "nomic-embed" in name:
        return "search_query: ", "search_document: "
    return "", ""


def prefixed(model: str, texts: Sequence[str], query: bool) -> list[str]:
    """Return the texts with the prefix that `model` expects."""
    start = prefixes(model)[0 if query else 1]
    return [start + text for text in texts]
