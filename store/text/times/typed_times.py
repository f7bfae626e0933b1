"""Parse moments as people type them, also in words: `2 weeks ago`, `last monday`, `in March`, `la semana pasada`, and
by a release: `v1.0`, `the release`."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from store.base.clock import from_ms, parse_moment
from store.base.errors import InvalidInput
from store.text import vocabulary
from store.text.folding import fold
from store.text.times.versions import is_version

LONGEST = 40  # characters of a moment in words
WAYS = "Write a date like 2026-11-01, or 2d, 3w, yesterday, last monday, or a version."
Released = Callable[[str], str]  # a version or a tag → its moment; `` → the last release's; empty where it is not known
_RELATIVE = ("this",)  # function words that select which one is meant
# words that the parser knows under another name
_OTHERWISE = {"pasado": "", "pasada": "", "anterior": "pasada", "previous": "last", "past": "last", "atras": "ago"}
_EXACT = {"ago", "hace", "atras"}  # with these the time is exact to the minute, and not a day or month
# and with a number of units, which is as long ago: `1 week` is `1w`
_COUNTED = re.compile(r"\d+ (minut\w+|hours?|horas?|days?|d[ií]as?|weeks?|semanas?|months?|mes(es)?|years?|años?)")


def no_release(name: str) -> str:
    """Know no version: where there is no memory."""
    return ""


def typed_moment(text: str, now: str, released: Released = no_release) -> str:
    """Parse a moment as a person types it, in Spanish or English: all that `parse_moment` accepts, words, the name of a
    version or a tag, and `the release`, which is the last one. A day, a week, a month or a year means its beginning,
    and one without a year the latest that has begun. Raise InvalidInput.
    """
    try:
        return parse_moment(text, now)
    except InvalidInput:
        small, names = vocabulary.words("stop", "core") | _introduce(), vocabulary.words("dates", "release")
        terms = [word for word in fold(text).split() if word not in small]
        if " ".join(terms) in names:
            moment, trouble = released(""), "No release is recorded."
        else:
            told = len(terms) == 2 and terms[0] in names
            name = terms[-1] if told or (len(terms) == 1 and not terms[0].isdigit()) else ""
            version = told or is_version(name)
            moment = "" if version else _in_words(text, now) or ""
            moment = moment or (released(name) if name and len(name) <= LONGEST else "")
            trouble = f"No release is called {name}." if version else "That is not a time Memoranda can read."
        if not moment:
            raise InvalidInput(trouble, WAYS) from None
        return moment


def _introduce() -> frozenset[str]:
    """Return the words that come before a moment."""
    return vocabulary.words("dates", "since", "before")


def _in_words(text: str, now: str) -> str | None:
    """Return the moment in words, parsed by `dateparser`, which takes 0.3 s to import; None where there is none."""
    typed = text.strip().lower().split()
    if len(text) > LONGEST or "/" in text or not any(len(word) > 2 and word.isalpha() for word in typed):
        return None
    small = vocabulary.words("stop", "core") - set(_RELATIVE) | _introduce()
    numbers = {**vocabulary.numbers(), "a": 1, "an": 1, "un": 1, "una": 1}
    words = [str(numbers.get(word, word)) for word in typed if word in numbers or word not in small]
    here = datetime.fromisoformat(now).astimezone().replace(tzinfo=None)
    from dateparser.date import DateDataParser

    exact = bool(_EXACT & set(words) or _COUNTED.fullmatch(" ".join(words)))
    day = "current" if exact else "first"
    settings = {"RELATIVE_BASE": here, "PREFER_DATES_FROM": "past", "PREFER_DAY_OF_MONTH": day}
    parser = DateDataParser(languages=["en", "es"], settings=settings)
    for variant in (words, [word for word in words if _OTHERWISE.get(word, word)], typed):
        found = parser.get_date_data(" ".join(_OTHERWISE.get(word) or word for word in variant))
        if found.date_obj is not None:
            break
    else:
        return None
    moment = found.date_obj.replace(tzinfo=None)
    if not exact:
        moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if found.period == "week":
            moment -= timedelta(days=moment.weekday())
        elif found.period == "month":
            moment = moment.replace(day=1)
        elif found.period == "year":
            moment = moment.replace(day=1, month=1)
    try:
        return from_ms(round(moment.timestamp() * 1000))
    except (OverflowError, OSError, ValueError):
        return None
