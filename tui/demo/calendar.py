"""The demo's time: every date hangs on the `now` it is told for."""

from datetime import UTC, datetime, timedelta

from store import DAY_MS, from_ms, to_ms

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
SECOND_MS = 1_000


class Calendar:
    """Moments before `now`; the sprint began on this week's Monday, or when now is a Monday on the last one."""

    def __init__(self, now: str) -> None:
        self.now = to_ms(now)
        day = datetime.fromisoformat(now).astimezone(UTC)
        monday = (day - timedelta(days=day.weekday() or 7)).replace(hour=5, minute=0, second=0, microsecond=0)
        self._monday = round(monday.timestamp() * 1000)
        # where the days of the sprint end and yesterday begins, also when Monday was yesterday
        self._yesterday = max(self.now - 26 * HOUR_MS, self._monday + 6 * HOUR_MS)

    def at(self, when: str) -> int:
        """Milliseconds since 1970 of `12`, so many days ago in working hours; of `12.9` to `12.1`, early or late on
        that day; of `1.5`, just so many days ago; or of `+.3`, that part of the way from Monday to yesterday.

        A later word is never an earlier moment: what is below 2 comes after all of `+`, and that after the rest.
        """
        if when.startswith("+"):
            part = float(when)
            raw = self._monday + round(part * (self._yesterday - self._monday))
            return min(_working_hours(raw), self._yesterday - round((1 - part) * MINUTE_MS))
        days, part = divmod(float(when), 1)
        if days < 2:
            ago = float(when)
            return max(self.now - round(ago * DAY_MS), self._yesterday + round((2 - ago) * 30 * MINUTE_MS))
        minutes = int(days) * 13 % 10 / 100  # so that not everything happens on the hour
        of_day = 0.9 * (1 - part) + minutes if part else 0.25 + int(days) * 37 % 60 / 100
        return self.now // DAY_MS * DAY_MS - int(days) * DAY_MS + round((8 + 10 * of_day) * HOUR_MS)


def _working_hours(moment: int) -> int:
    """A moment of any hour, moved between 8 and 18 o'clock UTC of its day, the order kept."""
    midnight = moment // DAY_MS * DAY_MS
    return midnight + 8 * HOUR_MS + (moment - midnight) * 10 // 24


class Hands:
    """A clock that is put to a moment and never goes back: two things told for one moment are a second apart."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._at = calendar.at("358")

    def __call__(self) -> str:
        return from_ms(self._at)

    @property
    def ms(self) -> int:
        """Where the hands are, in milliseconds since 1970."""
        return self._at

    def put(self, at: int) -> None:
        """Move to `at`, or a little on when that is past already."""
        self._at = max(at, self._at + SECOND_MS)
