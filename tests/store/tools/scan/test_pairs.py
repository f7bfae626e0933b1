"""Which texts say the same and which cannot both hold; what documents list, log and describe is neither."""

import pytest
from support.tables import each

from store.tools.machine_scan import find_memory_pairs
from store.tools.source import FoundMemory


def kinds(*texts: str, documents: frozenset[str] = frozenset()) -> list[str]:
    memories = [FoundMemory(text, f"m{place}.md") for place, text in enumerate(texts)]
    return [one.kind for one in find_memory_pairs(memories, documents)]


@each(
    "one, other, kind",
    [
        ("The staging host is called Percebe", "The staging host is called Navaja", "contradiction"),
        ("primary LLM: Kimi K2.5", "primary LLM: Qwen 2.5", "contradiction"),
        ("Usa Jenkins", "Ya no usa Jenkins", "contradiction"),
        ("Be clear, direct, warm, and honest.", "Clear, direct, warm, and honest.", "duplicate"),
        ("**Restarts** automatically if it crashes", "Restarts automatically if it crashes", "duplicate"),
        ("The stand-up is at 9:30", "The stand-up is at 10:00", "contradiction"),
        ("Line length: 88 chars maximum", "Line length: 120 chars maximum", "contradiction"),
        ("Python 3.14: browser-use不兼容", "Python 3.14: browser-use 不兼容", "duplicate"),
    ],
)
def test_what_is_found(one: str, other: str, kind: str) -> None:
    assert kinds(one, other) == [kind]


@each(
    "texts",
    [
        ("Default: `false`", "Default: `''`", "Default: `0`", "Default: `false`"),
        ("**WHEN** it runs with the flag", "**WHEN** it runs without the flag", "**WHEN** it ends"),
        ("`2026-04-26T16:52` [error] bash failed 2 times", "`2026-04-26T16:59` [error] bash failed 3 times"),
        ("[one.md](one.md) — 3 files of tides", "[two.md](two.md) — 7 files of tides"),
        ("memory/one.md ← tides (score=0.4)", "memory/two.md ← tides (score=0.7)"),
        ("**WAL Mode**: several readers and a single writer", "**WAL Mode**: readers and one writer at the same time"),
        ("The code is statically defined", "The code is statically defined (no generation)"),
        ("Never run `go test` directly", "Never run `go test` or `go vet` directly; the install is `go install` alone"),
        ("If $x > 0$ then it grows without bounds", "If $y > 0$ then it grows without bounds"),
        ("Slot recipes: https://example.org/slot-recipes", "Recipes: https://example.org/recipes"),
        ("Release notes of 6.0.1: https://example.org/6.0.1", "Release notes of 6.0.3: https://example.org/6.0.3"),
        ("Jul 12: 283 active / 14 high / 0 overdue", "Jul 13: 291 active / 16 high / 0 overdue"),
        ("2026-06-26 heartbeat: 272 total / 11 high", "2026-06-27 heartbeat: 265 total / 14 high"),
        ("Tests live in `tests/` and use pytest", "Tests live in `tests/` (~1,977 tests) and use pytest"),
        ("`demo-trader-tier` — 100 req/min, 3 streams", "`demo-free-tier` — 10 req/min, 1 stream"),
        ("Setup date: 2026-02-22", "Setup: 2026-03-01"),
        (
            "❌ Defend bad work (acknowledge and fix)",
            "❌ **Defensiveness** — Don't defend bad work, acknowledge and fix it",
        ),
        (
            "**联动**: Tracer的因果链接数据可作为TrustScorer的交互评分输入",
            "**联动**: Tracer因果链接数据可作TrustScorer交互评分输入",
        ),
        ("Check the name: `resolve narrowbox.local`", "Check the name: `resolve your-remote-server`"),
    ],
)
def test_what_is_not(texts: tuple[str, ...]) -> None:
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
