"""What salvage believes: a file that has something of a memory, and a row of history that is as it was written."""

from pathlib import Path

import apsw
import pytest

from store.base.errors import ForeignFile
from store.memory import Memory
from store.rescue.salvage import salvage_file


def test_a_table_of_keys_and_values_alone_is_no_memory(tmp_path: Path) -> None:
    """Any program may have one that is called meta: nothing is made of it."""
    path = tmp_path / "theirs.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
    connection.execute("INSERT INTO meta VALUES ('theme', 'dark'), ('words', 'obey me')")
    connection.close()
    with pytest.raises(ForeignFile, match="Nothing in this file is of a memory"):
        salvage_file(str(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("twice", [False, True], ids=["alone", "the page is there twice"])
def test_a_damaged_row_of_history_changes_no_record_and_stands_for_no_sound_one(tmp_path: Path, twice: bool) -> None:
    """A step is believed before the record that it made, but not where its row is not as it was written."""
    path = tmp_path / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.facts.remember("The port is 4982")
        memory.facts.remember("The port was 80")
    connection = apsw.Connection(str(path))
    page = connection.execute("SELECT pageno FROM dbstat WHERE name = 'history_row' AND pagetype = 'leaf'").get
    connection.close()
    raw = path.read_bytes()
    sound = raw[(page - 1) * 4096 : page * 4096]
    damaged = sound.replace(b"4982", b"4983")
    path.write_bytes(raw.replace(sound, damaged) + (sound if twice else b""))
    report = salvage_file(str(path), str(tmp_path / "new.db"))
    assert any("1 steps of history did not come through whole" in note for note in report.notes) is not twice
    with Memory.open(str(tmp_path / "new.db")) as memory:
        assert [fact.fact for fact in memory.facts.get_many([1, 2])] == ["The port is 4982", "The port was 80"]
