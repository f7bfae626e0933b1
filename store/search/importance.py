"""Adaptive importance: what was opened often, and lately, counts for more. Off unless `search.importance`.

Measured on LoCoMo, the answers of every earlier question counted as opened: R@10 84.1 → 84.4, but R@5 79.3 → 78.8 and
MRR 67.6 → 66.9; twice the weight loses everywhere. So it is for whoever wants their habits to count, not the default.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

from store.base.clock import DAY_MS, to_ms
from store.base.errors import MemorandaError
from store.database.database import Database
from store.records.open_counts import count

DECAY = 0.95  # what a day leaves of recency
RECENCY, FREQUENCY, CONTEXT = 0.6, 0.4, 0.3
OFTEN = 10  # openings that count as one whole


class Accesses:
    """How often records were opened: operational, of this machine."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, keys: Sequence[int]) -> None:
        """Count one opening of each of these records (store/base/record_keys.py). Where it cannot be written it is not
        counted: who reads is not told of it."""
        if self._database.read_only:
            return
        with suppress(MemorandaError), self._database.write("user", "access") as write:
            count(write, keys)

    def of(self, keys: Sequence[int]) -> dict[int, tuple[int, str]]:
        """(how often, when last) of those of these records that were ever opened."""
        import json

        rows = self._database.rows(
            "SELECT a.key, a.count, a.at FROM json_each(?) j CROSS JOIN accesses a ON a.key = j.value",
            (json.dumps(list(keys)),),
        )
        return {key: (count, at) for key, count, at in rows}


def adaptive(now: str, opened: tuple[int, str] | None, near: float, importance: float = 1.0) -> float:
    """The score from 0 to 1: recency of the last opening, how often, and how `near` (0 to 1) the matter is to
    what is asked, times `importance`; 0 for what was never opened."""
    if opened is None:
        return 0.0
    count, at = opened
    days = max(0.0, (to_ms(now) - to_ms(at)) / DAY_MS)
    often = min(1.0, math.log1p(count) / math.log1p(OFTEN))
    whole = RECENCY + FREQUENCY + CONTEXT
    return float((RECENCY * DECAY**days + FREQUENCY * often + CONTEXT * near) / whole * importance)


def weights(now: str, opened: Mapping[int, tuple[int, str]], near: Mapping[int, float]) -> dict[int, float]:
    """`adaptive` of every record that was opened."""
    return {key: adaptive(now, opened[key], near.get(key, 0.0)) for key in opened}
