"""Check a memory as the doctor does: the file, its references, history, records and index."""

from store.base.errors import MemorandaError
from store.memory import Memory
from store.upkeep import checks as hash_chain
from store.upkeep import checks as integrity
from store.upkeep import checks as record_history
from store.upkeep.checks import WRONG, CheckContext, ignore_progress

CHECKS = (
    integrity.check_pages,
    integrity.check_references,
    hash_chain.check_history,
    record_history.check_records,
    integrity.check_keywords,
)


def unsound(memory: Memory) -> list[str]:
    """Return what is wrong with it."""
    visit = CheckContext(memory, False, "", ignore_progress)
    found = list[str]()
    for check in CHECKS:
        try:
            found += [f"{one.subject}: {one.says}" for one in check(visit) if one.state == WRONG]
        except MemorandaError as error:
            found.append(f"{check.__name__}: {type(error).__name__}")
    return found
