"""The application beside a file that is kept in sync: it reads what another editor saves, and writes what it learns."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from support.screen import WIDE, opened
from support.stories import Clock

from store.base.models import Chunk
from store.memory import Memory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two facts in its MEMORY.md, and a line of the person's own."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("Ask me before you delete marmalade.\n")
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("The team is five", domain="work")
        memory.facts.remember("Tea, not coffee", domain="preferences")
        memory.sync.start_file()
        memory.sync.sync_file()
    return folder


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that replaces five by six."""

    def run(words: list[str], leave: object) -> int:
        path = Path(words[-1])
        path.write_text(path.read_text().replace("five", "six"))
        return 0

    monkeypatch.setattr("tui.desktop.programs.run_editor", run)
    monkeypatch.setattr("tui.app.Memoranda.suspend", lambda app: nullcontext())
    monkeypatch.setenv("VISUAL", "sh")


async def test_what_another_editor_saves_is_read_and_told(project: Path) -> None:
    async with opened(project) as person:
        file = project / "MEMORY.md"
        file.write_text(file.read_text().replace("five", "six"))
        await person.until(lambda: person.sees("The team is six"))
        await person.until(lambda: any("Read MEMORY.md: 1 changed (F#3)." in said for said in person.toasts))


async def test_what_the_application_learns_is_written(project: Path) -> None:
    async with opened(project) as person:
        await person.command("remember Lunch is at one")
        await person.until(lambda: "- Lunch is at one [F#3]" in (project / "MEMORY.md").read_text())


async def test_a_file_that_cannot_be_read_is_told_once(project: Path) -> None:
    async with opened(project) as person:
        file = project / "MEMORY.md"
        file.write_text(file.read_text().replace("end -->", "-->"))
        await person.until(lambda: any("begins or ends more or less than once" in said for said in person.toasts))
        assert person.sees("The team is five")


async def test_sync_edit_opens_the_editor_and_takes_what_is_written_as_the_persons(project: Path, editor: None) -> None:
    async with opened(project) as person:
        await person.command("sync --edit")
        await person.until(lambda: person.sees("The team is six"))
        assert person.main.engine is not None
        assert person.main.engine.present.facts.get(3).origin == "user"
        assert person.main.engine.waiting() == 0
        await person.press("u")
        await person.until(lambda: person.sees("The team is five"))


async def test_e_on_a_synced_document_is_the_same(project: Path, editor: None) -> None:
    async with opened(project, WIDE) as person:
        await person.search("marmalade")
        await person.press("enter")
        await person.until(lambda: isinstance(person.record, Chunk))
        await person.settle()  # the preview shows it before the list has the keys
        await person.press("E")
        await person.until(lambda: (project / "MEMORY.md").read_text().count("The team is six [F#3]") == 1)
        assert person.main.engine is not None and person.main.engine.present.facts.get(3).origin == "user"


async def test_watch_is_the_applications_own(project: Path) -> None:
    async with opened(project) as person:
        await person.command("sync --watch")
        await person.until(lambda: any("watches synced files by itself" in said for said in person.toasts))
