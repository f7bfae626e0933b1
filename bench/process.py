"""What one command costs as a fresh process: `memoranda remember` against `python -c "import apsw"`.

    python -m bench.process [--runs 31]

An agent's hook starts a process for each fact, so the floor is a Python that opens SQLite. All alternate."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

from bench.store import copy, environment, heading, installed, memory, pairs, quantile, verdict
from store.memory import Memory

AIM = 2.5


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=31)
    options = parser.parse_args(arguments)
    programs = installed()
    source = memory(100_000, 200_000)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        small, large = os.path.join(folder, "small.db"), copy(source, os.path.join(folder, "large.db"))
        with Memory.open(small) as new:
            for number in range(20):
                new.facts.remember(f"The service number {number} is deployed from the main branch only.")
        floor = [programs.python, "-c", "import apsw"]
        commands = {
            "python -c 'import apsw'": floor,
            "python -c ''": [programs.python, "-c", ""],
            "remember": [programs.memoranda, "--db", small, "remember", "We deploy on Tuesdays, number {}."],
            "remember, 300,000 records": [programs.memoranda, "--db", large, "remember", "The team of {} meets."],
            "remember, Spanish": [
                programs.memoranda,
                "--db",
                small,
                "remember",
                "Decisión {}: la migración, de día.",
            ],
            "where": [programs.memoranda, "--db", small, "where"],
            "facts --limit 5": [programs.memoranda, "--db", small, "facts", "--limit", "5"],
            "facts --limit 5, 300,000 records": [programs.memoranda, "--db", large, "facts", "--limit", "5"],
            "search deployed": [programs.memoranda, "--db", small, "search", "deployed"],
            "search, 300,000 records": [programs.memoranda, "--db", large, "search", "postgres migration"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        time.sleep(1)
        heading("process", f"{options.runs} runs each in turn")
        for run in range(-2, options.runs):  # the first two runs warm the page cache
            for name, argv in commands.items():
                seconds = _run([word.replace("{}", str(run + 1000)) for word in argv])
                if run >= 0:
                    times[name].append(seconds)
    print(f"\n{'ms':34} median    p95     ×  (pairs)  aim")
    base = times["python -c 'import apsw'"]
    for name, values in times.items():
        ratio = statistics.median(values) / statistics.median(base)
        aim = AIM if name == "remember" else None
        print(
            f"{name:34} {statistics.median(values) * 1e3:6.1f} {quantile(values, 0.95) * 1e3:6.1f} {ratio:5.2f}"
            f"  ({pairs(values, base):.2f})   {verdict(ratio, aim)}"
        )


def _run(argv: Sequence[str]) -> float:
    """Return the seconds from starting a process to its end. Raises if it failed."""
    start = time.perf_counter()
    subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
