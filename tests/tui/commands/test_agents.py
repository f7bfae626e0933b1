"""What `memoranda agents NAME` says of one agent."""

from store.doors import pack
from store.doors.agent_log import note_agent_call, note_cited_records
from store.memory import Memory
from tui.commands.agents import agents
from tui.commands.call import Call


def test_all_that_an_agent_did_and_what_it_used_is_said_once(memory: Memory) -> None:
    """Under each name that it calls itself by; and which of the records that it was sent its reply cited."""
    memory.facts.remember("The llama is called Dolly", pinned=True)
    sent = pack.build_prompt_pack(memory, "codex", "monday", "what is the llama called?")
    pack.log_pack(memory, sent, "codex", "monday")
    with memory.database.write("agent", "test") as write:
        called = (
            ("codex", "recall"),
            ("codex-mcp-client", "memory_search"),
            ("gemini", "memory_ask"),
            ("codex", "stop"),
        )
        for client, name in called:
            note_agent_call(write, client=client, session="", door="mcp", name=name, milliseconds=1)
    call = Call(memory.location, memory, "", lambda question: False)
    assert not any("used" in line for line in agents(call, agent="codex").lines)
    with memory.database.write("agent", "test") as write:
        note_cited_records(write, "monday", "Dolly [F#1]")
    said = "\n".join(agents(call, agent="codex").lines)
    assert [said.count(name) for name in ("recall", "memory_search", "memory_ask")] == [1, 1, 0]
    assert said.endswith("F#1; used F#1")
    assert said.index("stop") < said.index("memory_search") < said.index("recall"), "the newest first, of all its names"
    assert "memory_search" not in "".join(agents(call, agent="codex", limit=1).lines), "so many of all, not of each"
