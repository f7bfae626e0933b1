"""The power fails, 25 times: what was acknowledged is there, and the file is sound.

A session of every kind of write is recorded as its disk saw it (`support/power.py`); then the power is cut at random
moments of it, each time with another choice of what the disk had not yet been told to keep.
`pytest -m power --dist load` cuts it ten thousand times.
"""

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from support.ours import ours
from support.power import Disk, Event, lay, recorded
from support.soundness import unsound

from store.base import state_files as installation
from store.base.errors import MemorandaError, NotFound
from store.database.database import Database
from store.memory import Memory
from store.search import fulltext as corpus
from store.upkeep import doctor as wal
from store.upkeep.checks import WRONG

FEW, CUTS, ALL = 25, 300, 10_000
COUNTED = ("iterations", "commits", "events", "checkpoints")


class Promise:
    """What the writer was told is done, at one moment of the session."""

    def __init__(self, memory: Memory) -> None:
        database = memory.database
        self.seq, self.head = database.row("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1") or (0, b"")
        self.counts = {table: database.value(f"SELECT count(*) FROM {table}") for table in COUNTED}


def session(path: str, events: list[Event], dice: random.Random, acts: int) -> None:
    """Writes of every kind, each told of once it returned; the memory is closed and opened again now and then."""
    done = 0
    while done < acts:
        with Memory.open(path) as memory:
            for _ in range(dice.randrange(5, 40)):
                _act(memory, dice, f"{done} " + "at length " * dice.choice((0, 0, 2, 60, 900)))
                events.append(Event("said", said=Promise(memory)))
                done += 1


def _act(memory: Memory, dice: random.Random, text: str) -> None:
    act = dice.randrange(14)
    if act <= 4:
        memory.facts.remember(text, tags=["tag"])
    elif act == 5:
        with contextlib.suppress(NotFound):  # nothing is left to undo
            memory.history.undo()
    elif act == 6:
        memory.decisions.decide(text, "yes", alternatives=["no"])
    elif act == 7:
        memory.tasks.add_task(text)
    elif act == 8:
        memory.events.log("gate_passed", payload={"text": text})
    elif act == 9:
        memory.commits.log(f"{dice.getrandbits(160):040x}", message=text, author="Ana")
    elif act == 10:
        memory.checkpoints.take_checkpoint(text[:50])
    elif act == 11:
        memory.iterations.start_iteration("fix", text)
        memory.iterations.end_iteration()
    elif act == 12 and dice.random() < 0.2:
        corpus.rebuild_text_index(memory.database)
    else:
        ids = list(memory.facts.ids(memory.now, limit=3))
        memory.facts.forget(ids) if ids and act == 13 else memory.facts.confirm(ids) if ids else None


def broken(path: str, promise: Promise | None, after: Promise | None) -> list[str]:
    """What is wrong with the memory that the power left, against what was promised before it failed; `after` is what
    would have been promised next."""
    installation.delete_known_memory(path)
    with contextlib.suppress(apsw.Error):  # which is not a memory yet
        ours(path)  # the cut leaves it in another place than it was made in
    try:
        memory = Memory.open(path)
    except MemorandaError as error:
        return [f"it does not open: {type(error).__name__}"]
    with memory:
        database = memory.database
        found = unsound(memory)
        seq, _ = _newest(database)
        if promise is not None:
            if database.value("SELECT digest FROM history WHERE seq = ?", (promise.seq,)) != (promise.head or None):
                found.append(f"step {promise.seq} was acknowledged and is not there")
            for table, count in promise.counts.items():
                if database.value(f"SELECT count(*) FROM {table}") < count:
                    found.append(f"{table} were acknowledged and are not there")
        if after is not None and seq > after.seq:
            found.append("a step that nobody made")
        memory.facts.remember("and life goes on")
        return found


def _newest(database: Database) -> tuple[int, bytes]:
    return database.row("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1") or (0, b"")


def cuts(path: str, folder: str, seed: int, count: int, acts: int) -> Iterator[str]:
    """Live through a session, cut the power `count` times, and tell what was lost or broken."""
    dice = random.Random(seed)
    with recorded() as events:
        session(path, events, dice, acts)
    moments = sorted(dice.randrange(1, len(events)) for _ in range(count))
    said = [(number, event.said) for number, event in enumerate(events) if event.kind == "said"]
    disk, reached, upcoming = Disk(), 0, 0
    promise: Promise | None = None
    for moment in moments:
        for event in events[reached:moment]:
            disk.follow(event)
            if event.kind == "said":
                promise = event.said
        reached = moment
        while upcoming < len(said) and said[upcoming][0] < moment:
            upcoming += 1
        lay(disk.cut(dice), folder)
        left = os.path.join(folder, os.path.basename(path))
        if not os.path.exists(left):
            open(left, "xb").close()  # made and synced by its folder's owner, not by SQLite
            os.chmod(left, 0o600)
        for found in wal.check_wal(left):
            if found.state == WRONG:
                yield f"at event {moment}: the doctor would say of a mere power cut: {found.says}"
        for line in broken(left, promise, said[upcoming][1] if upcoming < len(said) else None):
            yield f"at event {moment}: {line}"


def test_power_cuts(tmp_path: Path, seed: int):
    """Nothing acknowledged is lost, nothing is broken, and the next write works."""
    (tmp_path / "left").mkdir(mode=0o700)
    assert list(cuts(str(tmp_path / "memory.db"), str(tmp_path / "left"), seed, FEW, acts=150)) == []


@pytest.mark.power
@pytest.mark.parametrize("part", range(ALL // CUTS + 1))
def test_ten_thousand_power_cuts(tmp_path: Path, seed: int, part: int):
    """As often as it takes: some seconds each, on as many processors as there are (`-n auto --dist load`)."""
    (tmp_path / "left").mkdir(mode=0o700)
    assert list(cuts(str(tmp_path / "memory.db"), str(tmp_path / "left"), seed, CUTS, acts=150)) == []


def test_a_disk_that_forgets_what_was_synced_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The test can fail: on a disk that takes no sync for what it is, acknowledged writes are lost."""
    (tmp_path / "left").mkdir(mode=0o700)
    follow = Disk.follow
    monkeypatch.setattr(Disk, "follow", lambda disk, event: None if event.kind == "sync" else follow(disk, event))
    found = list(cuts(str(tmp_path / "memory.db"), str(tmp_path / "left"), 1, 10, acts=60))
    assert any("acknowledged and" in line or "does not open" in line for line in found)
