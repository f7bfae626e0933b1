"""While the application is open it exchanges with the team, says what arrived, and what is in the way once."""

from pathlib import Path

from support.screen import opened
from support.stories import Story
from support.team import WORK, Join, join, remote  # noqa: F401  (fixtures)

from store.base.state_files import team_folder
from store.team.exchange import Team


async def test_what_a_teammate_shared_arrives_and_a_remote_that_is_gone_is_said(
    story: Story,
    tmp_path: Path,
    join: Join,  # noqa: F811
    remote: Path,  # noqa: F811
) -> None:
    ana = join("Ana")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    with story.open() as memory, Team(memory) as team:
        team.choose(WORK, "Cleo", str(remote))
    for words in ("shared 1: see the inbox", "The team could not be reached"):
        async with opened(story.folder) as person:
            await person.until(lambda: any(words in toast for toast in person.toasts))  # noqa: B023
            await person.press("1")
            assert person.sees("Releases are cut on Tuesdays")
        if remote.exists():
            remote.rename(tmp_path / "elsewhere")


async def test_who_never_shared_exchanges_nothing(story: Story) -> None:
    async with opened(story.folder) as person:
        await person.press("1")
        assert not (Path(team_folder(str(story.path))) / "shared.git").exists()
        assert not [toast for toast in person.toasts if "team" in toast.lower()]
