"""Every fault while every operation runs (RELIABILITY §3). Each cell is the command in a process of its own, to which
the fault happens; then all that must hold of any of them is looked at, and the operation is done again without it.

A sample runs by itself; `pytest -m faults` runs all of them.
"""

import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from support.faulty import ordinary
from support.soundness import unsound

from store.database import connection, migrations, write
from store.memory import Memory

ROOT = Path(__file__).parents[2]
FAULTY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "support", "faulty.py")
SECRET = "AKIA" + "QX7T3NB9KD2WZ5RM"
TEXT = f"the deploy key is {SECRET}, kept apart"
SAMPLE = 56  # cells that run by themselves

Done = Callable[[Memory], bool]


@dataclass(frozen=True)
class Operation:
    """One operation: the command's words, and whether a memory shows that it was done. `of` is the memory it begins
    with; one that `answers` may end with 1 and an answer."""

    name: str
    words: tuple[str, ...]
    done: Done = lambda memory: True
    of: str = "memory"
    answers: bool = False


def _facts(memory: Memory, where: str) -> int:
    count: int = memory.database.value(f"SELECT count(*) FROM facts WHERE {where}")
    return count


OPERATIONS = (
    Operation("first open", ("init",), of="nothing"),
    Operation("migrate", ("facts",), of="older"),
    Operation("remember", ("remember", TEXT), lambda memory: _facts(memory, "fact LIKE '%kept apart'") == 1),
    Operation(
        "correct", ("correct", "1", "the team is six"), lambda memory: memory.facts.get(1).status == "superseded"
    ),
    Operation("forget", ("forget", "2"), lambda memory: memory.facts.get(2).status == "forgotten"),
    Operation(
        "decide",
        ("decide", "Ship", "--chosen", TEXT),
        lambda memory: memory.database.value("SELECT count(*) FROM decisions WHERE title = 'Ship'") == 1,
    ),
    Operation("undo", ("undo",), lambda memory: memory.facts.get(4).status == "active"),
    Operation(
        "checkpoint",
        ("checkpoint", "after"),
        lambda memory: memory.database.value("SELECT count(*) FROM checkpoints WHERE name = 'after'") == 1,
    ),
    Operation("restore", ("restore", "K#1", "--yes"), lambda memory: _facts(memory, "fact LIKE 'later%'") == 0),
    Operation("export", ("export", "out.json", "--yes")),
    Operation("index rebuild", ("index", "rebuild")),
    Operation("scan", ("scan",)),
    Operation("doctor", ("doctor",), answers=True),
    Operation("salvage", ("salvage", ".memoranda/memory.db", "--into", "new.db")),
)
# faults that happen to the process: how often they are tried in the whole matrix, and with which numbers
COUNTED = {
    "kill": (1, 60),
    "term": (1, 60),
    "eio": (1, 120),
    "enospc": (1, 60),
    "delete": (1, 40),
    "replace": (1, 40),
    "files": (4, 8),
    "size": (0, 150_000),
}
PLAIN = ("slow", "clock", "network", "vec0")
AROUND = ("read-only file", "read-only folder", "no permission", "stale reader", "newer schema", "log deleted")
HARMLESS = ("slow", "clock", "vec0", "stale reader", "log deleted")  # nothing may fail for them
FAULTS = (*COUNTED, *PLAIN, *AROUND)

CELLS = [(fault, operation) for fault in FAULTS for operation in OPERATIONS]


@pytest.fixture(scope="module")
def began(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The projects that operations begin with."""
    folder = tmp_path_factory.mktemp("began")
    for name in ("memory", "older"):
        with pytest.MonkeyPatch.context() as patch:
            if name == "older":
                for module in (migrations, connection, write):
                    patch.setattr(module, "SCHEMA_VERSION", 1)
                first = migrations.migrations()[:1]
                patch.setattr(migrations, "migrations", lambda: first)  # noqa: B023 - used within this turn
            with Memory.open(str(folder / name / ".memoranda" / "memory.db")) as memory:
                _begin(memory, name == "older")
    (folder / "nothing").mkdir()
    (folder / "memory" / "MEMORY.md").write_text("# Notes\n\nThe team has a dog.\n")
    return folder


def _begin(memory: Memory, older: bool) -> None:
    memory.facts.remember("the team is five")
    memory.facts.remember("deploys on Fridays")
    memory.decisions.decide("Use SQLite", "WAL", alternatives=["files"])
    if older:  # what is written today has columns that schema 1 had not
        row = (memory.now, 3)
        sql = (
            "INSERT INTO checkpoints(name, created_at, seq, trigger, origin) VALUES ('before', ?, ?, 'person', 'user')"
        )
        memory.database.connection.execute(sql, row)
    else:
        memory.checkpoints.take("before")
    memory.facts.remember("later 1")
    memory.facts.remember("later 2")
    memory.facts.forget([4])


def path_of(project: Path) -> Path:
    return project / ".memoranda" / "memory.db"


Said = subprocess.CompletedProcess[str]


def run(project: Path, words: tuple[str, ...], fault: str = "none", number: int = 0) -> Said:
    without = "model,vec0" if fault == "vec0" else "model"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MEMORANDA_WITHOUT": without}
    return subprocess.run(
        [sys.executable, FAULTY, fault, str(number), *words],
        cwd=project,
        env=environment,
        umask=0,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=ordinary,
    )


def newest(path: Path) -> tuple[int, bytes]:
    found = apsw.Connection(str(path)).execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get
    return found or (0, b"")


class Around:
    """What is done to the project before the operation, and taken back after it."""

    def __init__(self, fault: str, project: Path) -> None:
        self.fault, self.folder, self.file = fault, project / ".memoranda", path_of(project)
        self.reader: subprocess.Popen[str] | None = None
        self.version = 0

    def __enter__(self) -> None:
        if not self.file.exists():
            return
        if self.fault in ("read-only file", "no permission"):
            self.file.chmod(0o400 if self.fault == "read-only file" else 0)
        elif self.fault == "read-only folder":
            self.folder.chmod(0o500)
        elif self.fault == "newer schema":
            raw = apsw.Connection(str(self.file))
            self.version = raw.pragma("user_version")
            raw.pragma("user_version", 99)
            raw.close()
        elif self.fault == "stale reader":
            self.reader = subprocess.Popen(
                [sys.executable, "-c", READER, str(self.file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert self.reader.stdout is not None and self.reader.stdout.readline() == "reading\n"
        elif self.fault == "log deleted":
            raw = apsw.Connection(str(self.file))
            raw.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            raw.execute("CREATE TABLE only_in_the_log(x)")
            raw.close()
            for ending in ("-wal", "-shm"):
                os.unlink(f"{self.file}{ending}")

    def __exit__(self, *about: object) -> None:
        if not self.file.exists():
            return
        self.folder.chmod(0o700)
        if self.fault in ("read-only file", "no permission"):
            self.file.chmod(0o600)
        if self.fault == "newer schema" and self.version:
            raw = apsw.Connection(str(self.file))
            raw.pragma("user_version", self.version)
            raw.close()
        if self.reader is not None:
            self.reader.communicate("\n")


READER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM facts").get
print("reading", flush=True)
sys.stdin.readline()
"""


def cell(began: Path, project: Path, fault: str, operation: Operation, number: int) -> None:
    """One fault while one operation runs, and all that must hold of it."""
    shutil.copytree(began / operation.of, project, dirs_exist_ok=True)
    file = path_of(project)
    before = newest(file) if file.exists() else (0, b"")
    with Around(fault, project):
        done = run(project, operation.words, fault, number)
    if fault in ("delete", "replace"):
        _bring_back(file)

    # the message: one sentence that names cause and next step, without a secret; never a traceback
    assert "Traceback" not in done.stderr, done.stderr
    assert SECRET not in done.stdout + done.stderr
    killed = done.returncode in (-9, -15)
    if fault in HARMLESS:
        assert done.returncode == 0 or operation.answers, done
    elif done.returncode and not killed and not operation.answers:
        assert done.returncode == 1, done
        last = done.stderr.strip().split("\n")[-1]
        assert last.endswith(".") and len(last) > 30, done
    # nothing is wider than it should be, and no secret is in any file
    for path in (project / ".memoranda").rglob("*") if (project / ".memoranda").exists() else ():
        status = path.lstat()
        assert not stat.S_IMODE(status.st_mode) & 0o077 & ~(0o077 if path.is_dir() else 0), path
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    # what was there is there, what was acknowledged too, and the rest is whole or absent
    if file.exists() and file.stat().st_size:
        with Memory.open(str(file)) as memory:
            assert unsound(memory) == []
            digest = memory.database.value("SELECT digest FROM history WHERE seq = ?", (before[0],))
            assert (digest or b"") == before[1], "a step that was there is gone"
            made = (memory.database.value("SELECT max(seq) FROM history") or 0) - before[0]
            assert made in (0, 1)
            if done.returncode == 0 and operation.of != "nothing" and fault not in ("delete", "replace"):
                assert operation.done(memory), "acknowledged, and not there"
            finished = operation.done(memory)
    else:
        finished = False
    # and it can be finished
    if not finished or operation.name in ("first open", "export", "index rebuild", "scan", "doctor", "salvage"):
        (project / "new.db").unlink(missing_ok=True)
        again = run(project, operation.words)
        assert again.returncode == 0, again
        with Memory.open(str(file)) as memory:
            assert operation.done(memory) and unsound(memory) == []


def _bring_back(file: Path) -> None:
    """What was moved away is the memory; what was made in its place is nobody's."""
    if os.path.exists(f"{file}.away"):
        for ending in ("", "-wal", "-shm"):
            Path(f"{file}{ending}").unlink(missing_ok=True)
            if os.path.exists(f"{file}{ending}.away"):
                os.rename(f"{file}{ending}.away", f"{file}{ending}")


def _sampled() -> list[tuple[str, Operation]]:
    """Cells for this run: each fault and each operation a few times, another choice every day of the year."""
    dice = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID", "1"))
    cells = CELLS.copy()
    dice.shuffle(cells)
    chosen, seen = [], dict[str, int]()
    for fault, operation in cells:
        if seen.get(fault, 0) < -(-SAMPLE // len(FAULTS)):
            seen[fault] = seen.get(fault, 0) + 1
            chosen.append((fault, operation))
    return sorted(chosen, key=lambda one: CELLS.index(one))


def _numbers(fault: str, dice: random.Random, count: int) -> list[int]:
    return [dice.randint(*COUNTED[fault]) for _ in range(count)] if fault in COUNTED else [0]


def _named(cells: list[tuple[str, Operation]]) -> dict[str, object]:
    return {"argvalues": cells, "ids": [f"{fault}, {operation.name}" for fault, operation in cells]}


@pytest.mark.parametrize("fault, operation", **_named(_sampled()))
def test_a_sample_of_the_matrix(began: Path, tmp_path: Path, fault: str, operation: Operation):
    seed = random.SystemRandom().getrandbits(32)
    (number,) = _numbers(fault, random.Random(seed), 1)
    print(f"number {number}")  # pytest shows it when the test fails
    cell(began, tmp_path, fault, operation, number)


@pytest.mark.faults
@pytest.mark.parametrize("fault, operation", **_named(CELLS))
def test_the_whole_matrix(began: Path, tmp_path: Path, fault: str, operation: Operation):
    """Each cell; of the faults that come with a certain call, at ten of them."""
    seed = random.SystemRandom().getrandbits(32)
    for turn, number in enumerate(_numbers(fault, random.Random(seed), 10)):
        print(f"number {number}")
        cell(began, tmp_path / str(turn), fault, operation, number)
