"""The contract of embedding providers, and the checks on their vectors.

A provider is an `Embedder` around an `EmbeddingEngine`; engines differ (a library, a file, a server), the contract does
not. numpy is imported where vectors are made, so that code which only inspects providers does not load it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from store.base.errors import MemorandaError
from store.text.sentences import says_something

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


if TYPE_CHECKING:
    Vector: TypeAlias = NDArray[np.float32]

# version of `format_input_text`; a new one makes everything be embedded again
INPUT_TEXT_VERSION = 1
# characters: more than the 512 tokens that the small models read
MAX_INPUT_CHARACTERS = 8_000
# embedded in place of an empty text, which some servers refuse
BLANK_TEXT = "…"
PROBE_TEXT = "The team meets on Mondays."


class EmbeddingError(MemorandaError):
    """A text could not be embedded, or the result is not a valid vector."""

    code = "embedding"


class ProviderDown(EmbeddingError):
    """The provider cannot work at all: not installed, not running, without its model. The text is not at fault."""

    code = "embedding-provider"


class EmbeddingProvider(Protocol):
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

    def query(self, text: str) -> Vector:
        """Return the vector of a search query. Raise EmbeddingError."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
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

    def encode(self, texts: Sequence[str], query: bool) -> Iterable[Any]:
        """Return one row of numbers for each text, cut at the model's limit. Raise EmbeddingError."""

    def close(self) -> None: ...


@runtime_checkable
class TokenizingEngine(Protocol):
    """An engine that has its tokenizer."""

    def tokens(self, text: str) -> int:
        """Return the number of tokens of a text, without the special ones at its ends."""


class Embedder:
    """The provider made of an engine: prepares texts, checks vectors."""

    def __init__(self, engine: EmbeddingEngine) -> None:
        self._engine = engine
        self.name, self.model, self.stamp = engine.name, engine.model, engine.stamp

    @property
    def dimension(self) -> int:
        return self._engine.dimension

    @property
    def fingerprint(self) -> str:
        """Words separated by spaces; provider and model come first (see `open_provider_for`)."""
        engine = self._engine
        parts = [
            engine.name,
            engine.model,
            str(engine.dimension),
            f"form-{INPUT_TEXT_VERSION}",
            "/".join(model_prefixes(engine.model)),
        ]
        return " ".join(part.replace(" ", "") for part in (*parts, engine.weights) if part)

    def query(self, text: str) -> Vector:
        return self._embed_in_batches([text], query=True)[0]

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed_in_batches(texts, query=False)

    def tokens(self, texts: Sequence[str]) -> list[int] | None:
        if not isinstance(self._engine, TokenizingEngine):
            return None
        return [self._engine.tokens(text.replace("\0", " ")) if text.strip() else 0 for text in texts]

    def close(self) -> None:
        self._engine.close()

    def _embed_in_batches(self, texts: Sequence[str], query: bool) -> list[Vector]:
        """Embed in batches of texts of similar length, as padding wastes most of an engine's time."""
        plain = [_clean_input(text) for text in texts]
        order = sorted(range(len(plain)), key=lambda at: len(plain[at]))
        found: dict[int, Vector] = {}
        for start in range(0, len(order), self._engine.batch):
            batch = order[start : start + self._engine.batch]
            found.update(zip(batch, self._encode_batch([plain[at] for at in batch], query), strict=True))
        return [found[at] for at in range(len(plain))]

    def _encode_batch(self, texts: Sequence[str], query: bool) -> list[Vector]:
        """Return the engine's vectors scaled to unit length. Raise EmbeddingError for an invalid one."""
        import numpy as np

        try:
            rows = [np.asarray(row, dtype=np.float32) for row in self._engine.encode(texts, query)]
        except (TypeError, ValueError, OverflowError):
            raise self._invalid_result("something that is not a list of numbers") from None
        if len(rows) != len(texts):
            raise self._invalid_result(f"{len(rows)} vectors for {len(texts)} texts")
        vectors = []
        for row in rows:
            if row.shape != (self.dimension,):
                raise self._invalid_result(
                    f"a vector of {row.size} numbers, where {self.dimension} were expected,"
                )
            length = float(np.linalg.norm(row.astype(np.float64)))
            if not np.isfinite(length):
                raise self._invalid_result("a vector with numbers that are not finite")
            if length < 1e-9:
                raise self._invalid_result("a vector of nothing but zeros")
            vectors.append((row / length).astype(np.float32))
        return vectors

    def _invalid_result(self, what: str) -> EmbeddingError:
        """Return the error for an engine's invalid result."""
        return EmbeddingError(
            f"{self.name} gave {what} with the model {self.model}.",
            "Choose another with `memoranda config embedding.model`, or look at its server.",
        )


def _clean_input(text: str) -> str:
    """Return the text in the form that every engine takes: valid UTF-8, without NUL (which ends a C string), at most
    MAX_INPUT_CHARACTERS."""
    text = text[:MAX_INPUT_CHARACTERS]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\0", " ").strip()
    return text or BLANK_TEXT


def model_prefixes(model: str) -> tuple[str, str]:
    """Return the prefixes that this model was trained with for (a query, a passage); empty for most."""
    name = model.lower()
    if "e5" in name.replace("_", "-").split("/")[-1].split("-") and "instruct" not in name:
        return "query: ", "passage: "
    if "nomic-embed" in name:
        return "search_query: ", "search_document: "
    return "", ""


def add_prefix(model: str, texts: Sequence[str], query: bool) -> list[str]:
    """Return the texts with the prefix that `model` expects."""
    start = model_prefixes(model)[0 if query else 1]
    return [start + text for text in texts]


# The text of a record that is embedded, and the digest that is its key in the cache.


def format_input_text(kind: str, title: str, text: str) -> str:
    """Return the text to embed for a passage; empty if there is none, or it says nothing by itself: such a text is
    similar to everything.

    A turn is prefixed with its speaker: "speaker: text" found twice as much as the text alone.
    """
    title, text = title.strip(), text.strip()
    if not says_something(text if kind == "turn" else f"{title} {text}"):
        return ""
    if kind == "turn" and title and text:
        return f"{title}: {text}"[:MAX_INPUT_CHARACTERS]
    return "\n".join(part for part in (title, text) if part)[:MAX_INPUT_CHARACTERS]


def digest_input_text(fingerprint: str, text: str) -> bytes:
    """Return the cache key of a text's vector: 16 bytes, different for each model."""
    return sha256(f"{fingerprint}\0{text}".encode("utf-8", "replace")).digest()[:16]


# Packages that may be installed, found without importing them.


def package_folder(name: str) -> str | None:
    """Return the folder of an installed package, None if there is none. Importing it would need numpy, 70 ms."""
    found = find_spec(name)
    return next(iter(found.submodule_search_locations or ()), None) if found else None
