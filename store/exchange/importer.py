"""Import: a document, or another memory's file, into this memory; previewed first, then applied as one transaction.

Into a memory in which nothing was ever recorded everything is imported unchanged, ids, origins and history with its
chain of digests: exported again it is the same document, byte for byte. Into one that has data the records are merged
by identity (`merge`) as one new step of history, by `import:NAME`, which `undo` undoes; the document's own history and
its checkpoints are not imported. Importing twice changes nothing.
"""

import os

from store.base.errors import Conflict, InvalidInput
from store.database.database import Database, Transaction
from store.exchange.export_reader import open_source
from store.exchange.export_schema import TABLES
from store.exchange.merge import DESCRIPTIVE, ENDS, STATE, STAY, Merge, empty
from store.exchange.staging import NAME, Staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

STRATEGIES = ("mine", "replace")
MERGED = (
    *("facts", "decisions", "commit_links", "tasks", "proposals", "mutes"),
    *("iterations", "commits", "events", "turns", "summaries"),
)
KINDS = {
    "facts": "fact",
    "decisions": "decision",
    "commit_links": "link",
    "tasks": "task",
    "mutes": "mute",
    "proposals": "proposal",
    "iterations": "iteration",
    "commits": "commit",
    "events": "event",
    "turns": "turn",
    "summaries": "summary",
}


class Counts:
    """Counts for one table: rows of the document that are `new` here, the `same`, in another state (`differ`), of which
    `changed` would be updated; and those `left` out, because they were erased here or are not imported."""

    __slots__ = ("changed", "differ", "left", "new", "same")

    def __init__(self, new: int, same: int = 0, differ: int = 0, changed: int = 0, left: int = 0) -> None:
        self.new = new
        self.same = same
        self.differ = differ
        self.changed = changed
        self.left = left

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("new", "same", "differ", "changed", "left")}


class Shown:
    """One record that an import would affect: `sign` is `+` for a new one, `~` for one that would change, `=` for one
    that differs and is kept unchanged; `citation` of one that exists here, else empty."""

    __slots__ = ("citation", "kind", "sign", "title")

    def __init__(self, sign: str, kind: str, citation: str, title: str) -> None:
        self.sign = sign
        self.kind = kind
        self.citation = citation
        self.title = title

    def as_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in ("sign", "kind", "citation", "title")}


class Import:
    """A document that was read whole, beside the memory it is for. Nothing is written until `apply`."""

    def __init__(self, database: Database, path: str, strategy: str = "mine") -> None:
        """Read it. Raise NotFound, BrokenDocument, NewerFile, InvalidInput or StorageError."""
        if strategy not in STRATEGIES:
            raise InvalidInput("There is no such strategy.", f"Choose one of: {', '.join(STRATEGIES)}.")
        database.refuse_unwritable()
        if os.path.exists(path) and os.path.samefile(path, database.path):
            raise InvalidInput("That is this memory itself.", "Name an export, a backup or another memory's file.")
        self.database = database
        self.name = _name(path)
        self._replace = strategy == "replace"
        source = open_source(path)
        self._staged = Staged(database, source)
        self.redacted = self._staged.redacted
        self.ahead = self._staged.ahead
        self.torn = self._staged.torn
        self.counts: dict[str, Counts] = {}
        self.whole = False
        """Whether everything is imported unchanged, history too, into an empty memory."""
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Import":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, traceback: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        self._staged.close()

    @property
    def changes(self) -> int:
        """How many rows would be added or changed."""
        return sum(counts.new + counts.changed for counts in self.counts.values())

    @property
    def origin(self) -> str:
        return f"import:{self.name}"

    def _look(self) -> None:
        """Compute the preview. Each query is its own transaction, since a long read keeps the log from being emptied;
        `apply` computes it again."""
        self.whole, self.counts = self._weigh()

    def _weigh(self) -> tuple[bool, dict[str, Counts]]:
        """Return (whether all of it is imported unchanged, what would happen to each table)."""
        merge = self._merge = Merge(self._staged)
        if empty(self.database) and not self.torn and not merge.any_erased():
            return True, {table: Counts(self._staged.count(table)) for table in TABLES}
        merge.match()
        return False, {
            **{table: self._counted(merge, table) for table in MERGED},
            **{table: Counts(0, left=self._staged.count(table)) for table in STAY},
        }

    def _counted(self, merge: Merge, table: str) -> Counts:
        new, differ = merge.count(merge.fresh(table)), merge.count(merge.differing(table))
        left = merge.left_out(table)
        changed = differ if self._replace and table in STATE else 0
        if not changed and table in ("facts", "decisions"):
            changed = merge.count(merge.superseded(table))
        same = self._staged.count(table) - new - differ - left
        return Counts(new, same, differ, changed, left)

    def records(self, limit: int = 50) -> list[Shown]:
        """List the records that would be added or changed, and those that differ, the first `limit` of each kind of
        each table."""
        shown = []
        for table in MERGED:
            kind, title = KINDS[table], TITLES[table]
            if self.whole:
                titled = f"SELECT {title} FROM {NAME}.{table} AS d LIMIT ?"
                rows = self.database.rows(titled, (limit,))
                shown += [Shown("+", kind, "", str(text)) for (text,) in rows]
                continue
            found = [("+", "NULL", self._merge.fresh(table))]
            if table in ("facts", "decisions") and not self._replace:
                found.append(("~", "m.id", self._merge.superseded(table)))
            if table in STATE or table in DESCRIPTIVE:
                sign = "~" if self._replace and table in STATE else "="
                found.append((sign, "m.id", self._merge.differing(table)))
            for sign, number, which in found:
                number = "NULL" if table in ENDS else number
                rows = self.database.rows(f"SELECT {number}, {title} {which} LIMIT ?", (limit,))
                shown += [Shown(sign, kind, _citation(kind, number), str(text)) for number, text in rows]
        return shown

    def apply(self) -> int | None:
        """Apply the preview, in one transaction; return its step of history (None where there is no new one: into an
        empty memory, or when only the journal grew). Raise Conflict when the memory changed meanwhile."""
        with self.database.write(self.origin, "import") as write:
            whole, counts = self._weigh()
            if whole != self.whole or any(counts[table].as_dict() != self.counts[table].as_dict() for table in counts):
                raise Conflict("The memory changed since this was worked out.", "Nothing was changed; import it again.")
            if whole:
                self._adopt(write)
            else:
                self._merge.apply(write, self._replace, self.origin)
            write.execute(
                "INSERT INTO main.sessions(id, started_at) SELECT session, min(at) FROM main.turns"
                " WHERE session NOT IN (SELECT id FROM main.sessions) GROUP BY session"
            )
        return write.seq

    def _adopt(self, write: Transaction) -> None:
        write.adopt()
        write.execute("PRAGMA defer_foreign_keys = ON")
        for table in TABLES:
            names = ", ".join(column.name for column in self._staged.columns[table])
            write.execute(f"INSERT INTO main.{table}({names}) SELECT {names} FROM {NAME}.{table} ORDER BY line")
        listed = ", ".join(f"'{table}'" for table in TABLES)
        write.execute(f"DELETE FROM main.sqlite_sequence WHERE name IN ({listed})")
        write.execute(f"INSERT INTO main.sqlite_sequence(name, seq) SELECT name, seq FROM {NAME}.sequence")


# a record in a line
TITLES = {
    "facts": "d.fact",
    "decisions": "d.title",
    "commit_links": "d.link_type",
    "tasks": "d.text",
    "mutes": "'of F#' || d.fact_id || ' there'",
    "proposals": "d.text",
    "iterations": "d.command || ' ' || d.description",
    "commits": "substr(d.message, 1, instr(d.message || char(10), char(10)) - 1)",
    "events": "d.event_type",
    "turns": "d.text",
    "summaries": "d.topic",
}


def _citation(kind: str, number: int | None) -> str:
    from store.base.citations import cite

    return "" if number is None or kind == "commit" else cite(kind, number)


def _name(path: str) -> str:
    """Return the name of an import: the file's name without its endings, short, one word."""
    name = os.path.basename(path)
    for ending in (".gz", ".json", ".db"):
        name = name.removesuffix(ending)
    return "-".join(name.split())[:60] or "file"
