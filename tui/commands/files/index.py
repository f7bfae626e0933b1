"""index."""

import sys
import time

from tui.commands import Outcome, Session
from tui.commands.interrupt import Interrupt
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from store.memory import Memory
    from tui.input.argument_parser import ParsedArguments

RATED = 2.0  # seconds from which on the rate is shown


def index(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.errors import Conflict, ForeignFile, InvalidInput
    from store.embedding.vectors import Vectors
    from store.search import corpus

    database = session.memory.database
    if given.what == "documents":
        from tui.commands.files.documents import scan

        return scan(session)
    if given.what not in (None, "rebuild", "download"):
        raise InvalidInput("index is checked, or rebuilt, or reads the documents.", "memoranda index rebuild")
    if given.what == "download":
        from store.embedding.providers import fastembed

        config = session.memory.config
        fastembed.download(
            config["embedding.model"] if config["embedding.provider"] == fastembed.FastEmbed.name else ""
        )
    embedding = _Embedding()
    embedding.read(session)
    if given.what == "rebuild":
        rows = corpus.rebuild(database)
        Vectors(database).rebuild()
        said = f"Made the index again: {count(rows, 'record')}."
    else:
        try:
            rows = corpus.check(database)
        except ForeignFile:
            raise Conflict(
                "The search index does not agree with the records.", "memoranda index rebuild mends it."
            ) from None
        said = f"The index agrees with the records: {count(rows, 'record')}."
    embedding.embed(session.memory)
    if embedding.left and not embedding.stopped:
        said = f"{said} {embedding.waits}."
    return Outcome(said, lambda: {"records": rows, **embedding.data}, embedding.lines, status=embedding.status)


class _Embedding:
    """Read git's history and the documents to their end, and embed all pending records, with progress on a terminal,
    until ^C. In the application, which does both in the background, only report how many are pending."""

    def __init__(self) -> None:
        from threading import current_thread, main_thread

        self._works = current_thread() is main_thread()
        self.status = 0
        self.stopped = False
        self.notes: list[str] = []
        self.embedded = 0
        self.left = 0

    def read(self, session: Session) -> None:
        """Read what no command has read yet: another would read for two seconds."""
        from store.base.errors import MemorandaError
        from store.services import maintenance

        memory = session.memory
        if not self._works:
            return
        with Interrupt() as interrupt:
            try:
                maintenance.start(
                    memory, session.cwd, _progress("reading commits"), lambda: interrupt.asked, self.notes.append
                )
                memory.documents.scan(cancelled=lambda: interrupt.asked)
            except MemorandaError as error:
                self.notes.append(str(error))
        self.stopped = interrupt.asked

    def embed(self, memory: "Memory") -> None:
        """Embed what is pending, unless stopped before, and count what is left."""
        from store.embedding.vectors import Vectors

        if self._works and not self.stopped:
            self._work(memory)
        self.left, _ = Vectors(memory.database).pending()
        self.status = 130 if self.stopped else 0

    @property
    def data(self) -> dict[str, object]:
        return {"embedded": self.embedded, "left": self.left, "notes": self.notes}

    @property
    def lines(self) -> list[str]:
        lines = [f"Embedded {count(self.embedded, 'text')}."] if self.embedded else []
        lines += self.notes
        if self.stopped and self.left:
            lines.append(f"Stopped: {self.waits}; memoranda index continues.")
        return lines

    @property
    def waits(self) -> str:
        return f"{count(self.left, 'text')} {'waits' if self.left == 1 else 'wait'} to be embedded"

    def _work(self, memory: "Memory") -> None:
        from store.base.errors import MemorandaError
        from store.services import background_embedding

        fallback = memory.config["embedding.fallback"] != "none"  # only asking tells whether it is wanted
        if not (fallback or background_embedding.waiting(memory) or background_embedding.other_provider(memory)):
            return
        with Interrupt() as interrupt:
            try:
                result = background_embedding.embed(
                    memory, _progress("embedding"), lambda: interrupt.asked, self.notes.append
                )
                if result is None:
                    self.notes.append("Another program is indexing already.")
                else:
                    self.embedded = result.embedded + result.reused
            except MemorandaError as error:
                self.notes.append(str(error))
        self.stopped = interrupt.asked


def _progress(what: str) -> "Callable[[int, int], None]":
    """Return a function that shows progress on one line of the terminal, if there is one, with the rate after RATED
    seconds, and clears it at the end."""
    began: list[tuple[int, float]] = []

    def show(done: int, total: int) -> None:
        if not began:
            began.append((done, time.monotonic()))
        first, start = began[0]
        seconds = time.monotonic() - start
        rate = f", {(done - first) / seconds:,.0f} a second" if seconds >= RATED and done > first else ""
        text = f"{what} {done:,} of {total:,}{rate}; ^C stops" if done < total else ""
        print(f"\r\x1b[K{text}", end="", flush=True, file=sys.stderr)

    return show if sys.stderr.isatty() else _quiet


def _quiet(done: int, total: int) -> None:
    """Ignore progress, where there is no terminal."""
