"""The memory's own vector space: what all vectors have in common is reduced, so that differences count.

The vectors of one memory are close together, in one cluster for each language: the mean of the language is subtracted,
and directions of high variance are shrunk (a light whitening). Cosines in this space found 64 % of LoCoMo's evidence
among ten hits where plain ones found 53 %, with the largest gain in multi-hop questions; strong whitening, or another
memory's statistics, find less than plain cosines. The space is derived data: the worker computes it, and again when the
number of vectors has changed by a tenth.
"""

from collections.abc import Sequence

from store.database.database import Database
from store.database.values import Verbatim
from store.text.language import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

POWER = 0.125  # each direction is divided by its variance to this power; .5 would be full whitening
STEADY = 20  # number of a language's vectors at which its own mean has half the weight of its centre
FEWEST = 20  # least vectors for a space
SAMPLE = 10_000
GROWTH = 1.1
LANGUAGES = ("", "en", "es")


class MeanRemoval:
    """`centres`, one row for each of LANGUAGES, and `turn`, the square matrix that shrinks directions; both of the
    model's dimension."""

    def __init__(self, centres: "Matrix", turn: "Matrix") -> None:
        self._centres = centres
        self._turn = turn

    def move(self, vectors: "Matrix", languages: Sequence[str]) -> "Matrix":
        """Return vectors (one a row) of texts in these languages, moved into this space and of unit length."""
        import numpy as np

        moved = (vectors - self._centres[[LANGUAGES.index(one) for one in languages]]) @ self._turn
        unit: Matrix = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        return unit


def load(database: Database, slot: int, fingerprint: str, dimension: int) -> MeanRemoval | None:
    """Return the space of the vectors in this slot; None where it has not been computed."""
    row = database.row(
        "SELECT centres, turn FROM meaning_space WHERE slot = ? AND fingerprint = ?", (slot, fingerprint)
    )
    if row is None:
        return None
    import numpy as np

    return MeanRemoval(
        np.frombuffer(row[0], "<f4").reshape(len(LANGUAGES), dimension),
        np.frombuffer(row[1], "<f4").reshape(dimension, dimension),
    )


def refresh(database: Database) -> bool:
    """Compute the space of the serving model if the number of vectors has changed by a tenth since the last time;
    return whether it did. Takes a fraction of a second, outside any transaction but the final write."""
    from store.embedding import model_registry

    model = model_registry.serving(database)
    if model is None or database.read_only:
        return False
    count = database.value("SELECT count(*) FROM vectors WHERE key & 1 = ?", (model.slot,))
    before = database.value(
        "SELECT vectors FROM meaning_space WHERE slot = ? AND fingerprint = ?", (model.slot, model.fingerprint)
    )
    if count < FEWEST or (before is not None and before / GROWTH < count < before * GROWTH):
        return False
    step = max(1, count // SAMPLE)
    rows = database.rows(
        "SELECT e.vector, c.title || char(10) || substr(c.text, p.start + 1, p.end - p.start) FROM ("
        "SELECT key, embedding, row_number() OVER (ORDER BY key)"
        " AS n FROM vectors WHERE key & 1 = :slot) v JOIN embeddings e ON e.id = v.embedding"
        " JOIN passages p ON p.id = v.key >> 1 JOIN corpus c ON c.id = p.row"
        " WHERE v.n % :step = 0 AND length(e.vector) = :size",
        {"slot": model.slot, "step": step, "size": 4 * model.dimension},
    )
    if len(rows) < FEWEST:
        return False
    centres, turn = _statistics([vector for vector, _ in rows], [language(text) for _, text in rows])
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


def made(blobs: Sequence[bytes], languages: Sequence[str]) -> MeanRemoval:
    """Return the space of these vectors (32-bit floats each) of texts in these languages, without storing it: for
    benchmarks."""
    import numpy as np

    size = len(blobs[0]) // 4
    centres, turn = (np.frombuffer(blob, "<f4").reshape(-1, size) for blob in _statistics(blobs, languages))
    return MeanRemoval(centres, turn)


def _statistics(blobs: Sequence[bytes], languages: Sequence[str]) -> tuple[bytes, bytes]:
    """Return (centres, turn) of these vectors, in their stored form."""
    import numpy as np

    vectors = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
    centre = vectors.mean(axis=0)
    centres = [centre]
    for name in LANGUAGES[1:]:
        mine = vectors[[one == name for one in languages]]
        centres.append((mine.sum(axis=0) + STEADY * centre) / (len(mine) + STEADY))
    variances, axes = np.linalg.eigh(np.cov((vectors - centre).T.astype(float)))
    variances = np.maximum(variances, 0)
    scale = (variances + variances.mean() + 1e-12) ** -POWER
    turn = (axes * scale) @ axes.T
    return np.stack(centres).astype("<f4").tobytes(), turn.astype("<f4").tobytes()
