"""`files keep`, `versions` and `restore` on the command line: what changed in other tools' memories, and how."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import Do, Said
from support.guarded import GuardedHome

from store.config.configuration import Config
from store.tools import guard_moments
from store.tools.guard_moments import LookResult, current_ms, look_at_files
from store.tools.source import Machine
from tui import run_verb


@pytest.fixture
def home(home_folder: Path) -> GuardedHome:
    """A home with four notes of Claude Code, written an hour ago."""
    home = GuardedHome(home_folder)
    home.now = current_ms() - 3_600_000
    for name in ("tides", "deploy", "team", "style"):
        home.write(f"{name}.md", f"About {name}.\nThe second line of {name}.\n")
    return home


@pytest.fixture
def first(do: Do, home: GuardedHome) -> dict[str, bytes]:
    """What was there at the first look; a second one found what an agent made of it since: M#1."""
    do("files", "keep")
    content = home.content()
    clean_up(home)
    do("files", "keep")
    return content


def clean_up(home: GuardedHome) -> None:
    """What an agent does to its notes: one goes, one is reworded and gets a key in it."""
    home.now = current_ms() - 600_000
    home.remove("tides.md")
    home.write("deploy.md", "About deploy.\nShorter. The key is AKIAQ7RM3XKD2WUZ5VTN.\n")


FOLDER = "~/.claude/projects/-home-ines-faro/memory"


def test_a_look_and_what_changed_since(do: Do, home: GuardedHome) -> None:
    assert do("guard").out.splitlines() == [
        "Kept 4 files of 1 tool. From now on every change is kept.",
        "Look again with memoranda files keep; memoranda files keep --watch keeps each version as it comes.",
    ]
    assert do("guard").out == "Nothing changed since you looked last: 4 files of 1 tool.\n"
    clean_up(home)
    lines = do("guard").out.splitlines()
    assert lines[0].startswith("M#1  2 files of Claude Code's memory changed at ")
    assert lines[0].endswith(": 1 removed, 1 rewritten")
    assert lines[1:3] == [f"  removed    {FOLDER}/tides.md", f"  rewritten  {FOLDER}/deploy.md"]
    assert lines[-1] == "See how: memoranda files versions M#1   Put it back: memoranda files restore M#1"
    assert do("guard").out.startswith("Nothing changed since you looked last")


def test_a_timer_says_a_line_for_each_moment_and_a_person_is_still_told(do: Do, home: GuardedHome) -> None:
    assert do("guard", "--once").out == "Kept 4 files of 1 tool. From now on every change is kept.\n"
    assert do("guard", "--once") == Said(0, "", "")
    clean_up(home)
    said = do("guard", "--once")
    assert said.status == 0 and len(said.out.splitlines()) == 1 and said.out.startswith("M#1  2 files of")
    assert do("guard").out.startswith("M#1  2 files of")


def test_list_and_show(do: Do, home: GuardedHome) -> None:
    assert do("guard", "list").err.startswith("Nothing is kept yet. memoranda files keep takes the first look.")
    do("guard")
    assert do("guard", "list").out == "Nothing changed since the first look.\n"
    clean_up(home)
    do("guard", "--once")
    assert do("guard", "list").out.startswith("M#1  2 files of Claude Code's memory changed at ")
    for name in ("M#1", "M1", "m#1", "1"):
        assert do("guard", "show", name).out.splitlines()[1:] == [
            "",
            f"{FOLDER}/tides.md  removed",
            "  -    1 About tides.",
            "  -    2 The second line of tides.",
            "",
            f"{FOLDER}/deploy.md  rewritten",
            "       1 About deploy.",
            "  -    2 The second line of deploy.",
            "  +      Shorter. The key is [REDACTED:AWS_KEY].",
        ]
    one = do("guard", "show", "M#1", "deploy.md", "--json")
    assert "AKIA" not in one.out
    changed = [(file["change"], os.path.basename(file["path"])) for file in one.data["files"]]
    assert changed == [("rewritten", "deploy.md")]
    assert one.data["files"][0]["lines"][1] == ["-", 2, "The second line of deploy."]


@pytest.mark.usefixtures("first")
def test_what_does_not_fit_is_named(do: Do) -> None:
    for words, why in (
        (("restore",), "files restore wants a moment."),
        (("show", "F#1"), "That is no moment."),
        (("show", "M#9"), "There is no moment M#9."),
        (("show", "M#1", "team.md"), "No such file changed in M#1."),
        (("shwo",), "files keep takes no words."),
        (("restore", "M#1", "a.md", "b.md"), "files restore takes a moment and a file."),
        (("off", "--md"), "files keep has no option “--md”; it has: --tool, --once, --watch, --off, --limit, "),
        (("list", "--once"), "--once and --watch are for a look."),
    ):
        said = do("guard", *words)
        assert said.status in (1, 2) and said.err.startswith(why), said


def test_what_a_file_is_called_and_says_does_nothing_to_a_terminal(do: Do, home: GuardedHome) -> None:
    do("guard")
    home.now = current_ms() - 60_000
    home.write("\x1b[2Jred.md", "\x1b[31mred\u202e\n")
    for words in (("guard",), ("guard", "show", "1")):
        said = do(*words)
        assert "\x1b" not in said.out and "\u202e" not in said.out and "␛[2Jred.md" in said.out


def test_off_forgets_all(do: Do, home: GuardedHome) -> None:
    do("guard")
    assert "Needs confirmation; nothing was changed." in do("guard", "off").err
    assert do("guard", "off", "--yes").out.startswith("Forgot all kept versions, ")
    assert do("guard", "off", "--yes").err.startswith("Nothing is kept yet.")
    assert do("guard").out.startswith("Kept 4 files of 1 tool.")


@pytest.mark.usefixtures("first")
def test_restore_shows_first_and_asks(do: Do, home: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    before = home.content()
    said = do("guard", "restore", "M1", "--dry-run")
    assert said.out.splitlines()[:8] == [
        "Nothing was changed.",
        f"{FOLDER}/tides.md  would be put back",
        "  +      About tides.",
        "  +      The second line of tides.",
        "",
        f"{FOLDER}/deploy.md  would be rewritten",
        "       1 About deploy.",
        "  -    2 Shorter. The key is [REDACTED:AWS_KEY].",
    ]
    unasked = do("guard", "restore", "M1").err
    assert "would be put back" in unasked and "Needs confirmation; nothing was changed." in unasked
    assert home.content() == before

    asked: list[str] = []
    monkeypatch.setattr(run_verb, "_ask_on_terminal", lambda question, *_: asked.append(question))
    assert do("guard", "restore", "M1").err.startswith("Nothing was changed.")
    assert asked == ["Put back 2 files to before M#1?"] and home.content() == before


def test_restore_and_undo(do: Do, home: GuardedHome, first: dict[str, bytes]) -> None:
    cleaned = home.content()
    lines = do("guard", "restore", "1", "--yes").out.splitlines()
    assert lines == ["Put back 2 files to before M#1: M#2.", "Take it back: memoranda files undo restore"]
    assert home.content() == first
    assert do("guard", "restore", "1", "--yes").out == ("Nothing to put back: the files are as they were before M#1.\n")
    assert do("guard", "undo", "--yes").out.splitlines()[0] == "Undid M#2: M#3."
    assert home.content() == cleaned
    assert do("guard", "undo", "--yes").err.startswith("Nothing was put back, or all of it was undone.")
    data = do("guard", "restore", "1", "deploy.md:2", "--yes", "--json").data
    assert (data["moment"], data["restored"], data["files"][0]["change"]) == ("M#1", "M#4", "rewritten")
    assert home.content() == cleaned | {"deploy.md": first["deploy.md"]}
    lines = do("guard", "list").out.splitlines()
    assert [line.split(" ", 2)[0] for line in lines] == ["M#4", "M#3", "M#2", "M#1"]
    assert lines[0].startswith("M#4  You put 1 file back to before M#1 at ")


@pytest.mark.usefixtures("first")
def test_without_a_look_at_it_what_changed_again_is_not_replaced(do: Do, home: GuardedHome) -> None:
    home.now = current_ms() - 60_000
    home.write("deploy.md", "Typed by me since.\n")
    said = do("guard", "restore", "1", "--yes")
    assert said.status == 1 and f"{FOLDER}/deploy.md changed again after M#1" in said.err
    assert "without --yes" in said.err and home.content()["deploy.md"] == b"Typed by me since.\n"
    assert "which changed again after M#1" in do("guard", "restore", "1", "--dry-run").out
    assert do("guard", "restore", "1", "tides.md", "--yes").status == 0


def test_watch_prints_a_line_for_each_moment(do: Do, home: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watching itself is tested with the store; here each look is the next one of a list."""

    def watched(config: Config, machine: Machine, stop: threading.Event) -> Iterator[LookResult]:
        yield look_at_files(config, machine, current_ms())
        clean_up(home)
        yield look_at_files(config, machine, current_ms())
        yield look_at_files(config, machine, current_ms())
        raise KeyboardInterrupt

    monkeypatch.setattr(guard_moments, "watch_guarded_files", watched)
    said = do("guard", "--watch")
    lines = said.out.splitlines()
    assert (said.status, said.err, len(lines)) == (0, "", 2)
    assert lines[0] == "Kept 4 files of 1 tool. From now on every change is kept."
    assert lines[1].startswith("M#1  2 files of Claude Code's memory changed at ")
    home.write("tides.md", "Again.\n")
    objects = [json.loads(line) for line in do("guard", "--watch", "--json").out.splitlines()]
    assert [one["first"] for one in objects] == [False, False]
    assert objects[0]["moments"] and objects[1]["moments"]
