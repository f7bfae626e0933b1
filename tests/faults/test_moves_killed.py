"""A fact is moved between a project and the personal memory, in a process that is killed before each of its writes:
when the project is opened again the fact is in one of the two, whole, and never in both or in none."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from support.forks import run_program
from support.killing import COUNTER
from support.soundness import unsound

from store.base.location import Location, personal_memory_path
from store.history import history as two_files
from store.memory import Memory

TEXT = "I write Spanish"
CHILD = f"""
import sys
{COUNTER}
path, number, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
left = number
vfs = Killing()
apsw.set_default_vfs("killing")

from store.memory import Memory

with Memory.open(path, "cli") as memory:
    memory.globals.order(memory.now)
    counting = True
    exec(work)
    counting = False
print(number - left)
"""
# what is done before, and what is killed
ACTS = {
    "out": ((), "memory.moves.move_to_global(1)"),
    "in": (("memory.moves.move_to_global(1)",), "memory.moves.move_to_project(2)"),
    "undo": (("memory.moves.move_to_global(1)",), "memory.history.undo()"),
    "redo": (("memory.moves.move_to_global(1)", "memory.history.undo()"), "memory.history.redo()"),
}


def killed(path: Path, number: int, work: str) -> tuple[int, str]:
    """Do the work in a process of its own, killed at its `number`th write or sync: (exit status, what was counted)."""
    done = run_program(CHILD, path, str(number), work)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, done.stdout.strip()


def held(path: Path) -> str:
    """Where the fact is that holds, once the project is opened, of two memories that are sound."""
    with Memory.open(str(path)) as memory:
        assert memory.database.warnings == []
        assert two_files.list_begun_moves(memory.database) == []
        here = [fact.fact for fact in memory.facts.get_many(memory.facts.ids(memory.now))]
        there = [fact.fact for fact in memory.globals.get_many(list(memory.globals.order(memory.now)))]
        assert sorted([*here, *there]) == [TEXT, "tabs, not spaces", "the port is 8080"], "lost, or doubled"
        assert unsound(memory) == []
    if os.path.exists(personal_memory_path()):
        with Memory(Location(personal_memory_path(), "personal", "of the test"), "cli") as own:
            assert unsound(own) == []
    return "project" if TEXT in here else "global"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("act", ACTS)
def test_killed_before_any_write(act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, kept = tmp_path / "told", tmp_path / "kept"
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    path = place / "project" / ".memoranda" / "memory.db"
    before, work = ACTS[act]
    with Memory.open(str(path)) as memory:
        memory.globals.remember("tabs, not spaces")
        memory.facts.remember(TEXT, pinned=True, tags=["language"])
        memory.facts.remember("the port is 8080")
        for one in before:
            exec(one, {"memory": memory})
    shutil.copytree(place, kept)
    old = held(path)
    status, counted = killed(path, 0, work)
    new = held(path)
    assert status == 0 and new != old
    seen = set[str]()
    events = int(counted.lstrip("-"))
    # the commits of the two files, and what is noted before them, are in the second half: there none is left out
    for number in [*range(1, events // 2, 5), *range(events // 2, events + 1)]:
        shutil.rmtree(place)
        shutil.copytree(kept, place)
        assert killed(path, number, work)[0] == -signal.SIGKILL, number
        seen.add(now := held(path))
        if now == old:  # it can be done again
            assert killed(path, 0, work)[0] == 0
            assert held(path) == new, number
        else:
            with Memory.open(str(path)) as memory:
                newest = memory.history.steps(limit=1)[0]
                assert newest.reason.split()[0] == ("move" if act in ("out", "in") else act), number
                if act != "undo":
                    memory.history.undo()
            assert held(path) == (old if act != "undo" else new), number
    assert seen == {old, new}
