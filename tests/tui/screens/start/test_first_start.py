"""The first start: what was found and done, and what is worth doing, one key each; real repositories and files."""

import json
import re
import sys
import threading
from pathlib import Path

import pytest
from support import repositories
from support.repositories import create
from support.screen import NARROW, WIDE, Person, opened

from store.memory import Memory
from store.upkeep.auto_ingest import IngestProcess
from tui.screens.dialogs import Form
from tui.screens.start import FirstStartScreen
from tui.widgets.preview import Preview


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "fresh"
    for number in range(3):
        repositories.commit(place, f"feat: number {number}", {"CLAUDE.md": "be\nkind\n"})
    return place


def _held(project: Path) -> Path:
    """Return the folder that Claude Code keeps for a project."""
    return Path.home() / ".claude" / "projects" / re.sub("[/_.]", "-", str(project))


def _write(place: Path, *lines: object) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))


@pytest.fixture
def remembered(folder: Path) -> Path:
    """The same, on a machine whose Claude Code remembers something about it."""
    _write(_held(folder) / "memory" / "deploy.md", "---\nname: deploy\n---\nReleases go out on Tuesdays only.")
    _write(_held(folder) / "memory" / "MEMORY.md", "- [deploy](deploy.md)")
    return folder


def _talk(project: Path, session: str, *said: str) -> None:
    """A conversation as Claude Code keeps it: one message of a person after another."""
    when = {"timestamp": "2026-03-01T09:00:00Z", "cwd": str(project), "type": "user", "sessionId": session}
    messages = enumerate({"role": "user", "content": text} for text in said)
    lines = [when | {"uuid": f"{session}-{number}", "message": message} for number, message in messages]
    _write(_held(project) / f"{session}.jsonl", *lines)


def _rollout(session: str, cwd: Path, text: str) -> None:
    """A conversation as Codex keeps it, beside those of all other projects."""
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    _write(
        Path.home() / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-{session}.jsonl",
        {"type": "session_meta", "payload": {"id": session, "cwd": str(cwd)}},
        {"type": "response_item", "payload": said},
    )


@pytest.fixture
def talked(folder: Path) -> Path:
    """The same, where two agents keep conversations of the project, and one of them those of another project too."""
    _talk(folder, "one", "remember: we always use tabs in this repository", "why did the nightly import stop?")
    _talk(folder, "two", "the cache of prices lives in Redis now")
    _rollout("here", folder, "the invoices are numbered by year")
    _rollout("away", Path.home() / "another", "nothing of this project")
    return folder


async def ledger(person: Person) -> str:
    def there() -> bool:
        screen = person.app.screen
        return isinstance(screen, FirstStartScreen) and bool(screen.query("#start")) and bool(_told(person))

    await person.until(there)
    return _told(person)


def _told(person: Person) -> str:
    rows = person.app.screen.query_one("#start", Preview)._rows
    return " ".join(" ".join("".join(text for text, _, _ in row) for row in rows).split())


def _kept(project: Path) -> Memory:
    return Memory.open(str(project / ".memoranda" / "memory.db"), "cli")


_opened: list[str] = []
sys.addaudithook(lambda name, about: _opened.append(str(about[0])) if name == "open" else None)


@pytest.mark.parametrize(("size", "key", "there"), [(NARROW, "3", "number 2"), (WIDE, "4", "Ask")])
async def test_it_says_what_it_found_and_did(folder: Path, size: tuple[int, int], key: str, there: str) -> None:
    async with opened(folder, size, settled=False) as person:
        text = await ledger(person)
        found, _, rest = text.partition("Did")
        did, _, worth = rest.partition("Worth doing")
        assert "3 commits in git" in found and "CLAUDE.md, 2 lines; it was left as it is, for the" in found
        assert "Started a memory: " in did and "git ignores it" in did and "Read 3 commits from git" in did
        assert "3 shows them by day, 4 asks about them" in did
        assert "a remember the first fact" in worth and "memoranda demo" in worth
        assert not any("Started a memory" in toast for toast in person.toasts), "said once"
        await person.press(key)  # as it names them
        await person.until(lambda: person.app.screen is person.main and person.sees(there))
    async with opened(folder, size) as person:
        assert person.app.screen is person.main, "only once"


async def test_memories_are_brought_in_without_the_conversations_and_undone(remembered: Path) -> None:
    _talk(remembered, "one", "the cache of prices lives in Redis now")
    async with opened(remembered, WIDE, settled=False) as person:
        assert "Claude Code 1; none was read" in await ledger(person)
        await person.press("i")
        await person.until(lambda: "Imported Claude Code: 1 proposal waits in the inbox." in _told(person))
        assert "bring them in" not in _told(person), "the offer became what it wrote"
        assert "r read the conversations" in _told(person), "memories are one thing, conversations another"
        with _kept(remembered) as memory:
            assert [one.text for one in memory.inbox.waiting()] == ["Releases go out on Tuesdays only."]
            assert memory.database.value("SELECT count(*) FROM turns") == 0
        await person.press("u")
        await person.until(lambda: "i bring them in" in _told(person))
        with _kept(remembered) as memory:
            assert memory.inbox.count_waiting() == 0


async def test_conversations_are_named_and_read_by_one_key(talked: Path) -> None:
    _opened.clear()
    async with opened(talked, NARROW, settled=False) as person:
        text = await ledger(person)
        assert not [path for path in _opened if path.startswith(str(_held(talked)))], "none is opened to count it"
        lines = person.lines
        at = next(number for number, line in enumerate(lines) if "r read the conversations" in line)
        assert lines[at + 1].index(lines[at + 1].split()[0]) == lines[at].index("read the conversations")
        assert "conversations that agents keep of this project: Claude Code 2, Codex 1; none was read" in text
        assert "r read" in person.lines[-1], "a click does it too"
        await person.press("r")
        await person.until(lambda: "✓ Read 4 turns of 3 conversations" in _told(person))
        assert "r read the conversations" not in _told(person) and "none was read" not in _told(person)
        with _kept(talked) as memory:
            said = [text for (text,) in memory.database.rows("SELECT text FROM turns")]
            assert "nothing of this project" not in said and len(said) == 4
            assert memory.facts.ids(memory.now) == [], "what was said is quoted; it tells nobody anything"
        assert "u undo" not in person.lines[-1], "history takes no conversation back"


async def test_who_leaves_while_they_are_read_is_told_at_the_end(talked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, begins = threading.Event(), IngestProcess.run_ingest

    def run(process: IngestProcess) -> dict[str, object]:
        assert left.wait(60)
        return begins(process)

    monkeypatch.setattr(IngestProcess, "run_ingest", run)
    async with opened(talked, WIDE, settled=False) as person:
        await ledger(person)
        await person.pilot.press("r")
        assert "r read the conversations" in _told(person) and "…" in _told(person)
        await person.pilot.press("a")
        await person.until(lambda: isinstance(person.app.screen, Form)), "what else is worth doing can be done"
        await person.pilot.press("escape", "escape")
        await person.until(lambda: person.app.screen is person.main)
        left.set()
        await person.until(lambda: any("Read 4 turns of 3 conversations" in toast for toast in person.toasts))


async def test_the_first_fact_is_asked_for_here_and_escape_goes_back_one(folder: Path) -> None:
    async with opened(folder, NARROW, settled=False) as person:
        await ledger(person)
        for text in ("", "- the first one"):  # escape goes back from the form, not out of the ledger
            await person.press("a")
            await person.until(lambda: isinstance(person.app.screen, Form) and person.sees("remember", "esc"))
            if text:
                await person.paste(text)
            await person.press("enter" if text else "escape")
            await person.until(lambda: isinstance(person.app.screen, FirstStartScreen))
        await person.until(lambda: "✓ Remembered F#1: - the first one" in _told(person))
        assert "a remember the first fact" not in _told(person), "the offer became what it wrote"
        await person.press("u")
        await person.until(lambda: "a remember the first fact" in _told(person))


async def test_connecting_an_agent_is_seen_first(remembered: Path) -> None:
    settings = Path.home() / ".claude.json"
    async with opened(remembered, WIDE, settled=False) as person:
        assert "c connect Claude Code" in await ledger(person)
        for key in ("escape", "enter"):
            await person.press("c")
            await person.until(lambda: isinstance(person.app.screen, Form))
            assert person.sees("Connect Claude Code", "mcp") and not settings.exists(), "what would be written"
            await person.press(key)
            await person.until(lambda: isinstance(person.app.screen, FirstStartScreen))
            done = key == "enter"
            await person.until(lambda done=done: ("✓ Connected" in _told(person)) is done)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("files", "said", "unsaid"),
    [
        (
            {".memoranda/": ""},
            ["no commits: without git the timeline shows decisions and events alone", "Your personal memory"],
            ["bring them in", "connect"],
        ),
        (
            {".git/": "", ".memoranda/config.toml": "capture_commits = false\n"},
            ["commits are not read: the setting capture_commits is off"],
            ["no commits yet"],
        ),
        (
            {".git/": "", ".memoranda/": "", "MEMORY.md": "one line", "AGENTS.md": "# Rules\n\n- tabs\n"},
            [
                "MEMORY.md, 1 line; it was left as it is, and is searched",
                "AGENTS.md, 3 lines; it was left as it is, for the agents that read it; it is not searched",
                "no commits yet: the timeline shows decisions and events until there are some",
                "A memory for place",
            ],
            ["conversations that agents", "r read"],  # those of other projects alone are no offer
        ),
    ],
)
async def test_what_is_missing(tmp_path: Path, files: dict[str, str], said: list[str], unsaid: list[str]) -> None:
    if "AGENTS.md" in files:
        _rollout("away", Path.home() / "another", "nothing of this project")
    place = tmp_path / "place"
    for name, text in files.items():
        target = place / name
        if name == ".git/":
            create(place)
        (target if name.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True, mode=0o700)
        if not name.endswith("/"):
            target.write_text(text)
            target.chmod(0o600)
    async with opened(place, WIDE, settled=False) as person:
        text = f"{await ledger(person)} {person.lines[0]}"
        assert all(words in text for words in said) and not any(words in text for words in unsaid), text
