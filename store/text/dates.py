"""Times in texts, in English and Spanish: periods that a question names, dates, and moments as people type them.

A time without a year is the latest of its name that has begun. A time before the first supported year begins there. A
typed moment is refused if any of it is not understood.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache

from store.base.clock import from_ms, parse_moment
from store.base.errors import InvalidInput
from store.text.words import (
    any_of_regex,
    fold_text,
    load_number_words,
    load_places,
    load_words,
    normalize_text,
)

# Clocks, parts of a day and dates in figures, in a text without capitals and accents: `18:00`, `9am`,
# `a las 9 de la mañana`, `esta tarde`, `29/11/2025`, `2025/11/29`, `2026-11`.

# hours at which the morning, the afternoon and the evening begin
DAY_PART_HOURS = (0, 12, 18)
NIGHT_PART = 2

_YEAR_FIRST = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<one>\d\d?)(?P=mark)(?P<two>\d\d?)")
_YEAR_LAST = re.compile(r"(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark)(?P<year>(?:19|20)\d\d)")
_FIGURE_MONTH = re.compile(
    r"(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d?)|(?P<month_first>\d\d?)[-/](?P<year_last>(?:19|20)\d\d)"
)


def day_parts() -> dict[str, int]:
    """Return the names of the parts of a day: 0 is the morning."""
    return load_places("day_parts")


def _any_of(name: str) -> str:
    return any_of_regex(load_words("dates", name))


@cache
def clock_pattern() -> str:
    """Return the pattern of a clock, to be inserted into another."""
    at, of, part = _any_of("clock_at"), _any_of("in_part"), any_of_regex(day_parts())
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
    part = any_of_regex(day_parts())
    # else it may be a day
    bare = any_of_regex(day_parts().keys() - load_words("dates", "days"))
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
    return rest, timedelta(hours=DAY_PART_HOURS[day_parts()[name or ""]]), True


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
        if hour < 12 and place and not (place == NIGHT_PART and hour < 6):
            hour += 12
        if not (hour < 12 if place == 0 else hour >= 12):
            raise ValueError(hour)
        if place == NIGHT_PART and hour < 18:
            raise ValueError(hour)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(hour)
    return timedelta(hours=hour, minutes=minute, seconds=second)


def parse_figure_dates(text: str) -> tuple[datetime, ...]:
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


def parse_figure_month(text: str) -> datetime | None:
    """Return the beginning of a month in figures, None where it is none."""
    match = _FIGURE_MONTH.fullmatch(text)
    month = int(match["month"] or match["month_first"]) if match else 0
    return datetime(int(match["year"] or match["year_last"]), month, 1) if match and 1 <= month <= 12 else None


EARLIEST_DATE = datetime(1900, 1, 1)
# characters before a time that may contain its preposition
PREPOSITION_REACH = 24
# days in “the last few days”
DAYS_OF_SEVERAL = 5

_SOME = frozenset("few several some pocos pocas unos unas varios varias algunos algunas".split())
_ANY_YEAR = r"(?:19|20)\d\d"
_OF_YEAR = rf"(?: (?:of |de |del )?(?P<year>{_ANY_YEAR})\b)?"
_DURING = r"\b(?:(?:in|over|during|within|en|durante) )?"
_DAY_NUMBER = r"(?P<day>\d{1,2}|first|primero)(?:st|nd|rd|th|o)?"
_HOURS = r"(?: morning| afternoon| evening| night|(?: (?:por|a|en) la)? (?:mañana|tarde|noche))?"
_BEGINS = "early|beginning of|start of|principios de|comienzos de|inicios de"
_MIDDLE = "mid|middle of|mediados de"
_ENDS = "late|end of|fines de|finales de"


TimeSpan = tuple[datetime, datetime]
# the name of its pattern, the words, and what they mean
NamedTime = tuple[str, re.Match[str], TimeSpan]


def _months() -> dict[str, int]:
    return load_places("months", *range(1, 13))


def _short_months() -> dict[str, int]:
    """Return the months, and what they are abbreviated to beside the number of a day."""
    return _months() | load_places("short_months", *range(1, 13))


def _unit_days() -> dict[str, int]:
    """Return the units of time, and how many days they are."""
    return load_places("units", 1, 7, 30, 365, 14, 15)


@cache
def _calendar_months() -> dict[str, int]:
    """Return the calendar units, and how many months they are."""
    return {unit: {30: 1, 365: 12}[days] for unit, days in _unit_days().items() if days in (30, 365)}


@cache
def _halves() -> frozenset[str]:
    """Return the names of two weeks, and of half a month."""
    return frozenset(unit for unit, days in _unit_days().items() if days in (14, 15))


def _clock_minutes() -> dict[str, int]:
    return load_places("clock_units", 1, 60)


def _part_months() -> dict[str, int]:
    """Return the names of a quarter and of half a year, and how many months they are."""
    return load_places("parts", 3, 6)


@cache
def _counts() -> dict[str, int]:
    return {
        **load_number_words(),
        **dict.fromkeys("a an un una".split(), 1),
        **dict.fromkeys(_SOME, DAYS_OF_SEVERAL),
    }


def find_period(plain: str, now: str) -> tuple[str, str, frozenset[str]]:
    """Return the start and the end of the time that a question without capitals and accents names, and the words
    that named it; start and end are empty if it names none. Never raises."""
    points = _find_times(plain, _local_minute(now))
    for place, (name, match, (start, end)) in enumerate(points):
        if place + 1 < len(points) and (range_ := _match_preposition(_RANGE, match)):
            _, other, (begun, last) = points[place + 1]
            last = begun if _has_clock(other) else last
            if (
                _TO.fullmatch(plain[match.end() : other.start()])
                and (start := _earlier_start(name, match, start, last)) < last
            ):
                return _format_period(start, last, plain[range_.start() : other.end()])
        for intro, begins, ends in _INTRODUCED:
            if found := _match_preposition(intro, match):
                bounds = (start, start if _has_clock(match) else end)
                return _format_period(
                    None if begins is None else bounds[begins],
                    None if ends is None else bounds[ends],
                    plain[found.start() : match.end()],
                )
        within = _match_preposition(_WITHIN, match)
        if name == "second":
            continue
        within = within or (_match_preposition(_FROM_OR_OF, match) if name in ("year", "month") else None)
        if within or not _is_ambiguous(name, match):
            onward = _ONWARD.match(plain, match.end())
            named = plain[within.start() if within else match.start() : onward.end() if onward else match.end()]
            return _format_period(start, None if onward else end, named)
    return "", "", frozenset()


def _local_minute(now: str) -> datetime:
    """Return a moment in the local time zone, to the minute, without its zone."""
    return datetime.fromisoformat(now).astimezone().replace(second=0, microsecond=0, tzinfo=None)


def _find_times(plain: str, here: datetime) -> list[NamedTime]:
    """Return the times that a question names, none within another, in its order."""
    midnight = here.replace(hour=0, minute=0)
    found: list[NamedTime] = []
    taken = bytearray(len(plain))
    for name, read in _READERS.items():
        for match in _patterns()[name].finditer(plain):
            span = _apply_clock(match, read(match, here if name in ("last", "ago") else midnight))
            if span and not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = b"1" * len(match[0])
                found.append((name, match, span))
    return sorted(found, key=lambda one: one[1].start())


def _has_clock(match: re.Match[str]) -> bool:
    """Return whether a time has a clock."""
    return bool(match.groupdict().get("clock"))


def _apply_clock(match: re.Match[str], span: TimeSpan | None) -> TimeSpan | None:
    """Return the span of a day; with a clock, the hour that begins at that time."""
    if span is None or not _has_clock(match):
        return span
    before = match.string[match.start() : match.start("clock")].split()[-1]
    try:
        start = span[0].replace(hour=0) + time_of_day(match, before if before in day_parts() else "")
    except ValueError:
        return None
    return start, start + timedelta(hours=1)


def _match_preposition(intro: re.Pattern[str], match: re.Match[str]) -> re.Match[str] | None:
    """Return the match directly before a time, if it is this preposition."""
    return intro.search(match.string, max(0, match.start() - PREPOSITION_REACH), match.start())


def _format_period(start: datetime | None, end: datetime | None, words: str) -> tuple[str, str, frozenset[str]]:
    """Return a period as (start, end, the words that named it); an open side is empty."""
    return _format_moment(start) if start else "", _format_moment(end) if end else "", frozenset(words.split())


def _is_ambiguous(name: str, match: re.Match[str]) -> bool:
    """Return whether a word may mean something other than a time, without a preposition before it: `may`, `march`."""
    marks = ("part", "year", "how", "past", "clock")
    plain = name in ("month", "weekday", "season") and not any(map(match.groupdict().get, marks))
    return plain or name == "year"


def _earlier_start(name: str, match: re.Match[str], start: datetime, end: datetime) -> datetime:
    """Return the start of a range with this end: of a repeating time, the last one before it."""
    if start >= end and name == "weekday":
        return start - timedelta(days=7)
    if start >= end and name == "month" and not match["year"]:
        return start.replace(year=start.year - 1)
    return start


# names of times: each with the span it means, or None where it is none


def _span_of_figures(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return a day or a month in figures; none of a date that can be read in two ways."""
    days = parse_figure_dates(match["date"])
    if len(days) == 1:
        return days[0], days[0] + timedelta(days=1)
    month = None if _has_clock(match) else parse_figure_month(match["date"])
    return (month, (month + timedelta(days=31)).replace(day=1)) if month else None


def _span_of_moment(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return a moment, which has no length: only with a preposition does it name a time."""
    try:
        moment = datetime.fromisoformat(match["second"].upper()).astimezone().replace(tzinfo=None)
    except ValueError:
        return None
    return moment, moment


def _span_of_quarter(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return a quarter or a half of a year, the latest that has begun."""
    short = match["short"] or ""
    months = 6 if short.startswith("h") else 3 if short else _part_months()[match["part"]]
    number = int(short[1]) - 1 if short else load_places("ordinals")[match["which"]]
    if (number + 1) * months > 12 or (short[:1] in ("h", "t") and not match["year"]):
        return None
    year = int(match["year"] or midnight.year - (number * months >= midnight.month))
    end = (number + 1) * months
    return datetime(year, number * months + 1, 1), datetime(year + end // 12, end % 12 + 1, 1)


def _span_of_years(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return the span from the first to the last of two years."""
    first, last = int(match["first"]), int(match["last"])
    return (datetime(first, 1, 1), datetime(last + 1, 1, 1)) if first < last else None


def _span_of_days(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return the span of a day, or a few, by number and month."""
    first, last, month = (
        match["day"],
        match.groupdict().get("until") or match["day"],
        _short_months()[match["month"]],
    )
    years = (int(match["year"]),) if match["year"] else range(midnight.year, midnight.year - 5, -1)
    # 29 February exists only in some
    for year in years:
        try:
            start, end = (datetime(year, month, int(day) if day.isdigit() else 1) for day in (first, last))
        except ValueError:
            continue
        if (match["year"] or start <= midnight) and start <= end:
            return start, end + timedelta(days=1)
    return None


def _span_of_month(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return a month, or its early, middle or late third, the latest that has begun."""
    month, part = _months()[match["month"]], match["part"]
    start = datetime(int(match["year"]) if match["year"] else midnight.year - (month > midnight.month), month, 1)
    end = (start + timedelta(days=31)).replace(day=1)
    if not part:
        return start, end
    third = next(at for at, names in enumerate((_BEGINS, _MIDDLE, _ENDS)) if part in names.split("|"))
    return start.replace(day=1 + 10 * third), end if third == 2 else start.replace(day=11 + 10 * third)


def _span_of_season(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return a season, the latest that has begun; of a named year, the season that begins in it."""
    month = 3 + 3 * load_places("seasons")[match["season"]]
    start = datetime(int(match["year"]) if match["year"] else midnight.year, month, 1)
    if start > midnight and not match["year"]:
        start = start.replace(year=start.year - 1)
    if (match["past"] or match["how"] in ("last", "past")) and midnight < _next_season(start):
        start = start.replace(year=start.year - 1)
    return start, _next_season(start)


def _next_season(season: datetime) -> datetime:
    """Return the day after a season."""
    return (season + timedelta(days=95)).replace(day=1)


def _span_of_year(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return a calendar year."""
    start = datetime(int(match["year"]), 1, 1)
    return start, start.replace(year=start.year + 1)


def _span_of_day(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return today, yesterday, the day before it, or last night."""
    word = match["day"]
    if word in ("last night", "anoche"):
        return midnight - timedelta(hours=6), midnight + timedelta(hours=6)
    back = 2 if word in _BEFORE_YESTERDAY else int(word in ("yesterday", "ayer"))
    start = midnight - timedelta(days=back)
    return start, start + timedelta(days=1)


def _span_of_weekday(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return the latest day of that name; today itself only after “this” and “since”."""
    back = (midnight.weekday() - load_places("weekdays")[match["day"]]) % 7
    today = match["how"] in ("this", "este") or _match_preposition(_SINCE, match)
    start = midnight - timedelta(days=back or (0 if today else 7))
    return start, start + timedelta(days=1)


def _span_of_this(match: re.Match[str], midnight: datetime) -> TimeSpan | None:
    """Return a calendar week, month, year or weekend; for “in the last week” the days up to now."""
    which, unit = match["which"], match["unit"]
    if which in ("la", "el") and not match["after"]:
        # “la semana que viene”
        return None
    last = which not in ("this", "esta", "este")
    week = midnight - timedelta(days=midnight.weekday() + 7 * last)
    if unit not in _unit_days():
        return week + timedelta(days=5), week + timedelta(days=7)
    if which.startswith(("ultim", "past")) or (match["article"] and which == "last") or unit in _halves():
        return _days_back(midnight, _unit_days()[unit]), midnight + timedelta(days=1)
    if unit in _calendar_months():
        return _calendar_span(midnight, int(last), unit)
    return week, week + timedelta(days=7)


def _span_before_last(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return the calendar week, weekend, month or year before the last one."""
    unit = match["unit"] or match["unidad"]
    if unit in _calendar_months():
        return _calendar_span(midnight, 2, unit)
    week = midnight - timedelta(days=midnight.weekday() + 14)
    return (week if unit in _unit_days() else week + timedelta(days=5)), week + timedelta(days=7)


def _span_of_week(match: re.Match[str], midnight: datetime) -> TimeSpan:
    """Return seven days of a month, from its first on, its last seven, or a half of it."""
    month = _months()[match["month"]]
    start = datetime(int(match["year"]) if match["year"] else midnight.year - (month > midnight.month), month, 1)
    after = (start + timedelta(days=31)).replace(day=1)
    days = 15 if match["unit"] in _halves() else 7
    if match["which"] not in load_places("ordinals"):
        return after - timedelta(days=days), after
    begin = min(start + timedelta(days=days * load_places("ordinals")[match["which"]]), after - timedelta(days=1))
    return begin, after if begin.day == 16 else min(begin + timedelta(days=days), after)


def _hours_back(count: str, unit: str, here: datetime) -> datetime:
    """Return the minute that is so many minutes or hours before another."""
    minutes = _clock_minutes()[unit]
    half = count.startswith(("half", "media"))
    return here - timedelta(minutes=minutes // 2 if half else minutes * _parse_count(count))


def _span_of_last(match: re.Match[str], here: datetime) -> TimeSpan | None:
    """Return the last days, weeks, months or years, up to today; the last minutes or hours, up to now."""
    count, unit = match["count"], match["unit"] or match["some"]
    if unit in _clock_minutes():
        return _hours_back(count or "a", unit, here), here + timedelta(minutes=1)
    if count and count.startswith(("half", "media")):
        return None
    midnight = here.replace(hour=0, minute=0)
    days = _unit_days()[unit] * (_parse_count(count) if count else DAYS_OF_SEVERAL)
    return _days_back(midnight, days), midnight + timedelta(days=1)


def _span_ago(match: re.Match[str], here: datetime) -> TimeSpan | None:
    """Return a span so many days or weeks ago, a day or a week long; a calendar month or year; of so many hours ago,
    the first of them, of minutes, all since then. Where the number is left open, all the time since then."""
    said, unit = match["count"] or match["cuenta"], match["unit"] or match["unidad"]
    if unit in _clock_minutes():
        start, end = _hours_back(said, unit, here), here + timedelta(minutes=1)
        return start, min(start + timedelta(hours=1), end) if _clock_minutes()[unit] == 60 else end
    if said.startswith(("half", "media")):
        return None
    midnight, count = here.replace(hour=0, minute=0), _parse_count(said)
    start = _days_back(midnight, count * _unit_days()[unit])
    if said.split()[-1] in _SOME:
        return start, midnight + timedelta(days=1)
    if unit not in _calendar_months():
        return start, start + timedelta(days=_unit_days()[unit])
    month = _calendar_span(midnight, count, unit)
    return (start, month[1]) if _match_preposition(_SINCE, match) else month


def _calendar_span(midnight: datetime, back: int, unit: str) -> TimeSpan:
    """Return the calendar month or year so many units ago."""
    size = _calendar_months()[unit]
    start = midnight.year * 12 + (midnight.month - 1 if size == 1 else 0) - back * size
    start = max(start, EARLIEST_DATE.year * 12)
    return datetime(start // 12, start % 12 + 1, 1), datetime((start + size) // 12, (start + size) % 12 + 1, 1)


def _days_back(midnight: datetime, days: int) -> datetime:
    """Return the midnight so many days ago, at most EARLIEST_DATE."""
    return midnight - timedelta(days=min(days, (midnight - EARLIEST_DATE).days))


def _parse_count(word: str) -> int:
    """Return the number that a word or figures mean."""
    if word.endswith(("couple of", "par de")):
        return 2
    return int(word) if word.isdigit() else _counts()[word.split()[-1]]


def _format_moment(local: datetime) -> str:
    """Return a local time as a timestamp; empty where it cannot be one."""
    try:
        return from_ms(round(local.timestamp() * 1000))
    except (OverflowError, OSError, ValueError):
        return ""


_BEFORE_YESTERDAY = ("the day before yesterday", "day before yesterday", "antes de ayer", "anteayer", "antier")
# prepositions of a time
_SINCE = re.compile(r"\b(?:since|desde|starting|a partir del?)(?: the| el| la)? $")
# and which end of the time is meant as the start, and which as the end
_INTRODUCED = (
    (_SINCE, 0, None),
    (re.compile(r"\b(?:after|despues del?|despues) $"), 1, None),
    (re.compile(r"\b(?:before|prior to|antes del?|antes) (?:the |el |la )?$"), None, 0),
    (re.compile(r"\b(?:until|till|up to|hasta) (?:the |el |la )?$"), None, 1),
)
_WITHIN = re.compile(r"\b(?:in|during|en|durante)(?: the month of| the year| el mes de| el año)? $")
_FROM_OR_OF = re.compile(r"\b(?:of|from|del?) $")
# `in March on docs` names what it is about
_ONWARD = re.compile(r" (?:onwards?\b|en adelante\b|on(?=,?$|,? (?:about|and|by|what|who|did)\b))")
_RANGE = re.compile(r"\b(?:between|from|entre|desde|del?)(?: the| el| la)? $")
_TO = re.compile(r" (?:and|to|until|till|through|y|e|al?|hasta)(?: the| el| la)? ")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of times that words of the languages make."""
    weekday, month = "|".join(load_places("weekdays")), "|".join(_months())
    short_month = "|".join(sorted(_short_months(), key=len, reverse=True))
    ordinals, halves = "|".join(load_places("ordinals")), "|".join(_halves())
    unit, minutes = "|".join(_unit_days()), "|".join(_clock_minutes())
    number = rf"\d{{1,4}}|(?:a )?couple of|un par de|(?:a )?few|{'|'.join(_counts())}"
    on = rf"(?:(?:on|the|el|dia|del|{weekday}) ){{0,4}}"
    clock = rf"(?P<clock> {clock_pattern()})?"
    hours = rf"(?:{minutes})\b(?! (?:of|de)\b)"
    several = "days|weeks|months|years|dias|semanas|meses|años"
    texts = {
        "second": rf"\b(?P<second>{_ANY_YEAR}-\d\d-\d\dt[\d:.]{{8,12}}z)(?!\S)",
        "years": (
            rf"\b(?:(?:between|from|entre|desde|de) )?(?P<first>{_ANY_YEAR}) (?:and|y|or|o|to|a)"
            rf" (?P<last>{_ANY_YEAR})\b(?![-.,:/])"
        ),
        "year": rf"\b(?P<year>{_ANY_YEAR})\b(?![-.,:/])",
        "before_last": (
            r"\b(?:(?:in |on )?(?:the )?(?P<unit>weekend|week|month|year) before last"
            r"|(?:en )?(?:la|el) (?P<unidad>semana|fin de semana|finde|mes|año) antepasad[oa])\b"
        ),
        "figures": (
            r"(?<![\w./-])(?:on |el )?(?P<date>(?:19|20)\d\d(?:[-/]\d\d?){1,2}|\d\d?([-/.])\d\d?\2(?:19|20)\d\d)"
            rf"(?![\w/.-]){clock}"
        ),
        "quarter": (
            rf"\b(?:(?:the|el|la) )?(?:(?P<which>{ordinals}) (?P<part>{'|'.join(_part_months())})"
            rf"|(?P<short>[qth][1-4])){_OF_YEAR}\b"
        ),
        "days_of": (
            rf"\b(?:between|from|entre|del?) (?:the |el )?{_DAY_NUMBER} (?:and|to|y|al?) (?:the |el )?"
            rf"(?P<until>\d{{1,2}})(?:st|nd|rd|th)?(?: of| de)? (?P<month>{short_month})\b{_OF_YEAR}"
        ),
        "day_month": rf"\b{on}{_DAY_NUMBER}(?: of| de)? (?P<month>{short_month})\b{_OF_YEAR}{clock}",
        "month_day": rf"\b{on}(?P<month>{short_month})(?: the)? {_DAY_NUMBER}\b{_OF_YEAR}{clock}",
        "month": (
            rf"\b(?:(?:the |a )?(?P<part>{_BEGINS}|{_MIDDLE}|{_ENDS})[ -])?(?P<how>el pasado )?(?P<month>{month})"
            rf"{_OF_YEAR}(?P<past> pasado)?\b"
        ),
        "season": (
            rf"\b(?:(?:the|la|el|(?P<how>this|last|past|esta|este)) )?(?P<season>{'|'.join(load_places('seasons'))})"
            rf"{_OF_YEAR}(?P<past> pasad[oa])?\b"
            r"(?=$| (?:about|and|by|did|was|were|on|sobre|y|que)\b)"
        ),
        "today": (
            rf"\b(?P<day>{'|'.join(_BEFORE_YESTERDAY)}|last night|anoche|yesterday|ayer|today|hoy|tonight"
            rf"|this (?:morning|afternoon|evening)|esta (?:mañana|tarde|noche)){_HOURS}\b{clock}"
        ),
        "weekday": (
            rf"\b(?:(?:on )?(?P<how>on|last|past|this|el pasado|el ultimo|el|este) )?(?P<day>{weekday})"
            rf"(?P<past> pasado)?{_HOURS}\b{clock}"
        ),
        "this": (
            rf"{_DURING}(?P<article>(?:the|this) )?(?:(?:la|el) (?=ultim))?"
            r"(?P<which>this|esta|este|last|past|ultim[oa]|la pasada|el pasado|la|el)"
            rf" (?P<unit>weekend|week|fin de semana|finde|semana|month|mes|year|año|{halves})"
            r"(?P<after> pasad[oa])?\b(?! (?:of|de)\b)"
        ),
        "week_of": (
            rf"{_DURING}(?:the |la )?(?P<which>{ordinals}|last|ultima)"
            rf" (?P<unit>week|semana|{halves}) (?:of|de|in) (?P<month>{month})\b{_OF_YEAR}"
        ),
        "last": (
            rf"{_DURING}(?:the |these |la |los |las |estos |estas )?(?:last|past|ultim[oa]s?)"
            rf" (?:(?P<count>{number}|half(?: an)?|media) (?P<unit>{unit}|{hours})|(?P<some>{several}|{hours}))\b"
        ),
        "ago": (
            rf"(?<!half )\b(?:(?P<count>{number}|half an?) (?P<unit>{unit}|{minutes}) (?:ago|atras)"
            rf"|hace (?:como |unos |unas )?(?P<cuenta>{number}|media) (?P<unidad>{unit}|{minutes})\b"
            r"(?! y (?:medi[oa]|cuarto)\b))"
        ),
    }
    return {name: re.compile(text) for name, text in texts.items()}


# what reads the match of each pattern, in the order in which they are tried
_READERS = {
    "second": _span_of_moment,
    "figures": _span_of_figures,
    "quarter": _span_of_quarter,
    "years": _span_of_years,
    "days_of": _span_of_days,
    "day_month": _span_of_days,
    "month_day": _span_of_days,
    "last": _span_of_last,
    "before_last": _span_before_last,
    "week_of": _span_of_week,
    "ago": _span_ago,
    "this": _span_of_this,
    "today": _span_of_day,
    "weekday": _span_of_weekday,
    "month": _span_of_month,
    "season": _span_of_season,
    "year": _span_of_year,
}
_DAYS = {"today", "weekday", "day_month", "month_day"}
_STRETCHES = _READERS.keys() - _DAYS - {"second", "figures", "years", "days_of", "year"}


# Versions in a question as times: since 2.1, between v3 and v4.

# version → when it was committed
ReleaseMoments = Mapping[str, str]
_PLAIN = re.compile(r"\d+(?:\.\d+)+")
_VERSION = re.compile(r"(v?)(\d+(?:\.\d+)*(?:[-.]?[a-z]+[-.]?\d*|-\d+)?)")


def replace_versions(
    terms: Sequence[str], load: Callable[[], ReleaseMoments], names: Container[tuple[str, ...]]
) -> tuple[list[str], dict[str, str]]:
    """Return the words of a question, each known version replaced by the second after its release, and by that
    second the version as it was written. A number without a dot is a version only after a word in `names`, or
    with a `v`."""
    left: list[str] = []
    found: dict[str, str] = {}
    for word in terms:
        told = bool(left) and (left[-1],) in names
        named = is_version(word) or (told and _VERSION.fullmatch(word))
        if named and (release := find_release(word, load())):
            after = datetime.fromisoformat(release) + timedelta(seconds=1)
            second = from_ms(round(after.timestamp() * 1000)).lower()
            found[second], word = word, second
            left = left[: len(left) - told]
        left.append(word)
    return left, found


def is_version(word: str) -> bool:
    """Return whether a small word is written as versions are: `v3`, `2.1`, `2.0-rc1`."""
    match = _VERSION.fullmatch(word)
    return bool(match and (match[1] or "." in word))


def find_release(name: str, known: ReleaseMoments) -> str:
    """Return when a version or a tag was committed, with or without a `v` before it and zeros behind; empty where it is
    not known."""
    plain = name.lower().removeprefix("v")
    return next((known[plain + end] for end in ("", ".0", ".0.0") if plain + end in known), "")


def newest_release(known: ReleaseMoments) -> str:
    """Return when the last version of the whole repository was committed; empty where there is none."""
    return max((at for name, at in known.items() if _PLAIN.fullmatch(name)), default="")


# characters of a moment in words
MAX_TYPED_MOMENT = 40
MOMENT_ADVICE = "Write a date like 2026-11-01, or 2d, 3w, yesterday, last monday, or a version."
# a version or a tag → its moment; `` → the last release's; empty where it is not known
FindRelease = Callable[[str], str]
# before a number also of things, and not only of an hour
_ARTICLES = {"la", "las"}
# of the day after today, which no question is about
_TOMORROW = {"tomorrow", "manana", "mañana"}
_UNIT = r"(?:min(?:s|ut\w+)?|hours?|horas?|days?|dias?|weeks?|semanas?|months?|mes(?:es)?|years?|años?)"
_AGO = "(?:ago|atras|hace)"
_LETTER = re.compile(rf"(?:{_AGO} )?(\d+) ?([hdwy])(?: {_AGO})?")
# of an abbreviated month
_DOTTED = re.compile(r"(?<=[a-zñ]{3})\.(?= |$)")
_SHORT_YEAR = re.compile(r"(?<=\d [a-zñ]{3} )(?=\d\d$)")
_JOINED = re.compile(rf"\b(\d+)(?={_UNIT}\b)")


def no_release(name: str) -> str:
    """Return no moment for any version: where there is no memory."""
    return ""


def parse_typed_moment(text: str, now: str, released: FindRelease = no_release) -> str:
    """Parse a moment as a person types it, in Spanish or English: all that `parse_moment` accepts, words, a clock, the
    name of a version or a tag, and `the release`, which is the last one. A day, a week, a month or a year means its
    beginning, and one without a year, or a clock without a day, the latest that has begun. Raise InvalidInput.
    """
    try:
        return parse_moment(text, now)
    except InvalidInput:
        small, names = load_words("stop", "core") | _leading_words(), load_words("dates", "release")
        terms = [word for word in fold_text(text).split() if word not in small]
        if " ".join(terms) in names:
            moment, trouble = released(""), "No release is recorded."
        else:
            told = len(terms) == 2 and terms[0] in names
            name = terms[-1] if told or (len(terms) == 1 and not terms[0].isdigit()) else ""
            name = name if len(name) <= MAX_TYPED_MOMENT else ""
            version = told or is_version(name)
            moment = released(name) if version and name else ""
            moment = moment or ("" if told else _parse_text(text, now, in_figures=version))
            moment = moment or (released(name) if name and not version else "")
            trouble = f"No release is called {name}." if version else "That is not a time Memoranda can read."
        if not moment:
            raise InvalidInput(trouble, MOMENT_ADVICE) from None
        return moment


def _leading_words() -> frozenset[str]:
    """Return the words that come before a moment."""
    return load_words("dates", "since", "before")


def _parse_text(text: str, now: str, in_figures: bool) -> str:
    """Return the moment of a text, by figures alone or also in words; empty where it is none."""
    if len(text) > MAX_TYPED_MOMENT:
        return ""
    here = datetime.fromisoformat(now).astimezone().replace(tzinfo=None)
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    plain = _rewrite_words(normalize_text(text.replace(",", " "), keep="ñ"))
    small = load_words("stop", "core") | _leading_words()
    if plain == "now":
        return now
    if letter := _LETTER.fullmatch(plain):
        return parse_moment("".join(letter.groups()), now)
    try:
        rest, clock, part = take_clock(plain)
    except ValueError:
        return ""
    named = " ".join(word for word in rest.split() if word not in small)
    days = parse_figure_dates(named)
    if len(days) > 1:
        ways = " and ".join(f"{day:%Y-%m-%d}" for day in days)
        raise InvalidInput(f"That date can be read in two ways: {ways}.", MOMENT_ADVICE) from None
    day: datetime | None = days[0] if days else None
    if day is None and clock is None:
        day = parse_figure_month(named)
    if day is None and clock is not None and not named:
        day = midnight - timedelta(days=midnight + clock > here and not part)
    if day is None and not in_figures:
        day = _parse_in_words(rest, here, clock is not None)
    return _format_moment(day + (clock or timedelta())) if day else ""


@cache
def _rewriting_table() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return the ways of saying that are rewritten, and how."""
    pairs = dict(line.split(": ") for line in load_words("dates", "same"))
    return re.compile(rf"(?<!\w)(?:{any_of_regex(pairs)})(?!\w)"), pairs


@cache
def _spoken_hour_pattern() -> re.Pattern[str]:
    """Return the pattern of an hour in words: `at three`, `a las nueve`."""
    hours = any_of_regex(word for word, number in load_number_words().items() if 0 < number <= 12)
    at = any_of_regex({*load_words("dates", "clock_at")} - _ARTICLES)
    return re.compile(rf"\b(?P<at>{at}) (?P<hour>{hours}|una)\b(?! (?:y|{_UNIT})\b)")


def _rewrite_words(plain: str) -> str:
    """Return a text with words that the patterns do not know replaced by words that they know: `yesterday night` by
    `last night`."""
    pattern, pairs = _rewriting_table()
    plain = _DOTTED.sub("", pattern.sub(lambda match: pairs[match[0]], plain))
    plain = _spoken_hour_pattern().sub(
        lambda match: f"{match['at']} {load_number_words().get(match['hour'], 1)}", plain
    )
    return _JOINED.sub(r"\1 ", _SHORT_YEAR.sub("20", plain))


@cache
def _length_pattern() -> re.Pattern[str]:
    """Return the pattern of a length of time, ago or before a day: `1 hour 30 minutes ago`, `2 weeks yesterday`."""
    units = any_of_regex(_unit_days().keys() | _clock_minutes().keys())
    days = any_of_regex(load_words("dates", "days") - _TOMORROW)
    return re.compile(
        rf"(?:about |hace )?(?P<length>\d+ (?:{units})(?: \d+ (?:{units}))*)(?: {_AGO}| (?P<day>{days}))?"
    )


def _parse_in_words(plain: str, here: datetime, clock: bool) -> datetime | None:
    """Return the moment in words; None where there is none, and beside a clock where it is no day."""
    typed = plain.split()
    small = load_words("stop", "core") - {"this"} | _leading_words()
    numbers = {**load_number_words(), "a": 1, "an": 1, "un": 1, "una": 1}
    full = {place: name for name, place in _months().items()}
    spelt: dict[str, object] = {name[:3]: name for name in load_places("weekdays")}
    spelt |= {name: full[place] for name, place in load_places("short_months", *range(1, 13)).items()}
    spelt |= numbers
    words = [str(spelt.get(word, word)) for word in typed if word in numbers or word not in small]
    if length := _length_pattern().fullmatch(" ".join(words)):
        start = _find_day(length["day"], here) if length["day"] else here
        # `in 3 days` is to come
        is_wrong = (
            start is None or (clock and not length["day"]) or not load_words("dates", "ahead").isdisjoint(typed)
        )
        return None if start is None or is_wrong else _take_length(start, length["length"])
    while typed and typed[0] in _leading_words():
        del typed[0]
    found = (_find_day(" ".join(terms), here, clock) for terms in (words, typed))
    return next(filter(None, found), None)


def _take_length(start: datetime, length: str) -> datetime | None:
    """Return the moment so long before a start; None for one that no calendar has."""
    parts = length.split()
    try:
        for count, unit in zip(map(int, parts[::2]), parts[1::2], strict=True):
            if size := _calendar_months().get(unit):
                first, after = _calendar_span(start, count * size, "month")
                # the 31st of a month may be its 28th
                day = min(start.day, (after - timedelta(days=1)).day)
                start = start.replace(year=first.year, month=first.month, day=day)
            else:
                start -= count * timedelta(days=_unit_days().get(unit, 0), minutes=_clock_minutes().get(unit, 0))
    except (OverflowError, ValueError):
        return None
    return start


def _find_day(plain: str, here: datetime, only: bool = True) -> datetime | None:
    """Return the start of the day, or, unless it must be one, of the stretch of time that a text names as a whole."""
    if plain in _TOMORROW:
        return here.replace(hour=0, minute=0) + timedelta(days=1)
    for name, match, (start, _) in _find_times(plain, here.replace(second=0, microsecond=0)):
        within = _match_preposition(_WITHIN, match)
        at = within.start() if within else match.start()
        weekdays = [load_places("weekdays")[word] for word in match[0].split() if word in load_places("weekdays")]
        if (at, match.end()) != (0, len(plain)) or _has_clock(match) or set(weekdays) - {start.weekday()}:
            continue
        is_clear = name in _STRETCHES and (within or not _is_ambiguous(name, match))
        if name in _DAYS or (not only and (is_clear or name == "month")):
            return start
    return None
