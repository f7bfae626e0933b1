"""init, where, open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from shlex import quote
from typing import Any

import store
from store.base.clock import utc_now
from store.base.errors import (
    Conflict,
    ExitStatus,
    InvalidInput,
    MemorandaError,
    NotFound,
    StorageError,
)
from store.base.extensions import require_part
from store.base.location import Location, locate, locate_new_memory
from store.base.state_files import state_folder
from store.doors.connection import examine_agents
from store.memory import Memory
from store.parts import PART_PACKAGES
from store.upkeep.adoption import examine_ownership
from store.upkeep.checks import WRONG, Finding, ignore_progress
from store.upkeep.doctor import examine
from tui.commands.call import Outcome, Session, absolute_path
from tui.demo import build_demo
from tui.demo.tour import begin_tour
from tui.input.arguments import ParsedArguments
from tui.render.lines import format_count
from tui.theme.escape import visible

# demo.

DEMO_HINT = (
    "Leave the application and type `memoranda demo`: it opens a memory of its own, and this one is not touched."
)


def demo(session: Session, given: ParsedArguments) -> Outcome:
    """Build the demo and open it if there is a terminal; delete a temporary one when the application is left."""
    if session.location.kind == "option":
        raise InvalidInput("The demo makes a memory of its own.", "Leave --db out; a FOLDER may say where.")
    folder = _demo_folder(session, given.folder)
    kept = given.keep or given.folder is not None or session.application is None
    try:
        place = build_demo(folder, utc_now())
        begin_tour(place.path)
    except BaseException:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if session.application is None:
        return _demo_outcome("A demo was made", place)
    try:
        status = session.application(place, place.project or folder)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    if not kept:
        return Outcome(f"Demo deleted, with its folder {folder}.", status=status)
    outcome = _demo_outcome("The demo is kept", place)
    outcome.status = status
    return outcome


def _demo_folder(session: Session, named: str | None) -> str:
    """Return the folder for the demo: a new temporary one, or the one named, if it is new or empty. Raises Conflict."""
    if named is None:
        return tempfile.mkdtemp(prefix="memoranda-demo-")
    folder = absolute_path(session, named)
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


def where(session: Session, given: ParsedArguments) -> Outcome:
    """Tell which memory file is used, why, and whether it belongs to this installation."""
    location = session.location
    there = os.path.lexists(location.path)
    state = "" if there else " (not made yet)"
    lines = [location.reason]
    if there:
        lines.append(examine_ownership(location)[1])
    return Outcome(
        f"{location.path}{state}",
        lambda: {**_location_json(location), "ours": examine_ownership(location)[0]},
        lines=lines,
    )


def init(session: Session, given: ParsedArguments) -> Outcome:
    chosen = session.location
    location = chosen if chosen.kind in ("option", "environment") else locate_new_memory(session.cwd)
    with Memory(location, "cli") as memory:
        said = "Started a memory" if memory.created else "There is a memory already"
    add_recent(location.path)
    return Outcome(f"{said}: {location.path}", lambda: _location_json(location))


def open_other(session: Session, given: ParsedArguments) -> Outcome:
    if not given.place:
        places = read_recent()
        lines = [recent_label(place) for place in places] or ["No other memory was open before."]
        return Outcome(data=lambda: [{"path": place} for place in places], lines=lines)
    location, folder = locate_memory(given.place, session.cwd)
    if session.application is not None:
        return Outcome(status=session.application(location, folder))
    return Outcome(
        f"{location.path}", lambda: _location_json(location), lines=["In a terminal this opens the application."]
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
            f"There is no memory at {path}.", "Name a project's folder or a memory file; init starts one."
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


# doctor, salvage.

HEAD_DIGITS = 64  # digits of a digest
STATE_SIGNS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


def doctor(session: Session, given: ParsedArguments) -> Outcome:
    if given.head and (len(given.head) != HEAD_DIGITS or given.head.strip("0123456789abcdef")):
        raise InvalidInput(
            "A head is 64 hexadecimal digits.", "`memoranda doctor` names the one that there is now."
        )
    progress = _show_progress if sys.stderr.isatty() and not session.json else ignore_progress
    found = list(examine(session.location, given.quick, given.head, progress))
    if not session.location.look:
        progress("agents", 0, 0)
        home = os.path.expanduser("~")
        found += examine_agents(session.location, session.cwd, home, dict(os.environ), given.quick)
    progress("", 0, 0)
    wrong = sum(one.state == WRONG for one in found)
    width = max(len(one.subject) for one in found)
    lines = [
        f"{STATE_SIGNS[one.state]}  {one.subject:<{width}}  {visible(f'{one.says} {one.next}'.strip())}"
        for one in found
    ]
    lines.append(doctor_verdict(found))
    return Outcome(
        lines=lines,
        data=lambda: {
            "wrong": wrong,
            "findings": [
                {"subject": one.subject, "state": one.state, "says": one.says, "next": one.next} for one in found
            ],
        },
        status=ExitStatus.PERSON if wrong else ExitStatus.DONE,
    )


def doctor_verdict(found: list[Finding]) -> str:
    """Summarise all findings in a sentence."""
    wrong = sum(one.state == "wrong" for one in found)
    return f"{format_count(wrong, 'thing')} to be mended." if wrong else "Nothing is wrong."


def _show_progress(what: str, done: int, total: int) -> None:
    """Show the current check on one line of the terminal, and clear it at the end."""
    far = f" {done:,} of {total:,}" if total else ""
    print(f"\r\x1b[K{f'checking {what}{far}' if what else ''}", end="", flush=True, file=sys.stderr)


def salvage(session: Session, given: ParsedArguments) -> Outcome:
    """Salvage in a separate process: closing a second handle to the file releases the POSIX locks of an open SQLite
    connection in this one, as the application has."""
    require_part("rescue")
    path = absolute_path(session, given.file)
    into = absolute_path(session, given.into) if given.into else None
    report = _salvage_apart(path, into, _show_progress if sys.stderr.isatty() and not session.json else None)
    lines = [f"  {table['table']:<14} {_salvaged_words(table)}" for table in report["tables"]]
    lines += [*report["notes"], f"The damaged file is as it was: {path}"]
    return Outcome(f"Salvaged to {report['into']}.", lambda: report, lines)


def _salvaged_words(table: dict[str, Any]) -> str:
    """Summarise in a few words what was recovered of a table."""
    said = f"{table['read']:>9,} read"
    if table["from_history"]:
        said += f", {table['from_history']:,} made again from history"
    if table["lost"]:
        said += f", {table['lost']:,} lost"
    return said


def _salvage_apart(path: str, into: str | None, progress: Callable[[str, int, int], None] | None) -> dict[str, Any]:
    """Salvage in a new process, which reports its progress line by line. Raises what the process raised."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(store.__file__)))
    words = [sys.executable, "-m", f"{PART_PACKAGES['rescue']}.part", path, *([into] if into else [])]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=home
    ) as child:
        assert child.stdout is not None
        last: dict[str, Any] = {}
        for line in child.stdout:
            last = json.loads(line)
            if progress and "doing" in last:
                progress(last["doing"], last["done"], 0)
    if progress:
        progress("", 0, 0)
    if "report" in last:
        return dict(last["report"])
    if "error" in last:
        error = MemorandaError(last["error"]["message"], last["error"]["next"])
        error.code = last["error"]["code"]
        raise error
    raise StorageError("The salvage ended before it was done; nothing was changed.", "Try again.")
