"""Use of the model by task: how often it was asked, its answers were valid, and a rule was used in its place.
Operational data; a few rows."""

from dataclasses import dataclass

from store.database.database import Database
from store.database.values import Verbatim
from store.llm import call_log

LEASE = "model"  # held by the process that runs the model over queued turns


@dataclass(frozen=True, slots=True)
class ModelStats:
    """The use of the model in a memory, for the top line: `seconds` of the last answer (None before the first),
    `queued` turns, how often the model was `asked`, how often rules were used in its place (`by_rule`), and whether any
    process is `working` with it now."""

    seconds: float | None = None
    queued: int = 0
    asked: int = 0
    by_rule: int = 0
    working: bool = False


def count(
    database: Database, task: str, model: str, milliseconds: int, kind: str, answer: str = "", dropped: str = ""
) -> None:
    """Count a call and log its answer. `kind` is the kind of its failure, empty where it succeeded; `dropped` why its
    answer is not used."""
    if database.read_only or database.moment:
        return
    with database.write("agent", "model") as write:
        write.execute(
            "INSERT INTO model_use(task, asked, valid, last_ms, total_ms, kind, model, at) VALUES"
            " (?1,1,?2,?3,?3,?4,?5,?6)"
            " ON CONFLICT(task) DO UPDATE SET asked = asked + 1, valid = valid + ?2, last_ms = ?3,"
            " total_ms = total_ms + ?3, kind = ?4, model = ?5, at = ?6",
            (Verbatim(task), int(not kind), milliseconds, Verbatim(kind), model[:80], Verbatim(write.at)),
        )
        call_log.record(write, task, model, milliseconds, answer, dropped)


def fell_back(database: Database, task: str) -> None:
    """Count that a rule was used because the model failed."""
    if database.read_only or database.moment:
        return
    with database.write("agent", "model") as write:
        write.execute(
            "INSERT INTO model_use(task, fell_back, at) VALUES (?1, 1, ?2)"
            " ON CONFLICT(task) DO UPDATE SET fell_back = fell_back + 1",
            (Verbatim(task), Verbatim(write.at)),
        )
        call_log.note(write, task, "fallback", call_log.FALLBACKS.get(task, ""))


def model_stats(database: Database, now: str) -> ModelStats:
    """Return the numbers as they are now; counts a few hundred rows at most."""
    queued: int = database.value(
        "SELECT count(DISTINCT turn) FROM pending_extraction WHERE task GLOB 'model.*' AND attempts < 3"
    )
    working = database.value("SELECT 1 FROM leases WHERE name = ? AND expires_at > ?", (LEASE, now)) is not None
    asked, fell_back = database.rows("SELECT coalesce(sum(asked), 0), coalesce(sum(fell_back), 0) FROM model_use")[0]
    seconds = database.value("SELECT last_ms / 1000.0 FROM model_use WHERE asked ORDER BY at DESC LIMIT 1")
    return ModelStats(seconds, queued, max(asked, fell_back), fell_back, working)
