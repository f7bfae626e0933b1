"""What is kept is encrypted, and its key lies apart: in a private file, or in the system's keyring."""

import os
import stat
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from support.guarded import GuardedHome, key_file
from support.tables import refuses

from store.base.errors import DamagedFile, NotFound, StorageError, UnsafeFile
from store.base.state_files import last_state_problem
from store.tools import guard_database
from store.tools.guard_database import Sealer

TEXT = "The door code of the old office is green-elephant."


class Ring(KeyringBackend):
    """A keyring in memory: there is no session of a desktop here."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.forgets = False

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self.forgets:
            self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


@pytest.fixture
def ring() -> "pytest.Generator[Ring]":
    before, found = keyring.get_keyring(), Ring()
    keyring.set_keyring(found)
    yield found
    keyring.set_keyring(before)


def test_no_byte_of_a_text_or_a_path_is_on_the_disk(home: GuardedHome) -> None:
    home.look_after("user-green-elephant.md", f"{TEXT}\n")
    home.look_after("user-green-elephant.md", f"{TEXT} It was changed.\n", minutes=1)
    raw = Path(guard_database.guard_path()).read_bytes()
    assert len(raw) > 1000
    for word in (b"green", b"elephant", b"office", b"faro", b".claude"):
        assert word not in raw


def test_database_lock_and_key_are_private_and_apart(home: GuardedHome) -> None:
    home.write("a.md", "one\n")
    old = os.umask(0)
    try:
        home.look()
    finally:
        os.umask(old)
    place, key = Path(guard_database.guard_path()), key_file()
    for path in (place, place.with_name("guard.lock"), key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert place.parent not in key.parents and place.name == "guard.db"
    place.chmod(0o644)
    home.look(1)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_two_seals_of_one_text_differ_and_a_changed_byte_is_noticed() -> None:
    sealer = Sealer(b"k" * 32)
    one, other = sealer.seal(b"text", b"about"), sealer.seal(b"text", b"about")
    assert one != other and sealer.unseal(one, b"about") == sealer.unseal(other, b"about") == b"text"
    for sealed, about, opener in (
        (one[:-1] + bytes([one[-1] ^ 1]), b"about", sealer),
        (one, b"another", sealer),
        (one, b"about", Sealer(b"l" * 32)),
        (b"", b"about", sealer),
    ):
        refuses(StorageError, "cannot be opened", opener.unseal, sealed, about)
    assert sealer.digest(b"text") != Sealer(b"l" * 32).digest(b"text")


def test_without_its_own_key_nothing_can_be_read_and_off_starts_over(home: GuardedHome) -> None:
    home.look_after("a.md", "one\n")
    key_file().unlink()
    for read in (lambda: home.look(1), home.moments):
        with pytest.raises(StorageError, match="key of the kept versions is not in") as error:
            read()
        assert "files keep --off" in error.value.next
    guard_database.delete_guard()
    assert home.look(2).first
    key_file().write_text("00" * 32)
    refuses(StorageError, "cannot be opened", home.moments)
    assert guard_database.delete_guard() > 0
    assert not Path(guard_database.guard_path()).exists() and not key_file().exists()
    with pytest.raises(NotFound):
        guard_database.delete_guard()


def test_the_key_is_moved_to_the_keyring_and_back(home: GuardedHome, ring: Ring) -> None:
    home.look_after("a.md", "one\n")
    home.settings["guard.key"] = "keyring"
    home.look_after("a.md", "two\n", minutes=1)
    assert len(ring.held) == 1 and not key_file().exists()
    assert home.shown(1) == ["-1 one", "+0 two"]
    home.settings["guard.key"] = "file"
    home.look(1)
    assert not ring.held and key_file().exists() and home.shown(1) == ["-1 one", "+0 two"]


def test_a_keyring_that_keeps_nothing_changes_nothing(home: GuardedHome, ring: Ring) -> None:
    home.look_after("a.md", "one\n")
    home.settings["guard.key"], ring.forgets = "keyring", True
    with pytest.raises(StorageError, match="did not take the key") as error:
        home.look(1)
    assert "guard.key file" in error.value.next and key_file().exists()


def test_a_state_folder_that_cannot_be_written_makes_no_key(home: GuardedHome, monkeypatch, tmp_path: Path):
    """A key that held for this process alone would lose all at its end."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    home.write("a.md", "one\n")
    refuses(StorageError, "cannot be written", home.look)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert home.look(1).first and last_state_problem() == "", "it can be written again"


def test_what_is_no_database_of_ours_is_refused(home: GuardedHome, tmp_path: Path) -> None:
    home.look_after("a.md", "one\n")
    place = Path(guard_database.guard_path())
    place.write_bytes(b"SQLite no more" * 1000)
    refuses(DamagedFile, "files keep --off", home.moments)
    guard_database.delete_guard()
    place.symlink_to(tmp_path / "elsewhere.db")
    (tmp_path / "elsewhere.db").touch()
    with pytest.raises(UnsafeFile):
        home.look(1)
