"""Secrets in stored text: list those that were cut while writing, find and scrub those stored before their rule
existed.

A scrub adds no step to history, since a step would hold the text: the records, the journal and history's own rows get
the marker in place, derived rows follow, and the pages and the log that held the text are wiped.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from store.base.citations import Citation, cite
from store.base.errors import StorageError
from store.conversations import hook_spool, summaries
from store.database.database import Database, Transaction
from store.database.erasure import tombstones
from store.database.schema.tables import JOURNAL, RECORDED
from store.database.values import Verbatim
from store.history.checkpoint_payload import seal
from store.history.compression import every_row, unpack
from store.purge.backups import in_backups
from store.purge.scan.scanners import SECRETS, Scanner, dumped
from store.records.fact_rows import text_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KINDS = {
    "facts": "fact",
    "decisions": "decision",
    "tasks": "task",
    "proposals": "proposal",
    "iterations": "iteration",
    "events": "event",
    "checkpoints": "checkpoint",
    "turns": "turn",
    "summaries": "summary",
}
SCANNED = (
    *(table for table in (*RECORDED, *JOURNAL) if table != "history_row"),
    "documents",
    "chunks",
    "queries",
    "contexts",
    "injections",
    "answers_cache",
    "model_calls",
)
SENT = {
    "contexts": "a question that was sent",
    "injections": "what an agent was sent",
    "answers_cache": "an answer that was kept",
    "model_calls": "an answer of the model",
}
JSON_DEFAULTS = ("'[]'", "'{}'", "'null'")
PAGE = 1000
_THERE = "(tbl <> 'chunks' OR record IN (SELECT id FROM chunks))"  # a document that changed has other chunks
SPOOL = "spool"  # no table: what hooks left to be written


class Leak:
    """Secrets of one rule in one field: where and how many, never the secret. `seq` is the step of history that holds
    them, 0 for the record itself. Of data about people, `masked` shows enough to recognise it."""

    __slots__ = ("citation", "count", "field", "key", "masked", "n", "rule", "seq", "table")

    def __init__(
        self,
        citation: str,
        table: str,
        key: "tuple[Any, ...]",
        field: str,
        rule: str,
        found: "list[str]",
        seq: int = 0,
        n: int = 0,
    ) -> None:
        self.citation = citation
        self.table = table
        self.key = key
        self.field = field
        self.rule = rule
        self.count = len(found)
        self.masked = [*dict.fromkeys(filter(None, found))]
        self.seq = seq
        self.n = n


class Cut:
    """A secret that was never stored: when, where and by which rule it was cut, who wrote it and through which door."""

    __slots__ = ("actor", "at", "citation", "count", "door", "field", "rule")

    def __init__(self, at: str, citation: str, field: str, rule: str, count: int, actor: str, door: str) -> None:
        self.at = at
        self.citation = citation
        self.field = field
        self.rule = rule
        self.count = count
        self.actor = actor
        self.door = door


def noted(database: Database, limit: int = 50, rule: str = "") -> list[Cut]:
    """List what was cut while writing, newest first, of one rule or of all."""
    rows = database.rows(
        "SELECT at, tbl, record, field, rule, count, actor, door FROM redactions WHERE ? IN ('', rule)"
        f" AND {_THERE} ORDER BY at DESC, id DESC LIMIT ?",
        (rule, limit),
    )
    return [
        Cut(at, citation(database, table, (record,)), field, label, count, actor, door)
        for at, table, record, field, label, count, actor, door in rows
    ]


def made(database: Database) -> list[Cut]:
    """List what the transactions of this connection cut since the last call, ordered by place; query no database where
    nothing was cut."""
    cuts, database.cut = database.cut, {}
    return [
        Cut("", citation(database, table, (row,)), field, rule, count, "", database.door)
        for (table, row, field, rule), count in cuts.items()
    ]


def counted(database: Database) -> dict[str, int]:
    """Count the cuts of each rule, of those that `noted` lists."""
    return dict(database.rows(f"SELECT rule, sum(count) FROM redactions WHERE {_THERE} GROUP BY rule"))


def citation(database: Database, table: str, key: "Sequence[Any]") -> str:
    """Return the citation of a row; for a table without citations its name and the row's key."""
    if table in KINDS:
        return cite(KINDS[table], key[0])
    if table == "queries":  # its key is the text
        return "a search"
    if table in SENT:
        return SENT[table]
    if table == "history":
        return f"step {key[0]}"
    if table == "commits" and (sha := database.value("SELECT sha FROM commits WHERE id = ?", (key[0],))):
        return cite("commit", sha)
    if table == "mutes":
        return f"the mute of {cite('fact', key[0])}"
    if table == "commit_links":
        return f"{citation(database, 'commits', key)} {cite('decision', key[1])}"
    if table == "chunks":
        row = database.row(
            "SELECT path, first, last FROM chunks JOIN documents d ON d.id = document_id WHERE chunks.id = ?", (key[0],)
        )
        if row:
            return str(Citation("document", *row))
    return f"{table} {' '.join(map(str, key))}"


def scan(database: Database, scanner: Scanner = SECRETS) -> list[Leak]:
    """List every match in stored text of the current rules, except what the person allows; or of another scanner,
    PEOPLE."""
    found: list[Leak] = []
    for table in SCANNED:
        for key, row in _rows(database, table):
            for field, text, as_json in row:
                for rule, count in scanner.found(text, as_json).items():
                    found.append(Leak(citation(database, table, key), table, key, field, rule, count))
    lists = {table: {name for name, as_json in _columns(database, table) if as_json} for table in RECORDED}
    for seq, n, table, key_text, states in _history(database):
        counts: dict[tuple[str, str], list[str]] = {}
        for state in states:
            for field, text in (state or {}).items():
                if isinstance(text, str):
                    for rule, count in scanner.found(text, field in lists.get(table, ())).items():
                        counts.setdefault((field, rule), []).extend(count)
        key = tuple(json.loads(key_text))
        for (field, rule), count in counts.items():
            found.append(Leak(citation(database, table, key), table, key, field, rule, count, seq, n))
    for number, line in enumerate(hook_spool.lines(database.path), start=1):
        for rule, count in scanner.found(line, True).items():
            found.append(Leak("spool", SPOOL, (number,), "line", rule, count))
    return found


def scrub(database: Database, leaks: Iterable[Leak], actor: str = "user", scanner: Scanner = SECRETS) -> bool:
    """Cut the secrets out of the fields that `scan` found with the same scanner, out of what is derived from them, out
    of the spool and out of the backups beside the memory. Return True when no byte is left, False while another program
    still reads the log that holds them. The author of and reason for a step are kept. Raise StorageError."""
    leaks = list(leaks)
    if any(leak.table == SPOOL for leak in leaks):
        hook_spool.change(database.path, scanner.cut_line)
    done = _cut_out(database, leaks, actor, scanner)
    return not in_backups(database, lambda backup: _scrub_too(backup, scanner)).pending and done


def _cut_out(database: Database, leaks: Iterable[Leak], actor: str, scanner: Scanner) -> bool:
    records: dict[tuple[str, tuple[Any, ...]], set[str]] = {}
    steps: dict[tuple[int, int], str] = {}
    leaking: set[tuple[str, str]] = set()  # records, by table and key, whose steps contain one
    for leak in leaks:
        if leak.table in ("history", SPOOL):  # who and why: the chain of digests depends on them; no row
            continue
        if leak.seq:
            steps[leak.seq, leak.n] = leak.table
            leaking.add((leak.table, dumped(leak.key)))
        else:
            records.setdefault((leak.table, leak.key), set()).add(leak.field)
    from store.embedding.indexer import forget_cache

    with database.write(actor, "scrub") as write:
        write.unrecorded()
        if records:
            tombstones.cut_out(write)
        for (table, key), fields in records.items():
            _scrub_record(write, table, key, fields, scanner)
        unpack(write, leaking)
        for (seq, n), table in steps.items():
            _scrub_step(write, table, seq, n, scanner)
        # vectors and digests of deleted texts; the rest of this cache is made again when needed
        forget_cache(write)
    with database.write(actor, "optimize") as write:
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('optimize')")
    return database.checkpoint_wal()


def _scrub_too(backup: Database, scanner: Scanner) -> bool:
    leaks = [leak for leak in scan(backup, scanner) if leak.table != "history"]
    if leaks and not _cut_out(backup, leaks, "agent", scanner):
        raise StorageError("A backup is being read.")
    return bool(leaks)


def _scrub_record(write: Transaction, table: str, key: "tuple[Any, ...]", fields: set[str], scanner: Scanner) -> None:
    if table == "queries":
        write.execute("DELETE FROM queries WHERE text = ?", tuple(map(Verbatim, key)))
        return
    if table == "answers_cache":
        write.execute("DELETE FROM answers_cache WHERE id = ?", key)
        return
    keys, values = _key_columns(write.database, table), {}
    where = " AND ".join(f"{name} = ?" for name in keys)
    parameters = tuple(Verbatim(part) if isinstance(part, str) else part for part in key)
    lists = {name for name, as_json in _columns(write.database, table) if as_json}
    for field in sorted(fields):
        for (text,) in write.rows(f"SELECT {field} FROM {table} WHERE {where}", parameters):
            values[field] = scanner.cut(text, field in lists)
    if "fact" in values:
        values["text_hash"] = text_hash(values["fact"])
    if values and table == "turns":
        summaries.drop(write, [int(key[0])])
    if values:
        names = ", ".join(f"{name} = ?" for name in values)
        write.execute(f"UPDATE {table} SET {names} WHERE {where}", (*values.values(), *parameters))
        if table == "checkpoints":
            seal(write, key[0])


def _scrub_step(write: Transaction, table: str, seq: int, n: int, scanner: Scanner) -> None:
    """Cut in the row of a step, drop its salt and keep its leaf: the chain of digests stays valid without the text."""
    lists = {name for name, as_json in _columns(write.database, table) if as_json}
    rows = list(write.rows("SELECT before, after FROM history_row WHERE seq = ? AND n = ?", (seq, n)))
    for states in rows:
        texts: list[Verbatim | None] = []
        for state in states:
            texts.append(None if state is None else Verbatim(dumped(_cut_state(json.loads(state), lists, scanner))))
        write.execute(
            "UPDATE history_row SET before = ?, after = ?, salt = NULL, purged = max(purged, 2)"
            " WHERE seq = ? AND n = ?",
            (*texts, seq, n),
        )


def _cut_state(state: "dict[str, Any]", lists: set[str], scanner: Scanner) -> "dict[str, Any]":
    """Return a row as a step holds it, without its secrets; a fact's digest follows its text."""
    cut = {
        name: scanner.cut(value, name in lists) if isinstance(value, str) else value for name, value in state.items()
    }
    if "text_hash" in cut and cut.get("fact") != state.get("fact"):
        cut["text_hash"] = text_hash(cut["fact"])
    return cut


def _columns(database: Database, table: str) -> list[tuple[str, bool]]:
    """Return the columns of a table that hold text, and whether each is JSON: the schema gives those an empty JSON
    value."""
    rows = database.rows("SELECT name, type, dflt_value FROM pragma_table_info(?)", (table,))
    return [(name, default in JSON_DEFAULTS) for name, kind, default in rows if kind == "TEXT"]


def _key_columns(database: Database, table: str) -> list[str]:
    return [name for (name,) in database.rows("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,))]


def _rows(database: Database, table: str) -> "Iterator[tuple[tuple[Any, ...], list[tuple[str, str, bool]]]]":
    """Yield (key, (field, text, whether it is JSON) of each field) of every row, a page at a time, so that the scan of
    a large memory holds no read transaction open."""
    texts = _columns(database, table)
    keys = _key_columns(database, table)
    after: tuple[Any, ...] = ()
    columns = ", ".join([*keys, *(name for name, _ in texts)])
    names = ", ".join(keys)
    while True:
        where = f"WHERE ({names}) > ({', '.join('?' * len(keys))})" if after else ""
        rows = database.rows(f"SELECT {columns} FROM {table} {where} ORDER BY {names} LIMIT {PAGE}", after)
        for row in rows:
            values = zip(texts, row[len(keys) :], strict=True)
            yield row[: len(keys)], [(name, text, as_json) for (name, as_json), text in values if text]
        if len(rows) < PAGE:
            return
        after = rows[-1][: len(keys)]


def _history(database: Database) -> "Iterator[tuple[int, int, str, str, list[dict[str, Any] | None]]]":
    """Yield (step, n, table, key, [before, after]) of every row of history, packed or not."""
    newest = database.value("SELECT max(seq) FROM history") or 0
    source = every_row(database)
    for start in range(0, newest, PAGE):
        for seq, n, table, key, *states in database.rows(
            f"SELECT seq, n, tbl, pk, before, after FROM {source} WHERE seq > ? AND seq <= ? ORDER BY seq, n",
            (start, start + PAGE),
        ):
            yield seq, n, table, key, [state and json.loads(state) for state in states]
