"""While the application is open it exchanges with the team, says what arrived, and what is in the way once."""

from pathlib import Path

from support.screen import Person as User
from support.screen import opened
from support.stories import Story
from support.team import WORK, Join, join, remote  # noqa: F401  (fixtures)

from store.base.state_files import team_folder
from store.team.exchange import Team


def receives(story: Story, remote: Path) -> None:  # noqa: F811
    """Let the person of the application share through the remote."""
    with story.open() as memory, Team(memory) as team:
        team.choose(WORK, "Cleo", str(remote))


async def arrived(user: User, words: str) -> None:
    await user.until(lambda: any(words in toast for toast in user.toasts))


async def test_what_a_teammate_shared_arrives(
    story: Story,
    join: Join,  # noqa: F811
    remote: Path,  # noqa: F811
) -> None:
    ana = join("Ana")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    receives(story, remote)
    async with opened(story.folder) as user:
        await arrived(user, "shared 1: see the inbox")
        await user.press("6")
        assert user.sees("Releases are cut on Tuesdays")


async def test_a_remote_that_is_gone_is_said(
    story: Story,
    tmp_path: Path,
    remote: Path,  # noqa: F811
) -> None:
    receives(story, remote)
    remote.rename(tmp_path / "elsewhere")
    async with opened(story.folder) as user:
        await arrived(user, "The team could not be reached")


async def test_who_never_shared_exchanges_nothing(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.press("6")
        assert not (Path(team_folder(str(story.path))) / "shared.git").exists()
        assert not [toast for toast in user.toasts if "team" in toast.lower()]
