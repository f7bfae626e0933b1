"""A home folder with the memories of four tools, as these wrote them, an hour old; and Engram's own search index."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from support.guarded import NIGHT, SETTINGS
from support.samples import SAMPLES, copied

from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import Config
from store.tools import guests
from store.tools.guard_moments import GuardRestorePlan, Occasion
from store.tools.guests import GuestText
from store.tools.source import Machine

INDEX = Path(__file__).with_name("engram_index.sql").read_text()


class GuestHome:
    """`now` is the moment at which the person acts, an hour after the files were written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claude = folder / ".claude" / "projects" / "-home-ines-src-faro" / "memory"
        self.notes = folder / "basic-memory"
        self.openclaw = folder / ".openclaw" / "workspace"
        self.engram = folder / ".engram" / "engram.db"
        shutil.copytree(SAMPLES / "claude-code" / "projects", folder / ".claude" / "projects")
        shutil.copytree(SAMPLES / "basic-memory", self.notes)
        (self.notes / "expected.json").unlink()
        shutil.copytree(SAMPLES / "openclaw", self.openclaw)
        copied("engram", folder)
        (folder / "engram").rename(self.engram.parent)
        for left in self.engram.parent.glob("engram-*"):
            left.unlink() if not left.name.startswith("engram.db") else None
        self.run_sql(INDEX)
        self.now = NIGHT
        self.age()

    def run_sql(self, script: str) -> None:
        with closing(sqlite3.connect(self.engram)) as connection:
            connection.executescript(script)

    def sql(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.engram)) as connection:
            return connection.execute(query, values).fetchall()

    def age(self) -> None:
        """Let every file and folder be an hour old."""
        at = self.now / 1000 - 3_600
        for path in [self.folder, *self.folder.rglob("*")]:
            if not path.is_symlink():
                os.utime(path, (at, at))

    @property
    def machine(self) -> Machine:
        return Machine(str(self.folder))

    @property
    def config(self) -> Config:
        return SETTINGS  # type: ignore[return-value]

    @property
    def occasion(self) -> Occasion:
        return Occasion(self.config, self.machine, self.now)

    def texts(self, *tools: str) -> list[GuestText]:
        return guests.list_guest_texts(self.machine, tools or GUEST_TOOLS).texts

    def text(self, part: str, *tools: str) -> GuestText:
        """The text that has these words, the smallest where several have."""
        return min((one for one in self.texts(*tools) if part in one.text), key=lambda one: len(one.text))

    def run(self, plan: GuardRestorePlan) -> int:
        self.now += 60_000
        return guests.run_guest_plan(self.occasion, plan)

    def correct(self, one: GuestText, text: str) -> int:
        return self.run(guests.plan_guest_correction(self.occasion, one, text))

    def delete(self, one: GuestText) -> int:
        return self.run(guests.plan_guest_deletion(self.occasion, one))

    def undo(self) -> int:
        return self.run(guests.plan_guest_undo(self.occasion))

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for place in (self.claude.parent, self.notes, self.openclaw)
            for path in sorted(place.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
