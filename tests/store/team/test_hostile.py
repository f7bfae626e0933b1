"""What a teammate can send to do harm: bombs, heaps, names, wrong clocks. Each is named with its writer, what was good
before it stays, and everybody else's streams go on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.team import Join, Person

from store.base.clock import DAY_MS, from_ms, to_ms
from store.team.remote import SEGMENT_FILE, StreamRepository
from store.team.stream import LARGEST_SEGMENT, LONGEST_FIELD, Operation, split_segments

MALLORY = "m" * 12
MOMENT = "2026-11-25T12:00:00.000Z"
REF = f"refs/memoranda/{MALLORY}"


def add(number: int, text: str = "Deploys need two reviews", at: str = MOMENT) -> Operation:
    return Operation(MALLORY, number, at, "add", f"F{number}@{MALLORY}", {"fact": text, "domain": "work"})


def git(remote: Path, *words: str, given: bytes = b"") -> str:
    done = subprocess.run(["git", "-C", str(remote), *words], input=given, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(remote: Path, entries: dict[str, bytes], after: str = "") -> str:
    """Put a commit with these files on Mallory's ref, by hand."""
    parent = f"from {after}\n" if after else ""
    stream = f"commit {REF}\ncommitter m <m> 1700000000 +0000\ndata 0\n{parent}".encode()
    for name, data in entries.items():
        stream += f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"
    git(remote, "fast-import", "--quiet", "--force", given=stream)
    return git(remote, "rev-parse", REF)


@pytest.fixture
def bob(join: Join) -> Person:
    """Somebody who has a teammate that means no harm too."""
    ana, bob = join("Ana"), join("Bob")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    return bob


def size(person: Person) -> int:
    return sum(one.stat().st_size for one in person.folder.rglob("*") if one.is_file())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [SEGMENT_FILE, "beside"])
def test_a_compression_bomb_is_not_unpacked(bob: Person, remote: Path, name: str) -> None:
    good = split_segments(MALLORY, [add(1)], "")[0]
    first = commit(remote, {SEGMENT_FILE: good})
    bob.sync()
    commit(remote, {SEGMENT_FILE: good, name: b"0" * (LARGEST_SEGMENT * 3)}, first)
    for _ in range(2):
        warnings = bob.sync().warnings
        assert [one for one in warnings if MALLORY in one and "larger than" in one]
    assert size(bob) < LARGEST_SEGMENT
    assert sorted(text for _, text in bob.waiting()) == ["Deploys need two reviews", "Releases are cut on Tuesdays"]


def test_a_refused_line_is_told_in_one_sentence(bob: Person, remote: Path) -> None:
    strange = Operation(MALLORY, 1, MOMENT, "add", f"F1@{MALLORY}", {"fact": "x", "colour": "red"})
    commit(remote, {SEGMENT_FILE: split_segments(MALLORY, [strange], "")[0]})
    (said,) = [one for one in bob.sync().warnings if MALLORY in one]
    assert said.endswith("has a field that a fact does not have.")


def test_a_newcomer_does_not_unpack_it_either(bob: Person, remote: Path) -> None:
    commit(remote, {SEGMENT_FILE: b"0" * (LARGEST_SEGMENT + 1)})
    assert [one for one in bob.sync().warnings if MALLORY in one and "larger than" in one]
    assert size(bob) < LARGEST_SEGMENT and bob.waiting() == [("add", "Releases are cut on Tuesdays")]
    git(remote, "update-ref", "-d", REF)
    assert bob.sync().warnings == []


def test_what_git_refuses_is_named_and_stops_nobody_else(bob: Person, remote: Path) -> None:
    """A tree with `.git` in it, which fast-import would not write."""
    good = commit(remote, {SEGMENT_FILE: split_segments(MALLORY, [add(1)], "")[0]})
    blob = git(remote, "hash-object", "-w", "--stdin", given=b"[core]\n")
    tree = b"100644 .git\0" + bytes.fromhex(blob)
    tree = git(remote, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=tree).encode()
    body = b"tree %b\nparent %b\nauthor m <m> 1 +0000\ncommitter m <m> 1 +0000\n\n" % (tree, good.encode())
    git(remote, "update-ref", REF, git(remote, "hash-object", "-w", "-t", "commit", "--stdin", given=body))
    for _ in range(2):
        assert [one for one in bob.sync().warnings if MALLORY in one and "git itself refuses" in one]
    assert bob.waiting() == [("add", "Releases are cut on Tuesdays")], "Ana's, which came after Mallory's"
    git(remote, "update-ref", REF, good)
    assert bob.sync().warnings == [] and len(bob.waiting()) == 2


def test_other_names_below_the_refs_are_left_alone(bob: Person, remote: Path) -> None:
    first = commit(remote, {SEGMENT_FILE: b"0" * LARGEST_SEGMENT * 2})
    git(remote, "update-ref", "refs/memoranda/UPPER", first)
    git(remote, "update-ref", "-d", REF)
    assert bob.sync().warnings == []
    assert size(bob) < LARGEST_SEGMENT
    assert bob.waiting() == [("add", "Releases are cut on Tuesdays")]


@pytest.mark.parametrize("cut", [False, True])
def test_a_fetch_that_is_killed_while_it_unpacks_is_done_again(bob: Person, remote: Path, monkeypatch, cut: bool):
    """Also where a power cut left only a part of what it had written."""

    class Killed(BaseException):
        """What ends a process anywhere."""

    ordinary = StreamRepository._run_git

    def kill(self: StreamRepository, *words: str, **more: object) -> bytes:
        if words[0] == "unpack-objects":
            raise Killed
        return ordinary(self, *words, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(StreamRepository, "_run_git", kill)
        with pytest.raises(Killed):
            bob.sync()
    if cut:
        (pack,) = bob.folder.rglob("*.pack")
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:-30])
    commit(remote, {SEGMENT_FILE: split_segments(MALLORY, [add(1)], "")[0]})  # what comes next is another pack
    assert bob.sync().warnings == [] and len(bob.waiting()) == 2
    assert not list(bob.folder.rglob("*.pack"))


def test_the_largest_records_travel_and_larger_ones_are_not_shared(join: Join) -> None:
    ana, bob = join("Ana"), join("Bob")
    for number in range(9):
        ana.memory.decisions.decide(f"Plan {number}", str(number) + "ñ" * (LONGEST_FIELD - 1), rationale="x")
    ana.memory.decisions.decide("Too long", "y" * (LONGEST_FIELD + 1))
    ana.sync()
    assert bob.sync().received == 10 and ana.view() == bob.view() and "Too long" not in bob.view()


@pytest.mark.parametrize(("days", "named"), [(400, True), (2, True), (0.5, False), (-400, False)])
def test_a_clock_that_is_wrong_by_days_is_named(bob: Person, remote: Path, days: float, named: bool) -> None:
    """Order is by number, and times count from the arrival, so nothing else comes of it."""
    at = from_ms(to_ms(bob.memory.now) + int(days * DAY_MS))
    words, base = {"fact": "Deploys need one review"}, {"fact": (f"1@{MALLORY}",)}
    later = Operation(MALLORY, 2, MOMENT, "change", f"F1@{MALLORY}", words, base)
    commit(remote, {SEGMENT_FILE: split_segments(MALLORY, [add(1, at=at), later], "")[0]})
    warnings = bob.sync().warnings
    assert [one for one in warnings if MALLORY in one and f"{days} days ahead" in one] if named else warnings == []
    assert ("add", "Deploys need one review") in bob.waiting()
    bob.decide("accept")
    facts, now = bob.memory.facts, bob.memory.now
    assert all(one.created_at <= now for one in facts.get_many(facts.ids(now)))
    assert bob.sync().warnings == [], "it is said when it arrives"


def test_a_stream_of_several_lines_is_refused(bob: Person, remote: Path) -> None:
    first = commit(remote, {SEGMENT_FILE: split_segments(MALLORY, [add(1)], "")[0]})
    bob.sync()
    identity = ("-c", "user.name=m", "-c", "user.email=m@m")
    side = git(remote, *identity, "commit-tree", f"{first}^{{tree}}", "-m", "x")
    git(remote, "update-ref", REF, git(remote, *identity, "commit-tree", f"{first}^{{tree}}", "-p", first, "-p", side))
    assert [one for one in bob.sync().warnings if MALLORY in one and "not one line of commits" in one]
    git(remote, "update-ref", REF, first)
    assert bob.sync().warnings == []
