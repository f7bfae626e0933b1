"""`import SOURCE [PATH]` on the command line."""

import json
from pathlib import Path

import pytest
from support.commands import Do, runner
from support.repositories import create
from support.samples import copied


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs one command in a project of its own, with nobody at the keyboard and nothing in the home folder."""
    project = tmp_path / "project"
    create(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "MEMORY_FILE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(project)

    return runner(capsys)


def test_it_is_seen_first_and_asked(do: Do, tmp_path: Path) -> None:
    paths, _ = copied("engram", tmp_path)
    seen = do("import", "engram", paths[0], "--dry-run", "--limit", "2")
    assert seen.status == 0
    lines = seen.out.splitlines()
    assert lines[0] == "Importing Engram would bring 14 facts, 2 decisions and 5 turns."
    assert "+ fact      Tide heights in Faro are stored as whole centimetres" in lines[1]
    assert lines[1].endswith("engram.db, observation 1")
    assert "… and 14 more; --limit shows them" in lines
    assert "1 holds a secret, which is cut out" in lines and "AKIA" not in seen.out
    assert do("inbox", "--json").data == []
    assert do("import", "engram", paths[0]).status != 0  # nobody answers
    assert do("inbox", "--json").data == []


def test_it_waits_in_the_inbox_until_undone(do: Do, tmp_path: Path) -> None:
    paths, _ = copied("engram", tmp_path)
    done = do("import", "engram", paths[0], "--yes")
    assert "Imported Engram: 16 proposals wait in the inbox, 5 turns of 1 session imported." in done.out
    assert len(do("inbox", "--json").data) == 16
    again = do("import", "engram", paths[0], "--yes")
    assert again.out.splitlines()[0] == "Nothing of Engram is new here; nothing was changed."
    step = do("import", "engram", paths[0], "--dry-run", "--json").data
    assert (step["new"], step["known"], step["steps"]) == (0, 16, [])
    assert do("undo", "1").status == 0
    assert do("inbox", "--json").data == []


def test_trusted_it_is_taken_as_it_is(do: Do, tmp_path: Path) -> None:
    paths, _ = copied("mem0", tmp_path)
    done = do("import", "mem0", paths[0], "--trust", "--yes", "--json").data
    assert (done["taken"], done["proposed"], len(done["steps"])) == (13, 0, 1)
    assert len(do("facts", "--json").data) == 13


def test_without_a_name_it_lists_what_was_found(do: Do, tmp_path: Path) -> None:
    assert do("import").out.startswith("No other tool's memory was found here.")
    copied("mem0", tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "mem0").rename(tmp_path / "home" / ".mem0")
    place = str(tmp_path / "home" / ".mem0" / "history.db")
    assert do("import").out == f"mem0                mem0: {place}\n"
    assert do("import", "--json").data == [{"source": "mem0", "places": [place]}]
    assert do("import", "mem0", "--yes").out.startswith("Imported mem0: 13 proposals wait in the inbox.")


def test_what_it_cannot_bring(do: Do, tmp_path: Path) -> None:
    assert "Nothing of mem0 was found here." in do("import", "mem0").err
    assert "There is no " in do("import", "mem0", "nothing").err
    assert "is not one of the tools" in do("import", "mem1", "nothing").err
    (tmp_path / "project" / "a.md").write_bytes(b"- The team is \xff five.\n")
    said = do("import", "markdown", "a.md", "--yes")
    assert "a part of it is not UTF-8" in said.out and "1 proposal" in said.out


def test_what_is_of_other_projects_is_said_to_be_there(do: Do, tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".claude" / "projects" / "-src-other" / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("The team is five.\n")
    said = do("import", "claude-code").err
    assert "Nothing of Claude Code was found for this project." in said
    assert "Name the place: import claude-code PATH; --all brings those of all projects." in said
    assert do("import", "claude-code", "--all", "--dry-run").out.startswith("Importing Claude Code would bring 1 fact.")


def test_one_of_each_is_said_as_one(do: Do, tmp_path: Path) -> None:
    (tmp_path / "project" / "a.md").write_text("# Notes\n\nSome prose.\n\n- Tea\n- Tea\n")
    said = do("import", "markdown", "a.md", "--dry-run").out
    assert "1 repeats what is known, was decided on or stands above" in said
    assert "1 file of prose stays in place; documents.extraPaths makes prose searchable" in said
    assert "Importing Markdown files would bring 1 fact." in said


def test_each_of_its_steps_is_said(do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.tools.source_import.STEP_RECORDS", 1)
    (tmp_path / "project" / "a.md").write_text("- Tea\n- Milk\n- Rice\n")
    said = do("import", "markdown", "a.md", "--yes").out
    assert "3 proposals wait in the inbox. `undo 3`, `undo 2` and `undo 1` undo it." in said


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("import claude-code many.jsonl --yes", ["Importing Claude Code: 100", "Importing Claude Code: 200"]),
        ("ingest many.jsonl", ["Reading many.jsonl: 40 %", "Reading many.jsonl: 80 %", "Summing up what was said"]),
    ],
)
def test_a_terminal_shows_how_far_conversations_are(
    do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, shown: list[str]
) -> None:
    """The line is cleared at the end."""
    lines = [
        {
            "type": "user",
            "sessionId": "a",
            "uuid": f"{number:08}-0000-4000-8000-000000000000",
            "timestamp": f"2026-08-{number // 24 + 1:02}T{number % 24:02}:00:00Z",
            "message": {"role": "user", "content": f"The potto number {number:03} likes figs."},
        }
        for number in range(250)
    ]
    (tmp_path / "project" / "many.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    do("init")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = do(*words.split())
    assert done.status == 0
    said = [line for line in done.err.split("\r\x1b[K") if line]
    assert [line for line in said if line in shown] == shown
    assert done.err.endswith("\r\x1b[K")
