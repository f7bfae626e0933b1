"""What one shared under an identity that one left: it is still its owner's to forget and to purge."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from support.team import Join, Person, accepted, assert_undisturbed, holding, shared

from store.base.errors import Conflict, InvalidInput
from store.git.process import GitError
from store.team.exchange import Team
from store.team.remote import INCOMING_REFS, StreamRepository
from store.team.stream import Operation, parse_segment, segment_digest, split_segments

SECRET, KNOWN = "The safe opens with swordfish", "Releases are cut on Tuesdays"
MOMENT = "2026-11-25T12:00:00.000Z"


def leave(person: Person, monkeypatch: pytest.MonkeyPatch, how: str) -> str:
    """Go on as a new writer; return the one that was."""
    old = person.writer
    if how == "new":
        person.start_anew()
    else:
        monkeypatch.setattr("store.team.team_file.machine_id", lambda: "another machine")
    return old


def go_on(folder: Path, remote: str, writer: str, op: str, id: str, **fields: str) -> None:
    """Add an operation to a writer's stream, as a copy of their memory elsewhere does."""
    streams = StreamRepository(str(folder))
    streams.create()
    streams.fetch(remote)
    head = streams.heads(INCOMING_REFS)[writer]
    streams.point_refs({writer: head})
    (newest,) = streams.read_segments(writer, [head])
    seq = parse_segment(newest, writer).operations[-1].seq + 1
    added = split_segments(writer, [Operation(writer, seq, MOMENT, op, id, fields)], segment_digest(newest))
    streams.append_segments(writer, added, head, MOMENT)
    streams.push(remote, writer)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["new", "machine"])
def test_a_purge_reaches_what_was_shared_as_who_one_was(join: Join, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    number = ana.remember(SECRET)
    ana.remember(KNOWN)
    ana.sync(), bob.sync()
    bob.decide("accept")
    old = leave(ana, monkeypatch, how)
    ana.remember("The office is in Lugo")
    ana.sync(), bob.sync(), cleo.sync()
    assert bob.waiting() == [("add", "The office is in Lugo")], "the rest is known"
    place = ana.shared_place(number)
    assert place.what.startswith(f"as {old}, who you were before, shared: `team sync` erases it")
    ana.purge(number)
    ana.erase_purged()
    assert holding(ana, "swordfish") == [], "before anything is sent"
    for person in (ana, bob, cleo, join("Dora"), ana, bob, cleo):
        assert person.sync().warnings == []
        assert holding(person, "swordfish") == [], person.name
    assert bob.facts() == [KNOWN] and ana.view() == bob.view() == cleo.view()
    assert "swordfish" not in ana.log()
    assert not ana.sync().sent and not ana.shared_place(3).can


def test_a_correction_before_one_left_changes_the_shared_record(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, bob, number = shared(join, SECRET)
    bob.decide("accept")
    number = ana.memory.facts.correct(number, KNOWN)
    leave(ana, monkeypatch, "new")
    ana.sync(), bob.sync()
    assert bob.waiting() == [("correct", KNOWN)]
    ana.purge(number)
    assert_undisturbed(ana, bob, ana, bob)
    assert holding(ana, "swordfish") == [] and "swordfish" not in ana.log()
    assert bob.facts() == [] and bob.waiting() == []


def test_what_another_changed_meanwhile_stays_the_same_record(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    (ana, bob, _, copy), cleo = accepted(join, "The host is A-1"), join("Cleo")
    bob.memory.facts.correct(copy, "The host is B-2")
    bob.sync()
    leave(ana, monkeypatch, "new")
    ana.sync(), bob.sync(), cleo.sync()
    assert ana.waiting() == [("correct", "The host is B-2")]
    assert bob.waiting() == [] and cleo.waiting() == [("add", "The host is B-2")]
    ana.decide("accept")
    assert_undisturbed(ana, bob, cleo, ana)
    assert ana.facts() == bob.facts() == ["The host is B-2"] and ana.view() == cleo.view()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("who", ["its author", "oneself"])
def test_a_purge_reaches_what_one_changed_as_who_one_was(join: Join, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    ana, bob, number = shared(join, KNOWN)
    changed = bob.memory.facts.correct(bob.accept(), SECRET)
    bob.sync(), ana.sync()
    leave(bob, monkeypatch, "new")
    bob.remember("The office is in Lugo")
    bob.sync(), ana.sync()
    if who == "oneself":
        assert "your change of it leaves your stream" in bob.shared_place(changed).what
        bob.purge(changed)
    else:
        ana.purge(number)
    assert_undisturbed(ana, bob, ana, bob, ana, join("Dora"))
    assert "swordfish" not in ana.log()
    assert holding(bob, "swordfish") == [] and holding(ana, "swordfish") == []
    assert ana.view() == bob.view() and ana.sync().sent == bob.sync().sent == 0


def test_a_purge_before_the_next_exchange_reaches_it_too(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = join("Ana")
    number = ana.remember(SECRET)
    ana.sync()
    leave(ana, monkeypatch, "new")
    ana.purge(number)
    ana.erase_purged()
    assert ana.sync().warnings == [] and "swordfish" not in ana.log()
    assert holding(ana, "swordfish") == []


@pytest.mark.whole
def test_who_goes_on_as_new_is_no_newcomer(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that was rewritten after a purge is no news, though who saw it before says no more."""
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    number = ana.remember(SECRET)
    ana.sync(), cleo.sync()
    cleo.remember(KNOWN)
    cleo.sync(), bob.sync()
    leave(cleo, monkeypatch, "new")
    ana.remember("The office is in Lugo")
    ana.sync()
    ana.purge(number)
    ana.sync(), bob.sync()
    leave(bob, monkeypatch, "new")
    assert bob.sync().warnings == []
    number = ana.remember("The gate opens with a cuttlefish")
    ana.sync(), bob.sync()
    leave(bob, monkeypatch, "new")
    ana.purge(number)
    ana.sync(), bob.sync()
    assert holding(bob, "cuttlefish") == []


def test_what_one_forgets_and_restores_of_it_reaches_the_others(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, bob, number, _ = accepted(join, KNOWN)
    leave(ana, monkeypatch, "new")
    ana.sync()
    ana.memory.facts.forget([number])
    ana.sync(), bob.sync()
    assert bob.waiting() == [("forget", KNOWN)] and ana.view() == bob.view()
    ana.memory.history.undo()
    ana.sync(), bob.sync(), ana.sync()
    assert bob.waiting() == [] and ana.facts() == bob.facts() == [KNOWN] and ana.view() == bob.view()
    bob.purge(1)
    bob.sync(), ana.sync()
    (asked,) = ana.memory.inbox.waiting()
    assert asked.kind == "forget" and asked.reason.endswith("asks you to: purge F#1."), "there is nobody else to ask"


def test_a_writer_with_whom_one_goes_on_is_asked(join: Join, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ana = join("Ana")
    number = ana.remember(SECRET)
    ana.sync()
    old = leave(ana, monkeypatch, "new")
    ana.sync()
    go_on(tmp_path / "desktop", ana.remote, old, "add", f"F9@{old}", fact="The desktop lives", domain="work")
    ana.sync()
    place = ana.shared_place(number)
    assert place.what.startswith("shared by Ana (")
    ana.purge(number)
    ana.sync()
    assert "swordfish" in ana.log(), "the desktop is asked"
    with Team(ana.memory) as team:
        assert team.writer_records(old)[-1].questions["purge"] == {team.writer: 3}
        team.mark_as_former("Ana")  # the desktop is no more
    assert ana.sync().warnings == [] and "swordfish" not in ana.log()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", ["lost answer", "no connection", "overtaken"])
def test_an_erasure_survives_a_cut(join: Join, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str) -> None:
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(SECRET)
    ana.sync()
    old = leave(ana, monkeypatch, "new")
    ana.sync(), bob.sync()
    ana.purge(number)
    push = StreamRepository.push

    def cut(self: StreamRepository, address: str, writer: str, expected: str | None = None) -> None:
        if writer == old and what == "lost answer":
            push(self, address, writer, expected)
        if writer == old:
            raise GitError("The connection was cut.", "")
        push(self, address, writer, expected)

    monkeypatch.setattr(StreamRepository, "push", cut)
    with pytest.raises(GitError, match="was cut"):
        ana.sync()
    monkeypatch.setattr(StreamRepository, "push", push)
    if what == "overtaken":
        go_on(tmp_path / "desktop", ana.remote, old, "purge", f"F9@{old}")
    assert ana.sync().warnings == bob.sync().warnings == []
    assert "swordfish" not in ana.log() and ana.view() == bob.view()
    assert holding(ana, "swordfish") == holding(bob, "swordfish") == []


@pytest.mark.whole
def test_what_the_other_half_purged_is_not_shared_again(join: Join, tmp_path: Path) -> None:
    """An older state of all that Ana has comes back; what she purged since is erased from that too."""
    ana, bob = join("Ana"), join("Bob")
    ana.remember(SECRET)
    ana.remember(KNOWN)
    ana.sync()
    older = tmp_path / "older.db"
    ana.memory.database.connection.execute("VACUUM INTO ?", (str(older),))
    ana.save(tmp_path / "older")
    ana.remember("The key is under the mat")
    ana.sync()
    ana.purge(1), ana.purge(3)
    ana.sync(), bob.sync()
    connection = ana.memory.database.connection
    with connection.backup("main", apsw.Connection(str(older)), "main") as copying:
        copying.step()
    ana.bring_back(tmp_path / "older")
    ana.memory.facts.correct(1, "The safe opens with swordfish and a hammer")
    ana.remember("The office is in Lugo")
    with pytest.raises(Conflict, match="continued elsewhere"):
        ana.sync()
    ana.start_anew(), ana.erase_purged()
    ana.sync(), bob.sync()
    assert ana.facts() == [KNOWN, "The office is in Lugo"]
    assert sorted(bob.waiting()) == [("add", KNOWN), ("add", "The office is in Lugo")]
    assert "swordfish" not in ana.log() and ana.view() == bob.view()


def test_a_memory_that_was_copied_alone_shares_nothing_twice(join: Join) -> None:
    """As to a new machine, of which nothing knows who shared it."""
    ana, bob = join("Ana"), join("Bob")
    for text in (SECRET, KNOWN, "The wiki is at wiki.example"):
        ana.remember(text)
    ana.memory.decisions.decide("Queue", "NATS")
    ana.sync(), bob.sync()
    bob.decide("accept")
    bob.sync(), ana.sync()
    new = join("Ana's laptop")
    with new.memory.database.connection.backup("main", ana.memory.database.connection, "main") as copying:
        copying.step()
    new.memory.facts.correct(2, "Releases are cut on Mondays")
    new.remember("The office is in Lugo")
    ana.purge(1)
    ana.memory.facts.correct(3, "The wiki is at docs.example")
    ana.sync(), new.sync(), bob.sync()
    assert new.facts() == ["The wiki is at wiki.example", "Releases are cut on Mondays", "The office is in Lugo"]
    assert new.waiting() == [("correct", "The wiki is at docs.example"), ("correct", KNOWN)]
    assert ("add", "The office is in Lugo") in bob.waiting() and len(bob.waiting()) == 2, "no word twice"
    assert holding(new, "swordfish") == []
    old = ana.writer
    with Team(bob.memory) as team, pytest.raises(InvalidInput, match="cannot have been this memory"):
        team.mark_as_former(old)
    new.decide("accept")
    new.sync()
    new.purge(3)
    assert "wiki.example" in new.log()
    with Team(new.memory) as team:
        assert team.mark_as_former(old).writer == old and team.you_label(old) == "you before"
    assert new.sync().warnings == [] and "wiki.example" not in new.log()


def test_two_who_remember_something_at_the_same_moment_are_two(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, bob = join("Ana"), join("Bob")
    for person, text in ((ana, KNOWN), (bob, "The office is in Lugo")):
        monkeypatch.setattr(person.memory.database, "clock", lambda: MOMENT)
        person.remember(text)
    ana.sync()
    assert bob.sync().sent == 2 and bob.waiting() == [("add", KNOWN)]


def test_a_new_identity_of_somebody_who_shared_nothing_is_just_that(join: Join) -> None:
    ana = join("Ana")
    ana.remember(KNOWN)
    with Team(ana.memory) as team:
        assert team.start_anew() == team.writer
    assert ana.sync().sent == 2
