"""The main screen's learning: what was said in conversations is read beside everything else, and told when it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import work

from store.base.errors import MemorandaError
from tui.input.key_table import named
from tui.main_screen.embedding import EmbeddingScreen

if TYPE_CHECKING:
    from store.learning.rule_pass import RulePassResult

LOOKS = 4  # after which it is looked whether something was said


class LearningScreen(EmbeddingScreen):
    """Reads what waits after the first rows, and whenever something was said."""

    _learning = False
    _model_reads = False

    def _complete(self) -> None:
        super()._complete()
        self._learn_if_due()

    def _look(self) -> None:
        super()._look()
        if self._looks % LOOKS == 0:
            self._learn_if_due()

    def _learn_if_due(self) -> None:
        if self.engine is not None and not self._learning and self.engine.learner.due(self.engine.screen):
            self._learning = True
            self._learn()
        if self.engine is not None and not self._model_reads and self.engine.learner.due_for_model(self.engine.screen):
            self._model_reads = True
            self._let_model_read()

    @work(thread=True, group="learning", exit_on_error=False, description="read what was said")
    def _learn(self) -> None:
        try:
            done = self.engine.learner.run() if self.engine is not None else None
        except MemorandaError as error:
            self.later(self.say, f"What was said could not be read: {error}", "warning")
            done = None
        self.later(self._learned, done)

    @work(thread=True, group="model", exit_on_error=False, description="let the model read what was said")
    def _let_model_read(self) -> None:
        try:
            asked = self.engine.learner.run_model().asked if self.engine is not None else ()
        except MemorandaError as error:
            self.later(self.say, f"The model could not read what was said: {error}", "warning")
            asked = ()
        self.later(self._model_read, asked)

    def _model_read(self, asked: tuple[int, ...]) -> None:
        self._model_reads = False
        if said := told((), asked):
            self.say(said, timeout=8)

    def _learned(self, done: tuple[RulePassResult, int] | None) -> None:
        self._learning = False
        if done is None:
            return
        read, asked = done
        if asked:
            waits = "a question waits" if asked == 1 else f"{asked:,} questions wait"
            self.say(f"Something like what you remembered is known: {waits} in the inbox.", timeout=8)
        if said := told(read.learned.facts, read.learned.proposed):
            self.say(said, timeout=8)


def told(facts: Sequence[int], asked: Sequence[int]) -> str:
    """What was learned, in a sentence; empty if nothing was. What was confirmed is seen by its age."""
    parts = []
    if facts:
        parts.append(f"Learned {len(facts)} fact{'' if len(facts) == 1 else 's'} from what was said")
    if asked:
        waits = f"{len(asked)} question{' waits' if len(asked) == 1 else 's wait'} in the inbox"
        parts.append(waits if facts else f"From what was said {waits}")
    if not parts:
        return ""
    back = f" ({named('step.undo-all')} on one takes back all of its conversation)" if facts else ""
    return ", ".join(parts) + back
