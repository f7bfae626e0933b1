"""What the code cites is in the repository."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("store", "tui", "tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
# names of documents that are not here, and numbers in brackets that stand for one
ELSEWHERE = re.compile(r"\b(?:DESIGN|RELIABILITY|RETRIEVAL)\b|\[00[0-4]\]|\b(?:TUI|AGENT|HISTORY|STYLE) §")


@pytest.mark.parametrize("folder", ["store", "tui", "tests", "bench"])
def test_no_document_is_cited_that_is_not_here(folder: str) -> None:
    own = ("test_words.py", "test_differences.py")
    paths = [path for path in SOURCES if path.is_relative_to(ROOT / folder) and path.name not in own]
    lines = [(path, *line) for path in paths for line in enumerate(path.read_text("utf-8").splitlines(), 1)]
    assert [f"{path}:{number}: {line}" for path, number, line in lines if ELSEWHERE.search(line)] == []


def test_what_is_listed_as_slow_is_there() -> None:
    listed = [line for line in (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines() if line]
    missing = [line for line in listed if not line.startswith("#") and not (ROOT / line).is_file()]
    assert missing == [] and len(listed) == len(set(listed))
