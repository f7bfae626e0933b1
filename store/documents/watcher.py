"""Watching the documents, so that a change is found within some two seconds.

Every folder is watched by itself, as our own walk finds it: what watches a whole tree follows symbolic links, and one
to `/` would use up all the watches that the system gives a person. Where watching does not work (a network, too few
watches left) that is told once, and the documents are looked at now and then instead, as they always are: a scan costs
little where nothing changed.
"""

import os
import threading

from store.documents.paths import SUFFIX, DocumentRoots, hidden

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GATHER_MS = 1_500  # changes are gathered for so long at the most
QUIET_MS = 250  # … or until nothing moved for this long; stopping takes no longer either
STOP_SECONDS = 1.0


class Watch:
    """Calls `changed` on a thread of its own when a document may have changed, and once soon after the start, until
    `stop`. `trouble` is told, at most once, why watching does not work here; then the thread is through."""

    def __init__(self, places: DocumentRoots, changed: "Callable[[], None]", trouble: "Callable[[str], None]") -> None:
        self._places = places
        self._changed = changed
        self._trouble = trouble
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    @property
    def working(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def end(self) -> None:
        """Let it end by itself, some QUIET_MS later."""
        self._stop.set()

    def stop(self) -> None:
        """End; waits for what is under way, STOP_SECONDS at the most."""
        self.end()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._watch()
        except Exception as error:  # the system's refusals come as errors of many kinds
            if not self._stop.is_set():
                why = f"{type(error).__name__}: {error}"[:120]
                self._trouble(f"The documents cannot be watched here, and are looked at now and then instead ({why}).")

    def _watch(self) -> None:
        """Watch until there are other folders to watch."""
        from watchfiles import watch

        folders = self._places.folders()
        fresh = True  # what changed before the watching began brings no notice
        for changes in watch(
            *folders,
            watch_filter=lambda _, path: self._wanted(path),
            debounce=GATHER_MS,
            step=QUIET_MS,
            stop_event=self._stop,
            rust_timeout=2 * QUIET_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        ):
            if self._stop.is_set():
                return
            if changes or fresh:
                fresh = False
                self._changed()
                if self._places.folders() != folders:
                    return

    def _wanted(self, path: str) -> bool:
        """Whether a change there may be one of a document; what we write ourselves never is one."""
        name = os.path.basename(path)
        if any(path == root.path for root in self._places.roots):
            return True
        if not any(path.startswith(os.path.join(root.path, "")) for root in self._places.roots):
            return False  # in a folder that is watched for the sake of one name in it
        # a folder that is moved away can no longer be told from a file without a suffix
        return not hidden(name) and (name.lower().endswith(SUFFIX) or "." not in name or os.path.isdir(path))
