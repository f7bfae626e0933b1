"""The application beside a file that is kept in sync: it reads what another editor saves, and writes what it learns."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from support.screen import opened
from support.stories import Clock

from store.base.models import Chunk
from store.memory import Memory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The MEMORY.md of a project with two facts in it, and a line of the person's own."""
    file = tmp_path / "shop" / "MEMORY.md"
    file.parent.mkdir()
    file.write_text("Ask me before you delete marmalade.\n")
    with Memory.open(str(file.parent / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("The team is five", domain="work")
        memory.facts.remember("Tea, not coffee", domain="preferences")
        memory.sync.start_file()
        memory.sync.sync_file()
    return file


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


async def test_what_an_editor_saves_is_read_and_what_is_learned_is_written(file: Path) -> None:
    """And told; a file that cannot be read is told of once, and changes nothing."""
    async with opened(file.parent) as person:
        file.write_text(file.read_text().replace("five", "six"))
        await person.until(lambda: person.sees("The team is six"))
        await person.until(lambda: any("Read MEMORY.md: 1 changed (F#3)." in said for said in person.toasts))
        await person.command("remember Lunch is at one")
        await person.until(lambda: "- Lunch is at one [F#4]" in file.read_text())
        await person.command("sync --watch")
        assert any("watches synced files by itself" in said for said in person.toasts)
        file.write_text(file.read_text().replace("end -->", "-->"))
        await person.until(lambda: any("begins or ends more or less than once" in said for said in person.toasts))
        assert person.sees("The team is six", "Lunch is at one")


@pytest.mark.parametrize("way", ["the command", "the document's key"])
async def test_the_editor_opens_and_what_is_written_is_the_persons(file: Path, editor: None, way: str) -> None:
    async with opened(file.parent) as person:
        if way == "the command":
            await person.command("sync --edit")
        else:
            await person.search("marmalade")
            await person.press("enter")
            await person.until(lambda: isinstance(person.record, Chunk))
            await person.settle()  # the preview shows it before the list has the keys
            await person.press("c")
        await person.until(lambda: file.read_text().count("The team is six [F#3]") == 1)
        await person.settle()
        present = person.main.engine.present
        assert present.facts.get(3).origin == "user" and present.inbox.count_waiting() == 0
        await person.press("escape", "escape", "u")
        await person.until(lambda: person.sees("The team is five"))
