"""An undo takes back one's own step, for the team too: nothing of it is a purge, which erases for everybody."""

from __future__ import annotations

from support.team import Join, Person, accepted

from store.team.exchange import Team

FIRST, SECOND = "The safe is in the cellar", "The safe is in the attic of the mill"


def two(join: Join) -> tuple[Person, Person, int, int]:
    """Ana and Bob, Ana's fact, and its number with Bob, who accepted it."""
    ana, bob, number, copy = accepted(join, FIRST)
    ana.sync()
    return ana, bob, number, copy


def status(person: Person) -> list[str]:
    with Team(person.memory) as team:
        return [record.status for record in team._file.all_records()]


def test_a_correction_that_is_undone_is_taken_back_alone(join: Join) -> None:
    ana, bob, number, _ = two(join)
    ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    assert bob.waiting() == [("correct", SECOND)]
    ana.memory.history.undo()
    ana.sync()
    done = bob.sync()
    assert (done.arrived.erased, bob.facts(), bob.waiting()) == (0, [FIRST], []) and status(bob) == ["active"]
    ana.memory.history.redo()
    ana.sync(), bob.sync()
    assert bob.waiting() == [("correct", SECOND)] and ana.view() == bob.view()
    bob.decide("accept")
    bob.sync()
    ana.memory.history.undo()
    ana.sync(), bob.sync()
    assert bob.facts() == [SECOND] and bob.waiting() == [("correct", FIRST)], "a question, as any change"


def test_a_fact_whose_remembering_is_undone_is_forgotten_not_purged(join: Join) -> None:
    ana, bob, _, _ = two(join)
    cleo = join("Cleo")
    cleo.sync()
    assert cleo.waiting() == [("add", FIRST)]
    ana.memory.history.undo()
    assert ana.facts() == [] and ana.sync().sent == 1
    assert bob.sync().arrived.erased == 0
    assert bob.facts() == [FIRST] and bob.waiting() == [("forget", FIRST)]
    cleo.sync()
    assert cleo.waiting() == [] and ana.sync().sent == 0
    ana.memory.history.redo()
    ana.sync(), bob.sync(), cleo.sync()
    assert status(bob) == ["active"] and bob.waiting() == [] and cleo.waiting() == [("add", FIRST)]
    assert ana.view() == bob.view() == cleo.view()


def test_a_decision_that_replaced_another_and_is_undone(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    ana.memory.decisions.decide("Queue of jobs", "NATS")
    ana.sync(), bob.sync()
    ana.memory.decisions.decide("Queue of jobs", "Kafka", supersedes=1)
    ana.sync(), bob.sync()
    ana.memory.history.undo()
    ana.sync(), bob.sync()
    assert status(bob) == ["active"] and '"NATS"' in bob.view() and '"Kafka"' not in bob.view()


def test_an_acceptance_that_is_undone_tells_nobody(join: Join) -> None:
    ana, bob, _, _ = two(join)
    bob.memory.history.undo()
    bob.sync()
    assert bob.waiting() == [("add", FIRST)]
    assert ana.sync().warnings == [] and ana.waiting() == [] and status(ana) == ["active"]


def test_a_change_of_anothers_record_that_is_undone_waits_no_longer(join: Join) -> None:
    ana, bob, _, copy = two(join)
    bob.memory.facts.correct(copy, SECOND)
    bob.sync(), ana.sync()
    assert ana.waiting() == [("correct", SECOND)]
    bob.memory.history.undo()
    bob.sync(), ana.sync()
    assert (bob.facts(), ana.facts(), ana.waiting(), bob.waiting()) == ([FIRST], [FIRST], [], [])
    with Team(bob.memory) as team:
        assert [held.number for held in team.held_records()] == [copy]


def test_a_decision_of_another_that_one_replaced_and_took_back(join: Join) -> None:
    """It is the shared record still, and so it is after its acceptance was undone and done again."""
    ana, bob = join("Ana"), join("Bob")
    ana.memory.decisions.decide("Queue of jobs", "NATS")
    ana.sync(), bob.sync()
    bob.decide("accept")
    bob.sync(), ana.sync()
    bob.memory.decisions.decide("Queue of jobs", "Kafka", supersedes=1)
    bob.sync(), ana.sync()
    assert len(ana.waiting()) == 1
    bob.memory.history.undo()
    bob.sync(), ana.sync(), bob.sync()
    assert ana.waiting() == bob.waiting() == [] and ana.view() == bob.view()
    with Team(bob.memory) as team:
        assert [held.number for held in team.held_records()] == [1]
    bob.memory.history.undo()
    bob.sync()
    bob.decide("accept")
    ana.memory.decisions.decide("Queue of jobs", "Redis", supersedes=1)
    ana.sync(), bob.sync()
    assert len(bob.waiting()) == 1 and "changed" in bob.memory.inbox.waiting()[0].reason


def test_what_was_undone_can_be_purged_still(join: Join) -> None:
    ana, bob, number, _ = two(join)
    newer = ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    ana.memory.history.undo()
    ana.sync(), bob.sync()
    ana.memory.history.redo()
    ana.purge(newer)
    ana.sync(), bob.sync()
    assert status(bob) == ["purged"] and bob.facts() == [] and ana.view() == bob.view()
