"""The order of long lists: keys alone, read into an array, whatever their number."""

import json

import apsw
import pytest
from conftest import tried
from hypothesis import given
from hypothesis import strategies as st

from store.base.errors import StorageError
from store.database import database as packed_ids
from store.memory import Memory
from store.records.facts import FACT_SORTS


@tried(7)
@given(numbers=st.lists(st.integers(0, 99) | st.integers(-(2**63), 2**63 - 1), max_size=30), limit=st.integers(-1, 31))
def test_keys_are_the_column_in_the_query_s_order(memory: Memory, monkeypatch, numbers: list[int], limit: int) -> None:
    """As the rows, wherever a chunk of them ends, and whatever fits 64 bits."""
    monkeypatch.setattr(packed_ids, "KEYS_PER_CHUNK", 7)
    sql = "SELECT value FROM json_each(?) ORDER BY value % 5, key DESC LIMIT ?"
    parameters = (json.dumps(numbers), limit)
    column = [row[0] for row in memory.database.rows(sql, parameters)]
    keys = memory.database.keys(sql, parameters)
    assert keys.tolist() == column
    assert keys.itemsize == (4 if all(0 <= number < 2**32 for number in column) else 8)


@pytest.mark.parametrize("sort", FACT_SORTS)
def test_the_order_of_facts_is_their_list(memory: Memory, clock, sort: str) -> None:
    """The app reads the array and the command line the list: both say the same."""
    for number in range(12):
        memory.facts.remember(f"fact {number % 5}{number}", domain=("work", "general")[number % 2])
        clock.advance(days=number * 9 % 31)
    now = memory.now
    keys = memory.facts.order(now, sort=sort)
    assert keys.itemsize == 4 and len(keys) == 12
    assert keys.tolist() == memory.facts.ids(now, sort=sort)


def test_a_reading_of_keys_fails_as_any_other(memory: Memory) -> None:
    """An interrupt comes through, for it is no failure; what SQLite refuses is ours; bytes that are no text find
    nothing."""
    memory.database.connection.set_progress_handler(lambda: True, 1)
    with pytest.raises(apsw.InterruptError):
        memory.database.keys("SELECT id FROM facts")
    memory.database.connection.set_progress_handler(None)
    with pytest.raises(StorageError):
        memory.database.keys("SELECT nothing FROM facts")
    assert not memory.database.keys("SELECT id FROM facts WHERE fact = ?", ("\udcff",))
