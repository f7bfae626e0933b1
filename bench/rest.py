"""What the application takes of a processor while nobody uses it, beside an empty Textual application.

    python -m bench.rest [--seconds 120] [--facts 10000]

The memory lies in a git repository of its own, and has been indexed. Both run at once, in terminals of 120×40. The
share counts the whole process after SETTLED seconds without a key, of which the application rests after half a minute.
Linux alone says what a process took to ten milliseconds. Aim: .3 % of a processor."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence

from bench.start import EMPTY, SIZE
from bench.store import CLEAN, heading, installed, memory, own, verdict
from bench.terminal import Terminal

SETTLED = 60.0
SHARE = 0.3  # % of a processor
TICK = os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--facts", type=int, default=10_000)
    options = parser.parse_args(arguments)
    programs = installed()
    source = memory(options.facts, options.facts)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)
        subprocess.run(["git", "init", "-q"], check=True)
        path = own(shutil.copy(source, os.path.join(folder, "rest.db")))
        heading("rest", f"{options.seconds:.0f} s, {options.facts:,} facts")
        environment = {**CLEAN, "MEMORANDA_WITHOUT": "model"}
        with (
            Terminal([programs.python, "-c", EMPTY], CLEAN, SIZE) as empty,
            Terminal([programs.memoranda, "--db", path], environment, SIZE) as terminal,
        ):
            terminal.wait_for(r"F#\d+", timeout=60)
            _wait((empty, terminal), SETTLED)
            before = [_ticks(one.process.pid) for one in (empty, terminal)]
            start = time.monotonic()
            _wait((empty, terminal), options.seconds)
            spent = time.monotonic() - start
            shares = [
                100 * (_ticks(one.process.pid) - ticks) / TICK / spent
                for one, ticks in zip((empty, terminal), before, strict=True)
            ]
        print(f"{'an empty Textual application':32}{shares[0]:6.2f} %")
        print(f"{'memoranda at rest':32}{shares[1]:6.2f} %   {verdict(shares[1], SHARE, ' %')}")


def _wait(terminals: Sequence[Terminal], seconds: float) -> None:
    """Read what is drawn, so that nobody waits for a full terminal."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for terminal in terminals:
            terminal.read(0.5)


def _ticks(pid: int) -> int:
    """Return the processor time of a process, its threads included, in the system's ticks."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main()
