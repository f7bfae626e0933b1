"""What is said of a change of one row, in a few words."""

from support.tables import each

from store.history.history import change_sign, describe_change, describe_revert

FACT = {"fact": "the team is five", "status": "active", "pinned": 0, "last_confirmed_at": "2026-11-20T12:00:00.000Z"}


@each(
    "old, new, said",
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
    assert describe_change(old, new) == said


@each(
    "now, then, sign_of_it, said",
    [
        (FACT, None, "-", "removed"),
        ({**FACT, "status": "forgotten"}, None, "-", "removed (forgotten now)"),
        ({**FACT, "status": "superseded"}, None, "-", "removed (replaced now)"),
        (None, FACT, "+", "comes back"),
        (None, {**FACT, "status": "forgotten"}, "+", "comes back as forgotten"),
        ({**FACT, "status": "forgotten"}, FACT, "+", "comes back"),
        (FACT, {**FACT, "status": "forgotten"}, "-", "forgotten again"),
        ({**FACT, "status": "superseded"}, FACT, "~", "comes back"),
        ({"status": "done"}, {"status": "pending"}, "~", "open again"),
        ({"status": "done"}, {"status": "in_progress"}, "~", "in progress again"),
    ],
)
def test_what_would_become_of_a_record(
    now: dict[str, object] | None, then: dict[str, object] | None, sign_of_it: str, said: str
) -> None:
    """A row that goes has −, one that comes has +, whatever its state."""
    assert (change_sign(now, then), describe_revert(now, then)) == (sign_of_it, said)
