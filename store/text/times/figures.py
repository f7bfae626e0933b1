"""Clocks, parts of a day and dates in figures, in a text without capitals and accents: `18:00`, `9am`,
`a las 9 de la mañana`, `esta tarde`, `29/11/2025`, `2025/11/29`, `2026-11`."""

import re
from datetime import datetime, timedelta
from functools import cache

from store.text import vocabulary

BEGINS = (0, 12, 18)  # hours at which the morning, the afternoon and the evening begin
NIGHT = 2

_YEAR_FIRST = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<one>\d\d?)(?P=mark)(?P<two>\d\d?)")
_YEAR_LAST = re.compile(r"(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark)(?P<year>(?:19|20)\d\d)")
_MONTH = re.compile(
    r"(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d?)|(?P<month_first>\d\d?)[-/](?P<year_last>(?:19|20)\d\d)"
)


@cache
def day_parts() -> dict[str, int]:
    """Return the names of the parts of a day: 0 is the morning."""
    return {name: place for place, names in enumerate(vocabulary.in_order("dates", "day_parts")) for name in names}


def _any_of(name: str) -> str:
    return vocabulary.alternatives(vocabulary.words("dates", name))


@cache
def clock_pattern() -> str:
    """Return the pattern of a clock, to be inserted into another."""
    at, of, part = _any_of("clock_at"), _any_of("in_part"), vocabulary.alternatives(day_parts())
    return (
        rf"(?:(?:(?P<at>{at}) )?(?P<hour>\d{{1,2}}):(?P<minutes>\d\d)(?::(?P<seconds>\d\d))?"
        rf"|(?P<said>{at}) (?P<hour_said>\d{{1,2}})(?:[.h](?P<minutes_said>\d\d))?(?: ?h(?:s|rs|oras)?)?"
        rf"|(?P<hour_alone>\d{{1,2}})(?:\.(?P<minutes_alone>\d\d))?(?= ?[ap]\.?m\b| (?:{of}) (?:{part})\b))"
        rf"(?: ?(?P<half>[ap])\.?m\b\.?)?(?: (?:{of}) (?P<of>{part})\b)?(?![\w:/-])(?!\.\d)"
    )


@cache
def _clock() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w:./-]){clock_pattern()}")


@cache
def _hanging() -> re.Pattern[str]:
    """Return the pattern of what stands before a clock that was not read."""
    return re.compile(rf"\b(?:{_any_of('clock_at')})$")


@cache
def _part_of_day() -> re.Pattern[str]:
    part = vocabulary.alternatives(day_parts())
    bare = vocabulary.alternatives(day_parts().keys() - vocabulary.words("dates", "days"))  # else it may be a day
    return re.compile(rf"\b(?:(?P<which>{_any_of('in_part')}) (?P<part>{part})|(?P<bare>{bare}))\b")


def take_clock(text: str) -> tuple[str, timedelta | None, bool]:
    """Return (a text without its clock and its part of a day, the time since midnight that they name: None where it
    has neither, whether it names a part of a day). Raise ValueError for one that no clock shows, and for a part alone
    that may be of any day."""
    clock = _clock().search(text)
    if clock:
        text = f"{text[: clock.start()]} {text[clock.end() :]}"
    part = _part_of_day().search(text)
    if part:
        text = f"{text[: part.start()]} {text[part.end() :]}"
    rest = " ".join(text.split())
    if _hanging().search(rest):
        raise ValueError(rest)
    if clock is None and part is None:
        return rest, None, False
    name = part and (part["part"] or part["bare"])
    if clock:
        return rest, time_of_day(clock, name or ""), part is not None
    if not (rest or (part and part["which"])):
        raise ValueError(name)
    return rest, timedelta(hours=BEGINS[day_parts()[name or ""]]), True


def time_of_day(clock: re.Match[str], part: str = "") -> timedelta:
    """Return the time since midnight of a match of `clock_pattern`, on the part of a day that is named beside it. Raise
    ValueError for a clock that nobody has, and for one that may be of two days: 12 at night."""
    hour = int(clock["hour"] or clock["hour_said"] or clock["hour_alone"])
    minute = int(clock["minutes"] or clock["minutes_said"] or clock["minutes_alone"] or 0)
    second = int(clock["seconds"] or 0)
    if clock["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + 12 * (clock["half"] == "p")
    for place in {day_parts()[name] for name in (part, clock["of"]) if name}:
        if hour < 12 and place and not (place == NIGHT and hour < 6):
            hour += 12
        if not (hour < 12 if place == 0 else hour >= 12):
            raise ValueError(hour)
        if place == NIGHT and hour < 18:
            raise ValueError(hour)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(hour)
    return timedelta(hours=hour, minutes=minute, seconds=second)


def written_dates(text: str) -> tuple[datetime, ...]:
    """Return the days that a date in figures may mean: two where either number may be the month, none where it is no
    date. With dots the day is first."""
    if match := _YEAR_FIRST.fullmatch(text):
        orders = [(match["one"], match["two"])]
    elif match := _YEAR_LAST.fullmatch(text):
        orders = [(match["two"], match["one"]), (match["one"], match["two"])][: 1 if match["mark"] == "." else 2]
    else:
        return ()
    found = []
    for month, day in orders:
        try:
            found.append(datetime(int(match["year"]), int(month), int(day)))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))


def written_month(text: str) -> datetime | None:
    """Return the beginning of a month in figures, None where it is none."""
    match = _MONTH.fullmatch(text)
    month = int(match["month"] or match["month_first"]) if match else 0
    return datetime(int(match["year"] or match["year_last"]), month, 1) if match and 1 <= month <= 12 else None
