"""A fake agent: what Claude Code reports of a whole session in a real repository, event by event, each to the process
that answers hooks."""

import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from store.base.clock import utc_now
from store.doors import hook_background as background
from store.doors import hook_handlers as handlers
from store.doors import hook_process as process
from store.memory import Memory

SESSION = "0b9e1f5e-4a53-4f5e-9d0f-3a1d6f6f0001"
PROMPTS = (
    "Let's build the export of invoices. What did we decide about the format?",
    "From now on, always write amounts in cents.",
    "Which library reads the CSV files?",
    "go on",
    "Remember that the accountant's name is Rosa Vidal.",
    "What is left to do?",
    "Write the tests for the export now.",
    "go on",
    "Why did we choose CSV and not XML for the export of invoices?",
    "Commit it.",
)


class Agent:
    """What Claude Code does around its hooks: it writes its transcript, and hands each event to `memoranda hook`."""

    def __init__(self, root: Path, transcript: Path) -> None:
        self.root = root
        self.transcript = transcript
        self.told: list[str] = []
        self.number = 0

    def event(self, name: str, **more: Any) -> str:
        said = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.root)}
        said |= {"hook_event_name": name, "permission_mode": "default", **more}
        out = io.BytesIO()
        process.run(["claude-code"], io.BytesIO(json.dumps(said).encode()), out)
        text = json.loads(out.getvalue())["hookSpecificOutput"]["additionalContext"] if out.getvalue() else ""
        self.told.append(text)
        return str(text)

    def line(self, kind: str, text: str, tokens: int = 0) -> None:
        self.number += 1
        message: dict[str, Any] = {"role": kind, "content": text}
        if kind == "assistant":
            message = {"content": [{"type": "text", "text": text}], "usage": {"input_tokens": 9, "output_tokens": 30}}
            message["usage"]["cache_read_input_tokens"] = tokens
        line = {"type": kind, "sessionId": SESSION, "uuid": f"{self.number:032x}", "cwd": str(self.root)}
        with self.transcript.open("a") as file:
            file.write(json.dumps({**line, "timestamp": utc_now(), "message": message}) + "\n")

    def turn(self, prompt: str, reply: str, tokens: int, *tools: tuple[str, dict[str, Any]]) -> str:
        text = self.event("UserPromptSubmit", prompt=prompt, prompt_id=f"p{self.number}")
        self.line("user", prompt)
        for number, (tool, given) in enumerate(tools):
            tool_id = f"toolu_{self.number}_{number}"
            self.event("PostToolUse", tool_name=tool, tool_input=given, tool_response={}, tool_use_id=tool_id)
        self.line("assistant", reply, tokens)
        self.event("Stop", stop_hook_active=False, last_assistant_message=reply, prompt_id=f"p{self.number}")
        return text


def git(root: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_AUTHOR_NAME": "Ana", "GIT_AUTHOR_EMAIL": "ana@example.org"}
    environment |= {"GIT_COMMITTER_NAME": "Ana", "GIT_COMMITTER_EMAIL": "ana@example.org"}
    done = subprocess.run(["git", "-C", root, *words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def todos(*states: str) -> dict[str, Any]:
    texts = ("Write the exporter", "Write its tests", "Document it")
    return {"todos": [{"content": text, "status": state} for text, state in zip(texts, states, strict=True)]}


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do at once what hooks leave to a process of its own."""

    def begin(memory: Memory, event: Any, caller: Any) -> None:
        path = memory.database.path
        background.do_background_work(path, event.kind, event.session, event.tokens, event.window)

    monkeypatch.setattr(handlers, "start_background", begin)


def repository(root: Path) -> None:
    """Make a repository with one commit."""
    root.mkdir()
    git(root, "init", "-q")
    (root / "README").write_text("a shop\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Begin")


def replay(agent: Agent, decision: int) -> list[str]:
    """Report a session of ten prompts, with tools, a commit that implements a decision, a compaction, and its end;
    return the replies."""
    root = agent.root
    agent.event("SessionStart", source="startup")
    replies = [f"Answer {number}." for number in range(10)]
    replies[8] = f"The accountant asked for it [D#{decision}]."
    for number, prompt in enumerate(PROMPTS[:9]):
        tools: list[tuple[str, dict[str, Any]]] = [("Bash", {"command": "ls"})]
        if number == 2:
            tools.append(("TodoWrite", todos("in_progress", "pending", "pending")))
        if number == 6:
            tools.append(("TodoWrite", todos("completed", "in_progress", "pending")))
        agent.turn(prompt, replies[number], 20_000 * number, *tools)
    (root / "export.py").write_text("print('amount_cents')\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", f"Export invoices\n\nImplements D#{decision}.")
    agent.turn(PROMPTS[9], replies[9], 172_000, ("Bash", {"command": "git add -A && git commit -m x"}))
    agent.event("PreCompact", trigger="auto", custom_instructions="")
    agent.event("SessionStart", source="compact")
    agent.event("SessionEnd", reason="prompt_input_exit")
    return replies
