"""The client of one file, warm and cold, against the process that answers one event: the same answers to a whole
session of each client, and the same in the memory afterwards."""

import shutil
import sys
from pathlib import Path

import pytest
from support.hook_events import CLIENTS, report
from support.hook_machine import ALONE, CLIENT, HookMachine, children_of
from support.ours import ours
from support.waiting import until

from store.base import hook_resident
from store.doors import agent_log as calls
from store.memory import Memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found and watched as Linux shows them")
SESSION = (
    ("start", ""),
    ("prompt", "why is the queue one table of jobs?"),
    ("tool", ""),
    ("stop", "There is no broker to run [D#1]."),
    ("prompt", "From now on, always write amounts in cents."),
    ("stop", "I shall [F#1]."),
    ("compact", ""),
    ("start", ""),
    ("end", ""),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["warm", "cold"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_is_answered_and_stored_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, how: str):
    machine = HookMachine(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", machine.environ["XDG_STATE_HOME"])
    monkeypatch.setenv("HOME", machine.environ["HOME"])
    with Memory.open(machine.path) as memory:
        memory.decisions.decide("Queue", "One table of jobs in SQLite", rationale="no broker to run")
        memory.facts.remember("The deployment window is Thursday afternoon", pinned=True)
        memory.tasks.add_task("Write the changelog")
    other = tmp_path / "other" / "project"
    shutil.copytree(machine.project, other)
    ours(other / ".memoranda" / "memory.db")
    program = [*CLIENT, client]
    if how == "warm":
        machine.resident()
    for number, (kind, text) in enumerate(SESSION):
        told = []
        for words, folder in (([*ALONE, client], machine.project), (program, other)):
            event = report(client, kind, folder, text, number=f"{number}", session_id="s", transcript_path="")
            # a session keeps the memory that it began with
            shutil.rmtree(Path(machine.environ["XDG_STATE_HOME"], "memoranda", "sessions"), ignore_errors=True)
            told.append(machine.run(words, event, cwd=folder))
        until(lambda: machine.pid() and hook_resident.release_memories())
        until(lambda: not children_of(machine, "store.doors.hook_background"))
        assert told[0] == told[1], (kind, text)
        assert number or told[0], "the start was answered"
        if how == "cold":
            machine.kill()
    assert kept(Path(machine.path)) == kept(other / ".memoranda" / "memory.db")
    machine.kill()


def kept(path: Path) -> list[list[tuple[object, ...]]]:
    """Return what the session left in a memory."""
    with Memory.open(str(path)) as memory:
        return [
            memory.database.rows("SELECT role, text, origin FROM turns ORDER BY id"),
            memory.database.rows("SELECT text, status, origin FROM tasks ORDER BY id"),
            memory.database.rows("SELECT kind, text, origin FROM proposals ORDER BY id"),
            memory.database.rows("SELECT event, question, tokens FROM injections ORDER BY id"),
            memory.database.rows("SELECT key, used FROM injected ORDER BY injection, key"),
            memory.database.rows("SELECT ended_at IS NULL FROM sessions"),
            [(call.client, call.name) for call in calls.list_agent_calls(memory.database)],
        ]
