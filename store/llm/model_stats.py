"""How the model fares in a memory, in figures for the top line: cheap enough to be read every few seconds."""

from dataclasses import dataclass

from store.database.database import Database
from store.llm import usage_stats

LEASE = "model"  # of whoever asks it for the turns that wait


@dataclass(frozen=True, slots=True)
class ModelStats:
    """`seconds` of its last answer (None before the first), how many turns are `queued` for it, how often it was
    `asked`, how often rules had to answer in its place, and whether it is `working` right now, for whatever process."""

    seconds: float | None = None
    queued: int = 0
    asked: int = 0
    by_rule: int = 0
    working: bool = False


def model_stats(database: Database, now: str) -> ModelStats:
    """The figures as they are now: a few hundred rows at the most are counted."""
    queued: int = database.value(
        "SELECT count(DISTINCT turn) FROM pending_extraction WHERE task GLOB 'model.*' AND attempts < 3"
    )
    working = database.value("SELECT 1 FROM leases WHERE name = ? AND expires_at > ?", (LEASE, now)) is not None
    every = usage_stats.total(database)
    if every is None or not (every.asked or every.fell_back):
        return ModelStats(None, queued, working=working)
    seconds = every.seconds if every.asked else None
    return ModelStats(seconds, queued, max(every.asked, every.fell_back), every.fell_back, working)
