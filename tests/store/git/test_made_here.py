"""Which commits were made here, and which came from elsewhere."""

from pathlib import Path

from support.repositories import git

from store.git.repository import find_commits_made_here, read_head_sha
from store.memory import Memory
from store.upkeep import maintenance


def commit(root: Path, message: str) -> str:
    (root / message).write_text(message)
    git(root, "add", "--all", "--", message)
    git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD").strip()


def cloned(tmp_path: Path) -> tuple[Path, Path]:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    theirs.mkdir()
    git(theirs, "init", "-q", "-b", "main")
    commit(theirs, "Begin")
    git(tmp_path, "clone", "-q", str(theirs), str(mine))
    return theirs, mine


def test_commits_that_were_fetched_are_not(tmp_path: Path) -> None:
    theirs, mine = cloned(tmp_path)
    one = commit(mine, "Mine")
    other = commit(theirs, "Theirs")
    git(mine, "pull", "-q", "--rebase")
    moved = git(mine, "rev-parse", "HEAD").strip()
    assert find_commits_made_here(str(mine)) == {one, moved}
    assert other not in find_commits_made_here(str(mine))


def test_a_commit_of_any_checkout_was_made_here(tmp_path: Path) -> None:
    _, mine = cloned(tmp_path)
    git(mine, "worktree", "add", "-q", str(tmp_path / "w"))
    made = {str(root): commit(root, root.name) for root in (mine, tmp_path / "w")}
    for root, head in made.items():
        assert find_commits_made_here(root) == set(made.values()), "each knows of the other"
        assert read_head_sha(root) == head


def test_a_commit_of_a_worktree_that_was_removed_was_made_here(tmp_path: Path) -> None:
    """As agents leave them: merged, and their folder gone before git is read."""
    theirs, mine = cloned(tmp_path)
    other = commit(theirs, "Theirs, for D#1")
    git(mine, "worktree", "add", "-q", "-b", "agents/one", str(tmp_path / "w"))
    made = commit(tmp_path / "w", "There, for D#1")
    git(tmp_path / "w", "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    git(mine, "merge", "-q", "agents/one")
    git(mine, "worktree", "remove", str(tmp_path / "w"))
    assert made not in find_commits_made_here(str(mine)) and made in find_commits_made_here(str(mine), branches=True)
    assert other not in find_commits_made_here(str(mine), branches=True)
    with Memory.open(str(mine / ".memoranda" / "memory.db")) as memory:
        memory.decisions.decide("Queue", "One table")
        maintenance.run_maintenance(memory, str(mine))
        (link,) = memory.commits.links_of_decision(1)
        assert link.commit == f"C#{made[:7]}"


def test_a_revert_is_as_what_it_reverts(tmp_path: Path) -> None:
    theirs, mine = cloned(tmp_path)
    git(theirs, "checkout", "-q", "-b", "topic")
    commit(theirs, "Theirs, implements D#1")
    git(mine, "pull", "-q", str(theirs), "topic")
    reverted = []
    for sha in (git(mine, "rev-parse", "HEAD").strip(), commit(mine, 'Say "hello", implements D#1'), "HEAD"):
        git(mine, "revert", "--no-edit", sha)
        reverted.append(git(mine, "rev-parse", "HEAD").strip())
    assert [sha in find_commits_made_here(str(mine)) for sha in reverted] == [False, True, True]
    with Memory.open(str(mine / ".memoranda" / "memory.db")) as memory:
        memory.decisions.decide("Queue", "One table")
        maintenance.run_maintenance(memory, str(mine))
        kinds = {link.commit: link.link_type for link in memory.commits.links_of_decision(1)}
        assert kinds[f"C#{reverted[1][:7]}"] == "reverts" and f"C#{reverted[0][:7]}" not in kinds


def test_without_a_log_nothing_is_known(tmp_path: Path) -> None:
    assert find_commits_made_here(str(tmp_path)) == set()
    git(tmp_path, "init", "-q")
    commit(tmp_path, "x")
    (tmp_path / ".git" / "logs" / "HEAD").write_bytes(b"\xff broken\n\n\t\n a b c\tcommit: x\n")
    find_commits_made_here(str(tmp_path))
    (tmp_path / ".git" / "logs" / "HEAD").unlink()
    assert find_commits_made_here(str(tmp_path)) == set()


def test_a_number_in_somebody_elses_commit_is_text(tmp_path: Path) -> None:
    theirs, mine = cloned(tmp_path)
    with Memory.open(str(mine / ".memoranda" / "memory.db")) as memory:
        memory.decisions.decide("Queue", "One table")
        commit(theirs, "Theirs, for D#1")
        git(mine, "pull", "-q")
        commit(mine, "Mine, for D#1")
        assert maintenance.run_maintenance(memory, str(mine)) == 3
        links = memory.commits.links_of_decision(1)
        assert [memory.commits.get(link.commit.removeprefix("C#")).message for link in links] == ["Mine, for D#1"]
