"""Global facts: kept in the person's own memory, seen and changed from every project."""

import os
import shutil
from pathlib import Path

import apsw
import pytest
from conftest import Clock
from support.forks import run_program

from store.base.citations import parse_citation
from store.base.errors import Conflict, InvalidInput, NewerFile, NotFound, StorageError, Unsupported
from store.base.location import Location, personal_memory_path
from store.base.models import Fact, GlobalFact, as_json
from store.database.schema import SCHEMA_VERSION
from store.doors.pack import build_prompt_pack, build_start_pack, build_task_pack
from store.memory import Memory
from store.search import lookup


@pytest.fixture
def other(memory: Memory, tmp_path: Path, clock: Clock) -> Memory:
    """The memory of another project."""
    return Memory.open(str(tmp_path / "other" / ".memoranda" / "memory.db"), "cli", clock)


def own(clock: Clock) -> Memory:
    return Memory(Location(personal_memory_path(), "personal", "of the test"), "cli", clock)


def test_a_global_fact_is_the_personal_memorys_and_seen_everywhere(memory: Memory, other: Memory, clock: Clock) -> None:
    number, new = memory.globals.remember("I write Spanish", tags=["language"])
    assert (number, new) == (1, True)
    assert memory.facts.ids(memory.now) == []
    with own(clock) as mine:
        assert [fact.fact for fact in mine.facts.get_many([1])] == ["I write Spanish"]
        assert mine.facts.get(1).scope == "global"
    for project in (memory, other):
        assert list(project.globals.order(project.now)) == [1]
        (seen,) = project.globals.get_many([1])
        assert isinstance(seen, GlobalFact)
        assert (seen.citation, seen.fact, seen.tags) == ("G#1", "I write Spanish", ("language",))
        assert lookup.get_record(project.database, parse_citation("G#1")) == seen
        assert as_json(seen)["citation"] == "G#1"


def test_what_is_in_the_personal_memory_and_not_global_is_seen_in_no_project(memory: Memory, clock: Clock) -> None:
    with own(clock) as mine:
        mine.facts.remember("the dentist is at nine")
    assert list(memory.globals.order(memory.now)) == []
    assert memory.globals.get_many([1]) == []
    assert memory.search("dentist").hits == []
    with pytest.raises(NotFound, match="no global fact G#1"):
        lookup.get_record(memory.database, parse_citation("G#1"))
    with pytest.raises(NotFound, match="no global fact G#1"):
        memory.globals.forget([1])


def test_in_the_personal_memory_itself_a_global_fact_is_one_of_its_facts(clock: Clock) -> None:
    with own(clock) as mine:
        number, _ = mine.facts.remember("I write Spanish", scope="global")
        assert isinstance(lookup.get_record(mine.database, parse_citation(f"G#{number}")), Fact)
        assert [hit.citation for hit in mine.search("Spanish").hits] == ["F#1"]
        assert mine.globals.get_many([number]) == []
        assert mine.personal is mine


def test_a_project_keeps_no_global_fact(memory: Memory) -> None:
    with pytest.raises(Unsupported, match="personal memory"):
        memory.facts.remember("x", scope="global")


def test_reading_creates_no_personal_memory(memory: Memory) -> None:
    assert list(memory.globals.order(memory.now)) == []
    memory.search("anything")
    build_start_pack(memory, "claude")
    memory.context("anything")
    with pytest.raises(NotFound, match="no personal memory yet"):
        assert memory.require_personal()
    assert not os.path.lexists(os.path.dirname(personal_memory_path()))


# search


def test_a_search_finds_global_facts_beside_the_project_s_records(memory: Memory) -> None:
    memory.facts.remember("the deploy key is in the safe")
    memory.globals.remember("never deploy on a Friday")
    answer = memory.search("deploy")
    assert {hit.citation for hit in answer.hits} == {"F#1", "G#1"}
    assert answer.total == 2
    assert [(hit.citation, hit.kind) for hit in memory.search("Friday deploy").hits][:1] == [("G#1", "fact")]
    assert [hit.citation for hit in memory.search("deploy", scope="global").hits] == ["G#1"]
    assert [hit.citation for hit in memory.search("deploy", scope="project").hits] == ["F#1"]
    assert [hit.citation for hit in memory.search("deploy", kinds=("decision",)).hits] == []
    assert [hit.citation for hit in memory.search("kind:decision deploy").hits] == []
    assert [hit.citation for hit in memory.search("G#1").hits] == ["G#1"]
    assert len(memory.search("deploy", 1).hits) == 1


def test_a_project_s_fact_of_the_same_number_is_another_one(memory: Memory) -> None:
    """The context is sent both, each under its own citation."""
    memory.facts.remember("the port of the API is 8080")
    memory.globals.remember("the port wine is in the cellar")
    built = memory.context("where is the port?")
    told = {one.record.citation: one.fact.fact for one in built.considered}
    assert told == {"F#1": "the port of the API is 8080", "G#1": "the port wine is in the cellar"}
    assert "[G#1] the port wine" in built.text


def test_forgotten_global_facts_are_not_found(memory: Memory) -> None:
    memory.globals.remember("never deploy on a Friday")
    memory.globals.forget([1])
    answer = memory.search("deploy")
    assert (answer.hits, answer.left_out) == ([], 1)
    assert list(memory.globals.order(memory.now)) == []
    assert [hit.citation for hit in memory.search("deploy is:forgotten").hits] == ["G#1"]


# what agents are sent


def test_agents_are_sent_the_global_facts_that_they_may_be_sent(memory: Memory, clock: Clock) -> None:
    memory.facts.remember("the deploy runs at noon", pinned=True)
    memory.globals.remember("never deploy on a Friday", pinned=True)
    memory.globals.remember("deploy with tea", domain="preferences")
    assert build_start_pack(memory, "claude").citations == ("F#1", "G#1", "G#2")
    assert "G#1" in build_prompt_pack(memory, "claude", "s", "should I deploy on a Friday?").citations
    assert "G#2" in build_task_pack(memory, "claude", "s", "deploy with tea").citations
    memory.globals.mute([1])
    assert "G#1" not in build_start_pack(memory, "claude").citations
    assert "G#1" not in build_prompt_pack(memory, "claude", "s", "should I deploy on a Friday?").citations
    (judged,) = [one for one in memory.context("deploy on a Friday?").considered if one.record.citation == "G#1"]
    assert (judged.included, judged.word) == (False, "muted")
    clock.advance(days=200)
    assert "G#2" not in build_start_pack(memory, "claude").citations, "a stale one is sent nowhere"


@pytest.mark.parametrize("prompt", ["should I deploy on a Friday?", "deploy the release on Friday"])
def test_a_prompt_recalls_the_global_fact_and_not_the_project_s_of_its_number(memory: Memory, prompt: str) -> None:
    memory.facts.remember("the office is in Lugo")
    memory.globals.remember("never deploy on a Friday")
    assert build_prompt_pack(memory, "claude", "s", prompt).citations == ("G#1",)


def test_what_a_session_was_sent_is_not_sent_again(memory: Memory) -> None:
    from store.doors import pack

    memory.globals.remember("never deploy on a Friday")
    made = build_prompt_pack(memory, "claude", "s", "should I deploy on a Friday?")
    assert made.citations == ("G#1",)
    pack.log_pack(memory, made, "claude", "s")
    assert build_prompt_pack(memory, "claude", "s", "should I deploy on a Friday?").citations == ()


def test_what_no_person_accepted_is_sent_to_no_agent(memory: Memory, clock: Clock) -> None:
    with own(clock) as mine:
        mine.facts.remember("deploy at once", actor="mcp:claude", scope="global", pinned=True)
    assert build_start_pack(memory, "claude").citations == ()
    memory.globals.confirm([1])
    assert build_start_pack(memory, "claude").citations == ("G#1",)


# changes


def test_a_change_is_one_of_the_personal_memory(memory: Memory, other: Memory) -> None:
    memory.globals.remember("I write Spanish")
    newest = memory.history.steps(limit=1)
    assert memory.globals.correct(1, "I write Spanish of Buenos Aires") == 2
    memory.globals.pin([2])
    assert other.globals.get_many([2])[0].own.pinned
    assert [step.reason for step in memory.personal.history.steps()] == ["pin F#2", "correct F#1", "remember F#1"]
    assert memory.history.steps(limit=1) == newest, "the project's own history says nothing of it"
    other.personal.history.undo()
    other.personal.history.undo()
    (fact,) = memory.globals.get_many(list(memory.globals.order(memory.now)))
    assert fact.fact == "I write Spanish"


def test_an_error_names_facts_as_the_project_cites_them(memory: Memory) -> None:
    memory.globals.remember("tabs")
    memory.globals.remember("spaces")
    with pytest.raises(Conflict, match="G#2 says that already") as error:
        memory.globals.correct(1, "spaces")
    assert "F#" not in str(error.value)
    with pytest.raises(InvalidInput, match="G#1 says exactly that"):
        memory.globals.correct(1, "tabs")
    memory.globals.forget([1])
    with pytest.raises(Conflict, match="memoranda undo --global brings it back"):
        memory.globals.forget([1])
    assert memory.globals.as_cited("correct F#1") == "correct G#1"


# a personal memory that cannot be used


@pytest.mark.parametrize("what", ["newer", "damaged", "foreign", "link"])
def test_a_personal_memory_that_cannot_be_read_is_named_and_harms_nothing(what: str, memory: Memory, tmp_path, clock):
    with own(clock) as mine:
        mine.facts.remember("I write Spanish", scope="global")
    path = Path(personal_memory_path())
    if what == "newer":
        connection = apsw.Connection(str(path))
        connection.pragma("user_version", SCHEMA_VERSION + 1)
        connection.close()
    elif what == "damaged":
        path.write_bytes(b"no memory at all" * 100)
    elif what == "foreign":
        shutil.rmtree(path.parent)
        path.parent.mkdir(mode=0o700)
        shutil.copy(_strange(tmp_path), path)
    else:
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))
    before = path.read_bytes()
    memory.facts.remember("I speak Spanish")
    answer = memory.search("Spanish")
    assert build_start_pack(memory, "claude").event == "start"
    if what == "newer":  # it can be read, and not changed
        assert {hit.citation for hit in answer.hits} == {"F#1", "G#1"}
        with pytest.raises(NewerFile, match="newer Memoranda"):
            memory.globals.forget([1])
    else:
        assert [hit.citation for hit in answer.hits] == ["F#1"]
        assert any("Global facts are not searched" in note and str(path) in note for note in answer.notes)
        assert str(path) in memory.globals.read_problem
        with pytest.raises(StorageError, match="personal memory cannot be used"):
            memory.globals.remember("tabs")
        with pytest.raises(StorageError, match="personal memory cannot be used"):
            memory.moves.move_to_global(1)
        assert memory.facts.get(1).status == "active"
    assert path.read_bytes() == before


def _strange(tmp_path: Path) -> Path:
    """A memory that another installation made."""
    path = tmp_path / "strange" / "memory.db"
    code = "import sys; from store.memory import Memory; Memory.open(sys.argv[1]).facts.remember('I write Spanish')"
    assert run_program(code, path, env={"XDG_STATE_HOME": str(tmp_path / "state")}).returncode == 0
    return path


def test_a_personal_memory_that_was_replaced_is_opened_again(memory: Memory, clock: Clock) -> None:
    memory.globals.remember("I write Spanish")
    assert list(memory.globals.order(memory.now)) == [1]
    shutil.rmtree(os.path.dirname(personal_memory_path()))
    assert list(memory.globals.order(memory.now)) == []
    with own(clock) as mine:
        mine.facts.remember("I write English", scope="global")
    assert [hit.snippet for hit in memory.search("write").hits] == ["I write English"]


def test_a_checkout_moves_no_personal_memory(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that names a project's memory, and what lies in the project, change nothing."""
    (tmp_path / ".memoranda" / "config.toml").write_text('[embedding]\nprovider = "off"\n', encoding="utf-8")
    before = personal_memory_path()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_DB", str(tmp_path / "elsewhere.db"))
    assert personal_memory_path() == before
    memory.globals.remember("I write Spanish")
    assert Path(before).is_file()
    assert not before.startswith(str(tmp_path))


def test_the_path_is_the_one_of_platformdirs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import platformdirs

    for value in (None, str(tmp_path / "data"), " ", "~/data"):
        if value is None:
            monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_DATA_HOME", value)
        assert personal_memory_path() == str(platformdirs.user_data_path("memoranda", appauthor=False) / "memory.db")


def test_a_secret_is_cut_before_it_reaches_the_personal_memory(memory: Memory) -> None:
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    memory.facts.remember(f"the token is {secret}")
    memory.globals.remember(f"my token is {secret}")
    memory.moves.move_to_global(1)
    memory.close()
    folder = Path(personal_memory_path()).parent
    assert not any(secret.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())
