"""Counts in sentences."""

from store.text.display import agree_verb, format_count


def test_the_verb_goes_with_the_number() -> None:
    assert [f"{format_count(many, 'turn')} {agree_verb(many, 'wait unread')}" for many in (1, 2)] == [
        "1 turn waits unread",
        "2 turns wait unread",
    ]
    assert [f"{n} {agree_verb(n, 'are left out')}" for n in (1, 1_000)] == ["1 is left out", "1000 are left out"]
    assert agree_verb(1, "wait") == "waits"
