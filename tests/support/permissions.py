"""Children that may not read what the modes forbid, although root starts them."""

import ctypes
import os


def ordinary() -> None:
    """For a new process that root starts: give up the right to read and write where the modes forbid it (Linux:
    prctl(2))."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, out of the set that an exec may have
            library.prctl(24, capability, 0, 0, 0)
