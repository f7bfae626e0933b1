"""The chips of a search that finds more than is shown have numbers too."""

from pathlib import Path

import pytest
from support.screen import HUGE, NARROW, WIDE, opened
from support.stories import Story, copy


@pytest.fixture
def story(tmp_path: Path) -> Story:
    story = copy(tmp_path / "billing-api")
    with story.open() as memory:
        for number in range(130):
            memory.facts.remember(f"The ledger keeps entry {number}")
        for number in range(12):
            memory.decisions.decide(f"Ledger {number}", "kept")
    return story


async def test_every_kind_has_its_number(story: Story) -> None:
    async with opened(story.folder, WIDE) as user:
        await user.search("ledger")
        await user.until(lambda: "All 142" in user.title and "Facts 130" in user.title and "Decisions 12" in user.title)
        await user.press("enter")
        await user.press("d")
        await user.until(lambda: "Facts 130 ×" in user.title)
        await user.press("d")
        await user.until(lambda: "Decisions 12 ×" in user.title and "Facts 130" in user.title)


async def test_a_search_by_kind_alone_counts_the_others_too(story: Story) -> None:
    async with opened(story.folder, WIDE) as user:
        await user.search("kind:decision")
        await user.until(lambda: "Decisions 15 ×" in user.title)
        assert "All 0" not in user.title and "Facts 140" in user.title


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_what_a_search_hides_is_said_with_how_to_see_it(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as user:
        await user.search("stand-up")
        await user.until(lambda: user.sees("1 hidden"))
        assert user.sees("is:forgotten, is:replaced"), "\n".join(user.lines[:4])
