"""The tools whose memories can be read. To add one, write its module and its name here;
tests/store/sources/test_contract.py says what it has to do."""

from store.base.errors import InvalidInput
from store.base.vocabulary import SOURCE_NAMES
from store.sources.readers.basic_memory import BASIC_MEMORY
from store.sources.readers.claude_code import CLAUDE_CODE
from store.sources.readers.claude_mem import CLAUDE_MEM
from store.sources.readers.engram import ENGRAM
from store.sources.readers.markdown import MARKDOWN
from store.sources.readers.mcp_memory_service import MCP_MEMORY_SERVICE
from store.sources.readers.mem0 import MEM0
from store.sources.readers.obsidian import OBSIDIAN
from store.sources.readers.okf import OKF
from store.sources.readers.openclaw import OPENCLAW
from store.sources.readers.server_memory import SERVER_MEMORY
from store.sources.sessions.codex import CODEX
from store.sources.sessions.gemini import GEMINI
from store.sources.sessions.opencode import OPENCODE
from store.sources.source import Machine, Source

SOURCES = (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    OPENCODE,
    OPENCLAW,
    ENGRAM,
    CLAUDE_MEM,
    BASIC_MEMORY,
    MCP_MEMORY_SERVICE,
    MEM0,
    SERVER_MEMORY,
    OKF,
    MARKDOWN,
    OBSIDIAN,
)
BY_NAME = {source.name: source for source in SOURCES}
AGENTS = ("claude-code", "codex", "gemini", "opencode")


def reader(name: str) -> Source:
    """Return the source of a tool. Raise InvalidInput."""
    if name not in BY_NAME:
        raise InvalidInput("There is no such source.", f"Choose one of: {', '.join(SOURCE_NAMES)}.")
    return BY_NAME[name]


def detected(machine: Machine) -> dict[str, list[str]]:
    """Return the places where each tool keeps something on this machine; tools without any are left out."""
    found = {name: BY_NAME[name].detect(machine) for name in SOURCE_NAMES}
    return {name: places for name, places in found.items() if places}
