"""A memory whose file is gone or empty while its backups are there: it is said, and no new one hides it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.forks import run_command

from store.base.errors import DamagedFile
from store.base.location import backup_folder
from store.exchange import backups as backup
from store.memory import Memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a memory with a fact and a backup of it was."""
    path = tmp_path / "the project" / ".memoranda" / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.facts.remember("the team is five")
        backup.make_backup(memory.database)
    return path


def lose(path: Path, how: str) -> None:
    path.unlink()
    if how == "is empty":
        path.touch(0o600)


@pytest.mark.parametrize("how", ["is gone", "is empty"])
@pytest.mark.parametrize("log", [False, True])
def test_it_is_refused_and_the_command_that_is_named_goes_back(path: Path, how: str, log: bool):
    """Also where a log is left, which SQLite would apply to the backup, or delete."""
    beside = Path(f"{path}-wal")
    if log:
        beside.write_bytes(b"frames of another file")
    lose(path, how)
    before = sorted(os.listdir(path.parent))
    with pytest.raises(DamagedFile, match=f"{how}, and 1 of its backups are in") as caught:
        Memory.open(str(path))
    assert sorted(os.listdir(path.parent)) == before and not (beside.exists() and not beside.stat().st_size)
    subprocess.run(caught.value.next.split("`")[1], shell=True, check=True)
    with Memory.open(str(path)) as memory:
        assert memory.database.rows("SELECT fact FROM facts") == [("the team is five",)]
    if log:
        assert Path(f"{beside}.old").read_bytes() == b"frames of another file"


@pytest.mark.parametrize("how", ["is gone", "is empty"])
@pytest.mark.parametrize("words", [["facts"], ["backups"], ["doctor"], ["remember", "x"], ["init"], []])
def test_every_command_says_it(path: Path, how: str, words: list[str]):
    lose(path, how)
    done = run_command(*words, cwd=path.parent.parent)
    said = done.stdout + done.stderr
    assert done.returncode == (5 if words == ["doctor"] else 1)
    assert how in said and "Go back to the newest: `cp " in said
    assert not path.exists() or not path.stat().st_size


def test_without_a_backup_of_it_a_new_one_begins(path: Path):
    """Also beside backups of a memory with another name, and once their folder was moved away."""
    lose(path, "is gone")
    with Memory.open(str(path.with_name("other.db"))) as other:
        assert other.database.value("SELECT count(*) FROM facts") == 0
    shutil.move(backup_folder(str(path)), path.with_name("kept"))
    with Memory.open(str(path)) as memory:
        assert memory.database.value("SELECT count(*) FROM facts") == 0


def test_only_a_file_with_something_in_it_counts_as_a_backup(path: Path):
    """A checkout may bring anything under such a name: no link is followed, and none is named."""
    lose(path, "is gone")
    folder = Path(backup_folder(str(path)))
    kept = next(folder.iterdir())
    (folder / "memory-nowhere.db").symlink_to("/nowhere")
    (folder / "memory-linked.db").symlink_to(kept)
    (folder / "memory-folder.db").mkdir()
    (folder / "memory-empty.db").touch()
    with pytest.raises(DamagedFile, match="is gone, and 1 of its backups are in") as caught:
        Memory.open(str(path))
    assert str(kept) in caught.value.next
    kept.unlink()
    with Memory.open(str(path)) as memory:
        assert memory.database.value("SELECT count(*) FROM facts") == 0
