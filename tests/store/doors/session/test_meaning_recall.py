"""Recall by meaning through a running server, by words alone without one."""

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store.doors.session.recall_server import RecallServer
from support.waiting import until

from store.base.location import locate
from store.doors.hooks import process
from store.doors.session import injections, recall_socket
from store.memory import Memory
from store.services import background_embedding

PATIENCE = 120  # seconds; only a server that is stuck takes them
PROMPT = (
    "On Friday the office shuts at midday, so please plan the delivery of the parcels so that the driver arrives well"
    " before that"
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A memory with vectors, whose fact shares too few words with the prompt."""
    path = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("The office closes at noon on Fridays")
        memory.facts.remember("Invoices are rounded half up")
        memory.decisions.decide("Cache of the sessions", "Redis 7")
        assert background_embedding.embed(memory)
    return path


@pytest.fixture
def server(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallServer]:
    """A server that answers, as one of `memoranda mcp` does; a hook waits for it as long as it takes."""
    monkeypatch.setattr(recall_socket, "WAIT", PATIENCE)
    server = RecallServer(locate(path, {}, os.path.dirname(path)))
    server.start()
    until(lambda: listening(path), PATIENCE)
    yield server
    server.stop()
    server.join(PATIENCE)


def listening(path: str) -> bool:
    """Whether a server listens."""
    asked = recall_socket.ask(path, "")
    if asked is not None:
        asked.close()
    return asked is not None


def answered(path: str, prompt: str) -> dict[int, str] | None:
    asked = recall_socket.ask(path, prompt)
    assert asked is not None
    return asked.answer(PATIENCE)


def hook(path: str, prompt: str = PROMPT, session: str = "s") -> str:
    said = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt, "prompt_id": prompt}
    out = io.BytesIO()
    process.run(["--db", path, "claude-code"], io.BytesIO(json.dumps(said).encode()), out)
    return str(json.loads(out.getvalue())["hookSpecificOutput"]["additionalContext"]) if out.getvalue() else ""


def test_without_a_server_a_prompt_is_answered_by_words_alone(path: str) -> None:
    assert hook(path) == ""
    assert "[F#1]" in hook(path, "when does the office close on fridays")


def test_through_a_server_by_meaning_and_why_is_kept(path: str, server: RecallServer) -> None:
    told = hook(path)
    assert "[F#1]" in told and "[F#2]" not in told
    assert hook(path, "thanks, that works", "t") == ""
    with Memory.open(path) as memory:
        (kept,) = injections.newest(memory.database)
        assert kept.why == {"F#1": kept.why["F#1"]} and "near the prompt in meaning" in kept.why["F#1"]


def test_a_server_without_vectors_leaves_it_to_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_socket, "WAIT", PATIENCE)
    path = str(tmp_path / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("The office closes at noon on Fridays")
    server = RecallServer(locate(path, {}, str(tmp_path)))
    server.start()
    try:
        until(lambda: listening(path), PATIENCE)
        assert answered(path, PROMPT) is None
        assert "[F#1]" in hook(path, "when does the office close on fridays")
    finally:
        server.stop()


def test_a_server_that_does_not_answer_in_time_costs_nothing_but_the_wait(path: str) -> None:
    where = recall_socket.place(path)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(where)
        deaf.listen(1)
        assert "[F#1]" in hook(path, "when does the office close on fridays")
    assert recall_socket.ask(path, PROMPT) is None, "the socket of a server that was killed"
    assert "[F#1]" in hook(path, "when does the office close on fridays?", "t")


@pytest.mark.parametrize("said", [b"", b"{", b"[1]", b'{"x": 1}', b'{"1": 2}', b"\xff" * 90_000, b'"' * 5])
def test_what_is_no_answer_is_none(path: str, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setblocking(False)
        theirs.send(said)
    found = recall_socket.RecallRequest(ours).answer(PATIENCE)
    assert found is None or found == {1: "2"}


def test_one_server_of_several_answers_and_another_takes_over(path: str, server: RecallServer) -> None:
    other = RecallServer(locate(path, {}, os.path.dirname(path)))
    assert not other._listen()
    server.stop()
    server.join(PATIENCE)
    assert not server.is_alive() and not os.path.exists(recall_socket.place(path))


def test_the_start_of_a_session_has_the_model_loaded(path: str, server: RecallServer, monkeypatch: Any) -> None:
    asked: list[str] = []
    monkeypatch.setattr(server, "_found", asked.append)
    background_process.work(path, "start", "s", 0, 0)
    assert answered(path, "after it") is None
    assert asked[-2:] == [recall_socket.WARM, "after it"]


def test_a_server_that_agents_start_answers_until_it_ends(path: str) -> None:
    program = os.path.join(os.path.dirname(sys.executable), "memoranda")
    server = subprocess.Popen([program, "--db", path, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        until(lambda: listening(path), PATIENCE)
        found = answered(path, PROMPT)
        assert found and "near the prompt in meaning" in next(iter(found.values()))
        assert os.stat(recall_socket.place(path)).st_mode & 0o077 == 0
        assert server.communicate(timeout=PATIENCE)[0] == b""
        assert not os.path.exists(recall_socket.place(path))
    finally:
        server.kill()
        server.wait()
