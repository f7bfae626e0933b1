"""Import: a document, or another memory's file, into this memory; previewed first, then applied as one transaction.

Into a memory in which nothing was ever recorded everything is imported unchanged, ids, origins and history with its
chain of digests: exported again it is the same document, byte for byte. Into one that has data the records are merged
by identity (`ImportMerge`) as one new step of history, by `import:NAME`, which `undo` undoes; its history and its
checkpoints are not imported. Importing twice changes nothing.

What this installation wrote keeps its origins and what a person approved. Of another one's file, what a person wrote or
approved there is of `import:NAME`, and what an agent wrote stays unconfirmed, as of `mcp:AGENT@NAME`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from types import TracebackType
from typing import Any

import apsw

from store.base.citations import cite, find_citations
from store.base.errors import Conflict, InvalidInput, StorageError
from store.base.vocabulary import CITATION_LETTERS, KIND_BY_TABLE
from store.database.change_capture import encode_for_hash
from store.database.connection import explain_sqlite_error
from store.database.database import Database, Transaction
from store.database.files import create_private_file
from store.database.schema import SCHEMA_VERSION
from store.database.tombstones import make_tombstone_test
from store.database.values import Verbatim
from store.exchange.export_reader import (
    ExportDocument,
    InvalidValue,
    MemoryFile,
    RowValidator,
    open_import_source,
)
from store.exchange.export_schema import EXPORT_TABLES, ExportColumn, export_columns
from store.history.history import find_approved_ids
from store.records.table import cite_all, require_one_of

# A document's rows beside the memory: checked, redacted, in a private scratch database.
#
# Nothing is decided before a whole document is staged, its references resolve and its checksums are right. The scratch
# file is private, unlinked as soon as it is open (a killed process leaves nothing), and of any size.


# what must be unique in a table, besides its primary key
UNIQUE_COLUMNS = {"commits": ("sha",), "turns": ("session", "number"), "summaries": ("session", "first")}


class StagedDocument:
    """A document's rows, attached to a memory's connection as `staged`; to be closed."""

    def __init__(self, database: Database, source: ExportDocument | MemoryFile) -> None:
        """Read all of it. Raise BrokenDocument, NewerFile or StorageError."""
        self.database = database
        self.source = source
        self.columns: dict[str, tuple[ExportColumn, ...]] = {
            table: export_columns(database.connection, table) for table in EXPORT_TABLES
        }
        # by table, column and rule
        self.redacted: dict[tuple[str, str, str], int] = {}
        self.ahead: dict[str, int] = {}
        """How many rows of a table have a time in the future."""
        self.torn = ""
        """Where the document's history is inconsistent; empty if it is not."""
        self._chain = _DigestChain()
        self._connection = database.connection
        try:
            self._attach_scratch()
            self._connection.execute("PRAGMA staged.journal_mode = OFF")
            self._connection.execute("PRAGMA staged.synchronous = OFF")
            self._connection.execute("CREATE TABLE staged.sequence(name TEXT PRIMARY KEY, seq INTEGER)")
            self._stage_rows()
            for table in EXPORT_TABLES:
                # they were checked while they were read
                if table not in ("history", "history_row"):
                    self._index_key(table)
            self._check_references()
        except apsw.Error as error:
            self.close()
            raise explain_sqlite_error(error, database.path) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Detach the scratch database. An error of the disk here was reported before, or comes after all is done."""
        try:
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
            self._detach_scratch()
        except apsw.Error:
            # the file has no name any more, and the next import detaches it first
            pass

    def _detach_scratch(self) -> None:
        """Detach the scratch database if it is attached."""
        if self._connection.execute("SELECT 1 FROM pragma_database_list WHERE name = 'staged'").get:
            self._connection.execute("DETACH staged")

    def count_staged(self, table: str) -> int:
        """Return how many rows of a table are staged."""
        return self.database.number(f"SELECT count(*) FROM staged.{table}")

    def _attach_scratch(self) -> None:
        """Create a private file, attach it and unlink it at once. Raise StorageError."""
        path = os.path.join(os.path.dirname(self.database.path), f".import-{os.urandom(6).hex()}")
        self._detach_scratch()
        try:
            create_private_file(path)
            try:
                self._connection.execute("ATTACH ? AS staged", (path,))
                # this opens it
                self._connection.execute("SELECT 1 FROM staged.sqlite_schema").fetchall()
            finally:
                os.unlink(path)
        except OSError as error:
            folder = os.path.dirname(path)
            raise StorageError(
                f"Nothing can be written to {folder}: {error.strerror}.", "Nothing was changed."
            ) from None

    def _stage_rows(self) -> None:
        """Read the whole document into the scratch database."""
        connection = self._connection
        for table, columns in self.columns.items():
            names = ", ".join(f"{column.name} {column.kind}" for column in columns)
            connection.execute(f"CREATE TABLE staged.{table}(line INTEGER PRIMARY KEY, {names})")
        connection.execute("BEGIN")
        for table, rows in self.source.sections():
            columns = self.columns[table]
            marks = ", ".join("?" * (len(columns) + 1))
            connection.executemany(
                f"INSERT INTO staged.{table} VALUES ({marks})", self._validate_rows(table, rows)
            )
            if table in ("history", "history_row"):
                self._index_key(table)
        connection.execute("CREATE INDEX staged.history_row_pk ON history_row(tbl, pk)")
        connection.executemany("INSERT INTO staged.sequence VALUES (?, ?)", self.source.sequence.items())
        connection.execute("COMMIT")

    def _validate_rows(self, table: str, rows: Iterator[tuple[int, Any]]) -> Iterator[list[Any]]:
        """Yield the rows of a table, validated and redacted. Raise BrokenDocument."""
        check = RowValidator(table, self.columns[table], 0 < self.source.schema < SCHEMA_VERSION)
        moments = [place for place, column in enumerate(check.columns) if column.is_moment]
        now = self.database.clock()
        ahead = 0
        for number, pairs in rows:
            try:
                row = check.validate_row(pairs)
            except InvalidValue as error:
                raise self.source.error(f"{table}, row {number}: {error}") from None
            if table in ("history", "history_row") and not self.torn:
                self.torn = self._chain.verify_row(self._connection, table, check.names, pairs, row)
            if any(row[place] is not None and row[place] > now for place in moments):
                ahead += 1
            yield [number, *row]
        self.redacted.update(check.redacted)
        if ahead:
            self.ahead[table] = ahead

    def _index_key(self, table: str) -> None:
        """Create the index of a table's key. Raise BrokenDocument where two rows have the same."""
        keys = [column.name for column in sorted(self.columns[table], key=lambda column: column.key) if column.key]
        for names in (keys, UNIQUE_COLUMNS.get(table)):
            if not names:
                continue
            listed = ", ".join(names)
            twice = self._connection.execute(
                f"SELECT max(line) FROM staged.{table} GROUP BY {listed} HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
            ).get
            if twice is not None:
                raise self.source.error(f"{table}, row {twice}: another row has the same {' and '.join(names)}")
            self._connection.execute(f"CREATE UNIQUE INDEX staged.{table}_{names[0]} ON {table}({listed})")

    def _check_references(self) -> None:
        """Raise BrokenDocument where a row refers to one that does not exist; record a history that breaks off."""
        for table in EXPORT_TABLES:
            for column, parent in self.database.rows(
                'SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)
            ):
                if parent not in EXPORT_TABLES:
                    continue
                key = next(other.name for other in self.columns[parent] if other.key == 1)
                line = self.database.value(
                    f"SELECT min(line) FROM staged.{table} AS c WHERE {column} IS NOT NULL"
                    f" AND NOT EXISTS (SELECT 1 FROM staged.{parent} AS p WHERE p.{key} = c.{column})"
                )
                if line is not None:
                    raise self.source.error(f"{table}, row {line}: {column} refers to a row that is not there")
        self.torn = self.torn or self._chain.finish_step(self._connection) or find_lost_rows(self._connection)
        for table in EXPORT_TABLES:
            key = next((column.name for column in self.columns[table] if column.name in ("id", "seq")), "")
            if not key:
                continue
            highest = self.database.number(f"SELECT max({key}) FROM staged.{table}")
            if highest > (self.source.sequence.get(table) or 0) and table in self.source.sequence:
                raise self.source.error(f"the sequence of {table} is behind its rows")


class _DigestChain:
    """Verify the digests of a document's history, step by step and row by row, and compute those of the stored rows,
    which differ only where a word of a step's own line was redacted."""

    def __init__(self) -> None:
        self._read = self._made = b""
        # the step whose rows are being read
        self._seq = 0
        self._leaves = sha256()
        self._count = 0

    def verify_row(
        self, connection: apsw.Connection, table: str, names: tuple[str, ...], pairs: Any, row: list[Any]
    ) -> str:
        """Check one row, and compute the new digest of the header of a step; return what does not fit, else an empty
        text."""
        raw, kept = dict(pairs), dict(zip(names, row, strict=True))
        try:
            if table != "history":
                return self._verify_history_row(connection, raw, kept)
            self._read = _step_digest(self._read, raw, kept["rows_root"])
            self._made = row[names.index("digest")] = _step_digest(self._made, kept, kept["rows_root"])
            return "" if self._read == kept["digest"] else f"step {kept['seq']}"
        except UnicodeEncodeError:  # an unpaired surrogate
            return f"step {kept['seq']}"

    def _verify_history_row(self, connection: apsw.Connection, raw: dict[str, Any], kept: dict[str, Any]) -> str:
        """Check a row of a step against its leaf; return what does not fit, else an empty text."""
        if kept["seq"] != self._seq:
            if torn := self.finish_step(connection):
                return torn
            self._seq, self._leaves, self._count = kept["seq"], sha256(), 0
        self._leaves.update(kept["leaf"])
        self._count += 1
        # purged
        if raw["salt"] is None:
            return ""
        words = [raw[name] for name in ("tbl", "pk", "op", "indirect", "before", "after")]
        same = sha256(bytes.fromhex(raw["salt"]) + encode_for_hash(*words)).digest() == kept["leaf"]
        return "" if same else f"row {kept['n']} of step {self._seq}"

    def finish_step(self, connection: apsw.Connection) -> str:
        """Compare the rows of the finished step with its header; return what differs, else an empty text."""
        if self._seq:
            stored = connection.execute(
                "SELECT rows_root, changes FROM staged.history WHERE seq = ?", (self._seq,)
            ).get
            if stored is None or stored[0] != self._leaves.digest() or stored[1] != self._count:
                return f"the rows of step {self._seq}"
        return ""


def _step_digest(previous: bytes, step: dict[str, Any], rows_root: bytes) -> bytes:
    """Return the digest of a step's header, chained to the one before. Raise UnicodeEncodeError."""
    head = [step[name] for name in ("seq", "at", "actor", "door", "reason", "undoes", "changes")]
    return sha256(previous + encode_for_hash(*head) + rows_root).digest()


def find_lost_rows(connection: apsw.Connection) -> str:
    """Return the first step of the staged history that has lost all its rows; an empty text if none has."""
    lost = connection.execute(
        "SELECT seq FROM staged.history AS h WHERE changes > 0"
        " AND NOT EXISTS (SELECT 1 FROM staged.history_row AS r WHERE r.seq = h.seq) ORDER BY seq LIMIT 1"
    ).get
    return f"the rows of step {lost}" if lost is not None else ""


# Merge by identity: which rows of a document exist here already, and what happens to the others.
#
# The same id means another record in another file, so a record is identified by what never changes in it: a fact by
# its text and time, a decision by title, choice and time, a task by text and time, a commit by its sha, a turn by
# session and number, an iteration by command, description and start, an event by all its columns. Of several equal
# ones the first matches the first. An active fact with the text of another active fact of this memory is that one,
# as when it is remembered again. Every other row gets a new id, and all references to it follow: supersedes,
# iterations, links, and the citations in a fact's evidence. Citations inside people's own sentences are not changed.
#
# History and checkpoints describe the other file's steps and are not imported.

# table → columns that identify a record; narrower first, so that of several equal ones those in the same state match
IDENTITY_COLUMNS = {
    "iterations": ("command, description, started_at, status", "command, description, started_at"),
    "commits": ("sha",),
    "facts": ("text_hash, created_at, status", "text_hash, created_at"),
    "decisions": ("title, chosen, decided_at, status", "title, chosen, decided_at"),
    "tasks": ("text, created_at, status", "text, created_at"),
    "proposals": ("kind, text, created_at, state", "kind, text, created_at"),
    "events": ("event_type, phase, payload, created_at",),
    "turns": ("session, number",),
    "summaries": ("session, first",),
}
# rows identified by the records they connect: table → its columns, and the table that each refers to
END_COLUMNS = {
    "commit_links": {"commit_id": "commits", "decision_id": "decisions"},
    "mutes": {"fact_id": "facts"},
}
UNMERGED_TABLES = ("checkpoints", "history", "history_row")
# what may differ in an existing record, and is updated with the strategy `replace`
STATE_COLUMNS = {
    "facts": tuple("domain confidence source scope status last_confirmed_at importance pinned tags".split()),
    "decisions": ("context", "alternatives", "rationale", "impact", "phase", "status", "tags"),
    "tasks": ("status", "updated_at", "tags"),
    "proposals": ("state", "decided_at"),
    "commit_links": ("link_type",),
}
# what may differ in the journal, and is only reported: a journal is not rewritten
DESCRIPTIVE_COLUMNS = {
    "iterations": ("status",),
    "turns": ("role", "speaker", "text"),
    "summaries": ("topic", "outcome"),
}
REFERENCE_COLUMNS = {"supersedes": "", "iteration_id": "iterations", "target": "facts", "made": "facts"}
# the text shown for a record, and the text of its tombstone
TEXT_SQL = {
    "facts": "fact",
    "decisions": "title || char(10) || chosen",
    "tasks": "text",
    "proposals": "text",
    "iterations": "description",
    "turns": "text",
    "summaries": "topic",
    "commits": "message",
    "events": "event_type",
}
# which rows no person wrote, or confirmed if they are decisions; who approved the others `find_approved_ids` tells
_BY_OTHERS = "origin <> 'user' AND origin NOT GLOB 'import:*'"
UNCONFIRMED_SQL = {
    "facts": f"{_BY_OTHERS} AND NOT (origin GLOB 'talk:*' AND source = 'explicit')",
    "tasks": f"{_BY_OTHERS} AND origin NOT GLOB 'talk:*'",
    "decisions": f"{_BY_OTHERS} AND origin NOT GLOB 'talk:*' AND confirmed_at IS NULL",
}
CITED_TABLES = {kind: table for table, kind in KIND_BY_TABLE.items() if table in IDENTITY_COLUMNS}


class ImportMerge:
    """The mapping of a staged document's rows to rows here; computed again in the transaction that applies it."""

    def __init__(self, staged: StagedDocument) -> None:
        self._database: Database = staged.database
        self._connection = staged.database.connection
        self._staged = staged
        self._buried = make_tombstone_test(staged.database)
        for table in IDENTITY_COLUMNS:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS staged.map_{table}"
                "(theirs INTEGER PRIMARY KEY, ours INTEGER UNIQUE, fresh INTEGER)"
            )

    def match_rows(self) -> None:
        """Map each row to its id here: `ours` is the id, `fresh` whether it is new. A text that was erased here gets no
        id."""
        self._connection.create_scalar_function("erased", self._is_erased, 1)
        for table, passes in IDENTITY_COLUMNS.items():
            self._connection.execute(f"DELETE FROM staged.map_{table}")
            for key in passes:
                self._pair_rows(table, key)
            if table == "facts":
                self._match_repeated_facts()
            self._assign_ids(table)

    def has_erased_text(self) -> bool:
        """Tell whether a staged text was erased here."""
        if not self._database.value("SELECT EXISTS (SELECT 1 FROM tombstones)"):
            return False
        self._connection.create_scalar_function("erased", self._is_erased, 1)
        return any(
            self._database.value(f"SELECT 1 FROM staged.{table} WHERE erased({text}) LIMIT 1")
            for table, text in TEXT_SQL.items()
        )

    def _is_erased(self, *values: Any) -> int:
        """Tell SQLite whether a text was erased here."""
        return int(self._buried(str(values[0])))

    def _pair_rows(self, table: str, key: str) -> None:
        """Map the rows that have equal values in these columns, in the order of their ids."""
        names = key.split(", ")
        same = " AND ".join(f"d.{name} = m.{name}" for name in names)

        def numbered(schema: str, known: str) -> str:
            return (
                f"SELECT id, {key}, row_number() OVER (PARTITION BY {key} ORDER BY id) AS n FROM {schema}.{table}"
                f" WHERE id NOT IN (SELECT {known} FROM staged.map_{table})"
            )

        self._connection.execute(
            f"INSERT INTO staged.map_{table} SELECT d.id, m.id, 0"
            f" FROM ({numbered('staged', 'theirs')}) AS d JOIN "
            f"({numbered('main', 'ours')}) AS m ON {same} AND d.n = m.n"
        )

    def _match_repeated_facts(self) -> None:
        """Map active facts to the active fact here that has the same text; of several only the first."""
        self._connection.execute(
            "INSERT INTO staged.map_facts SELECT min(d.id), m.id, 0 FROM staged.facts AS d"
            " JOIN (SELECT min(id) AS id, text_hash FROM main.facts WHERE status = 'active' GROUP BY text_hash) AS m"
            " ON m.text_hash = d.text_hash"
            " WHERE d.status = 'active' AND d.id NOT IN (SELECT theirs FROM staged.map_facts)"
            " AND m.id NOT IN (SELECT ours FROM staged.map_facts) GROUP BY m.id"
        )

    def _assign_ids(self, table: str) -> None:
        """Assign new ids to the rest, in the order of their old ones."""
        base = self._database.value(
            f"SELECT max(coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = '{table}'), 0),"
            f" coalesce((SELECT max(id) FROM main.{table}), 0))"
        )
        text = TEXT_SQL[table]
        self._connection.execute(
            f"INSERT INTO staged.map_{table} SELECT id, iif(gone, NULL, "
            "? + sum(NOT gone) OVER (ORDER BY id)), NOT gone"
            f" FROM (SELECT id, erased({text}) AS gone FROM staged.{table}"
            f" WHERE id NOT IN (SELECT theirs FROM staged.map_{table}))",
            (base,),
        )

    # what there is to do, as SQL over the staged rows, `d`

    def new_rows_sql(self, table: str) -> str:
        """Return FROM and WHERE of the rows that do not exist here."""
        if table in END_COLUMNS:
            there = " AND ".join(f"{column}_here.ours IS NOT NULL" for column in END_COLUMNS[table])
            return (
                f"{_mapped_ends_sql(table)} WHERE {there} AND NOT EXISTS (SELECT 1 FROM "
                f"main.{table} AS m WHERE {_same_ends_sql(table)})"
            )
        return f"FROM staged.{table} AS d JOIN staged.map_{table} AS o ON o.theirs = d.id WHERE o.fresh"

    def differing_rows_sql(self, table: str) -> str:
        """Return FROM and WHERE of the rows that exist here, `m`, in another state."""
        names = STATE_COLUMNS.get(table) or DESCRIPTIVE_COLUMNS.get(table) or ()
        if not names:
            return f"FROM staged.{table} AS d WHERE false"
        other = " OR ".join(f"d.{name} IS NOT m.{name}" for name in names)
        if table in END_COLUMNS:
            return f"{_mapped_ends_sql(table)} JOIN main.{table} AS m ON {_same_ends_sql(table)} WHERE {other}"
        return (
            f"FROM staged.{table} AS d JOIN "
            f"staged.map_{table} AS o ON o.theirs = d.id AND NOT o.fresh"
            f" JOIN main.{table} AS m ON m.id = o.ours WHERE {other}"
        )

    def superseded_rows_sql(self, table: str) -> str:
        """Return FROM and WHERE of the active records here, `m`, that a new record supersedes."""
        return (
            f"FROM staged.{table} AS d JOIN staged.map_{table} AS o ON o.theirs = d.id AND o.fresh"
            f" JOIN staged.{table} AS old ON old.id = d.supersedes AND old.status = 'superseded'"
            f" JOIN staged.map_{table} AS was ON was.theirs = old.id AND NOT was.fresh"
            f" JOIN main.{table} AS m ON m.id = was.ours AND m.status = 'active' WHERE true"
        )

    def count_rows(self, which: str) -> int:
        """Return how many rows a FROM and WHERE find."""
        return self._database.number(f"SELECT count(*) {which}")

    def count_left_out(self, table: str) -> int:
        """Return how many rows were erased here, or summarise an erased row."""
        if table in END_COLUMNS:
            gone = " OR ".join(f"{column}_here.ours IS NULL" for column in END_COLUMNS[table])
            return self.count_rows(f"{_mapped_ends_sql(table)} WHERE {gone}")
        return self.count_rows(f"FROM staged.map_{table} WHERE ours IS NULL")

    # apply

    def merge_rows(self, write: Transaction, replace: bool, origin: str) -> None:
        """Add the rows that do not exist here, and with `replace` update the states that differ. The new records'
        origin is `origin`, unless this installation wrote the document: another's claim about who wrote it is not
        trusted."""

        def followed(*values: Any) -> str:
            return self._follow_list(str(values[0]), origin.partition(":")[2])

        self._connection.create_scalar_function("followed", followed, 1)
        write.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("facts", "decisions"):
            write.execute(
                f"UPDATE main.{table} SET status = 'superseded' WHERE id IN "
                f"(SELECT m.id {self.superseded_rows_sql(table)})"
            )
        if replace:
            for table, names in STATE_COLUMNS.items():
                self._update_states(write, table, names)
        for table in MERGED_TABLES:
            self._insert_rows(write, table, origin)

    def find_new_numbers(self) -> dict[str, str]:
        """Return the citation of each mapped record that has another number here, and that one."""
        return {
            cite(kind, theirs): cite(kind, ours)
            for kind, table in CITED_TABLES.items()
            if kind != "commit"
            for theirs, ours in self._database.rows(
                f"SELECT theirs, ours FROM staged.map_{table} WHERE ours <> theirs ORDER BY theirs"
            )
        }

    def _update_states(self, write: Transaction, table: str, names: tuple[str, ...]) -> None:
        """Update the state of existing records to the document's."""
        changed = ", ".join(names)
        values = ", ".join(f"d.{name}" for name in names)
        ends = END_COLUMNS.get(table, {})
        keys = ", ".join(f"{column}_here.ours AS {column}_ours" for column in ends) or "o.ours AS ours"
        same = " AND ".join(f"{column} = {column}_ours" for column in ends) or "id = ours"
        write.execute(
            f"UPDATE main.{table} SET ({changed}) = ({', '.join(f'new.{name}' for name in names)})"
            f" FROM (SELECT {keys}, {values} {self.differing_rows_sql(table)}) AS new WHERE {same}"
        )

    def _insert_rows(self, write: Transaction, table: str, origin: str) -> None:
        """Insert the rows of a table that do not exist here, with their new ids."""
        unconfirmed = self._find_unconfirmed(write, table) if table in UNCONFIRMED_SQL else []
        # only one at a time can be active
        active = "d.status = 'active' AND EXISTS (SELECT 1 FROM main.iterations WHERE status = 'active')"
        known = "id" if table in UNCONFIRMED_SQL else "origin"
        changed = {
            "id": "o.ours",
            "origin": f"iif(d.{known} IN (SELECT value FROM json_each((SELECT ids FROM given))),"
            " iif(d.origin GLOB 'hook:*', '', 'mcp:') || replace(d.origin, 'mcp:', '')"
            " || (SELECT place FROM given),"
            " (SELECT origin FROM given))",
            "evidence": "followed(d.evidence)",
            "others": "followed(d.others)",
            **{
                name: f"(SELECT ours FROM staged.map_{parent or table} WHERE theirs = d.{name})"
                for name, parent in REFERENCE_COLUMNS.items()
            },
            **{name: f"{name}_here.ours" for name in END_COLUMNS.get(table, ())},
        }
        if table == "iterations":
            changed["status"] = f"iif({active}, 'abandoned', d.status)"
            changed["completed_at"] = f"iif({active}, (SELECT now FROM given), d.completed_at)"
        if self._staged.source.own:
            del changed["origin"]
        names = [column.name for column in self._staged.columns[table]]
        write.execute(
            f"WITH given(origin, place, now, ids) AS (VALUES (?, ?, ?, ?))"
            f" INSERT INTO main.{table}({', '.join(names)})"
            f" SELECT {', '.join(changed.get(name, f'd.{name}') for name in names)}"
            f" {self.new_rows_sql(table)}"
            f"{'' if table in END_COLUMNS else ' ORDER BY o.ours'}",
            (origin, f"@{origin.partition(':')[2]}", write.at, Verbatim(json.dumps(unconfirmed))),
        )

    def _find_unconfirmed(self, write: Transaction, table: str) -> list[int]:
        """Return the staged rows that no person wrote or approved there. What a person approved in a memory of this
        installation is cited as the reason, since its history is not imported."""
        ids = write.column(f"SELECT id FROM staged.{table} WHERE {UNCONFIRMED_SQL[table]}")
        if table == "decisions" or self._staged.torn:
            return ids
        approved = find_approved_ids(self._database, table, ids, "staged")
        if self._staged.source.own and approved:
            ours = write.column(
                f"SELECT ours FROM staged.map_{table} WHERE fresh AND theirs IN (SELECT value FROM json_each(?))",
                (Verbatim(json.dumps(list(approved))),),
            )
            write.reason = " ".join([write.reason, *cite_all(KIND_BY_TABLE[table], ours)])
        return [number for number in ids if number not in approved]

    def _follow_list(self, text: str, name: str) -> str:
        """Return a list of citations with the ids that their records have here. A citation of a record that is not
        here is written with the name of its file, `notes/K#3`, so that it never refers to another record."""
        if "#" not in text:
            return text
        return json.dumps(
            [self._follow_item(item, name) for item in json.loads(text)],
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def _follow_item(self, item: Any, name: str) -> Any:
        """Return a citation, or an object that has one, with the id that its record has here."""
        if isinstance(item, dict):
            return {**item, "citation": self._follow_text(str(item.get("citation", "")), name)}
        return self._follow_text(item, name)

    def _follow_text(self, item: str, name: str) -> str:
        """Return a text whose citations have the ids of the records here."""
        parts, end = [], 0
        for start, stop, citation in find_citations(item):
            if citation.kind in ("commit", "document"):
                continue
            ours = None
            if citation.kind in CITED_TABLES:
                ours = self._connection.execute(
                    f"SELECT ours FROM staged.map_{CITED_TABLES[citation.kind]} WHERE theirs = ?",
                    (citation.target,),
                ).get
            here = (
                f"{name}/{CITATION_LETTERS[citation.kind]}#{citation.target}"
                if ours is None
                else cite(citation.kind, ours)
            )
            parts += [item[end:start], here]
            end = stop
        return "".join([*parts, item[end:]])


def _mapped_ends_sql(table: str) -> str:
    """Return FROM of the staged rows of a table identified by its ends, each end with its id here."""
    joins = [
        f"JOIN staged.map_{parent} AS {column}_here ON {column}_here.theirs = d.{column}"
        for column, parent in END_COLUMNS[table].items()
    ]
    return f"FROM staged.{table} AS d {' '.join(joins)}"


def _same_ends_sql(table: str) -> str:
    """Return SQL for the row here, `m`, that has the same ends."""
    return " AND ".join(f"m.{column} = {column}_here.ours" for column in END_COLUMNS[table])


def is_memory_empty(database: Database) -> bool:
    """Tell whether nothing was ever recorded in this memory."""
    return not any(database.value(f"SELECT 1 FROM main.{table} LIMIT 1") for table in EXPORT_TABLES)


NUMBERS_KEY = (
    # in `meta`, by a digest of the file's path: its old numbers and those that they have here
    "imported."
)
IMPORT_STRATEGIES = ("mine", "replace")
MERGED_TABLES = (
    *("facts", "decisions", "commit_links", "tasks", "proposals", "mutes"),
    *("iterations", "commits", "events", "turns", "summaries"),
)


@dataclass(slots=True)
class ImportCounts:
    """Counts for one table: rows of the document that are `new` here, the `same`, in another state (`differ`), of which
    `changed` would be updated; and those `left` out, because they were erased here or are not imported."""

    new: int
    same: int = 0
    differ: int = 0
    changed: int = 0
    left: int = 0


@dataclass(slots=True, eq=False, repr=False)
class AffectedRecord:
    """One record that an import would affect: `sign` is `+` for a new one, `~` for one that would change, `=` for one
    that differs and is kept unchanged; `citation` of one that exists here, else empty."""

    sign: str
    kind: str
    citation: str
    title: str


class Import:
    """A document that was read whole, beside the memory it is for. Nothing is written until `apply`."""

    def __init__(self, database: Database, path: str, strategy: str = "mine") -> None:
        """Read it. Raise NotFound, BrokenDocument, NewerFile, InvalidInput or StorageError."""
        require_one_of("strategy", strategy, IMPORT_STRATEGIES)
        database.refuse_unwritable()
        if os.path.exists(path) and os.path.samefile(path, database.path):
            raise InvalidInput("That is this memory itself.", "Name an export, a backup or another memory's file.")
        self.database = database
        name = os.path.basename(path)
        for ending in (".gz", ".json", ".db"):
            name = name.removesuffix(ending)
        self.name = "-".join(name.split())[:60] or "file"
        self._replace = strategy == "replace"
        self._staged = StagedDocument(database, open_import_source(path))
        self.redacted = self._staged.redacted
        self.ahead = self._staged.ahead
        self.torn = self._staged.torn
        self.counts: dict[str, ImportCounts] = {}
        self.numbers: dict[str, str] = {}
        """The citation of each record that is here by another number, or will be, and that one."""
        self.whole = False
        """Whether everything is imported unchanged, history too, into an empty memory."""
        try:
            # each query is its own transaction, since a long read keeps the log from being emptied
            self.whole, self.counts = self._count_changes()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Import:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
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

    def _count_changes(self) -> tuple[bool, dict[str, ImportCounts]]:
        """Return whether everything is imported unchanged, and what would happen to each table."""
        merge = self._merge = ImportMerge(self._staged)
        if is_memory_empty(self.database) and not self.torn and not merge.has_erased_text():
            return True, {table: ImportCounts(self._staged.count_staged(table)) for table in EXPORT_TABLES}
        merge.match_rows()
        self.numbers = merge.find_new_numbers()
        return False, {
            **{table: self._count_table(merge, table) for table in MERGED_TABLES},
            **{table: ImportCounts(0, left=self._staged.count_staged(table)) for table in UNMERGED_TABLES},
        }

    def _count_table(self, merge: ImportMerge, table: str) -> ImportCounts:
        """Count what would happen to the rows of one table."""
        new, differ = (
            merge.count_rows(merge.new_rows_sql(table)),
            merge.count_rows(merge.differing_rows_sql(table)),
        )
        left = merge.count_left_out(table)
        changed = differ if self._replace and table in STATE_COLUMNS else 0
        if not changed and table in ("facts", "decisions"):
            changed = merge.count_rows(merge.superseded_rows_sql(table))
        same = self._staged.count_staged(table) - new - differ - left
        return ImportCounts(new, same, differ, changed, left)

    def list_records(self, limit: int = 50) -> list[AffectedRecord]:
        """List the records that would be added or changed, and those that differ, the first `limit` of each kind of
        each table."""
        shown = []
        for table in MERGED_TABLES:
            kind, title = KIND_BY_TABLE[table], TITLE_SQL[table]
            if self.whole:
                titled = f"SELECT {title} FROM staged.{table} AS d LIMIT ?"
                rows = self.database.rows(titled, (limit,))
                shown += [AffectedRecord("+", kind, "", str(text)) for (text,) in rows]
                continue
            found = [("+", "NULL", self._merge.new_rows_sql(table))]
            if table in ("facts", "decisions") and not self._replace:
                found.append(("~", "m.id", self._merge.superseded_rows_sql(table)))
            if table in STATE_COLUMNS or table in DESCRIPTIVE_COLUMNS:
                sign = "~" if self._replace and table in STATE_COLUMNS else "="
                found.append((sign, "m.id", self._merge.differing_rows_sql(table)))
            for sign, number, which in found:
                number = "NULL" if table in END_COLUMNS else number
                rows = self.database.rows(f"SELECT {number}, {title} {which} LIMIT ?", (limit,))
                shown += [
                    AffectedRecord(sign, kind, _cite_record(kind, number), str(text)) for number, text in rows
                ]
        return shown

    def apply_import(self) -> int | None:
        """Apply the preview, in one transaction; return its step of history (None where there is no new one: into an
        empty memory, or when only the journal grew). Raise Conflict when the memory changed meanwhile."""
        with self.database.write(self.origin, "import") as write:
            whole, counts = self._count_changes()
            if whole != self.whole or counts != self.counts:
                raise Conflict(
                    "The memory changed since this was worked out.", "Nothing was changed; import it again."
                )
            if whole:
                self._copy_staged_rows(write)
            else:
                self._merge.merge_rows(write, self._replace, self.origin)
                path = os.path.abspath(self._staged.source.path)
                key = f"{NUMBERS_KEY}{sha256(os.fsencode(path)).hexdigest()[:16]}"
                known = json.loads(write.database.get_meta(key) or "{}")
                write.set_meta(key, json.dumps(known | self.numbers))
            write.execute(
                "INSERT INTO main.sessions(id, started_at) SELECT session, min(at) FROM main.turns"
                " WHERE session NOT IN (SELECT id FROM main.sessions) GROUP BY session"
            )
        return write.seq

    def _copy_staged_rows(self, write: Transaction) -> None:
        """Copy every staged row unchanged into the empty memory."""
        write.adopt_history()
        write.execute("PRAGMA defer_foreign_keys = ON")
        for table in EXPORT_TABLES:
            names = ", ".join(column.name for column in self._staged.columns[table])
            write.execute(f"INSERT INTO main.{table}({names}) SELECT {names} FROM staged.{table} ORDER BY line")
        listed = ", ".join(f"'{table}'" for table in EXPORT_TABLES)
        write.execute(f"DELETE FROM main.sqlite_sequence WHERE name IN ({listed})")
        write.execute("INSERT INTO main.sqlite_sequence(name, seq) SELECT name, seq FROM staged.sequence")


def merge_memory(database: Database, path: str) -> Import:
    """Merge the memory file at `path`, which is only read, or an export into a memory, in one step of history; return
    what was done, closed: its `counts` by table, its `numbers` (old citation → citation here), and `whole`. A second
    time nothing changes. Raise as `Import` does."""
    with Import(database, path) as found:
        if found.changes:
            found.apply_import()
        return found


# a record in a line
TITLE_SQL = {
    **{table: f"d.{text}" for table, text in TEXT_SQL.items()},
    "decisions": "d.title",
    "commit_links": "d.link_type",
    "mutes": "'of F#' || d.fact_id || ' there'",
    "iterations": "d.command || ' ' || d.description",
    "commits": "substr(d.message, 1, instr(d.message || char(10), char(10)) - 1)",
}


def _cite_record(kind: str, number: int | None) -> str:
    return "" if number is None or kind == "commit" else cite(kind, number)
