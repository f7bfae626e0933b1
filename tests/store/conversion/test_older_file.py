"""A file of an older version that may only be read: shown whole by this one, and not one byte of it changed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from support.forks import run_command
from support.model_use import by_task
from support.older import older
from support.stories import NOON, Clock

from store import conversion
from store.base.errors import StorageError
from store.conversations.turns import NewTurn
from store.database.schema import SCHEMA_VERSION
from store.memory import Memory

READING = (
    "facts; decisions; tasks; timeline; search team; show F#1; show D#1; history; stats; checkpoints; iterations;"
    " inbox; sessions; sessions --summaries; context team; as-of 1; diff 1; export; redactions; backups; scan-secrets;"
    " verify-forgotten nothing-like-it; recover"
).split("; ")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[str]:
    """A memory of schema 3, in a folder of its own."""
    made = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(made, "app", Clock()) as memory:
        memory.facts.remember("The team is five people")
        memory.facts.remember("Lunch is at noon")
        memory.decisions.decide("Use SQLite", "SQLite, WAL")
        memory.turns.add_turns("standup", [NewTurn("user", "Who is in the team?")])
        memory.checkpoints.take_checkpoint("before")
    older(made, 3)
    yield made
    os.chmod(os.path.dirname(made), 0o700)
    os.chmod(made, 0o600)


def shut(path: str, folder: int, file: int) -> None:
    os.chmod(path, file)
    os.chmod(os.path.dirname(path), folder)


def run(path: str, line: str) -> subprocess.CompletedProcess[str]:
    return run_command("--db", path, *line.split(), cwd=os.path.dirname(os.path.dirname(path)), ordinary=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("folder", "file"), [(0o700, 0o400), (0o500, 0o400), (0o500, 0o600)])
def test_every_verb_that_reads_reads_it(path: str, folder: int, file: int):
    """With a word about it; what writes says why it cannot, and neither changes a byte."""
    before = Path(path).read_bytes()
    shut(path, folder, file)
    for line in READING:
        done = run(path, line)
        assert done.returncode == 0, (line, done.stderr)
        assert "older Memoranda and may only be read" in done.stderr, line
    assert "The team is five people" in run(path, "facts").stdout
    (told,) = json.loads(run(path, "sessions --json").stdout)
    assert (told["id"], told["turns"]) == ("standup", 1)
    for line in ("remember x", "forget 1", "undo", "mute 1", "backup", "purge 1 --yes"):
        done = run(path, line)
        assert done.returncode == 1 and "may only be read. " in done.stderr, (line, done.stderr)
    assert Path(path).read_bytes() == before


def test_its_connections_share_one_copy_and_a_later_one_sees_what_changed(path: str, monkeypatch):
    """A copy for each of the application's ten connections would be ten times the file."""
    monkeypatch.setattr("store.database.connection.os.access", lambda place, how: False)
    with Memory.open(path, "app", Clock()) as one, Memory.open(path, "app", Clock()) as other:
        assert one.facts.get(1) == other.facts.get(1)
        held = len(conversion._copies)
        with apsw.Connection(path) as raw:
            raw.execute("UPDATE facts SET fact = 'The team is six people' WHERE id = 1")
        with Memory.open(path, "app", Clock()) as later:
            assert later.facts.get(1).fact == "The team is six people" and later.search("six").total == 1
            assert len(conversion._copies) == held + 1
        assert one.facts.get(1).fact == "The team is five people"
        with pytest.raises(apsw.ReadOnlyError):
            one.database.connection.execute("DELETE FROM facts")
        with pytest.raises(StorageError, match="may only be read"):
            one.facts.remember("nothing")


def test_what_may_be_written_again_is_brought_up_to_date(path: str):
    shut(path, 0o500, 0o400)
    assert run(path, "facts").returncode == 0
    shut(path, 0o700, 0o600)
    done = run(path, "remember --json Dinner")
    assert (done.returncode, json.loads(done.stdout)["citation"]) == (0, "F#3"), done.stderr
    with Memory.open(path, "app", Clock(NOON)) as memory:
        assert memory.database.connection.pragma("user_version") == SCHEMA_VERSION and not memory.database.warnings


def test_what_waited_to_be_read_waits_for_a_model_too_and_no_number_is_given_twice(tmp_path: Path):
    """A memory of schema 4 knew no model."""
    made = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(made, "app", Clock()) as memory:
        said = [NewTurn("user", f"Recordá que los {day} hay asado.") for day in ("jueves", "lunes")]
        memory.turns.add_turns("standup", said)
        with memory.database.write("agent", "extraction") as write:
            write.execute("DELETE FROM pending_extraction WHERE id = (SELECT max(id) FROM pending_extraction)")
        before = memory.database.rows("SELECT * FROM pending_extraction ORDER BY id")
        last = memory.database.value("SELECT seq FROM sqlite_sequence WHERE name = 'pending_extraction'")
    older(made, 4)
    with apsw.Connection(made) as raw:
        raw.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'pending_extraction'", (last,))
        with pytest.raises(apsw.ConstraintError):
            raw.execute("UPDATE pending_extraction SET task = 'model.' || task")
    with Memory.open(made, "app", Clock()) as memory:
        assert memory.database.rows("SELECT * FROM pending_extraction ORDER BY id") == before != []
        with memory.database.write("agent", "extraction") as write:
            write.execute("UPDATE pending_extraction SET task = 'model.' || task")
            write.execute("INSERT INTO pending_extraction(turn, task, next_at) VALUES (9, 'reconfirm', '')")
        assert memory.database.value("SELECT max(id) FROM pending_extraction") == last + 1
        assert by_task(memory.database) == []
