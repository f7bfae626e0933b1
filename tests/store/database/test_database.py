"""The file: private from its first byte, ours or refused, and born once however many open it."""

import io
import json
import os
import sqlite3
import stat
import subprocess
import time
from pathlib import Path

import apsw
import pytest
from conftest import examples
from support.children import begun, tell
from support.forks import run_program

from store.base.errors import ForeignFile, NewerFile, StorageError, UnsafeFile
from store.base.location import Location, backup_folder
from store.database import connection as recipe
from store.database import database, files, schema
from store.exchange import backups, exporter
from store.memory import Memory

ROOT = Path(__file__).parents[3]
RACES = examples(8)
PROCESSES = 6
INVISIBLE_TABLES = ("sqlite_sequence", "sqlite_stat1")  # SQLite's own


def make(path: Path) -> Path:
    """A memory with one fact in it, closed."""
    with Memory.open(str(path)) as memory:
        memory.facts.remember("the team is five")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder. Only for memories that are closed: closing such a handle drops the locks."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# private ------------------------------------------------------------------------------------------------------------

BORN = """
import json, os, stat, sys
os.umask(int(sys.argv[2], 8))
os.chmod = lambda *_, **__: None  # what is made private only afterwards was not so for a moment
from store.base.location import backup_folder
from store.conversations.hook_spool import append_act
from store.exchange.backups import make_backup
from store.exchange.exporter import save_export as save
from store.memory import Memory
path = sys.argv[1]
with Memory.open(path) as memory:
    memory.facts.remember("the team is five")
    folder = os.path.dirname(path)
    backups = backup_folder(path)
    save(memory.database, os.path.join(folder, "export.json"))
    append_act(path, "remember", {"text": "the team is six"}, actor="hook")
    make_backup(memory.database)
    found = {"folders": {}, "files": {}}
    beside = [] if backups.startswith(folder + "/") else os.walk(os.path.dirname(backups))
    for name, folders, files in [*os.walk(folder), *beside]:
        for kind, names in (("folders", ["", *folders] if name == folder else folders), ("files", files)):
            found[kind] |= {one: stat.S_IMODE(os.lstat(os.path.join(name, one)).st_mode) for one in names}
    print(json.dumps(found))
"""


@pytest.mark.parametrize("folder", [".memoranda", "memoranda"])
@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_everything_is_private_whatever_the_umask(tmp_path, umask, folder):
    """A project's folder or the personal one 0700, with those of the hooks and the backups in it, and every file 0600
    while the memory is open: no moment in which others could read it."""
    path = tmp_path / "project" / folder / "memory.db"
    born = json.loads(run_program(BORN, path, umask).stdout)
    assert born["folders"] == dict.fromkeys(["", "spool", "backups"], 0o700)
    names = {"export.json", "memory.db", "memory.db-ballast", "memory.db-shm", "memory.db-wal"}
    assert set(born["files"]) >= names | {"memory.db.jsonl"} | ({".gitignore"} if folder == ".memoranda" else set())
    assert set(born["files"].values()) == {0o600}


def test_git_does_not_see_the_folder_and_permissions_that_were_opened_are_closed_again(tmp_path):
    """The `.gitignore` beside a project's memory ignores everything in it, itself too. A memory whose modes were
    widened (by a copy, say) is tightened when it is opened."""
    path = make(tmp_path / ".memoranda" / "memory.db")
    assert (path.parent / ".gitignore").read_text() == "*\n"
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    status = subprocess.run(["git", "-C", str(tmp_path), "status", "--short"], capture_output=True, check=True)
    assert status.stdout == b""
    path.chmod(0o644)
    path.parent.chmod(0o755)
    Memory.open(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_log_from_when_the_file_was_read_only_can_be_written_again(tmp_path):
    """SQLite gives it the mode of the file, and nobody could write to a memory that may be written."""
    path = make(tmp_path / "memory.db")
    beside = [Path(f"{path}{ending}") for ending in ("-wal", "-shm")]
    with Memory.open(str(path)) as memory:
        for mode, then in ((0o400, 0o400), (0o600, 0o600)):
            for file in (path, *beside):
                file.chmod(0o400)
            path.chmod(mode)
            Memory.open(str(path)).close()
            assert [stat.S_IMODE(file.stat().st_mode) for file in beside] == [then, then]
        assert memory.facts.remember("the team is six") == (2, True)


# refused --------------------------------------------------------------------------------------------------------------


def refused(path: Path, error: type[Exception], words: str) -> None:
    """Opening `path` fails so, in these words, and makes nothing."""
    before = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    with pytest.raises(error, match=words) as caught:
        Memory.open(str(path))
    assert caught.value.next, "an error names the next step"  # type: ignore[attr-defined]
    assert (sorted(path.parent.iterdir()) if path.parent.is_dir() else []) == before


def test_no_symlink_is_followed(tmp_path):
    """Neither to a memory nor to nothing: whoever made the link would choose what is written. Nor a `.memoranda` that
    leads elsewhere, as a hostile repository could carry it."""
    make(tmp_path / "real.db")
    for target in ("real.db", "missing.db"):
        link = tmp_path / f"link-to-{target}"
        link.symlink_to(tmp_path / target)
        refused(link, UnsafeFile, "symbolic link")
    assert not (tmp_path / "missing.db").exists()
    make(tmp_path / "elsewhere" / "memory.db")
    (tmp_path / ".memoranda").symlink_to(tmp_path / "elsewhere")
    refused(tmp_path / ".memoranda" / "memory.db", UnsafeFile, "symbolic link")


def test_what_is_no_file_is_refused(tmp_path):
    """A directory, a FIFO (which would wait for ever), a folder that is a file."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    refused(tmp_path / "folder", UnsafeFile, "not a plain file")
    refused(tmp_path / "fifo", UnsafeFile, "not a plain file")
    (tmp_path / ".memoranda").write_text("")
    refused(tmp_path / ".memoranda" / "memory.db", UnsafeFile, "not a plain folder")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file" / "memory.db", StorageError, "Not a directory")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_another_persons_file_is_refused(tmp_path):
    """What belongs to another user of the machine could be changed by them at any moment."""
    path = make(tmp_path / ".memoranda" / "memory.db")
    os.chown(path, 12345, 12345)
    refused(path, UnsafeFile, "belongs to another user")
    os.chown(path, 0, 0)
    os.chown(path.parent, 12345, 12345)
    refused(path, UnsafeFile, "belongs to another user")


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("hello", ""),
        ("x" * 100_000, ""),
        ("SQLite format 3\0" + "\xff" * 5_000, ""),
        ("", "CREATE TABLE books(title TEXT); INSERT INTO books VALUES ('Momo');"),
        ("", "PRAGMA application_id = 252006673;"),
        ("", "PRAGMA user_version = 1;"),
    ],
    ids=["short text", "long text", "begins like a database", "a catalogue", "signed", "versioned"],
)
def test_what_is_not_ours_is_left_alone(tmp_path, text, statements):
    """No database, and the database of another program, with an application_id or without one."""
    path = tmp_path / "notes.txt"
    path.write_bytes(text.encode("latin-1"))
    if statements:
        other = sqlite3.connect(path)
        other.executescript(statements)
        other.close()
    before = path.read_bytes()
    refused(path, ForeignFile, "another program" if statements else "not a memory|another program")
    assert path.read_bytes() == before


def test_nothing_is_made_when_nothing_may_be(tmp_path):
    """Without `create` a missing memory is an error that says how to make one, and no folder appears."""
    for path in (tmp_path / "memory.db", tmp_path / "project" / ".memoranda" / "memory.db"):
        with pytest.raises(StorageError, match=r"There is no memory at .*memoranda open --new"):
            Memory(Location(str(path), "option", ""), "cli", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "safe"),
    [
        ("/dev/vda / ext4 rw 0 0", True),
        ("server:/home / nfs4 rw 0 0", False),
        ("/dev/vda / ext4 rw 0 0\nserver:/x {folder} cifs rw 0 0", False),
        ("server:/home / nfs4 rw 0 0\n/dev/vdb {folder} ext4 rw 0 0", True),
        ("/dev/vda / ext4 rw 0 0\nserver:/x {folder}x nfs rw 0 0", True),
        ("/dev/vda {folder} ext4 rw 0 0\nserver:/x {folder} nfs rw 0 0", False),
    ],
)
def test_a_network_file_system_is_refused(tmp_path, monkeypatch, table, safe):
    """WAL needs shared memory. What is faked: the kernel's mount table, in its own format (a space is \\040)."""
    folder = tmp_path / "my project"
    folder.mkdir()
    text = table.format(folder=str(folder).replace(" ", "\\040"))
    monkeypatch.setattr(files, "open", lambda *_, **__: io.StringIO(text), raising=False)
    if safe:
        Memory.open(str(folder / "memory.db")).close()
    else:
        refused(folder / "memory.db", UnsafeFile, "network file system")


# a newer version's file ---------------------------------------------------------------------------------------------


def test_a_newer_file_is_read_and_not_written(tmp_path):
    """It answers, says plainly why it cannot be changed, refuses every write, and not one byte of it changes."""
    path = make(tmp_path / ".memoranda" / "memory.db")
    raw = apsw.Connection(str(path))
    raw.pragma("user_version", recipe.SCHEMA_VERSION + 1)
    raw.close()
    before = contents(tmp_path)
    with Memory.open(str(path)) as memory:
        assert memory.database.read_only
        assert any("newer Memoranda" in warning and "pip install" in warning for warning in memory.database.warnings)
        assert memory.facts.get(1).fact == "the team is five"
        assert memory.search("team").total == 1
        for attempt in (lambda: memory.facts.remember("six"), memory.history.undo, memory.checkpoints.take_checkpoint):
            with pytest.raises(NewerFile, match="newer Memoranda"):
                attempt()
        with pytest.raises(apsw.ReadOnlyError):  # and not by the door alone
            memory.database.connection.execute("DELETE FROM facts")
    assert contents(tmp_path) == before


# the recipe -----------------------------------------------------------------------------------------------------------


def test_every_connection_follows_the_recipe(tmp_path):
    """The settings of every connection, asked of SQLite itself on a fresh connection to an existing file."""
    path = make(tmp_path / "memory.db")
    with Memory.open(str(path)) as memory:
        connection = memory.database.connection
        names = "journal_mode busy_timeout application_id user_version".split()
        found = {name: connection.pragma(name) for name in (*names, *(name for name, _ in recipe.CONNECTION_PRAGMAS))}
        assert found == {
            "journal_mode": "wal",
            "busy_timeout": 10_000,
            "application_id": 0x4D454D4F,
            "user_version": recipe.SCHEMA_VERSION,
            "foreign_keys": 1,
            "recursive_triggers": 1,
            "synchronous": 2,
            "secure_delete": 1,
            "trusted_schema": 0,
            "cell_size_check": 1,
            "mmap_size": 0,
            "journal_size_limit": 1 << 23,
            "temp_store": 2,
        }


def test_a_file_kept_busy_too_long_is_said_so(memory):
    """A writer waits; past its patience the error names the cause, and the memory still works afterwards."""
    with Memory.open(memory.location.path) as other:
        other.database.patience = 50  # milliseconds, not the usual ten seconds
        with memory.database.write("user", "slow") as write:
            write.execute("UPDATE meta SET value = value")
            with pytest.raises(StorageError, match=r"Another program kept .* busy"):
                other.facts.remember("the team is five")
        assert other.facts.remember("the team is five") == (1, True)


# born once ------------------------------------------------------------------------------------------------------------


def statements(script: str) -> list[str]:
    """The statements of an SQL script; SQLite says where a trigger ends."""
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def schema_of(path: Path) -> tuple[object, ...]:
    """What a closed file holds, asked without our code."""
    raw = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        objects = raw.execute("SELECT count(*) FROM sqlite_schema").get
        return raw.pragma("application_id"), raw.pragma("user_version"), objects
    finally:
        raw.close()


def test_a_schema_that_fails_leaves_nothing(tmp_path, monkeypatch):
    """Whichever statement fails, the file is as empty as before, and the next opening makes it whole."""
    parts = statements(Path(schema.SCHEMA_FILE).read_text(encoding="utf-8"))
    assert len(parts) > 150
    broken = tmp_path / "broken.sql"
    path = tmp_path / "memory.db"
    for place in range(1, len(parts) + 1, 3):
        broken.write_text("".join([*parts[:place], "SELECT no_such_function();"]), encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(schema, "SCHEMA_FILE", str(broken))
            with pytest.raises(StorageError):
                Memory.open(str(path))
        assert schema_of(path) == (0, 0, 0)
    with Memory.open(str(path)) as memory:
        assert memory.facts.remember("the team is five") == (1, True)


NEXT = recipe.SCHEMA_VERSION + 1


def test_a_step_is_taken_whole_or_not_at_all(tmp_path, monkeypatch):
    """One whose last statement fails changes neither schema nor version nor records; a mended one does, and keeps what
    is there. What a step made is a memory like one of the changed schema."""
    path = make(tmp_path / "memory.db")
    before = schema_of(path)
    for module in (schema, recipe, database):
        monkeypatch.setattr(module, "SCHEMA_VERSION", NEXT)
    added = "ALTER TABLE tasks ADD COLUMN due TEXT;"
    broken = f"{added} CREATE TABLE reminders(id INTEGER PRIMARY KEY); DELETE FROM facts; SELECT no_such_function();"
    monkeypatch.setitem(schema.SCHEMA_STEPS, NEXT, broken)
    with pytest.raises(StorageError):
        Memory.open(str(path))
    assert schema_of(path) == before
    monkeypatch.setitem(schema.SCHEMA_STEPS, NEXT, added)
    with Memory.open(str(path)) as memory:
        assert memory.facts.get(1).fact == "the team is five" and not memory.database.warnings
        assert memory.database.value("SELECT count(due) FROM tasks") == 0
        assert memory.database.connection.pragma("user_version") == NEXT
        assert memory.database.value("SELECT value FROM meta WHERE key = 'schema_version'") == str(NEXT)
        digest = schema.schema_digest(memory.database.connection)
    assert not (tmp_path / "backups").exists()
    changed = tmp_path / "schema.sql"
    changed.write_text(f"{Path(schema.SCHEMA_FILE).read_text(encoding='utf-8')}\n{added}\n", encoding="utf-8")
    monkeypatch.setattr(schema, "SCHEMA_FILE", str(changed))
    monkeypatch.setitem(schema.SCHEMA_DIGESTS, NEXT, digest)
    for each in (path, tmp_path / "new" / "memory.db"):
        with Memory.open(str(each)) as memory:
            assert schema.schema_digest(memory.database.connection) == digest


def test_a_new_memory_says_what_it_is(tmp_path):
    """Its keys for whoever reads it with another program."""
    with Memory.open(str(tmp_path / "memory.db"), clock=lambda: "2026-11-01T09:00:00.000Z") as memory:
        held = dict(memory.database.rows("SELECT key, value FROM meta"))
    del held["identity"]
    version = str(recipe.SCHEMA_VERSION)
    assert held == {"schema_version": version, "created_at": "2026-11-01T09:00:00.000Z", "fts_enabled": "1"}


OPENER = """
import sys, time
from store.memory import Memory
print("ready", flush=True)
for line in sys.stdin:
    at, path = line.rstrip("\\n").split(" ", 1)
    while time.monotonic() < float(at):
        pass
    try:
        with Memory.open(path) as memory:
            memory.facts.remember(f"I am {sys.argv[1]}")
        print("opened", flush=True)
    except BaseException as error:
        print(repr(error), flush=True)
"""


def test_six_processes_open_a_new_file_at_once(tmp_path):
    """Many times: each of the six gets in, each one's fact is there, and the file was made once."""
    pool = [begun(OPENER, str(number)) for number in range(PROCESSES)]
    try:
        for race in range(RACES):
            path = tmp_path / str(race) / ".memoranda" / "memory.db"
            start = time.monotonic() + 0.005
            for process in pool:
                tell(process, f"{start} {path}")
            answers = [process.stdout.readline().strip() for process in pool if process.stdout]
            assert answers == ["opened"] * PROCESSES, f"race {race}"
            # two that close in the same instant may each leave the log to the other, so it may still be there
            left = {".gitignore", "memory.db", "memory.db-ballast", "memory.db-wal", "memory.db-shm"}
            assert {".gitignore", "memory.db"} <= set(os.listdir(path.parent)) <= left
            raw = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            assert raw.execute("SELECT count(*), count(DISTINCT fact) FROM facts").get == (PROCESSES, PROCESSES)
            assert raw.execute("SELECT count(*), max(seq) FROM history").get == (PROCESSES, PROCESSES)
            assert raw.pragma("quick_check") == "ok"
            raw.close()
    finally:
        for process in pool:
            process.communicate()


def test_another_may_make_the_file_between_any_two_statements(tmp_path, monkeypatch):
    """The same race, slowly: just before each statement of an opening, in turn, somebody else opens the new file."""
    real = apsw.Connection
    state = {"left": 0, "inside": False}

    class Slow(apsw.Connection):
        """A real connection, which lets somebody else in before the statement whose turn it is."""

        def meanwhile(self) -> None:
            if not state["inside"] and self.get_autocommit():
                state["left"] -= 1
                if state["left"] == 0:
                    state["inside"] = True
                    make(path)
                    state["inside"] = False

        def pragma(self, *arguments, **options):  # type: ignore[no-untyped-def]
            self.meanwhile()
            return super().pragma(*arguments, **options)

        def execute(self, *arguments, **options):  # type: ignore[no-untyped-def]
            self.meanwhile()
            return super().execute(*arguments, **options)

    turn = 0
    while state["left"] <= 0:  # until the turn is past the last statement
        turn += 1
        path = tmp_path / str(turn) / "memory.db"
        state["left"] = turn
        with monkeypatch.context() as patch:
            patch.setattr(apsw, "Connection", Slow)
            with Memory.open(str(path)) as memory:
                assert memory.database.value("SELECT count(*) FROM meta WHERE key = 'created_at'") == 1
                memory.facts.remember("The team is FIVE")
                assert memory.database.value("SELECT count(*) FROM facts") == 1
    assert apsw.Connection is real and turn > 12


# the schema -----------------------------------------------------------------------------------------------------------


def test_every_table_has_exactly_one_kind(memory):
    """A new table that nobody gave a kind would silently have no history, no export and no purge."""
    groups = (schema.RECORDED_TABLES, schema.JOURNAL_TABLES, schema.PACKED_TABLES, schema.OPERATIONAL_TABLES)
    kinds = [table for group in (*groups, schema.DERIVED_TABLES) for table in group]
    assert len(kinds) == len(set(kinds))
    rows = memory.database.rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    found = {name for name, kind in rows if kind in ("table", "virtual")}  # not views, nor FTS5's shadow tables
    assert found - {"sqlite_schema", *INVISIBLE_TABLES} == set(kinds)


def test_tables_have_the_keys_that_history_needs(memory):
    """A session sees no row of a table without a primary key, nor one whose key is NULL; without an index each delete
    of a parent scans the whole child table; and a citation never comes to mean another record: ids are AUTOINCREMENT,
    and an undone record's id stays used."""
    rows = memory.database.rows
    for table in schema.RECORDED_TABLES:
        keys = rows('SELECT name, type, "notnull" FROM pragma_table_info(?) WHERE pk', (table,))
        assert keys, table
        assert all(kind == "INTEGER" and (not_null or len(keys) == 1) for _, kind, not_null in keys), table
        indexed = "SELECT i.name FROM pragma_index_list(?) AS l, pragma_index_info(l.name) AS i WHERE i.seqno = 0"
        for column in rows('SELECT "from" FROM pragma_foreign_key_list(?)', (table,)):
            assert column in rows(indexed, (table,)), f"{table}.{column[0]}"
    for table in (*schema.RECORDED_TABLES, *schema.JOURNAL_TABLES):
        sql = memory.database.value("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
        assert "AUTOINCREMENT" in sql or "WITHOUT ROWID" in sql, table
    assert memory.facts.remember("the team is five") == (1, True)
    memory.history.undo()
    assert memory.facts.remember("the team is six") == (2, True)


def test_a_new_name_survives_a_power_cut(tmp_path, monkeypatch):
    """The folder in which a file got its name is synchronised: the memory's, its folder's own, an export's, a
    backup's."""
    synced = set[int]()
    monkeypatch.setattr(os, "fsync", lambda handle: synced.add(os.fstat(handle).st_ino))

    def settled(folder: Path) -> bool:
        there = folder.stat().st_ino in synced
        synced.clear()
        return there

    path = tmp_path / ".memoranda" / "memory.db"
    recipe.open_connection(str(path))[0].close()
    assert tmp_path.stat().st_ino in synced and settled(path.parent)
    recipe.open_connection(str(path))[0].close()
    assert not settled(path.parent), "once is enough"
    with Memory.open(str(path)) as memory:
        exporter.save_export(memory.database, str(tmp_path / "memory.json"))
        assert settled(tmp_path)
        backups.make_backup(memory.database)
        assert settled(Path(backup_folder(str(path))))


@pytest.mark.parametrize("name", ["what?mode=rw", "a#b", "50%25", "ñ é"])
def test_a_folder_of_any_name_is_read_where_it_is(tmp_path: Path, name: str):
    """What SQLite's addresses give a meaning to is only a letter of a name."""
    (tmp_path / name).mkdir()
    file = make(tmp_path / name / "memory.db")
    reader = recipe.open_for_reading(str(file))
    assert reader.execute("SELECT fact FROM facts").get == "the team is five"
    assert reader.filename == str(file)
    reader.close()


@pytest.mark.parametrize("where", ["the memory", "its file"])
def test_what_cannot_be_opened_leaves_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str):
    """The disk fails after SQLite opened the file."""
    path = make(tmp_path / "memory.db")

    def fail(*about: object) -> None:
        raise StorageError("The disk failed.", "Look at it.")

    if where == "the memory":
        monkeypatch.setattr(database.Database, "value", fail)
    else:
        monkeypatch.setattr("store.database.wal.held_wal_warning", fail)
    with pytest.raises(StorageError) as raised:  # whose traceback keeps what is not closed
        Memory.open(str(path))
    assert raised and str(path) not in [one.filename for one in apsw.connections()]
