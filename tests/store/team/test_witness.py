"""What writers saw of one another: somebody who comes later is told of a stream that was replaced as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.tables import each
from support.team import Join, Person, shared

from store.team.exchange import Team
from store.team.remote import StreamRepository
from store.team.stream import Operation, StreamSegment, parse_segment, segment_digest, split_segments

MOMENT = "2026-11-25T12:00:00.000Z"


def add(who: str, number: int, text: str) -> Operation:
    return Operation(who, number, MOMENT, "add", f"F{number}@{who}", {"fact": text, "domain": "work"})


def replace(tmp_path: Path, person: Person, segments: list[bytes], who: str) -> None:
    """Put other segments in the place of a writer's stream, as whoever may push can."""
    folder = tmp_path / f"mallory {len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    streams = StreamRepository(str(folder))
    streams.create()
    old = person.git("rev-parse", f"refs/memoranda/{who}")
    streams.append_segments(who, segments, "", MOMENT)
    streams.push(person.remote, who, old)


@pytest.fixture
def three(join: Join) -> tuple[Person, Person]:
    """Ana shared two facts, one after the other; Bob saw both, and shared then."""
    ana, bob, _ = shared(join)
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    bob.remember("Deploys need two reviews")
    bob.sync()
    return ana, bob


def test_an_honest_team_is_told_nothing(three: tuple[Person, Person], join: Join) -> None:
    ana, bob = three
    ana.remember("A third")
    assert ana.sync().warnings == [] and bob.sync().warnings == []
    eva = join("Eva")
    assert eva.sync().warnings == [] and len(eva.waiting()) == 4


def test_a_header_says_what_is_new_of_the_others(three: tuple[Person, Person], join: Join) -> None:
    ana, bob = three
    with Team(bob.memory) as team:
        heads = team._streams.heads()
        commits = team._streams.list_commits(team.writer, heads[team.writer])
        segments = [parse_segment(one, team.writer) for one in team._streams.read_segments(team.writer, commits)]
        state = next(state for state, _ in team.members() if state.writer == ana.writer)
        assert segments[-1].seen == {ana.writer: (state.seq, state.digest)}
    bob.remember("Nothing new was seen")
    bob.sync()
    with Team(bob.memory) as team:
        commits = team._streams.list_commits(team.writer, team._streams.heads()[team.writer])
        newest = next(iter(team._streams.read_segments(team.writer, commits[-1:])))
    assert b'"seen"' not in newest.partition(b"\n")[0]


def test_a_newcomer_is_told_of_a_replaced_stream(three: tuple[Person, Person], join: Join, tmp_path: Path) -> None:
    """Not only those who knew it; the warning goes when the true one is back."""
    ana, bob = three
    who = ana.writer
    replace(tmp_path, ana, split_segments(who, [add(who, 1, "Releases are cut on Fridays")], ""), who)
    assert [one for one in bob.sync().warnings if "replaced by another stream" in one]
    eva = join("Eva")
    said = [one for one in eva.sync().warnings if one.startswith(who) or "Ana" in one]
    assert len(said) == 1 and "Bob" in said[0] and "saw another stream of it, up to number 3" in said[0]
    assert eva.sync().warnings == said, "each time"
    with Team(bob.memory) as team:  # Bob has the true one, and gives it back
        head = team._streams.heads()[who]
        team._streams._run_git("push", "--quiet", "--force", bob.remote, f"{head}:refs/memoranda/{who}")
    healed = join("Ida")
    assert healed.sync().warnings == [] and len(healed.waiting()) == 3


def test_a_stream_that_is_gone_is_told_to_a_newcomer(three: tuple[Person, Person], join: Join) -> None:
    ana, _ = three
    ana.git("update-ref", "-d", f"refs/memoranda/{ana.writer}")
    assert [one for one in join("Eva").sync().warnings if f"saw a stream {ana.writer}, up to number 3" in one]


def test_a_purge_is_no_replacement(three: tuple[Person, Person], join: Join) -> None:
    """Who comes after it is told once who did not see the new stream yet, and nothing after they did."""
    ana, bob = three
    ana.purge(1)
    ana.sync()
    assert bob.sync().warnings == [], "Bob verified it"
    eva = join("Eva")
    told = eva.sync().warnings
    assert told == [] or ["has not said since" in one for one in told] == [True]
    assert eva.sync().warnings == [], "once"
    bob.remember("Bob saw the new one")
    bob.sync()
    assert join("Ida").sync().warnings == []


def test_a_replacement_said_to_be_a_purge_is_told(three: tuple[Person, Person], join: Join, tmp_path: Path) -> None:
    ana, _ = three
    who = ana.writer
    replace(tmp_path, ana, split_segments(who, [add(who, 1, "Releases are cut on Fridays")], "", "0" * 64), who)
    assert [one for one in join("Eva").sync().warnings if "it was rewritten" in one or "was rewritten, as after" in one]


NO_STATES = (1, ["1", "f" * 64], [1, "no digest"], [True, "f" * 64], [-1, "f" * 64])


@each("seen", [7, [], {"x": 1}, *({"a" * 12: state} for state in NO_STATES)])
def test_nonsense_in_its_place_is_passed_over(seen: object) -> None:
    who = "m" * 12
    head, _, rest = split_segments(who, [add(who, 1, "x")], "")[0].partition(b"\n")
    data = json.dumps({**json.loads(head), "seen": seen}).encode() + b"\n" + rest
    assert parse_segment(data, who).seen == {}


def test_a_segment_is_read_as_it_was_written() -> None:
    who, seen = "m" * 12, {"a" * 12: (3, "f" * 64)}
    data = StreamSegment(who, 1, (add(who, 1, "x"),), "", "", seen).to_bytes()
    read = parse_segment(data, who)
    assert read.seen == seen and segment_digest(data) == segment_digest(read.to_bytes())


def test_a_file_of_an_earlier_version_notes_what_it_merged(three: tuple[Person, Person]) -> None:
    _, bob = three
    view = bob.view()
    with Team(bob.memory) as team:
        team._file._connection.execute("DELETE FROM segments; DELETE FROM seen")
    assert bob.sync().warnings == [] and bob.view() == view
    with Team(bob.memory) as team:
        assert all(team._file.segment_digests(state.writer) for state, _ in team.members())
