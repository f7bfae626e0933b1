"""Whether the tables, indexes, triggers and views of a file are those that Memoranda makes, and nothing else.

Looked at before anything of a file is run: a trigger or a view that somebody added would act with our hands. What a
version makes is known by a digest of its `sqlite_schema`; only a file that differs is compared row by row with one
made in memory, to say in what. Measured: 0.4 ms a file, 8 ms where it differs.
"""

import apsw

from store.base.errors import ForeignFile
from store.base.hashing import sha256
from store.database.tables import DERIVED

# by schema version, of a file that this version's numbered scripts made; a test makes them anew
DIGESTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",  # nothing
    1: "9a86c48aa27703362c7ce728b1aec5010a1393a63e0309ffc33bd7edd5e90085",
    2: "836e902a2f21294b5d1712a578def2ff27df148cc102e99cb5aca3fc97cf7299",
    3: "72e065d7620400d18cba832a306a7e78831d084423620681b55b64ea6fbe553e",
    4: "19281de01da6003af4132a8f1ece12f1c661dc57e4163bc950cdcce75bf86919",
    5: "8b60032bb1772c1010dc38512bc8648bfde2dc0c464f83d36818f659213dcb21",
    6: "bf1d7a989acba8f17e96406c7a1358280a332f88b4ab266970784c0d4ff5899e",
    7: "7ef83a94433968b65384c7e6df7c0594ff732dcc364222190c33b5b61a8556db",
}

# what a file may have or lack: the counts of ANALYZE, and the tables in which vec0 keeps its blocks
_STATISTICS = {
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
_BLOCKS = "vector_bits_"
_APART = (
    f"(name GLOB '{_BLOCKS}*' OR name GLOB 'sqlite_autoindex_{_BLOCKS}*' OR name IN ('sqlite_stat1', 'sqlite_stat4'))"
)
_WHOLE = (
    "SELECT group_concat(type || char(31) || name || char(31) || tbl_name || char(31) || coalesce(sql, ''), char(30))"
    f" FROM (SELECT * FROM sqlite_schema WHERE NOT {_APART} ORDER BY type, name)"
)
_ROWS = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"


def check(connection: apsw.Connection, path: str, version: int) -> None:
    """Refuse a file whose structure is not that of a memory of schema `version`. Parts that are only derived may be
    missing: they are made again. Raises ForeignFile."""
    for row in connection.execute(f"{_ROWS} WHERE {_APART}"):
        if not _allowed(*row):
            raise _foreign(path, f"it holds the {_said(row)}, which no version of Memoranda made")
    if digest(connection) != DIGESTS.get(version):
        compare(connection, path, version)


def compare(connection: apsw.Connection, path: str, version: int) -> None:
    """Compare a file row by row with what the scripts make of one. Raises ForeignFile."""
    here = set(connection.execute(f"{_ROWS} WHERE NOT {_APART}"))
    expected = _made(version)
    if strange := sorted(here - expected, key=_weight):
        ours = strange[0][:2] in {row[:2] for row in expected}
        about = "which is not as Memoranda makes it" if ours else "which no version of Memoranda made"
        raise _foreign(path, f"it holds the {_said(strange[0])}, {about}")
    lacking = sorted(name for kind, name, *_ in expected - here if kind == "table" and not _derived(name))
    if lacking:
        raise _foreign(path, f"it lacks the table {lacking[0]}")


def digest(connection: apsw.Connection) -> str:
    """Of all that a file's schema holds but what may be missing."""
    text = connection.execute(_WHOLE).get
    return sha256((text or "").encode("utf-8", "surrogateescape")).hexdigest()


def _made(version: int) -> "set[tuple[str, str, str, str]]":
    """The rows of `sqlite_schema` that the numbered scripts make up to a version."""
    from store.database.migrations import run

    connection = apsw.Connection(":memory:")
    try:
        run(connection, 0, version)
        return set(connection.execute(f"{_ROWS} WHERE NOT {_APART}"))
    finally:
        connection.close()


def _derived(name: str) -> bool:
    return any(name == table or name.startswith(f"{table}_") for table in DERIVED)


def _weight(row: "tuple[str, str, str, str]") -> "tuple[bool, str, str]":
    """What acts by itself is named first."""
    return (row[0] != "trigger", row[0], row[1])


def _said(row: "tuple[str, str, str, str]") -> str:
    """A part of a schema by its kind and its name, cut to a line."""
    kind = row[0] if row[0] in ("table", "index", "trigger", "view") else "part"
    return f"{kind} “{row[1][:40]}”"


def _allowed(kind: str, name: str, table: str, sql: str) -> bool:
    """Whether a part that may be missing is as it is always made."""
    if name in _STATISTICS:
        return kind == "table" and table == name and sql == _STATISTICS[name]
    if kind == "index":
        return name.startswith("sqlite_autoindex_") and not sql
    if kind != "table" or table != name:
        return False
    import re  # only where there are such parts, and then numpy comes too

    plain = r"(?:\w+|bit\[\d+\]|[ ,])*"  # names, types and nothing that is computed
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
