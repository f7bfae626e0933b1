"""Ten built-in questions that show what a model is worth here: of three records each, one answers, or none does."""

import time
from collections.abc import Callable
from typing import NamedTuple

from store.librarian import words as vocabulary
from store.librarian.judge import Judge, Readable, judged


class Worth(NamedTuple):
    """One question: how long it took, and whether the right record came first, or none where none answers."""

    question: str
    right: bool
    seconds: float


def worth(judge: Judge, seconds: float, progress: Callable[[Worth], None] = lambda one: None) -> list[Worth]:
    """Ask a model all of them, `seconds` for each; `progress` is called with each as it ends. Raises ModelFailed."""
    found = []
    for language in vocabulary.LANGUAGES:
        for one in vocabulary.table(language)["trial"]:
            begin = time.monotonic()
            records = [Readable(str(place), text) for place, text in enumerate(one["records"], 1)]
            ordered = judged(judge, one["question"], language, records, seconds)
            first = int(ordered.order[0]) if ordered.answers else 0
            found.append(Worth(one["question"], first == one["right"], time.monotonic() - begin))
            progress(found[-1])
    return found
