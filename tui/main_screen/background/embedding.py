"""Embed new texts, and show the progress in the top line."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from tui.input.key_table import named
from tui.main_screen.background.upkeep import GIT
from tui.panes.host import Host
from tui.theme.escape import visible

if TYPE_CHECKING:
    from tui.theme.pieces import Piece

FEW = 64  # texts: as many are embedded at once, without progress
RATED = 2.0  # seconds from which on the rate is shown
REASON = 48  # cells for the reason why there is no search by meaning


class EmbeddingHost(Host, Protocol):
    """The interface that embedding needs of the screen."""

    def vectors_came(self, all_of_them: bool) -> None: ...


class EmbeddingController:
    """Embeds after the first rows, and whenever a text is pending."""

    def __init__(self, host: EmbeddingHost) -> None:
        self.host = host
        self._status = ("", "")  # (status text, action of a click on it)
        self._progress = (0, 0)  # (embedded texts, all texts)
        self._began = (0, 0.0)  # the same at the start of this run, and when that was

    def start(self) -> None:
        self.embed()

    def poll(self, count: int) -> None:
        engine = self.host.engine
        if engine is not None and count % GIT == 0 and engine.embedder.due(engine.screen):
            self.embed()

    def pieces(self) -> Sequence[Piece]:
        text, action = self._status
        if not text:
            return ()
        text = text if len(text) <= REASON else f"{text[: REASON - 1]}…"
        if self.host.form == "-narrow":
            text = text.partition(":")[0]
        return [(f"{visible(text)} ", "$text-warning", action)]

    def leave(self) -> bool:
        return False  # Escape leaves what is on the screen: work beside it goes on

    def action_index(self) -> None:
        """Stop indexing, or go on."""
        engine = self.host.engine
        if engine is None:
            return
        if engine.embedder.stop():
            self._show("indexing stopped", "index")
            self.host.say(f"Stopped indexing; what was indexed stays, and {named('index.toggle')} or :index goes on.")
        elif engine.embedder.due(engine.screen, resumed=True):
            engine.embedder.resume()
            self.embed()
        else:
            self.host.say("Nothing waits to be indexed.")

    def embed(self) -> None:
        """Embed the pending texts."""
        self.host.in_background(self._embed, "embedding", "embed what waits")

    def _embed(self) -> None:
        engine = self.host.engine
        if engine is None or engine.embedder.running:
            return

        def progress(done: int, total: int) -> None:
            if total > FEW:
                self.host.later(self._advanced, done, total)

        def trouble(sentence: str) -> None:
            self.host.later(self._show, f"keywords only: {sentence}", "doctor")

        if engine.embedder.run(progress, trouble) is not None:
            self.host.later(self._ended)

    @property
    def under_way(self) -> str | None:
        """Return the progress as part of a sentence; None while nothing is embedded."""
        if self.host.engine is None or not self.host.engine.embedder.running:
            return None
        done, total = self._progress
        return f" ({done:,} of {total:,})" if done < total else ""

    def announces(self, step: int) -> bool:
        """Return whether only embeddings can have been added since this step of history: they arrive in batches,
        reported by `vectors_came`."""
        engine = self.host.engine
        return engine is not None and engine.embedder.running and engine.newest_step() == step

    def _advanced(self, done: int, total: int) -> None:
        if done < self._progress[0] or not self._began[1]:
            self._began = (done, monotonic())
        self._progress = (done, total)
        seconds = monotonic() - self._began[1]
        rate = (done - self._began[0]) / seconds if seconds >= RATED else 0.0
        if self.host.engine is not None and not self.host.engine.embedder.stopped:  # it ends with a last batch
            self._show(f"indexing {done:,} of {total:,}" + (f", {rate:,.0f}/s" if rate else ""), "index")
        self.host.vectors_came(False)

    def _ended(self) -> None:
        self._began = (0, 0.0)
        engine = self.host.engine
        if engine is not None and not engine.embedder.trouble and not engine.embedder.stopped:
            self._show("", "")
        self.host.vectors_came(True)

    def _show(self, text: str, action: str) -> None:
        self._status = (text, action)
        self.host.draw_top()
