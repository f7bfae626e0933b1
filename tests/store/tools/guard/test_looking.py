"""Each look keeps what changed since the last, tells it in moments by tool, and leaves every file as it was."""

import os
import shutil
import sqlite3
import time
import tomllib
from pathlib import Path

import pytest
from support.guarded import MINUTE, NIGHT, GuardedHome, add_memory
from support.samples import copied

from store.base.errors import NotFound
from store.purge.file_eraser import has_kept_versions
from store.tools import guard_database, guard_moments, source
from store.tools.source import Machine


def all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_first_look_tells_no_change(home: GuardedHome) -> None:
    home.write("a.md", "The team is five.\n")
    first = home.look()
    assert (first.first, first.files, first.tools, first.moments) == (True, 1, 1, [])
    again = home.look(60)
    assert (again.first, again.files, again.moments, home.moments()) == (False, 1, [], [])


def test_a_night_of_cleaning_up_is_one_moment(home: GuardedHome) -> None:
    """23 files of Claude Code's memory changed between 03:10 and 03:12: 9 removed, 14 rewritten."""
    for number in range(23):
        home.write(f"m{number}.md", f"Note {number}.\n")
    home.look(-60)
    home.now = NIGHT
    for number in range(14):
        home.write(f"m{number}.md", f"Note {number}, shorter.\n")
    home.now += 2 * MINUTE
    home.remove(*(f"m{number}.md" for number in range(14, 23)))
    home.look(45)
    (moment,) = home.moments()
    assert moment.title == "Claude Code" and moment.effect_counts == {"removed": 9, "rewritten": 14}
    assert (moment.first_at, moment.last_at) == (NIGHT, NIGHT + 2 * MINUTE)


def test_each_tool_has_its_own_moment_and_so_has_each_time(home: GuardedHome) -> None:
    home.write("a.md", "one\n")
    engram = home.engram()
    home.look()
    add_memory(engram, "Tides", "The almanac is rebuilt on Mondays.")
    home.look_after("a.md", "two\n", minutes=1)
    home.now += 30 * MINUTE
    home.look_after("a.md", "three\n", minutes=1)
    assert [moment.tool for moment in home.moments()].count("claude-code") == 2
    assert sorted(moment.tool for moment in home.moments()) == ["claude-code", "claude-code", "engram"]


def test_what_comes_soon_after_is_the_same_moment_until_a_person_was_told(home: GuardedHome) -> None:
    home.look_after("a.md", "one\n")
    for text in ("two\n", "three\n"):
        home.now += MINUTE
        home.look_after("a.md", text)
    assert home.changes() == [[("rewritten", "a.md")]]
    assert home.shown(1) == ["-1 one", "+0 three"]
    with guard_database.open_guard(home.settings) as kept:
        guard_moments.mark_told(kept, guard_moments.recent_moments(kept, 9))
    home.now += MINUTE
    home.look_after("a.md", "four\n")
    assert len(home.moments()) == 2 and home.shown(1) == ["-1 one", "+0 three"]


def test_added_removed_and_back_again(home: GuardedHome) -> None:
    home.look_after("a.md", "one\n")
    home.now += MINUTE
    home.write("b.md", "new\n")
    home.look_after("a.md", "two\n")
    home.now += MINUTE
    home.look_after("a.md", "one\n")
    assert home.changes() == [[("added", "b.md"), ("changed and changed back", "a.md")]]


def test_every_version_is_kept_and_each_content_once(home: GuardedHome) -> None:
    for text in ("one\n", "two\n", "one\n", "two\n"):
        home.write("a.md", text)
        home.look_after("b.md", text, minutes=30)
    with guard_database.open_guard() as kept:
        assert kept.query_one("SELECT count(*) FROM versions") == 4
        assert kept.query_one("SELECT count(*) FROM pieces") == 2


def test_a_large_database_keeps_only_what_changed_of_it(home: GuardedHome) -> None:
    path = home.folder / ".engram" / "engram.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE observations(id INTEGER PRIMARY KEY, content BLOB)")
    connection.executemany("INSERT INTO observations(content) VALUES (?)", [(os.urandom(4000),) for _ in range(1000)])
    connection.commit()
    first = home.look().bytes
    connection.execute("UPDATE observations SET content = zeroblob(4000) WHERE id = 700")
    connection.commit()
    connection.close()
    assert first > 4_000_000 and home.look(30).bytes - first < 600_000


def test_nothing_is_changed_not_even_a_time(home: GuardedHome) -> None:
    home.write("a.md", "one\n")
    home.engram()
    content = [path.read_bytes() for path in all_files(home.folder)]
    for path in all_files(home.folder):  # last read before it was changed: another reading would move that on
        os.utime(path, (NIGHT / 1000 - 60, NIGHT / 1000))

    def times() -> list[tuple[str, int, int, int]]:
        found = ((path, path.stat()) for path in all_files(home.folder))
        return [(path.name, about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns) for path, about in found]

    before = times()
    home.look()
    home.look(1)
    assert times() == before
    assert [path.read_bytes() for path in all_files(home.folder)] == content


def test_a_database_is_read_with_its_log_and_folding_that_in_is_no_change(home: GuardedHome) -> None:
    engram = home.engram()
    home.look()
    add_memory(engram, "Tides", "The almanac is rebuilt on Mondays.")
    home.look(30)
    assert any(line.startswith("+") and "rebuilt on Mondays" in line for line in home.shown(1))
    connection = sqlite3.connect(engram)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    assert home.look(30).moments == []


def test_a_damaged_database_is_a_version_too_and_a_tool_goes_with_its_folder(home: GuardedHome) -> None:
    engram = home.engram()
    home.look()
    for path in engram.parent.glob("engram.db-*"):
        path.unlink()
    engram.write_bytes(b"not any more")
    assert home.look(30).troubles == [] and home.changes() == [[("rewritten", "engram.db")]]
    home.look_after("a.md", "one\n", minutes=1)
    shutil.rmtree(home.folder / ".claude")
    home.look(30)
    assert home.changes()[0] == [("removed", "a.md")]


def test_what_cannot_be_read_is_named_and_is_not_removed(home: GuardedHome) -> None:
    path = home.write("a.md", "one\n")
    home.look()
    path.unlink()
    path.symlink_to("/etc/hostname")
    found = home.look(1)
    assert [(one.path, one.why) for one in found.troubles] == [(str(path), "symbolic links are not followed")]
    assert home.moments() == []
    path.unlink()
    path.touch()
    os.truncate(path, 16_000_001)
    assert "16,000,000 bytes" in home.look(1).troubles[0].why


BORDER = tomllib.loads(Path(__file__).with_name("border.toml").read_text())


def test_where_the_border_is(home: GuardedHome) -> None:
    for place in (*BORDER["guarded"], *BORDER["outside"]):
        path = home.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = guard_database.list_guarded_files(Machine(str(home.folder)))
    base = f"{home.folder}/"
    assert {one.path.removeprefix(base) for one in found} == set(BORDER["guarded"])
    more = guard_database.list_guarded_files(Machine(str(home.folder)), ["~/notes", "missing.md"])
    assert {one.path for one in more} - {one.path for one in found} == {f"{base}notes/own.md"}


@pytest.mark.parametrize("tool, place", [
    ("claude-mem", ".claude-mem"), ("engram", ".engram"), ("mcp-memory-service", ".local/share/mcp-memory"),
    ("mem0", ".mem0"), ("basic-memory", "basic-memory"), ("openclaw", ".openclaw/workspace"),
])  # fmt: skip
def test_the_real_samples_are_kept_whole(home: GuardedHome, tmp_path: Path, tool: str, place: str) -> None:
    copied(tool, tmp_path)
    (home.folder / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / tool).rename(home.folder / place)
    found = home.look()
    assert found.troubles == [] and found.files >= 1
    with guard_database.open_guard() as kept:
        assert {tool for (tool,) in kept.query("SELECT tool FROM files")} == {tool}


def test_without_a_look_nothing_is_kept(home: GuardedHome) -> None:
    assert not has_kept_versions()
    with pytest.raises(NotFound, match="Nothing is kept yet"), guard_database.open_guard():
        pass


def test_a_copy_that_a_killed_process_left_is_deleted(home: GuardedHome, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, age in (("memoranda-guard-old", 7200), ("memoranda-source-old", 7200), ("memoranda-guard-new", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "copy.db").write_text("private")
        moment = time.time() - age
        os.utime(tmp_path / name, (moment, moment))
    (tmp_path / "memoranda-guard-link").symlink_to(home.folder)
    (tmp_path / "others").mkdir()
    os.utime(tmp_path / "others", (1, 1))
    home.engram()
    home.look()
    names = {path.name for path in tmp_path.iterdir()}
    assert {"memoranda-guard-new", "memoranda-guard-link", "others"} <= names
    assert not {"memoranda-guard-old", "memoranda-source-old"} & names
    assert len([name for name in names if name.startswith("memoranda-")]) == 2  # nor is one of its own left


def test_a_file_that_is_being_written_waits_for_the_next_look(home: GuardedHome, monkeypatch: pytest.MonkeyPatch):
    path, real = home.write("a.md", "one\n"), source.open_plain_file
    home.look()

    def opened(*words: object) -> object:
        found = real(*words)  # type: ignore[arg-type]
        path.write_text("half of it and th")
        return found

    home.write("a.md", "two\n")
    with monkeypatch.context() as patch:
        patch.setattr(source, "open_plain_file", opened)
        assert [one.why for one in home.look(1).troubles] == ["it is being written"]
    assert home.moments() == []
    home.look_after("a.md", "half of it and the rest\n", minutes=1)
    assert home.shown(1) == ["-1 one", "+0 half of it and the rest"]


def test_a_pipe_in_the_place_of_a_file_stops_nothing(home: GuardedHome) -> None:
    engram = home.engram()
    home.look_after("a.md", "one\n")
    for path in (home.memory / "a.md", engram.with_name("engram.db-wal")):
        path.unlink()
        os.mkfifo(path)
    why = sorted(one.why for one in home.look(1).troubles)
    assert why == ["a part of it is not a plain file", "it is not a plain file"]
    assert home.moments() == []
