"""A session keeps the memory that it began with, whichever folder it enters."""

import os
import time
from pathlib import Path

import pytest
from support.hook_events import CLIENTS, report
from support.repositories import commit, create, git

from store.base.location import projects_folder
from store.base.state_files import state_folder
from store.doors import hook_process
from store.doors.hook_events import Caller
from store.memory import Memory
from store.projects import registry
from store.projects.locating import choose_memory, choose_own_memory, locate


def tell(client: str, kind: str, folder: Path, text: str, caller: Path) -> bytes:
    """Report an event of the session `s`, of a client that was started in the folder `caller`."""
    raw = report(client, kind, folder, text, session_id="s", transcript_path="", number=text)
    return hook_process.reply(client, raw, Caller(str(caller), {}))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A checkout with a memory, and `feat` beside it, a worktree."""
    create(tmp_path / "shop")
    commit(tmp_path / "shop", "first")
    with Memory(locate(None, {}, str(tmp_path / "shop")), "cli") as memory:
        memory.facts.remember("The deployment window is Thursday afternoon", pinned=True)
    git(tmp_path / "shop", "worktree", "add", "--quiet", str(tmp_path / "feat"), "-b", "feat")
    return tmp_path / "shop"


def turns_of(folder: Path) -> list[str]:
    with Memory(locate(None, {}, str(folder)), "cli") as memory:
        return [text for (text,) in memory.database.rows("SELECT text FROM turns ORDER BY id")]


@pytest.mark.parametrize("client", CLIENTS)
def test_no_turn_is_lost_in_a_worktree_that_is_entered_and_removed(shop: Path, client: str) -> None:
    """Six of six, and no second memory is begun."""
    feat = shop.parent / "feat"
    tell(client, "start", shop, "", shop)
    for number, folder in enumerate((shop, feat, feat)):
        if number == 2:
            git(shop, "worktree", "remove", "--force", str(feat))
        tell(client, "prompt", folder, f"question number {number} about the window", shop)
        tell(client, "stop", folder, f"answer number {number}, on Thursday", shop)
    assert len([text for text in turns_of(shop) if "number" in text]) == 6
    assert not list(shop.parent.rglob("memory.db")) and len(os.listdir(projects_folder())) == 1


def test_a_session_that_begins_in_a_worktree_is_sent_what_the_project_knows(shop: Path) -> None:
    assert b"Thursday afternoon" in tell("claude-code", "start", shop.parent / "feat", "", shop.parent / "feat")


def test_memory_that_is_turned_off_is_off_for_a_session_too(shop: Path) -> None:
    tell("codex", "start", shop, "", shop)
    choose_memory(str(shop), "off")
    assert tell("codex", "prompt", shop, "what is the window?", shop) == b""
    choose_own_memory(str(shop))
    assert not turns_of(shop)


def test_sessions_that_nobody_used_for_a_month_are_forgotten(shop: Path) -> None:
    tell("codex", "start", shop, "", shop)
    (old,) = Path(state_folder(), registry.SESSIONS).iterdir()
    os.utime(old, (0, time.time() - registry.SESSION_SECONDS - 60))
    tell("claude-code", "start", shop, "", shop)
    assert old not in old.parent.iterdir()
