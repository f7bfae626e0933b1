"""uninstall."""

import os

from store.base.errors import Declined, StorageError
from tui.commands import Outcome, Session
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.doors.connect import removal
    from tui.input.argument_parser import ParsedArguments

HOW = "Leave the application first, and every agent; then run memoranda uninstall in a shell."
AFTER = "Then the program itself: uv tool uninstall memoranda, or pipx uninstall memoranda, or remove its environment."


def uninstall(session: Session, given: "ParsedArguments") -> Outcome:
    """Say what would be taken back, ask, and take it back. Raises Declined and StorageError."""
    from store.config.files import user_path as user_config_path
    from store.doors.connect import removal

    found = removal.find(os.path.expanduser("~"), os.environ)
    stays = [f"stays  {visible(path)}" for path in [*found.memories, user_config_path()] if os.path.exists(path)]
    if found.nothing:
        return Outcome("There is nothing of Memoranda outside of its memories.", lambda: _data(found), [*stays, AFTER])
    lines = [*_lines(found), *stays]
    if given.dry_run:
        return Outcome("Nothing was changed; this would be taken back:", lambda: _data(found), lines)
    if not given.yes and not session.ask("Take all of this back?", lines):
        raise Declined("Nothing was changed.")
    if troubles := removal.remove(found):
        raise StorageError(
            " ".join(troubles), "What is left can be taken back by the same command, once that is mended."
        )
    if found.memories:
        stays.append(
            "A memory that stays is nobody's for a later installation: memoranda adopt --whole takes it again."
        )
    return Outcome("Taken back: agents and git are as they were.", lambda: _data(found), [*lines, *stays[-1:], AFTER])


def _lines(found: "removal.Removal") -> list[str]:
    lines = []
    for plan in found.connections:
        where = "you" if plan.place.scope == "user" else plan.place.root
        lines.append(f"agent  {plan.client.title}, {visible(where)}")
        lines += [f"       {visible(change.file)}" for change in plan.changes]
        lines += [f"  !    {visible(says)}" for says in plan.in_the_way]
    lines += [f"hooks  git, {visible(root)}" for root in found.checkouts]
    if found.guard:
        lines.append(f"guard  every version that it kept, {visible(found.guard)}: no change before now can be put back")
    lines += [f"state  {visible(folder)}" for folder in found.folders]
    return lines


def _data(found: "removal.Removal") -> dict[str, object]:
    return {
        "agents": [
            {"agent": plan.client.name, "scope": plan.place.scope, "files": [change.file for change in plan.changes]}
            for plan in found.connections
        ],
        "checkouts": found.checkouts,
        "guard": found.guard,
        "folders": found.folders,
        "memories": found.memories,
    }
