"""The order of what was found."""

import pytest
from support.cases import load_cases

from store.search.ranking import (
    Candidate,
    CandidatePassage,
    RankedRecord,
    RankingQuestion,
    rank_candidates,
    vector_share,
)

CASES = load_cases(__file__)


def test_of_what_holds_the_words_as_they_stand_statements_come_first() -> None:
    """Before shorter records of what was said and done: a memory says what holds now."""
    held = [
        Candidate(
            number,
            kind,
            "",
            "2026-11-20T00:00:00.000Z",
            [CandidatePassage(number, "default model", tier=2)],
            length=length,
        )
        for number, (kind, length) in enumerate(
            [("commit", 20), ("fact", 60), ("turn", 13), ("decision", 40), ("commit", 30)], 1
        )
    ]
    order = rank_candidates(
        RankingQuestion("default model", {"default": 1.0, "model": 1.0}), held, lambda text: frozenset(text.split())
    )
    assert [place.record.kind for place in order] == ["decision", "fact", "turn", "commit", "commit"]


NOW = "2026-11-20T00:00:00.000Z"


def ranked(question: str, *given: tuple[str, str, float, float | None]) -> list[str]:
    """The texts in order, of (kind, text, bm25, cosine; None without a vector); every word of the question is as
    rare."""
    pool = [
        Candidate(
            number,
            kind,
            "",
            NOW,
            [CandidatePassage(number, text, bm25, cosine)],
            "a.md" if kind == "document" else None,
        )
        for number, (kind, text, bm25, cosine) in enumerate(given, 1)
    ]
    words = dict.fromkeys(question.split(), 1.0)
    order = rank_candidates(RankingQuestion(question, words), pool, lambda text: frozenset(text.lower().split()))
    return [place.passage.text for place in order]


def test_one_word_of_many_is_worth_less_than_the_same_meaning() -> None:
    """A stranger's question to httpx: a commit of two words came before the section on timeouts."""
    asked = "long server wait before giving up"
    section = "HTTPX applies timeouts to all network operations by default; the default is five seconds."
    other = ("commit", "Fix a typo in the readme.", 0.0, 0.2)
    assert ranked(asked, ("commit", "Drop wait", 9.0, 0.5), ("fact", section, 0.0, 0.9), other)[0] == section
    whole = "before giving up it waits long for the server: wait"
    assert ranked(asked, ("commit", whole, 9.0, 0.5), ("fact", section, 0.0, 0.9), other)[0] == whole


def test_a_text_too_short_to_tell_has_the_language_of_the_others() -> None:
    """Its one word in common with a Spanish question is as likely another word there."""
    around = [("document", f"This is what the {word} of it is for, and how it is used.", 0.0, 0.4) for word in "ab"]
    section = "You can set the option in a file, and it is used for every call."
    given = [("commit", "rename opciones", 9.0, 0.7), ("fact", section, 0.0, 0.9), *around]
    assert ranked("dónde guardo mis opciones", *given)[0] == section


@pytest.mark.parametrize(("question", "answer", "wrong"), CASES["languages"])
def test_an_answer_in_another_language_is_before_what_shares_words(question: str, answer: str, wrong: str) -> None:
    """Its own words cannot be found. What has nearly all words of the question is still first."""
    others = [
        ("fact", text, 0.0, 0.1)
        for text in (
            "It was the end of that.",
            "They did it for the others.",
            "Era el final de eso.",
            "Lo hizo por los otros.",
        )
    ]
    assert ranked(question, ("fact", wrong, 9.0, 0.5), ("fact", answer, 0.0, 0.9), *others)[0] == answer
    whole = ("fact", f"{question}: {wrong}", 9.0, 0.8)
    assert ranked(question, whole, ("fact", answer, 0.0, 0.9), *others)[0] != answer


def test_a_passage_of_a_document_is_worth_as_much_as_a_commit_of_the_same_meaning() -> None:
    """It was less where no passage beside it was near the question."""
    section, commit = "The pool allows a hundred connections.", "The pool has a hundred connections."
    other = ("commit", "Fix a typo in the readme.", 0.0, 0.2)
    assert ranked("q", ("commit", commit, 0.0, 0.89), ("document", section, 0.0, 0.9), other)[:2] == [section, commit]


def test_words_count_more_in_a_commit_which_nothing_is_beside() -> None:
    """Lines of two projects' lists of changes: the commit with the words came below those that were a little nearer."""
    asked, last = ("commit", "Rename the switch", 5.0, 0.5), ("commit", "Fix a typo", 0.0, 0.2)
    for bm25, cosine in ((2.0, 0.9), (4.0, 0.75)):
        nearer = ("commit", "Simplify the protocol", bm25, cosine)
        assert ranked("rename the switch", asked, nearer, last)[0] == "Rename the switch"


def test_while_a_memory_is_being_indexed_words_come_before_what_has_a_vector() -> None:
    """What has none yet is not the least similar: at a tenth of the vectors XQuAD found one in four of its texts first,
    where words alone find three."""
    whole, other = "the pool allows a hundred connections", "The button is blue now."
    given = [("commit", whole, 9.0, None), ("commit", "the door is red", 2.0, None), ("commit", other, 0.0, 0.9)]
    assert ranked("pool allows connections", *given)[0] == whole


def test_code_without_a_vector_is_not_waiting_for_one() -> None:
    """It never gets one: a memory full of logs would be taken for one that is being indexed for ever."""
    logs = [CandidatePassage(number, "ERROR pool", 1.0, None, code=True) for number in range(9)]
    assert vector_share([CandidatePassage(9, "the pool", 1.0, 0.5), *logs]) == 1.0
    waits = CandidatePassage(10, "a pool", 1.0, None)
    assert vector_share([CandidatePassage(9, "the pool", 1.0, 0.5), waits, *logs]) == 0.5
    assert vector_share(logs) == 1.0 == vector_share([])


@pytest.mark.parametrize(("question", "standing"), CASES["standing"])
def test_how_a_person_wants_it_done_comes_before_what_is_as_near(question: str, standing: str) -> None:
    """And what says never or always in passing does not, nor an agent's own words."""
    told = "We talked about it yesterday, and it has always been so."
    pool = [
        Candidate(number, "turn", "", NOW, [CandidatePassage(number, text, 3.0, 0.8)], own=own, length=len(text))
        for number, (text, own) in enumerate([(told, True), (standing, False), (standing, True)], 1)
    ]
    pool.append(Candidate(4, "turn", "", NOW, [CandidatePassage(4, "a typo", 1.0, 0.2)], own=True, length=6))
    words = dict.fromkeys(question.split(), 1.0)

    def order(asked: str) -> list[RankedRecord]:
        return rank_candidates(RankingQuestion(asked, words), pool, lambda text: frozenset(text.split()))

    assert order(question)[0].record.key == 3
    assert [place.record.key for place in order(question) if "standing" in place.why] == [3]
    # no instruction is a number or a time
    assert not any("standing" in place.why for place in order(f"how many days until {question}"))


@pytest.mark.parametrize(("question", "own"), CASES["own"])
def test_what_somebody_was_told_is_not_their_own_to_say(question: str, own: bool) -> None:
    assert RankingQuestion(question, {}).own is own
