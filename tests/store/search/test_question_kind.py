"""What kind of answer is asked for, and how that orders what was found."""

import time

import pytest
from support.cases import load_cases
from support.tables import each

from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.memory import Memory
from store.search.ranking import (
    Candidate,
    CandidatePassage,
    RankingQuestion,
    asks_several,
    is_only_question,
    latest_or_first,
    rank_candidates,
)

CASES = load_cases(__file__)


@each("question, several", CASES["several"])
def test_several_things_are_asked_for(question: str, several: bool) -> None:
    assert asks_several(question) is several


@each("question, end", CASES["ends"])
def test_the_latest_or_the_first_is_asked_for(question: str, end: int) -> None:
    assert latest_or_first(question) == end


def test_a_word_of_any_length_is_read_once() -> None:
    """As base64 that was pasted before a question mark."""
    began = time.monotonic()
    assert is_only_question(f"{'a' * 60_000}?")
    assert time.monotonic() - began < 30
    assert is_only_question("Hola Ana , ¿qué puerto es?") and not is_only_question("The port is new, is it?")


def test_of_statements_that_contradict_each_other_the_asked_one_is_first_and_all_are_shown(memory: Memory) -> None:
    """The newest where the present is asked for, the oldest where the beginning is."""
    said = (("2026-03-01", "the staging port is 8080"), ("2026-05-01", "the staging port is 9090 after the change"))
    for day, text in (*said, ("2026-04-01", "the staging port is 8443")):
        memory.turns.add_turns(day, [NewTurn("user", text, at=f"{day}T10:00:00Z")])

    def ports(question: str) -> list[str]:
        return [hit.snippet.split(" is ")[1][:4] for hit in memory.search(question).hits]

    assert ports("what is the staging port now") == ["9090", "8443", "8080"]
    assert ports("what was the staging port originally") == ["8080", "8443", "9090"]


@pytest.mark.parametrize(
    "question",
    [
        "which hosting provider do we use now?",
        "what is our current hosting provider",
        "the last thing said about hosting",
        "¿qué proveedor de hosting usamos ahora?",
        "¿cuál es nuestro actual proveedor de hosting?",
    ],
)
def test_the_newest_comes_first_of_those_that_are_as_near(memory: Memory, question: str) -> None:
    """Though an older one is shorter, and so a little nearer, or another says *now* of something else."""
    for at, text in (
        ("2026-01-10", "Our hosting provider is Hetzner."),
        ("2026-03-10", "We moved the hosting to OVH, who is our provider for all of it."),
        ("2026-08-15", "Since this week our hosting provider for the shop and all the rest is Scaleway."),
        ("2026-10-01", "Ahora la jefa de almacén es Paloma, who is on leave now."),
    ):
        memory.turns.add_turns(at, [NewTurn("user", text, at=at)])
        Summaries(memory.database).summarize_due(at, all_of_it=True)
    assert "Scaleway" in memory.search(question, meaning=False).hits[0].snippet


def _order(question: str, turns: list[Candidate]) -> list[int]:
    words = {word.strip("?").lower(): 1.0 for word in question.split()}
    places = rank_candidates(RankingQuestion(question, words), turns, lambda text: frozenset(text.split()))
    return [place.record.key for place in places]


def _turn(key: int, session: str, text: str, bm25: float) -> Candidate:
    passage = CandidatePassage(key, text, bm25=bm25)
    return Candidate(key, "turn", "", "2026-01-01T00:00:00.000Z", [passage], session, 10 * key, length=len(text))


def test_answers_of_other_sessions_come_before_the_third_of_one() -> None:
    """Only where several things are asked for; the best stays first."""
    turns = [_turn(n, "one", f"book {n}", 1.0 - n / 100) for n in range(1, 5)] + [_turn(9, "two", "book 9", 0.9)]
    assert _order("which books are there", turns) == [1, 2, 9, 3, 4]
    assert _order("where is the book", turns) == [1, 2, 3, 4, 9]


def test_a_turn_that_only_asks_comes_after_those_that_tell() -> None:
    asking = _turn(1, "one", "Which books do you like?", 1.0)
    telling = _turn(2, "two", "I like books about the sea.", 0.8)
    assert _order("which books does she like", [asking, telling]) == [2, 1]
    assert _order("where is the book", [asking, telling]) == [1, 2]


def test_a_turn_that_tells_something_before_it_asks_does_not_only_ask() -> None:
    """As people write to an assistant: what is theirs first, then what they want, in one sentence."""
    telling = _turn(1, "one", "I'm trying to finish my third book about the sea by June, can you help?", 1.0)
    other = _turn(2, "two", "Thanks, that is a plan for my books.", 0.6)
    asking = _turn(3, "three", "Can you help me with the plan for my books?", 0.9)
    assert _order("how many books did i mention", [telling, other, asking]) == [1, 2, 3]
