"""Whether anything waits that a model may read now: a cheap check, also for the status line."""

from store.base.vocabulary import MODEL
from store.conversations import extraction_queue
from store.database.database import Database
from store.llm import circuit_breaker, endpoint, model_selection
from store.memory import Memory

MOST = 60  # most proposals by a model that may wait in the inbox, as nobody would review more


def due(memory: Memory) -> bool:
    """Return whether a model has something to read, and may be asked."""
    database, config = memory.database, memory.config
    if database.read_only or not config["enabled"] or model_selection.why_disabled(config) is not None:
        return False
    if not extraction_queue.due(database, memory.now, model=True) or room(database) <= 0:
        return False
    return circuit_breaker.of(endpoint.of(config)).why_open() is None


def room(database: Database) -> int:
    """Return how many more proposals by a model the inbox has room for."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return MOST - int(database.value(sql, (f"{MODEL}*",)))
