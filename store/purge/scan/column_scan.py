"""Find the other places in the memory that contain the purged words: every column of every table that the registry
lists as holding them, and history. `store/purge/documents.py` searches files."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from store.base.citations import cite
from store.database.database import Database
from store.history.change_summary import KINDS
from store.history.compression import every_row
from store.history.row_edits import primary_key
from store.purge.registry import COPY, DROPPED, INPUT, NONE, RECORD, Table, tables
from store.purge.scan.pattern import Copies, Find, Words, automaton, hits_of

Ref = tuple[str, str]  # a table, and a key as history writes it: a JSON list

NAMES = {
    **KINDS,
    "iterations": "iteration",
    "events": "event",
    "checkpoints": "checkpoint",
    "turns": "turn",
    "summaries": "summary",
}
WHAT = {
    "queries": "a query you asked",
    "contexts": "a question that an agent was given a context for",
    "injections": "what an agent was sent",
    "agent_sessions": "a session of an agent",
    "agent_calls": "a call of an agent",
    "agent_tasks": "an entry of an agent's list of tasks",
    "answers_cache": "an answer that was kept",
    "model_calls": "an answer of the model",
    "discarded": "what was said and not kept",
    "context_usage": "how full a session's window was",
    "sources": "a file that was brought in",
    "meta": "a setting of this file",
    "leases": "a process at work",
}
SHORT = "too short to be cut out of it: purge it, or change it"
NAMED = "a name, which is not changed"
_LETTER = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class RemainingMatch:
    """A place that contains words which are purged elsewhere.

    `citation` names it, `table` and `key` are its row, or ("file", its path). `what` describes it, `text` is the text
    around the words, of a file what would be cut. `can` is whether Memoranda can remove them; it does so unless a
    person deselects the place. `note` is what remains even then. Of a file, `span` is what would be cut, in characters,
    and `digest` is of the bytes that it refers to.
    """

    citation: str
    table: str
    key: str
    what: str
    text: str
    can: bool = True
    note: str = ""
    span: tuple[int, int] = (0, 0)
    digest: bytes = b""


class Elsewhere:
    """A search through the memory that reads each table once: every row that contains the words, except the records
    that are `going`."""

    def __init__(self, database: Database, words: Words, going: Collection[Ref]) -> None:
        self._database = database
        self._words = words
        self._going = going
        self._tables = [
            (table, kept, keys) for table, kept in tables(database) if (keys := primary_key(database.connection, table))
        ]

    def records(self) -> list[RemainingMatch]:
        """Return the records."""
        return self._in((RECORD,), self._words)

    def rest(self, records: Iterable[RemainingMatch], copies: Copies, dropped: bool) -> list[RemainingMatch]:
        """Return these records and all else: of the copies that Memoranda made, every row that contains the `copies` of
        the words, also in its history or in a name; with `dropped`, the rows that a purge deletes anyway too."""
        copied = (COPY, INPUT, DROPPED) if dropped else (COPY, INPUT)
        places = [*records, *self._in(copied, copies)]
        places.sort(key=lambda place: place.table)  # in the order of `tables`
        seen = {(place.table, place.key) for place in places}
        for table, key in _past(self._database, self._words, self._going):
            if (table, key) not in seen:
                cited = _cited(self._database, table, key)
                places.append(RemainingMatch(cited, table, key, "what it said before", "in its history"))
        return [*places, *self._named()]

    def _in(self, become: Collection[str], words: Words) -> list[RemainingMatch]:
        found: list[RemainingMatch] = []
        for table, kept, keys in self._tables:
            if kept.becomes in become:
                for key, texts in _rows(self._database, table, kept, keys, words, self._going):
                    text = next((text for text in texts if words.inside(text)), texts[0])
                    cited = _cited(self._database, table, key)
                    found.append(RemainingMatch(cited, table, key, _what(table), words.around(text)))
        return found

    def _named(self) -> Iterator[RemainingMatch]:
        for table, kept, keys in self._tables:
            if kept.names and kept.becomes in (RECORD, COPY, NONE):
                for key, text in _named(self._database, table, kept, keys, self._words):
                    if (table, key) not in self._going:
                        around = self._words.around(text)
                        cited = f"{_cited(self._database, table, key)} by {around}"
                        yield RemainingMatch(cited, table, key, NAMED, around, can=False)


def elsewhere(
    database: Database, words: Words, copies: Copies, going: Collection[Ref], dropped: bool = True
) -> list[RemainingMatch]:
    """List every row in the memory that contains the words, and of the copies that Memoranda made every row that
    contains the `copies` of them. Leave out the records that are `going`, and unless `dropped` the rows that a purge
    deletes anyway."""
    if not copies:
        return []
    search = Elsewhere(database, words, going)
    return search.rest(search.records(), copies, dropped)


def short(database: Database, texts: Collection[str]) -> list[RemainingMatch]:
    """List the records that contain one of these texts as a word, which are too short to be cut out of others: to be
    decided on by a person."""
    wanted = {text.casefold() for text in texts if text}
    find = automaton(wanted)
    found: list[RemainingMatch] = []
    for table, kept in tables(database) if wanted else ():
        keys = primary_key(database.connection, table)
        if kept.becomes != RECORD or not keys or not kept.words:
            continue
        columns = ", ".join(kept.words)
        for key, *values in database.rows(f"SELECT json_array({', '.join(keys)}), {columns} FROM {table}"):
            said = next((value for value in values if value and _alone(find, value)), None)
            if said is not None:
                found.append(RemainingMatch(_cited(database, table, key), table, key, SHORT, said[:120], can=False))
    return found


def _alone(find: Find, text: str) -> bool:
    """Return whether any of the texts that `find` finds stands in a text as a word, and not within a longer one."""
    folded = text.casefold()
    return any(
        not _LETTER.match(folded, end) and not (start and _LETTER.match(folded, start - 1))
        for _, start, end in hits_of(find, folded)
    )


def words_of(database: Database, table: str) -> tuple[str, ...]:
    """Return the columns of a table that may hold a person's words."""
    return next((kept.words for name, kept in tables(database) if name == table), ())


def where_key(database: Database, table: str) -> str:
    """Return SQL for the row of a table whose key is the parameter, a JSON list."""
    return " AND ".join(
        f"{name} = json_extract(?1, '$[{place}]')" for place, name in enumerate(primary_key(database.connection, table))
    )


def _rows(
    database: Database, table: str, kept: Table, keys: list[str], words: Words, going: Collection[Ref]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (key, texts) of the rows that contain the words and are not in `going`."""
    if not words or not kept.words:
        return
    typed = words.typed if isinstance(words, Copies) and kept.becomes == INPUT else None
    condition, parameters = ("true", []) if typed else likely(kept.words, words)
    for key, *texts in database.rows(
        f"SELECT json_array({', '.join(keys)}), {', '.join(kept.words)} FROM {table} WHERE {condition}", parameters
    ):
        if (table, key) not in going and any(map(typed or words.inside, filter(None, texts))):
            yield key, tuple(text or "" for text in texts)


def _named(database: Database, table: str, kept: Table, keys: list[str], words: Words) -> Iterator[tuple[str, str]]:
    """Yield (key, name) of the rows with a name that contains the words; one row for each name."""
    if not words:
        return
    condition, parameters = likely(kept.names, words)
    for key, *names in database.rows(
        f"SELECT min(json_array({', '.join(keys)})), {', '.join(kept.names)} FROM {table} WHERE {condition}"
        f" GROUP BY {', '.join(kept.names)}",
        parameters,
    ):
        text = next(filter(words.inside, names), None)
        if text is not None:
            yield key, text


def _past(database: Database, words: Words, going: Collection[Ref]) -> Iterator[Ref]:
    """Yield the records not in `going` whose history contains the words."""
    if not words:
        return
    condition, parameters = likely(["before", "after"], words)
    seen = set(going)
    for table, key, *texts in database.rows(
        f"SELECT tbl, pk, before, after FROM {every_row(database)} WHERE purged <> 1 AND ({condition})", parameters
    ):
        if (table, key) not in seen and any(words.inside(text) for text in texts):
            seen.add((table, key))
            yield table, key


def likely(names: Collection[str], words: Words) -> tuple[str, list[str]]:
    """Return SQL and its parameters for at least the rows in which one of these columns contains the words."""
    if not words:
        return "false", []
    probes = words.probes()
    if probes is None:
        return "true", []
    return " OR ".join(f"{name} LIKE ?" for name in names for _ in probes), [
        f"%{probe}%" for _ in names for probe in probes
    ]


def _what(table: str) -> str:
    return WHAT.get(table) or NAMES.get(table, table.replace("_", " ").removesuffix("s"))


def _cited(database: Database, table: str, key: str) -> str:
    target = json.loads(key)[0]
    if table == "commits":
        return cite("commit", str(database.value("SELECT sha FROM commits WHERE id = ?", (target,))))
    if table in NAMES and table not in ("commit_links", "mutes"):
        return cite(NAMES[table], target)
    return _what(table)
