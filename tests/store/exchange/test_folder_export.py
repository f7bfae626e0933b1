"""Folders with a file for each record: what is written is read again by the readers of these forms."""

from pathlib import Path

import pytest

from store.base.errors import Conflict
from store.base.vocabulary import EXPORT_FORMS
from store.exchange import exporter as folder_export
from store.memory import Memory
from store.tools.source import FoundMemory, ReadTrouble
from store.tools.source_import import get_source

FACTS = [
    ("The team is five.", "work"),
    ("Inés prefiere commits pequeños: «sin punto final» #no --- [x](y) `a`", "preferences"),
    ("To rebuild:\n1. run `make almanac`\n2. check out/2027.json\n# not a heading", "general"),
    ("--- is a line\n---\nand so it goes", "personal"),
    ("The team is five!?", "projects"),
    ("Two paragraphs\n\nand code:\n\n    make", "general"),
    ("Ends with #tag #other (context)", "general"),
    ("<!-- a comment --> and a text", "general"),
    ("# Not a heading", "general"),
]


@pytest.fixture
def memory(tmp_path: Path):
    (tmp_path / "ours").mkdir()
    with Memory.open(str(tmp_path / "ours" / "memory.db")) as memory:
        for text, domain in FACTS:
            memory.facts.remember(text, domain=domain, tags=["a b", "ñ"])
        memory.facts.remember("I answered too long.", domain="self_correction")
        memory.facts.forget([memory.facts.remember("The key of the door is red.")[0]])
        others = ["SQLite", "Parquet"]
        memory.decisions.decide("Use DuckDB", "DuckDB 1.4", alternatives=others, rationale="It is fast.")
        yield memory


def back(form: str, folder: Path) -> list[FoundMemory]:
    troubles: list[ReadTrouble] = []
    found = [one for one in get_source(form).read(str(folder), troubles) if isinstance(one, FoundMemory)]
    assert troubles == []
    return found


@pytest.mark.parametrize("form", EXPORT_FORMS)
def test_what_is_written_is_read_again(form: str, memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "memory"
    assert folder_export.export_folder(memory.database, str(folder), form) == len(FACTS) + 1
    found = back(form, folder)
    assert {one.text for one in found if one.decision is None} == {text for text, _ in FACTS}
    (decision,) = [one for one in found if one.decision is not None]
    assert decision.decision is not None
    said = f"{decision.decision.chosen} {decision.decision.alternatives} {decision.decision.rationale}"
    assert decision.text == "Use DuckDB" and all(word in said for word in ("DuckDB 1.4", "SQLite", "It is fast."))
    everything = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.md"))
    assert "too long" not in everything and "red" not in everything
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*.md")} == {0o600}


def test_claude_codes_own_index_names_every_file(memory: Memory, tmp_path: Path) -> None:
    folder_export.export_folder(memory.database, str(tmp_path / "memory"), "claude-code")
    names = {path.name for path in (tmp_path / "memory").iterdir()} - {"MEMORY.md"}
    index = (tmp_path / "memory" / "MEMORY.md").read_text(encoding="utf-8")
    assert len(names) == len(FACTS) + 1 and all(f"]({name})" in index for name in names)
    types = {name.split("_")[0] for name in names}
    assert types == {"user", "feedback", "project", "reference"}


def test_a_bundle_says_its_version_and_who_confirmed(memory: Memory, tmp_path: Path) -> None:
    """`verified` names a person only where one said or confirmed it."""
    memory.facts.remember("An agent thinks that it rains.", actor="mcp:claude-code")
    folder_export.export_folder(memory.database, str(tmp_path / "bundle"), "okf")
    assert (tmp_path / "bundle" / "index.md").read_text(encoding="utf-8").startswith('---\nokf_version: "0.2"\n---\n')
    for path in (tmp_path / "bundle" / "facts").glob("*-f*.md"):
        text = path.read_text(encoding="utf-8")
        assert "\ntype: fact\n" in text and ("human:owner" in text) == ("rains" not in text)


def test_nothing_is_written_over(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.md").write_text("mine", encoding="utf-8")
    with pytest.raises(Conflict):
        folder_export.export_folder(memory.database, str(tmp_path / "there"), "okf")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["a.md"]
    (tmp_path / "empty").mkdir()
    assert folder_export.export_folder(memory.database, str(tmp_path / "empty"), "okf") == len(FACTS) + 1
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".memoranda-export")]
