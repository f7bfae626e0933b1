"""Documents: Markdown files of the project, in chunks that can be found and cited by their lines."""

import json
from collections.abc import Sequence

from store.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Chunk


class Documents:
    """The documents of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def many(self, numbers: Sequence[int]) -> "list[Chunk]":
        """The chunks of these ids that exist, in no particular order."""
        from store.models import Chunk

        rows = self._database.rows(
            "SELECT c.id, d.path, c.first, c.last, c.heading, c.text, d.at FROM chunks c"
            " JOIN documents d ON d.id = c.document_id WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return [Chunk(*row) for row in rows]
