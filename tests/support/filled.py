"""Memories that are filled with records: once for all tests of a module that only read them, or for each test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import Clock
from support.ours import EmptyMemory

from store.memory import Memory


def share_memory(fill: Callable[[Memory, Clock], None]) -> Any:
    """Return a fixture of a module: the memory that `fill` makes of an empty one."""

    @pytest.fixture(scope="module")
    def shared(empty_memory: EmptyMemory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
        folder, clock = tmp_path_factory.mktemp("shared"), Clock()
        path = empty_memory.copy(folder / ".memoranda" / "memory.db", clock())
        with pytest.MonkeyPatch.context() as environment, Memory.open(path, "cli", clock) as memory:
            environment.setenv("HOME", str(folder))
            fill(memory, clock)
            yield memory

    return shared


def own_memory(fill: Callable[[Memory, Clock], None]) -> Any:
    """Return a fixture: a memory of the test's own that `fill` has filled."""

    @pytest.fixture
    def own(memory: Memory, clock: Clock) -> Memory:
        fill(memory, clock)
        return memory

    return own
