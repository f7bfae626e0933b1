"""A purge in bad company: a reader that holds the log, a disk without room, kill -9 between any two of its stages."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.children import holding
from support.forks import run_command, run_program
from support.guarded import GuardedHome
from support.ours import ours
from support.soundness import unsound
from support.traces import traces

from store.base.errors import StorageError
from store.base.location import backup_folder
from store.conversations.turns import NewTurn
from store.database.tombstones import is_purge_pending
from store.memory import Memory
from store.upkeep import maintenance

ROOT = Path(__file__).parents[2]
TEXT = "the blue zebrafish is the hint"
DISK_SIZE = "2400k"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a memory of three facts, the second of which is to go, and a backup of it."""
    project = tmp_path / "project"
    project.mkdir()
    fill(project)
    return project


def fill(project: Path) -> None:
    with Memory.open(path_of(project)) as memory:
        memory.facts.remember("the team is five")
        memory.facts.remember(TEXT)
        memory.facts.remember(f"he said {TEXT}")
        memory.search.log.add_query("the blue zebrafish")


def fill_backups(project: Path) -> dict[str, bytes]:
    """Backups of each kind, and the bytes of those that hold nothing of what is to go: taken before it was said, when
    somebody only quoted it, and twice when all of it stood there."""
    folder = project / ".memoranda" / "backups"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)

    def take(name: str) -> None:
        shutil.copy(path_of(project), folder / name)  # closed: all of it is in the one file
        (folder / name).chmod(0o600)

    with Memory.open(path_of(project)) as memory:
        memory.facts.remember("the team is five")
    take("nothing.db")
    with Memory.open(path_of(project)) as memory:
        memory.turns.add_turns("s", [NewTurn("user", f"Write down: {TEXT}, and the hint is for Zarahemla")])
        memory.checkpoints.take_checkpoint("about zebrafish")
        memory.search.log.add_query("zebraf")
    take("quoted.db")
    with Memory.open(path_of(project)) as memory:
        memory.facts.remember(TEXT)
        memory.facts.remember(f"he said {TEXT}")
        memory.search.log.add_query("the blue zebrafish")
    take("1.db")
    take("2.db")
    return {"nothing.db": (folder / "nothing.db").read_bytes()}


def path_of(project: Path) -> str:
    return str(project / ".memoranda" / "memory.db")


def command(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=project)


def intact(project: Path) -> None:
    with Memory.open(path_of(project)) as memory:
        assert memory.facts.get(1).fact == "the team is five"
        assert unsound(memory) == []


FINISHING = (("facts",), ("doctor",), ("timeline",), ("show", "F#1"))


@pytest.mark.parametrize("words", FINISHING, ids=lambda words: words[0])
def test_a_reader_holds_the_log(tmp_path: Path, words: tuple[str, ...]):
    """The records are gone at once, from the backups too; it says that the bytes are pending and why, and fails. The
    next command, whichever it is, ends it by itself once the reader has let go, and the proof tells one from the
    other. A backup that holds nothing keeps every byte."""
    project = tmp_path
    kept = fill_backups(project)
    with holding(path_of(project)):
        done = command(project, "purge", "2", "--yes")
        assert done.returncode == 4 and "Erased 1 record with all old versions." in done.stdout, done
        assert "Pending: Another program is reading the memory" in done.stdout
        assert "not found." not in done.stdout and "memory.db: raw" in done.stdout
        assert traces(project / ".memoranda" / "backups", TEXT, "zebraf") == []
        if words == FINISHING[0]:
            assert command(project, "show", "F#2").returncode == 1
            looked = command(project, "verify-forgotten", TEXT)
            assert looked.returncode == 4 and "FOUND   memory.db  " in looked.stdout
            assert "Erasing is not finished" in looked.stdout
            search = command(project, "search", "zebrafish", "--keywords")
            assert "Erasing is not finished" in search.stderr
            assert search.stdout.startswith("No record contains “zebrafish”.\n0 found in"), search
        assert traces(project, TEXT) != [], "the test needs something to find"
    done = command(project, *words)
    assert done.returncode == 0 and "purge" not in done.stderr, done
    assert "Look at the disk" not in done.stdout and ("finished now" in done.stdout) == (words == ("doctor",))
    assert traces(project, TEXT, "zebraf") == []
    looked = command(project, "verify-forgotten", TEXT)
    assert looked.returncode == 0 and looked.stdout.startswith("No trace of it in ")
    unchanged(project, kept)
    intact(project)


def unchanged(project: Path, kept: dict[str, bytes]) -> None:
    """No backup is gone, and those that held nothing have the bytes that they had."""
    folder = project / ".memoranda" / "backups"
    assert sorted(path.name for path in folder.iterdir()) == ["1.db", "2.db", "nothing.db", "quoted.db"]
    assert {name: (folder / name).read_bytes() for name in kept} == kept


def test_an_application_that_stays_open_finishes_it(project: Path):
    """What the app does every few seconds, once the reader is gone."""
    with Memory.open(path_of(project), "app") as memory:
        with holding(path_of(project)):
            plan = memory.purge.plan([("fact", 2)])
            done = memory.purge.run_plan(plan, range(len(plan.places)))
            assert done.finished.pending and is_purge_pending(memory.database)
            maintenance.clean_up_memory(memory)
            assert is_purge_pending(memory.database)
        assert maintenance.is_cleanup_due(memory)
        maintenance.clean_up_memory(memory)
        assert not maintenance.is_cleanup_due(memory)
        assert traces(project, TEXT, "zebrafish") == []


# a full disk --------------------------------------------------------------------------------------------------------


def stuff(disk: Path) -> None:
    """Leave no byte of room."""
    with contextlib.suppress(OSError), (disk / "fill").open("ab", buffering=0) as file:
        while file.write(b"x" * 512):
            pass


def test_forgetting_works_on_a_full_disk(small_disk: Path):
    """Nothing can be written, yet a purge goes through with the room of the ballast, which is there again later."""
    fill(small_disk)
    ballast = Path(f"{path_of(small_disk)}-ballast")
    assert ballast.stat().st_size == 128 << 10
    stuff(small_disk)
    assert "is full" in command(small_disk, "remember", "more").stderr
    done = command(small_disk, "purge", "2", "--scrub", "all", "--yes")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "Erased 1 record with all old versions." in done.stdout and "bytes: not found." in done.stdout
    assert not ballast.exists()
    assert traces(small_disk / ".memoranda", TEXT, "zebrafish") == []
    (small_disk / "fill").unlink()
    (small_disk / "fill").write_bytes(b"x" * 100_000)
    assert command(small_disk, "timeline").returncode == 0
    assert ballast.stat().st_size == 128 << 10
    intact(small_disk)


def test_an_open_memory_forgets_on_a_full_disk(small_disk: Path):
    """The application was open when the disk filled up: forgetting and purging go through, remembering says why not."""
    fill(small_disk)
    for act in ("forget", "purge"):
        with Memory.open(path_of(small_disk), "app") as memory:
            maintenance.clean_up_memory(memory)
            ballast = Path(f"{path_of(small_disk)}-ballast")
            assert ballast.exists()
            stuff(small_disk)
            with pytest.raises(StorageError, match="is full; nothing was lost"):
                memory.facts.remember("more " * 3000)
            if act == "forget":
                memory.facts.forget([3])
                assert memory.facts.get(3).status == "forgotten"
            else:
                plan = memory.purge.plan([("fact", 2)])
                memory.purge.run_plan(plan, range(len(plan.places)))
            assert not ballast.exists()
        (small_disk / "fill").unlink()
    assert command(small_disk, "timeline").returncode == 0
    assert traces(small_disk / ".memoranda", TEXT, "zebrafish") == []
    intact(small_disk)


def test_without_its_ballast_a_full_disk_says_so(small_disk: Path):
    fill(small_disk)
    os.unlink(f"{path_of(small_disk)}-ballast")
    stuff(small_disk)
    done = command(small_disk, "purge", "2", "--yes")
    assert (done.returncode, done.stdout) == (1, "") and "is full; nothing was lost." in done.stderr
    (small_disk / "fill").unlink()
    intact(small_disk)


# killed -------------------------------------------------------------------------------------------------------------

# the stages, each by the function that a kill strikes just before: in the transaction, before the backups, in the first
# and just before it takes its place, before and after the index, the log, the note
STAGES = {
    "store.purge.row_eraser.mask_record_history": "old",
    "store.purge.row_eraser.scrub_row": "old",
    "store.purge.cleanup.save_cleanup_note": "old",
    "store.purge.cleanup.clean_up_after_purge": "new",
    "store.database.tombstones.make_tombstone_test": "new",
    "store.purge.cleanup._rewrite_backup": "new",
    "store.purge.cleanup.publish_file": "new",
    "store.purge.cleanup.seal_backup": "new",
    "store.purge.cleanup.merge_search_index": "new",
    "store.database.database.Database.checkpoint_wal": "new",
}
KILLED = """
import importlib, os, signal, sys
from store.memory import Memory
import store.purge.purge
path, stage = sys.argv[1:]
owner, _, name = stage.rpartition(".")
try:
    place = importlib.import_module(owner)
except ModuleNotFoundError:
    module, _, kind = owner.rpartition(".")
    place = getattr(importlib.import_module(module), kind)
struck = getattr(place, name)
for holder in (place, *sys.modules.values()):  # wherever the function was imported to
    if getattr(holder, name, None) is struck:
        setattr(holder, name, lambda *arguments, **named: os.kill(os.getpid(), signal.SIGKILL))
with Memory.open(path) as memory:
    plan = memory.purge.plan([("fact", 2)])
    memory.purge.run_plan(plan, range(len(plan.places)))
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("stage", STAGES)
def test_killed_in_each_stage(tmp_path: Path, stage: str):
    """Old or new, never a blend; and after what was committed the next command finishes it, in the backups that hold
    it or quote it too, and in no other: those keep every byte."""
    project = tmp_path
    kept = fill_backups(project)
    done = run_program(KILLED, path_of(project), stage)
    assert done.returncode == -signal.SIGKILL
    after = json.loads(command(project, "facts", "--json").stdout)
    if STAGES[stage] == "old":
        assert [fact["fact"] for fact in after][1:] == [TEXT, f"he said {TEXT}"]
        assert "Erased 1 record with all old versions." in command(project, "purge", "2", "--yes").stdout
    else:
        assert [fact["fact"] for fact in after] == ["the team is five", "he said [purged]"]
    assert traces(project, TEXT, "zebraf") == []
    looked = command(project, "verify-forgotten", TEXT)
    assert looked.returncode == 0, looked.stdout
    backups = project / ".memoranda" / "backups"
    unchanged(project, kept)
    for name in ("1.db", "2.db", "quoted.db"):
        ours(backups / name)
    for name in ("1.db", "2.db"):
        with Memory.open(str(backups / name)) as backup:
            assert [fact.fact for fact in backup.facts.get_many([1, 2, 3])] == ["the team is five", "he said [purged]"]
    with Memory.open(str(backups / "quoted.db")) as backup:
        assert backup.turns.get(1).text == "Write down: [purged], and the hint is for Zarahemla"
        assert backup.checkpoints.get(1).name == "about [purged]" and backup.search.log.recent_queries() == []
    intact(project)


@pytest.mark.parametrize(
    "stage", ["store.purge.file_eraser.cut_from_documents", "store.documents.files._exchange_names"]
)
def test_killed_while_a_file_is_cut(project: Path, stage: str):
    """The person's file is whole, old or new; the record is gone, and what the index has of the file is made again."""
    notes = project / "MEMORY.md"
    notes.write_text(f"# Notes\n\nGood. {TEXT} Bye.\n")
    assert command(project, "index", "documents").returncode == 0
    done = run_program(KILLED, path_of(project), stage)
    assert done.returncode == -signal.SIGKILL
    assert notes.read_text() == f"# Notes\n\nGood. {TEXT} Bye.\n"
    assert command(project, "timeline").returncode == 0
    looked = json.loads(command(project, "verify-forgotten", TEXT, "--json").stdout)
    assert looked["records"] == ["MEMORY.md#L3"]
    notes.write_text("# Notes\n")
    assert command(project, "timeline").returncode == 0
    assert command(project, "verify-forgotten", TEXT).returncode == 0
    intact(project)


def test_killed_before_guard_is_cut(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The next command cuts the words out of what guard keeps, unless they were to stay there."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = GuardedHome(tmp_path / "home")
    home.write("notes.md", f"Good. {TEXT} Bye.\n")
    home.look()
    home.write("notes.md", "Good. Bye.\n")
    home.look(30)
    stage = "store.tools.guard_database.cut_from_versions"
    done = run_program(KILLED, path_of(project), stage)
    assert done.returncode == -signal.SIGKILL
    assert home.shown(1) == [f"-1 Good. {TEXT} Bye.", "+0 Good. Bye."]
    assert command(project, "remember", "anything").returncode == 0
    assert home.shown(1) == ["-1 Good.", "+0 Good. Bye."]
    assert command(project, "verify-forgotten", TEXT).returncode == 0
    intact(project)


CUT_OFF = """
import os, signal, sys, apsw
from store.database.schema import register_functions
connection = apsw.Connection(sys.argv[1])
register_functions(connection)
connection.pragma("cache_size", 1)
connection.execute("BEGIN")
connection.execute("UPDATE facts SET fact = fact || hex(randomblob(10000))")
connection.execute("UPDATE history_row SET salt = randomblob(9000)")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_backup_whose_rewriting_was_cut_off(project: Path):
    """Its journal lies beside it: it is rolled back first, and the purge reaches it like any other."""
    assert command(project, "backup").returncode == 0
    folder = Path(backup_folder(path_of(project)))
    (made,) = folder.iterdir()
    subprocess.run([sys.executable, "-c", CUT_OFF, str(made)], cwd=ROOT, check=False)
    assert sorted(path.name for path in folder.iterdir()) == [made.name, f"{made.name}-journal"]
    done = command(project, "purge", "2", "--scrub", "all", "--yes")
    assert done.returncode == 0 and "bytes: not found." in done.stdout, done
    assert traces(project, TEXT, "zebrafish") == traces(folder, TEXT, "zebrafish") == []
    with Memory.open(str(made)) as backup:
        assert [fact.fact for fact in backup.facts.get_many([1, 2, 3])] == ["the team is five", "he said [purged]"]
    intact(project)
