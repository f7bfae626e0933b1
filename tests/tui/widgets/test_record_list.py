"""The list of a million rows: what it paints, what it asks for, and that nothing jumps."""

import asyncio
from collections.abc import AsyncIterator, Hashable, Sequence, Set
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets import Button

from tui.screens.base import ResponsiveScreen
from tui.widgets.record_list import RecordList

HOSTILE = ["\x1b]52;c;eA==\x07", "\x1b[2J", "\x9b2J", "a\u202eb", "a\u200bb", "a\nb", "\ud800"]
HOSTILE += ["[/nope]", "[@click=app.quit]x[/]"]


class Facts:
    """Rows of a list of names; names that begin with `#` are headings. Counts the lines it was asked for."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.names)

    def lines(self, index: int, width: int) -> list[list[tuple[str, str]]]:
        self.asked.append(index)
        return [[("●", "glyph-fresh"), (f" {self.names[index]}", "no-such-style")]]

    def selectable(self, index: int) -> bool:
        return not self.names[index].startswith("#")

    def key(self, index: int) -> str:
        return self.names[index]

    def index_of(self, key: Hashable) -> int | None:
        return self.names.index(key) if key in self.names else None  # type: ignore[arg-type]

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(key for key in keys if self.index_of(key) is not None)


class Names(Sequence[str]):
    """As many names as wanted, of which none is kept."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> str:  # type: ignore[override]
        return f"F{index}"


class ListApp(App[None]):
    """A list of 20 lines, and something else to focus."""

    CSS = "#else { dock: bottom; height: 4; border: none; }"

    def __init__(self, rows: Facts | None = None, empty_text: str = "") -> None:
        super().__init__()
        self.list = RecordList(rows, empty_text=empty_text)
        self.said: list[tuple[str, Hashable]] = []

    def get_default_screen(self) -> ResponsiveScreen[None]:
        return ResponsiveScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self.list
        yield Button("else", id="else")

    def on_record_list_highlighted(self, message: RecordList.Highlighted) -> None:
        self.said.append(("highlighted", message.key))

    def on_record_list_chosen(self, message: RecordList.Chosen) -> None:
        self.said.append(("chosen", message.key))

    def lines(self) -> list[str]:
        """What the list shows now, one string a line."""
        width, height = self.list.size
        return [strip.text for strip in self.list.render_lines(Region(0, 0, width, height))]

    def line_of(self, name: str) -> int:
        return next(y for y, line in enumerate(self.lines()) if line[3:].split()[0] == name)


def numbered(count: int) -> Facts:
    return Facts([f"F{index}" for index in range(count)])


@asynccontextmanager
async def running(rows: Facts, empty_text: str = "") -> AsyncIterator[tuple[ListApp, Pilot[None]]]:
    """A list that has said what it says at its start."""
    app = ListApp(rows, empty_text)
    async with app.run_test(size=(40, 24)) as pilot:
        await pilot.pause()
        app.said.clear()
        yield app, pilot


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    async with running(numbered(100)) as (_, pilot):
        yield pilot


@pytest.fixture
def app(pilot: Pilot[None]) -> ListApp:
    """The list of a hundred rows that `pilot` uses."""
    assert isinstance(pilot.app, ListApp)
    return pilot.app


MOVES = {
    "down": "F1", "j j k": "F1", "up": "F0", "G": "F99", "end up": "F98", "end g": "F0", "G home": "F0",
    "pagedown": "F20", "ctrl+d": "F10", "pagedown ctrl+u": "F10", "pagedown pageup": "F0", "pagedown " * 9: "F99",
}  # fmt: skip


async def test_keys_move_the_cursor_and_it_stays_in_sight(app: ListApp, pilot: Pilot[None]) -> None:
    for keys, expected in MOVES.items():
        app.list.set_rows(numbered(100), keep=False)
        app.said.clear()
        await pilot.press(*keys.split())
        assert app.list.cursor_key == expected, keys
        assert app.lines()[app.line_of(expected)].startswith("▸●")
        assert [line[0] for line in app.lines()].count("▸") == 1
        if expected != "F0":
            assert app.said[-1] == ("highlighted", expected)


async def test_the_first_row_is_announced_and_enter_opens() -> None:
    app = ListApp(numbered(3))
    async with app.run_test(size=(40, 24)) as pilot:
        await pilot.pause()
        assert app.said == [("highlighted", "F0")]
        await pilot.press("j", "enter")
        assert app.said[1:] == [("highlighted", "F1"), ("chosen", "F1")]


async def test_every_binding_can_be_remapped_and_explained() -> None:
    bindings = [binding for _, binding in RecordList(None)._bindings]
    assert {binding.key for binding in bindings} >= {"down", "j", "up", "k", "g", "G", "enter", "ctrl+d"}
    assert all(binding.id and binding.tooltip for binding in bindings)


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with running(Facts(["#day", "F1", "F2", "F3"])) as (app, pilot):
        await pilot.click(RecordList, offset=(5, 2))
        assert app.said == [("highlighted", "F2")]
        await pilot.click(RecordList, offset=(5, 0))  # a heading
        await pilot.click(RecordList, offset=(5, 12))  # below the last row
        assert app.list.cursor_key == "F2"
        await pilot.click(RecordList, offset=(5, 3), times=2)
        assert app.said[1:] == [("highlighted", "F3"), ("chosen", "F3")]


async def test_the_cursor_skips_headings_and_shows_the_one_above() -> None:
    names = ["#Sat", "F1", "F2", "#Fri", "#night", "F3", *(f"G{index}" for index in range(50)), "#end"]
    async with running(Facts(names)) as (app, pilot):
        assert app.list.cursor_key == "F1"
        await pilot.press("up")
        assert app.list.cursor_key == "F1"
        await pilot.press("down", "down")
        assert app.list.cursor_key == "F3"
        await pilot.press("up")
        assert app.list.cursor_key == "F2"
        await pilot.press("G")
        assert app.list.cursor_key == "G49"
        await pilot.press("g")
        assert app.list.cursor_key == "F1"
        assert "#Sat" in app.lines()[0]


async def test_a_list_of_headings_alone_has_no_cursor_and_no_key_hurts() -> None:
    async with running(Facts(["#a", "#b"])) as (app, pilot):
        await pilot.press("down", "up", "G", "pagedown", "enter")
        assert app.list.cursor_key is None
        assert app.said == []


HUNDRED = [f"F{index}" for index in range(100)]
NEW = [f"new{index}" for index in range(7)]
# where the cursor is, the rows that come, whether another filter or another list came, where it is then
READINGS = (
    ("F22", [*NEW, *HUNDRED], {}, "F22"),  # new ones above do not move the line
    ("F21", [name for name in HUNDRED if name != "F21"], {}, "F22"),  # the one that took its place
    ("F21", [*HUNDRED[:11], *HUNDRED[31:]], {}, "F31"),  # of several that are lost the next that is there
    ("F60", HUNDRED[::2], {"narrowed": True}, "F60"),  # it passes the other filter
    ("F60", HUNDRED[1::2], {"narrowed": True}, "F1"),
    ("F99", HUNDRED[:50], {"keep": False}, "F0"),
)


async def test_the_cursor_keeps_its_row_and_the_row_its_line(app: ListApp, pilot: Pilot[None]) -> None:
    for at, names, options, expected in READINGS:
        app.list.set_rows(numbered(100), keep=False)
        app.list.select(at)
        await pilot.pause()
        line = app.line_of(at)
        app.said.clear()
        app.list.set_rows(Facts(names), **options)
        await pilot.pause()
        assert app.list.cursor_key == expected
        assert app.line_of(expected) == line or options or expected == "F31"
        assert app.said == ([] if expected == at else [("highlighted", expected)])
        if expected in ("F0", "F1"):
            assert app.line_of(expected) == 0


@pytest.mark.parametrize(("focused", "moved", "expected"), [(0, 0, "F21"), (1, 0, "F22"), (0, 1, "F40")])
async def test_one_that_comes_back_is_selected_anew(focused, moved, expected, app: ListApp, pilot: Pilot[None]) -> None:
    """In a list that is used a key would act on another record than the one that is seen."""
    app.list.select("F21")
    if not focused:
        app.query_one("#else").focus()
    await pilot.pause()
    for _ in range(2):
        app.list.set_rows(Facts([f"F{index}" for index in range(100) if index != 21]))
    assert app.list.cursor_key == "F22"
    if moved:
        app.list.select("F40")
    app.list.set_rows(numbered(100))
    assert app.list.cursor_key == expected
    app.query_one("#else").focus()
    await pilot.pause()
    app.list.set_rows(numbered(100))
    assert app.list.cursor_key == expected, "nor later"


async def test_scrolled_away_the_top_line_stays(app: ListApp, pilot: Pilot[None]) -> None:
    app.list.scroll_to(y=50, animate=False)
    app.list.set_rows(Facts(["new", *(f"F{index}" for index in range(100))]))
    await pilot.pause()
    assert app.line_of("F50") == 0
    assert app.list.cursor_key == "F0"
    await pilot.press("j")  # a key brings the eye back to the cursor
    assert app.line_of("F1") == 0


async def test_rows_may_go_and_come() -> None:
    async with running(numbered(100), empty_text="Nothing here yet. Press a to add the first fact.") as (app, pilot):
        await pilot.press("G")
        app.list.set_rows(Facts([]))
        await pilot.pause()
        assert app.said[-1] == ("highlighted", None)
        assert [line.strip() for line in app.lines()[:3]] == ["Nothing here yet. Press a to add the", "first fact.", ""]
        await pilot.press("down", "G", "enter", "pagedown")
        app.list.empty_text = "No fact matches \x1b[2J [/b]"
        await pilot.pause()
        assert app.lines()[0].strip() == "No fact matches ␛[2J [/b]"
        app.list.set_rows(numbered(3))
        await pilot.pause()
        assert app.said[-1] == ("highlighted", "F0")


async def test_hostile_text_is_only_text() -> None:
    async with running(numbered(3)) as (app, pilot):
        for payload in HOSTILE:
            app.list.set_rows(Facts([payload, f"日本 {payload}", "F2"]), keep=False)
            await pilot.press("j", "enter")
            await pilot.click(RecordList, offset=(6, 0), times=2)
            for strip in app.list.render_lines(Region(0, 0, *app.list.size)):
                hidden = [one for one in strip.text if one < " " or "\x7f" <= one <= "\x9f" or one in "\u202e\u200b"]
                assert not hidden, payload
                assert all(segment.style is None or not segment.style.meta for segment in strip)
                assert strip.cell_length == sum(segment.cell_length for segment in strip)
                strip.text.encode()
            assert app.is_running
            if payload.startswith("["):
                assert payload in app.lines()[0]


@pytest.fixture
def painted(app: ListApp, monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """What was asked to be drawn again."""
    found: list[Region] = []
    refresh = app.list.refresh

    def spy(*regions: Region, **options: bool) -> RecordList:
        found.extend(regions or [Region(0, 0, *app.list.size)])
        return refresh(*regions, **options)

    monkeypatch.setattr(app.list, "refresh", spy)
    return found


async def test_only_what_differs_is_drawn_again(painted: list[Region], app: ListApp, pilot: Pilot[None]) -> None:
    """Two lines for a move; of another reading what changed, since somebody may write beside us all the time; of a page
    the lines that came."""
    rows = app.list.rows
    assert isinstance(rows, Facts)
    await pilot.press("j", "j")
    painted.clear()
    rows.asked.clear()
    await pilot.press("j")
    assert sorted((region.y, region.height) for region in painted) == [(2, 1), (3, 1)] and set(rows.asked) <= {2, 3}
    await pilot.press("pagedown")
    rows.asked.clear()
    app.list.scroll_to(y=24, animate=False)
    await pilot.pause()
    assert set(rows.asked) <= {43}
    await pilot.press("g")
    app.lines()  # drawn
    painted.clear()
    app.list.set_rows(numbered(100))
    await pilot.pause()
    assert painted == [], "nothing changed"
    names = [*HUNDRED[:3], "another", *HUNDRED[4:]]
    app.list.set_rows(Facts(names))
    await pilot.pause()
    assert [(region.y, region.height) for region in painted] == [(3, 1)]
    app.list.set_rows(Facts(["new", *names]))
    await pilot.pause()
    assert "new" in app.lines()[0] and app.list.cursor_key == "F0", "what moved is drawn where it is"


async def test_a_million_rows_ask_for_a_few_screens() -> None:
    rows = Facts(Names(1_000_000))
    async with running(rows) as (app, pilot):
        await pilot.press("G")
        assert app.list.cursor_key == "F999999"
        await pilot.press("g", "G", "pageup")
        assert app.list.cursor_key == "F999979"
        assert len(rows.asked) < 5 * 20


async def test_marks_and_focus_have_a_shape_besides_their_colour() -> None:
    async with running(numbered(30)) as (app, pilot):
        app.list.marks = {"F0", "F2", "F29"}
        await pilot.pause()
        assert [line[0] for line in app.lines()[:4]] == ["»", " ", "✓", " "]
        app.list.marks = {"F2"}
        await pilot.pause()
        assert [line[0] for line in app.lines()[:4]] == ["▸", " ", "✓", " "]
        focused = app.list.render_line(0)
        app.query_one(Button).focus()
        await pilot.pause()
        assert app.list.render_line(0).text == focused.text.replace("▸", "▹")
        assert app.list.render_line(0) != focused


async def test_a_flash_goes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.widgets.record_list.FLASH_SECONDS", 0.05)
    async with running(numbered(30)) as (app, pilot):
        app.animation_level = "full"
        quiet = app.list.render_line(4)
        app.list.flash("F4")
        app.list.flash("not here")
        assert app.list.render_line(4) != quiet
        async with asyncio.timeout(10):
            while app.list.render_line(4) != quiet:
                await pilot.pause()


async def test_without_motion_a_flash_stays_until_the_cursor_moves() -> None:
    async with running(numbered(30)) as (app, pilot):
        app.animation_level = "none"
        quiet = app.list.render_line(4)
        app.list.flash("F4")
        assert app.list.render_line(4) != quiet
        await pilot.press("j")
        assert app.list.render_line(4) == quiet


async def test_select_goes_there_and_says_when_it_cannot(app: ListApp, pilot: Pilot[None]) -> None:
    assert app.list.select("F70")
    assert not app.list.select("F100")
    await pilot.pause()
    assert app.said == [("highlighted", "F70")]
    assert 0 <= app.line_of("F70") < 20


async def test_a_theme_and_a_smaller_window_redraw_it(app: ListApp, pilot: Pilot[None]) -> None:
    await pilot.press(*["j"] * 18)
    dark = app.list.render_line(1)
    app.theme = "textual-light"
    await pilot.pause()
    app.lines()
    assert app.list.render_line(1) != dark
    await pilot.resize_terminal(30, 14)
    await pilot.pause()
    assert 0 <= app.line_of("F18") < 10
    assert all(len(line) <= 30 for line in app.lines())


async def test_a_smaller_window_shows_the_cursor_of_the_list_in_use(app: ListApp, pilot: Pilot[None]) -> None:
    """Even one that was out of sight: a window that shrinks in two steps left it there."""
    await pilot.press(*["j"] * 18)
    app.list.scroll_to(y=60, animate=False, force=True, immediate=True)
    await pilot.resize_terminal(30, 14)
    await pilot.pause()
    assert app.list.has_focus and 0 <= app.line_of("F18") < 10


def test_held_keys_leave_one_message() -> None:
    one, other = RecordList(None), RecordList(None)
    assert RecordList.Highlighted(one, 1).can_replace(RecordList.Highlighted(one, 2))
    assert not RecordList.Highlighted(one, 1).can_replace(RecordList.Highlighted(other, 2))
    assert not RecordList.Chosen(one, 1).can_replace(RecordList.Chosen(one, 2))


async def test_the_focus_shows_the_cursor_that_was_scrolled_out() -> None:
    app = ListApp(numbered(100))
    async with app.run_test(size=(40, 24)) as pilot:
        app.list.select("F60")
        app.query_one("#else").focus()
        await pilot.pause()
        app.list.scroll_to(y=0, animate=False)
        await pilot.pause()
        assert app.list.line_of(60) is None
        app.list.focus()
        await pilot.pause()
        assert app.list.cursor_key == "F60" and app.list.line_of(60) is not None


class Wrapping(Facts):
    """Rows of two lines where they have less than all 40 columns."""

    def lines(self, index: int, width: int) -> list[list[tuple[str, str]]]:
        return super().lines(index, width) * (2 if width < 39 else 1)


async def test_the_scrollbar_is_measured_beside_itself() -> None:
    """It takes its width from the rows; the end was that of rows without it, until other rows came."""
    app = ListApp(Wrapping([f"fact {number}" for number in range(50)]))
    async with app.run_test(size=(40, 24)) as pilot:
        await pilot.pause()
        assert app.list.show_vertical_scrollbar
        assert app.list.virtual_size.height == 40 + 20, "the last ten rows fill 20 lines"
