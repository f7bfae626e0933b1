"""Counts in sentences."""

from tui.render.plurals import count, said_of


def test_the_verb_goes_with_the_number() -> None:
    assert [f"{count(many, 'turn')} {said_of(many, 'wait unread')}" for many in (1, 2)] == [
        "1 turn waits unread",
        "2 turns wait unread",
    ]
    assert [f"{many} {said_of(many, 'are left out')}" for many in (1, 1_000)] == ["1 is left out", "1000 are left out"]
    assert said_of(1, "wait") == "waits"
