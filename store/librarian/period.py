"""The time that a question names: yesterday, last week, since Monday, in October, the last ten days."""

import re
from datetime import datetime, timedelta

from store.clock import from_ms

_DAYS = {
    name: place
    for place, names in enumerate(
        (
            *("monday lunes", "tuesday martes", "wednesday miercoles", "thursday jueves", "friday viernes"),
            *("saturday sabado", "sunday domingo"),
        )
    )
    for name in names.split()
}
_MONTHS = {
    name: place
    for place, names in enumerate(
        "january enero|february febrero|march marzo|april abril|may mayo|june junio|july julio|august agosto"
        "|september septiembre|october octubre|november noviembre|december diciembre".split("|"),
        start=1,
    )
    for name in names.split()
}
_UNITS = {
    **dict.fromkeys("day days dia dias".split(), 1),
    **dict.fromkeys("week weeks semana semanas".split(), 7),
    **dict.fromkeys("month months mes meses".split(), 30),
    **dict.fromkeys("year years año años".split(), 365),
}
_UNIT = "|".join(_UNITS)
_NUMBERS = "one uno una un two dos three tres four cuatro five cinco six seis seven siete ten diez".split()
_VALUES = dict(zip(_NUMBERS, (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 10, 10), strict=True))
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)})"
_LAST_SOME = re.compile(
    rf"\b(?:(?:in|over|during|en|durante) )?(?:the |los |las )?(?:last|past|ultim[oa]s) {_COUNT} (?P<unit>{_UNIT})\b"
)
_AGO = re.compile(
    rf"\b(?P<since>since |desde )?(?:{_COUNT} (?P<unit>{_UNIT}) ago|hace {_COUNT.replace('count', 'cuenta')} "
    rf"(?P<unidad>{_UNIT}))\b"
)
_THIS = re.compile(
    r"\b(?:(?P<this>this|esta|este)|(?P<last>last|la|el|past)) (?P<unit>week|semana|month|mes|year|año)"
    r"(?P<after> pasad[oa])?\b"
)
_DAY = re.compile(r"\b(?:(?P<since>since|desde)(?: el)? )?(?P<day>today|hoy|yesterday|ayer)\b")
_WEEKDAY = re.compile(rf"\b(?P<since>since|desde)(?: el| last)? (?P<day>{'|'.join(_DAYS)})\b")
_IN_MONTH = re.compile(
    rf"\b(?P<how>in|en|during|durante|since|desde)(?: el mes de)? (?P<month>{'|'.join(_MONTHS)})"
    r"(?: (?:of |de |del )?(?P<year>20\d\d))?\b"
)
_IN_YEAR = re.compile(r"\b(?P<how>in|en|during|durante|since|desde) (?P<year>20\d\d)\b(?!-)")
_ISO = re.compile(r"\b(?P<how>on|el|since|desde|before|antes del?)?(?:^| )(?P<date>20\d\d-\d\d-\d\d)\b")


def period(plain: str, now: str) -> tuple[str, str, frozenset[str]]:
    """(the moment from which, the moment before which, the words that said so) of a question without capitals and
    accents; both moments empty where it names no time."""
    here = datetime.fromisoformat(now).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    tomorrow = midnight + timedelta(days=1)
    for pattern, read in _READ:
        if match := pattern.search(plain):
            start, end = read(match, midnight)
            if start is None and end is None:
                continue
            until = "" if end is None or end >= tomorrow else _moment(end)
            return _moment(start) if start else "", until, frozenset(match[0].split())
    return "", "", frozenset()


Span = tuple[datetime | None, datetime | None]


def _last_some(match: re.Match[str], midnight: datetime) -> Span:
    return midnight - timedelta(days=_count(match["count"]) * _UNITS[match["unit"]]), None


def _ago(match: re.Match[str], midnight: datetime) -> Span:
    count = _count(match["count"] or match["cuenta"])
    unit = _UNITS[match["unit"] or match["unidad"]]
    start = midnight - timedelta(days=count * unit)
    return start, None if match["since"] else start + timedelta(days=unit)


def _this(match: re.Match[str], midnight: datetime) -> Span:
    last = not match["this"]
    if last and match["last"] in ("la", "el") and not match["after"]:
        return None, None  # "la semana que viene"
    unit = match["unit"]
    if unit in ("week", "semana"):
        start = midnight - timedelta(days=midnight.weekday())
        return (start - timedelta(days=7), start) if last else (start, None)
    if unit in ("month", "mes"):
        start = midnight.replace(day=1)
        return ((start - timedelta(days=1)).replace(day=1), start) if last else (start, None)
    start = midnight.replace(month=1, day=1)
    return (start.replace(year=start.year - 1), start) if last else (start, None)


def _day(match: re.Match[str], midnight: datetime) -> Span:
    start = midnight - timedelta(days=match["day"] in ("yesterday", "ayer"))
    return start, None if match["since"] else start + timedelta(days=1)


def _weekday(match: re.Match[str], midnight: datetime) -> Span:
    return midnight - timedelta(days=(midnight.weekday() - _DAYS[match["day"]]) % 7), None


def _in_month(match: re.Match[str], midnight: datetime) -> Span:
    month = _MONTHS[match["month"]]
    year = int(match["year"]) if match["year"] else midnight.year - (month > midnight.month)
    start = datetime(year, month, 1)
    return start, None if match["how"] in ("since", "desde") else (start + timedelta(days=31)).replace(day=1)


def _in_year(match: re.Match[str], midnight: datetime) -> Span:
    start = datetime(int(match["year"]), 1, 1)
    return start, None if match["how"] in ("since", "desde") else start.replace(year=start.year + 1)


def _iso(match: re.Match[str], midnight: datetime) -> Span:
    try:
        start = datetime.fromisoformat(match["date"])
    except ValueError:
        return None, None
    if match["how"] in ("before", "antes de", "antes del"):
        return None, start
    return start, None if match["how"] in ("since", "desde") else start + timedelta(days=1)


_READ = (
    (_ISO, _iso),
    (_LAST_SOME, _last_some),
    (_AGO, _ago),
    (_THIS, _this),
    (_DAY, _day),
    (_WEEKDAY, _weekday),
    (_IN_MONTH, _in_month),
    (_IN_YEAR, _in_year),
)


def _count(word: str) -> int:
    return _VALUES[word] if word in _VALUES else int(word)


def _moment(local: datetime) -> str:
    return from_ms(round(local.timestamp() * 1000))
