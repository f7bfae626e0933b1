"""Who is speaking, and what the person lets it write."""

import os

import pytest

from store.base.errors import InvalidInput
from store.config.configuration import load, project_path, put, user_path
from store.doors import trust
from store.memory import Memory


@pytest.mark.parametrize(
    ("said", "name", "agent"),
    [
        ("claude-code", "claude-code", "claude-code"),
        ("codex-mcp-client", "codex-mcp-client", "codex"),
        ("Gemini CLI", "gemini-cli", "gemini"),
        ("x" * 90, "x" * 40, "x" * 40),
        ("\u202eevil\n: name", "evil-name", "evil-name"),
        ("", "unknown", "unknown"),
        (None, "unknown", "unknown"),
        (7, "unknown", "unknown"),
    ],
)
def test_a_name_is_plain(said: object, name: str, agent: str) -> None:
    assert trust.client_name(said) == name
    assert trust.agent(name) == trust.agent(f"mcp:{name}") == trust.agent(f"hook:{name}") == agent


def test_only_the_persons_own_file_trusts(memory: Memory) -> None:
    assert trust.policy(load(memory.location), "codex-mcp-client") == trust.PROPOSE
    put(user_path(), "trust.mcp.codex", "believe-quoted")
    assert trust.policy(load(memory.location), "codex-mcp-client") == trust.BELIEVE_QUOTED
    put(user_path(), "trust.mcp.codex-mcp-client", "off")
    assert trust.policy(load(memory.location), "codex-mcp-client") == trust.OFF
    assert trust.policy(load(memory.location), "claude-code") == trust.PROPOSE
    path = project_path(memory.location)
    assert path is not None
    with pytest.raises(InvalidInput, match="only your own file"):
        put(path, "trust.mcp.claude-code", "believe-quoted")
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write('[trust.mcp]\nclaude-code = "believe-quoted"\n')
    config = load(memory.location)
    assert trust.policy(config, "claude-code") == trust.PROPOSE and any("trust.mcp" in one for one in config.problems)
    with pytest.raises(InvalidInput, match="propose or believe-quoted or off"):
        put(user_path(), "trust.mcp.claude-code", "always")
