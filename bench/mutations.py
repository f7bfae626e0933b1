"""Change the code in one place at a time, and see whether the tests notice.

    python -m bench.mutations [--run] [NUMBER ...]

Without `--run` it prints `bench/cases/mutations.jsonl`: what was changed, and how it ended when it was last run. With
`--run` each change (or those with these numbers) is made in a scratch copy of the tree, and the tests that are named
beside it run there until the first one fails: the change is killed. The results are written to the file. `why` judges
one that survived: equivalent, if no input tells the two apart. `gone` is one whose line was changed meanwhile, `not
run` one that was only listed."""

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
COPIED = ("store", "tui", "tests", "bench", "docs", "screenshots")
SECONDS = 600


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("number", nargs="*", type=int)
    options = parser.parse_args(arguments)
    cases = dict(enumerate(read(), start=1))
    chosen = {number: cases[number] for number in options.number or cases}
    if options.run:
        with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
            copy(Path(scratch))
            for number, case in chosen.items():
                case["result"] = run(Path(scratch), case)
                show(number, case)
            keep(cases)
    else:
        for number, case in chosen.items():
            show(number, case)
    counted = Counter(case["result"] for case in chosen.values())
    print(", ".join(f"{count} {result}" for result, count in counted.most_common()), f"of {len(chosen)}")


def read() -> list[dict[str, Any]]:
    """Return the changes: `file`, a line of it as it `was` and as it is `now`, without its indent, the `tests` that
    run, the `result`, and `why` where that has to be said."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def keep(cases: dict[int, dict[str, Any]]) -> None:
    """Write the results down."""
    lines = [json.dumps(case, ensure_ascii=False) for case in cases.values()]
    CASES.write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", *case["tests"]]
    write(path, after)
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        write(path, before)
    if done.returncode == 0:
        return "equivalent" if case["result"] == "equivalent" else "survived"
    return "killed"


def write(path: Path, text: str) -> None:
    """Write a module; its compiled form, which is known by its age in seconds and its size, is deleted."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
