"""Where else in the memory the purged words stand: every TEXT column of every table, found from the schema, and what
history says. Files are looked at by `store/purge/files.py`.

A new table is looked at as soon as it has its kind; a column that never holds a person's words is left out by name.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from store.citations import cite
from store.database import Database
from store.database.tables import JOURNAL, OPERATIONAL, RECORDED
from store.edits import primary_key
from store.effects import KINDS
from store.packing import every_row
from store.purge.words import Words

Ref = tuple[str, str]  # a table, and a key as history writes it: a JSON list

# tables without words of people, and those that are looked at in a way of their own
SILENT = (
    "meta",
    "leases",
    "accesses",
    "month_words",
    "sent",
    "uncompared",
    "answers_cache",
    "searches",
    "tombstones",
    "ingested",
    "answers",
    "model_use",
    "history",
    "history_row",
    "history_block",
)
# columns of closed lists, times, hashes and names of writers
OURS = frozenset(
    "domain text_hash asked based_on confidence source scope status impact link_type level trigger role kind state"
    " door actor origin sha digest fingerprint at created_at updated_at decided_at started_at completed_at"
    " committed_at recovered_at last_confirmed_at expires_at".split()
)
NAMES = {**KINDS, "iterations": "iteration", "events": "event", "checkpoints": "checkpoint", "turns": "turn"}
NAMES["summaries"] = "summary"
# what Memoranda itself copied from elsewhere: it goes unless a person says otherwise
COPIES = ("queries", "contexts", "checkpoint", "proposals")


@dataclass(frozen=True, slots=True)
class Place:
    """A place that holds words which are purged elsewhere.

    `citation` names it, `table` and `key` are its row, or ("file", its path). `what` says what it is, `text` what
    stands there around the words, of a file what would be cut. `can` is whether Memoranda can take them out; `chosen`
    whether it proposes to. `note` is what even then stays. Of a file, `span` is what would be cut, in characters, out
    of the bytes that have this `digest`.
    """

    citation: str
    table: str
    key: str
    what: str
    text: str
    can: bool = True
    chosen: bool = False
    note: str = ""
    span: tuple[int, int] = (0, 0)
    digest: bytes = b""


def elsewhere(database: Database, words: Words, going: Collection[Ref]) -> list[Place]:
    """Every row in the memory that holds the words, but for the records that are `going`."""
    if not words:
        return []
    found: dict[Ref, Place] = {}
    for table in (*RECORDED, *JOURNAL, *OPERATIONAL):
        if table in SILENT:
            continue
        for key, texts in _rows(database, table, words):
            if (table, key) in going:
                continue
            text = next((text for text in texts if words.inside(text)), texts[0])
            copy = table.startswith(COPIES) and table != "checkpoints"
            found[table, key] = Place(
                _cited(database, table, key), table, key, _what(table), words.around(text), chosen=copy
            )
    for table, key in _past(database, words):
        if (table, key) not in going and (table, key) not in found:
            found[table, key] = Place(
                _cited(database, table, key), table, key, "what it said before", "in its history", chosen=True
            )
    return list(found.values())


def text_columns(database: Database, table: str) -> list[str]:
    """The columns of a table that may hold a person's words."""
    return [
        name
        for name, kind in database.rows("SELECT name, type FROM pragma_table_info(?)", (table,))
        if kind == "TEXT" and name not in OURS
    ]


def where_key(database: Database, table: str) -> str:
    """SQL: the row of a table whose key is the parameter, a JSON list."""
    return " AND ".join(
        f"{name} = json_extract(?1, '$[{place}]')" for place, name in enumerate(primary_key(database.connection, table))
    )


def _rows(database: Database, table: str, words: Words) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(key, texts) of the rows that hold the words."""
    names = text_columns(database, table)
    keys = primary_key(database.connection, table)
    if not names or not keys:
        return
    condition, parameters = likely(names, words)
    parts = table == "queries"  # one that asked for a part of the text tells of it
    for key, *texts in database.rows(
        f"SELECT json_array({', '.join(keys)}), {', '.join(names)} FROM {table} WHERE {'true' if parts else condition}",
        () if parts else parameters,
    ):
        if any(words.inside(text) or (parts and words.hold(text)) for text in texts):
            yield key, tuple(texts)


def _past(database: Database, words: Words) -> Iterator[Ref]:
    """The records of which history holds the words."""
    condition, parameters = likely(["before", "after"], words)
    seen = set[Ref]()
    for table, key, *texts in database.rows(
        f"SELECT tbl, pk, before, after FROM {every_row(database)} WHERE purged <> 1 AND ({condition})", parameters
    ):
        if (table, key) not in seen and any(words.inside(text) for text in texts):
            seen.add((table, key))
            yield table, key


def likely(names: list[str], words: Words) -> tuple[str, list[str]]:
    """SQL that lets at least those rows through in which one of these columns holds the words, and its parameters."""
    probes = words.probes()
    if probes is None:
        return "true", []
    return " OR ".join(f"{name} LIKE ?" for name in names for _ in probes), [
        f"%{probe}%" for _ in names for probe in probes
    ]


def _what(table: str) -> str:
    if table in ("queries", "contexts"):
        return "a query you asked" if table == "queries" else "a question that an agent was given a context for"
    return NAMES.get(table, table.replace("_", " ").removesuffix("s"))


def _cited(database: Database, table: str, key: str) -> str:
    target = json.loads(key)[0]
    if table == "commits":
        return cite("commit", str(database.value("SELECT sha FROM commits WHERE id = ?", (target,))))
    if table in NAMES and table != "commit_links":
        return cite(NAMES[table], target)
    return _what(table)
