"""The librarian on questions about three memories: plain search, rules, and a real model.

    python -m bench.questions [--model 1.5b|0.5b|NAME] [--half dev|held|both] [--few N] [--kept FILE] [--show]

The questions of `bench/cases/questions.jsonl` and their memories were written before the code: half in Spanish, a third
in other words than the record's, a fifth about unrecorded topics. *Hit@1* and *hit@3*: of the questions with an answer,
those whose first record, or one of the first three, contains it. Questions about metadata (state, time, author, count)
are right if all of their records are returned and no others. *Refused* are those about unrecorded topics that got
"there are no records", *claimed* those that got a record without a word that it only comes nearest, *lost* those that
have an answer and were refused. *Quotes* are those that occur in the record they cite.
The librarian is asked as the application asks it, but that the model may take an hour: the quality does not depend on
the load. *First*, *order* and *end*, p50 and p95, are when the first three records were there, when the model had
judged the last, and when the answer was complete, with the seconds that the model took when it was asked.
`--show` prints the failures, never those of the held-out half. `--kept` caches the model's answers in a file."""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from bench.agent import served
from bench.agent_asking import Heard
from store.base.citations import parse_citation
from store.base.models import Record
from store.librarian.answer import LibrarianAnswer, Quote
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search import lookup

CASES = os.path.join(os.path.dirname(__file__), "cases")
NAMES = ("clinic", "riego", "radio")
NOW = "2026-10-05T12:00:00.000Z"
DATA = ("state", "time", "author", "count")
TIMED = ("first ms", "order ms", "end ms")
PATIENCE = 3_600  # seconds that the model may take for a question
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.questions", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--model", metavar="NAME", help="ask a model too")
    parser.add_argument("--half", choices=("dev", "held", "both"), default="both")
    parser.add_argument("--few", type=int, default=0, help="ask the model so many of each half only")
    parser.add_argument("--kept", metavar="FILE", help="keep what the model said there, and do not ask it again")
    parser.add_argument("--show", action="store_true", help="print what went wrong in the development half")
    options = parser.parse_args()
    halves = ("dev", "held") if options.half == "both" else (options.half,)
    with open(os.path.join(CASES, "questions.jsonl"), encoding="utf-8") as file:
        cases: list[Case] = [json.loads(line) for line in file]
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder, ExitStack() as stack:
        memories = {name: stack.enter_context(remembered(name, folder)) for name in NAMES}
        heads = (
            "of",
            "hit@1",
            "hit@3",
            "data",
            "refused",
            "claimed",
            "lost",
            "quotes",
            "first ms",
            "order ms",
            "end ms",
        )
        widths = (4, 8, 8, 10, 10, 9, 7, 11, 14, 14, 14)
        print(f"{'':14}" + "".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
        for half in halves:
            those = [case for case in cases if case["split"] == half]
            for name, ask in (("search", _search), ("rules", answered)):
                print(_row(name, half, those, memories, ask, options.show and half == "dev"), flush=True)
        with served(options.model) as heard:
            if heard is None:
                return
            heard.task = "answer"
            if options.kept:
                heard.keep(options.kept)
            for half in halves:
                those = [case for case in cases if case["split"] == half]
                few = min(options.few or len(those), len(those))
                those = [those[place * len(those) // few] for place in range(few)]

                def ask(memory: Memory, case: Case) -> "tuple[LibrarianAnswer, Times]":
                    return answered(memory, case, heard)

                print(_row("model", half, those, memories, ask, options.show and half == "dev"), flush=True)


class Times(NamedTuple):
    """Seconds from the question to the first records, to their order, and to the complete answer."""

    first: float
    order: float
    end: float


def _search(memory: Memory, case: Case) -> tuple[list[str], Times]:
    """Return the first records of a plain search, and when they arrived."""
    begin = time.perf_counter()
    hits = memory.search(case["question"].replace(":", " "), 8).hits
    took = time.perf_counter() - begin
    return [hit.citation for hit in hits], Times(took, took, took)


def answered(memory: Memory, case: Case, chat: Heard | None = None) -> tuple[LibrarianAnswer, Times]:
    """Return the answer of the librarian, and its times."""
    begin, replayed = time.perf_counter(), chat.replayed if chat else 0.0
    came = {"first": 0.0, "order": 0.0}

    def passed() -> float:
        return time.perf_counter() - begin + (chat.replayed - replayed if chat else 0.0)

    def first(told: object) -> None:
        came["first"] = passed()

    def ordered() -> None:
        came["order"] = passed()

    if chat:
        chat.judged = ordered
    answer = Librarian(memory).ask(case["question"], chat, first=first)
    end = passed()
    return answer, Times(came["first"] or end, came["order"] or end, end)


def _row(
    name: str, half: str, cases: Sequence[Case], memories: dict[str, Memory], ask: Callable[..., Any], show: bool
) -> str:
    count: Counter[str] = Counter()
    times: list[Times] = []
    for case in cases:
        memory = memories[case["memory"]]
        given, took = ask(memory, case)
        times.append(took)
        good = scored(count, memory, case, given)
        if show and not good:
            said = given.text if isinstance(given, LibrarianAnswer) else " ".join(given)
            print(
                f"    {case['sort']:8} {case['question']}  {case.get('cites', case.get('count'))}\n        {said[:300]}"
            )
    data = f"{count['data']}/{count['datas']}"
    return (
        f"{name:8}{half:6}{len(cases):>4}{_share(count['hit1'], count['said'])}{_share(count['hit3'], count['said'])}"
        f"{data:>10}{count['refused']:>6}/{count['nothing']:<3}{count['claimed']:>9}{count['lost']:>7}{count['equal']:>6}/{count['quotes']:<4}"
        f"{''.join(_times([one * 1000 for one in column]) for column in zip(*times, strict=True))}"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:>7.0f}%" if whole else f"{'-':>8}"


def _times(all_ms: list[float]) -> str:
    ordered = sorted(all_ms)
    return f"{statistics.median(ordered):>7.0f}{ordered[int(0.95 * (len(ordered) - 1))]:>7.0f}"


def is_in(quote: Quote, record: Record) -> bool:
    """Return whether a record has exactly the text of a quote at its place."""
    name, dot, place = quote.field.partition(".")
    texts = _items(getattr(getattr(record, "own", record), name, None), dot + place)
    return any(isinstance(text, str) and text[quote.start : quote.end] == quote.text for text in texts)


def _items(value: Any, place: str) -> Iterator[Any]:
    """Yield what a place may name in a list or an object: `.0`, `.reviewers.0.name`, empty for the value itself."""
    if not place:
        yield value
    elif isinstance(value, dict | list | tuple):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if f"{place}.".startswith(f".{key}."):
                yield from _items(one, place[len(str(key)) + 1 :])


def scored(count: Counter[str], memory: Memory, case: Case, given: Any) -> bool:
    """Count the scores of an answer; return whether it is what the case expects."""
    answer = given if isinstance(given, LibrarianAnswer) else None
    order = list(answer.sources) if answer else list(given)
    nothing = answer.nothing if answer else not order
    if answer:
        for sentence in answer.parts:
            for quote in sentence.quotes:
                record = lookup.get_record(memory.database, parse_citation(quote.citation))
                count["quotes"] += 1
                count["equal"] += is_in(quote, record)
    if case["sort"] == "nothing":
        count["nothing"] += 1
        count["refused"] += nothing
        count["claimed"] += not nothing and (answer is None or answer.exact)
        return bool(nothing)
    cites = set(case.get("cites", ()))
    count["lost"] += bool(nothing and (cites or case.get("count")))
    if case["sort"] in DATA:
        count["datas"] += 1
        if "count" in case:
            right = bool(answer) and len(order) == case["count"] and str(case["count"]) in answer.text  # type: ignore[union-attr]
        elif not cites and not case["also"]:
            right = nothing
        else:
            right = bool(answer and (answer.filter or len(cites) == 1)) and _same(
                order, cites, set(case["also"]), answer
            )
        count["data"] += right
        return right
    count["said"] += 1
    wanted = cites | set(case["also"])
    count["hit1"] += bool(not nothing and order and order[0] in wanted)
    count["hit3"] += bool(not nothing and wanted & set(order[:3]))
    return bool(not nothing and order and order[0] in wanted)


def _same(order: Sequence[str], cites: set[str], also: set[str], answer: LibrarianAnswer | None) -> bool:
    """Return whether exactly the wanted records are returned; for a search for one record, whether it is first."""
    if answer is None or not answer.filter:
        return bool(order) and cites == {order[0]}
    return cites <= set(order) <= cites | also


@contextmanager
def remembered(name: str, folder: str) -> Iterator[Memory]:
    """Yield the memory of this name, each record written at its own time, with embeddings if there is a model."""
    from store.upkeep import background_embedding

    with open(os.path.join(CASES, f"{name}.json"), encoding="utf-8") as file:
        content = json.load(file)
    at = [NOW]
    with Memory.open(os.path.join(folder, name, ".memoranda", "memory.db"), "cli", lambda: at[0]) as memory:
        for number, one in enumerate(content["iterations"], 1):
            at[0] = one["at"]
            memory.iterations.start_iteration(one["command"], one["description"])
            if one["end"]:
                at[0] = one["end"]
                memory.iterations.end_iteration(number, abandoned=bool(one.get("abandoned")))
        for one in content["decisions"]:
            at[0] = one["at"]
            given = {key: one[key] for key in ("context", "alternatives", "rationale")}
            memory.decisions.decide(
                one["title"],
                one["chosen"],
                iteration_id=one["iteration"],
                supersedes=one.get("supersedes"),
                **given,
            )
        for one in content["commits"]:
            at[0] = one["at"]
            memory.commits.log(one["sha"], message=one["message"], author=one["author"], committed_at=one["at"])
            for link in ("implements", "reverts"):
                if decision := one.get(link):
                    memory.commits.link(one["sha"], decision, link)
        for number, one in enumerate(content.get("tasks", ()), 1):
            at[0] = one["at"]
            memory.tasks.add_task(one["text"])
            if one["status"] != "pending":
                memory.tasks.move(number, one["status"])
        at[0] = NOW
        for one in content["facts"]:
            memory.facts.remember(one["fact"], domain=one["domain"])
        if turns := content.get("turns"):
            memory.turns.add_turns("talk", [(one["role"], one["text"], one["at"]) for one in turns], "user")
        background_embedding.embed_waiting(memory)
        settings = os.path.join(folder, name, "config.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f"[agent]\npatience = {PATIENCE}\n")
        memory.config.apply_file("project", settings, (), {})
        yield memory


if __name__ == "__main__":
    main()
