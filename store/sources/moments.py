"""Times of other tools, as ours."""

from datetime import UTC, datetime

from store.base.clock import from_ms

MILLISECONDS = 10_000_000_000  # a number from here on counts milliseconds: in seconds it would be the year 2286


def utc(value: object) -> str:
    """Return a time as UTC: from seconds or milliseconds since 1970, or ISO 8601, which without an offset is UTC. Empty
    for anything else."""
    try:
        if isinstance(value, bool) or value is None:
            return ""
        if isinstance(value, int | float):
            return from_ms(round(value if abs(value) >= MILLISECONDS else value * 1000))
        moment = datetime.fromisoformat(str(value).strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return from_ms(round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return ""
