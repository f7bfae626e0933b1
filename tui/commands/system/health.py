"""doctor, salvage."""

import os
import sys

from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from store.health.finding import Finding
    from tui.input.argument_parser import ParsedArguments

HEAD = 64  # digits of a digest
SIGNS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


def doctor(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.errors import InvalidInput
    from store.doors.connect.connection_check import examine_agents
    from store.health.doctor import examine
    from store.health.finding import WRONG, quiet
    from tui.theme.escape import visible

    if given.head and (len(given.head) != HEAD or given.head.strip("0123456789abcdef")):
        raise InvalidInput("A head is 64 hexadecimal digits.", "`memoranda doctor` names the one that there is now.")
    progress = _shown if sys.stderr.isatty() and not session.json else quiet
    found = list(examine(session.location, given.quick, given.head, progress))
    if not session.location.look:
        progress("agents", 0, 0)
        home = os.path.expanduser("~")
        found += examine_agents(session.location, session.cwd, home, dict(os.environ), given.quick)
    progress("", 0, 0)
    wrong = sum(one.state == WRONG for one in found)
    width = max(len(one.subject) for one in found)
    lines = [
        f"{SIGNS[one.state]}  {one.subject:<{width}}  {visible(f'{one.says} {one.next}'.strip())}" for one in found
    ]
    lines.append(verdict(found))
    return Outcome(
        lines=lines,
        data=lambda: {
            "wrong": wrong,
            "findings": [
                {"subject": one.subject, "state": one.state, "says": one.says, "next": one.next} for one in found
            ],
        },
        status=1 if wrong else 0,
    )


def verdict(found: "list[Finding]") -> str:
    """Summarise all findings in a sentence."""
    wrong = sum(one.state == "wrong" for one in found)
    return f"{count(wrong, 'thing')} to be mended." if wrong else "Nothing is wrong."


def _shown(what: str, done: int, total: int) -> None:
    """Show the current check on one line of the terminal, and clear it at the end."""
    far = f" {done:,} of {total:,}" if total else ""
    print(f"\r\x1b[K{f'checking {what}{far}' if what else ''}", end="", flush=True, file=sys.stderr)


def salvage(session: Session, given: "ParsedArguments") -> Outcome:
    """Salvage in a separate process: closing a second handle to the file releases the POSIX locks of an open SQLite
    connection in this one, as the application has."""
    path = _path(session, given.file)
    into = _path(session, given.into) if given.into else None
    report = _apart(path, into, _shown if sys.stderr.isatty() and not session.json else None)
    lines = [f"  {table['table']:<14} {_came(table)}" for table in report["tables"]]
    lines += [*report["notes"], f"The damaged file is as it was: {path}"]
    return Outcome(f"Salvaged to {report['into']}.", lambda: report, lines)


def _came(table: "dict[str, Any]") -> str:
    """Summarise in a few words what was recovered of a table."""
    said = f"{table['read']:>9,} read"
    if table["from_history"]:
        said += f", {table['from_history']:,} made again from history"
    if table["lost"]:
        said += f", {table['lost']:,} lost"
    return said


def _path(session: Session, text: str) -> str:
    return os.path.abspath(os.path.join(session.cwd, os.path.expanduser(text)))


def _apart(path: str, into: str | None, progress: "Callable[[str, int, int], None] | None") -> "dict[str, Any]":
    """Salvage in a new process, which reports its progress line by line. Raises what the process raised."""
    import json
    import subprocess

    import store
    from store.base.errors import MemorandaError, StorageError

    home = os.path.dirname(os.path.dirname(os.path.abspath(store.__file__)))
    words = [sys.executable, "-m", "store.salvage", path, *([into] if into else [])]
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
