"""The sidebar: beside the lists where there is room, over them elsewhere; panes and filters with counts, clickable."""

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from tui.widgets.bars import Sidebar
from tui.widgets.inputs import SearchBar


def bar(user: Person) -> Sidebar:
    return user.main.query_one(Sidebar)


def shown(user: Person) -> list[str]:
    """Return the sidebar's lines as they are on the screen."""
    region = bar(user).region
    return [line[region.x : region.right].rstrip(" │") for line in user.lines[region.y : region.bottom]]


async def click(user: Person, text: str) -> None:
    at = next(place for place, line in enumerate(shown(user)) if text in line)
    assert await user.pilot.click(Sidebar, offset=(2, at))
    await user.settle()


async def test_it_stands_beside_the_lists_where_there_is_room(story: Story) -> None:
    async with opened(story.folder, HUGE) as user:
        await user.until(lambda: any("3 Checkpoints" in line and line[-1].isdigit() for line in shown(user)))
        lines = shown(user)
        assert lines[0].strip() == "billing-api" and lines[2].startswith("▸1 Facts") and lines[2].endswith("10")
        assert any(line.startswith(" 5 Tasks") and line[-1].isdigit() for line in lines), "also of panes never opened"
        assert " Only  o" in lines and any("▲ Stale" in line and line[-1].isdigit() for line in lines)
        assert "1 Facts" not in user.lines[0], "it stands in the place of the tabs"
        await click(user, "2 Timeline")
        assert user.main.current == "timeline" and any(line.startswith("▸2 Timeline") for line in shown(user))
        assert any("Decisions" in line for line in shown(user)), "the filters are those of the pane"
        await click(user, "1 Facts")
        await click(user, "Stale")
        assert user.main.view.state == "stale" and any("Stale ×" in line for line in shown(user))
        await click(user, "Stale")
        assert user.main.view.state is None
        await user.press("backslash")
        assert not bar(user).display and "1 Facts" in user.lines[0]
        await user.press("backslash")
        assert bar(user).display
        await user.press("z")
        assert not bar(user).display, "the preview has the whole screen"


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_below_it_covers_the_lists_until_escape(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as user:
        assert not bar(user).display
        lists = user.main.list_of("facts").region
        await user.press("backslash")
        assert shown(user)[2].startswith("▸1 Facts") and user.main.list_of("facts").region == lists
        await user.press("5")
        assert any(line.startswith("▸5 Tasks") for line in shown(user))
        await user.press("escape")
        assert not bar(user).display and user.main.current == "tasks", "one thing at a time"


async def test_a_search_shows_the_kinds_of_what_was_found(story: Story) -> None:
    async with opened(story.folder, HUGE) as user:
        await user.search("sqlite")
        await user.until(lambda: any("◆ " in line and line[-1].isdigit() for line in shown(user)))
        with story.open() as memory:
            other = memory.search("kind:fact deploy")
        user.main.search.show_answer(SearchBar.Found(other, again=True))
        await user.pilot.pause()
        lines = shown(user)
        assert any(line.startswith(" • Facts") and line[-1].isdigit() for line in lines), "nothing else need be drawn"


async def test_another_width_moves_it(story: Story) -> None:
    async with opened(story.folder, WIDE) as user:
        await user.pilot.resize_terminal(*HUGE)
        await user.until(lambda: bar(user).display and "1 Facts" not in user.lines[0])
        await user.pilot.resize_terminal(*WIDE)
        await user.until(lambda: not bar(user).display and "1 Facts" in user.lines[0])
