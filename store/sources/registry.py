"""The tools whose memories can be read: a module each, imported when it is needed. To add one, write its module and its
line here; tests/store/sources/test_contract.py says what it has to do."""

from store.base.errors import InvalidInput
from store.base.vocabulary import SOURCE_NAMES
from store.sources.source import AgentReader, Machine, Reader

MODULES = {
    "claude-code": "store.sources.readers.claude_code",
    "codex": "store.sources.sessions.codex",
    "gemini": "store.sources.sessions.gemini",
    "opencode": "store.sources.sessions.opencode",
    "openclaw": "store.sources.readers.openclaw",
    "engram": "store.sources.readers.engram",
    "claude-mem": "store.sources.readers.claude_mem",
    "basic-memory": "store.sources.readers.basic_memory",
    "mcp-memory-service": "store.sources.readers.mcp_memory_service",
    "mem0": "store.sources.readers.mem0",
    "server-memory": "store.sources.readers.server_memory",
    "okf": "store.sources.readers.okf",
    "markdown": "store.sources.readers.markdown",
    "obsidian": "store.sources.readers.obsidian",
}

AGENTS = ("claude-code", "codex", "gemini", "opencode")


def reader(name: str) -> Reader:
    """Return the reader of a tool. Raise InvalidInput."""
    if name not in MODULES:
        raise InvalidInput("There is no such source.", f"Choose one of: {', '.join(SOURCE_NAMES)}.")
    found: Reader = __import__(MODULES[name], fromlist=("",))
    return found


def agent(name: str) -> AgentReader:
    """Return the reader of one of AGENTS."""
    found: AgentReader = __import__(MODULES[name], fromlist=("",))
    return found


def detected(machine: Machine) -> dict[str, list[str]]:
    """Return the places where each tool keeps something on this machine; tools without any are left out."""
    found = {name: reader(name).detect(machine) for name in SOURCE_NAMES}
    return {name: places for name, places in found.items() if places}
