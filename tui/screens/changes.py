"""What the keys do to the memory: each hands its work to the pen, says what was done, and shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.errors import MemorandaError
from store.models import Decision, Fact
from tui.engine import touched

if TYPE_CHECKING:
    from store.memory import Memory
    from tui.screens.main import MainScreen

JOURNAL = "Only facts and decisions can be changed; the rest is a journal of what happened."


def forget(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Fact):
        screen.hide_fact(record.id)
        _write(screen, lambda memory: memory.facts.forget([record.id]), "Forgot 1 fact, u to undo", back=record.id)
    elif isinstance(record, Decision):
        _write(screen, lambda memory: memory.decisions.forget([record.id]), "Forgot 1 decision, u to undo")
    elif record is not None:
        screen.say(JOURNAL, "warning")


def confirm(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Fact):
        said = f"Confirmed {record.citation}, u to undo"
        _write(screen, lambda memory: memory.facts.confirm([record.id]), said)
    elif record is not None:
        screen.say("Only facts age, so only facts are confirmed.", "warning")


def pin(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Fact):
        said = f"{'Unpinned' if record.pinned else 'Pinned'} {record.citation}, u to undo"
        _write(screen, lambda memory: memory.facts.pin([record.id], not record.pinned), said)
    elif record is not None:
        screen.say("Only facts age, so only facts are pinned.", "warning")


def add(screen: MainScreen) -> None:
    domain = screen.view.domain or "general"

    def answer(text: str) -> None:
        if text.strip():
            _write(screen, lambda memory: memory.facts.remember(text, domain=domain), _remembered)

    screen.ask("remember" if domain == "general" else f"remember ({domain})", "", answer)


def _remembered(result: object) -> tuple[str, int | None]:
    number, new = result if isinstance(result, tuple) else (0, True)
    said = f"Remembered F#{number}, u to undo" if new else f"F#{number} was known already: confirmed, u to undo"
    return said, number


def correct(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Fact):
        fact = record
        screen.ask(
            f"correct {fact.citation}",
            fact.fact,
            lambda text: _write(
                screen,
                lambda memory: memory.facts.correct(fact.id, text),
                lambda new: (f"Corrected {fact.citation}, u to undo", new if isinstance(new, int) else None),
            ),
        )
    elif isinstance(record, Decision):
        decision = record
        screen.ask(
            f"{decision.citation} now chooses",
            decision.chosen,
            lambda text: _write(
                screen,
                lambda memory: memory.decisions.correct(decision.id, text),
                f"Superseded {decision.citation}, u to undo",
            ),
        )
    elif record is not None:
        screen.say(JOURNAL, "warning")


def undo(screen: MainScreen) -> None:
    _take_back(screen, lambda memory: memory.history.undo(), "Took back")


def redo(screen: MainScreen) -> None:
    _take_back(screen, lambda memory: memory.history.redo(), "Put back")


def _take_back(screen: MainScreen, work: Callable[[Memory], object], said: str) -> None:
    def stepped(memory: Memory) -> object:
        step = work(memory)
        return f"{said}: {step.reason}", touched(step, memory)  # type: ignore[attr-defined, arg-type]

    _write(screen, stepped, lambda result: result)  # type: ignore[arg-type, return-value]


def _write(
    screen: MainScreen,
    work: Callable[[Memory], object],
    said: str | Callable[[object], tuple[str, int | None]],
    back: int | None = None,
) -> None:
    """Do `work` with the pen; then say `said`, and put the cursor on the fact that it names, if it names one; on the
    fact `back` if it failed."""

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.say(str(error), "error", timeout=8)
            screen.refresh_records(back)
            return
        words, number = (said, None) if isinstance(said, str) else said(result)
        screen.say(words, alone=True)
        screen.refresh_records(number)

    if screen.engine is not None:
        screen.engine.write(work, done)
