"""Select the scheduled backups to keep: the newest of each of the last days, weeks and months that have one."""

from collections.abc import Iterable
from datetime import datetime

DAILY, WEEKLY, MONTHLY = 7, 4, 12


def kept(moments: Iterable[str], daily: int = DAILY, weekly: int = WEEKLY, monthly: int = MONTHLY) -> set[str]:
    """Return those of these times whose backups are kept. Days, weeks and months without one do not count, so a machine
    that was off for a month loses none when it starts."""
    newest_first = sorted(set(moments), reverse=True)
    found: set[str] = set()
    for most, period in ((daily, _day), (weekly, _week), (monthly, _month)):
        seen: dict[str, str] = {}
        for moment in newest_first:
            seen.setdefault(period(moment), moment)
        found.update(list(seen.values())[:most])
    return found


def _day(moment: str) -> str:
    return moment[:10]


def _week(moment: str) -> str:
    year, week, _ = datetime.fromisoformat(moment).isocalendar()
    return f"{year}-{week}"


def _month(moment: str) -> str:
    return moment[:7]
