"""The period that a question names: yesterday, last week, since Monday, on 19 November, between March and May, the last
ten days, the last hour.

A time without a year is the latest of its name that has begun. A time before the first supported year begins there.
"""

import re
from datetime import datetime, timedelta

from store.base.clock import from_ms
from store.text import vocabulary
from store.text.times.figures import CLOCK, PARTS, time_of_day, written_dates, written_month

EARLIEST = datetime(1900, 1, 1)
AHEAD = 24  # characters before a time that may contain its preposition
SEVERAL = 5  # days in “the last few days”

_DAYS = {name: place for place, names in enumerate(vocabulary.in_order("dates", "weekdays")) for name in names}
_MONTHS = {name: place for place, names in enumerate(vocabulary.in_order("dates", "months"), 1) for name in names}
# beside the number of a day a month may be abbreviated to its first letters
_SHORT = _MONTHS | {
    name: place for place, names in enumerate(vocabulary.in_order("dates", "short_months"), 1) for name in names
}
# three months each, from March on: seasons of the north
_SEASONS = {name: place for place, names in enumerate(vocabulary.in_order("dates", "seasons")) for name in names}
_UNIT_NAMES = vocabulary.in_order("dates", "units")
_UNITS = {name: days for names, days in zip(_UNIT_NAMES, (1, 7, 30, 365, 14, 15), strict=True) for name in names}
# calendar units in months
_CALENDAR = {name: size for names, size in zip(_UNIT_NAMES[2:4], (1, 12), strict=True) for name in names}
_HALVES = frozenset().union(*_UNIT_NAMES[4:])  # two weeks or half a month
_MINUTES = dict.fromkeys(vocabulary.in_order("dates", "clock_units")[0], 1) | dict.fromkeys(
    vocabulary.in_order("dates", "clock_units")[1], 60
)
_SOME = frozenset("few several some pocos pocas unos unas varios varias algunos algunas".split())
_VALUES = {**vocabulary.numbers(), **dict.fromkeys("a an un una".split(), 1), **dict.fromkeys(_SOME, SEVERAL)}
_ORDINALS = {name: at for at, names in enumerate(vocabulary.in_order("dates", "ordinals")) for name in names}
# a quarter and a half of a year, in months
_PARTS = dict.fromkeys(vocabulary.in_order("dates", "parts")[0], 3) | dict.fromkeys(
    vocabulary.in_order("dates", "parts")[1], 6
)
_UNIT, _OF_CLOCK = "|".join(_UNITS), "|".join(_MINUTES)
_NUMBER = rf"\d{{1,4}}|(?:a )?couple of|un par de|(?:a )?few|{'|'.join(_VALUES)}"
_DAY_NAME, _MONTH_NAME = "|".join(_DAYS), "|".join(_MONTHS)
_SHORT_NAME = "|".join(sorted(_SHORT, key=len, reverse=True))
_OF_YEAR = r"(?: (?:of |de |del )?(?P<year>(?:19|20)\d\d)\b)?"
_ON = rf"(?:(?:on|the|el|dia|del|{_DAY_NAME}) ){{0,4}}"
_DAY_NUMBER = r"(?P<day>\d{1,2}|first|primero)(?:st|nd|rd|th|o)?"
_HOURS = r"(?: morning| afternoon| evening| night|(?: (?:por|a|en) la)? (?:mañana|tarde|noche))?"
_CLOCK = rf"(?P<clock> {CLOCK})?"
_BEGINS = "early|beginning of|start of|principios de|comienzos de|inicios de"
_MIDDLE = "mid|middle of|mediados de"
_ENDS = "late|end of|fines de|finales de"

_PAST = ("last", "past", "pasado", "ultimo", "since", "desde", "before", "antes", "until", "hasta")

Span = tuple[datetime, datetime]


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
        within = within or (_ahead(_OF, match) if match.re in (_YEAR, _MONTH) else None)
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
        if (at, match.end()) == (0, len(plain)) and match.re in _STRETCHES and (within or not _weak(match)):
            return _moment(start)
    return ""


def weekly(words: frozenset[str]) -> bool:
    """Return whether the words of a time name a weekday in general, and not the last one."""
    return not words.isdisjoint(_DAYS) and words.isdisjoint(_PAST)


def _minute(now: str) -> datetime:
    return datetime.fromisoformat(now).astimezone().replace(second=0, microsecond=0, tzinfo=None)


def _points(plain: str, here: datetime) -> list[tuple[re.Match[str], Span]]:
    """Return the times that a question names, none within another, in its order."""
    midnight = here.replace(hour=0, minute=0)
    found: list[tuple[re.Match[str], Span]] = []
    taken = bytearray(len(plain))
    for pattern, read in _CALLED:
        for match in pattern.finditer(plain):
            then = here if pattern in (_LAST_CLOCK, _AGO_CLOCK) else midnight
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
        start = span[0].replace(hour=0) + time_of_day(match, before if before in PARTS else "")
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
    return match.re in (_MONTH, _YEAR, _WEEKDAY, _SEASON) and not any(
        match.groupdict().get(name) for name in ("part", "of", "how", "past", "clock")
    )


def _earlier(match: re.Match[str], start: datetime, end: datetime) -> datetime:
    """Return the start of a range with this end: of a repeating time, the last one before it."""
    if start >= end and match.re is _WEEKDAY:
        return start - timedelta(days=7)
    if start >= end and match.re is _MONTH and not match["of"]:
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
    months = 6 if short.startswith("h") else 3 if short else _PARTS[match["part"]]
    number = int(short[1]) - 1 if short else _ORDINALS[match["which"]]
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
    first, last, month = match["day"], match.groupdict().get("until") or match["day"], _SHORT[match["month"]]
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
    month, part = _MONTHS[match["month"]], match["part"]
    start = datetime(int(match["of"]) if match["of"] else midnight.year - (month > midnight.month), month, 1)
    end = (start + timedelta(days=31)).replace(day=1)
    if not part:
        return start, end
    third = next(at for at, names in enumerate((_BEGINS, _MIDDLE, _ENDS)) if part in names.split("|"))
    return start.replace(day=1 + 10 * third), end if third == 2 else start.replace(day=11 + 10 * third)


def _season(match: re.Match[str], midnight: datetime) -> Span:
    """Return a season, the latest that has begun; of a year, the one that begins in it."""
    month = 3 + 3 * _SEASONS[match["season"]]
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
    back = (midnight.weekday() - _DAYS[match["day"]]) % 7
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
    if unit not in _UNITS:
        return week + timedelta(days=5), week + timedelta(days=7)
    if which.startswith(("ultim", "past")) or (match["article"] and which == "last") or unit in _HALVES:
        return _back(midnight, _UNITS[unit]), midnight + timedelta(days=1)
    if unit in _CALENDAR:
        return _calendar(midnight, int(last), unit)
    return week, week + timedelta(days=7)


def _before_last(match: re.Match[str], midnight: datetime) -> Span:
    """Return the calendar week, weekend, month or year before the last one."""
    unit = match["unit"] or match["unidad"]
    if unit in _CALENDAR:
        return _calendar(midnight, 2, unit)
    week = midnight - timedelta(days=midnight.weekday() + 14)
    return (week if unit in _UNITS else week + timedelta(days=5)), week + timedelta(days=7)


def _week_of(match: re.Match[str], midnight: datetime) -> Span:
    """Return seven days of a month, from its first on, its last seven, or a half of it."""
    month = _MONTHS[match["month"]]
    start = datetime(int(match["year"]) if match["year"] else midnight.year - (month > midnight.month), month, 1)
    after = (start + timedelta(days=31)).replace(day=1)
    days = 15 if match["unit"] in _HALVES else 7
    if match["which"] not in _ORDINALS:
        return after - timedelta(days=days), after
    begin = min(start + timedelta(days=days * _ORDINALS[match["which"]]), after - timedelta(days=1))
    return begin, after if begin.day == 16 else min(begin + timedelta(days=days), after)


def _clock_ago(match: re.Match[str], here: datetime) -> Span:
    """Return the last minutes or hours, up to now; of so many hours ago, the first of them."""
    said = match.groupdict()
    count, unit = said["count"] or said.get("cuenta") or "a", said["unit"] or said["unidad"]
    half = count.startswith(("half", "media"))
    start = here - timedelta(minutes=_MINUTES[unit] // 2 if half else _MINUTES[unit] * _count(count))
    end = here + timedelta(minutes=1)
    return start, min(start + timedelta(hours=1), end) if "cuenta" in said and _MINUTES[unit] == 60 else end


def _last_some(match: re.Match[str], midnight: datetime) -> Span:
    days = _count(match["count"]) * _UNITS[match["unit"]] if match["count"] else SEVERAL * _UNITS[match["some"]]
    return _back(midnight, days), midnight + timedelta(days=1)


def _ago(match: re.Match[str], midnight: datetime) -> Span:
    """Return a span so many days or weeks ago, a day or a week long; a calendar month or year. Where the number is
    left open, all the time since then."""
    said, unit = match["count"] or match["cuenta"], match["unit"] or match["unidad"]
    count = _count(said)
    start = _back(midnight, count * _UNITS[unit])
    if said.split()[-1] in _SOME:
        return start, midnight + timedelta(days=1)
    if unit not in _CALENDAR:
        return start, start + timedelta(days=_UNITS[unit])
    month = _calendar(midnight, count, unit)
    return (start, month[1]) if _ahead(_SINCE, match) else month


def _calendar(midnight: datetime, back: int, unit: str) -> Span:
    """Return the calendar month or year so many units ago."""
    size = _CALENDAR[unit]
    start = midnight.year * 12 + (midnight.month - 1 if size == 1 else 0) - back * size
    start = max(start, EARLIEST.year * 12)
    return datetime(start // 12, start % 12 + 1, 1), datetime((start + size) // 12, (start + size) % 12 + 1, 1)


def _back(midnight: datetime, days: int) -> datetime:
    return midnight - timedelta(days=min(days, (midnight - EARLIEST).days))


def _count(word: str) -> int:
    if word.endswith(("couple of", "par de")):
        return 2
    return int(word) if word.isdigit() else _VALUES[word.split()[-1]]


def _moment(local: datetime) -> str:
    return from_ms(round(local.timestamp() * 1000))


_BEFORE_YESTERDAY = ("the day before yesterday", "day before yesterday", "antes de ayer", "anteayer", "antier")
_FIGURES = re.compile(
    r"(?<![\w./-])(?:on |el )?(?P<date>(?:19|20)\d\d(?:[-/]\d\d?){1,2}|\d\d?([-/.])\d\d?\2(?:19|20)\d\d)(?![\w/.-])"
    rf"{_CLOCK}"
)
_SECOND = re.compile(r"\b(?P<second>(?:19|20)\d\d-\d\d-\d\dt[\d:.]{8,12}z)(?!\S)")
_QUARTER = re.compile(
    rf"\b(?:(?:the|el|la) )?(?:(?P<which>{'|'.join(_ORDINALS)}) (?P<part>{'|'.join(_PARTS)})|(?P<short>[qth][1-4]))"
    r"(?: (?:of |de |del )?(?P<year>(?:19|20)\d\d))?\b"
)
_YEARS = re.compile(
    r"\b(?:(?:between|from|entre|desde|de) )?(?P<first>(?:19|20)\d\d) (?:and|y|or|o|to|a)"
    r" (?P<last>(?:19|20)\d\d)\b(?![-.,:/])"
)
_DAYS_OF = re.compile(
    rf"\b(?:between|from|entre|del?) (?:the |el )?{_DAY_NUMBER} (?:and|to|y|al?) (?:the |el )?"
    rf"(?P<until>\d{{1,2}})(?:st|nd|rd|th)?(?: of| de)? (?P<month>{_SHORT_NAME})\b{_OF_YEAR}"
)
_DAY_MONTH = re.compile(rf"\b{_ON}{_DAY_NUMBER}(?: of| de)? (?P<month>{_SHORT_NAME})\b{_OF_YEAR}{_CLOCK}")
_MONTH_DAY = re.compile(rf"\b{_ON}(?P<month>{_SHORT_NAME})(?: the)? {_DAY_NUMBER}\b{_OF_YEAR}{_CLOCK}")
_MONTH = re.compile(
    rf"\b(?:(?:the |a )?(?P<part>{_BEGINS}|{_MIDDLE}|{_ENDS})[ -])?(?P<month>{_MONTH_NAME})"
    r"(?: (?:of |de |del )?(?P<of>(?:19|20)\d\d))?\b"
)
_SEASON = re.compile(
    rf"\b(?:(?:the|la|el|(?P<how>this|last|past|esta|este)) )?(?P<season>{'|'.join(_SEASONS)})"
    r"(?: (?:of |de |del )?(?P<of>(?:19|20)\d\d))?(?P<past> pasad[oa])?\b"
    r"(?=$| (?:about|and|by|did|was|were|on|sobre|y|que)\b)"
)
_YEAR = re.compile(r"\b(?P<year>(?:19|20)\d\d)\b(?![-.,:/])")
_TODAY = re.compile(
    rf"\b(?P<day>{'|'.join(_BEFORE_YESTERDAY)}|last night|anoche|yesterday|ayer|today|hoy|tonight"
    rf"|this (?:morning|afternoon|evening)|esta (?:mañana|tarde|noche)){_HOURS}\b{_CLOCK}"
)
_WEEKDAY = re.compile(
    rf"\b(?:(?:on )?(?P<how>on|last|past|this|el pasado|el ultimo|el|este) )?(?P<day>{_DAY_NAME})(?P<past> pasado)?"
    rf"{_HOURS}\b{_CLOCK}"
)
_THIS = re.compile(
    r"\b(?:(?:in|over|during|within|en|durante) )?(?P<article>(?:the|this) )?(?:(?:la|el) (?=ultim))?"
    r"(?P<which>this|esta|este|last|past|ultim[oa]|la pasada|el pasado|la|el)"
    rf" (?P<unit>weekend|week|fin de semana|finde|semana|month|mes|year|año|{'|'.join(_HALVES)})"
    r"(?P<after> pasad[oa])?\b(?! (?:of|de)\b)"
)
_BEFORE_LAST = re.compile(
    r"\b(?:(?:in |on )?(?:the )?(?P<unit>weekend|week|month|year) before last"
    r"|(?:en )?(?:la|el) (?P<unidad>semana|fin de semana|finde|mes|año) antepasad[oa])\b"
)
_WEEK_OF = re.compile(
    rf"\b(?:(?:in|en|during|durante) )?(?:the |la )?(?P<which>{'|'.join(_ORDINALS)}|last|ultima)"
    rf" (?P<unit>week|semana|{'|'.join(_HALVES)}) (?:of|de|in) (?P<month>{_MONTH_NAME})\b{_OF_YEAR}"
)
_LAST_CLOCK = re.compile(
    r"\b(?:(?:in|over|during|within|en|durante) )?(?:the |la |los |las )?(?:last|past|ultim[oa]s?)"
    rf" (?:(?P<count>{_NUMBER}|half(?: an)?|media) )?(?P<unit>{_OF_CLOCK})\b(?! (?:of|de)\b)"
)
_AGO_CLOCK = re.compile(
    rf"\b(?:(?P<count>{_NUMBER}|half an?) (?P<unit>{_OF_CLOCK}) (?:ago|atras)"
    rf"|hace (?:como |unos |unas )?(?P<cuenta>{_NUMBER}|media) (?P<unidad>{_OF_CLOCK})\b(?! y (?:medi[oa]|cuarto)\b))"
)
_LAST_SOME = re.compile(
    rf"\b(?:(?:in|over|during|within|en|durante) )?(?:the |these |los |las |estos |estas )?(?:last|past|ultim[oa]s)"
    rf" (?:(?P<count>{_NUMBER}) (?P<unit>{_UNIT})|(?P<some>days|weeks|months|years|dias|semanas|meses|años))\b"
)
_AGO = re.compile(
    rf"(?<!half )\b(?:(?P<count>{_NUMBER}) (?P<unit>{_UNIT}) (?:ago|atras)"
    rf"|hace (?:como |unos |unas )?(?P<cuenta>{_NUMBER}) (?P<unidad>{_UNIT})\b(?! y medi[oa]\b))"
)
_CALLED = (
    *((_SECOND, _second), (_FIGURES, _figures), (_QUARTER, _quarter), (_YEARS, _years)),
    *((_DAYS_OF, _of_month), (_DAY_MONTH, _of_month), (_MONTH_DAY, _of_month), (_LAST_SOME, _last_some)),
    *((_BEFORE_LAST, _before_last), (_WEEK_OF, _week_of), (_LAST_CLOCK, _clock_ago), (_AGO_CLOCK, _clock_ago)),
    *((_AGO, _ago), (_THIS, _this), (_TODAY, _day), (_WEEKDAY, _weekday)),
    *((_MONTH, _month), (_SEASON, _season), (_YEAR, _year)),
)
# of these, what is no day or year
_STRETCHES = (_QUARTER, _LAST_SOME, _BEFORE_LAST, _WEEK_OF, _LAST_CLOCK, _AGO_CLOCK, _AGO, _THIS, _MONTH, _SEASON)
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
