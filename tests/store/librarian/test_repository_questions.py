"""Questions about a repository's commits: by whom, when, since which version, about what, and in which files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.cases import load_cases
from support.filled import share_memory
from support.repositories import create, git

from store.git.repository import Repository
from store.librarian.answer import LibrarianAnswer
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.records import commits as releases
from store.upkeep.maintenance import read_new_commits

CASES = load_cases(__file__)

# (day committed, author, subject, path, tag), as in the histories of httpx and Flask
HISTORY = (
    ("2025-01-10", "Tom Christie", "Initial commit", "README.md", ""),
    ("2025-02-03", "Tom Christie", "Version 0.9.0", "CHANGELOG.md", "0.9.0"),
    ("2025-03-14", "Florimond Manca", "Tweak advanced timeouts docs", "docs/timeouts.md", ""),
    ("2025-05-20", "Florimond Manca", "Add a pool of connections", "httpx/_transports/pool.py", ""),
    ("2025-06-01", "Tom Christie", "Fix docs of proxies\n\nCo-authored-by: Florimond Manca", "docs/proxies.md", ""),
    ("2025-07-07", "dependabot[bot]", "Bump eslint from 9.0.0 to 9.21.0", "package.json", ""),
    ("2025-09-09", "Kar Petrosyan", "Keep clients in sync", "httpx/_client.py", ""),
    ("2026-01-28", "Tom Christie", "Merge pull request #12 from encode/release", "CHANGELOG.md", "v1.0.0"),
    ("2026-02-02", "Kar Petrosyan", "Show the scheme of a proxy", "httpx/_transports/proxy.py", ""),
    ("2026-03-05", "Tom Christie", 'Revert "Keep clients in sync"', "httpx/_client.py", ""),
)
WRITTEN = "2026-04-29T12:00:00 -0500"  # by Dana, and committed on 8 May


def at(day: str) -> int:
    return int(datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp())


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history as a repository, with a merge on 1 April 2026."""
    root = tmp_path_factory.mktemp("checkout")
    create(root)
    for day, author, message, path, tag in HISTORY:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(message)
        git(root, "add", "-A")
        git(root, "commit", "-qm", message, f"--author={author} <a@b.c>", f"--date=@{at(day)}", when=at(day))
        if tag:
            git(root, "tag", tag)
    git(root, "checkout", "-qb", "side", "HEAD~1")
    (root / "_rg").write_text("complete")
    git(root, "add", "-A")
    git(
        root,
        "commit",
        "-qm",
        "_rg: fix some specs",
        "--author=dana <d@b.c>",
        f"--date={WRITTEN}",
        when=at("2026-05-08"),
    )
    git(root, "checkout", "-q", "-")
    git(root, "merge", "-q", "--no-ff", "-m", "Bring in the side", "side", when=at("2026-06-01"))
    return root


@pytest.fixture(scope="module")
def project(filled: Memory, checkout: Path) -> Iterator[Memory]:
    repository = Repository(str(checkout))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(releases, "memory_repository", lambda database: repository)
        read_new_commits(filled, repository)
        yield filled


filled = share_memory(lambda memory, clock: None)


def stated(answer: LibrarianAnswer) -> bool:
    """Whether an answer says neither that it is only near, nor that there is none."""
    return answer.exact and not answer.nothing


def heads(answer: LibrarianAnswer, memory: Memory) -> list[str]:
    return [memory.commits.get(one[2:]).subject for one in answer.citations]


@pytest.mark.parametrize(("question", "number", "filtered"), CASES["numbers"])
def test_a_number_is_of_what_all_filters_let_pass(project: Memory, question: str, number: int, filtered: str) -> None:
    answer = Librarian(project).ask(question)
    assert answer.exact and filtered in answer.filter
    assert f" {number} commit" in answer.text


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("commits by Florimond Manca about docs in 2025", ["Tweak advanced timeouts docs"]),
        ("what did Kar Petrosyan change in 2025", ["Keep clients in sync"]),
        ("qué cambió Kar Petrosyan en 2025", ["Keep clients in sync"]),
    ],
)
def test_the_records_are_those_that_all_filters_let_pass(project: Memory, question: str, first: list[str]) -> None:
    answer = Librarian(project).ask(question)
    assert answer.exact and heads(answer, project) == first


@pytest.mark.parametrize("question", CASES["not_understood"])
def test_what_no_filter_understands_is_not_answered_by_the_rest(project: Memory, question: str) -> None:
    assert not stated(Librarian(project).ask(question))


def test_the_filters_do_not_stand_under_commits_that_do_not_pass_them(project: Memory) -> None:
    """Nothing of that author has the word."""
    answer = Librarian(project).ask("commits by Florimond Manca about sockets in 2025")
    assert answer.asked.filter.endswith('by:"Florimond Manca" sockets')
    assert answer.citations and not answer.filter


def test_a_version_without_tags_is_that_of_its_release_commit(project: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "memory_repository", lambda database: None)
    for version, since in (("0.9.0", "2025-02-03"), ("9.0.0", "")):
        answer = Librarian(project).ask(f"how many commits since {version}")
        assert (f"since:{since}" in answer.filter) is bool(since), version


def test_git_is_not_waited_for_beyond_a_time(project: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "TAG_SECONDS", -1.0)
    assert "since:" not in Librarian(project).ask("how many commits since v1.0.0").filter
    assert stated(Librarian(project).ask("how many commits in 2025"))


def test_a_person_of_whom_something_is_asked_is_not_its_author(project: Memory) -> None:
    project.facts.remember("The phone number of Kar Petrosyan is 555 0101")
    answer = Librarian(project).ask("what is the phone number of Kar Petrosyan?")
    assert answer.exact and answer.citations == ("F#1",)
