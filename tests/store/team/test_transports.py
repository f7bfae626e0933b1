"""Exchanges over real HTTP and real SSH: whole, cut anywhere, unanswered, or before a remote that wants a login."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_server import HttpServer, Wire, http, ssh, wire
from support.team import WORK, Join, Person
from support.waiting import until

from store.git.process import GitError
from store.memory import Memory
from store.team import remote as repository
from store.team.collect import ShareChoice
from store.team.exchange import Team

# of asyncssh, where a connection ends; it is said when memory is cleared, in any later test
pytestmark = pytest.mark.filterwarnings("ignore:coroutine 'Queue.join'")

CUTS = (0.1, 0.5, 0.9, 1.0)  # of the bytes that go over the wire


def move(person: Person, address: str) -> None:
    """Have a person share through another address of the same remote."""
    person.choose(WORK, remote=address)


@pytest.fixture
def server(remote: Path) -> Iterator[HttpServer]:
    with http(remote.parent) as found:
        yield found


@pytest.fixture
def cable(server: HttpServer) -> Iterator[Wire]:
    with wire(server.server_port) as found:
        yield found


def address(port: int) -> str:
    return f"http://127.0.0.1:{port}/remote.git"


def fill(person: Person, first: int, count: int = 40) -> None:
    """Remember things that do not compress to nothing."""
    for number in range(first, first + count):
        words = " ".join(f"{(number * 7919 + place * 104729) % 1_000_003:06d}" for place in range(12))
        person.remember(f"Service {number} answers to {words}")


def test_over_http(join: Join, server: HttpServer) -> None:
    ana, bob = join("Ana"), join("Bob")
    for person in (ana, bob):
        move(person, address(server.server_port))
    number = ana.remember("Releases are cut on Tuesdays")
    assert ana.sync().sent == 2 and bob.sync().received == 2
    assert bob.waiting() == [("add", "Releases are cut on Tuesdays")]
    ana.purge(number)
    ana.sync(), bob.sync()
    assert bob.waiting() == [] and ana.view() == bob.view(), "a stream is replaced there too"


@pytest.mark.parametrize("how", ["environment", "configuration"])
def test_over_ssh(join: Join, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    with ssh(tmp_path) as (port, command):
        if how == "environment":
            monkeypatch.setenv("GIT_SSH_COMMAND", command)
        else:  # of the person's own git
            (tmp_path / "gitconfig").write_text(f"[core]\n\tsshCommand = {command}\n")
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
            monkeypatch.delenv("GIT_SSH_COMMAND", raising=False)
        ana, bob = join("Ana"), join("Bob")
        for person in (ana, bob):
            move(person, f"ssh://git@127.0.0.1:{port}{remote}")
        ana.remember("Releases are cut on Tuesdays")
        assert ana.sync().sent == 2 and bob.sync().received == 2
        assert bob.waiting() == [("add", "Releases are cut on Tuesdays")]
        monkeypatch.setenv("GIT_SSH_COMMAND", command.replace(str(tmp_path / "id"), "/dev/null", 1))
        with pytest.raises(GitError, match="wants a login") as caught:
            bob.sync()
        assert "without a question" in caught.value.next


def test_a_fetch_that_is_cut_anywhere_loses_nothing(join: Join, cable: Wire) -> None:
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    fill(ana, 0)
    ana.sync()
    for person in (bob, cleo):
        move(person, address(cable.port))
        with Team(person.memory) as team:
            team.choose(ShareChoice())  # nothing is sent: what goes over the wire is the fetch
        repository.StreamRepository(str(person.folder)).create()  # nor is the kind of the remote asked for
    cleo.sync()
    whole = cable.received
    for part in CUTS:
        cable.reset(cut_received=min(int(whole * part), whole - 60))  # the last bytes only say that this was all
        with pytest.raises(GitError, match="was cut") as caught:
            bob.sync()
        assert "Nothing was lost" in caught.value.next
        assert bob.view() == "" and bob.waiting() == []
    cable.reset()
    assert bob.sync().received == 41 and bob.view() == cleo.view() and len(bob.waiting()) == 40


def test_a_push_that_is_cut_anywhere_loses_nothing(join: Join, cable: Wire) -> None:
    ana, bob = join("Ana"), join("Bob")
    move(ana, address(cable.port))
    ana.sync()
    fill(ana, 0)
    for part in CUTS[:-1]:
        cable.reset(cut_sent=int(2_500 + 6_000 * part))
        with pytest.raises(GitError, match="was cut"):
            ana.sync()
    cable.reset()
    ana.sync()
    assert bob.sync().warnings == [] and len(bob.waiting()) == 40 and ana.view() == bob.view()


def test_an_answer_that_is_lost_after_the_remote_took_all_is_no_conflict(join: Join, cable: Wire) -> None:
    """Its writer does not learn that the remote has it, and goes on: purges, and purges again."""
    ana, bob = join("Ana"), join("Bob")
    move(ana, address(cable.port))
    first, second = ana.remember("The safe opens with swordfish"), ana.remember("The gate opens with tuna")
    ana.sync()

    def lost() -> None:
        ana.remember(f"Releases are cut on Tuesdays, {whole}")
        cable.reset(cut_received=whole - 200)
        with pytest.raises(GitError, match="was cut"):
            ana.sync()
        cable.reset()

    cable.reset()
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    whole = cable.received  # the last of them are the answer to the push
    before = ana.git("for-each-ref")
    lost()
    until(lambda: ana.git("for-each-ref") != before)  # the remote goes on, whoever listens
    assert ana.sync().sent == 0, "it is there"
    ana.remember("The office is in Lugo")
    assert ana.sync().sent == 1
    whole += 1
    lost()
    for number in (first, second):
        ana.purge(number)
        with Team(ana.memory) as team:
            team.erase_purged()
        if number == first:
            whole += 1
            lost()
    ana.sync(), bob.sync()
    assert not [text for _, text in bob.waiting() if "opens" in text]
    assert bob.view() == ana.view() and bob.view().count('"purged":true') == 2


def test_a_remote_that_does_not_answer_is_given_up(join: Join, cable: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "SILENT_SECONDS", 1)
    ana = join("Ana")
    move(ana, address(cable.port))
    ana.remember("Releases are cut on Tuesdays")
    cable.silent = True
    with pytest.raises(GitError, match="cannot be reached"):
        ana.sync()
    cable.silent = False
    assert ana.sync().sent == 2


def test_a_remote_login_asks_nobody(join: Join, server: HttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No terminal, no window: what git knows by itself is taken."""
    ana = join("Ana")
    asking = tmp_path / "ask"
    asking.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho hunter3\n")
    asking.chmod(0o755)
    for name in ("SSH_ASKPASS", "DISPLAY"):
        monkeypatch.setenv(name, str(asking))
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n\taskPass = {asking}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    server.login = "ana:hunter3"
    for address in ("http://127.0.0.1:{}/remote.git", "http://ana:hunter2@127.0.0.1:{}/remote.git"):
        move(ana, address.format(server.server_port))
        with pytest.raises(GitError, match="wants a login") as caught:
            ana.sync()
        assert "without a question" in caught.value.next and "hunter2" not in str(caught.value)
    assert not (tmp_path / "asked").exists()
    settings.write_text('[credential]\n\thelper = "!f() { echo username=ana; echo password=hunter3; }; f"\n')
    move(ana, f"http://127.0.0.1:{server.server_port}/remote.git")
    assert ana.sync().sent == 1


def test_a_remote_that_is_not_there_is_said(join: Join, server: HttpServer, tmp_path: Path) -> None:
    ana = join("Ana")
    for where, why in (
        (f"http://127.0.0.1:{server.server_port}/nothing.git", "no git repository"),
        (str(tmp_path / "nothing"), "no git repository"),
        ("http://127.0.0.1:1/remote.git", "cannot be reached"),
        ("ssh://git@127.0.0.1:1/remote.git", "cannot be reached"),
        ("http://nowhere.invalid/remote.git", "cannot be reached"),
    ):
        move(ana, where)
        with pytest.raises(GitError, match=why):
            ana.sync()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("deletes", [True, False])
def test_a_remote_that_lets_nothing_be_replaced(join: Join, remote: Path, deletes: bool) -> None:
    """A purge rewrites a stream. Where that is refused it is removed and sent anew, and where that is refused too it is
    said what stays there."""
    hook = remote / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    kept = "" if deletes else 'test "$3" = 0000000000000000000000000000000000000000 && exit 1\n'
    hook.write_text(
        f"#!/bin/sh\n{kept}"
        'test "${2#0000000}" != "$2" || test "${3#0000000}" != "$3" || git merge-base --is-ancestor "$2" "$3"\n'
    )
    hook.chmod(0o755)
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember("The safe opens with swordfish")
    ana.remember("Releases are cut on Tuesdays")
    ana.sync(), bob.sync()
    ana.purge(number)
    if not deletes:
        with pytest.raises(GitError, match="lets no stream be replaced, so what was purged is on it still") as caught:
            ana.sync()
        assert "to let you replace, or delete, refs/memoranda/" in caught.value.next
        hook.unlink()
    ana.sync(), bob.sync()
    assert [text for _, text in bob.waiting()] == ["Releases are cut on Tuesdays"] and ana.view() == bob.view()


def test_a_remote_that_hides_these_refs_is_named(join: Join, remote: Path) -> None:
    subprocess.run(["git", "-C", str(remote), "config", "transfer.hideRefs", "refs/memoranda"], check=True)
    ana = join("Ana")
    ana.remember("Releases are cut on Tuesdays")
    with pytest.raises(GitError, match="takes no refs below refs/memoranda") as caught:
        ana.sync()
    assert "share --remote" in caught.value.next
    subprocess.run(["git", "-C", str(remote), "config", "--unset", "transfer.hideRefs"], check=True)
    ana.sync()
    bob = join("Bob")
    assert bob.sync().received == 2


@pytest.mark.parametrize("how", [["--depth=1"], ["--filter=blob:none", "--no-checkout"], ["--mirror"]])
def test_from_a_clone_that_lacks_something(tmp_path: Path, join: Join, remote: Path, how: list[str]) -> None:
    """Shallow, partial, without a work tree: the project's own repository is asked for an address alone."""
    work = tmp_path / "work"
    identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    for command in (
        ["init", "--quiet", str(work)],
        *(["-C", str(work), *identity, "commit", "--quiet", "--allow-empty", "-m", text] for text in ("one", "two")),
        ["-C", str(work), "push", "--quiet", str(remote), "HEAD:refs/heads/main"],
        ["-C", str(remote), "symbolic-ref", "HEAD", "refs/heads/main"],
        ["-C", str(remote), "config", "uploadpack.allowFilter", "true"],
        ["clone", "--quiet", *how, f"file://{remote}", str(tmp_path / "clone")],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True)
    bob = join("Bob")
    clone = tmp_path / "clone"
    files = sorted(clone.rglob("*"))
    with Memory.open(str(clone / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("Releases are cut on Tuesdays", domain="work")
        with Team(memory) as team:
            team.choose(WORK, "Ana")
            assert team.exchange().sent == 2
    assert bob.sync().received == 2
    assert sorted(one for one in clone.rglob("*") if ".memoranda" not in one.parts) == files


def test_a_remote_that_is_a_command_is_not_run(join: Join, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout names its remotes; git runs those of this kind where a person once allowed it."""
    settings = tmp_path / "gitconfig"
    settings.write_text('[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    project = tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    url = f"ext::sh -c touch% {tmp_path}/ran"
    subprocess.run(["git", "-C", str(project), "remote", "add", "origin", url], check=True)
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory, Team(memory) as team:
        team.choose(WORK, "Ana")
        with pytest.raises(GitError, match="ext"):
            team.exchange()
    assert not (tmp_path / "ran").exists()
