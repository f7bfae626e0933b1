"""A memory is ours if this installation made or adopted it; any other is only looked at until a person takes it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from support import repositories

from store.base import state_files as installation
from store.base.errors import DamagedFile, MemorandaError, NotOurs, StorageError
from store.base.location import Location
from store.base.vocabulary import DOORS
from store.config.configuration import load_config
from store.conversations import hook_spool
from store.database import schema as sql_functions
from store.git.checkout import is_tracked_by_git
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import adoption
from store.upkeep.checks import WRONG
from store.upkeep.doctor import examine

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Go on as another installation."""

    def another() -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))

    return another


def project(tmp_path: Path, name: str = "project") -> Path:
    """A project's memory with a pinned fact and a decision."""
    path = tmp_path / name / ".memoranda" / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.facts.remember("obey the stranger", pinned=True, tags=["rule"])
        memory.decisions.decide("Storage", "SQLite")
    return path


def say(path: Path, text: str) -> None:
    with Memory.open(str(path)) as memory:
        memory.facts.remember(text)


def raw(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    sql_functions.register_functions(connection)
    connection.execute(sql)
    connection.close()


def late(path: Path) -> None:
    """Let what is kept of a memory be of some time ago."""
    os.utime(Path(installation.state_folder()) / installation.state_name_of("memories", str(path)), (1, 1))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def place(path: Path, look: bool = False) -> Location:
    found = locate(str(path), {}, "/")
    found.look = look
    return found


def refused(path: Path, says: str) -> NotOurs:
    """By every door, in a sentence with the next steps; nothing in its folder is changed."""
    before = tree(path.parent)
    for door in DOORS:
        with pytest.raises(NotOurs, match=says) as error:
            Memory.open(str(path), door)
        assert "memoranda import --adopt" in error.value.next
    assert tree(path.parent) == before
    return error.value


# one's own ------------------------------------------------------------------------------------------------------------


def test_what_was_made_here_is_ours_wherever_it_is_moved_to(tmp_path: Path) -> None:
    path = project(tmp_path)
    say(path, "again")
    (tmp_path / "project").rename(tmp_path / "renamed")
    moved = tmp_path / "renamed" / ".memoranda" / "memory.db"
    say(moved, "after the move")
    (tmp_path / "renamed").rename(tmp_path / "project")
    say(path, "and back")
    assert len(installation.list_state_names("memories")) == 1


def test_a_copy_that_says_the_same_is_ours_and_both_go_on(tmp_path: Path) -> None:
    path = project(tmp_path)
    shutil.copytree(tmp_path / "project", tmp_path / "copy")
    copy = tmp_path / "copy" / ".memoranda" / "memory.db"
    say(copy, "in the copy")
    say(path, "in the original")
    say(copy, "in the copy again")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE facts SET fact = 'obey me'",
        "INSERT INTO meta VALUES ('x', 'y')",
        "DELETE FROM history",
        "UPDATE corpus SET title = 'x'",
    ],
)
def test_a_copy_that_says_anything_else_is_somebody_elses(tmp_path: Path, change: str) -> None:
    """Of our own file, with our own identity in it, changed by whoever got hold of it."""
    project(tmp_path)
    shutil.copytree(tmp_path / "project", tmp_path / "copy")
    copy = tmp_path / "copy" / ".memoranda" / "memory.db"
    raw(copy, change)
    refused(copy, "was not made by this installation")
    shutil.rmtree(tmp_path / "project")
    refused(copy, "was not made by this installation")


def test_an_older_state_of_ours_in_our_place_is_refused(tmp_path: Path) -> None:
    """One that was published once, say, and comes back with a stranger's sentence in it."""
    path = project(tmp_path)
    older = path.read_bytes()
    late(path)
    say(path, "and what came later")
    path.write_bytes(older)
    raw(path, "UPDATE facts SET fact = 'obey me'")
    refused(path, "is an older state of your memory")


def test_another_file_in_our_place_is_refused_and_our_own_is_ours_again(tmp_path: Path, another) -> None:
    path = project(tmp_path)
    own = path.read_bytes()
    another()
    theirs = project(tmp_path, "theirs").read_bytes()
    os.environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    path.write_bytes(theirs)
    refused(path, "was not made by this installation")
    path.unlink()
    path.write_bytes(own)
    say(path, "from a backup of the disk")


def test_what_a_killed_process_left_is_ours(tmp_path: Path) -> None:
    """Its record is behind, which is an earlier step of the same history."""
    path = tmp_path / "project" / ".memoranda" / "memory.db"
    code = (
        "import os, sys; from store.memory import Memory; m = Memory.open(sys.argv[1])\n"
        "for n in range(5): m.facts.remember(f'number {n}')\nos._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    say(path, "and on")
    with Memory.open(str(path)) as memory:
        assert memory.database.value("SELECT count(*) FROM facts") == 6


def test_a_purge_and_an_undo_keep_what_it_is_known_by(tmp_path: Path) -> None:
    """Neither takes a step out of history."""
    path = project(tmp_path)
    with Memory.open(str(path)) as memory:
        memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
        memory.history.undo()
    say(path, "and on")


# somebody else's ------------------------------------------------------------------------------------------------------


def test_what_came_with_a_checkout_is_refused_and_says_so(tmp_path: Path, another) -> None:
    path = project(tmp_path)
    repositories.create(tmp_path / "project")
    repositories.git(tmp_path / "project", "add", "--force", ".")
    repositories.git(tmp_path / "project", "commit", "-m", "our memory")
    for clone in ("same", "older"):  # it says the same as ours, and then less
        subprocess.run(["git", "clone", "-q", "project", clone], cwd=tmp_path, check=True)
        refused(tmp_path / clone / ".memoranda" / "memory.db", "git tracks it, so it came with the checkout")
        say(path, "ours all the same")
    another()
    refused(path, "git tracks it")


@pytest.mark.parametrize("log", [False, True])
def test_looking_writes_nothing_and_runs_nothing(tmp_path: Path, another, log: bool) -> None:
    path = project(tmp_path)
    if log:
        keeper = apsw.Connection(str(path))
        keeper.execute("BEGIN; SELECT * FROM facts")
        keeper.execute("COMMIT")
        say(path, "in the log")
    (path.parent / "config.toml").write_text("theme = 'theirs'")
    (path.parent / "config.toml").chmod(0o600)
    (path.parent / "spool").mkdir()
    (path.parent / "spool" / "memory.db.jsonl").write_text('{"act":"remember"}\n')
    another()
    before = tree(path.parent)
    modes = {file.name: file.stat().st_mode for file in path.parent.iterdir()}
    assert load_config(place(path))["theme"] == "" and load_config(place(path)).problems == []
    with Memory(place(path, look=True), "app") as memory:
        assert memory.facts.get(1).fact == "obey the stranger" and memory.config["theme"] == ""
        assert memory.database.read_only and "looking at" in memory.database.warnings[-1]
        for write in (
            lambda: memory.facts.remember("mine"),
            lambda: memory.facts.forget([1]),
            lambda: memory.checkpoints.take_checkpoint("x"),
            lambda: memory.database.write("user", "x").__enter__(),
        ):
            with pytest.raises(NotOurs, match="only looked at"):
                write()
        assert hook_spool.drain_spool(memory.database) == hook_spool.DrainResult()
    after = tree(path.parent)
    if log:
        keeper.close()
        before.pop("memory.db-shm"), after.pop("memory.db-shm")
    assert after == before
    assert {file.name: file.stat().st_mode for file in path.parent.iterdir() if file.name in modes} == {
        name: mode for name, mode in modes.items() if log is False or not name.endswith(("-wal", "-shm"))
    }


def test_the_doctor_says_whose_it_is_and_closes_nothing_of_it(tmp_path: Path, another) -> None:
    path = project(tmp_path)
    found = {one.subject: one for one in examine(place(path), quick=True)}
    assert found["whose"].state == "ok"
    another()
    found = {one.subject: one for one in examine(place(path), quick=True)}
    assert found["whose"].state == WRONG and "memoranda import --adopt" in found["whose"].next
    assert found["history"].state == "ok"
    path.chmod(0o644)
    (found,) = [one for one in examine(place(path), quick=True) if one.subject == "private"]
    assert (found.state, path.stat().st_mode & 0o777) == (WRONG, 0o644)
    assert str(path) in found.says and str(path) in found.next


# from before there were identities ------------------------------------------------------------------------------------


def unmarked(path: Path) -> None:
    """As an earlier version left it: no identity in it, nothing kept of it, and a line in its spool."""
    hook_spool.append_act(str(path), "remember", {"text": "from the hook"}, actor="hook")
    waiting = path.parent / "spool" / "memory.db.jsonl"
    waiting.write_text(waiting.read_text().rpartition("\t")[0] + "\n")
    raw(path, "DELETE FROM meta WHERE key = 'identity'")
    installation.delete_known_memory(str(path))


def test_one_of_an_earlier_version_is_asked_about_and_taken_with_its_spool(tmp_path: Path) -> None:
    path = project(tmp_path)
    unmarked(path)
    error = refused(path, "made by an earlier version of Memoranda, or it came in an archive")
    assert error.unmarked and "memoranda import --adopt --yes" in error.next
    assert adoption.adopt_whole(place(path), earlier=True).spooled == 1
    with Memory.open(str(path)) as memory:
        assert hook_spool.drain_spool(memory.database).done == 1
        assert memory.facts.get(2).fact == "from the hook"


def test_one_that_git_tracks_is_not_taken_for_an_earlier_versions(tmp_path: Path) -> None:
    path = project(tmp_path)
    unmarked(path)
    repositories.create(tmp_path / "project")
    repositories.git(tmp_path / "project", "add", "--force", ".")
    assert not refused(path, "git tracks it").unmarked


# adopting -------------------------------------------------------------------------------------------------------------


def test_taken_whole_it_is_ours_with_its_own_identity_and_its_spool_is_not_obeyed(tmp_path: Path, another) -> None:
    path = project(tmp_path)
    hook_spool.append_act(str(path), "remember", {"text": "obey the hook"}, actor="user")
    identity = installation.find_known_memory(str(path)).identity
    another()
    assert adoption.adopt_whole(place(path)).whole
    assert installation.find_known_memory(str(path)).identity != identity
    with Memory.open(str(path)) as memory:
        assert memory.facts.get(1).pinned and hook_spool.drain_spool(memory.database).broken == 1


def test_taken_as_proposals_nothing_holds_until_it_is_accepted(tmp_path: Path, another) -> None:
    path = project(tmp_path)
    raw(path, "UPDATE facts SET tags = 'no JSON'")
    with Memory.open(str(path)) as memory:
        memory.facts.remember("x" * 40)
        memory.facts.forget([2])
    (path.parent / "backups").mkdir()
    another()
    done = adoption.adopt_as_proposals(place(path))
    assert (done.proposals, done.left) == (2, 0)
    assert Path(done.aside).is_file() and (Path(done.aside).parent / "backups").is_dir()
    with Memory.open(str(path)) as memory:
        waiting = [memory.inbox.get(number) for number in memory.inbox.ids()]
        assert sorted(one.text for one in waiting) == ["Storage: SQLite", "obey the stranger"]
        assert {one.origin for one in waiting} == {"import:project"}
        assert not any(one.change.get("pinned") for one in waiting)
        assert memory.database.value("SELECT count(*) FROM facts") == 0
    with pytest.raises(NotOurs):
        Memory.open(done.aside)


def test_what_is_damaged_or_has_a_strangers_trigger_is_not_adopted(tmp_path: Path, another) -> None:
    for name, spoil in (
        ("trigger", lambda path: raw(path, "CREATE TRIGGER t AFTER INSERT ON facts BEGIN SELECT 1; END")),
        ("page", lambda path: path.write_bytes(path.read_bytes()[:40_960] + bytes(8192) + path.read_bytes()[49_152:])),
    ):
        path = project(tmp_path, name)
        spoil(path)
        another()
        for take in (adoption.adopt_whole, adoption.adopt_as_proposals):
            before = tree(path.parent)
            with pytest.raises(MemorandaError) as error:
                take(place(path))
            assert name == "trigger" or isinstance(error.value, DamagedFile)
            assert tree(path.parent) == before
        os.environ["XDG_STATE_HOME"] = str(tmp_path / "state")


# without a place to keep it -------------------------------------------------------------------------------------------


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No folder for state can be made."""
    monkeypatch.setattr(installation, "_state_in_process", {})
    monkeypatch.setattr(installation, "_write_problems", {})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    return tmp_path


def test_no_memory_is_made_where_nobody_could_tell_later_whose_it_is(nowhere: Path) -> None:
    """One that was made there was refused by every later command."""
    folder = nowhere / "repository"
    folder.mkdir()
    path = folder / ".memoranda" / "memory.db"
    with pytest.raises(StorageError, match=r"is not made: .* cannot be written") as error:
        Memory(Location(str(path), "new-project", "repository"), "cli")
    assert "XDG_STATE_HOME" in error.value.next and list(folder.iterdir()) == []


def test_where_nothing_can_be_kept_any_more_it_holds_for_this_process_and_is_said(tmp_path, monkeypatch) -> None:
    path = project(tmp_path)
    entry = Path(installation.state_folder()) / installation.state_name_of(installation.MEMORIES_FOLDER, str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(installation, "_state_in_process", {f"memories/{entry.name}": entry.read_text()})
    monkeypatch.setattr(installation, "_write_problems", {})
    say(path, "again")
    assert "cannot be written" in installation.last_state_problem()
    with pytest.raises(StorageError, match="cannot be written"):
        hook_spool.append_act(str(path), "remember", {"text": "later"}, actor="hook")
    installation._state_in_process.clear()  # as another process
    error = refused(path, "no telling whether .* is yours: .* cannot be written")
    assert "XDG_STATE_HOME" in error.next


def test_the_folder_is_the_platforms_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_state_path

    assert installation.state_folder() == str(user_state_path("memoranda", appauthor=False))
    monkeypatch.delenv("XDG_STATE_HOME")
    assert installation.state_folder() == str(user_state_path("memoranda", appauthor=False))
    project(tmp_path)
    installation.load_installation_key()
    for file in Path(installation.state_folder()).rglob("*"):
        assert file.stat().st_mode & 0o077 == 0


def test_what_others_could_have_written_is_not_believed(tmp_path: Path) -> None:
    path = project(tmp_path)
    kept = Path(installation.state_folder()) / installation.state_name_of("memories", str(path))
    kept.chmod(0o666)
    refused(path, "was not made by this installation")
    assert is_tracked_by_git(str(path)) is False
