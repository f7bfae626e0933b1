"""A synced file is read where it matters: when an agent's session starts, before it searches, and beside its server."""

import os
import subprocess
import sys

import pytest
from conftest import Clock
from support.notebook import Notebook

from store.doors import hook_background as background
from store.doors.hook_events import EVENT_START
from store.doors.mcp_tools import McpSession


@pytest.fixture(autouse=True)
def edited(notebook: Notebook) -> None:
    """A line was deleted in an editor, and another was added."""
    notebook.save(notebook.text.replace("- Tea, not coffee [F#2]", "- Lunch is at one"))


def test_at_the_start_of_a_session(notebook: Notebook) -> None:
    background.do_background_work(notebook.memory.database.path, EVENT_START, "s", 0, 0)
    assert notebook.active() == ["The team is five", "Deploys are on Fridays", "Lunch is at one"]


def test_before_an_agent_searches(notebook: Notebook, clock: Clock) -> None:
    session = McpSession(notebook.memory.location, clock=clock)
    answer = session.call_tool("memory_search", {"query": "Tea, not coffee"}, None, "claude-code")
    session.close()
    assert answer.data["results"] == []
    assert notebook.active() == ["The team is five", "Deploys are on Fridays", "Lunch is at one"]


def test_what_nobody_accepted_is_in_no_answer_to_an_agent(notebook: Notebook, clock: Clock) -> None:
    session = McpSession(notebook.memory.location, clock=clock)
    answer = session.call_tool("memory_search", {"query": "Lunch is at one"}, None, "claude-code")
    assert "Lunch" not in answer.text, answer.text
    notebook.memory.inbox.accept(1)
    assert "Lunch" in session.call_tool("memory_search", {"query": "Lunch is at one"}, None, "claude-code").text
    session.close()


def test_beside_a_server(notebook: Notebook) -> None:
    path, folder = notebook.memory.database.path, str(notebook.path.parent)
    command = [sys.executable, "-m", "store.doors.upkeep_process", path, folder]
    subprocess.run(command, env={**os.environ, "MEMORANDA_WITHOUT": "model"}, check=True, timeout=120)
    assert notebook.active() == ["The team is five", "Deploys are on Fridays", "Lunch is at one"]
