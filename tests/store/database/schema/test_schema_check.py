"""The structure of a file is compared with the one we make before anything of it is run."""

import random
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from support import embedding_models, older
from support.cases import load_cases
from support.tables import each

from store.base.errors import DamagedFile, ForeignFile
from store.database import schema
from store.database.schema import APPLICATION_ID, SCHEMA_VERSION
from store.embedding.vector_codes import VEC0_BACKEND
from store.embedding.vectors import Vectors
from store.memory import Memory

RAN = "INSERT INTO meta(key, value) VALUES ('ran', '1') ON CONFLICT(key) DO NOTHING"


def made(path: Path) -> str:
    with Memory.open(str(path)) as memory:
        memory.facts.remember("the team is five")
        memory.decisions.decide("Storage", "SQLite")
    return str(path)


def parts(kind: str) -> list[str]:
    connection = apsw.Connection(":memory:")
    schema.create_memory_schema(connection, "")
    every = connection.execute("SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL", (kind,))
    names = [name for (name,) in every if not name.startswith(("corpus_fts", "corpus_words", "sqlite_"))]
    assert len(names) > 5
    return names


def change(path: str, *statements: str) -> None:
    connection = apsw.Connection(path)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.pragma("writable_schema", 1)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def rows(path: str, sql: str) -> list[tuple]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def refused(path: str, names: str) -> None:
    """It is refused in a sentence that names the part, and nothing in it has changed."""
    before = Path(path).read_bytes()
    for create in (False, True):
        with pytest.raises(ForeignFile, match=names) as error:
            Memory.open(path) if create else Memory.open(path, "worker")
        assert type(error.value) is ForeignFile and "not a memory of ours" in str(error.value)
        assert "memoranda health --salvage" in error.value.next
    assert Path(path).read_bytes() == before


@each("version", older.VERSIONS)
def test_the_digest_of_each_earlier_version_is_of_what_its_build_made(version: int) -> None:
    assert schema.SCHEMA_DIGESTS.get(version) == schema.schema_digest(older.begun(":memory:", version))


def test_the_schema_made_at_once_is_the_one_that_the_steps_of_earlier_builds_made() -> None:
    connection = apsw.Connection(":memory:")
    schema.create_memory_schema(connection, "")
    digests = schema.SCHEMA_DIGESTS
    assert schema.schema_digest(connection) == digests[SCHEMA_VERSION]
    before = "DROP TABLE made_in; DROP TABLE checkouts"
    connection.execute(before)
    assert schema.schema_digest(connection) == digests[20]


def test_a_trigger_on_any_table_is_refused_and_never_runs(tmp_path: Path) -> None:
    for table in sorted({*random.Random(5).sample(parts("table"), 3), "facts", "meta", "leases"}):
        path = made(tmp_path / table / "memory.db")
        event = random.Random(table).choice(["INSERT", "UPDATE", "DELETE"])
        change(path, f"CREATE TRIGGER theirs AFTER {event} ON {table} BEGIN {RAN}; END")
        refused(path, "trigger “theirs”, which no version of Memoranda made")
        assert not rows(path, "SELECT 1 FROM meta WHERE key = 'ran'")


@pytest.mark.parametrize(("statement", "named"), load_cases(__file__)["changes"])
def test_what_is_added_is_refused_and_what_is_derived_may_be_missing(tmp_path: Path, statement: str, named: str):
    path = made(tmp_path / "memory.db")
    change(path, statement)
    if named:
        refused(path, named)
    else:
        Memory.open(path).close()


@pytest.mark.parametrize("kind", ["table", "trigger", "view", "index"])
def test_a_part_of_ours_that_was_changed_is_refused(tmp_path: Path, kind: str) -> None:
    for name in random.Random(kind).sample(parts(kind), 2):
        path = made(tmp_path / name / "memory.db")
        change(path, f"UPDATE sqlite_schema SET sql = sql || ' -- theirs' WHERE name = '{name}'")
        refused(path, f"{kind} “{name}”, which is not as Memoranda makes it")


def test_a_name_that_hides_behind_sqlites_own_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    body = f"CREATE TRIGGER sqlite_stat1 AFTER INSERT ON facts BEGIN {RAN}; END"
    row = f"'trigger', 'sqlite_stat1', 'facts', 0, '{body.replace(chr(39), chr(39) * 2)}'"
    change(path, f"INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES ({row})")
    refused(path, "trigger “sqlite_stat1”")


@pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION])
def test_others_tables_under_our_application_id_are_not_a_memory_of_ours(tmp_path: Path, version: int) -> None:
    path = str(tmp_path / "memory.db")
    change(path, f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {version}")
    if version == SCHEMA_VERSION:
        refused(path, "it lacks the table")
    change(path, "CREATE TABLE books(title TEXT)")
    refused(path, "table “books”, which no version of Memoranda made")


def test_a_memory_with_vectors_in_vec0_opens(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    with Memory.open(path) as memory:
        Vectors(memory.database).embed_queue(embedding_models.nano(), by=VEC0_BACKEND)
        assert memory.database.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'vector_bits_0*'")
    Memory.open(path).close()


def test_a_schema_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    change(path, "UPDATE sqlite_schema SET sql = 'CREATE TABLE (' WHERE name = 'facts'")
    with pytest.raises(DamagedFile):
        Memory.open(path)


def test_bytes_that_are_no_text_are_refused_without_a_traceback(tmp_path: Path) -> None:
    """SQLite reads them, in a trigger that works, and logs them where it reads them not."""
    path = made(tmp_path / "memory.db")
    name = parts("trigger")[0]
    change(path, f"UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || X'202D2DFF' AS TEXT) WHERE name = '{name}'")
    refused(path, f"trigger “{name}”")
    bytes_ = "sql = CAST(X'FF20FE' AS TEXT), name = CAST(X'FF' AS TEXT)"
    change(path, f"UPDATE sqlite_schema SET {bytes_} WHERE name = '{name}'")
    shown = subprocess.run([sys.executable, "-m", "tui.main", "--db", path, "facts"], capture_output=True, text=True)
    assert shown.returncode == DamagedFile.exit_status
    assert shown.stderr.startswith(f"{path} is not a memory") and "Traceback" not in shown.stderr
