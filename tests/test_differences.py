"""docs/differences.md keeps up with the program: what it says of settings, verbs and figures is so."""

import re
from pathlib import Path

import pytest

from store.base.citations import parse_citation
from store.base.errors import InvalidInput
from store.config.settings import ENVIRONMENT_SETTINGS, SETTINGS, find_setting
from store.context import selection as budget
from store.conversations import turns
from store.documents import documents as chunking
from store.embedding import indexer
from store.history import checkpoint_payload, checkpoints
from store.records import facts, timeline
from store.upkeep import session_flush as related_records
from tui.commands.settings import value_text
from tui.input.key_table import KEYS_BY_ID
from tui.input.verb_table import MODULES

PAGE = Path(__file__).parents[1] / "docs" / "differences.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [line.strip("|").split(" | ") for line in TEXT.splitlines() if line.startswith("| ") and "---" not in line]
NAMES = {*(setting.name for setting in SETTINGS), *KEYS_BY_ID}


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
    assert value_text(find_setting(name).default) == value


def test_every_setting_verb_and_citation_in_backticks_exists():
    for span in re.findall(r"`([^`]+)`", TEXT):
        words = span.split()
        if words[0] == "memoranda" and len(words) > 1 and not words[1].startswith("-"):
            assert words[1] in MODULES, span
        elif re.fullmatch(r"[a-z]+\.[a-z_A-Z]+", span) and span != "learnings.md":
            assert span in NAMES, span
        elif re.fullmatch(r"[A-Z]#\d+", span):
            parse_citation(span)
        elif span.startswith("MEMORANDA_"):
            assert span in {find_setting(name).variable for name in ENVIRONMENT_SETTINGS}, span
        elif span.startswith("python -m bench."):
            assert (PAGE.parents[1] / "bench" / f"{span.rpartition('.')[2]}.py").exists(), span
    with pytest.raises(InvalidInput):
        find_setting("no.setting")


def test_its_figures_are_the_programs():
    high, medium, low = (facts.AGEING_DAYS[name] for name in ("high", "medium", "low"))
    ages = row("Facts age from day 60")
    assert f"aging from {high[0]} days, stale from {high[2]}" in ages
    assert f"Medium: {medium[0]}, low priority from {medium[1]}, stale from {medium[2]}" in ages
    assert f"low priority from {low[1]}, stale from {low[2]}" in ages
    recovers = row("Recovery adds")
    tasks, decisions = checkpoint_payload.MOST_TASKS, checkpoint_payload.MOST_DECISIONS
    assert f"adds {related_records.MOST_RELATED} of any age" in recovers
    assert f"for {checkpoints.RECOVERY_OFFER_DAYS} days" in recovers
    assert f"up to {tasks} open tasks and the last {decisions} decisions" in recovers
    assert list(timeline.USAGE_LEVELS) == [70, 85, 90, 95]
    intervals, minute = timeline.LEVEL_INTERVALS_MS, timeline.MINUTE_MS
    assert intervals == {"micro": 5 * minute, "meso": 30 * minute, "archival": 24 * 60 * minute}
    prompt = f"{budget.MAX_PROMPT_TOKENS:,} tokens at the most, at least {budget.ANSWER_TOKENS:,} for"
    assert prompt in row("A prompt of 4,000")
    assert f"holds {turns.WINDOW_TOKENS:,}," in row("The window holds 1,200")
    assert f"{indexer.MAX_UNUSED_VECTORS:,} vectors" in row("An embedding cache")
    sizes = [size // chunking.TOKEN_CHARACTERS for size in (chunking.CHUNK_SIZE, chunking.CHUNK_OVERLAP)]
    assert sizes == [400, 80], "as specified: not listed"


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
    assert "log" not in MODULES
