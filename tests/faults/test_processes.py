"""Several processes on one memory, and places that take no write: all works, or says in a sentence why it does not.

The full disk is the process's own limit on the size of a file: past it a write fails as on a disk without room, for
SQLite and for us. Where this machine lets us mount one, a real full disk is filled too.
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import children
from support.children import begun, tell
from support.commands import COMMAND
from support.faulty import limited
from support.forks import run_command, run_program
from support.repositories import create
from support.soundness import unsound
from support.waiting import lined_up, until

from store.base.errors import StorageError
from store.memory import Memory

ROOT = Path(__file__).parents[2]
SECONDS = 3.0
WRITERS = 4
DISK_SIZE = "1800k"

# writes as fast as it can until the time is up; says what it wrote, and every error whatever it is
WRITER = """
import json, sys, time
from store.memory import Memory
path, name, seconds = sys.argv[1:]
wrote, errors, waits = 0, [], []
with Memory.open(path) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        started = time.monotonic()
        try:
            number, _ = memory.facts.remember(f"writer {name} says {wrote}")
            if wrote % 5 == 4:
                memory.facts.correct(number, f"writer {name} says {wrote} anew")
            if wrote % 7 == 6:
                memory.decisions.decide(f"{name} {wrote}", "yes")
            wrote += 1
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
        waits.append(time.monotonic() - started)
print(json.dumps({"wrote": wrote, "errors": errors, "longest": max(waits)}))
"""
# reads as fast as it can; each look is of one moment, so what it sees only grows
READER = """
import json, sys, time
from store.memory import Memory
path, seconds = sys.argv[1:]
looks, seen, errors = 0, 0, []
with Memory.open(path) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        try:
            now = memory.now
            counts = memory.facts.count_by_state(now)
            total = counts["active"] + counts["superseded"]
            if total < seen:
                errors.append(f"saw {total} after {seen}")
            seen = total
            newest = memory.facts.get_many(memory.facts.ids(now, sort="newest", limit=20))
            if newest and not memory.search(newest[0].fact).hits:
                errors.append(f"{newest[0].fact} is in the list and not found")
            list(memory.timeline.stream(limit=20))
            memory.history.steps(limit=20)
            looks += 1
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
print(json.dumps({"looks": looks, "seen": seen, "errors": errors}))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a memory in it, which holds one fact, one decision and one checkpoint."""
    project = tmp_path / "project"
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("the team is five")
        memory.decisions.decide("Use SQLite", "WAL")
        memory.checkpoints.take_checkpoint("before")
    return project


def path_of(project: Path) -> str:
    return str(project / ".memoranda" / "memory.db")


def command(project: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in the project; with options the installed one."""
    if not options:
        return run_command(*words, cwd=project)
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([COMMAND, *words], cwd=project, text=True, check=False, **options)


def intact(project: Path) -> None:
    """What the fixture wrote is there, and the file is sound."""
    with Memory.open(path_of(project)) as memory:
        assert memory.facts.get(1).fact == "the team is five"
        assert memory.decisions.get(1).chosen == "WAL"
        assert unsound(memory) == []


def reads(project: Path, *every: str) -> None:
    """Somebody without root's rights may read what they like."""
    for words in every:
        done = run_command(*words.split(), cwd=project, ordinary=True)
        assert (done.returncode, done.stderr) == (0, ""), words


def writes(project: Path) -> None:
    assert run_command("remember", "x", cwd=project, ordinary=True).stdout == "Remembered F#2 in project.\n"
    intact(project)


def sentence(done: subprocess.CompletedProcess[str], *pieces: str) -> None:
    """The command could not, and said so in one line that holds these pieces."""
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
    for piece in pieces:
        assert piece in done.stderr


# several processes --------------------------------------------------------------------------------------------------


def test_four_writers_and_a_reader(project: Path):
    """For three seconds as fast as they can: nobody meets an error, no write is lost, nobody waits for long."""
    started = [begun(WRITER, path_of(project), str(number), str(SECONDS)) for number in range(WRITERS)]
    started.append(begun(READER, path_of(project), str(SECONDS)))
    for child in started:
        tell(child)
    *wrote, read = [json.loads(child.communicate()[0]) for child in started]
    assert [report["errors"] for report in (*wrote, read)] == [[]] * (WRITERS + 1)
    assert all(report["longest"] < 5 for report in wrote), "a writer starved"
    # SQLite's waiting is not fair: beside three that never rest, one may get few turns, but it gets them
    assert sum(report["wrote"] for report in wrote) >= 100 and min(report["wrote"] for report in wrote) >= 1
    assert read["looks"] >= 10 and read["seen"] > 1
    with Memory.open(path_of(project)) as memory:
        texts = {text for (text,) in memory.database.rows("SELECT fact FROM facts")}
        said = {f"writer {name} says {n}" for name, report in enumerate(wrote) for n in range(report["wrote"])}
        corrected = sum(report["wrote"] // 5 for report in wrote)
        assert said <= texts
        assert memory.database.value("SELECT count(*) FROM facts") == 1 + len(said) + corrected
        steps = [step.seq for step in memory.history.steps()]
        assert steps == list(range(len(steps), 0, -1))
    intact(project)


def test_what_one_process_writes_another_sees_at_once(project: Path):
    """Two that stay open and the command between them: each sees the others' last word with its next look."""
    child = begun(ECHO, path_of(project))
    assert child.stdout is not None
    with Memory.open(path_of(project)) as memory:
        for number in range(20):
            tell(child, f"the other says {number}")
            written = int(child.stdout.readline())
            assert memory.facts.get(written).fact == f"the other says {number}"
            assert memory.search(f'"other says {number}"').hits[0].citation == f"F#{written}"
            mine, _ = memory.facts.remember(f"I say {number}")
            tell(child, f"?{mine}")
            assert child.stdout.readline() == f"I say {number}\n"
        before = memory.database.data_version()
        assert command(project, "correct", "1", "the team is six").returncode == 0
        assert memory.database.data_version() != before
        assert memory.facts.get(1).status == "superseded"
        assert memory.history.undo().reason == "correct F#1", "what the command did, the open one takes back"
    child.communicate()
    assert command(project, "show", "1").stdout.startswith("F#1")
    intact(project)


def test_a_command_that_reads_takes_the_checkpoint_that_is_due(project: Path):
    """A command may be all that ever runs: a day after the memory was made a reading one takes the checkpoint of that
    day, once, in the shadow of nothing it prints; a writing one takes none, and none is taken where a person wants
    none, or while nothing happened."""
    with Memory.open(path_of(project)) as memory, memory.database.write("agent", "older") as write:
        write.execute("UPDATE meta SET value = '2026-01-01T00:00:00.000Z' WHERE key = 'created_at'")

    def taken() -> list[tuple[str, str]]:
        with Memory.open(path_of(project)) as memory:
            return [(one.level, one.trigger) for one in memory.checkpoints.list_newest_first() if one.is_automatic]

    assert command(project, "remember", "something new").returncode == 0
    assert command(project, "facts").returncode == 0 and taken() == [], "it neither searches nor looks at the timeline"
    assert command(project, "config", "checkpoints.automatic", "false").returncode == 0
    assert command(project, "timeline").returncode == 0 and taken() == []
    assert command(project, "config", "checkpoints.automatic", "true").returncode == 0
    for words in (("timeline",), ("stats",), ("search", "new")):
        done = command(project, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert taken() == [("archival", "interval")]
    with Memory.open(path_of(project)) as memory, memory.database.write("agent", "older") as write:
        write.execute("UPDATE checkpoints SET created_at = '2026-01-02T00:00:00.000Z'")
    assert command(project, "remember", "something newer").returncode == 0 and len(taken()) == 1
    assert command(project).returncode == 0 and len(taken()) == 2, "what is printed without a verb reads too"


ECHO = """
import sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    print("ready", flush=True)
    for line in sys.stdin:
        if line.startswith("?"):
            print(memory.facts.get(int(line[1:])).fact, flush=True)
        else:
            print(memory.facts.remember(line.strip())[0], flush=True)
"""


# a full disk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1_000, 20_000, 40_000])
def test_a_disk_without_room(project: Path, size):
    """From the first byte to the middle of the transaction: a sentence, exit 1, the earlier data as it was; and with
    room again the same command works."""
    for words in (("remember", "x" * 19_000), ("decide", "y" * 30_000, "--chosen", "z"), ("forget", "1")):
        done = command(project, *words, preexec_fn=limited(size))
        sentence(done, "The disk that holds ", "memory.db failed.", "nothing was changed")
        error = json.loads(command(project, *words, "--json", preexec_fn=limited(size)).stderr)["error"]
        assert error["code"] == "storage"
        assert "xxx" not in done.stderr and "yyy" not in done.stderr, "an error never quotes a record"
        intact(project)
    assert command(project, "remember", "x" * 19_000).stdout == "Remembered F#2 in project.\n"


def test_room_for_the_log_is_enough(project: Path):
    """The transaction is in the log, though it cannot be brought into the file yet: acknowledged, and there."""
    done = command(project, "remember", "one more", preexec_fn=limited(100_000))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Remembered F#2 in project.\n", "")
    assert len(json.loads(command(project, "facts", "--json").stdout)) == 2
    intact(project)


@pytest.mark.parametrize("size", [0, 1_000, 20_000, 100_000])
def test_a_new_memory_on_a_disk_without_room(tmp_path: Path, size):
    """Born later or not at all: what the first attempt left behind is in nobody's way, and git never sees it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = command(tmp_path, "remember", "the team is five", preexec_fn=limited(size))
    sentence(done, "/memoranda/")
    assert command(tmp_path, "remember", "the team is five").stdout.startswith(f"Remembered F#1 in {tmp_path.name} (")
    status = subprocess.run(["git", "-C", str(tmp_path), "status", "--short"], capture_output=True, check=True)
    assert status.stdout == b""


def test_a_long_lived_writer_meets_the_end_of_the_disk(project: Path):
    """An open memory writes until there is no more room: an error of ours, not a broken memory; it goes on reading,
    and writes again as soon as there is room."""
    done = run_program(FILL, path_of(project))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["error"] == "StorageError" and "failed" in report["said"]
    assert report["wrote"] > 5
    assert report["read"] == report["wrote"] + 1 and report["again"] == report["wrote"] + 2
    with Memory.open(path_of(project)) as memory:
        assert memory.facts.count_by_state(memory.now)["active"] == report["again"]
    intact(project)


FILL = """
import json, resource, sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
    wrote = 0
    try:
        while wrote < 1000:
            memory.facts.remember(f"{wrote} " + "long " * 3000)
            wrote += 1
        raise AssertionError("there was room for all")
    except Exception as error:
        report = {"error": type(error).__name__, "said": str(error), "wrote": wrote}
    report["read"] = memory.facts.count_by_state(memory.now)["active"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    memory.facts.remember("there is room again")
    report["again"] = memory.facts.count_by_state(memory.now)["active"]
print(json.dumps(report))
"""


def test_a_real_full_disk(small_disk: Path):
    """ENOSPC itself, in the log and in the shared memory: the message names the cause, and freeing space mends it."""
    with Memory.open(path_of(small_disk)) as memory:
        memory.facts.remember("the team is five")
        memory.decisions.decide("Use SQLite", "WAL")
    fill = os.open(small_disk / "fill", os.O_CREAT | os.O_WRONLY)
    with contextlib.suppress(OSError):
        while os.write(fill, b"x" * 1024):
            pass
    os.close(fill)
    for words in (("remember", "more"), ("checkpoint",)):
        sentence(command(small_disk, *words), "is full; nothing was lost.", "Free some space and try again.")
    forgot = command(small_disk, "forget", "1")  # with the room of the ballast
    assert (forgot.returncode, forgot.stderr) == (0, ""), forgot
    (small_disk / "fill").unlink()
    assert command(small_disk, "remember", "more").stdout == "Remembered F#2 in disk.\n"
    intact(small_disk)


# read-only ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def closed(project: Path) -> Iterator[Callable[[int, int], None]]:
    """Closes the folder and the file to these modes; opens them again at the end."""
    folder, file = project / ".memoranda", Path(path_of(project))

    def close(folder_mode: int, file_mode: int) -> None:
        file.chmod(file_mode)
        folder.chmod(folder_mode)

    yield close
    folder.chmod(0o700)
    file.chmod(0o600)


@pytest.mark.parametrize("modes", [(0o700, 0o400), (0o500, 0o600)], ids=["file", "folder"])
def test_a_file_or_a_folder_that_may_only_be_read(project: Path, closed, modes: tuple[int, int]):
    """Looking works, without a log where none can stand beside the file; writing says what is in its way, and both are
    as before when the mode is."""
    closed(*modes)
    reads(project, "facts", "search team", "show 1", "timeline", "stats", "export")
    for words in (("remember", "x"), ("forget", "1"), ("undo",), ("checkpoint",)):
        done = run_command(*words, cwd=project, ordinary=True)
        sentence(done, "may only be read.", "Look at its permissions and its folder's.")
    closed(0o700, 0o600)
    writes(project)


def test_a_file_that_may_not_even_be_read(project: Path, closed):
    for modes, says in (((0o700, 0o000), "memory.db cannot be "), ((0o000, 0o600), ".memoranda cannot be read: ")):
        closed(*modes)
        for words in (("facts",), ("remember", "x")):
            sentence(run_command(*words, cwd=project, ordinary=True), says)
        closed(0o700, 0o600)
    intact(project)


def test_a_project_where_nothing_can_be_made(tmp_path: Path):
    (tmp_path / "locked").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "locked")], check=True)
    (tmp_path / "locked").chmod(0o500)
    try:
        done = run_command("remember", "x", cwd=tmp_path / "locked", ordinary=True)
        assert done.stdout.startswith("Remembered F#1 in locked (") and os.listdir(tmp_path / "locked") == [".git"]
    finally:
        (tmp_path / "locked").chmod(0o700)


# vanished -----------------------------------------------------------------------------------------------------------


def test_a_folder_that_vanished_between_two_commands(project: Path):
    """None is begun in its place before the person says so."""
    create(project)
    command(project, "list")
    shutil.rmtree(project / ".memoranda")
    done = command(project, "remember", "x")
    assert done.returncode == 1 and done.stderr.startswith(f"The memory is gone from {path_of(project)}.")
    command(project, "open", "--new")
    assert command(project, "remember", "x").stdout == "Remembered F#1 in project (branch main).\n"


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_file_that_vanished_while_it_was_open(project: Path, tmp_path: Path, how):
    """What is written to a deleted file is lost without a word from the system: no such write is acknowledged."""
    with Memory.open(path_of(project)) as memory:
        memory.facts.remember("still there")
        if how == "moved":
            (project / ".memoranda").rename(tmp_path / "elsewhere")
        else:
            shutil.rmtree(project / ".memoranda")
        if how == "replaced":
            assert command(project, "--db", path_of(project), "remember", "another memory").returncode == 0
        for _ in range(2):
            with pytest.raises(StorageError, match="was deleted, moved or replaced while it was open here"):
                memory.facts.remember("lost")
        assert memory.facts.get(2).fact == "still there", "what is open can be read on"
    if how == "moved":
        with Memory.open(str(tmp_path / "elsewhere" / "memory.db")) as memory:
            assert memory.facts.count_by_state(memory.now)["active"] == 2
    if how == "replaced":
        with Memory.open(path_of(project)) as memory:
            assert [fact.fact for fact in memory.facts.get_many([1, 2])] == ["another memory"]


def test_a_named_folder_that_is_not_there_is_made(tmp_path: Path):
    named = tmp_path / "a" / "b" / "named.db"
    assert command(tmp_path, "--db", str(named), "remember", "x").returncode == 0
    assert named.exists()
    (tmp_path / "file").write_text("")
    sentence(command(tmp_path, "--db", str(tmp_path / "file" / "named.db"), "facts"), "cannot be ")


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux lists who waits for a lock")
def test_nobody_waits_longer_than_ten_seconds_for_a_stuck_program(project: Path, monkeypatch):
    """Another program that keeps the file busy is waited for, then named as the cause; here it lets go in time."""
    holder = begun(children.WRITER, path_of(project))
    waits = subprocess.Popen([COMMAND, "remember", "after the wait"], cwd=project, stdout=subprocess.PIPE, text=True)
    until(lambda: lined_up(path_of(project)) == 2)
    assert waits.poll() is None, "it waits"
    holder.communicate("go\n")
    assert waits.communicate()[0] == "Remembered F#2 in project.\n"


@pytest.mark.parametrize(
    ("place", "name"),
    [("file", "out.json"), ("file", "out.json.gz"), ("file", "out.md"), ("stdout", "out.json"), ("stdout", "out.md")],
)
def test_an_export_that_finds_no_room_says_one_thing(project: Path, place: str, name: str):
    """One sentence, nothing half written, and the memory as it was; the same export goes through once there is room."""
    with Memory.open(path_of(project)) as memory:
        for number in range(40):
            memory.facts.remember(f"{number} {os.urandom(6000).hex()}"[:7000])
    to = [name] if place == "file" else ["--markdown"] if name.endswith(".md") else []
    least = 60_000  # bytes: more than the index of an empty log takes, less than the export
    if place == "file":
        done = command(project, "export", *to, preexec_fn=limited(least))
        assert sorted(path.name for path in project.iterdir()) == [".memoranda"]
    else:
        with open(project / "out", "w") as out:
            done = command(project, "export", *to, stdout=out, preexec_fn=limited(least))
        done.stdout = ""
    sentence(done, "cannot be written: File too large")
    intact(project)
    assert command(project, "export", name).returncode == 0
