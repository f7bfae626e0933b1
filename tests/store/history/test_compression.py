"""Packed history is the same history: all that is tested of undo, redo, plans, restores, the past and the chain holds
where every row is packed as soon as it is written; and packing itself loses nothing, whenever it is stopped."""

import contextlib
import os
import signal
import subprocess
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support import chain
from support.children import begun

from store.base.errors import Conflict, MemorandaError
from store.config.configuration import user_settings_path, write_setting
from store.database.database import Database, Lease, Transaction
from store.exchange import exporter
from store.history import compression
from store.history.restore_plan import Plans
from store.memory import Memory
from store.upkeep.maintenance import run_maintenance
from tests.store.history import test_checkpoints, test_history
from tests.store.history import test_restore_plan as test_plans
from tests.store.upkeep import test_as_of as test_past

Live = Callable[[Memory, Sequence[int]], None]
ROWS = "SELECT seq, n, tbl, pk, op, indirect, before, after, salt, leaf, purged FROM {} ORDER BY seq, n"
# these write to the rows themselves, or look at how a query is run
LEFT_OUT = (
    *("test_a_changed_past_is_seen", "test_a_purged_step_is_not_taken_back", "test_the_chain_of_digests_follows"),
    *("test_erased_text_is_not_planned", "test_ten_thousand_records"),
)

LONG = (
    *("test_as_of_any_moment", "test_a_diff_is_the_comparison", "test_nothing_can_be_changed"),
    *("test_undoing_everything", "test_undo_in_any_order", "test_any_walk_up_and_down", "test_redo_is_a_stack"),
    "test_a_large_restore",
)


def pack_all(database: Database) -> int:
    return compression.pack_history(database, 36_500, 0, least=1)


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is packed, seven in a block, right after it was written."""
    leave = Transaction.__exit__

    def exit(write: Transaction, *error: Any) -> None:
        leave(write, *error)
        if error[0] is None and write.reason not in ("lease", "pack"):
            pack_all(write.database)

    monkeypatch.setattr(Transaction, "__exit__", exit)
    monkeypatch.setattr(compression, "BLOCK_ROWS", 7)
    monkeypatch.setattr(test_history, "broken_digests", lambda memory: chain.broken(memory.database))


def _again(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The tests of a module, to be run over packed history."""
    for name, thing in vars(module).items():
        if name.startswith("test_") and callable(thing) and not name.startswith(LEFT_OUT):
            yield f"{name}_{module.__name__.rpartition('test_')[2]}", thing


@pytest.mark.usefixtures("packs")
class TestAllOver:
    """What holds of history holds of packed history."""

    def test_every_row_is_packed_here(self, memory: Memory) -> None:
        """Or nothing of this would be tested."""
        memory.facts.remember("one")
        memory.facts.correct(1, "two")
        assert memory.database.value("SELECT count(*) FROM main.history_row") == 0
        assert memory.history.undo().reason == "correct F#1"


@pytest.mark.whole
@pytest.mark.usefixtures("packs")
class TestLongAllOver:
    """The same for properties that take long."""


for module in (test_history, test_plans, test_checkpoints, test_past):
    for name, thing in _again(module):
        setattr(TestLongAllOver if name.startswith(LONG) else TestAllOver, name, staticmethod(thing))


# packing itself -------------------------------------------------------------------------------------------------------


def rows_of(memory: Memory) -> list[tuple[Any, ...]]:
    """Every row of history, whole, packed or not."""
    return memory.database.rows(ROWS.format(compression.every_row_view(memory.database)))


def told(memory: Memory) -> str:
    return "".join(exporter.export_text(memory.database))


# a block's size, how many of the newest steps stay, and which record is put back, if one is
ROUNDS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20), st.none() | st.integers(0, 2**16)), max_size=3)


@given(test_history.PLANS, ROUNDS)
@settings(test_history.LAWS, max_examples=examples(4))
def test_packing_and_unpacking_change_nothing_that_can_be_read(live: Live, plan: list[int], rounds: list[Any]):
    """Blocks of any size, up to any step, again and again, with records put back in between: each row, each step, the
    chain and the export stay what they were; each row stands in one place."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        live(memory, plan)
        before = rows_of(memory), memory.history.steps(), told(memory)
        for size, left, back in rounds:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(compression, "BLOCK_ROWS", size)
                compression.pack_history(memory.database, 36_500, left, least=1)
            if before[0] and back is not None:
                _, _, table, pk, *_ = before[0][back % len(before[0])]
                count = "SELECT count(*) FROM packed_row WHERE tbl = ? AND pk = ?"
                packed = memory.database.value(count, (table, pk))
                with memory.database.write("user", "put back") as write:
                    assert compression.unpack_records(write, {(table, pk)}) == packed
                assert memory.database.value(count, (table, pk)) == 0
            assert (rows_of(memory), memory.history.steps(), told(memory)) == before
            assert chain.broken(memory.database) == []
            here = memory.database.rows("SELECT seq, n FROM main.history_row")
            there = memory.database.rows("SELECT seq, n FROM packed_row")
            assert len(here) + len(there) == len(before[0]) and not set(here) & set(there)
            for seq, _, table, pk, *_ in before[0][:: max(1, len(before[0]) // 10)]:
                by_step = memory.database.rows("SELECT n FROM every_history_row WHERE seq = ? ORDER BY n", (seq,))
                assert by_step == [(row[1],) for row in before[0] if row[0] == seq]
                sql = "SELECT seq FROM every_history_row WHERE tbl = ? AND pk = ? AND seq > 3 ORDER BY 1"
                by_record = memory.database.rows(sql, (table, pk))
                assert by_record == [(row[0],) for row in before[0] if row[2:4] == (table, pk) and row[0] > 3]


@pytest.fixture
def packed(memory: Memory, live: Live) -> Memory:
    """A memory whose history is packed but for what a test adds."""
    live(memory, range(80))
    memory.facts.remember("the secret of the house")
    assert pack_all(memory.database) == 1
    return memory


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE history SET actor = 'mallory' WHERE seq = 7",
        "UPDATE history SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 7",
        "UPDATE history SET changes = changes + 1 WHERE seq = 7",
        "UPDATE history_block SET salts = CAST(substr(salts, 17) || substr(salts, 1, 16) AS BLOB)",
        "UPDATE history_block SET texts = altered(texts)",
        "DELETE FROM history WHERE seq = 7",
    ],
)
def test_a_changed_past_is_seen_in_a_block_too(packed: Memory, forgery: str):
    """Though the leaves within it are not stored: the step's digest no longer agrees."""

    def altered(*values: Any) -> bytes:
        text = zlib.decompress(values[0]).decode()
        assert "secret" in text
        return zlib.compress(text.replace("secret", "sekret").encode())

    assert chain.broken(packed.database) == []
    packed.database.connection.create_scalar_function("altered", altered, 1)
    packed.database.connection.pragma("foreign_keys", 0)
    with packed.database.write("user", "forge") as write:
        write.execute(forgery)
    with Memory.open(packed.location.path) as other:  # a connection keeps blocks, which are never changed in place
        assert chain.broken(other.database)


def test_a_row_that_was_altered_before_it_was_packed_is_still_seen(memory: Memory):
    """Packing mends nothing: a leaf that its salt does not give is kept as it is."""
    for text in ("one", "two", "three"):
        memory.facts.remember(text)
    with memory.database.write("user", "forge") as write:
        write.execute("UPDATE history_row SET after = replace(after, 'two', 'too') WHERE seq = 2")
    broken, before = chain.broken(memory.database), rows_of(memory)
    pack_all(memory.database)
    assert rows_of(memory) == before
    assert broken == chain.broken(memory.database) == [2]


def test_a_step_that_is_packed_in_part_is_taken_back_whole(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    """A block ends in the middle of a step: both parts of it are found, and in their order."""
    for text in ("one", "two", "three"):
        memory.facts.remember(text)
    memory.facts.forget([1, 2, 3])
    monkeypatch.setattr(compression, "BLOCK_ROWS", 5)
    assert compression.pack_history(memory.database, 36_500, 0, least=5) == 1
    assert memory.database.value("SELECT count(*) FROM main.history_row") == 1
    assert [key for _, key, *_ in compression.read_step_rows(memory.database, 4)] == ["[1]", "[2]", "[3]"]
    assert memory.history.undo().seq == 4
    assert {fact.status for fact in memory.facts.get_many([1, 2, 3])} == {"active"}


def test_a_leaf_that_follows_from_its_row_is_not_kept_a_second_time(packed: Memory):
    """A row's seal takes its salt's 16 bytes; that of a row that was altered takes the leaf's 32 as well."""
    assert packed.database.rows("SELECT length(salts) - 16 * rows FROM history_block") == [(0,)]
    packed.facts.remember("one more")
    with packed.database.write("user", "forge") as write:
        write.execute("UPDATE main.history_row SET after = replace(after, 'one more', 'no more')")
    pack_all(packed.database)
    assert packed.database.rows("SELECT length(salts) - 16 * rows FROM history_block ORDER BY id") == [(0,), (32,)]


def test_a_purge_reaches_what_was_packed(packed: Memory):
    """Put back, masked and packed again: the text is in no block, the chain holds, the step says what happened."""
    number = packed.facts.ids(packed.now, words="the secret of the house")[0]
    with packed.database.write("user", "purge") as write:
        assert compression.unpack_records(write, {("facts", f"[{number}]")}) == 1
        erased = "after = NULL, salt = NULL, purged = 1"
        write.execute(f"UPDATE main.history_row SET {erased} WHERE tbl = 'facts' AND pk = ?", (f"[{number}]",))
    step = packed.history.steps(record=("fact", number))[0].seq
    assert chain.broken(packed.database) == []
    assert pack_all(packed.database) == 1
    assert chain.broken(packed.database) == []
    assert compression.find_erased_records(packed.database, 0) == {("facts", f"[{number}]")}
    for take_back in (packed.history.undo, Plans(packed.database).plan_step):
        with pytest.raises(Conflict, match="erased"):
            take_back(step)
    for directory, texts in packed.database.rows("SELECT directory, texts FROM history_block"):
        assert b"secret of the house" not in zlib.decompress(directory) + zlib.decompress(texts)


def test_what_is_old_or_far_back_is_packed_whole_blocks_at_a_time(memory: Memory, clock: Any):
    """By days or by steps, whichever reaches further; less than a block waits."""
    for number in range(30):
        memory.facts.remember(f"fact {number}")
    clock.advance(days=91)
    for number in range(30, 60):
        memory.facts.remember(f"fact {number}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "BLOCK_ROWS", 20)
        assert compression.pack_history(memory.database, 90, 10_000, least=20) == 1
        assert memory.database.value("SELECT count(*) FROM main.history_row") == 40
        assert compression.pack_history(memory.database, 90, 15, least=20) == 1
        assert compression.pack_history(memory.database, 36_500, 10_000, least=20) == 0
        assert compression.pack_history(memory.database, 90, 15, cancelled=lambda: True, least=1) == 0
    assert memory.database.value("SELECT min(seq) FROM main.history_row") == 41


def test_the_worker_packs_what_the_settings_say_and_one_process_at_a_time(memory: Memory, clock: Any):
    """At a start; while another process packs, nothing."""
    for number in range(compression.BLOCK_ROWS + 5):
        memory.facts.remember(f"fact {number}")

    def blocks() -> int:
        count: int = memory.database.value("SELECT count(*) FROM history_block")
        return count

    run_maintenance(memory, os.getcwd())
    assert blocks() == 0
    write_setting(user_settings_path(), "history.pack_steps", "0")
    memory._config = None  # as at the next start
    with Memory.open(memory.location.path, "cli", clock) as other:
        lease = Lease(other.database, "history")
        assert lease.acquire()
        run_maintenance(memory, os.getcwd())
        assert blocks() == 0
        lease.release()
    run_maintenance(memory, os.getcwd())
    assert blocks() == 1 and memory.database.value("SELECT count(*) FROM main.history_row") == 5


def test_what_is_purged_while_it_is_packed_is_not_packed_as_it_was(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    """Between the reading and the writing of a block another process erases a text: the block is made anew."""
    for text in ("one", "the secret", "three"):
        memory.facts.remember(text)
    encoded = compression.encode_block
    erased = []

    def erase_meanwhile(found: list[compression.PackedRow]) -> compression.PackedRow:
        if not erased:
            with Memory.open(memory.location.path) as other, other.database.write("user", "purge") as write:
                write.execute("UPDATE history_row SET after = NULL, salt = NULL, purged = 1 WHERE seq = 2")
            erased.append(True)
        return encoded(found)

    monkeypatch.setattr(compression, "encode_block", erase_meanwhile)
    assert pack_all(memory.database) == 1
    assert [row[7] for row in rows_of(memory)].count(None) == 1
    assert not any("the secret" in str(row[7]) for row in rows_of(memory))


KILLED = """
import sys
from store.history import compression as packing
from store.memory import Memory
packing.BLOCK_ROWS = 5
with Memory.open(sys.argv[1]) as memory:
    print("packing", flush=True)
    packing.pack_history(memory.database, 36_500, 0, least=1)
"""


def test_a_kill_leaves_each_row_where_it_was_or_packed(tmp_path: Path, live: Live):
    """Killed again and again in the middle of it, until it is through: no row is lost, none is there twice."""
    path = str(tmp_path / "memory.db")
    with Memory.open(path) as memory:
        live(memory, range(120))
        before, text = rows_of(memory), told(memory)
    kills = left = 0
    for attempt in range(100):
        process = begun(KILLED, path)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.003 * (attempt % 12))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        with Memory.open(path) as memory:
            with memory.database.write("agent", "a killed holder is replaced after seconds") as write:
                write.execute("DELETE FROM leases")
            assert rows_of(memory) == before
            assert chain.broken(memory.database) == []
            left = memory.database.value("SELECT count(*) FROM main.history_row")
            if not left:
                assert told(memory) == text
                break
    assert kills and not left


def test_an_older_connection_meets_what_another_packed(packed: Memory):
    """A view that was made before the packing reads the blocks that came later, and those that took another's place."""
    with Memory.open(packed.location.path) as other:
        before = rows_of(other)
        packed.facts.remember("later")
        pack_all(packed.database)
        assert rows_of(other)[: len(before)] == before and len(rows_of(other)) == len(before) + 1
        with packed.database.write("user", "put back") as write:
            compression.unpack_records(write, {("facts", "[1]")})
        assert rows_of(other)[: len(before)] == before


@pytest.mark.parametrize("table", ["every_history_row", "packed_row"])
def test_the_packed_rows_cannot_be_written_by_their_view(packed: Memory, table: str):
    before = rows_of(packed)
    with pytest.raises(MemorandaError), packed.database.write("user", "forge") as write:
        write.execute(f"DELETE FROM {table}")
    assert rows_of(packed) == before


def test_who_has_read_packed_rows_is_let_go_of(packed: Memory):
    """The table is held by its connection: did it hold it too, both would stay as long as the process."""
    other = Memory.open(packed.location.path)
    assert rows_of(other)
    connection = weakref.ref(other.database.connection)
    del other
    assert connection() is None
