"""What is said of a change of one row, in a few words."""

import pytest

from store.history.change_summary import happened

FACT = {"fact": "the team is five", "status": "active", "pinned": 0, "last_confirmed_at": "2026-11-20T12:00:00.000Z"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (None, FACT, "new"),
        (FACT, None, "gone"),
        (None, {**FACT, "status": "forgotten"}, "new, forgotten"),
        ({**FACT, "status": "superseded"}, None, "gone, replaced"),
        (FACT, {**FACT, "pinned": 1}, "pinned"),
        ({**FACT, "pinned": 1}, FACT, "unpinned"),
        (FACT, {**FACT, "last_confirmed_at": "2026-11-21T12:00:00.000Z"}, "confirmed"),
        (FACT, {**FACT, "last_confirmed_at": "2026-11-19T12:00:00.000Z"}, "confirmation undone"),
        (FACT, {**FACT, "fact": "the team is six"}, "text changed"),
    ],
)
def test_what_happened_to_a_record(old: dict[str, object] | None, new: dict[str, object] | None, said: str) -> None:
    assert happened(old, new) == said
