"""A whole session of an agent against a real repository: start, ten prompts, tools, a commit, a compaction, the end."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from store.base.clock import utc_now
from store.doors.connect import git_hooks
from store.doors.hooks import background, process
from store.doors.session import calls, injections
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
AGENT = [sys.executable, "-m", "tui.main"]


class Agent:
    """What Claude Code does around its hooks: it writes its transcript, and hands each event to `memoranda hook`."""

    def __init__(self, root: Path, transcript: Path) -> None:
        self.root = root
        self.transcript = transcript
        self.told: list[str] = []
        self.number = 0

    def event(self, name: str, **more: Any) -> str:
        said = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "cwd": str(self.root),
            "hook_event_name": name,
            "permission_mode": "default",
            **more,
        }
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


@pytest.fixture
def in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hooks leave to a process behind the agent's back is done at once."""

    def begin(memory: Memory, event: Any) -> None:
        path = memory.database.path
        background.work(path, event.kind, event.session, event.tokens, event.window)

    monkeypatch.setattr(background, "begin", begin)


@pytest.mark.usefixtures("in_turn")
def test_a_whole_session(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    (root / "README").write_text("a shop\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Begin")
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        decision = memory.decisions.decide("Format of the export of invoices", "CSV", rationale="the accountant asks")
        memory.facts.remember("Invoices are exported with the library polars")
        before = memory.history.steps(limit=1)
        agent = Agent(root, tmp_path / "transcript.jsonl")

        start = agent.event("SessionStart", source="startup")
        assert f"[D#{decision}]" in start
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
        again = agent.event("SessionStart", source="compact")
        assert f"[D#{decision}]" in again  # what was known is told anew
        agent.event("SessionEnd", reason="prompt_input_exit")

        turns = memory.turns.last(SESSION, 50)
        assert [turn.text for turn in turns] == [text for pair in zip(PROMPTS, replies, strict=True) for text in pair]
        assert {turn.origin for turn in turns} == {"hook:claude-code"}
        facts = {fact.fact for fact in memory.facts.many(memory.facts.ids(memory.now))}
        assert any("cents" in fact for fact in facts) and any("Rosa Vidal" in fact for fact in facts)
        every = memory.tasks.ids(statuses=("pending", "in_progress", "done"))
        assert sorted((task.text, task.status) for task in memory.tasks.many(every)) == [
            ("Document it", "pending"),
            ("Write its tests", "in_progress"),
            ("Write the exporter", "done"),
        ]
        commit = memory.commits.get(git(root, "rev-parse", "HEAD").strip())
        assert [(one.decision, one.link_type) for one in memory.commits.links_of_commit(commit.id)] == [
            (f"D#{decision}", "implements")
        ]
        taken = memory.checkpoints.list()
        assert [point.used for point in taken if point.trigger == "usage" and point.used][::-1] == [70, 86]
        assert any(point.trigger == "session_end" and point.session == SESSION for point in taken)
        assert memory.summaries.active(SESSION)
        assert memory.sessions.get(SESSION).ended_at
        snapshots = list((root / "memory" / "snapshots").glob("*.md"))
        assert len(snapshots) == 1 and "Commit it." in snapshots[0].read_text()
        sent = injections.newest(memory.database, session=SESSION)
        assert all(one.tokens <= 150 for one in sent if one.event == "prompt")
        assert any(f"D#{decision}" in one.used for one in sent)
        assert max(map(len, agent.told)) <= 9_000
        assert {"SessionStart", "UserPromptSubmit", "Stop", "TodoWrite", "PreCompact", "SessionEnd"} <= {
            call.name for call in calls.newest(memory.database)
        }
        # taken back: the list of tasks by one step each
        lists = [step for step in memory.history.steps() if step.reason.startswith("task list")]
        assert len(lists) == 2 and before
        memory.history.undo(lists[0].seq)
        assert memory.tasks.get(1).status == "in_progress"


def test_the_command_itself_ends_with_0_whatever_it_is_given(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("The deployment window is Thursday afternoon")
        for words, raw in (
            (["claude-code"], b""),
            (["claude-code"], b"{"),
            (["nobody"], b"{}"),
            ([], b""),
            (["git"], b""),
            (["git", "post-commit"], b""),
            (["--help-me"], b""),
        ):
            done = subprocess.run([*AGENT, "hook", *words], input=raw, capture_output=True, cwd=tmp_path, check=False)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        said = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "when is the deployment window?"}
        asked = json.dumps({**said, "cwd": str(tmp_path)}).encode()
        done = subprocess.run([*AGENT, "hook", "codex"], input=asked, capture_output=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "Thursday" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        assert memory.turns.last("s")[0].text == "when is the deployment window?"


def test_a_session_that_never_ended_is_swept_up_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from store.base.clock import from_ms, to_ms

    path = str(tmp_path / ".memoranda" / "memory.db")
    ago = from_ms(to_ms(utc_now()) - 2 * 3_600_000)
    with Memory.open(path, clock=lambda: ago) as memory:
        memory.turns.add("old", [("user", "We were writing the parser", ""), ("assistant", "Yes.", "")])
        memory.checkpoints.before_compaction("old")
    agent = Agent(tmp_path, tmp_path / "none")
    begun: list[Any] = []
    monkeypatch.setattr(background, "begin", lambda memory, event: begun.append(event))
    assert "The session before broke off at [K#1]" in agent.event("SessionStart", source="startup")
    background.work(path, begun[0].kind, SESSION, 0, 0)
    with Memory.open(path) as memory:
        assert memory.sessions.get("old").ended_at and memory.summaries.active("old")


def test_a_commit_is_linked_by_gits_own_hooks(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        decision = memory.decisions.decide("Queue", "One table")
        program = Path(sys.executable).with_name("memoranda")
        git_hooks.install(str(tmp_path), (str(program),))
        (tmp_path / "a").write_text("a")
        git(tmp_path, "add", "a")
        git(tmp_path, "commit", "-qm", f"Add a table (D#{decision})")
        commit = memory.commits.get(git(tmp_path, "rev-parse", "HEAD").strip())
        assert [link.decision for link in memory.commits.links_of_commit(commit.id)] == [f"D#{decision}"]
        environment = {**os.environ, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A"}
        done = subprocess.run(
            ["git", "-C", tmp_path, "commit", "--allow-empty", "-qm", "See D#99"],
            env={**environment, "GIT_COMMITTER_EMAIL": "a@b"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and "there is no decision D#99 here" in done.stderr
