"""Which memory a folder has, in situations of real repositories, judged by where a write really goes."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import ours
from support.cases import load_cases

from store.base.errors import NoMemoryHere
from store.base.location import Location, backup_folder
from store.doors.git_hooks import record_head_commit
from store.doors.pack import build_start_pack
from store.exchange.importer import merge_memory
from store.git.repository import Repository
from store.memory import Memory
from store.projects.locating import choose_memory, choose_own_memory, locate
from store.projects.registry import bind_session
from store.upkeep.maintenance import read_new_commits

CASES = load_cases(__file__)
CLIENT = "claude-code"


def build(line: str, top: Path, in_checkout: bool) -> None:
    """Do one line of a situation in the folder `top`; memories begin in the checkout, as they did in earlier builds, if
    one can be there."""
    word, *rest = shlex.split(line)
    folder = os.path.join(top, *rest[:1])
    if word == "memory":
        named = f"{folder}/.memoranda/memory.db" if rest[2:] == ["part"] else None
        place = choose_own_memory(folder) if rest[2:] == ["own"] else locate(named, {}, folder)
        with Memory(ours.in_checkout(place) if in_checkout else place, "cli") as memory:
            memory.facts.remember(f"KNOWS {[*rest, rest[0]][1]}")
    elif word == "choose":
        choose_memory(folder, rest[1])
    elif word == "session":
        bind_session(CLIENT, rest[1], locate(None, {}, folder).project_id)
    else:
        done = subprocess.run(["sh", "-ec", f"{CASES['shell']}\n{line}"], cwd=top, capture_output=True, text=True)
        assert not done.returncode, f"{line}: {done.stderr}"


def find_written(place: Location) -> str:
    """Write to a memory; return its outcome, and the label of the one in which the text then is."""
    try:
        with Memory(place, "cli") as memory:
            memory.facts.remember("The PROBE was here")
            texts = [memory.facts.get(number).text for number in memory.facts.ids(memory.now)]
    except NoMemoryHere as error:
        return error.outcome
    assert "The PROBE was here" in texts
    if place.kind == "personal":
        return "personal"
    label = next((text.removeprefix("KNOWS ") for text in texts if text.startswith("KNOWS ")), "")
    return f"use {label}" if label else "new"


@pytest.mark.parametrize("in_checkout", [False, True], ids=["data", "checkout"])
@pytest.mark.parametrize("case", CASES["situation"], ids=lambda case: case["title"])
def test_a_write_goes_to_the_memory_of_the_project_and_to_no_other(
    case: dict[str, Any], in_checkout: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    case = {**case, **case.get("in_checkout", {})} if in_checkout else case
    for line in case["do"]:
        build(line, tmp_path, in_checkout)
    place = locate(None, {}, os.path.join(tmp_path, case["at"]), CLIENT, case.get("session", ""))
    for name in ("branch", "worktree", "folder"):
        if name in case:
            assert getattr(place, name) == case[name], name
    assert "note" not in case or case["note"] in " ".join(place.notes)
    assert "says" not in case or case["says"] in f"{place.problem}"
    before = set(tmp_path.rglob("memory.db"))
    assert find_written(place) == case["answer"]
    made = set(tmp_path.rglob("memory.db")) - before
    assert len(made) == (case["answer"] in ("new", "personal")), "nothing is begun beside it"


def test_a_memory_that_goes_with_a_worktree_is_kept_and_comes_home(tmp_path: Path) -> None:
    build("repo shop; git -C shop worktree add -q ../feat -b feat", tmp_path, False)
    with Memory(locate("feat/.memoranda/memory.db", {}, str(tmp_path)), "mcp") as old:
        old.decisions.decide("Queue", "NATS", actor="mcp:codex")
    with Memory(locate(None, {}, str(tmp_path / "shop")), "cli") as memory:
        build("git -C shop worktree remove --force ../feat", tmp_path, False)
        assert "memoranda import " in memory.database.warnings[0] and not (tmp_path / "feat").exists()
        (kept,) = Path(backup_folder(memory.database.path)).glob("worktree-*.db")
        assert merge_memory(memory.database, str(kept)).counts["decisions"]
        found = memory.decisions.get(1)
        assert (found.title, found.origin, found.confirmed_at) == ("Queue", "mcp:codex", None)
    with Memory(locate(None, {}, str(tmp_path / "shop")), "cli") as memory:
        assert memory.database.warnings == []


def test_a_branch_is_named_elsewhere_and_when_it_was_removed_unmerged(tmp_path: Path) -> None:
    build("repo shop; git -C shop worktree add -q ../feat -b feat", tmp_path, False)
    with Memory(locate(None, {}, str(tmp_path / "feat")), "cli") as memory:
        memory.decisions.decide("Queue", "NATS")
        build("commit feat", tmp_path, False)
        assert record_head_commit(memory, str(tmp_path / "feat"), "hook:git")
        assert (memory.decisions.get(1).branch, memory.decisions.get(1).branch_note) == ("feat", "")
    with Memory(locate(None, {}, str(tmp_path / "shop")), "cli") as memory:
        assert memory.decisions.get(1).branch_note == "on feat"
        assert ", on feat: Queue" in build_start_pack(memory, "codex").text
        assert {hit.citation[:2] for hit in memory.search("branch:feat", meaning=False).hits} == {"D#", "C#"}
        build("git -C shop worktree remove --force ../feat; git -C shop branch -q -D feat", tmp_path, False)
        read_new_commits(memory, Repository(str(tmp_path / "shop")))
        assert memory.decisions.get(1).branch_note == "on feat, removed unmerged"
