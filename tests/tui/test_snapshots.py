"""Every screen as text, letter by letter; `pytest tests/tui/test_snapshots.py --snapshot-update` takes them anew.

Each at 80×24 and at 200×60, the main ones at 120×40 too; then once more with what strangers wrote and with texts that
go on and on. Two as SVG, for what letters do not tell: those belong to one version of Textual, which draws them.
"""

import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import textual
from support import strangers
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Clock, Story, location
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from store.base.clock import from_ms, to_ms
from store.memory import Memory
from tui.screens.menus import RecentScreen
from tui.screens.plans import PlanScreen

NAMES = {NARROW: "80x24", WIDE: "120x40", HUGE: "200x60"}
THREE = pytest.mark.parametrize("size", NAMES, ids=NAMES.values())
BOTH = pytest.mark.parametrize("size", [NARROW, HUGE], ids=["80x24", "200x60"])
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


@pytest.fixture(scope="module")
def told() -> Iterator[Path]:
    """What strangers wrote, told once, with a checkpoint near its end so that there is something to restore."""
    folder = Path(tempfile.mkdtemp(prefix="strangers-")) / "project"
    strangers.tell(folder)
    with Memory(location(folder), "cli", Clock(from_ms(to_ms(Clock().now) + 1))) as memory:
        memory.checkpoints.take_checkpoint("before the strangers")
        for number in range(1, 9):
            memory.facts.forget([number], actor="import:strangers")
        memory.tasks.move(3, "done", actor="import:strangers")
    yield folder
    shutil.rmtree(folder.parent)


@pytest.fixture
def strange(told: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(told, tmp_path / "project"))


def drawn(person: Person) -> str:
    """What is on the screen; how long a search took, in one digit or two, and how much room the file takes, is nobody's
    to know beforehand."""
    text = re.sub(r" [\d,.]+ [kM]B ", "  …  MB ", "\n".join(person.lines) + "\n")
    return re.sub(r" *(\d+) found +\d+ ms", r"  \1 found in … ms", text)


# how to come to each screen of an ordinary project: keys, and then `wait` until it is there
Reach = Callable[[Person], Awaitable[None]]


async def restore(person: Person) -> None:
    await person.press("3", "R")
    await person.until(lambda: isinstance(person.app.screen, PlanScreen))
    await person.press("j", "j", "space")


async def undo_of_an_origin(person: Person) -> None:
    await person.press("4")
    origin = "agent" if person.main.location.display_name == "billing-api" else "import:strangers"
    await person.command(f"undo --all-by {origin}")
    await person.until(lambda: isinstance(person.app.screen, PlanScreen))


async def changed_since(person: Person) -> None:
    await person.command("diff 2d")
    await person.until(lambda: isinstance(person.app.screen, PlanScreen))
    await person.press("j")


async def marks(person: Person) -> None:
    await person.press("1", "j", "space", "v", "j", "j")


async def a_question(person: Person) -> None:
    await person.press("1", "H", "ctrl+a", "y")


async def a_correction(person: Person) -> None:
    await person.press("1", "j", "c")


async def a_context(person: Person) -> None:
    await person.command("context when do we deploy")
    await person.until(lambda: person.at == "context" and "deploy" in person.main.view.question)
    await person.press("j", "j", "j")


async def palette(person: Person) -> None:
    await person.press("ctrl+p", *"forget")
    await person.until(lambda: any("Hide facts" in line for line in person.lines))


async def recent(person: Person) -> None:
    await person.press("O")
    await person.until(lambda: isinstance(person.app.screen, RecentScreen))


def keys(*names: str) -> Reach:
    async def press(person: Person) -> None:
        for name in names:  # a list that is not yet loaded has no second row
            await person.press(name)

    return press


SCREENS: dict[str, Reach] = {
    "facts": keys("1", "j", "j"),
    "hidden": keys("1", "H", "s", "G"),
    "timeline": keys("2", "G", "k", "enter"),
    "checkpoints": keys("3"),
    "history": keys("4", "j", "j"),
    "tasks": keys("5", "H", "j"),
    "inbox": keys("6", "j"),
    "context": a_context,
    "health": keys("9", "j", "j"),
    "restore": restore,
    "undo of an origin": undo_of_an_origin,
    "changed since": changed_since,
    "marks": marks,
    "a question": a_question,
    "a correction": a_correction,
    "palette": palette,
    "recent": recent,
    "model": keys("P"),
    "help": keys("question_mark", *["down"] * 12),
    "command bar": keys("colon", *"forg", "tab"),
}


@BOTH
@pytest.mark.parametrize("name", SCREENS)
async def test_every_screen(story: Story, screens: SnapshotAssertion, name: str, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await SCREENS[name](person)
        person.app.clear_notifications()
        await person.settle()
        assert drawn(person) == screens


@pytest.mark.sampled(6)
@BOTH
@pytest.mark.parametrize("name", [name for name in SCREENS if name not in ("help", "palette", "recent", "model")])
async def test_what_strangers_wrote(
    strange: Path, screens: SnapshotAssertion, name: str, size: tuple[int, int]
) -> None:
    """The same screens: no line is wider than the screen, and each text stands in its own place."""
    async with opened(strange, size) as person:
        await SCREENS[name](person)
        person.app.clear_notifications()
        await person.settle()
        assert drawn(person) == screens


@THREE
async def test_a_commit(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("2", "j")
        await person.until(lambda: any("+LIMIT" in line for line in person.preview))
        await person.press("J")
        assert drawn(person) == screens


@THREE
async def test_search(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.search("factura kind:fact,decision,iteration")
        await person.press("enter", "j")
        assert drawn(person) == screens


@THREE
async def test_search_with_exact_and_near_hits(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.search("deploy fridays")
        await person.press("enter")
        assert drawn(person) == screens


@THREE
async def test_an_empty_memory(tmp_path: Path, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    with Memory.open(str(tmp_path / "new-project" / ".memoranda" / "memory.db"), "cli", Clock()):
        pass
    async with opened(tmp_path / "new-project", size) as person:
        shown = []
        for pane in "12345":
            await person.press(pane)
            shown.append(drawn(person))
        assert "\n".join(shown) == screens


@pytest.mark.skipif(textual.__version__ != DRAWN_BY, reason=f"drawn by Textual {DRAWN_BY}; others draw otherwise")
@pytest.mark.parametrize("name", ["facts", "restore"])
async def test_in_colour(snapshot: SnapshotAssertion, name: str, person: Person) -> None:
    await SCREENS[name](person)
    person.app.clear_notifications()
    await person.settle()
    svg = re.sub(r"terminal-\d+", "terminal", person.app.export_screenshot(title="memoranda"))
    assert svg == snapshot.use_extension(Picture)
