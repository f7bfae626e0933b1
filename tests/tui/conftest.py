"""What the stories of the application and the command line share: no model works beside them unless they ask for it."""

import contextlib
import gc
import io
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import textual.app
import textual.pilot
from support.commands import Do, runner
from support.ollama_server import Serve
from support.screen import HUGE, NARROW, WIDE, Person, idle, opened, utc, wait_for_screen
from support.stories import Story, copy
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from store.librarian import chat as circuit_breaker

__all__ = ["utc"]


@pytest.fixture(autouse=True, scope="session")
def event_driven_pilot() -> Iterator[None]:
    """Pilot waits for the event loop, not for a process that uses no CPU: a key takes no 60 ms of sleep."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (textual.app, textual.pilot):
            patch.setattr(module, "wait_for_idle", idle)
        patch.setattr(Pilot, "_wait_for_screen", wait_for_screen)
        yield


@pytest.fixture(autouse=True, scope="session")
def drawn_when_read() -> Iterator[None]:
    """A frame that no terminal shows is not drawn: a test draws what it reads, `opened` the last screen. The styles of
    an application are read once for all."""

    draw = Compositor.render_update

    def draw_whole(self: Compositor, full: bool = False, *given: Any, **named: Any) -> object:
        if full:  # a picture of the screen
            return draw(self, full, *given, **named)
        self._dirty_regions.clear()
        return None

    known: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, *given: Any, **named: Any) -> list[RuleSet]:
        key = (*given, *named.values(), *self._variables.items())
        if key not in known:
            known[key] = parse(self, *given, **named)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", draw_whole)
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_frozen() -> Iterator[None]:
    """What an application froze at its start, connections included, would live as long as this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "freeze", lambda: None)
        yield


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords and rules alone, so that nothing is embedded or asked behind a story's back; `meaning` takes it away."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model,agent")


@pytest.fixture(autouse=True)
def nobody_at_the_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of a command meets an end of the file; a process that a test starts has an input of its own."""
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture(autouse=True)
def no_checkpoint_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """None becomes due in the middle of a story that takes a busy machine a minute."""
    monkeypatch.setattr("tui.main_screen.background.POLLS_BETWEEN_CHECKPOINTS", sys.maxsize)


@pytest.fixture(autouse=True)
def time_to_catch_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command lets the memory catch up with first is all of it: on a machine that stands still for seconds it
    would say what remains. A process of its own has the seconds that a person has."""
    monkeypatch.setattr("store.upkeep.catch_up.WAIT_SECONDS", 600.0)
    monkeypatch.setattr("tui.commands.conversations.READING_SECONDS", 600.0)
    monkeypatch.setattr("store.upkeep.session_flush.READING_SECONDS", 600.0)


@pytest.fixture
def meaning(without_a_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model of vectors answers."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")


@pytest.fixture
def serve(without_a_model: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Lets a server of models be the one that is asked; it is closed in the end."""
    with contextlib.ExitStack() as servers:

        def serve(server: Any) -> Any:
            circuit_breaker.reset_breakers()
            monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
            monkeypatch.setenv("OLLAMA_HOST", server.address)
            return servers.enter_context(contextlib.closing(server))

        yield serve
    circuit_breaker.reset_breakers()


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A year of memory beside a real repository."""
    return copy(tmp_path / "billing-api")


@pytest.fixture
def size() -> tuple[int, int]:
    """The size of the terminal of `person`, where no table of a test names others."""
    return WIDE


@pytest.fixture
async def person(story: Story, size: tuple[int, int]) -> AsyncIterator[Person]:
    """Somebody in front of the story. Ask for it last: what other fixtures do comes before the start."""
    async with opened(story.folder, size) as person:
        yield person


@pytest.fixture
async def narrow(story: Story) -> AsyncIterator[Person]:
    """A person at a terminal of 80 columns."""
    async with opened(story.folder, NARROW) as person:
        yield person


@pytest.fixture
async def huge(story: Story) -> AsyncIterator[Person]:
    """A person at a terminal of 200 columns."""
    async with opened(story.folder, HUGE) as person:
        yield person


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs one command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return runner(capsys)
