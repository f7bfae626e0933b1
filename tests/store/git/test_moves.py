"""Where git has a file and its lines now, against what the files themselves say."""

import random
import time
from pathlib import Path

import pytest
from conftest import examples
from support import repositories

from store.git import repository as moves


def since(folder: Path, base: str) -> dict[str, moves.GitMove]:
    return moves.find_file_moves(str(folder), base, time.monotonic() + 60)


@pytest.mark.parametrize("seed", range(examples(3)))
def test_unchanged_lines_are_where_they_went(tmp_path: Path, seed: int) -> None:
    """Every line has its own text: one that is left is where it says, and a block between two that are left spans
    them."""
    dice = random.Random(seed)
    before = [f"line {number}" for number in range(60)]
    base = repositories.commit(tmp_path, "before", {"a.txt": "\n".join(before) + "\n"})
    for turn in range(4):
        after = [line for line in before if dice.random() > 0.2]
        for new in range(dice.randrange(12)):
            after.insert(dice.randrange(len(after) + 1), f"new {turn} {new}")
        repositories.commit(tmp_path, f"after {turn}", {"a.txt": "\n".join(after) + "\n"})
        move = since(tmp_path, base)["a.txt"]
        for place, line in enumerate(before, start=1):
            found = move.map_lines(place, place)
            if line in after:
                assert found == (after.index(line) + 1,) * 2, (line, found)
        left = [place for place, line in enumerate(before, start=1) if line in after]
        for first, last in ((left[0], left[-1]), (left[3], left[9])):
            there = (after.index(before[first - 1]) + 1, after.index(before[last - 1]) + 1)
            assert move.map_lines(first, last) == there


def test_what_is_gone_is_gone(tmp_path: Path) -> None:
    base = repositories.commit(tmp_path, "one", {"a.txt": "1\n2\n3\n4\n", "b.txt": "b\n", "c.txt": "c\n" * 30})
    repositories.commit(tmp_path, "two", {"a.txt": "1\n4\n"}, remove=["b.txt"])
    repositories.git(tmp_path, "mv", "c.txt", "d é.txt")
    repositories.commit(tmp_path, "three")
    found = since(tmp_path, base)
    assert found["a.txt"].map_lines(2, 3) is None
    assert found["a.txt"].map_lines(1, 4) == (1, 2)
    assert (found["b.txt"].path, found["c.txt"].path) == ("", "d é.txt")


def test_lines_that_look_like_heads_of_a_comparison_are_text(tmp_path: Path) -> None:
    text = "-- a/x.txt\n++ b/x.txt\n@@ -1 +1 @@\ndiff --git a/x b/x\n"
    base = repositories.commit(tmp_path, "one", {"a.txt": text + "end\n", "z.txt": "z\n"})
    repositories.commit(tmp_path, "two", {"a.txt": "end\n", "z.txt": "++ b/other\n"})
    found = since(tmp_path, base)
    assert set(found) == {"a.txt", "z.txt"}
    assert found["a.txt"].map_lines(5, 5) == (1, 1)
