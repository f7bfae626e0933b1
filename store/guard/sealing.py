"""Encryption of what is kept: AES-256-GCM of the library `cryptography`, with a key that lies apart from the database.

The key is in the person's folder for state, a private file, or in the system's keyring where `guard.key` says so.
Contents and paths are found again by a keyed digest, so that no guessed text can be confirmed by the database alone.
"""

from __future__ import annotations

import hmac
import os
import zlib
from types import ModuleType

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from store.base.errors import StorageError
from store.base.state_files import (
    delete_state,
    last_state_problem,
    read_state,
    state_folder,
    state_name_of,
    write_state,
)

KEY_IN_FILE, KEY_IN_KEYRING = "file", "keyring"
KEY_PLACES = (KEY_IN_FILE, KEY_IN_KEYRING)
KEY_NAME = "guard-key"  # of the file, and of the service in the keyring
GUARD_KEY_BYTES, NONCE_BYTES = 32, 12
START_OVER = "What was kept cannot be read without it; `memoranda guard off` starts over."


class Sealer:
    """Seals and opens bytes with one key."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(_derive_key(key, b"content"))
        self._names = _derive_key(key, b"names")

    def digest(self, content: bytes) -> bytes:
        """Return the digest by which this content is found again: 32 bytes."""
        return hmac.digest(self._names, content, "sha256")

    def seal(self, content: bytes, about: bytes) -> bytes:
        """Return the content packed and encrypted; it opens only with the same `about`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, zlib.compress(content), about)

    def unseal(self, sealed: bytes, about: bytes) -> bytes:
        """Return the content. Raise StorageError where the key or `about` is another, or a byte was changed."""
        try:
            return zlib.decompress(self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], about))
        except (InvalidTag, ValueError, zlib.error):
            raise StorageError(
                "A kept version cannot be opened: the key is another one, or it is damaged."
            ) from None


def _derive_key(key: bytes, purpose: bytes) -> bytes:
    """Derive a key for one purpose from the stored key."""
    return HKDF(algorithm=SHA256(), length=GUARD_KEY_BYTES, salt=None, info=b"memoranda guard " + purpose).derive(
        key
    )


def create_guard_key(place: str, database: str) -> bytes:
    """Create the key of a database and store it in a place of KEY_PLACES. Raise StorageError."""
    key = os.urandom(GUARD_KEY_BYTES)
    store_guard_key(place, database, key)
    return key


def read_guard_key(place: str, database: str) -> bytes:
    """Return the key of a database. Raise StorageError where it is gone."""
    try:
        if place == KEY_IN_KEYRING:
            found = bytes.fromhex(_load_keyring().get_password(KEY_NAME, database) or "")
        else:
            found = bytes.fromhex(read_state(_key_file(database)))
    except ValueError:
        found = b""
    if len(found) != GUARD_KEY_BYTES:
        where = (
            "the system's keyring" if place == KEY_IN_KEYRING else os.path.join(state_folder(), _key_file(database))
        )
        raise StorageError(f"The key of the kept versions is not in {where}.", START_OVER)
    return found


def delete_guard_key(place: str, database: str) -> None:
    """Delete the key: what it sealed is lost for good."""
    if place == KEY_IN_FILE:
        delete_state(_key_file(database))
        return
    import keyring.errors

    try:
        _load_keyring().delete_password(KEY_NAME, database)
    except keyring.errors.PasswordDeleteError:
        pass  # it was not there


def store_guard_key(place: str, database: str, key: bytes) -> None:
    """Store the key of a database in a place of KEY_PLACES. Raise StorageError."""
    if place == KEY_IN_KEYRING:
        ring = _load_keyring()
        try:
            ring.set_password(KEY_NAME, database, key.hex())
            stored = ring.get_password(KEY_NAME, database)
        except Exception as error:  # a backend's own: no service on the bus, a prompt that was dismissed
            raise _keyring_error(type(error).__name__) from None
        if stored != key.hex():
            raise _keyring_error("it did not keep it")
    elif not write_state(_key_file(database), key.hex()):
        delete_state(_key_file(database))  # it would hold for this process alone
        raise StorageError(last_state_problem(), "Name a folder that can be written in $XDG_STATE_HOME.")


def _keyring_error(why: str) -> StorageError:
    """Return the error for a keyring that does not take the key."""
    return StorageError(
        f"The system's keyring did not take the key ({why}).", "memoranda config guard.key file keeps it in a file."
    )


def _key_file(database: str) -> str:
    """Return the name of the private file for the key of a database."""
    return state_name_of(KEY_NAME, database)


def _load_keyring() -> ModuleType:
    """Return the library keyring. Raise StorageError if it is not installed."""
    try:
        import keyring
    except ImportError:
        raise StorageError(
            "guard.key is keyring, and the library keyring is not installed.",
            "pip install 'memoranda[keyring]', or: memoranda config guard.key file",
        ) from None
    return keyring
