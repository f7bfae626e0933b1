"""What a person's own configuration of git says about reaching a remote: also what it says for a project's folder alone
(`includeIf`), which a git that runs elsewhere does not read. Nothing is taken from the project's configuration."""

import os
import shlex
from collections import Counter

from store.git.process import printed

SILENT_SECONDS = 60  # until a remote that sends nothing is given up
ASKS_NOTHING = f"-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval={SILENT_SECONDS // 3}"
OWN = ("global", "system")
COMMAND = "core.sshcommand"
_REACHING = (COMMAND, "credential.", "http.", "ssh.", "user.signingkey", "gpg.")

Setting = tuple[
    str, str | None
]  # a key in lower case, but for what is between its first and its last dot, and its value


def environment(project: str | None, folder: str) -> dict[str, str]:
    """Return the variables that a git outside of a project needs to reach its remote as the person's git does in it.
    `folder` is any other one."""
    settings = _own(project or folder)
    found: dict[str, str] = {}
    commands = [value for key, value in settings if key == COMMAND and value]
    if "GIT_SSH_COMMAND" not in os.environ and (commands or "GIT_SSH" not in os.environ):
        found["GIT_SSH_COMMAND"] = _asking_nothing(commands[-1] if commands else "ssh")
    if project is not None and any(key.startswith("includeif.") for key, _ in settings):
        elsewhere = Counter(_own(folder))
        here = Counter(settings) - elsewhere
        more = [one for one in settings if one in here and one[0].startswith(_REACHING)]
        found["GIT_CONFIG_COUNT"] = str(len(more))
        for number, (key, value) in enumerate(more):
            found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": "true" if value is None else value}
    return found


def _asking_nothing(command: str) -> str:
    """Return a command of SSH that asks nothing on a terminal; a program of the person's own as it is."""
    try:
        program = os.path.basename(shlex.split(command)[0])
    except (ValueError, IndexError):
        return command
    return f"{command} {ASKS_NOTHING}" if program == "ssh" else command


def _own(folder: str) -> list[Setting]:
    """Return what the person's own configuration says in a folder, in order; nothing where git cannot tell."""
    parts = printed(folder, "config", "--list", "--show-scope", "-z").split("\0")
    found: list[Setting] = []
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, apart, value = entry.partition("\n")
        if scope in OWN:
            found.append((key, value if apart else None))
    return found
