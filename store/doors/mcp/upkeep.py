"""The background work of a memory while agents are served and no application is open: retention, git, checkpoints,
backups, documents, what was said and waits to be read, and vectors. Each is done under a lease, by whichever process
has its turn. A model is loaded in a child process, which ends when it is done."""

import logging
import os
import subprocess
import sys
import time
from threading import Event, Thread

from store.base.errors import MemorandaError
from store.base.location import Location
from store.memory import Memory

FIRST, EVERY = 5.0, 60.0  # seconds after the start, and between two looks
RETENTION = 6 * 3_600.0  # seconds after which retention is looked at though git did not change
AGAIN = 300.0  # seconds between two children that embed
CHILD_SECONDS = 1_800  # that a child embeds at most
_log = logging.getLogger("memoranda")


class Upkeep(Thread):
    """Looks every minute what is due, and does it; `stop` ends it."""

    def __init__(self, location: Location, cwd: str) -> None:
        super().__init__(daemon=True, name="upkeep")
        self._location = location
        self._cwd = cwd
        self._stop = Event()
        self._git = ""  # how the repository was when it was last looked at
        self._child: subprocess.Popen[bytes] | None = None
        self._begun = -RETENTION  # when retention was looked at last, and when a child was started
        self._embedded = -AGAIN

    def run(self) -> None:
        wait = FIRST
        while not self._stop.wait(wait):
            wait = EVERY
            try:
                if os.path.lexists(self._location.path):
                    self.look()
            except MemorandaError as error:
                _log.warning("upkeep: %s", error)
            except Exception:
                _log.exception("upkeep failed")

    def stop(self) -> None:
        """End soon, and let no child go on."""
        self._stop.set()
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()

    def look(self) -> None:
        """Do what is due now."""
        from store.conversations import extraction_queue
        from store.services import automatic_checkpoints, background_embedding, maintenance, session_flush

        with Memory(self._location, "worker", create=False) as memory:
            if memory.database.read_only or not memory.config["enabled"]:
                return
            changed = maintenance.git_changed(memory, self._cwd, self._git)
            old = time.monotonic() - self._begun > RETENTION
            if changed is not None or old or maintenance.cleanup_due(memory):
                self._begun = time.monotonic()
                maintenance.start(memory, self._cwd, cancelled=self._stop.is_set, trouble=_log.warning)
                self._git = changed or self._git
            if extraction_queue.due(memory.database, memory.now):
                from store.learning import rule_pass

                rule_pass.run(memory, seconds=1.0)
            session_flush.flush_due(memory)
            automatic_checkpoints.sweep(memory)
            automatic_checkpoints.take_due_checkpoint(memory)
            if self._stop.is_set():
                return
            memory.documents.scan(cancelled=self._stop.is_set)
            maintenance.keep_backups(memory, self._stop.is_set)
            if background_embedding.waiting(memory):
                self._embed()

    def _embed(self) -> None:
        """Have a child embed what waits, unless one is at it, or was a moment ago: where there is no model, none comes
        by asking again."""
        if time.monotonic() - self._embedded < AGAIN or (self._child is not None and self._child.poll() is None):
            return
        self._embedded = time.monotonic()
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "store.doors.mcp.embedding_process", self._location.path, str(CHILD_SECONDS)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._cwd,
        )
