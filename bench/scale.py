"""Whether a million facts and a million timeline entries behave as a thousand do: both sizes in one table.

    python -m bench.scale [--starts 5] [--presses 40] [--facts 1000000] [--entries 1000000]

The large memory takes minutes to build, once, and 2.5 GB of the temporary directory, and as much again for the copy
that is written to, so this is not part of `python -m bench`. A key's latency ends with the first byte of its effect,
because while another process writes there is no last one. `seen` is the time from another process's commit to the
updated count of facts. Aims: keys and echo as in `bench.keys` and `bench.typing`, memory 80 MB."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from bench.start import EMPTY, SIZE, start
from bench.store import CLEAN, ROOT, Installed, heading, installed, memory, own, quantile
from bench.terminal import Terminal
from bench.typing import _type, queries
from store.memory import Memory

SMALL = (1_000, 1_000)
COUNTED = r"All [\d,]{3,}"
WRITES = 20
MEMORY_AIM, KEY_AIM, ECHO_AIM = 80.0, 15.0, 10.0  # MB, ms, ms
KEYS = {"down": "\x1b[B", "page down": "\x1b[6~"}
TYPED = (
    "rare word",
    "word of the middle",
    "common word",
    "two words",
    "question, English",
    "one letter",
    "stop word",
)
WRITER = """
import sys, time
from store.memory import Memory
with Memory.open(sys.argv[1], "mcp") as memory:
    for number in range(int(sys.argv[2])):
        memory.facts.remember(f"another process writes {time.time_ns()}")
        memory.events.log("tests_run")
        print(number, flush=True)
        time.sleep(float(sys.argv[3]))
"""
"""Another process, which writes a fact and an event so many times, with so many seconds in between."""

Figures = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--presses", type=int, default=40)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    programs = installed()
    sizes = {"small": SMALL, "large": (options.facts, options.entries)}
    paths = {name: memory(*size) for name, size in sizes.items()}
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        for name, path in paths.items():
            paths[name] = shutil.copyfile(path, os.path.join(folder, f"{name}.db"))
            os.chmod(paths[name], 0o600)
            own(paths[name])
        time.sleep(1)
        heading("scale", f"{' and '.join(f'{size[0]:,} facts + {size[1]:,} entries' for size in sizes.values())}")
        empty = _empty(programs)
        figures: dict[str, Figures] = {
            name: _starts(programs, path, options.starts) for name, path in paths.items()
        }
        for name, path in paths.items():
            figures[name] |= _session(programs, path, options.presses)
    print(f"an empty Textual application: {empty:.0f} MB\n\n{'':42}   small    large      ×")
    for line, value in figures["large"].items():
        under = figures["small"][line]
        print(f"{line:42} {under:7.1f} {value:8.1f} {value / under if under else 0:6.2f}{_aim(line, value)}")


def _aim(line: str, value: float) -> str:
    aim = MEMORY_AIM if line.endswith("MB") else ECHO_AIM if line.startswith("echo") else 0
    aim = KEY_AIM if line.startswith("key") else aim
    return f"  ≤ {aim:g}  {'ok' if value <= aim else 'MISS'}" if aim else ""


def _empty(programs: Installed) -> float:
    """Return the megabytes of an empty Textual application."""
    with Terminal([programs.python, "-c", EMPTY], CLEAN, SIZE) as terminal:
        terminal.quiet(1.0)
        return _megabytes(terminal, "VmRSS")


def _starts(programs: Installed, path: str, count: int) -> Figures:
    runs = [start([programs.memoranda, "--db", path], "FACTS", "▸", COUNTED) for _ in range(count)]
    return {
        "first paint, ms": statistics.median(run.paint for run in runs) * 1e3,
        "first rows, ms": statistics.median(run.rows for run in runs) * 1e3,
        "whole order, ms": statistics.median(run.counted for run in runs) * 1e3,
    }


def _session(programs: Installed, path: str, presses: int) -> Figures:
    """Run one long session of the application, measuring throughout."""
    figures: Figures = {}
    with Terminal([programs.memoranda, "--db", path], CLEAN, SIZE) as terminal:
        terminal.wait_for(COUNTED, timeout=120)
        terminal.quiet(1.0)
        figures["after the start, MB"] = _megabytes(terminal, "VmRSS")
        for name, key in KEYS.items():
            _latencies(figures, f"key {name}, idle", [_first(terminal, key, 0.15) for _ in range(presses)])
        terminal.write("g")
        terminal.quiet(0.5)
        for name, key in KEYS.items():
            _latencies(figures, f"key {name}, lists being read", _busy(terminal, path, key, presses))
        figures["seen: another's write, ms"] = statistics.median(_seen(terminal, path) for _ in range(5)) * 1e3
        figures["most until here, MB"] = _megabytes(terminal, "VmHWM")
        for _ in range(WRITES):
            terminal.write("y")
            terminal.quiet(0.4, timeout=6)
        terminal.quiet(2.0, timeout=10)
        figures[f"after {WRITES} writes, MB"] = _megabytes(terminal, "VmRSS")
        figures[f"most in {WRITES} writes, MB"] = _megabytes(terminal, "VmHWM")
        terminal.write("/")
        terminal.quiet(0.3)
        echoes = []
        asked = queries()
        for name in TYPED:
            found = []
            for query in asked[name]:
                some, hits = _type(terminal, query)
                echoes += some
                found.append(hits)
            figures[f"hits: {name}, ms"] = statistics.median(found)
        _latencies(figures, "echo while typing", echoes)
        figures["after the searches, MB"] = _megabytes(terminal, "VmRSS")
        figures["most in all, MB"] = _megabytes(terminal, "VmHWM")
    return figures


def _latencies(figures: Figures, name: str, times: Sequence[float]) -> None:
    figures[f"{name}: median, ms"] = statistics.median(times)
    figures[f"{name}: p95, ms"] = quantile(times, 0.95)
    figures[f"{name}: most, ms"] = max(times)


def _first(terminal: Terminal, key: str, settle: float) -> float:
    """Return the milliseconds from a key to the first byte after it; then wait until nothing arrives for `settle`
    seconds."""
    while terminal.read(0):
        pass
    before, pressed = len(terminal.arrivals), terminal.write(key)
    if not terminal.read(5):
        return 5_000.0
    moment = terminal.arrivals[before][0]
    terminal.quiet(settle, timeout=1)
    return (moment - pressed) * 1e3


def _busy(terminal: Terminal, path: str, key: str, presses: int) -> list[float]:
    """Measure presses while another process writes four times a second."""
    writer = _writer(path, presses, 0.25)
    times = []
    try:
        while len(times) < presses and writer.poll() is None:
            times.append(_first(terminal, key, 0.05))
            terminal.quiet(0.1, timeout=0.1)
    finally:
        writer.kill()
        writer.wait()
    terminal.quiet(2.0, timeout=30)
    return times


def _seen(terminal: Terminal, path: str) -> float:
    """Return the seconds from another process's new fact to the updated count of facts."""
    before = len(terminal.output)
    writer = _writer(path, 1, 0)
    assert writer.stdout is not None
    writer.stdout.readline()
    committed = time.perf_counter()
    writer.wait()
    with Memory.open(path) as opened:
        count = opened.database.value("SELECT count(*) FROM facts WHERE status = 'active'")
    seen = terminal.wait_for(f"All {count:,}", timeout=60, start=before)
    terminal.quiet(1.0, timeout=20)
    return max(0.0, seen - committed)


def _writer(path: str, count: int, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, path, str(count), str(pause)]
    return subprocess.Popen(
        command, env={**os.environ, **CLEAN, "PYTHONPATH": ROOT}, stdout=subprocess.PIPE, text=True
    )


def _megabytes(terminal: Terminal, name: str) -> float:
    """Return the program's resident memory, now (VmRSS) or its peak (VmHWM); 0 except on Linux."""
    try:
        with open(f"/proc/{terminal.process.pid}/status") as status:
            found = re.search(rf"{name}:\s+(\d+) kB", status.read())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
