"""A purge reaches the versions of other tools' files that guard keeps, and `verify-forgotten` opens them."""

import sqlite3
from pathlib import Path

import pytest
from support.guarded import GuardedHome, add_memory, key_file

from store.base.errors import NotFound
from store.memory import Memory
from store.purge.file_eraser import has_kept_versions
from store.purge.proof import find_traces
from store.purge.purge import PurgeResult
from store.purge.word_search import RemainingMatch

TEXT = "The blue zebrafish is the hint"


@pytest.fixture
def home(tmp_path: Path) -> GuardedHome:
    """A guard that keeps three versions of a note, of which the first two have the text, and one of another."""
    folder = tmp_path / "guarded"
    folder.mkdir()
    home = GuardedHome(folder)
    home.write("hint.md", f"About hints.\n\n- {TEXT}. Ask Ana.\n- The team is five.\n")
    home.write("other.md", "Nothing of it.\n")
    home.look()
    home.write("hint.md", f"About hints.\n{TEXT}\n")
    home.look(30)
    home.write("hint.md", "About hints, none left.\n")
    home.look(30)
    return home


def purge(memory: Memory, leave: bool = False) -> tuple[list[RemainingMatch], PurgeResult]:
    """Purge the text, of a fact: the places of guard in the plan, and the result."""
    fact, _ = memory.facts.remember(TEXT)
    plan = memory.purge.plan([("fact", fact)])
    places = [place for place in plan.places if place.table == "guard"]
    return places, memory.purge.run_plan(plan, () if leave else None)


def left(memory: Memory) -> tuple[list[str], list[str]]:
    """The files in which bytes of the text are, and the places that hold it."""
    traces = find_traces(memory.database, memory.documents, [TEXT])
    return [Path(one.file).name for one in traces.files_with_text], [place.citation for place in traces.places]


def test_a_plan_names_the_file_and_its_versions(memory: Memory, home: GuardedHome) -> None:
    places, _ = purge(memory, leave=True)
    (place,) = places
    assert place.key == str(home.memory / "hint.md") and place.can and not place.note
    assert place.what == "kept by guard, 2 versions of a file of Claude Code" and TEXT in place.text
    assert left(memory) == (["guard.db"], [place.citation])


def test_the_words_are_cut_out_of_every_version(memory: Memory, home: GuardedHome) -> None:
    assert left(memory)[0] == ["guard.db"]
    _, done = purge(memory)
    assert done.scrubbed == 1 and not done.left
    assert left(memory) == ([], [])
    assert home.shown(1) == [" 1 About hints.", "-2 ", "-3 - Ask Ana.", "-4 - The team is five."]
    assert home.shown(2) == ["-1 About hints.", "+0 About hints, none left."]
    assert home.content()["hint.md"] == b"About hints, none left.\n"
    home.restore(1)
    assert home.content()["hint.md"] == b"About hints.\n\n- Ask Ana.\n- The team is five.\n"


def test_the_tool_s_own_file_stays_and_is_named(memory: Memory, home: GuardedHome) -> None:
    home.write("hint.md", f"{TEXT}\n")
    home.look(30)
    before = home.content()
    places, _ = purge(memory)
    assert places[0].note == "the file itself has it too: edit it there"
    assert home.content() == before and left(memory) == ([], [])
    assert home.look(30).moments == []  # not read again before it changes


def test_a_version_of_a_database_is_erased_whole(memory: Memory, home: GuardedHome) -> None:
    engram = home.engram()
    home.look(30)
    add_memory(engram, "Hint", f"{TEXT}, said Ana.")
    home.look(30)
    connection = sqlite3.connect(engram)
    connection.execute("PRAGMA secure_delete = 1")
    with connection:
        connection.execute("DELETE FROM observations WHERE title = 'Hint'")
    connection.execute("VACUUM")
    connection.close()
    home.look(30)
    places, _ = purge(memory)
    assert {Path(place.key).name for place in places} == {"hint.md", "engram.db"}
    assert left(memory) == ([], [])
    number = home.moments()[0].number
    with pytest.raises(NotFound, match="was erased"):
        home.plan(number, "engram.db")
    assert [why for _, why in home.plan(number).stay] == ["its version was erased with what was purged"]
    assert any("was erased with what was purged" in line for line in home.shown(number))


def test_a_single_word_that_guard_keeps_is_no_trace(memory: Memory, home: GuardedHome) -> None:
    """It stands in another note, and was taken from no record."""
    home.write("hint.md", "A zebrafish is a fish.\n")
    home.look(30)
    memory.facts.remember("My zebrafish is called Ada")
    plan = memory.purge.plan([("fact", 1)])
    assert "zebrafish" in plan.names
    memory.purge.run_plan(plan)
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean


def test_without_the_key_a_proof_says_that_it_cannot_tell(memory: Memory, home: GuardedHome) -> None:
    key_file().unlink()
    traces = find_traces(memory.database, memory.documents, [TEXT])
    assert [Path(one.file).name for one in traces.unread_files] == ["guard.db"] and not traces.is_clean
    assert [(place.can, "guard cannot read what it keeps" in place.what) for place in traces.places] == [(False, True)]


def test_a_name_of_a_file_counts(memory: Memory, home: GuardedHome) -> None:
    home.write(f"{TEXT}.md", "one\n")
    home.look(30)
    home.remove(f"{TEXT}.md", "hint.md")
    home.look(30)
    assert left(memory)[0] == ["guard.db"]
    purge(memory)
    assert left(memory) == ([], [])
    assert [len(changes) for changes in home.changes()] == [1, 1, 1]


def test_where_nothing_is_kept_nothing_is_looked_at(memory: Memory) -> None:
    traces = find_traces(memory.database, memory.documents, [TEXT])
    assert traces.is_clean and not any(one.file.endswith("guard.db") for one in traces.verdicts)
    assert not has_kept_versions()
