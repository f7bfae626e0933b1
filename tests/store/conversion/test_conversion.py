"""A memory of any earlier build is converted with all that it holds."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from support import embedding_models
from support.older import STEPS, VERSIONS, older
from support.ours import ours
from support.soundness import unsound

import store
from store.base.errors import ForeignFile, StorageError
from store.database import schema
from store.database.connection import guard_connection
from store.database.database import Database
from store.database.schema import DERIVED_TABLES, SCHEMA_VERSION, run_script
from store.embedding import vector_codes as vector_backends
from store.embedding.vectors import Vectors
from store.exchange import backups as backup
from store.memory import Memory
from store.search import fulltext as corpus
from store.trust.ownership import is_own_memory

BUILDS = Path(__file__).parents[2] / "earlier_builds"
SAMPLE = BUILDS / "schema20.db.gz"
LAST = VERSIONS[-1]
WORDS = "SELECT * FROM corpus_words ORDER BY term"
Rows = dict[str, list[tuple[Any, ...]]]


def sample(folder: Path, packed: Path = SAMPLE) -> str:
    """A memory that the last build before the one schema made, or another build, by its commands alone, ours here."""
    path = folder / "memory.db"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    path.chmod(0o600)
    ours(path)
    return str(path)


def of_version(folder: Path, version: int) -> str:
    """The same memory as a build of schema `version` would hold it, what is derived included."""
    path = sample(folder)
    if version < LAST:
        shutil.copy(path, folder / "last.db")
        older(path, version)
        with apsw.Connection(path) as connection:
            guard_connection(connection)
            connection.execute("ATTACH ? AS today", (str(folder / "last.db"),))
            for table in DERIVED_TABLES:
                names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
                own = table not in ("corpus", "passages", "corpus_fts", "corpus_words")  # triggers filled these
                if names and own and (table != "vectors" or version >= 11):  # whose keys are of passages since
                    kept = ", ".join(names)
                    connection.execute(f"INSERT OR REPLACE INTO main.{table}({kept}) SELECT {kept} FROM today.{table}")
        connection.close()
        ours(path)
    return path


def rows_of(connection: apsw.Connection) -> Rows:
    """Every row of every table, the words of the index and the counters of ids; not what a conversion adds."""
    parts = schema.required_objects(connection)
    virtual = [name for _, name, _, sql in parts if sql.startswith("CREATE VIRTUAL")]
    tables = [name for kind, name, *_ in parts if kind == "table" and not name.startswith(("sqlite_stat", *virtual))]
    found = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in (*tables, "corpus_words")}
    found["meta"] = [row for row in found["meta"] if row[0] not in ("schema_version", "fts_enabled")]
    del found["backups"]
    return found


def kept_copies(memory: Memory) -> list[backup.Backup]:
    return [one for one in backup.find_backups(memory.database) if "-schema" in one.name]


@pytest.mark.parametrize("packed", sorted(BUILDS.glob("*.db.gz")), ids=lambda packed: packed.name)
def test_a_memory_kept_of_each_build_opens_whole(packed: Path, tmp_path: Path) -> None:
    with store.Memory.open(sample(tmp_path, packed)) as memory:
        version = memory.parts.database.value("SELECT value FROM meta WHERE key = 'schema_version'")
        assert version == str(SCHEMA_VERSION) and unsound(memory.parts) == []
        assert memory.facts() and memory.decisions() and memory.timeline() and memory.proposals()
        for fact in memory.facts():
            assert fact.id in [hit.record.id for hit in memory.search(fact.text)]
        step = memory.forget(fact)
        assert memory.undo().seq == step.seq


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_memory_of_every_earlier_build_holds_what_the_steps_made_of_it(version: int, tmp_path: Path) -> None:
    """Rows, ids, counters of ids, history, vectors and the index, as if each step had been run as its build ran it."""
    path = of_version(tmp_path, version)
    by_steps = shutil.copy(path, tmp_path / "by-steps.db")
    with apsw.Connection(str(by_steps)) as connection:
        guard_connection(connection)
        for step in STEPS[version:]:
            run_script(connection, step.read_text(encoding="utf-8"))
        run_script(connection, schema.SCHEMA_STEPS[22])
        expected = rows_of(connection)
    connection.close()
    with Memory.open(path) as memory:
        assert rows_of(memory.database.connection) == expected
        assert schema.schema_digest(memory.database.connection) == schema.SCHEMA_DIGESTS[SCHEMA_VERSION]
        assert memory.database.rows("PRAGMA integrity_check") == [("ok",)] and corpus.check_text_index(memory.database)
        assert memory.database.value("SELECT value FROM meta WHERE key = 'schema_version'") == str(SCHEMA_VERSION)
        assert memory.database.value("SELECT value FROM meta WHERE key = 'fts_enabled'") == "1"
        (kept,) = kept_copies(memory)
        assert kept.name == f"memory-schema{version}-{kept.made_at.replace(':', '')}.db"
        (told,) = memory.database.warnings
        assert "was written by an older Memoranda and was brought up to date" in told and kept.path in told
    with Memory.open(path) as memory:
        assert memory.database.warnings == [] and len(kept_copies(memory)) == 1
    assert is_own_memory(kept.path), "who goes back to it is told that it is somebody else's"


def test_a_memory_of_the_last_build_before_is_found_whole(tmp_path: Path) -> None:
    """Its records, conversation, proposals, vectors and history; what was done last is undone, and all goes on."""
    path = sample(tmp_path)
    inode = Path(path).stat().st_ino
    with Memory.open(path) as memory:
        status = Path(path).stat()
        assert (status.st_ino, status.st_mode & 0o777) == (inode, 0o600)
        facts = {fact.id: (fact.fact, fact.status) for fact in memory.facts.get_many([1, 2, 3, 5, 6, 7, 8, 9])}
        assert facts == {
            1: ("The team is five people", "superseded"),
            2: ("Deploys happen on Thursdays", "active"),
            3: ("The old office is in Calle Mayor", "forgotten"),
            5: ("Ana prefers short answers in Spanish", "active"),
            6: ("The team is six people", "active"),
            7: ("the deploy key is [REDACTED:AWS_KEY], kept apart", "active"),
            8: ("Fog closes the port", "forgotten"),
            9: ("The ferry leaves at seven", "active"),
        }
        assert memory.facts.get(2).pinned and [fact.id for fact in memory.facts.chain(1)] == [1, 6]
        decisions = {one.title: one.chosen for one in memory.decisions.get_many([1, 2])}
        assert decisions == {"Language": "Python", "Storage": "SQLite in WAL mode"}
        assert memory.database.rows("SELECT decision_id, link_type FROM commit_links") == [(2, "implements")]
        tasks = {one.text: one.status for one in memory.tasks.get_many([1, 2])}
        assert tasks == {"Write the tide report": "pending", "Call the harbour master": "done"}
        said = "We moved the mooring to pier four"
        assert [turn.text for turn in memory.turns.last_turns("standup", 2)] == [said, "Noted."]
        assert [one.text for one in memory.inbox.waiting()] == [said, "Los jueves hay asado"]
        assert [point.name for point in memory.checkpoints.list_newest_first()] == ["before refactor"]
        assert [hit.citation for hit in memory.search("tide table", meaning=False).hits][:2] == ["C#58021d0", "I#1"]
        assert memory.database.value("SELECT count(*) FROM vectors") == 19
        assert Vectors(memory.database).pending_counts()[0] == 2, "what came after the last indexing waits as before"
        assert unsound(memory) == []
        assert [one.reason for one in memory.history.steps(limit=2)] == ["remember F#9", "forget F#8"]
        assert memory.history.changes(2)[0].after, "a step that is packed"
        memory.history.undo()
        memory.history.undo()
        assert memory.facts.get(8).status == "active" and memory.facts.ids(memory.now).count(9) == 0
        assert memory.facts.remember("The crane is green") == (10, True), "an id is never given twice"
        assert unsound(memory) == []


@pytest.mark.parametrize("by", [vector_backends.NUMPY_BACKEND, vector_backends.VEC0_BACKEND])
def test_a_memory_that_is_missing_parts_gets_them(by: str, tmp_path: Path) -> None:
    """Views and what is derived: they are made again, as the file is; tables of vec0, which may not be loaded, stay."""
    path = sample(tmp_path)
    with Memory.open(path) as memory:
        Vectors(memory.database).embed_queue(embedding_models.nano(), by=by)
        blocks = memory.database.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'vector_bits_*'")
        memory.database.connection.pragma("user_version", LAST)
    with apsw.Connection(path) as connection:
        connection.execute("DROP TABLE made_in; DROP TABLE checkouts; DROP VIEW corpus_fact; DROP TABLE meaning_space")
        connection.execute("ANALYZE")
    connection.close()
    with Memory.open(path) as memory:
        assert schema.schema_digest(memory.database.connection) == schema.SCHEMA_DIGESTS[SCHEMA_VERSION]
        assert bool(blocks) == (by == vector_backends.VEC0_BACKEND)
        assert memory.database.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'vector_bits_*'") == blocks
        assert memory.search("ferry", meaning=False).total == 1 and unsound(memory) == []


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("CREATE TRIGGER theirs AFTER INSERT ON facts BEGIN SELECT 1; END", "trigger “theirs”, which no version"),
        ("CREATE TABLE books(title)", "table “books”, which no version"),
        ("DROP TRIGGER facts_found_insert", "its tables are not those of version 12"),
        ("ALTER TABLE facts ADD COLUMN theirs TEXT", "its tables are not those of version 12"),
    ],
)
def test_a_file_that_no_earlier_build_made_is_refused(statement: str, says: str, tmp_path: Path) -> None:
    path = of_version(tmp_path, 12)
    with apsw.Connection(path) as connection:
        connection.execute(statement)
    connection.close()
    before = Path(path).read_bytes()
    with pytest.raises(ForeignFile, match=says) as error:
        Memory.open(path)
    assert "memoranda health --salvage" in error.value.next and Path(path).read_bytes() == before


@pytest.mark.parametrize("version", [7, 12, LAST])
def test_what_cannot_be_converted_stays_as_it_was(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever fails at the end of it; the next opening converts it."""
    path = of_version(tmp_path, version)
    with apsw.Connection(path) as connection:
        before = rows_of(connection), schema.schema_digest(connection)

    def failing(connection: apsw.Connection) -> None:
        raise apsw.FullError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "write_schema_version", failing)
        with pytest.raises(StorageError):
            Memory.open(path)
    with apsw.Connection(path) as connection:
        assert (rows_of(connection), schema.schema_digest(connection)) == before
        assert connection.pragma("user_version") == version
    connection.close()
    with Memory.open(path) as memory:
        assert unsound(memory) == []


def test_a_memory_that_is_converted_needs_its_converter(tmp_path: Path) -> None:
    """The database alone opens what it makes, and says so of anything earlier."""
    with pytest.raises(StorageError, match="was written by an older Memoranda"):
        Database(sample(tmp_path), "cli", create=False)
