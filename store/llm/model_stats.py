"""Use of the model in a memory, in numbers for the top line; read every few seconds, so it must be cheap."""

from dataclasses import dataclass

from store.database.database import Database
from store.llm import usage_stats

LEASE = "model"  # held by the process that runs the model over queued turns


@dataclass(frozen=True, slots=True)
class ModelStats:
    """`seconds` of the last answer (None before the first), `queued` turns, how often the model was `asked`, how often
    rules were used in its place (`by_rule`), and whether any process is `working` with it now."""

    seconds: float | None = None
    queued: int = 0
    asked: int = 0
    by_rule: int = 0
    working: bool = False


def model_stats(database: Database, now: str) -> ModelStats:
    """Return the numbers as they are now; counts a few hundred rows at most."""
    queued: int = database.value(
        "SELECT count(DISTINCT turn) FROM pending_extraction WHERE task GLOB 'model.*' AND attempts < 3"
    )
    working = database.value("SELECT 1 FROM leases WHERE name = ? AND expires_at > ?", (LEASE, now)) is not None
    every = usage_stats.total(database)
    if every is None or not (every.asked or every.fell_back):
        return ModelStats(None, queued, working=working)
    seconds = every.seconds if every.asked else None
    return ModelStats(seconds, queued, max(every.asked, every.fell_back), every.fell_back, working)
