"""What it costs to know which memory a folder has, beside a process of git.

    python -m bench.projects [--known 500] [--runs 200]

Real repositories in a home of its own; `look` and `resolve` are timed together, against `git rev-parse HEAD`."""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.store import heading, verdict
from store.memory import Memory
from store.projects.locating import locate
from store.projects.registry import Place, Project, save_project
from store.projects.resolver import look, resolve
from tests.support.repositories import commit, create, git

AIM = 0.5  # of one git process, in a checkout that is marked


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=500)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args(arguments)
    heading("projects", f"{options.known} known projects, median of {options.runs} runs")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as scratch:
        os.environ["HOME"] = f"{scratch}/home"
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "MEMORANDA_DB"):
            os.environ.pop(name, None)
        folders = build(Path(scratch), options.known)
        process = ["git", "-C", str(folders["a checkout"]), "rev-parse", "HEAD"]
        one = cost(lambda: subprocess.run(process, capture_output=True, check=True), options.runs)
        print(f"\none process of git, ms{one * 1_000:20.2f}\n\n{'':24}{'ms':>8}{'÷ git':>8}  aim")
        for name, folder in folders.items():
            took = cost(lambda: resolve(look(str(folder), os.environ["HOME"])), options.runs)  # noqa: B023
            said = verdict(took / one, AIM, " ×") if name != "an unknown clone" else "until it is answered once"
            print(f"{name:24}{took * 1_000:8.2f}{took / one:8.2f}  {said}")


def build(scratch: Path, known: int) -> dict[str, Path]:
    """Return folders of each kind, beside other projects that are known."""
    shop = scratch / "shop"
    create(shop)
    commit(shop, "first", {"README.md": "1"})
    Memory(locate(None, {}, str(shop)), "cli").close()
    for number in range(known):
        place = Place(f"{scratch}/other-{number}/.git", f"{scratch}/other-{number}")
        shas = (f"{number:040x}",)
        save_project(Project(f"{number:016x}", f"other-{number}", f"{scratch}/{number}.db", (place,), shas))
    deep = shop.joinpath(*"abcdef")
    deep.mkdir(parents=True)
    git(shop, "worktree", "add", "--quiet", str(scratch / "feat"), "-b", "feat")
    subprocess.run(["git", "clone", "--quiet", str(shop), str(scratch / "clone")], check=True)
    (scratch / "plain").mkdir()
    names = ("a checkout", "six folders deep", "a worktree", "no git", "an unknown clone")
    return dict(zip(names, (shop, deep, scratch / "feat", scratch / "plain", scratch / "clone"), strict=True))


def cost(work: Callable[[], object], runs: int) -> float:
    """Return the median seconds of some work."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    main()
