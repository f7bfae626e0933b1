"""What the words of the index cannot find: scripts that are written without spaces, and symbols."""

from collections.abc import Sequence

import pytest
from support.cases import load_cases

from store.memory import Memory
from store.search.results import SearchAnswer

CASES = load_cases(__file__)


@pytest.fixture(autouse=True)
def switched(monkeypatch: pytest.MonkeyPatch) -> None:
    """By words alone."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")


@pytest.fixture
def filled(memory: Memory) -> Memory:
    for text in CASES["facts"]:
        memory.facts.remember(text)
    return memory


def found(answer: SearchAnswer) -> list[int]:
    return [hit.record.id for hit in answer.hits]


def marked(answer: SearchAnswer) -> list[str]:
    return [hit.snippet[start:end] for hit in answer.hits for start, end in hit.marks]


@pytest.mark.parametrize(("query", "facts"), CASES["queries"])
def test_a_part_of_a_text_without_spaces_is_found_exactly(filled: Memory, query: str, facts: Sequence[int]) -> None:
    answer = filled.search(query)
    assert (found(answer), answer.verdict, answer.total) == (list(facts), "exact", 1)
    assert set(marked(answer)) == set(query.strip("“”").split())


@pytest.mark.parametrize("query", ["周四", "火曜日 周刊", "🚒", "★"])
def test_what_stands_nowhere_is_not_found(filled: Memory, query: str) -> None:
    answer = filled.search(query)
    assert (found(answer), answer.verdict, answer.total) == ([], "nothing", 0)


def test_words_beside_it_must_be_there_for_it_to_be_exact(filled: Memory) -> None:
    filled.facts.remember("修复 login 页面")
    exact = filled.search("login 页")
    assert (found(exact), exact.verdict, exact.exact) == ([9], "exact", 1)
    near = filled.search("logout 页")
    assert (found(near), near.verdict, near.total) == ([9], "near", 1)


def test_filters_and_forgetting_hold_for_it_and_the_newest_stand_first(filled: Memory) -> None:
    filled.facts.remember("周刊每周五发布", domain="work")
    filled.decisions.decide("周刊用 Markdown 写", "yes")
    assert len(found(filled.search("周刊"))) == 3
    assert found(filled.search("周刊 domain:work")) == [9]
    assert found(filled.search("周刊 kind:decision")) == [1]
    filled.facts.forget([9])
    assert sorted(found(filled.search("周刊"))) == [1, 1]
    assert found(filled.search("周刊 is:forgotten")) == [9]
    assert found(filled.search("周刊", limit=1)) == [1] and filled.search("周刊", limit=1).total == 2


def test_punctuation_alone_asks_for_nothing(filled: Memory) -> None:
    for query in ('"', "*", "(", "...", ""):
        assert filled.search(query).hits == []
