"""The screen of a team: who shares, what of it is in the memory, what is wrong with a stream; exchange at a key."""

import subprocess
from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, opened
from support.stories import Story
from support.team import WORK, Join, join, remote  # noqa: F401  (fixtures)

from store.team.exchange import Team
from tui.screens.team import TeamScreen


async def test_nobody_shares_and_how_one_begins(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.press("0", "t")
        await user.until(lambda: isinstance(user.app.screen, TeamScreen))
        await user.until(lambda: user.sees("TEAM", "Nobody shares yet", "memoranda team share work decisions"))
        await user.press("s")
        await user.until(lambda: user.sees("Nothing is shared here yet"))
        await user.press("escape")
        await user.until(lambda: not isinstance(user.app.screen, TeamScreen))


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_what_a_teammate_shared_is_seen_and_exchanged_at_a_key(
    story: Story,
    join: Join,  # noqa: F811
    remote: Path,  # noqa: F811
    size: tuple[int, int],
) -> None:
    ana = join("Ana")
    with story.open() as memory, Team(memory) as team:
        team.choose(WORK, "Cleo", str(remote))
        team.exchange()
    async with opened(story.folder, size) as user:
        await user.command("team")
        await user.until(lambda: user.sees("Cleo (you)"))
        ana.remember("Releases are cut on Tuesdays")
        ana.sync()
        await user.press("s")
        await user.until(lambda: user.sees("Ana", "1 record", "shared 1: see the inbox"))
        await user.press("j")
        await user.until(lambda: user.sees("All that is shared waits in the inbox", "not taken", "Tuesdays"))
        await user.press("enter")
        await user.until(lambda: user.app.screen.has_class("-whole"))
        await user.press("escape", "escape")
        await user.until(lambda: not isinstance(user.app.screen, TeamScreen))


async def test_a_stream_with_something_wrong_stands_out(story: Story, join: Join, remote: Path) -> None:  # noqa: F811
    ana = join("Ana")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    with story.open() as memory, Team(memory) as team:
        team.choose(WORK, "Cleo", str(remote))
        team.exchange()
        ref = f"refs/memoranda/{next(state.writer for state, _ in team.members() if state.name == 'Ana')}"
    subprocess.run(["git", "-C", str(remote), "update-ref", "-d", ref], check=True)
    async with opened(story.folder) as user:
        await user.command("team")
        await user.press("s")
        await user.until(lambda: user.sees("⚠ Ana", "its stream is gone from the remote"))
