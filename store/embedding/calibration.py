"""What a cosine is worth: every model has its own idea of how alike two unrelated texts are.

e5 gives .71 to .91 to texts that have nothing to do with each other, so that thresholds
apply to a calibrated similarity. Two medians, measured once for each fingerprint, put all models on one scale.
Those of the model that comes with the package come with it too (`known.json`, made by `python -m bench.embedding
--calibrate`): the first index of a memory begins four seconds sooner.
"""

import os
from typing import NamedTuple

from store.embedding.calibration_pairs import PARAPHRASES, UNRELATED
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


KNOWN = os.path.join(os.path.dirname(__file__), "known.json")
_measured: dict[str, Calibration] = {}


def calibrated(cosine: float, zero: float, one: float) -> float:
    """A cosine on the scale from 0 (as alike as unrelated texts are) to 1 (as paraphrases are), never outside it."""
    return min(1.0, max(0.0, (cosine - zero) / (one - zero)))


def calibration(provider: "Provider") -> Calibration:
    """The two medians and the mean of this model: known, or measured once in a process. Raises EmbeddingError."""
    fingerprint = provider.fingerprint
    if fingerprint not in _measured:
        _measured[fingerprint] = known(fingerprint) or measure(provider)
    return _measured[fingerprint]


def known(fingerprint: str) -> Calibration | None:
    """What was measured of this model with the texts as they are now; None if it was not."""
    import json
    from base64 import b64decode

    with open(KNOWN, encoding="utf-8") as file:
        found = json.load(file).get(f"{fingerprint} {texts()}")
    return Calibration(found["zero"], found["one"], b64decode(found["mean"])) if found else None


def texts() -> str:
    """A digest of the texts that are measured with."""
    from hashlib import sha256

    return sha256(repr((PARAPHRASES, UNRELATED)).encode()).hexdigest()[:16]


def measure(provider: "Provider") -> Calibration:
    """The two medians and the mean of this model: some 4 s of a small one.

    A question is compared with what may be found, as a search does. Raises EmbeddingError, also for a model that takes
    paraphrases for no more alike than unrelated texts: it cannot find anything.
    """
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
    return Calibration(zero, one, mean.tobytes())
