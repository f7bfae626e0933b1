"""Decisions named in commit messages: which are meant, how, and the links that come of it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cases import load_cases
from support.repositories import commit, git
from support.tables import each

from store.git.repository import Repository
from store.memory import Memory
from store.records.decisions import GIT_IMPORTER, find_mentioned_decisions, fold_title
from store.upkeep.maintenance import read_new_commits

CASES = load_cases(__file__)
TITLES = {fold_title("Use SQLite, not PostgreSQL"): [4], fold_title("Cache in memory"): [5, 6]}


@each("message, named", CASES["messages"])
def test_which_decisions_a_message_names(message: str, named: dict[str, list[int]]) -> None:
    expected = {number: how for how, numbers in named.items() for number in numbers}
    assert find_mentioned_decisions(message, TITLES) == expected


@pytest.mark.parametrize("filler", ["implement ", "[D#2 and ", "[ ", "decision: ", "a\n ", "x"])
def test_a_long_message_takes_no_long_time(filler: str) -> None:
    """Each of them 2 MB, written to be slow for a pattern; it is read inside a transaction."""
    start = time.process_time()
    message = "implements D#1\n\n" + filler * (2_000_000 // len(filler)) + "\n\nDecision: D#3"
    named = find_mentioned_decisions(message, {})
    assert time.process_time() - start < 3  # 0.03 s
    assert (named[1], named[3]) == ("implements", "implements")


@pytest.fixture
def read(memory: Memory, tmp_path: Path) -> Callable[[], int | None]:
    return lambda: read_new_commits(memory, Repository(str(tmp_path)))


def links(memory: Memory) -> set[tuple[str, int, str, str]]:
    """(the commit's subject, the decision, the kind of link, who made it)."""
    sql = (
        "SELECT substr(message, 1, instr(message || char(10), char(10)) - 1), decision_id, link_type, l.origin"
        " FROM commit_links AS l JOIN commits ON id = commit_id"
    )
    return set(memory.database.rows(sql))


def test_a_commit_is_linked_as_it_is_read_in_one_step_that_can_be_undone(memory: Memory, tmp_path: Path, read) -> None:
    """By `import:git`, in the transaction of its commits."""
    memory.decisions.decide("Use SQLite, not PostgreSQL", "SQLite")
    memory.decisions.decide("Cache in memory", "a dict")
    sha = commit(tmp_path, "store: schema\n\nDecision: Use SQLite, not PostgreSQL")
    commit(tmp_path, "cache, see D#2 and D#3", {"a": "1"})
    assert read() == 2
    expected = {
        ("store: schema", 1, "implements", GIT_IMPORTER),
        ("cache, see D#2 and D#3", 2, "relates", GIT_IMPORTER),
    }
    assert links(memory) == expected
    step = memory.history.steps(limit=1)[0]
    assert (step.actor, step.changes) == ("import:git", 2)
    assert f"link C#{sha[:7]} D#1" in step.reason
    memory.history.undo(step.seq)
    assert links(memory) == set()
    assert read() == 0
    memory.history.redo()
    assert links(memory) == expected


def test_only_decisions_that_are_there_and_titles_in_force(memory: Memory, tmp_path: Path, read) -> None:
    old = memory.decisions.decide("Cache in Redis", "Redis 7")
    memory.decisions.decide("Cache in Redis", "Redis 8", supersedes=old)
    memory.decisions.forget([memory.decisions.decide("Send a fax", "fax")])
    commit(tmp_path, "one\n\nDecision: cache in redis")
    commit(tmp_path, "two\n\nDecision: Send a fax", {"a": "1"})
    commit(tmp_path, "three: reverts D#1, implements D#77", {"a": "2"})
    read()
    reverted = ("three: reverts D#1, implements D#77", 1, "reverts")
    assert {link[:3] for link in links(memory)} == {("one", 2, "implements"), reverted}
    for number in range(80):
        memory.decisions.decide(f"number {number}", "x")
    commit(tmp_path, "four", {"a": "3"})
    read()
    assert memory.commits.links_of_decision(77) == [], "what came later was not meant"


def test_a_link_that_was_taken_away_stays_away(memory: Memory, tmp_path: Path, read) -> None:
    """Also when the commit goes and comes back, and when all of history is walked again."""
    memory.decisions.decide("Use SQLite", "SQLite")
    commit(tmp_path, "zero")
    sha = commit(tmp_path, "one, D#1", {"a": "1"})
    read()
    memory.commits.unlink(sha, 1)
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~1")
    read()
    git(tmp_path, "reset", "--quiet", "--hard", "ORIG_HEAD")
    read()
    memory.database.connection.execute("DELETE FROM meta WHERE key = 'git.tips'")
    assert read() == 0
    assert links(memory) == set()


def test_a_persons_own_link_is_not_made_twice(memory: Memory, tmp_path: Path, read) -> None:
    """An agent logged the commit, a person linked it, then git tells of it."""
    memory.decisions.decide("Use SQLite", "SQLite")
    sha = commit(tmp_path, "one, D#1", {"a": "1"})
    memory.commits.log(sha, message="one, D#1")
    memory.commits.link(sha, 1, "reverts")
    read()
    assert links(memory) == {("one, D#1", 1, "reverts", "user")}


def test_none_where_the_person_wants_none(memory: Memory, tmp_path: Path, read, monkeypatch) -> None:
    memory.decisions.decide("Use SQLite", "SQLite")
    commit(tmp_path, "one, D#1", {"a": "1"})
    values = {value.name: value.value for value in memory.config.values}
    monkeypatch.setattr(Memory, "config", values | {"capture_decisions": False})
    assert read() == 1
    assert links(memory) == set()
    assert len(memory.history.steps()) == 1
