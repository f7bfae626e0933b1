"""What the kinds of records have in common: how they are read by their ids, how a step of history lists them, and what
was removed from their text while it was written."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from store.base.citations import Citation, cite
from store.base.errors import InvalidInput, NotFound
from store.base.vocabulary import KIND_BY_TABLE, pack_key
from store.database.database import MADE_IN_SQL, PLACED_TABLES, Database, Transaction

Kind = TypeVar("Kind")
_PLACED_KINDS = {*(KIND_BY_TABLE[table] for table in PLACED_TABLES), "commit"}
# records that the reason of a step lists
MOST_CITED = 10


class RecordTable(ABC, Generic[Kind]):
    """The records of one kind in one memory. `columns` of the table `source` are what `_of_row` makes a record of, the
    first of them its id; `absence` says that there is no such record, with its citation, and what to do."""

    kind: ClassVar[str] = ""
    source: ClassVar[str]
    columns: ClassVar[str]
    absence: ClassVar[tuple[str, str]]

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    @abstractmethod
    def _of_row(row: tuple[Any, ...]) -> Kind:
        """Return the record of a row of `columns`."""

    @classmethod
    def missing(cls, number: int) -> NotFound:
        """Return the error for a record that does not exist."""
        says, advice = cls.absence
        return NotFound(says.format(cite(cls.kind, number)), advice)

    @classmethod
    def read_column(cls, write: Transaction, number: int, column: str = "status") -> Any:
        """Return a column of a record that is never empty, inside a transaction. Raise NotFound."""
        found = write.first(f"SELECT {column} FROM {cls.source} WHERE id = ?", (number,))
        if found is None:
            raise cls.missing(number)
        return found

    def get(self, number: int) -> Kind:
        """Return one record, whatever its status. Raise NotFound."""
        found = self.get_many([number])
        if not found:
            raise self.missing(number)
        return found[0]

    def get_many(self, numbers: Sequence[int]) -> list[Kind]:
        """Return the records of these ids that exist, in this order."""
        where = f"WHERE {self._id} IN (SELECT value FROM json_each(?))"
        by_id = dict(self._numbered(where, json.dumps(list(numbers))))
        return [by_id[number] for number in numbers if number in by_id]

    def _read(self, where: str, *parameters: object) -> list[Kind]:
        """Return the records that a clause selects."""
        return [record for _, record in self._numbered(where, *parameters)]

    def _numbered(self, where: str, *parameters: object) -> Iterator[tuple[int, Kind]]:
        """Yield (id, record) of those that a clause selects, with the branch on which each was made."""
        branch = "''"
        if self.kind in _PLACED_KINDS:
            key = f"{self._id} * 16 + {pack_key(self.kind, 0)}"
            branch = f"(SELECT branch FROM {MADE_IN_SQL} WHERE made_in.key = {key})"
        sql = f"SELECT {self.columns}, {branch} FROM {self.source} {where}"
        notes = dict[str, str]()
        for *row, made_on in self._database.rows(sql, parameters):
            record = self._of_row(tuple(row))
            if made_on:
                if made_on not in notes:
                    notes[made_on] = self._database.branch_note(made_on)
                note = notes[made_on]
                record = replace(record, branch=made_on, branch_note=note)  # type: ignore[type-var]
            yield row[0], record

    @property
    def _id(self) -> str:
        """The id's column, with its table or that one's alias."""
        name = self.columns.partition(",")[0]
        return name if "." in name else f"{self.source.split()[-1]}.{name}"

    def _ids(self, where: str, *parameters: object) -> list[int]:
        """Return the ids of the records that a clause selects, in its order."""
        return self._database.column(f"SELECT id FROM {self.source} {where}", parameters)


def require_one_of(name: str, value: str, words: Sequence[str]) -> None:
    """Raise InvalidInput unless a value is among these words."""
    if value not in words:
        raise InvalidInput(f"There is no such {name}.", f"Choose one of: {', '.join(words)}.")


def list_cited(cited: Sequence[str]) -> str:
    """Join citations; of many, the first ten and how many more there are."""
    more = [f"+{len(cited) - MOST_CITED}"] if len(cited) > MOST_CITED else []
    return " ".join([*cited[:MOST_CITED], *more])


def cite_all(kind: str, numbers: Iterable[int]) -> list[str]:
    """Return the citations of records of one kind."""
    return [cite(kind, number) for number in numbers]


def step_reason(verb: str, cited: Sequence[str], named: str = "facts by their numbers: {} 12 13.") -> str:
    """Return the reason of a step: a verb and its records. Raise InvalidInput without any, which says how they are
    `named`."""
    if not cited:
        raise InvalidInput(f"Nothing to {verb} was named.", f"Name {named.format(verb)}")
    return f"{verb} {list_cited(cited)}"


# What was removed from the text of a row while it was written, and how such a row is cited.

SENT_LABELS = {
    "contexts": "a question that was sent",
    "injections": "what an agent was sent",
    "answers_cache": "an answer that was kept",
    "model_calls": "an answer of the model",
}
# a document that changed has other chunks
_STILL_STORED = "(tbl <> 'chunks' OR record IN (SELECT id FROM chunks))"


@dataclass(slots=True, eq=False, repr=False)
class LoggedRedaction:
    """A secret that was never stored: when, where and by which rule it was cut, who wrote it and through which door."""

    at: str
    citation: str
    field: str
    rule: str
    count: int
    actor: str
    door: str


def list_redactions(database: Database, limit: int = 50, rule: str = "") -> list[LoggedRedaction]:
    """List the secrets that were removed while writing, newest first, of one rule or of all."""
    rows = database.rows(
        "SELECT at, tbl, record, field, rule, count, actor, door FROM redactions WHERE ? IN ('', rule)"
        f" AND {_STILL_STORED} ORDER BY at DESC, id DESC LIMIT ?",
        (rule, limit),
    )
    return [
        LoggedRedaction(at, cite_table_row(database, table, (record,)), field, label, count, actor, door)
        for at, table, record, field, label, count, actor, door in rows
    ]


def take_redactions(database: Database) -> list[LoggedRedaction]:
    """List what the transactions of this connection removed since the last call, by place; reads no database if
    nothing was removed."""
    cuts, database.cut = database.cut, {}
    return [
        LoggedRedaction("", cite_table_row(database, table, (row,)), field, rule, count, "", database.door)
        for (table, row, field, rule), count in cuts.items()
    ]


def count_redactions(database: Database) -> dict[str, int]:
    """Count the secrets that each rule removed while writing."""
    return dict(database.rows(f"SELECT rule, sum(count) FROM redactions WHERE {_STILL_STORED} GROUP BY rule"))


def cite_table_row(database: Database, table: str, key: Sequence[Any]) -> str:
    """Return the citation of a row; for a table without citations its name and the row's key."""
    if table in KIND_BY_TABLE and table not in ("commits", "commit_links", "mutes"):
        return cite(KIND_BY_TABLE[table], key[0])
    # its key is the text
    if table == "queries":
        return "a search"
    if table in SENT_LABELS:
        return SENT_LABELS[table]
    if table == "history":
        return f"step {key[0]}"
    if table == "commits" and (sha := database.value("SELECT sha FROM commits WHERE id = ?", (key[0],))):
        return cite("commit", sha)
    if table == "mutes":
        return f"the mute of {cite('fact', key[0])}"
    if table == "commit_links":
        return f"{cite_table_row(database, 'commits', key)} {cite('decision', key[1])}"
    if table == "chunks":
        row = database.row(
            "SELECT path, first, last FROM chunks JOIN documents d ON d.id = document_id WHERE chunks.id = ?",
            (key[0],),
        )
        if row:
            return str(Citation("document", *row))
    return f"{table} {' '.join(map(str, key))}"
