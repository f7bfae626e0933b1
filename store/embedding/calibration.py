"""What a cosine is worth: every model has its own idea of how alike two unrelated texts are.

e5 gives .71 to .91 to texts that have nothing to do with each other [RETRIEVAL §5 of the design: the thresholds of the
seeds apply to a calibrated similarity]. Two medians, measured once for each fingerprint, put all models on one scale.
"""

from typing import NamedTuple

from store.embedding.pairs import PARAPHRASES, UNRELATED
from store.embedding.provider import EmbeddingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.embedding.provider import Provider


class Calibration(NamedTuple):
    """`zero` is the median cosine of unrelated texts, `one` that of paraphrases; `mean` (32-bit floats, little-endian)
    is the mean vector of all the texts: what they have in common, and what therefore tells nothing."""

    zero: float
    one: float
    mean: bytes


_measured: dict[str, Calibration] = {}


def calibrated(cosine: float, zero: float, one: float) -> float:
    """A cosine on the scale from 0 (as alike as unrelated texts are) to 1 (as paraphrases are), never outside it."""
    return min(1.0, max(0.0, (cosine - zero) / (one - zero)))


def measure(provider: "Provider") -> Calibration:
    """The two medians and the mean of this model: some 3 s of a small one, once in a process.

    A question is compared with what may be found, as a search does. Raises EmbeddingError, also for a model that takes
    paraphrases for no more alike than unrelated texts: it cannot find anything.
    """
    known = _measured.get(provider.fingerprint)
    if known:
        return known
    import numpy as np

    asked = np.stack([provider.query(first) for first, _ in PARAPHRASES])
    same = np.stack(provider.passages([second for _, second in PARAPHRASES]))
    other = np.stack(provider.passages(UNRELATED))
    zero = float(np.median(asked @ other.T))
    one = float(np.median((asked * same).sum(axis=1)))
    if one - zero < 0.01:
        raise EmbeddingError(
            f"The model {provider.model} cannot tell texts that mean the same from unrelated ones.",
            "Choose another with `memoranda config embedding.model`.",
        )
    mean = np.concatenate([same, other]).mean(axis=0).astype("<f4")
    _measured[provider.fingerprint] = Calibration(zero, one, mean.tobytes())
    return _measured[provider.fingerprint]
