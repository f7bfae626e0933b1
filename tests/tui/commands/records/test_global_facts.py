"""Global facts at the command line: made in one project, seen, changed, moved and erased from another."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.ours import memory_path

from store.base.location import personal_memory_path
from tui import cli

Do = Callable[..., str]


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs a command in a project, `shop` unless named; returns all that it says."""

    def run(*words: str, project: str = "shop", status: int = 0) -> str:
        folder = tmp_path / project
        if not folder.exists():
            folder.mkdir()
            monkeypatch.chdir(folder)
            assert cli.run_command(("init",)) == 0
        monkeypatch.chdir(folder)
        capsys.readouterr()
        assert cli.run_command(words) == status, capsys.readouterr()
        said = capsys.readouterr()
        return (said.out + said.err).strip()

    return run


MOVE, BRING = ("--scope", "global"), ("--scope", "project")


def test_what_holds_everywhere_is_seen_everywhere_and_marked(do: Do) -> None:
    do("remember", "the port is 8080")
    started = f" That started your personal memory: {personal_memory_path()}"
    assert do("remember", "I write Spanish", "--scope", "global") == f"Remembered G#1, in every project.{started}"
    assert do("remember", "tabs, not spaces", "--scope", "global") == "Remembered G#2, in every project."
    do("forget", "G#2")
    for project in ("shop", "bakery"):
        (line,) = [line for line in do("facts", project=project).splitlines() if "Spanish" in line]
        assert "  G#1  " in line and "  global: I write Spanish" in line
        assert "G#1        global: I write «Spanish»" in do("search", "Spanish", project=project)
        assert do("show", "G#1", project=project).startswith("G#1  global fact · general")
        assert "[G#1]" in do("ask", "who writes Spanish?", project=project)
    assert do("facts", "--scope", "global").count("\n") == 0
    assert "G#1" not in do("facts", "--scope", "project")
    assert '"citation": "G#1"' in do("facts", "--json", project="bakery")


def test_it_is_changed_from_a_project_and_undone_from_any(do: Do) -> None:
    do("remember", "I write Spanish", "--scope", "global")
    undo = "in every project. To undo it: memoranda undo --global"
    assert do("correct", "G#1", "I write English") == f"G#2 replaces G#1, {undo}"
    assert do("undo", "--global", project="bakery") == "Undid step 2: correct G#1."
    assert do("redo", "--global", project="bakery") == "Redid step 2: correct G#1."
    for words, said in (
        (("confirm", "G#2"), "Confirmed G#2"),
        (("pin", "G#2"), "Pinned G#2"),
        (("pin", "G#2", "--off"), "Unpinned G#2"),
        (("tag", "G#2", "language"), "Tagged G#2: language"),
        (("tag", "G#2", "language", "--off"), "Removed language from G#2"),
        (("mute", "G#2"), "Muted G#2"),
        (("mute", "G#2", "--off"), "Unmuted G#2"),
        (("forget", "G#2"), "Forgot G#2"),
    ):
        assert do(*words, project="bakery") == f"{said}, {undo}"
    assert "No facts here" in do("facts")
    history = do("history", "--global")
    assert "forget G#2" in history and "F#" not in history
    assert do("history", "--record", "G#1").count("\n") == 3
    assert do("history") == "Nothing was changed yet."
    assert "nothing to undo" in do("undo", status=1)


def test_a_move_is_one_step_of_the_project(do: Do) -> None:
    do("remember", "I write Spanish")
    moved = "Moved F#1 to G#1, seen in every project. Undo takes it back. That started"
    assert do("correct", "1", *MOVE).startswith(moved)
    assert "Moved        to [G#1]" in do("show", "F#1")
    assert do("undo") == "Undid step 2: move F#1 G#1. In shop."
    assert "F#1" in do("facts") and "G#1" not in do("facts")
    assert do("redo") == "Redid step 2: move F#1 G#1. In shop."
    assert "Moved G#1 to F#1, of this project alone." in do("correct", "G#1", *BRING, project="bakery")
    assert "No facts here" in do("facts")
    assert do("undo", project="bakery") == "Undid step 1: move G#1 F#1. In bakery."
    assert "G#1" in do("facts")


def test_what_cannot_be_is_said(do: Do) -> None:
    do("remember", "I write Spanish")
    assert "no personal memory yet" in do("undo", "--global", status=1)
    assert "no personal memory yet" in do("history", "--global", status=1)
    assert not os.path.exists(personal_memory_path())
    do("remember", "tabs", "--scope", "global")
    assert "one kind at a time" in do("forget", "1", "G#1", status=2)
    assert "one kind at a time" in do("pin", "1", "G#1", status=2)
    assert "G#1 is global already" in do("correct", "G#1", *MOVE, status=2)
    assert "F#1 is of the project already" in do("correct", "1", *BRING, status=2)
    assert "no global fact G#9" in do("show", "G#9", status=1)
    assert "belongs to no session" in do("remember", "x", "--scope", "global", "--session", "s", status=2)
    do("correct", "1", *MOVE)
    assert "moved a fact to another memory" in do("undo", "--dry-run", status=1)


def test_a_personal_memory_that_cannot_be_read_is_named(do: Do) -> None:
    do("remember", "I write Spanish")
    do("remember", "tabs", "--scope", "global")
    Path(personal_memory_path()).write_bytes(b"no memory at all" * 100)
    for suffix in ("-wal", "-shm"):
        Path(personal_memory_path() + suffix).unlink(missing_ok=True)
    listed = do("facts")
    assert "F#1" in listed and "Your global facts are not shown" in listed and personal_memory_path() in listed
    found = do("search", "Spanish")
    assert "F#1" in found and "Global facts are not searched" in found
    assert "Your personal memory cannot be used" in do("correct", "1", *MOVE, status=1)
    assert "Your personal memory cannot be used" in do("verify-forgotten", "tabs", status=1)


def test_a_purge_reaches_both_files(do: Do, tmp_path: Path) -> None:
    do("remember", "Nadia hates elderberries")
    do("correct", "1", *MOVE)
    do("init", project="bakery")
    shown = do("purge", "G#1", "--dry-run")
    assert "In your personal memory:" in shown and "In this memory:" in shown
    assert "The records that hold it: F#1, G#1." in do("verify-forgotten", "elderberries", status=1)
    other = do("purge", "G#1", "--dry-run", project="bakery")
    assert f"memoranda --db {memory_path(tmp_path / 'shop')} purge F#1" in other
    assert do("purge", "1", "--yes").startswith("Erased 2 records with all old versions.")
    assert "No trace of it" in do("verify-forgotten", "elderberries")
    for file in [*tmp_path.rglob("*"), *Path(personal_memory_path()).parent.rglob("*")]:
        assert not file.is_file() or b"elderberries" not in file.read_bytes(), file
    assert "nothing to undo" in do("undo", status=1)
    assert "was erased" in do("undo", "2", status=1)
    assert "No facts here" in do("facts")
