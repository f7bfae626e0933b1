"""Background work of the main screen: documents, backups and git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from store.base.errors import MemorandaError
from tui.input.key_table import named
from tui.main_screen.loading import AGES, ReadingScreen

if TYPE_CHECKING:
    from tui.workers.engine import Engine

GIT = 4  # looks after which it is asked whether git stirred


class TendingScreen(ReadingScreen):
    """Reads what changed of the documents, makes the daily backup, and follows git."""

    _watching = True  # whether git is being read, or looked at

    def _look_after(self, engine: Engine) -> None:
        self._catch_up(engine)
        self.later(self._watched)
        if engine.created:
            self.later(self._welcome, engine)

    def _complete(self) -> None:
        super()._complete()
        self.read_documents(first=True)
        self.look_after_backups()

    def _look(self) -> None:
        super()._look()
        engine = self.engine
        if engine is None:
            return
        if self._looks % AGES == 0:
            self.look_after_backups(make=True)
        if self._looks % GIT == 0 and not self._watching:
            self._watching = True
            self._watch_git(engine)
            if engine.documents.due():
                self.read_documents()

    @work(thread=True, group="documents", exit_on_error=False, description="read the documents that changed")
    def read_documents(self, first: bool = False) -> None:
        """Read what changed of the documents; `first`, from then on whenever they change."""
        engine = self.engine
        if engine is None:
            return

        def progress(done: int, total: int) -> None:
            if total > 200:
                self.later(self._show_status, f"reading documents {done:,} of {total:,}" if done < total else "")

        def trouble(sentence: str) -> None:
            self.later(self.say, sentence, "warning", 8)

        try:
            result = engine.documents.scan(progress, trouble)
            if first:
                engine.documents.watch(trouble)
        except MemorandaError as error:
            self.later(self.say, f"The documents could not be read: {error}", "warning")
            return
        if first and result is not None and result.new and not self._welcome_due:
            self.later(self.say, f"Read {result.new:,} new document{'' if result.new == 1 else 's'}.")

    @work(thread=True, group="backups", exit_on_error=False, description="make the daily backup, if it is due")
    def look_after_backups(self, make: bool = False) -> None:
        """Say how the backups stand; with `make`, make the one that is due first."""
        engine = self.engine
        if engine is None:
            return
        try:
            if make:
                engine.upkeep.keep_backups()
            trouble = engine.upkeep.backups_trouble()
        except MemorandaError as error:
            trouble = "no backup"
            self.later(self.say, f"No backup could be made: {error}", "warning", 8)
        self.later(self._show_backups, trouble)

    def _show_backups(self, trouble: str) -> None:
        self._backups = trouble
        self._draw_top()

    def _catch_up(self, engine: Engine, watching: bool = False) -> None:
        """On a worker thread: what is due, and what git has and the timeline lacks; `watching`, if git stirred."""

        def progress(done: int, total: int) -> None:
            if total > 200:
                status = f"reading git {done:,} of {total:,}, {named('screen.leave')} stops" if done < total else ""
                self.later(self._show_status, status)

        try:
            if watching:
                engine.upkeep.clean_up()
            changed = engine.upkeep.git_changed()  # first, so that nothing falls between this look and the reading
            if watching and not changed:
                return
            new = engine.upkeep.catch_up(progress, lambda sentence: self.later(self.say, sentence, "warning"))
        except MemorandaError as error:
            self.later(self.say, f"The timeline could not catch up with git: {error}", "warning")
            return
        self.later(self._show_status, "")
        if new and not self._welcome_due:
            self.later(self.say, f"Read {new:,} new commit{'' if new == 1 else 's'} from git.")

    @work(thread=True, group="git", exit_on_error=False, description="look whether git has something new")
    def _watch_git(self, engine: Engine) -> None:
        self._catch_up(engine, watching=True)
        self.later(self._watched)

    def _watched(self) -> None:
        self._watching = False

    def _welcome(self, engine: Engine) -> None:
        """The first start says what it found and did."""
        self._welcome_due = False
        if not self._counts.get("active") and self.pane.record is None:
            self.pane.read_out(engine.welcome(), focus=False)
