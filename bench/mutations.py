"""Change the code in one place at a time, and see whether the tests notice.

    python -m bench.mutations [--faults] [--run] [NUMBER ...]

Without `--run` it prints `bench/cases/mutations.jsonl`: what was changed, and how it ended when it was last run. With
`--run` each change (or those with these numbers) is made in a scratch copy of the tree, and the tests that are named
beside it run there until the first one fails: the change is killed. The results are written to the file. `why` judges
one that survived: equivalent, if no input tells the two apart. `gone` is one whose line was changed meanwhile, `not
run` one that was only listed.

With `--faults` the list is `bench/cases/faults.jsonl`: faults at places drawn by lot from every package, chosen without
a look at the tests. None names its tests: the fast tests run first, then all, in each case those of the package before
the others, and the result says which found it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CASES = ROOT / "bench" / "cases" / "mutations.jsonl"
FAULTS = CASES.with_name("faults.jsonl")
COPIED = ("store", "tui", "tests", "bench", "docs", "screenshots")
SECONDS = 1_200


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("number", nargs="*", type=int)
    options = parser.parse_args(arguments)
    path = FAULTS if options.faults else CASES
    cases = dict(enumerate(read(path), start=1))
    chosen = {number: cases[number] for number in options.number or cases}
    if options.run:
        with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
            copy(Path(scratch))
            for number, case in chosen.items():
                case["result"] = run(Path(scratch), case)
                show(number, case)
                keep(path, cases)
    else:
        for number, case in chosen.items():
            show(number, case)
    counted = Counter(case["result"] for case in chosen.values())
    print(", ".join(f"{count} {result}" for result, count in counted.most_common()), f"of {len(chosen)}")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the changes: `file`, a line of it as it `was` and as it is `now`, without its indent, the `tests` that
    run, the `result`, and `why` where that has to be said."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def keep(path: Path, cases: dict[int, dict[str, Any]]) -> None:
    """Write the results down."""
    lines = [json.dumps(case, ensure_ascii=False) for case in cases.values()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def show(number: int, case: dict[str, Any]) -> None:
    """Print a change and how it ended."""
    print(f"{number:3}  {case['result']:10}  {case['file']}")
    print(f"       - {case['was']}\n       + {case['now']}")
    if why := case.get("why"):
        print(f"       {why}", flush=True)


def copy(folder: Path) -> None:
    """Copy the tree to a folder."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)


def changed(text: str, was: str, now: str) -> str | None:
    """Return the text with its only line `was` changed to `now`; None if there is no such line, or several."""
    lines = text.split("\n")
    places = [place for place, line in enumerate(lines) if line.strip() == was]
    if len(places) != 1:
        return None
    line = lines[places[0]]
    lines[places[0]] = line[: len(line) - len(line.lstrip())] + now
    return "\n".join(lines)


def run(folder: Path, case: dict[str, Any]) -> str:
    """Make one change in the copy, run its tests, and take it back; return how it ended."""
    path = folder / case["file"]
    if not path.is_file():
        return "gone"
    before = path.read_text(encoding="utf-8")
    after = changed(before, case["was"], case["now"])
    if after is None:
        return "gone"
    write(path, after)
    try:
        for result, arguments in _stages(folder, case):
            if not passes(folder, arguments):
                return result
    finally:
        write(path, before)
    return "equivalent" if case["result"] == "equivalent" else "survived"


def _stages(folder: Path, case: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return what pytest is started with, one after the other, each with the result if it fails."""
    if "tests" in case:
        return [("killed", ["-n", "0", *case["tests"]])]
    package = folder / "tests" / Path(case["file"]).parent
    own = [str(package)] if package.is_dir() else []
    fast = ["-m", "not slow"]
    return [
        ("fast", [*fast, *own]),
        *([("fast", fast)] if own else []),
        *([("all", own)] if own else []),
        ("all", []),
    ]


def passes(folder: Path, arguments: Sequence[str]) -> bool:
    """Return whether the tests pass in the copy, or none were chosen; what takes longer than SECONDS has failed."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)


def write(path: Path, text: str) -> None:
    """Write a module; its compiled form, which is known by its age in seconds and its size, is deleted."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
