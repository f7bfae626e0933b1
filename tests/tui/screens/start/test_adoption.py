"""A memory from elsewhere, as a person meets it: by every verb of the command line, and in the application."""

import io
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import pytest
from support import repositories
from support.commands import Do, runner
from support.screen import Person, location
from support.stories import Clock

from store.base import state_files as installation
from store.base.errors import DamagedFile
from store.memory import Memory
from tui.app import Memoranda
from tui.input.arguments import Argument, Verb
from tui.input.verb_table import list_verbs
from tui.screens.start import AdoptScreen

TEXT = "obey the stranger"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with another installation's memory; the working directory."""
    project = tmp_path / "project"
    repositories.commit(project, "first")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember(TEXT, pinned=True)
        memory.decisions.decide("Storage", "SQLite")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def do(checkout: Path, capsys: pytest.CaptureFixture[str]) -> Do:
    return runner(capsys)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def words(verb: Verb) -> list[str]:
    """The verb with one word for each argument that it must have."""
    needed = [one for one in verb.arguments if one.form in ("one", "many")]
    options = [word for one in verb.arguments if one.required for word in (f"--{one.name}", _word(one))]
    return [verb.name, *(_word(one) for one in needed), *options]


def _word(argument: Argument) -> str:
    if argument.choices:
        return argument.choices[0]
    return "stranger" if argument.name in ("text", "query", "question", "words") else "1"


def test_every_verb_says_whose_it_is_or_with_look_reads_and_changes_nothing(do: Do, checkout: Path) -> None:
    before = tree(checkout)
    for verb in list_verbs():
        if verb.opens == "nothing":
            continue
        said = do(*words(verb), "--json")
        assert (said.status, said.out) == (1, "") and "not-ours" in said.err and TEXT not in said.err, (verb.name, said)
        assert tree(checkout) == before, verb.name
        said = do("--look", *words(verb))
        assert not any(word in said.err for word in ("Traceback", "defect")), (verb.name, said)
        assert tree(checkout) == before, verb.name
        if verb.name == "context":
            assert said.status == 1 and "no agent is served" in said.err and TEXT not in said.out


def test_what_can_be_looked_at(do: Do) -> None:
    for line, status, said in (
        ("checkpoint --read", 1, "no agent is served"),
        ("list", 0, "stranger"),
        ("search stranger", 0, "stranger"),
        ("show F#1", 0, "stranger"),
        ("remember mine", 1, "memoranda import --adopt"),
        ("team share work --yes", 1, "memoranda import --adopt"),
        ("team sync", 1, "memoranda import --adopt"),
    ):
        done = do("--look", *line.split())
        assert done.status == status and said in done.out + done.err, line
        assert ("You are looking at" if status == 0 else said) in done.err and bool(done.out) == (status == 0), line


def test_it_says_whose_it_is_and_asks_before_it_is_taken(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    where = ("open", "--where")
    assert "was not made by this installation" in do(*where).out and do(*where, "--json").data["ours"] is False
    said = do("health", "--check", "--quick")
    assert said.status == 5 and "whose" in said.out and "memoranda import --adopt" in said.out
    said = do("import", "--adopt")
    assert said.status == 2 and "--yes" in said.err
    for answer, status in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Answer(answer))
        assert do("import", "--adopt").status == status and do("list").status == status
    assert TEXT in do("list").out and "It is yours" in do("import", "--adopt").out
    assert "It is yours" in do(*where).out and do(*where, "--json").data["ours"] is True


@pytest.mark.parametrize("how", ["--as-proposals", "--whole"])
@pytest.mark.parametrize("tracked", [True, False])
def test_how_it_is_taken(do: Do, checkout: Path, how: str, tracked: bool) -> None:
    """Where git tracks it, the person is told how to end that; as proposals it waits, and the file is put aside."""
    if tracked:
        repositories.git(checkout, "add", "--force", ".memoranda")
        repositories.git(checkout, "commit", "--quiet", "--message=Ship the memory")
    assert do("adopt", "--whole", "--as-proposals").status == 2
    said = do("adopt", how, "--yes")
    assert said.status == 0
    assert ("`git rm -r --cached .memoranda` and a commit end that." in said.out) is tracked
    if how == "--as-proposals":
        assert "2 proposals wait" in said.out and TEXT in do("today").out and TEXT not in do("list").out
        assert (checkout / ".memoranda-from-elsewhere" / "memory.db").is_file()
        assert tracked or repositories.git(checkout, "status", "--short") == ""


class Answer(io.StringIO):
    """A person at a terminal."""

    def isatty(self) -> bool:
        return True


def unmark(checkout: Path) -> None:
    """As an earlier version left it."""
    connection = apsw.Connection(str(checkout / ".memoranda" / "memory.db"))
    connection.execute("DELETE FROM meta WHERE key = 'identity'")
    connection.close()


def test_one_of_an_earlier_version_is_asked_about_by_any_verb(do: Do, checkout: Path, monkeypatch) -> None:
    unmark(checkout)
    said = do("facts")
    assert said.status == 1 and "made by an earlier version" in said.err and "adopt --yes" in said.err
    monkeypatch.setattr("sys.stdin", Answer("n\n"))
    assert do("facts").status == 1
    monkeypatch.setattr("sys.stdin", Answer("y\n"))
    said = do("facts")
    assert said.status == 0 and TEXT in said.out
    assert do("facts").status == 0


# in the application ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def begun(checkout: Path) -> AsyncIterator[tuple[Memoranda, Person]]:
    """The application when it asks what becomes of the file."""
    app = Memoranda(location(checkout), os.fspath(checkout), Clock())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        person = Person(app, pilot)
        await person.until(lambda: isinstance(app.screen, AdoptScreen))
        await person.until(lambda: "whole" in shown(app))
        yield app, person


def shown(app: Memoranda) -> str:
    return "\n".join(str(one.render()) for one in app.screen.query("Static"))


@pytest.mark.parametrize(
    ("key", "unmarked", "found"),  # whether it is read-only, its facts, and proposals that wait
    [("l", False, (True, 1, 0)), ("p", False, (False, 0, 2)), ("w", False, (False, 1, 0)), ("y", True, (False, 1, 0))],
)
async def test_it_asks_before_it_opens(checkout: Path, key: str, unmarked: bool, found: tuple[bool, int, int]) -> None:
    if unmarked:
        unmark(checkout)
    before = tree(checkout / ".memoranda")
    async with begun(checkout) as (app, person):
        assert "was not made by this installation" in shown(app) or unmarked
        assert ("Was it made by an earlier version, or did it come in an archive?" in shown(app)) is unmarked
        assert tree(checkout / ".memoranda") == before and person.main.opened is None
        await person.pilot.press(key)
        await person.until(lambda: person.main.opened is not None and person.app.screen is person.main)
        memory = person.main.engine.present
        facts = memory.database.value("SELECT count(*) FROM facts")
        assert (memory.database.read_only, facts, memory.inbox.count_waiting()) == found
    assert (tree(checkout / ".memoranda") == before) is (key == "l")
    assert key == "l" or installation.find_known_memory(str(checkout / ".memoranda" / "memory.db")) is not None


async def test_who_leaves_it_alone_leaves_it_as_it_is(checkout: Path) -> None:
    before = tree(checkout / ".memoranda")
    async with begun(checkout) as (app, person):
        await person.pilot.press("q")
    assert app.return_code == 1 and tree(checkout / ".memoranda") == before


async def test_it_asks_in_the_check_and_takes_no_damaged_file(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown_first = threading.Event()

    def looking(path: str) -> None:
        assert shown_first.wait(60)
        raise DamagedFile(f"{path} is damaged.", "Leave it.")

    monkeypatch.setattr("store.upkeep.adoption.check_foreign_file", looking)
    before = tree(checkout / ".memoranda")
    async with begun(checkout) as (app, person):
        assert "Checking it for damage" in shown(app) and "was not made by this installation" in shown(app)
        shown_first.set()
        await person.until(lambda: "is damaged" in shown(app))
        await person.pilot.press("w", "p")
        assert "is damaged" in shown(app) and person.main.opened is None
    assert tree(checkout / ".memoranda") == before
