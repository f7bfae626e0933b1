"""How long versions are kept: by age, by size, and never what is there now."""

import os
from pathlib import Path

import pytest
from support.guarded import GuardedHome
from support.tables import each, refuses

from store.base.errors import InvalidInput, NotFound
from store.tools import guard_database, guard_moments

DAY = 24 * 60


def grow(home: GuardedHome, days: int) -> None:
    """Rewrite one note a day, with 100 KB that cannot be packed."""
    for _ in range(days):
        home.now += DAY * 60_000
        home.look_after("a.md", os.urandom(50_000).hex())


def test_what_is_older_than_its_days_goes(home: GuardedHome) -> None:
    home.settings["guard.days"] = 3
    home.write("still.md", "never changed\n")
    grow(home, 10)
    assert [moment.number for moment in home.moments()] == [9, 8, 7, 6]
    with guard_database.open_guard() as kept:
        sql = "SELECT count(*) FROM versions v JOIN files f ON f.id = v.file WHERE v.id = f.version"
        assert kept.query_one(sql) == 2
        assert kept.query_one("SELECT count(*) FROM versions") == 6  # of a.md four before, and what is there now
        refuses(NotFound, "There is no moment M#2", guard_moments.get_moment, kept, 2)
    home.settings["guard.days"] = 0
    grow(home, 4)
    assert len(home.moments()) == 8


def test_the_oldest_goes_where_there_is_too_much(home: GuardedHome) -> None:
    home.settings["guard.megabytes"] = 1
    grow(home, 30)
    found = home.look()
    assert 700_000 < found.bytes <= 1 << 20 and found.troubles == []
    numbers = [moment.number for moment in home.moments()]
    assert numbers == list(range(29, 29 - len(numbers), -1)) and len(numbers) > 10
    assert Path(guard_database.guard_path()).stat().st_size < 1_500_000  # the file shrinks too


def test_what_is_there_now_and_the_last_day_stay_whatever_their_size(home: GuardedHome) -> None:
    """A night in which all is lost is not lost to the limit."""
    home.settings["guard.megabytes"] = 0
    for number in range(5):
        home.write(f"m{number}.md", os.urandom(50_000).hex())
    home.look()
    written = home.content()
    home.now += 600_000
    home.remove(*written)
    home.look()
    assert "more than guard.megabytes" in home.look().troubles[0].why
    home.restore(1)
    assert home.content() == written


def test_a_file_that_left_no_version_is_forgotten(home: GuardedHome) -> None:
    home.settings["guard.days"] = 2
    home.write("a.md", "one\n")
    home.look_after("b.md", "two\n")
    home.remove("a.md")
    home.look(1)
    home.look(3 * DAY)
    with guard_database.open_guard() as kept:
        assert kept.query_one("SELECT count(*) FROM files") == 1
        assert kept.query_one("SELECT count(*) FROM pieces") == 1


def test_an_empty_file_has_a_version(home: GuardedHome) -> None:
    home.look_after("a.md", "")
    home.look_after("a.md", "one\n", minutes=1)
    home.restore(1)
    assert home.content()["a.md"] == b""


def test_a_version_in_pieces_is_put_together(home: GuardedHome) -> None:
    raw = os.urandom(3 * guard_database.PIECE_BYTES + 17).hex().encode()[: 3 * guard_database.PIECE_BYTES + 17]
    home.look_after("a.md", raw)
    with guard_database.open_guard() as kept:
        assert kept.query_one("SELECT count(*) FROM version_pieces") == 4
        assert kept.version_content(1) == raw


@each("text", ["", "M", "#", "M#x", "G#1", "M#1 ", "-1", "1.0", "²", "1" * 30])
def test_what_is_no_name_of_a_moment(text: str) -> None:
    with pytest.raises(InvalidInput):
        guard_moments.parse_moment_number(text)
