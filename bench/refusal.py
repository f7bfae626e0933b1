"""How many questions are refused that a memory says nothing about, and how many that it answers; each set left out.

    python -m bench.refusal --data DIR [--vectors FILE] [--chats N,N…]

A memory is asked its own questions with evidence, and as many of each other set. For each set a line is chosen on the
others alone, so that none of them loses more than LOST of its answerable questions, and its own figures under that line
are shown; then the figures of the line in use (`store/search/ranking.py`)."""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from bench.datasets import need
from bench.retrieval import Body, Remembered, bodies
from bench.store import heading
from bench.vector_cache import keep_vectors
from store.search import ranking as verdict

LOST = 0.02
QUESTIONS = 80  # maximum answerable ones for each memory
OTHERS = 40  # of each other set for each memory
ABOUT_SOFTWARE = "changes"  # asks no other set: half of the chats are about software too


class Judged(NamedTuple):
    """What a memory of a set was asked, whether it holds an answer, and what was measured; None where nothing was."""

    set: str
    name: str
    answerable: bool
    words: int
    evidence: verdict.NearnessEvidence | None

    def refused(self, line: float) -> bool:
        if self.evidence is None:
            return True
        with patch.object(verdict, "NEAR_LINE", line):
            return self.evidence.finds_nothing(self.words)


@contextmanager
def _measured() -> Iterator[list[verdict.NearnessEvidence]]:
    """Collect what the searches measure."""
    found: list[verdict.NearnessEvidence] = []
    real = verdict.measure_nearness

    def evidence(*given: Any) -> verdict.NearnessEvidence:
        found.append(real(*given))
        return found[-1]

    with patch.object(verdict, "measure_nearness", evidence):
        yield found


def ask(body: Body, remembered: Remembered, others: Sequence[Body], draw: random.Random) -> list[Judged]:
    """Ask a memory its own questions and those of other sets."""
    own = [one.text for one in body.questions if one.evidence]
    asked = [(text, True) for text in draw.sample(own, min(QUESTIONS, len(own)))]
    strange = {
        other.set for other in others if other.set.split(",")[0] not in (body.set.split(",")[0], ABOUT_SOFTWARE)
    }
    for name in sorted(strange):
        theirs = [one.text for other in others if other.set == name for one in other.questions]
        asked += [(text, False) for text in draw.sample(theirs, min(OTHERS, len(theirs)))]
    answers = []
    with _measured() as found:
        for text, answerable in asked:
            found.clear()
            answer = remembered.memory.search(text, 1)
            words = len(answer.words.own) if answer.words else 0
            answers.append(Judged(body.set, body.name, answerable, words, found[-1] if found else None))
    return answers


def judged(memories: Sequence[tuple[Body, Remembered]]) -> list[Judged]:
    """Ask every memory."""
    draw = random.Random(5)
    every = [body for body, _ in memories]
    return [one for body, remembered in memories for one in ask(body, remembered, every, draw)]


def tables(judged: Sequence[Judged]) -> None:
    """Print what is refused, by set and by memory."""
    sets = list(dict.fromkeys(one.set for one in judged))
    print("\n| asked of | line | off topic | refused | answerable | refused |\n|---|---|---|---|---|---|")
    for name in sets:
        line = line_for([one for one in judged if one.set != name]) if len(sets) > 1 else verdict.NEAR_LINE
        _row(f"{name}, line from the others", line, [one for one in judged if one.set == name])
    for name in sets:
        _row(f"{name}, line in use", verdict.NEAR_LINE, [one for one in judged if one.set == name])
    for name in dict.fromkeys(one.name for one in judged):
        _row(name, verdict.NEAR_LINE, [one for one in judged if one.name == name])


def line_for(judged: Sequence[Judged]) -> float:
    """Return the highest line, to a hundredth, at which no set loses more than LOST of its answerable questions."""
    sets = [[one for one in judged if one.set == name and one.answerable] for name in {one.set for one in judged}]
    lines = [number / 100 for number in range(200)]
    return max(
        (
            line
            for line in lines
            if all(statistics.fmean(one.refused(line) for one in mine) <= LOST for mine in sets)
        ),
        default=0.0,
    )


def _row(name: str, line: float, judged: Sequence[Judged]) -> None:
    cells = [name, f"{line:.2f}"]
    for answerable in (False, True):
        refused = [one.refused(line) for one in judged if one.answerable is answerable]
        cells += [str(len(refused)), f"{100 * statistics.fmean(refused):.1f} %" if refused else "–"]
    print(f"| {' | '.join(cells)} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="a folder that LoCoMo, BEAM and XQuAD lie in")
    parser.add_argument("--vectors", metavar="FILE", help="where the model's vectors are kept from run to run")
    parser.add_argument("--chats", metavar="N,N…", default="", help="of BEAM only these chats")
    options = parser.parse_args(arguments)
    folder = need(options.data, "what is refused")
    if options.vectors:
        keep_vectors(options.vectors)
    heading("refusal")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as scratch:
        memories = [
            (body, Remembered(scratch, body))
            for body in bodies(folder, [name for name in options.chats.split(",") if name])
        ]
        tables(judged(memories))
        for _, remembered in memories:
            remembered.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
