"""A commit that names a shared decision by its writer is linked to it on every machine that has both."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.repositories import commit
from support.team import Join, Person

from store.git.repository import Repository
from store.records.decisions import GIT_IMPORTER, find_shared_decisions
from store.team.part import shared_identity
from store.upkeep.maintenance import read_new_commits

ANA = "3c7vjyhh2avx"


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (f"fix: x\n\nDecision: D12@{ANA}\n", [f"D12@{ANA}"]),
        (f"fix: x\n\nBody.\n\nSigned-off-by: A\ndecision: [D1@{ANA}], D2@{ANA}", [f"D1@{ANA}", f"D2@{ANA}"]),
        (f"Decision: D12@{ANA}", []),
        (f"fix: x\n\nSee D12@{ANA}\n\nSigned-off-by: A", []),
        (f"fix: x\n\nDecision: D#12@{ANA}", []),
        (f"fix: x\n\nDecision: F12@{ANA}, D12@example, AD12@{ANA}, D12@{ANA}x, D0@{ANA}", []),
    ],
)
def test_what_a_trailer_names(message: str, named: list[str]) -> None:
    assert find_shared_decisions(message) == named


def links(person: Person) -> set[tuple[str, str, str]]:
    sql = (
        "SELECT c.message, d.title, l.origin FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
        " JOIN decisions AS d ON d.id = l.decision_id"
    )
    return {(message.partition("\n")[0], title, origin) for message, title, origin in person.memory.database.rows(sql)}


def test_it_is_linked_where_both_are_there_and_once(join: Join, tmp_path: Path) -> None:
    ana, bob = join("Ana"), join("Bob")
    bob.memory.decisions.decide("Tabs", "tabs")
    queue = ana.memory.decisions.decide("Queue", "NATS")
    ana.sync()
    name = shared_identity(ana.memory, ana.memory.decisions.get(queue))
    assert name == f"D{queue}@{name[-12:]}"
    source = tmp_path / "project"
    sha = commit(source, f"queue: NATS\n\nDecision: {name}")
    commit(source, f"tabs, not of here\n\nDecision: D#{queue}", {"a": "1"})
    for person in (ana, bob):
        assert read_new_commits(person.memory, Repository(source)) == 2
    wanted = {("queue: NATS", "Queue", GIT_IMPORTER)}
    assert ana.sync().linked == 1
    assert links(ana) >= wanted
    assert bob.sync().linked == 0, "it is in the inbox"
    assert ("queue: NATS", "Queue", GIT_IMPORTER) not in links(bob)
    bob.decide("accept")
    assert bob.sync().linked == 1 and links(bob) >= wanted
    (number,) = [one.id for one in bob.memory.decisions.get_many(bob.memory.decisions.ids()) if one.title == "Queue"]
    assert number != queue, "its number here is another"
    bob.memory.commits.unlink(sha, number)
    commit(source, "more", {"a": "2"})
    read_new_commits(bob.memory, Repository(source))
    assert bob.sync().linked == 0 and not links(bob) & wanted, "what a person took away stays away"


def test_a_commit_that_comes_later_is_linked_too(join: Join, tmp_path: Path) -> None:
    ana = join("Ana")
    queue = ana.memory.decisions.decide("Queue", "NATS")
    ana.sync()
    name = shared_identity(ana.memory, ana.memory.decisions.get(queue))
    commit(tmp_path / "project", f"queue: NATS\n\nDecision: {name}")
    commit(tmp_path / "project", "a stranger's\n\nDecision: D1@aaaaaaaaaaaa", {"a": "1"})
    read_new_commits(ana.memory, Repository(tmp_path / "project"))
    assert ana.sync().linked == 1
    assert ana.sync().linked == 0
