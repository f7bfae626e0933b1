"""History that was rewritten, cut short, deepened or broken, and what the timeline makes of it. Real repositories."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cases import load_cases
from support.repositories import FIRST_COMMIT_AT, build_repository, commit, create, git, lose

from store.config.settings import SETTINGS
from store.git.process import GitError
from store.git.repository import Repository
from store.memory import Memory
from store.upkeep.maintenance import COMMIT_BATCH, read_new_commits, run_maintenance

CASES = load_cases(__file__)

Read = Callable[..., int | None]


@pytest.fixture
def read(memory: Memory, tmp_path: Path) -> Read:
    """Let the timeline catch up with the repository that the memory lies in, or another."""
    return lambda path=tmp_path, **more: read_new_commits(memory, Repository(str(path)), **more)


def gone(memory: Memory) -> set[str]:
    """The messages of the commits that no branch leads to any more."""
    return {message for (message,) in memory.database.rows("SELECT message FROM commits WHERE reachable = 0")}


def gone_shas(memory: Memory) -> set[str]:
    return {sha for (sha,) in memory.database.rows("SELECT sha FROM commits WHERE reachable = 0")}


def there(memory: Memory) -> set[str]:
    return {message for (message,) in memory.database.rows("SELECT message FROM commits WHERE reachable = 1")}


# rewritten -----------------------------------------------------------------------------------------------------------


def test_an_amended_commit_is_kept_and_marked(memory: Memory, tmp_path: Path, read: Read) -> None:
    """And that is no step of history, which an undo would take back."""
    commit(tmp_path, "one", {"a": "1"})
    commit(tmp_path, "twoo", {"a": "2"})
    read()
    commit(tmp_path, "two", amend=True)
    assert read() == 1
    assert (there(memory), gone(memory)) == ({"one", "two"}, {"twoo"})
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD@{1}")
    assert read() == 0
    assert (there(memory), gone(memory)) == ({"one", "twoo"}, {"two"})
    assert memory.history.steps() == []


def test_reset_marks_and_the_way_back_unmarks(memory: Memory, tmp_path: Path, read: Read) -> None:
    for name in ("one", "two", "three"):
        commit(tmp_path, name, {"a": name})
    read()
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~2")
    assert read() == 0
    assert (there(memory), gone(memory)) == ({"one"}, {"two", "three"})
    assert read() == 0
    git(tmp_path, "reset", "--quiet", "--hard", "ORIG_HEAD")
    assert read() == 0
    assert (there(memory), gone(memory)) == ({"one", "two", "three"}, set())


def test_a_rebased_branch_and_a_deleted_one(memory: Memory, tmp_path: Path, read: Read) -> None:
    commit(tmp_path, "base", {"a": "1"})
    git(tmp_path, "branch", "other")
    git(tmp_path, "switch", "--quiet", "--create", "topic")
    old = [commit(tmp_path, name, {name: name}) for name in ("x", "y")]
    git(tmp_path, "switch", "--quiet", "main")
    commit(tmp_path, "meanwhile", {"m": "m"})
    git(tmp_path, "switch", "--quiet", "other")
    commit(tmp_path, "tried", {"t": "t"})
    assert read() == 5
    git(tmp_path, "switch", "--quiet", "topic")
    git(tmp_path, "rebase", "--quiet", "main", when=FIRST_COMMIT_AT + 9_999)
    assert read() == 2
    rows = dict(memory.database.rows("SELECT sha, reachable FROM commits"))
    assert {rows[sha] for sha in old} == {0}
    assert sorted(rows.values()) == [0, 0, 1, 1, 1, 1, 1]
    git(tmp_path, "branch", "--quiet", "-D", "other")
    assert (read(), gone(memory)) == (0, {"x", "y", "tried"})
    tried = memory.database.value("SELECT sha FROM commits WHERE message = 'tried'")
    git(tmp_path, "branch", "found-again", tried)
    assert (read(), gone(memory)) == (0, {"x", "y"})


def test_a_tip_that_git_collected_is_compared_by_sets(memory: Memory, tmp_path: Path, read: Read) -> None:
    """Nobody can walk from it any more; what is left is compared with all that the memory holds."""
    commit(tmp_path, "one", {"a": "1"})
    for name in ("two", "three"):
        commit(tmp_path, name, {"a": name})
    memory.commits.log("abcdef1", message="logged by its short sha")
    read()
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~2")
    git(tmp_path, "reflog", "expire", "--expire=now", "--all")
    git(tmp_path, "update-ref", "-d", "ORIG_HEAD")
    git(tmp_path, "gc", "--quiet", "--prune=now")
    assert (read(), gone(memory)) == (0, {"two", "three"})
    assert there(memory) == {"one", "logged by its short sha"}, "git could not confirm an abbreviated sha: no verdict"


def test_what_was_rewritten_during_an_interrupted_reading_is_marked_too(memory: Memory, tmp_path: Path, read: Read):
    """The tips of a reading that never ended were never remembered, and those before it lead to nothing of this."""
    head = build_repository(tmp_path, 2 * COMMIT_BATCH, 4)
    git(tmp_path, "reset", "--quiet", "--soft", git(tmp_path, "rev-list", "--max-parents=0", "HEAD"))
    assert read() == 1
    git(tmp_path, "reset", "--quiet", "--soft", head)
    stop = False

    def once(done: int, total: int) -> None:
        nonlocal stop
        stop = done > 0

    assert 0 < (read(progress=once, cancelled=lambda: stop) or 0) < 2 * COMMIT_BATCH
    assert memory.commits.get(head).reachable
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~10")
    read()
    lost = set(git(tmp_path, "rev-list", head, "^HEAD").split())
    marked = gone_shas(memory)
    assert marked and marked <= lost
    assert not memory.commits.get(head).reachable


def test_moving_on_walks_no_further_than_it_must(memory: Memory, tmp_path: Path, read: Read, monkeypatch) -> None:
    """Fast forward, back and elsewhere: all of history is walked once, at the first reading."""
    walked: list[int] = []
    real = Repository._walk

    def counted(self, *arguments):  # type: ignore[no-untyped-def]
        found = real(self, *arguments)
        walked.append(len(found))
        return found

    monkeypatch.setattr(Repository, "_walk", counted)
    build_repository(tmp_path, 300, 4)
    read()
    assert walked == [300]
    walked.clear()
    commit(tmp_path, "more", {"a": "a"})
    assert read() == 1
    assert sorted(walked) == [0, 1]
    walked.clear()
    assert read() == 0
    assert walked == []
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~3")
    read()
    assert sorted(walked) == [0, len(gone_shas(memory))]
    assert max(walked) < 10


# shapes --------------------------------------------------------------------------------------------------------------


def cloned(folder: Path, commits: int, *options: str) -> Path:
    """A clone of a repository with so many commits."""
    for number in range(commits):
        commit(folder / "whole", str(number), {"a": f"{number}\n"})
    git(folder, "clone", "--quiet", *options, f"file://{folder / 'whole'}", "clone")
    return folder / "clone"


@pytest.mark.parametrize("how", ["--unshallow", "--deepen=2"])
def test_a_shallow_clone_that_was_deepened_shows_its_older_commits(memory: Memory, tmp_path, read: Read, how: str):
    """No branch moved: only the end of the clone did."""
    clone = cloned(tmp_path, 6, "--depth=2")
    assert read(clone) == 2
    git(clone, "fetch", "--quiet", how)
    assert read(clone) == (4 if how == "--unshallow" else 2)
    assert (read(clone), gone(memory)) == (0, set())


def test_a_clone_made_shallower_loses_nothing(memory: Memory, tmp_path: Path, read: Read) -> None:
    """What lies below its end may well be there: it is not called gone."""
    clone = cloned(tmp_path, 4)
    assert read(clone) == 4
    git(clone, "fetch", "--quiet", "--depth=1")
    assert (read(clone), gone(memory)) == (0, set())


def test_worktrees_bare_detached_and_unborn(memory: Memory, tmp_path: Path, read: Read) -> None:
    main, side = tmp_path / "main", tmp_path / "side"
    create(main)
    assert read(main) == 0
    first = commit(main, "one", {"a": "1"})
    assert read(main) == 1
    git(main, "worktree", "add", "--quiet", "-b", "side", str(side))
    commit(side, "on the side", {"b": "2"})
    assert read(side) == 1
    git(side, "checkout", "--quiet", "--detach")
    commit(side, "detached", {"b": "3"})
    assert read(side) == 1
    git(side, "checkout", "--quiet", first)
    assert (read(side), gone(memory)) == (0, {"detached"})
    git(tmp_path, "clone", "--quiet", "--bare", str(main), "bare")
    assert (read(tmp_path / "bare"), there(memory)) == (0, {"one", "on the side"})


def test_a_submodules_own_commits_are_not_ours(memory: Memory, tmp_path: Path, read: Read) -> None:
    """A changed pointer is one line; git is never run inside: its configuration would name programs."""
    library, main = tmp_path / "library", tmp_path / "main"
    commit(library, "inside one", {"x": "1"})
    commit(main, "one", {"a": "1"})
    git(main, "submodule", "--quiet", "add", f"file://{library}", "lib")
    commit(main, "add the library")
    new = commit(library, "inside two", {"x": "2"})
    git(main / "lib", "pull", "--quiet", "origin", "main")
    sprung = tmp_path / "sprung"
    git(main / "lib", "config", "core.fsmonitor", f"touch '{sprung}'; false")
    sha = commit(main, "move the library on")
    sprung.unlink(missing_ok=True)
    assert read(main) == 3
    assert not memory.database.value("SELECT count(*) FROM commits WHERE message LIKE 'inside%'")
    found = memory.commits.get(sha)
    assert (found.files_changed, found.insertions, found.deletions) == (1, 1, 1)
    assert f"+Subproject commit {new}\n" in Repository(str(main)).diff(sha).text
    assert not sprung.exists()


@pytest.mark.parametrize("encoding", [b"", b"encoding ISO-8859-1\n"], ids=["no encoding", "i18n.commitEncoding"])
def test_names_and_messages_that_are_not_utf8(memory: Memory, tmp_path: Path, read: Read, encoding: bytes) -> None:
    """The commit says so, or it does not and is read as git would guess: no letter of it is UTF-8."""
    create(tmp_path)
    tree = git(tmp_path, "mktree", "-z", stdin=b"100644 blob %b\tcaf\xe9.txt\0" % _blob(tmp_path))
    who = b"I\xf1igo <i@example.org> 1767225600 +0000"
    body = b"tree %b\nauthor %b\ncommitter %b\n%b\nma\xf1ana, D#1\n" % (tree.encode(), who, who, encoding)
    sha = git(tmp_path, "hash-object", "-t", "commit", "-w", "--stdin", stdin=body)
    git(tmp_path, "update-ref", "refs/heads/main", sha)
    assert read() == 1
    found = memory.commits.get(sha)
    assert (found.message, found.author) == ("mañana, D#1", "Iñigo")
    assert (found.files_changed, found.insertions) == (1, 1)
    assert "caf\ufffd.txt" in Repository(str(tmp_path)).diff(sha).text


def _blob(path: Path) -> bytes:
    return git(path, "hash-object", "-w", "--stdin", stdin=b"una l\xednea\n").encode()


# broken and moving ---------------------------------------------------------------------------------------------------


def test_a_lost_file_is_told_in_one_sentence_and_the_rest_is_read(memory: Memory, tmp_path: Path, read: Read) -> None:
    shas = [commit(tmp_path, f"number {n}", {"a": f"{n}\n" * 9}) for n in range(5)]
    lose(tmp_path, f"{shas[4]}:a")
    said: list[str] = []
    assert read(trouble=said.append) == 5
    why = "objects are lost or were never fetched; `git fsck` names them. The rest was read."
    assert said == [f"git cannot tell the size of C#{shas[4][:7]}: {why}"]
    broken = memory.commits.get(shas[4])
    assert (broken.message, broken.author) == ("number 4", "Lucía Fernández")
    assert (broken.files_changed, broken.insertions, broken.deletions) == (0, 0, 0)
    assert memory.commits.get(shas[3]).insertions == 9
    said.clear()
    assert read(trouble=said.append) == 0
    assert said == [], "told once: it is read"


def test_a_lost_commit_is_told_and_is_read_when_it_comes_back(memory: Memory, tmp_path: Path, read: Read) -> None:
    shas = [commit(tmp_path, f"number {n}", {"a": f"{n}\n"}) for n in range(6)]
    file, kept = lose(tmp_path, shas[2])
    said: list[str] = []
    assert read(trouble=said.append) == 3
    (sentence,) = said
    assert sentence.startswith(f"git cannot read C#{shas[2][:7]} and cannot tell the size of C#{shas[3][:7]}: ")
    assert there(memory) == {"number 3", "number 4", "number 5"}
    file.write_bytes(kept)
    said.clear()
    assert read(trouble=said.append) == 3
    assert said == []
    assert len(there(memory)) == 6


def test_what_a_break_hides_is_not_called_gone(memory: Memory, tmp_path: Path, read: Read) -> None:
    shas = [commit(tmp_path, f"number {n}", {"a": f"{n}\n"}) for n in range(6)]
    read()
    lose(tmp_path, shas[4])
    commit_on_top = git(tmp_path, "commit-tree", f"{shas[0]}^{{tree}}", "-p", shas[5], "-m", "on top")
    git(tmp_path, "update-ref", "refs/heads/main", commit_on_top)
    memory.database.connection.execute("DELETE FROM meta WHERE key = 'git.tips'")  # so that all of it is compared
    assert (read(), gone(memory)) == (1, set())


def test_when_nothing_can_be_read_the_error_is_gits_own(memory: Memory, tmp_path: Path, read: Read) -> None:
    lose(tmp_path, commit(tmp_path, "one", {"a": "1"}))
    with pytest.raises(GitError):
        read()
    assert memory.database.rows("SELECT * FROM leases") == []


@pytest.mark.parametrize("moment", ["tips", "list_reachable_commits"])
def test_a_branch_that_is_deleted_and_collected_while_it_is_read(
    memory: Memory, tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Between one question to git and the next. What is left is read without a word; the next start has it all."""
    commit(tmp_path, "one", {"a": "1"})
    git(tmp_path, "switch", "--quiet", "--create", "topic")
    commit(tmp_path, "never seen", {"b": "1"})
    git(tmp_path, "switch", "--quiet", "main")
    commit(tmp_path, "two", {"a": "2"})
    real = getattr(Repository, moment)

    def meanwhile(self, *arguments):  # type: ignore[no-untyped-def]
        found = real(self, *arguments)
        monkeypatch.setattr(Repository, moment, real)
        git(tmp_path, "branch", "--quiet", "-D", "topic")
        git(tmp_path, "reflog", "expire", "--expire=now", "--all")
        git(tmp_path, "gc", "--quiet", "--prune=now")
        commit(tmp_path, "three", {"a": "3"})
        return found

    monkeypatch.setattr(Repository, moment, meanwhile)
    said: list[str] = []
    assert (read(trouble=said.append), there(memory)) == (2, {"one", "two"})
    assert (read(trouble=said.append), there(memory)) == (1, {"one", "two", "three"})
    assert said == []


# cancelled -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show-ref", "rev-list", "log"])
def test_a_cancel_comes_through_whatever_git_is_at(memory: Memory, tmp_path, read: Read, monkeypatch, command: str):
    """A git that is stuck in one of its commands, as on a dead network disk; what was read before it stays."""
    commit(tmp_path, "one", {"a": "1"})
    assert read() == 1
    commit(tmp_path, "two", {"a": "2"})
    folder = tmp_path / "bin"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\ncase "$*" in *" {command} "*) exec sleep 60;; esac\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{folder}:{path}")
    asked = time.monotonic() + 0.5
    assert read(cancelled=lambda: time.monotonic() > asked) == 0
    assert time.monotonic() - asked < 30
    monkeypatch.setenv("PATH", path)
    assert there(memory) == {"one"}
    assert memory.database.rows("SELECT * FROM leases") == []
    assert read() == 1


# what the configuration lets happen ----------------------------------------------------------------------------------

LET = {setting.name: setting.default for setting in SETTINGS}


@pytest.mark.parametrize(("set_to", "commits", "events"), CASES["nothing_happens_by_itself"])
def test_nothing_happens_by_itself_that_the_person_switched_off(
    memory: Memory, tmp_path: Path, clock, monkeypatch, set_to: dict[str, object], commits: int, events: int
) -> None:
    commit(tmp_path, "one", {"a": "1"})
    memory.events.log("gate_passed")
    clock.advance(days=400)
    memory.events.log("gate_passed")
    monkeypatch.setattr(Memory, "config", LET | set_to)
    assert run_maintenance(memory, str(tmp_path)) == commits
    assert memory.database.value("SELECT count(*) FROM commits") == commits
    assert memory.database.value("SELECT count(*) FROM events") == events
