"""The name under which the person commits."""

from __future__ import annotations

from pathlib import Path

from support.repositories import create, git

from store.memory import Memory
from store.records.commits import own_author_name


def test_it_is_gits_after_the_mailmap(tmp_path: Path) -> None:
    create(tmp_path)
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        assert own_author_name(memory.database) == ""
        git(tmp_path, "config", "user.email", "ana@example.org")
        assert own_author_name(memory.database) == ""
        git(tmp_path, "config", "user.name", "ana")
        assert own_author_name(memory.database) == "ana"
        (tmp_path / ".mailmap").write_text("Ana Pérez <ana@example.org>\n", encoding="utf-8")
        assert own_author_name(memory.database) == "Ana Pérez"
        sha = "a1" * 20
        memory.commits.log(sha, message="tides", author="Ana Pérez")
        memory.commits.log("b2" * 20, message="storms", author="Susana Pérez")
        memory.facts.remember("the tide is high")
        assert {hit.citation for hit in memory.search("by:you").hits} == {"C#a1a1a1a", "F#1"}
        assert [hit.citation for hit in memory.search("by:-you").hits] == ["C#b2b2b2b"]


def test_outside_of_a_checkout_there_is_none(memory: Memory) -> None:
    assert own_author_name(memory.database) == ""


def test_a_setting_without_a_value_or_of_several_lines_breaks_no_search(tmp_path: Path) -> None:
    create(tmp_path)
    with (tmp_path / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write('[user]\n\tname = Ana\n\tsigningkey\n\tnote = "of two\\nlines"\n')
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        assert own_author_name(memory.database) == "Ana"
        memory.facts.remember("the tide is high")
        assert [hit.citation for hit in memory.search("by:you").hits] == ["F#1"]
