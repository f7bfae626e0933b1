"""Streams that were cut, deleted, rewritten, forged or filled with nonsense: each is named, and what was good stays."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.tables import each
from support.team import Join, Person, accepted

from store.team.exchange import Team
from store.team.remote import StreamRepository
from store.team.stream import (
    LONGEST_OPERATION,
    Operation,
    RefusedStream,
    parse_operation,
    segment_digest,
    split_segments,
)

MALLORY = "m" * 12
MOMENT = "2026-11-25T12:00:00.000Z"
FACT = {"fact": "Deploys need two reviews", "domain": "work"}


class Mallory:
    """Somebody who may push to the same remote, and writes streams by hand."""

    def __init__(self, folder: Path, remote: str) -> None:
        folder.mkdir()
        self.streams = StreamRepository(str(folder))
        self.streams.create()
        self.remote = remote

    def push(self, segments: list[bytes], after: str = "", writer: str = MALLORY) -> str:
        there = self.streams.heads().get(writer, "")
        head = self.streams.append_segments(writer, segments, after, MOMENT)
        self.streams.push(self.remote, writer, there or None)
        return head


@pytest.fixture
def mallory(tmp_path: Path, remote: Path) -> Mallory:
    return Mallory(tmp_path / "Mallory", str(remote))


def add(number: int, text: str = "Deploys need two reviews", writer: str = MALLORY) -> Operation:
    return Operation(writer, number, MOMENT, "add", f"F{number}@{writer}", {"fact": text, "domain": "work"})


def ref(person: Person) -> str:
    with Team(person.memory) as team:
        return f"refs/memoranda/{team.writer}"


@pytest.mark.parametrize("how", ["cut", "deleted"])
def test_a_stream_that_was_cut_or_deleted_is_said_until_its_writer_sends_it_again(join: Join, how: str) -> None:
    ana, bob = join("Ana"), join("Bob")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    old = ana.git("rev-parse", ref(ana))
    ana.remember("The wiki is at wiki.example")
    ana.sync(), bob.sync()
    assert len(bob.waiting()) == 2
    ana.git("update-ref", ref(ana), old) if how == "cut" else ana.git("update-ref", "-d", ref(ana))
    words = "cut short" if how == "cut" else "gone from the remote"
    assert [one for one in bob.sync().warnings if "Ana" in one and words in one]
    assert len(bob.waiting()) == 2 and bob.view() == ana.view(), "what is known stays"
    ana.sync()
    assert bob.sync().warnings == []


def test_a_stream_that_was_rewritten_is_refused(join: Join, mallory: Mallory) -> None:
    bob = join("Bob")
    mallory.push(split_segments(MALLORY, [add(1)], ""))
    bob.sync()
    known = bob.view()
    mallory.push(split_segments(MALLORY, [add(1, "Deploys need no review")], ""))
    assert [one for one in bob.sync().warnings if MALLORY in one and "replaced by another" in one]
    assert bob.view() == known
    mallory.push(split_segments(MALLORY, [add(1, "Deploys need no review"), add(2)], "", "0" * 64))
    assert [one for one in bob.sync().warnings if "rewritten" in one]
    assert bob.view() == known and bob.waiting() == [("add", "Deploys need two reviews")]


def test_a_newcomer_is_told_of_a_chain_that_is_broken_inside(join: Join, mallory: Mallory) -> None:
    first = split_segments(MALLORY, [add(1)], "")
    mallory.push([*first, *split_segments(MALLORY, [add(2)], "0" * 64)])
    bob = join("Bob")
    assert [one for one in bob.sync().warnings if "broken after number 1" in one]
    assert bob.waiting() == [("add", "Deploys need two reviews")], "what came before it is good"


def line(**parts: object) -> bytes:
    return json.dumps({"seq": 1, "at": MOMENT, "op": "add", "id": f"F1@{MALLORY}", **parts}).encode()


@each(
    "line, why",
    [
        (b"nonsense", "is no operation"),
        (line(at="yesterday"), "no time"),
        (line(at="2026-02-30T12:00:00Z"), "no time"),
        (line(fields={**FACT, "created": "long ago"}), "does not have"),
        (line(seq=True), "no number"),
        (line(op="exec"), "no known kind"),
        (line(id="../../etc"), "about no record"),
        (line(id="F1@aaaaaaaaaaaa", fields=FACT), "speaks for another"),
        (line(op="restore", id="F1@aaaaaaaaaaaa"), "speaks for another"),
        (line(fields={**FACT, "tags": ["a"] * 101}), "does not have"),
        (line(fields={"fact": "x", "pinned": "1"}), "does not have"),
        (line(fields={"fact": "x", "tags": "no list"}), "does not have"),
        (line(fields={}), "without words"),
        (line(fields=FACT, base={"fact": ["everything"]}), "based on nothing known"),
        (line(op="name", id="", fields={"name": "A\x1b[31m"}), "no name"),
        (b'{"seq":1' + b" " * LONGEST_OPERATION + b"}", "longer than"),
        (b"[" * 100_000, "is no operation"),
    ],
)
def test_a_line_that_is_no_operation_is_refused_with_its_writer(line: bytes, why: str) -> None:
    with pytest.raises(RefusedStream, match=why) as caught:
        parse_operation(line, MALLORY)
    assert MALLORY in caught.value.message


def test_what_is_good_before_a_bad_segment_stays(join: Join, mallory: Mallory) -> None:
    good = split_segments(MALLORY, [add(1)], "")
    header = {"memoranda": "stream", "format": 1, "writer": MALLORY, "from": 2, "to": 2}
    header["previous"] = segment_digest(good[0])
    stolen = Operation(MALLORY, 2, MOMENT, "add", "F1@aaaaaaaaaaaa", FACT).as_line()
    mallory.push([*good, f"{json.dumps(header)}\n{stolen}\n".encode()])
    bob = join("Bob")
    assert [one for one in bob.sync().warnings if "speaks for another writer" in one]
    assert bob.waiting() == [("add", "Deploys need two reviews")]


@pytest.mark.parametrize(
    ("numbers", "last", "why"), [((1, 3), 2, "a gap in its numbers"), ((1, 2), 3, "does not hold what its header says")]
)
def test_a_segment_not_as_headed(join: Join, mallory: Mallory, numbers: tuple[int, ...], last: int, why: str) -> None:
    header = {"memoranda": "stream", "format": 1, "writer": MALLORY, "from": 1, "to": last, "previous": ""}
    lines = "".join(f"{add(number).as_line()}\n" for number in numbers)
    mallory.push([f"{json.dumps(header)}\n{lines}".encode()])
    bob = join("Bob")
    assert [one for one in bob.sync().warnings if MALLORY in one and why in one]
    assert bob.waiting() == [] and bob.view() == ""


def test_only_a_writers_own_purge_lets_a_stream_be_rewritten(join: Join, mallory: Mallory) -> None:
    """One that asks for the purge of another's record is a question, and its words stay as they were said."""
    id = "F1@aaaaaaaaaaaa"
    said = Operation(MALLORY, 1, MOMENT, "change", id, {"fact": "Deploys need no review"})
    asked = Operation(MALLORY, 2, MOMENT, "purge", id)
    mallory.push(split_segments(MALLORY, [said, asked], ""))
    bob = join("Bob")
    assert bob.sync().warnings == []
    before = bob.view()
    again = Operation(MALLORY, 1, MOMENT, "purge", id)
    mallory.push(split_segments(MALLORY, [again, asked], "", "0" * 64))
    assert [one for one in bob.sync().warnings if MALLORY in one and "it was rewritten" in one]
    assert bob.view() == before


def test_who_takes_back_words_about_anothers_record_takes_back_their_own_alone(join: Join, mallory: Mallory) -> None:
    """What the record's author said of it stays, and so does the record."""
    ana, bob = join("Ana"), join("Bob")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    id = f"F1@{ref(ana).rpartition('/')[2]}"
    said = Operation(MALLORY, 1, MOMENT, "change", id, {"fact": "Releases need no review"})
    asked = Operation(MALLORY, 2, MOMENT, "purge", id)
    mallory.push(split_segments(MALLORY, [said], ""))
    bob.sync()
    mallory.push(split_segments(MALLORY, [Operation(MALLORY, 1, MOMENT, "gone", id), add(2)], "", "0" * 64))
    assert [one for one in bob.sync().warnings if MALLORY in one and "it was rewritten" in one], "nothing was purged"
    mallory.push(split_segments(MALLORY, [Operation(MALLORY, 1, MOMENT, "gone", id), asked], "", "0" * 64))
    assert bob.sync().warnings == [] and bob.waiting() == [("add", "Releases are cut on Tuesdays")]
    assert "no review" not in bob.view() and '"purged":true' not in bob.view()
    gone = Operation(MALLORY, 1, MOMENT, "gone", "F9@aaaaaaaaaaaa")
    mallory.push(split_segments(MALLORY, [gone, asked], "", "0" * 64))
    assert [one for one in bob.sync().warnings if MALLORY in one and "it was rewritten" in one]


def test_a_forged_purge_or_forget_of_anothers_record_is_a_question(join: Join, mallory: Mallory) -> None:
    ana, bob, _, _ = accepted(join)
    id = f"F1@{ref(ana).rpartition('/')[2]}"
    operations = [Operation(MALLORY, 1, MOMENT, "purge", id), Operation(MALLORY, 2, MOMENT, "forget", id)]
    mallory.push(split_segments(MALLORY, operations, ""))
    ana.sync(), bob.sync()
    assert ana.facts() == bob.facts() == ["Releases are cut on Tuesdays"]
    assert ana.waiting() == [("forget", "Releases are cut on Tuesdays")] and bob.waiting() == []


def test_something_else_than_segments_is_refused(join: Join, mallory: Mallory, tmp_path: Path) -> None:
    bob = join("Bob")
    work = tmp_path / "work"
    for command in (
        ["init", "--quiet", str(work)],
        ["-C", str(work), "-c", "user.name=m", "-c", "user.email=m@m", "commit", "--quiet", "--allow-empty", "-m", "x"],
        ["-C", str(work), "push", "--quiet", bob.remote, f"HEAD:refs/memoranda/{MALLORY}", "HEAD:refs/memoranda/UPPER"],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True)
    assert [one for one in bob.sync().warnings if MALLORY in one and "something else than segments" in one]
    assert bob.view() == ""


def test_a_copied_installation_takes_a_new_identity(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = join("Ana")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    first = ref(ana)
    monkeypatch.setattr("store.team.team_file.machine_id", lambda: "another machine")
    ana.sync()
    assert ref(ana) != first, "two machines never write one stream"
