"""Whether something waits that a model may read now: a cheap look, also for whoever draws the screen."""

from store import pending
from store.agent import address, breaker, model
from store.database import Database
from store.memory import Memory
from store.vocabulary import MODEL

MOST = 60  # questions of a model's that wait in the inbox: where so many do, nobody looks at more


def due(memory: Memory) -> bool:
    """Whether a model has something to read, and may be asked."""
    database, config = memory.database, memory.config
    if database.read_only or not config["enabled"] or not pending.due(database, memory.now, model=True):
        return False
    if model.barred(config) is not None or breaker.of(address.of(config)).tripped() is not None:
        return False
    return room(database) > 0


def room(database: Database) -> int:
    """How many more of a model's questions may wait in the inbox."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return MOST - int(database.value(sql, (f"{MODEL}*",)))
