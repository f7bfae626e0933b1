"""How long a new timeline takes to read a large repository, and how long to see that nothing is new.

    python -m bench.git [--commits 20000]

The repository is made by `git fast-import` (tests/support/repositories.py): a year of work with merges.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise

from bench.store import CACHE, heading, verdict
from store.git.repository import Repository
from store.memory import Memory
from store.services import maintenance
from tests.support.repositories import build_repository

AIM = 10.0  # seconds: "within seconds", while the application is in use and the batches arrive
NOTHING_AIM = 20.0  # ms: each command that reads looks for new commits first
LOOK_AIM = 1.0  # ms: an open window looks every two seconds
RUNS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=20_000)
    options = parser.parse_args(arguments)
    root = os.path.join(CACHE, f"repository-{options.commits}")
    if not os.path.exists(os.path.join(root, "complete")):
        os.makedirs(CACHE, mode=0o700, exist_ok=True)
        build_repository(root, options.commits, merges=options.commits // 100)
        with open(os.path.join(root, "complete"), "x"):
            pass
    heading("git", f"{options.commits:,} commits, {RUNS} new timelines")
    source = Repository(root)
    whole, first, batches, nothing, looks, moved, reading = [], [], [], [], [], [], []
    for _ in range(RUNS):
        with (
            tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder,
            Memory.open(os.path.join(folder, "memory.db"), "app") as memory,
        ):
            moments = [time.perf_counter()]
            new = maintenance.catch_up(memory, source, lambda done, total, to=moments: to.append(time.perf_counter()))
            whole.append(time.perf_counter() - moments[0])
            assert new == options.commits, new
            first.append(moments[2] - moments[0])
            batches += [b - a for a, b in pairwise(moments[2:])]
            for _ in range(11):
                start = time.perf_counter()
                assert maintenance.catch_up(memory, source) == 0
                nothing.append(time.perf_counter() - start)
            seen = maintenance.git_changed(memory, root, "")
            for _ in range(11):
                start = time.perf_counter()
                assert maintenance.git_changed(memory, root, seen or "") is None
                looks.append(time.perf_counter() - start)
            with memory.database.write("agent", "bench") as write:
                write.execute("UPDATE meta SET value = '' WHERE key = ?", (maintenance.TIPS,))
            start = time.perf_counter()
            assert maintenance.catch_up(memory, source) == 0
            moved.append(time.perf_counter() - start)
        start = time.perf_counter()
        assert sum(1 for _ in source.read(source.missing([]))) == options.commits
        reading.append(time.perf_counter() - start)
    print(f"\n{'':44} median     max  aim (median)")
    _line("into a new timeline, s", whole, 1, verdict(statistics.median(whole), AIM, " s"))
    _line("  of which git's own reading, alone, s", reading, 1)
    _line("  until the first 250 are there, s", first, 1)
    _line("  a batch of 250, ms", batches, 1e3)
    print(f"  {'commits per second':42} {options.commits / statistics.median(whole):6,.0f}")
    _line("all compared, after a tip was collected, ms", moved, 1e3)
    _line("a look that nothing stirred, ms", looks, 1e3, verdict(statistics.median(looks) * 1e3, LOOK_AIM, " ms"))
    _line("nothing new, ms", nothing, 1e3, verdict(statistics.median(nothing) * 1e3, NOTHING_AIM, " ms"))


def _line(name: str, seconds: Sequence[float], scale: float, aim: str = "") -> None:
    print(f"{name:44} {statistics.median(seconds) * scale:6.2f} {max(seconds) * scale:7.2f}  {aim}")


if __name__ == "__main__":
    main()
