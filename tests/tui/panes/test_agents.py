"""The view of agents: what each did and was sent, read again only after a change, with mute, undo and pause."""

from pathlib import Path

import pytest
from support.agent_session import Agent, at_once, replay, repository
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story, copy

from store.base.clock import utc_now
from store.doors import pack
from store.doors.agent_log import note_agent_session
from store.doors.mcp_tools import McpSession
from store.doors.trust import get_pause_end
from store.memory import Memory
from tui.actions.action import Done
from tui.panes.agents import PANE, AgentRow
from tui.panes.pane import Entry, EntryRows, Loaded, Reading, View

LLAMA = "what is the llama called?"


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    return copy(tmp_path / "billing-api")


def act(memory: Memory, title: str, client: str = "codex-mcp-client") -> None:
    """An agent logs a decision and reads, as it would by its server."""
    session = McpSession(memory.location)
    session.call_tool("memory_log_decision", {"title": title, "chosen": "so"}, None, client)
    session.call_tool("memory_search", {"query": "llama"}, None, client)
    session.close()


def send(memory: Memory, session: str = "s") -> pack.Pack:
    """What claude-code is sent for a prompt."""
    made = pack.build_prompt_pack(memory, "claude-code", session, LLAMA)
    pack.log_pack(memory, made, "claude-code", session)
    with memory.database.write("agent:claude-code", "session") as write:
        note_agent_session(write, session, "claude-code")
    return made


def remember(memory: Memory) -> set[str]:
    """Three records that are sent together."""
    fact, _ = memory.facts.remember("The llama is called Dolly", pinned=True)
    decision = memory.decisions.decide("Name of the llama", "Dolly", rationale="the llama is called so")
    return {f"F#{fact}", f"D#{decision}", f"A#{memory.tasks.add_task('Find what the llama is called at home')}"}


def read(memory: Memory, last: Loaded | None = None, agent: str | None = None) -> Loaded:
    return PANE.read(Reading(None, memory, View().choose(agent=agent), last=last))  # type: ignore[arg-type]


def entries(loaded: Loaded) -> list[Entry]:
    assert isinstance(loaded.rows, EntryRows)
    return [one for one in loaded.rows.entries if isinstance(one, Entry)]


def drawn(one: Entry) -> str:
    return " ".join("".join(text for text, _ in line).strip() for line in one.draw(110))


def described(one: Entry) -> str:
    return "\n".join("".join(text for text, _ in line) for line in one.describe())


def words(thing: AgentRow) -> dict[str, str]:
    """The keys that do something to a row, each with its word in the footer."""
    fitting = [action for action in reversed(PANE.actions) if action.things([thing])]
    return {action.key: action.word_for(thing) for action in fitting}


def test_rows_and_what_each_says_and_does(story: Story) -> None:
    with Memory.open(str(story.path)) as memory:
        assert len(read(memory).rows) == 0 and "No agent asked for anything here yet" in PANE.empty
        cited = remember(memory)
        send(memory)
        act(memory, "Use a queue")
        loaded = read(memory)
        assert [piece[0] for piece in loaded.says] == ["2 at work"]
        assert [choice.value for choice in loaded.facets[0].choices] == ["codex", "claude-code"]
        pause = {"record.pin": "pause all for an hour"}
        undo, mute = {"step.undo": "undo its session…"}, {"record.mute": "mute what it says"}
        expected = [  # row × what its line has × what the preview has × its keys
            ("● codex", "at work; 2 calls today", "introduced itself as codex-mcp-client", pause),
            ("● claude-code", "at work", "introduced itself as claude-code", pause),
            ("codex-mcp-client", "memory_search", "Read", pause),
            ("codex-mcp-client", "memory_log_decision", "Wrote ", pause | undo),
            ("→ claude-code", "prompt", f"Prompt {LLAMA}", pause | mute),
        ]
        found = entries(loaded)
        assert len(found) == len(expected)
        for one, (start, line, more, keys) in zip(found, expected, strict=True):
            assert drawn(one).startswith(start) and line in drawn(one) and more in described(one)
            assert words(one.thing) == keys
        assert all(citation in described(found[-1]) for citation in cited)
        assert "The llama is called Dolly" in described(found[-1])
        narrowed = entries(read(memory, agent="codex"))
        assert [drawn(one).split()[0] for one in narrowed] == ["●", "codex-mcp-client", "codex-mcp-client"]


def test_it_is_read_again_only_after_a_change(story: Story) -> None:
    with Memory.open(str(story.path)) as memory, Memory.open(str(story.path)) as other:
        first = read(memory)
        assert read(memory, first) is first and read(memory, first, agent="codex") is not first
        act(other, "Use a queue")
        second = read(memory, first)
        assert second is not first and len(entries(second)) == 3 and read(memory, second) is second


def test_what_was_sent_is_muted_and_let_in_again(story: Story) -> None:
    with Memory.open(str(story.path)) as memory:
        cited = remember(memory)
        send(memory)
        mute = next(action for action in PANE.actions if action.key == "record.mute")
        assert mute.does is not None
        for said, word, sent in (("Muted", "let it in again", set()), ("Unmuted", "mute what it says", cited)):
            thing = entries(read(memory))[-1].thing
            assert mute.does(memory, [thing]) == f"{said} 3 records"
            after = entries(read(memory))[-1]
            assert words(after.thing)["record.mute"] == word and (", muted" in described(after)) == (said == "Muted")
            assert set(send(memory, said).citations) == sent


def test_one_key_silences_all_and_lets_them_speak_again(story: Story) -> None:
    with Memory.open(str(story.path)) as memory:
        act(memory, "Use a queue")
        pause = next(action for action in PANE.actions if action.key == "record.pin" and not action.kinds)
        assert pause.does is not None
        for paused, word in ((True, "end the pause"), (False, "pause all for an hour")):
            said = pause.does(memory, [])
            assert isinstance(said, Done) and bool(get_pause_end(str(story.path), memory.now)) is paused
            loaded = read(memory)
            assert ("paused until" in loaded.says[0][0]) is paused
            assert words(entries(loaded)[0].thing)["record.pin"] == word


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_what_agents_do_arrives_while_one_looks(story: Story, person: Person) -> None:
    await person.command("agents")
    await person.until(lambda: person.sees("› Agents", "No agent asked for anything here yet"))
    with Memory.open(str(story.path)) as memory:
        act(memory, "Use a queue")
        remember(memory)
        send(memory)
    await person.until(lambda: person.sees("● codex  at work", "→ claude-code", "2 at work"))
    await person.press("G")  # the oldest that an agent did
    await person.follow(("k", "memory_search"), ("j", "Wrote D#"), ("p", "paused until"), ("p", "2 at work"))
    await person.follow(("enter", "Wrote D#"), ("escape", "undo its session…"))
    await person.plan_of("U")
    assert person.sees("UNDO all that mcp:codex-mcp-client wrote in mcp-") and len(person.plan) == 1
    await person.press("enter")
    await person.until(lambda: any("1 record changed" in toast for toast in person.toasts))
    await person.command("mcp")  # the server is not started in the application
    await person.until(lambda: any("An agent starts that" in toast for toast in person.toasts))


async def test_the_application_shows_a_whole_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    at_once(monkeypatch)
    root = tmp_path / "shop"
    repository(root)
    with Memory.open(str(root / ".memoranda" / "memory.db"), "app") as memory:
        decision = memory.decisions.decide("Format of the export of invoices", "CSV", rationale="the accountant asks")
        memory.facts.remember("Invoices are exported with the library polars")
        replay(Agent(root, tmp_path / "transcript.jsonl"), decision)
    async with opened(root, size=HUGE, clock=utc_now) as person:
        await person.press("3")
        await person.until(lambda: any("Export invoices" in row for row in person.rows))
        await person.command("agents")
        await person.until(lambda: person.sees("● claude-code  at work", "TodoWrite", "SessionEnd"))
        await person.until(lambda: person.sees("→ claude-code", f"D#{decision}"))
        await person.press("G")  # what the session began with
        if not person.sees("D#1 "):
            await person.press("k")
        await person.until(lambda: person.sees("start", "used by the reply"))
