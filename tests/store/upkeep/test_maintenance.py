"""Catching up with git: real repositories, real processes, and one of them killed."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

import pytest
from support.children import begun, tell
from support.repositories import build_repository, commit, create, git

import store
from store.base.location import Location
from store.database.database import Lease
from store.git.process import GitError
from store.git.repository import Repository
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.maintenance import COMMIT_BATCH, read_new_commits, run_maintenance, timeline_repository

COMMITS, MERGES = 3 * COMMIT_BATCH, 20
HOUSE = Path(store.__file__).parent.parent


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year of somebody's work, some hundreds of commits of it."""
    path = tmp_path_factory.mktemp("year")
    build_repository(path, COMMITS, MERGES)
    return path


@pytest.fixture
def shared(tmp_path: Path, clock) -> Callable[[], Memory]:
    """Opens the same memory again and again, one that was named by --db and is no project's."""
    opened: list[Memory] = []

    def another() -> Memory:
        opened.append(Memory(locate(str(tmp_path / "shared.db"), {}, "/"), "worker", clock))
        return opened[-1]

    yield another  # type: ignore[misc]
    for memory in opened:
        memory.close()


def timeline(memory: Memory, cwd: str = "/") -> Repository:
    """The repository that fills the memory's timeline, seen from this folder."""
    source = timeline_repository(memory, cwd)
    assert source is not None
    return source


def shas(memory: Memory) -> list[str]:
    """The timeline's commits, newest first."""
    numbers = [key // 16 for key, _ in memory.timeline.stream(["commit"])]
    return [found.sha for found in memory.commits.get_many(numbers)]


def known_to_git(path: Path) -> set[str]:
    return set(git(path, "rev-list", "--branches", "HEAD").split())


# the timeline fills by itself ----------------------------------------------------------------------------------------


def test_the_timeline_fills_at_the_first_opening(memory: Memory, tmp_path: Path) -> None:
    """Every commit of every branch, merges too, as git tells it, and none that is not there."""
    build_repository(tmp_path, 60, 4)
    git(tmp_path, "switch", "--quiet", "-c", "topic", "HEAD~5")
    commit(tmp_path, "on another branch", {"a.txt": "a"})
    source = timeline_repository(memory, "/")
    assert source is not None and source.root == str(tmp_path)
    steps: list[tuple[int, int]] = []
    assert read_new_commits(memory, source, lambda done, total: steps.append((done, total))) == 61
    assert (steps[0], steps[-1]) == ((0, 61), (61, 61))

    assert set(shas(memory)) == known_to_git(tmp_path)
    told = {info.sha: info for info in source.read_commits(shas(memory))}
    for sha in shas(memory):
        kept, info = memory.commits.get(sha), told[sha]
        assert (kept.message, kept.author, kept.committed_at) == (info.message, info.author, info.committed_at)
        size = attrgetter("files_changed", "insertions", "deletions")
        assert size(kept) == size(info)
    assert len(memory.search("merge branch topic ", limit=100, kinds=["commit"]).hits) >= 4
    assert git(tmp_path, "status", "--porcelain") == ""  # the memory inside the checkout is not in its way


def test_only_what_is_new_is_read_the_next_time(memory: Memory, tmp_path: Path) -> None:
    """Commits made since, a merge, an amended one: what is new comes, and what was kept stays as it was."""
    commit(tmp_path, "first", {"a.txt": "1"})
    source = timeline(memory)
    assert read_new_commits(memory, source) == 1
    before = memory.database.rows("SELECT * FROM commits")

    git(tmp_path, "switch", "--quiet", "-c", "topic")
    commit(tmp_path, "on the topic", {"b.txt": "1"})
    git(tmp_path, "switch", "--quiet", "main")
    commit(tmp_path, "meanwhile", {"c.txt": "1"})
    git(tmp_path, "merge", "--quiet", "--no-ff", "-m", "bring the topic in", "topic")
    totals: list[int] = []
    assert read_new_commits(memory, source, lambda done, total: totals.append(total)) == 3
    assert set(totals) == {3}, "the first commit was not read again"
    assert set(shas(memory)) == known_to_git(tmp_path)
    assert memory.database.rows("SELECT * FROM commits")[:1] == before

    replaced = git(tmp_path, "rev-parse", "HEAD")
    amended = commit(tmp_path, "said better", {}, amend=True)
    assert read_new_commits(memory, source) == 1
    assert {replaced, amended} <= set(shas(memory))


def test_commits_of_one_second_keep_the_order_of_history(memory: Memory, tmp_path: Path) -> None:
    """A rebase or a script makes many commits in a second; the last one made is still the newest, also after more."""
    create(tmp_path)
    made = [commit(tmp_path, f"step {number}", {"f": str(number)}, when=1_780_000_000) for number in range(5)]
    read_new_commits(memory, Repository(str(tmp_path)))
    assert shas(memory) == made[::-1]
    memory.commits.log("f" * 40, message="logged by an agent", committed_at="2020-01-01T00:00:00.000Z")
    made += [commit(tmp_path, f"step {number}", {"f": str(number)}, when=1_780_000_000) for number in range(5, 8)]
    read_new_commits(memory, Repository(str(tmp_path)))
    assert shas(memory) == [*made[::-1], "f" * 40]


def test_a_start_drops_what_is_past_its_retention_and_then_reads_git(memory: Memory, tmp_path: Path, clock) -> None:
    """What every opening does: events of more than a year go, younger ones stay, the timeline catches up."""
    create(tmp_path)
    sha = commit(tmp_path, "feat: first", {"f": "1"})
    old = memory.events.log("gate_passed")
    clock.advance(days=2)
    young = memory.events.log("gate_passed")
    clock.advance(days=364)
    memory.location.project = str(tmp_path)
    assert run_maintenance(memory, str(tmp_path)) == 1
    assert [event.id for event in memory.events.get_many([old, young])] == [young]
    assert shas(memory) == [sha]


def test_a_repository_without_commits_fills_when_there_are_some(memory: Memory, tmp_path: Path) -> None:
    """Nothing yet is nothing wrong."""
    create(tmp_path)
    source = timeline(memory)
    assert read_new_commits(memory, source) == 0
    first = commit(tmp_path, "at last")
    assert read_new_commits(memory, source) == 1
    assert shas(memory) == [first]


def test_with_nothing_to_do_nothing_is_written(memory: Memory, tmp_path: Path, clock) -> None:
    """Asked every few seconds by every open window, so it must cost nobody a lock: not one page is written."""
    commit(tmp_path, "first")
    source = timeline(memory)
    read_new_commits(memory, source)
    with Memory.open(memory.location.path, "app", clock) as watcher:
        version, changes = watcher.database.data_version(), memory.database.connection.total_changes()
        assert read_new_commits(memory, source) == 0
        assert memory.database.connection.total_changes() == changes
        assert watcher.database.data_version() == version
        # and both gauges do move when there is something
        commit(tmp_path, "second")
        assert read_new_commits(memory, source) == 1
        assert memory.database.connection.total_changes() > changes
        assert watcher.database.data_version() != version


def test_a_secret_in_a_commit_message_does_not_reach_the_disk(memory: Memory, tmp_path: Path) -> None:
    """Git keeps it for ever; the memory never had it: not in a row, not in the index, not in a byte of its files."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    commit(tmp_path, f"fix: rotate the token\n\nThe old one was {secret}, sorry.")
    assert read_new_commits(memory, timeline(memory)) == 1
    (hit,) = memory.search("rotate token ").hits
    assert "[REDACTED:GITHUB_TOKEN]" in hit.record.message  # type: ignore[union-attr]
    files = list((tmp_path / ".memoranda").iterdir())
    assert {"memory.db", "memory.db-wal"} <= {file.name for file in files}
    for file in files:
        assert secret.encode() not in file.read_bytes()


def test_commits_read_later_join_the_iteration_they_were_made_in(memory: Memory, tmp_path: Path, clock) -> None:
    """Git is read when somebody opens the app, which may be weeks after the work."""
    clock.now = "2025-12-31T00:00:00.000Z"
    memory.iterations.start_iteration("feature")
    clock.now = "2026-01-02T00:00:00.000Z"
    memory.iterations.end_iteration()
    memory.iterations.start_iteration("fix")
    commit(tmp_path, "of the feature")  # the first of January
    commit(tmp_path, "of the fix", when=1_767_700_000)
    source = timeline(memory)
    clock.now = "2026-11-21T00:00:00.000Z"
    assert read_new_commits(memory, source) == 2
    assert [memory.commits.get(sha).iteration_id for sha in shas(memory)] == [2, 1]


# interrupted ---------------------------------------------------------------------------------------------------------


def test_what_was_read_before_a_cancel_stays_and_the_rest_comes_next(year: Path, shared: Callable[[], Memory]) -> None:
    """Closing the app half-way loses nothing and repeats nothing."""
    memory = shared()
    source = timeline(memory, str(year))
    stop = False

    def until_some(done: int, total: int) -> None:
        nonlocal stop
        stop = done >= 2 * COMMIT_BATCH

    some = read_new_commits(memory, source, until_some, lambda: stop)
    assert some is not None and 2 * COMMIT_BATCH <= some < COMMITS
    assert len(shas(memory)) == some
    first_batch = set(git(year, "rev-list", "--date-order", "HEAD", f"--max-count={COMMIT_BATCH}").split())
    assert first_batch <= set(shas(memory)), "the newest come first: they are what a person looks at"
    totals: list[int] = []
    assert read_new_commits(memory, source, lambda done, total: totals.append(total)) == COMMITS - some
    assert set(totals) == {COMMITS - some}
    assert set(shas(memory)) == known_to_git(year)
    assert read_new_commits(memory, source) == 0


def test_cancelled_before_it_began_it_reads_nothing(year: Path, shared: Callable[[], Memory]) -> None:
    """And does not mark as read what it did not read."""
    memory = shared()
    source = timeline(memory, str(year))
    assert read_new_commits(memory, source, cancelled=lambda: True) == 0
    assert shas(memory) == []
    assert read_new_commits(memory, source) == COMMITS


def test_a_holder_that_slept_too_long_gives_way(year: Path, shared: Callable[[], Memory], clock) -> None:
    """The lid was closed in the middle and another process took over: on waking the sleeper writes nothing more."""
    sleeper, other = shared(), shared()
    source = timeline(sleeper, str(year))
    theirs = Lease(other.database)

    def sleep(done: int, total: int) -> None:
        if done == COMMIT_BATCH:
            assert not theirs.acquire(), "too early: the lease still runs"
            assert read_new_commits(other, source) is None
            clock.advance(milliseconds=6_000)
            assert theirs.acquire()

    assert read_new_commits(sleeper, source, sleep) is None
    assert len(shas(other)) == COMMIT_BATCH
    assert read_new_commits(sleeper, source) is None, "the lease that was lost was not released by its loser"
    theirs.release()
    assert read_new_commits(sleeper, source) == COMMITS - COMMIT_BATCH
    assert set(shas(sleeper)) == known_to_git(year)


def test_a_repository_that_cannot_be_read_leaves_no_trace(memory: Memory, tmp_path: Path) -> None:
    """The error is git's own, with its next step; the lease is free, and nothing is marked as read."""
    with pytest.raises(GitError, match="no git repository"):
        read_new_commits(memory, Repository(str(tmp_path)))
    commit(tmp_path, "first", {"a.txt": "a"})
    second = commit(tmp_path, "second", {"a.txt": "b"})
    tree = tmp_path / ".git/objects" / second[:2] / second[2:]
    kept = tree.read_bytes()
    tree.chmod(0o600)
    tree.write_bytes(b"rubbish")
    source = Repository(str(tmp_path))
    with pytest.raises(GitError):
        read_new_commits(memory, source)
    assert memory.database.rows("SELECT * FROM leases") == []
    tree.write_bytes(kept)
    assert read_new_commits(memory, source) == 2


# which repository ----------------------------------------------------------------------------------------------------


def test_a_memory_belongs_to_the_checkout_it_lies_in(memory: Memory, tmp_path: Path) -> None:
    """Wherever one stands; without a checkout around it there is no repository."""
    create(tmp_path / "elsewhere")
    assert timeline_repository(memory, str(tmp_path / "elsewhere")) is None
    create(tmp_path)
    source = timeline_repository(memory, str(tmp_path / "elsewhere"))
    assert source is not None and source.root == str(tmp_path)


def test_the_personal_memory_has_no_repository(tmp_path: Path, clock) -> None:
    """Used from anywhere, it would collect everybody's commits."""
    create(tmp_path / "project")
    location = Location(str(tmp_path / "personal.db"), "personal", "for this test")
    with Memory(location, "worker", clock) as memory:
        assert timeline_repository(memory, str(tmp_path / "project")) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("halfway", [False, True], ids=["read whole", "cancelled half-way"])
def test_a_memory_keeps_its_first_repository(year: Path, shared: Callable[[], Memory], tmp_path: Path, halfway: bool):
    """--db from two projects never mixes them in one timeline, even if the first was not read to its end."""
    memory = shared()
    stop = False

    def once(done: int, total: int) -> None:
        nonlocal stop
        stop = halfway and done > 0

    source = timeline_repository(memory, str(year / "src"))
    assert source is not None and source.root == str(year)
    read_new_commits(memory, source, once, lambda: stop)
    commit(tmp_path / "other", "of another project")
    assert timeline_repository(memory, str(tmp_path / "other")) is None
    assert timeline_repository(memory, str(tmp_path)) is None  # no checkout at all
    again = timeline_repository(shared(), str(year))
    assert again is not None and again.root == str(year)
    assert read_new_commits(memory, again) is not None
    assert set(shas(memory)) == known_to_git(year)


def test_a_checkout_that_was_moved_is_followed(shared: Callable[[], Memory], tmp_path: Path) -> None:
    """The folder it was bound to is gone, so the one at hand is taken for it; its commits are known already."""
    memory = shared()
    commit(tmp_path / "old", "first")
    source = timeline(memory, str(tmp_path / "old"))
    assert read_new_commits(memory, source) == 1
    (tmp_path / "old").rename(tmp_path / "new")
    commit(tmp_path / "new", "second")
    moved = timeline_repository(memory, str(tmp_path / "new"))
    assert moved is not None
    assert read_new_commits(memory, moved) == 1
    assert set(shas(memory)) == known_to_git(tmp_path / "new")


# several processes ---------------------------------------------------------------------------------------------------

# What a door does in the background: asks until there is nothing left. It waits for a line before it starts, tells
# each batch, and with "stop" waits in the middle for ever, holding the lease.
WORKER = """
import json, sys, time
from store.projects.locating import locate
from store.memory import Memory
from store.upkeep.maintenance import read_new_commits as catch_up, timeline_repository as repository

file, checkout, mode = sys.argv[1:]

def say(**what):
    print(json.dumps(what), flush=True)

with Memory(locate(file, {}, checkout), "worker") as memory:
    source = repository(memory, checkout)
    say(ready=True)
    sys.stdin.readline()
    new = read = 0
    def progress(done, total):
        global read
        read = max(read, done)
        if mode == "stop" and done >= total // 3:
            say(done=done)
            sys.stdin.readline()
    while (count := catch_up(memory, source, progress)) is None:
        time.sleep(0.02)
    say(new=count, read=read)
"""


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Start]:
    """Starts workers on one file; whoever is left at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(checkout: Path, mode: str = "") -> subprocess.Popen[str]:
        started.append(begun(WORKER, tmp_path / "shared.db", checkout, mode))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.communicate()


def heard(child: subprocess.Popen[str]) -> dict[str, int]:
    """The next thing a worker says."""
    assert child.stdout is not None
    said: dict[str, int] = json.loads(child.stdout.readline())
    return said


def test_three_processes_at_once_read_every_commit_once(year: Path, process: Start, shared: Callable[[], Memory]):
    """Three windows open together on a new file: what they read adds up to the repository, and nothing twice."""
    children = [process(year) for _ in range(3)]
    for child in children:
        tell(child)
    reports = [heard(child) for child in children]
    assert sum(report["new"] for report in reports) == COMMITS
    assert sum(report["read"] for report in reports) == COMMITS, "a commit was read by two of them"
    memory = shared()
    assert sorted(shas(memory)) == sorted(known_to_git(year))
    assert memory.database.rows("SELECT * FROM leases") == []
    assert memory.database.value("PRAGMA integrity_check") == "ok"


def test_a_killed_holder_is_replaced_within_seconds(year: Path, process: Start, shared: Callable[[], Memory]):
    """SIGKILL in the middle, with the lease in its hands: another takes over and completes what is missing."""
    holder, heir = process(year, "stop"), process(year)
    tell(holder)
    done = heard(holder)["done"]
    assert 0 < done < COMMITS
    tell(heir)
    holder.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    assert holder.wait(30) == -signal.SIGKILL
    report = heard(heir)
    assert time.monotonic() - killed < 15  # a lease of five seconds, and the reading
    assert report == {"new": COMMITS - done, "read": COMMITS - done}
    assert sorted(shas(shared())) == sorted(known_to_git(year))
