"""The app with a mouse alone: letters are typed only where a text is asked for, all else is clicked."""

from pathlib import Path

import pytest
from rich.cells import cell_len
from support.screen import HUGE, NARROW, Person, opened
from support.stories import Clock, Story

from store.memory import Memory
from tui.screens.base import HelpScreen
from tui.screens.plans import PlanScreen

SIZES = pytest.mark.parametrize("size", [NARROW, HUGE], ids=["80x24", "200x60"])


class Mouse:
    """A person whose one hand is on the mouse."""

    def __init__(self, person: Person) -> None:
        self.person = person

    async def click(self, *texts: str, button: int = 1, dx: int = 0) -> None:
        """Click where each text is first seen on the screen, `dx` cells to its right."""
        for text in texts:
            await self.sees(text)
            y, line = next((y, line) for y, line in enumerate(self.person.lines) if text in line)
            x = cell_len(line[: line.index(text)]) + dx
            await self.person.pilot.click(offset=(x, y), button=button)
            await self.person.settle()

    async def sees(self, *texts: str) -> None:
        await self.person.until(lambda: self.person.sees(*texts))


@SIZES
async def test_panes_chips_filters_and_searches_are_clicked(size: tuple[int, int], person: Person) -> None:
    mouse = Mouse(person)
    chips = {"Stale 2": 2, "Stale 2 ×": 10, "only…|Domain  3": 3, "work ×": 10, "Low 2": 2, "esc all": 10}
    for texts, number in {**chips, "2 forgotten, 2 replaced hidden": 14}.items():
        await mouse.click(*texts.split("|"))
        assert person.main.place.loaded is not None and person.main.place.loaded.size == number, texts
    await mouse.click("all shown", "3 Timeline", "Decisions 4")
    await mouse.sees("Decisions 4 ×", "2 Facts")
    await mouse.click("Decisions 4 ×", "find, ask")
    await person.paste("sqlite")
    await mouse.sees("All ", "✕")
    await mouse.click("Use SQLite", "✕")
    assert (person.place, person.at) == ("timeline", "list")


async def test_rows_are_marked_and_acted_on(narrow: Person) -> None:
    """By the left cell, by a range, with ctrl, and a group; the right button names what can be done with a row."""
    mouse, shown = Mouse(narrow), narrow.record_list
    for offset, how, marks in (((0, 1), {}, 1), ((20, 4), {"shift": True}, 3), ((20, 7), {"control": True}, 4)):
        await narrow.pilot.click("#list", offset=offset, **how)
        await narrow.settle()
        assert len(shown.marks) == marks and narrow.sees(f"{marks} marked")
    await mouse.click("marked")
    assert not shown.marks
    await mouse.click("Uses Jenkins", button=3)
    await mouse.click("Pin the fact")
    await mouse.sees("Pinned F#6")
    assert narrow.record is not None and narrow.record.pinned and not shown.marks  # type: ignore[union-attr]
    await narrow.press("escape")
    await mouse.click("Stale 1", "Learned ", ": more")
    await narrow.paste("mark group")
    await mouse.click("Mark the group", "y yes")
    await mouse.sees("Confirmed F#2")


async def test_questions_that_follow_each_other_are_all_asked(narrow: Person) -> None:
    """And the citations of what was recorded are clicked."""
    mouse = Mouse(narrow)
    await mouse.click("3 Timeline", "Facturas en PDF/A")
    await mouse.click("Facturas en PDF/A", button=3)
    await narrow.paste("replaces")
    await mouse.click("It replaces another", "enter does it")
    for text in ("PDF/A-4", "", "newer"):
        await narrow.paste(text)
        await mouse.click("enter does it")
    await mouse.sees("Recorded D#")
    assert narrow.record is not None and narrow.record.chosen == "PDF/A-4"  # type: ignore[union-attr]
    await narrow.press("z")
    await mouse.click("Replaces", dx=13)
    assert narrow.record.citation == "D#4" and narrow.at == "preview"


@SIZES
async def test_a_restore_is_chosen_applied_and_left(size: tuple[int, int], person: Person) -> None:
    mouse = Mouse(person)
    await mouse.click("5 History", "Checkpoints 1")
    for _ in range(2):
        await mouse.click("R restore…", "[x]", dx=1)
        screen = person.app.screen
        assert isinstance(screen, PlanScreen) and screen.chosen < screen.plan.chosen
        await mouse.click("strategy", "^a none", "esc leave")
        assert person.app.screen is person.main
    await mouse.click("R restore…")
    await person.press("ctrl+p")
    assert isinstance(person.app.screen, PlanScreen), "the box has nothing to do here"
    await mouse.click("d only")
    await mouse.sees("only ")
    assert person.app.screen.query_one("#plan").cursor_key in person.app.screen.chosen  # type: ignore[attr-defined]
    await mouse.click("enter restore")
    await mouse.sees("changed; K#")


async def test_keys_are_done_and_set_in_the_help(story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """None is read as markup: `[` was, and the application ended."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    async with opened(story.folder, NARROW) as person:
        mouse = Mouse(person)
        await person.command("help")
        await mouse.click("No: forget it")
        assert isinstance(person.app.screen, HelpScreen), "its text only selects"
        await mouse.click("  f     ", dx=2)
        await mouse.sees("Forgot F#")
        await person.command("help")
        await mouse.click("esc closes")
        assert person.app.screen is person.main
        for key in ("X", "["):
            await person.command("help")
            await mouse.click("No: forget it", "another key for it")
            await person.paste({"[": "left_square_bracket"}.get(key, key))
            await person.press("enter")
            await mouse.sees(f"{key} forget")


async def test_the_words_of_a_key_and_of_a_verb_lead_to_it(person: Person) -> None:
    """That the box has them all is tried in `test_actions`."""
    await person.press("colon")
    await person.paste("forg")
    await person.settle()
    first = person.app.screen._offers[:2]  # type: ignore[attr-defined]
    assert {offer.note for offer in first} == {"f", ":forget"}


async def test_another_memory_is_opened_and_the_first_one_again(story: Story, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Memory.open(str(other / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("This is the other project")
    async with opened(story.folder, HUGE) as person:
        mouse = Mouse(person)
        await mouse.click("billing-api")
        await mouse.click("esc leaves")
        assert person.app.screen is person.main
        here = "billing-api"
        for folder, text in ((other, "This is the other project"), (story.folder, "Uses Jenkins"), (other, "This is")):
            await mouse.click(here)
            await person.paste(str(folder))
            await mouse.click("enter takes it")
            await mouse.sees(text)
            here = folder.name
