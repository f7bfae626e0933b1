"""Merge by identity: which rows of a document exist here already, and what happens to the others.

The same id means another record in another file, so a record is identified by what never changes in it: a fact by its
text and time, a decision by title, choice and time, a task by text and time, a commit by its sha, a turn by session and
number, an iteration by command, description and start, an event by all its columns. Of several equal ones the first
matches the first. An active fact with the text of another active fact of this memory is that one, as when it is
remembered again. Every other row gets a new id, and all references to it follow: supersedes, iterations, links, and the
citations in a fact's evidence. Citations inside people's own sentences are not changed.

History and checkpoints describe the other file's steps and are not imported.
"""

import json

from store.base.citations import cite, find
from store.base.vocabulary import LETTERS
from store.database.database import Database, Transaction
from store.database.erasure.tombstones import buried
from store.database.values import Verbatim
from store.exchange.export_schema import TABLES
from store.exchange.staging import NAME, Staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.database.values import Value

# table → columns that identify a record; narrower first, so that of several equal ones those in the same state match
IDENTITY = {
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
ENDS = {
    "commit_links": {"commit_id": "commits", "decision_id": "decisions"},
    "mutes": {"fact_id": "facts"},
}
STAY = ("checkpoints", "history", "history_row")
# what may differ in an existing record, and is updated with the strategy `replace`
STATE = {
    "facts": ("domain", "confidence", "source", "scope", "status", "last_confirmed_at", "importance", "pinned", "tags"),
    "decisions": ("context", "alternatives", "rationale", "impact", "phase", "status", "tags"),
    "tasks": ("status", "updated_at", "tags"),
    "proposals": ("state", "decided_at"),
    "commit_links": ("link_type",),
}
# what may differ in the journal, and is only reported: a journal is not rewritten
DESCRIPTIVE = {"iterations": ("status",), "turns": ("role", "speaker", "text"), "summaries": ("topic", "outcome")}
REFERENCES = {"supersedes": "", "iteration_id": "iterations", "target": "facts", "made": "facts"}
# the text shown for a record, and the text of its tombstone
TEXTS = {
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
CITED = {
    "fact": "facts",
    "decision": "decisions",
    "iteration": "iterations",
    "event": "events",
    "turn": "turns",
    "summary": "summaries",
    "task": "tasks",
    "proposal": "proposals",
}


class Merge:
    """The mapping of a staged document's rows to rows here; computed again in the transaction that applies it."""

    def __init__(self, staged: Staged) -> None:
        self._database: Database = staged.database
        self._connection = staged.database.connection
        self._staged = staged
        self._buried = buried(staged.database)
        for table in IDENTITY:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {NAME}.map_{table}"
                "(theirs INTEGER PRIMARY KEY, ours INTEGER UNIQUE, fresh INTEGER)"
            )

    def match(self) -> None:
        """Map each row to its id here: `ours` is the id, `fresh` whether it is new. A text that was erased here gets no
        id."""
        self._connection.create_scalar_function("erased", self._was_erased, 1)
        for table, passes in IDENTITY.items():
            self._connection.execute(f"DELETE FROM {NAME}.map_{table}")
            for key in passes:
                self._pair(table, key)
            if table == "facts":
                self._told_again()
            self._number(table)

    def any_erased(self) -> bool:
        """Return whether a text among the staged ones was erased here."""
        if not self._database.value("SELECT EXISTS (SELECT 1 FROM tombstones)"):
            return False
        self._connection.create_scalar_function("erased", self._was_erased, 1)
        return any(
            self._database.value(f"SELECT 1 FROM {NAME}.{table} WHERE erased({text}) LIMIT 1")
            for table, text in TEXTS.items()
        )

    def _was_erased(self, *values: "Any") -> int:
        return int(self._buried(str(values[0])))

    def _pair(self, table: str, key: str) -> None:
        names = key.split(", ")
        same = " AND ".join(f"d.{name} = m.{name}" for name in names)

        def numbered(schema: str, known: str) -> str:
            return (
                f"SELECT id, {key}, row_number() OVER (PARTITION BY {key} ORDER BY id) AS n FROM {schema}.{table}"
                f" WHERE id NOT IN (SELECT {known} FROM {NAME}.map_{table})"
            )

        self._connection.execute(
            f"INSERT INTO {NAME}.map_{table} SELECT d.id, m.id, 0"
            f" FROM ({numbered(NAME, 'theirs')}) AS d JOIN ({numbered('main', 'ours')}) AS m ON {same} AND d.n = m.n"
        )

    def _told_again(self) -> None:
        """Map active facts with the text of an active fact here to that one; of several to the first."""
        self._connection.execute(
            f"INSERT INTO {NAME}.map_facts SELECT min(d.id), m.id, 0 FROM {NAME}.facts AS d"
            " JOIN (SELECT min(id) AS id, text_hash FROM main.facts WHERE status = 'active' GROUP BY text_hash) AS m"
            " ON m.text_hash = d.text_hash"
            f" WHERE d.status = 'active' AND d.id NOT IN (SELECT theirs FROM {NAME}.map_facts)"
            f" AND m.id NOT IN (SELECT ours FROM {NAME}.map_facts) GROUP BY m.id"
        )

    def _number(self, table: str) -> None:
        """Assign new ids to the rest, in the order of their old ones."""
        base = self._database.value(
            f"SELECT max(coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = '{table}'), 0),"
            f" coalesce((SELECT max(id) FROM main.{table}), 0))"
        )
        text = TEXTS[table]
        self._connection.execute(
            f"INSERT INTO {NAME}.map_{table} SELECT id, iif(gone, NULL, ? + sum(NOT gone) OVER (ORDER BY id)), NOT gone"
            f" FROM (SELECT id, erased({text}) AS gone FROM {NAME}.{table}"
            f" WHERE id NOT IN (SELECT theirs FROM {NAME}.map_{table}))",
            (base,),
        )

    # what there is to do, as SQL over the staged rows, `d`

    def fresh(self, table: str) -> str:
        """Return FROM and WHERE of the rows that do not exist here."""
        if table in ENDS:
            there = " AND ".join(f"{column}_here.ours IS NOT NULL" for column in ENDS[table])
            return (
                f"{_mapped(table)} WHERE {there} AND NOT EXISTS (SELECT 1 FROM main.{table} AS m WHERE {_same(table)})"
            )
        return f"FROM {NAME}.{table} AS d JOIN {NAME}.map_{table} AS o ON o.theirs = d.id WHERE o.fresh"

    def differing(self, table: str) -> str:
        """Return FROM and WHERE of the rows that exist here, `m`, in another state."""
        names = STATE.get(table) or DESCRIPTIVE.get(table) or ()
        if not names:
            return f"FROM {NAME}.{table} AS d WHERE false"
        other = " OR ".join(f"d.{name} IS NOT m.{name}" for name in names)
        if table in ENDS:
            return f"{_mapped(table)} JOIN main.{table} AS m ON {_same(table)} WHERE {other}"
        return (
            f"FROM {NAME}.{table} AS d JOIN {NAME}.map_{table} AS o ON o.theirs = d.id AND NOT o.fresh"
            f" JOIN main.{table} AS m ON m.id = o.ours WHERE {other}"
        )

    def superseded(self, table: str) -> str:
        """Return FROM and WHERE of the active records here, `m`, that a new one supersedes."""
        return (
            f"FROM {NAME}.{table} AS d JOIN {NAME}.map_{table} AS o ON o.theirs = d.id AND o.fresh"
            f" JOIN {NAME}.{table} AS old ON old.id = d.supersedes AND old.status = 'superseded'"
            f" JOIN {NAME}.map_{table} AS was ON was.theirs = old.id AND NOT was.fresh"
            f" JOIN main.{table} AS m ON m.id = was.ours AND m.status = 'active' WHERE true"
        )

    def count(self, which: str) -> int:
        found: int = self._database.value(f"SELECT count(*) {which}")
        return found

    def left_out(self, table: str) -> int:
        """Return how many rows were erased here, or summarise one that was."""
        if table in ENDS:
            gone = " OR ".join(f"{column}_here.ours IS NULL" for column in ENDS[table])
            return self.count(f"{_mapped(table)} WHERE {gone}")
        return self.count(f"FROM {NAME}.map_{table} WHERE ours IS NULL")

    # apply

    def apply(self, write: Transaction, replace: bool, origin: str) -> None:
        """Add the rows that do not exist here, and with `replace` update the states that differ. The new records'
        origin is `origin`: a document's own claim about who wrote it is not trusted."""

        def followed(*values: "Any") -> str:
            return self._followed(str(values[0]), origin.partition(":")[2])

        self._connection.create_scalar_function("followed", followed, 1)
        write.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("facts", "decisions"):
            write.execute(
                f"UPDATE main.{table} SET status = 'superseded' WHERE id IN (SELECT m.id {self.superseded(table)})"
            )
        if replace:
            for table, names in STATE.items():
                self._take_over(write, table, names)
        for table in (
            *("iterations", "commits", "facts", "decisions", "tasks", *ENDS, "events", "turns", "summaries"),
            "proposals",
        ):
            self._insert(write, table, origin)

    def _take_over(self, write: Transaction, table: str, names: tuple[str, ...]) -> None:
        changed = ", ".join(names)
        values = ", ".join(f"d.{name}" for name in names)
        ends = ENDS.get(table, {})
        keys = ", ".join(f"{column}_here.ours AS {column}_ours" for column in ends) or "o.ours AS ours"
        same = " AND ".join(f"{column} = {column}_ours" for column in ends) or "id = ours"
        write.execute(
            f"UPDATE main.{table} SET ({changed}) = ({', '.join(f'new.{name}' for name in names)})"
            f" FROM (SELECT {keys}, {values} {self.differing(table)}) AS new WHERE {same}"
        )

    def _insert(self, write: Transaction, table: str, origin: str) -> None:
        names, values = [], []
        parameters: list[Value] = []
        for column in self._staged.columns[table]:
            name = column.name
            value = f"d.{name}"
            if name == "id":
                value = "o.ours"
            elif name in ENDS.get(table, ()):
                value = f"{name}_here.ours"
            elif name in REFERENCES:
                parent = REFERENCES[name] or table
                value = f"(SELECT ours FROM {NAME}.map_{parent} WHERE theirs = d.{name})"
            elif name == "origin":
                value = "?"
                parameters.append(origin)
            elif name in ("evidence", "others"):
                value = f"followed(d.{name})"
            elif (table, name) == ("iterations", "status"):  # only one at a time can be active
                value = (
                    "iif(d.status = 'active' AND EXISTS (SELECT 1 FROM main.iterations WHERE status = 'active'),"
                    " 'abandoned', d.status)"
                )
            elif (table, name) == ("iterations", "completed_at"):
                value = (
                    "iif(d.status = 'active' AND EXISTS (SELECT 1 FROM main.iterations WHERE status = 'active'),"
                    " ?, d.completed_at)"
                )
                parameters.append(Verbatim(write.at))
            names.append(name)
            values.append(value)
        order = "" if table in ENDS else " ORDER BY o.ours"
        write.execute(
            f"INSERT INTO main.{table}({', '.join(names)}) SELECT {', '.join(values)} {self.fresh(table)}{order}",
            parameters,
        )

    def _followed(self, text: str, name: str) -> str:
        """Return a list of citations, each to the new id of its record here. One without a record here is written as of
        its file, `notes/K#3`, so that it never refers to another."""
        if "#" not in text:
            return text
        return json.dumps(
            [self._moved(item, name) for item in json.loads(text)],
            ensure_ascii=False,
            separators=(",", ":"),
        )

    def _moved(self, item: "Any", name: str) -> "Any":
        """Return a citation, or an object that has one, with its id here."""
        if isinstance(item, dict):
            return {**item, "citation": self._cited(str(item.get("citation", "")), name)}
        return self._cited(item, name)

    def _cited(self, item: str, name: str) -> str:
        parts, end = [], 0
        for start, stop, citation in find(item):
            if citation.kind in ("commit", "document"):
                continue
            ours = None
            if citation.kind in CITED:
                ours = self._connection.execute(
                    f"SELECT ours FROM {NAME}.map_{CITED[citation.kind]} WHERE theirs = ?", (citation.target,)
                ).get
            here = f"{name}/{LETTERS[citation.kind]}#{citation.target}" if ours is None else cite(citation.kind, ours)
            parts += [item[end:start], here]
            end = stop
        return "".join([*parts, item[end:]])


def _mapped(table: str) -> str:
    """Return FROM of the staged rows of a table identified by its ends, each end with its id here."""
    joins = [
        f"JOIN {NAME}.map_{parent} AS {column}_here ON {column}_here.theirs = d.{column}"
        for column, parent in ENDS[table].items()
    ]
    return f"FROM {NAME}.{table} AS d {' '.join(joins)}"


def _same(table: str) -> str:
    """Return SQL for the row here, `m`, that has the same ends."""
    return " AND ".join(f"m.{column} = {column}_here.ours" for column in ENDS[table])


def empty(database: Database) -> bool:
    """Return whether nothing was ever recorded in this memory."""
    return not any(database.value(f"SELECT 1 FROM main.{table} LIMIT 1") for table in TABLES)
