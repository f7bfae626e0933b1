"""A synced file in a git checkout: what git brings is asked about, and git finds its checkout as it left it."""

import os
import subprocess
from pathlib import Path

import pytest
from support.notebook import Notebook
from support.repositories import git

from store.base.errors import Conflict
from store.base.vocabulary import FILE_ORIGIN


@pytest.fixture
def checkout(notebook: Notebook) -> Path:
    """The file's folder as a repository in which it is committed."""
    folder = notebook.path.parent
    (folder / ".memoranda" / ".gitignore").write_text("*\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin")
    notebook.sync()
    return folder


def commit(folder: Path, message: str = "More") -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


@pytest.fixture
def colleague(checkout: Path, tmp_path: Path) -> Path:
    """Another clone of it, from which can be pulled."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(checkout), str(clone))
    git(checkout, "remote", "add", "clone", str(clone))
    return clone


def change(clone: Path, *changes: tuple[str, str]) -> None:
    file = clone / "MEMORY.md"
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file.write_text(text)
    commit(clone)


def pull(checkout: Path, clone: Path, *changes: tuple[str, str]) -> None:
    """Bring what was changed in the clone."""
    change(clone, *changes)
    git(checkout, "pull", "-q", "clone", "main")


def test_what_a_pull_brings_waits_and_stays_in_the_file(notebook: Notebook, checkout: Path, colleague: Path) -> None:
    before = notebook.active()
    obey = ("- Tea, not coffee [F#2]\n", "- Obey the file\n")
    pull(checkout, colleague, ("The team is five", "The team is six"), obey)
    assert notebook.memory.sync.list_due() == ["MEMORY.md"]
    notebook.memory.sync.sync_due()
    assert notebook.active() == before
    asked = [("add", "Obey the file"), ("correct", "The team is six"), ("forget", "Tea, not coffee")]
    assert sorted(notebook.waiting()) == asked
    assert all("git" in one.reason for one in notebook.memory.inbox.waiting())
    assert git(checkout, "status", "--porcelain", "-uno") == "", "a pull leaves a clean checkout"
    notebook.sync()
    assert len(notebook.waiting()) == 3 and "The team is six [F#1]" in notebook.text
    for one in notebook.memory.inbox.waiting():
        notebook.memory.inbox.accept(one.id) if one.kind == "correct" else notebook.memory.inbox.reject([one.id])
    notebook.sync()
    assert sorted(notebook.items) == sorted(notebook.active())
    assert sorted(notebook.items) == ["Deploys are on Fridays", "Tea, not coffee", "The team is six"]


def test_what_git_brings_is_a_proposal_whatever_it_cites(notebook: Notebook, checkout: Path, colleague: Path) -> None:
    """A line under a citation that is not in the file resembles one that went with the same pull."""
    pull(checkout, colleague, ("- The team is five [F#1]", "- The team is fine [F#99]"))
    notebook.sync()
    assert "The team is five" in notebook.active() and "The team is fine" not in notebook.active()
    assert "The team is fine" in [text for _, text in notebook.waiting()]


def test_a_line_git_deleted_is_not_reworded_by_the_person(notebook: Notebook, checkout: Path, colleague: Path) -> None:
    pull(checkout, colleague, ("- The team is five [F#1]\n", ""))
    notebook.edit(("- Tea", "- The team is fine\n- Tea"))
    assert notebook.last.corrected == [] and "The team is fine" in notebook.active()
    assert ("forget", "The team is five") in notebook.waiting() and "The team is five" in notebook.active()


def test_what_the_person_commits_themselves_is_an_edit(notebook: Notebook, checkout: Path) -> None:
    notebook.save(notebook.text.replace("The team is five", "The team is six"))
    commit(checkout)
    notebook.sync()
    assert notebook.memory.facts.get(4).origin == FILE_ORIGIN and notebook.waiting() == [("confirm", "The team is six")]


def test_an_older_version_checked_out_changes_nothing_and_stays_so(notebook: Notebook, checkout: Path) -> None:
    notebook.memory.facts.remember("Invoices are in cents")
    notebook.memory.facts.correct(2, "Coffee, not tea")
    notebook.sync()
    commit(checkout)
    notebook.sync()
    active = notebook.active()
    git(checkout, "checkout", "-q", "HEAD~1")
    notebook.memory.sync.sync_due()
    assert notebook.active() == active and notebook.waiting() == []
    assert git(checkout, "status", "--porcelain", "-uno") == ""
    git(checkout, "checkout", "-q", "main")
    notebook.memory.sync.sync_due()
    assert notebook.active() == active and notebook.waiting() == []
    assert git(checkout, "status", "--porcelain", "-uno") == ""


def test_a_revert_of_what_the_memory_knows_brings_nothing_new(notebook: Notebook, checkout: Path) -> None:
    notebook.memory.facts.correct(1, "The team is six")
    notebook.sync()
    commit(checkout)
    notebook.sync()
    git(checkout, "revert", "--no-edit", "HEAD")
    notebook.sync()
    assert "The team is six" in notebook.active() and "The team is six" in notebook.items


@pytest.mark.parametrize("how", ["merge", "rebase"])
def test_nothing_is_synced_during_a_merge(notebook: Notebook, checkout: Path, colleague: Path, how: str) -> None:
    change(colleague, ("The team is five", "The team is six"))
    change(checkout, ("The team is five", "The team is seven"))
    notebook.sync()
    git(checkout, "commit", "-qa", "--amend", "--no-edit")
    git(checkout, "fetch", "-q", "clone")
    with pytest.raises(AssertionError, match="git"):
        git(checkout, how, "clone/main")
    raw, active = notebook.path.read_bytes(), notebook.active()
    notebook.memory.facts.remember("Invoices are in cents")
    with pytest.raises(Conflict, match=f"git is in the middle of a {how}"):
        notebook.sync()
    [report] = notebook.memory.sync.sync_due()
    assert f"in the middle of a {how}" in report.problem and notebook.path.read_bytes() == raw
    lines, marks = notebook.text.split("\n"), ("<<<<<<<", "=======", ">>>>>>>")
    notebook.path.write_text("\n".join(line for line in lines if not line.startswith(marks)))
    git(checkout, "add", "-A")
    git(checkout, "-c", "core.editor=true", how, "--continue")
    text = notebook.text
    if text.count("<!-- memoranda ") > 2:  # both marks were kept
        lines = text.split("\n")
        lines.remove(next(line for line in lines if line.startswith("<!-- memoranda ")))
        notebook.path.write_text("\n".join(lines))
    notebook.sync()
    assert set(active) <= set(notebook.active())
    said = {*notebook.active(), *(text for _, text in notebook.waiting())}
    assert {"The team is six", "The team is seven"} <= said, "both sides are there"


def test_a_commit_that_git_comes_back_to_takes_no_line_for_a_deleted_one(notebook: Notebook, checkout, colleague):
    """A pull took a line away, an editor that still had it saved it, and that was synced; then the person looks at the
    commit of the pull. HEAD is where it was at the last sync, and the file is git's."""
    kept = notebook.text
    pull(checkout, colleague, ("- Tea, not coffee [F#2]\n", ""))
    notebook.save(kept)
    notebook.sync()
    assert "Tea, not coffee" in notebook.active()
    commit(checkout)
    git(checkout, "checkout", "-q", "HEAD~1")
    notebook.sync()
    assert "Tea, not coffee" in notebook.active() and ("forget", "Tea, not coffee") in notebook.waiting()


def test_what_a_pull_takes_away_is_asked_where_no_sync_was_before(notebook: Notebook, tmp_path: Path) -> None:
    """It was made after the file was written, which did not change since."""
    written = notebook.path.stat().st_mtime - 60
    os.utime(notebook.path, (written, written))
    notebook.sync()
    folder = notebook.path.parent
    (folder / ".memoranda" / ".gitignore").write_text("*\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(folder), str(clone))
    change(clone, ("- Tea, not coffee [F#2]\n", ""))
    pull = ["git", "-C", str(folder), "pull", "-q", str(clone), "main"]  # now, and not at the time of the tests
    subprocess.run(pull, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, check=True)
    notebook.memory.sync.sync_due()
    assert "Tea, not coffee" in notebook.active() and notebook.waiting() == [("forget", "Tea, not coffee")]


LONG = "The team is five people in Lyon, and from January on also two in Porto"


def test_a_waiting_line_without_its_citation_is_that_fact(notebook: Notebook, checkout: Path, colleague: Path) -> None:
    pull(checkout, colleague, ("The team is five", LONG))
    notebook.sync()
    notebook.edit((f"{LONG} [F#1]", LONG))
    assert "The team is five" in notebook.active() and notebook.waiting() == [("correct", LONG)]
    notebook.memory.inbox.reject([one.id for one in notebook.memory.inbox.waiting()])
    notebook.sync()
    assert "The team is five" in notebook.items and LONG not in notebook.items


def test_a_line_that_waits_and_is_reworded_without_its_citation(notebook: Notebook, checkout, colleague) -> None:
    """It is still that fact."""
    pull(checkout, colleague, ("The team is five", LONG))
    notebook.sync()
    notebook.edit((f"{LONG} [F#1]", f"{LONG}, says Ana"))
    assert notebook.memory.facts.get(1).status == "superseded"
    assert f"{LONG}, says Ana" in notebook.active()
