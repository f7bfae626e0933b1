"""Calibration of cosines: models differ in the cosine that they give to unrelated texts.

e5 gives .71 to .91 to unrelated texts, so thresholds apply to a calibrated similarity. Two medians, measured once for
each fingerprint, put all models on one scale. Those of the model in the package are in `known.json`, made by `python -m
bench.embedding --calibrate`: the first index of a memory then starts four seconds sooner.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from store.embedding.provider import EmbeddingError, EmbeddingProvider


class Calibration(NamedTuple):
    """`zero` is the median cosine of unrelated texts, `one` that of paraphrases; `mean` (32-bit floats, little-endian)
    is the mean vector of all the texts, which says nothing about any one of them."""

    zero: float
    one: float
    mean: bytes


KNOWN_FILE = os.path.join(os.path.dirname(__file__), "known.json")
_measured: dict[str, Calibration] = {}


@cache
def read_texts() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the texts that similarity is calibrated on, of calibration.tsv: pairs and unrelated ones. They are what
    people and agents write, in Spanish and English.

    The two texts of a pair are paraphrases, in one language or across the two. No two unrelated ones have the same
    subject, nor that of a pair.
    """
    lines = Path(__file__).with_name("calibration.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return tuple((row[0], row[1]) for row in rows if len(row) == 2), tuple(row[0] for row in rows if len(row) == 1)


def calibrate_cosine(cosine: float, zero: float, one: float) -> float:
    """Map a cosine to the scale from 0 (unrelated texts) to 1 (paraphrases), clipped."""
    return min(1.0, max(0.0, (cosine - zero) / (one - zero)))


def get_calibration(provider: EmbeddingProvider) -> Calibration:
    """Return the calibration of this model: known, or measured once in a process. Raise EmbeddingError."""
    fingerprint = provider.fingerprint
    if fingerprint not in _measured:
        _measured[fingerprint] = find_known_calibration(fingerprint) or measure_calibration(provider)
    return _measured[fingerprint]


def find_known_calibration(fingerprint: str) -> Calibration | None:
    """Return the calibration in `known.json` for this fingerprint and the present texts; None if there is none."""
    with open(KNOWN_FILE, encoding="utf-8") as file:
        found = json.load(file).get(f"{fingerprint} {digest_calibration_texts()}")
    return Calibration(found["zero"], found["one"], b64decode(found["mean"])) if found else None


def digest_calibration_texts() -> str:
    """Return a digest of the texts used for measuring."""
    return sha256(repr(read_texts()).encode()).hexdigest()[:16]


def measure_calibration(provider: EmbeddingProvider) -> Calibration:
    """Measure the two medians and the mean of this model, in some 4 s for a small one.

    The first of a pair is embedded as a query, the second as a passage, as in a search. Raise EmbeddingError, also for
    a model whose paraphrases are hardly more similar than unrelated texts: it cannot search.
    """
    import numpy as np

    paraphrases, unrelated = read_texts()
    queries = np.stack([provider.query(first) for first, _ in paraphrases])
    same = np.stack(provider.passages([second for _, second in paraphrases]))
    other = np.stack(provider.passages(unrelated))
    zero = float(np.median(queries @ other.T))
    one = float(np.median((queries * same).sum(axis=1)))
    if one - zero < 0.01:
        raise EmbeddingError(
            f"The model {provider.model} cannot tell texts that mean the same from unrelated ones.",
            "Choose another with `memoranda config embedding.model`.",
        )
    mean = np.concatenate([same, other]).mean(axis=0).astype("<f4")
    return Calibration(zero, one, mean.tobytes())
