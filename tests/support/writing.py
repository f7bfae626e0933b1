"""A second writer that writes to the same memory continuously."""

import os
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
