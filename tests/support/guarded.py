"""A home folder with the memories of tools, and a guard that looks at it at times that a test sets."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from support.samples import copied

from store.base import state_files
from store.tools import guard_database, guard_moments
from store.tools.guard_database import open_guard
from store.tools.guard_moments import GuardMoment, GuardRestorePlan, LookResult, Occasion
from store.tools.source import Machine

SETTINGS: dict[str, Any] = {"guard.days": 90, "guard.megabytes": 500, "guard.paths": [], "guard.key": "file"}
NIGHT = 1_795_575_000_000  # 03:10 of a night, in milliseconds
MINUTE = 60_000


class GuardedHome:
    """`now` is the moment of the next look; files are written at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = folder / ".claude" / "projects" / "-home-ines-faro" / "memory"
        self.memory.mkdir(parents=True)
        self.settings = dict(SETTINGS)
        self.now = NIGHT

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.age(path)
        return path

    def age(self, *paths: Path) -> None:
        """Let files, and their folders, be as old as `now`."""
        for path in paths:
            for one in (path, path.parent):
                if one.exists():
                    os.utime(one, (self.now / 1000, self.now / 1000))

    def remove(self, *names: str) -> None:
        for name in names:
            (self.memory / name).unlink()
            self.age(self.memory / name)

    def engram(self) -> Path:
        """Bring in Engram's sample; its rows are still in the log."""
        copied("engram", self.folder.parent)
        (self.folder.parent / "engram").rename(self.folder / ".engram")
        return self.folder / ".engram" / "engram.db"

    @property
    def occasion(self) -> Occasion:
        return Occasion(self.settings, Machine(str(self.folder)), self.now)  # type: ignore[arg-type]

    def look(self, minutes: float = 0, databases: bool = True) -> LookResult:
        self.now += round(minutes * MINUTE)
        return guard_moments.look_at_files(*self.occasion, databases)

    def look_after(self, name: str, text: str, minutes: float = 0) -> LookResult:
        """Write a file, and look."""
        self.write(name, text)
        return self.look(minutes)

    def plan(self, number: int | None = None, name: str = "") -> GuardRestorePlan:
        """Plan a restore, a minute later; without a number the undo of the last one."""
        self.now += MINUTE
        name, lines = guard_moments.parse_restore_target(name)
        return guard_moments.plan_guard_restore(self.occasion, number, name, lines)

    def run(self, plan: GuardRestorePlan) -> int:
        return guard_moments.run_guard_restore(self.occasion, plan)

    def restore(self, number: int | None = None, name: str = "") -> int:
        return self.run(self.plan(number, name))

    def content(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.memory)): path.read_bytes() for path in sorted(self.memory.rglob("*.md"))}

    def moments(self) -> list[GuardMoment]:
        with open_guard() as kept:
            return guard_moments.recent_moments(kept, 100)

    def changes(self) -> list[list[tuple[str, str]]]:
        """What became of which file, for each moment, the newest first."""
        return [[(one.effect, Path(one.file.path).name) for one in moment.files] for moment in self.moments()]

    def shown(self, number: int) -> list[str]:
        """The lines of a moment's differences: sign, number before, text."""
        with open_guard() as kept:
            lines = []
            for one in guard_moments.get_moment(kept, number).files:
                before, after = (guard_moments.version_lines(kept, one.file, v) for v in (one.before, one.after))
                lines += [f"{one.sign}{one.before} {one.text}" for one in guard_moments.compare_lines(before, after)]
            return lines


def key_file() -> Path:
    """Return the file of the key of the guard of this installation."""
    name = state_files.state_name_of(guard_database.KEY_NAME, guard_database.guard_path())
    return Path(state_files.state_folder(), name)


def add_memory(database: Path, title: str, text: str) -> None:
    """Let Engram remember one more thing, in its log, as the running program does."""
    connection = sqlite3.connect(database)
    try:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with connection:
            query = "SELECT id, 'fact', ?, ? FROM sessions LIMIT 1"
            connection.execute(f"INSERT INTO observations(session_id, type, title, content) {query}", (title, text))
    finally:
        connection.close()
