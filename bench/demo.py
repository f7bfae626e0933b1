"""What `memoranda demo` costs as a process: build a project with a year of memory and 254 commits.

    python -m bench.demo [--runs 11]

The floor is a Python that opens SQLite. The user waits for it before the first frame, so the aim is in seconds."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

from bench.store import environment, heading, installed, pairs, quantile, verdict

AIM_SECONDS = 3.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args(arguments)
    programs = installed()
    commands = {
        "python -c 'import apsw'": [programs.python, "-c", "import apsw"],
        "demo --json": [programs.memoranda, "demo", "FOLDER", "--json"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        heading("demo", f"{options.runs} runs each in turn")
        for run in range(-1, options.runs):  # the first run warms the page cache
            for name, argv in commands.items():
                target = os.path.join(folder, "demo")
                start = time.perf_counter()
                subprocess.run(
                    [target if word == "FOLDER" else word for word in argv],
                    cwd=folder,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    check=True,
                )
                if run >= 0:
                    times[name].append(time.perf_counter() - start)
                shutil.rmtree(target, ignore_errors=True)
    base = times["python -c 'import apsw'"]
    print(f"\n{'ms':28} median    p95      ×  (pairs)   aim")
    for name, values in times.items():
        median = statistics.median(values)
        aim = AIM_SECONDS if name == "demo --json" else None
        print(
            f"{name:28} {median * 1e3:6.1f} {quantile(values, 0.95) * 1e3:6.1f} {median / statistics.median(base):6.2f}"
            f"  ({pairs(values, base):.2f})   {verdict(quantile(values, 0.95), aim, ' s')}"
        )


if __name__ == "__main__":
    main()
