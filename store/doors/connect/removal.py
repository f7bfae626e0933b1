"""What this installation wrote outside of memories, anywhere on this machine, and how it is taken back."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from store.base import hook_resident, installation
from store.base.location import FOLDER
from store.doors.connect import connection, git_hooks
from store.doors.connect.config_edit import InTheWay
from store.doors.connect.connection import ConnectionPlan
from store.guard import database as guard


@dataclass(slots=True)
class Removal:
    """What would be taken back: connected agents, `checkouts` with our lines in their git hooks, the versions that
    guard keeps (a path, empty without), and `folders` of ours. `memories` stay."""

    connections: list[ConnectionPlan] = field(default_factory=list)
    checkouts: list[str] = field(default_factory=list)
    guard: str = ""
    folders: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return not (self.connections or self.checkouts or self.guard or self.folders)


def find(home: str, environ: Mapping[str, str]) -> Removal:
    """Look for it; nothing is changed."""
    found = Removal()
    for client, place in connection.everywhere(home, environ):
        found.connections.append(connection.unplan(client, place))
    paths = [one.path for one in installation.memories()]
    found.memories = sorted(path for path in paths if os.path.exists(path) and not _copy(path))
    roots = {os.path.dirname(os.path.dirname(path)) for path in paths if _of_project(path)}
    found.checkouts = sorted(root for root in roots if os.path.isdir(root) and git_hooks.installed(root))
    found.guard = guard.place() if os.path.exists(guard.place()) else ""
    found.folders = [folder for folder in (installation.folder(), _models()) if os.path.isdir(folder)]
    return found


def remove(found: Removal) -> list[str]:
    """Take it back; return what could not be, a sentence each. What is known of a connection stays then, so that it can
    be taken back later."""
    import shutil

    troubles = []
    for seen in found.connections:
        plan = connection.unplan(seen.client, seen.place)  # again: several may have changed one file
        try:
            connection.disconnect(plan)
            troubles += plan.in_the_way
        except (InTheWay, OSError) as error:
            troubles.append(f"{plan.client.title}: {error}")
    for root in found.checkouts:
        try:
            done = git_hooks.uninstall(root)
        except OSError as error:
            troubles.append(f"{root}: {error.strerror}.")
        else:
            troubles += [one.says for one in done if one.state == "refused"]
    if troubles:
        return troubles
    if found.guard:
        guard.forget_all()
    hook_resident.end()
    for folder in found.folders:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            troubles.append(f"{folder} cannot be removed: {error.strerror}.")
    return troubles


def _of_project(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == FOLDER


def _copy(path: str) -> bool:
    """Return whether it is a backup: beside a memory, in the folder of backups."""
    return os.path.basename(os.path.dirname(path)) == "backups"


def _models() -> str:
    """Return the folder of models that were fetched."""
    from platformdirs import user_cache_path

    return str(user_cache_path("memoranda", appauthor=False))
