"""Keep what libraries write to standard error off the screen: the application draws on the same file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def own_screen() -> Iterator[None]:
    """Draw on a copy of standard error meanwhile, and lose what anything else writes to it. Some libraries in C warn
    there: ONNX Runtime, for one, of a graphics card that it cannot read."""
    before, current = sys.__stderr__, sys.stderr
    if before is None or not before.isatty():
        yield
        return
    before.flush()
    number = before.fileno()
    screen = open(os.dup(number), "w", encoding=before.encoding, errors=before.errors)  # noqa: SIM115 - closed below
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    sys.__stderr__ = screen  # type: ignore[misc]  # where Textual draws
    if current is before:
        sys.stderr = screen
    try:
        yield
    finally:
        with suppress(OSError):  # the terminal is gone
            screen.flush()
        os.dup2(screen.fileno(), number)
        sys.__stderr__, sys.stderr = before, current  # type: ignore[misc]
        with suppress(OSError):
            screen.close()
