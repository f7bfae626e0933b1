"""Many writers on one memory: they take their turns in order, and the log stays short or says why it does not."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from unittest.mock import Mock

import pytest
from support import children, embedding_models
from support.children import begun, tell
from support.waiting import lined_up, until

from store.base.errors import Busy, StorageError
from store.database import wal
from store.database.connection import HOOK_BUSY_MS
from store.database.values import Verbatim
from store.embedding import vector_codes
from store.embedding.vectors import Vectors
from store.exchange import backups, exporter, importer
from store.memory import Memory

WAIT = 20.0
STOPPED = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print("holds", flush=True)
sys.stdin.readline()
"""
WRITER = """
import sys
from store.database import wal as queue
queue.MAX_QUEUE_SECONDS = 60
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    memory.database.patience = 120_000
    print("ready", flush=True)
    sys.stdin.readline()
    memory.facts.remember(sys.argv[2])
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("first of all")
    return path


linux = pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux lists who waits for a lock")


@linux
def test_whoever_asked_first_writes_first(path: str) -> None:
    """In processes of their own."""
    holder, writers = lined_up_behind_a_holder(path)
    tell(holder)
    assert written(path, [holder, *writers]) == ["first of all", *(f"writer {number}" for number in range(7))]


@linux
def test_one_that_is_killed_while_it_waits_holds_nobody_up(path: str) -> None:
    """Those behind it line up anew, and each of them writes."""
    holder, writers = lined_up_behind_a_holder(path)
    writers[0].kill()
    writers[3].kill()
    until(lambda: lined_up(path) == 1 + 5)
    tell(holder)
    facts = written(path, [holder, *writers])
    assert sorted(facts) == ["first of all", *(f"writer {number}" for number in (1, 2, 4, 5, 6))]


def lined_up_behind_a_holder(path: str) -> tuple[subprocess.Popen[str], list[subprocess.Popen[str]]]:
    """A process that is writing, and seven that wait to write, in their order."""
    holder = begun(children.WRITER, path)
    writers = [begun(WRITER, path, f"writer {number}") for number in range(7)]
    for number, writer in enumerate(writers, start=1):
        tell(writer)
        until(lambda number=number: lined_up(path) == 1 + number)  # type: ignore[misc]
    return holder, writers


def written(path: str, started: list[subprocess.Popen[str]]) -> list[str]:
    """The facts, in their order, once all of these processes have ended."""
    for child in started:
        child.wait(WAIT)
    with Memory.open(path) as memory:
        return [fact.fact for fact in memory.facts.get_many(range(1, 10))]


def test_a_queue_that_does_not_move_is_left(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody stopped in it costs a writer LINE_SECONDS, a hook less than it has, and never the write."""
    monkeypatch.setattr(wal, "MAX_QUEUE_SECONDS", 0.4)
    stopped = begun(STOPPED, os.path.dirname(path))
    for door in ("cli", "hook"):
        with Memory.open(path, door) as memory:
            memory.facts.remember(f"by {door}")
    stopped.kill()
    stopped.wait(WAIT)
    with Memory.open(path) as memory:
        assert [fact.fact for fact in memory.facts.get_many(range(1, 9))] == ["first of all", "by cli", "by hook"]


@linux
def test_the_next_writer_goes_on_as_soon_as_a_transaction_is_over(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it ends; and while a commit brings the log into the file, which takes longer than a write."""
    brought: list[int] = []
    monkeypatch.setattr(wal, "WAL_PAGES", 0)
    monkeypatch.setattr(wal, "checkpoint_passively", lambda *_: brought.append(lined_up(path)))
    with Memory.open(path) as memory:
        memory.facts.remember("a commit")
        assert brought == [0]
        with pytest.raises(ValueError), memory.database.write("user", "fails"):
            assert lined_up(path) == 1
            raise ValueError
        assert not lined_up(path)
        with memory.database.write("user", "writes nothing"):
            assert lined_up(path) == 1
        assert not lined_up(path)
        monkeypatch.setattr(memory.database, "clock", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.facts.remember("never begun")
        assert not lined_up(path)
        os.rename(path, f"{path}.moved")
        with pytest.raises(StorageError, match="moved"):
            memory.tasks.add_task("of a file that is gone")
        assert not lined_up(path)


def test_the_log_goes_into_the_file_by_itself(path: str) -> None:
    with Memory.open(path) as memory:
        for number in range(120):
            memory.facts.remember(f"number {number} of those that fill the log")
            assert wal.wal_length(path) < (wal.WAL_PAGES + 200) * 4200
        assert os.stat(path).st_size > 500_000


def test_a_busy_file_is_waited_for_as_long_as_the_door_may(path: str) -> None:
    with Memory.open(path) as one, Memory.open(path, "hook") as hook, one.database.write("user", "hold"):
        begun = time.monotonic()
        with pytest.raises(Busy, match=r"busy for 0\.3 seconds"):
            hook.facts.remember("not now")
        assert time.monotonic() - begun >= HOOK_BUSY_MS / 1000
    with Memory.open(path, "hook") as hook:
        hook.facts.remember("now")


@pytest.mark.parametrize("place", ["open to others", "no locks"])
def test_without_a_queue_everybody_writes_all_the_same(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o700)
    if place == "open to others":
        folder.chmod(0o755)
    else:
        monkeypatch.setattr(wal, "fcntl", None)
    path = str(folder / "memory.db")
    asked: list[object] = []
    monkeypatch.setattr(wal, "_wait_in_queue", lambda *_: asked.append(1))

    def write(name: int) -> None:
        with Memory.open(path) as memory:
            for number in range(5):
                memory.facts.remember(f"{name} says {number}")

    Memory.open(path).close()
    threads = [Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory.open(path) as memory:
        assert memory.facts.count_by_state(memory.now)["active"] == 20 and not asked


# the log --------------------------------------------------------------------------------------------------------------


def test_a_log_that_readers_let_go_of_is_emptied_by_the_next_writer(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that always overlap keep SQLite from starting it anew by itself."""
    monkeypatch.setattr(wal, "LONG_WAL_BYTES", 200_000)
    with Memory.open(path) as writer, Memory.open(path) as one, Memory.open(path) as other:
        readers = [one.database.connection, other.database.connection]
        longest = 0
        for number in range(60):
            reading, last = readers[number % 2], readers[(number + 1) % 2]
            reading.execute("BEGIN; SELECT count(*) FROM facts").fetchall()
            if not last.get_autocommit():
                last.execute("COMMIT")
            writer.database._relief._again = 0.0
            writer.facts.remember(f"number {number} {'x' * 4000}")
            longest = max(longest, wal.wal_length(path))
        readers[1].execute("COMMIT")
        writer.database._relief._again = 0.0
        writer.facts.remember("the last")
        assert wal.wal_length(path) < 200_000


def test_a_reader_that_stays_slows_writers_and_is_told(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write is taken all the same; once the reader is gone the log is emptied, and nothing is said any more."""
    slept: list[float] = []
    monkeypatch.setattr(wal, "LONG_WAL_BYTES", 100_000)
    monkeypatch.setattr(wal, "HELD_WAL_BYTES", 200_000)
    monkeypatch.setattr(wal, "sleep", slept.append)
    with Memory.open(path) as writer, Memory.open(path) as reader:
        assert not wal.held_wal_warning(path)
        reader.database.connection.execute("BEGIN; SELECT count(*) FROM facts").fetchall()
        for number in range(40):
            writer.facts.remember(f"number {number} {'x' * 4000}")
        assert wal.wal_length(path) > 200_000 and slept == sorted(slept) and 0 < slept[-1] <= wal.MAX_SLOWDOWN_SECONDS
        assert "close that program" in wal.held_wal_warning(path)
        with Memory.open(path) as late:
            assert any("reading an old state" in warning for warning in late.database.warnings)
        with Memory.open(path, "hook") as hook:
            hook.facts.remember("a hook")
        assert slept[-1] <= HOOK_BUSY_MS / 10_000
        reader.database.connection.execute("COMMIT")
        writer.database._relief._again = 0.0
        writer.facts.remember("after it")
        assert wal.wal_length(path) < 200_000 and not wal.held_wal_warning(path)
        assert writer.facts.count_by_state(writer.now)["active"] == 43


def test_a_short_log_is_not_looked_at_before_each_write(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the last commit found is enough: a `stat` of the log makes the commit after it slower."""
    length = Mock(side_effect=wal.wal_length)
    monkeypatch.setattr(wal, "wal_length", length)
    with Memory.open(path) as memory:
        length.reset_mock()
        for number in range(40):
            memory.facts.remember(f"number {number}")
        assert 1 <= length.call_count <= 8  # the first write, and those after a log of 256 pages


@pytest.fixture
def wide(path: str) -> str:
    """A memory of more rows than one piece of what reads them."""
    with Memory.open(path) as memory:
        memory.database.connection.pragma("synchronous", 0)
        for number in range(600):
            memory.facts.remember(f"number {number}")
        memory.decisions.decide("A title", "a choice")
    return path


def lets_the_log_go(monkeypatch: pytest.MonkeyPatch, path: str, owner: object, name: str) -> list[bool]:
    """Whether the log could be emptied, of each call of the function `name` of `owner`."""
    said: list[bool] = []
    function = getattr(owner, name)

    def looked(*arguments: object, **named: object) -> object:
        with Memory.open(path) as writer:
            writer.tasks.add_task(f"meanwhile {len(said)}")
            said.append(writer.database.checkpoint_wal())
        return function(*arguments, **named)

    monkeypatch.setattr(owner, name, looked)
    return said


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_an_export_that_is_taken_slowly_holds_no_log(wide: str, form: str) -> None:
    """Whoever takes it, a pager that waits for a person for instance: it tells of one moment all the same."""
    with Memory.open(wide) as memory, Memory.open(wide) as writer:
        now = memory.now

        def begin() -> Iterator[str]:
            if form == "json":
                return exporter.export_text(memory.database)
            return exporter.export_markdown(memory.database, "it", now)

        whole, pieces = "".join(begin()), begin()
        taken = [next(pieces), next(pieces), next(pieces)]
        writer.facts.remember("meanwhile")
        assert writer.database.checkpoint_wal()
        assert "".join([*taken, *pieces]) == whole and "meanwhile" not in whole


def test_a_backup_holds_the_log_while_it_copies_and_no_longer(wide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its proof, which takes longest, nor the syncs of what it wrote."""
    steps = ("copy_pages", "_find_damage", "_compare_table", "publish_file")
    said = [lets_the_log_go(monkeypatch, wide, backups, name) for name in steps]
    with Memory.open(wide) as memory:
        made = backups.make_backup(memory.database)
        assert made is not None and backups.verify_backup(memory.database) == (made.path, "")
    assert all(map(len, said)) and all(map(all, said))


def test_what_an_import_would_do_is_shown_without_holding_the_log(wide: str, tmp_path: Path, monkeypatch):
    """Neither that of this memory nor that of the one which is brought in; each as it was when it was read."""
    other = str(tmp_path / "other" / "memory.db")
    with Memory.open(other) as memory:
        memory.facts.remember("of another")
    reads = {
        importer.ImportMerge: ("match_rows", "_pair_rows", "count_rows", "count_left_out"),
        importer.StagedDocument: ("_validate_rows", "_check_references"),
    }
    ours = [lets_the_log_go(monkeypatch, wide, owner, name) for owner, names in reads.items() for name in names]
    theirs = lets_the_log_go(monkeypatch, other, importer.StagedDocument, "_index_key")
    with Memory.open(wide) as memory, importer.Import(memory.database, other) as found:
        assert found.counts["facts"].new == 1 and found.counts["tasks"].new == 0
    assert all(map(len, ours)) and all(map(all, ours)) and theirs and all(theirs)


def test_vectors_are_loaded_without_holding_the_log(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that nobody packed, a piece at a time; one that goes meanwhile is not among them."""
    monkeypatch.setattr(vector_codes, "CODES_PER_WRITE", 4)
    with Memory.open(path) as memory:
        for number in range(24):
            memory.facts.remember(f"number {number}")
        vectors = Vectors(memory.database)
        vectors.embed_queue(embedding_models.nano())
        model = vectors.serving
        assert model is not None
        before = vector_codes.build_code_matrix(memory.database, model)
        with memory.database.write("user", "test") as write:
            write.execute("DELETE FROM meta WHERE key = ?", (Verbatim(vector_codes.codes_marker_key(model.slot)),))
        said = lets_the_log_go(monkeypatch, path, vector_codes, "read_embeddings")
        fetch = vector_codes.read_embeddings

        def goes(database: object, embeddings: object) -> object:
            found = fetch(database, embeddings)  # type: ignore[arg-type]
            if len(said) == 2:
                found.pop(next(iter(found)))
            return found

        monkeypatch.setattr(vector_codes, "read_embeddings", goes)
        matrix = vectors.code_matrix(model)
        assert len(said) > 5 and all(said) and len(matrix.ids) == len(before.ids) - 1
        assert set(matrix.ids.tolist()) < set(before.ids.tolist())
