"""Ask a client itself whether it sees our server and runs our hooks."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from store.doors.clients.client import NAME, Client, Place, runs_hook

SECONDS = 120.0  # a client may take thirty to give a server up; OpenCode fetches packages at its first start
OK, WAITS, FAILED, ABSENT = "ok", "waits", "failed", "absent"
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CROSSES = {"✗", "✘"}  # what clients put before a server that failed
_WAITING = ("Pending approval", "Disabled", "untrusted")


@dataclass(frozen=True, slots=True)
class Seen:
    """How a client sees us: `state` is ok, waits (for the person), failed or absent; `says` is that in a sentence."""

    state: str
    says: str


def program(client: Client, place: Place) -> str:
    """Return where the client's program is; empty if it is not installed here."""
    return shutil.which(client.program, path=place.environ.get("PATH", "")) or ""


def look(client: Client, place: Place) -> list[Seen]:
    """Return what a client reports about our server, and about our hooks if it does."""
    found = program(client, place)
    if not found:
        return [Seen(ABSENT, f"{client.title} is not installed here: there is no `{client.program}` on PATH.")]
    if client.name == "codex":
        return _codex(found, place)
    output = _run([found, *client.health.words], place)
    if output is None:
        return [Seen(FAILED, f"`{client.program} {' '.join(client.health.words)}` did not answer.")]
    lines = [line.strip() for line in output.splitlines()]
    about = next((line for line in lines if client.health.line in line), "")
    if not about:
        return [Seen(FAILED, f"{client.title} does not see the server {NAME}.")]
    if any(word in about for word in client.health.good) and not _CROSSES & set(about):
        return [Seen(OK, f"{client.title} sees the server and it answers.")]
    if any(word in about for word in _WAITING):
        return [Seen(WAITS, f"{client.title} sees the server, and waits for your approval: {about}")]
    return [Seen(FAILED, f"{client.title} sees the server, and it does not answer: {about}")]


def _run(words: list[str], place: Place) -> str | None:
    try:
        done = subprocess.run(
            words,
            cwd=place.root,
            env={**place.environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _COLOURS.sub("", done.stdout.decode("utf-8", "replace"))


def _codex(found: str, place: Place) -> list[Seen]:
    """Return what Codex's server for editors says: its list of servers checks nothing."""
    answers = _ask_codex(found, place)
    if answers is None:
        return [Seen(FAILED, "`codex app-server` did not answer.")]
    servers, hooks = answers
    seen = []
    ours = next((one for one in servers if one.get("name") == NAME), None)
    if ours is None and NAME in (_run([found, "mcp", "list"], place) or ""):  # a project's is listed, not started
        seen.append(Seen(OK, "Codex sees the server in this project."))
    elif ours is None:
        seen.append(
            Seen(WAITS, "Codex does not see the server here: it reads a project's .codex once the project is trusted.")
        )
    elif ours.get("toolsError"):
        seen.append(Seen(FAILED, f"Codex sees the server, and it does not answer: {ours['toolsError']}"))
    else:
        seen.append(Seen(OK, "Codex sees the server and it answers."))
    own = [hook for hook in hooks if runs_hook(str(hook.get("command", "")), "codex")]
    waiting = [hook for hook in own if hook.get("trustStatus") != "trusted"]
    if waiting or not own:
        seen.append(Seen(WAITS, "Codex runs no hook of ours until you trust them: type /hooks in `codex`."))
    else:
        seen.append(Seen(OK, f"Codex trusts our {len(own)} hooks."))
    return seen


def _ask_codex(found: str, place: Place) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    """Return (servers, hooks) as `codex app-server` lists them; None if it does not answer."""
    asked = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": NAME, "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [os.path.realpath(place.root)]}},
        {"id": 3, "method": "mcpServerStatus/list", "params": {}},
    )
    try:
        child = subprocess.Popen(
            [found, "app-server"],
            cwd=place.root,
            env=dict(place.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    answers: dict[int, Any] = {}
    try:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in asked))
        child.stdin.flush()
        for line in _lines(child, time.monotonic() + SECONDS):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("id"), int):
                answers[message["id"]] = message.get("result") or {}
                if {2, 3} <= answers.keys():
                    break
    except OSError:
        return None
    finally:
        child.kill()
        child.communicate()
    if not {2, 3} <= answers.keys():
        return None
    hooks = [hook for folder in answers[2].get("data", ()) for hook in folder.get("hooks", ())]
    return list(answers[3].get("data", ())), hooks


def _lines(child: "subprocess.Popen[bytes]", until: float) -> Iterator[bytes]:
    """Yield the lines of a child's output, until it ends or the moment comes."""
    import selectors

    assert child.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not selector.select(left):
                return
            data = os.read(child.stdout.fileno(), 65_536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from lines
