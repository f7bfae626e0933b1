"""Tags of facts: given, taken away, listed, found; and what two ways of writing one have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import refuses

from store.base.errors import Conflict, InvalidInput, NotFound
from store.memory import Memory
from store.records import tags

KEY = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture
def three(memory: Memory) -> Memory:
    """Three facts, the first with a tag."""
    memory.facts.remember("one", tags=["People"])
    memory.facts.remember("two")
    memory.facts.remember("three")
    return memory


def of(memory: Memory) -> list[tuple[str, ...]]:
    return [fact.tags for fact in memory.facts.get_many([1, 2, 3])]


def test_several_facts_are_tagged_in_one_step(three: Memory) -> None:
    """Behind the tags they have, as the person wrote it, and one undo takes it all back."""
    assert three.tagging.add_tags([("fact", 1), ("fact", 3), ("fact", 1)], " On  call ") == "On-call"
    assert of(three) == [("People", "On-call"), (), ("On-call",)]
    (step,) = three.history.steps(limit=1)
    assert step.reason == "tag F#1 F#3 F#1" and step.changes == 2
    three.history.undo()
    assert of(three) == [("People",), (), ()]


def test_a_tag_that_is_there_stays_as_it_is(three: Memory) -> None:
    """No error as long as one of the facts is new to it; capitals make no second tag."""
    three.tagging.add_tags([("fact", 1), ("fact", 2)], "PEOPLE")
    assert of(three) == [("People",), ("PEOPLE",), ()]
    before = three.history.steps()
    with pytest.raises(Conflict, match="is there already"):
        three.tagging.add_tags([("fact", 1), ("fact", 2)], "people")
    assert three.history.steps() == before


def test_a_tag_is_taken_in_whatever_capitals(three: Memory) -> None:
    three.tagging.add_tags([("fact", 2)], "people")
    three.tagging.add_tags([("fact", 2)], "money")
    three.tagging.remove_tags([("fact", 1), ("fact", 2), ("fact", 3)], "PEOPLE")
    assert of(three) == [(), ("money",), ()]
    assert three.history.steps(limit=1)[0].reason == "untag F#1 F#2 F#3"
    before = three.history.steps()
    with pytest.raises(Conflict, match="no such tag"):
        three.tagging.remove_tags([("fact", 1), ("fact", 2), ("fact", 3)], "people")
    assert three.history.steps() == before
    three.history.undo()
    assert of(three) == [("People",), ("people", "money"), ()]


@pytest.mark.parametrize("verb", ["tag", "untag"])
def test_all_of_them_or_none(three: Memory, verb: str) -> None:
    tagging = {"tag": three.tagging.add_tags, "untag": three.tagging.remove_tags}[verb]

    def act(numbers: list[int], tag: str) -> None:
        tagging([("fact", number) for number in numbers], tag)

    three.facts.forget([3])
    three.facts.correct(2, "two and a half")
    before = of(three), three.history.steps()
    refuses(NotFound, "F#99", act, [1, 99], "People" if verb == "untag" else "new")
    refuses(Conflict, "F#3 is forgotten", act, [1, 3], "People" if verb == "untag" else "new")
    refuses(Conflict, "F#4 took its place", act, [1, 2], "People" if verb == "untag" else "new")
    refuses(InvalidInput, f"Nothing to {verb}", act, [], "x")
    assert (of(three), three.history.steps()) == before


@pytest.mark.parametrize(("wrong", "words"), [("", "empty"), (" \t\n", "empty"), ("x" * 41, "at most 40")])
def test_what_is_no_tag_is_refused(three: Memory, wrong: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        three.tagging.add_tags([("fact", 1)], wrong)
    assert of(three)[0] == ("People",)


def test_several_tags_are_separated_by_commas_and_added_in_one_step(three: Memory) -> None:
    assert three.tagging.add_tags([("fact", 1)], "pagos, 2026,Pagos") == "pagos, 2026"
    assert of(three)[0] == ("People", "pagos", "2026")
    three.history.undo()
    assert of(three)[0] == ("People",)
    three.tagging.add_tags([("fact", 1)], "pagos,2026")
    three.tagging.remove_tags([("fact", 1)], "2026, PAGOS")
    assert of(three)[0] == ("People",)
    with pytest.raises(InvalidInput):
        three.tagging.add_tags([("fact", 1)], " , ")


def test_a_tag_of_exactly_forty_characters_is_kept(three: Memory) -> None:
    three.tagging.add_tags([("fact", 1)], "x" * 40)
    assert of(three)[0][1] == "x" * 40


def test_a_secret_is_no_tag(three: Memory) -> None:
    """Cut before it is measured: a part of a key would not be recognised."""
    assert KEY not in three.tagging.add_tags([("fact", 1)], f"{KEY}")
    assert not any(KEY in tag for tag in of(three)[0])


def test_a_foreign_tag_of_any_length_is_taken_away(memory: Memory) -> None:
    """What an importer brought is kept as it was, and still found and removed."""
    memory.facts.remember("one", tags=["two words", "TWO-words", "y" * 60, "a,b"])
    assert memory.facts.get(1).tags == ("two words", "y" * 60, "a,b")
    assert memory.facts.ids(memory.now, tag="Two-Words") == [1]
    memory.tagging.remove_tags([("fact", 1)], "two-words")
    memory.tagging.remove_tags([("fact", 1)], "Y" * 60)
    memory.tagging.remove_tags([("fact", 1)], "A,b")
    assert memory.facts.get(1).tags == ()


def test_facts_are_listed_by_tag(three: Memory) -> None:
    """A whole tag, however its accent is typed, together with the other filters."""
    three.tagging.add_tags([("fact", 2), ("fact", 3)], "Mañana")
    assert three.facts.ids(three.now, tag="MAN\u0303ANA") == [2, 3]
    assert three.facts.ids(three.now, tag="mañan") == []
    assert three.facts.ids(three.now, tag="mañana", words="thr") == [3]
    three.facts.forget([3])
    assert three.facts.ids(three.now, tag="mañana") == [2]


def test_the_tags_there_are_most_used_first(three: Memory) -> None:
    """Of active facts, each once, in the spelling most of them use."""
    assert three.facts.tags() == [("People", 1)]
    three.tagging.add_tags([("fact", 2), ("fact", 3)], "people")
    three.tagging.add_tags([("fact", 2)], "zebra")
    three.tagging.add_tags([("fact", 2)], "apple")
    assert three.facts.tags() == [("people", 3), ("apple", 1), ("zebra", 1)]
    three.facts.forget([2])
    assert [count for _, count in three.facts.tags()] == [2]


@given(st.text(), st.text())
def test_the_key_of_a_tag_is_the_same_however_it_is_written(one: str, other: str) -> None:
    """A law: writing changes no key, and the union holds each key once, the first spelling of it."""
    try:
        assert (
            tags.tag_key(tags.clean_tag(one)) == tags.tag_key(one) or "REDACTED" in tags.clean_tag(one) or "\0" in one
        )
    except InvalidInput:
        pass
    joined = tags.merge_tags([one, other], [one.upper(), other])
    assert joined[0] == one
    assert len({tags.tag_key(tag) for tag in joined}) == len(joined)


def test_decisions_and_tasks_are_tagged_with_facts_in_one_step(three: Memory) -> None:
    decision, task = three.decisions.decide("Use SQLite", "WAL"), three.tasks.add_task("Try it")
    three.tagging.add_tags([("fact", 2), ("decision", decision), ("task", task)], "storage")
    assert three.decisions.get(decision).tags == three.tasks.get(task).tags == ("storage",)
    (step,) = three.history.steps(limit=1)
    assert step.reason == "tag F#2 D#1 A#1" and step.changes == 3
    three.tagging.remove_tags([("task", task)], "STORAGE")
    assert three.tasks.get(task).tags == ()
    three.history.undo()
    three.history.undo()
    assert three.decisions.get(decision).tags == three.tasks.get(task).tags == three.facts.get(2).tags == ()


def test_a_search_finds_every_kind_by_its_tag_and_by_the_word(three: Memory) -> None:
    decision, task = three.decisions.decide("Use SQLite", "WAL"), three.tasks.add_task("Try it")
    three.tagging.add_tags([("fact", 2), ("decision", decision), ("task", task)], "storage")
    cited = {"F#2", "D#1", "A#1"}
    assert {hit.citation for hit in three.search("tag:storage").hits} == cited
    assert {hit.citation for hit in three.search("storage").hits} == cited
    assert {hit.citation for hit in three.search("tag:storage domain:general").hits} == {"F#2"}
    three.tagging.remove_tags([("decision", decision)], "storage")
    assert {hit.citation for hit in three.search("storage").hits} == cited - {"D#1"}


def test_a_decision_that_replaces_another_keeps_its_tags(memory: Memory) -> None:
    first = memory.decisions.decide("Use SQLite", "WAL", tags=["storage"])
    second = memory.decisions.correct(first, "rollback journal")
    assert memory.decisions.get(second).tags == ("storage",)
    refuses(Conflict, "D#2 took its place", memory.tagging.add_tags, [("decision", first)], "old")
    refuses(NotFound, "There is no task A#9", memory.tagging.add_tags, [("task", 9)], "none")
