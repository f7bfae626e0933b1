"""Encryption of what is kept: AES-256-GCM of the library `cryptography`, with a key that lies apart from the database.

The key is in the person's folder for state, a private file, or in the system's keyring where `guard.key` says so.
Contents and paths are found again by a keyed digest, so that no guessed text can be confirmed by the database alone.
"""

import hmac
import os
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from store.base import installation
from store.base.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

FILE, KEYRING = "file", "keyring"
PLACES = (FILE, KEYRING)
NAME = "guard-key"  # of the file, and of the service in the keyring
BYTES, NONCE = 32, 12
START_OVER = "What was kept cannot be read without it; `memoranda guard off` starts over."


class Sealer:
    """Seals and opens bytes with one key."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(_derived(key, b"content"))
        self._names = _derived(key, b"names")

    def digest(self, content: bytes) -> bytes:
        """Return the digest by which this content is found again: 32 bytes."""
        return hmac.digest(self._names, content, "sha256")

    def seal(self, content: bytes, about: bytes) -> bytes:
        """Return the content packed and encrypted; it opens only with the same `about`."""
        nonce = os.urandom(NONCE)
        return nonce + self._cipher.encrypt(nonce, zlib.compress(content), about)

    def unseal(self, sealed: bytes, about: bytes) -> bytes:
        """Return the content. Raise StorageError where the key or `about` is another, or a byte was changed."""
        try:
            return zlib.decompress(self._cipher.decrypt(sealed[:NONCE], sealed[NONCE:], about))
        except (InvalidTag, ValueError, zlib.error):
            raise StorageError("A kept version cannot be opened: the key is another one, or it is damaged.") from None


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=BYTES, salt=None, info=b"memoranda guard " + purpose).derive(key)


def new_key(place: str, database: str) -> bytes:
    """Create the key of a database and store it in a place of PLACES. Raise StorageError."""
    key = os.urandom(BYTES)
    store_key(place, database, key)
    return key


def find_key(place: str, database: str) -> bytes:
    """Return the key of a database. Raise StorageError where it is gone."""
    try:
        if place == KEYRING:
            found = bytes.fromhex(_keyring().get_password(NAME, database) or "")
        else:
            found = bytes.fromhex(installation.read(_file(database)))
    except ValueError:
        found = b""
    if len(found) != BYTES:
        where = "the system's keyring" if place == KEYRING else os.path.join(installation.folder(), _file(database))
        raise StorageError(f"The key of the kept versions is not in {where}.", START_OVER)
    return found


def drop_key(place: str, database: str) -> None:
    """Delete the key: what it sealed is lost for good."""
    if place == FILE:
        installation.drop(_file(database))
        return
    import keyring.errors

    try:
        _keyring().delete_password(NAME, database)
    except keyring.errors.PasswordDeleteError:
        pass  # it was not there


def store_key(place: str, database: str, key: bytes) -> None:
    """Store the key of a database in a place of PLACES. Raise StorageError."""
    if place == KEYRING:
        ring = _keyring()
        try:
            ring.set_password(NAME, database, key.hex())
            stored = ring.get_password(NAME, database)
        except Exception as error:  # a backend's own: no service on the bus, a prompt that was dismissed
            raise _refused(type(error).__name__) from None
        if stored != key.hex():
            raise _refused("it did not keep it")
    elif not installation.keep(_file(database), key.hex()):
        installation.drop(_file(database))  # it would hold for this process alone
        raise StorageError(installation.trouble(), "Name a folder that can be written in $XDG_STATE_HOME.")


def _refused(why: str) -> StorageError:
    return StorageError(
        f"The system's keyring did not take the key ({why}).", "memoranda config guard.key file keeps it in a file."
    )


def _file(database: str) -> str:
    return installation.name_of(NAME, database)


def _keyring() -> "ModuleType":
    try:
        import keyring
    except ImportError:
        raise StorageError(
            "guard.key is keyring, and the library keyring is not installed.",
            "pip install 'memoranda[keyring]', or: memoranda config guard.key file",
        ) from None
    return keyring
