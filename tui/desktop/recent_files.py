"""Which memories were open before: one path a line, the newest first, in the platform's place for state."""

from __future__ import annotations

import os

KEPT = 20


def path() -> str:
    """The file of recent memories."""
    from platformdirs import user_state_path

    return str(user_state_path("memoranda", appauthor=False) / "recent")


def read() -> list[str]:
    """The memory files that were open before and are still there, the newest first."""
    try:
        with open(path(), encoding="utf-8") as file:
            return [line for line in file.read().splitlines() if line and os.path.exists(line)]
    except (OSError, UnicodeDecodeError):
        return []


def add(memory: str) -> None:
    """Put a memory in front. What cannot be kept is forgotten: it is a convenience."""
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
    """A memory as a person knows it: the project's name, and its folder with ~ for home."""
    folder = os.path.dirname(memory)
    if os.path.basename(folder) == ".memoranda":
        folder = os.path.dirname(folder)
        name = os.path.basename(folder)
    else:
        name, folder = os.path.basename(memory), memory
    home = os.path.expanduser("~")
    return f"{name}   {'~' + folder.removeprefix(home) if folder.startswith(home + os.sep) else folder}"
