"""Ask whoever waits for a long piece of work whether it is still wanted."""

from collections.abc import Callable

Cancelled = Callable[[], bool]  # called again and again while the work runs; once it returns True the work ends


def never() -> bool:
    """Return False: not cancelled."""
    return False
