"""Which files of projects a person has allowed to set what reaches outside of the project.

Kept is a digest of the file's content, outside of every checkout: a file that says anything else than what was allowed
is not allowed. Its permissions prove nothing, for an archive brings along whatever it likes.
"""

from store.base.hashing import sha256
from store.base.installation import drop, keep, name_of, read

KIND = "settings"


def granted(path: str, text: str) -> bool:
    """Whether the file at `path`, which says `text`, was allowed."""
    return bool(text) and read(name_of(KIND, path)) == _digest(text)


def grant(path: str, text: str) -> bool:
    """Allow the file to say this text; whether that is kept for longer than this process runs."""
    return keep(name_of(KIND, path), _digest(text))


def revoke(path: str) -> None:
    """Allow it no longer."""
    drop(name_of(KIND, path))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
