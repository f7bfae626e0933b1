"""Whether something waits that a model may read now: a cheap look, also for whoever draws the screen."""

from store import pending
from store.agent import address, breaker, model
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
    return not full(memory)


def full(memory: Memory) -> bool:
    """Whether so many of a model's questions wait that it asks no more."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return int(memory.database.value(sql, (f"{MODEL}*",))) >= MOST
