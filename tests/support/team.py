"""People who share through a real git remote on this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.ours import EmptyMemory

from store.base.clock import utc_now
from store.base.state_files import team_folder
from store.inbox.inbox import InboxChoice
from store.memory import Memory
from store.purge.proof import list_text_files, search_files
from store.purge.word_search import RemainingMatch
from store.team.collect import ShareChoice
from store.team.exchange import ExchangeResult, Team
from store.team.team_file import TeamFile
from store.upkeep.optional import with_shared_places

WORK = ShareChoice(("work", "projects"), True)


class Person:
    """One person with a memory of their own."""

    def __init__(self, memory: Memory, remote: Path, name: str) -> None:
        self.memory = memory
        self.remote = str(remote)
        self.name = name
        self.folder = Path(team_folder(memory.database.path))
        with Team(memory) as team:
            team.choose(WORK, name, self.remote)

    def sync(self) -> ExchangeResult:
        with Team(self.memory) as team:
            return team.exchange()

    def view(self) -> str:
        with Team(self.memory) as team:
            return "".join(f"{record.to_json()}\n" for record in team._file.all_records())

    def remember(self, text: str, domain: str = "work") -> int:
        return self.memory.facts.remember(text, domain=domain)[0]

    def waiting(self) -> list[tuple[str, str]]:
        return [(one.kind, one.text) for one in self.memory.inbox.waiting()]

    def decide(self, verb: str) -> list[int | None]:
        choices = [InboxChoice(one.id, verb) for one in self.memory.inbox.waiting()]
        return list(self.memory.inbox.decide(choices, anyway=True).made.values())

    def accept(self) -> int:
        """Accept the one fact that waits, and return its number."""
        (number,) = self.decide("accept")
        assert number is not None
        return number

    def believe(self, name: str, choice: ShareChoice) -> None:
        with Team(self.memory) as team:
            team.believe(name, choice)

    def choose(self, choice: ShareChoice, name: str = "", remote: str = "") -> None:
        with Team(self.memory) as team:
            team.choose(choice, name, remote)

    def purge(self, number: int, kind: str = "fact") -> None:
        self.memory.purge.run_plan(self.memory.purge.plan([(kind, number)]))

    def shared_place(self, number: int) -> RemainingMatch:
        """Return what a purge of a fact says of the team."""
        return with_shared_places(self.memory, self.memory.purge.plan([("fact", number)])).places[-1]

    def erase_purged(self) -> None:
        with Team(self.memory) as team:
            team.erase_purged()

    def start_anew(self) -> None:
        with Team(self.memory) as team:
            team.start_anew()

    @property
    def writer(self) -> str:
        with Team(self.memory) as team:
            return team.writer

    def save(self, folder: Path) -> None:
        """Copy what is known of the team."""
        shutil.copytree(self.folder, folder)

    def bring_back(self, folder: Path) -> None:
        """Replace what is known of the team by an older copy."""
        shutil.rmtree(self.folder)
        shutil.copytree(folder, self.folder)

    def log(self) -> str:
        """Return all that the remote has of any stream."""
        return self.git("log", "--all", "-p", "--format=")

    def git(self, *arguments: str) -> str:
        """Return what git says of the remote."""
        done = subprocess.run(["git", "-C", self.remote, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def facts(self) -> list[str]:
        return [one.fact for one in self.memory.facts.get_many(self.memory.facts.ids(self.memory.now))]


def holding(person: Person, word: str) -> list[str]:
    """Return the files of a person's memory and its team that hold a word. The proof of a purge reads bytes, and finds
    it in git's objects too, which are not compressed here."""
    files = [Path(path) for path in list_text_files(person.memory.database, person.memory.documents)]
    assert {*filter(Path.is_file, person.folder.rglob("*"))} <= {*files}
    found = [str(path) for path in files if word.encode() in path.read_bytes()]
    every = ["git", "-C", str(person.folder / "shared.git"), "cat-file", "--batch-all-objects", "--batch"]
    inside = word.encode() in subprocess.run(every, capture_output=True, check=True).stdout
    assert inside == any("shared.git" in path for path in found)
    assert {one.file for one in search_files([word], list(map(str, files))) if one.found} == set(found)
    return found


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", str(tmp_path / "remote.git")], check=True)
    (tmp_path / "remote.git" / "hooks").mkdir()
    return tmp_path / "remote.git"


@pytest.fixture
def join(
    tmp_path: Path, remote: Path, empty_memory: EmptyMemory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Person]]:
    ordinary = TeamFile.__init__

    def open_without_waiting(self: TeamFile, folder: str) -> None:
        ordinary(self, folder)
        self._connection.pragma("synchronous", 0)  # no power fails here

    monkeypatch.setattr(TeamFile, "__init__", open_without_waiting)
    memories: list[Memory] = []

    def join(name: str) -> Person:
        memories.append(Memory.open(empty_memory.copy(tmp_path / name / "memory.db", utc_now())))
        return Person(memories[-1], remote, name)

    yield join
    for memory in memories:
        memory.close()


Join = Callable[[str], Person]
TUESDAYS = "Releases are cut on Tuesdays"


def shared(join: Join, text: str = TUESDAYS) -> tuple[Person, Person, int]:
    """Return Ana, Bob, and the number of a fact that she remembered and that waits in his inbox."""
    ana, bob = join("Ana"), join("Bob")
    number = ana.remember(text)
    ana.sync(), bob.sync()
    return ana, bob, number


def accepted(join: Join, text: str = TUESDAYS) -> tuple[Person, Person, int, int]:
    """Return Ana, Bob, the number of a fact of hers, and its number with Bob, who accepted it."""
    ana, bob, number = shared(join, text)
    copy = bob.accept()
    bob.sync()
    return ana, bob, number, copy


def shared_by_three(join: Join, text: str = TUESDAYS) -> tuple[Person, Person, Person, int]:
    """Return Ana, Bob, Cleo, and the number of a fact of hers that waits in the inboxes of the others."""
    ana, bob, number = shared(join, text)
    cleo = join("Cleo")
    cleo.sync()
    return ana, bob, cleo, number


def assert_undisturbed(*people: Person) -> None:
    """Let each exchange, one after the other: none is warned of anything."""
    for person in people:
        assert person.sync().warnings == [], person.name
