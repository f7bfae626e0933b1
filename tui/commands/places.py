"""init, where."""

import os

from store.location import Location, here
from store.memory import Memory
from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.arguments import Given


def where(session: Session, given: "Given") -> Outcome:
    location = session.location
    there = os.path.lexists(location.path)
    state = "" if there else " (not made yet)"
    return Outcome(f"{location.path}{state}", lambda: _json(location), lines=[location.reason])


def init(session: Session, given: "Given") -> Outcome:
    chosen = session.location
    location = chosen if chosen.kind in ("option", "environment") else here(session.cwd)
    with Memory(location, "cli") as memory:
        said = "Started a memory" if memory.created else "There is a memory already"
    return Outcome(f"{said}: {location.path}", lambda: _json(location))


def _json(location: Location) -> dict[str, object]:
    return {
        "path": location.path,
        "kind": location.kind,
        "reason": location.reason,
        "project": location.project,
        "exists": os.path.lexists(location.path),
    }
