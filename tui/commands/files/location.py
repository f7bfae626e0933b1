"""init, where, open, adopt."""

import os

from store.base.errors import Declined, InvalidInput, MemorandaError, NotOurs
from store.base.location import Location, here
from store.conversion import convert
from store.database.database import Database
from store.memory import Memory
from store.trust.ownership import Trust, require
from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments


def where(session: Session, given: "ParsedArguments") -> Outcome:
    location = session.location
    there = os.path.lexists(location.path)
    state = "" if there else " (not made yet)"
    lines = [location.reason]
    if there:
        lines.append(whose(location)[1])
    return Outcome(f"{location.path}{state}", lambda: {**_json(location), "ours": whose(location)[0]}, lines=lines)


def whose(location: Location) -> tuple[bool | None, str]:
    """Return (whether a memory belongs to this installation, None if unknown; that as a sentence)."""
    try:
        require(location.path)
        if os.path.getsize(location.path):
            Database(location.path, "cli", create=False, look=True, trust=Trust(location.path), convert=convert).close()
    except NotOurs as error:
        return False, str(error)
    except (MemorandaError, OSError) as error:
        return None, str(error)
    return True, "It is yours: this installation made or adopted it."


def adopt(session: Session, given: "ParsedArguments") -> Outcome:
    """Adopt a memory from another installation or an earlier version."""
    from store.services import adoption

    location = session.location
    if given.whole and given.as_proposals:
        raise InvalidInput("It is taken whole or as proposals, not both.", "Leave one of them away.")
    mine, says = whose(location)
    if mine:
        return Outcome(f"{says} {location.path}", lambda: {"path": location.path, "ours": True})
    if not given.as_proposals and not given.whole and not given.yes:
        question = "Take it whole, as your own? It will be served to agents, and its triggers and settings count."
        if not session.ask(question, [says]):
            raise Declined("Nothing was adopted; --as-proposals asks about each of its facts.")
    if given.as_proposals:
        done = adoption.as_proposals(location)
        left = f" {done.left} records could not be proposed." if done.left else ""
        wait = "waits" if done.proposals == 1 else "wait"
        said = f"{count(done.proposals, 'proposal')} {wait} in the inbox of a new memory: {location.path}.{left}"
        lines = [f"What was there is in {done.aside} now.", *filter(None, [done.warning])]
        return Outcome(said, done.as_dict, lines=lines)
    done = adoption.whole(location, earlier=mine is False and _unmarked(location))
    lines = [f"It holds for this process alone: {done.trouble}"] if done.trouble else []
    lines += filter(None, [done.warning])
    return Outcome(f"It is yours now: {location.path}", done.as_dict, lines=lines)


def _unmarked(location: Location) -> bool:
    try:
        require(location.path)
    except NotOurs as error:
        return error.unmarked
    return False


def init(session: Session, given: "ParsedArguments") -> Outcome:
    from tui.desktop import recent_files

    chosen = session.location
    location = chosen if chosen.kind in ("option", "environment") else here(session.cwd)
    with Memory(location, "cli") as memory:
        said = "Started a memory" if memory.created else "There is a memory already"
    recent_files.add(location.path)
    return Outcome(f"{said}: {location.path}", lambda: _json(location))


def open_other(session: Session, given: "ParsedArguments") -> Outcome:
    from tui.desktop import recent_files

    if not given.place:
        places = recent_files.read()
        lines = [recent_files.shown(place) for place in places] or ["No other memory was open before."]
        return Outcome(data=lambda: [{"path": place} for place in places], lines=lines)
    location, folder = place(given.place, session.cwd)
    if session.application is not None:
        return Outcome(status=session.application(location, folder))
    return Outcome(f"{location.path}", lambda: _json(location), lines=["In a terminal this opens the application."])


def place(text: str, cwd: str) -> tuple[Location, str]:
    """Return (the memory of a folder or a memory file, the folder it is used from). Raises NotFound if there is none:
    opening a memory that is elsewhere never creates one."""
    from store.base.errors import NotFound
    from store.base.location import locate

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
