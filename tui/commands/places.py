"""init, where, open."""

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
    from tui import recent

    chosen = session.location
    location = chosen if chosen.kind in ("option", "environment") else here(session.cwd)
    with Memory(location, "cli") as memory:
        said = "Started a memory" if memory.created else "There is a memory already"
    recent.add(location.path)
    return Outcome(f"{said}: {location.path}", lambda: _json(location))


def open_other(session: Session, given: "Given") -> Outcome:
    from tui import recent

    if not given.place:
        places = recent.read()
        lines = [recent.shown(place) for place in places] or ["No other memory was open before."]
        return Outcome(data=lambda: [{"path": place} for place in places], lines=lines)
    location, folder = place(given.place, session.cwd)
    if session.application is not None:
        return Outcome(status=session.application(location, folder))
    return Outcome(f"{location.path}", lambda: _json(location), lines=["In a terminal this opens the application."])


def place(text: str, cwd: str) -> tuple[Location, str]:
    """(the memory that a folder or a memory file stands for, the folder it is used from). Raises NotFound for what is
    not there: a memory is never made by opening another."""
    from store.errors import NotFound
    from store.location import locate

    path = os.path.abspath(os.path.join(cwd, os.path.expanduser(text)))
    if os.path.isdir(path):
        location = locate(None, {}, path)
        folder = path
    else:
        location = locate(path, {}, cwd)
        folder = location.project or cwd
    if not os.path.lexists(location.path):
        raise NotFound(f"There is no memory at {path}.", "Name a project's folder or a memory file; init starts one.")
    return location, folder


def _json(location: Location) -> dict[str, object]:
    return {
        "path": location.path,
        "kind": location.kind,
        "reason": location.reason,
        "project": location.project,
        "exists": os.path.lexists(location.path),
    }
