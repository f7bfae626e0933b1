"""The view of the team: who shares, what of it is in the memory, what is wrong with a stream, and the exchange."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.screen import NARROW, WIDE, opened
from support.stories import Story
from support.team import WORK, Join, join, remote

from store.memory import Memory
from store.team.exchange import Team
from tui.panes.pane import Entry, EntryRows, Loaded, Reading, View
from tui.panes.team import EXCHANGE, PANE

__all__ = ["join", "remote"]


def share(memory: Memory, remote: Path) -> None:
    """Cleo shares, and receives what others shared."""
    with Team(memory) as team:
        team.choose(WORK, "Cleo", str(remote))
        team.exchange()


def read(memory: Memory) -> Loaded:
    engine = SimpleNamespace(team=SimpleNamespace(report=["Nothing new on either side."]))
    return PANE.read(Reading(engine, memory, View()))  # type: ignore[arg-type]


def shown(loaded: Loaded) -> list[tuple[str, str]]:
    """The rows: the lines of each, and what the preview says."""
    assert isinstance(loaded.rows, EntryRows)
    entries = [one for one in loaded.rows.entries if isinstance(one, Entry)]
    return [
        (
            " ".join("".join(text for text, _ in line).strip() for line in one.draw(110)),
            "\n".join("".join(text for text, _ in line) for line in one.describe()),
        )
        for one in entries
    ]


def test_who_shares_what_and_what_is_wrong(story: Story, join: Join, remote: Path) -> None:
    with story.open() as memory:
        assert shown(read(memory)) == [] and "memoranda team share work decisions" in PANE.empty
        ana = join("Ana")
        ana.remember("Releases are cut on Tuesdays")
        ana.sync()
        share(memory, remote)
        loaded = read(memory)
        (mine, about), (theirs, detail), (last, hint) = shown(loaded)
        assert mine.startswith("● Cleo (you)") and "Taken without" not in about and "Not signed" in about
        assert theirs.startswith("● Ana") and "1 record" in theirs
        assert "All that is shared waits in the inbox" in detail and "not taken" in detail and "Tuesdays" in detail
        assert last.endswith(EXCHANGE) and "receives what others shared" in hint and "Nothing new" in hint
        assert not loaded.says and loaded.size == 2
        with Team(memory) as team:
            ref = f"refs/memoranda/{next(state.writer for state, _ in team.members() if state.name == 'Ana')}"
        subprocess.run(["git", "-C", str(remote), "update-ref", "-d", ref], check=True)
        share(memory, remote)
        loaded = read(memory)
        assert loaded.says[0][0] == "1 with something wrong"
        theirs, detail = shown(loaded)[1]
        assert theirs.startswith("⚠ Ana") and "its stream is gone from the remote" in theirs
        assert "What was good before stays" in detail


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_it_is_exchanged_at_a_key(story: Story, join: Join, remote: Path, size: tuple[int, int]) -> None:
    ana = join("Ana")
    with story.open() as memory:
        share(memory, remote)
    async with opened(story.folder, size) as user:
        await user.command("team")
        await user.until(lambda: user.sees("› Team", "Cleo (you)", EXCHANGE))
        ana.remember("Releases are cut on Tuesdays")
        ana.sync()
        await user.press("G", "enter")
        await user.until(lambda: user.sees("● Ana", "shared 1: see the inbox"))
        assert any("shared 1" in toast for toast in user.toasts)
        await user.press("k")
        await user.until(lambda: user.sees("All that is shared waits", "not taken"))
        remote.rename(remote.with_name("gone.git"))
        await user.press("G", "enter")
        await user.until(lambda: any("gone" in toast or "remote" in toast for toast in user.toasts))
