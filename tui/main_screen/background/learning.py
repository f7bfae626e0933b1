"""Learn facts from conversations: process pending turns by rules, then by the model, and report what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from tui.input.key_table import named

if TYPE_CHECKING:
    from store.learning.rule_pass import RulePassResult
    from tui.panes.host import Host
    from tui.theme.pieces import Piece

LOOKS = 4  # polls between two checks for pending turns


class LearningController:
    """Processes pending turns after the first rows, and whenever there are new ones."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._rules_run = False  # whether the rules are running
        self._model_runs = False

    def start(self) -> None:
        self._learn_if_due()

    def poll(self, count: int) -> None:
        if count % LOOKS == 0:
            self._learn_if_due()

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        return False

    def _learn_if_due(self) -> None:
        engine = self.host.engine
        if engine is not None and not self._rules_run and engine.learner.due(engine.screen):
            self._rules_run = True
            self.host.in_background(self._run_rules, "learning", "read waiting turns")
        if engine is not None and not self._model_runs and engine.learner.due_for_model(engine.screen):
            self._model_runs = True
            self.host.in_background(self._run_model, "model", "let the model read waiting turns")

    def _run_rules(self) -> None:
        engine = self.host.engine
        try:
            done = engine.learner.run() if engine is not None else None
        except MemorandaError as error:
            self.host.later(self.host.say, f"What was said could not be read: {error}", "warning")
            done = None
        self.host.later(self._learned, done)

    def _run_model(self) -> None:
        engine = self.host.engine
        try:
            proposed = engine.learner.run_model().asked if engine is not None else ()
        except MemorandaError as error:
            self.host.later(self.host.say, f"The model could not read what was said: {error}", "warning")
            proposed = ()
        self.host.later(self._model_read, proposed)

    def _model_read(self, proposed: tuple[int, ...]) -> None:
        self._model_runs = False
        if text := summary((), proposed):
            self.host.say(text, timeout=8)

    def _learned(self, done: tuple[RulePassResult, int] | None) -> None:
        self._rules_run = False
        if done is None:
            return
        read, duplicates = done
        if duplicates:
            waits = "a question waits" if duplicates == 1 else f"{duplicates:,} questions wait"
            self.host.say(f"Similar facts are known already: {waits} in the inbox.", timeout=8)
        if text := summary(read.learned.facts, read.learned.proposed):
            self.host.say(text, timeout=8)


def summary(facts: Sequence[int], proposed: Sequence[int]) -> str:
    """Summarise what was learned in a sentence; empty if nothing was. Facts that were merely confirmed are not
    counted."""
    parts = []
    if facts:
        parts.append(f"Learned {len(facts)} fact{'' if len(facts) == 1 else 's'} from what was said")
    if proposed:
        waits = f"{len(proposed)} question{' waits' if len(proposed) == 1 else 's wait'} in the inbox"
        parts.append(waits if facts else f"From what was said {waits}")
    if not parts:
        return ""
    undo = f" ({named('step.undo-all')} on one undoes all of its conversation)" if facts else ""
    return ", ".join(parts) + undo
