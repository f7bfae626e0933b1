"""Who is speaking, and what the person lets it write."""

import os

import pytest
from support.tables import each

from store.base.errors import InvalidInput
from store.config.configuration import load_config, project_settings_path, user_settings_path, write_setting
from store.doors import trust
from store.memory import Memory


@each(
    "said, name, agent",
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
    assert trust.clean_client_name(said) == name
    assert trust.agent_of(name) == trust.agent_of(f"mcp:{name}") == trust.agent_of(f"hook:{name}") == agent


def test_only_the_persons_own_file_trusts(memory: Memory) -> None:
    def policy(client: str) -> str:
        return trust.get_write_policy(load_config(memory.location), client)

    assert policy("codex-mcp-client") == trust.POLICY_PROPOSE
    write_setting(user_settings_path(), "trust.mcp.codex", "believe-quoted")
    assert policy("codex-mcp-client") == trust.POLICY_BELIEVE_QUOTED
    write_setting(user_settings_path(), "trust.mcp.codex-mcp-client", "off")
    assert policy("codex-mcp-client") == trust.POLICY_OFF
    assert policy("claude-code") == trust.POLICY_PROPOSE
    path = project_settings_path(memory.location)
    assert path is not None
    with pytest.raises(InvalidInput, match="only your own file"):
        write_setting(path, "trust.mcp.claude-code", "believe-quoted")
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write('[trust.mcp]\nclaude-code = "believe-quoted"\n')
    assert policy("claude-code") == trust.POLICY_PROPOSE
    assert any("trust.mcp" in one for one in load_config(memory.location).problems)
    with pytest.raises(InvalidInput, match="propose or believe-quoted or off"):
        write_setting(user_settings_path(), "trust.mcp.claude-code", "always")
