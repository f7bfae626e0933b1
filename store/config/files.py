"""The files of settings: read without trust, changed whole or not at all.

A project's file may have come with a checkout, so a symbolic link, another person's file, and one whose mode is not the
0600 we give it are refused. `grants.granted` decides what a private one may set.
"""

import os
import stat
import sys

from store.base.errors import InvalidInput, StorageError
from store.base.location import FOLDER, Location
from store.config.grants import grant, granted
from store.config.settings import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

FILE = "config.toml"
LARGEST = 1_000_000  # bytes


def user_path() -> str:
    """Return the person's own file, in the platform's folder for configuration, as
    `platformdirs.user_config_path("memoranda")` does, whose import costs a hook a sixth of its time."""
    if sys.platform == "darwin" or os.name == "nt":
        from platformdirs import user_config_path

        return str(user_config_path("memoranda", appauthor=False) / FILE)
    root = os.environ.get("XDG_CONFIG_HOME", "").strip()
    if not os.path.isabs(root):
        root = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(root, "memoranda", FILE)


def project_path(location: Location) -> str | None:
    """Return the project's file, beside its memory; None for the personal memory and for one outside of a
    `.memoranda`."""
    folder = os.path.dirname(location.path)
    if location.kind == "personal" or os.path.basename(folder) != FOLDER:
        return None
    return os.path.join(folder, FILE)


def entries(path: str, text: str | None = None) -> "dict[str, Any]":
    """Return the entries of the file (or of `text`, which was read from it), by dotted name; empty if there is none.
    Raise StorageError: unreadable, unsafe, no TOML."""
    return _read(text_of(path) if text is None else text, path)


def put(path: str, name: str, text: str) -> "Any":
    """Write a setting as a person typed it, and return its value. Raise InvalidInput or StorageError."""
    setting = known(name)
    if setting.own and _of_project(path):
        raise InvalidInput(f"{name} {setting.own}, so only your own file sets it.", f"memoranda config {name} VALUE")
    value = setting.parse(text)
    _change(path, name, value)
    return value


def remove(path: str, name: str) -> bool:
    """Remove a setting from the file, a misspelt one too; return whether it was there. Raise StorageError."""
    if name not in entries(path):
        return False
    _change(path, name, None)
    return True


def _of_project(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == FOLDER


def text_of(path: str) -> str:
    """Return the text of the file, empty if there is none. Raise StorageError."""
    link = f"{path} lies behind a symbolic link, and is not read through one."
    own = _of_project(path)
    if own and os.path.islink(os.path.dirname(path)):
        raise StorageError(link, "Put a plain folder there.")
    # not blocking: a pipe of that name would block for ever
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if own else 0)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        if own and os.path.islink(path):
            raise StorageError(link, "Put a plain file there.") from None
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Its settings are not used.") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise StorageError(f"{path} is not a plain file.", "Move it away.")
        if own and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077):
            raise StorageError(
                f"{path} is not private, so a stranger may have written it, as in a checkout; it is not used.",
                "If it is yours, make it so: chmod 600.",
            )
        if status.st_size > LARGEST:
            raise StorageError(f"{path} is larger than a file of settings can be.", "Its settings are not used.")
        with open(handle, "rb", closefd=False) as file:
            return file.read(LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise StorageError(f"{path} is not UTF-8 text.", "Its settings are not used.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Its settings are not used.") from None
    finally:
        os.close(handle)


def _read(text: str, path: str) -> "dict[str, Any]":
    """Parse the text, by dotted name. Raise StorageError, with the line that is wrong."""
    if not text:
        return {}
    import tomllib

    try:
        waiting = [("", tomllib.loads(text))]
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path} is not TOML: {error}.", "Its settings are not used until it is mended.") from None
    found: dict[str, Any] = {}
    while waiting:  # not recursive: a stranger may nest a thousand levels
        start, table = waiting.pop(0)
        for key, value in table.items():
            if isinstance(value, dict):
                waiting.append((f"{start}{key}.", value))
            else:
                found[start + key] = value
    return found


def _change(path: str, name: str, value: object) -> None:
    """Set, or with None remove, one name in the file, and leave the rest unchanged. Raise StorageError."""
    import fcntl

    import tomlkit

    folder = _folder(path)
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two processes that change it at once do so one after the other
            if os.path.islink(path):
                raise StorageError(
                    f"{path} is a symbolic link, and is never written through one.", "Edit the file it leads to."
                )
            text = text_of(path)
            trusted = not text or granted(path, text)
            wanted = _read(text, path)
            try:
                document = tomlkit.parse(text)
                if value is None:
                    del wanted[name]
                    table, key = _spot(document, name)
                    del table[key]
                else:
                    wanted[name] = value
                    table, key = _spot(document, name)
                    table[key] = value
                text = tomlkit.dumps(document)
                exact = _read(text, path) == wanted
            except (ValueError, LookupError, TypeError, RecursionError, StorageError):
                exact = False
            if not exact:
                raise StorageError(f"{path} is written so that one value cannot be changed alone.", "Edit it by hand.")
            _replace(path, text)
            if trusted and _of_project(path):
                grant(path, text)  # all of its content was set here
            os.fsync(lock)
        finally:
            os.close(lock)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Nothing was changed.") from None


def _folder(path: str) -> str:
    """Return the folder of the file, private; the person's own is created. Raise StorageError."""
    folder = os.path.dirname(path)
    if _of_project(path):
        if not os.path.isdir(folder):
            raise StorageError("This project has no memory yet, and its settings lie beside it.", "memoranda init")
        return folder
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.islink(folder):
            os.chmod(folder, 0o700)
    except OSError as error:
        raise StorageError(f"The folder {folder} cannot be made: {error.strerror}.", "Nothing was changed.") from None
    return folder


def _spot(table: "MutableMapping[str, Any]", name: str) -> "tuple[MutableMapping[str, Any], str]":
    """Return (table, key) where a dotted name is, or else belongs: `keys.a.b` as "a.b" in the table `keys`."""
    at, rest = table, name
    while rest not in at or isinstance(at[rest], dict):
        inner = [key for key in at if rest.startswith(f"{key}.") and isinstance(at[key], dict)]
        if not inner:
            break
        at, rest = at[inner[0]], rest[len(inner[0]) + 1 :]
    head, dot, tail = name.partition(".")
    if at is not table or not dot or head in table or name in table:
        return at, rest
    table[head] = {}
    return table[head], tail


def _replace(path: str, text: str) -> None:
    """Write the whole text beside the file, private, then rename it into its place."""
    part = f"{path}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        if os.path.lexists(part):
            os.unlink(part)
        raise
