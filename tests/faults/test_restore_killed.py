"""A restore is killed wherever it can be: the memory is the old one or the new one, never a blend.

A child process restores a checkpoint in a copy of one memory and kills itself at its n-th statement, or at its n-th
write or synchronisation of a file; SQLite counts both, inside one long statement too. Every n is tried, or a
sample of them; the first n that kills nothing ends the row.
"""

import hashlib
import signal
from pathlib import Path

import pytest
from support.killing import killed
from support.soundness import unsound

from store.conversations.turns import NewTurn
from store.database.schema import RECORDED_TABLES
from store.memory import Memory

KILLS = 8  # of each kind, spread evenly over the restore


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which every kind of record came, went and changed since its checkpoint."""
    path = tmp_path_factory.mktemp("told") / ".memoranda" / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.commits.log("a1b2c3d4" * 5)
        for number in range(12):
            memory.facts.remember(f"fact {number}")
        memory.decisions.decide("storage", "SQLite")
        memory.commits.link("a1b2c3d", 1)
        memory.tasks.add_task("to do")
        memory.turns.add_turns("s", [NewTurn("user", "Where were we?")])
        memory.checkpoints.take_checkpoint("then")
        memory.facts.forget([1, 2, 3], actor="agent")
        memory.facts.correct(4, "fact four", actor="agent")
        memory.commits.unlink("a1b2c3d", 1, actor="agent")
        memory.decisions.correct(1, "LMDB", actor="agent")
        memory.tasks.move(1, "done", actor="agent")
        memory.facts.remember("new", actor="agent")
    return path


def restore(told: Path, folder: Path, kind: str, number: int) -> tuple[Path, int, str]:
    """Restore in a copy, killed at the `number`th event: (the copy's path, the exit status, what was counted)."""
    work = "plans.apply_plan(plan, plans.propose_changes(plan))"
    planned = (
        "from store.history.restore_plan import Plans; plans = Plans(memory.database); plan = plans.plan_checkpoint(1)"
    )
    return killed(told, folder, kind, number, work, before=planned)


def held(path: Path) -> tuple[str, int, int]:
    """(a digest of all recorded rows, steps of history, checkpoints), of a memory that is sound."""
    with Memory.open(str(path)) as memory:
        assert unsound(memory) == []
        rows = {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in RECORDED_TABLES}
        tables = ("history", "checkpoints")
        steps, checkpoints = (memory.database.value(f"SELECT count(*) FROM {table}") for table in tables)
        return hashlib.sha256(repr(rows).encode()).hexdigest(), steps, checkpoints


@pytest.mark.parametrize("kind", ["statement", "file"])
def test_a_restore_that_is_killed_leaves_old_or_new(told: Path, tmp_path: Path, kind: str):
    old = held(told)
    path, status, counted = restore(told, tmp_path, kind, 10**9)
    new = held(path)
    assert status == 0 and new[0] != old[0] and new[1:] == (old[1] + 1, old[2] + 1)
    events = int(counted)
    assert events > 8
    seen = set()
    for number in sorted({1 + round(place * (events - 1) / (KILLS - 1)) for place in range(KILLS)}):
        path, status, _ = restore(told, tmp_path, kind, number)
        assert status == -signal.SIGKILL, number
        after = held(path)
        assert after in (old, new), f"killed at {kind} {number} of {events}"
        seen.add(after)
        if after == old:  # and running it again finishes it
            with Memory.open(str(path)) as memory:
                memory.checkpoints.restore(1)
            assert held(path)[0] == new[0]
    assert old in seen
