"""The last release, as a time that a person types: in a search, on the command line, and as a moment of the past."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Clock
from support.repositories import create, git

from store.base.errors import InvalidInput
from store.memory import Memory
from store.records.commits import last_release_moment, read_moment
from store.upkeep.as_of import point_in_time

SHA = "a1b2c3d4e5f6071829304150617283940a1b2c3d"


def _log(memory: Memory) -> None:
    memory.commits.log(SHA, message="Release 1.2.0", committed_at="2026-11-01T10:00:00Z")


def _event(memory: Memory) -> None:
    memory.events.log("release.done")


def _iteration(memory: Memory) -> None:
    memory.iterations.start_iteration("ship", "1.3")
    memory.iterations.end_iteration(1)


@pytest.mark.parametrize(("release", "at"), [(_log, "2026-11-01T10:00:00.000Z"), (_event, ""), (_iteration, "")])
def test_a_release_is_a_commit_event_or_iteration(memory: Memory, release: Callable[[Memory], None], at: str) -> None:
    assert last_release_moment(memory.database) == ""
    memory.events.log("gate.passed")
    assert last_release_moment(memory.database) == ""
    release(memory)
    before = memory.now
    assert (
        last_release_moment(memory.database) == at if at else before > last_release_moment(memory.database) > "2026-10"
    )


def test_since_the_release_is_typed_wherever_a_time_is(memory: Memory, clock: Clock) -> None:
    memory.facts.remember("the queue holds ten")
    clock.advance(days=1)
    with pytest.raises(InvalidInput, match="No release"):
        read_moment(memory.database, "the release")
    (note,) = memory.search("queue since:release").notes
    assert note == "since: takes a date like 2026-11-01, or 2d, 3w, yesterday, release, v1.0"
    memory.events.log("release.done")
    released = memory.events.get(1).created_at
    clock.advance(days=1)
    memory.facts.remember("the queue holds twenty")
    assert [hit.citation for hit in memory.search("queue since:release kind:fact").hits] == ["F#2"]
    assert [hit.citation for hit in memory.search('queue before:"the last release" kind:fact').hits] == ["F#1"]
    assert read_moment(memory.database, "since the release") == released
    assert point_in_time(memory, "the release").at == released


def test_the_last_release_is_the_newest_tag_of_the_checkout_until_then(tmp_path: Path, clock: Clock) -> None:
    create(tmp_path)
    for version, at in (("v1.0.0", 1_790_000_000), ("v1.1.0", 1_795_000_000), ("v1.2.0", 1_900_000_000)):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", "work", f"--date=@{at}", when=at)
        git(tmp_path, "tag", version)
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db"), "cli", clock) as memory:
        assert memory.now > "2026-11-1" and last_release_moment(memory.database) == "2026-11-18T11:06:40.000Z"
        assert read_moment(memory.database, "the last release") == "2026-11-18T11:06:40.000Z"
        assert (
            read_moment(memory.database, "v1.0")
            == read_moment(memory.database, "la versión 1")
            == "2026-09-21T14:13:20.000Z"
        )
        assert memory.search("since:v1.1.0 before:v1.0.0").notes == []
        assert point_in_time(memory, "v1.1").at == "2026-11-18T11:06:40.000Z"
        with pytest.raises(InvalidInput, match=r"No release is called v1\.2"):
            read_moment(memory.database, "v1.2")  # of the future
        clock.advance(days=-20)
        assert last_release_moment(memory.database) == "2026-09-21T14:13:20.000Z"
