"""How long a start takes: an empty Textual application, Memoranda on an empty memory, Memoranda on a large one.

    python -m bench.start [--starts 11] [--facts 100000] [--entries 200000]

First paint is the last byte of the first complete frame; the rows are there when the cursor's row is painted, and the
lists are complete when the top line counts the facts. The three alternate, so that a change of load affects all. The
aims are in the table."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.store import CLEAN, heading, installed, memory, pairs, quantile, verdict
from bench.terminal import Terminal
from store.memory import Memory

SIZE = (120, 40)
EMPTY = "from textual.app import App\nclass Empty(App):\n    pass\nEmpty().run()"
LAST_ROW = rb"\x1b\[%d;1H[^\x1b]*(?:\x1b\[[0-9;]*m[^\x1b]*)+" % SIZE[1]
PAINT_AIM, SIZE_AIM, ROWS_AIM = 1.3, 1.1, 1.6


class Start(NamedTuple):
    """Seconds from starting the process to each of three visible events."""

    paint: float
    rows: float
    counted: float


def start(argv: Sequence[str], title: str = "", rows: str = "", counted: str = "") -> Start:
    """Measure one start; `title`, `rows` and `counted` are regular expressions of output that only this program has."""
    with Terminal(argv, CLEAN, SIZE) as terminal:
        paint = terminal.wait_for(LAST_ROW)
        if title:
            paint = max(paint, terminal.wait_for(title))
        shown = max(paint, terminal.wait_for(rows)) if rows else paint
        known = max(paint, terminal.wait_for(counted, timeout=60)) if counted else paint
        return Start(*(moment - terminal.started for moment in (paint, shown, known)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=11)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=200_000)
    options = parser.parse_args(arguments)
    programs = installed()
    large = memory(options.facts, options.entries)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        small = os.path.join(folder, "small.db")
        Memory.open(small).close()
        time.sleep(1)
        heading("start", f"{options.starts} starts each in turn, {SIZE[0]}×{SIZE[1]}")
        command = [programs.memoranda, "--db"]
        starts: dict[str, list[Start]] = {"empty app": [], "empty memory": [], "large memory": []}
        for _ in range(options.starts):
            starts["empty app"].append(start([programs.python, "-c", EMPTY]))
            starts["empty memory"].append(start([*command, small], "Facts", "No facts yet"))
            starts["large memory"].append(start([*command, large], "Facts", "▹|▸", r"All [\d,]{4,}"))
    floor = [one.paint for one in starts["empty app"]]
    first = [one.paint for one in starts["empty memory"]]
    print(f"large: {options.facts:,} facts, {options.entries:,} entries; × from medians (from pairs)\n")
    print(f"{'':34} median    p95     ×  (pairs)  aim")
    for name, runs in starts.items():
        _line(
            f"{name}: first paint", [one.paint for one in runs], floor, None if name == "empty app" else PAINT_AIM
        )
    _line("large memory / empty memory", [one.paint for one in starts["large memory"]], first, SIZE_AIM)
    for name in ("empty memory", "large memory"):
        _line(f"{name}: first rows", [one.rows for one in starts[name]], floor, ROWS_AIM)
    _line("large memory: all counted", [one.counted for one in starts["large memory"]], floor, None)


def _line(name: str, times: Sequence[float], floor: Sequence[float], aim: float | None) -> None:
    """Print a line of the table; times in milliseconds."""
    ratio = statistics.median(times) / statistics.median(floor)
    print(
        f"{name:34} {statistics.median(times) * 1e3:6.1f} {quantile(times, 0.95) * 1e3:6.1f} {ratio:5.2f}"
        f"  ({pairs(times, floor):.2f})   {verdict(ratio, aim)}"
    )


if __name__ == "__main__":
    main()
