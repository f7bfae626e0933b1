"""What is done beside the screen: how often, less while nobody uses it, and none of it too late."""

import os
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.screen import Person
from support.stories import Story
from support.tables import each

from store.database import wal
from store.memory import Memory
from tui.app import RESTING_SECONDS
from tui.main_screen import background, screen
from tui.main_screen.background import (
    FEW_TEXTS,
    POLL_SECONDS,
    POLLS_AT_REST,
    EmbeddingController,
    Polling,
    TeamController,
)
from tui.main_screen.screen import MainScreen

PERIODS = {name: polls for one in (background, screen) for name, polls in vars(one).items() if name.endswith("_POLLS")}


def test_the_model_may_report_before_the_first_frame(story: Story):
    """As one does that was being downloaded when another memory was opened."""
    MainScreen(story.location, os.fspath(story.folder)).model_told()


async def test_work_on_a_memory_that_was_left_ends_without_a_word(person: Person):
    """Any other error is shown, once as long as it is seen."""

    def fails() -> None:
        raise RuntimeError("cannot schedule new futures after shutdown")

    main = person.main
    for closed, said in ((False, 1), (False, 1), (True, 0)):
        main.engine.is_closed = closed
        if closed:
            person.app.clear_notifications()
        await main.in_background(fails, "lists")._task  # type: ignore[attr-defined]
        await person.pilot.pause()
        assert len([toast for toast in person.toasts if "Internal error (RuntimeError)" in toast]) == said
    main.engine.is_closed = False


def test_polling_counts_and_goes_on_after_a_file_that_cannot_be_read():
    """Other errors are not swallowed. At rest one poll stands for several, and none that is due is left out."""
    unreadable = type("IOError", (Exception,), {"__module__": "apsw"})
    counts: list[int] = []
    failed: list[BaseException] = []

    def step(count: int) -> None:
        counts.append(count)
        if count in (2, 4):
            raise unreadable if count == 2 else ZeroDivisionError

    polling = Polling((step,), failed.append)
    for _ in range(3):
        polling.poll()
    assert counts == [1, 2, 3] and [type(error) for error in failed] == [unreadable]
    with pytest.raises(ZeroDivisionError):
        polling.poll()
    one, two, three = (POLLS_AT_REST * times for times in (1, 2, 3))
    counts.clear()
    polling = Polling((counts.append,), lambda error: None)
    for polls in (1, 1, 1, one, one, 1, 4, one - 6, 3, 3):
        polling.poll(polls)
    assert counts == [1, 2, 3, one, two, two + 1, two + 5, three - 1, three, three + 3]


class Rest:
    """A loop whose time passes when it is told, and a screen on it: what is polled, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("asyncio.get_running_loop", lambda: self)
        self.now, self.used, self.is_running, self.writes = 0.0, 0.0, True, False
        self.handles: list[SimpleNamespace] = []
        self.polls: list[tuple[float, int]] = []
        self.polling = Polling((lambda count: self.polls.append((self.now, count)),), lambda error: None, self._written)
        self.polling.start_polling(cast("Any", self), lambda: self.now - self.used > RESTING_SECONDS)

    def _written(self) -> bool:
        written, self.writes = self.writes, False
        return written

    def time(self) -> float:
        return self.now

    def call_later(self, *call: Any) -> SimpleNamespace | None:
        """As of the screen, soon; as of the loop, after so many seconds."""
        if len(call) == 1:
            return call[0]()
        handle = SimpleNamespace(at=self.now + call[0], call=call[1])
        handle.cancel = lambda: self.handles.remove(handle)
        self.handles.append(handle)
        return handle

    def until(self, moment: float) -> list[tuple[float, int]]:
        """Let time pass; return what was polled meanwhile."""
        before = len(self.polls)
        while due := [one for one in self.handles if one.at <= moment]:
            first = min(due, key=lambda one: one.at)
            self.handles.remove(first)
            self.now = first.at
            first.call()
        self.now = moment
        return self.polls[before:]


def test_it_polls_less_often_while_nobody_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once at the first key, or when others write, and again at its pace from there on; a file that cannot be read
    is met by the poll."""
    rest = Rest(monkeypatch)
    assert rest.until(30.5)[-2:] == [(RESTING_SECONDS, 60), (RESTING_SECONDS + POLL_SECONDS, 61)]
    assert rest.until(60.5) == [(40.5, 80), (50.5, 100), (60.5, 120)]
    rest.used = 64
    rest.until(64)
    rest.polling.wake()
    assert rest.polls[-1] == (64, 127) and rest.until(65) == [(64.5, 128), (65, 129)]
    rest.polling.wake()
    assert rest.until(66) == [(65.5, 130), (66, 131)] and len(rest.handles) == 1, "it polls twice as often"
    rest.is_running = False
    assert rest.until(100) == [] and not rest.handles, "it goes on after the application ended"
    rest = Rest(monkeypatch)
    rest.until(41)
    rest.writes = True
    assert rest.until(50) == [(42.5, 84)], "as who looks on while an agent works sees"
    assert rest.until(63) == [(52.5, 100), (62.5, 120)]
    monkeypatch.setattr(rest.polling, "_written", lambda: 1 / 0)
    assert rest.until(65) == [(64.5, 124)]


@each("name, polls", PERIODS.items())
def test_what_is_due_at_rest_is_not_late(name: str, polls: int) -> None:
    """What is done at every so many polls would otherwise be done at a common multiple: an exchange after twice its
    minutes."""
    assert polls % POLLS_AT_REST == 0 or POLLS_AT_REST % polls == 0, name


async def test_what_nobody_misses_is_done_less_often_at_rest(monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    """Looks at evidence, backups and the model; not what others may have written, nor ages. The documents are told of
    a rest, which a key ends."""
    main, done = person.main, list[str]()
    used: list[bool] = []
    monkeypatch.setattr(main.polling, "wake", lambda: used.append(True))
    await person.press("down")
    assert used
    for rested, told in ((RESTING_SECONDS + 1, True), (0.0, False)):
        person.app._touched = monotonic() - rested
        main.polling.poll()
        assert main.engine.documents.resting is told
    monkeypatch.setattr(main, "load", lambda: done.append("ages"))
    monkeypatch.setattr(main, "was_written", lambda: False)
    monkeypatch.setattr(main.upkeep, "_look_after_backups", lambda make: done.append("backups"))
    monkeypatch.setattr(person.app.modeller, "check_status", lambda config: done.append("model"))
    monkeypatch.setattr(main, "in_background", lambda work, group: done.append(group))
    counts = {}
    for rested in (0.0, RESTING_SECONDS + 1):
        done.clear()
        person.app._touched = monotonic() - rested
        for count in range(1_200, 2_400):
            for step in main.polling._steps:
                step(count)
        counts[rested] = {name: done.count(name) for name in ("ages", "backups", "evidence", "model")}
    assert counts[0.0] == {"ages": 10, "backups": 10, "evidence": 20, "model": 20}
    assert counts[RESTING_SECONDS + 1] == {"ages": 1, "backups": 1, "evidence": 2, "model": 2}


def test_the_team_s_minutes_are_minutes() -> None:
    """They were half as long: the polls were counted as seconds."""
    exchanges: list[str] = []
    host: Any = SimpleNamespace(
        engine=SimpleNamespace(screen=SimpleNamespace(config={"team.minutes": "5"})),
        in_background=lambda work, group: exchanges.append(group),
    )
    controller = TeamController(host)
    for count in range(1, int(11 * 60 / POLL_SECONDS)):
        controller.poll(count)
    assert exchanges == ["team", "team"]


async def test_a_log_that_is_held_is_told(story: Story, monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    """Once, with what to do; above as long as it lasts; and again when it comes back."""
    monkeypatch.setattr(wal, "HELD_WAL_BYTES", 200_000)

    def told() -> bool:
        person.main.polling.poll()
        return "log held" in f"{person.lines[0]}{person.lines[1]}"

    assert not told()
    with Memory(story.location, "cli") as writer, Memory(story.location, "cli") as reader:
        for time_of in (1, 2):
            reader.database.connection.execute("BEGIN; SELECT count(*) FROM facts").fetchall()
            for number in range(30):
                writer.facts.remember(f"{time_of} number {number} {'x' * 4000}")
            await person.until(lambda: told() and person.toasts)
            person.main.polling.poll()
            said = [toast for toast in person.toasts if "close that program" in toast]
            assert len(said) == 1 and str(story.path) in said[0]
            person.app.clear_notifications()
            reader.database.connection.execute("COMMIT")
            assert writer.database.checkpoint_wal()
            await person.until(lambda: not told())


@each("texts, shown", [(1, []), (FEW_TEXTS, []), (FEW_TEXTS + 1, [f"indexing 1 of {FEW_TEXTS + 1}"])])
def test_only_what_takes_long_is_seen_to_be_indexed(texts: int, shown: list[str]) -> None:
    """At each fact that is added a line would flash up."""
    seen: list[str] = []
    embedder = SimpleNamespace(running=False, stopped=False, trouble="", progress=(0, 0))
    embedder.embed_pending = lambda progress, trouble: progress(1, texts)
    host = SimpleNamespace(engine=SimpleNamespace(embedder=embedder), vectors_came=lambda all_of_them: None)
    host.in_background = lambda work, *names: work()
    host.later = lambda function, *given: function(*given)
    host.draw_top = lambda: seen.append(controller._status[0])
    controller = EmbeddingController(cast("Any", host))
    controller.start()
    assert seen == shown
