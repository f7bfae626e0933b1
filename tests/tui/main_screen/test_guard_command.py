"""`:guard` in the application: what changed, and putting it back by one answer to what was shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.guarded import GuardedHome
from support.screen import opened
from support.stories import Story, copy

from store.guard.looking import now_ms


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return copy(tmp_path / "billing-api")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedHome:
    """Of two notes, written an hour ago and seen, one was reworded since."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = GuardedHome(tmp_path / "home")
    home.now = now_ms() - 3_600_000
    home.write("tides.md", "About tides.\n")
    home.write("deploy.md", "About deploy.\n")
    home.look()
    home.now = now_ms() - 60_000
    home.write("deploy.md", "Shorter.\n")
    return home


async def test_what_changed_and_putting_it_back(story: Story, home: GuardedHome) -> None:
    async with opened(story.folder) as person:
        await person.command("guard")
        await person.until(lambda: person.sees("M#1  1 file of Claude Code's memory changed"))
        await person.command("guard restore 1")
        await person.until(lambda: person.sees("Put back 1 file to before M#1? y/n"))
        assert person.sees("-    1 Shorter.", "+      About deploy.")
        await person.press("y")
        await person.until(lambda: home.content()["deploy.md"] == b"About deploy.\n")
        await person.until(lambda: any("M#2" in toast for toast in person.toasts))


async def test_an_answer_is_only_to_what_was_shown(story: Story, home: GuardedHome) -> None:
    """Another text in the file by then is shown first, and asked about again."""
    async with opened(story.folder) as person:
        await person.command("guard --once")
        await person.command("guard restore 1")
        await person.until(lambda: person.sees("-    1 Shorter."))
        home.write("deploy.md", "Typed by somebody meanwhile.\n")
        await person.press("y")
        await person.until(lambda: person.sees("-    1 Typed by somebody meanwhile."))
        assert home.content()["deploy.md"] == b"Typed by somebody meanwhile.\n"
        await person.press("y")
        await person.until(lambda: home.content()["deploy.md"] == b"About deploy.\n")


async def test_what_stays_is_for_a_terminal_of_its_own(story: Story, home: GuardedHome) -> None:
    async with opened(story.folder) as person:
        await person.command("guard --watch")
        await person.until(lambda: any("a terminal of its own" in toast for toast in person.toasts))
