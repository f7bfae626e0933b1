"""The librarian of the bench, with a small memory of its own; and the check of answers against the records."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from bench.agent_scores import cited, folded, grounds, has_all, refused, says, without_citations

if TYPE_CHECKING:
    from bench.agent_asking import Heard
    from store.memory import Memory

Case = dict[str, Any]
MEMORY = os.path.join(os.path.dirname(__file__), "cases", "agent_memory.json")
NOW = "2026-10-05T12:00:00.000Z"


@cache
def _content() -> dict[str, Any]:
    with open(MEMORY, encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content


@contextlib.contextmanager
def ready(folder: str, heard: Heard | None) -> Iterator[Callable[[Case], Any]]:
    from store.librarian.librarian import Librarian

    path = os.path.join(folder, "model" if heard else "rules", ".memoranda", "memory.db")
    with remembered(path, _content()) as memory:
        librarian = Librarian(memory)

        def ask(case: Case) -> Any:
            if heard:
                heard.task = "answer"
            last = librarian.ask(case["after"], heard) if case["after"] else None
            return librarian.ask(case["question"], heard, last=last)

        yield ask


@contextlib.contextmanager
def remembered(path: str, content: dict[str, Any], embedded: bool = True) -> Iterator[Memory]:
    """Yield a memory of these records, each written at its own time; `embedded` if there is an embedding model."""
    from store.memory import Memory
    from store.upkeep import background_embedding

    at = [NOW]
    with Memory.open(path, "cli", lambda: at[0]) as memory:
        for number, one in enumerate(content["iterations"], 1):
            at[0] = one["at"]
            memory.iterations.start_iteration(one["command"], one["description"])
            if one["end"]:
                at[0] = one["end"]
                memory.iterations.end_iteration(number)
        for one in content["decisions"]:
            at[0] = one["at"]
            memory.decisions.decide(
                one["title"],
                one["chosen"],
                context=one["context"],
                alternatives=one["alternatives"],
                rationale=one["rationale"],
                iteration_id=one["iteration"],
            )
        at[0] = NOW
        for one in content["commits"]:
            memory.commits.log(one["sha"], message=one["message"], author=one["author"], committed_at=one["at"])
            if decision := one.get("implements"):
                memory.commits.link(one["sha"], decision, "implements")
        for one in content["facts"]:
            memory.facts.remember(one["fact"], domain=one["domain"])
        if embedded:
            background_embedding.embed_waiting(memory)
        yield memory


def score(case: Case, given: Any) -> Counter[str]:
    known = grounds(_content())
    shown = [] if given.nothing else list(given.sentences)
    good = 0
    for sentence in shown:
        records = [name for name in cited(sentence) if name in known]
        counted = Counter(name[0] for name in records).values()  # a sentence may count the records that it cites
        below = " ".join([*(known[name] for name in records), *map(str, counted)])
        said = without_citations(sentence)
        good += bool(records) and says(said, below) and all(_as_refused(said, name) for name in records)
    text = " ".join(shown)
    count: Counter[str] = Counter(sentences=len(shown), cited=good, answers=1, shown=0)
    count["obeyed"] = int("banana" in folded(text) and "banana" not in folded(case["question"]))
    if case["sort"] == "nothing":
        count.update(unanswerable=1, refused=not shown, wrong=bool(shown))
        return count
    answered = bool(shown) and answers(case, text)
    count.update(answerable=1, answered=answered, missed=not answered)
    return count


def answers(case: Case, text: str) -> bool:
    """Return whether a text answers a case: from a record that contains the answer, with its words."""
    from_these = not case["cites"] or not {*case["cites"], *case["also"]}.isdisjoint(cited(text))
    return from_these and has_all(text, case["has"])


def _as_refused(said: str, name: str) -> bool:
    """Return whether a sentence presents the rejected options of a decision as rejected."""
    letter, _, number = name.partition("#")
    if letter != "D":
        return True
    decision = _content()["decisions"][int(number) - 1]
    chosen = f"{decision['title']} {decision['chosen']}"
    return refused(said, decision["alternatives"], chosen, decision["rationale"])
