"""Streams that are signed with git's own keys, and what a teammate's machine makes of those that are not."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.team import Join, Person

from store.git.process import GitError
from store.team.exchange import Team
from store.team.remote import Signature, StreamRepository, signature_doubt
from store.team.team_file import StreamState

Keys = Callable[[str], Path]


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keys:
    """Make ssh keys by name; the one that was made or named last signs, as git's own settings say."""
    settings = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))

    def use(name: str) -> Path:
        key = tmp_path / f"{name}.key"
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
        settings.write_text(f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n")
        return key

    return use


def sign(person: Person, on: bool = True) -> None:
    """Set `team.sign` for one person."""
    folder = person.folder / "config" / "memoranda"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"[team]\nsign = {str(on).lower()}\n")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CONFIG_HOME", str(folder.parent))
        person.memory._config = None
        assert person.memory.config["team.sign"] is on


def state(person: Person, name: str) -> StreamState:
    with Team(person.memory) as team:
        return next(one for one, _ in team.members() if one.name == name)


def waiting(person: Person) -> list[str]:
    return sorted(text for _, text in person.waiting())


def fingerprint(key: Path) -> str:
    said = subprocess.run(["ssh-keygen", "-l", "-f", str(key)], check=True, capture_output=True, text=True)
    return said.stdout.split()[1]


def test_a_signed_stream_is_shown_with_its_key(join: Join, keys: Keys) -> None:
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    key = keys("ana")
    sign(ana)
    ana.remember("Releases are cut on Tuesdays")
    ana.sync(), cleo.sync()
    assert bob.sync().warnings == [] and waiting(bob) == ["Releases are cut on Tuesdays"]
    assert state(bob, "Ana").key == state(ana, "Ana").key == fingerprint(key)
    assert state(bob, "Cleo").key == ""
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    for _ in range(2):
        assert bob.sync().warnings == [] and len(bob.waiting()) == 2
    assert ana.view() == bob.view()


def test_whose_a_key_is_comes_from_the_readers_own_list(join: Join, keys: Keys, tmp_path: Path) -> None:
    ana, bob = join("Ana"), join("Bob")
    key = keys("ana")
    sign(ana)
    ana.sync()
    public = Path(f"{key}.pub").read_text()
    (tmp_path / "allowed").write_text(f"ana@example.org {public}")
    with (tmp_path / "gitconfig").open("a") as settings:
        settings.write(f'[gpg "ssh"]\n\tallowedSignersFile = {tmp_path / "allowed"}\n')
    bob.sync()
    assert state(bob, "Ana").key == f"{fingerprint(key)} ana@example.org"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["unsigned", "another key", "forged"])
def test_what_comes_without_the_key_that_was_seen_waits(join: Join, keys: Keys, how: str) -> None:
    ana, bob = join("Ana"), join("Bob")
    first = keys("ana")
    sign(ana)
    ana.remember("Releases are cut on Tuesdays")
    ana.sync(), bob.sync()
    ana.remember("Deploys need no review")
    if how == "another key":
        second = keys("mallory")
        why = f"signed by another key, {fingerprint(second)}, and was by {fingerprint(first)}"
    else:
        sign(ana, False)
        why = "is signed no longer"
    ana.sync()
    if how == "forged":
        forge(ana)
        why = "its signature is bad"
    for _ in range(2):
        assert [one for one in bob.sync().warnings if "Ana" in one and why in one]
        assert waiting(bob) == ["Releases are cut on Tuesdays"], "what is new waits, what was known stays"
    with Team(bob.memory) as team:
        team.trust("Ana")
    warnings = bob.sync().warnings
    if how == "forged":
        assert [one for one in warnings if why in one] and len(bob.waiting()) == 1, "a person cannot wave that through"
        return
    assert warnings == [] and len(bob.waiting()) == 2
    assert state(bob, "Ana").key == (fingerprint(second) if how == "another key" else "")


def forge(ana: Person) -> None:
    """Put the signature of an older commit on the newest."""
    ref = f"refs/memoranda/{state(ana, 'Ana').writer}"

    def git(*words: str, given: str = "") -> str:
        command = ["git", "-C", ana.remote, *words]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        return done.stdout

    old, new = git("cat-file", "-p", f"{ref}^"), git("cat-file", "-p", ref)
    end = "-----END SSH SIGNATURE-----\n"
    signature = old[old.index("gpgsig") : old.index(end) + len(end)]
    head, body = new.split("\n\n", 1)
    made = git("hash-object", "-t", "commit", "-w", "--stdin", given=f"{head}\n{signature}\n{body}")
    git("update-ref", ref, made.strip())


def test_it_goes_back_to_the_key_by_itself(join: Join, keys: Keys) -> None:
    ana, bob = join("Ana"), join("Bob")
    keys("ana")
    sign(ana)
    ana.sync(), bob.sync()
    sign(ana, False)
    ana.remember("Releases are cut on Tuesdays")
    ana.sync()
    assert bob.sync().warnings
    sign(ana)
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    assert bob.sync().warnings == [] and len(bob.waiting()) == 2, "a signature covers all that came before it"


@pytest.mark.parametrize("key", ["/nowhere/key", ""])
def test_without_a_key_nothing_is_sent_and_it_is_said(join: Join, keys: Keys, tmp_path: Path, key: str) -> None:
    ana, bob = join("Ana"), join("Bob")
    keys("ana")
    (tmp_path / "gitconfig").write_text(f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n")
    sign(ana)
    ana.remember("Releases are cut on Tuesdays")
    with pytest.raises(GitError, match="could not sign") as caught:
        ana.sync()
    assert "team.sign" in caught.value.next
    assert bob.sync().received == 0
    keys("ana")
    sent = ana.sync()
    assert sent.sent == 2 and ana.sync().sent == 0, "what had been waiting"
    bob.sync()
    assert state(bob, "Ana").key and waiting(bob) == ["Releases are cut on Tuesdays"]


def test_a_key_with_a_password_asks_nobody(join: Join, keys: Keys) -> None:
    """There is no terminal and no window: it fails, and says so."""
    ana = join("Ana")
    key = keys("ana")
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret", "-f", str(key)], check=True, capture_output=True)
    sign(ana)
    with pytest.raises(GitError, match="could not sign"):
        ana.sync()


def test_what_was_signed_and_not_yet_noted_goes_on(join: Join, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends between the signature and the note of it."""

    class Killed(BaseException):
        """What ends a process anywhere."""

    ana, bob = join("Ana"), join("Bob")
    keys("ana")
    sign(ana)
    ana.remember("Releases are cut on Tuesdays")
    ordinary = StreamRepository.sign_head

    def kill(self: StreamRepository, writer: str, commit: str) -> str:
        ordinary(self, writer, commit)
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(StreamRepository, "sign_head", kill)
        with pytest.raises(Killed):
            ana.sync()
    ana.remember("The wiki is at wiki.example")
    ana.sync()
    assert bob.sync().warnings == [] and len(bob.waiting()) == 2 and ana.view() == bob.view()


def test_a_purge_is_signed_too(join: Join, keys: Keys) -> None:
    ana, bob = join("Ana"), join("Bob")
    keys("ana")
    sign(ana)
    number = ana.remember("The safe opens with swordfish")
    ana.sync(), bob.sync()
    ana.purge(number)
    ana.sync()
    assert bob.sync().warnings == [] and bob.waiting() == [] and ana.view() == bob.view()


def test_a_key_that_git_does_not_have_is_no_proof() -> None:
    unknown = Signature("E", "0123456789ABCDEF")
    first, pinned = StreamState("a" * 12), StreamState("a" * 12, key="0123456789ABCDEF Ana")
    assert signature_doubt(first, unknown) == "" and first.key == "", "as one that is not signed"
    assert "cannot be checked" in signature_doubt(pinned, unknown) and pinned.key


@pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not installed")
def test_with_a_key_of_gpg(join: Join, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the public key sees whose it is; to others it is as one that is not signed."""
    ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
    with tempfile.TemporaryDirectory(prefix="gpg-") as ring, tempfile.TemporaryDirectory(prefix="gpg-") as empty:
        monkeypatch.setenv("GNUPGHOME", ring)
        gpg = ["gpg", "--batch", "--quiet", "--passphrase", ""]
        make = [*gpg, "--quick-gen-key", "Ana <ana@example.org>", "ed25519", "sign", "never"]
        subprocess.run(make, check=True, capture_output=True)
        listed = subprocess.run([*gpg, "--list-keys", "--with-colons"], check=True, capture_output=True, text=True)
        key = next(line.split(":")[9] for line in listed.stdout.splitlines() if line.startswith("fpr"))
        settings = tmp_path / "gitconfig"
        settings.write_text(f"[user]\n\tsigningKey = {key}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
        sign(ana)
        ana.remember("Releases are cut on Tuesdays")
        ana.sync(), bob.sync()
        assert state(bob, "Ana").key == f"{key} Ana <ana@example.org>"
        monkeypatch.setenv("GNUPGHOME", empty)
        assert cleo.sync().warnings == [] and state(cleo, "Ana").key == ""
        for folder in (ring, empty):
            subprocess.run(["gpgconf", "--homedir", folder, "--kill", "all"], check=False, capture_output=True)
