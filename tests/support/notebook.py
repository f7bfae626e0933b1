"""A file that is kept in sync, and the person who edits it in any editor."""

import os
from pathlib import Path

from store.memory import Memory
from store.sync.sync import SyncReport


class Notebook:
    """The file MEMORY.md of a memory, as a person's editor sees it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.path = Path(memory.location.project or "") / "MEMORY.md"
        self.last = SyncReport("MEMORY.md")

    def sync(self) -> SyncReport:
        self.last = self.memory.sync.sync_file()
        return self.last

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    def save(self, text: str) -> None:
        """Save as vim does: a new file in the place of the old one."""
        part = self.path.with_name("MEMORY.md~")
        part.write_bytes(text.encode())
        os.replace(part, self.path)

    def edit(self, *changes: tuple[str, str]) -> SyncReport:
        """Replace texts, each there once, save, and sync."""
        text = self.text
        for old, new in changes:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        self.save(text)
        return self.sync()

    @property
    def items(self) -> list[str]:
        """The items of the file, without their citations."""
        return [line[2:].rpartition(" [F#")[0] or line[2:] for line in self.text.split("\n") if line.startswith("- ")]

    def active(self) -> list[str]:
        """The texts of the active facts, by id."""
        query = "SELECT fact FROM facts WHERE status = 'active' ORDER BY id"
        return [text for (text,) in self.memory.database.rows(query)]

    def waiting(self) -> list[tuple[str, str]]:
        """Kind and text of what waits in the inbox, the oldest first."""
        return [(one.kind, one.text) for one in sorted(self.memory.inbox.waiting(), key=lambda one: one.id)]
