"""A file that holds text which is not UTF-8, from a failing disk or made by hand: it is read, and nothing raises."""

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from conftest import NOON, Clock

from store.base.errors import DamagedFile
from store.database import values as invalid_text
from store.database.schema import argument_text
from store.exchange import backups, exporter
from store.memory import Memory
from store.search.fulltext import rebuild_text_index

MARK, BYTES = "QQQQ", b"\xff\xc3(Q"
SHOWN = "\ufffd\ufffd(Q"


@pytest.fixture
def broken(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """A memory in every kind of whose records some bytes of a text are overwritten in the file."""
    path = tmp_path / "memory.db"
    with Memory.open(str(path), "cli", clock) as memory:
        memory.facts.remember(f"Team {MARK} of 4", tags=[f"tag{MARK}"])
        memory.facts.remember("The port is 4982")
        memory.decisions.decide(f"Use {MARK}", f"{MARK} it is")
        memory.tasks.add_task(f"Buy {MARK}")
        memory.events.log("seen", payload={"what": f"saw {MARK}"})
    raw = apsw.Connection(str(path))
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    raw.close()
    content = path.read_bytes()
    assert content.count(MARK.encode()) >= 5
    path.write_bytes(content.replace(MARK.encode(), BYTES))
    with Memory.open(str(path), "cli", clock) as memory:
        yield memory


def test_records_are_read_and_the_bytes_shown_as_replaced(broken: Memory) -> None:
    assert [fact.fact for fact in broken.facts.get_many([1, 2])] == [f"Team {SHOWN} of 4", "The port is 4982"]
    assert list(broken.facts.get(1).tags) == [f"tag{SHOWN}"]
    assert broken.decisions.get(1).title == f"Use {SHOWN}"
    assert broken.tasks.get(1).text == f"Buy {SHOWN}"
    assert broken.events.get(1).payload == {"what": f"saw {SHOWN}"}


@pytest.mark.parametrize("asked", ["team", "port", "author:user team", "by:agents", "tag:x team", "kind:fact"])
def test_every_filter_of_a_search_and_of_a_list_runs(broken: Memory, asked: str) -> None:
    broken.search(asked)
    assert list(broken.facts.ids(NOON, words="port")) == [2]
    assert list(broken.facts.ids(NOON, tag="other")) == []


def test_export_and_backup_hold_it(broken: Memory, tmp_path: Path) -> None:
    exporter.save_export(broken.database, str(tmp_path / "export.json"))
    assert SHOWN in (tmp_path / "export.json").read_text(encoding="utf-8")
    made = backups.make_backup(broken.database)
    assert made is not None and os.path.getsize(made.path)


@pytest.mark.parametrize("value", [BYTES, BYTES.decode("utf-8", "replace"), None, 4])
def test_functions_take_bytes(value: "apsw.SQLiteValue") -> None:
    assert argument_text(value) == {BYTES: SHOWN, None: "", 4: "4"}.get(value, SHOWN)


def test_a_damaged_record_is_changed_and_purged_and_the_index_built_again(broken: Memory) -> None:
    """Beside others, which are written as ever; what cannot be done with it is said."""
    with pytest.raises(DamagedFile, match="holds text that is not UTF-8"):
        broken.facts.correct(1, "Team of 5")
    assert broken.facts.get(1).status == "active"
    broken.facts.confirm([1])
    assert [hit.record.id for hit in broken.search("team").hits] == [1]
    broken.facts.forget([1])
    assert broken.facts.get(1).status == "forgotten"
    rebuild_text_index(broken.database)
    assert [hit.record.id for hit in broken.search("port").hits] == [2]
    assert broken.facts.correct(2, "The port is 4983") == 3
    number, _ = broken.facts.remember("A third")
    assert broken.facts.get(number).fact == "A third"
    broken.facts.forget([number])
    broken.purge.run_plan(broken.purge.plan([("fact", 1)]))
    assert not broken.facts.get_many([1])


@pytest.mark.parametrize("text", ["", "x", "y" * 127, "z" * 128, "é" * 9_000])
def test_a_changeset_of_valid_text_stays_as_it_is(text: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c, d)")
    session = apsw.Session(connection, "main")
    session.attach("t")
    for number, value in enumerate((text, text.encode(), None, 1 << 40, 1.5)):
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?)", (number, value, text, number))
    whole = session.changeset()
    assert invalid_text.repair_changeset(whole) == whole
    session.close()
    session = apsw.Session(connection, "main")
    session.attach("t")
    connection.execute("UPDATE t SET b = 'other' WHERE a = 0")
    connection.execute("DELETE FROM t WHERE a > 2")
    whole = session.changeset()
    assert invalid_text.repair_changeset(whole) == whole
    session.close()


@pytest.mark.parametrize("number", [0, 127, 128, (1 << 31) + 5, (1 << 56) - 1, 1 << 56, (1 << 63) - 1, -1, -(1 << 63)])
def test_a_number_is_read_as_sqlite_wrote_it(number: int) -> None:
    """Of one to nine bytes: the key of the only row of a table, behind the length of the row."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (?)", (number,))
    page = connection.serialize("main")[4096:]
    _, at = invalid_text.read_varint(page, int.from_bytes(page[8:10]))
    assert invalid_text.read_varint(page, at)[0] == number
