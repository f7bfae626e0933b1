"""Export: the whole memory as one document, the same bytes every time, private, whole or not there at all."""

import json
import os
import stat
from pathlib import Path

import pytest
from support.ours import ours
from support.writing import files_limited_to, writing

from store.base.errors import Conflict, StorageError
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.database.schema import (
    DERIVED_TABLES,
    JOURNAL_TABLES,
    OPERATIONAL_TABLES,
    PACKED_TABLES,
    RECORDED_TABLES,
    SCHEMA_VERSION,
)
from store.exchange import exporter
from store.memory import Memory

SHA = "a1b2c3d4" * 5


@pytest.fixture
def full(memory: Memory, live) -> Memory:  # type: ignore[no-untyped-def]
    """A memory with something in every table an export holds."""
    live(memory, range(200))
    memory.turns.add_turns("a session", [NewTurn("user", "hello")])
    Summaries(memory.database).summarize_due(all_of_it=True)
    memory.mutes.mute(memory.facts.ids(memory.now)[:1])
    memory.inbox.propose("add", {"fact": "the office moves to Girona"}, origin="mcp:claude-code")
    assert all(memory.database.value(f"SELECT count(*) FROM {table}") for table in (*RECORDED_TABLES, *JOURNAL_TABLES))
    return memory


def read(memory: Memory) -> dict[str, object]:
    found: dict[str, object] = json.loads("".join(exporter.export_text(memory.database)))
    return found


def test_every_column_of_every_table_is_in_it(full):
    """Found from the schema: a new column or table is exported or this fails. Every row is there, value by value."""
    document = read(full)
    every = full.database.rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    kinds = {name for name, kind in every if kind in ("table", "virtual") and not name.startswith("sqlite_")}
    tables = document["tables"]
    assert isinstance(tables, dict)
    assert set(tables) == kinds - {*OPERATIONAL_TABLES, *DERIVED_TABLES, *PACKED_TABLES}
    for table, records in tables.items():
        names = [name for (name,) in full.database.rows("SELECT name FROM pragma_table_info(?)", (table,))]
        stored = [
            {name: value.hex() if isinstance(value, bytes) else value for name, value in zip(names, row, strict=True)}
            for row in full.database.rows(f"SELECT {', '.join(names)} FROM {table}")
        ]
        assert [list(record) for record in records] == [names] * len(stored)
        assert sorted(records, key=repr) == sorted(stored, key=repr), table


def test_it_says_what_it_is(full):
    """Format, version and schema stand in front, so that a later version knows what it reads."""
    document = read(full)
    assert list(document) == ["format", "version", "schema", "tables", "sequence", "checksums", "checksum", "seal"]
    assert (document["format"], document["version"], document["schema"]) == ("memoranda-export", 2, SCHEMA_VERSION)
    full.database.look = True  # one that is only looked at may be anybody's
    assert "seal" not in json.loads("".join(exporter.export_text(full.database)))


def test_the_same_memory_gives_the_same_bytes(full, tmp_path):
    """Twice, and from a copy whose pages lie in another order: the document depends on the records alone."""
    first = "".join(exporter.export_text(full.database))
    assert "".join(exporter.export_text(full.database)) == first
    full.database.connection.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    ours(tmp_path / "copy.db")
    with Memory.open(str(tmp_path / "copy.db")) as copy:
        assert "".join(exporter.export_text(copy.database)) == first


def test_tables_and_rows_stand_in_a_fixed_order(full):
    """Tables as listed in `tables`, rows by primary key: two exports can be compared line by line."""
    tables = read(full)["tables"]
    assert isinstance(tables, dict)
    assert list(tables) == [*RECORDED_TABLES, *JOURNAL_TABLES]
    keys = {"commit_links": ("commit_id", "decision_id"), "mutes": ("fact_id",)}
    keys |= {"history": ("seq",), "history_row": ("seq", "n")}
    for table, records in tables.items():
        order = [tuple(record[key] for key in keys.get(table, ("id",))) for record in records]
        assert order == sorted(set(order)), table
    lines = "".join(exporter.export_text(full.database)).splitlines()
    numbered = sum(len(records) for name, records in tables.items() if name not in ("commit_links", "mutes"))
    assert sum(line.startswith(('{"id":', '{"seq":')) for line in lines) == numbered


def test_hostile_text_comes_through(memory):
    """Quotes, newlines, line separators, right-to-left marks, JSON and emoji: the same text on the other side."""
    text = 'say "no"\\ \n\t\u2028\u2029 \u202eevil {"a": [1]} \U0001f4a1 é'
    memory.facts.remember(text, tags=[text])
    memory.events.log("x", payload={text: text})
    tables = read(memory)["tables"]
    assert isinstance(tables, dict)
    assert tables["facts"][0]["fact"] == text
    assert json.loads(tables["facts"][0]["tags"]) == [text]
    assert json.loads(tables["events"][0]["payload"]) == {text: text}


def test_ids_are_carried_so_that_none_is_given_twice(memory):
    """The counters of AUTOINCREMENT are in it, also for records that are gone again. A new memory exports, too."""
    assert read(memory)["tables"] == {table: [] for table in (*RECORDED_TABLES, *JOURNAL_TABLES)}
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.history.undo()
    document = read(memory)
    assert isinstance(document["sequence"], dict)
    assert document["sequence"]["facts"] == 2
    counters = dict(memory.database.rows("SELECT name, seq FROM sqlite_sequence"))
    tables = (*RECORDED_TABLES, *JOURNAL_TABLES)
    assert document["sequence"] == {name: last for name, last in counters.items() if name in tables}


# the file -------------------------------------------------------------------------------------------------------------


def test_the_file_is_private_and_what_was_promised(full, tmp_path):
    """0600 under any umask, its size as returned, its bytes the document's, and no part file beside it."""
    folder = tmp_path / "out"
    folder.mkdir()
    old = os.umask(0)
    try:
        size = exporter.save_export(full.database, str(folder / "memory.json"))
    finally:
        os.umask(old)
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size == size
    assert path.read_bytes() == "".join(exporter.export_text(full.database)).encode()


def test_nothing_is_overwritten_unasked(memory, tmp_path):
    """A file, or a link to one, stays as it is; with `replace` a link is replaced, never followed."""
    path, link = tmp_path / "precious.json", tmp_path / "link.json"
    path.write_text("mine")
    link.symlink_to(path)
    for target in (path, link):
        with pytest.raises(Conflict, match="is there already"):
            exporter.save_export(memory.database, str(target))
    exporter.save_export(memory.database, str(link), replace=True)
    assert path.read_text() == "mine"
    assert not link.is_symlink() and json.loads(link.read_text())
    exporter.save_export(memory.database, str(path), replace=True)
    assert json.loads(path.read_text())


@pytest.mark.parametrize("target", ["missing/folder/memory.json", "file/memory.json", "folder"])
def test_a_place_that_cannot_be_written_is_said_so(memory, tmp_path, target):
    """A missing folder, a file instead of one, a folder instead of a file: one error of ours, and no part file."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    before = [path for path in sorted(tmp_path.rglob("*")) if path.parent.name != ".memoranda"]
    with pytest.raises(StorageError, match="cannot be written"):
        exporter.save_export(memory.database, str(tmp_path / target), replace=True)
    assert [path for path in sorted(tmp_path.rglob("*")) if path.parent.name != ".memoranda"] == before
    assert memory.facts.remember("and the memory still works") == (1, True)


def test_a_disk_that_fills_leaves_the_old_file_and_no_part(full, tmp_path):
    """The file that was there stays."""
    path = tmp_path / "memory.json"
    path.write_text("the old export")
    full.database.connection.wal_checkpoint()
    with files_limited_to(10_000), pytest.raises(StorageError, match="cannot be written"):
        exporter.save_export(full.database, str(path), replace=True)
    assert path.read_text() == "the old export"
    assert [found.name for found in tmp_path.iterdir() if "part" in found.name] == []
    assert exporter.save_export(full.database, str(path), replace=True) > 10_000


def test_it_never_mixes_two_moments_under_load(memory, tmp_path):
    """A writer at full speed in another thread, each write one fact and its step: every export holds as many of the
    one as of the other."""
    memory.facts.remember("first")
    sizes: set[int] = set()
    with writing(memory):
        for _ in range(500):
            tables = read(memory)["tables"]
            assert isinstance(tables, dict)
            counts = {len(tables[name]) for name in ("facts", "history", "history_row")}
            assert len(counts) == 1
            sizes |= counts
            if len(sizes) > 5:
                break
    assert len(sizes) > 5, "the writer wrote in between, or this proves nothing"


def test_what_is_not_a_file_is_not_replaced(memory: Memory, tmp_path: Path) -> None:
    memory.facts.remember("the team is five")
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "export.json"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    for path in (pipe, link):
        with pytest.raises(Conflict, match="is not a file"):
            exporter.save_export(memory.database, str(path), replace=True)
        assert path.is_fifo()
    exporter.save_export(memory.database, str(file))
    linked = tmp_path / "linked"
    linked.symlink_to(file)
    assert exporter.save_export(memory.database, str(linked), replace=True) == os.path.getsize(file)
