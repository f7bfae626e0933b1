"""demo, open: other memories."""

from __future__ import annotations

import os
import shutil
import tempfile
from shlex import quote
from typing import Annotated

from store.base.clock import utc_now
from store.base.errors import Conflict, ExitStatus, InvalidInput
from store.base.location import Location
from store.base.models import select_fields
from store.memory import Memory
from store.projects.locating import choose_memory, choose_own_memory, locate_memory
from store.projects.registry import OFF, PERSONAL
from store.upkeep.adoption import (
    add_recent,
    examine_ownership,
    list_memories,
    list_place_notes,
    memory_line,
    move_memory,
    read_recent,
    recent_label,
)
from tui.commands.call import Call, Outcome
from tui.demo import keep_tour
from tui.input.arguments import Shown, UsageError, verb

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

    if folder is None:
        root = tempfile.mkdtemp(prefix="memoranda-demo-")
    else:
        root = call.path(folder)
        try:
            empty = not os.listdir(root)
        except OSError as error:
            empty = isinstance(error, FileNotFoundError)
        if not empty:
            raise Conflict(f"{root} is not an empty folder.", "Name a new one, or leave FOLDER out.")
    passing = folder is None
    status = ExitStatus.DONE
    try:
        place = build_demo(root, utc_now())
        keep_tour(place.path, 0, left=False)
        passing = passing and not keep and call.application is not None
        if call.application is not None:
            status = call.application(place, place.project or root)
    finally:
        if passing:
            shutil.rmtree(root, ignore_errors=True)
    if passing:
        return Outcome(f"Demo deleted, with its folder {root}.", status=status)
    made = place.project or root
    said = "The demo is kept" if call.application else "A demo was made"
    return Outcome(
        f"{said}: {made}",
        lambda: {"folder": made, "path": place.path},
        [
            f"Open it: cd {quote(made)} && memoranda",
            "Remove it by removing the folder; nothing else knows of it.",
        ],
        status=status,
    )


# open.


@verb("open", opens="nothing")
def open_memory(
    call: Call,
    place: str | None = None,
    *,
    new: bool = False,
    with_: Annotated[str | None, Shown("PROJECT", file=True)] = None,
    personal: bool = False,
    off: bool = False,
    move: bool = False,
    where: bool = False,
    all: bool = False,
) -> Outcome:
    """Open the memory of another project; without a place, list those that were open before.

    place: a project's folder, or a memory file
    new: instead: start a memory for this folder
    with_: instead: have this folder use that project's memory, named by a folder of it or by its name
    personal: instead: have it use your personal memory
    off: instead: have it use none, and agents neither
    move: instead: move the memory out of the checkout that it lies in, to your data folder
    where: instead: which memory file is used here, and why
    all: with --where: list all memories of this installation
    """
    if bool(place) + new + bool(with_) + personal + off + move + where > 1 or (all and not where):
        taken = "open takes one of PLACE, --new, --with, --personal, --off, --move and --where."
        raise UsageError(taken, "See `memoranda open --help`.")
    if new:
        begun = call.location if call.location.kind in ("option", "environment") else choose_own_memory(call.cwd)
        with Memory(begun, "cli") as memory:
            said = "Started a memory" if memory.created else "There is a memory already"
        add_recent(begun.path)
        return Outcome(f"{said}: {begun.path}", lambda: _location_json(begun))
    if with_ or personal or off:
        chosen = choose_memory(call.cwd, with_ or (PERSONAL if personal else OFF))
        return Outcome(f"From now on: {chosen.reason}", lambda: _location_json(chosen), list_place_notes(chosen))
    if move:
        moved = move_memory(call.location)
        add_recent(moved.path)
        return Outcome(f"Moved the memory to {moved.path}.", lambda: _location_json(moved))
    if all:
        found = list_memories()
        lines = [memory_line(one) for one in found] or ["This installation has no memory yet."]
        return Outcome(data=lambda: [one._asdict() for one in found], lines=lines)
    if where:
        used = call.location
        if used.problem is not None:
            return Outcome(used.problem.message, lambda: _location_json(used), [used.problem.next])
        there = os.path.lexists(used.path)
        ours, says = examine_ownership(used)
        return Outcome(
            f"{used.path}{'' if there else ' (not made yet)'}",
            lambda: {**_location_json(used), "ours": ours},
            [used.reason, *list_place_notes(used), *([says] if there else [])],
        )
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


def _location_json(location: Location) -> dict[str, object]:
    """Return a location for scripts."""
    exists = os.path.lexists(location.path)
    said = ("kind", "reason", "project", "branch", "worktree", "folder", "notes")
    path = location.path if location.problem is None else None
    return {"path": path, **select_fields(location, *said), "exists": exists}
