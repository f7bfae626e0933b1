"""What changed is put back: a moment, a file or a line, only where it is what was shown, and each can be undone."""

import os
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from support.children import holding
from support.guarded import MINUTE, GuardedHome, add_memory
from support.tables import each, refuses

from store.base.errors import Conflict, InvalidInput, NotFound
from store.documents import files as atomic_write
from store.tools import guard_moments
from store.tools.guard_moments import RestoredLines, put_back_lines


@pytest.fixture
def night(home: GuardedHome) -> GuardedHome:
    """One moment, M#1: of four notes one went, one was reworded, one came."""
    for name in ("tides", "deploy", "team"):
        home.write(f"{name}.md", about(name))
    home.look()
    home.now += 60 * MINUTE
    home.remove("tides.md")
    home.write("deploy.md", "About deploy.\nShorter.\nThe third.\n")
    home.look_after("merged.md", "All in one.\n")
    return home


def about(name: str) -> str:
    return f"About {name}.\nThe second line of {name}.\nThe third.\n"


BEFORE = {f"{name}.md": about(name).encode() for name in ("deploy", "team", "tides")}


def test_a_whole_moment_and_its_undo(night: GuardedHome) -> None:
    after = night.content()
    assert night.restore(1) == 2
    assert night.content() == BEFORE
    assert night.changes()[0] == [("removed", "merged.md"), ("rewritten", "deploy.md"), ("added", "tides.md")]
    assert night.moments()[0].restores == 1
    assert night.restore() == 3
    assert night.content() == after and night.moments()[0].restores == 2
    assert night.look(1).moments == []  # what we wrote ourselves is no change of the tool
    assert night.restore(3) == 4 and night.content() == BEFORE  # an undo can be taken back too


def test_one_file_and_one_line(night: GuardedHome) -> None:
    night.restore(1, "tides.md")
    assert night.content()["tides.md"] == BEFORE["tides.md"]
    assert night.content()["deploy.md"] == b"About deploy.\nShorter.\nThe third.\n"
    night.restore()
    assert "tides.md" not in night.content()
    night.restore(1, "deploy.md:2")
    assert night.content()["deploy.md"] == BEFORE["deploy.md"]
    night.restore(1, f"{night.memory}/tides.md:2-3")
    assert night.content()["tides.md"] == b"The second line of tides.\nThe third.\n"
    night.restore()
    assert "tides.md" not in night.content()


def test_the_mode_of_a_file_comes_back(home: GuardedHome) -> None:
    home.write("a.md", "one\n").chmod(0o640)
    home.look()
    home.remove("a.md")
    home.look(1)
    home.restore(1)
    assert stat.S_IMODE((home.memory / "a.md").stat().st_mode) == 0o640
    (home.memory / "a.md").chmod(0o644)
    home.look_after("a.md", "two\n", minutes=30)
    home.restore(3)
    assert stat.S_IMODE((home.memory / "a.md").stat().st_mode) == 0o644


def test_a_folder_that_is_gone_is_made_again(night: GuardedHome) -> None:
    shutil.rmtree(night.folder / ".claude")
    night.look(30)
    night.restore(2)
    assert sorted(night.content()) == ["deploy.md", "merged.md", "team.md"]
    assert stat.S_IMODE(night.memory.stat().st_mode) == 0o700


def test_a_plan_says_what_would_change_and_changes_nothing(night: GuardedHome) -> None:
    before = night.content()
    plan = night.plan(1)
    effects = {Path(one.change.file.path).name: one.effect for one in plan.files}
    assert effects == {"tides.md": "put back", "deploy.md": "rewritten", "merged.md": "removed"}
    assert not any(one.again for one in plan.files)
    lines = [(line.sign, line.text) for one in plan.files for line in one.difference if line.sign in "+-"]
    assert ("-", "Shorter.") in lines and ("+", "The second line of deploy.") in lines and ("-", "All in one.") in lines
    assert night.content() == before and len(night.moments()) == 1
    night.restore(1)
    assert night.plan(1).files == ()


def test_a_file_that_changed_after_the_moment_says_so(night: GuardedHome) -> None:
    night.now += 60 * MINUTE
    night.write("deploy.md", "Another text.\n")
    plan = night.plan(1)
    assert {Path(one.change.file.path).name: one.again for one in plan.files}["deploy.md"]
    night.run(plan)
    assert night.content()["deploy.md"] == BEFORE["deploy.md"]
    night.restore()
    assert night.content()["deploy.md"] == b"Another text.\n"


# refusals


def test_other_bytes_than_those_shown(night: GuardedHome) -> None:
    plan = night.plan(1)
    night.write("deploy.md", "Typed meanwhile.\n")
    before = night.content()
    refuses(Conflict, r"deploy.md was not changed: it changed since it was shown", night.run, plan)
    assert night.content() == before
    night.restore(1)
    night.restore()
    assert night.content() == before  # what was typed meanwhile was kept first


@pytest.mark.parametrize("name, shown", [("deploy.md", "its own"), ("tides.md", "its folder's")])
def test_a_change_within_two_seconds(night: GuardedHome, name: str, shown: str) -> None:
    plan = night.plan(1, name)
    touched = night.memory / name if (night.memory / name).exists() else night.memory
    before = night.content()
    for age in (0, 1.9):
        os.utime(touched, ((night.now / 1000) - age,) * 2)
        with pytest.raises(Conflict, match="was changed less than 2 seconds ago") as error:
            night.run(plan)
        assert night.content() == before and "wait a moment" in error.value.next
    os.utime(touched, ((night.now / 1000) - 2.1,) * 2)
    night.run(plan)
    assert night.content()[name] == BEFORE[name]


def test_a_change_just_before_the_swap(night: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all was compared, while the new content was being written to the disk."""
    plan = night.plan(1, "deploy.md")
    real = os.fsync

    def written(handle: int) -> None:
        real(handle)
        if stat.S_ISREG(os.fstat(handle).st_mode):  # of the part; afterwards the folder is synced
            (night.memory / "deploy.md").write_text("Typed at the last moment.\n")

    monkeypatch.setattr(atomic_write.os, "fsync", written)
    refuses(Conflict, "it was changed meanwhile", night.run, plan)
    monkeypatch.undo()
    assert night.content()["deploy.md"] == b"Typed at the last moment.\n"
    assert not list(night.memory.glob(".*.part"))
    assert len(night.moments()) == 1  # nothing was put back, so there is no restore


def test_a_file_that_came_meanwhile_is_not_replaced(night: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, real = night.plan(1, "tides.md"), atomic_write.create_file

    def create(*words: Any) -> None:
        (night.memory / "tides.md").write_text("It is there again.\n")
        real(*words)

    monkeypatch.setattr(guard_moments.files, "create_file", create)
    refuses(Conflict, "it was changed meanwhile", night.run, plan)
    assert night.content()["tides.md"] == b"It is there again.\n"


def test_what_was_done_before_a_refusal_can_be_undone(night: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, before, real = night.plan(1), night.content(), atomic_write.remove_file

    def remove(*words: Any) -> None:
        (night.memory / "merged.md").write_text("Typed at the last moment.\n")
        real(*words)

    monkeypatch.setattr(guard_moments.files, "remove_file", remove)
    with pytest.raises(Conflict, match=r"merged\.md was not changed") as error:
        night.run(plan)
    assert error.value.next.startswith("2 of 3 files are changed")
    assert sorted(name for _, name in night.changes()[0]) == ["deploy.md", "tides.md"]
    night.restore()
    assert night.content() == before | {"merged.md": b"Typed at the last moment.\n"}


def test_no_link_is_followed(night: GuardedHome, tmp_path: Path) -> None:
    plan = night.plan(1, "tides.md")
    elsewhere = tmp_path / "elsewhere"
    night.memory.rename(elsewhere)
    night.memory.symlink_to(elsewhere)
    os.utime(elsewhere, (1, 1))
    refuses(Conflict, "symbolic link", night.run, plan)
    assert not (elsewhere / "tides.md").exists()


def test_what_is_asked_for_has_to_be_there(night: GuardedHome) -> None:
    for number, name in ((9, ""), (1, "team.md"), (1, "merged.md:1"), (None, "")):
        with pytest.raises(NotFound):
            night.plan(number, name)
    for line in (9, 0):
        with pytest.raises(InvalidInput):
            night.plan(1, f"deploy.md:{line}")


# lines


@each("before, now, lines, result", [
    ("a\nb\nc\n", "a\nc\n", (2, 2), "a\nb\nc\n"),
    ("a\nb\nc\n", "a\nB\nc\n", (2, 2), "a\nb\nc\n"),
    ("a\nb\nc\nd\n", "a\nX\nd\n", (2, 2), "a\nb\nX\nd\n"),
    ("a\nb\nc\n", "new\na\nc\nmore\n", (2, 2), "new\na\nb\nc\nmore\n"),
    ("a\nb\nc\n", "", (2, 3), "b\nc\n"),
    ("a\nb", "a\n", (2, 2), "a\nb"),
    ("a\r\nb\r\n", "a\r\n", (2, 2), "a\r\nb\r\n"),
    ("a\nb\nc\n", "a\nb\nc\n", (1, 3), "a\nb\nc\n"),
])  # fmt: skip
def test_lines_go_where_they_were(before: str, now: str, lines: tuple[int, int], result: str) -> None:
    assert put_back_lines(before.encode(), now.encode(), RestoredLines(*lines)) == result.encode()


# databases


def titles(database: Path) -> list[str]:
    connection = sqlite3.connect(database)
    try:
        return [row[0] for row in connection.execute("SELECT title FROM observations ORDER BY id")]
    finally:
        connection.close()


@pytest.fixture
def engram(home: GuardedHome) -> Path:
    """Engram's database, from which half of its memories were deleted, M#1."""
    path = home.engram()
    home.look()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM observations WHERE id % 2")
    connection.close()
    os.utime(path, (home.now / 1000 - 60,) * 2)
    home.look(60)
    return path


def test_a_database_is_put_back_under_programs_that_have_it_open(home: GuardedHome, engram: Path) -> None:
    left = titles(engram)
    reader = sqlite3.connect(engram)
    assert len(reader.execute("SELECT * FROM observations").fetchall()) == len(left)
    number = home.restore(1)
    assert len(titles(engram)) > len(left) and reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(reader.execute("SELECT * FROM observations").fetchall()) == len(titles(engram))
    reader.close()
    assert home.look(1).moments == [] and number == 2
    home.restore()
    assert titles(engram) == left
    add_memory(engram, "After", "The program goes on.")
    assert titles(engram)[-1] == "After"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_locked_database(home: GuardedHome, engram: Path, mode: str) -> None:
    """By another process: the locks of two copies of SQLite in one do not see each other."""
    connection = sqlite3.connect(engram)
    assert connection.execute(f"PRAGMA journal_mode = {mode}").fetchall() == [(mode,)]
    connection.close()
    home.look()
    plan, before, moments = home.plan(1), titles(engram), len(home.moments())
    with holding(engram, "BEGIN IMMEDIATE"):
        home.age(*engram.parent.glob("engram.db*"))
        home.now += MINUTE
        refuses(Conflict, "it is locked: its tool is at work", home.run, plan)
    assert titles(engram) == before and len(home.moments()) == moments
    home.restore(1)
    assert len(titles(engram)) > len(before)


def test_a_database_that_was_written_since(home: GuardedHome, engram: Path) -> None:
    plan = home.plan(1)
    add_memory(engram, "Meanwhile", "It goes on.")
    for path in engram.parent.glob("engram.db*"):
        os.utime(path, (home.now / 1000 - 60,) * 2)
    refuses(Conflict, "it changed since it was shown", home.run, plan)
    assert titles(engram)[-1] == "Meanwhile"


def test_a_database_that_was_written_at_the_last_moment(home: GuardedHome, engram: Path, monkeypatch):
    plan, real = home.plan(1), guard_moments._is_readable_database

    def opens(path: str) -> bool:
        add_memory(engram, "Last moment", "It goes on.")
        return real(path)

    monkeypatch.setattr(guard_moments, "_is_readable_database", opens)
    refuses(Conflict, "it was changed meanwhile", home.run, plan)
    assert titles(engram)[-1] == "Last moment" and len([one for one in home.moments() if one.restores]) == 0


def test_a_database_that_is_gone_or_damaged_comes_back_whole(home: GuardedHome, engram: Path) -> None:
    before = titles(engram)
    for path in engram.parent.glob("engram.db*"):
        path.unlink()
    home.age(engram)
    home.look(60)
    (engram.parent / "engram.db-wal").write_bytes(b"left")
    refuses(Conflict, "-wal is still there", home.restore, 2)
    (engram.parent / "engram.db-wal").unlink()
    home.age(engram)
    home.now += MINUTE
    home.restore(2)
    assert titles(engram) == before
    for path in engram.parent.glob("engram.db-*"):
        path.unlink()
    engram.write_bytes(b"no database" * 1000)
    home.age(engram)
    home.look(60)
    home.restore(home.moments()[0].number)
    assert titles(engram) == before


def test_a_database_has_no_lines_and_is_never_deleted(home: GuardedHome) -> None:
    home.look_after("a.md", "one\n")
    home.engram()
    home.look(30)
    plan = home.plan(1)
    ((path, why),) = plan.stay
    assert (plan.files, Path(path).name, why) == ((), "engram.db", "a database is never deleted")
    add_memory(home.folder / ".engram" / "engram.db", "More", "Another one.")
    home.look(60)
    refuses(InvalidInput, "A database has no lines", home.plan, 2, "engram.db:3")
