"""The screen of agents: what each did and was sent, live, with mute and pause."""

from pathlib import Path

import pytest
from support.agent_session import Agent, at_once, replay, repository
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story, copy

from store.base.clock import utc_now
from store.doors import pack
from store.doors.mcp_tools import McpSession
from store.doors.trust import get_pause_end
from store.memory import Memory
from tui.screens.agents import AgentsScreen


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    return copy(tmp_path / "billing-api")


def looking(person: Person) -> bool:
    return isinstance(person.app.screen, AgentsScreen)


def act(story: Story, title: str, client: str = "codex-mcp-client") -> None:
    """An agent logs a decision, as it would by its server."""
    with Memory.open(str(story.path)) as memory:
        session = McpSession(memory.location)
        answer = session.call_tool("memory_log_decision", {"title": title, "chosen": "so"}, None, client)
        assert not answer.failed, answer.text
        session.call_tool("memory_remember", {"text": f"{title} matters"}, None, client)
        session.close()


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_what_agents_do_arrives_while_one_looks(story: Story, person: Person) -> None:
    await person.command("agents")
    await person.until(lambda: person.sees("AGENTS", "No agent asked for anything here yet"))
    act(story, "Use a queue")
    await person.until(lambda: person.sees("● codex  at work", "2 calls today", "1 at work"))
    assert person.sees("memory_log_decision")
    await person.press("j")
    await person.press("j")
    await person.until(lambda: person.sees("Wrote D#"))
    await person.press("escape")
    await person.until(lambda: not looking(person))


async def test_what_was_sent_is_opened_and_all_of_it_muted_and_let_in_again(story: Story) -> None:
    with Memory.open(str(story.path)) as memory:
        number, _ = memory.facts.remember("The llama is called Dolly", pinned=True)
        decision = memory.decisions.decide("Name of the llama", "Dolly", rationale="the llama is called so")
        task = memory.tasks.add_task("Find what the llama is called at home")
        made = pack.build_prompt_pack(memory, "claude-code", "s", "what is the llama called?")
        assert made.text
        pack.log_pack(memory, made, "claude-code", "s")
    async with opened(story.folder, size=WIDE) as person:
        await person.command("agents")
        await person.until(lambda: person.sees("claude-code", f"F#{number}"))
        await person.press("j")
        await person.until(lambda: person.sees("what is the llama called?", "The llama is called Dolly", "x mutes"))
        await person.press("x")
        await person.until(lambda: any("Muted 3 records" in toast for toast in person.toasts))
        with Memory.open(str(story.path)) as memory:
            assert memory.mutes.filter_muted_facts([number]) == {number}
            assert pack.build_prompt_pack(memory, "claude-code", "t", "what is the llama called?").text == ""
        await person.until(lambda: person.sees("x lets it in again", ", muted"))
        await person.press("x")
        await person.until(lambda: any("Unmuted 3 records" in toast for toast in person.toasts))
    with Memory.open(str(story.path)) as memory:
        again = pack.build_prompt_pack(memory, "claude-code", "t", "what is the llama called?")
        assert set(again.citations) == {f"F#{number}", f"D#{decision}", f"A#{task}"}


async def test_a_long_text_that_was_sent_is_opened_on_the_whole_screen(story: Story) -> None:
    with Memory.open(str(story.path)) as memory:
        for number in range(12):
            memory.facts.remember(f"Preference number {number} of the person", domain="preferences")
        made = pack.build_start_pack(memory, "claude-code", "s")
        pack.log_pack(memory, made, "claude-code", "s")
    async with opened(story.folder, size=WIDE) as person:
        await person.command("agents")
        await person.until(lambda: person.sees("claude-code", "start"))
        await person.press("j")
        await person.until(lambda: person.sees("enter opens", "F#"))
        assert not person.sees("memory_search finds it"), "its end is below the edge"
        await person.press("enter")
        await person.until(lambda: not person.sees("○ claude-code") and not person.sees("enter opens"))
        await person.press("G")
        await person.until(lambda: person.sees("memory_search finds it"))
        await person.press("escape")
        await person.until(lambda: looking(person) and person.sees("enter opens"))
        await person.press("escape")
        await person.until(lambda: not looking(person))


async def test_what_an_agent_wrote_in_a_session_is_taken_back(story: Story) -> None:
    act(story, "Use a queue")
    async with opened(story.folder, size=WIDE) as person:
        await person.command("agents")
        await person.until(lambda: person.sees("codex  at work", "memory_log_decision"))
        await person.press("j")
        await person.until(lambda: person.sees("u undoes its session"))
        await person.press("u")
        await person.until(lambda: person.sees("Undo all by mcp:codex-mcp-client"))
        await person.press("y", "enter")
        said = "Undid all by mcp:codex-mcp-client: 2 records"
        await person.until(lambda: any(said in text for _, text in person.app.messages))


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
        assert any("From now on" in row for row in person.rows) and any("The accountant" in row for row in person.rows)
        await person.press("2")
        await person.until(lambda: any("Export invoices" in row for row in person.timeline))
        await person.press("3")
        await person.until(lambda: person.sees("3 automatic hidden"))
        await person.press("5")
        await person.until(lambda: person.sees("1 done hidden", "Write", "Document it"))
        await person.command("agents")
        await person.until(lambda: person.sees("● claude-code  at work", "TodoWrite", "SessionEnd"))
        await person.until(lambda: person.sees("→ claude-code", f"D#{decision}"))
        await person.press("G")  # what the session began with
        if not person.sees("D#1 "):
            await person.press("k")
        await person.until(lambda: person.sees("start", "used by the reply"))


async def test_one_key_silences_all_and_lets_them_speak_again(story: Story, person: Person) -> None:
    await person.command("agents")
    await person.until(lambda: person.sees("p pauses all"))
    await person.press("p")
    await person.until(lambda: person.sees("paused until", "p ends the pause"))
    assert get_pause_end(str(story.path), "2000-01-01T00:00:00.000Z")
    await person.press("p")
    await person.until(lambda: person.sees("p pauses all"))
    assert not get_pause_end(str(story.path), "2000-01-01T00:00:00.000Z")


async def test_the_server_is_not_started_in_the_application(person: Person) -> None:
    await person.command("mcp")
    await person.until(lambda: any("An agent starts that" in toast for toast in person.toasts))
