"""One person's machines: what holds in every project goes from one personal memory to another, if they say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.team import Person

from store.base.location import personal_memory_path
from store.memory import Memory
from store.team.collect import ShareChoice
from store.team.exchange import Team
from store.team.stream import Operation, RefusedStream, parse_operation

ALL = ShareChoice(("preferences",), False, True)


@pytest.fixture
def machine(tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Person]]:
    """The personal memory of a machine, on which one is from then on."""
    known: dict[str, Person] = {}

    def machine(name: str) -> Person:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / name))
        if name not in known:
            known[name] = Person(Memory.open(personal_memory_path()), remote, name)
            with Team(known[name].memory) as team:
                team.choose(ALL)
        return known[name]

    yield machine
    for person in known.values():
        person.memory.close()


def scopes(person: Person) -> dict[str, str]:
    facts = person.memory.facts
    return {one.fact: one.scope for one in facts.get_many(facts.ids(person.memory.now))}


def test_global_facts_are_shared_only_where_they_are_named(machine: Callable[[str], Person]) -> None:
    laptop = machine("laptop")
    laptop.memory.facts.remember("Answers are short", domain="preferences", scope="global")
    laptop.memory.facts.remember("The lamp is warm", domain="preferences")
    laptop.memory.facts.remember("Allergic to peanuts", domain="personal", scope="global")
    with Team(laptop.memory) as team:
        of_project = team.list_unshared(ShareChoice(("preferences",)))
        every = team.list_unshared(ALL)
    assert [one.fields["fact"] for one in of_project] == ["The lamp is warm"] and "scope" not in of_project[0].fields
    assert [one.fields["fact"] for one in every] == ["Answers are short", "The lamp is warm"]
    assert ShareChoice.from_text(ALL.as_text()) == ALL


def test_they_are_global_on_the_other_machine_too(machine: Callable[[str], Person]) -> None:
    laptop = machine("laptop")
    laptop.memory.facts.remember("Answers are short", domain="preferences", scope="global")
    laptop.memory.facts.remember("The lamp is warm", domain="preferences")
    laptop.sync()
    desktop = machine("desktop")
    desktop.sync()
    assert desktop.facts() == [], "they wait"
    desktop.decide("accept")
    assert scopes(desktop) == {"Answers are short": "global", "The lamp is warm": "project"}
    desktop.believe("laptop", ShareChoice(("preferences",)))
    desktop.sync()
    machine("laptop")
    laptop.memory.facts.remember("Tabs, never spaces", domain="preferences", scope="global")
    laptop.sync()
    machine("desktop")
    done = desktop.sync()
    assert desktop.waiting() == [("add", "Tabs, never spaces")] and not done.arrived.believed
    desktop.decide("reject")
    desktop.believe("laptop", ALL)
    machine("laptop")
    laptop.memory.facts.remember("Dates are ISO", domain="preferences", scope="global")
    laptop.sync()
    machine("desktop")
    done = desktop.sync()
    assert (done.arrived.believed, done.arrived.new) == (1, {}), "what is taken at once is not in the inbox"
    assert scopes(desktop)["Dates are ISO"] == "global"
    assert laptop.view() == desktop.view()


def test_in_a_project_it_is_the_projects_fact(machine: Callable[[str], Person], join: Callable[[str], Person]) -> None:
    laptop = machine("laptop")
    number = laptop.memory.facts.remember("Answers are short", domain="preferences", scope="global")[0]
    laptop.sync()
    bob = join("Bob")
    bob.sync()
    bob.decide("accept")
    assert scopes(bob) == {"Answers are short": "project"}
    assert bob.sync().warnings == [] and laptop.sync().arrived.changed == {}, "no change of Bob's"
    laptop.purge(number)
    laptop.sync(), bob.sync()
    assert bob.facts() == [] and bob.view() == laptop.view()


def test_a_scope_is_global_or_not_said() -> None:
    at, writer = "2026-11-25T12:00:00.000Z", "m" * 12
    line = Operation(writer, 1, at, "add", f"F1@{writer}", {"fact": "x", "scope": "session"}).as_line().encode()
    with pytest.raises(RefusedStream, match="does not have"):
        parse_operation(line, writer)
