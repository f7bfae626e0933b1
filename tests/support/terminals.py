"""Wait for what a program shows in a real terminal, and for its end."""

import time

from bench.terminal import Terminal

PATIENCE = 60.0  # maximum wait on a busy machine


def sees(terminal: Terminal, *texts: str) -> None:
    """Wait until all these texts are on the screen."""
    end = time.monotonic() + PATIENCE
    while not all(any(text in line for line in terminal.screen) for text in texts):
        assert time.monotonic() < end, "\n".join([f"{texts} did not come:", *terminal.screen])
        _read(terminal)


def gone(terminal: Terminal, text: str) -> None:
    """Wait until the text is on no line of the screen."""
    end = time.monotonic() + PATIENCE
    while any(text in line for line in terminal.screen):
        assert time.monotonic() < end, "\n".join([f"{text} stays:", *terminal.screen])
        _read(terminal)


def ended(terminal: Terminal) -> int:
    """Wait for the end of the program, and read all that it wrote; return its exit status."""
    end = time.monotonic() + PATIENCE
    while terminal.process.poll() is None:
        assert time.monotonic() < end, "\n".join(["it does not end:", *terminal.screen])
        _read(terminal)
    _read(terminal)
    return terminal.process.returncode


def _read(terminal: Terminal) -> None:
    """Read all that has arrived, or wait for a moment."""
    while terminal.read(0.05):
        pass
