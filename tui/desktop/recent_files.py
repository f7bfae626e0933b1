"""The list of recently opened memories: one path a line, newest first, in the platform's state directory."""

from __future__ import annotations

import os

KEPT = 20


def path() -> str:
    """Return the path of the list."""
    from platformdirs import user_state_path

    return str(user_state_path("memoranda", appauthor=False) / "recent")


def read() -> list[str]:
    """Return the recent memory files that still exist, newest first."""
    try:
        with open(path(), encoding="utf-8") as file:
            return [line for line in file.read().splitlines() if line and os.path.exists(line)]
    except (OSError, UnicodeDecodeError):
        return []


def add(memory: str) -> None:
    """Move a memory to the front. Ignore write errors: the list is a convenience."""
    if "\n" in memory:
        return
    places = [memory, *(place for place in read() if place != memory)][:KEPT]
    target = path()
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(f"{target}.new", "w", encoding="utf-8") as file:
            file.write("\n".join(places) + "\n")
        os.replace(f"{target}.new", target)
    except (OSError, UnicodeEncodeError):
        return


def shown(memory: str) -> str:
    """Format a memory for display: the project's name, and its folder with ~ for home."""
    folder = os.path.dirname(memory)
    if os.path.basename(folder) == ".memoranda":
        folder = os.path.dirname(folder)
        name = os.path.basename(folder)
    else:
        name, folder = os.path.basename(memory), memory
    home = os.path.expanduser("~")
    return f"{name}   {'~' + folder.removeprefix(home) if folder.startswith(home + os.sep) else folder}"
