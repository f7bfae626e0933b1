"""The main screen is one screen with controllers: what each may hold, whose actions are whose, one call an event."""

import os
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.screen import WIDE, Person, opened
from support.stories import Clock, Story
from textual.app import App

from tui.actions.action_table import ACTIONS
from tui.app import Memoranda
from tui.input.key_table import KEYS
from tui.main_screen import background, lists
from tui.main_screen.background import TeamController
from tui.main_screen.controller import POLL_SECONDS, POLLS_AT_REST, RESTING_SECONDS, Polling, adopt_actions, try_steps
from tui.main_screen.screen import MainScreen
from tui.screens.base import ResponsiveScreen

PERIODS = {
    name: polls for module in (background, lists) for name, polls in vars(module).items() if name.endswith("_POLLS")
}


def test_the_screen_is_one_class():
    """Of its own there is one class above Textual's: no chain."""
    own = [base for base in MainScreen.__mro__ if base.__module__.startswith("tui.")]
    assert own == [MainScreen, ResponsiveScreen]
    handlers = {name for name in vars(MainScreen) if name.startswith("on_")}
    assert not handlers & set(vars(ResponsiveScreen)), "Textual calls a handler of every class that has one"


async def test_no_controller_holds_the_screen_class_or_another_controller(person: Person):
    """A controller has its own state and a host; what it needs of a neighbour it asks of the host."""
    screen = person.main
    parts = [*vars(screen).values(), *screen.tasks, *screen.pane_controllers]
    controllers = [part for part in parts if type(part).__name__.endswith("Controller")]
    assert len(controllers) >= 20
    for controller in controllers:
        kept = [value for name, value in vars(controller).items() if name != "host"]
        assert not any(value is screen or value in controllers for value in kept), controller


async def test_an_event_is_handled_once(monkeypatch: pytest.MonkeyPatch, person: Person):
    """A change of focus is looked at once, whoever had the keys: Textual calls the handler of every base class."""
    screen, calls = person.main, []
    moved = screen.navigation.focus_moved
    monkeypatch.setattr(screen.navigation, "focus_moved", lambda: (calls.append(person.at), moved()))
    await person.press("tab")
    assert calls == ["timeline"]
    await person.press("8")
    assert calls == ["timeline", "librarian"]
    await person.press("1")
    assert calls == ["timeline", "librarian", "facts"]


async def test_keys_that_come_before_the_panes_do_no_harm(story: Story, monkeypatch: pytest.MonkeyPatch):
    """The first rows are shown before the other panes and the lines to type in are mounted."""
    monkeypatch.setattr(MainScreen, "_complete", lambda screen: None)
    app = Memoranda(story.location, os.fspath(story.folder), Clock())
    async with app.run_test(size=WIDE) as pilot:
        person = Person(app, pilot)
        await person.until(lambda: person.main.engine is not None and person.rows)
        for key in ("8", "A", "6", "tab", "Y", "slash", "colon", "space", "v", "n", "w", "H", "escape", "escape", "1"):
            await pilot.press(key)
        assert person.at == "facts" and app.is_running
    app.modeller.close()


def test_the_model_may_report_before_the_first_frame(story: Story):
    """As one does that was being downloaded when another memory was opened."""
    MainScreen(story.location, os.fspath(story.folder)).model_told()


def test_an_action_has_one_owner():
    """A controller's actions become the screen's; a name that exists is refused, one of Textual's too."""
    one = SimpleNamespace(action_sort=lambda: "one")
    screen = SimpleNamespace(action_help_quit=lambda: None)
    adopt_actions(screen, one)
    assert screen.action_sort() == "one"
    with pytest.raises(ValueError, match="action_sort"):
        adopt_actions(screen, SimpleNamespace(action_sort=lambda: "two"))
    with pytest.raises(ValueError, match="action_quit"):
        adopt_actions(App(), SimpleNamespace(action_quit=lambda: None))


async def test_every_action_exists(story: Story):
    """Those of the keys, and those of clicks on pieces of text; what the keys do in `tui.actions` too."""
    pieces = {"answer", "complete", "leave_bar", "agree", "to_hits", "leave", "leave_search", "sources", "unmark"}
    pieces |= {"submit_question", "come_back", "open_memory", "search_for('x')", "doctor", "show_all"}
    pieces |= {"only('state', 'stale')", "complete_filter('is:stale')", "change('history.since')"}
    async with opened(story.folder, WIDE) as person:
        for action in {key.action for key in KEYS} | pieces:
            name, _, argument = action.partition("(")
            owner = person.app if name.startswith("app.") else person.main
            assert callable(getattr(owner, f"action_{name.removeprefix('app.')}", None)), action
            if name in ("change", "ask_for"):
                assert argument.strip("')") in ACTIONS, action


def test_the_first_step_with_something_to_do_is_the_last():
    done: list[str] = []

    def step(name: str, result: bool) -> bool:
        done.append(name)
        return result

    assert try_steps([lambda: step("a", False), lambda: step("b", True), lambda: step("c", True)])
    assert done == ["a", "b"] and not try_steps([lambda: step("d", False)])


def test_polling_counts_and_goes_on_after_a_file_that_cannot_be_read():
    """Other errors are not swallowed."""
    unreadable = type("IOError", (Exception,), {"__module__": "apsw"})
    counts: list[int] = []
    failed: list[BaseException] = []

    def step(count: int) -> None:
        counts.append(count)
        if count == 2:
            raise unreadable
        if count == 4:
            raise ZeroDivisionError

    polling = Polling((step,), failed.append)
    for _ in range(3):
        polling.poll()
    assert counts == [1, 2, 3] and [type(error) for error in failed] == [unreadable]
    with pytest.raises(ZeroDivisionError):
        polling.poll()


def test_at_rest_one_poll_stands_for_several_and_none_that_is_due_is_left_out() -> None:
    counts: list[int] = []
    polling = Polling((counts.append,), lambda error: None)
    for polls in (1, 1, 1, POLLS_AT_REST, POLLS_AT_REST, 1, 4, POLLS_AT_REST - 6, 3, 3):
        polling.poll(polls)
    two = 2 * POLLS_AT_REST
    three = 3 * POLLS_AT_REST
    assert counts == [1, 2, 3, POLLS_AT_REST, two, two + 1, two + 5, two + POLLS_AT_REST - 1, three, three + 3]


class Rest:
    """A loop whose time passes when it is told, and a screen on it: what is polled, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("asyncio.get_running_loop", lambda: self)
        self.now, self.used, self.is_running, self.writes = 0.0, 0.0, True, False
        self.handles: list[SimpleNamespace] = []
        self.polls: list[tuple[float, int]] = []
        self.polling = Polling((self._step,), lambda error: None, self._written)
        self.polling.start_polling(cast("Any", self), lambda: self.now - self.used > RESTING_SECONDS)

    def _step(self, count: int) -> None:
        self.polls.append((self.now, count))

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
    rest = Rest(monkeypatch)
    assert rest.until(RESTING_SECONDS + POLL_SECONDS)[-2:] == [
        (RESTING_SECONDS, 60),
        (RESTING_SECONDS + POLL_SECONDS, 61),
    ]
    assert rest.until(RESTING_SECONDS + POLL_SECONDS + 30) == [(40.5, 80), (50.5, 100), (60.5, 120)]
    rest.is_running = False
    assert rest.until(100) == [] and not rest.handles, "it goes on after the application ended"


def test_it_polls_at_once_at_the_first_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """And again at its pace from there on."""
    rest = Rest(monkeypatch)
    rest.until(44)
    rest.used = 44
    rest.polling.wake()
    assert rest.polls[-1] == (44, 87) and rest.until(45) == [(44.5, 88), (45, 89)]
    rest.polling.wake()
    assert rest.until(46) == [(45.5, 90), (46, 91)] and len(rest.handles) == 1, "it polls twice as often"


def test_it_sees_soon_what_others_write_while_nobody_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As who looks on while an agent works does."""
    rest = Rest(monkeypatch)
    rest.until(41)
    rest.writes = True
    assert rest.until(50) == [(42.5, 84)]
    assert rest.until(63) == [(52.5, 100), (62.5, 120)]


def test_a_file_that_cannot_be_read_at_rest_is_met_by_the_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = Rest(monkeypatch)
    rest.until(41)
    monkeypatch.setattr(rest.polling, "_written", lambda: 1 / 0)
    assert rest.until(43) == [(42.5, 84)]


@pytest.mark.parametrize("polls", PERIODS.values(), ids=PERIODS)
def test_what_is_due_at_rest_is_not_late(polls: int) -> None:
    """What is done at every so many polls would otherwise be done at a common multiple: an exchange after twice its
    minutes."""
    assert polls % POLLS_AT_REST == 0 or POLLS_AT_REST % polls == 0


async def test_what_nobody_misses_is_done_less_often_at_rest(monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    """Ages by the minute, looks at evidence, backups and the model; not what others may have written."""
    main = person.main
    assert main.engine is not None
    done: list[str] = []
    monkeypatch.setattr(main.lists, "reload", lambda: done.append("ages"))
    monkeypatch.setattr(main.lists, "was_written", lambda: False)
    monkeypatch.setattr(main.upkeep, "_look_after_backups", lambda make: done.append("backups"))
    monkeypatch.setattr(person.app.modeller, "check_status", lambda config: done.append("model"))
    monkeypatch.setattr(main, "in_background", lambda work, group, *names, **more: done.append(group))
    counts = {}
    for rested in (0.0, RESTING_SECONDS + 1):
        done.clear()
        person.app._touched = monotonic() - rested
        for count in range(1_200, 2_400):
            main.lists._aged, main.lists.rested = False, 0.0  # a load was quick, and showed every age
            for step in main.polling._steps:
                step(count)
        counts[rested] = {name: done.count(name) for name in ("ages", "backups", "evidence", "model")}
    assert counts[0.0] == {"ages": 10, "backups": 10, "evidence": 20, "model": 20}
    assert counts[RESTING_SECONDS + 1] == {"ages": 1, "backups": 1, "evidence": 2, "model": 2}


async def test_a_key_ends_the_rest(monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    used: list[bool] = []
    monkeypatch.setattr(person.main.polling, "wake", lambda: used.append(True))
    await person.press("down")
    assert used


async def test_the_documents_are_told_of_a_rest(person: Person) -> None:
    assert person.main.engine is not None
    for rested, told in ((RESTING_SECONDS + 1, True), (0.0, False)):
        person.app._touched = monotonic() - rested
        person.main.poll()
        assert person.main.engine.documents.resting is told


def test_the_team_s_minutes_are_minutes() -> None:
    """They were half as long: the polls were counted as seconds."""
    exchanges: list[str] = []
    host: Any = SimpleNamespace(
        engine=SimpleNamespace(screen=SimpleNamespace(config={"team.minutes": "5"})),
        in_background=lambda work, group, description, exclusive: exchanges.append(group),
    )
    controller = TeamController(host)
    for count in range(1, int(11 * 60 / POLL_SECONDS)):
        controller.poll(count)
    assert exchanges == ["team", "team"]
