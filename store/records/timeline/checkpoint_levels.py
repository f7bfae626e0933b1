"""The levels of checkpoints, and when an automatic one is due. Pure rules: `now` is passed in."""

from collections.abc import Mapping

from store.base.clock import DAY_MS, to_ms
from store.base.vocabulary import CHECKPOINT_LEVELS as LEVELS

MINUTE_MS = 60_000
QUIET_MS = 30 * MINUTE_MS  # a session without a turn for so long is over
# interval of each level, if anything changed; the highest first
EVERY_MS = {"archival": DAY_MS, "meso": 30 * MINUTE_MS, "micro": 5 * MINUTE_MS}
# percent of the context window → the level of the checkpoint taken when it is passed
USAGE = {70: "meso", 85: "meso", 90: "macro", 95: "macro"}
WINDOW = 200_000  # tokens of a context window


def due(now: str, taken: Mapping[str, str], start: str) -> str | None:
    """Return the level of the checkpoint that is due by time, or None.

    `taken` is when the newest of each level was taken; a higher one counts for those below it. `start` is the moment
    from which time counts while there is none. A clock that was set back makes one due.
    """
    for level, interval in EVERY_MS.items():
        as_high = [taken[one] for one in LEVELS[LEVELS.index(level) :] if one in taken]
        passed = to_ms(now) - to_ms(max(as_high, default=start))
        if passed < 0 or passed >= interval:
            return level
    return None


def percent(tokens: int, window: int = WINDOW) -> int:
    """Return how much of a context window is used, in whole percent."""
    return tokens * 100 // max(1, window)


def threshold(used: int) -> int:
    """Return the highest of the thresholds of USAGE that is passed at `used` percent; 0 for none."""
    return max((one for one in USAGE if used >= one), default=0)
