"""The global facts of a person, as every project of theirs shows and changes them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from store.base.citations import cite, find_citations
from store.base.errors import Conflict, InvalidInput, MemorandaError, NotFound, StorageError
from store.base.location import Location, is_personal_memory, personal_memory_path
from store.base.models import Fact, GlobalFact
from store.base.runtime import read_file_stamp
from store.conversion import convert_memory
from store.database.database import Database
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.records.tags import Tagging
from store.trust.ownership import Trust, require_trust

# The person's own memory, opened beside a project's.
#
# Its path comes from the person's environment (`personal_memory_path`), never from a project. It is opened when it is
# first asked for, with the checks of any memory, and closed with the project's.

PERSONAL_REASON = "your personal memory"


def find_personal_memory(database: Database) -> Database | None:
    """Return the person's own memory. Return None if there is none, if `database` is that memory, shows a moment
    of the past or somebody else's memory, or if it cannot be opened; `personal_memory_problem` then tells why."""
    other = database.beside
    if other is not None and not other.is_replaced():
        return other
    if other is not None:
        other.close()
        database.beside = None
    path = personal_memory_path()
    if not os.path.lexists(path) or database.look or database.moment or is_personal_memory(database.path):
        return None
    stamp = read_file_stamp(path)
    known = database.caches.get("beside")
    if known is not None and known[0] == stamp:
        return None
    try:
        return _open_personal_memory(database, path, create=False)
    except MemorandaError as error:
        database.caches["beside"] = (stamp, str(error))
        return None


def ensure_personal_memory(database: Database) -> Database:
    """Return the person's own memory, to be written to; create it if it is missing. `database` itself if it is the
    person's own. Raise MemorandaError where it cannot be opened or written."""
    if is_personal_memory(database.path):
        return database
    database.refuse_unwritable()
    try:
        other = require_personal_memory(database)
    except NotFound:
        other = _open_personal_memory(database, personal_memory_path(), create=True)
    other.refuse_unwritable()
    return other


def require_personal_memory(database: Database) -> Database:
    """Return the person's own memory; `database` itself if it is the person's own. Raise NotFound or StorageError."""
    if is_personal_memory(database.path):
        return database
    if (other := find_personal_memory(database)) is not None:
        return other
    if why := personal_memory_problem(database):
        raise StorageError(f"Your personal memory cannot be used: {why}", "Nothing was changed.")
    raise NotFound(
        "You have no personal memory yet.", 'Make it: memoranda remember --scope global "I write Spanish".'
    )


def personal_memory_problem(database: Database) -> str:
    """Return why the person's own memory could not be opened when it was last asked for; empty if it could."""
    known = database.caches.get("beside")
    return known[1] if known is not None and database.beside is None else ""


def personal_location() -> Location:
    """Return where the person's own memory is."""
    return Location(personal_memory_path(), "personal", PERSONAL_REASON)


def _open_personal_memory(database: Database, path: str, create: bool) -> Database:
    """Open the person's own memory beside a project's, after the check that it is ours."""
    ours = Trust(path, require_trust(path))
    database.beside = Database(path, database.door, database.clock, create, trust=ours, convert=convert_memory)
    database.caches.pop("beside", None)
    return database.beside


Result = TypeVar("Result")

GLOBAL_SCOPE = "global"


class GlobalFacts:
    """The facts of scope `global`, for the memory of a project; each change is one of the person's own memory, with a
    step of history there. In the person's own memory they are facts like any other, and `get_many` has none of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # read

    def get_many(self, numbers: Sequence[int]) -> list[GlobalFact]:
        """Return the global facts of these numbers that exist, in this order."""
        other = find_personal_memory(self._database) if numbers else None
        found = Facts(other).get_many(numbers) if other is not None else []
        return [GlobalFact(fact) for fact in found if fact.scope == GLOBAL_SCOPE]

    def order(self, now: str, **filters: Any) -> array[int]:
        """Return the numbers of the global facts that match these filters, as `Facts.order`."""
        other = find_personal_memory(self._database)
        return Facts(other).order(now, scope=GLOBAL_SCOPE, **filters) if other is not None else array("I")

    def count_by_state(self, now: str) -> dict[str, int]:
        """Count the global facts in each state; empty if the person has no memory of their own."""
        other = find_personal_memory(self._database)
        return Facts(other).count_by_state(now, GLOBAL_SCOPE) if other is not None else {}

    @property
    def step(self) -> int:
        """The newest step of history of the person's own memory; 0 without one."""
        other = find_personal_memory(self._database)
        return other.newest_step() if other is not None else 0

    def tally(self, column: str) -> list[tuple[str, int]]:
        """Count the active global facts by `domain` or `origin`."""
        other = find_personal_memory(self._database)
        sql = f"SELECT {column}, count(*) FROM facts WHERE status = 'active' AND scope = ? GROUP BY 1"
        return other.rows(sql, (GLOBAL_SCOPE,)) if other is not None else []

    def find_muted(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return the numbers among these that are sent to no agent."""
        other = find_personal_memory(self._database) if numbers else None
        return frozenset(Mutes(other).filter_muted_facts(list(numbers))) if other is not None else frozenset()

    @property
    def read_problem(self) -> str:
        """Why there are none to be read, where there is a memory of the person's own; empty otherwise."""
        return personal_memory_problem(self._database) if find_personal_memory(self._database) is None else ""

    def as_cited(self, text: str) -> str:
        """Return a text of the person's own memory, such as the reason of a step, with its facts named as this memory
        cites them."""
        own = find_personal_memory(self._database)
        return _rewrite_message(own, text) if own is not None else text

    # write

    def remember(self, text: str, **given: Any) -> tuple[int, bool]:
        """Remember a global fact, as `Facts.remember`; a person's own memory that is missing is created."""
        return self._change(
            (), lambda own: Facts(own).remember(text, scope=GLOBAL_SCOPE, **given), ensure_personal_memory
        )

    def correct(self, number: int, text: str, *, again: bool = False) -> int:
        """As `Facts.correct`."""
        return self._change([number], lambda own: Facts(own).correct(number, text, again=again))

    def confirm(self, numbers: Sequence[int]) -> None:
        """As `Facts.confirm`."""
        self._change(numbers, lambda own: Facts(own).confirm(numbers))

    def forget(self, numbers: Sequence[int]) -> None:
        """As `Facts.forget`."""
        self._change(numbers, lambda own: Facts(own).forget(numbers))

    def pin(self, numbers: Sequence[int], pinned: bool = True) -> None:
        """As `Facts.pin`."""
        self._change(numbers, lambda own: Facts(own).pin(numbers, pinned))

    def mute(self, numbers: Sequence[int], muted: bool = True) -> None:
        """Send these facts to no agent of any project, or send them again."""
        self._change(numbers, lambda own: Mutes(own).mute(numbers) if muted else Mutes(own).unmute(numbers))

    def tag(self, numbers: Sequence[int], tag: str) -> str:
        """As `Tagging.add_tags`."""
        return self._change(
            numbers, lambda own: Tagging(own).add_tags([("fact", number) for number in numbers], tag)
        )

    def untag(self, numbers: Sequence[int], tag: str) -> None:
        """As `Tagging.remove_tags`."""
        self._change(numbers, lambda own: Tagging(own).remove_tags([("fact", number) for number in numbers], tag))

    def _change(
        self,
        numbers: Sequence[int],
        work: Callable[[Database], Result],
        opened: Callable[[Database], Database] = require_personal_memory,
    ) -> Result:
        """Do work on the person's own memory, about the global facts of these numbers; an error names them as a project
        does. Raise NotFound, or MemorandaError where that memory cannot be changed."""
        self._database.refuse_unwritable()
        own = opened(self._database)
        own.refuse_unwritable()
        there = {fact.id for fact in get_cited_globals(self._database, numbers)}
        for number in numbers:
            if number not in there:
                raise missing_global_error(number)
        try:
            return work(own)
        except (Conflict, InvalidInput, NotFound) as error:
            if own is self._database:
                raise
            raise type(error)(_rewrite_message(own, error.message), _rewrite_message(own, error.next)) from None


def get_cited_globals(database: Database, numbers: Sequence[int]) -> Sequence[Fact | GlobalFact]:
    """Return the global facts that `G#` cites: in the person's own memory they are its facts."""
    if is_personal_memory(database.path):
        return [fact for fact in Facts(database).get_many(numbers) if fact.scope == GLOBAL_SCOPE]
    return GlobalFacts(database).get_many(numbers)


def missing_global_error(number: int) -> NotFound:
    """Return the error for a global fact that does not exist."""
    return NotFound(
        f"There is no global fact {cite('global', number)}.", "List them: memoranda list --scope global"
    )


def _rewrite_message(own: Database, text: str) -> str:
    """Return a message of the person's own memory as a project shows it: with its facts named as they are cited there,
    and the undo that reaches it."""
    parts, end = [], 0
    for start, stop, citation in find_citations(text):
        if citation.kind == "fact":
            number = int(citation.target)
            scopes = own.value("SELECT scope FROM facts WHERE id = ?", (number,))
            name = cite("global", number) if scopes == GLOBAL_SCOPE else f"{citation} of your personal memory"
            parts += [text[end:start], name]
            end = stop
    said = "".join([*parts, text[end:]])
    return said.replace("Undo brings it back.", "memoranda undo --global brings it back.")
