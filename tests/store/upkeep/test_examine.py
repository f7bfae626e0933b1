"""The doctor in a memory of a few steps: records against their history, and a log that SQLite would cut off in silence.
`test_health.py` looks at the rest, in a memory in which something of everything happened."""

from pathlib import Path

import apsw
import pytest

from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.checks import WRONG, Finding
from store.upkeep.doctor import examine


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A memory with two tasks and a third that was undone, closed."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    path = str(tmp_path / "memory.db")
    with Memory.open(path) as memory:
        for text in ("Renew the certificate", "Water the plants", "Paint the garage"):
            memory.tasks.add_task(text)
        memory.history.undo()
    return path


def wrong(path: str) -> dict[str, Finding]:
    return {one.subject: one for one in examine(locate(path, {}, "/")) if one.state == WRONG}


COPY = "INSERT INTO tasks SELECT {}, text, status, created_at, updated_at, NULL, origin, tags FROM tasks WHERE id = 1"


def test_every_record_that_is_not_as_its_steps_left_it_is_named(path: str) -> None:
    """Changed, gone, back although it was undone, or never made by a step."""
    assert wrong(path) == {}
    connection = apsw.Connection(path)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # behind everybody's back
    connection.execute("UPDATE tasks SET text = 'Renew nothing' WHERE id = 1; DELETE FROM tasks WHERE id = 2")
    connection.execute(f"{COPY.format(3)}; {COPY.format(9)}")
    connection.close()
    assert wrong(path)["records"].says == "4 records are not as history says: A#1, A#2, A#3 …."


@pytest.mark.parametrize(("place", "said"), [(0, "reads nothing of it"), (5_000, "does not read the last")])
def test_a_log_in_which_a_bit_turned_is_told_before_it_is_lost(path: str, place: int, said: str) -> None:
    with Memory.open(path) as memory:
        for number in range(5):
            memory.tasks.add_task(f"Acknowledged, and in the log alone: {number}")
        memory.database.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    log = Path(f"{path}-wal")
    whole = log.read_bytes()
    hurt = bytearray(whole)
    hurt[place] ^= 1
    log.write_bytes(hurt)
    assert said in wrong(path)["log"].says and "salvage" in wrong(path)["log"].command
    assert log.read_bytes() == hurt, "looking changed it"
    log.write_bytes(whole)
    assert wrong(path) == {}
