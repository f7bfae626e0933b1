"""The clients that can be connected."""

from store.doors.clients.claude_code import CLAUDE_CODE
from store.doors.clients.client import Client
from store.doors.clients.codex import CODEX
from store.doors.clients.gemini import GEMINI
from store.doors.clients.opencode import OPENCODE

CLIENTS: dict[str, Client] = {client.name: client for client in (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)}
