"""How long it takes to make a memory, to open one's own, and to check one of another installation.

    python -m bench.opening [--facts 45000] [--runs 21] [--before FOLDER]

New: making and closing one, in a process that did so once before. Own: the same of opening one of some 100 MB. With
`--before`, a checkout of an earlier state, both alternate with that one, on files that each created. Foreign: its
schema compared with ours, by digest and row by row, SQLite's quick check, and the first paint of the application, which
waits for neither.

Aims: 35 ms of processor time, 1.1 × the state before, 10 ms, 1 s, and a first paint as with one's own (1.1 ×)."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import apsw

from bench.start import LAST_ROW
from bench.store import CLEAN, ROOT, heading, installed, memory, pairs, verdict
from bench.terminal import Terminal
from store.database import schema as schema_check
from store.database.schema import SCHEMA_VERSION
from store.upkeep.adoption import check_foreign_file

NEW_AIM, OWN_AIM, SCHEMA_AIM, CHECK_AIM, PAINT_AIM = 35.0, 1.1, 10.0, 1000.0, 1.1
SIZE = (120, 40)
OPENER = """
import sys, time
from store.memory import Memory
path, runs = sys.argv[1], int(sys.argv[2])
Memory.open(path).close()
for _ in range(runs):
    start = time.perf_counter()
    Memory.open(path).close()
    print(time.perf_counter() - start)
"""
BEGINNER = """
import os, sys, time
from store.memory import Memory
folder = sys.argv[1]
for number in range(6):
    cpu, start = time.process_time(), time.perf_counter()
    Memory.open(os.path.join(folder, f"new-{os.getpid()}-{number}.db")).close()
    if number:
        print(time.perf_counter() - start, time.process_time() - cpu)
"""
MAKER = "import sys; from store.memory import Memory; Memory.open(sys.argv[1]).close()"
FILL = """
import sys, apsw
new, old = apsw.Connection(sys.argv[1]), apsw.Connection(sys.argv[2])
kept = list(new.execute("SELECT key, value FROM meta WHERE key = 'identity'"))
with new.backup("main", old, "main") as backup:
    while not backup.done:
        backup.step(10_000)
new.executemany("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", kept)
"""


def run(tree: str, code: str, *arguments: str) -> list[float]:
    """Run a few lines of Python on the `store` of a tree; return the numbers that they print."""
    environment = {**os.environ, **CLEAN, "PYTHONPATH": tree}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tree,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(line) for line in done.stdout.split()]


def opened(trees: Sequence[str], source: str, folder: str, runs: int) -> list[list[float]]:
    """Return the seconds of every opening, by tree; they alternate, so that a change of load affects all."""
    paths = []
    for number, tree in enumerate(trees):
        paths.append(os.path.join(folder, f"{number}.db"))
        run(tree, MAKER, paths[-1])
        run(tree, FILL, paths[-1], source)
    times: list[list[float]] = [[] for _ in trees]
    for _ in range(runs):
        for number, tree in enumerate(trees):
            times[number].append(statistics.median(run(tree, OPENER, paths[number], "5")))
    return times


def begun(trees: Sequence[str], folder: str, runs: int) -> list[tuple[float, float]]:
    """Return the medians of making a new memory, by tree: milliseconds, and those of processor time."""
    times: list[list[float]] = [[] for _ in trees]
    for _ in range(runs):
        for number, tree in enumerate(trees):
            times[number] += run(tree, BEGINNER, folder)
    return [(statistics.median(one[::2]) * 1e3, statistics.median(one[1::2]) * 1e3) for one in times]


def took(work: Callable[[], object], runs: int) -> float:
    """Return the median of so many runs, in milliseconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def painted(program: str, path: str, says: str) -> float:
    """Return the seconds from starting the application on a memory to its first frame."""
    with Terminal([program, "--db", path], CLEAN, SIZE) as terminal:
        paint = terminal.wait_for(LAST_ROW)
        terminal.wait_for(says)
        return paint - terminal.started


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=45_000)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--before", help="a checkout of the state to compare with")
    options = parser.parse_args(arguments)
    source = memory(options.facts, options.facts)
    heading("opening", f"{os.path.getsize(source) / 1e6:.0f} MB, {options.runs} runs")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        trees = [ROOT, *([os.path.abspath(options.before)] if options.before else [])]
        (new, cpu), *before = begun(trees, folder, options.runs)
        print(
            f"new: made and closed        {new:8.2f} ms, processor {cpu:.2f} ms   {verdict(cpu, NEW_AIM, ' ms')}"
        )
        for one, other in before:
            print(f"     in the state before    {one:8.2f} ms, processor {other:.2f} ms")
        times = opened(trees, source, folder, options.runs)
        print(f"own: opened and closed      {statistics.median(times[0]) * 1e3:8.2f} ms")
        if options.before:
            ratio = pairs(times[0], times[1])
            print(f"     in the state before    {statistics.median(times[1]) * 1e3:8.2f} ms")
            print(f"     times that (pairs)     {ratio:8.2f}      {verdict(ratio, OWN_AIM)}")
        foreign = shutil.copy(source, os.path.join(folder, "foreign.db"))
        raw = apsw.Connection(foreign)
        raw.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('identity', 'somebody else')")
        raw.close()
        connection = apsw.Connection(foreign, flags=apsw.SQLITE_OPEN_READONLY)
        for name, work in (
            ("schema by digest", lambda: schema_check.check_schema(connection, foreign, SCHEMA_VERSION)),
            ("schema row by row", lambda: schema_check.compare_schema(connection, foreign, SCHEMA_VERSION)),
        ):
            value = took(work, options.runs)
            print(f"foreign: {name:19}{value:8.2f} ms   {verdict(value, SCHEMA_AIM, ' ms')}")
        connection.close()
        value = took(lambda: check_foreign_file(foreign), 3)
        print(f"foreign: {'quick check':19}{value:8.2f} ms   {verdict(value, CHECK_AIM, ' ms')}")
        program = installed().memoranda
        own = os.path.join(folder, "0.db")
        shown = [(painted(program, foreign, "finds it whole"), painted(program, own, "FACTS")) for _ in range(7)]
        paint = pairs([one for one, _ in shown], [other for _, other in shown])
        print(f"foreign: {'first paint':19}{statistics.median(one for one, _ in shown) * 1e3:8.2f} ms")
        print(f"         {'times own (pairs)':19}{paint:8.2f}      {verdict(paint, PAINT_AIM)}")


if __name__ == "__main__":
    main()
