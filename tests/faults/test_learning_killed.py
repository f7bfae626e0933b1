"""Reading what was said is killed wherever it can be: nothing is lost, and nothing is written twice.

A child process reads the turns of one memory and kills itself at its n-th statement, or at its n-th write or
synchronisation of a file. Every n is tried, or a sample of them; the next run, which is not killed, ends with the same
facts, confirmations and questions as one that never was.
"""

import json
import shutil
import signal
from pathlib import Path

import pytest
from conftest import NOON, Clock
from support.killing import killed
from support.ollama_server import OllamaServer
from support.soundness import unsound

from store.base.clock import days_before
from store.conversations import extraction_queue
from store.conversations.turns import NewTurn
from store.learning import model_pass, rule_pass
from store.memory import Memory

# of each kind, spread evenly over the run
KILLS = pytest.mark.parametrize("kills", [3, pytest.param(16, marks=pytest.mark.faults)])

SAID = (
    "Recordá que el deploy se hace los martes.",
    "Correction: we use Bazel for everything.",
    "The API freeze starts in May.",
    "The budget is capped at 45k now.",
    "gracias, genial",
    "Always run the linter. Never push to main without a review.",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with two facts that are spoken of, and six turns that wait to be read."""
    path = tmp_path_factory.mktemp("told") / ".memoranda" / "memory.db"
    clock = Clock(days_before(NOON, 9))
    with Memory.open(str(path), "cli", clock) as memory:
        memory.facts.remember("The API freeze starts in May")
        memory.facts.remember("The budget is capped at 40k")
        memory.turns.add_turns("monday", [NewTurn("user", text, at=days_before(NOON, 1)) for text in SAID])
    return path


def read(
    told: Path, folder: Path, kind: str, number: int, reading: str = "rule_pass", host: str = ""
) -> tuple[Path, int, str]:
    """Read a copy, killed at the `number`th event: (the copy's path, the exit status, what was counted)."""
    return killed(
        told,
        folder,
        kind,
        number,
        "read(memory)",
        before="read = getattr(importlib.import_module(f'store.learning.{words[1]}'), f'run_{words[1]}')",
        opened="'worker', lambda: words[0]",
        words=(NOON, reading),
        env={"MEMORANDA_WITHOUT": "model", "OLLAMA_HOST": host or "127.0.0.1:9"},
    )


def learned(memory: Memory) -> tuple[list[tuple[str, str]], list[str], int, list[str]]:
    """(facts with when they were last confirmed, questions, turns, what history says was learned)."""
    facts = memory.database.rows("SELECT fact, last_confirmed_at FROM facts WHERE status = 'active' ORDER BY fact")
    asked = [text for (text,) in memory.database.rows("SELECT kind || ' ' || text FROM proposals ORDER BY 1")]
    turns = memory.database.value("SELECT count(*) FROM turns")
    steps = sorted(step.reason.partition(":")[2] for step in memory.history.steps(actor="talk:monday"))
    return facts, asked, turns, steps


def kill_everywhere(
    begun: Path, folder: Path, kind: str, kills: int, events: int, reading: str = "rule_pass", host: str = ""
) -> list[tuple[list[tuple[str, str]], list[str], int, list[str]]]:
    """Kill a reading at `kills` of its events; the next run of each ends as `whole`, one that was never killed. Return
    what each had learned when it was killed."""
    whole_path, status, _ = read(begun, folder, kind, 10**9, reading, host)
    assert status == 0
    run = {"rule_pass": rule_pass.run_rule_pass, "model_pass": model_pass.run_model_pass}[reading]
    with Memory.open(str(whole_path)) as memory:
        whole = learned(memory)
    halves = []
    for number in sorted({1 + round(place * (events - 1) / (kills - 1)) for place in range(kills)}):
        path, status, _ = read(begun, folder, kind, number, reading, host)
        # the lease is renewed as time passes, so that no two runs have quite as many
        assert status == -signal.SIGKILL or number > 0.8 * events, number
        with Memory.open(str(path), "worker", clock := Clock(NOON)) as memory:
            clock.advance(days=1)  # past the wait for another try
            assert unsound(memory) == []
            halves.append(learned(memory))
            while run(memory).read:
                clock.advance(milliseconds=60_000)
            assert learned(memory) == whole, f"killed at {kind} {number} of {events}"
            assert extraction_queue.count_queued_turns(memory.database, model=reading == "model_pass") == (0, 0)
    return halves


@KILLS
@pytest.mark.parametrize("kind", ["statement", "file"])
def test_a_killed_reading_loses_nothing_and_writes_once(told: Path, tmp_path: Path, kind: str, kills: int) -> None:
    path, _, counted = read(told, tmp_path, kind, 10**9 + 1)
    with Memory.open(str(path)) as memory:
        facts, asked, turns, _ = learned(memory)
        assert (len(facts), len(asked), turns) == (5, 2, len(SAID))
        assert extraction_queue.count_queued_turns(memory.database) == (0, 0)
    # what is done once only is not counted on
    events = min(int(counted), int(read(told, tmp_path, kind, 10**9 + 2)[2]))
    assert events > 40
    halves = {len(half[3]) for half in kill_everywhere(told, tmp_path, kind, kills, events)}
    assert len(halves) > (2 if kills > 6 else 1), "it was killed before, between and after what it wrote"


def by_model(messages: list[dict[str, str]]) -> str:
    """A model that takes each sentence it is shown for a fact, and says of each fact that it was said again."""
    shown = messages[-1]["content"].splitlines()
    if '"answers"' in messages[0]["content"]:
        return json.dumps({"answers": [{"fact": number, "says": "again"} for number in range(1, len(shown))]})
    facts = [{"sentence": number, "fact": line.partition(" ")[2]} for number, line in enumerate(shown, 1)]
    return json.dumps({"facts": facts})


@KILLS
@pytest.mark.parametrize("kind", ["statement", "file"])
def test_a_model_that_is_killed_as_it_reads_loses_nothing_and_asks_nothing_twice(
    told: Path, tmp_path: Path, kind: str, kills: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What rules have read waits for the model; it asks the same questions however often it was killed."""
    server = OllamaServer(by_model)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    try:
        ready = Path(shutil.copytree(told.parent, tmp_path / "ready" / ".memoranda")) / told.name
        with Memory.open(str(ready), "worker", Clock(days_before(NOON, 0.1))) as memory:
            said = "My brother bakes bread in Salto. The boat is painted blue."
            memory.turns.add_turns("tuesday", [NewTurn("user", said)])
            said = "We still ship the API freeze notes in May, as we said."
            memory.turns.add_turns("tuesday", [NewTurn("user", said)])
            rule_pass.run_rule_pass(memory)
            before = learned(memory)
            assert model_pass.is_model_due(memory)
        path, _, counted = read(ready, tmp_path, kind, 10**9 + 1, "model_pass", server.address)
        with Memory.open(str(path)) as memory:
            facts, asked, *_ = learned(memory)
            assert len(asked) > len(before[1]) and facts == before[0]
            assert extraction_queue.count_queued_turns(memory.database, model=True) == (0, 0)
        done = kill_everywhere(ready, tmp_path, kind, kills, int(counted), "model_pass", server.address)
        assert len({len(half[1]) for half in done}) > 1, "it was killed before and after what it asked"
    finally:
        server.close()
