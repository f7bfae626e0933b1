"""The guard in the application: what changed, and putting it back by an answer to what was shown. Real files."""

from pathlib import Path

import pytest
from support.guarded import GuardedHome
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story

from store.tools.guard_moments import current_ms
from tui.screens.tools import GuardScreen
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedHome:
    """Of two notes, written an hour ago and seen, one was reworded since."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = GuardedHome(tmp_path / "home")
    home.now = current_ms() - 3_600_000
    home.write("tides.md", "About tides.\n")
    home.write("deploy.md", "About deploy.\n")
    home.look()
    home.now = current_ms() - 60_000
    home.write("deploy.md", "Shorter.\n")
    return home


async def at_guard(person: Person, moments: int = 1) -> GuardScreen:
    await person.command("guard")
    screen = person.app.screen
    assert isinstance(screen, GuardScreen)
    await person.until(lambda: len({entry.moment.number for entry in screen._rows.entries}) == moments)
    await person.settle()
    return screen


def difference(screen: GuardScreen) -> list[str]:
    """The lines of the preview, without those that are empty."""
    rows = screen.query_one("#guard-preview", Preview)._rows
    lines = ["".join(text for text, _, _ in row).rstrip() for row in rows]
    return [line for line in lines if line]


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
async def test_what_changed_putting_it_back_and_undoing_that(home: GuardedHome, person: Person) -> None:
    await person.press("0", "g")
    await person.until(lambda: isinstance(person.app.screen, GuardScreen) and person.sees("M#1"))
    screen = person.app.screen
    assert isinstance(screen, GuardScreen)
    await person.settle()
    assert person.sees(
        "GUARD", "2 files of 1 tool", "1 file of Claude Code's memory changed", "deploy.md", "r put back"
    )
    assert difference(screen)[-2:] == ["-    1 About deploy.", "+      Shorter."]
    await person.press("r")
    await person.until(lambda: person.sees("Put 1 file back to before M#1?", "y does it"))
    assert difference(screen)[-2:] == ["-    1 Shorter.", "+      About deploy."]
    assert home.content()["deploy.md"] == b"Shorter.\n"
    await person.press("y")
    await person.until(lambda: person.sees("You put 1 file back to before M#1"))
    assert home.content()["deploy.md"] == b"About deploy.\n"
    assert any(toast.endswith("M#2, u to undo") for toast in person.toasts)
    await person.press("u")
    await person.until(lambda: person.sees("Put 1 file back to before M#2?"))
    await person.press("y")
    await person.until(lambda: home.content()["deploy.md"] == b"Shorter.\n")
    await person.until(lambda: any("M#3" in toast for toast in person.toasts))
    await person.settle()
    await person.press("escape")
    assert person.app.screen is person.main


async def test_no_and_moving_on_leave_everything_as_it_is(home: GuardedHome, person: Person) -> None:
    screen = await at_guard(person)
    for key in ("n", "escape", "down"):
        await person.press("r")
        await person.until(lambda: screen.plan is not None)
        await person.press(key)
        await person.until(lambda: screen.plan is None)
        await person.press("y")
        await person.until(lambda: difference(screen)[-2:] == ["-    1 About deploy.", "+      Shorter."])
    assert home.content()["deploy.md"] == b"Shorter.\n" and person.app.screen is screen


async def test_one_file_of_a_moment(story: Story, home: GuardedHome) -> None:
    home.remove("tides.md")
    async with opened(story.folder) as person:
        screen = await at_guard(person)
        index = next(
            i for i, entry in enumerate(screen._rows.entries) if entry.file and "tides" in entry.file.file.path
        )
        screen.query_one("#guard", RecordList).select(screen._rows.key(index))
        await person.settle()
        await person.press("r")
        await person.until(lambda: screen.plan is not None)
        await person.press("y")
        await person.until(lambda: "tides.md" in home.content())
        await person.until(lambda: person.sees("You put 1 file back"))
        assert home.content()["deploy.md"] == b"Shorter.\n"


async def test_other_bytes_than_those_shown_are_refused_and_shown_again(home: GuardedHome, person: Person) -> None:
    screen = await at_guard(person)
    await person.press("r")
    await person.until(lambda: screen.plan is not None)
    home.write("deploy.md", "Typed meanwhile.\n")
    await person.press("y")
    await person.until(lambda: any("it changed since it was shown" in toast for toast in person.toasts))
    assert home.content()["deploy.md"] == b"Typed meanwhile.\n"
    await person.until(lambda: difference(screen)[-2:] == ["-    1 Shorter.", "+      Typed meanwhile."])


async def test_a_secret_is_cut_and_a_name_is_harmless(story: Story, home: GuardedHome) -> None:
    home.write("\x1b[2Jred.md", "The key is AKIAQ7RM3XKD2WUZ5VTN.\n\x1b[31mred\n")
    async with opened(story.folder) as person:
        screen = await at_guard(person)
        text = "\n".join([*person.lines, *difference(screen)])
        assert "[REDACTED:AWS_KEY]" in text and "AKIA" not in text and "\x1b" not in text


async def test_nothing_yet(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    async with opened(story.folder) as person:
        screen = await at_guard(person, 0)
        await person.until(lambda: difference(screen) and "Nothing changed yet." in difference(screen)[0])
        await person.press("r", "u", "y", "l")
        await person.until(lambda: any("Nothing was put back" in toast for toast in person.toasts))


# the same by a command


async def test_an_answer_is_only_to_what_was_shown(home: GuardedHome, person: Person) -> None:
    """Another text in the file by then is shown first, and asked about again."""
    await person.command("guard --once")
    await person.command("guard restore 1")
    await person.until(lambda: person.sees("-    1 Shorter."))
    home.write("deploy.md", "Typed by somebody meanwhile.\n")
    await person.press("y")
    await person.until(lambda: person.sees("-    1 Typed by somebody meanwhile."))
    assert home.content()["deploy.md"] == b"Typed by somebody meanwhile.\n"
    await person.press("y")
    await person.until(lambda: home.content()["deploy.md"] == b"About deploy.\n")


async def test_what_stays_is_for_a_terminal_of_its_own(home: GuardedHome, person: Person) -> None:
    await person.command("guard --watch")
    await person.until(lambda: any("a terminal of its own" in toast for toast in person.toasts))
