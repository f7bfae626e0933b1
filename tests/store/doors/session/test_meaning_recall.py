"""Recall by meaning by the resident that answers hooks; by words alone without one."""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from support.hook_machine import ALONE, LOOKS_OFTEN, HookMachine, command_line, resident_megabytes
from support.waiting import until

from store.base.location import Location
from store.doors import agent_log, pack
from store.doors.pack import MeaningRecall, words_of
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import background_embedding

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found and watched as Linux shows them")
PROMPT = "On Friday the office shuts at midday, so please plan that the driver of the parcels arrives well before that"
BY_WORDS = "when does the office close on fridays"
PATIENT = "from store.doors import pack; pack.RECALL_WAIT_SECONDS = 120"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HookMachine]:
    """A memory with vectors, whose fact shares too few words with the prompt."""
    machine = HookMachine(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", machine.environ["XDG_STATE_HOME"])
    monkeypatch.setenv("HOME", machine.environ["HOME"])
    with Memory.open(machine.path) as memory:
        memory.facts.remember("The office closes at noon on Fridays")
        memory.facts.remember("Invoices are rounded half up")
        memory.decisions.decide("Cache of the sessions", "Redis 7")
        assert background_embedding.embed_waiting(memory)
    yield machine
    machine.kill()


def test_a_process_for_one_event_finds_by_words_alone(machine: HookMachine) -> None:
    assert machine.run([*ALONE, "claude-code"], machine.event(prompt=PROMPT)) == ""
    assert "[F#1]" in machine.run([*ALONE, "claude-code"], machine.event(prompt=BY_WORDS))


def test_the_resident_finds_by_meaning_and_why_is_kept(machine: HookMachine) -> None:
    listening = machine.resident(code=PATIENT)
    told = machine.ask(machine.event(prompt=PROMPT))
    assert "[F#1]" in told and "[F#2]" not in told
    assert machine.ask(machine.event(prompt="thanks, that works")) == ""
    with Memory.open(machine.path) as memory:
        (kept,) = agent_log.list_injections(memory.database)
        assert kept.why == {"F#1": kept.why["F#1"]} and "near the prompt in meaning" in kept.why["F#1"]
    assert resident_megabytes(listening.pid) <= 250


def test_the_start_of_a_session_loads_the_model(machine: HookMachine) -> None:
    listening = machine.resident()
    machine.ask(machine.event("SessionStart", source="startup"))
    until(lambda: resident_megabytes(listening.pid) > 60)


def test_rest_gives_the_memory_of_the_model_back(machine: HookMachine) -> None:
    listening = machine.resident("rest=0", code=f"{PATIENT}\n{LOOKS_OFTEN}")
    assert "[F#1]" in machine.ask(machine.event(prompt=PROMPT))
    until(lambda: any(word.startswith("listening=") for word in command_line(listening.pid)))
    assert resident_megabytes(listening.pid) <= 40
    assert "[F#1]" in machine.ask(machine.event(prompt=BY_WORDS))


def test_a_memory_without_vectors_is_searched_by_words(machine: HookMachine) -> None:
    path = str(machine.folder / "other" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("The office closes at noon on Fridays")
    machine.resident(code=PATIENT)
    environ = {**machine.environ, "MEMORANDA_DB": path}
    assert machine.ask(machine.event(prompt=PROMPT), env=environ) == ""
    assert "[F#1]" in machine.ask(machine.event(prompt=BY_WORDS), env=environ)
    answer = MeaningRecall().ask(locate(path, {}, path), words_of(PROMPT))
    assert answer() is None


def test_what_is_not_found_in_time_is_not_waited_for(machine: HookMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def find(location: Location, prompt: str) -> dict[int, str] | None:
        looked.append(prompt)
        done.wait()
        return {1: "late"}

    done = Event()
    monkeypatch.setattr(pack, "_find", find)
    recall = MeaningRecall()
    place = locate(machine.path, {}, machine.path)
    first = recall.ask(place, "the first")
    until(lambda: looked)
    assert recall.ask(place, "one that stands in line")() is None and first() is None
    done.set()
    monkeypatch.setattr(pack, "RECALL_WAIT_SECONDS", 120.0)
    assert recall.ask(place, "the last")() == {1: "late"}
    assert looked == ["the first", "the last"]


def test_a_search_that_fails_costs_its_own_answer_alone(machine: HookMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "RECALL_WAIT_SECONDS", 120.0)
    recall = MeaningRecall()
    place = locate(machine.path, {}, machine.path)
    with monkeypatch.context() as broken:
        broken.setattr(pack, "recall_by_meaning", None)
        assert recall.ask(place, words_of(PROMPT))() is None
    assert recall.ask(place, words_of(PROMPT))()
    nowhere = str(machine.folder / "nowhere.db")
    assert recall.ask(locate(nowhere, {}, nowhere), words_of(PROMPT))() is None
