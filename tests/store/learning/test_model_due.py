"""What waits for a model while its server is in trouble, or a person does not want it: no turn pays for the server, the
server is left alone, and nobody waits for longer than was said."""

import json
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from support.ollama_server import MODEL, OllamaServer
from support.waiting import until

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.conversations import extraction_queue
from store.conversations.turns import NewTurn
from store.learning import model_pass, rule_pass
from store.learning import tasks as summarizers
from store.learning.model_pass import ModelPassResult
from store.learning.rules import find_candidates
from store.librarian import chat as chat_client
from store.librarian.model_selection import open_selected_model, read_model_status
from store.memory import Memory
from tui.workers.background import MOST_INTERRUPTIONS, LearningWorker, Pace

READS = '{"facts": [], "answers": []}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    server = OllamaServer(READS)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()


def told(memory: Memory, count: int = 1) -> None:
    """A person said so much that a model may read; rules have read it, and there is nothing that it could say again."""
    said = [NewTurn("user", f"Mi viejo tiene {n} panaderías en Salto.") for n in range(2, 2 + count)]
    memory.turns.add_turns("monday", said)
    rule_pass.run_rule_pass(memory)
    with memory.database.write("agent", "extraction") as write:
        write.execute("DELETE FROM pending_extraction WHERE task = 'model.reconfirm'")


def attempts(memory: Memory) -> list[int]:
    return [number for (number,) in memory.database.rows("SELECT attempts FROM pending_extraction ORDER BY id")]


def alone() -> bool:
    """Whether the server is left alone."""
    return chat_client.breaker_of(chat_client.get_server_address(Config())).why_open() is not None


def setting(memory: Memory, name: str, value: Any) -> None:
    memory.config.find_value(name).value = value  # type: ignore[union-attr]


# a server in trouble --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["no memory", "unauthorised", "moved"])
def test_a_server_without_an_answer_costs_no_turn(memory: Memory, clock: Any, server: OllamaServer, fault: str) -> None:
    told(memory, 20)
    before = attempts(memory)
    server.fault = fault
    for _ in range(8):
        done = model_pass.run_model_pass(memory)
        assert not (done.read or done.failed)
        clock.advance(milliseconds=1_000)
    assert attempts(memory) == before and len(server.asked) == chat_client.FAILURES_TO_OPEN and alone()
    assert not model_pass.is_model_due(memory)
    server.fault = ""
    chat_client.reset_breakers()
    clock.advance(days=0.1)
    assert model_pass.run_model_pass(memory).read == len(before)


def test_a_question_that_is_too_large_is_the_turns_fault(memory: Memory, server: OllamaServer) -> None:
    told(memory, 5)
    server.fault = "too large"
    assert model_pass.run_model_pass(memory).failed and set(attempts(memory)) == {1} and not alone()


def test_what_is_refused_keeps_no_other_turn_from_being_read(memory: Memory, clock: Any, server: OllamaServer) -> None:
    """Perhaps it is that one after all: it comes again later, and was not tried."""
    told(memory, 3)
    server.faults = ["unauthorised"]
    assert model_pass.run_model_pass(memory).trouble
    assert model_pass.run_model_pass(memory).read == 2 and attempts(memory) == [0]
    clock.advance(milliseconds=61_000)
    assert model_pass.run_model_pass(memory).read == 1


@pytest.mark.parametrize("how", ["hangs", "error line"])
def test_a_model_that_cannot_be_loaded_costs_no_turn_a_try(
    memory: Memory, clock: Any, server: OllamaServer, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(chat_client, "LOADING_SECONDS", 0.1)
    told(memory, 10)
    before = attempts(memory)
    server.loaded.clear()
    server.load_hangs = how == "hangs"
    server.load_fails = how != "hangs"
    said = []
    for _ in range(5):
        said.append(model_pass.run_model_pass(memory).trouble)
        clock.advance(milliseconds=1_000)
    tries, rests = said[: chat_client.FAILURES_TO_OPEN], said[chat_client.FAILURES_TO_OPEN :]
    assert all("could not be loaded" in one for one in tries) and rests == ["", ""]
    assert attempts(memory) == before and alone()


def test_a_look_lets_no_server_off_whose_answers_fail(memory: Memory, server: OllamaServer) -> None:
    setting(memory, "agent.patience", 0.5)
    told(memory, 20)
    server.fault = "hangs"
    for _ in range(6):
        model_pass.run_model_pass(memory)
        assert alone()
        assert read_model_status(memory.config).model == MODEL, "its list is as it should be"
    # a question that ended may not have been read yet by a server whose processor is busy
    until(lambda: len(server.asked) == chat_client.FAILURES_TO_OPEN)


@pytest.mark.parametrize("kind", ["absent", "missing"])
def test_a_look_lets_a_server_off_that_was_gone_or_had_no_model(server: OllamaServer, kind: str) -> None:
    broken = chat_client.breaker_of(chat_client.get_server_address(Config()))
    broken.record_failure(ModelFailed(kind, "It is gone."))
    server.models = []
    read_model_status(Config())
    assert broken.why_open()
    server.models = [MODEL]
    read_model_status(Config())
    assert not broken.why_open()


def test_where_there_is_no_model_nobody_looks_again_and_again(memory: Memory, server: OllamaServer) -> None:
    told(memory)
    server.models = []
    for _ in range(5):
        if model_pass.is_model_due(memory):
            model_pass.run_model_pass(memory)
    assert server.lists == 1 and not model_pass.is_model_due(memory)
    server.models = [MODEL]
    read_model_status(memory.config)
    assert model_pass.is_model_due(memory), "one was fetched, and a look saw it"


def test_switched_off_nothing_is_due(memory: Memory, server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    told(memory)
    assert model_pass.is_model_due(memory)
    setting(memory, "agent.mode", "off")
    assert not model_pass.is_model_due(memory)
    setting(memory, "agent.mode", "fast")
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")
    assert not model_pass.is_model_due(memory) and not server.lists


def test_a_turn_of_figures_is_not_asked_about_where_the_model_could_not_read_it(server: OllamaServer) -> None:
    """A model makes a token of each."""
    chat = open_selected_model(Config())
    assert chat is not None
    with pytest.raises(ModelFailed) as raised:
        chat.answer([("user", "3141592653 " * 400)], schema=None, predict=20, seconds=5)
    assert raised.value.kind == "long" and not server.asked
    assert chat.answer([("user", "3141592653 " * 200)], schema=None, predict=20, seconds=5)
    chat.close()


# a person who waits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lists", "answers"), [(0.4, 1.5), (0.0, 0.6)])
def test_all_that_is_done_before_an_answer_has_the_seconds_together(
    memory: Memory, server: OllamaServer, lists: float, answers: float
) -> None:
    """The list, whether it is loaded, and the answer; another question is not begun where little is left."""
    setting(memory, "agent.mode", "smart")
    setting(memory, "agent.seconds", 1)

    def slowly(_: object) -> str:
        time.sleep(answers)
        return json.dumps({"sentence": "El liceo tiene nueve aulas y abre a las ocho"})

    server.say, server.slow_lists = slowly, lists
    start = time.monotonic()
    with summarizers.fact_summarizer(memory) as said:
        for _ in range(3):
            assert said(["El liceo tiene nueve aulas", "El liceo abre a las ocho"])
        assert time.monotonic() - start < 3
    assert len(server.asked) <= 1


def test_a_question_is_begun_while_there_is_time_for_it(memory: Memory, server: OllamaServer) -> None:
    setting(memory, "agent.mode", "smart")
    server.say = lambda _: json.dumps({"sentence": "El liceo tiene nueve aulas y abre a las ocho"})
    with summarizers.fact_summarizer(memory) as said:
        assert said(["El liceo tiene nueve aulas", "El liceo abre a las ocho"]).startswith("El liceo tiene")
        assert said(["El liceo tiene nueve aulas", "El liceo abre a las ocho"])
    assert len(server.asked) == 2


# beside everything else -----------------------------------------------------------------------------------------------


def test_no_transaction_is_open_while_it_is_looked_what_a_model_may_read(
    memory: Memory, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long turns take long: every other writer would wait."""
    inside = []

    def looked_at(role: str, text: str) -> list[Any]:
        inside.append(memory.database.connection.in_transaction)
        return list(find_candidates(role, text))

    monkeypatch.setattr(rule_pass, "find_candidates", looked_at)
    said = "Recordá que el build es lento. Mi viejo tiene una panadería en Salto."
    memory.turns.add_turns("s", [NewTurn("user", said)])
    told(memory, 3)
    assert inside == [False] * 4, "and once for each turn"
    assert extraction_queue.count_queued_turns(memory.database, model=True)[0] == 4


@pytest.fixture
def pressed() -> threading.Event:
    return threading.Event()


@pytest.fixture
def learner(memory: Memory, clock: Any, pressed: threading.Event) -> LearningWorker:
    """Of an application in which a key is pressed while `pressed` is set."""
    keys: Any = SimpleNamespace(give_way=lambda: False, must_stop=pressed.is_set)
    return LearningWorker(memory.location, clock, keys, Pace())


def beside(learner: LearningWorker) -> "tuple[threading.Thread, list[ModelPassResult]]":
    done: list[ModelPassResult] = []
    thread = threading.Thread(target=lambda: done.append(learner.run_model()), daemon=True)
    thread.start()
    return thread, done


def test_rules_read_on_while_a_model_thinks(
    memory: Memory, server: OllamaServer, learner: LearningWorker, pressed: threading.Event
) -> None:
    told(memory)
    learner.run_rules()
    assert model_pass.is_model_due(memory) and not server.asked, "the model is not the rules' to ask"
    server.fault = "hangs"
    thread, _ = beside(learner)
    assert server.begun.wait(30)
    memory.turns.add_turns("now", [NewTurn("user", "Recordá que el build es lento.")])
    assert learner.is_learning_due(memory)
    assert learner.run_rules()[0].learned.facts and thread.is_alive(), "the model still thinks"
    pressed.set()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("often", [0, MOST_INTERRUPTIONS])
def test_whoever_asks_the_model_waits_for_no_reading_of_its_own(
    memory: Memory, server: OllamaServer, learner: LearningWorker, often: int
) -> None:
    """Nor where keys broke it off so often that it is let come to its end."""
    told(memory)
    learner._broken_off = often
    server.fault = "hangs"
    thread, done = beside(learner)
    assert server.begun.wait(30)
    with learner.set_aside():
        thread.join(10)
        assert not thread.is_alive() and not done[0].read
        assert not learner.is_model_due(memory), "and nothing is begun meanwhile"
    server.fault = ""
    assert learner.is_model_due(memory)


@pytest.mark.parametrize("cold", [False, True])
def test_keys_break_a_model_off_but_not_for_ever(
    memory: Memory, server: OllamaServer, learner: LearningWorker, pressed: threading.Event, cold: bool
) -> None:
    """Also where it must be loaded first, which takes longer than anybody pauses."""
    told(memory, 2)
    if cold:
        server.loaded.clear()
        server.load_hangs = True
    else:
        server.fault = "hangs"
    for _ in range(MOST_INTERRUPTIONS):
        server.begun.clear()
        pressed.clear()
        thread, done = beside(learner)
        assert server.begun.wait(30)
        pressed.set()
        thread.join(10)
        assert done[0].broken_off and not done[0].read
    server.fault, server.load_hangs = "", False
    thread, done = beside(learner)
    thread.join(10)
    assert (done[0].read, done[0].broken_off) == (1, False), "it reads one, whatever is pressed"
    thread, done = beside(learner)
    thread.join(10)
    assert done[0].read == 0, "and gives way again"
