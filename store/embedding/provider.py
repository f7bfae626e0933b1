"""What makes vectors of texts: the contract of every provider, and the one place where its vectors are checked.

A provider is an `Embedder` around a small `Engine`; the engines differ (a library, a file, a server), the promises
do not. numpy is imported where a vector is made, so that nobody pays for it who only asks what there is.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from store.base.errors import MemorandaError

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]

FORM = 1  # of what is embedded (form.py); another one means that everything is embedded again
LONGEST = 8_000  # characters: more than the 512 tokens that any of the small models reads
BLANK = "…"  # stands for a text without a word: some servers refuse an empty one
PROBE = "The team meets on Mondays."


class EmbeddingError(MemorandaError):
    """A vector could not be made of this text, or is none."""

    code = "embedding"


class ProviderDown(EmbeddingError):
    """The provider cannot work at all: not installed, not running, without its model. No text is to blame."""

    code = "embedding-provider"


class Provider(Protocol):
    """Makes a vector of a text: 32-bit floats, finite, of unit length. For one thread at a time.

    `fingerprint` says what made a vector (provider, model, dimension, form of the text, weights): two vectors may be
    compared only under the same one. `stamp` says which file was found to hold the right weights, "" without one.
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
        """The vector of what somebody looks for. Raises EmbeddingError."""

    def passages(self, texts: Sequence[str]) -> "list[Vector]":
        """The vectors of what may be found, in the order of the texts. Raises EmbeddingError."""

    def tokens(self, texts: Sequence[str]) -> list[int] | None:
        """How many tokens each text has, all of it, for the model's own tokenizer; None where that is not here."""

    def close(self) -> None: ...


class EmbeddingEngine(Protocol):
    """What is particular to one provider.

    `weights` tells two states of the same model apart ("" where nobody can say), `batch` is how many texts it is best
    given at once.
    """

    name: str
    model: str
    dimension: int
    weights: str
    stamp: str
    batch: int

    def encode(self, texts: Sequence[str], query: bool) -> "Iterable[Any]":
        """One row of numbers for each text, cut where the model's limit is. Raises EmbeddingError."""

    def close(self) -> None: ...


@runtime_checkable
class Tokenizing(Protocol):
    """An engine whose tokenizer is here."""

    def tokens(self, text: str) -> int:
        """How many tokens a text has, without those that stand around it."""


class Embedder:
    """The provider that an engine is, once its vectors are checked."""

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
        """Words parted by spaces; provider and model come first (see `choice.open_for`)."""
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
        """Batches of texts of about one length: padding is what most engines waste their time on."""
        plain = [_plain(text) for text in texts]
        order = sorted(range(len(plain)), key=lambda at: len(plain[at]))
        found: dict[int, Vector] = {}
        for start in range(0, len(order), self._engine.batch):
            batch = order[start : start + self._engine.batch]
            found.update(zip(batch, self._checked([plain[at] for at in batch], query), strict=True))
        return [found[at] for at in range(len(plain))]

    def _checked(self, texts: Sequence[str], query: bool) -> "list[Vector]":
        """What the engine answers, of unit length. Raises EmbeddingError for what is no vector."""
        import numpy as np

        try:
            rows = [np.asarray(row, dtype=np.float32) for row in self._engine.encode(texts, query)]
        except (TypeError, ValueError, OverflowError):
            raise self._wrong("something that is no list of numbers") from None
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
    """A text as every engine takes it: UTF-8, without NUL (which ends a C string), not longer than is read."""
    text = text[:LONGEST]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\0", " ").strip()
    return text or BLANK


def prefixes(model: str) -> tuple[str, str]:
    """What this model was trained to read before (a question, a passage); empty for most."""
    name = model.lower()
    if "e5" in name.replace("_", "-").split("/")[-1].split("-") and "instruct" not in name:
        return "query: ", "passage: "
    if "nomic-embed" in name:
        return "search_query: ", "search_document: "
    return "", ""


def prefixed(model: str, texts: Sequence[str], query: bool) -> list[str]:
    """The texts as `model` wants to read them."""
    start = prefixes(model)[0 if query else 1]
    return [start + text for text in texts]
