"""The view of other tools' memories: what is wrong with them, what changed, their texts. Real files in a real home."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.guarded import GuardedHome
from support.guests import GuestHome
from support.samples import copied
from support.screen import TWO_SIZES, Person, opened
from support.stories import Story, copy

from store.tools.guard_moments import current_ms
from store.tools.transcript_scan import ScanFinding
from tui.panes.files import describe_finding

KEY = "AKIAQ7RM3XKD2WUZ5VTN"
Change = Callable[[Path], object]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def guests(place: Path) -> GuestHome:
    """The memories of four tools."""
    home = GuestHome(place)
    home.now = current_ms()
    home.age()
    return home


@pytest.fixture
def guarded(place: Path) -> GuardedHome:
    """Of two notes, written an hour ago and seen, one was reworded since."""
    home = GuardedHome(place)
    home.now = current_ms() - 3_600_000
    home.write("tides.md", "About tides.\n")
    home.write("deploy.md", "About deploy.\n")
    home.look()
    home.now = current_ms() - 60_000
    home.write("deploy.md", "Shorter.\n")
    return home


async def at_files(person: Person, line: str, *sees: str) -> None:
    """Run a command that leads to the view, and wait until that shows something."""
    await person.command(line)
    await person.until(lambda: person.sees(*sees))
    await person.settle()


async def put_cursor(person: Person, text: str) -> None:
    """Move the cursor to the first row with a text."""
    rows = person.record_list.rows
    assert rows is not None
    drawn = ["".join(part for line in rows.lines(index, 200) for part, _ in line) for index in range(len(rows))]
    index = next(at for at, row in enumerate(drawn) if text in row and rows.selectable(at))
    assert person.record_list.select(rows.key(index))
    await person.settle()


def said(person: Person, words: str) -> bool:
    return any(words in toast for toast in person.toasts)


# what is wrong


@TWO_SIZES
async def test_each_number_lists_what_it_counts(place: Path, tmp_path: Path, size: tuple[int, int]) -> None:
    copied("claude-code", tmp_path)
    (place / ".claude").mkdir()
    (tmp_path / "claude-code" / "projects").rename(place / ".claude" / "projects")
    for path in place.rglob("*.jsonl"):
        os.utime(path, (1_790_000_000,) * 2)  # September 2026
    async with opened(copy(tmp_path / "billing-api").folder, size) as person:
        await at_files(person, "files scan", "Secrets in clear", "5  memories of Claude Code")
        await person.press("enter")
        await person.until(lambda: "[REDACTED:AWS_KEY]" in "".join(person.preview))
        assert person.sees("AWS_KEY") and KEY not in "".join(person.preview)
        await person.press("escape")
        await person.until(lambda: person.sees("5  memories of Claude Code"))
        await put_cursor(person, "memories of Claude Code")
        await person.press("enter")
        await person.until(lambda: person.sees("~/.claude/projects/") and not person.sees("Secrets in clear"))
        await person.press("escape")
        await put_cursor(person, "Save conversations")
        await person.press("enter")
        await person.until(lambda: said(person, "Saved 1 conversation"))
        await put_cursor(person, "Search conversations")
        await person.press("enter")
        await person.until(lambda: person.sees("2  Secrets in clear") and not person.sees("Search conversations"))
        await person.press("G", "enter", "g")
        await person.until(lambda: person.sees("1  Secrets in clear", "Search conversations"))


async def test_a_folder_that_is_named_is_scanned_too(place: Path, tmp_path: Path, story: Story) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text(f"- The key is {KEY}.\n")
    async with opened(story.folder) as person:
        await at_files(person, f"files scan {notes}", "Secrets in clear")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (os.mkfifo, "not a plain file"),
        (lambda path: path.symlink_to("/etc/passwd"), "symbolic link"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 100), "record 50 of a database"),
        (lambda path: path.write_bytes(b"x" * 2_000_001), "longer than"),
        (lambda path: None, "no such file"),
    ],
    ids=["pipe", "link", "database", "large", "gone"],
)
def test_only_a_plain_text_is_read(tmp_path: Path, make: Change, says: str) -> None:
    make(tmp_path / "a.md")
    _, _, *more = describe_finding(ScanFinding("secret", str(tmp_path / "a.md"), 50, ""))
    assert len(more) == 1 and says in more[0][0][0].lower()


def test_a_text_is_shown_around_its_line_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n".join(f"line {number} {KEY if number == 50 else ''}" for number in range(1, 101)))
    lines = describe_finding(ScanFinding("duplicate", str(path), 50, "", "b.md:3"))
    shown = "\n".join("".join(part for part, _ in line) for line in lines)
    assert "with b.md:3" in shown and "line 38 " in shown and "line 62 " in shown
    assert "line 63" not in shown and KEY not in shown


# what is written to other tools' files: each plan is left once, then done, undone


@TWO_SIZES
@pytest.mark.parametrize("row", ["1 file of Claude Code", "deploy.md"])
async def test_putting_back(guarded: GuardedHome, person: Person, row: str) -> None:
    await at_files(person, "files keep", "M#1", "2 files of 1 tool", "deploy.md")
    await put_cursor(person, row)
    assert [line for line in person.preview if line][-2:] == ["-    1 About deploy.", "+      Shorter."]
    await person.plan_of("R")
    assert person.sees("Put 1 file back to before M#1?")
    assert [line for line in person.plan_preview if line][-2:] == ["-    1 Shorter.", "+      About deploy."]
    await person.press("escape")
    assert guarded.content()["deploy.md"] == b"Shorter.\n"
    await person.plan_of("R")
    await person.press("enter")
    await person.until(lambda: person.sees("You put 1 file back to before M#1"))
    assert guarded.content()["deploy.md"] == b"About deploy.\n" and said(person, "M#2")
    await person.plan_of("u")
    assert person.sees("Put 1 file back to before M#2?")
    await person.press("enter")
    await person.until(lambda: said(person, "M#3"))
    assert guarded.content()["deploy.md"] == b"Shorter.\n"


CHANGES = tomllib.loads(Path(__file__).with_name("changes.toml").read_text())


@TWO_SIZES
@pytest.mark.parametrize("case", CHANGES.values(), ids=list(CHANGES))
async def test_changing_a_text(guests: GuestHome, person: Person, case: dict[str, Any]) -> None:
    line, keys, title, effects, after = case.values()
    before, (tool, words, number) = guests.texts(), after
    await at_files(person, f"files list {line}", "of 59 texts")
    assert KEY not in "\n".join([*person.lines, *person.preview])
    await person.plan_of(*keys)
    assert person.sees(f"{title}'s own file?")
    shown = "".join("".join(person.plan_preview).split())  # its lines are broken anywhere
    assert all("".join(effect.split()) in shown for effect in effects) and KEY not in shown
    await person.press("escape")
    assert guests.texts() == before
    await person.plan_of(*keys)
    await person.press("enter")
    await person.until(lambda: said(person, "M#1"))
    assert sum(words in one.text for one in guests.texts(tool)) == number
    await person.plan_of("u")
    await person.press("enter")
    await person.until(lambda: said(person, "M#2"))
    assert guests.texts() == before


async def test_the_find_line_narrows_the_texts(guests: GuestHome, person: Person) -> None:
    await at_files(person, "files list", "59 texts")
    await person.press("slash", *"percebe", "enter")
    await person.until(lambda: person.sees("3 of 59 texts", "basic-memory", "OpenClaw", "Engram"))
    await person.press("slash", *"xyz")
    await person.until(lambda: person.sees("Nothing has the words"))
    await person.press("escape")
    await person.until(lambda: person.sees("59 texts") and not person.sees("of 67"))


async def test_a_text_goes_to_the_editor(guests: GuestHome, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr("tui.desktop.programs.edit_in_editor", lambda app, text, **_: given.append(text))
    async with opened(story.folder) as person:
        await at_files(person, "files list comillas --tool engram", "1 of 59 texts")
        await person.press("c")
        assert given == [guests.text("comillas", "engram").text]
        await person.until(lambda: said(person, "Nothing was changed."))


@pytest.mark.parametrize("kind", ["moment", "text"])
async def test_what_changed_is_refused(place: Path, story: Story, kind: str, request: pytest.FixtureRequest) -> None:
    home = request.getfixturevalue("guarded" if kind == "moment" else "guests")
    path = home.memory / "deploy.md" if kind == "moment" else home.openclaw / "MEMORY.md"
    line = "files keep" if kind == "moment" else "files list percebe --tool openclaw"
    async with opened(story.folder) as person:
        await at_files(person, line, "deploy.md" if kind == "moment" else "percebe")
        await person.plan_of("R" if kind == "moment" else "F")
        path.write_bytes(path.read_bytes() + b"\n- Typed meanwhile: percebe.\n")
        await person.press("enter")
        await person.until(lambda: said(person, "it changed since it was shown"))
        assert b"Typed meanwhile" in path.read_bytes()


# what is strange, and what is not there


async def test_a_secret_is_cut_and_a_name_is_harmless(guarded: GuardedHome, story: Story) -> None:
    guarded.write("\x1b[2Jred.md", f"The key is {KEY}.\n\x1b[31mred\n")
    (guarded.memory / "\x1b[2Jlink.md").symlink_to("/etc/passwd")
    async with opened(story.folder) as person:
        for line, sees in (("files keep", "red.md"), ("files list", "1 file not read"), ("files scan", "Secrets")):
            await at_files(person, line, sees)
            text = "\n".join([*person.lines, *person.preview])
            assert KEY not in text and "\x1b" not in text


async def test_nothing_is_there(place: Path, person: Person) -> None:
    await at_files(person, "files", "No other tool keeps")
    await person.press("escape")
    await person.until(lambda: person.sees("No other tool", "Nothing changed yet.", "No memory of Claude Code"))
    await person.press("R")
    assert person.sees("Put back to…"), "no file: the memory, to a checkpoint"
    await person.press("escape", "c", "F", "enter", "G", "enter", "u")
    await person.until(lambda: said(person, "Nothing was changed here"))


async def test_what_stays_is_for_a_terminal_of_its_own(guarded: GuardedHome, person: Person) -> None:
    await person.command("files keep --watch")
    await person.until(lambda: said(person, "a terminal of its own"))


async def test_a_command_does_only_what_it_showed(guarded: GuardedHome, person: Person) -> None:
    await person.command("files keep --once")
    await person.command("files restore 1")
    await person.until(lambda: person.sees("-    1 Shorter."))
    guarded.write("deploy.md", "Typed by somebody meanwhile.\n")
    await person.press("enter")
    await person.until(lambda: person.sees("-    1 Typed by somebody meanwhile."))
    assert guarded.content()["deploy.md"] == b"Typed by somebody meanwhile.\n"
    await person.press("enter")
    await person.until(lambda: guarded.content()["deploy.md"] == b"About deploy.\n")
