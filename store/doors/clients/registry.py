"""The clients that can be connected."""

from store.doors.client import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, AgentClient

CLIENTS: dict[str, AgentClient] = {client.name: client for client in (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)}
