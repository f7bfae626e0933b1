"""The project files that a person has allowed to set what has effects outside of the project.

A digest of the file's content is stored, outside of every checkout: a changed file is no longer allowed. Its
permissions prove nothing, since an archive can set them.
"""

from hashlib import sha256

from store.base.installation import drop, keep, name_of, read

KIND = "settings"


def granted(path: str, text: str) -> bool:
    """Return whether the file at `path`, with the content `text`, was allowed."""
    return bool(text) and read(name_of(KIND, path)) == _digest(text)


def grant(path: str, text: str) -> bool:
    """Allow the file with this content; return whether that is stored for longer than this process runs."""
    return keep(name_of(KIND, path), _digest(text))


def revoke(path: str) -> None:
    """Revoke the permission."""
    drop(name_of(KIND, path))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
