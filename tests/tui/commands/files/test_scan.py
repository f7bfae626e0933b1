"""`files scan` on the command line: no set-up, no memory of ours, nothing written."""

import os
import shutil
from pathlib import Path

import pytest
from support.commands import Do
from support.samples import copied, state


@pytest.fixture(autouse=True)
def home(home_folder: Path, tmp_path: Path) -> Path:
    """A home folder that holds two tools' memories."""
    for tool, name in (("engram", ".engram"), ("basic-memory", "basic-memory")):
        copied(tool, tmp_path)
        (tmp_path / tool).rename(home_folder / name)
    return home_folder


def test_it_needs_no_set_up_and_writes_nothing(do: Do, tmp_path: Path) -> None:
    before = state(tmp_path / "home") | state(tmp_path / "here")
    said = do("scan")
    assert (said.status, said.err) == (0, "")
    assert state(tmp_path / "home") | state(tmp_path / "here") == before
    lines = said.out.splitlines()
    assert lines[0].startswith("Engram              16 memories;") and "13 memories; 3 documents" in lines[1]
    assert "Secrets in clear: 2" in lines and any(line.startswith("Duplicates: ") for line in lines)
    assert "  … and" in said.out and "AKIAQ7" not in said.out


def test_for_scripts_and_for_ci(do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = do("scan", "--json").data
    assert data["counts"]["secret"] == 2 and len(data["sources"]) == 2
    assert "AKIAQ7" not in do("scan", "--json").out
    assert do("scan", "--check").status == 5
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("HOME", str(empty))
    said = do("scan", "--check")
    assert (said.status, said.out.splitlines()[0]) == (0, "No memory of another tool was found on this machine.")


def test_as_a_document_with_every_finding(do: Do) -> None:
    text = do("scan", "--md").out
    assert text.startswith("# Memories on this machine\n\n- Engram ")
    assert "## Secrets in clear (2)\n\n- " in text and "more; --limit" not in text


def test_folders_that_are_named(do: Do, tmp_path: Path) -> None:
    (tmp_path / "here" / "a.md").write_text("- The team is five.\n", encoding="utf-8")
    found = do("scan", ".", "--json").data["sources"]
    assert [one["memories"] for one in found if one["source"] == "markdown"] == [1]


def test_what_cannot_be_read_is_named_with_its_reason(do: Do, home: Path) -> None:
    """A damaged memory is no empty one, and nobody is told that nothing is wrong with what nobody could read."""
    (home / ".engram" / "engram.db-wal").unlink()
    (home / ".engram" / "engram.db").write_bytes(b"no database " * 400)
    (home / ".mem0").mkdir()
    (home / ".mem0" / "history.db").write_bytes(b"")
    shutil.rmtree(home / "basic-memory")
    said = do("scan")
    lines = said.out.splitlines()
    assert lines[0].startswith("Engram              1 part cannot be read  (")
    assert lines[1].startswith("mem0                1 part cannot be read  (")
    assert "Nothing could be read." in lines
    place = lines.index("Could not be read: 2")
    assert lines[place + 1 :] == [
        f"  {home}/.engram/engram.db  it is not an SQLite database",
        f"  {home}/.mem0/history.db  it has none of the tables that are known of this tool",
    ]
    assert f"## Could not be read (2)\n\n- {home}/.engram/engram.db  it is no" in do("scan", "--md").out


def test_conversations_about_to_go_are_saved(do: Do, home: Path, tmp_path: Path) -> None:
    said = do("scan", "--save")
    assert said.out.endswith("No conversation is about to be deleted.\n")
    copied("claude-code", tmp_path)
    (home / ".claude").mkdir()
    (tmp_path / "claude-code" / "projects").rename(home / ".claude" / "projects")
    for path in home.rglob("*.jsonl"):
        os.utime(path, (1_790_000_000,) * 2)
    said = do("scan", "--save")
    assert "Saved 1 conversation to " in said.out and "`memoranda files --save` copies them" in said.out
    assert "; 1 was saved before" in do("scan", "--save").out
    found = do("scan", "--save", "--json").data["saved"]
    assert (found["new"], found["before"], found["troubles"]) == ([], 1, [])
    assert list(Path(found["folder"]).rglob("*.jsonl"))
