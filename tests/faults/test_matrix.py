"""Every fault while every operation runs. Each cell is the command in a process of its own, to which
the fault happens; then all that must hold of any of them is looked at, and the operation is done again without it.

A sample runs by itself; `pytest -m faults` runs all of them. What is not built has no cell: writing MEMORY.md, serving
agents (MCP, hooks), a language model that is down, slow or talks nonsense. Reading MEMORY.md is `index documents`. The
power also fails ten thousand times in `test_power_cut`, and a real disk fills up in `test_purge` and `test_processes`.
"""

import os
import random
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from support.children import HOLDER, begun
from support.forks import run_program
from support.older import older
from support.ours import ours
from support.soundness import unsound
from support.traces import traces

from store.base.location import backup_folder
from store.database.values import Verbatim
from store.exchange import backups, exporter
from store.memory import Memory

ROOT = Path(__file__).parents[2]
SECRET = "AKIA" + "QX7T3NB9KD2WZ5RM"
TEXT = f"the deploy key is {SECRET}, kept apart"
LEAKED = "AKIA" + "ZV4M8PQ2HT6XLC3J"  # stored before its rule was known
FORGOTTEN = "deploys on Fridays"
IMPORTED = 200  # facts of the document that is imported
SAMPLE = 21  # cells that run by themselves: one of each fault

Done = Callable[[Memory], bool]


@dataclass(frozen=True)
class Operation:
    """One operation: the command's words, and whether a memory shows that it was done. `of` is the memory it begins
    with, `steps` the most that it adds to history; one that `answers` may end with 1 and an answer. `gone` is a text
    of which no byte is left once it is done. It makes some `calls` to SQLite's disk that write, and as many that
    read."""

    name: str
    words: tuple[str, ...]
    done: Done = lambda memory: True
    of: str = "memory"
    answers: bool = False
    gone: str = ""
    steps: int = 1
    calls: int = 60


def _whole_backups(memory: Memory) -> int:
    return sum(not backups.verify_backup(memory.database, one.path)[1] for one in backups.find_backups(memory.database))


def _facts(memory: Memory, where: str) -> int:
    count: int = memory.database.value(f"SELECT count(*) FROM facts WHERE {where}")
    return count


OPERATIONS = (
    Operation("first open", ("init",), of="nothing", calls=260),
    Operation("migrate", ("facts",), of="older", calls=140),
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
    Operation(
        "bulk import",
        ("import", "other.json.gz", "--yes"),
        lambda memory: _facts(memory, "fact LIKE 'imported%'") == IMPORTED,
        calls=620,
    ),
    Operation(
        "import into an empty memory",
        ("import", "other.json.gz", "--yes"),
        lambda memory: _facts(memory, "fact LIKE 'imported%'") == IMPORTED,
        of="empty",
        steps=IMPORTED,
        calls=620,
    ),
    Operation(
        "purge",
        ("purge", "2", "--scrub", "all", "--yes"),
        lambda memory: _facts(memory, "id = 2") == 0,
        of="backed",
        gone=FORGOTTEN,
        calls=180,
    ),
    Operation(
        "scrub",
        ("scan-secrets", "--purge", "--yes"),
        lambda memory: memory.decisions.get(1).rationale == "by [REDACTED:AWS_KEY]",
        of="leaky",
        answers=True,
        gone=LEAKED,
        calls=160,
    ),
    Operation("backup", ("backup",), lambda memory: _whole_backups(memory) == 1, calls=220),
    Operation(
        "look at a backup",
        ("backup", "--verify"),
        lambda memory: _whole_backups(memory) == 1,
        of="backed",
        calls=110,
    ),
    Operation(
        "go back to a backup",
        ("backup", "--restore", "--yes"),
        lambda memory: _facts(memory, "fact LIKE 'later%'") == 0,
        of="backed",
    ),
    Operation("export", ("export", "out.json", "--yes"), calls=20),
    Operation("index rebuild", ("index", "rebuild")),
    Operation("scan", ("index", "documents")),
    Operation("doctor", ("doctor",), answers=True, calls=60),
    Operation("salvage", ("salvage", ".memoranda/memory.db", "--into", "new.db"), calls=340),
)
# faults that come with a certain call, the first of them and the last as a share of the operation's calls
COUNTED = dict.fromkeys(("kill", "term", "power"), (0, 1.1)) | {"eio": (0, 2), "enospc": (0, 1)}
COUNTED |= dict.fromkeys(("delete", "replace"), (0, 0.7))
# and those that are a limit: of open files, of bytes in a file
# its messages go to files, which the limit must leave room for; `test_processes.py` tries smaller ones
LIMITED = {"files": (4, 8), "size": (2_000, 150_000)}
TURNS = 6  # of each cell with a number, in the whole matrix
PLAIN = ("slow", "clock", "network", "vec0", "older app")
CLOSED = ("read-only file", "read-only folder", "no permission")
AROUND = (*CLOSED, "stale reader", "lock held", "newer schema", "log deleted")
HARMLESS = ("slow", "clock", "vec0", "stale reader", "log deleted")  # nothing may fail for them
FAULTS = (*COUNTED, *LIMITED, *PLAIN, *AROUND)

# what begins without a file of today's, or makes one, is no work for an older Memoranda
OF_TODAY = ("first open", "migrate", "salvage")
CELLS = [(fault, one) for fault in FAULTS for one in OPERATIONS if fault != "older app" or one.name not in OF_TODAY]


@pytest.fixture(scope="module")
def began(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The projects that operations begin with."""
    folder = tmp_path_factory.mktemp("began")
    for name in ("memory", "older"):
        path = path_of(folder / name)
        with Memory.open(str(path)) as memory:
            _begin(memory)
        if name == "older":
            older(str(path), 1)
    (folder / "nothing").mkdir()
    (folder / "memory" / "MEMORY.md").write_text("# Notes\n\nThe team has a dog.\n")
    _backed(folder)
    with Memory.open(str(folder / "leaky" / ".memoranda" / "memory.db")) as memory:
        memory.decisions.decide("Use S3", "buckets")
        with memory.database.write("user", "before its rule was known") as writing:
            writing.execute("UPDATE decisions SET rationale = ?", (Verbatim(f"by {LEAKED}"),))
        _back_up(memory, folder / "backups of leaky")
    Memory.open(str(folder / "empty" / ".memoranda" / "memory.db")).close()
    with Memory.open(str(folder / "other.db")) as memory:
        for number in range(IMPORTED):
            memory.facts.remember(f"imported {number} " + "at length " * (number % 7 * 10))
        for name in ("memory", "empty"):
            exporter.save_export(memory.database, str(folder / name / "other.json.gz"), compressed=True)
    return folder


def _back_up(memory: Memory, kept: Path) -> None:
    """Make a backup, and keep a copy for the memories that are copied."""
    backups.make_backup(memory.database)
    shutil.copytree(backup_folder(memory.database.path), kept)


def _backed(folder: Path) -> None:
    """A memory beside a backup, after which two facts came."""
    with Memory.open(str(folder / "backed" / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("the team is five")
        memory.facts.remember(FORGOTTEN)
        memory.facts.remember(f"Ana said: {FORGOTTEN}")
        _back_up(memory, folder / "backups of backed")
        memory.facts.remember("later 1")
        memory.facts.remember("later 2")


def _begin(memory: Memory) -> None:
    memory.facts.remember("the team is five")
    memory.facts.remember("deploys on Fridays")
    memory.decisions.decide("Use SQLite", "WAL", alternatives=["files"])
    memory.checkpoints.take_checkpoint("before")
    memory.facts.remember("later 1")
    memory.facts.remember("later 2")
    memory.facts.forget([4])


def path_of(project: Path) -> Path:
    return project / ".memoranda" / "memory.db"


Said = subprocess.CompletedProcess[str]


def run(project: Path, words: tuple[str, ...], fault: str = "none", number: int = 0) -> Said:
    without = "model,vec0" if fault == "vec0" else "model"
    environment = {"PYTHONPATH": str(ROOT), "MEMORANDA_WITHOUT": without}
    code = "import os\nfrom support import faulty\nos.umask(0)\nfaulty.main()"
    return run_program(code, fault, str(number), *words, cwd=project, env=environment, ordinary=True)


def newest(path: Path) -> tuple[int, bytes]:
    found = apsw.Connection(str(path)).execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get
    return found or (0, b"")


class Around:
    """What is done to the project before the operation, and taken back after it."""

    def __init__(self, fault: str, project: Path) -> None:
        self.fault, self.folder, self.file = fault, project / ".memoranda", path_of(project)
        self.holder: subprocess.Popen[str] | None = None
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
        elif self.fault in HOLDS:
            self.holder = begun(HOLDER, self.file, HOLDS[self.fault])
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
        if self.holder is not None:
            self.holder.communicate("\n")


# how another program takes hold of the file, and does not let go
HOLDS = {"stale reader": "BEGIN", "lock held": "BEGIN IMMEDIATE"}


# done anew whatever became of it: nothing in the memory shows it
AGAIN = ("first open", "scrub", "look at a backup", "export", "index rebuild", "scan", "doctor", "salvage")


def cell(began: Path, project: Path, fault: str, operation: Operation, number: int) -> None:
    """One fault while one operation runs, and all that must hold of it."""
    shutil.copytree(began / operation.of, project, dirs_exist_ok=True)
    file = path_of(project)
    if file.exists():
        ours(file)
    if (kept := began / f"backups of {operation.of}").exists():
        shutil.copytree(kept, backup_folder(str(file)))
    before = newest(file) if file.exists() else (0, b"")
    with Around(fault, project):
        done = run(project, operation.words, fault, number)
    if fault in ("delete", "replace"):
        _bring_back(file)

    # the message: one sentence that names cause and next step, without a secret; never a traceback
    assert "Traceback" not in done.stderr, done.stderr
    assert SECRET not in done.stdout + done.stderr and LEAKED not in done.stdout + done.stderr
    killed = done.returncode in (-9, -15)
    if fault == "stale reader" and operation.gone:  # whoever reads holds the log, and what was purged is still in it
        assert done.returncode == 4 and "Another program is reading the memory" in done.stdout, done.stdout
    elif fault in HARMLESS:
        assert done.returncode == 0 or operation.answers, done
    elif done.returncode and not killed and not operation.answers:
        assert done.returncode in (1, 4), done
        last = done.stderr.strip().split("\n")[-1]
        assert last.endswith(".") and len(last) > 30, done
    # nothing is wider than it should be, and no secret is in any file
    for path in (project / ".memoranda").rglob("*") if (project / ".memoranda").exists() else ():
        status = path.lstat()
        assert not stat.S_IMODE(status.st_mode) & 0o077, path
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    # what was there is there, what was acknowledged too, and the rest is whole or absent
    if file.exists() and file.stat().st_size:
        with Memory.open(str(file)) as memory:
            assert unsound(memory) == []
            digest = memory.database.value("SELECT digest FROM history WHERE seq = ?", (before[0],))
            assert (digest or b"") == before[1], "a step that was there is gone"
            made = (memory.database.value("SELECT max(seq) FROM history") or 0) - before[0]
            assert made in (0, operation.steps)
            if done.returncode == 0 and operation.of != "nothing" and fault not in ("delete", "replace"):
                assert operation.done(memory), "acknowledged, and not there"
            finished = operation.done(memory)
    else:
        finished = False
    # and it can be finished
    if not finished or operation.name in AGAIN:
        (project / "new.db").unlink(missing_ok=True)
        again = run(project, operation.words)
        assert again.returncode == 0, again
        with Memory.open(str(file)) as memory:
            assert operation.done(memory) and unsound(memory) == []
    if operation.gone:  # what a purge left pending, the next command that reads finishes
        assert run(project, ("timeline",)).returncode == 0
        assert traces(project, operation.gone) == []
    assert [path.name for path in project.rglob("*.scratch")] == [], "what was cut off lies about"


def _bring_back(file: Path) -> None:
    """What was moved away is the memory; what was made in its place is nobody's."""
    if os.path.exists(f"{file}.away"):
        for ending in ("", "-wal", "-shm"):
            Path(f"{file}{ending}").unlink(missing_ok=True)
            if os.path.exists(f"{file}{ending}.away"):
                os.rename(f"{file}{ending}.away", f"{file}{ending}")


def _sampled() -> list[tuple[str, Operation]]:
    """The cells of a run of all tests: each fault and each operation a few times."""
    dice = random.Random(1)
    cells = CELLS.copy()
    dice.shuffle(cells)
    chosen, seen = [], dict[str, int]()
    for fault, operation in cells:
        if seen.get(fault, 0) < -(-SAMPLE // len(FAULTS)):
            seen[fault] = seen.get(fault, 0) + 1
            chosen.append((fault, operation))
    return sorted(chosen, key=lambda one: CELLS.index(one))


def _numbers(fault: str, operation: Operation, dice: random.Random, count: int) -> list[int]:
    """When it happens, `count` times; once, if it is there from the start."""
    if fault in LIMITED:
        return [dice.randint(*LIMITED[fault]) for _ in range(count)]
    if fault not in COUNTED:
        return [0]
    first, last = COUNTED[fault]
    return [1 + round(dice.uniform(first, last) * operation.calls) for _ in range(count)]


def _named(cells: list[tuple[str, Operation]]) -> dict[str, object]:
    return {"argvalues": cells, "ids": [f"{fault}, {operation.name}" for fault, operation in cells]}


@pytest.mark.parametrize("fault, operation", **_named(_sampled()))
def test_a_sample_of_the_matrix(began: Path, tmp_path: Path, seed: int, fault: str, operation: Operation):
    (number,) = _numbers(fault, operation, random.Random(seed), 1)
    print(f"number {number}")  # pytest shows it when the test fails
    cell(began, tmp_path, fault, operation, number)


@pytest.mark.faults
@pytest.mark.parametrize("fault, operation", **_named(CELLS))
def test_the_whole_matrix(began: Path, tmp_path: Path, seed: int, fault: str, operation: Operation):
    """Each cell; of the faults that come with a certain call, at some of them."""
    for turn, number in enumerate(_numbers(fault, operation, random.Random(seed), TURNS)):
        print(f"number {number}")
        cell(began, tmp_path / str(turn), fault, operation, number)
