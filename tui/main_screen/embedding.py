"""The main screen's embedding: what waits for its vector gets it beside everything else, and the top line says so."""

from __future__ import annotations

from textual import work

from tui.main_screen.upkeep import GIT, TendingScreen
from tui.theme.escape import visible
from tui.theme.pieces import Piece

FEW = 64  # texts, as many as are embedded in a moment
REASON = 48  # cells for why meaning is not to be had


class EmbeddingScreen(TendingScreen):
    """Embeds after the first rows, and whenever something waits."""

    _meaning = ("", "")  # how embedding goes, and what a click on it does
    _progress = (0, 0)  # texts that the model has read, of so many

    def _complete(self) -> None:
        super()._complete()
        self.embed()

    def _look(self) -> None:
        super()._look()
        engine = self.engine
        if engine is not None and self._looks % GIT == GIT // 2 and engine.embedder.due(engine.screen):
            self.embed()

    @work(thread=True, group="embedding", exit_on_error=False, description="embed what waits")
    def embed(self) -> None:
        """Let what waits for its vector get it."""
        engine = self.engine
        if engine is None or engine.embedder.running:
            return

        def progress(done: int, total: int) -> None:
            if total > FEW:
                self.later(self._more_meaning, done, total)

        def trouble(sentence: str) -> None:
            self.later(self._show_meaning, f"keywords only: {sentence}", "doctor")

        if engine.embedder.run(progress, trouble) is not None:
            self.later(self._embedded)

    def _more_meaning(self, done: int, total: int) -> None:
        """Show how far it is; who has not gone on to the hits yet is answered by what can be found by now."""
        self._progress = (done, total)
        self._show_meaning(f"meaning {done:,}/{total:,}", "leave")
        if self.has_class("-searching") and (not self.list_of("hits").rows or not self.entered):
            super().seek_again()

    @property
    def entered(self) -> bool:
        """Whether the person went on from the search bar."""
        return self.focused is None or self.focused.id != "query"

    @property
    def meaning_coming(self) -> str | None:
        """How far the model is that reads what is here, for the middle of a sentence; None when none does."""
        if self.engine is None or not self.engine.embedder.running:
            return None
        done, total = self._progress
        return f" ({done:,} of {total:,})" if done < total else ""

    def _embedded(self) -> None:
        """Show that what could be embedded is, and find by it."""
        if self.engine is not None and not self.engine.embedder.trouble:
            self._show_meaning("", "")
        super().seek_again()

    def under_way(self) -> list[Piece]:
        text, action = self._meaning
        if not text:
            return super().under_way()
        text = text if len(text) <= REASON else f"{text[: REASON - 1]}…"
        if self.form == "-narrow":
            text = text.partition(":")[0]
        return [*super().under_way(), (f"{visible(text)} ", "$text-warning", action)]

    def _show_meaning(self, text: str, action: str) -> None:
        self._meaning = (text, action)
        self._draw_top()

    def seek_again(self) -> None:
        """Vectors come by the batch, and their end is told: for them alone nothing is asked again."""
        engine = self.engine
        if engine is None or not engine.embedder.running or engine.newest_step() != self._step:
            super().seek_again()
