"""`memoranda sync`, as people and scripts use it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import COMMAND

from store.memory import Memory
from tui import cli

Say = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two facts, and a person in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    with Memory.open(str(folder / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("The team is five", domain="work")
        memory.facts.remember("Tea, not coffee", domain="preferences")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def say(project: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command, and return what it prints."""

    def run(*words: str, status: int = 0) -> str:
        assert cli.run_command(words) == status
        out, err = capsys.readouterr()
        return out + err

    return run


def test_the_first_sync_says_what_it_did_and_what_comes_next(say: Say, project: Path) -> None:
    said = say("sync")
    assert "MEMORY.md is kept in sync from now on, with 2 facts." in said
    assert "Edit it in any editor" in said
    assert "- The team is five [F#1]" in (project / "MEMORY.md").read_text()
    assert say("sync") == "MEMORY.md and the memory say the same: 2 facts.\n"


def test_an_edit_is_told_with_what_takes_it_back(say: Say, project: Path) -> None:
    say("sync")
    file = project / "MEMORY.md"
    file.write_text(file.read_text().replace("five", "six").replace("- Tea, not coffee [F#2]", "- Lunch is at one"))
    said = say("sync")
    assert "Read MEMORY.md: 1 new line (F#4), 1 changed (F#3), 1 forgotten (F#2). `undo 3` takes that back." in said
    assert "2 proposals of it wait in the inbox." in said
    say("undo", "3")
    say("sync")
    assert "- The team is five [F#1]" in file.read_text() and "Lunch" not in file.read_text()


def test_what_both_sides_changed_is_said_to_wait(say: Say, project: Path) -> None:
    say("sync")
    say("correct", "1", "The team is six")
    file = project / "MEMORY.md"
    file.write_text(file.read_text().replace("five", "seven"))
    assert say("sync") == "1 proposal of MEMORY.md waits in the inbox. In shop.\n"
    assert "conflict" in say("today") and "The team is seven [F#1]" in file.read_text()


def test_accept_shows_what_it_accepts_and_asks(say: Say, project: Path) -> None:
    say("sync")
    file = project / "MEMORY.md"
    file.write_text(file.read_text().replace("- Tea", "- Lunch is at one\n- Tea") + "\nAsk me first.\n")
    assert "Needs confirmation; nothing was changed." in say("sync", "--accept", status=2)
    said = say("sync", "--accept", "--yes")
    assert said.startswith("Accepted 1 fact and 1 line of your own text of MEMORY.md.")
    assert say("sync", "--accept") == "Nothing of MEMORY.md waits to be accepted.\n"


def test_the_text_of_another_file_is_not_asked_about_for_agents_load_it_themselves(say: Say, project: Path) -> None:
    (project / "CLAUDE.md").write_text("# House\n\n- Run make check\n")
    say("sync", "CLAUDE.md")
    assert say("sync", "CLAUDE.md", "--accept") == "Nothing of CLAUDE.md waits to be accepted.\n"


def editor(folder: Path, work: str) -> str:
    """An editor that is a program of ours: `path` is the file that it is given."""
    script = folder.parent / "editor.py"
    script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{work}\n")
    return f"{sys.executable} {script}"


def test_a_change_in_the_editor_is_the_persons_word(say: Say, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = "path.write_text(path.read_text().replace('five', 'six') + '\\nAsk me first.\\n')"
    monkeypatch.setenv("VISUAL", editor(project, work))
    assert "Read MEMORY.md: 1 changed (F#3). `undo 2` takes that back." not in say("sync")
    assert "1 changed (F#3)" in say("sync", "--edit")
    assert "nothing" in say("today").lower() or "Nothing to review" in say("today")
    assert say("sync", "--accept") == "Nothing of MEMORY.md waits to be accepted.\n"
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        assert memory.facts.get(3).origin == "user"


def test_an_edit_that_cannot_be_taken_is_kept(say: Say, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say("sync")
    file = project / "MEMORY.md"
    work = f"""
path.write_text(path.read_text() + 'mine\\n')
other = pathlib.Path({str(file)!r})
other.write_text(other.read_text() + 'theirs\\n')
"""
    monkeypatch.setenv("VISUAL", editor(project, work))
    said = say("sync", "--edit", status=1)
    assert "MEMORY.md was changed while you edited it, outside of its section." in said
    kept = Path(said.partition("What you wrote is in ")[2].partition(". ")[0])
    assert kept.read_text().endswith("mine\n") and file.read_text().endswith("theirs\n")


def test_a_file_of_the_folder_where_the_person_stands(say: Say, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "docs").mkdir()
    monkeypatch.chdir(project / "docs")
    assert "docs/house.md is kept in sync" in say("sync", "house.md")
    assert "- The team is five [F#1]" in (project / "docs" / "house.md").read_text()
    assert "Only a Markdown file inside of the project" in say("sync", "../../else.md", status=2)


def test_a_large_file_is_told_what_could_move(say: Say, project: Path) -> None:
    notes = "".join(f"A line of notes, number {number}, about how things are done here.\n" for number in range(200))
    (project / "MEMORY.md").write_text(f"# Shop\n\nShort.\n\n## How we do things\n\n{notes}")
    said = say("sync")
    assert "MEMORY.md has 13 KB" in said or "MEMORY.md has 12 KB" in said, said
    assert "a file in memory/" in said
    assert "lines 5 to 206, some 3," in said and "How we do things" in said


def test_off_leaves_the_file_alone(say: Say, project: Path) -> None:
    assert "is not kept in sync" in say("sync", "--off", status=1)
    say("sync")
    assert say("sync", "--off") == "MEMORY.md is no longer kept in sync; it stays as it is.\n"
    before = (project / "MEMORY.md").read_text()
    say("remember", "New")
    assert (project / "MEMORY.md").read_text() == before
    assert "go one at a time" in say("sync", "--off", "--watch", status=2)


@pytest.mark.parametrize("opened", [os.openpty, os.pipe])
def test_watch_says_each_thing_at_once_until_interrupted(project: Path, opened: Callable[[], tuple[int, int]]) -> None:
    """On a terminal, and into a pipe."""
    leader, follower = opened()
    watching = subprocess.Popen([COMMAND, "sync", "--watch"], cwd=project, stdout=follower, stderr=follower)
    os.close(follower)
    shown = ""

    def until(text: str) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(leader, 4096).decode()

    try:
        until("Watching; ^C ends it.")
        assert shown.startswith("Wrote MEMORY.md: 2 facts.")
        file = project / "MEMORY.md"
        part = project / "part"  # as editors save: a file that is being written is empty for a moment
        part.write_text(file.read_text().replace("five", "six"))
        part.replace(file)
        until("1 changed (F#3)")
        with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
            memory.facts.remember("Lunch is at one")
        until("Wrote MEMORY.md: 3 facts.")
        assert "- Lunch is at one [F#4]" in file.read_text()
        watching.send_signal(2)
        assert watching.wait(20) == 0
    finally:
        watching.kill()
        os.close(leader)


def test_a_search_reads_the_file_first_and_says_so(say: Say, project: Path) -> None:
    say("sync")
    file = project / "MEMORY.md"
    file.write_text(file.read_text().replace("- Tea, not coffee [F#2]", "- Lunch is at one"))
    said = say("search", "lunch", "--keywords")
    assert "Read MEMORY.md: 1 new line (F#3), 1 forgotten (F#2). `undo 3` takes that back." in said
    assert "F#3" in said.partition("Exact")[2] and "Tea" not in say("facts")
    file.write_text("")
    assert "nothing was forgotten" in say("search", "lunch", "--keywords")
    assert "forgotten" not in say("search", "lunch", "--keywords"), "it is said once"
