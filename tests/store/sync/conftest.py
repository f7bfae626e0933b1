"""A project whose MEMORY.md is kept in sync."""

from collections.abc import Callable

import pytest
from support.notebook import Notebook

from store.memory import Memory


@pytest.fixture
def notebook(memory: Memory) -> Notebook:
    """Three facts in a file."""
    memory.facts.remember("The team is five", domain="work")
    memory.facts.remember("Tea, not coffee", domain="preferences")
    memory.facts.remember("Deploys are on Fridays", domain="work")
    memory.sync.start_file()
    book = Notebook(memory)
    book.sync()
    return book


@pytest.fixture
def remembered(notebook: Notebook) -> Callable[[int], list[str]]:
    """Remember so many more facts, and write them."""

    def remember(number: int) -> list[str]:
        texts = [f"Rule number {at} of the house" for at in range(number)]
        for text in texts:
            notebook.memory.facts.remember(text)
        notebook.sync()
        return texts

    return remember
