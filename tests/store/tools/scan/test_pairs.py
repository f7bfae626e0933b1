"""Which texts say the same and which cannot both hold; what documents list, log and describe is neither."""

import tomllib
from pathlib import Path

import pytest
from support.tables import each

from store.tools.machine_scan import find_memory_pairs
from store.tools.source import FoundMemory


def kinds(*texts: str, documents: frozenset[str] = frozenset()) -> list[str]:
    memories = [FoundMemory(text, f"m{place}.md") for place, text in enumerate(texts)]
    return [one.kind for one in find_memory_pairs(memories, documents)]


TEXTS = tomllib.loads(Path(__file__).with_name("pairs.toml").read_text(encoding="utf-8"))


@each("kind, texts", [(kind, texts) for kind in ("contradiction", "duplicate") for texts in TEXTS[kind]])
def test_what_is_found(kind: str, texts: list[str]) -> None:
    assert kinds(*texts) == [kind]


@each("texts", TEXTS["neither"])
def test_what_is_not(texts: list[str]) -> None:
    assert kinds(*texts) == []


def test_fields_under_two_headings_are_about_two_things() -> None:
    one, other = "**Share:** ~45%", "**Share:** 4.75%"
    found = [FoundMemory(one, "MEMORY.md", 1, tags=("Fund A",)), FoundMemory(other, "MEMORY.md", 5, tags=("Fund B",))]
    assert find_memory_pairs(found) == []
    (pair,) = find_memory_pairs([found[0], FoundMemory(other, "m.md", 5, tags=("Fund A",))])
    assert pair.kind == "contradiction"


def test_a_long_text_that_is_there_twice_is_a_duplicate_also_in_a_list() -> None:
    assert kinds("[a.md](a.md) — the constants of the tide tables of each port", "Other.",
                 "[a.md](a.md) — the constants of the tide tables of each port") == ["duplicate"]  # fmt: skip


def test_documents_repeat_and_contradict_nothing_by_words_alone() -> None:
    one, other = "The staging host is called Percebe", "The staging host is called Navaja"
    assert kinds(one, other, one, documents=frozenset(("m0.md", "m1.md", "m2.md"))) == ["duplicate"]
    assert kinds(one, other, documents=frozenset(("m1.md",))) == []


@pytest.mark.parametrize("copies", [5, 100])
def test_each_copy_is_a_duplicate_once(copies: int) -> None:
    text = "Read `lesson.md` before you answer anything substantive"
    near = f"{text}."
    found = [FoundMemory(text, f"m{place}.md", 1) for place in range(copies)] + [FoundMemory(near, "near.md", 1)]
    names = [*(f"m{place}.md" for place in range(1, copies)), "near.md"]
    assert [(one.path, one.other) for one in find_memory_pairs(found)] == [(name, "m0.md:1") for name in names]


def test_a_copy_in_another_project_is_no_duplicate_and_one_of_no_project_is() -> None:
    text = "Deploys are on Fridays at noon"
    found = [FoundMemory(text, f"{project}.md", 1, project=project) for project in ("/a", "/b", "", "/a")]
    pairs = [(one.line, one.path, one.other) for one in find_memory_pairs(found)]
    assert pairs == [(1, "/a.md", "/a.md:1"), (1, ".md", "/a.md:1")]
