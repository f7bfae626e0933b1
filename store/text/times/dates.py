"""The period that a question names: yesterday, last week, since Monday, on 19 November, between March and May, the last
ten days, the last hour.

A time without a year is the latest of its name that has begun. A time before the first supported year begins there.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

from store.base.clock import from_ms
from store.text import vocabulary
from store.text.times.figures import clock_pattern, day_parts, time_of_day, written_dates, written_month

EARLIEST = datetime(1900, 1, 1)
AHEAD = 24  # characters before a time that may contain its preposition
SEVERAL = 5  # days in “the last few days”

_SOME = frozenset("few several some pocos pocas unos unas varios varias algunos algunas".split())
_OF_YEAR = r"(?: (?:of |de |del )?(?P<year>(?:19|20)\d\d)\b)?"
_DAY_NUMBER = r"(?P<day>\d{1,2}|first|primero)(?:st|nd|rd|th|o)?"
_HOURS = r"(?: morning| afternoon| evening| night|(?: (?:por|a|en) la)? (?:mañana|tarde|noche))?"
_BEGINS = "early|beginning of|start of|principios de|comienzos de|inicios de"
_MIDDLE = "mid|middle of|mediados de"
_ENDS = "late|end of|fines de|finales de"

_PAST = ("last", "past", "pasado", "ultimo", "since", "desde", "before", "antes", "until", "hasta")

Span = tuple[datetime, datetime]
Reader = Callable[[re.Match[str], datetime], Span | None]


@cache
def _places(name: str, first: int = 0) -> dict[str, int]:
    """Return the place of each name in an ordered list: the days of a week, the months of a year."""
    return {word: place for place, words in enumerate(vocabulary.in_order("dates", name), first) for word in words}


def _months() -> dict[str, int]:
    return _places("months", 1)


@cache
def _short_months() -> dict[str, int]:
    """Return the months, and what they are abbreviated to beside the number of a day."""
    return _months() | _places("short_months", 1)


def _values(name: str, *values: int) -> dict[str, int]:
    """Return the value of each name in an ordered list; a place without a value is left out."""
    names = vocabulary.in_order("dates", name)
    return {word: value for words, value in zip(names, values, strict=False) for word in words}


@cache
def _unit_days() -> dict[str, int]:
    """Return the units of time, and how many days they are."""
    return _values("units", 1, 7, 30, 365, 14, 15)


@cache
def _calendar_months() -> dict[str, int]:
    """Return the calendar units, and how many months they are."""
    return {unit: size for unit, days in _unit_days().items() if (size := {30: 1, 365: 12}.get(days))}


@cache
def _halves() -> frozenset[str]:
    """Return the names of two weeks, and of half a month."""
    return frozenset(unit for unit, days in _unit_days().items() if days in (14, 15))


@cache
def _clock_minutes() -> dict[str, int]:
    return _values("clock_units", 1, 60)


@cache
def _part_months() -> dict[str, int]:
    """Return the names of a quarter and of half a year, and how many months they are."""
    return _values("parts", 3, 6)


@cache
def _counts() -> dict[str, int]:
    return {**vocabulary.numbers(), **dict.fromkeys("a an un una".split(), 1), **dict.fromkeys(_SOME, SEVERAL)}


def period(plain: str, now: str) -> tuple[str, str, frozenset[str]]:
    """Return (the start, the end, the words that named them) of a question without capitals and accents; start and end
    are empty where it names no time. Never raises."""
    points = _points(plain, _minute(now))
    for place, (match, (start, end)) in enumerate(points):
        if place + 1 < len(points) and (range_ := _ahead(_RANGE, match)):
            other, (begun, last) = points[place + 1]
            last = begun if _timed(other) else last
            if _TO.fullmatch(plain[match.end() : other.start()]) and (start := _earlier(match, start, last)) < last:
                return _period(start, last, plain[range_.start() : other.end()])
        for intro, begins, ends in _INTRODUCED:
            if found := _ahead(intro, match):
                bounds = (start, start if _timed(match) else end)
                return _period(
                    None if begins is None else bounds[begins],
                    None if ends is None else bounds[ends],
                    plain[found.start() : match.end()],
                )
        within = _ahead(_WITHIN, match)
        if match.re is _SECOND:
            continue
        within = within or (_ahead(_OF, match) if match.re in (_YEAR, _patterns()["month"]) else None)
        if within or not _weak(match):
            onward = _ONWARD.match(plain, match.end())
            named = plain[within.start() if within else match.start() : onward.end() if onward else match.end()]
            return _period(start, None if onward else end, named)
    return "", "", frozenset()


def beginning(plain: str, now: str) -> str:
    """Return the start of the stretch of time that a text without capitals and accents is, empty where it is none."""
    for match, (start, _) in _points(plain, _minute(now)):
        within = _ahead(_WITHIN, match)
        at = within.start() if within else match.start()
        if (at, match.end()) == (0, len(plain)) and _is_stretch(match.re) and (within or not _weak(match)):
            return _moment(start)
    return ""


def weekly(words: frozenset[str]) -> bool:
    """Return whether the words of a time name a weekday in general, and not the last one."""
    return not words.isdisjoint(_places("weekdays")) and words.isdisjoint(_PAST)


def _minute(now: str) -> datetime:
    return datetime.fromisoformat(now).astimezone().replace(second=0, microsecond=0, tzinfo=None)


def _points(plain: str, here: datetime) -> list[tuple[re.Match[str], Span]]:
    """Return the times that a question names, none within another, in its order."""
    midnight = here.replace(hour=0, minute=0)
    found: list[tuple[re.Match[str], Span]] = []
    taken = bytearray(len(plain))
    clocks = (_patterns()["last_clock"], _patterns()["ago_clock"])
    for pattern, read in _readers():
        for match in pattern.finditer(plain):
            then = here if pattern in clocks else midnight
            if not any(taken[match.start() : match.end()]) and (span := _clocked(match, read(match, then))):
                taken[match.start() : match.end()] = b"1" * len(match[0])
                found.append((match, span))
    return sorted(found, key=lambda point: point[0].start())


def _timed(match: re.Match[str]) -> bool:
    """Return whether a time has a clock."""
    return bool(match.groupdict().get("clock"))


def _clocked(match: re.Match[str], span: Span | None) -> Span | None:
    """Return the span of a day; with a clock, the hour that begins then."""
    if span is None or not _timed(match):
        return span
    before = match.string[match.start() : match.start("clock")].split()[-1]
    try:
        start = span[0].replace(hour=0) + time_of_day(match, before if before in day_parts() else "")
    except ValueError:
        return None
    return start, start + timedelta(hours=1)


def _ahead(intro: re.Pattern[str], match: re.Match[str]) -> re.Match[str] | None:
    """Return the match directly before a time, if it is this preposition."""
    return intro.search(match.string, max(0, match.start() - AHEAD), match.start())


def _period(start: datetime | None, end: datetime | None, words: str) -> tuple[str, str, frozenset[str]]:
    return _moment(start) if start else "", _moment(end) if end else "", frozenset(words.split())


def _weak(match: re.Match[str]) -> bool:
    """Return whether a word may mean something other than a time, without a preposition before it: `may`, `march`."""
    found = _patterns()
    return match.re in (found["month"], _YEAR, found["weekday"], found["season"]) and not any(
        match.groupdict().get(name) for name in ("part", "of", "how", "past", "clock")
    )


def _earlier(match: re.Match[str], start: datetime, end: datetime) -> datetime:
    """Return the start of a range with this end: of a repeating time, the last one before it."""
    if start >= end and match.re is _patterns()["weekday"]:
        return start - timedelta(days=7)
    if start >= end and match.re is _patterns()["month"] and not match["of"]:
        return start.replace(year=start.year - 1)
    return start


# names of times: each with the span it means, or None where it is none


def _figures(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return a day or a month in figures; none of a date that can be read in two ways."""
    days = written_dates(match["date"])
    if len(days) == 1:
        return days[0], days[0] + timedelta(days=1)
    month = None if _timed(match) else written_month(match["date"])
    return (month, (month + timedelta(days=31)).replace(day=1)) if month else None


def _second(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return a moment, which has no length: only with a preposition does it name a time."""
    try:
        moment = datetime.fromisoformat(match["second"].upper()).astimezone().replace(tzinfo=None)
    except ValueError:
        return None
    return moment, moment


def _quarter(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return a quarter or a half of a year, the latest that has begun."""
    short = match["short"] or ""
    months = 6 if short.startswith("h") else 3 if short else _part_months()[match["part"]]
    number = int(short[1]) - 1 if short else _places("ordinals")[match["which"]]
    if (number + 1) * months > 12 or (short[:1] in ("h", "t") and not match["year"]):
        return None
    year = int(match["year"] or midnight.year - (number * months >= midnight.month))
    end = (number + 1) * months
    return datetime(year, number * months + 1, 1), datetime(year + end // 12, end % 12 + 1, 1)


def _years(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return the span of two years and those between them."""
    first, last = int(match["first"]), int(match["last"])
    return (datetime(first, 1, 1), datetime(last + 1, 1, 1)) if first < last else None


def _of_month(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return the span of a day, or a few, by number and month."""
    first, last, month = match["day"], match.groupdict().get("until") or match["day"], _short_months()[match["month"]]
    years = (int(match["year"]),) if match["year"] else range(midnight.year, midnight.year - 5, -1)
    for year in years:  # 29 February exists only in some
        try:
            start, end = (datetime(year, month, int(day) if day.isdigit() else 1) for day in (first, last))
        except ValueError:
            continue
        if (match["year"] or start <= midnight) and start <= end:
            return start, end + timedelta(days=1)
    return None


def _month(match: re.Match[str], midnight: datetime) -> Span:
    month, part = _months()[match["month"]], match["part"]
    start = datetime(int(match["of"]) if match["of"] else midnight.year - (month > midnight.month), month, 1)
    end = (start + timedelta(days=31)).replace(day=1)
    if not part:
        return start, end
    third = next(at for at, names in enumerate((_BEGINS, _MIDDLE, _ENDS)) if part in names.split("|"))
    return start.replace(day=1 + 10 * third), end if third == 2 else start.replace(day=11 + 10 * third)


def _season(match: re.Match[str], midnight: datetime) -> Span:
    """Return a season, the latest that has begun; of a year, the one that begins in it."""
    month = 3 + 3 * _places("seasons")[match["season"]]
    start = datetime(int(match["of"]) if match["of"] else midnight.year, month, 1)
    if start > midnight and not match["of"]:
        start = start.replace(year=start.year - 1)
    if (match["past"] or match["how"] in ("last", "past")) and midnight < _after(start):
        start = start.replace(year=start.year - 1)
    return start, _after(start)


def _after(season: datetime) -> datetime:
    return (season + timedelta(days=95)).replace(day=1)


def _year(match: re.Match[str], midnight: datetime) -> Span:
    start = datetime(int(match["year"]), 1, 1)
    return start, start.replace(year=start.year + 1)


def _day(match: re.Match[str], midnight: datetime) -> Span:
    word = match["day"]
    if word in ("last night", "anoche"):
        return midnight - timedelta(hours=6), midnight + timedelta(hours=6)
    back = 2 if word in _BEFORE_YESTERDAY else int(word in ("yesterday", "ayer"))
    start = midnight - timedelta(days=back)
    return start, start + timedelta(days=1)


def _weekday(match: re.Match[str], midnight: datetime) -> Span:
    """Return the latest day of that name; today itself only after “this” and “since”."""
    back = (midnight.weekday() - _places("weekdays")[match["day"]]) % 7
    today = match["how"] in ("this", "este") or _ahead(_SINCE, match)
    start = midnight - timedelta(days=back or (0 if today else 7))
    return start, start + timedelta(days=1)


def _this(match: re.Match[str], midnight: datetime) -> Span | None:
    """Return a calendar week, month, year or weekend; for “in the last week” the days up to now."""
    which, unit = match["which"], match["unit"]
    if which in ("la", "el") and not match["after"]:
        return None  # “la semana que viene”
    last = which not in ("this", "esta", "este")
    week = midnight - timedelta(days=midnight.weekday() + 7 * last)
    if unit not in _unit_days():
        return week + timedelta(days=5), week + timedelta(days=7)
    if which.startswith(("ultim", "past")) or (match["article"] and which == "last") or unit in _halves():
        return _back(midnight, _unit_days()[unit]), midnight + timedelta(days=1)
    if unit in _calendar_months():
        return _calendar(midnight, int(last), unit)
    return week, week + timedelta(days=7)


def _before_last(match: re.Match[str], midnight: datetime) -> Span:
    """Return the calendar week, weekend, month or year before the last one."""
    unit = match["unit"] or match["unidad"]
    if unit in _calendar_months():
        return _calendar(midnight, 2, unit)
    week = midnight - timedelta(days=midnight.weekday() + 14)
    return (week if unit in _unit_days() else week + timedelta(days=5)), week + timedelta(days=7)


def _week_of(match: re.Match[str], midnight: datetime) -> Span:
    """Return seven days of a month, from its first on, its last seven, or a half of it."""
    month = _months()[match["month"]]
    start = datetime(int(match["year"]) if match["year"] else midnight.year - (month > midnight.month), month, 1)
    after = (start + timedelta(days=31)).replace(day=1)
    days = 15 if match["unit"] in _halves() else 7
    if match["which"] not in _places("ordinals"):
        return after - timedelta(days=days), after
    begin = min(start + timedelta(days=days * _places("ordinals")[match["which"]]), after - timedelta(days=1))
    return begin, after if begin.day == 16 else min(begin + timedelta(days=days), after)


def _clock_ago(match: re.Match[str], here: datetime) -> Span:
    """Return the last minutes or hours, up to now; of so many hours ago, the first of them."""
    said = match.groupdict()
    count, unit = said["count"] or said.get("cuenta") or "a", said["unit"] or said["unidad"]
    half, minutes = count.startswith(("half", "media")), _clock_minutes()[unit]
    start = here - timedelta(minutes=minutes // 2 if half else minutes * _count(count))
    end = here + timedelta(minutes=1)
    return start, min(start + timedelta(hours=1), end) if "cuenta" in said and minutes == 60 else end


def _last_some(match: re.Match[str], midnight: datetime) -> Span:
    count = _count(match["count"]) if match["count"] else SEVERAL
    days = count * _unit_days()[match["unit"] or match["some"]]
    return _back(midnight, days), midnight + timedelta(days=1)


def _ago(match: re.Match[str], midnight: datetime) -> Span:
    """Return a span so many days or weeks ago, a day or a week long; a calendar month or year. Where the number is
    left open, all the time since then."""
    said, unit = match["count"] or match["cuenta"], match["unit"] or match["unidad"]
    count = _count(said)
    start = _back(midnight, count * _unit_days()[unit])
    if said.split()[-1] in _SOME:
        return start, midnight + timedelta(days=1)
    if unit not in _calendar_months():
        return start, start + timedelta(days=_unit_days()[unit])
    month = _calendar(midnight, count, unit)
    return (start, month[1]) if _ahead(_SINCE, match) else month


def _calendar(midnight: datetime, back: int, unit: str) -> Span:
    """Return the calendar month or year so many units ago."""
    size = _calendar_months()[unit]
    start = midnight.year * 12 + (midnight.month - 1 if size == 1 else 0) - back * size
    start = max(start, EARLIEST.year * 12)
    return datetime(start // 12, start % 12 + 1, 1), datetime((start + size) // 12, (start + size) % 12 + 1, 1)


def _back(midnight: datetime, days: int) -> datetime:
    return midnight - timedelta(days=min(days, (midnight - EARLIEST).days))


def _count(word: str) -> int:
    if word.endswith(("couple of", "par de")):
        return 2
    return int(word) if word.isdigit() else _counts()[word.split()[-1]]


def _moment(local: datetime) -> str:
    return from_ms(round(local.timestamp() * 1000))


_BEFORE_YESTERDAY = ("the day before yesterday", "day before yesterday", "antes de ayer", "anteayer", "antier")
_SECOND = re.compile(r"\b(?P<second>(?:19|20)\d\d-\d\d-\d\dt[\d:.]{8,12}z)(?!\S)")
_YEARS = re.compile(
    r"\b(?:(?:between|from|entre|desde|de) )?(?P<first>(?:19|20)\d\d) (?:and|y|or|o|to|a)"
    r" (?P<last>(?:19|20)\d\d)\b(?![-.,:/])"
)
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b(?![-.,:/])")
_BEFORE_LAST = re.compile(
    r"\b(?:(?:in |on )?(?:the )?(?P<unit>weekend|week|month|year) before last"
    r"|(?:en )?(?:la|el) (?P<unidad>semana|fin de semana|finde|mes|año) antepasad[oa])\b"
)
# prepositions of a time
_SINCE = re.compile(r"\b(?:since|desde|starting|a partir del?)(?: the| el| la)? $")
_INTRODUCED = (  # and which end of the time is meant as the start, and which as the end
    (_SINCE, 0, None),
    (re.compile(r"\b(?:after|despues del?|despues) $"), 1, None),
    (re.compile(r"\b(?:before|prior to|antes del?|antes) (?:the |el |la )?$"), None, 0),
    (re.compile(r"\b(?:until|till|up to|hasta) (?:the |el |la )?$"), None, 1),
)
_WITHIN = re.compile(r"\b(?:in|during|en|durante)(?: the month of| the year| el mes de| el año)? $")
_OF = re.compile(r"\b(?:of|from|del?) $")
# `in March on docs` names what it is about
_ONWARD = re.compile(r" (?:onwards?\b|en adelante\b|on(?=,?$|,? (?:about|and|by|what|who|did)\b))")
_RANGE = re.compile(r"\b(?:between|from|entre|desde|del?)(?: the| el| la)? $")
_TO = re.compile(r" (?:and|to|until|till|through|y|e|al?|hasta)(?: the| el| la)? ")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of times that words of the languages make."""
    weekday, month = "|".join(_places("weekdays")), "|".join(_months())
    short_month = "|".join(sorted(_short_months(), key=len, reverse=True))
    ordinals, halves = "|".join(_places("ordinals")), "|".join(_halves())
    unit, minutes = "|".join(_unit_days()), "|".join(_clock_minutes())
    number = rf"\d{{1,4}}|(?:a )?couple of|un par de|(?:a )?few|{'|'.join(_counts())}"
    on = rf"(?:(?:on|the|el|dia|del|{weekday}) ){{0,4}}"
    clock = rf"(?P<clock> {clock_pattern()})?"
    texts = {
        "figures": (
            r"(?<![\w./-])(?:on |el )?(?P<date>(?:19|20)\d\d(?:[-/]\d\d?){1,2}|\d\d?([-/.])\d\d?\2(?:19|20)\d\d)"
            rf"(?![\w/.-]){clock}"
        ),
        "quarter": (
            rf"\b(?:(?:the|el|la) )?(?:(?P<which>{ordinals}) (?P<part>{'|'.join(_part_months())})"
            r"|(?P<short>[qth][1-4]))(?: (?:of |de |del )?(?P<year>(?:19|20)\d\d))?\b"
        ),
        "days_of": (
            rf"\b(?:between|from|entre|del?) (?:the |el )?{_DAY_NUMBER} (?:and|to|y|al?) (?:the |el )?"
            rf"(?P<until>\d{{1,2}})(?:st|nd|rd|th)?(?: of| de)? (?P<month>{short_month})\b{_OF_YEAR}"
        ),
        "day_month": rf"\b{on}{_DAY_NUMBER}(?: of| de)? (?P<month>{short_month})\b{_OF_YEAR}{clock}",
        "month_day": rf"\b{on}(?P<month>{short_month})(?: the)? {_DAY_NUMBER}\b{_OF_YEAR}{clock}",
        "month": (
            rf"\b(?:(?:the |a )?(?P<part>{_BEGINS}|{_MIDDLE}|{_ENDS})[ -])?(?P<month>{month})"
            r"(?: (?:of |de |del )?(?P<of>(?:19|20)\d\d))?\b"
        ),
        "season": (
            rf"\b(?:(?:the|la|el|(?P<how>this|last|past|esta|este)) )?(?P<season>{'|'.join(_places('seasons'))})"
            r"(?: (?:of |de |del )?(?P<of>(?:19|20)\d\d))?(?P<past> pasad[oa])?\b"
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
            r"\b(?:(?:in|over|during|within|en|durante) )?(?P<article>(?:the|this) )?(?:(?:la|el) (?=ultim))?"
            r"(?P<which>this|esta|este|last|past|ultim[oa]|la pasada|el pasado|la|el)"
            rf" (?P<unit>weekend|week|fin de semana|finde|semana|month|mes|year|año|{halves})"
            r"(?P<after> pasad[oa])?\b(?! (?:of|de)\b)"
        ),
        "week_of": (
            rf"\b(?:(?:in|en|during|durante) )?(?:the |la )?(?P<which>{ordinals}|last|ultima)"
            rf" (?P<unit>week|semana|{halves}) (?:of|de|in) (?P<month>{month})\b{_OF_YEAR}"
        ),
        "last_clock": (
            r"\b(?:(?:in|over|during|within|en|durante) )?(?:the |la |los |las )?(?:last|past|ultim[oa]s?)"
            rf" (?:(?P<count>{number}|half(?: an)?|media) )?(?P<unit>{minutes})\b(?! (?:of|de)\b)"
        ),
        "ago_clock": (
            rf"\b(?:(?P<count>{number}|half an?) (?P<unit>{minutes}) (?:ago|atras)"
            rf"|hace (?:como |unos |unas )?(?P<cuenta>{number}|media) (?P<unidad>{minutes})\b"
            r"(?! y (?:medi[oa]|cuarto)\b))"
        ),
        "last_some": (
            r"\b(?:(?:in|over|during|within|en|durante) )?(?:the |these |los |las |estos |estas )?"
            rf"(?:last|past|ultim[oa]s) (?:(?P<count>{number}) (?P<unit>{unit})"
            r"|(?P<some>days|weeks|months|years|dias|semanas|meses|años))\b"
        ),
        "ago": (
            rf"(?<!half )\b(?:(?P<count>{number}) (?P<unit>{unit}) (?:ago|atras)"
            rf"|hace (?:como |unos |unas )?(?P<cuenta>{number}) (?P<unidad>{unit})\b(?! y medi[oa]\b))"
        ),
    }
    return {name: re.compile(text) for name, text in texts.items()}


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """Return each pattern of a time, in the order in which they are tried, and what reads its match."""
    found = _patterns()
    return (
        *((_SECOND, _second), (found["figures"], _figures), (found["quarter"], _quarter), (_YEARS, _years)),
        *((found[name], _of_month) for name in ("days_of", "day_month", "month_day")),
        *((found["last_some"], _last_some), (_BEFORE_LAST, _before_last), (found["week_of"], _week_of)),
        *((found["last_clock"], _clock_ago), (found["ago_clock"], _clock_ago), (found["ago"], _ago)),
        *((found["this"], _this), (found["today"], _day), (found["weekday"], _weekday)),
        *((found["month"], _month), (found["season"], _season), (_YEAR, _year)),
    )


def _is_stretch(pattern: re.Pattern[str]) -> bool:
    """Return whether a pattern is one of a time that is no day or year."""
    names = ("quarter", "last_some", "week_of", "last_clock", "ago_clock", "ago", "this", "month", "season")
    return pattern is _BEFORE_LAST or any(pattern is _patterns()[name] for name in names)
