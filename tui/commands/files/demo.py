"""demo."""

import os

from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.location import Location
    from tui.input.argument_parser import ParsedArguments

HOW = "Leave the application and type `memoranda demo`: it opens a memory of its own, and this one is not touched."


def demo(session: Session, given: "ParsedArguments") -> Outcome:
    """Build the demo and open it if there is a terminal; delete a temporary one when the application is left."""
    import shutil

    from store.base.clock import utc_now
    from store.base.errors import InvalidInput
    from tui.demo import build, tour

    if session.location.kind == "option":
        raise InvalidInput("The demo makes a memory of its own.", "Leave --db out; a FOLDER may say where.")
    folder = _folder(session, given.folder)
    kept = given.keep or given.folder is not None or session.application is None
    try:
        place = build(folder, utc_now())
        tour.begin(place.path)
    except BaseException:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if session.application is None:
        return _kept("A demo was made", place)
    try:
        status = session.application(place, place.project or folder)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    if not kept:
        return Outcome(f"Demo deleted, with its folder {folder}.", status=status)
    outcome = _kept("The demo is kept", place)
    outcome.status = status
    return outcome


def _folder(session: Session, named: str | None) -> str:
    """Return the folder for the demo: a new temporary one, or the one named, if it is new or empty. Raises Conflict."""
    from store.base.errors import Conflict

    if named is None:
        import tempfile

        return tempfile.mkdtemp(prefix="memoranda-demo-")
    folder = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(named)))
    try:
        empty = not os.listdir(folder)
    except FileNotFoundError:
        empty = True
    except OSError:
        empty = False
    if not empty:
        raise Conflict(f"{folder} is not an empty folder.", "Name a new one, or leave FOLDER out.")
    return folder


def _kept(said: str, place: "Location") -> Outcome:
    from shlex import quote

    root = place.project or ""
    return Outcome(
        f"{said}: {root}",
        lambda: {"folder": root, "path": place.path},
        lines=[
            f"Open it: cd {quote(root)} && memoranda",
            "Remove it by removing the folder; nothing else knows of it.",
        ],
    )
