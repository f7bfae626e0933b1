"""Trial of a model: ten built-in questions with three records each, of which one answers or none does."""

import time
from collections.abc import Iterator
from typing import NamedTuple

from store.librarian import words as vocabulary
from store.librarian.judge import rank
from store.llm.chat import Judge


class TrialResult(NamedTuple):
    """The result of one question: the time it took, and whether the right record was ranked first, or none where none
    answers."""

    question: str
    right: bool
    seconds: float


def questions() -> int:
    """Return the number of questions."""
    return sum(len(vocabulary.table(language)["trial"]) for language in vocabulary.LANGUAGES)


def run_trial(judge: Judge, seconds: float) -> Iterator[TrialResult]:
    """Ask a model all questions, `seconds` for each, and yield each result. Raise ModelFailed."""
    for language in vocabulary.LANGUAGES:
        for one in vocabulary.table(language)["trial"]:
            begin = time.monotonic()
            records = {str(place): text for place, text in enumerate(one["records"], 1)}
            ordered = rank(judge, one["question"], language, records, seconds)
            first = int(ordered.order[0]) if ordered.answers else 0
            yield TrialResult(one["question"], first == one["right"], time.monotonic() - begin)
