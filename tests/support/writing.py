"""A second writer that writes to the same memory continuously, and a disk that fills."""

import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from store.memory import Memory


@contextmanager
def writing(memory: Memory) -> Iterator[None]:
    """Remember one fact after the other on another connection while the context is active; a failure fails the test."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def write() -> None:
        try:
            with Memory.open(memory.location.path, "mcp") as other:
                while not stop.is_set():
                    other.facts.remember(f"fact {os.urandom(8).hex()}")
        except BaseException as error:
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()
    assert failures == []


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Let a write past so many bytes of a file fail as on a full disk: the limit is the process's own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
