"""Processor time of whole commands of this tree against those of an earlier checkout, alternating.

    python -m bench.commands CHECKOUT [--runs 15]

Both run in this environment's Python with compiled bytecode, each in a project of its own. Aims: `--help` 2 × the
earlier state, `remember` 3 ×."""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.store import ROOT, heading

COMMANDS = (["--help"], ["remember", "fact {n}"], ["facts"], ["search", "heron"], ["show", "F#1"], ["history"])
RUN = "from tui.main import main; main()"
AIMS = {"--help": 2.0, "remember": 3.0}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args(arguments)
    heading("commands", "processor ms, the median")
    trees = {"before": options.checkout.resolve(), "now": Path(ROOT)}
    times: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="commands-") as scratch:
        for name, tree in trees.items():
            for package in ("store", "tui"):
                compileall.compile_dir(tree / package, quiet=2)
            seconds(tree, Path(scratch) / name, ["remember", "the staging database is heron-7"])
        for number in range(options.runs):
            for words in COMMANDS:
                for name, tree in trees.items():
                    typed = [word.format(n=number) for word in words]
                    times.setdefault((words[0], name), []).append(seconds(tree, Path(scratch) / name, typed))
    print(f"{'command':12}{'before':>9}{'now':>9}{'ratio':>8}")
    for first, *_ in COMMANDS:
        before, now = (statistics.median(times[first, name]) * 1000 for name in trees)
        aim = AIMS.get(first)
        said = f"  ≤ {aim:.1f} ×  {'ok' if now / before <= aim else 'MISS'}" if aim else ""
        print(f"{first:12}{before:9.1f}{now:9.1f}{now / before:8.2f}{said}")


def seconds(tree: Path, folder: Path, words: Sequence[str]) -> float:
    """Run a command of a checkout in a folder; return its processor time."""
    (folder / "project").mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "PYTHONPATH": os.fspath(tree), "HOME": os.fspath(folder)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", RUN, *words]
    with subprocess.Popen(command, cwd=folder / "project", env=environ, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{words} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
