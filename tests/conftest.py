"""What every test shares: a memory of its own, a clock in its hands, and none of the user's environment."""

import contextlib
import gc
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from support.ours import EmptyMemory
from support.parts import APART, pytest_sessionfinish

from store import parts  # noqa: F401
from store.base import hook_resident, state_files
from store.base.clock import from_ms, to_ms
from store.base.errors import MemorandaError
from store.database import connection
from store.librarian import chat
from store.memory import Memory

NOON = "2026-11-21T12:00:00.000Z"
SHAS = tuple(f"{number:040x}" for number in (0xA1B2C3D << 132, 0xBEEF << 140, 0xC0FFEE << 136))
TEXTS = ("the team is five", "deploys on Fridays", "José prefiere té", "line one\nline two", "naïve \u202eevil\u202c")

# the hundreds of processes that tests start read compiled modules, as an installed command does
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# what the applications of a thousand tests leave behind is looked through less often: a fifth of their processor time
gc.set_threshold(200_000, 5, 20)

# what is tried by chance is the same in each run of all tests, so that a change is judged by what it changes, and new
# with MEMORANDA_EXAMPLES, as in `.ci/slow whole`
FIXED = "MEMORANDA_EXAMPLES" not in os.environ

# a machine under load is no defect: no property fails because its examples take long
settings.register_profile("patient", deadline=None, derandomize=FIXED, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

__all__ = ["pytest_sessionfinish"]

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()
SLOW = {line: place for place, line in enumerate(line for line in LINES if line and not line.startswith("#"))}

# what takes minutes, by file or folder; a few kills and restores, and a sample of all faults, run by themselves
MARKS = {
    "tests/faults/test_guard_killed.py": "faults",
    "tests/faults/test_learning_killed.py": "faults",
    "tests/faults/test_moves_killed.py": "faults",
    "tests/faults/test_processes.py": "faults",
    "tests/faults/test_purge.py": "faults",
    "tests/store/team/postgres": "postgres",
    "tests/tui/commands/files/test_replica.py": "postgres",
}

# where tests are of what reaches the disk, and when
SYNCED = ("tests/faults", "tests/store/conversion", "tests/store/database", "tests/strangers")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two more than there are processors: many tests wait for processes and screens."""
    return (os.cpu_count() or 1) + 2


def examples(number: int) -> int:
    """How many examples a property is tried on; MEMORANDA_EXAMPLES multiplies it, as `.ci/slow whole` does."""
    return number * int(os.environ.get("MEMORANDA_EXAMPLES", "1"))


def tried(number: int) -> settings:
    """A property whose examples, so many, share what its fixtures made."""
    shared = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples(number), suppress_health_check=shared)


@cache
def place_of(path: Path) -> str:
    """Return the path of a file of tests as it is from the repository's folder."""
    return str(path.relative_to(ROOT))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is slow need not even be read for `pytest -m "not slow"`."""
    if config.getoption("markexpr") != "not slow" or not collection_path.is_relative_to(ROOT):
        return None
    return True if str(collection_path.relative_to(ROOT)) in SLOW else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes minutes runs where it is asked for by its mark, one of APART: `pytest -m browser`. Of a test
    `sampled(n)` every n-th case runs by itself, the others are `whole`; of one for several sizes of the terminal one
    size does."""
    cases: dict[tuple[Path, str], int] = {}
    sizes: dict[str, list[pytest.Item]] = {}
    for item in items:
        given = dict(getattr(getattr(item, "callspec", None), "params", {}))
        if given.pop("size", None) and not item.get_closest_marker("sampled"):
            sizes.setdefault(f"{item.nodeid.partition('[')[0]} {given}", []).append(item)
    for name, some in sizes.items():  # a third of the tests at each of three sizes
        for number, item in enumerate(some):
            if number != crc32(name.encode()) % len(some):
                item.add_marker("whole")
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            test = (item.path, getattr(item, "originalname", item.name))
            case = cases[test] = cases.get(test, -1) + 1
            if case % mark.args[0]:
                item.add_marker("whole")
        if place_of(item.path) in SLOW:
            item.add_marker("slow")
        for path, mark in MARKS.items():
            if place_of(item.path).startswith(path):
                item.add_marker(mark)
    left = [mark for mark in APART if mark not in config.getoption("markexpr")]
    out = [item for item in items if any(item.get_closest_marker(mark) for mark in left)]
    if out:
        config.hook.pytest_deselected(items=out)
        gone = set(out)
        items[:] = [item for item in items if item not in gone]
    # the slowest files first: none begins when the other processes are done
    items.sort(key=lambda item: SLOW.get(place_of(item.path), len(SLOW)))


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of a test that tries things by chance: MEMORANDA_SEED, or one of its own, the same in every run; of what
    is run by its mark, and with MEMORANDA_EXAMPLES, a new one each time."""
    again = FIXED and not any(request.node.get_closest_marker(mark) for mark in APART)
    seed = crc32(request.node.nodeid.encode()) if again else random.SystemRandom().getrandbits(32)
    seed = int(os.environ.get("MEMORANDA_SEED", seed))
    print(f"MEMORANDA_SEED={seed}")  # pytest shows it when the test fails
    return seed


class Clock:
    """A clock that a test sets and advances; it moves on by a millisecond each time it is read."""

    def __init__(self, now: str = NOON) -> None:
        self.now = now

    def __call__(self) -> str:
        self.advance(milliseconds=1)
        return self.now

    def advance(self, days: float = 0, milliseconds: int = 0) -> None:
        self.now = from_ms(to_ms(self.now) + round(days * 86_400_000) + milliseconds)


@pytest.fixture(autouse=True, scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where this process keeps which memories are its own; what one test made is its own to another, and to a fixture
    that several share."""
    with pytest.MonkeyPatch.context() as environment:
        state = os.path.join(str(tmp_path_factory.getbasetemp()), "state")
        environment.setenv("XDG_STATE_HOME", state)
        yield state
        hook_resident.end_resident()  # of those tests that run `memoranda hook`


@pytest.fixture(autouse=True)
def isolated(
    request: pytest.FixtureRequest, installation: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """No test reads or writes the home, the configuration or the memory of whoever runs it; not even after it undid
    what it changed. What a power cut would do is no matter but to the tests of it: others do not wait for the disk.
    Of which memories are its own it leaves no more than it found: a purge reads all of that."""
    with pytest.MonkeyPatch.context() as environment:
        if not place_of(request.path).startswith(SYNCED):
            environment.setattr(connection, "CONNECTION_PRAGMAS", (*connection.CONNECTION_PRAGMAS, ("synchronous", 0)))
            environment.setattr(os, "fsync", lambda handle: None)
        for name in [name for name in os.environ if name.startswith("XDG_")]:
            environment.delenv(name)
        for name in [name for name in os.environ if name.startswith("MEMORANDA_") and name.endswith("_DAYS")]:
            environment.delenv(name)
        environment.delenv("MEMORANDA_DB", raising=False)
        environment.delenv("NO_COLOR", raising=False)
        environment.delenv("MEMORANDA_MODEL", raising=False)
        environment.setenv("OLLAMA_HOST", "127.0.0.1:9")  # where nothing listens
        environment.setenv("LC_ALL", "C.UTF-8")
        environment.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        environment.setenv("XDG_STATE_HOME", installation)
        environment.setattr(state_files, "_write_problems", {})  # nor what another could not write
        environment.setattr(chat, "RETRY_PAUSES", (0.001, 0.001))
        chat.reset_breakers()  # no test pays for the failures of another's server
        with contextlib.suppress(FileNotFoundError):  # which memories were open before is no other test's business
            os.remove(os.path.join(installation, "memoranda", "recent"))
        environment.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        environment.setenv("GIT_CONFIG_SYSTEM", os.devnull)
        before = set(Path(installation, "memoranda").glob("*/*"))
        yield
        for path in set(Path(installation, "memoranda").glob("*/*")) - before:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def empty_memory(installation: str, tmp_path_factory: pytest.TempPathFactory) -> EmptyMemory:
    return EmptyMemory(tmp_path_factory.mktemp("empty"))


@pytest.fixture
def memory(empty_memory: EmptyMemory, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """A memory of a project, new, open, by the command line's door."""
    with Memory.open(empty_memory.copy(tmp_path / ".memoranda" / "memory.db", clock()), "cli", clock) as memory:
        yield memory


@pytest.fixture(scope="session")
def live() -> Callable[[Memory, Sequence[int]], None]:
    """Live through a plan: each number is the seed of one act on the memory, whatever it then holds.

    Every public writer of a recorded table is among the acts, and journal writes in between. An act the memory
    refuses (confirming what was forgotten, say) must change nothing: that is asserted here, for all of them.
    """

    def live(memory: Memory, plan: Sequence[int]) -> None:
        for seed in plan:
            before = memory.history.steps(limit=1)
            try:
                _act(memory, random.Random(seed))
            except MemorandaError:
                assert memory.history.steps(limit=1) == before, "a refused act left a step"

    return live


def _act(memory: Memory, dice: random.Random) -> None:
    actor = dice.choice(("user", "user", "user", "agent", "mcp:claude"))
    memory.database.door = dice.choice(("cli", "app", "mcp", "worker"))
    text = f"{dice.choice(TEXTS)} {dice.randrange(6)}"
    tables = ("facts", "decisions", "tasks")
    facts, decisions, tasks = ([id for (id,) in memory.database.rows(f"SELECT id FROM {table}")] for table in tables)
    fact, decision, task = (dice.choice(ids) if ids else 1 for ids in (facts, decisions, tasks))
    several = dice.sample(facts, min(len(facts), dice.randrange(1, 4))) or [1]
    sha = dice.choice(SHAS)
    waiting = memory.inbox.ids() or [1]
    proposal = dice.choice(waiting)
    quote = [{"citation": "C#a1b2c3d", "quote": ""}]
    links = memory.database.rows("SELECT sha, decision_id FROM commit_links JOIN commits ON id = commit_id")

    def link() -> None:
        memory.commits.log(sha, message=text, author="José")
        memory.commits.link(sha, decision, dice.choice(("implements", "reverts", "relates")), actor=actor)

    acts: tuple[Callable[[], object], ...] = (
        lambda: memory.facts.remember(text, actor=actor, tags=[text[:5]], importance=dice.random()),
        lambda: memory.facts.remember(text, actor=actor, domain="work", pinned=True, evidence=["C#a1b2c3d"]),
        lambda: memory.facts.correct(fact, f"{text}!?", actor=actor),
        lambda: memory.facts.confirm(several, actor=actor),
        lambda: memory.facts.forget(several, actor=actor),
        lambda: memory.facts.pin(several, dice.random() < 0.5, actor=actor),
        lambda: memory.tagging.add_tags([("fact", one) for one in several], text[:5], actor=actor),
        lambda: memory.tagging.remove_tags([("fact", one) for one in several], text[:5], actor=actor),
        lambda: memory.mutes.mute(several, actor=actor),
        lambda: memory.mutes.unmute(several, actor=actor),
        lambda: memory.decisions.decide(text, f"choose {text}", alternatives=["né", text], actor=actor),
        lambda: memory.decisions.decide(text, "another", supersedes=decision, actor=actor),
        lambda: memory.decisions.correct(decision, f"rather {text}", actor=actor),
        lambda: memory.decisions.forget([decision], actor=actor),
        link,
        link,
        lambda: memory.commits.unlink(*dice.choice(links or [(sha, decision)]), actor=actor),
        lambda: memory.inbox.propose("add", {"fact": f"{text}?", "tags": [text[:5]]}, origin=actor, evidence=quote),
        lambda: memory.inbox.propose("correct", {"fact": f"{text}…"}, target=fact, origin=actor, reason=text),
        lambda: memory.inbox.propose("merge", {"others": several}, target=fact, origin=actor),
        lambda: memory.inbox.propose(dice.choice(("forget", "confirm")), {}, target=fact, origin=actor),
        lambda: memory.inbox.accept(proposal, dice.choice((None, f"{text}!"))),
        lambda: memory.inbox.accept(proposal, anyway=True),
        lambda: memory.inbox.merge(proposal, fact),
        lambda: memory.inbox.reject([proposal]),
        lambda: memory.tasks.add_task(text, actor=actor),
        lambda: memory.tasks.correct(task, f"rather {text}", actor=actor),
        lambda: memory.tasks.move(task, dice.choice(("pending", "in_progress", "done")), actor=actor),
        lambda: memory.events.log("gate_passed", phase="build", payload={"text": [text]}, actor=actor),
        lambda: memory.checkpoints.take_checkpoint(text, actor=actor),
        lambda: memory.iterations.start_iteration("feature", text, actor=actor),
        lambda: memory.iterations.end_iteration(artifacts=[text], phases=["build"], actor=actor),
    )
    dice.choice(acts)()
