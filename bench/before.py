"""Start-up, first paint, write and search of this tree against an earlier checkout of it, alternating.

    python -m bench.before FOLDER [--runs 15]

Both run in this environment's Python, each on a file that it created. Aims: 1.05 × the earlier state, and a first paint
of 1.3 × an empty Textual application."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

from bench.start import EMPTY, LAST_ROW, PAINT_AIM, SIZE
from bench.store import CLEAN, ROOT, heading, pairs, verdict
from bench.terminal import Terminal

AIM = 1.05
MAKE = """
import sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    for number in range(2_000):
        memory.facts.remember(f"The service {number} of team {number % 40} is deployed from branch {number % 7}.")
"""
START = "import os, time; start = time.perf_counter(); import tui.cli; print(time.perf_counter() - start)"
WRITE = """
import sys, time
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    memory.facts.remember(f"warm {sys.argv[2]}")
    start = time.perf_counter()
    for number in range(50):
        memory.facts.remember(f"Run {sys.argv[2]} notes the number {number}.")
    print((time.perf_counter() - start) / 50)
"""
SEARCH = """
import sys, time
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    memory.search("service")
    start = time.perf_counter()
    for number in range(50):
        memory.search(f"deployed team {number % 40} branch")
    print((time.perf_counter() - start) / 50)
"""
COMMAND = "import sys; from tui.main import main; main()"


def timed(tree: str, code: str, *arguments: str) -> float:
    """Run a few lines of Python on a tree; return the seconds that they print."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=_of(tree), check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def painted(tree: str, argv: Sequence[str]) -> float:
    """Return the seconds from starting an application to its first complete frame."""
    with Terminal(argv, {**CLEAN, "PYTHONPATH": tree}, SIZE) as terminal:
        return terminal.wait_for(LAST_ROW) - terminal.started


def _of(tree: str) -> dict[str, str]:
    return {**os.environ, **CLEAN, "PYTHONPATH": tree}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="the earlier checkout")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args(arguments)
    trees = [os.path.abspath(options.folder), ROOT]
    heading("before", f"{options.runs} runs each in turn")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)
        paths = [os.path.join(folder, f"{number}.db") for number in range(2)]
        for tree, path in zip(trees, paths, strict=True):
            subprocess.run([sys.executable, "-c", MAKE, path], env=_of(tree), check=True)
        rows: dict[str, Callable[[int, int], float]] = {
            "import of the command line": lambda which, run: timed(trees[which], START),
            "first paint": lambda which, run: painted(
                trees[which], [sys.executable, "-c", COMMAND, "--db", paths[which]]
            ),
            "write": lambda which, run: timed(trees[which], WRITE, paths[which], str(run)),
            "search": lambda which, run: timed(trees[which], SEARCH, paths[which]),
        }
        empty = []
        times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in rows}
        for run in range(-1, options.runs):  # the first run warms the page cache
            for name, measure in rows.items():
                for which in (0, 1) if run % 2 else (1, 0):
                    value = measure(which, run)
                    if run >= 0:
                        times[name][which].append(value)
            if run >= 0:
                empty.append(painted(ROOT, [sys.executable, "-c", EMPTY]))
    print(f"\n{'ms':28} before     now  ratio (pairs)")
    for name, (before, now) in times.items():
        ratio = pairs(now, before)
        old, new = (statistics.median(values) * 1e3 for values in (before, now))
        print(f"{name:28} {old:6.1f}  {new:6.1f}  {ratio:5.2f}   {verdict(ratio, AIM)}")
    ratio, floor = pairs(times["first paint"][1], empty), statistics.median(empty) * 1e3
    print(f"{'first paint / an empty app':28} {floor:6.1f}  {ratio:13.2f}   {verdict(ratio, PAINT_AIM)}")


if __name__ == "__main__":
    main()
