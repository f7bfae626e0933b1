"""Four writers and a reader on one file, each a process of its own, through the public interface: is anything refused?

    python -m bench.contention [--seconds 20] [--writers 4]

Every write commits to the disk. In the end every fact that was acknowledged must be there, and the file be whole.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence

from bench.store import environment, heading, installed, quantile
from store.memory import Memory

HOOK = 300  # ms that an agent's hook has in all; a write past that goes to the spool
WRITER = """
import json, sys, time
from store.memory import Memory
path, seconds, name = sys.argv[1], float(sys.argv[2]), sys.argv[3]
times, errors, numbers = [], [], []
with Memory.open(path, "cli") as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        n = len(times) + len(errors)
        try:
            if n % 10 == 9 and numbers:
                memory.facts.confirm(numbers[-1:])
            elif n % 10 == 8 and numbers:
                numbers.append(memory.facts.correct(numbers[-1], f"Writer {name} corrected its fact number {n} today."))
            else:
                numbers.append(memory.facts.remember(f"Writer {name} deploys the service number {n} on Tuesdays.")[0])
        except Exception as error:
            errors.append(repr(error))
        else:
            times.append(time.perf_counter() - start)
print(json.dumps([times, errors, numbers]))
"""
READER = """
import json, sys, time
from store.memory import Memory
path, seconds, name = sys.argv[1], float(sys.argv[2]), sys.argv[3]
times, errors, last = [], [], 0
with Memory.open(path, "cli") as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        try:
            found = memory.search("service deploys tuesdays", 20).hits
            listed = memory.facts.many(memory.facts.ids(memory.now, sort="newest", limit=50))
            newest = max((fact.id for fact in listed), default=0)
            if newest < last:
                raise AssertionError(f"the newest fact was {last} and is {newest}")
            last = newest
        except Exception as error:
            errors.append(repr(error))
        else:
            times.append(time.perf_counter() - start)
print(json.dumps([times, errors, []]))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--writers", type=int, default=4)
    options = parser.parse_args(arguments)
    python = installed().python
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        path = os.path.join(folder, "shared.db")
        heading("contention", f"{options.writers} writers and a reader for {options.seconds:g} s")
        codes = [WRITER] * options.writers + [READER]
        processes = [_start(python, code, path, options.seconds, n, folder) for n, code in enumerate(codes, start=1)]
        for process in processes:  # all have opened the new file, which is a race of its own
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise AssertionError("a process could not open the memory")
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        given = [process.communicate()[0] for process in processes]
        results = [json.loads(text) for text in given]
        wrong = _wrong(path, results[:-1])
    print(f"\n{'':12} calls   per s  median    p95    max  ms  > 300 ms  errors  aim")
    for n, (times, errors, _) in enumerate(results[:-1], start=1):
        _line(f"writer {n}", times, errors, options.seconds)
    _line(
        "all writers", [t for r in results[:-1] for t in r[0]], [e for r in results[:-1] for e in r[1]], options.seconds
    )
    _line("reader", results[-1][0], results[-1][1], options.seconds)
    print(f"\nafterwards: {wrong or 'every acknowledged fact is there, the file is whole, history has no gap  ok'}")


def _start(python: str, code: str, path: str, seconds: float, name: int, folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-c", code, path, str(seconds), str(name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=folder,
        text=True,
    )


def _wrong(path: str, writers: Sequence[list[list[int]]]) -> str:
    """What is not as it must be; empty when all is well."""
    with Memory.open(path) as memory:
        value = memory.database.value
        said = {number for _, _, numbers in writers for number in numbers}
        there = {number for (number,) in memory.database.rows("SELECT id FROM facts")}
        steps, newest = value("SELECT count(*) FROM history"), value("SELECT max(seq) FROM history")
        faults = [
            f"{len(said - there)} acknowledged facts are missing  MISS" if said - there else "",
            f"integrity: {whole}  MISS" if (whole := value("PRAGMA integrity_check")) != "ok" else "",
            f"history has {steps} steps up to number {newest}  MISS" if steps != newest else "",
            "corpus and facts differ  MISS"
            if value("SELECT count(*) FROM corpus WHERE kind = 'fact'") != len(there)
            else "",
        ]
    return ", ".join(filter(None, faults))


def _line(name: str, times: Sequence[float], errors: Sequence[str], seconds: float) -> None:
    ms = [time * 1e3 for time in times] or [0.0]
    print(
        f"{name:12} {len(times):5} {len(times) / seconds:7.0f} {statistics.median(ms):7.2f} {quantile(ms, 0.95):6.2f}"
        f" {max(ms):6.1f}     {sum(one > HOOK for one in ms):8} {len(errors):7}  0"
        f"  {'MISS ' + errors[0] if errors else 'ok'}"
    )


if __name__ == "__main__":
    main()
