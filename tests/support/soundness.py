"""Check a memory as the doctor does: the file, its references, history, records and index."""

from store.base.errors import MemorandaError
from store.health import hash_chain, integrity, record_history
from store.health.finding import WRONG, CheckContext, quiet
from store.memory import Memory

CHECKS = (integrity.file, integrity.references, hash_chain.history, record_history.records, integrity.keywords)


def unsound(memory: Memory) -> list[str]:
    """Return what is wrong with it."""
    visit = CheckContext(memory, False, "", quiet)
    found = list[str]()
    for check in CHECKS:
        try:
            found += [f"{one.subject}: {one.says}" for one in check(visit) if one.state == WRONG]
        except MemorandaError as error:
            found.append(f"{check.__name__}: {type(error).__name__}")
    return found
