"""A sandbox: a program that may not make some system calls, as Linux's seccomp has it."""

import ctypes
import errno
import platform
import struct
from collections.abc import Callable

# system call → its number, by machine
NUMBERS = {
    "x86_64": {"fork": 57, "vfork": 58, "clone": 56, "clone3": 435, "socket": 41, "socketpair": 53},
    "aarch64": {"clone": 220, "clone3": 435, "socket": 198, "socketpair": 199},
}
PROCESSES = ("fork", "vfork", "clone", "clone3")
SOCKETS = ("socket", "socketpair")
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


def refusing(*calls: str) -> Callable[[], None] | None:
    """Return what forbids these system calls to the process that it is called in, for good; None where the machine is
    another one than we know."""
    known = NUMBERS.get(platform.machine())
    if known is None:
        return None
    numbers = [known[call] for call in calls if call in known]
    steps = [(LOAD_NUMBER, 0, 0, 0)]
    steps += [(IF_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, FAIL | errno.EPERM)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    length_and_place = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def confine() -> None:
        assert program
        if prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or prctl(SECCOMP, FILTER, length_and_place, 0, 0):
            raise OSError(ctypes.get_errno(), "no such sandbox")

    return confine
