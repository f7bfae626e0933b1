"""The effect of each rule and stage of learning and of the librarian: scores with each of them disabled.

    python -m bench.ablation

Uses development data only: requests (`bench/cases/requests-dev*.jsonl`), turns (`extraction.jsonl`, half `dev`) and
questions (`questions.jsonl`, half `dev`). *Lost* are items that are right with everything enabled and not without it,
*won* those the other way round. No model is called. What costs nothing here is deleted, unless it guards against text
that somebody else wrote, or answers what these questions do not ask and people did: each of these has its tests."""

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from bench.questions import CASES, NAMES, answered, remembered, scored
from bench.requests import judged
from store.database.tombstones import normal_form
from store.learning.rules import REQUEST_REASONS, extract_by_rule
from store.memory import Memory

# rule → its replacement
LEARNING: dict[str, tuple[str, Any]] = {
    "requests": ("store.learning.rules.find_requests", lambda turn: iter(())),
    "rules set in words": ("store.learning.rules._standing_rule", lambda sentence: None),
    "requests without a marker": ("store.learning.rules.find_unmarked_statements", lambda turn: iter(())),
    "corrections of an agent": ("store.learning.rules._find_corrections", lambda turn: iter(())),
    "told plainly": ("store.learning.rules._fact_told", lambda sentence: None),
    "numbered steps": ("store.learning.rules.find_steps", lambda text: None),
    "statements by form": ("store.learning.rules.states_lasting", lambda folded, written: False),
    "words of memory": (
        "store.learning.rules.REQUEST_REASONS",
        {kind: why for kind, why in REQUEST_REASONS.items() if kind != "hints"},
    ),
    "several in a sentence": (
        "store.learning.rules._split_several",
        lambda folded, start, end: [(start, end)],
    ),
    "lists after an announcement": (
        "store.learning.rules._find_following",
        lambda turn, number, taken, marker: ((number, 0, len(one.text)) for one in turn[number : number + 1]),
    ),
    "conditions": ("store.learning.rules._condition_start", lambda folded, marker: len(folded)),
    "text behind a colon": ("store.learning.sentences.start_behind_colon", lambda folded, marker: 0),
    "reported speech": ("store.learning.sentences.is_reported", lambda folded, end: False),
    "forms of verbs": ("store.learning.sentences._verb_patterns", lambda name: [(re.compile(".*"), True)]),
    "what goes wrong": ("store.learning.sentences.tells_what_fails", lambda folded: False),
    "words that introduce": ("store.learning.sentences._mark_announced", lambda text, start, line: iter(())),
    "lines by their form": ("store.learning.sentences.QuotedSpans._mark_lines", lambda self, text: iter(())),
    "quotes and pastes": ("store.learning.sentences.STRUCK", -1),
}
LIBRARIAN: dict[str, tuple[str, Any]] = {
    "questions of the data": ("store.librarian.librarian.Librarian._answer_from_list", lambda self, asked: None),
    "kinds that are named": ("store.librarian.question.ParsedQuestion.query_within_kind", ""),
    "authors": ("store.librarian.question._take_author", lambda found, database, aspect, named, idle: ""),
    "releases": ("store.librarian.question.last_release_moment", lambda database: ""),
    "the newest and the oldest": ("store.librarian.question._take_first", lambda found, name, aspect: False),
    "why not": ("store.librarian.librarian.find_turned_down", lambda database, asked: ([], False)),
    "names": ("store.librarian.librarian.Librarian._find_by_names", lambda self, names: []),
    "words that no record has": (
        "store.librarian.librarian.find_absent_words",
        lambda search, asked, matches: ([], False),
    ),
    "words that only choose": ("store.librarian.librarian.strip_choice_words", lambda question: question),
    "times": ("store.librarian.question.find_period", lambda plain, now: ("", "", frozenset())),
}


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m bench.ablation", description=(__doc__ or "").partition("\n")[0]
    ).parse_args()
    print(f"{'without':28}{'right':>7}{'of':>6}{'lost':>6}{'won':>6}")
    _table("learning", LEARNING, _heard)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder, ExitStack() as stack:
        memories = {name: stack.enter_context(remembered(name, folder)) for name in NAMES}
        _table("librarian", LIBRARIAN, lambda: _asked(memories))


def _table(title: str, rules: dict[str, tuple[str, Any]], measure: Callable[[], set[str]]) -> None:
    every = _every(title)
    full = measure()
    print(f"{title + ': nothing':28}{len(full):>7}{every:>6}")
    for name, (place, instead) in rules.items():
        with _without(place, instead):
            rest = measure()
        print(f"  {name:26}{len(rest):>7}{every:>6}{len(full - rest):>6}{len(rest - full):>6}", flush=True)


@contextmanager
def _without(place: str, instead: Any) -> Iterator[None]:
    with patch(place, instead):
        yield


def _every(title: str) -> int:
    return len(_requests()) + len(_turns()) if title == "learning" else len(_questions())


def _lines(name: str) -> list[dict[str, Any]]:
    with open(os.path.join(CASES, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _requests() -> Sequence[dict[str, Any]]:
    return [case for name in ("requests-dev.jsonl", "requests-dev2.jsonl") for case in _lines(name)]


def _turns() -> Sequence[dict[str, Any]]:
    return [
        one for one in _lines("extraction.jsonl") if one["split"] == "dev" and one["kind"] not in ("reconfirm",)
    ]


def _questions() -> Sequence[dict[str, Any]]:
    return [case for case in _lines("questions.jsonl") if case["split"] == "dev"]


def _heard() -> set[str]:
    """Return the turns from which exactly the expected items are kept, as facts or as proposals."""
    right = set()
    for case in _requests():
        count = judged(case, [], [one.text for one in extract_by_rule("user", case["text"])])
        if count["covered"] == count["items"] and not count["false"]:
            right.add(case["text"])
    for case in _turns():
        found = {normal_form(one.text): one.explicit for one in extract_by_rule(case["role"], case["text"])}
        if found == {normal_form(one["text"]): one["how"] == "active" for one in case["facts"]}:
            right.add(case["text"])
    return right


def _asked(memories: dict[str, Memory]) -> set[str]:
    """Return the questions that rules answer correctly."""
    return {
        case["question"]
        for case in _questions()
        if scored(Counter(), memories[case["memory"]], case, answered(memories[case["memory"]], case)[0])
    }


if __name__ == "__main__":
    main()
