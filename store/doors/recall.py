"""Recall by meaning, for a process that lives long enough to load a model.

The first question loads it, and is answered too late, so the start of a session asks one that nobody waits for.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for

from store.base.errors import MemorandaError
from store.base.location import Location
from store.doors.pack import recall_by_meaning
from store.memory import Memory

WAIT = 0.08  # seconds that a prompt waits for what is found by meaning, from the question on


class MeaningRecall:
    """Answers questions by meaning one after the other, on a thread of its own, each with a connection of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "recall")

    def ask(self, location: Location, prompt: str) -> Callable[[], dict[int, str] | None]:
        """Begin to look for what is relevant to `words_of` a prompt, as `AskByMeaning` says."""
        until = time.monotonic() + WAIT
        asked = self._thread.submit(_find, location, prompt)

        def answer() -> dict[int, str] | None:
            wait_for([asked], max(0.0, until - time.monotonic()))
            if asked.cancel() or not asked.done():  # one that was not begun is not worth beginning
                return None
            return asked.result()

        return answer


def _find(location: Location, prompt: str) -> dict[int, str] | None:
    """Return what is relevant to a prompt by meaning; None where no vectors can be searched."""
    try:
        with Memory(location, "hook", create=False) as memory:
            meaning = memory.search.meaning
            return recall_by_meaning(memory, prompt) if meaning is not None and meaning.has_vectors else None
    except MemorandaError:
        return None
    except Exception:  # of SQLite or the model's runtime: it may cost this answer, not the thread of all later ones
        logging.getLogger("memoranda").exception("recall failed")
        return None
