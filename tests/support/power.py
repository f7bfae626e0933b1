"""A VFS for SQLite that records all events, to simulate a power cut at any of them afterwards.

What was not synced at a power cut may be there or not, completely or in part, sector by sector; what was synced is
there. A created file exists once it was synced, or not at all; a deleted one is gone once the folder was synced, which
SQLite does with the first sync of a log or journal that it opened. The real calls are made as well, so that the memory
works."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

NAME = "recorder"
SECTOR = 512


@dataclass
class Event:
    """One event on a file: open, write, truncate, sync, delete; or a note of the test."""

    kind: str
    file: str = ""
    at: int = 0
    data: bytes = b""
    said: Any = None


class Recorded(apsw.VFSFile):
    def __init__(self, events: list[Event], name: Any, flags: list[int]) -> None:
        self._events = events
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("unix", name, flags)
        self._events.append(Event("open", self._name))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._events.append(Event("write", self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._events.append(Event("truncate", self._name, size))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._events.append(Event("sync", self._name))


class Recorder(apsw.VFS):
    def __init__(self, events: list[Event]) -> None:
        self._events = events
        super().__init__(NAME, "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> Recorded:
        return Recorded(self._events, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        super().xDelete(name, sync)
        self._events.append(Event("delete", name, int(sync)))


@contextmanager
def recorded() -> Iterator[list[Event]]:
    """Record the events of every connection opened inside, in the list that this yields."""
    events: list[Event] = []
    recorder = Recorder(events)
    try:
        yield events
    finally:
        apsw.set_default_vfs("unix")
        recorder.unregister()


@dataclass
class File:
    """A file's durable content, and the events since."""

    safe: bytearray | None = None
    since: list[Event] = field(default_factory=list)
    opened: bool = False  # not synced yet

    def keep(self, count: int) -> None:
        """Make the first `count` events durable."""
        self.safe = _applied(self.safe, self.since[:count])
        del self.since[:count]


class Disk:
    """The files on the disk, updated by events."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}

    def follow(self, event: Event) -> None:
        if event.kind == "said":
            return
        file = self.files.setdefault(event.file, File())
        if event.kind == "open":
            file.opened = True
            return
        file.since.append(event)
        if event.kind == "sync":
            file.keep(len(file.since))
            if file.opened and event.file.endswith(("-wal", "-journal")):
                self._sync_folder()
            file.opened = False
        elif event.kind == "delete" and event.at:
            self._sync_folder()

    def _sync_folder(self) -> None:
        for file in self.files.values():
            deleted = [number for number, event in enumerate(file.since) if event.kind == "delete"]
            if deleted:
                file.keep(deleted[-1] + 1)

    def cut(self, dice: random.Random) -> dict[str, bytes]:
        """Return the content of each file after a power cut now."""
        left = {}
        for name, file in self.files.items():
            lucky = [done for event in file.since for done in _survives(event, dice)]
            content = _applied(file.safe, lucky)
            if content is not None:
                left[name] = bytes(content)
        return left


def _survives(event: Event, dice: random.Random) -> list[Event]:
    """Return what of an unsynced event reaches the disk: all, nothing, or some sectors."""
    fate = dice.random()
    if fate < 0.35:
        return []
    if event.kind != "write" or fate < 0.7:
        return [event]
    parts = []
    start = event.at
    while start < event.at + len(event.data):
        end = min((start // SECTOR + 1) * SECTOR, event.at + len(event.data))
        if dice.random() < 0.5:
            parts.append(Event("write", event.file, start, event.data[start - event.at : end - event.at]))
        start = end
    return parts


def _applied(content: bytearray | None, events: list[Event]) -> bytearray | None:
    """Return a file after these events; None if it does not exist."""
    now = None if content is None else bytearray(content)
    for event in events:
        if event.kind == "delete":
            now = None
            continue
        now = bytearray() if now is None else now
        if event.kind == "truncate":
            del now[event.at :]
        elif event.kind == "write":
            now.extend(bytes(max(0, event.at - len(now))))
            now[event.at : event.at + len(event.data)] = event.data
    return now


def lay(files: dict[str, bytes], folder: str) -> None:
    """Write the remaining files into a folder of their own."""
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    for name, content in files.items():
        handle = os.open(os.path.join(folder, os.path.basename(name)), os.O_CREAT | os.O_WRONLY, 0o600)
        with open(handle, "wb") as file:
            file.write(content)
