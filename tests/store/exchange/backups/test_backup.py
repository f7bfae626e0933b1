"""Backups: private, proven before they get their name, made by themselves once a day, and told when they are hurt."""

import os
import random
import stat
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from conftest import examples
from hypothesis import example, given
from hypothesis import strategies as st
from support.children import begun
from support.writing import files_limited_to, writing

from store.base.errors import Conflict, DamagedFile, NotFound, StorageError
from store.base.location import backup_folder
from store.conversations.turns import NewTurn
from store.database.database import Lease
from store.database.schema import RECORDED_TABLES, register_functions
from store.database.values import Verbatim
from store.exchange import backups, exporter
from store.exchange.backups import DAILY_BACKUPS, MONTHLY_BACKUPS, WEEKLY_BACKUPS, backups_to_keep
from store.exchange.importer import Import
from store.history.restore_plan import Plans
from store.memory import Memory
from store.upkeep import maintenance

ROOT = Path(__file__).parents[3]


@pytest.fixture
def full(memory: Memory, live: Any) -> Memory:
    live(memory, range(120))
    memory.turns.add_turns("a session", [NewTurn("user", "hello")])
    return memory


def made(memory: Memory) -> backups.Backup:
    found = backups.make_backup(memory.database)
    assert found is not None
    return found


def hurt(path: str, seed: int) -> None:
    """Turn one bit of a file, somewhere in what it holds."""
    dice = random.Random(seed)
    data = bytearray(Path(path).read_bytes())
    place = dice.randrange(len(data))
    data[place] ^= 1 << dice.randrange(8)
    Path(path).write_bytes(data)


def folder(memory: Memory) -> Path:
    return Path(backup_folder(memory.database.path))


def test_a_backup_is_the_memory_of_that_moment(full, tmp_path):
    """Brought into an empty memory it gives the same export, byte for byte; what came later is not in it."""
    before = b"".join(exporter.export_bytes(full.database))
    found = made(full)
    full.facts.remember("later")
    with Memory.open(str(tmp_path / "again.db")) as again:
        with Import(again.database, found.path) as coming:
            coming.apply_import()
        assert b"".join(exporter.export_bytes(again.database)) == before
    assert found.step == full.database.value("SELECT max(seq) FROM history") - 1
    assert backups.verify_backup(full.database) == (found.path, ""), "a memory that moved on does not make it worse"


def test_it_is_private_and_alone(full):
    """0600 in a folder of 0700 under any umask: no -wal, no part, no scratch store beside it."""
    old = os.umask(0)
    try:
        found = made(full)
        backups.verify_backup(full.database)
    finally:
        os.umask(old)
    assert os.listdir(folder(full)) == [found.name]
    assert stat.S_IMODE(os.stat(found.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder(full)).st_mode) == 0o700
    assert Path(full.location.path).parent not in folder(full).parents, "it goes with no checkout"
    folder(full).chmod(0o755)
    made(full)
    assert stat.S_IMODE(os.stat(folder(full)).st_mode) == 0o700, "private again"


@pytest.mark.parametrize("packed", [False, True])
def test_an_export_is_proven_too(full, tmp_path, packed):
    """Checksums, then restored and compared, without a trace in the memory; one byte less or another is told of."""
    path = tmp_path / "memory.json"
    exporter.save_export(full.database, str(path), compressed=packed)
    before = full.database.value("SELECT count(*) FROM history")
    assert backups.verify_backup(full.database, str(path)) == (str(path), "")
    assert full.database.value("SELECT count(*) FROM history") == before and os.listdir(folder(full)) == []
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert backups.verify_backup(full.database, str(path))[1] != ""
    path.write_bytes(whole)
    hurt(str(path), 7)
    assert backups.verify_backup(full.database, str(path))[1] != ""
    if not packed:
        path.write_bytes(whole.replace(b'"confidence":"high"', b'"confidence":"low"', 1))
        assert "checksum of facts is another" in backups.verify_backup(full.database, str(path))[1]
    assert os.listdir(folder(full)) == []


def test_an_export_that_comes_back_as_another_is_not_whole(full, tmp_path, monkeypatch):
    """Its checksums are right: what differs is what an import makes of it."""
    path = str(tmp_path / "memory.json")
    exporter.save_export(full.database, path)
    adopt = Import._copy_staged_rows
    for statement, problem in (
        ("UPDATE events SET payload = '7' WHERE id = 2", "events, row 2, comes back as another"),
        ("DELETE FROM events WHERE id = (SELECT max(id) FROM events)", "comes back as another"),
        ("INSERT INTO events(event_type, created_at, origin) VALUES ('a', 'b', 'c')", "more of events comes back"),
    ):
        monkeypatch.setattr(
            Import,
            "_copy_staged_rows",
            lambda self, write: (adopt(self, write), write.execute(statement)),  # noqa: B023
        )
        assert problem in backups.verify_backup(full.database, path)[1]


def test_it_is_one_moment_while_others_write(full):
    """A writer in another connection, without pause: the copy is compared with the moment it was made of."""
    with writing(full):
        steps = [made(full).step for _ in range(3)]
    assert len(set(steps)) == 3, "somebody wrote in between, or this proves nothing"
    assert all(not backups.verify_backup(full.database, one.path)[1] for one in backups.find_backups(full.database))


def test_a_backup_that_rots_is_noticed_and_the_verdict_kept(full):
    """One bit anywhere in the file, also where SQLite has nothing to object to. What is hurt is told, never deleted."""
    found = made(full)
    whole = Path(found.path).read_bytes()
    for seed in range(examples(20)):
        Path(found.path).write_bytes(whole)
        hurt(found.path, seed)
        _, problem = backups.verify_backup(full.database)
        assert problem, seed
        assert backups.find_backups(full.database)[0].problem == problem
        assert Path(found.path).exists()
    Path(found.path).write_bytes(whole)
    assert backups.verify_backup(full.database) == (found.path, "")
    assert backups.find_backups(full.database)[0].problem == ""


def test_a_row_changed_with_every_checksum_of_sqlite_right_is_noticed(full):
    """Somebody edited the backup with SQLite itself: it is whole, and not what it was made of."""
    found = made(full)
    connection = apsw.Connection(found.path)
    register_functions(connection)
    connection.execute("UPDATE turns SET text = 'goodbye'")
    connection.close()
    assert backups.verify_backup(full.database) == (found.path, "turns differs from what it was made of")
    assert backups.backup_status(full.database, full.now)[0] == "wrong"


def test_a_file_that_sqlite_cannot_read_is_called_damaged_once(full, tmp_path):
    path = tmp_path / "cut.db"
    backups.save_backup_as(full.database, str(path))
    path.write_bytes(path.read_bytes()[:20000])
    assert backups.verify_backup(full.database, str(path))[1] == "SQLite cannot read it"
    with pytest.raises(DamagedFile, match=r"cut\.db is damaged: SQLite cannot read it") as caught:
        backups.find_backup_step(full.database, str(path))
    assert f"memoranda health --salvage {path}" in caught.value.next
    path.write_text("# notes\n")
    with pytest.raises(Conflict, match="is not a backup of this memory"):
        backups.find_backup_step(full.database, str(path))


def test_a_backup_that_is_gone_is_told(full):
    found = made(full)
    os.unlink(found.path)
    (listed,) = backups.find_backups(full.database)
    assert (listed.size, listed.problem) == (None, "its file is gone")
    assert backups.verify_backup(full.database)[1] == "its file is gone"
    assert backups.backup_status(full.database, full.now)[2] == "backup damaged"
    newer = made(full)
    assert [one.name for one in backups.find_backups(full.database)] == [newer.name]


def test_looking_at_one_by_name_or_elsewhere(full, tmp_path):
    """By its name alone in the folder, or any file; what is no backup is said so, and the memory itself is refused."""
    found = made(full)
    assert backups.verify_backup(full.database, found.name) == (found.path, "")
    backups.save_backup_as(full.database, str(tmp_path / "copy.db"))
    assert backups.verify_backup(full.database, str(tmp_path / "copy.db"))[1] == ""
    assert [one.name for one in backups.find_backups(full.database)] == [found.name]
    (tmp_path / "notes.md").write_text("notes")
    assert "cannot read it" in backups.verify_backup(full.database, str(tmp_path / "notes.md"))[1]
    foreign = apsw.Connection(str(tmp_path / "foreign.db"))
    foreign.execute("CREATE TABLE t(x)")
    foreign.close()
    assert "another program" in backups.verify_backup(full.database, str(tmp_path / "foreign.db"))[1]
    with pytest.raises(Conflict, match="the memory itself"):
        backups.verify_backup(full.database, full.location.path)
    with pytest.raises(NotFound):
        backups.verify_backup(full.database, "nothing.db")


def test_nothing_is_overwritten_unasked(full, tmp_path):
    path = tmp_path / "copy.db"
    path.write_text("mine")
    with pytest.raises(Conflict, match="is there already"):
        backups.save_backup_as(full.database, str(path))
    assert path.read_text() == "mine" and sorted(os.listdir(tmp_path)) == [".memoranda", "copy.db"]
    backups.save_backup_as(full.database, str(path), replace=True)
    assert backups.verify_backup(full.database, str(path))[1] == ""


def test_a_disk_that_fills_leaves_no_part(full, tmp_path):
    """What was there before stays."""
    first = made(full)
    full.database.connection.wal_checkpoint()
    with files_limited_to(100_000), pytest.raises(StorageError):
        backups.make_backup(full.database)
    assert os.listdir(folder(full)) == [first.name]
    assert backups.verify_backup(full.database) == (first.path, "")
    made(full)


def test_one_that_is_cancelled_leaves_nothing(full):
    for calls in range(1, 40):
        left = iter([False] * calls)
        if backups.make_backup(full.database, cancelled=lambda left=left: next(left, True)) is not None:
            break
        assert os.listdir(folder(full)) == [] and backups.find_backups(full.database) == []
    else:
        pytest.fail("it is never done")


def recorded(memory: Memory) -> list[list[tuple[Any, ...]]]:
    return [memory.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in RECORDED_TABLES]


def test_going_back_to_one_is_an_ordinary_change(full):
    """Every recorded table as it was, after a checkpoint, and one undo brings the present back. The journal stays."""
    before, found = recorded(full), made(full)
    full.facts.remember("later")
    full.facts.forget([full.facts.ids(full.now)[0]])
    full.events.log("later")
    later = recorded(full)
    plan = Plans(full.database).plan_moment(backups.find_backup_step(full.database, found.path), found.name)
    Plans(full.database).apply_plan(plan, Plans(full.database).propose_changes(plan))
    assert recorded(full) == before != later
    assert full.database.value("SELECT count(*) FROM events WHERE event_type = 'later'") == 1
    full.history.undo(full.history.steps(limit=1)[0].seq)
    assert recorded(full) == later


def test_a_strangers_backup_is_no_way_back(full, tmp_path):
    """Its history is not the beginning of this one: it can be imported, and not gone back to."""
    with Memory.open(str(tmp_path / "other.db")) as other:
        other.facts.remember("theirs")
        backups.save_backup_as(other.database, str(tmp_path / "theirs.db"))
    for name in ("theirs.db", "other.db"):
        with pytest.raises(Conflict, match="not a backup of this memory"):
            backups.find_backup_step(full.database, str(tmp_path / name))
    with pytest.raises(NotFound):
        backups.find_backup_step(full.database, full.location.path)


# by themselves --------------------------------------------------------------------------------------------------------


def clock_of(memory: Memory) -> Any:
    return memory.database.clock


def test_a_backup_a_day(full):
    """The first a day after the memory was made, then each day; not twice, not where it is not wanted."""
    assert maintenance.make_due_backup(full) is None
    clock_of(full).advance(days=1)
    first = maintenance.make_due_backup(full)
    assert first is not None and first.scheduled
    assert maintenance.make_due_backup(full) is None
    clock_of(full).advance(days=0.9)
    assert maintenance.make_due_backup(full) is None
    clock_of(full).advance(days=0.2)
    assert maintenance.make_due_backup(full) is not None
    assert len(backups.find_backups(full.database)) == 2
    clock_of(full).advance(days=2)
    assert maintenance.make_due_backup(full, most=1000) is None, "what is too large for a command waits for the app"
    config = Path(full.location.path).parent / "config.toml"
    config.write_text("[backup]\ndaily = false\n")
    config.chmod(0o600)
    with Memory(full.location, "cli", clock_of(full)) as again:
        assert again.config["backup.daily"] is False
        assert maintenance.make_due_backup(again) is None


def test_a_clock_that_was_set_back_does_not_stop_them(full):
    clock_of(full).advance(days=400)
    assert maintenance.make_due_backup(full) is not None
    clock_of(full).advance(days=-300)
    assert maintenance.make_due_backup(full) is not None


def test_only_who_holds_the_lease_makes_it(full):
    """Two processes find it due: one makes it. A holder that died is replaced once its lease ran out."""
    clock_of(full).advance(days=2)
    with Memory.open(full.location.path, "app", clock_of(full)) as other:
        assert Lease(other.database, "backup").acquire()
        assert maintenance.make_due_backup(full) is None
        clock_of(full).advance(milliseconds=6_000)
        assert maintenance.make_due_backup(full) is not None


def test_what_a_killed_process_left_is_removed(full):
    """Half a copy goes with the next command that reads, for it holds every text; not what another process still works
    in, nor what is somebody's."""
    first = made(full)
    with begun(WORKS, folder(full) / "memory.db") as other:
        assert other.stdout is not None
        busy = other.stdout.readline().strip()
        (folder(full) / "mine.db").write_text("mine")
        maintenance.clean_up_memory(full)
        scratch = os.path.basename(os.path.dirname(busy))  # it is worked in a folder within
        assert sorted(os.listdir(folder(full))) == sorted([first.name, scratch, "mine.db"])
        assert os.listdir(busy) == ["copy.db"]
        other.kill()
    maintenance.clean_up_memory(full)
    assert sorted(os.listdir(folder(full))) == sorted([first.name, "mine.db"])


WORKS = """
import os, sys
from store.exchange.backups import scratch_folder as Scratch
with Scratch(sys.argv[1]) as folder:
    open(os.path.join(folder, "copy.db"), "w").close()
    print(f"ready\\n{folder}", flush=True)
    sys.stdin.readline()
"""


def test_seven_days_four_weeks_and_twelve_months_are_kept(memory):
    """And those made by hand, which nobody but a person removes."""
    memory.facts.remember("the team is five")
    by_hand = made(memory)
    for days in [3] * 10 + [1] * 15:
        clock_of(memory).advance(days=days)
        assert maintenance.make_due_backup(memory) is not None
    found = backups.find_backups(memory.database)
    scheduled = [one for one in found if one.scheduled]
    assert 7 <= len(scheduled) <= 7 + 4 + 12
    assert found[-1].name == by_hand.name
    assert sorted(os.listdir(folder(memory))) == sorted(one.name for one in found)
    days = [one.made_at[:10] for one in scheduled]
    newest = date.fromisoformat(days[0])
    assert [date.fromisoformat(day) for day in days[:7]] == [newest - timedelta(days=n) for n in range(7)]
    assert len({day[:7] for day in days}) == 3, "each month of the days still has one"


@given(st.sets(st.datetimes(min_value=datetime(2020, 1, 1)), max_size=60))
@example({datetime(2026, 11, 21, 8), datetime(2026, 11, 21, 20)})
def test_what_is_kept_is_kept_again(moments):
    """A law of retention: idempotent, never more than there is room for, always the newest; and it only ever removes
    what a newer one of the same day, or enough newer periods, stand for."""
    stamps = {moment.isoformat(timespec="milliseconds") + "Z" for moment in moments}
    stay = backups_to_keep(stamps)
    assert stay <= stamps and backups_to_keep(stay) == stay
    assert len(stay) <= DAILY_BACKUPS + WEEKLY_BACKUPS + MONTHLY_BACKUPS
    if stamps:
        assert max(stamps) in stay
    assert len({stamp[:10] for stamp in stay}) == len(stay), "one a day"
    months = {stamp[:7] for stamp in stamps}
    assert {stamp[:7] for stamp in stay} >= set(sorted(months)[-MONTHLY_BACKUPS:])


def test_how_they_stand(full):
    """Age and verdict, in a sentence and in three words."""
    stand = backups.backup_status
    assert stand(full.database, full.now)[::2] == ("note", "")
    found = made(full)
    clock_of(full).advance(days=1)
    state, says, short = stand(full.database, full.now)
    assert (state, short) == ("ok", "")
    assert says == "One backup, made 1 d ago, and was intact when it was checked, 1 d ago."
    clock_of(full).advance(days=3)
    assert stand(full.database, full.now) == ("note", "One backup, made 4 d ago.", "backup 4 d old")
    Path(found.path).write_bytes(b"x" * 9000)
    backups.verify_backup(full.database)
    state, says, short = stand(full.database, full.now)
    assert (state, short) == ("wrong", "backup damaged") and says.startswith(f"{found.name} is damaged: ")


def listed(memory: Memory, name: str) -> None:
    """Put a scheduled backup of long ago into the list, as somebody else's file may hold one."""
    with memory.database.write("agent", "backup") as write:
        made_at = Verbatim("2001-01-01T00:00:00.000Z")
        write.insert("backups", name=Verbatim(name), made_at=made_at, scheduled=1, step=0, sums="{}", digest="")


@pytest.mark.parametrize("name", ["{}", "../../{name}", "..", ".", "", "inner/../../../{name}", "x\\0y"])
def test_a_name_that_leads_out_of_the_folder_is_no_backup(full, tmp_path, name):
    """A name comes out of the file, and the file may be anybody's: the daily clean-up deletes nothing elsewhere."""
    victim = tmp_path / "thesis.db"
    victim.write_text("two years of work")
    listed(full, name.format(victim, name=victim.name))
    for day in range(20):
        listed(full, f"gone-{day}.db")
    made(full)
    assert victim.read_text() == "two years of work"
    assert len(backups.find_backups(full.database)) == 1 and backups.backup_status(full.database, full.now)[0] == "ok"


def test_backups_behind_a_symbolic_link_are_left_alone(full, tmp_path):
    """The folder of backups may lead to one of the person's own: nothing is deleted or tidied up through it."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "old.scratch").mkdir(parents=True)
    (elsewhere / "thesis.db").write_text("two years of work")
    folder(full).parent.mkdir(parents=True)
    folder(full).symlink_to(elsewhere)
    listed(full, "thesis.db")
    for act in (lambda: backups.expire_backups(full.database), lambda: backups.make_backup(full.database)):
        with pytest.raises(StorageError, match="symbolic link"):
            act()
    backups.tidy_backups(full.database)
    assert sorted(os.listdir(elsewhere)) == ["old.scratch", "thesis.db"]
