"""Documents, backups and git: reads what changed, makes the daily backup, keeps the timeline up to git."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from store import MemorandaError
from tui.input.key_table import named
from tui.panes.host import Host
from tui.render.plurals import count as counted

if TYPE_CHECKING:
    from tui.theme.pieces import Piece
    from tui.workers.engine import Engine

GIT = 4  # looks after which it is asked whether git has something new
BACKUPS = 120  # looks after which it is asked whether a backup is due
MANY = 200  # commits or documents from which on the progress is shown


class UpkeepHost(Host, Protocol):
    """What upkeep needs of the screen."""

    @property
    def counts(self) -> dict[str, int]: ...
    def set_status(self, status: str) -> None: ...
    def set_backups(self, trouble: str) -> None: ...


class UpkeepController:
    """Reads documents and git, and makes backups, on worker threads."""

    def __init__(self, host: UpkeepHost) -> None:
        self.host = host
        self._git_is_read = True  # or looked at
        self._welcomed = False

    def start(self) -> None:
        self.read_documents(first=True)
        self._look_after_backups(make=False)

    def poll(self, count: int) -> None:
        engine = self.host.engine
        if engine is None:
            return
        if count % BACKUPS == 0:
            self._look_after_backups(make=True)
        if count % GIT == 0 and not self._git_is_read:
            self._git_is_read = True
            self.host.in_background(lambda: self._watch_git(engine), "git", "look whether git has something new")
            if engine.documents.due():
                self.read_documents()

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        if self.host.engine is None or not self.host.engine.upkeep.stop_reading_git():
            return False
        self.host.say("Stopped reading git; what was read stays, and the next start goes on.")
        return True

    def opened(self, engine: Engine) -> None:
        """On the thread that opened the memory: read git for the first time, then welcome who started a memory."""
        self._catch_up(engine)
        self.host.later(self._git_was_read)
        if engine.created:
            self.host.later(self._welcome, engine)

    def _quiet(self, engine: Engine) -> bool:
        """Whether what was read is said by the welcome that is still to come."""
        return engine.created and not self._welcomed

    def read_documents(self, first: bool = False) -> None:
        """Read what changed of the documents; `first`, from then on whenever they change."""
        self.host.in_background(lambda: self._read_documents(first), "documents", "read the documents that changed")

    def _read_documents(self, first: bool) -> None:
        engine = self.host.engine
        if engine is None:
            return

        def progress(done: int, total: int) -> None:
            if total > MANY:
                text = f"reading documents {done:,} of {total:,}" if done < total else ""
                self.host.later(self.host.set_status, text)

        def trouble(sentence: str) -> None:
            self.host.later(self.host.say, sentence, "warning", 8)

        try:
            result = engine.documents.scan(progress, trouble)
            if first:
                engine.documents.watch(trouble)
        except MemorandaError as error:
            self.host.later(self.host.say, f"The documents could not be read: {error}", "warning")
            return
        if first and result is not None and result.new and not self._quiet(engine):
            self.host.later(self.host.say, f"Read {counted(result.new, 'new document')}.")

    def _look_after_backups(self, make: bool) -> None:
        self.host.in_background(lambda: self._backups(make), "backups", "make the daily backup, if it is due")

    def _backups(self, make: bool) -> None:
        """Say what is wrong with the backups; with `make`, make the one that is due first."""
        engine = self.host.engine
        if engine is None:
            return
        try:
            if make:
                engine.upkeep.keep_backups()
            trouble = engine.upkeep.backups_trouble()
        except MemorandaError as error:
            trouble = "no backup"
            self.host.later(self.host.say, f"No backup could be made: {error}", "warning", 8)
        self.host.later(self.host.set_backups, trouble)

    def _catch_up(self, engine: Engine, watching: bool = False) -> None:
        """On a worker thread: read the commits that the timeline lacks; `watching`, if git has changed."""

        def progress(done: int, total: int) -> None:
            if total > MANY:
                text = f"reading git {done:,} of {total:,}, {named('screen.leave')} stops" if done < total else ""
                self.host.later(self.host.set_status, text)

        def trouble(sentence: str) -> None:
            self.host.later(self.host.say, sentence, "warning")

        try:
            if watching:
                engine.upkeep.clean_up()
            changed = engine.upkeep.git_changed()  # first, so that nothing falls between this look and the reading
            if watching and not changed:
                return
            new = engine.upkeep.catch_up(progress, trouble)
        except MemorandaError as error:
            self.host.later(self.host.say, f"The timeline could not catch up with git: {error}", "warning")
            return
        self.host.later(self.host.set_status, "")
        if new and not self._quiet(engine):
            self.host.later(self.host.say, f"Read {counted(new, 'new commit')} from git.")

    def _watch_git(self, engine: Engine) -> None:
        self._catch_up(engine, watching=True)
        self.host.later(self._git_was_read)

    def _git_was_read(self) -> None:
        self._git_is_read = False

    def _welcome(self, engine: Engine) -> None:
        """Say what the first start found and did."""
        self._welcomed = True
        if not self.host.counts.get("active") and self.host.pane.record is None:
            self.host.pane.read_out(engine.welcome(), focus=False)
