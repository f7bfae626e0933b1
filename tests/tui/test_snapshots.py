"""Every pane and view, a plan, a chooser and a form as text, letter by letter; `pytest tests/tui/test_snapshots.py
--snapshot-update` takes them anew. Two as SVG, for what letters do not tell: those belong to one version of Textual,
which draws them."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import textual
from support.screen import NARROW, Person, opened
from support.stories import Story, copy
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

DRAWN_BY = "8.2.8"


class Screen(SingleFileSnapshotExtension):
    """One text file a screen."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


class Picture(Screen):
    """One drawing a screen."""

    file_extension = "svg"


@pytest.fixture
def screens(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Screen)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """The year, and what an agent proposed."""
    story = copy(tmp_path / "billing-api")
    with story.open() as memory:
        quote = {"citation": "D#1", "quote": "SQLite"}
        memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, evidence=[quote], origin="mcp:codex")
        memory.inbox.propose("correct", {"fact": "Team of six"}, target=5, origin="hook")
    return story


def drawn(person: Person) -> str:
    """What is on the screen; how long a search or an answer took, and how much room the file takes, is nobody's to know
    before."""
    person.app.clear_notifications()
    text = re.sub(r" [\d,.]+ [kM]B ", "  …  MB ", "\n".join(person.lines) + "\n")
    text = re.sub(r"by rule · \d\.\d s", "by rule · … s", text)
    return re.sub(r" *(\d+) found +\d+ ms", r"  \1 found in … ms", text)


Reach = Callable[[Person], Awaitable[None]]


def keys(*names: str) -> Reach:
    """Press keys; a word that is no key is a view, which is reached by its name."""

    async def press(person: Person) -> None:
        for name in names:
            await (person.command(name.removeprefix(":")) if name[0] == ":" else person.press(name))

    return press


async def a_question(person: Person) -> None:
    await person.press("4", "slash")
    await person.paste("why SQLite?")
    await person.press("enter")


async def a_form(person: Person) -> None:
    await person.press("escape", "3")
    await person.until(lambda: any("kept.get(key)" in line for line in person.preview))  # what the commit changed
    await person.press("a")


SCREENS: dict[str, Reach] = {
    "facts": keys("2", "j", "j"),
    "hidden facts": keys("o", *"hidden", "enter", "G"),
    "today": keys("1"),
    "timeline": keys("3", "j"),
    "ask": a_question,
    "history": keys("5", "j"),
    "agents": keys(":agents"),
    "files": keys(":files"),
    "health": keys(":health", "j"),
    "team": keys(":team"),
    "settings": keys(":settings", "j"),
    "plan": keys("5", "5", "R", "j"),
    "chooser": keys("escape", "colon", *"forg"),
    "form": a_form,
    "marks": keys("escape", "2", "g", "space", "space"),
    "hits": keys("escape", "slash", *"cache", "enter", "j"),
}


async def differing(person: Person, screens: SnapshotAssertion) -> list[str]:
    """Go through all screens; return those that are not as they were taken."""
    await person.press("3")  # from where the key of the facts leads to them
    wrong = []
    for name, reach in SCREENS.items():
        await reach(person)
        seen = ""
        while (now := drawn(person)) != seen:  # until nothing is drawn any more
            seen = now
            await person.settle()
        wrong += [name] if drawn(person) != screens(name=name) else []
    return wrong


async def test_at_80_columns(screens: SnapshotAssertion, narrow: Person) -> None:
    assert await differing(narrow, screens) == []


async def test_at_120_columns(screens: SnapshotAssertion, person: Person) -> None:
    assert await differing(person, screens) == []


async def test_the_largest(screens: SnapshotAssertion, huge: Person) -> None:
    await huge.press("j")
    assert drawn(huge) == screens


async def test_an_empty_memory(tmp_path: Path, screens: SnapshotAssertion) -> None:
    """What each pane waits for."""
    (tmp_path / "new-project").mkdir()
    async with opened(tmp_path / "new-project", NARROW) as person:
        shown = []
        for pane in "13452":
            await person.press(pane)
            shown.append(drawn(person))
        assert "\n".join(shown) == screens


@pytest.mark.skipif(textual.__version__ != DRAWN_BY, reason=f"drawn by Textual {DRAWN_BY}; others draw otherwise")
@pytest.mark.parametrize("theme", ["textual-dark", "high-contrast-light"])
async def test_in_colour(snapshot: SnapshotAssertion, theme: str, person: Person) -> None:
    person.app.theme = theme
    await person.press("j", "space", "j")
    person.app.clear_notifications()
    await person.settle()
    svg = re.sub(r"terminal-\d+", "terminal", person.app.export_screenshot(title="memoranda"))
    assert svg == snapshot.use_extension(Picture)
