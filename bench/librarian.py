"""The librarian by rule on two memories: answered and refused questions, with embeddings and by keywords alone.

    python -m bench.librarian [--show] [--model 1.5b|0.5b|NAME [--kept FILE]]

The questions of `bench/cases/librarian.jsonl` were written before the rules; those on even lines were used to tune the
rules and their thresholds (`dev`), the odd ones evaluate them (`held`). *Answered* are questions whose answer cites one
of the records that contain it; *other* those answered from other records; *refused* those about unrecorded topics that
got "there are no records". `--show` prints the failures, never those of the held-out half.

`demo` is the demo's memory; `clinic` that of another team, written with its questions (`bench/cases/clinic.jsonl`)
after the rules by a person who had not seen them: most questions use other words than the record, or the other
language. With `--model` the clinic's are also answered by a model, as in `bench.agent`; `--kept` is as there."""

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from bench.agent import served
from bench.agent_answers import answers, remembered
from bench.agent_asking import Heard
from store.base.citations import parse_citation
from store.base.clock import utc_now
from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search import lookup
from store.upkeep import background_embedding
from tui.demo.builder import build_demo

CASES = os.path.join(os.path.dirname(__file__), "cases")
ANY = "*"  # any record suffices, if the answer contains a word


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.librarian", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong in the half the rules are made with"
    )
    parser.add_argument("--model", metavar="NAME", help="ask the clinic's questions with a model too")
    parser.add_argument("--kept", metavar="FILE", help="keep what the model said there, and do not ask it again")
    options = parser.parse_args()
    cases, clinic = _cases("librarian"), _cases("clinic")
    with open(os.path.join(CASES, "clinic.json"), encoding="utf-8") as file:
        content = json.load(file)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        place = build_demo(folder, utc_now())
        print(
            f"{'':7}{'':10}{'':6}{'asked':>7}{'answered':>10}{'other':>7}{'nothing':>9}{'refused':>9}{'of':>5}{'ms':>7}"
        )
        for name in ("keywords", "meaning"):
            with Memory(place, "cli") as memory:
                if name == "meaning":
                    background_embedding.embed_waiting(memory)
                with _without(name == "keywords"):
                    for half in (0, 1):
                        print("demo   " + _row(memory, name, half, cases[half::2], options.show and not half))
        with remembered(os.path.join(folder, "clinic", ".memoranda", "memory.db"), content, False) as memory:
            for name in ("keywords", "meaning"):
                if name == "meaning":
                    background_embedding.embed_waiting(memory)
                with _without(name == "keywords"):
                    for half in (0, 1):
                        print("clinic " + _row(memory, name, half, _half(clinic, half), options.show and not half))
            with served(options.model) as heard:
                if heard and options.kept:
                    heard.keep(options.kept)
                for half in (0, 1) if heard else ():
                    those = _half(clinic, half)
                    print(
                        "clinic " + _row(memory, "model", half, those, options.show and not half, heard),
                        flush=True,
                    )


def _half(cases: list[dict[str, object]], half: int) -> list[dict[str, object]]:
    return [case for case in cases if case["split"] == ("dev", "held")[half]]


def _cases(name: str) -> list[dict[str, object]]:
    with open(os.path.join(CASES, f"{name}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _row(
    memory: Memory, name: str, half: int, cases: list[dict[str, object]], show: bool, chat: Heard | None = None
) -> str:
    librarian = Librarian(memory)
    right = other = nothing = refused = 0
    times = []
    for case in cases:
        question = str(case.get("ask") or case["question"])
        last = librarian.ask(str(case["after"]), chat) if case.get("after") else None
        answer = librarian.ask(question, chat, last=last)
        times.append(answer.seconds * 1000)
        wanted = case["on"] if "on" in case else case["sort"] != "nothing"
        good = _good(memory, answer, case)
        if not wanted:
            refused += answer.nothing
        elif answer.nothing:
            nothing += 1
        else:
            right, other = right + good, other + (not good)
        if show and not good:
            print(f"    {question}\n        {answer.text}")
    asked = sum(bool(case["on"] if "on" in case else case["sort"] != "nothing") for case in cases)
    return (
        f"{name:10}{('dev', 'held')[half]:6}{asked:>7}{right:>10}{other:>7}{nothing:>9}{refused:>9}"
        f"{len(cases) - asked:>5}{statistics.median(times):>7.0f}"
    )


def _good(memory: Memory, answer: LibrarianAnswer, case: dict[str, object]) -> bool:
    """Return whether an answer is what the case expects."""
    if "on" not in case:
        return answer.nothing if case["sort"] == "nothing" else not answer.nothing and answers(case, answer.text)
    wanted = case["on"]
    assert isinstance(wanted, list)
    if not wanted:
        return answer.nothing
    if ANY in wanted:
        return str(case["says"]) in answer.text
    found = [lookup.get_record(memory.database, parse_citation(text)) for text in answer.citations]
    texts = [" ".join(str(getattr(one, field.name)) for field in fields(one)) for one in found]
    return any(part in text for part in wanted for text in texts)


@contextmanager
def _without(model: bool) -> Iterator[None]:
    """Set `MEMORANDA_WITHOUT=model` while the context is active, if `model` is true."""
    before = os.environ.get("MEMORANDA_WITHOUT")
    if model:
        os.environ["MEMORANDA_WITHOUT"] = "model"
    try:
        yield
    finally:
        if model and before is None:
            del os.environ["MEMORANDA_WITHOUT"]
        elif before is not None:
            os.environ["MEMORANDA_WITHOUT"] = before


if __name__ == "__main__":
    main()
