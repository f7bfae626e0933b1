"""Memory files found in a folder that a person names: how many are found, missed and rubbish, beside plain rules.

    python -m bench.discovery [FOLDER …]

Made-up folders of several shapes (bench/cases/discovery.toml): a monorepo, a vault, a home folder, folders that only
what is in them tells, nested ones. Three ways to walk each: that of the product; every folder that does not begin with
a dot, without packages; every folder. With FOLDERs of your own each way's number of files is told, and its time. Aims:
at least 95 % found, no rubbish."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.store import heading, verdict
from store.tools.source import Troubles, find_files, left_out_lines, take_left_out

CASES = Path(__file__).with_name("cases") / "discovery.toml"
MOST_MISSED = 5.0


def _product(folder: str) -> Iterator[str]:
    return find_files(folder, ".md", [])


def _without_dots(folder: str) -> Iterator[str]:
    return _walk(folder, lambda name: name.startswith(".") or name in ("node_modules", "__pycache__", "venv"))


def _all(folder: str) -> Iterator[str]:
    return _walk(folder, lambda name: False)


def _walk(folder: str, skips: Callable[[str], bool]) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not skips(name)]
        yield from (os.path.join(place, name) for name in names if name.endswith(".md"))


WAYS = {"product": _product, "no dot folders": _without_dots, "every folder": _all}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    options = parser.parse_args(arguments)
    heading("discovery", "memory files of folders that are named")
    if options.folders:
        _compare(options.folders)
    else:
        _judge(tomllib.loads(CASES.read_text(encoding="utf-8")))


def _judge(shapes: dict[str, dict[str, str]]) -> None:
    """Print how each way does in each made-up folder, and in all."""
    print(f"  {'folder':<10}{'way':<16}{'found':>8}{'missed':>8}{'rubbish':>9}")
    sums = {way: [0, 0, 0] for way in WAYS}
    for shape, lists in shapes.items():
        memory, noise = (set(lists[name].split()) for name in ("memory", "rubbish"))
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            for name in memory | noise:
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("- The team is five.\n", encoding="utf-8")
            for way, walk in WAYS.items():
                found = {os.path.relpath(path, folder) for path in walk(folder)}
                counts = len(found & memory), len(memory - found), len(found & noise)
                sums[way] = [before + now for before, now in zip(sums[way], counts, strict=True)]
                _line(shape, way, counts)
    for way, several in sums.items():
        _line("all", way, several)
    right, missed, rubbish = sums["product"]
    share = 100 * missed / (right + missed)
    print(f"\n  missed   {share:.0f} %  {verdict(share, MOST_MISSED, ' %')}")
    print(f"  rubbish  {rubbish}  {verdict(rubbish, 0)}")


def _line(shape: str, way: str, counts: Sequence[int]) -> None:
    print(f"  {shape:<10}{way:<16}{counts[0]:>8}{counts[1]:>8}{counts[2]:>9}")


def _compare(folders: Sequence[str]) -> None:
    """Print how many files each way finds in folders of the person, what it takes, and what the product leaves out."""
    for folder in folders:
        for way, walk in WAYS.items():
            start = time.perf_counter()
            number = sum(1 for _ in walk(folder))
            print(f"  {way:<16}{number:>8,} files  {time.perf_counter() - start:.2f} s  {folder}")
        troubles = Troubles()
        for _ in find_files(folder, ".md", troubles):
            pass
        print("\n".join(f"    {line}" for line in left_out_lines(take_left_out(troubles))))


if __name__ == "__main__":
    main()
