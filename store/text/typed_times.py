"""Parse moments as people type them, also in words: `2 weeks ago`, `last monday`, `in March`, `la semana pasada`, with
a clock: `yesterday 18:00`, `esta tarde`, and by a release: `v1.0`, `the release`.

A moment is refused if any of it is not understood.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

from store.base.clock import from_ms, parse_moment
from store.base.errors import InvalidInput
from store.text.dates import find_beginning, is_version, parse_figure_dates, parse_figure_month, take_clock
from store.text.words import (
    any_of_regex,
    fold_text,
    load_number_words,
    load_ordered_words,
    load_words,
    normalize_text,
)

MAX_TYPED_MOMENT = 40  # characters of a moment in words
MOMENT_ADVICE = "Write a date like 2026-11-01, or 2d, 3w, yesterday, last monday, or a version."
# a version or a tag → its moment; `` → the last release's; empty where it is not known
FindRelease = Callable[[str], str]
_ARTICLES = {"la", "las"}  # before a number also of things, and not only of an hour
_RELATIVE = ("this",)  # function words that select which one is meant
# words that the parser knows under another name
_OTHERWISE = {"pasado": "", "pasada": "", "anterior": "pasada", "previous": "last", "past": "last", "atras": "ago"}
_EXACT = {"ago", "hace", "atras"}  # with these the time is exact to the minute, and not a day or month
_UNIT = r"(?:min(?:s|ut\w+)?|hours?|horas?|days?|dias?|weeks?|semanas?|months?|mes(?:es)?|years?|años?)"
# and with a number of units, which is as long ago: `1 week` is `1w`
_COUNTED = re.compile(rf"\d+ {_UNIT}(?: \d+ {_UNIT})*")
_AGO = rf"(?:{'|'.join(sorted(_EXACT))})"
_LETTER = re.compile(rf"(?:{_AGO} )?(\d+) ?([hdwy])(?: {_AGO})?")
_LONE_LETTER = re.compile(r"\d ?[a-z](?![\w.])|\d[a-z]\d")  # `5m` is months here, and minutes to the library
_DOTTED = re.compile(r"(?<=[a-zñ]{3})\.(?= |$)")  # of an abbreviated month
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
    if day is None and not in_figures:
        return _find_asked_beginning(text, now)
    return _format_moment(day + (clock or timedelta())) if day else ""


def _find_asked_beginning(text: str, now: str) -> str:
    """Return the beginning of the time that a text would name in a question: `last summer`, `the first week of
    June`."""
    terms = normalize_text(text, keep="ñ").split()
    while terms and terms[0] in _leading_words():
        del terms[0]
    return find_beginning(" ".join(terms), now)


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
    """Return a text with words that the library does not know replaced by words that it knows: `yesterday night`
    by `last night`."""
    pattern, pairs = _rewriting_table()
    plain = _DOTTED.sub("", pattern.sub(lambda match: pairs[match[0]], plain))
    plain = _spoken_hour_pattern().sub(
        lambda match: f"{match['at']} {load_number_words().get(match['hour'], 1)}", plain
    )
    return _JOINED.sub(r"\1 ", plain)


def _parse_in_words(plain: str, here: datetime, clock: bool) -> datetime | None:
    """Return the moment in words, parsed by `dateparser`, which takes 0.3 s to import; None where there is none, and
    beside a clock where it is no day."""
    typed = plain.split()
    small = load_words("stop", "core") - set(_RELATIVE) | _leading_words()
    numbers = {**load_number_words(), "a": 1, "an": 1, "un": 1, "una": 1}
    words = [str(numbers.get(word, word)) for word in typed if word in numbers or word not in small]
    if "/" in plain or not any(len(word) > 2 and word.isalpha() for word in words) or _LONE_LETTER.search(plain):
        return None
    days, ahead = (load_words("dates", name) for name in ("days", "ahead"))
    counted = _COUNTED.fullmatch(" ".join(word for word in words if word not in ahead))
    # `in 3 days` is to come, and the library reads `yesterday today` as one of them
    if (counted and not ahead.isdisjoint(typed)) or sum(word in days for word in words) > 1:
        return None
    from dateparser.date import DateDataParser

    exact = bool(_EXACT & set(words) or counted)
    if not exact and not _is_day_alone(words, days):
        return None
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    settings = {
        "RELATIVE_BASE": here if exact else midnight,
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "current" if exact else "first",
    }
    parser = DateDataParser(languages=["en", "es"], settings=settings)
    for variant in (words, [word for word in words if _OTHERWISE.get(word, word)], typed):
        found = parser.get_date_data(" ".join(_OTHERWISE.get(word) or word for word in variant))
        if found.date_obj is not None:
            break
    else:
        return None
    moment: datetime = found.date_obj.replace(tzinfo=None)
    if exact:
        return None if clock else moment
    if (
        moment.time() != midnight.time()
        or (clock and found.period != "day")
        or not _is_on_named_weekday(moment, words)
    ):
        return None
    if found.period == "week":
        moment -= timedelta(days=moment.weekday())
    elif found.period == "month":
        moment = moment.replace(day=1)
    elif found.period == "year":
        moment = moment.replace(day=1, month=1)
    return moment


def _is_day_alone(words: list[str], days: frozenset[str]) -> bool:
    """Return whether nothing stands beside `yesterday` that the library passes over: only its weekday, or how many days
    or weeks before."""
    rest = [word for word in words if word not in days]
    if len(rest) == len(words):
        return True
    weekdays = load_words("dates", "weekdays")
    return all(word in weekdays for word in rest) or bool(_COUNTED.fullmatch(" ".join(rest)))


def _is_on_named_weekday(moment: datetime, words: list[str]) -> bool:
    """Return whether a moment is on the weekday that its words name, if they do."""
    named = [
        place for place, names in enumerate(load_ordered_words("dates", "weekdays")) if not names.isdisjoint(words)
    ]
    return not named or moment.weekday() in named


def _format_moment(local: datetime) -> str:
    """Return a local time as a timestamp; empty where it cannot be one."""
    try:
        return from_ms(round(local.timestamp() * 1000))
    except (OverflowError, OSError, ValueError):
        return ""
