"""^C while something runs that may be broken off at any time, and gone on with later."""

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class Interrupt:
    """Notes the first ^C, so that what runs can stop where it wants to; a second one ends at once. As an exception a ^C
    may be raised in the middle of anything, and be lost there."""

    __slots__ = ("_before", "asked")

    def __init__(self) -> None:
        self.asked = False
        self._before: Callable[[int, FrameType | None], object] | int | None = signal.SIG_DFL

    def __enter__(self) -> "Interrupt":
        self._before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, *about: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
