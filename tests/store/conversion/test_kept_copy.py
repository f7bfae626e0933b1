"""A verified copy of a memory of an earlier build is kept before it is converted, and leads back to that build."""

import os
import shutil
from pathlib import Path

import apsw
import pytest
from support.children import begun, tell
from support.older import older
from support.stories import Clock

from store import conversion
from store.base import state_files
from store.base.errors import NotOurs, StorageError
from store.base.location import backup_folder
from store.base.state_files import KnownMemory
from store.database import schema as schema_check
from store.database.schema import SCHEMA_VERSION
from store.exchange import backups as backup
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import adoption

OLD = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, KnownMemory]:
    """A memory of schema 3, and what this installation knows of it."""
    path = str(tmp_path_factory.mktemp("older") / "memory.db")
    with Memory.open(path, "app", Clock()) as memory:
        memory.facts.remember("The team is five people")
        memory.facts.remember("The old office is in Calle Mayor")
        memory.decisions.decide("Use SQLite", "SQLite, WAL")
    older(path, OLD)
    known = state_files.find_known_memory(path)
    assert known is not None
    return Path(path).read_bytes(), known


@pytest.fixture
def path(made: tuple[bytes, KnownMemory], tmp_path: Path) -> str:
    """A copy of it that may be written, and is ours."""
    file = tmp_path / ".memoranda" / "memory.db"
    file.parent.mkdir(mode=0o700)
    file.write_bytes(made[0])
    file.chmod(0o600)
    state_files.save_known_memory(KnownMemory(made[1].identity, os.path.realpath(file), file.stat().st_ino))
    return str(file)


def copies(path: str) -> list[Path]:
    return sorted(Path(backup_folder(path)).glob("*"))


def content(path: str | Path) -> tuple[int, dict[str, list[tuple[object, ...]]]]:
    """(the schema's version, every row of every table) of a file."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = [row[0] for row in connection.execute(conversion._TABLES)]
        rows = {table: list(connection.execute(f'SELECT * FROM "{table}"')) for table in tables}
        return connection.pragma("user_version"), rows
    finally:
        connection.close()


def texts(memory: Memory) -> list[str]:
    return [text for (text,) in memory.database.rows("SELECT fact FROM facts WHERE status = 'active' ORDER BY fact")]


def test_the_file_as_it_was_is_kept_before_it_is_converted(path: str) -> None:
    """Every row, in the schema of that version as it knows it, private, listed, and found whole when looked at."""
    before = content(path)
    with Memory.open(path, "cli", Clock()) as memory:
        assert content(path)[0] == SCHEMA_VERSION
        (copy,) = copies(path)
        assert copy.name.startswith(f"memory-schema{OLD}-") and copy.stat().st_mode & 0o777 == 0o600
        assert content(copy) == before and before[0] == OLD
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
        schema_check.check_schema(connection, str(copy), OLD)
        connection.close()
        (listed,) = backup.find_backups(memory.database)
        assert (listed.path, listed.scheduled, listed.problem) == (str(copy), False, "")
        assert backup.verify_backup(memory.database) == (str(copy), "")
        assert content(copy) == before, "looking at it brings nothing up to date"
    with Memory.open(path, "cli", Clock()):
        assert copies(path) == [copy], "one for each conversion"


def test_what_is_not_brought_up_to_date_gets_none(path: str, tmp_path: Path) -> None:
    """A new memory, one of this version, and one that is only looked at."""
    new = str(tmp_path / "new" / "memory.db")
    for _ in range(2):
        with Memory.open(new, "cli", Clock()):
            assert copies(new) == []
    place = locate(path, {}, str(tmp_path))
    place.look = True
    with Memory(place, "cli", Clock()) as memory:
        assert len(texts(memory)) == 2
    assert copies(path) == [] and content(path)[0] == OLD


@pytest.mark.parametrize("hindered", ["a file", "a link", "different"])
def test_without_a_backup_nothing_is_changed(hindered: str, path: str, tmp_path: Path, monkeypatch) -> None:
    """The error says what it was for and what to do; the memory stays as it was and can be looked at."""
    folder = Path(backup_folder(path))
    folder.parent.mkdir(parents=True, exist_ok=True)
    if hindered == "a file":
        folder.write_text("in the way")
    elif hindered == "a link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        monkeypatch.setattr(conversion, "_find_difference", lambda source, copy: "facts differs")
    before = content(path)
    why = "before it is brought up to date a backup is made, and none could be"
    with pytest.raises(StorageError, match=why) as said:
        Memory.open(path, "cli", Clock())
    assert "memoranda --look list facts" in said.value.next
    assert content(path) == before
    if hindered != "a file":
        assert copies(path) == []


def test_a_copy_that_differs_is_noticed(path: str, tmp_path: Path) -> None:
    one, other = str(tmp_path / "one.db"), str(tmp_path / "other.db")
    shutil.copy(path, one)
    shutil.copy(path, other)
    source, copy = apsw.Connection(one), apsw.Connection(other)
    assert conversion._find_difference(source, copy) == ""
    copy.execute("UPDATE meta SET value = 'x' WHERE key = 'created_at'")
    assert conversion._find_difference(source, copy) == "meta differs"
    source.close()
    copy.close()


def test_what_a_killed_process_left_is_replaced(path: str) -> None:
    folder = Path(backup_folder(path))
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)
    (folder / "memory.part").write_bytes(b"half of a copy")
    with Memory.open(path, "cli", Clock()):
        (copy,) = copies(path)
        assert content(copy)[0] == OLD


def test_many_that_open_it_at_once_make_one(path: str) -> None:
    opens = "print(flush=True); input(); from store.memory import Memory; Memory.open(sys.argv[1]).close()"
    started = [begun(f"import sys; {opens}", path) for _ in range(4)]
    for process in started:
        tell(process)
    assert [process.wait(60) for process in started] == [0] * 4
    assert len(copies(path)) == 1 and content(path)[0] == SCHEMA_VERSION


def test_going_back_a_version(path: str) -> None:
    """As docs/installing.md tells it: the file of that version in the place of the newer one, and what it held.
    It is an older state of the memory, so a person says that it is theirs."""
    before = content(path)
    with Memory.open(path, "cli", Clock()) as memory:
        memory.facts.remember("Written with the newer version")
        (copy,) = copies(path)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.rename(name, f"{name}.newer")
    shutil.copy(copy, path)
    assert content(path) == before
    with pytest.raises(NotOurs, match="older state of your memory"):
        Memory.open(path, "cli", Clock())
    assert content(path) == before
    adoption.adopt_whole(locate(path, {}, os.getcwd()))
    with Memory.open(path, "cli", Clock()) as memory:
        assert texts(memory) == ["The old office is in Calle Mayor", "The team is five people"]
    assert len(copies(path)) == 2, "and forward again, with a backup of its own"


def test_what_is_adopted_is_kept_as_it_came(path: str) -> None:
    before = content(path)
    adoption.adopt_whole(locate(path, {}, os.getcwd()))
    (copy,) = copies(path)
    assert content(copy) == before and content(path)[0] == SCHEMA_VERSION


def test_a_purge_reaches_it(path: str) -> None:
    """A copy in which something was erased is of this version then."""
    with Memory.open(path, "cli", Clock()) as memory:
        (copy,) = copies(path)
        assert b"Calle Mayor" in copy.read_bytes()
        memory.purge.run_plan(memory.purge.plan([("fact", 2)]))
        assert b"Calle Mayor" not in copy.read_bytes() and copies(path) == [copy]
        assert content(copy)[0] == SCHEMA_VERSION
