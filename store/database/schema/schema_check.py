"""Check that the tables, indexes, triggers and views of a file are exactly those that Memoranda makes.

Done before anything in a file is run: an added trigger or view would run with our rights. Each version's schema is
known by a digest of its `sqlite_schema`; only a file that differs is compared row by row with one made in memory, to
report the difference. Of an earlier version no other can be made: there only the digest decides, and the names tell
what is strange. Measured: 0.15 ms a file, 12 ms where it differs.
"""

from hashlib import blake2b

import apsw

from store.base.errors import ForeignFile
from store.database.schema.steps import SCHEMA, run
from store.database.schema.tables import DERIVED
from store.database.schema.version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = tuple[str, str, str, str]  # type, name, table, statement
    Encoded = tuple[bytes, bytes, bytes, bytes]

# by schema version; a test computes them again
DIGESTS = {
    0: "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",  # nothing
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
    21: "a79b7496025961d769f5e4235ffbc3c72c40394c5870705d8114a6846e40032f",  # as 20: made at once, and keys of `meta`
}
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
_BLOCKS = "vector_bits_"
_OPTIONAL = tuple(name.encode() for name in (_BLOCKS, f"sqlite_autoindex_{_BLOCKS}", *_STATISTICS))
_ROWS = (
    "SELECT CAST(coalesce(type, '') AS BLOB), CAST(coalesce(name, '') AS BLOB), CAST(coalesce(tbl_name, '') AS BLOB),"
    " CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema"
)


def check(connection: apsw.Connection, path: str, version: int) -> None:
    """Refuse a file whose structure is not that of a memory of schema `version`. Parts that are only derived may be
    missing: they are made again. Raise ForeignFile."""
    rows = _rows(connection)
    for row in rows:
        if row[1].startswith(_OPTIONAL) and not _allowed(*_decoded(row)):
            raise _foreign(path, f"it holds the {_said(_decoded(row))}, which no version of Memoranda made")
    if _digest(rows) != DIGESTS.get(version):
        compare(connection, path, version)


def compare(connection: apsw.Connection, path: str, version: int) -> None:
    """Compare a file row by row with what this version makes, by name with what an earlier one made. Raise
    ForeignFile."""
    here = required(connection)
    expected = _made() if version else set()
    if version and DIGESTS.get(version) != DIGESTS[SCHEMA_VERSION]:
        names = {row[:2] for row in expected} | _GONE
        if strange := sorted((row for row in here if row[:2] not in names), key=_weight):
            raise _foreign(path, f"it holds the {_said(strange[0])}, which no version of Memoranda made")
        raise _foreign(path, f"its tables are not those of version {version} of a memory")
    if strange := sorted(here - expected, key=_weight):
        ours = strange[0][:2] in {row[:2] for row in expected}
        about = "which is not as Memoranda makes it" if ours else "which no version of Memoranda made"
        raise _foreign(path, f"it holds the {_said(strange[0])}, {about}")
    lacking = sorted(name for kind, name, *_ in expected - here if kind == "table" and not _derived(name))
    if lacking:
        raise _foreign(path, f"it lacks the table {lacking[0]}")


def digest(connection: apsw.Connection) -> str:
    """Return the digest of a file's schema without the parts that may be missing; 64 hexadecimal digits."""
    return _digest(_rows(connection))


def _digest(rows: "Sequence[Encoded]") -> str:
    lines = sorted([b"\x1f".join(row) for row in rows if not row[1].startswith(_OPTIONAL)])
    return blake2b(b"\x1e".join(lines), digest_size=32).hexdigest()


def _rows(connection: apsw.Connection) -> "list[Encoded]":
    return connection.execute(_ROWS).fetchall()  # type: ignore[return-value]  # what the statement casts to


def required(connection: apsw.Connection) -> "set[Row]":
    """Return the rows of `sqlite_schema` except those that may be missing."""
    return {_decoded(row) for row in _rows(connection) if not row[1].startswith(_OPTIONAL)}


def _decoded(row: "Encoded") -> "Row":
    """Return a row as text; SQLite also reads statements that are not UTF-8."""
    kind, name, table, sql = (part.decode("utf-8", "replace") for part in row)
    return kind, name, table, sql


def _made() -> "set[Row]":
    """Return the rows of `sqlite_schema` of a new memory."""
    connection = apsw.Connection(":memory:")
    try:
        with open(SCHEMA, encoding="utf-8") as schema:
            run(connection, schema.read())
        return required(connection)
    finally:
        connection.close()


def _derived(name: str) -> bool:
    return any(name == table or name.startswith(f"{table}_") for table in DERIVED)


def _weight(row: "Row") -> "tuple[bool, str, str]":
    """Return a sort key that puts first what runs by itself."""
    return (row[0] != "trigger", row[0], row[1])


def _said(row: "Row") -> str:
    """Return the kind and the name of a part of a schema, cut to a line."""
    kind = row[0] if row[0] in ("table", "index", "trigger", "view") else "part"
    return f"{kind} “{row[1][:40]}”"


def _allowed(kind: str, name: str, table: str, sql: str) -> bool:
    """Return whether a part that may be missing has the expected statement."""
    if name in _STATISTICS:
        return kind == "table" and table == name and sql == _STATISTICS[name]
    if kind == "index":
        return name.startswith("sqlite_autoindex_") and not sql
    if kind != "table" or table != name:
        return False
    import re  # imported only where there are such parts; numpy is then loaded too

    plain = r"(?:\w+|bit\[\d+\]|[ ,])*"  # names and types, nothing computed
    if re.fullmatch(rf"CREATE VIRTUAL TABLE {re.escape(name)} USING vec0\({plain}\)", sql):
        return bool(re.fullmatch(rf"{_BLOCKS}\d+", name))
    inside = re.fullmatch(rf'CREATE TABLE "{re.escape(name)}" ?\(({plain})\)', sql)
    computed = r"\b(?:as|check|default|generated|references)\b"
    return inside is not None and not re.search(computed, inside[1], re.IGNORECASE)


def _foreign(path: str, says: str) -> ForeignFile:
    return ForeignFile(
        f"{path} is not a memory of ours: {says}.",
        "Nothing of it was run; `memoranda salvage` writes what can be read of a memory to a new file.",
    )
