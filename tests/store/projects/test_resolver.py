"""Which memory a folder has, in situations of real repositories, judged by where a write really goes."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases

from store.base.errors import NoMemoryHere
from store.base.location import Location
from store.memory import Memory
from store.projects.locating import choose_memory, choose_own_memory, locate
from store.projects.registry import bind_session

SITUATIONS = load_cases(__file__)["situation"]
CLIENT = "claude-code"
GIT = {
    "GIT_AUTHOR_NAME": "José", "GIT_AUTHOR_EMAIL": "jose@example.org",
    "GIT_COMMITTER_NAME": "José", "GIT_COMMITTER_EMAIL": "jose@example.org",
    "GIT_CONFIG_GLOBAL": "gitconfig", "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip
CONFIGURATION = '[init]\ndefaultBranch = main\n[protocol "file"]\nallow = always\n[advice]\ndetachedHead = false\n'
FUNCTIONS = """
commit() { n=$((${n:-0} + 1)); git -C "$1" commit -q --allow-empty -m "$1 $n $$"; }
repo() { name=$1; shift; git init -q "$@" -- "$name"; commit "./$name"; }
file() { rm -f "$1"; echo "$2" > "$1"; }
"""


class World:
    """An empty folder with a home, in which situations are built."""

    def __init__(self, top: Path) -> None:
        self.top = top
        (top / "home").mkdir()
        (top / "gitconfig").write_text(CONFIGURATION)
        self.environment = {**os.environ, **GIT, "GIT_CONFIG_GLOBAL": str(top / "gitconfig"), "HOME": str(top / "home")}

    def do(self, line: str) -> None:
        """Do one line of a situation."""
        word, *rest = shlex.split(line)
        folder = os.path.join(self.top, rest[0]) if rest else ""
        if word == "memory":
            named = f"{folder}/.memoranda/memory.db" if rest[2:] == ["part"] else None
            if named:
                os.mkdir(os.path.dirname(named))
            place = choose_own_memory(folder) if rest[2:] == ["own"] else locate(named, {}, folder)
            with Memory(place, "cli") as memory:
                memory.facts.remember(f"KNOWS {rest[1] if rest[1:] else rest[0]}")
        elif word == "choose":
            choose_memory(folder, rest[1])
        elif word == "session":
            place = locate(None, {}, folder)
            bind_session(CLIENT, rest[1], place.project_id)
        else:
            command = ["sh", "-ec", f"{FUNCTIONS}\n{line}"]
            done = subprocess.run(command, cwd=self.top, env=self.environment, capture_output=True, text=True)
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


@pytest.mark.parametrize("case", SITUATIONS, ids=[case["title"] for case in SITUATIONS])
def test_a_write_goes_to_the_memory_of_the_project_and_to_no_other(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for line in case["do"]:
        world.do(line)
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
