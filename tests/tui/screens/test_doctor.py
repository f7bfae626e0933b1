"""The doctor's screen: findings as they are made, the wrong one under the cursor, and Enter that does its next step."""

import asyncio
import threading
from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story, copy

from store.memory import Memory
from store.upkeep import doctor as health
from tui.screens import health as doctor
from tui.screens.health import DoctorScreen
from tui.widgets.record_list import RecordList


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    return copy(tmp_path / "billing-api")


def looking(person: Person) -> bool:
    return isinstance(person.app.screen, DoctorScreen)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_healthy_memory(person: Person) -> None:
    await person.command("doctor")
    await person.until(lambda: person.sees("DOCTOR", "Nothing is wrong."))
    assert person.sees("✓ private", "✓ history", "each as history says")
    assert "enter" not in person.lines[-1], "there is nothing to be done about the first finding"
    await person.press("escape")
    await person.until(lambda: not looking(person))


async def test_enter_does_the_next_step(story: Story) -> None:
    """The cursor goes to what is wrong; Enter there makes the index again, and then nothing is wrong any more."""
    with Memory.open(str(story.path)) as memory:
        memory.database.connection.execute("INSERT INTO corpus_fts(rowid, title) VALUES (9999, 'ghost')")
    async with opened(story.folder) as person:
        await person.command("doctor")
        await person.until(lambda: person.sees("1 thing to be mended."))
        await person.until(
            lambda: person.sees("Next  memoranda health --index rebuild", "enter health --index rebuild")
        )
        await person.press("enter")
        await person.until(lambda: any("Made the index again" in toast for toast in person.toasts))
        assert not looking(person)
        await person.command("doctor --quick")
        await person.until(lambda: person.sees("Nothing is wrong."))
        assert not person.sees("each as history says"), "quickly, records are left out"


async def test_the_keys_stay_alive_while_it_looks(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor moves while the next finding is worked out, stays where it was put, and leaving ends the looking."""
    held, stopped = threading.Event(), threading.Event()

    def slow(*about: object, **how: object):
        yield from (health.Finding(f"one {number}", health.OK, "fine") for number in range(5))
        held.wait(30)
        cancelled = about[4] if len(about) > 4 else how.get("cancelled")
        yield health.Finding("last", health.WRONG, "not fine", "Mend it.")
        if callable(cancelled) and cancelled():
            stopped.set()

    monkeypatch.setattr(doctor, "examine", slow)
    async with opened(story.folder) as person:
        person.main.call_later(person.main.open_screen, "doctor")  # a command waits until all is done
        await person.until(lambda: person.sees("✓ one 4"))
        await person.pilot.press("j", "j")
        shown = person.app.screen.query_one("#doctor", RecordList)
        await person.until(lambda: shown.cursor_index == 2)
        await person.pilot.press("escape")
        await person.until(lambda: not looking(person))
        held.set()
        await asyncio.to_thread(stopped.wait, 10)
        assert stopped.is_set()
