"""The core without the optional parts: it opens, serves and answers, and a verb of a missing part says so."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from store.base.runtime import PART_LOADERS, find_extension, require_part
from store.parts import PART_PACKAGES
from store.upkeep.optional import ForeignMemories, Sharing

ROOT = Path(__file__).parents[1]
FACT = "the team is five"
MISSING = "The part `{}` of Memoranda is not installed, and this needs it."
NEXT_STEP = "pip install --force-reinstall memoranda"

# the application's first screen, a fact, and the screens of the parts, which are not there
IN_THE_APPLICATION = """
import asyncio, sys
from pathlib import Path
from support.screen import opened
from support.stories import location
from store.memory import Memory

async def look(folder):
    with Memory(location(folder), "cli") as memory:
        memory.facts.remember("the team is five")
    async with opened(folder) as person:
        assert len(person.rows) == 1 and "the team is five" in person.rows[0]
        verbs = {"files keep": "tools", "files list": "tools", "files": "tools", "team": "team", "team replica": "team"}
        for line, part in verbs.items():
            before = person.said
            await person.command(line)
            assert person.said > before, line
            assert f"The part `{part}` of Memoranda is not installed" in str(person.app.messages[-1]), person.toasts
        await person.command("remember deploys are on Fridays")
        await person.until(lambda: len(person.rows) == 2)

asyncio.run(look(Path(sys.argv[1])))
"""


class Core:
    """A copy of the code without the parts, and a project in which it is used."""

    def __init__(self, folder: Path) -> None:
        self.code = folder / "code"
        for name in ("store", "tui"):
            shutil.copytree(ROOT / name, self.code / name)
        for package in PART_PACKAGES.values():
            shutil.rmtree(self.code / package.replace(".", "/"))
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        (self.project / ".memoranda").mkdir(parents=True)
        self.environ = {name: os.environ[name] for name in ("PATH", "LC_ALL") if name in os.environ}
        self.environ |= {"HOME": str(self.home), "PYTHONPATH": f"{self.code}{os.pathsep}{ROOT / 'tests'}"}

    def run(self, *words: str, text: str = "", status: int = 0) -> str:
        """Run Python with these words; return what it printed, of both streams."""
        command, where = [sys.executable, *words], {"cwd": self.project, "env": self.environ}
        done = subprocess.run(command, **where, input=text, capture_output=True, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def memoranda(self, *words: str, status: int = 0, text: str = "") -> str:
        return self.run("-m", "tui.main", *words, status=status, text=text)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Core:
    core = Core(tmp_path_factory.mktemp("core"))
    assert core.memoranda("remember", FACT).startswith("Remembered F#1 in your personal memory")
    return core


def test_every_part_is_here() -> None:
    assert list(PART_LOADERS) == list(PART_PACKAGES) and all(map(require_part, PART_PACKAGES))
    assert find_extension("team", Sharing) and find_extension("tools", ForeignMemories)


def test_the_command_line_needs_no_part(core: Core) -> None:
    where = core.run("-c", "import store, tui.main; print(store.__file__)")
    assert where.strip() == str(core.code / "store" / "__init__.py")
    assert "--salvage" in core.memoranda("health", "--help")
    assert FACT in core.memoranda("search", "team").replace("«", "").replace("»", "")
    assert FACT in core.memoranda("show", "F#1")
    core.memoranda("health", "--check")
    core.memoranda("remember", "a wrong word")
    assert "Erased 1 record" in core.memoranda("purge", "F#2", "--yes")
    assert "wrong" not in core.memoranda("facts", "--json")
    assert "MEMORY.md" in core.memoranda("sync")
    saved = core.project / "saved.jsonl"
    core.memoranda("export", str(saved))
    assert core.memoranda("import", str(saved), "--yes")


def test_agents_are_served_without_a_part(core: Core) -> None:
    client = {"name": "codex-mcp-client", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    lines = [{"id": 1, "method": "initialize", "params": hello}, {"method": "notifications/initialized", "params": {}}]
    lines = [{"jsonrpc": "2.0", **line} for line in (*lines, {"id": 2, "method": "tools/list", "params": {}})]
    answers = core.memoranda("mcp", text="".join(f"{json.dumps(line)}\n" for line in lines))
    tools = next(one for one in map(json.loads, answers.splitlines()) if one.get("id") == 2)["result"]["tools"]
    assert {"memory_search", "memory_remember"} <= {tool["name"] for tool in tools}
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "one", "cwd": str(core.project)}
    event["prompt"] = "How many are the team?"
    assert FACT in core.run("-m", "store.doors.hook_process", "claude-code", text=json.dumps(event))
    memory = str(core.project / ".memoranda" / "memory.db")
    core.run("-m", "store.doors.hook_background", memory, "end", "one", "0", "0")


def test_the_application_opens_without_a_part(core: Core, tmp_path: Path) -> None:
    program = tmp_path / "look.py"
    program.write_text(IN_THE_APPLICATION)
    core.run(str(program), str(tmp_path))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("tools", ("files",)),
        ("tools", ("files", "keep")),
        ("tools", ("guest", "list")),
        ("tools", ("import",)),
        ("tools", ("import", "mem0")),
        ("team", ("team",)),
        ("team", ("share", "work")),
        ("team", ("team", "replica")),
        ("team", ("replicate", "postgresql://nobody@nowhere/nothing")),
        ("rescue", ("health", "--salvage", "memory.db")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)  # fmt: skip
def test_a_verb_of_a_missing_part_says_what_is_missing(core: Core, part: str, words: tuple[str, ...]) -> None:
    said = core.memoranda(*words, status=1)
    assert MISSING.format(part) in said and NEXT_STEP in said


def test_a_purge_says_what_it_cannot_reach_without_the_parts(core: Core) -> None:
    """What guard keeps is sealed, and what was shared is elsewhere: neither is taken for clean."""
    core.memoranda("remember", "Ines moved to Vigo")
    kept = core.home / ".local" / "share" / "memoranda" / "guard.db"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"sealed")
    try:
        plan = core.memoranda("purge", "--query", "Vigo", "--dry-run")
        assert "guard cannot read what it keeps" in plan and MISSING.format("tools") in plan
        assert str(kept) in core.memoranda("verify-forgotten", "Vigo moved away", status=1)
    finally:
        kept.unlink()
