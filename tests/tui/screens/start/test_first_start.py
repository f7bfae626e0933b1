"""The first start: what was found and done, and what is worth doing, one key each; real repositories and files."""

import json
import sys
import threading
from pathlib import Path

import pytest
from support import repositories
from support.screen import NARROW, WIDE, Person, opened

from store.memory import Memory
from store.upkeep.auto_ingest import IngestProcess
from tui.screens.start import FirstStartScreen
from tui.widgets.preview import Preview


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "fresh"
    for number in range(3):
        repositories.commit(place, f"feat: number {number}", {"CLAUDE.md": "be\nkind\n"})
    return place


@pytest.fixture
def remembered(folder: Path) -> Path:
    """The same, on a machine whose Claude Code remembers something about it."""
    name = str(folder).replace("/", "-").replace("_", "-").replace(".", "-")
    place = Path.home() / ".claude" / "projects" / name / "memory"
    place.mkdir(parents=True)
    (place / "deploy.md").write_text("---\nname: deploy\n---\nReleases go out on Tuesdays only.\n")
    (place / "MEMORY.md").write_text("- [deploy](deploy.md)\n")
    return folder


def _held(project: Path) -> Path:
    """Return the folder of a project's conversations with Claude Code."""
    name = str(project).replace("/", "-").replace("_", "-").replace(".", "-")
    return Path.home() / ".claude" / "projects" / name


def _talk(project: Path, session: str, *said: str) -> None:
    """A conversation as Claude Code keeps it: one message of a person after another."""
    _held(project).mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "type": "user",
            "sessionId": session,
            "uuid": f"{session}-{number}",
            "timestamp": "2026-03-01T09:00:00Z",
            "cwd": str(project),
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(said)
    ]
    (_held(project) / f"{session}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _rollout(session: str, cwd: Path, text: str) -> None:
    """A conversation as Codex keeps it, beside those of all other projects."""
    place = Path.home() / ".codex" / "sessions" / "2026" / "03" / "01"
    place.mkdir(parents=True, exist_ok=True)
    lines = [
        {"type": "session_meta", "payload": {"id": session, "cwd": str(cwd)}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        },
    ]
    (place / f"rollout-{session}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


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


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
async def test_it_says_what_it_found_and_did(folder: Path, size: tuple[int, int]) -> None:
    async with opened(folder, size, settled=False) as person:
        text = await ledger(person)
        found, _, rest = text.partition("Did")
        did, _, worth = rest.partition("Worth doing")
        assert "3 commits in git" in found and "CLAUDE.md, 2 lines; it was left as it is, for the" in found
        assert "Started a memory: " in did and "git ignores it" in did and "Read 3 commits from git" in did
        assert "a remember the first fact" in worth and "memoranda demo" in worth
        assert not any("Started a memory" in toast for toast in person.toasts), "said once"
        await person.press("escape")
        assert person.app.screen is person.main and person.sees("No facts yet.")
    async with opened(folder, size) as person:
        assert person.app.screen is person.main, "only once"


async def test_memories_of_another_tool_are_brought_in_by_one_key_and_undone_by_one(remembered: Path) -> None:
    async with opened(remembered, WIDE, settled=False) as person:
        assert "Claude Code 1" in await ledger(person) and "i bring them in" in _told(person)
        await person.press("i")
        await person.until(lambda: "Imported Claude Code: 1 proposal" in _told(person))
        assert "bring them in" not in _told(person), "the offer became what it wrote"
        with Memory.open(str(remembered / ".memoranda" / "memory.db"), "cli") as memory:
            assert [one.text for one in memory.inbox.waiting()] == ["Releases go out on Tuesdays only."]
        await person.press("u")
        await person.until(lambda: "i bring them in" in _told(person))
        with Memory.open(str(remembered / ".memoranda" / "memory.db"), "cli") as memory:
            assert memory.inbox.count_waiting() == 0
        await person.press("escape")
        assert person.app.screen is person.main and person.sees("No facts yet.")


async def test_what_an_offer_says_goes_on_beside_its_key(talked: Path) -> None:
    async with opened(talked, (80, 24), settled=False) as person:
        await ledger(person)
        lines = person.lines
        at = next(number for number, line in enumerate(lines) if "r read the conversations" in line)
        assert lines[at + 1].index(lines[at + 1].split()[0]) == lines[at].index("read the conversations")


async def test_conversations_are_named_and_read_by_one_key(talked: Path) -> None:
    async with opened(talked, WIDE, settled=False) as person:
        text = await ledger(person)
        found, _, rest = text.partition("Did")
        assert "conversations that agents keep of this project: Claude Code 2, Codex 1; none was read" in found
        assert "r read the conversations" in rest
        with Memory.open(str(talked / ".memoranda" / "memory.db"), "cli") as memory:
            assert memory.database.value("SELECT count(*) FROM turns") == 0
        await person.press("r")
        await person.until(lambda: "✓ Read 4 turns of 3 conversations" in _told(person))
        assert "r read the conversations" not in _told(person) and "none was read" not in _told(person)
        with Memory.open(str(talked / ".memoranda" / "memory.db"), "cli") as memory:
            said = [text for (text,) in memory.database.rows("SELECT text FROM turns")]
            assert "nothing of this project" not in said and len(said) == 4
            assert memory.facts.ids(memory.now) == [], "what was said is quoted; it tells nobody anything"
        assert "u undo" not in person.lines[-1], "history takes no conversation back"
        await person.press("escape")
        assert person.app.screen is person.main


async def test_memories_are_brought_in_without_the_conversations(remembered: Path) -> None:
    _talk(remembered, "one", "the cache of prices lives in Redis now")
    async with opened(remembered, WIDE, settled=False) as person:
        assert "Claude Code 1; none was read" in await ledger(person)
        await person.press("i")
        await person.until(lambda: "Imported Claude Code: 1 proposal waits in the inbox." in _told(person))
        assert "r read the conversations" in _told(person), "memories are one thing, conversations another"
        with Memory.open(str(remembered / ".memoranda" / "memory.db"), "cli") as memory:
            assert memory.database.value("SELECT count(*) FROM turns") == 0


_opened: list[str] = []
sys.addaudithook(lambda name, about: _opened.append(str(about[0])) if name == "open" else None)


async def test_no_conversation_is_opened_to_count_it(talked: Path) -> None:
    _opened.clear()
    async with opened(talked, WIDE, settled=False) as person:
        await ledger(person)
        assert not [path for path in _opened if path.startswith(str(_held(talked)))]


async def test_the_offers_are_three_at_most(talked: Path) -> None:
    memory = _held(talked) / "memory"
    memory.mkdir()
    (memory / "deploy.md").write_text("---\nname: deploy\n---\nReleases go out on Tuesdays only.\n")
    async with opened(talked, NARROW, settled=False) as person:
        await ledger(person)
        assert [offer.key for offer in person.app.screen._ledger.offers] == ["i", "r", "c"]
        assert "r read" in person.lines[-1], "a click does it too"


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
        assert person.lines[-2].startswith(" remember"), "what else is worth doing can be done meanwhile"
        await person.pilot.press("escape", "escape")
        assert person.app.screen is person.main
        left.set()
        await person.until(lambda: any("Read 4 turns of 3 conversations" in toast for toast in person.toasts))


async def test_conversations_of_other_projects_alone_are_no_offer(folder: Path) -> None:
    _rollout("away", Path.home() / "another", "nothing of this project")
    async with opened(folder, WIDE, settled=False) as person:
        assert "conversations that agents" not in await ledger(person) and "r read" not in _told(person)


async def test_the_first_fact_is_asked_for_here_and_escape_goes_back_one(folder: Path) -> None:
    async with opened(folder, NARROW, settled=False) as person:
        await ledger(person)
        await person.press("a")
        assert person.lines[-2].startswith(" remember") and "esc back" in person.lines[-1]
        await person.press("escape")
        assert isinstance(person.app.screen, FirstStartScreen), "back from the question, not out of the ledger"
        assert "a remember the first fact" in _told(person)
        await person.press("a")
        await person.paste("- the first one")
        await person.press("enter")
        await person.until(lambda: "✓ Remembered F#1: - the first one" in _told(person))
        assert "a remember the first fact" not in _told(person), "the offer became what it wrote"
        assert ("Worth doing" in _told(person)) == bool(
            {offer.key for offer in person.app.screen._ledger.offers} - {"a"}
        ), "no heading without anything below it"
        await person.press("u")
        await person.until(lambda: "a remember the first fact" in _told(person))
        await person.press("escape")
        assert person.app.screen is person.main and person.sees("No facts yet.")


async def test_the_keys_that_it_names_go_there(folder: Path) -> None:
    async with opened(folder, WIDE, settled=False) as person:
        assert "2 shows them by day" in await ledger(person)
        await person.press("2")
        await person.until(lambda: any("number 2" in row for row in person.timeline))
        assert person.app.screen is person.main and person.at == "timeline"


async def test_the_history_is_asked_about_with_one_key(folder: Path) -> None:
    async with opened(folder, WIDE, settled=False) as person:
        assert "2 shows them by day, A asks about them" in await ledger(person)
        await person.press("A")
        await person.until(lambda: person.app.screen is person.main and person.main.current == "librarian")
        await person.until(lambda: person.at == "ask-input" or person.sees("ask what was decided, done or said"))


async def test_connecting_an_agent_is_seen_first(remembered: Path) -> None:
    settings = Path.home() / ".claude.json"
    async with opened(remembered, WIDE, settled=False) as person:
        assert "c connect Claude Code" in await ledger(person)
        await person.press("c")
        await person.until(lambda: any("y/n" in line for line in person.lines))
        assert "mcp" in _told(person), "what would be written"
        await person.press("escape")
        assert "c connect Claude Code" in _told(person) and not settings.exists(), "nothing is done without a yes"
        await person.press("c")
        await person.until(lambda: any("y/n" in line for line in person.lines))
        await person.press("y")
        await person.until(lambda: "✓ Connected" in _told(person))


async def test_a_project_without_git_says_what_is_missing(tmp_path: Path) -> None:
    place = tmp_path / "bare"
    (place / ".memoranda").mkdir(parents=True, mode=0o700)
    async with opened(place, WIDE, settled=False) as person:
        text = await ledger(person)
        assert "no commits: without git the timeline shows decisions and events alone" in text
        assert "bring them in" not in text and "connect" not in text
        assert person.sees(" Your personal memory"), "outside of a checkout"


async def test_it_says_that_no_commit_is_to_be_read(folder: Path) -> None:
    (folder / ".memoranda").mkdir(mode=0o700)
    (folder / ".memoranda" / "config.toml").write_text("capture_commits = false\n")
    (folder / ".memoranda" / "config.toml").chmod(0o600)
    async with opened(folder, WIDE, settled=False) as person:
        text = await ledger(person)
        assert "commits are not read: the setting capture_commits is off" in text and "no commits yet" not in text


async def test_it_says_which_files_are_searched_and_that_a_repository_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "new"
    (place / ".git").mkdir(parents=True)
    (place / "MEMORY.md").write_text("one line without an end")
    (place / "AGENTS.md").write_text("# Rules\n\n- tabs\n")
    (place / ".memoranda").mkdir(mode=0o700)
    async with opened(place, WIDE, settled=False) as person:
        text = await ledger(person)
        assert "MEMORY.md, 1 line; it was left as it is, and is searched" in text
        assert "AGENTS.md, 3 lines; it was left as it is, for the agents that read it; it is not searched" in text
        assert "no commits yet: the timeline shows decisions and events until there are some" in text
        assert person.sees(" A memory for new")
