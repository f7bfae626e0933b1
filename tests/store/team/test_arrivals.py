"""What waits for a person while its author goes on: the inbox has of each shared record what it says now, and a purge
reaches every text that it ever had there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.team import Join, Person

from store.purge.proof import files_of
from store.team.arrivals import Arrivals
from store.team.exchange import Team

FIRST, SECOND, THIRD = (
    "The safe opens with swordfish",
    "The safe opens with marlin today",
    "The safe opens with haddock",
)


def left(person: Person, *words: str) -> list[tuple[str, str]]:
    """Return which of these words which file of a person's memory and team holds."""
    files = [Path(path) for path in files_of(person.memory.database, person.memory.documents)]
    return [(word, file.name) for word in words for file in files if word.encode() in file.read_bytes()]


def test_what_waits_says_what_its_author_says_now(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(FIRST)
    ana.sync(), bob.sync()
    for text in (SECOND, FIRST, THIRD):
        number = ana.memory.facts.correct(number, text)
        ana.sync()
        done = bob.sync()
        assert bob.waiting() == [("add", text)], "once, and no older text"
        assert sum(done.arrived.new.values()) == 1
    bob.decide("accept")
    bob.sync(), ana.sync()
    assert bob.facts() == [THIRD] and ana.view() == bob.view()
    with Team(bob.memory) as team:
        assert [held.number for held in team.held()] == bob.memory.facts.ids(bob.memory.now)


def test_a_correction_that_waits_is_replaced_by_the_next(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(FIRST)
    ana.sync(), bob.sync()
    bob.decide("accept")
    for text in (SECOND, THIRD, SECOND):
        number = ana.memory.facts.correct(number, text)
        ana.sync(), bob.sync()
        assert bob.waiting() == [("correct", text)]
    ana.memory.facts.forget([number])
    ana.sync(), bob.sync()
    assert bob.waiting() == [("forget", FIRST)]


def test_what_another_settled_waits_no_longer(join: Join) -> None:
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    ana.remember(FIRST)
    ana.sync(), bob.sync(), cleo.sync()
    (copy,) = bob.decide("accept")
    cleo.decide("accept")
    bob.sync(), cleo.sync(), ana.sync()
    assert copy is not None
    newer = bob.memory.facts.correct(copy, SECOND)
    bob.sync(), ana.sync(), cleo.sync()
    assert ana.waiting() == cleo.waiting() == [("correct", SECOND)]
    bob.memory.facts.correct(newer, FIRST)
    bob.sync()
    (note,) = ana.sync().arrived.notes
    assert note.startswith("What was asked about F1@") and note.endswith(" is settled: P#1 waits no longer.")
    cleo.sync()
    assert ana.waiting() == cleo.waiting() == []
    assert ana.view() == bob.view() == cleo.view()


def test_what_is_decided_while_the_next_is_compared_is_kept(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application exchanges by itself while a person accepts."""
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(FIRST)
    ana.sync(), bob.sync()
    ana.memory.facts.correct(number, SECOND)
    ana.sync()
    with monkeypatch.context() as meanwhile:
        ordinary = Arrivals.bring
        meanwhile.setattr(Arrivals, "bring", lambda self: (bob.decide("accept"), ordinary(self))[1])
        bob.sync()
    assert bob.facts() == [FIRST] and bob.waiting() == []
    bob.sync()
    assert bob.waiting() == [("correct", SECOND)]


def test_its_author_takes_back_and_says_it_again(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(FIRST)
    ana.sync(), bob.sync()
    ana.memory.facts.forget([number])
    ana.sync(), bob.sync()
    assert bob.waiting() == []
    ana.memory.history.undo()
    ana.sync(), bob.sync()
    assert bob.waiting() == [("add", FIRST)]


def test_what_a_person_rejected_is_not_asked_again(join: Join) -> None:
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    number = ana.remember(FIRST)
    ana.sync(), bob.sync(), cleo.sync()
    bob.decide("reject")
    cleo.decide("accept")
    cleo.sync(), ana.sync(), bob.sync()
    assert bob.waiting() == []
    ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    assert bob.waiting() == [("add", SECOND)]


@pytest.mark.parametrize("answers", ["", "reject", "accept", "accept accept", "accept reject", "reject accept"])
def test_a_purge_reaches_every_text_that_it_had(join: Join, answers: str) -> None:
    """Whether it waits, was rejected or accepted, and was changed in between or not."""
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(FIRST)
    ana.remember("Releases are cut on Tuesdays", "projects")
    ana.sync(), bob.sync()
    for answer in answers.split()[:1]:
        bob.decide(answer)
        bob.sync()
    ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    for answer in answers.split()[1:]:
        bob.decide(answer)
        bob.sync()
    assert left(bob, "swordfish") and left(bob, "marlin")
    ana.memory.purge.run(ana.memory.purge.plan([("fact", ana.memory.facts.ids(ana.memory.now)[-1])]))
    ana.sync(), bob.sync()
    assert left(bob, "swordfish", "marlin") == []
    assert ("Releases are cut on Tuesdays" in bob.facts()) == ("accept" in answers.split()[:1])
