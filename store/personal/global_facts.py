"""The global facts of a person, as every project of theirs shows and changes them."""

from collections.abc import Callable, Sequence

from store.base.citations import cite, find
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.location import is_personal
from store.database.database import Database
from store.personal.beside import beside, existing, needed, trouble
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.records.tagging import Tagging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any, TypeVar

    from store.base.models import Fact, GlobalFact

    Result = TypeVar("Result")

SCOPE = "global"


class GlobalFacts:
    """The facts of scope `global`, for the memory of a project; each change is one of the person's own memory, with a
    step of history there. In the person's own memory they are facts like any other, and `many` has none of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # read

    def many(self, numbers: "Sequence[int]") -> "list[GlobalFact]":
        """Return the global facts of these numbers that exist, in this order."""
        from store.base.models import GlobalFact

        other = beside(self._database) if numbers else None
        found = Facts(other).many(numbers) if other is not None else []
        return [GlobalFact(fact) for fact in found if fact.scope == SCOPE]

    def order(self, now: str, **filters: "Any") -> "array[int]":
        """Return the numbers of the global facts that match these filters, as `Facts.order`."""
        from array import array

        other = beside(self._database)
        return Facts(other).order(now, scope=SCOPE, **filters) if other is not None else array("I")

    def counts(self, now: str) -> dict[str, int]:
        """Count the global facts in each state, as `Facts.counts`; empty where there is no memory of the person's
        own."""
        other = beside(self._database)
        return Facts(other).counts(now, SCOPE) if other is not None else {}

    @property
    def step(self) -> int:
        """The newest step of history of the person's own memory; 0 without one."""
        other = beside(self._database)
        return other.value("SELECT max(seq) FROM history") or 0 if other is not None else 0

    def tally(self, column: str) -> list[tuple[str, int]]:
        """Count the active global facts by `domain` or `origin`."""
        other = beside(self._database)
        sql = f"SELECT {column}, count(*) FROM facts WHERE status = 'active' AND scope = ? GROUP BY 1"
        return other.rows(sql, (SCOPE,)) if other is not None else []

    def muted(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return those of these facts that are sent to no agent."""
        other = beside(self._database) if numbers else None
        return frozenset(Mutes(other).among(list(numbers))) if other is not None else frozenset()

    @property
    def trouble(self) -> str:
        """Why there are none to be read, where there is a memory of the person's own; empty otherwise."""
        return trouble(self._database) if beside(self._database) is None else ""

    def as_cited(self, text: str) -> str:
        """Return a text of the person's own memory, such as the reason of a step, with its facts named as this memory
        cites them."""
        own = beside(self._database)
        return _as_seen(own, text) if own is not None else text

    # write

    def remember(self, text: str, **given: "Any") -> tuple[int, bool]:
        """Remember a global fact, as `Facts.remember`; a person's own memory that is missing is created."""
        return self._change((), lambda own: Facts(own).remember(text, scope=SCOPE, **given), needed)

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
        """As `Tagging.add`."""
        return self._change(numbers, lambda own: Tagging(own).add([("fact", number) for number in numbers], tag))

    def untag(self, numbers: Sequence[int], tag: str) -> None:
        """As `Tagging.remove`."""
        self._change(numbers, lambda own: Tagging(own).remove([("fact", number) for number in numbers], tag))

    def _change(
        self,
        numbers: Sequence[int],
        work: "Callable[[Database], Result]",
        opened: Callable[[Database], Database] = existing,
    ) -> "Result":
        """Do work on the person's own memory, about the global facts of these numbers; an error names them as a project
        does. Raise NotFound, or MemorandaError where that memory cannot be changed."""
        self._database.refuse_unwritable()
        own = opened(self._database)
        own.refuse_unwritable()
        there = {fact.id for fact in cited(self._database, numbers)}
        for number in numbers:
            if number not in there:
                raise missing(number)
        try:
            return work(own)
        except (Conflict, InvalidInput, NotFound) as error:
            if own is self._database:
                raise
            raise type(error)(_as_seen(own, error.message), _as_seen(own, error.next)) from None


def cited(database: Database, numbers: "Sequence[int]") -> "Sequence[Fact | GlobalFact]":
    """Return the global facts that `G#` cites: in the person's own memory they are its facts."""
    if is_personal(database.path):
        return [fact for fact in Facts(database).many(numbers) if fact.scope == SCOPE]
    return GlobalFacts(database).many(numbers)


def missing(number: int) -> NotFound:
    """Return the error for a global fact that does not exist."""
    return NotFound(f"There is no global fact {cite('global', number)}.", "List them: memoranda facts --scope global")


def _as_seen(own: Database, text: str) -> str:
    """Return a message of the person's own memory as a project shows it: with its facts named as they are cited there,
    and the undo that reaches it."""
    parts, end = [], 0
    for start, stop, citation in find(text):
        if citation.kind == "fact":
            number = int(citation.target)
            scopes = own.value("SELECT scope FROM facts WHERE id = ?", (number,))
            name = cite("global", number) if scopes == SCOPE else f"{citation} of your personal memory"
            parts += [text[end:start], name]
            end = stop
    said = "".join([*parts, text[end:]])
    return said.replace("Undo brings it back.", "memoranda undo --global brings it back.")
