"""demo, open: other memories."""

from __future__ import annotations

import os
import shutil
import tempfile
from shlex import quote

from store.base.clock import utc_now
from store.base.errors import (
    Conflict,
    InvalidInput,
    NotFound,
)
from store.base.location import Location, locate, locate_new_memory
from store.base.state_files import state_folder
from store.memory import Memory
from store.upkeep.adoption import examine_ownership
from tui.commands.call import Call, Outcome
from tui.demo import begin_tour
from tui.input.arguments import UsageError, verb

# demo.

DEMO_HINT = (
    "Leave the application and type `memoranda demo`: it opens a memory of its own, and this one is not touched."
)


@verb(opens="nothing")
def demo(call: Call, folder: str | None = None, *, keep: bool = False) -> Outcome:
    """Open an invented project with a year of memory, to try everything on.

    Without a terminal it is made and kept; a temporary one is deleted when the application is left.

    folder: make it there, and keep it (a temporary place, for as long as it is open)
    keep: keep it in the temporary place
    """
    if call.location.kind == "option":
        raise InvalidInput("The demo makes a memory of its own.", "Leave --db out; a FOLDER may say where.")
    # 30 ms of the application's start, which needs what is beside it here
    from tui.demo.builder import build_demo

    root = _demo_folder(call, folder)
    kept = keep or folder is not None or call.application is None
    try:
        place = build_demo(root, utc_now())
        begin_tour(place.path)
    except BaseException:
        if folder is None:
            shutil.rmtree(root, ignore_errors=True)
        raise
    if call.application is None:
        return _demo_outcome("A demo was made", place)
    try:
        status = call.application(place, place.project or root)
    finally:
        if not kept:
            shutil.rmtree(root, ignore_errors=True)
    if not kept:
        return Outcome(f"Demo deleted, with its folder {root}.", status=status)
    outcome = _demo_outcome("The demo is kept", place)
    outcome.status = status
    return outcome


def _demo_folder(call: Call, named: str | None) -> str:
    """Return the folder for the demo: a new temporary one, or the one named, if it is new or empty. Raises Conflict."""
    if named is None:
        return tempfile.mkdtemp(prefix="memoranda-demo-")
    folder = call.path(named)
    try:
        empty = not os.listdir(folder)
    except FileNotFoundError:
        empty = True
    except OSError:
        empty = False
    if not empty:
        raise Conflict(f"{folder} is not an empty folder.", "Name a new one, or leave FOLDER out.")
    return folder


def _demo_outcome(said: str, place: Location) -> Outcome:
    root = place.project or ""
    return Outcome(
        f"{said}: {root}",
        lambda: {"folder": root, "path": place.path},
        lines=[
            f"Open it: cd {quote(root)} && memoranda",
            "Remove it by removing the folder; nothing else knows of it.",
        ],
    )


# The list of recently opened memories: one path a line, newest first, in the platform's state directory.

KEPT_RECENT = 20


def recent_path() -> str:
    """Return the path of the list of recent memories."""
    return os.path.join(state_folder(), "recent")


def read_recent() -> list[str]:
    """Return the recent memory files that still exist, newest first."""
    try:
        with open(recent_path(), encoding="utf-8") as file:
            return [line for line in file.read().splitlines() if line and os.path.exists(line)]
    except (OSError, UnicodeDecodeError):
        return []


def add_recent(memory: str) -> None:
    """Move a memory to the front of the recent ones. Ignore write errors: the list is a convenience."""
    if "\n" in memory:
        return
    places = [memory, *(place for place in read_recent() if place != memory)][:KEPT_RECENT]
    target = recent_path()
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(f"{target}.new", "w", encoding="utf-8") as file:
            file.write("\n".join(places) + "\n")
        os.replace(f"{target}.new", target)
    except (OSError, UnicodeEncodeError):
        return


def recent_label(memory: str) -> str:
    """Format a memory for display: the project's name, and its folder with ~ for home."""
    folder = os.path.dirname(memory)
    if os.path.basename(folder) == ".memoranda":
        folder = os.path.dirname(folder)
        name = os.path.basename(folder)
    else:
        name, folder = os.path.basename(memory), memory
    home = os.path.expanduser("~")
    return f"{name}   {'~' + folder.removeprefix(home) if folder.startswith(home + os.sep) else folder}"


@verb("open", opens="nothing")
def open_memory(call: Call, place: str | None = None, *, new: bool = False, where: bool = False) -> Outcome:
    """Open the memory of another project; without a place, list those that were open before.

    place: a project's folder, or a memory file
    new: instead: start a memory for this folder
    where: instead: which memory file is used here, and why
    """
    if bool(place) + new + where > 1:
        raise UsageError("open takes one of PLACE, --new and --where.", "See `memoranda open --help`.")
    if new:
        return _start_memory(call)
    if where:
        return _describe_location(call.location)
    if not place:
        places = read_recent()
        lines = [recent_label(one) for one in places] or ["No other memory was open before."]
        return Outcome(data=lambda: [{"path": one} for one in places], lines=lines)
    location, folder = locate_memory(place, call.cwd)
    if call.application is not None:
        return Outcome(status=call.application(location, folder))
    return Outcome(
        f"{location.path}", lambda: _location_json(location), lines=["In a terminal this opens the application."]
    )


def _start_memory(call: Call) -> Outcome:
    """Start a memory for this folder, or tell that there is one."""
    chosen = call.location
    location = chosen if chosen.kind in ("option", "environment") else locate_new_memory(call.cwd)
    with Memory(location, "cli") as memory:
        said = "Started a memory" if memory.created else "There is a memory already"
    add_recent(location.path)
    return Outcome(f"{said}: {location.path}", lambda: _location_json(location))


def _describe_location(location: Location) -> Outcome:
    """Tell which memory file is used, why, and whether it belongs to this installation."""
    there = os.path.lexists(location.path)
    lines = [location.reason]
    if there:
        lines.append(examine_ownership(location)[1])
    return Outcome(
        f"{location.path}{'' if there else ' (not made yet)'}",
        lambda: {**_location_json(location), "ours": examine_ownership(location)[0]},
        lines=lines,
    )


def locate_memory(text: str, cwd: str) -> tuple[Location, str]:
    """Return the memory of a folder or a memory file, and the folder it is used from. Raise NotFound if there is
    none: opening a memory elsewhere never creates a file."""
    path = os.path.abspath(os.path.join(cwd, os.path.expanduser(text)))
    if os.path.isdir(path):
        location = locate(None, {}, path)
        folder = path
    else:
        location = locate(path, {}, cwd)
        folder = location.project or cwd
    if not os.path.lexists(location.path):
        raise NotFound(
            f"There is no memory at {path}.", "Name a project's folder or a memory file; open --new starts one."
        )
    return location, folder


def _location_json(location: Location) -> dict[str, object]:
    """Return a location for scripts."""
    return {
        "path": location.path,
        "kind": location.kind,
        "reason": location.reason,
        "project": location.project,
        "exists": os.path.lexists(location.path),
    }
