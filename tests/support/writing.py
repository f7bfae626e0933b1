"""Somebody else who writes to the same memory, without pause."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from store.memory import Memory


@contextmanager
def writing(memory: Memory) -> Iterator[None]:
    """Another connection remembers one fact after the other, for as long as this lasts; it may not fail at it."""
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
