"""Documents, backups and git: index changes, create the daily backup, keep the timeline up to date with git."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.widgets import Input

from store.base.errors import MemorandaError
from tui.input.key_table import named
from tui.main_screen.controller import pace
from tui.panes.host import Host
from tui.render.plurals import count as counted

if TYPE_CHECKING:
    from store.sync.file_run import SyncReport
    from tui.theme.pieces import Piece
    from tui.workers.engine import Engine
    from tui.workers.first_start import Ledger

GIT = 4  # polls between two checks for git changes
SETTINGS = 60  # … and between two that open the memory, as its settings may say otherwise by then
BACKUPS = 120  # polls between two checks for a due backup
EVIDENCE = 60  # polls between two looks at what facts and decisions rest on
MANY = 200  # commits or documents; from this many on, progress is shown


class UpkeepHost(Host, Protocol):
    """The interface that upkeep needs of the screen."""

    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def is_current(self) -> bool: ...
    def model_forms(self) -> Sequence[Sequence[Piece]]: ...
    def refresh_records(self) -> None: ...
    def set_status(self, status: str) -> None: ...
    def set_backups(self, trouble: str) -> None: ...


class UpkeepController:
    """Indexes documents, reads git and creates backups, on worker threads."""

    def __init__(self, host: UpkeepHost) -> None:
        self.host = host
        self._git_is_read = True  # or checked
        self._welcomed = False

    def start(self) -> None:
        self.read_documents(first=True)
        self._look_after_backups(make=False)

    def poll(self, count: int) -> None:
        engine = self.host.engine
        if engine is None:
            return
        engine.documents.resting = self.host.app.resting  # type: ignore[attr-defined]
        app = self.host.app
        if count % pace(BACKUPS, app) == 0:
            self._look_after_backups(make=True)
        if count % pace(EVIDENCE, app) == 0:
            self.host.in_background(
                lambda: self._idle(engine), "evidence", "look at the evidence, and write the daily log"
            )
        if count % GIT == 0 and not self._git_is_read:
            self._git_is_read = True
            if count % pace(SETTINGS, app):
                # not a worker of Textual's, which costs ten times what it looks at
                looked = asyncio.get_running_loop().run_in_executor(None, engine.upkeep.git_moved)
                looked.add_done_callback(partial(self._git_looked_at, engine))
            else:
                self._read_git(engine)
            if engine.documents.due(engine.present):
                self.read_documents()

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        if self.host.engine is None or not self.host.engine.upkeep.stop_reading_git():
            return False
        self.host.say("Stopped reading git; what was read stays, and the next start goes on.")
        return True

    def opened(self, engine: Engine) -> None:
        """Read git for the first time, then show the welcome if the memory is new. Runs on the thread that opened the
        memory."""
        self._catch_up(engine)
        self._verify(engine)
        self.host.later(self._git_was_read)
        if engine.created:
            self._read_ledger(engine)

    def _quiet(self, engine: Engine) -> bool:
        """Return whether the welcome, shown later, reports what was read."""
        return engine.created and not self._welcomed

    def read_documents(self, first: bool = False) -> None:
        """Index changed documents; with `first`, also whenever they change from then on."""
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

        engine.documents.synced = self._synced
        try:
            result = engine.documents.scan(progress, trouble)
            if first:
                engine.documents.watch(trouble)
        except MemorandaError as error:
            self.host.later(self.host.say, f"The documents could not be read: {error}", "warning")
            return
        if first and result is not None and result.new and not self._quiet(engine):
            self.host.later(self.host.say, f"Read {counted(result.new, 'new document')}.")

    def _synced(self, report: SyncReport) -> None:
        """Say what a sync read; that it wrote what the application changed is no news."""
        if report.problem or report.step is not None or report.applied.left:
            from tui.commands.files.sync import told

            self.host.later(self.host.say, told(report), "warning" if report.problem else "information", 8)

    def _look_after_backups(self, make: bool) -> None:
        self.host.in_background(lambda: self._backups(make), "backups", "make the daily backup, if it is due")

    def _backups(self, make: bool) -> None:
        """Report what is wrong with the backups; with `make`, create a due one first."""
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
        """Read the commits that the timeline lacks, on a worker thread; with `watching`, only if git has changed."""

        def progress(done: int, total: int) -> None:
            if total > MANY:
                text = f"reading git {done:,} of {total:,}, {named('screen.leave')} stops" if done < total else ""
                self.host.later(self.host.set_status, text)

        def trouble(sentence: str) -> None:
            self.host.later(self.host.say, sentence, "warning")

        try:
            changed = engine.upkeep.git_changed(
                clean=watching
            )  # first, so that no change between this check and the read is missed
            if watching and not changed:
                return
            new = engine.upkeep.catch_up(progress, trouble)
        except MemorandaError as error:
            self.host.later(self.host.say, f"The timeline could not catch up with git: {error}", "warning")
            return
        self.host.later(self.host.set_status, "")
        if watching:
            self._verify(engine)
        if new and not self._quiet(engine):
            self.host.later(self.host.say, f"Read {counted(new, 'new commit')} from git.")

    def _idle(self, engine: Engine) -> None:
        """Do what is due while nothing else is: look at the evidence, write the daily log."""
        self._verify(engine)
        engine.upkeep.write_log(lambda sentence: self.host.later(self.host.say, sentence, "warning", 8))

    def _verify(self, engine: Engine) -> None:
        """Look again at files, symbols and commits; say what changed since the last look."""
        try:
            doubted = engine.upkeep.verify()
        except MemorandaError as error:
            self.host.later(self.host.say, f"The evidence could not be looked at: {error}", "warning")
            return
        if doubted:
            where = f"{named('more.open')} e shows it"
            self.host.later(
                self.host.say, f"What {counted(doubted, 'record')} rests on changed or is gone; {where}.", "warning", 8
            )
            self.host.later(self.host.refresh_records)

    def _git_looked_at(self, engine: Engine, looked: asyncio.Future[bool]) -> None:
        if self.host.engine is engine and not looked.cancelled() and (looked.exception() or looked.result()):
            self._read_git(engine)
        else:
            self._git_was_read()

    def _read_git(self, engine: Engine) -> None:
        self.host.in_background(lambda: self._watch_git(engine), "git", "look whether git has something new")

    def _watch_git(self, engine: Engine) -> None:
        self._catch_up(engine, watching=True)
        self.host.later(self._git_was_read)

    def _git_was_read(self) -> None:
        self._git_is_read = False

    def _read_ledger(self, engine: Engine) -> None:
        try:
            ledger = engine.ledger()
        except MemorandaError as error:
            self.host.later(self.host.say, str(error), "warning")
            return
        self.host.later(self._welcome, engine, ledger)

    def _welcome(self, engine: Engine, ledger: Ledger) -> None:
        """Show what the first start found and did, unless the person began already."""
        from tui.screens.start.first_start import FirstStartScreen, words_of

        self._welcomed = True
        begun = self.host.counts.get("active") or self.host.pane.record is not None
        if begun or not self.host.is_current or isinstance(self.host.focused, Input):
            return
        screen = FirstStartScreen(engine, ledger, words_of(self.host.model_forms()), self.host.later, self.host.say)
        self.host.app.push_screen(screen, self._left)

    def _left(self, action: str | None) -> None:
        self.host.refresh_records()
        if action:
            self.host.app.call_later(self.host.app.run_action, f"screen.{action}")
