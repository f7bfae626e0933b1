"""The models whose vectors a memory has: one that serves, and at most one that is being built to replace it."""

from __future__ import annotations

import json
import os
from base64 import b64decode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.embedding.provider import EmbeddingError, EmbeddingProvider

# Calibration of cosines: models differ in the cosine that they give to unrelated texts.
#
# e5 gives .71 to .91 to unrelated texts, so thresholds apply to a calibrated similarity. Two medians, measured once for
# each fingerprint, put all models on one scale. Those of the model in the package are in `known.json`, made by
# `python -m bench.embedding --calibrate`: the first index of a memory then starts four seconds sooner.


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


VECTOR_CHANGES_KEY = "embedding.changes"
REFUSED_TEXTS_KEY = "embedding.refused"
EMBEDDING_ERROR_KEY = "embedding.error"
WEIGHTS_STAMP_KEY = "embedding.stamp"
# rows deleted in one transaction of some 30 ms
SWEEP_ROWS = 5_000


class EmbeddingModel(NamedTuple):
    """A model as registered in the memory. `zero` and `one` are for `calibrate_cosine`; `mean` is little-endian 32-bit
    floats."""

    slot: int
    fingerprint: str
    dimension: int
    zero: float
    one: float
    mean: bytes
    serving: bool


def list_embedding_models(database: Database) -> list[EmbeddingModel]:
    """Return the registered models, the serving one first."""
    found = database.rows(
        "SELECT slot, fingerprint, dimension, zero, one, mean, serving FROM embedding_models ORDER BY serving DESC"
    )
    return [EmbeddingModel(*row) for row in found]


def find_model_of(database: Database, provider: EmbeddingProvider) -> EmbeddingModel | None:
    """Return the registered model of a provider; None if it has none."""
    return next((one for one in list_embedding_models(database) if one.fingerprint == provider.fingerprint), None)


def find_serving_model(database: Database) -> EmbeddingModel | None:
    """Return the model whose vectors are searched; None if none serves."""
    return next((model for model in list_embedding_models(database) if model.serving), None)


def read_vector_changes(database: Database) -> int:
    """Return the change counter of the vectors, which grows with each write by any process."""
    return database.get_count(VECTOR_CHANGES_KEY)


def count_vector_change(write: Transaction) -> int:
    """Increment the change counter; return its new value."""
    number = read_vector_changes(write.database) + 1
    write.set_meta(VECTOR_CHANGES_KEY, str(number))
    return number


def list_refused_passages(database: Database) -> list[int]:
    """Return the passage ids of texts that the model could not embed."""
    return [int(word) for word in database.get_meta(REFUSED_TEXTS_KEY).split()]


def queue_all_passages(write: Transaction) -> None:
    """Queue everything for embedding."""
    write.execute("INSERT OR IGNORE INTO embedding_queue(id, rank) SELECT id, rank FROM passage_ranks")
    write.set_meta(REFUSED_TEXTS_KEY, "")


def register_model(
    write: Transaction, provider: EmbeddingProvider, calibration: Calibration | None
) -> EmbeddingModel:
    """Return the model entry, with its slot, for this provider; the slot must be empty (see `sweep_slot`).

    Where no model serves, this one serves at once, while its vectors are added. Where it serves already and another was
    being built, that one is given up.
    """
    database = write.database
    mine = find_model_of(database, provider)
    if mine is not None:
        if mine.serving:
            given_up = write.execute("DELETE FROM embedding_models WHERE slot <> ?", (mine.slot,))
            if given_up.connection.changes():
                write.execute(
                    "DELETE FROM embedding_queue WHERE id IN (SELECT key >> 1 FROM vectors WHERE key & 1 = ?)",
                    (mine.slot,),
                )
        return mine
    assert calibration is not None, "a new model is calibrated before it gets a slot"
    before = find_serving_model(database)
    slot = 0 if before is None else 1 - before.slot
    write.execute("DELETE FROM embedding_models WHERE slot = ?", (slot,))
    write.insert(
        "embedding_models",
        slot=slot,
        fingerprint=Verbatim(provider.fingerprint),
        dimension=provider.dimension,
        zero=calibration.zero,
        one=calibration.one,
        mean=calibration.mean,
        serving=int(before is None),
        created_at=write.at,
    )
    queue_all_passages(write)
    count_vector_change(write)
    return next(model for model in list_embedding_models(database) if model.slot == slot)


def switch_serving_model(write: Transaction, model: EmbeddingModel) -> bool:
    """Let `model` serve if nothing is left in the queue; return whether it serves."""
    if write.first("SELECT 1 FROM embedding_queue LIMIT 1") is not None:
        return False
    write.execute("DELETE FROM embedding_models WHERE slot <> ?", (model.slot,))
    write.execute("UPDATE embedding_models SET serving = 1 WHERE slot = ?", (model.slot,))
    count_vector_change(write)
    return True


def list_leftover_slots(database: Database, keep: str = "") -> list[int]:
    """Return the slots that hold vectors but belong to no model; with `keep`, also that of a model being built for
    another fingerprint."""
    owned = {
        model.slot
        for model in list_embedding_models(database)
        if model.serving or not keep or model.fingerprint == keep
    }
    return [
        slot
        for slot in (0, 1)
        if slot not in owned
        and database.value("SELECT 1 FROM vectors WHERE key & 1 = ? LIMIT 1", (slot,)) is not None
    ]


def sweep_slot(write: Transaction, slot: int, after: int) -> int | None:
    """Delete SWEEP_ROWS vectors of a slot with keys above `after`; return the last key deleted, None when none is
    left."""
    if write.first("SELECT 1 FROM embedding_models WHERE slot = ? AND serving = 1", (slot,)) is not None:
        return None
    write.execute("DELETE FROM embedding_models WHERE slot = ?", (slot,))
    keys = [
        row[0]
        for row in write.rows(
            "SELECT key FROM vectors WHERE key > ? AND key & 1 = ? ORDER BY key LIMIT ?",
            (after, slot, SWEEP_ROWS),
        )
    ]
    if not keys:
        return None
    write.execute("DELETE FROM vectors WHERE key > ? AND key <= ? AND key & 1 = ?", (after, keys[-1], slot))
    last: int = keys[-1]
    return last
