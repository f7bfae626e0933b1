"""The schema of a memory: its version and tables, how a file gets it, and whether a file has exactly that.

Check that the tables, indexes, triggers and views of a file are exactly those that Memoranda makes.

Done before anything in a file is run: an added trigger or view would run with our rights. Each version's schema is
known by a digest of its `sqlite_schema`; only a file that differs is compared row by row with one made in memory, to
report the difference. Of an earlier version no other can be made: there only the digest decides, and the names tell
what is strange. Measured: 0.15 ms a file, 12 ms where it differs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import apsw

from store.base.clock import Clock
from store.base.errors import ForeignFile
from store.text.passages import PASSAGE_SIZE, split_passages
from store.text.words import expand_identifiers

if TYPE_CHECKING:
    from apsw import SQLiteValue


# Identify a memory's file, and the version of the schema that this program makes.

# "MEMO"
APPLICATION_ID = 0x4D454D4F
SCHEMA_VERSION = 22


# The functions that the schema's triggers and views call, registered on every connection.
#
# They are innocuous to SQLite: `trusted_schema` decides what a file's schema may call, and these only read their
# arguments.


def register_functions(connection: apsw.Connection) -> None:
    """Register `passages_of(bytes)`, `one_passage(bytes)` and `identifiers(bytes)` on a connection; they take text
    too."""
    for name, function in (
        ("passages_of", _passages_of),
        ("one_passage", _one_passage),
        ("identifiers", _identifier_words),
    ):
        connection.create_scalar_function(name, function, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def argument_text(value: SQLiteValue) -> str:
    """Return an argument of a function as text. Statements pass a text as a BLOB (`CAST(fact AS BLOB)`): a damaged file
    may hold bytes that are not UTF-8, for which APSW raises an error before the function is called; here each becomes
    U+FFFD."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _passages_of(*texts: SQLiteValue) -> str:
    """Return the passages of a text as JSON: [[start, end, line, code], …]; one of a blank text too."""
    text = argument_text(texts[0])
    found = [(one.start, one.end, one.line, int(one.code)) for one in split_passages(text)] or [
        (0, len(text), 1, 0)
    ]
    return str([list(one) for one in found])


def _one_passage(*texts: SQLiteValue) -> bool:
    """Return whether a text is one passage of speech, without damage, whose letters SQLite and Python count alike."""
    text = argument_text(texts[0])
    return len(text) <= PASSAGE_SIZE and "\ufffd" not in text and not any(one.code for one in split_passages(text))


def _identifier_words(*texts: SQLiteValue) -> str:
    """Return the words in the compound names of a text."""
    return expand_identifiers(argument_text(texts[0]))


# Make a new memory of `schema.sql` at once, and take one of an earlier release to this version step by step.
#
# `schema.sql` is always the whole schema of today. A change of it after a release also adds a step here, which does the
# same to a file that has its rows already. Files from before the first release are converted (`store.conversion`).

SCHEMA_FILE = os.path.join(os.path.dirname(__file__), "schema.sql")
SCHEMA_STEPS = {
    22: """
CREATE TABLE checkouts(id INTEGER PRIMARY KEY, branch TEXT NOT NULL, worktree TEXT NOT NULL, folder TEXT NOT NULL,
  UNIQUE(branch, worktree, folder));
CREATE TABLE made_in(key INTEGER PRIMARY KEY, checkout INTEGER NOT NULL REFERENCES checkouts(id));
"""
}
"""SQL by the version that it leads to, from the one before. A step that was released is never changed."""


def can_upgrade_from(version: int) -> bool:
    """Return whether `upgrade_schema` can make today's memory of a file of this version; 0 is an empty one."""
    return version == 0 or all(number in SCHEMA_STEPS for number in range(version + 1, SCHEMA_VERSION + 1))


def upgrade_schema(
    connection: apsw.Connection,
    clock: Clock,
    born: Callable[[apsw.Connection], None] | None = None,
    convert: Callable[[apsw.Connection, int, str], None] | None = None,
) -> None:
    """Make the file a memory of SCHEMA_VERSION, all or nothing, outside of history. `born` is called for a new one, at
    the end of the transaction; `convert` (with the version and the time) where no steps lead from the file's version.

    Several processes may open a file at once: each waits for the write lock and then reads the version again, so one of
    them does the work and the others find it done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version, now = connection.pragma("user_version"), clock()
        if version == 0:
            create_memory_schema(connection, now)
            if born is not None:
                born(connection)
        elif version < SCHEMA_VERSION:
            if convert is not None and not can_upgrade_from(version):
                convert(connection, version, now)
            else:
                for number in range(version + 1, SCHEMA_VERSION + 1):
                    run_script(connection, SCHEMA_STEPS[number])
            write_schema_version(connection)
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
        raise


def create_memory_schema(connection: apsw.Connection, now: str) -> None:
    """Make an empty file a memory, within the caller's transaction."""
    with open(SCHEMA_FILE, encoding="utf-8") as schema:
        run_script(connection, schema.read())
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute("INSERT INTO meta(key, value) VALUES ('created_at', ?)", (now,))
    write_schema_version(connection)


def write_schema_version(connection: apsw.Connection) -> None:
    """Write the version into the head of the file, where opening reads it, and into `meta`, where anybody does."""
    connection.pragma("user_version", SCHEMA_VERSION)
    connection.execute(
        "INSERT OR REPLACE INTO meta(key, value) VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),)
    )


def run_script(connection: apsw.Connection, script: str) -> None:
    """Run a script to its end: it stops at the first statement that returns a row."""
    register_functions(connection)
    for _ in connection.execute(script):
        pass


# The four kinds of table, which determine how history treats their rows.
#
# A test compares these lists with the schema, so a new table without a kind fails.

# every change kept in history, undoable, restorable; in the order an export lists them
RECORDED_TABLES = ("facts", "decisions", "commit_links", "tasks", "proposals", "mutes")
# append-only, never rolled back
JOURNAL_TABLES = (
    "iterations",
    "commits",
    "events",
    "checkpoints",
    "turns",
    "summaries",
    "history",
    "history_row",
)
# also a journal, in another form: rows of history_row; an export lists them as changes
PACKED_TABLES = ("history_block",)
# of this machine and this moment: no history, no export
OPERATIONAL_TABLES = (
    *("meta", "leases", "queries", "accesses", "month_words", "backups", "tombstones", "answers", "redactions"),
    *("context_usage", "sessions", "sources", "ingested", "discarded", "pending_extraction"),
    *("contexts", "sent", "answers_cache", "uncompared", "searches", "model_use", "model_calls"),
    *("agent_sessions", "agent_calls", "agent_tasks", "injections", "injected", "muted"),
    *("synced_files", "synced_lines", "synced_proposals", "evidence_looks", "moves"),
    *("checkouts", "made_in"),
)
# derived, rebuilt from scratch
DERIVED_TABLES = (
    "documents",
    "chunks",
    "corpus",
    "passages",
    "corpus_fts",
    "corpus_words",
    "embedding_models",
    "embeddings",
    "vectors",
    "vector_blocks",
    "embedding_queue",
    "meaning_space",
)

# SQL for a row of `summaries`: the time of the last turn that it sums up. `created_at` is that time too, but in rows of
# an older version it is when they were made; of turns that have expired the next one counts
SUMMARY_TIME_SQL = (
    "min(created_at, coalesce((SELECT t.at FROM turns t WHERE t.session = summaries.session AND t.number >= last"
    " ORDER BY t.number LIMIT 1), created_at))"
)


# type, name, table, statement
Row = tuple[str, str, str, str]
Encoded = tuple[bytes, bytes, bytes, bytes]

# by schema version; a test computes them again
SCHEMA_DIGESTS = {
    # nothing
    0: "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
    1: "9986a4e0b6cd0cd1caab1c7df8093fe4208b3f8a39a4809abf860f3a4ff22639",
    2: "ffb5cef8f4b64d6d5be74aef64c608ad70c8c8bd3513a287c1b0eb94949a44ad",
    3: "6024fa8db3df3244dcdd8e7c7c022d1afe68b04e9c88f1c44ee941f6b1037d85",
    4: "a5a291db3c57d45798d390e11e4959f98a3b2ed05fc2925690e26a051dc7e50d",
    5: "1ab7fc3dcf3401966c76d50a1709634c0038af207d36cb80c9cf2880d1ba4775",
    6: "9139ebebd245035898f01f6167f95d55fa17cfa53d8b833d7a65c3190c156887",
    7: "c53677e2fdd15486a105d3c5c8da3f603e90184bf4f5a5bd2d454c4829c532de",
    8: "019fda65e487c003fb959c4b4197b64375937e91e989cb625745778ec1c93022",
    9: "1773cd016243ea8e70ad78978eccc4e8ad14d1f735cd56f9dc209a129571871d",
    10: "c39f25ead8cbc9e20e021183850cd2c6c2cc2993f634114148fc4ac173caad2a",
    11: "bc241176750616cf8ce0af843d18d59480d1e530982b6086ae3e53c91e31eee3",
    12: "7dfba5d86661aaefda4ecef98aa22a2a9795a49b14dab501cec93f714d67ae2a",
    13: "67b9b0a81eab52dbce630155153384b3de96eb43aecb10c0ee5c6256c88792f0",
    14: "1502fbe6682a5f52fab9bbf9e2550b1983b27b5038ebc089ac0e5982ff281a1d",
    15: "4501c5f81c534f9a999f12580b19b11b94ebed5504be70a55bc2de514192fafa",
    16: "3ad2e3a253f3273ed142164eed7250e75982409b8d3b2e918777b2657ddaaf54",
    17: "0440679a20879b4c9099645a38d5b6218a370d0b5484962e88f6049bce4be975",
    18: "c1d7d0b8779e4d11b373718f525c6ad56af2376e309041c2391887d917696921",
    19: "b236db7a7ec1a3f10b886c4f4047ecf9c196854feb2794ee1340f5c0e07e0f8e",
    20: "a79b7496025961d769f5e4235ffbc3c72c40394c5870705d8114a6846e40032f",
    # as 20: made at once, and keys of `meta`
    21: "a79b7496025961d769f5e4235ffbc3c72c40394c5870705d8114a6846e40032f",
    22: "8ee8df2f70dd8ea70dc92c2f17cf88458e995b0d61ceb1f0540e16169c91c12d",
}
# the version from which on all is as today, but for the tables that steps added since
LAST_OF_STEPS = 20
LATE_TABLES = ("checkouts", "made_in")
# what earlier versions had and this one has not
_GONE = {
    *(("index", name) for name in ("history_in_force", "embedding_queue_first")),
    *(("trigger", name) for name in ("corpus_update", "corpus_meant_insert", "corpus_meant_update")),
    ("trigger", "corpus_meant_delete"),
}

# what may be present or missing: the counts of ANALYZE, and the tables in which vec0 keeps its blocks
_STATISTICS = {
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
_BLOCK_TABLES = "vector_bits_"
_OPTIONAL = tuple(name.encode() for name in (_BLOCK_TABLES, f"sqlite_autoindex_{_BLOCK_TABLES}", *_STATISTICS))
_SELECT_SCHEMA = (
    "SELECT CAST(coalesce(type, '') AS BLOB), CAST(coalesce(name, '') AS BLOB), CAST(coalesce(tbl_name, '') AS BLOB),"
    " CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema"
)


def check_schema(connection: apsw.Connection, path: str, version: int) -> None:
    """Refuse a file whose structure is not that of a memory of schema `version`. Derived parts may be missing:
    they are made again. Raise ForeignFile."""
    rows = _read_schema(connection)
    for row in rows:
        if row[1].startswith(_OPTIONAL) and not _is_allowed_part(*_decode_row(row)):
            raise _foreign_file_error(
                path, f"it holds the {_describe_part(_decode_row(row))}, which no version of Memoranda made"
            )
    if _digest_rows(rows) != SCHEMA_DIGESTS.get(version):
        compare_schema(connection, path, version)


def compare_schema(connection: apsw.Connection, path: str, version: int) -> None:
    """Compare a file row by row with what this version makes, by name with what an earlier one made. Raise
    ForeignFile."""
    here = required_objects(connection)
    late = LATE_TABLES if version < SCHEMA_VERSION else ()
    expected = {row for row in _expected_rows() if row[2] not in late} if version else set()
    if 0 < version < LAST_OF_STEPS:
        names = {row[:2] for row in expected} | _GONE
        if strange := sorted((row for row in here if row[:2] not in names), key=_sort_key):
            raise _foreign_file_error(
                path, f"it holds the {_describe_part(strange[0])}, which no version of Memoranda made"
            )
        raise _foreign_file_error(path, f"its tables are not those of version {version} of a memory")
    if strange := sorted(here - expected, key=_sort_key):
        ours = strange[0][:2] in {row[:2] for row in expected}
        about = "which is not as Memoranda makes it" if ours else "which no version of Memoranda made"
        raise _foreign_file_error(path, f"it holds the {_describe_part(strange[0])}, {about}")
    lacking = sorted(name for kind, name, *_ in expected - here if kind == "table" and not _is_derived(name))
    if lacking:
        raise _foreign_file_error(path, f"it lacks the table {lacking[0]}")


def schema_digest(connection: apsw.Connection) -> str:
    """Return the digest of a file's schema without the parts that may be missing; 64 hexadecimal digits."""
    return _digest_rows(_read_schema(connection))


def _digest_rows(rows: Sequence[Encoded]) -> str:
    lines = sorted([b"\x1f".join(row) for row in rows if not row[1].startswith(_OPTIONAL)])
    return blake2b(b"\x1e".join(lines), digest_size=32).hexdigest()


def _read_schema(connection: apsw.Connection) -> list[Encoded]:
    """Return the rows of `sqlite_schema`, as bytes."""
    return connection.execute(_SELECT_SCHEMA).fetchall()  # type: ignore[return-value]  # what the statement casts to


def required_objects(connection: apsw.Connection) -> set[Row]:
    """Return the rows of `sqlite_schema` except those that may be missing."""
    return {_decode_row(row) for row in _read_schema(connection) if not row[1].startswith(_OPTIONAL)}


def _decode_row(row: Encoded) -> Row:
    """Return a row as text; SQLite also reads statements that are not UTF-8."""
    kind, name, table, sql = (part.decode("utf-8", "replace") for part in row)
    return kind, name, table, sql


def _expected_rows() -> set[Row]:
    """Return the rows of `sqlite_schema` of a new memory."""
    connection = apsw.Connection(":memory:")
    try:
        with open(SCHEMA_FILE, encoding="utf-8") as schema:
            run_script(connection, schema.read())
        return required_objects(connection)
    finally:
        connection.close()


def _is_derived(name: str) -> bool:
    """Tell whether a table is derived, or belongs to a derived table."""
    return any(name == table or name.startswith(f"{table}_") for table in DERIVED_TABLES)


def _sort_key(row: Row) -> tuple[bool, str, str]:
    """Return a sort key that puts first what runs by itself."""
    return (row[0] != "trigger", row[0], row[1])


def _describe_part(row: Row) -> str:
    """Return the kind and the name of a part of a schema, cut to a line."""
    kind = row[0] if row[0] in ("table", "index", "trigger", "view") else "part"
    return f"{kind} “{row[1][:40]}”"


def _is_allowed_part(kind: str, name: str, table: str, sql: str) -> bool:
    """Return whether a part that may be missing has the expected statement."""
    if name in _STATISTICS:
        return kind == "table" and table == name and sql == _STATISTICS[name]
    if kind == "index":
        return name.startswith("sqlite_autoindex_") and not sql
    if kind != "table" or table != name:
        return False
    # names and types, nothing computed
    plain = r"(?:\w+|bit\[\d+\]|[ ,])*"
    if re.fullmatch(rf"CREATE VIRTUAL TABLE {re.escape(name)} USING vec0\({plain}\)", sql):
        return bool(re.fullmatch(rf"{_BLOCK_TABLES}\d+", name))
    inside = re.fullmatch(rf'CREATE TABLE "{re.escape(name)}" ?\(({plain})\)', sql)
    computed = r"\b(?:as|check|default|generated|references)\b"
    return inside is not None and not re.search(computed, inside[1], re.IGNORECASE)


def _foreign_file_error(path: str, says: str) -> ForeignFile:
    """Return the error for a file that is no memory; `says` completes the sentence."""
    return ForeignFile(
        f"{path} is not a memory of ours: {says}.",
        "Nothing of it was run; `memoranda health --salvage FILE` writes what can be read of a memory to a new file.",
    )
