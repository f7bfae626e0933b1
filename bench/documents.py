"""How long it takes to index a folder of Markdown files, to detect that nothing changed, and to index one change.

python -m bench.documents [--files 1000]"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise

from bench.store import heading, verdict
from store.memory import Memory

WORDS = "invoice rounding deploy cache sqlite décision equipo memoria release branch schema token marzo factura".split()
FIRST_AIM = 5.0  # seconds for a thousand files: batches become available meanwhile
NOTHING_AIM = 50.0  # ms: each read command checks for changes first
CHANGED_AIM = 100.0  # ms: of the two seconds within which a change must be indexed
RUNS = 3


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000)
    files: int = parser.parse_args(arguments).files
    first, nothing, changed, batches, large = [], [], [], [], []
    chunks = size = 0
    for run in range(RUNS):
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            size = _write(folder, files, run)
            with Memory.open(os.path.join(folder, ".memoranda", "memory.db"), "app") as memory:
                moments: list[float] = []
                first.append(_timed(memory, lambda done, total, to=moments: to.append(time.perf_counter())))
                batches += [b - a for a, b in pairwise(moments)]
                chunks = memory.database.value("SELECT count(*) FROM chunks")
                nothing += [_timed(memory) for _ in range(11)]
                for number in range(11):
                    with open(os.path.join(folder, "memory", f"{number % 10}", f"{number}.md"), "a") as file:
                        file.write("\n## New\n\nOne more paragraph.\n")
                    changed.append(_timed(memory))
                with open(os.path.join(folder, "MEMORY.md"), "w") as file:
                    file.write("# Long\n\n" + _paragraph(random.Random(run)) * 5_000)
                large.append(_timed(memory))
    heading("documents", f"{files:,} files, {size / 1e6:.1f} MB, {chunks:,} chunks, {RUNS} new memories")
    print(f"\n{'':44} median     max  aim (median)")
    _line("all of them, into a new memory, s", first, 1, verdict(statistics.median(first), FIRST_AIM, " s"))
    _line("  a batch: reading, cutting, writing, ms", batches, 1e3)
    _line("nothing changed, ms", nothing, 1e3, verdict(statistics.median(nothing) * 1e3, NOTHING_AIM, " ms"))
    _line("one changed, ms", changed, 1e3, verdict(statistics.median(changed) * 1e3, CHANGED_AIM, " ms"))
    _line("one of 1.9 MB, ms", large, 1e3)


def _timed(memory: Memory, progress: object = None) -> float:
    start = time.perf_counter()
    memory.documents.update_index(progress or (lambda done, total: None))  # type: ignore[arg-type]
    return time.perf_counter() - start


def _write(folder: str, files: int, seed: int) -> int:
    """Write files of a few sections, dated long ago; return their bytes."""
    dice = random.Random(seed)
    size = 0
    for number in range(files):
        place = os.path.join(folder, "memory", str(number % 10))
        os.makedirs(place, exist_ok=True)
        text = f"# File {number}\n" + "".join(
            f"\n## Section {part}\n\n" + "\n".join(_paragraph(dice) for _ in range(dice.randrange(1, 4)))
            for part in range(dice.randrange(2, 8))
        )
        path = os.path.join(place, f"{number}.md")
        with open(path, "w", encoding="utf-8") as file:
            size += file.write(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return size


def _paragraph(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=50)) + ".\n"


def _line(name: str, seconds: Sequence[float], scale: float, aim: str = "") -> None:
    print(f"{name:44} {statistics.median(seconds) * scale:6.2f} {max(seconds) * scale:7.2f}  {aim}")


if __name__ == "__main__":
    main()
