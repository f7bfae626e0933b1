"""What the Librarian relies on: a judge, whoever serves it, and a retriever, whatever it searches."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from support.chats import Scripted
from support.ollama_server import MODEL, OllamaServer

from store.base.errors import ModelFailed
from store.librarian.answer import Retriever
from store.librarian.librarian import NO_WORDS, YES_WORDS, Librarian, rank_by_judgement
from store.llm import endpoint as circuit_breaker
from store.llm.chat import DeadlineCall, JudgeModel
from store.llm.ollama_client import OllamaChat
from store.memory import Memory
from store.search.results import SearchAnswer as Found

RECORDS = {"F#1": "lions are fed at noon", "F#2": "zebras sleep in the red barn"}
Words = Callable[[str], str]


def of_ollama(word: Words) -> Iterator[JudgeModel]:
    """A model of Ollama that answers with a word."""
    circuit_breaker.reset_breakers()
    server = OllamaServer(lambda messages: word(messages[-1]["content"]))
    try:
        with closing(OllamaChat(server.address, DeadlineCall(lambda: False), None, MODEL)) as chat:
            chat._warm_up = lambda: None  # type: ignore[method-assign]  # it is loaded
            yield chat
    finally:
        server.close()
        circuit_breaker.reset_breakers()


def scripted(word: Words) -> Iterator[JudgeModel]:
    """A model that is only a script."""
    yield Scripted(leans=lambda asked: 2.0 if word(asked) in YES_WORDS else -2.0)


@pytest.fixture(params=[of_ollama, scripted], ids=["ollama", "scripted"])
def judge(request: pytest.FixtureRequest) -> Iterator[JudgeModel]:
    """A judge for which the record about zebras answers, and no other."""
    yield from request.param(lambda asked: "Yes" if "zebras" in asked.partition("Question:")[0] else "No")


def test_a_judge_leans_to_yes_above_zero_and_to_no_below_it(judge: JudgeModel) -> None:
    for record, above in ((RECORDS["F#2"], True), (RECORDS["F#1"], False)):
        asked = [("user", f"Record: {record}\nDoes it answer?")]
        assert (judge.log_odds(asked, yes=YES_WORDS, no=NO_WORDS, seconds=30.0) > 0) is above


def test_records_are_ordered_by_any_judge(judge: JudgeModel) -> None:
    made = rank_by_judgement(judge, "where do zebras sleep?", "en", RECORDS, 30.0)
    assert made.order == ("F#2", "F#1")
    assert made.answers and set(made.odds) == {"F#1", "F#2"} and made.trouble is None


def test_a_judge_that_fails_says_so_and_nothing_is_ordered() -> None:
    class Gone:
        def log_odds(self, *arguments: object, **how: object) -> float:
            raise ModelFailed("absent", "Nothing answers.", "")

    with pytest.raises(ModelFailed):
        rank_by_judgement(Gone(), "where do zebras sleep?", "en", RECORDS, 30.0)


# a retriever


@pytest.fixture
def zoo(memory: Memory) -> Memory:
    for text in ("zebras sleep in the red barn", "zebras eat grass", "lions are fed at noon"):
        memory.facts.remember(text)
    memory.decisions.decide("Barn", "red paint")
    return memory


def test_the_search_of_a_memory_retrieves_the_best_first_and_no_more_than_asked_for(zoo: Memory) -> None:
    retriever: Retriever = zoo.search
    found = retriever("zebras sleep", 2)
    assert isinstance(found, Found)
    assert found.hits[0].citation == "F#1" and len(found.hits) <= 2


def test_it_reads_filters_as_they_are_typed_and_needs_no_vectors_for_them(zoo: Memory) -> None:
    retriever: Retriever = zoo.search
    assert [hit.citation for hit in retriever("kind:decision", 9, meaning=False).hits] == ["D#1"]


def test_the_librarian_asks_no_other_retriever_than_its_own(zoo: Memory) -> None:
    asked: list[str] = []

    def of_decisions(query: str, limit: int = 20, *, meaning: bool = True, far: bool = False) -> Found:
        asked.append(query)
        return zoo.search("kind:decision", limit, meaning=False)

    answer = Librarian(zoo, of_decisions).ask("where do zebras sleep?")
    assert asked and answer.sources == ("D#1",)
