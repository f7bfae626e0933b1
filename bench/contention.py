"""Many writers and a reader on one file, each a process of its own, through the public API: is any write refused?

    python -m bench.contention [--seconds 8] [--writers 20] [--held 15]

Aim: 99.9 % of the writes are acknowledged within 250 ms, while each writer writes without a pause. Every process writes
once before counting, since the first write also imports code. Every write commits to the disk, so the result is bounded
by the machine's load and the duration of a sync, which are printed.

Then another program holds a read transaction for `held` seconds (0: not at all), beside as many writers and beside one
that writes long texts as fast as possible; the WAL must stay bounded. At the end every acknowledged fact must be there,
and the file intact. It takes a minute and a half by default."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

from bench.store import environment, heading, installed, quantile, verdict
from store.database import wal
from store.memory import Memory

WAIT = 250  # milliseconds for 99.9 % of the writes beside 19 other writers
LOG = 256 << 20  # maximum bytes of the WAL beside a reader that stays
LONG = 15_000  # characters of a long text
HOOK = 300  # milliseconds for the whole of an agent's hook; later writes are spooled
HOLDER = """
import sys
import apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN; SELECT count(*) FROM facts").fetchall()
print("reads", flush=True)
sys.stdin.read()
"""
WRITER = """
import json, sys, time
from store.memory import Memory
path, seconds, name, length = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
times, errors, numbers = [], [], []
with Memory.open(path, "cli") as memory:
    numbers.append(memory.facts.remember(f"Writer {name} is ready.")[0])
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        n = len(times) + len(errors)
        try:
            if length:
                numbers.append(memory.facts.remember(f"Writer {name} says {n} " + "again " * (length // 6))[0])
            elif n % 10 == 9:
                memory.facts.confirm(numbers[-1:])
            elif n % 10 == 8:
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
            listed = memory.facts.get_many(memory.facts.ids(memory.now, sort="newest", limit=50))
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
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--writers", type=int, default=20)
    parser.add_argument("--held", type=float, default=15, help="seconds that another program reads an old state")
    options = parser.parse_args(arguments)
    python = installed().python
    writers = f"{options.writers} writers"
    heading("contention", f"{writers} and a reader for {options.seconds:g} s")
    print(f"a sync of this disk takes {_sync():.1f} ms\n")
    print(f"{'':24} calls   per s  median    p95    max  ms  > 300 ms  errors  aim")
    _run(python, writers, options.writers, options.seconds, held=False)
    if options.held:
        _run(python, f"{writers}, log held", options.writers, options.held, held=True)
        _run(python, "long texts, log held", 1, options.held, held=True, length=LONG)
    print("load afterwards: " + " ".join(f"{value:.2f}" for value in os.getloadavg()))


def _run(python: str, name: str, writers: int, seconds: float, held: bool, length: int = 0) -> None:
    """Run so many writers, with texts of this length (0: short ones), beside a reader of ours; print the result."""
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        path = os.path.join(folder, "shared.db")
        Memory.open(path).close()
        codes = [WRITER] * writers + [READER]
        processes = [
            _start(python, code, path, seconds, n, length, folder) for n, code in enumerate(codes, start=1)
        ]
        for process in processes:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise AssertionError("a process could not open the memory")
        holder = _hold(python, path, folder) if held else None
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        longest, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            longest = max(longest, wal.wal_length(path))
            time.sleep(0.05)
        if holder is not None:
            holder.communicate("")
        results = [json.loads(process.communicate()[0]) for process in processes]
        wrong = _wrong(path, results[:-1])
    times = [time for result in results[:-1] for time in result[0]]
    _line(name, times, [error for result in results[:-1] for error in result[1]], seconds)
    _line("  the reader", results[-1][0], results[-1][1], seconds)
    waits = [time * 1e3 for time in times]
    last = quantile(waits, 0.999)
    counts = [len(result[0]) for result in results[:-1]]
    print(
        f"  a writer's wait: p50 {statistics.median(waits):.0f} ms, p99.9 {last:.0f} ms"
        f"  {verdict(last, None if held else WAIT, ' ms')}\n"
        f"  writes of one writer: {min(counts)} to {max(counts)}\n"
        f"  the log's greatest size: {longest / 1e6:.1f} MB  {verdict(longest / 1e6, LOG / 1e6, ' MB')}\n"
        f"  afterwards: {wrong or 'every acknowledged fact is there, the file is whole, history has no gap  ok'}\n",
        flush=True,
    )


def _sync() -> float:
    """Return the median milliseconds of 50 syncs of one page."""
    taken = []
    with tempfile.TemporaryFile() as file:
        for _ in range(50):
            file.write(bytes(4096))
            file.flush()
            begun = time.perf_counter()
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(taken)


def _hold(python: str, path: str, folder: str) -> subprocess.Popen[str]:
    """Start a program that reads the memory's present state until its standard input ends."""
    process = subprocess.Popen(
        [python, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=folder,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def _start(
    python: str, code: str, path: str, seconds: float, name: int, length: int, folder: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-c", code, path, str(seconds), str(name), str(length)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=folder,
        text=True,
    )


def _wrong(path: str, writers: Sequence[list[list[int]]]) -> str:
    """Return what is wrong with the result; empty if nothing is."""
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
        f"{name:24}{len(times):5} {len(times) / seconds:7.0f} {statistics.median(ms):7.2f} {quantile(ms, 0.95):6.2f}"
        f" {max(ms):6.1f}     {sum(one > HOOK for one in ms):8} {len(errors):7}  0"
        f"  {'MISS ' + errors[0] if errors else 'ok'}"
    )


if __name__ == "__main__":
    main()
