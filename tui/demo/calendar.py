"""The demo's time: every date is relative to the `now` that it is built for."""

from datetime import UTC, datetime, timedelta

from store.base.clock import DAY_MS, from_ms, to_ms

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
SECOND_MS = 1_000


class Calendar:
    """Moments before `now`. The sprint began on this week's Monday, or on last week's if now is a Monday."""

    def __init__(self, now: str) -> None:
        self.now = to_ms(now)
        day = datetime.fromisoformat(now).astimezone(UTC)
        monday = (day - timedelta(days=day.weekday() or 7)).replace(hour=5, minute=0, second=0, microsecond=0)
        self._monday = round(monday.timestamp() * 1000)
        # the end of the sprint's days and the start of yesterday, also if yesterday was Monday
        self._yesterday = max(self.now - 26 * HOUR_MS, self._monday + 6 * HOUR_MS)

    def at(self, when: str) -> int:
        """Convert a table's time to milliseconds since 1970: `12` is that many days ago in working hours; `12.9` to
        `12.1` early to late on that day; `1.5` exactly that many days ago; `+.3` that fraction of the way from Monday
        to yesterday.

        The order of the tables is kept: values below 2 come after all of `+`, and those after the rest."""
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
    """Map any hour of a day into 8 to 18 o'clock UTC, keeping the order."""
    midnight = moment // DAY_MS * DAY_MS
    return midnight + 8 * HOUR_MS + (moment - midnight) * 10 // 24


class Hands:
    """A settable clock that never goes back: two writes at one moment are a second apart."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._at = calendar.at("358")

    def __call__(self) -> str:
        return from_ms(self._at)

    @property
    def ms(self) -> int:
        """Return its time in milliseconds since 1970."""
        return self._at

    def put(self, at: int) -> None:
        """Move to `at`, or slightly forward if that has passed."""
        self._at = max(at, self._at + SECOND_MS)
