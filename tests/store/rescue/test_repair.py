"""Salvage: a damaged memory stays as it is, and what can be read of it stands in a new one, sound and complete.

The damages are those of `bench/damage.py`, which prints how much comes through of a larger memory.
"""

import random
from pathlib import Path

import apsw
import pytest

from bench.damage import Memories, bytes_of, contents, header, homes, kinds, live, look, missing, round_of, share
from bench.damage import Score as Outcome
from store.base.errors import Conflict, ForeignFile, NotFound, StorageError
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.memory import Memory
from store.projects.locating import locate
from store.rescue.salvage import salvage_file
from store.upkeep.doctor import FRAME_HEADER_BYTES, WAL_HEADER_BYTES, examine

ROUNDS = 3
KINDS = (
    *("one bit flipped", "bits flipped", "pages torn", "end cut off", "header of zeroes", "bits of the log flipped"),
    *("log overwritten", "another memory's log", "an earlier day's log"),
)


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Memories:
    return Memories(str(tmp_path_factory.mktemp("memories")), facts=400)


@pytest.fixture
def path(memories: Memories, tmp_path: Path) -> str:
    """A memory of its own, undamaged."""
    path = str(tmp_path / "memory.db")
    memories.copy("whole", "", path)
    return path


def test_every_kind_of_damage_is_told_of(memories: Memories):
    assert set(KINDS) == set(kinds(memories))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_noticed_and_nearly_everything_comes_through(memories: Memories, seed: int, kind: str):
    """Whatever happened to the file: the doctor notices, changes nothing, and 99 of 100 rows are salvaged as they
    were, all of them where a whole page is not gone; what comes out is healthy."""
    score = Outcome()
    for number in range(ROUNDS):
        round_of(memories, kinds(memories)[kind], seed + number, score)
        # a bit of a journal's row is nowhere twice: a time may come out as one of the future, and is said to be
        found = look(f"{memories.folder}/hurt.db.new")
        assert {one.partition(":")[0] for one in found} <= {"clocks", "values"}, found
    assert score.missed == []
    rows = sum(found.total() for found in memories.rows.values())
    assert score.needlessly <= rows * ROUNDS // 100, "99 of 100 rows of pages that are whole come through"
    # a page holds one row of 250 here: a round that hits the bigger pages of the journal is let off once
    assert sorted(score.came)[1 if ROUNDS > 2 else 0] > 0.97 and max(score.came) > 0.99


def test_an_undamaged_memory_comes_out_as_it_was(memories: Memories, path: str):
    """Row for row, step for step, with its counters: the head of history is the same, and nothing is said to be
    lost."""
    into = f"{path}.new"
    before = bytes_of(path)
    report = salvage_file(path, into)
    assert bytes_of(path) == before
    assert contents(into) == memories.rows and look(into) == []
    assert report.notes == [] and all(not table.lost and not table.from_history for table in report.tables)
    read = sum(table.read for table in report.tables if table.table in (*RECORDED_TABLES, *JOURNAL_TABLES))
    assert read == sum(found.total() for found in memories.rows.values())
    with Memory.open(path) as old, Memory.open(into) as new:
        sequence = "SELECT name, seq FROM sqlite_sequence WHERE name NOT IN ('documents', 'chunks') ORDER BY name"
        assert old.database.rows(sequence) == new.database.rows(sequence)
        assert new.history.undo().seq == old.history.next_undo()
        assert new.search("peanuts").total == old.search("peanuts").total > 0
        new.facts.remember("life goes on")
    assert look(into) == []


def test_the_log_counts(memories: Memories, tmp_path: Path):
    """What was acknowledged and is only in the log comes through, and the log stays where it is."""
    path = str(tmp_path / "logged.db")
    memories.copy("logged", "logged", path)
    before = bytes_of(path)
    assert len(before) == 2 and share(path, memories.logged) == 1
    assert bytes_of(path) == before


def test_the_doctor_writes_nothing_behind_a_damaged_log(memories: Memories, tmp_path: Path):
    """The first page of the log's newest change is damaged: what the doctor has SQLite check is not written over it."""
    path = str(tmp_path / "logged.db")
    memories.copy("logged", "logged", path)
    raw = bytearray(Path(f"{path}-wal").read_bytes())
    frames = [raw[at : at + FRAME_HEADER_BYTES] for at in range(WAL_HEADER_BYTES, len(raw), FRAME_HEADER_BYTES + 4096)]
    # the file keeps its length: behind the frames with the salt of its head are those of an earlier round
    valid = [number for number, frame in enumerate(frames) if frame[8:16] == raw[16:24]]
    commits = [number for number in valid if int.from_bytes(frames[number][4:8], "big")]
    raw[WAL_HEADER_BYTES + (commits[-2] + 1) * (FRAME_HEADER_BYTES + 4096) + FRAME_HEADER_BYTES + 2000] ^= 1
    Path(f"{path}-wal").write_bytes(raw)
    before = bytes_of(path)
    found = examine(locate(path, {}, "/"))
    assert [one.subject for one in found if one.command.startswith("health --salvage")] == ["log"]
    assert bytes_of(path) == before


def test_records_are_made_again_from_their_history(memories: Memories, path: str):
    """Every page of facts is gone, and every fact is there: each is in the file twice."""
    pages = _pages(path, "facts")
    raw = Path(path).read_bytes()
    for page in pages:
        raw = raw[: (page - 1) * 4096] + bytes(4096) + raw[page * 4096 :]
    Path(path).write_bytes(raw)
    report = salvage_file(path, f"{path}.new")
    facts = next(table for table in report.tables if table.table == "facts")
    assert facts.read == 0 and facts.from_history == memories.rows["facts"].total() and facts.lost == 0
    assert contents(f"{path}.new")["facts"] == memories.rows["facts"]
    assert look(f"{path}.new") == []


def test_records_without_their_history(memories: Memories, path: str):
    """Every step is gone, and the records are there: a step of its own says that the salvage put them there, and it
    can be looked at like any other."""
    raw = Path(path).read_bytes()
    for page in (*_pages(path, "history"), *_pages(path, "history_row")):
        raw = raw[: (page - 1) * 4096] + bytes(4096) + raw[page * 4096 :]
    Path(path).write_bytes(raw)
    into = f"{path}.new"
    report = salvage_file(path, into)
    assert contents(into)["facts"] == memories.rows["facts"] and look(into) == []
    assert any("a step of their own says so" in note for note in report.notes)
    with Memory.open(into) as memory:
        step = memory.history.steps(limit=1)[0]
        assert (step.reason, step.actor) == ("salvage", "agent") and step.changes > 400
        assert step.seq == memory.database.value("SELECT seq FROM sqlite_sequence WHERE name = 'history'")
        memory.facts.remember("life goes on")
        assert memory.history.undo().reason.startswith("remember")


def test_a_step_that_lost_rows_is_not_half_taken_back(path: str):
    """A step of two facts of which one row is gone: undo says why it will not."""
    with Memory.open(path) as memory:
        memory.facts.pin(list(memory.facts.ids(memory.now, limit=2)), True)
        seq = memory.history.steps(limit=1)[0].seq
    connection = apsw.Connection(path)
    connection.execute("DELETE FROM history_row WHERE seq = ? AND n = 0", (seq,))
    connection.close()
    into = f"{path}.new"
    report = salvage_file(path, into)
    assert any("1 steps of history did not come through whole" in note for note in report.notes)
    assert look(into) == []
    with Memory.open(into) as memory, pytest.raises(Conflict, match="Not all that step"):
        memory.history.undo(seq)


def test_where_nothing_can_be_known_of_tables(memories: Memories, path: str):
    """The whole schema is zeroes: pages are told apart by what their records look like."""
    header_of = Path(path).read_bytes()
    Path(path).write_bytes(bytes(4096) + header_of[4096:])
    assert share(path, memories.rows) > 0.99


@pytest.mark.parametrize("torn", ["CREATE TABLE history(", "history_row", "facts"])
def test_a_table_whose_line_in_the_schema_is_damaged(memories: Memories, path: str, torn: str):
    """Its name, or what it is made of, cannot be read: its rows are still its rows."""
    raw = bytearray(Path(path).read_bytes())
    for page in _pages(path, "sqlite_schema"):
        damaged = _page(raw, page).replace(torn.encode(), b"?" * len(torn))
        raw[(page - 1) * 4096 : page * 4096] = damaged
    Path(path).write_bytes(raw)
    assert share(path, memories.rows) == 1


def test_half_a_row_does_not_stand_in_for_the_whole(memories: Memories, path: str):
    """A page was written in the place of another, and then torn: what it holds a second time is the sound one's."""
    raw = bytearray(Path(path).read_bytes())
    pages = [page for page in _pages(path, "history_row") if raw[(page - 1) * 4096] == 10]
    first, second = pages[3], pages[9]
    rows = _page(raw, second).replace(b"confidence", b"confidance")
    assert rows != _page(raw, second)
    raw[(first - 1) * 4096 : first * 4096] = rows
    standing = homes(path)
    Path(path).write_bytes(raw)
    lost = missing(path, memories.rows)
    gone = {(table, row) for table, found in lost.items() for row in found}
    assert gone and all(first in standing[one] for one in gone)


def test_what_refers_to_what_is_gone_is_let_go(memories: Memories, path: str):
    """No iteration came through: decisions and events stay, and name none; the salvage's step holds that change."""
    with Memory.open(path) as memory:
        memory.iterations.start_iteration("fix", "the tea")
        decision = memory.decisions.decide("Buy tea", "green")
        assert memory.decisions.get(decision).iteration_id
    raw = Path(path).read_bytes()
    for page in _pages(path, "iterations"):
        raw = raw[: (page - 1) * 4096] + bytes(4096) + raw[page * 4096 :]
    Path(path).write_bytes(raw)
    report = salvage_file(path, f"{path}.new")
    assert look(f"{path}.new") == []
    with Memory.open(f"{path}.new") as memory:
        assert memory.database.value("SELECT count(*) FROM iterations") == 0
        assert memory.decisions.get(decision).iteration_id is None
        assert memory.history.steps(limit=1)[0].reason == "salvage"
    lost = {table.table: table.lost for table in report.tables}
    assert lost["iterations"] == memories.rows["iterations"].total() + 1
    assert any("references to what did not come through" in note for note in report.notes)


def test_numbers_are_not_given_twice(path: str):
    """The newest facts are lost with all their steps: a new fact still gets a number that nobody ever cited."""
    with Memory.open(path) as memory:
        newest, _ = memory.facts.remember("the last one")
    connection = apsw.Connection(path)
    connection.pragma("foreign_keys", 0)
    for trigger in ("facts_found_delete",):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DELETE FROM facts WHERE id = ?", (newest,))
    connection.execute("DELETE FROM history_row WHERE seq = (SELECT max(seq) FROM history)")
    connection.execute("DELETE FROM history WHERE seq = (SELECT max(seq) FROM history)")
    connection.close()
    salvage_file(path, f"{path}.new")
    with Memory.open(f"{path}.new") as memory:
        assert memory.facts.remember("a new one")[0] == newest + 1
    assert look(f"{path}.new") == []


def test_a_number_that_was_never_given(memories: Memories, path: str):
    """A bit of a number is wrong: the record is made again under its own, and nothing counts up to the wrong one."""
    connection = apsw.Connection(path)
    connection.pragma("foreign_keys", 0)
    for statement in ("DROP TRIGGER facts_found_insert", "DROP TRIGGER facts_found_update"):
        connection.execute(statement)
    numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    connection.execute("UPDATE facts SET id = 5 + (1 << 20) WHERE id = 5")
    connection.execute("UPDATE history SET seq = 9 + (1 << 20) WHERE seq = 9")
    counters = [(seq, name) for name, seq in numbers.items()]
    connection.executemany("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", counters)
    connection.close()
    salvage_file(path, f"{path}.new")
    assert look(f"{path}.new") == [] and contents(f"{path}.new")["facts"] == memories.rows["facts"]
    with Memory.open(f"{path}.new") as memory:
        assert memory.history.steps(limit=1)[0].seq < 2_000
        assert memory.facts.remember("a new one")[0] == numbers["facts"] + 1


def test_what_cannot_be_salvaged(tmp_path: Path, path: str):
    """Nothing there, nothing of ours in it, no room for it, a name that is taken: said, and nothing is left behind."""
    with pytest.raises(NotFound):
        salvage_file(str(tmp_path / "missing.db"))
    noise = tmp_path / "noise.db"
    noise.write_bytes(random.Random(1).randbytes(200_000))
    with pytest.raises(ForeignFile, match="Nothing in this file"):
        salvage_file(str(noise))
    (tmp_path / "taken.db").write_text("mine")
    with pytest.raises(Conflict, match=r"taken\.db is there already"):
        salvage_file(path, str(tmp_path / "taken.db"))
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with pytest.raises(StorageError, match="cannot be read"):
        salvage_file(str(link))
    assert sorted(found.name for found in tmp_path.iterdir()) == ["link.db", "memory.db", "noise.db", "taken.db"]


def test_a_free_name_beside_it(path: str):
    for name in ("-salvaged.db", "-salvaged-2.db"):
        assert salvage_file(path).into == path.replace(".db", name)


def test_what_was_erased_does_not_come_back(tmp_path: Path):
    """Salvage reads pages that no tree leads to; what was deleted is not on any: SQLite wipes what it frees."""
    path = str(tmp_path / "memory.db")
    with Memory.open(path) as memory:
        live(memory, 1, 60)
        memory.database.connection.pragma("foreign_keys", 0)
        with memory.database.write("user", "erase") as write:
            write.execute("DELETE FROM events")
    header(path, random.Random(3))
    salvage_file(path, f"{path}.new")
    assert not contents(f"{path}.new")["events"]


def _pages(path: str, table: str) -> list[int]:
    """The pages of a table that hold its rows."""
    connection = apsw.Connection(path)
    sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype IN ('leaf', 'overflow')"
    found = connection.execute(sql, (table,))
    pages = [page for (page,) in found]
    connection.close()
    return pages


def _page(raw: bytearray, page: int) -> bytes:
    return bytes(raw[(page - 1) * 4096 : page * 4096])


def test_the_doctor_names_salvage(path: str):
    header(path, random.Random(1))
    found = next(one for one in examine(locate(path, {}, "/")) if one.subject == "file")
    assert found.command == f"health --salvage {path}"


def test_where_the_new_file_cannot_be_written_another_name_is_advised(path: str, tmp_path: Path):
    """The advice is the option of this command, not that of one that opens a memory."""
    (tmp_path / "plain").write_text("")
    with pytest.raises(StorageError, match="cannot be") as caught:
        salvage_file(path, str(tmp_path / "plain" / "new.db"))
    assert caught.value.next == "Name another file with --into." and ".part" not in caught.value.message
