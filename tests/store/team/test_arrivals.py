"""What waits for a person while its author goes on: the inbox has of each shared record what it says now, and a purge
reaches every text that it ever had there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.team import WORK, Join, Person, accepted, assert_undisturbed, shared, shared_by_three

from store.inbox.inbox import InboxChoice
from store.purge.proof import list_text_files
from store.team.arrivals import Arrivals
from store.team.collect import ShareChoice
from store.team.exchange import Team
from store.team.part import erase_shared_records

FIRST, SECOND, THIRD = (f"The safe opens with {what}" for what in ("swordfish", "marlin today", "haddock"))


def left(person: Person, *words: str) -> list[tuple[str, str]]:
    """Return which of these words which file of a person's memory and team holds."""
    files = [Path(path) for path in list_text_files(person.memory.database, person.memory.documents)]
    return [(word, file.name) for word in words for file in files if word.encode() in file.read_bytes()]


def test_what_waits_says_what_its_author_says_now(join: Join) -> None:
    ana, bob, number = shared(join, FIRST)
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
        assert [held.number for held in team.held_records()] == bob.memory.facts.ids(bob.memory.now)


def test_a_correction_that_waits_is_replaced_by_the_next(join: Join) -> None:
    ana, bob, number = shared(join, FIRST)
    bob.decide("accept")
    for text in (SECOND, THIRD, SECOND):
        number = ana.memory.facts.correct(number, text)
        ana.sync(), bob.sync()
        assert bob.waiting() == [("correct", text)]
    ana.memory.facts.forget([number])
    ana.sync(), bob.sync()
    assert bob.waiting() == [("forget", FIRST)]


def test_what_another_settled_waits_no_longer(join: Join) -> None:
    ana, bob, cleo, _ = shared_by_three(join, FIRST)
    copy = bob.accept()
    cleo.decide("accept")
    bob.sync(), cleo.sync(), ana.sync()
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
    ana, bob, number = shared(join, FIRST)
    ana.memory.facts.correct(number, SECOND)
    ana.sync()
    with monkeypatch.context() as meanwhile:
        ordinary = Arrivals.bring_arrivals
        meanwhile.setattr(Arrivals, "bring_arrivals", lambda self: (bob.decide("accept"), ordinary(self))[1])
        bob.sync()
    assert bob.facts() == [FIRST] and bob.waiting() == []
    bob.sync()
    assert bob.waiting() == [("correct", SECOND)]


def test_its_author_takes_back_and_says_it_again(join: Join) -> None:
    ana, bob, number = shared(join, FIRST)
    ana.memory.facts.forget([number])
    ana.sync(), bob.sync()
    assert bob.waiting() == []
    ana.memory.history.undo()
    ana.sync(), bob.sync()
    assert bob.waiting() == [("add", FIRST)]


def test_what_a_person_rejected_is_not_asked_again(join: Join) -> None:
    ana, bob, cleo, number = shared_by_three(join, FIRST)
    bob.decide("reject")
    cleo.decide("accept")
    cleo.sync(), ana.sync(), bob.sync()
    assert bob.waiting() == []
    ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    assert bob.waiting() == [("add", SECOND)]


@pytest.mark.sampled(3)
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
    ana.purge(ana.memory.facts.ids(ana.memory.now)[-1])
    ana.sync(), bob.sync()
    assert left(bob, "swordfish", "marlin") == []
    assert ("Releases are cut on Tuesdays" in bob.facts()) == ("accept" in answers.split()[:1])


def decided(person: Person) -> list[tuple[str, str, str, str]]:
    """Return the decisions that hold: what was chosen, why, in which context, of which impact."""
    found = person.memory.decisions.get_many(person.memory.decisions.ids())
    return [(one.chosen, one.rationale, one.context, one.impact) for one in found if one.status == "active"]


NATS, KAFKA = ("NATS", "small", "10k a second", "high"), ("Kafka", "it replays", "10k a second", "high")


def two_with_a_decision(join: Join) -> tuple[Person, Person]:
    ana, bob = join("Ana"), join("Bob")
    chosen, rationale, context, impact = NATS
    more = {"context": context, "impact": impact, "alternatives": ["SQS"]}
    ana.memory.decisions.decide("Queue", chosen, rationale=rationale, **more)
    ana.sync(), bob.sync()
    bob.decide("accept")
    return ana, bob


def supersede(person: Person, chosen: str = "Kafka", rationale: str = "it replays") -> None:
    (number,) = person.memory.decisions.ids()
    old = person.memory.decisions.get(number)
    kept = {"context": old.context, "impact": old.impact}
    person.memory.decisions.decide(old.title, chosen, rationale=rationale, **kept, supersedes=number)


def test_who_takes_a_fact_over_changes_nothing_of_it(join: Join) -> None:
    """It is less sure here, and that is nobody's change; other words are one."""
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    ana.memory.facts.remember(FIRST, domain="work", confidence="high", tags=["safe", "Office"])
    ana.sync(), bob.sync(), cleo.sync()
    bob.decide("accept")
    known = ana.view()
    assert bob.sync().sent == 1, "that he accepted, and nothing else"
    ana.sync()
    assert ana.view().replace('"endorsed":["' + bob.writer + '"]', '"endorsed":[]') == known
    assert bob.sync().sent == 0
    (waits,) = cleo.memory.inbox.waiting()
    cleo.memory.inbox.decide([InboxChoice(waits.id, "accept", edited=SECOND)], anyway=True)
    cleo.sync(), ana.sync()
    assert ana.waiting() == [("correct", SECOND)]


def test_a_decision_is_taken_over_as_it_is(join: Join) -> None:
    """With its context and impact: what an acceptance left out was taken for a change."""
    ana, bob = two_with_a_decision(join)
    known = ana.view()
    assert bob.sync().sent == 1, "that he accepted, and nothing else"
    ana.sync()
    assert decided(bob) == decided(ana) == [NATS]
    assert ana.view().replace('"endorsed":["' + bob.writer + '"]', '"endorsed":[]') == known


def test_a_decision_that_its_author_replaced_is_proposed_in_the_place_of_the_old_one(join: Join) -> None:
    ana, bob = two_with_a_decision(join)
    bob.sync()
    bob.believe("Ana", WORK)
    supersede(ana)
    ana.sync()
    done = bob.sync()
    assert list(done.arrived.changed.values()) == [1] and done.arrived.believed == 0, "never without a question"
    (proposal,) = bob.memory.inbox.waiting()
    assert [one.citation for one in proposal.evidence] == ["D#1"] and decided(bob) == [NATS]
    bob.decide("accept")
    assert decided(bob) == [KAFKA]
    assert bob.sync().sent == 0 and bob.waiting() == []
    assert ana.view() == bob.view()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_two_who_decide_anew_at_once_are_asked(join: Join, verb: str) -> None:
    ana, bob = two_with_a_decision(join)
    bob.sync()
    supersede(ana)
    supersede(bob, "RabbitMQ", "known here")
    ana.sync(), bob.sync()
    (proposal,) = bob.memory.inbox.waiting()
    assert proposal.change["decision"]["chosen"] == "Kafka" and "You changed it too" in proposal.reason
    bob.decide(verb)
    bob.sync(), ana.sync()
    if verb == "reject":
        assert ana.memory.inbox.waiting()[0].change["decision"]["chosen"] == "RabbitMQ"
        ana.decide("accept")
    ana.sync(), bob.sync(), ana.sync()
    assert ana.view() == bob.view() and ana.waiting() == bob.waiting() == []
    assert [one[0] for one in decided(ana)] == [one[0] for one in decided(bob)]
    with Team(ana.memory) as team:
        assert not [one for one in team._file.all_records() if one.conflicts()]


def test_a_decision_that_waits_says_what_its_author_says_now(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    ana.memory.decisions.decide("Queue", "NATS", rationale="small")
    ana.sync(), bob.sync()
    supersede(ana)
    ana.sync(), bob.sync()
    (proposal,) = bob.memory.inbox.waiting()
    assert proposal.change["decision"]["chosen"] == "Kafka"


def test_a_decision_that_its_author_forgot_is_said(join: Join) -> None:
    ana, bob = two_with_a_decision(join)
    bob.sync()
    ana.memory.decisions.forget(ana.memory.decisions.ids())
    ana.sync()
    (note,) = bob.sync().arrived.notes
    assert "wants D1@" in note and note.endswith("forgotten; D#1 holds here: memoranda forget D#1.")
    assert decided(bob) == [NATS] and bob.sync().arrived.notes == []


def test_a_purge_reaches_a_decision_and_what_was_proposed_of_it(join: Join) -> None:
    ana, bob = two_with_a_decision(join)
    bob.sync()
    supersede(ana, "haddock", "swordfish")
    ana.sync(), bob.sync()
    bob.decide("reject")
    bob.sync()
    assert left(bob, "swordfish")
    ana.purge(2, "decision")
    ana.sync()
    assert bob.sync().arrived.erased == 1
    assert left(bob, "swordfish", "NATS") == []


def test_a_change_of_what_its_author_purged_meanwhile_goes_nowhere(join: Join) -> None:
    ana, bob, number, copy = accepted(join, FIRST)
    bob.memory.facts.correct(copy, "The safe opens with a cuttlefish")
    ana.purge(number)
    ana.sync(), bob.sync(), ana.sync()
    assert "cuttlefish" not in bob.log() and left(bob, "cuttlefish") == []
    assert bob.facts() == [] and ana.view() == bob.view()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("said", ["anew", "as it was"])
def test_a_purge_by_its_author_reaches_what_others_changed_of_it(join: Join, said: str) -> None:
    """A change is in the stream of who made it: it leaves that one with their next exchange."""
    (ana, bob, number), cleo = shared(join, FIRST), join("Cleo")
    copy = bob.accept()
    bob.remember("Releases are cut on Tuesdays")
    bob.sync()
    bob.memory.facts.correct(copy, "The safe opens with a cuttlefish")
    bob.sync(), cleo.sync()
    if said == "as it was":  # an undo says again, as a change of Bob's, what Ana said
        bob.memory.history.undo()
        bob.sync(), cleo.sync()
    ana.purge(number)
    ana.sync()
    assert_undisturbed(bob, ana, cleo, bob, ana, cleo)
    for person in (ana, bob, cleo):
        assert left(person, "swordfish") == [], person.name
        if said == "anew" or person is not bob:  # what Bob undid is in his own history still
            assert left(person, "cuttlefish") == [], person.name
    log = bob.log()
    assert "swordfish" not in log and "cuttlefish" not in log and "Tuesdays" in log
    assert ana.view() == bob.view() == cleo.view()
    assert (ana.waiting(), bob.waiting()) == ([("add", "Releases are cut on Tuesdays")], [])
    assert [person.sync().sent for person in (ana, bob, cleo)] == [0, 0, 0]


def test_who_purges_what_another_shared_is_told_who_keeps_it(join: Join) -> None:
    _, bob, _, copy = accepted(join, FIRST)
    newer = bob.memory.facts.correct(copy, SECOND)
    place = bob.shared_place(newer)
    assert place.citation.startswith("F1@") and not place.can
    assert place.what.startswith("shared by Ana (") and "until they purge it" in place.what
    assert place.what.endswith("; `team sync` asks them to")
    cleo = join("Cleo")
    cleo.choose(ShareChoice())
    cleo.sync()
    copy = cleo.accept()
    cleo.sync()
    place = cleo.shared_place(copy)
    assert place.what.endswith(f"on {cleo.remote} and here"), "who shares nothing asks nobody"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("answer", ["", "reject", "accept"])
def test_a_purge_of_ones_change_of_anothers_record_needs_nobody(join: Join, answer: str) -> None:
    """It leaves one's own stream, the remote, and wherever it waits or was rejected; who accepted it keeps it, and is
    asked to go back. The author is asked to purge theirs."""
    ana, bob, cleo, _ = shared_by_three(join, FIRST)
    copy = bob.accept()
    cleo.decide("accept")
    newer = bob.memory.facts.correct(copy, SECOND)
    bob.sync(), cleo.sync()
    if answer:
        cleo.decide(answer)
        cleo.sync()
    assert "your change of it leaves your stream" in bob.shared_place(newer).what
    bob.purge(newer)
    erase_shared_records(bob.memory)
    assert left(bob, "marlin") == []
    assert_undisturbed(bob, cleo, ana)
    assert "swordfish" in bob.log() and "marlin" not in bob.log()
    assert ana.facts() == [FIRST] and left(ana, "marlin") == []
    assert [kind for kind, _ in ana.waiting()] == ["forget"]
    assert "purged" in ana.memory.inbox.waiting()[0].reason
    if answer == "accept":
        (asked,) = cleo.memory.inbox.waiting()
        assert cleo.facts() == [SECOND] and (asked.kind, asked.text) == ("correct", FIRST)
        assert asked.reason.startswith("Bob (") and "purged their change" in asked.reason
        cleo.decide("accept")
    else:
        assert left(cleo, "marlin") == [] and cleo.waiting() == []
    cleo.sync(), ana.sync(), bob.sync(), ana.sync(), cleo.sync()
    dora = join("Dora")
    assert dora.sync().warnings == [] and dora.waiting() == [("add", FIRST)]
    assert ana.view() == bob.view() == cleo.view() == dora.view() and cleo.facts() == [FIRST]


def test_an_author_who_accepted_a_change_that_was_purged_keeps_the_record(join: Join) -> None:
    ana, bob, _ = shared(join, FIRST)
    newer = bob.memory.facts.correct(bob.accept(), SECOND)
    bob.sync(), ana.sync()
    ana.decide("accept")
    ana.sync()
    bob.purge(newer)
    bob.sync()
    assert ana.sync().warnings == [] and ana.facts() == [SECOND]
    (asked,) = ana.memory.inbox.waiting()
    assert (asked.kind, asked.text) == ("correct", FIRST) and "purged their change" in asked.reason
    ana.decide("reject")
    ana.sync(), bob.sync()
    assert ana.facts() == [SECOND] and '"purged":true' not in ana.view() and ana.view() == bob.view()


def test_a_purge_of_what_one_only_took_over_replaces_no_stream(join: Join) -> None:
    """Its author is told, and asked."""
    ana, bob, _, copy = accepted(join, FIRST)
    stream = f"refs/memoranda/{bob.writer}"
    before = bob.git("rev-parse", stream)
    bob.purge(copy)
    bob.sync()
    bob.git("merge-base", "--is-ancestor", before, stream)
    ana.sync()
    (asked,) = ana.memory.inbox.waiting()
    assert asked.kind == "forget" and asked.reason.endswith("asks you to: purge F#1.")
    bob.sync()
    assert bob.waiting() == [] and bob.facts() == []


def test_a_purge_of_what_was_accepted_since_the_last_exchange_says_who_keeps_it(join: Join) -> None:
    ana, bob, _ = shared(join, FIRST)
    copy = bob.accept()
    place = bob.shared_place(copy)
    assert place.citation.startswith("F1@") and place.what.startswith("shared by Ana (")
    bob.purge(copy)
    bob.sync(), ana.sync()
    assert ana.waiting() == [("forget", FIRST)] and bob.facts() == []


def test_an_acceptance_that_was_undone_and_done_again_is_one(join: Join) -> None:
    ana, bob, number = _accepted_again(join)
    bob.sync()
    number = ana.memory.facts.correct(number, SECOND)
    ana.sync(), bob.sync()
    assert bob.facts() == [FIRST] and bob.waiting() == [("correct", SECOND)]
    ana.purge(number)
    ana.sync(), bob.sync()
    assert left(bob, "swordfish", "marlin") == []


def test_a_purge_reaches_what_was_accepted_again_since_the_last_exchange(join: Join) -> None:
    ana, bob, number = _accepted_again(join)
    ana.purge(number)
    ana.sync(), bob.sync()
    assert bob.facts() == [] and left(bob, "swordfish") == []


def _accepted_again(join: Join) -> tuple[Person, Person, int]:
    """Return Ana, Bob, and the number of Ana's fact, which Bob accepted, undid, and accepted again."""
    ana, bob, number, _ = accepted(join, FIRST)
    bob.memory.history.undo()
    bob.sync()
    assert bob.facts() == [] and bob.waiting() == [("add", FIRST)]
    bob.decide("accept")
    return ana, bob, number
