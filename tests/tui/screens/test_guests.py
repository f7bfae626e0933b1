"""The guests in the application: other tools' texts, read, searched, corrected, deleted, undone. Real files."""

from pathlib import Path

import pytest
from support.guests import GuestHome
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story

from store.tools.guard_moments import current_ms
from tui.screens.tools import GuestsScreen
from tui.widgets.preview import Preview


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuestHome:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = GuestHome(tmp_path / "home")
    home.now = current_ms()
    home.age()
    return home


async def at_guests(person: Person, line: str = "guest") -> GuestsScreen:
    await person.command(line)
    screen = person.app.screen
    assert isinstance(screen, GuestsScreen)
    await person.until(lambda: bool(screen._found.texts))
    await person.settle()
    return screen


def told(screen: GuestsScreen) -> str:
    """The preview's text."""
    rows = screen.query_one("#guests-preview", Preview)._rows
    return "\n".join("".join(text for text, _, _ in row).rstrip() for row in rows)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
async def test_find_correct_and_undo(story: Story, home: GuestHome, size: tuple[int, int]) -> None:
    before = home.files()
    async with opened(story.folder, size) as person:
        await person.press("0", "u")
        await person.until(lambda: isinstance(person.app.screen, GuestsScreen) and person.sees("67 texts"))
        screen = person.app.screen
        assert isinstance(screen, GuestsScreen)
        await person.press("slash", *"percebe", "enter")
        await person.until(lambda: person.sees("“percebe”", "3 of 67 texts"))
        await person.settle()
        assert person.sees("basic-memory", "OpenClaw", "Engram", "c correct", "esc shows all")
        await person.press("c")
        await person.until(lambda: person.sees("enter shows what changes", "^j new line", "esc leaves it"))
        await person.press("x", "escape")
        await person.until(lambda: person.sees("c correct"))
        await person.press("c")
        await person.until(lambda: person.sees("enter shows what changes"))
        await person.press("backspace", *" today.", "enter")
        await person.until(lambda: "Correct it in basic-memory's own file?" in told(screen))
        assert home.files() == before and "y does it" in "\n".join(person.lines)
        assert person.sees("2202 today.")
        await person.press("y")
        await person.until(lambda: any(toast.endswith("M#1, u to undo") for toast in person.toasts))
        await person.until(lambda: screen._at is not None and screen._at.text.endswith("port 2202 today."))
        note = home.notes / "projects" / "faro" / "faro conventions.md"
        assert b"SSH goes through port 2202 today. #ops (faro)\n" in note.read_bytes()
        await person.press("u")
        await person.until(lambda: "Undo the last change?" in told(screen))
        await person.press("y")
        await person.until(lambda: home.files() == before)
        await person.until(lambda: any("M#2" in toast for toast in person.toasts))
        await person.settle()
        await person.press("escape")
        await person.until(lambda: person.sees("67 texts") and not person.sees("of 67"))
        await person.press("escape")
        assert person.app.screen is person.main


async def test_delete_no_and_escape(story: Story, home: GuestHome) -> None:
    before = home.files()
    async with opened(story.folder) as person:
        screen = await at_guests(person, "guest search almanac --tool claude-code")
        for key in ("n", "escape"):
            await person.press("f")
            await person.until(lambda: screen.plan is not None)
            await person.press(key)
            await person.until(lambda: screen.plan is None)
        assert home.files() == before
        await person.press("f")
        await person.until(lambda: "Delete it from Claude Code's own file?" in told(screen))
        assert "runbook.md  would be removed" in told(screen) and "MEMORY.md  would be rewritten" in told(screen)
        await person.press("y")
        await person.until(lambda: not (home.claude / "runbook.md").exists())
        await person.until(lambda: not screen._rows.entries)
        assert "Nothing has the words “almanac”." in told(screen)


async def test_a_refusal_says_why_and_shows_what_is_there(home: GuestHome, person: Person) -> None:
    screen = await at_guests(person, "guest search percebe --tool openclaw")
    await person.press("f")
    await person.until(lambda: screen.plan is not None)
    path = home.openclaw / "MEMORY.md"
    path.write_bytes(path.read_bytes().replace(b"percebe", b"percebe or almeja"))
    await person.press("y")
    await person.until(lambda: any("it changed since it was shown" in toast for toast in person.toasts))
    await person.until(lambda: screen._at is not None and "almeja" in screen._at.text)
    assert b"almeja" in path.read_bytes()


async def test_the_secret_of_a_text_that_is_corrected_stays(home: GuestHome, person: Person) -> None:
    screen = await at_guests(person, "guest search bucket --tool engram")
    assert "[REDACTED:AWS_KEY]" in told(screen)
    await person.press("c")
    await person.until(lambda: person.sees("enter shows what changes"))
    await person.press(*" Since May.", "enter")
    await person.until(lambda: screen.plan is not None)
    assert "AKIA" not in told(screen)
    await person.press("y")
    await person.until(lambda: "Since May." in home.text("faro-mareas", "engram").text)
    assert "access key AKIAQ7RM3XKD2WUZ5VTN" in home.text("faro-mareas", "engram").text


async def test_a_long_text_goes_to_the_editor(story: Story, home: GuestHome, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr("tui.desktop.programs.edit_in_editor", lambda app, text, **_: given.append(text))
    async with opened(story.folder) as person:
        screen = await at_guests(person, "guest search comillas --tool engram")
        await person.press("c")
        assert screen._at is not None and given == [screen._at.text]
        await person.until(lambda: "Nothing was changed." in person.toasts)


async def test_what_is_not_read_is_named_and_harmless(story: Story, home: GuestHome) -> None:
    (home.claude / "\x1b[2Jlink.md").symlink_to("/etc/passwd")
    async with opened(story.folder) as person:
        screen = await at_guests(person)
        assert person.sees("1 file not read") and "␛[2Jlink.md: symbolic links" in told(screen)


async def test_nothing_is_there(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    async with opened(story.folder) as person:
        await person.command("guest")
        await person.until(lambda: person.sees("No memory of Claude Code", "0 texts"))
        await person.press("c", "f", "y", "E")
        await person.press("u")
        await person.until(lambda: any("Nothing was changed here" in toast for toast in person.toasts))
        await person.press("escape")
        assert person.app.screen is person.main
