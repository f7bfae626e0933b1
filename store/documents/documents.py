"""`Documents`: the Markdown files of a memory, their chunks and their problems."""

import json
from collections.abc import Sequence

from store.base.cancelling import Cancelled, never
from store.base.errors import InvalidInput, NotFound
from store.database.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from store.base.citations import Citation
    from store.base.models import Chunk
    from store.documents.indexer import Scan
    from store.documents.paths import DocumentRoots


class FileExcerpt:
    """Lines of a document as it is on the disk, `first` to `last` of `total`, counted from 1; `last` is 0 where there
    are none. What looks like a secret is cut from the text, as it is in the index."""

    __slots__ = ("first", "last", "path", "text", "total")

    def __init__(self, path: str, first: int, last: int, total: int, text: str) -> None:
        self.path = path
        self.first = first
        self.last = last
        self.total = total
        self.text = text


def _quiet(done: int, total: int) -> None:
    """Report no progress."""


class Documents:
    """The documents of one memory; without `places` only those in the index."""

    def __init__(self, database: Database, places: "Callable[[], DocumentRoots] | None" = None) -> None:
        self._database = database
        self._find_places = places

    @property
    def places(self) -> "DocumentRoots":
        """The roots of the documents, from the configuration."""
        if self._find_places is None:
            raise RuntimeError("these documents were opened without their places")
        return self._find_places()

    def scan(self, progress: "Callable[[int, int], None]" = _quiet, cancelled: Cancelled = never) -> "Scan":
        """Read the documents that changed since the last scan, and remove those that were deleted.

        `progress` is called with (done, total) files after each batch; what was read when it is cancelled is kept. A
        file that cannot be read is among the `problems` and stops nothing. In a read-only memory nothing happens. Raise
        StorageError when the memory cannot be written.
        """
        from store.documents.indexer import scan

        return scan(self._database, self.places, progress, cancelled)

    def read(self, path: str, first: int = 1, lines: int | None = None) -> FileExcerpt:
        """Return `lines` lines of a document (all that follow, without a number) from line `first` on, as it is on the
        disk now, whether or not the index has it. `path` is as in a citation: below the project's folder, absolute only
        for what is in an extra path.

        Raise InvalidInput for another path or a line that does not exist, NotFound, StorageError (unreadable).
        """
        from store.base.errors import StorageError
        from store.documents.chunking import lines_of
        from store.documents.indexer import redacted
        from store.documents.paths import Unreadable, decoded, read_bytes

        if first < 1 or (lines is not None and lines < 1):
            raise InvalidInput("Lines are counted from 1.", "Ask for one line at least.")
        place = self.places.named(path)
        try:
            raw, _ = read_bytes(place)
            text, _ = decoded(raw)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(
                "There is no such document on the disk.", "`memoranda index documents` reads what there is."
            ) from None
        except Unreadable as error:
            raise StorageError(f"That document cannot be read: {error.message}.") from None
        found = lines_of(redacted(text))
        if first > max(1, len(found)):
            raise InvalidInput(f"That document has {len(found):,} lines.", "Ask for an earlier one.")
        taken = found[first - 1 : None if lines is None else first - 1 + lines]
        return FileExcerpt(path, first, first - 1 + len(taken), len(found), "\n".join(taken))

    def at(self, path: str, line: int) -> "Chunk":
        """Return the chunk that contains this line of a document. Raise NotFound."""
        found = self._covering(path, line, line)
        if not found:
            raise NotFound(
                "No document of this memory has that line.",
                "`memoranda index documents` reads the documents as they are now.",
            )
        return found[0]

    def cited(self, citation: "Citation") -> "Chunk":
        """Return the lines of a citation as the index has them, as a part of the chunk they begin in. Raise
        NotFound."""
        from dataclasses import replace

        path, first = str(citation.target), citation.first
        start = self.at(path, first)
        passages: dict[int, str] = {}
        for chunk in self._covering(path, first, citation.last):
            lines = chunk.text.split("\n")
            if len(lines) == chunk.last - chunk.first + 1 and chunk.first != chunk.last:
                passages.update(zip(range(chunk.first, chunk.last + 1), lines, strict=True))
            else:  # a part of a very long line
                passages[chunk.first] = passages.get(chunk.first, "") + chunk.text
        last = min(citation.last, max(passages))
        whole = "\n".join(passages.get(number, "") for number in range(first, last + 1))
        return replace(start, first=first, last=last, text=whole)

    def problems(self) -> list[tuple[str, str]]:
        """List (path, why) of what the last scan could not read, or only in part."""
        from store.documents.indexer import PROBLEMS

        return [(path, why) for path, why in self._database.rows(PROBLEMS)]

    def count(self) -> int:
        """Return how many documents the index has."""
        number: int = self._database.value("SELECT count(*) FROM documents WHERE digest <> x''")
        return number

    def many(self, numbers: Sequence[int]) -> "list[Chunk]":
        """Return the chunks of these ids that exist, in no particular order."""
        return self._chunks("c.id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),))

    def _covering(self, path: str, first: int, last: int) -> "list[Chunk]":
        """Return the chunks that contain one of these lines, in order."""
        return self._chunks("d.path = ? AND c.last >= ? AND c.first <= ? ORDER BY c.first, c.id", (path, first, last))

    def _chunks(self, where: str, parameters: tuple[object, ...]) -> "list[Chunk]":
        from store.base.models import Chunk

        rows = self._database.rows(
            "SELECT c.id, d.path, c.first, c.last, c.heading, c.text, d.at FROM chunks c"
            f" JOIN documents d ON d.id = c.document_id WHERE {where}",
            parameters,
        )
        return [Chunk(*row) for row in rows]
