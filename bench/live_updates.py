"""The application beside a continuous writer: its share of a core, and the delay until the last change is shown.

    python -m bench.live_updates [--seconds 30] [--rate 20] [--facts 200] [--size 120x40]

The real application in a pseudo-terminal shows the facts while another process remembers `rate` facts a second. The
share is the CPU time of the application's process, all its threads, divided by the elapsed time. Then the writer stops,
and the last fact must be shown soon."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from bench.store import environment, heading, verdict
from bench.terminal import Terminal
from store.memory import Memory

AIM = 10.0  # per cent of a core
SIZES = ((80, 24), (120, 40), (180, 50))
READY = 60.0  # maximum seconds until existing texts are embedded
SHOWN_AIM = 2.0  # seconds from the last write to its line on the screen
WRITER = """
import sys, time
from store.memory import Memory
path, seconds, rate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
with Memory.open(path, "mcp") as memory:
    start, number = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < seconds:
        memory.facts.remember(f"Live fact {number:05} came from another process.", actor="agent")
        number += 1
        time.sleep(max(0, start + number / rate - time.perf_counter()))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--facts", type=int, default=200, help="how many there are before; at least 2")
    parser.add_argument("--size", help="columns x lines of the only terminal, for instance 120x40")
    options = parser.parse_args(arguments)
    application = [sys.executable, "-m", "tui.main"]
    heading("live updates", f"{options.rate:g} foreign writes a second for {options.seconds:g} s")
    print(f"\n{'':10}{'share of a core':>17}  aim         last change shown  aim")
    facts = max(2, options.facts)
    sizes = [tuple(map(int, options.size.split("x")))] if options.size else SIZES
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            path = os.path.join(folder, "memory.db")
            with Memory.open(path) as memory:
                memory.database.connection.pragma("synchronous", 0)
                for number in range(facts):
                    memory.facts.remember(f"Fact number {number} of those that were there before.")
            home = {**environment(), "PYTHONPATH": os.getcwd()}  # the memory opens as this installation's own
            with Terminal([*application, "--db", path], home, size) as terminal:
                terminal.wait_for(rf"All {facts:,}\b", timeout=60)
                ready = time.monotonic() + READY
                while time.monotonic() < ready and (
                    terminal.quiet(2.0, 5) is not None or "indexing" in " ".join(terminal.screen[:2])
                ):
                    pass  # wait until existing texts are embedded
                before, start = _cpu(terminal.process.pid), time.perf_counter()
                writer = [sys.executable, "-c", WRITER, path, str(options.seconds), str(options.rate)]
                with subprocess.Popen(writer, env=home, stdout=subprocess.DEVNULL) as process:
                    while process.poll() is None:
                        terminal.read(0.05)
                share = 100 * (_cpu(terminal.process.pid) - before) / (time.perf_counter() - start)
                last = time.perf_counter()
                with Memory.open(path) as memory:
                    count = memory.facts.count_by_state(memory.now)["active"]
                while f"All {count:,} " not in "".join(terminal.screen[:4]):
                    terminal.read(0.05)
                    if time.perf_counter() - last > 20:
                        raise AssertionError(f"{count:,} facts are not shown: {terminal.screen[:2]}")
                shown = time.perf_counter() - last
        print(
            f"{size[0]}×{size[1]:<6}{share:15.1f} %  {verdict(share, AIM, ' %'):10}  {shown:15.2f} s"
            f"  {verdict(shown, SHOWN_AIM, ' s')}",
            flush=True,
        )


def _cpu(process: int) -> float:
    """Return the seconds of processor time of a process, all its threads."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
