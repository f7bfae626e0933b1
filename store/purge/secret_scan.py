"""Secrets in stored text: list those that were cut while writing, find and scrub those stored before their rule
existed.

A scrub adds no step to history, since a step would hold the text: the records, the journal and history's own rows get
the marker in place, derived rows follow, and the pages and the log that held the text are wiped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from store.base.errors import StorageError
from store.conversations.hook_spool import read_spool_lines, replace_spool_lines
from store.conversations.summaries import drop_summaries
from store.database.database import Database, Transaction
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.database.tombstones import record_removal
from store.database.values import Verbatim, clean_json, clean_text, dump_compact_json
from store.embedding.indexer import forget_unused_vectors
from store.history.checkpoint_payload import seal_checkpoint
from store.history.compression import every_row_view, unpack_records
from store.history.history import primary_key
from store.purge.cleanup import clean_backups
from store.purge.row_eraser import replace_step_row
from store.purge.word_search import map_strings
from store.records.facts import text_hash
from store.records.table import cite_table_row
from store.redaction.personal_data import find_personal_data, mask_personal_value
from store.redaction.redactor import count_markers, replace_findings

# What a scan looks for in all stored text, and cuts out: secrets, or data about people.


def _cut_personal_data(text: str) -> str:
    """Return a text with the data about people in it replaced by markers."""
    return replace_findings(text, find_personal_data(text))


class TextScanner:
    """A way to find what is to be cut: in a text, and in a JSON value string by string."""

    def __init__(self, clean: Callable[[str], str], clean_tree: Callable[[object], object]) -> None:
        self._clean = clean
        self._clean_tree = clean_tree

    def cut_text(self, text: str, as_json: bool) -> str:
        """Return the text as it is to be stored."""
        if as_json:
            try:
                tree = json.loads(text)
            except ValueError:
                return self._clean(text)
            cut = self._clean_tree(tree)
            return text if cut == tree else dump_compact_json(cut)
        return self._clean(text)

    def cut_line(self, line: str) -> str:
        """Return a line of the spool as it is to be stored."""
        try:
            tree = json.loads(line)
        except ValueError:
            return self._clean(line)
        cut = self._clean_tree(tree)
        return line if cut == tree else json.dumps(cut, ensure_ascii=True, separators=(",", ":"))

    def find_matches(self, text: str, as_json: bool) -> dict[str, list[str]]:
        """Return what a field contains, by rule: for each match a masked text, empty where nothing may be shown."""
        after = self.cut_text(text, as_json)
        if after == text:
            return {}
        before = count_markers(text)
        found = {rule: count - before.get(rule, 0) for rule, count in count_markers(after).items()}
        return {rule: [""] * count for rule, count in found.items() if count > 0}


class _PersonalDataScanner(TextScanner):
    def __init__(self) -> None:
        super().__init__(_cut_personal_data, lambda tree: map_strings(tree, _cut_personal_data))

    def find_matches(self, text: str, as_json: bool) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}

        def note(name: str) -> str:
            for one in find_personal_data(name):
                found.setdefault(one.label, []).append(mask_personal_value(one.label, name[one.start : one.end]))
            return name

        try:
            map_strings(json.loads(text) if as_json else text, note)
        except ValueError:
            note(text)
        return found


SECRET_SCANNER = TextScanner(clean_text, clean_json)
PERSONAL_DATA_SCANNER = _PersonalDataScanner()
"""E-mails, phones and the like: cut only when a person says so."""


SCANNED_TABLES = (
    *(table for table in (*RECORDED_TABLES, *JOURNAL_TABLES) if table != "history_row"),
    "documents",
    "chunks",
    "queries",
    "contexts",
    "injections",
    "answers_cache",
    "model_calls",
)
JSON_COLUMN_DEFAULTS = ("'[]'", "'{}'", "'null'")
SCAN_PAGE_ROWS = 1000
# no table: what hooks left to be written
SPOOL_TABLE = "spool"


@dataclass(slots=True, eq=False, repr=False)
class SecretLeak:
    """Secrets of one rule in one field: where and how many, never the secret. `seq` is the step of history that holds
    them, 0 for the record itself. Of data about people, `masked` shows enough to recognise it."""

    citation: str
    table: str
    key: tuple[Any, ...]
    field: str
    rule: str
    found: list[str]
    seq: int = 0
    n: int = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.found)

    @property
    def masked(self) -> list[str]:
        """What may be shown of them, each once."""
        return [*dict.fromkeys(filter(None, self.found))]


def scan_secrets(database: Database, scanner: TextScanner = SECRET_SCANNER) -> list[SecretLeak]:
    """List every match in stored text of the current rules, except what the person allows; with
    PERSONAL_DATA_SCANNER of the data about people."""
    found: list[SecretLeak] = []
    for table in SCANNED_TABLES:
        for key, row in _read_rows_by_page(database, table):
            for field, text, as_json in row:
                for rule, count in scanner.find_matches(text, as_json).items():
                    found.append(SecretLeak(cite_table_row(database, table, key), table, key, field, rule, count))
    lists = {
        table: {name for name, as_json in _text_columns(database, table) if as_json} for table in RECORDED_TABLES
    }
    for seq, n, table, key_text, states in _read_history(database):
        counts: dict[tuple[str, str], list[str]] = {}
        for state in states:
            for field, text in (state or {}).items():
                if isinstance(text, str):
                    for rule, count in scanner.find_matches(text, field in lists.get(table, ())).items():
                        counts.setdefault((field, rule), []).extend(count)
        key = tuple(json.loads(key_text))
        for (field, rule), count in counts.items():
            found.append(SecretLeak(cite_table_row(database, table, key), table, key, field, rule, count, seq, n))
    for number, line in enumerate(read_spool_lines(database.path), start=1):
        for rule, count in scanner.find_matches(line, True).items():
            found.append(SecretLeak("spool", SPOOL_TABLE, (number,), "line", rule, count))
    return found


def scrub_secrets(
    database: Database, leaks: Iterable[SecretLeak], actor: str = "user", scanner: TextScanner = SECRET_SCANNER
) -> bool:
    """Cut the secrets out of the fields that `scan_secrets` found with this scanner, out of what is derived from
    them, out of the spool and out of the backups. Return True when no byte is left, False while another program
    reads the log that holds them. The author and the reason of a step are kept. Raise StorageError."""
    leaks = list(leaks)
    if any(leak.table == SPOOL_TABLE for leak in leaks):
        replace_spool_lines(database.path, scanner.cut_line)
    done = _cut_leaks(database, leaks, actor, scanner)
    return not clean_backups(database, lambda backup: _scrub_backup(backup, scanner)).pending and done


def _cut_leaks(database: Database, leaks: Iterable[SecretLeak], actor: str, scanner: TextScanner) -> bool:
    """Cut these secrets out of one file, without a step of history; return False while another program reads the
    log."""
    records: dict[tuple[str, tuple[Any, ...]], set[str]] = {}
    steps: dict[tuple[int, int], str] = {}
    # records, by table and key, whose steps contain one
    leaking: set[tuple[str, str]] = set()
    for leak in leaks:
        # who and why: the chain of digests depends on them; no row
        if leak.table in ("history", SPOOL_TABLE):
            continue
        if leak.seq:
            steps[leak.seq, leak.n] = leak.table
            leaking.add((leak.table, dump_compact_json(leak.key)))
        else:
            records.setdefault((leak.table, leak.key), set()).add(leak.field)
    with database.write(actor, "scrub") as write:
        write.stop_recording()
        if records:
            record_removal(write)
        for (table, key), fields in records.items():
            _scrub_record(write, table, key, fields, scanner)
        unpack_records(write, leaking)
        for (seq, n), table in steps.items():
            _scrub_step(write, table, seq, n, scanner)
        # vectors and digests of deleted texts; the rest of this cache is made again when needed
        forget_unused_vectors(write)
    with database.write(actor, "optimize") as write:
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('optimize')")
    return database.checkpoint_wal()


def _scrub_backup(backup: Database, scanner: TextScanner) -> bool:
    """Cut the secrets out of a backup; return whether it had any. Raise StorageError while it is being read."""
    leaks = [leak for leak in scan_secrets(backup, scanner) if leak.table != "history"]
    if leaks and not _cut_leaks(backup, leaks, "agent", scanner):
        raise StorageError("A backup is being read.")
    return bool(leaks)


def _scrub_record(
    write: Transaction, table: str, key: tuple[Any, ...], fields: set[str], scanner: TextScanner
) -> None:
    if table == "queries":
        write.execute("DELETE FROM queries WHERE text = ?", tuple(map(Verbatim, key)))
        return
    if table == "answers_cache":
        write.execute("DELETE FROM answers_cache WHERE id = ?", key)
        return
    keys, values = primary_key(write.database.connection, table), {}
    where = " AND ".join(f"{name} = ?" for name in keys)
    parameters = tuple(Verbatim(part) if isinstance(part, str) else part for part in key)
    lists = {name for name, as_json in _text_columns(write.database, table) if as_json}
    for field in sorted(fields):
        for text in write.column(f"SELECT {field} FROM {table} WHERE {where}", parameters):
            values[field] = scanner.cut_text(text, field in lists)
    if "fact" in values:
        values["text_hash"] = text_hash(values["fact"])
    if values and table == "turns":
        drop_summaries(write, [int(key[0])])
    if values:
        names = ", ".join(f"{name} = ?" for name in values)
        write.execute(f"UPDATE {table} SET {names} WHERE {where}", (*values.values(), *parameters))
        if table == "checkpoints":
            seal_checkpoint(write, key[0])


def _scrub_step(write: Transaction, table: str, seq: int, n: int, scanner: TextScanner) -> None:
    """Cut in the row of a step, drop its salt and keep its leaf: the chain of digests stays valid without the text."""
    lists = {name for name, as_json in _text_columns(write.database, table) if as_json}
    for states in list(write.rows("SELECT before, after FROM history_row WHERE seq = ? AND n = ?", (seq, n))):
        cut = [state and dump_compact_json(_cut_state(json.loads(state), lists, scanner)) for state in states]
        replace_step_row(write, seq, n, cut)


def _cut_state(state: dict[str, Any], lists: set[str], scanner: TextScanner) -> dict[str, Any]:
    """Return a row as a step holds it, without its secrets; a fact's digest follows its text."""
    cut = {
        name: scanner.cut_text(value, name in lists) if isinstance(value, str) else value
        for name, value in state.items()
    }
    if "text_hash" in cut and cut.get("fact") != state.get("fact"):
        cut["text_hash"] = text_hash(cut["fact"])
    return cut


def _text_columns(database: Database, table: str) -> list[tuple[str, bool]]:
    """Return the text columns of a table, and whether each is JSON: the schema gives JSON columns an empty value
    as default."""
    rows = database.rows("SELECT name, type, dflt_value FROM pragma_table_info(?)", (table,))
    return [(name, default in JSON_COLUMN_DEFAULTS) for name, kind, default in rows if kind == "TEXT"]


def _read_rows_by_page(
    database: Database, table: str
) -> Iterator[tuple[tuple[Any, ...], list[tuple[str, str, bool]]]]:
    """Yield (key, (field, text, whether it is JSON) of each field) of every row, a page at a time, so that the scan of
    a large memory holds no read transaction open."""
    texts = _text_columns(database, table)
    keys = primary_key(database.connection, table)
    after: tuple[Any, ...] = ()
    columns = ", ".join([*keys, *(name for name, _ in texts)])
    names = ", ".join(keys)
    while True:
        where = f"WHERE ({names}) > ({', '.join('?' * len(keys))})" if after else ""
        rows = database.rows(
            f"SELECT {columns} FROM {table} {where} ORDER BY {names} LIMIT {SCAN_PAGE_ROWS}", after
        )
        for row in rows:
            values = zip(texts, row[len(keys) :], strict=True)
            yield row[: len(keys)], [(name, text, as_json) for (name, as_json), text in values if text]
        if len(rows) < SCAN_PAGE_ROWS:
            return
        after = rows[-1][: len(keys)]


def _read_history(database: Database) -> Iterator[tuple[int, int, str, str, list[dict[str, Any] | None]]]:
    """Yield (step, n, table, key, [before, after]) of every row of history, packed or not."""
    newest = database.newest_step()
    source = every_row_view(database)
    for start in range(0, newest, SCAN_PAGE_ROWS):
        for seq, n, table, key, *states in database.rows(
            f"SELECT seq, n, tbl, pk, before, after FROM {source} WHERE seq > ? AND seq <= ? ORDER BY seq, n",
            (start, start + SCAN_PAGE_ROWS),
        ):
            yield seq, n, table, key, [state and json.loads(state) for state in states]
