"""Tags: their stored form, and when two of them are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from unicodedata import normalize

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON_ORIGIN
from store.database.database import Database, Transaction
from store.database.schema import argument_text
from store.database.values import Json, clean_text
from store.records.table import step_reason
from store.text.words import normalize_text

if TYPE_CHECKING:
    from apsw import SQLiteValue


MAX_TAG_CHARACTERS = 40
# SQL: a row of facts, decisions or tasks has the tag that folds so; needs `register_folded_tag`
HAS_TAG_SQL = "EXISTS (SELECT 1 FROM json_each(tags) WHERE folded_tag(CAST(value AS BLOB)) = {})"


def clean_tag(text: str) -> str:
    """Return a tag as it is stored: its words joined by dashes, in the person's own capitals. Raise InvalidInput."""
    tag = "-".join(clean_text(_compose_accents(text)).split())
    if not tag:
        raise InvalidInput("A tag is a word, and this one is empty.", "Name one: tag 12 invoices.")
    if len(tag) > MAX_TAG_CHARACTERS:
        raise InvalidInput(
            f"A tag holds at most {MAX_TAG_CHARACTERS} characters, and this has {len(tag)}.",
            "Choose a shorter one.",
        )
    return tag


def parse_tags(text: str) -> list[str]:
    """Split a text at its commas into tags, each as it is stored. Raise InvalidInput."""
    parts = clean_text(_compose_accents(text)).split(
        ","
    )  # of a whole text, as a part of a secret would not be recognised
    return merge_tags([clean_tag(part) for part in parts if part.strip()] or [clean_tag("")])


def tag_key(text: str) -> str:
    """Return the key of a tag, which ignores capitals, spaces and how an accent is typed."""
    return "-".join(_compose_accents(text).casefold().split())


def fold_tag(text: str) -> str:
    """Return a tag as it is searched for: without capitals and accents."""
    return normalize_text("-".join(text.split()))


def merge_tags(tags: Sequence[str], more: Sequence[str] = ()) -> list[str]:
    """Return the tags, and the tags of `more` that are not among them; of two spellings of a tag the first is
    kept."""
    found: dict[str, str] = {}
    for tag in (*tags, *more):
        found.setdefault(tag_key(tag), tag)
    return list(found.values())


def most_frequent_spellings(rows: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Merge the (tag, count) rows of tags that differ only in capitals, spaces or how an accent is typed. Each tag
    keeps its most frequent spelling; the most used come first."""
    spellings: dict[str, list[tuple[int, str]]] = {}
    for tag, count in rows:
        spellings.setdefault(tag_key(tag), []).append((count, tag))
    found = [(max(ways)[1], sum(count for count, _ in ways)) for ways in spellings.values()]
    return sorted(found, key=lambda pair: (-pair[1], tag_key(pair[0])))


def register_folded_tag(database: Database) -> None:
    """Register `folded_tag` as an SQL function on this connection."""
    database.connection.create_scalar_function("folded_tag", _fold_sql_tag, 1, deterministic=True)


def _fold_sql_tag(*values: SQLiteValue) -> str:
    """Fold a tag that SQLite passes."""
    return fold_tag(argument_text(values[0]))


def _compose_accents(text: str) -> str:
    """Combine an accent typed as a character of its own with its letter."""
    if text.isascii():
        return text
    return normalize("NFC", text)


# Tag facts, decisions and tasks, of several kinds in one step.

# kind of record → its table
TAG_TABLES = {"fact": "facts", "decision": "decisions", "task": "tasks"}
LIST_COMMANDS = {"fact": "list --all", "decision": "list decisions --all", "task": "list tasks --all"}

TaggedRecord = tuple[str, int]
"""A record: its kind and its id."""


class Tagging:
    """The tags of one memory's records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_tags(self, records: Sequence[TaggedRecord], tag: str, *, actor: str = PERSON_ORIGIN) -> str:
        """Add a tag, or several separated by commas; return them as they are stored. All of the records or none; those
        that have one, in any capitals, are unchanged. Raise NotFound, InvalidInput, and Conflict when all of them have
        all."""
        tags = parse_tags(tag)
        with self._database.write(actor, _tag_reason("tag", records)) as write:
            if not _change_tags(write, records, lambda old: merge_tags(old, tags)):
                raise Conflict("That tag is there already.", "See a record's tags with `memoranda show`.")
        return ", ".join(tags)

    def remove_tags(self, records: Sequence[TaggedRecord], tag: str, *, actor: str = PERSON_ORIGIN) -> None:
        """Remove a tag, or several separated by commas, in any capitals. All of the records or none; those without are
        unchanged. Raise NotFound, InvalidInput, and Conflict when none of them has any."""
        # an older tag may hold a comma
        gone = {tag_key(tag), *map(tag_key, tag.split(","))}
        with self._database.write(actor, _tag_reason("untag", records)) as write:
            if not _change_tags(write, records, lambda old: [one for one in old if tag_key(one) not in gone]):
                raise Conflict("There is no such tag to take away.", "See a record's tags with `memoranda show`.")

    def list_tags(self) -> list[tuple[str, int]]:
        """List the tags of records in force, each in its most frequent spelling, and how many records have it; most
        used first."""
        return most_frequent_spellings(
            row
            for kind, table in TAG_TABLES.items()
            for row in self._database.rows(
                f"SELECT value, count(DISTINCT t.id) FROM {table} t, json_each(t.tags)"
                f" WHERE {'true' if kind == 'task' else 't.status = :active'} GROUP BY 1",
                {} if kind == "task" else {"active": "active"},
            )
        )


def _change_tags(
    write: Transaction, records: Sequence[TaggedRecord], change: Callable[[list[str]], list[str]]
) -> bool:
    """Change the tags of each record; return whether any changed."""
    for record in records:
        _require_in_force(write, *record)
    changed = False
    for kind, number in dict.fromkeys(records):
        old = json.loads(write.first(f"SELECT tags FROM {TAG_TABLES[kind]} WHERE id = ?", (number,)))
        new = change(old)
        if new != old:
            write.execute(f"UPDATE {TAG_TABLES[kind]} SET tags = ? WHERE id = ?", (Json(new), number))
            changed = True
    return changed


def _require_in_force(write: Transaction, kind: str, number: int) -> None:
    """Raise unless the record exists and is in force; a task always is."""
    table, cited = TAG_TABLES[kind], cite(kind, number)
    status = write.first(f"SELECT status FROM {table} WHERE id = ?", (number,))
    if status is None:
        raise NotFound(f"There is no {kind} {cited}.", f"List them with `memoranda {LIST_COMMANDS[kind]}`.")
    if status == "forgotten":
        raise Conflict(f"{cited} is forgotten already.", "Undo brings it back.")
    if kind != "task" and status != "active":
        newer = write.first(f"SELECT max(id) FROM {table} WHERE supersedes = ?", (number,))
        raise Conflict(
            f"{cited} is {status}.", f"{cite(kind, newer)} took its place: use that one." if newer else ""
        )


def _tag_reason(verb: str, records: Sequence[TaggedRecord]) -> str:
    """Return the reason of a step: a verb and its records. Raise InvalidInput without any."""
    return step_reason(verb, [cite(*record) for record in records], "records by their numbers: {} 12 D#3 A#4.")
