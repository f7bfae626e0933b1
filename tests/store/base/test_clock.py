"""Time: one way to write it, many ways for a person to say it."""

import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each

from store.base.clock import (
    DAY_MS,
    days_before,
    format_age,
    format_local_time,
    from_ms,
    parse_moment,
    to_ms,
    utc_now,
    whole_days_between,
)
from store.base.errors import InvalidInput

NOW = "2026-11-21T23:12:27.042Z"
ALL_OF_TIME = st.integers(to_ms("0001-01-01T00:00:00.000Z"), to_ms("9999-12-31T23:59:59.999Z"))


@pytest.fixture
def living_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move this process to another time zone, and back home afterwards."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


# one way to write it -------------------------------------------------------------------------------------------------


@given(ALL_OF_TIME, ALL_OF_TIME)
def test_timestamps_read_back_and_sort_as_the_moments_they_are(one: int, other: int) -> None:
    """`from_ms` and `to_ms` are each other's inverse over all the years a timestamp can have; what a list shows can be
    pasted into `since:`; and comparing the text is comparing the time: every ORDER BY and every filter stands on it."""
    assert to_ms(from_ms(one)) == one
    assert parse_moment(from_ms(one), NOW) == from_ms(one)
    assert (from_ms(one) < from_ms(other)) == (one < other)


def test_this_moment_is_written_like_all_others() -> None:
    """`utc_now` gives UTC with milliseconds, between two readings of the system's clock."""
    before = time.time_ns() // 1_000_000
    now = utc_now()
    assert before <= to_ms(now) <= time.time_ns() // 1_000_000
    assert from_ms(to_ms(now)) == now


def test_days_are_whole_periods_of_24_hours() -> None:
    """One millisecond short of two days is one day; the future is no days at all."""
    assert whole_days_between(NOW, days_before(NOW, 2)) == 2
    assert whole_days_between(NOW, from_ms(to_ms(NOW) - 2 * DAY_MS + 1)) == 1
    assert whole_days_between(NOW, NOW) == 0
    assert whole_days_between(NOW, days_before(NOW, -5)) == 0
    assert days_before(NOW, 365) == "2025-11-21T23:12:27.042Z"


# as people say it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", NOW),
        ("3h", "2026-11-21T20:12:27.042Z"),
        ("2d", "2026-11-19T23:12:27.042Z"),
        ("3w", "2026-10-31T23:12:27.042Z"),
        ("1m", "2026-10-22T23:12:27.042Z"),
        ("1Y", "2025-11-21T23:12:27.042Z"),
        ("0d", NOW),
        ("today", "2026-11-21T00:00:00.000Z"),
        (" Yesterday ", "2026-11-20T00:00:00.000Z"),
        ("2026-11-01", "2026-11-01T00:00:00.000Z"),
        ("2026-11-01T12:30", "2026-11-01T12:30:00.000Z"),
        ("2026-11-01 12:30:15.250", "2026-11-01T12:30:15.250Z"),
        ("2026-11-01T12:30:00Z", "2026-11-01T12:30:00.000Z"),
        ("2026-11-01T12:30:00-03:00", "2026-11-01T15:30:00.000Z"),
    ],
)
def test_a_moment_is_read_as_people_type_it(living_in: Callable[[str], None], text: str, moment: str) -> None:
    """Dates, times, zones, and how long ago in one word."""
    living_in("UTC")
    assert parse_moment(text, NOW) == moment


@each(
    "text", ["", "  ", "tomorrowish", "2026-13-01", "2026-02-30", "-2d", "d", "2 d", "2.5d", "²d", "٣d", "12", "99:99"]
)
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    """Nonsense raises, and says how a time is written."""
    with pytest.raises(InvalidInput, match="2026-11-01"):
        parse_moment(text, NOW)


@pytest.mark.parametrize("text", ["1999y", "1100y", "3000y", "9" * 30 + "d", "9" * 5_000 + "w", "0500-06-01T00:00Z"])
def test_a_moment_before_every_record_is_still_before_every_record(text: str) -> None:
    """However far back one asks, the answer is a timestamp that sorts before today's."""
    moment = parse_moment(text, NOW)
    assert moment < "1971"
    assert len(moment) == len(NOW)


@given(st.text())
def test_any_text_is_a_time_or_is_refused(text: str) -> None:
    """No text makes the parser fail in another way than its own, and what it gives is a timestamp."""
    try:
        moment = parse_moment(text, NOW)
    except InvalidInput:
        return
    assert from_ms(to_ms(moment)) == moment


# where the person lives ----------------------------------------------------------------------------------------------


def test_a_date_without_a_zone_is_the_persons_own(living_in: Callable[[str], None]) -> None:
    """The first of November begins at three in the morning UTC for who lives in Buenos Aires."""
    living_in("America/Argentina/Buenos_Aires")
    assert parse_moment("2026-11-01", NOW) == "2026-11-01T03:00:00.000Z"
    assert parse_moment("today", NOW) == "2026-11-21T03:00:00.000Z"
    living_in("Asia/Tokyo")  # where it is the 22nd already
    assert parse_moment("today", NOW) == "2026-11-21T15:00:00.000Z"
    assert parse_moment("yesterday", NOW) == "2026-11-20T15:00:00.000Z"


def test_midnight_is_midnight_on_the_days_the_clocks_change(living_in: Callable[[str], None]) -> None:
    """In Madrid the 29th of March 2026 lasts 23 hours and the 25th of October 25: both begin at their own midnight."""
    living_in("Europe/Madrid")
    spring_noon, autumn_noon = "2026-03-29T10:00:00.000Z", "2026-10-25T11:00:00.000Z"
    assert parse_moment("today", spring_noon) == parse_moment("2026-03-29", spring_noon) == "2026-03-28T23:00:00.000Z"
    assert parse_moment("today", autumn_noon) == parse_moment("2026-10-25", autumn_noon) == "2026-10-24T22:00:00.000Z"
    assert parse_moment("yesterday", "2026-03-30T10:00:00.000Z") == "2026-03-28T23:00:00.000Z"
    assert parse_moment("yesterday", "2026-10-26T10:00:00.000Z") == "2026-10-24T22:00:00.000Z"


def test_moments_are_shown_in_the_persons_own_time(living_in: Callable[[str], None]) -> None:
    """The same moment is the 21st in Buenos Aires and the 22nd in Madrid; summer and winter have their own offsets."""
    living_in("America/Argentina/Buenos_Aires")
    assert format_local_time(NOW) == "21 Nov 2026 20:12"
    living_in("Europe/Madrid")
    assert format_local_time(NOW) == "22 Nov 2026 00:12"
    assert format_local_time("2026-07-01T22:30:00.000Z").startswith("2 Jul")
    assert format_local_time("2026-01-01T22:30:00.000Z").startswith("1 Jan")
    assert format_local_time("2026-07-02T07:05:00.000Z") == "2 Jul 2026 09:05"


@each(
    "milliseconds, word",
    [
        (0, "now"),
        (59_999, "now"),
        (-60_000, "now"),
        (-DAY_MS, "ahead"),
        (60_000, "1 min"),
        (3_599_999, "59 min"),
        (3_600_000, "1 h"),
        (DAY_MS - 1, "23 h"),
        (DAY_MS, "1 d"),
        (365 * DAY_MS - 1, "364 d"),
        (365 * DAY_MS, "12 mo"),
        (420 * DAY_MS, "13 mo"),  # of 30.4 days
        (730 * DAY_MS, "23 mo"),
        (731 * DAY_MS, "2 y"),
        (3_935 * DAY_MS, "10 y"),  # ten years and nine months
    ],
)
def test_how_long_ago_fits_in_a_column(milliseconds: int, word: str) -> None:
    """One number and one unit, rounded down; `now` for a clock a little fast, `ahead` for what is yet to come."""
    assert format_age(NOW, from_ms(to_ms(NOW) - milliseconds)) == word
