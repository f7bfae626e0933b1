"""A whole session of an agent against a real repository: start, ten prompts, tools, a commit, a compaction, the end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.agent_session import PROMPTS, SESSION, Agent, at_once, git, replay, repository

from store.base.clock import from_ms, to_ms, utc_now
from store.conversations.sessions import Sessions
from store.conversations.summaries import Summaries
from store.doors import agent_log, git_hooks, hook_background, hook_handlers
from store.doors.mcp_tools import McpSession
from store.history.restore_plan import Plans
from store.memory import Memory
from store.upkeep import maintenance

AGENT = [sys.executable, "-m", "tui.main"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository; what a hook leaves to another process is done at once."""
    at_once(monkeypatch)
    repository(tmp_path / "shop")
    return tmp_path / "shop"


def test_a_whole_session(tmp_path: Path, root: Path) -> None:
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        decision = memory.decisions.decide("Format of the export of invoices", "CSV", rationale="the accountant asks")
        memory.facts.remember("Invoices are exported with the library polars")
        before = memory.history.steps(limit=1)
        agent = Agent(root, tmp_path / "transcript.jsonl")
        replies = replay(agent, decision)
        assert f"[D#{decision}]" in agent.told[0] and f"[D#{decision}]" in agent.told[-2], "told again once it is cut"

        turns = memory.turns.last_turns(SESSION, 50)
        assert [turn.text for turn in turns] == [text for pair in zip(PROMPTS, replies, strict=True) for text in pair]
        assert {turn.origin for turn in turns} == {"hook:claude-code"}
        facts = {fact.fact for fact in memory.facts.get_many(memory.facts.ids(memory.now))}
        assert any("cents" in fact for fact in facts) and any("Rosa Vidal" in fact for fact in facts)
        every = memory.tasks.ids(statuses=("pending", "in_progress", "done"))
        tasks = {task.text: task.status for task in memory.tasks.get_many(every)}
        assert tasks == {"Document it": "pending", "Write its tests": "in_progress", "Write the exporter": "done"}
        commit = memory.commits.get(git(root, "rev-parse", "HEAD").strip())
        (link,) = memory.commits.links_of_commit(commit.id)
        assert (link.decision, link.link_type) == (f"D#{decision}", "implements")
        taken = memory.checkpoints.list_newest_first()
        assert [point.used for point in taken if point.trigger == "usage" and point.used][::-1] == [70, 86]
        assert any(point.trigger == "session_end" and point.session == SESSION for point in taken)
        assert Summaries(memory.database).active(SESSION)
        assert Sessions(memory.database).get(SESSION).ended_at
        snapshots = list((root / "memory" / "snapshots").glob("*.md"))
        assert len(snapshots) == 1 and "Commit it." in snapshots[0].read_text()
        sent = agent_log.list_injections(memory.database, session=SESSION)
        assert all(one.tokens <= 150 for one in sent if one.event == "prompt")
        assert any(f"D#{decision}" in one.used for one in sent)
        assert max(map(len, agent.told)) <= 9_000
        called = {call.name for call in agent_log.list_agent_calls(memory.database)}
        assert {"SessionStart", "UserPromptSubmit", "Stop", "TodoWrite", "PreCompact", "SessionEnd"} <= called
        agent.event("SessionEnd", reason="other")
        agent.event("SessionStart", source="resume")
        agent.event("SessionEnd", reason="prompt_input_exit", transcript_path="")
        assert list((root / "memory" / "snapshots").glob("*.md")) == snapshots, "nothing was said since"
        agent.turn("And the VAT?", "Next.", 1_000)
        agent.event("SessionEnd", reason="other", transcript_path="x")
        assert len(list((root / "memory" / "snapshots").glob("*.md"))) == 2
        # taken back: the list of tasks by one step each
        lists = [step for step in memory.history.steps() if step.reason.startswith("task list")]
        assert len(lists) == 2 and before
        memory.history.undo(lists[0].seq)
        assert memory.tasks.get(1).status == "in_progress"


def test_the_command_itself_ends_with_0_whatever_it_is_given(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember("The deployment window is Thursday afternoon")
        nothing = ("claude-code", "", "git", "git post-commit", "--help-me")
        for words, raw in (("claude-code", b"{"), ("nobody", b"{}"), *((words, b"") for words in nothing)):
            command = [*AGENT, "hook", *words.split()]
            done = subprocess.run(command, input=raw, capture_output=True, cwd=tmp_path, check=False)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        said = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "when is the deployment window?"}
        asked = json.dumps({**said, "cwd": str(tmp_path)}).encode()
        done = subprocess.run([*AGENT, "hook", "codex"], input=asked, capture_output=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "Thursday" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        assert memory.turns.last_turns("s")[0].text == "when is the deployment window?"


def test_a_session_that_never_ended_is_swept_up_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = str(tmp_path / ".memoranda" / "memory.db")
    ago = from_ms(to_ms(utc_now()) - 2 * 3_600_000)
    with Memory.open(path, clock=lambda: ago) as memory:
        memory.turns.add_turns("old", [("user", "We were writing the parser", ""), ("assistant", "Yes.", "")])
        memory.checkpoints.before_compaction("old")
    agent = Agent(tmp_path, tmp_path / "none")
    begun: list[Any] = []
    monkeypatch.setattr(hook_handlers, "start_background", lambda memory, event, caller: begun.append(event))
    assert "The session before broke off at [K#1]" in agent.event("SessionStart", source="startup")
    hook_background.do_background_work(path, begun[0].kind, SESSION, 0, 0)
    with Memory.open(path) as memory:
        assert Sessions(memory.database).get("old").ended_at and Summaries(memory.database).active("old")


@pytest.mark.parametrize("door", ["mcp", "hook"])
def test_what_an_agent_did_by_server_and_hooks_is_taken_back_at_once(tmp_path: Path, root: Path, door: str) -> None:
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        agent = Agent(root, tmp_path / "none")
        agent.event("UserPromptSubmit", prompt="Which queue do we take?", prompt_id="1")
        server = McpSession(memory.location)
        server.call_tool("memory_log_decision", {"title": "Queue", "chosen": "one table"}, None, "claude-code")
        server.close()
        todos = {"todos": [{"content": "Write the queue", "status": "in_progress"}]}
        agent.event("PostToolUse", tool_name="TodoWrite", tool_input=todos, tool_use_id="1")
        git(root, "commit", "--allow-empty", "-qm", "Add the queue, see D#1")
        agent.event("PostToolUse", tool_name="Bash", tool_input={"command": "git commit"}, tool_use_id="2")
        plan = Plans(memory.database).plan_origin(f"{door}:claude-code", SESSION)
        assert len(plan.changes) == 3 and {change.citation for change in plan.changes} >= {"D#1", "A#1"}
        Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
        assert memory.decisions.ids() == [] and memory.tasks.ids() == []
        memory.history.undo()
        assert memory.decisions.ids() == [1] and memory.tasks.ids() == [1]


def test_a_number_in_a_commit_that_an_agent_fetched_or_picked_is_text(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    git(root, "commit", "--allow-empty", "-qm", "First")
    git(tmp_path, "clone", "-q", str(root), str(other))
    (other / "a").write_text("a")
    git(other, "add", "a")
    git(other, "commit", "-qm", "Theirs, implements D#1")
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        memory.decisions.decide("Queue", "one table")
        agent = Agent(root, tmp_path / "none")
        git(root, "fetch", "-q", str(other))
        git(root, "cherry-pick", "FETCH_HEAD")
        for number, command in enumerate(("git log -1  # their commit", "git pull && git commit -m x")):
            agent.event("PostToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id=f"{number}")
            commit = memory.commits.get(git(root, "rev-parse", "HEAD").strip())
            assert commit.subject == "Theirs, implements D#1"
            assert not memory.commits.links_of_decision(1)
            git(root, "reset", "-q", "--hard", "FETCH_HEAD")


@pytest.mark.parametrize("hook_first", [True, False])
def test_a_commit_that_an_agent_names_by_its_beginning_is_that_commit(tmp_path: Path, root: Path, hook_first: bool):
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        memory.decisions.decide("Queue", "one table")
        agent, server = Agent(root, tmp_path / "none"), McpSession(memory.location)
        git(root, "commit", "--allow-empty", "-qm", "Add the queue")
        sha = git(root, "rev-parse", "HEAD").strip()
        for by_hook in (hook_first, not hook_first):
            if by_hook:
                agent.event("PostToolUse", tool_name="Bash", tool_input={"command": "git commit"}, tool_use_id="1")
            else:
                given = {"sha": sha[:7].upper(), "decision_ids": [1]}  # as git prints it after a commit
                answer = server.call_tool("memory_log_commit", given, None, "claude-code")
                assert answer.data["duplicate"] == hook_first and answer.data["linked"] == ["D#1"]
        server.close()
        rows = memory.database.rows("SELECT sha FROM commits WHERE substr(sha, 1, 7) = ?", (sha[:7],))
        assert list(rows) == [(sha,)]


def test_a_commit_that_is_logged_before_git_is_read_is_what_git_says_of_it(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(root), str(other))
    git(other, "commit", "--allow-empty", "-qm", "Theirs, implements D#1")
    (root / "queue.py").write_text("QUEUE = []\n")
    git(root, "add", "queue.py")
    git(root, "commit", "-qm", "Add the queue\n\nImplements D#1, see D#2.")
    mine = git(root, "rev-parse", "HEAD").strip()
    git(root, "pull", "-q", "--no-rebase", "--no-edit", str(other))
    theirs = git(other, "rev-parse", "HEAD").strip()
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        for title in ("Queue", "Format", "Retry"):
            memory.decisions.decide(title, "one table")
        number = memory.iterations.start_iteration("feature", "The queue")
        server = McpSession(memory.location)
        given = {"sha": mine[:9], "message": "queue", "decision_ids": [3], "iteration_id": number}
        answer = server.call_tool("memory_log_commit", given, None, "claude-code")
        assert answer.data["linked"] == ["D#1", "D#2", "D#3"] and "linked to D#1, D#2, D#3" in answer.text
        assert server.call_tool("memory_log_commit", {"sha": mine}, None, "claude-code").data["duplicate"]
        assert server.call_tool("memory_log_commit", {"sha": theirs}, None, "claude-code").data["linked"] == []
        server.close()
        found = memory.commits.get(mine)
        assert (found.message.splitlines()[0], found.author, found.insertions) == ("Add the queue", "Ana", 1)
        assert found.iteration_id == number and found.committed_at[:10] == utc_now()[:10]
        maintenance.run_maintenance(memory, str(root))
        kinds = {(link.decision, link.link_type) for link in memory.commits.links_of_commit(found.id)}
        assert kinds == {("D#1", "implements"), ("D#2", "relates"), ("D#3", "implements")}
        memory.commits.unlink(mine, 2)
        server.call_tool("memory_log_commit", {"sha": mine}, None, "claude-code")
        assert len(memory.commits.links_of_commit(found.id)) == 2, "what the person took away stays away"
        assert not memory.commits.links_of_commit(memory.commits.get(theirs).id)


def test_a_commit_is_linked_by_gits_own_hooks(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        decision = memory.decisions.decide("Queue", "One table")
        program = Path(sys.executable).with_name("memoranda")
        git_hooks.install_git_hooks(str(tmp_path), (str(program),))
        (tmp_path / "a").write_text("a")
        git(tmp_path, "add", "a")
        git(tmp_path, "commit", "-qm", f"Add a table (D#{decision})")
        commit = memory.commits.get(git(tmp_path, "rev-parse", "HEAD").strip())
        assert [link.decision for link in memory.commits.links_of_commit(commit.id)] == [f"D#{decision}"]
        environment = {**os.environ, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A"}
        environment |= {"GIT_COMMITTER_EMAIL": "a@b", "GIT_EDITOR": "true"}
        (tmp_path / "a").write_text("of D#98\n")
        for words in (["--allow-empty", "-qm", "See D#99"], ["-qav", "-em", "Write it down"]):
            command = ["git", "-C", tmp_path, "commit", *words]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0
            assert ("there is no decision D#99 here" in done.stderr) == ("See D#99" in words)
            assert "D#98" not in done.stderr, "the change that git shows is no message"
