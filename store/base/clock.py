"""Timestamps: UTC, ISO 8601 with milliseconds, as text that sorts by time.

Rules never read the clock; they are given `now`. Only the front doors call `utc_now`.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from store.base.errors import InvalidInput

Clock = Callable[[], str]

DAY_MS = 86_400_000


def utc_now() -> str:
    """Return this moment, for example `2026-11-21T23:12:27.042Z`.

    >>> len(utc_now())
    24
    """
    return from_ms(time.time_ns() // 1_000_000)


@lru_cache(4096)
def to_ms(moment: str) -> int:
    """Return the milliseconds since 1970 of a timestamp."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def from_ms(milliseconds: int) -> str:
    """Return the timestamp of `milliseconds` since 1970."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    # strftime does not pad years
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def days_before(now: str, days: int) -> str:
    """Return the timestamp `days` whole 24-hour periods before `now`."""
    return from_ms(to_ms(now) - days * DAY_MS)


def whole_days_between(now: str, then: str) -> int:
    """Return the whole 24-hour periods between `then` and `now`; 0 when `then` is in the future."""
    return max(0, (to_ms(now) - to_ms(then)) // DAY_MS)


def format_local_time(moment: str) -> str:
    """Format a moment for a person, in their own time zone: `21 Nov 2026 23:12`."""
    return datetime.fromisoformat(moment).astimezone().strftime("%d %b %Y %H:%M").lstrip("0")


def format_age(now: str, then: str) -> str:
    """Return the time since a moment in one short word: `now`, `5 min`, `3 h`, `12 d`, `14 mo`, `3 y`; `ahead` for
    a moment in the future."""
    minutes = (to_ms(now) - to_ms(then)) // 60_000
    if minutes < -1:
        return "ahead"
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h"
    days = minutes // (24 * 60)
    if days < 365:
        return f"{days} d"
    months = max(12, int(days * 12 / 365.25))
    return f"{months} mo" if months < 24 else f"{months // 12} y"


def format_how_long_ago(now: str, then: str) -> str:
    """Return the time since a moment for a sentence: `just now`, `5 min ago`, or `in the future` if the clock was
    set back."""
    since = format_age(now, then)
    return {"now": "just now", "ahead": "in the future"}.get(since, f"{since} ago")


def parse_moment(text: str, now: str) -> str:
    """Parse a moment as people type it, to a timestamp: `2026-11-01`, `2026-11-01T12:30`, `2d`, `3w`, `yesterday`.

    A date without a zone is the person's own; `2d` is two days before `now`. Raise InvalidInput.
    """
    word = text.strip().lower()
    here = datetime.fromisoformat(now).astimezone()
    # without its zone, so that each midnight gets the offset of its own day
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if word == "now":
        return now
    if word in ("today", "yesterday"):
        moment = midnight - timedelta(days=word == "yesterday")
        return from_ms(round(moment.timestamp() * 1000))
    units = {"h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS, "m": 30 * DAY_MS, "y": 365 * DAY_MS}
    if word[:-1].isascii() and word[:-1].isdigit() and word[-1:] in units:
        try:
            return from_ms(to_ms(now) - int(word[:-1]) * units[word[-1]])
        except (OverflowError, ValueError):
            return from_ms(0)
    try:
        moment = datetime.fromisoformat(text.strip())
        return from_ms(round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            "That is not a time Memoranda can read.", "Write a date like 2026-11-01, or 2d, 3w, yesterday."
        ) from None
