"""The order of what was found."""

from store.search.signals.ranking import Candidate, Passage, Question, rank


def test_of_what_holds_the_words_as_they_stand_statements_come_first() -> None:
    """Before shorter records of what was said and done: a memory says what holds now."""
    held = [
        Candidate(
            number, kind, "", "2026-11-20T00:00:00.000Z", [Passage(number, "default model", tier=2)], length=length
        )
        for number, (kind, length) in enumerate(
            [("commit", 20), ("fact", 60), ("turn", 13), ("decision", 40), ("commit", 30)], 1
        )
    ]
    order = rank(Question("default model", {"default": 1.0, "model": 1.0}), held, lambda text: frozenset(text.split()))
    assert [place.record.kind for place in order] == ["decision", "fact", "turn", "commit", "commit"]
