"""What the kinds of records have in common: how they are read by their ids, and how a step of history lists them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from store.base.citations import cite
from store.base.errors import InvalidInput, NotFound
from store.database.database import Database, Transaction

Kind = TypeVar("Kind")
MOST_CITED = 10  # records that the reason of a step lists


class RecordTable(ABC, Generic[Kind]):
    """The records of one kind in one memory. `columns` of the table `source` are what `_of_row` makes a record of, the
    first of them its id; `absence` says that there is no such record, with its citation, and what to do."""

    kind: ClassVar[str]
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
        found = write.execute(f"SELECT {column} FROM {cls.source} WHERE id = ?", (number,)).get
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
        key = self.columns.partition(",")[0]
        rows = self._rows(f"WHERE {key} IN (SELECT value FROM json_each(?))", json.dumps(list(numbers)))
        by_id = {row[0]: self._of_row(row) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

    def _read(self, where: str, *parameters: object) -> list[Kind]:
        """Return the records that a clause selects."""
        return [self._of_row(row) for row in self._rows(where, *parameters)]

    def _rows(self, where: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows that a clause selects."""
        return self._database.rows(f"SELECT {self.columns} FROM {self.source} {where}", parameters)

    def _ids(self, where: str, *parameters: object) -> list[int]:
        """Return the ids of the records that a clause selects, in its order."""
        return [number for (number,) in self._database.rows(f"SELECT id FROM {self.source} {where}", parameters)]


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
