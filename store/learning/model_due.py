"""Whether something waits that a model may read now: a cheap look, also for whoever draws the screen."""

from store.base.vocabulary import MODEL
from store.conversations import extraction_queue
from store.database.database import Database
from store.llm import circuit_breaker, endpoint, model_selection
from store.memory import Memory

MOST = 60  # questions of a model's that wait in the inbox: where so many do, nobody looks at more


def due(memory: Memory) -> bool:
    """Whether a model has something to read, and may be asked."""
    database, config = memory.database, memory.config
    if database.read_only or not config["enabled"] or not extraction_queue.due(database, memory.now, model=True):
        return False
    if (
        model_selection.why_disabled(config) is not None
        or circuit_breaker.of(endpoint.of(config)).why_open() is not None
    ):
        return False
    return room(database) > 0


def room(database: Database) -> int:
    """How many more of a model's questions may wait in the inbox."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return MOST - int(database.value(sql, (f"{MODEL}*",)))
