"""Pause all doors of one memory for a while: nothing is sent to an agent, and nothing is taken from one.

It is kept in the person's folder for state, outside of every checkout, so that no agent can end it by a file of the
project, and a hook can look without opening the memory.
"""

from store.base import installation
from store.base.clock import from_ms, to_ms
from store.base.errors import StorageError

KIND = "pauses"
MINUTES = 60


def pause(path: str, now: str, minutes: int = MINUTES) -> str:
    """Pause the doors of the memory at `path` for some minutes from `now` on; return until when. Raise StorageError
    where it cannot be stored, for then no door would see it."""
    until = from_ms(to_ms(now) + minutes * 60_000)
    name = installation.name_of(KIND, path)
    if not installation.keep(name, until):
        installation.drop(name)
        raise StorageError(
            f"Nothing is paused: {installation.trouble()}", "Name a folder that can be written in $XDG_STATE_HOME."
        )
    return until


def resume(path: str) -> None:
    """End the pause of the memory at `path`."""
    installation.drop(installation.name_of(KIND, path))


def paused_until(path: str, now: str) -> str:
    """Return until when the memory at `path` is paused; empty if it is not."""
    until = installation.read(installation.name_of(KIND, path)).strip()
    return until if until > now else ""
