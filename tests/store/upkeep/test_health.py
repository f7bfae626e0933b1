"""The doctor: what is wrong is found, named with its cause and its next step, and nothing is mended by looking."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support.cases import load_cases
from support.children import holding

from bench.damage import live
from store.database import files
from store.memory import Memory
from store.projects.locating import locate
from store.purge.purge import complete_purge
from store.upkeep import checks, doctor
from store.upkeep.checks import NOTE, OK, WRONG, Finding
from store.upkeep.doctor import examine

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A memory in which something of every kind happened, closed."""
    path = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        live(memory, 1, 24)
        memory.history.undo()
        memory.history.redo()
    return path


def look(path: str, **how: object) -> list[Finding]:
    return list(examine(locate(path, {}, "/"), **how))  # type: ignore[arg-type]


def wrong(path: str, **how: object) -> dict[str, Finding]:
    """What is wrong, by subject; each names a next step."""
    found = {one.subject: one for one in look(path, **how) if one.state == WRONG}
    assert all(one.next for one in found.values())
    return found


def behind(path: str, *statements: str) -> None:
    """Change a memory behind everybody's back: without triggers, history or checks."""
    connection = apsw.Connection(path)
    connection.pragma("ignore_check_constraints", 1)
    connection.pragma("foreign_keys", 0)
    triggers = list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()


def test_a_healthy_memory(path):
    """Everything is looked at and nothing is wrong, quickly or not; looking changes no byte."""
    before = Path(path).read_bytes()
    found = look(path)
    assert [one for one in found if one.state == WRONG] == []
    subjects = {one.subject for one in found}
    assert subjects >= {"private", "disk", "file", "log", "links", "history", "records", "values", "clocks", "keywords"}
    assert subjects >= {"versions", "vec0", "model", "documents"}
    assert wrong(path, quick=True) == {}
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("statement, subject", load_cases(__file__)["changes"])
def test_what_nobody_wrote_is_noticed(path, statement, subject):
    """Rows, steps, marks, digests, the index, references, values: each is held against something else that knows."""
    behind(path, statement)
    assert not subject or subject in wrong(path)


def test_an_undone_step_is_still_the_chain_s(path):
    """Undo and redo leave marks that follow from each other, and are no damage."""
    with Memory.open(path) as memory:
        for _ in range(5):
            memory.history.undo()
        for _ in range(3):
            memory.history.redo()
        memory.history.undo(memory.history.steps(actor="user", limit=40)[-1].seq + 20)
    assert wrong(path) == {}


def without_steps(first: int) -> list[str]:
    """Return what takes these steps away, with the fact that they brought."""
    tables = [f"DELETE FROM {table} WHERE seq >= {first}" for table in ("history_row", "history")]
    return ["DELETE FROM facts WHERE fact = 'one more'", *tables]


def test_a_head_that_was_written_down(path):
    """It shows that steps were taken away where nothing inside the file can: the counter went with them."""
    head = next(one for one in look(path) if one.subject == "history").says.rpartition("head ")[2].rstrip(".")
    assert len(head) == 64
    with Memory.open(path) as memory:
        last = memory.database.value("SELECT max(seq) FROM history")
        memory.facts.remember("one more")
    assert wrong(path, head=head) == {}
    (said,) = [one.says for one in look(path, head=head) if one.subject == "history"]
    assert f"the head given is step {last:,}, and 1 followed" in said
    behind(path, *without_steps(last), f"UPDATE sqlite_sequence SET seq = {last - 1} WHERE name = 'history'")
    assert "not in this history" in wrong(path, head=head)["history"].says


def test_steps_that_were_taken_from_the_end(path):
    """With all that they changed: the numbers that were given tell."""
    with Memory.open(path) as memory:
        memory.facts.remember("one more")
        last = memory.database.value("SELECT max(seq) FROM history")
    behind(path, *without_steps(last))
    assert wrong(path)["history"].says == f"The last steps are missing: 1 were written after step {last - 1}."


def test_erased_text_is_no_damage(path):
    """What a purge leaves: no text, no salt, and a leaf that keeps the chain whole."""
    behind(path, "UPDATE history_row SET before = NULL, after = NULL, salt = NULL, purged = 1 WHERE seq = 3")
    assert wrong(path) == {}


def test_a_purge_that_was_held_up(path):
    """While a reader holds the log the text is still there, and the doctor says so; once it is through, no more."""
    with Memory.open(path) as memory, Memory.open(path) as reader:
        reader.database.connection.execute("BEGIN")
        reader.database.rows("SELECT count(*) FROM facts")
        done = memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
        assert done.finished.pending
        assert [one.subject for one in look(path) if one.state == WRONG] == ["purge"]
        reader.database.connection.execute("ROLLBACK")
        assert not complete_purge(memory.database).pending
    assert [one.subject for one in look(path) if one.state == WRONG] == []


def test_permissions(path):
    """What others may read is said, whether opening closed it or a person has to."""
    folder = os.path.dirname(path)
    os.chmod(path, 0o644)
    found = {one.subject: one for one in look(path)}
    assert found["private"].state == NOTE and path in found["private"].says
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    os.mkdir(os.path.join(folder, "logs"), 0o755)
    found = wrong(path)
    assert "logs" in found["private"].says and "chmod go=" in found["private"].next
    os.chmod(os.path.join(folder, "logs"), 0o700)
    os.symlink("/etc/passwd", os.path.join(folder, "notes.db"))
    assert "Not a plain file of yours" in wrong(path)["private"].says


def test_where_it_lies(path, monkeypatch):
    """A network's file system, a disk without room, one with little, one that may only be read."""
    monkeypatch.setattr(checks, "file_system_type", lambda folder: "nfs4")
    assert "network file system (nfs4)" in wrong(path)["disk"].says
    monkeypatch.undo()
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setattr(files, "file_system_type", lambda folder: "cifs")
    assert "network file system (cifs)" in wrong(path)["file"].says
    monkeypatch.undo()
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    real = os.statvfs(path)

    def disk(blocks: int, flag: int = 0) -> Callable[[str], object]:
        changed = {"f_bavail": blocks, "f_flag": flag}
        return lambda folder: type("Disk", (), {n: changed.get(n, getattr(real, n)) for n in dir(real) if n[0] == "f"})

    monkeypatch.setattr(checks.os, "statvfs", disk(0))
    assert "The disk is full" in wrong(path)["disk"].says
    monkeypatch.setattr(checks.os, "statvfs", disk(1_000))
    assert any(one.subject == "disk" and one.state == NOTE and "are free" in one.says for one in look(path))
    monkeypatch.setattr(checks.os, "statvfs", disk(1 << 30, os.ST_RDONLY))
    assert "mounted read-only" in wrong(path)["disk"].says


def test_what_was_left_beside_it(path):
    """An export that was cut an hour ago is named; one that is being written is not."""
    part = Path(path).with_name("export.json.1a2b.part")
    part.touch(0o600)
    assert not any(one.subject == "beside" for one in look(path))
    os.utime(part, (0, 0))
    assert any(one.subject == "beside" and str(part) in one.says for one in look(path))


def test_clocks(path, monkeypatch):
    """Records from a little ahead are a note, from far ahead wrong; a clock that went back is told."""
    now = "2020-01-01T00:00:00.000Z"
    with Memory.open(path, clock=lambda: now) as memory:
        memory.facts.remember("written before its time")
    assert any(one.subject == "clocks" and "set back 1 time" in one.says for one in look(path))
    assert "dated in the future (" in wrong(path, clock=lambda: now)["clocks"].says


def test_a_reader_that_stays(path, monkeypatch):
    """While somebody reads an old state the log grows, and the doctor says why; so it does of pages that wait."""
    monkeypatch.setattr(doctor, "LONG_WAL", 200_000)
    with holding(path):
        with Memory.open(path) as memory:
            for number in range(40):
                memory.facts.remember(f"{number} " + "at length " * 400)
        assert any(one.subject == "log" and "reads an old state" in one.says for one in look(path))
    with Memory.open(path) as memory:
        memory.facts.remember("once more")
        assert any(one.subject == "log" and one.state == OK for one in look(path))


@pytest.mark.parametrize("damage", ["header", "page", "empty", "foreign", "missing", "folder"])
def test_a_file_that_cannot_be_opened(path, damage):
    """It is one finding, that says what to do; never an error, and the file is as it was."""
    raw = Path(path)
    whole = raw.read_bytes()
    if damage == "header":
        raw.write_bytes(bytes(100) + whole[100:])
    elif damage == "page":
        raw.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    elif damage == "foreign":
        raw.unlink()
        apsw.Connection(path).execute("CREATE TABLE t(x)")
    elif damage in ("missing", "folder"):
        raw.unlink()
    if damage == "folder":
        raw.mkdir()
    if damage == "empty":
        raw.write_bytes(b"")
        assert "history" not in wrong(path)  # a memory that is about to be born
        return
    before = raw.read_bytes() if raw.is_file() else b""
    found = wrong(path)
    assert "file" in found
    if damage in ("header", "page"):
        assert found["file"].command == f"health --salvage {path}" and "Keep the file as it is" in found["file"].next
    assert (raw.read_bytes() if raw.is_file() else b"") == before


def test_it_says_how_far_it_is_and_can_be_stopped(path):
    told = list[str]()
    look(path, progress=lambda what, done, total: told.append(what))
    assert {"every page of the file", "the chain of history", "records against their history"} <= set(told)
    asked = 0

    def enough() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    assert len(look(path, cancelled=enough)) < len(look(path))


def test_many_records_are_walked_in_slices(path, monkeypatch):
    """A slice ends between two records and misses none."""
    monkeypatch.setattr(checks, "RECORD_SLICE", 3)
    monkeypatch.setattr(checks, "CHAIN_SLICE", 3)
    assert wrong(path) == {}
    behind(path, "UPDATE facts SET confidence = 'low' WHERE id IN (3, 9, 17)")
    assert "F#3" in wrong(path)["records"].says and "3 records are not" in wrong(path)["records"].says
    with Memory.open(path) as memory:
        told = {key: row for key, _, row in checks.reconstruct_records(memory.database, "facts")}
        assert len(told) == memory.database.value("SELECT count(*) FROM facts")
        assert all(json.loads(key) for key in told)


def test_the_room_that_is_kept_for_forgetting(path, monkeypatch):
    """Whether the ballast is there, and why it is not: given up, no room, something else in its place."""
    kept = f"{path}-ballast"

    def said() -> Finding:
        return next(one for one in look(path, quick=True) if one.subject == "ballast")

    assert said().state == OK
    os.unlink(kept)
    assert said().state == NOTE and "used up on a full disk, or removed" in said().says and said().next
    os.mkdir(kept)
    assert said().state == NOTE and "is not the file that Memoranda keeps there" in said().says
    assert said().next.startswith("Move it away")
    os.rmdir(kept)
    room = os.statvfs(os.path.dirname(path))
    little = os.statvfs_result((*room[:4], 10, *room[5:]))  # blocks that are left
    monkeypatch.setattr(os, "statvfs", lambda _: little)
    assert "the disk is nearly full" in said().says


def test_one_record_is_one_record(memory: Memory) -> None:
    memory.facts.remember("the team is five")
    (said,) = [one.says for one in look(memory.location.path) if one.subject == "records"]
    assert said == "1 record, each as history says."


@pytest.mark.parametrize("origin", ["hook:claude-code", "mcp:codex", "import:text", "agent"])
def test_what_each_door_writes_is_an_origin_that_is_known(path: str, origin: str) -> None:
    """A turn that a hook reported is not damage."""
    with Memory.open(path) as memory:
        memory.turns.add_turns("a session", [("user", "the team is five", "2026-11-21T12:00:00.000Z")], origin=origin)
    assert "values" not in wrong(path)
