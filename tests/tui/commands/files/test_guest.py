"""`files list`, `correct` and `forget` on the command line: texts of other tools, in their own files."""

import io
import os
from pathlib import Path

import pytest
from support.commands import Do
from support.guests import GuestHome

from store.tools.guard_moments import current_ms


@pytest.fixture
def home(home_folder: Path) -> GuestHome:
    home = GuestHome(home_folder)
    home.now = current_ms()
    home.age()
    return home


def name(home: GuestHome, part: str, tool: str) -> str:
    return home.text(part, tool).short


def test_all_texts_a_tool_and_a_search(do: Do, home: GuestHome) -> None:
    lines = do("guest", "--limit", "100").out.splitlines()
    assert len(lines) == len(home.texts())
    assert do("guest", "list").out.splitlines()[-1] == f"… and {len(lines) - 50} more: --limit {len(lines)}"
    found = do("guest", "search", "percebe", "--tool", "engram").out.splitlines()
    assert found == [f"{name(home, 'percebe', 'engram')}  Engram        Deploy host: {home.text('percebe').text}"]
    assert do("guest", "--tool", "engram", "search", "percebe").out.splitlines() == found, "options may come first"
    assert do("guest", "search", "nothing", "like", "it").out == "Nothing has the words “nothing like it”.\n"
    assert "cannot be edited in place" in do("guest", "--tool", "mem0").err


def test_one_text_in_full_without_its_secret(do: Do, home: GuestHome) -> None:
    one = home.text("Backups of the tide", "claude-code")
    said = do("guest", "show", one.short)
    assert said.out.splitlines() == [
        f"{one.short}  Claude Code · reference · Backup bucket: dónde",
        "~/.claude/projects/-home-ines-src-faro/memory/reference_faro_backup.md:7",
        "",
        one.text.replace("AKIAQ7RM3XKD2WUZ5VTN", "[REDACTED:AWS_KEY]"),
    ]
    for words in (("guest",), ("guest", "--json"), ("guest", "show", one.short, "--json"), ("guest", "search", "key")):
        assert "AKIA" not in do(*words).out


def test_a_correction_and_its_undo(do: Do, home: GuestHome) -> None:
    before = home.files()
    short = name(home, "percebe", "basic-memory")
    words = ("guest", "correct", short, "The", "staging", "host", "is", "called", "navaja.")
    shown = do(*words, "--dry-run").out.splitlines()
    assert shown[0] == "Nothing was changed."
    assert shown[1] == "~/basic-memory/projects/faro/faro conventions.md  would be rewritten"
    assert "  +      - [fact] The staging host is called navaja. #ops (faro)" in shown
    assert "Needs confirmation; nothing was changed." in do(*words).err
    assert home.files() == before
    assert do(*words, "--yes").out == f"Corrected {short}: M#1.\nTake it back: memoranda files undo\n"
    notes = home.notes / "projects" / "faro" / "faro conventions.md"
    assert b"- [fact] The staging host is called navaja. #ops (faro)\n" in notes.read_bytes()
    assert do("guard", "list").out.startswith("M#1  You changed 1 file of basic-memory's memory at ")
    assert do("guard", "undo").err.startswith("Nothing was put back")
    assert do("guest", "undo", "--yes").out == "Undid M#1: M#2.\nTake it back: memoranda files restore M#2\n"
    assert home.files() == before
    assert do("guest", "undo").err.startswith("Nothing was changed here")


def test_a_text_that_is_piped_in(do: Do, home: GuestHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("To rebuild the almanac:\n1. run it\n"))
    do("guest", "correct", name(home, "To rebuild", "claude-code"), "-", "--yes")
    assert (home.claude / "runbook.md").read_bytes() == b"To rebuild the almanac:\n1. run it\n"


def test_a_deletion_in_files_and_in_a_database(do: Do, home: GuestHome) -> None:
    short = name(home, "To rebuild", "claude-code")
    said = do("guest", "delete", short, "--yes", "--json")
    files = [(os.path.basename(one["path"]), one["change"]) for one in said.data["files"]]
    assert files == [("runbook.md", "removed"), ("MEMORY.md", "rewritten")]
    assert do("guest", "delete", name(home, "percebe", "engram"), "--yes").status == 0
    assert not [one for one in home.texts("engram") if "percebe" in one.text]
    assert do("guest", "undo", "--yes").status == do("guest", "undo", "--yes").status == 0
    assert home.text("percebe", "engram") and (home.claude / "runbook.md").exists()


def test_what_does_not_fit_is_named(do: Do, home: GuestHome) -> None:
    for words, why in (
        (("show",), "files show wants a name."),
        (("correct", "abcd"), "files correct wants a name and a text."),
        (("undo", "it"), "files undo takes no words."),
        (("show", "zzzz"), "That is no name of a text."),
        (("delete", "ffffffffff"), "There is no text ffffffffff, or it changed since."),
    ):
        said = do("guest", *words)
        assert said.status in (1, 2) and said.err.startswith(why), said


def test_hostile_names_and_texts_do_nothing_to_a_terminal(do: Do, home: GuestHome) -> None:
    (home.claude / "\x1b[2Jred.md").write_text("\x1b[31mred\u202e\n", encoding="utf-8")
    (home.claude / "\x1b[2Jlink.md").symlink_to("/etc/passwd")
    home.age()
    for words in (("--limit", "99"), ("search", "red"), ("show", name(home, "red\u202e", "claude-code"))):
        said = do("guest", *words)
        assert "\x1b" not in said.out and "\u202e" not in said.out
    assert "Not read: ~/.claude/projects/-home-ines-src-faro/memory/␛[2Jlink.md: symbolic" in do("guest").out


def test_nothing_is_there(do: Do, home: GuestHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "here"))
    assert do("guest").out.startswith("No memory of Claude Code, basic-memory, OpenClaw or Engram was found")
