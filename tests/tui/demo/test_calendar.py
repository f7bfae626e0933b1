"""When what the demo holds happened."""

from datetime import UTC, datetime

from support.stories import NOON

from store.base.clock import from_ms
from tui.demo.builder import Calendar


def test_each_day_has_a_time_of_its_own_in_working_hours() -> None:
    """A year in which everything happens on the hour looks made up."""
    calendar = Calendar(NOON)
    days = [[f"{day}.9", f"{day}.5", f"{day}.1"] for day in range(358, 9, -1)]
    moments = [calendar.at(when) for day in days for when in day]
    assert moments == sorted(moments)
    found = [datetime.fromisoformat(from_ms(moment)).astimezone(UTC) for moment in moments]
    assert all(8 <= one.hour < 18 for one in found), "at night"
    early, noon, late = (found[place::3] for place in range(3))
    for several in (early, noon, late):
        assert len({one.strftime("%H:%M") for one in several}) >= 10
