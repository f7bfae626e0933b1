"""The app with a mouse alone: letters are typed only where a text is asked for, all else is clicked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Clock, Story
from textual.command import CommandPalette

from store.memory import Memory
from tui.app import Memoranda
from tui.input.key_table import FURTHER_SCREENS, KEYS
from tui.input.verb_table import list_verbs
from tui.screens.base import HelpScreen
from tui.screens.menus import PaletteCommands, RecentScreen, palette_entries
from tui.screens.plans import PlanScreen

SIZES = pytest.mark.parametrize("size", [NARROW, (200, 60)], ids=["80x24", "200x60"])


class Mouse:
    """A person whose one hand is on the mouse."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.clicks = 0

    async def click(self, text: str, *, times: int = 1, button: int = 1, shift: bool = False, dx: int = 0) -> None:
        """Click where `text` is first seen on the screen, `dx` cells to its right."""
        await self.person.until(lambda: any(text in line for line in self.person.lines))
        y, line = next((y, line) for y, line in enumerate(self.person.lines) if text in line)
        x = cell_len(line[: line.index(text)]) + dx
        await self.person.pilot.click(offset=(x, y), times=times, button=button, shift=shift)
        self.clicks += times
        await self.person.settle()

    async def sees(self, *texts: str) -> None:
        await self.person.until(lambda: self.person.sees(*texts))


@asynccontextmanager
async def mouse_on(story: Story, size: tuple[int, int] = NARROW) -> AsyncIterator[tuple[Person, Mouse]]:
    async with opened(story.folder, size) as person:
        yield person, Mouse(person)


# the palette: what is about the records here comes first, three clicks at the most


async def test_the_palette_opens_and_closes_by_a_click(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("^p")
        assert isinstance(person.app.screen, CommandPalette)
        await mouse.sees("forget           f     Hide facts", "copy             Y")
        await mouse.click("/ search")  # beside it
        assert person.app.screen is person.main


@pytest.mark.parametrize("place", ["facts", "timeline", "checkpoints", "history", "tasks", "hits"])
def test_what_acts_on_the_records_of_a_list_stands_on_the_palettes_first_page(place: str) -> None:
    rows = 14  # of a terminal of 24 lines
    shown = [target for *_, target in palette_entries({}, place)[:rows]]
    for key in KEYS:
        if (
            key.label
            and place in key.panes
            and key.id.startswith(("record.", "step.", "checkpoint.", "task.", "mark."))
        ):
            assert f"key:{key.id}" in shown, key.id


async def test_no_key_is_read_as_markup_by_the_palette(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """`search  [/]` was, and the app ended."""
    monkeypatch.setattr(Memoranda, "remapped", {"record.forget": "left_square_bracket"})
    async with mouse_on(story, (120, 60)) as (person, mouse):
        await mouse.click("^p")
        await mouse.sees("search           /     Search everything", "forget           [     Hide facts")
        for query in ("search", "forget"):
            hits = [hit async for hit in PaletteCommands(person.main).search(query)]
            assert any(str(hit.prompt).startswith(query) for hit in hits), query
        await person.press(*"search")
        await mouse.sees("search  /", "Search everything")


def test_every_key_screen_and_verb_is_in_the_palette_once() -> None:
    targets = [target for *_, target in palette_entries({}, "facts")]
    keys = [f"key:{key.id}" for key in KEYS if key.id not in ("palette.open", "mark.range")]
    screens = [f"line:{one.verb}" for one in FURTHER_SCREENS]
    assert sorted(targets) == sorted([*keys, *screens, *(f"verb:{verb.name}" for verb in list_verbs())])


async def test_the_right_button_names_what_can_be_done_with_a_row(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("Uses Jenkins", button=3)
        await mouse.click("Pin the fact")
        await mouse.sees("Pinned F#")
        assert mouse.clicks == 2 and not person.main.list_of("facts").marks
        assert person.record is not None and "Jenkins" in person.record.fact and person.record.pinned  # type: ignore[union-attr]


# rows


async def test_marks_by_the_left_cell_by_a_range_and_all(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        facts = person.main.list_of("facts")
        await person.pilot.click("#facts", offset=(0, 1))
        await mouse.sees("1 marked")
        await person.pilot.click("#facts", offset=(20, 4), shift=True)
        await mouse.sees("3 marked")
        await person.pilot.click("#facts", offset=(20, 7), control=True)
        assert len(facts.marks) == 4
        await mouse.click("marked")
        assert not facts.marks
        await mouse.click("^p")
        await mouse.click("mark all")
        assert len(facts.marks) == 10


# bars


@SIZES
async def test_a_search_is_left_by_its_cross(story: Story, size: tuple[int, int]) -> None:
    async with mouse_on(story, size) as (person, mouse):
        await mouse.click("search everything")
        await person.paste("sqlite")
        await mouse.sees("All ", "✕")
        await mouse.click("Use SQLite")
        await mouse.click("✕")
        assert not person.main.has_class("-searching") and person.at == "facts"


async def test_a_chip_shows_only_its_facts_and_its_cross_all_again(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("Stale 2")
        await mouse.sees("Stale 2 ×")
        assert person.main.view.state == "stale" and len(person.rows) == 2
        await mouse.click("Stale 2 ×")
        assert person.main.view.state is None and {row[1] for row in person.rows} > {"▲"}
        await mouse.click("Low 2")
        await mouse.click("esc all")
        assert person.main.view.state is None


async def test_the_menu_of_filters_is_chosen_from_by_clicks(story: Story) -> None:
    async with mouse_on(story, WIDE) as (person, mouse):
        await mouse.click("o pick")
        await mouse.click("self correction")
        assert person.main.view.domain == "self_correction"
        await mouse.click("self correction ×")
        assert person.main.view.domain is None


async def test_ageing_facts_are_found_by_their_chip_and_confirmed(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("Stale 2")
        await mouse.click("Learned ")  # the preview
        await mouse.click("^p")
        await mouse.click("mark all")
        await mouse.sees("2 marked")
        await mouse.click("y confirm")
        await mouse.sees("Confirmed 2 facts", "No facts match.")
        await mouse.click("esc all")
        assert not person.sees("Stale")


async def test_the_command_bar_is_used_by_clicks(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("2Timeline")
        await mouse.click("^p")
        await mouse.click("/ search")  # beside the palette: it goes
        await mouse.click("9Health")
        await mouse.click(": command")
        await mouse.sees("enter does it  tab completes  esc leaves")
        await person.paste("chec")
        await mouse.click("tab")
        assert "checkpoint" in person.lines[-2]
        await person.paste(" by mouse")
        await mouse.sees("enter tab esc")
        await mouse.click("esc", dx=1)
        assert person.at == "health"


async def test_questions_that_follow_each_other_are_all_asked(story: Story) -> None:
    """The answer to one opens the next, which the end of the first must not close."""
    async with mouse_on(story) as (person, mouse):
        await mouse.click("2Timeline")
        await mouse.click("Facturas en PDF/A", button=3)
        await mouse.click("replace")
        await mouse.click("enter does it")
        await mouse.sees("chosen")
        await person.paste("PDF/A-4")
        await mouse.click("enter does it")
        await mouse.click("enter does it")
        await mouse.sees("because")
        await person.paste("newer")
        await mouse.click("enter does it")
        await mouse.sees("Recorded D#")
        assert person.record is not None and person.record.chosen == "PDF/A-4"  # type: ignore[union-attr]


async def test_the_preview_keeps_the_way_to_everything(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("2Timeline")
        await mouse.click("fix: keep the cache")
        await mouse.click("During       I#", dx=13)
        assert person.record is not None and person.record.citation.startswith("I#")
        await mouse.click("back")
        assert person.record.citation.startswith("C#")
        await mouse.click("forward")
        assert person.record.citation.startswith("I#")
        await mouse.click("^p all")
        assert isinstance(person.app.screen, CommandPalette)


async def test_a_filter_leaves_the_tabs_their_names(story: Story) -> None:
    async with mouse_on(story) as (_, mouse):
        await mouse.click("2Timeline")
        await mouse.click("Decisions 4")
        await mouse.sees("Decisions 4 ×", "3Checkpoints", "1Facts")


# the other screens


@SIZES
async def test_a_restore_is_chosen_applied_and_left(story: Story, size: tuple[int, int]) -> None:
    async with mouse_on(story, size) as (person, mouse):
        await mouse.click("3Checkpoints" if size == NARROW else "3 Checkpoints")
        for _ in range(2):
            await mouse.click("R restore")
            await person.until(lambda: isinstance(person.app.screen, PlanScreen))
            await person.pilot.pause()
            screen = person.app.screen
            assert isinstance(screen, PlanScreen)
            before = screen.chosen
            await mouse.click("[x]", dx=1)
            assert screen.chosen < before
            await mouse.click("strategy")
            await mouse.click("^a none")
            await mouse.click("esc leave")
            assert person.app.screen is person.main
        await mouse.click("R restore")
        await person.until(lambda: isinstance(person.app.screen, PlanScreen))
        await person.press("ctrl+p")
        assert isinstance(person.app.screen, PlanScreen), "the palette has nothing to do here"
        await mouse.click("d only")
        await mouse.sees("only ")
        chosen = person.app.screen
        assert isinstance(chosen, PlanScreen)
        assert chosen.query_one("#plan").cursor_key in chosen.chosen  # type: ignore[attr-defined]
        await mouse.click("apply")
        await mouse.sees("changed; K#")


async def test_one_click_on_a_key_in_the_help_does_it(story: Story) -> None:
    async with mouse_on(story) as (person, mouse):
        await mouse.click("? help")
        await mouse.click("Hide facts or decisions")
        assert isinstance(person.app.screen, HelpScreen), "its text only selects"
        await mouse.click("  f     ", dx=2)
        await mouse.sees("Forgot F#")
        await mouse.click("? help")
        await mouse.click("esc closes")
        assert person.app.screen is person.main


async def test_a_key_is_given_from_the_help(story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    async with mouse_on(story) as (person, mouse):
        await mouse.click("? help")
        await mouse.click("Hide facts or decisions")
        await mouse.click("another key for it")
        await mouse.sees(": config keys.record.forget")
        await person.paste("X")
        await mouse.click("enter")
        await mouse.sees("X forget")


async def test_another_memory_is_opened_and_the_first_one_again(story: Story, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Memory.open(str(other / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("This is the other project")
    async with mouse_on(story, HUGE) as (person, mouse):
        await mouse.click("billing-api")
        assert isinstance(person.app.screen, RecentScreen)
        await mouse.click("esc stays here")
        assert person.app.screen is person.main
        for folder, text in ((other, "This is the other project"), (story.folder, "Uses Jenkins"), (other, "This is")):
            await person.pilot.click("#sidebar", offset=(2, 0))  # the project's name
            await mouse.click("another folder")
            await person.until(lambda: person.at == "line")
            await person.paste(str(folder))
            await mouse.click("enter")
            await mouse.sees(text)
