"""Handle ^C during work that can stop at any time and continue later."""

from __future__ import annotations

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType

STOP_HINT = "^C stops it"


class Interrupt:
    """Record the first ^C, so that the work can stop at a safe place; a second ^C ends it at once. A KeyboardInterrupt
    could be raised, and lost, anywhere. On another thread than the main one, as in the application, none comes."""

    __slots__ = ("_before", "_comes", "asked")

    def __init__(self) -> None:
        self.asked = False
        self._comes = current_thread() is main_thread()
        self._before: Callable[[int, FrameType | None], object] | int | None = signal.SIG_DFL

    def __enter__(self) -> Interrupt:
        if self._comes:
            self._before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._note_interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._comes:
            signal.signal(signal.SIGINT, self._before)

    def _note_interrupt(self, *about: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
