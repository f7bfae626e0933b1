"""One column of one row changes, in a transaction; Engram's own triggers keep its index, and what is not known or not
as it was shown is refused."""

import tomllib
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from support.guests import GuestHome
from support.tables import refuses

from store.base.errors import Conflict, InvalidInput, NotFound
from store.tools import guard_moments, guests
from store.tools.guard_database import open_guard

TABLES = tomllib.loads(Path(__file__).with_name("engram.toml").read_text())


def rows(home: GuestHome) -> dict[object, tuple[object, ...]]:
    return {row[0]: row for row in home.sql("SELECT * FROM observations")}


def matches(home: GuestHome, word: str) -> list[object]:
    return [row for (row,) in home.sql("SELECT rowid FROM observations_fts WHERE observations_fts MATCH ?", word)]


def sound(home: GuestHome) -> None:
    home.run_sql("INSERT INTO observations_fts(observations_fts, rank) VALUES('integrity-check', 1)")
    assert home.sql("PRAGMA integrity_check") == [("ok",)]


def test_only_the_text_of_one_row_changes_and_the_index_follows(home: GuestHome) -> None:
    before, schema = rows(home), home.sql("SELECT sql FROM sqlite_schema ORDER BY name")
    home.correct(home.text("percebe", "engram"), "The staging host is called navaja.")
    after = rows(home)
    changed = [(number, place) for number, row in after.items() for place, value in enumerate(row)
               if value != before[number][place]]  # fmt: skip
    assert changed == [(7, 4)] and after[7][4] == "The staging host is called navaja."
    assert matches(home, "navaja") == [7] and matches(home, "percebe") == []
    assert home.sql("SELECT sql FROM sqlite_schema ORDER BY name") == schema
    sound(home)


def test_a_deletion_is_engrams_own_and_an_undo_leaves_what_came_since(home: GuestHome) -> None:
    before = rows(home)
    home.delete(home.text("percebe", "engram"))
    [(deleted,)] = home.sql("SELECT deleted_at FROM observations WHERE id = 7")
    assert deleted == "2026-11-25 02:50:00"
    assert not [one for one in home.texts("engram") if one.line == 7]
    home.run_sql("INSERT INTO observations(id, type, title, content) VALUES (50, 'discovery', 'new', 'Written since.')")
    home.undo()
    assert rows(home).pop(50)[4] == "Written since."
    assert {number: row for number, row in rows(home).items() if number != 50} == before
    sound(home)


def test_an_undo_of_a_correction_and_no_second_one(home: GuestHome) -> None:
    before = rows(home)
    home.correct(home.text("percebe", "engram"), "The staging host is called navaja.")
    home.undo()
    assert rows(home) == before and matches(home, "percebe") == [7]
    refuses(NotFound, "all of it was undone", home.undo)


def test_an_undo_of_what_was_reworded_since_is_refused(home: GuestHome) -> None:
    home.correct(home.text("percebe", "engram"), "The staging host is called navaja.")
    home.run_sql("UPDATE observations SET content = 'Their own.' WHERE id = 7")
    plan = guests.plan_guest_undo(home.occasion)
    refuses(Conflict, "it was changed meanwhile", home.run, plan)
    assert home.sql("SELECT content FROM observations WHERE id = 7") == [("Their own.",)]


def test_a_change_that_was_cut_short_is_told_as_engrams_own_and_can_be_put_back(home: GuestHome, monkeypatch):
    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(guard_moments, "note_restored_database", cut)
        with pytest.raises(KeyboardInterrupt):
            home.delete(home.text("percebe", "engram"))
    home.now += 60_000
    guard_moments.look_at_files(*home.occasion)
    with open_guard() as kept:
        (moment,) = guard_moments.recent_moments(kept, 9)
        assert moment.tool == "engram" and not moment.is_edit
        assert moment.files[0].before is not None
        assert b"percebe" in kept.version_content(moment.files[0].before)
    with pytest.raises(NotFound):
        home.undo()
    assert home.engram.exists()


def test_an_undo_without_a_change_touches_no_database(home: GuestHome) -> None:
    home.correct(home.text("percebe", "engram"), "Other.")
    plan = guests.plan_guest_undo(home.occasion)
    before = home.engram.read_bytes()
    refuses(
        InvalidInput, "Nothing would be changed", home.run, plan._replace(files=(plan.files[0]._replace(cells=()),))
    )
    assert home.engram.read_bytes() == before


def test_a_text_that_changed_since_it_was_shown_is_refused(home: GuestHome) -> None:
    one = home.text("percebe", "engram")
    plan = guests.plan_guest_correction(home.occasion, one, "Other.")
    home.run_sql("UPDATE observations SET content = 'Their own.' WHERE id = 7")
    refuses(Conflict, "it was changed meanwhile", home.run, plan)
    refuses(Conflict, "the text changed since it was shown", home.correct, one, "Other.")
    assert home.sql("SELECT content FROM observations WHERE id = 7") == [("Their own.",)]


def test_another_row_may_change_meanwhile(home: GuestHome) -> None:
    plan = guests.plan_guest_correction(home.occasion, home.text("percebe", "engram"), "Other.")
    home.run_sql("UPDATE observations SET content = 'Their own.' WHERE id = 8")
    home.age()
    home.run(plan)
    assert home.sql("SELECT content FROM observations WHERE id IN (7, 8) ORDER BY id") == [("Other.",), ("Their own.",)]


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_locked_database_is_refused(home: GuestHome, begin: str) -> None:
    plan = guests.plan_guest_correction(home.occasion, home.text("percebe", "engram"), "Other.")
    with closing(apsw.Connection(str(home.engram))) as tool:
        tool.execute(begin)
        refuses(Conflict, "it is locked: its tool is at work", home.run, plan)
        tool.execute("ROLLBACK")
    assert home.text("percebe", "engram").line == 7


@pytest.mark.parametrize("script", TABLES["unknown"])
def test_tables_that_are_not_known_are_refused(home: GuestHome, script: str) -> None:
    plan = guests.plan_guest_correction(home.occasion, home.text("percebe", "engram"), "Other.")
    home.run_sql("DROP TRIGGER obs_fts_update; DROP TRIGGER obs_fts_insert; DROP TRIGGER obs_fts_delete;" + script)
    home.age()
    before = home.engram.read_bytes()
    refuses(Conflict, "its tables are not those that are known of Engram", home.run, plan)
    assert home.engram.read_bytes() == before


def test_an_index_of_a_later_version_is_known(home: GuestHome) -> None:
    home.run_sql(TABLES["later"])
    home.age()
    home.correct(home.text("percebe", "engram"), "The staging host is called navaja.")
    assert matches(home, "navaja") == [7]


def test_a_damaged_database_is_named_and_harmed_by_nothing(home: GuestHome) -> None:
    one = home.text("percebe", "engram")
    home.engram.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    home.engram.with_name("engram.db-wal").unlink(missing_ok=True)
    home.age()
    refuses(Conflict, "the text changed since it was shown", home.correct, one, "Other.")
    assert guests.read_engram_texts(str(home.engram), troubles := []) == [] and troubles
