"""One line of the timeline, by itself."""

from dataclasses import replace

import pytest

from store.base.models import Commit
from tui.lists.record_rows import entry_lines

COMMIT = Commit(1, "a1b2c3d" + "0" * 33, "fix: two", "José", 1, 3, 1, "2026-11-21T12:00:00.000Z", None, True, "a1b2c3d")


@pytest.mark.parametrize("width", [30, 50, 100])
def test_a_commit_that_no_branch_leads_to_is_dim_and_says_so(width: int) -> None:
    """By a word too, where there is room for one: colour alone says nothing to some."""
    for commit in (COMMIT, replace(COMMIT, reachable=False)):
        segments = [pair for line in entry_lines(commit, width) for pair in line]
        (style,) = [style for text, style in segments if text.startswith("fix: two")]
        assert style == ("" if commit.reachable else "dim")
        said = "".join(text for text, _ in segments)
        assert ("gone" in said) == (width >= 34 and not commit.reachable)
