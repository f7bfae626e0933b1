"""Whether anything is near a question: by its words, by its meaning, and by how much the best stands out."""

import pytest
from support.tables import each

from store.search.ranking import (
    COMPARED_PASSAGES,
    MIN_CONTRAST,
    NEAR_LINE,
    NEAR_LINE_ACROSS,
    Candidate,
    CandidatePassage,
    NearnessEvidence,
    RankedRecord,
    RankingQuestion,
    judge_nearness,
    measure_nearness,
    weigh_absent_words,
)


@each(
    "held, near, contrast, number, absent, words, nothing",
    [
        (1.0, 0.0, 0.0, COMPARED_PASSAGES, 0, 8, False),  # all its words stand in one record
        (0.0, 0.6, 0.3, COMPARED_PASSAGES, 0, 8, False),  # none do, but one is near and stands out
        (0.0, 0.6, 0.0, COMPARED_PASSAGES, 0, 8, True),  # all are as near, so that they are only in the same language
        (0.3, 0.2, 0.1, COMPARED_PASSAGES, 0, 8, True),  # a common word, and a chance likeness
        (0.3, 0.2, 0.1, 20, 0, 8, False),  # which among few is no chance
        (0.0, 0.0, 0.0, 1, 0, 8, False),  # one alone is compared with nothing
        (0.0, 0.55, 0.1, COMPARED_PASSAGES, 0, 2, False),  # two words have low similarities
        (0.0, 0.55, 0.1, COMPARED_PASSAGES, 0, 8, True),
        (0.0, 0.6, 0.3, COMPARED_PASSAGES, 3, 8, True),  # three of its words stand nowhere
    ],
)
def test_what_is_near_enough(
    held: float, near: float, contrast: float, number: int, absent: int, words: int, nothing: bool
) -> None:
    assert NearnessEvidence(held, near, contrast, number, absent).finds_nothing(words) is nothing


def test_the_line_is_on_the_sum() -> None:
    assert not NearnessEvidence(NEAR_LINE + 0.001, 0.0, 0.0, COMPARED_PASSAGES).finds_nothing(9)
    assert NearnessEvidence(NEAR_LINE - 0.001, 0.0, 0.0, COMPARED_PASSAGES).finds_nothing(9)


def test_in_another_language_it_counts_more_how_far_the_best_stands_out_than_what_words_are_shared() -> None:
    """Hardly a word is shared there, and all are similar."""
    least = (NEAR_LINE_ACROSS - 0.05) / 3
    for across, nothing in ((True, False), (False, True)):
        assert NearnessEvidence(0.0, 0.1, least + 0.001, COMPARED_PASSAGES, 0, across).finds_nothing(9) is nothing
        assert NearnessEvidence(0.0, 0.1, least - 0.001, COMPARED_PASSAGES, 0, across).finds_nothing(9)


@pytest.mark.parametrize("words", [9, 3, 2])
def test_a_short_question_in_another_language_is_refused_as_a_long_one(words: int) -> None:
    """*¿Quién pintó Las Meninas?* found something in every memory in English."""
    assert NearnessEvidence(0.0, 0.1, 0.09, COMPARED_PASSAGES, 0, True).finds_nothing(words)


def test_what_is_near_in_either_language_is_near() -> None:
    """A memory of two languages is judged in each: neither the one with most of the nearest decides, nor their mix."""
    far = NearnessEvidence(0.0, 0.1, 0.05, COMPARED_PASSAGES)
    near, other = (NearnessEvidence(0.0, *by, COMPARED_PASSAGES, 0, True) for by in ((0.4, 0.3), (0.1, 0.05)))
    assert far.finds_nothing(9)
    assert not near.finds_nothing(9)
    assert not NearnessEvidence(0.0, 0.1, 0.05, COMPARED_PASSAGES, 0, False, near).finds_nothing(9)
    assert NearnessEvidence(0.0, 0.1, 0.05, COMPARED_PASSAGES, 0, False, other).finds_nothing(9)


@pytest.mark.parametrize(("passages", "counts"), [(0, 0.0), (50, 0.0), (158, 1.0), (500, 2.0), (10_000, 2.0)])
def test_words_that_occur_nowhere_count_in_a_memory_of_many(passages: int, counts: float) -> None:
    """In a small one the words of most questions occur nowhere."""
    assert weigh_absent_words(2, passages) == pytest.approx(counts, abs=0.01)


@pytest.mark.parametrize(
    ("foreign", "sides"), [(0, [False]), (1, [False]), (5, [False, True]), (19, [True]), (20, [True])]
)
def test_each_language_is_measured_that_the_memory_speaks(foreign: int, sides: list[bool]) -> None:
    """Of one text in twenty the language was mistaken. What stands in the other language is no evidence for this."""
    passages = [CandidatePassage(number, "", cosine=0.5) for number in range(20)]
    for number, one in enumerate(passages):
        one._language = "es" if number < foreign else "en"
    if 0 < foreign < 20:
        passages[0].cosine = passages[0].near = 0.9
    asked = RankingQuestion("where is the office of the team?", {"q": 1.0})
    measured = measure_nearness(asked, passages, [], lambda text: frozenset(), float, lambda one: one == "es")
    found = [measured, measured.other] if measured.other else [measured]
    assert [one.across for one in found if one] == sides
    assert [one.near for one in found if one] == [0.9 if side and 0 < foreign < 20 else 0.5 for side in sides]
    assert {one.number for one in found if one} == {20}


def test_nothing_is_refused_while_most_has_no_vector_yet() -> None:
    passages = [CandidatePassage(number, "", 1.0, 0.0 if number < 2 else None) for number in range(9)]
    records = [Candidate(one.id, "fact", "", "2026-11-26T12:00:00.000Z", [one]) for one in passages]
    asked = RankingQuestion("where is the office of the team and of its guests?", dict.fromkeys("abcdefgh", 1.0))
    for share, nothing in ((9, False), (2, True)):
        order = [RankedRecord(record, record.passages[0], 1.0, {}) for record in records[:share]]
        assert judge_nearness(asked, 9, order, lambda text: frozenset(), lambda cosine: -1.0, 9).nothing is nothing


@pytest.mark.parametrize(("words", "near"), [(4, 3), (3, 3), (2, 2), (1, 2)])
def test_near_is_at_least_half_as_near_as_the_best_and_to_a_word_or_two_nearer(words: int, near: int) -> None:
    """Of some hundred records many are a little like a word by chance. One in another language is never as like."""
    similar = (0.8, 0.54, 0.41, 0.39, 0.2, 0.0)
    passages = [CandidatePassage(number, "", cosine=value) for number, value in enumerate(similar)]
    for one in passages:
        one._language = "es" if one.cosine == 0.0 else "en"
    records = [Candidate(one.id, "fact", "", "2026-11-26T12:00:00.000Z", [one]) for one in passages]
    order = [RankedRecord(record, record.passages[0], 1.0, {}) for record in records]
    asked = RankingQuestion("where is the office of the team?", {"q": 1.0})
    verdict = judge_nearness(asked, words, order, lambda text: frozenset(), float, 8)
    assert [verdict.may_show(record) for record in records[:-1]] == [True] * near + [False] * (5 - near)
    assert verdict.may_show(records[-1])


@pytest.mark.parametrize(
    ("typed", "contrast", "held", "nothing"),
    [
        (1, MIN_CONTRAST + 0.01, False, False),  # "currency", where one record is about money
        (1, MIN_CONTRAST - 0.01, False, True),  # "xqzzyt", to which all are as near
        (2, MIN_CONTRAST - 0.01, False, True),
        (3, MIN_CONTRAST - 0.01, False, False),  # a sentence has a meaning of its own
        (1, MIN_CONTRAST - 0.01, True, False),  # a word that stands somewhere
    ],
)
def test_near_an_unknown_word_is_what_stands_out(typed: int, contrast: float, held: bool, nothing: bool) -> None:
    """The others are the nearest, and no more than that."""
    passages = [CandidatePassage(number, "", float(held), 0.6) for number in range(COMPARED_PASSAGES)]
    for number, one in enumerate(passages):
        one.near = 0.0 if number else contrast * COMPARED_PASSAGES / (COMPARED_PASSAGES - 1)
    records = [Candidate(one.id, "fact", "", "2026-11-26T12:00:00.000Z", [one]) for one in passages]
    order = [RankedRecord(record, record.passages[0], 1.0, {}) for record in records]
    asked = RankingQuestion("xqzzyt", {"xqzzyt": 1.0})
    verdict = judge_nearness(asked, 1, order, lambda text: frozenset(), float, typed)
    assert (verdict.nothing, verdict.known) == (nothing, True)
