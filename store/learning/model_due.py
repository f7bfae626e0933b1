"""Whether anything waits that a model may read now: a cheap check, also for the status line."""

from store.base.vocabulary import MODEL_ORIGIN_PREFIX
from store.conversations.extraction_queue import has_due_entries
from store.database.database import Database
from store.llm.endpoint import breaker_of, get_server_address
from store.llm.model_selection import why_model_disabled
from store.memory import Memory

MOST_MODEL_PROPOSALS = 60  # most proposals by a model that may wait in the inbox, as nobody would review more


def is_model_due(memory: Memory) -> bool:
    """Return whether a model has something to read, and may be asked."""
    database, config = memory.database, memory.config
    if database.read_only or not config["enabled"] or why_model_disabled(config) is not None:
        return False
    if not has_due_entries(database, memory.now, model=True) or proposal_room(database) <= 0:
        return False
    return breaker_of(get_server_address(config)).why_open() is None


def proposal_room(database: Database) -> int:
    """Return how many more proposals by a model the inbox has room for."""
    sql = "SELECT count(*) FROM proposals WHERE state = 'waiting' AND origin GLOB ?"
    return MOST_MODEL_PROPOSALS - int(database.value(sql, (f"{MODEL_ORIGIN_PREFIX}*",)))
