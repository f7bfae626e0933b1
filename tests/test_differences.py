"""docs/differences.md keeps up with the program: what it says of settings, verbs and figures is so."""

import re
from pathlib import Path

import pytest

from store.base.citations import parse
from store.base.errors import InvalidInput
from store.config.setting import BY_ENVIRONMENT
from store.config.settings import SETTINGS, known
from store.context import budget
from store.conversations import turns
from store.documents import chunking
from store.embedding import indexer
from store.history import checkpoint_payload, checkpoints
from store.records import ageing
from store.records.timeline import checkpoint_levels
from store.services import related_records
from tui.commands.system.settings import as_text
from tui.input.commands.command_table import BY_NAME

PAGE = Path(__file__).parents[1] / "docs" / "differences.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [line.strip("|").split(" | ") for line in TEXT.splitlines() if line.startswith("| ") and "---" not in line]
NAMES = {setting.name for setting in SETTINGS}


def row(start: str) -> str:
    """What Memoranda does instead, of the row whose specification starts so."""
    (found,) = [cells for cells in ROWS if cells[0].strip().startswith(start)]
    return found[1]


def test_each_row_says_what_was_asked_what_is_done_and_why():
    wide, narrow = [len(cells) for cells in ROWS if len(cells) == 3], [cells for cells in ROWS if len(cells) == 2]
    assert len(wide) > 30 and len(narrow) == len(ROWS) - len(wide)
    assert all(cell.strip() for cells in ROWS for cell in cells)
    assert len({cells[0] for cells in ROWS if cells[0].strip() != "the specifications"}) == len(ROWS) - 2


def test_it_cites_nothing_that_the_repository_does_not_hold():
    assert not re.search(r"\[00\d|seeds/|DESIGN|RELIABILITY|RETRIEVAL|https?://", TEXT)


@pytest.mark.parametrize("name, value", re.findall(r"`([a-z_A-Z.]+)` = `([^`]+)`", TEXT))
def test_each_setting_has_the_value_that_is_said(name: str, value: str):
    assert as_text(known(name).default) == value


def test_every_setting_verb_and_citation_in_backticks_exists():
    for span in re.findall(r"`([^`]+)`", TEXT):
        words = span.split()
        if words[0] == "memoranda" and len(words) > 1 and not words[1].startswith("-"):
            assert words[1] in BY_NAME, span
        elif re.fullmatch(r"[a-z]+\.[a-z_A-Z]+", span) and span != "learnings.md":
            assert span in NAMES, span
        elif re.fullmatch(r"[A-Z]#\d+", span):
            parse(span)
        elif span.startswith("MEMORANDA_"):
            assert span in {known(name).variable for name in BY_ENVIRONMENT}, span
        elif span.startswith("python -m bench."):
            assert (PAGE.parents[1] / "bench" / f"{span.rpartition('.')[2]}.py").exists(), span
    with pytest.raises(InvalidInput):
        known("no.setting")


def test_its_figures_are_the_programs():
    high, medium, low = (ageing.TABLE[name] for name in ("high", "medium", "low"))
    ages = row("Facts age from day 60")
    assert f"aging from {high[0]} days, stale from {high[2]}" in ages
    assert f"Medium: {medium[0]}, low priority from {medium[1]}, stale from {medium[2]}" in ages
    assert f"low priority from {low[1]}, stale from {low[2]}" in ages
    recovers = row("Recovery adds")
    assert f"adds {related_records.LIMIT} of any age" in recovers and f"for {checkpoints.OFFERED_DAYS} days" in recovers
    assert (
        f"up to {checkpoint_payload.TASKS} open tasks and the last {checkpoint_payload.DECISIONS} decisions" in recovers
    )
    assert list(checkpoint_levels.USAGE) == [70, 85, 90, 95]
    assert [
        checkpoint_levels.EVERY_MS[name] // checkpoint_levels.MINUTE_MS for name in ("micro", "meso", "archival")
    ] == [5, 30, 24 * 60]
    assert f"{budget.PROMPT:,} tokens at the most, at least {budget.ANSWER:,} for" in row("A prompt of 4,000")
    assert f"holds {turns.WINDOW_TOKENS:,}," in row("The window holds 1,200")
    assert f"{indexer.CACHE:,} vectors" in row("An embedding cache")
    assert (chunking.SIZE, chunking.OVERLAP) == (400 * chunking.TOKEN, 80 * chunking.TOKEN), "as specified: not listed"


@pytest.mark.parametrize(
    "what",
    [
        *("`enabled`", "Recovery", "QMD", "The Librarian answers in its own words", "`turns.retention_days`"),
        *("`learnings.md`", "Notion", "Gemini and Voyage", "LIKE", "SQLCipher", "A note of the day"),
    ],
)
def test_what_was_decided_is_there(what: str):
    assert any(what in cell for cells in ROWS for cell in cells)


def test_what_is_not_there_yet_is_not():
    """A row that came true is to be taken out."""
    assert "log" not in BY_NAME
