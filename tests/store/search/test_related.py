"""What is related to a record, and other spellings of what nothing holds."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support import embedding_models

from store.embedding.vectors import Vectors
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.pipeline import find_rarest_words
from store.search.results import suggest_spellings

FACTS = (
    "The billing service stores its rows in PostgreSQL",
    "PostgreSQL is upgraded every winter",
    "La base de datos se copia cada noche",
    "The logo is blue",
    "Ana bakes bread on Sundays",
)


@pytest.fixture
def told(memory: Memory) -> Memory:
    for text in FACTS:
        memory.facts.remember(text)
    return memory


def cited(memory: Memory, query: str, **more: bool) -> list[str]:
    return [hit.citation for hit in memory.search(query, **more).hits]  # type: ignore[arg-type]


def test_without_vectors_it_rests_on_the_rarest_words(told: Memory) -> None:
    """And the record itself is no answer."""
    answer = told.search("related:F#1")
    assert [hit.citation for hit in answer.hits] == ["F#2"] and answer.total == 1
    assert answer.signals == ("keywords",) and answer.notes == []
    assert cited(told, "related:F#5") == []


def test_with_vectors_it_is_what_is_near(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what is stored: no model is asked."""
    Vectors(told.database).embed_queue(embedding_models.nano())
    opens = "store.embedding.provider_selection.open_provider_for"
    monkeypatch.setattr(opens, lambda *arguments: pytest.fail("a model was asked"))
    answer = told.search("related:F#1")
    assert answer.signals == ("keywords", "meaning")
    assert answer.hits[0].citation == "F#2" and answer.hits[0].similarity is not None
    assert "F#1" not in [hit.citation for hit in answer.hits]
    assert set(answer.hits[0].why) == {"text", "meaning"}
    assert "F#3" in [hit.citation for hit in answer.hits], "near in meaning, in another language, without a shared word"
    assert cited(told, "related:F#1", meaning=False) == ["F#2"]


def test_it_is_narrowed_by_filters_and_joined_by_words(told: Memory) -> None:
    told.decisions.decide("PostgreSQL for the rows", "PostgreSQL 17")
    assert cited(told, "related:F#1 kind:decision") == ["D#1"]
    assert set(cited(told, "bread related:F#1")) == {"F#2", "F#5", "D#1"}


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("related:nothing", "related: takes a citation like"),
        ("related:F#99", "There is no F#99 in this memory"),
        ("related:S#1", "There is no S#1 in this memory"),
        ("related:K#7", "There is no K#7 in this memory"),
        ("related:nowhere.md#L3", "There is no nowhere.md#L3 in this memory"),
    ],
)
def test_what_cannot_be_meant_is_noted(told: Memory, query: str, note: str) -> None:
    (said,) = told.search(query).notes
    assert said.startswith(note)


def test_every_kind_can_be_related_to(told: Memory, tmp_path: Path) -> None:
    told.tasks.add_task("upgrade PostgreSQL")
    told.checkpoints.take_checkpoint("before PostgreSQL")
    told.events.log("gate", payload={"note": "PostgreSQL"})
    told.iterations.start_iteration("fix", "PostgreSQL rows")
    told.commits.log("a1b2c3d4" * 5, message="store: PostgreSQL")
    (tmp_path / "MEMORY.md").write_text("PostgreSQL it is\n")
    told.documents.update_index()
    for citation in ("A#1", "K#1", "E#1", "I#1", "C#a1b2c3d", "MEMORY.md#L1"):
        assert "F#2" in cited(told, f"related:{citation}"), citation
        assert told.search(f"related:{citation}").notes == []


def test_the_rarest_words_are_those_that_others_share(told: Memory) -> None:
    keywords = FullTextIndex(told.database)
    assert find_rarest_words(keywords, FACTS[0]) == ["postgresql"]
    assert find_rarest_words(keywords, "the of 2024 unheard") == []


def test_the_memory_offers_its_own_words_for_a_slip(told: Memory) -> None:
    """As they were written, not as the index stems them; and nothing for what is near to nothing."""
    keywords = FullTextIndex(told.database)
    offer: Callable[..., dict[str, list[str]]] = lambda *words: suggest_spellings(told.database, keywords, list(words))  # noqa: E731
    assert offer("postgrsql", "blue") == {"postgrsql": ["postgresql"]}
    assert offer("servise") == {"servise": ["service"]}
    assert offer("zebra", "xyzzyq", "lgo", "noche") == {}
