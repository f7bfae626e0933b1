"""Where the remote of a project is, and which repository of streams it needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.team import WORK, Join

from store.base.errors import InvalidInput
from store.git.process import GitError
from store.memory import Memory
from store.team.exchange import Team
from store.team.remote import remote_addresses, usual_remote


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work" / "api").mkdir(parents=True)
    git(tmp_path / "work" / "api", "init", "--quiet")
    return tmp_path / "work" / "api"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("../../remote.git", "{}/remote.git"),
        ("{}/remote.git", "{}/remote.git"),
        ("ana@example.org:team/api.git", "ana@example.org:team/api.git"),
        ("build:api.git", "build:api.git"),
        ("./odd:name.git", "{}/work/api/odd:name.git"),
        ("https://example.org/api.git", "https://example.org/api.git"),
    ],
)
def test_a_relative_path_begins_at_the_checkout(tmp_path: Path, project: Path, address: str, found: str) -> None:
    """As git reads it, from whichever folder; the streams lie elsewhere."""
    git(project, "remote", "add", "origin", address.format(tmp_path))
    (project / "docs").mkdir()
    expected = found.format(tmp_path)
    for place in (project, project / "docs"):
        assert remote_addresses(str(place), "origin") == (expected, expected)


def test_it_is_pushed_where_git_pushes(tmp_path: Path, project: Path) -> None:
    git(project, "remote", "add", "origin", "https://example.org/api.git")
    git(project, "remote", "set-url", "--push", "origin", "git@example.org:api.git")
    assert remote_addresses(str(project), "origin") == ("https://example.org/api.git", "git@example.org:api.git")
    git(project, "config", "--unset", "remote.origin.pushurl")
    git(project, "config", "url.../../push/.pushInsteadOf", "https://example.org/")
    assert remote_addresses(str(project), "origin")[1] == str(tmp_path / "push" / "api.git")


def test_what_is_no_remote_is_an_address_or_refused(project: Path) -> None:
    for address in ("/srv/api.git", "ssh://example.org/api.git", "git@example.org:api.git"):
        assert remote_addresses(str(project), address) == remote_addresses(None, address) == (address, address)
    with pytest.raises(InvalidInput, match="no remote upstream"):
        remote_addresses(str(project), "upstream")


def test_what_is_pushed_elsewhere_arrives_there(join: Join, remote: Path, project: Path) -> None:
    """Fetched with everybody's rights, pushed with one's own: as with `git remote set-url --push`."""
    mirror = project.parent / "mirror.git"
    git(project.parent, "clone", "--quiet", "--mirror", str(remote), str(mirror))
    git(project, "remote", "add", "origin", "../mirror.git")
    git(project, "remote", "set-url", "--push", "origin", "../../remote.git")
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("Releases are cut on Tuesdays", domain="work")
        with Team(memory) as team:
            team.choose(WORK, "Ana")
            assert team.exchange().sent == 2
    bob = join("Bob")
    assert bob.sync().received == 2


def test_a_repository_of_sha256_serves_as_well(join: Join, tmp_path: Path, remote: Path, project: Path) -> None:
    """What is shared and purged there; streams of one kind do not go through a remote of the other."""
    new = tmp_path / "sha256.git"
    git(tmp_path, "init", "--quiet", "--bare", "--object-format=sha256", "-b", "main", str(new))
    git(tmp_path, "init", "--quiet", "--object-format=sha256", str(tmp_path / "first"))
    git(tmp_path / "first", "commit", "--quiet", "--allow-empty", "-m", "First")
    git(tmp_path / "first", "push", "--quiet", str(new), "HEAD:refs/heads/main")
    ana, bob = join("Ana"), join("Bob")
    for person in (ana, bob):
        with Team(person.memory) as team:
            team.choose(WORK, person.name, str(new))
    number = ana.remember("Releases are cut on Tuesdays")
    ana.sync(), bob.sync()
    bob.decide("accept")
    bob.sync()
    ana.purge(number)
    assert ana.sync().warnings == [] and bob.sync().arrived.erased == 1
    assert ana.view() == bob.view() and bob.facts() == []
    join("Cleo").sync()
    bob.choose(WORK, "Bob", str(remote))
    with pytest.raises(GitError, match="another hash than the streams here"):
        bob.sync()


def test_without_a_name_it_is_the_one_that_git_takes(project: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no remote origin here\. Add one"):
        remote_addresses(str(project), "")
    git(project, "remote", "add", "upstream", "https://example.org/api.git")
    assert usual_remote(str(project)) == "upstream"
    assert remote_addresses(str(project), "")[0] == "https://example.org/api.git"
    git(project, "remote", "add", "fork", "https://example.org/fork.git")
    with pytest.raises(InvalidInput, match="no remote origin here, but fork, upstream"):
        remote_addresses(str(project), "")
    git(project, "remote", "add", "origin", "https://example.org/origin.git")
    assert usual_remote(str(project)) == "origin"
    assert remote_addresses(str(project), "")[0] == "https://example.org/origin.git"
    assert usual_remote(None) == usual_remote(str(project.parent)) == "origin"


def test_a_repository_that_git_does_not_read_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(project, "remote", "add", "origin", "https://example.org/api.git")
    monkeypatch.setattr("store.git.process._OWN_VARIABLES", {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "LC_ALL": "C"})
    with pytest.raises(GitError, match="belongs to another user"):
        remote_addresses(str(project), "")
    assert usual_remote(str(project)) == "origin"
