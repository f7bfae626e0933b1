"""Watch the documents, so that a change is found within some two seconds.

Every folder is watched separately, as our own walk finds it: watching a whole tree follows symbolic links, and one to
`/` would use up all the watches that the system grants a person. Where watching does not work (a network, too few
watches left) that is reported once, and only the regular scans find changes: a scan is cheap where nothing changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from store.documents.files import MARKDOWN_SUFFIX, DocumentRoots, is_hidden

# longest time for which changes are collected
GATHER_MS = 1_500
# … or until nothing changed for this long; stopping takes no longer either
QUIET_MS = 250
# the same while nobody is waiting: each look wakes the processor
RESTING_MS = 2_500
STOP_SECONDS = 1.0


class DocumentWatch(threading.Thread):
    """A thread that calls `changed` when a document may have changed, and once soon after the start, until
    `stop`. `trouble` is called, at most once, with the reason why watching does not work here; then the thread ends.
    While `resting` a change is noticed within some five seconds."""

    def __init__(
        self,
        places: DocumentRoots,
        changed: Callable[[], None],
        trouble: Callable[[str], None],
        resting: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(name="watch", daemon=True)
        self._places = places
        self._changed = changed
        self._trouble = trouble
        self._resting = resting
        self._asked_to_end = threading.Event()

    def end(self) -> None:
        """Request the end, some QUIET_MS later, or RESTING_MS."""
        self._asked_to_end.set()

    def stop(self) -> None:
        """Stop; wait for what is in progress, STOP_SECONDS at most."""
        self.end()
        if self.is_alive():
            self.join(STOP_SECONDS)

    def run(self) -> None:
        """Watch until the end is requested, or watching fails."""
        try:
            while not self._asked_to_end.is_set():
                self._watch()
        except Exception as error:  # the system reports refusals as errors of many kinds
            if not self._asked_to_end.is_set():
                why = f"{type(error).__name__}: {error}"[:120]
                self._trouble(
                    f"The documents cannot be watched here, and are looked at now and then instead ({why})."
                )

    def _watch(self) -> None:
        """Watch until the set of folders changes, or a rest begins or ends."""
        from watchfiles import watch

        folders = self._places.folders()
        resting = self._resting()
        step = RESTING_MS if resting else QUIET_MS
        # changes before the watching began cause no notification
        fresh = True
        for changes in watch(
            *folders,
            watch_filter=lambda _, path: self._may_be_document(path),
            debounce=GATHER_MS,
            step=step,
            stop_event=self._asked_to_end,
            rust_timeout=2 * step,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            if self._asked_to_end.is_set():
                return
            if changes or fresh:
                fresh = False
                self._changed()
                if self._places.folders() != folders:
                    return
            if self._resting() != resting:
                return

    def _may_be_document(self, path: str) -> bool:
        """Return whether a change there may be one of a document; what we write ourselves never is."""
        name = os.path.basename(path)
        if any(path == root.path for root in self._places.roots):
            return True
        if not any(path.startswith(os.path.join(root.path, "")) for root in self._places.roots):
            # in a folder that is watched for one name in it
            return False
        # a folder that was moved away cannot be told from a file without a suffix
        return not is_hidden(name) and (
            name.lower().endswith(MARKDOWN_SUFFIX) or "." not in name or os.path.isdir(path)
        )
