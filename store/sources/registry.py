"""The tools whose memories can be read. To add one, add its name here and to `SOURCE_NAMES`;
tests/store/sources/test_contract.py says what it has to do."""

from store.base.errors import InvalidInput
from store.base.vocabulary import SOURCE_NAMES
from store.sources.claude_code import CLAUDE_CODE_SOURCE
from store.sources.database_readers import (
    CLAUDE_MEM_SOURCE,
    ENGRAM_SOURCE,
    MCP_MEMORY_SOURCE,
    MEM0_SOURCE,
    SERVER_MEMORY_SOURCE,
)
from store.sources.note_readers import (
    BASIC_MEMORY_SOURCE,
    MARKDOWN_SOURCE,
    OBSIDIAN_SOURCE,
    OKF_SOURCE,
    OPENCLAW_SOURCE,
)
from store.sources.session_readers import CODEX_SOURCE, GEMINI_SOURCE, OPENCODE_SOURCE
from store.sources.source import Machine, MemorySource

ALL_SOURCES = (
    CLAUDE_CODE_SOURCE,
    CODEX_SOURCE,
    GEMINI_SOURCE,
    OPENCODE_SOURCE,
    OPENCLAW_SOURCE,
    ENGRAM_SOURCE,
    CLAUDE_MEM_SOURCE,
    BASIC_MEMORY_SOURCE,
    MCP_MEMORY_SOURCE,
    MEM0_SOURCE,
    SERVER_MEMORY_SOURCE,
    OKF_SOURCE,
    MARKDOWN_SOURCE,
    OBSIDIAN_SOURCE,
)
SOURCES_BY_NAME = {source.name: source for source in ALL_SOURCES}
AGENT_SOURCES = ("claude-code", "codex", "gemini", "opencode")


def get_source(name: str) -> MemorySource:
    """Return the source of a tool by its name. Raise InvalidInput."""
    if name not in SOURCES_BY_NAME:
        raise InvalidInput("There is no such source.", f"Choose one of: {', '.join(SOURCE_NAMES)}.")
    return SOURCES_BY_NAME[name]


def detect_sources(machine: Machine) -> dict[str, list[str]]:
    """Return the places where each tool keeps something on this machine; tools without any are left out."""
    found = {name: SOURCES_BY_NAME[name].detect(machine) for name in SOURCE_NAMES}
    return {name: places for name, places in found.items() if places}
