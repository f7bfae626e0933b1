"""bench/RESULTS.md: a part for each bench, replaced when it runs again; docs/measurements.md has a table of them."""

from pathlib import Path

import pytest

from bench import results


def test_a_part_replaces_its_last_and_no_other(tmp_path: Path) -> None:
    path = str(tmp_path / "RESULTS.md")
    results.put("start", "2026-11-20, a machine", "```text\n  start  60 ms  ≤ 90 ms  ok\n```", path)
    table = "| a | b |\n|---|---|\n| 1 | ≤ 2.5 ×  MISS |\n| 2 | ≤ 4 ms  ok |"
    results.put("hooks", "2026-11-21, a machine", table, path)
    results.put("start", "2026-11-22, a machine", "```text\n  start  50 ms  ≤ 90 ms  ok\n```", path)
    parts = [results.Part("hooks", "2026-11-21", 1, 2), results.Part("start", "2026-11-22", 1, 1)]
    assert results.parts(path) == parts
    text = Path(path).read_text()
    assert "60 ms" not in text and "50 ms" in text and text.startswith("# Results\n") and text.count("## ") == 2


def test_a_part_says_when_and_where() -> None:
    line = results.machine()
    assert results._DAY.match(line) and "load " in line and "processors" in line and "Python 3" in line


@pytest.mark.parametrize(
    ("output", "shown"),
    [("start  60 ms\n", "```text\nstart  60 ms\n```"), ("| a |\n|---|\n| 1 |", "| a |\n|---|\n| 1 |")],
)
def test_a_table_stays_one(output: str, shown: str) -> None:
    assert results.printed(output) == shown


def test_the_file_is_read_whole() -> None:
    """Every heading of the committed file is a bench, with a day."""
    found = results.parts()
    assert found and all(part.day and Path(results.PATH).with_name(f"{part.name}.py").is_file() for part in found)


def test_the_readme_promises_what_was_measured() -> None:
    """Its rows of search and of the Librarian, whose figures change with every change of these."""
    whole = Path(results.PATH).read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in whole.splitlines() if line.startswith("|")]
    found = {(row[0], row[2]): round(float(row[5])) for row in rows if len(row) == 7 and row[0] in ("LoCoMo", "BEAM")}
    told = [row[2].rpartition("R@1 ") for row in rows if row[0] in ("XQuAD, en→es", "XQuAD, es→en")]
    across = [float(figure[:-1]) for _, sign, figure in told if sign]
    (by_rule,) = (line.split() for line in whole.splitlines() if line.startswith("rules   held"))
    first, three, data = by_rule[3], by_rule[4], by_rule[5]
    page = (Path(results.PATH).parents[1] / "docs" / "measurements.md").read_text("utf-8")
    locomo, beam = ([found[name, how] for how in ("search", "plain FTS5")] for name in ("LoCoMo", "BEAM"))
    chats = f"LoCoMo {locomo[0]} (plain FTS5 {locomo[1]}), BEAM chats {beam[0]} ({beam[1]})"
    assert f"{chats}; first across the languages of XQuAD {min(across):.0f} %" in page
    assert f"first for {first[:-1]} %, among three for {three[:-1]} %" in page
    assert data.partition("/")[0] == data.partition("/")[2] and f"all {data.partition('/')[2]} of state" in page
