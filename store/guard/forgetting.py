"""Words that are purged, in what is kept: find them, and cut them out of each version. The tool's own files stay."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from store.documents.paths import Unreadable, decoded
from store.guard import files, versions
from store.guard.database import KeptVersions
from store.guard.files import Guarded


@dataclass(frozen=True, slots=True)
class KeptContent:
    """A version: of which file, its number, its bytes, and whether it is what was there at the last look."""

    number: int
    file: Guarded
    version: int
    raw: bytes
    now: bool

    @property
    def text(self) -> str | None:
        """Its text; None for what is no Markdown in UTF-8, which cannot be cut."""
        if not self.file.path.endswith(files.SUFFIX):
            return None
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            return None

    @property
    def readable(self) -> str:
        """What can be read of it, to look for words in it."""
        try:
            return decoded(self.raw)[0]
        except Unreadable:
            return self.raw.decode("utf-8", "replace")


def contents(kept: KeptVersions) -> Iterator[KeptContent]:
    """Yield every version, one at a time. Raise StorageError where one cannot be opened."""
    rows = kept.rows(
        "SELECT f.id, f.tool, f.digest, f.path, v.id, v.id IS f.version FROM versions v JOIN files f ON f.id = v.file"
        " WHERE NOT v.erased ORDER BY f.id, v.id"
    )
    for number, tool, digest, sealed, version, now in rows:
        file = Guarded(tool, versions.path_of(kept, digest, sealed))
        yield KeptContent(number, file, version, versions.content(kept, version), bool(now))


def cut(
    kept: KeptVersions,
    paths: Collection[str],
    holds: Callable[[KeptContent], bool],
    named: Callable[[str], bool],
    without: Callable[[str], str],
) -> None:
    """Cut words out of the versions of these files that hold them: out of a text what `without` leaves out; any other
    version is erased, and a file that is `named` so is forgotten."""
    with kept.connection:
        for one in contents(kept):
            if one.file.path not in paths or not holds(one):
                continue
            if named(one.file.path):
                kept.connection.execute("UPDATE files SET version = NULL WHERE id = ?", (one.number,))
                kept.connection.execute("DELETE FROM changes WHERE file = ?", (one.number,))
            elif (text := one.text) is None:
                versions.erase(kept, one.version)
            else:
                versions.replace(kept, one.number, one.version, without(text).encode())
        kept.connection.execute("DELETE FROM moments WHERE id NOT IN (SELECT moment FROM changes)")
        versions.sweep(kept)
    kept.connection.execute("VACUUM")
