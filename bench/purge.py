"""What a purge costs: planning, the transaction, merging the index, emptying the WAL, searching every byte.

    python -m bench.purge [--facts 10000] [--purges 40] [--folder PATH]

A memory of so many facts, each remembered by a step of its own; then single facts are purged, one after the other, and
each part is timed. The index is merged after each purge in many small transactions; `optimize`, which does the same in
one, is measured on a copy.

Aim: the purge itself, without the index, at most 50 ms (median) at 10,000 facts."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from bench.store import Writer, heading, quantile, verdict
from store.database.database import Database
from store.exchange.backups import make_backup
from store.memory import Memory
from store.purge.cleanup import merge_search_index
from store.purge.proof import find_traces, list_text_files, search_files
from store.purge.purge import complete_purge

Result = TypeVar("Result")
AIM = 50.0  # ms
MANY = 500  # facts of one purge
PARTS = ("plan", "transaction", "log", "purge", "index", "proof")
ABOUT = {
    "plan": "what would go, and what else holds the words",
    "transaction": "records, history, index rows, vectors, tombstone",
    "log": "brought into the file and emptied",
    "purge": "transaction and log",
    "index": "merged in small transactions",
    "proof": "another process reads every byte",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--purges", type=int, default=40)
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    options = parser.parse_args(arguments)
    heading("purge", f"{options.facts:,} facts, {options.purges} purges of one fact each")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
        path = os.path.join(folder, ".memoranda", "memory.db")
        with Memory.open(path) as opened:
            writer = Writer(7)
            opened.database.connection.pragma("synchronous", 0)  # while building it
            for number in range(options.facts):
                opened.facts.remember(f"{writer.sentence(6, 24)} ({number})")
            opened.database.connection.pragma("synchronous", 2)
            parts = _purges(opened, options.purges)
            many = _many(opened, min(MANY, options.facts // 4))
            size = sum(os.path.getsize(file) for file in list_text_files(opened.database, opened.documents))
            optimize = _optimize(opened)
        print(f"\n{size / 1e6:.0f} MB of files\n")
        print(f"{'part':14}{'median ms':>10}{'p95 ms':>10}   aim")
        for name in PARTS:
            median = statistics.median(parts[name])
            aim = verdict(median, AIM if name == "purge" else None, " ms")
            print(f"{name:14}{median:>10.1f}{quantile(parts[name], 0.95):>10.1f}   {aim or ABOUT[name]}")
        for name, spent in many.items():
            print(f"{name:14}{spent:>10.1f}{'':>10}   of {min(MANY, options.facts // 4)} facts at once")
        print(f"{'optimize':14}{optimize:>10.1f}{'':>10}   the whole index in one transaction")


def _purges(opened: Memory, purges: int) -> dict[str, list[float]]:
    """Return the milliseconds of each part of each purge."""
    parts: dict[str, list[float]] = {name: [] for name in PARTS}
    writer = Writer(8)
    numbers = [
        number for (number,) in opened.database.rows("SELECT id FROM facts WHERE status = 'active' ORDER BY id")
    ]
    for number in numbers[:: len(numbers) // purges][:purges]:
        opened.facts.remember(f"{writer.sentence(6, 24)} after {number}")  # gives the index something new to merge
        plan, spent = timed(lambda number=number: opened.purge.plan([("fact", number)]))  # type: ignore[misc]
        parts["plan"].append(spent)
        _, spent = timed(lambda plan=plan: opened.purge.erase(plan, plan.proposed()))  # type: ignore[misc]
        parts["transaction"].append(spent)
        emptied, spent = timed(opened.database.checkpoint_wal)
        assert emptied
        parts["log"].append(spent)
        parts["purge"].append(parts["transaction"][-1] + spent)
        parts["index"].append(timed(lambda: merge_search_index(opened.database))[1])
        opened.database.checkpoint_wal()
        verdicts, spent = timed(
            lambda plan=plan: search_files(plan.texts, list_text_files(opened.database, opened.documents))
        )  # type: ignore[misc]
        parts["proof"].append(spent)
        if any(one.found for one in verdicts):
            print(f"F#{number} left traces: {[one for one in verdicts if one.found]}")
    return parts


def _many(opened: Memory, count: int) -> dict[str, float]:
    """Return the milliseconds of each part of one purge of so many facts, with a backup beside the memory."""
    make_backup(opened.database)
    numbers = [number for (number,) in opened.database.rows("SELECT id FROM facts ORDER BY id LIMIT ?", (count,))]
    plan, worked = timed(lambda: opened.purge.plan([("fact", number) for number in numbers]))
    _, erased = timed(lambda: opened.purge.erase(plan, plan.default_places()))
    _, finished = timed(lambda: complete_purge(opened.database, plan.texts, plan.names))
    left, proved = timed(
        lambda: find_traces(opened.database, opened.documents, plan.texts, plan.names, erased=True)
    )
    if not left.is_clean:
        print(f"the purge of {count} facts left traces: {left.files_with_text}")
    return {"plan of many": worked, "erase": erased, "finish": finished, "proof of many": proved}


def _optimize(opened: Memory) -> float:
    """Measure FTS5's own `optimize`, after as many changes as one purge makes."""
    database: Database = opened.database
    opened.facts.remember("one more, so that there is something to merge")
    with database.write("agent", "purge") as write:
        return timed(lambda: write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('optimize')"))[1]


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of `work`, and its milliseconds."""
    start = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
