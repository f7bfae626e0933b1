"""Work beside the screen, when the memory that it reads is left meanwhile."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from tui.main_screen.controller import ThreadController


class Host:
    """Stands in for the screen: it runs the work at once, where another memory is opened exactly between its start and
    its end; on a real screen that is one time in eight, under load."""

    def __init__(self, closed: bool | None) -> None:
        self.engine: Any = None if closed is None else SimpleNamespace(is_closed=closed)
        self.app: Any = None

    def run_worker(self, work: Callable[[], object], **options: object) -> Any:
        return work()


def reading() -> Callable[[], object]:
    """What reads the lists of an engine that was closed: its threads take nothing any more."""
    reader = ThreadPoolExecutor(1)
    reader.shutdown()
    return lambda: reader.submit(len, ()).result()


def test_work_on_a_memory_that_was_left_ends_without_a_word() -> None:
    assert ThreadController(Host(closed=True)).in_background(reading(), "lists", "read the lists") is None


@pytest.mark.parametrize("closed", [False, None], ids=["open", "while it opens"])
def test_any_other_error_is_shown(closed: bool | None) -> None:
    with pytest.raises(RuntimeError, match="after shutdown"):
        ThreadController(Host(closed)).in_background(reading(), "lists", "read the lists")
