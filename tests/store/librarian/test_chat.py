"""The agent's model: found in one order, asked at one address, and survived, whatever the server does."""

import math
import threading
from collections.abc import Iterator

import pytest
from support.ollama_server import FAULTS, MODEL, OllamaServer

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.config.settings import find_setting
from store.librarian import chat as chat_client
from store.librarian import model_selection
from store.librarian.chat import CircuitBreaker, OllamaChat
from store.librarian.model_selection import read_model_status

HI = [("system", "Be short."), ("user", "Say hi.")]


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    server = OllamaServer("Hi there.")
    yield server
    server.close()


def configured(server: OllamaServer | None = None, **values: object) -> Config:
    """A configuration that names this server; `agent_model="x"` sets agent.model."""
    config = Config()
    if server is not None:
        values = {"agent_host": server.address, **values}
    for name, value in values.items():
        setting = find_setting(name.replace("_", ".", 1))
        assert setting.is_valid(value)
        config._values[setting.name].value = value
    return config


def chat(server: OllamaServer, **how: object) -> OllamaChat:
    found = model_selection.open_selected_model(configured(server), **how)  # type: ignore[arg-type]
    assert found is not None
    return found


def failure(asking: OllamaChat, seconds: float = 5.0, predict: int = 20) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        asking.answer(HI, schema=None, predict=predict, seconds=seconds)
    return caught.value


# asking ---------------------------------------------------------------------------------------------------------------


def test_a_question_is_answered_and_every_question_is_asked_alike(server: OllamaServer) -> None:
    asking = chat(server)
    schema = {"type": "object"}
    assert asking.answer(HI, schema=schema, predict=30, seconds=5) == "Hi there."
    assert asking.answer(HI, schema=None, predict=200, seconds=5) == "Hi there."
    first, second = server.asked
    assert first["options"] == {"temperature": 0, "seed": 1, "num_ctx": 4096, "num_predict": 30}
    assert second["options"]["num_ctx"] == 4096, "another one would load the model anew"
    assert first["format"] == schema and "format" not in second
    assert first["keep_alive"] == "5m" and first["stream"] is True and not first["tools"]
    assert first["messages"] == [{"role": role, "content": text} for role, text in HI]
    assert asking.name == MODEL and server.loads == 0


def log_odds(asking: OllamaChat) -> float:
    return asking.log_odds(HI, yes=("Yes", "Sí"), no=("No",), seconds=5)


def test_how_much_likelier_one_first_word_is_than_another_is_told_by_the_server(server: OllamaServer) -> None:
    asking = chat(server)
    server.likely = {"No": math.log(0.5), " yes": math.log(0.1), "Yes": math.log(0.2), "Maybe": math.log(0.1)}
    assert log_odds(asking) == pytest.approx(math.log(0.3 / 0.5)), "a word is the same in any case, with a space or not"
    [asked] = server.asked
    assert (asked["logprobs"], asked["top_logprobs"], asked["options"]["num_predict"]) == (True, 20, 1)
    server.likely = {"Sí": -0.1}
    assert log_odds(asking) == pytest.approx(-0.1 - math.log(1e-6)), "what is not among the likeliest is not impossible"
    asking.answer(HI, schema=None, predict=20, seconds=5)
    assert "logprobs" not in server.asked[-1], "nobody else asks for them"


@pytest.mark.parametrize(("word", "odds"), [("Yes.", 2.0), ("sí", 2.0), ("No, it is not", -2.0), ("Perhaps", 0.0)])
def test_without_likelihoods_the_word_that_a_server_says_is_taken(server: OllamaServer, word: str, odds: float) -> None:
    server.say = lambda messages: word.split()[0]
    assert log_odds(chat(server)) == odds


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in ("length", "not all read")])
def test_a_first_word_is_waited_for_no_longer_than_an_answer(server: OllamaServer, fault: str) -> None:
    server.fault = fault
    server.likely = {"Yes": -0.1}
    asking = chat(server)
    with pytest.raises(ModelFailed) as caught:
        asking.log_odds(HI, yes=("Yes",), no=("No",), seconds=0.5 if FAULTS[fault] == "slow" else 60)
    assert caught.value.kind == FAULTS[fault]
    server.fault = "length"
    chat_client.reset_breakers()
    assert log_odds(asking) > 0, "of an answer of one word the end is no fault"


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_a_server_ends_in_time_with_a_sentence(server: OllamaServer, fault: str) -> None:
    asking = chat(server)
    server.fault = fault
    # whatever hangs or trickles for ever ends with its call: otherwise this test would not
    failed = failure(asking, seconds=0.4 if FAULTS[fault] == "slow" else 60)
    assert failed.kind == FAULTS[fault]
    assert failed.message.endswith(".") and failed.next
    assert "elsewhere" not in str(failed) and "GiB" not in str(failed), "nothing of what the server said"
    tries = 3 if failed.kind in chat_client.RETRIED_KINDS and fault != "length" else 1
    assert len(server.asked) == tries or (failed.kind == "slow" and not server.asked), "it may not have read it yet"


@pytest.mark.parametrize("fault", ["busy", "bad gateway", "error line", "no done", "cut", "reset", "empty", "html"])
def test_what_may_pass_is_tried_again(server: OllamaServer, fault: str) -> None:
    server.faults = [fault, fault]
    assert chat(server).answer(HI, schema=None, predict=20, seconds=5) == "Hi there."
    assert len(server.asked) == 3


def test_trying_again_takes_no_longer_than_a_question(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_client, "RETRY_PAUSES", (60.0, 60.0))
    asking = chat(server)
    server.fault = "busy"
    assert failure(asking, seconds=1).kind == "slow"
    assert len(server.asked) <= 1


def test_a_question_that_is_too_long_is_not_asked(server: OllamaServer) -> None:
    asking = chat(server)
    with pytest.raises(ModelFailed, match="The question is longer than") as caught:
        asking.answer([("user", "palabra " * 2_000)], schema=None, predict=200, seconds=5)
    assert caught.value.kind == "long" and not server.asked


@pytest.mark.parametrize("fault", ["hangs", "hangs midway", "trickles"])
def test_a_question_that_nobody_wants_any_more_ends_at_once(server: OllamaServer, fault: str) -> None:
    unwanted = threading.Event()
    asking = chat(server, cancelled=unwanted.is_set)
    server.fault = fault
    threading.Thread(target=lambda: (server.begun.wait(30), unwanted.set())).start()
    assert failure(asking, seconds=60).kind == "stopped"
    if fault != "trickles":
        assert server.left.wait(30), "and the server is told, so that it computes no further"


# a cold model ---------------------------------------------------------------------------------------------------------


def test_a_cold_model_is_loaded_first_and_said_to_be(server: OllamaServer) -> None:
    server.loaded.clear()
    told = []
    asking = chat(server, loading=lambda: told.append("loading"))
    assert asking.answer(HI, schema=None, predict=20, seconds=30) == "Hi there."
    assert asking.answer(HI, schema=None, predict=20, seconds=30) == "Hi there."
    assert told == ["loading"] and server.loads == 1


def test_a_load_has_longer_than_an_answer_and_ends_too(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.loaded.clear()
    server.load_hangs = True
    monkeypatch.setattr(chat_client, "LOADING_SECONDS", 1.0)
    assert failure(chat(server), seconds=0.1).kind == "unloaded"
    assert server.left.wait(30) and not server.asked


def test_a_load_is_broken_off_with_the_question(server: OllamaServer) -> None:
    server.loaded.clear()
    server.load_hangs = True
    unwanted = threading.Event()
    asking = chat(server, cancelled=unwanted.is_set)
    threading.Thread(target=lambda: (server.begun.wait(30), unwanted.set())).start()
    assert failure(asking).kind == "stopped"


def test_whoever_does_not_wait_for_a_load_is_told_and_nothing_is_loaded(server: OllamaServer) -> None:
    server.loaded.clear()
    assert failure(chat(server, loading=None)).kind == "cold" and server.loads == 0
    assert failure(chat(server, loading=None)).kind == "cold", "and the server is not to blame"
    assert model_selection.open_selected_model(configured(server)) is not None


# a dead server --------------------------------------------------------------------------------------------------------


def test_a_dead_server_is_left_alone_for_a_while_and_longer_each_time() -> None:
    now = 0.0
    server = CircuitBreaker(lambda: now)
    dead = ModelFailed("absent", "Nothing answers.", "Start it.")
    server.record_failure(dead)
    told = server.why_open()
    assert told is not None and (told.kind, told.next) == ("absent", "It is asked again in 30 s. Start it.")
    now = 31.0
    assert server.why_open() is None
    server.record_failure(dead)
    now = 31.0 + 59
    assert server.why_open() is not None
    server.record_answer()
    assert server.why_open() is None


def test_one_slow_answer_trips_nothing_three_in_a_row_do(server: OllamaServer) -> None:
    asking = chat(server)
    server.fault = "hangs"
    assert [failure(asking, 0.1).kind for _ in range(2)] == ["slow", "slow"]
    server.fault = ""
    assert asking.answer(HI, schema=None, predict=20, seconds=5)
    server.fault = "hangs"
    for _ in range(3):
        failure(asking, 0.1)
    lists = server.lists
    assert failure(asking).kind == "slow"
    assert model_selection.open_selected_model(configured(server)) is None
    assert len(server.asked) <= 6 and server.lists == lists, "nobody knocked"


def test_a_server_that_hangs_at_its_list_is_given_up(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.deaf = True  # for ever: without a limit this test would not end
    assert model_selection.open_selected_model(configured(server), seconds=0.2) is None
    assert "did not answer in time" in read_model_status(configured(server), 0.2).chosen_step.reason


# which one ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "setting", "installed", "name", "who"),
    [
        ("", "", ["llama3:8b", MODEL, "qwen2.5:7b"], MODEL, "qwen2.5"),
        ("", "", ["llama3:8b", "qwen2.5:7b", "qwen2.5:0.5b"], "qwen2.5:7b", "qwen2.5"),
        ("", "", ["nomic-embed-text:latest", "llama3:8b"], "llama3:8b", "any"),
        ("", "", ["nomic-embed-text:latest"], "", "rules"),
        ("", "", [], "", "rules"),
        ("", "mine", [MODEL, "mine:latest"], "mine:latest", "agent.model"),
        ("theirs", "mine", [MODEL, "mine:latest", "theirs"], "theirs", "$MEMORANDA_MODEL"),
        ("gone", "mine", [MODEL, "mine:latest"], "mine:latest", "agent.model"),
        ("gone", "gone too", [MODEL], MODEL, "qwen2.5"),
        ("", "gpt-oss:120b-cloud", ["gpt-oss:120b-cloud", "llama3:8b"], "llama3:8b", "any"),
        ("", "", ["qwen2.5:72b-cloud", "gpt-oss:120b-cloud"], "", "rules"),
    ],
)
def test_the_order_in_which_a_model_is_found(
    variable: str, setting: str, installed: list[str], name: str, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MODEL", variable)
    listed = [model_selection.InstalledModel(name, remote=model_selection.is_cloud_model(name)) for name in installed]
    found, steps = model_selection.choose_model(configured(agent_model=setting), listed)
    assert found == name and [step.who for step in steps] == list(model_selection.SELECTION_ORDER)
    (place,) = [place for place, step in enumerate(steps) if step.taken]
    assert steps[place].who == who
    for step in steps[:place]:  # every other is told, with what would mend it
        mended = step.next.startswith("ollama pull") or "other machines" in step.reason
        assert mended or step.reason in ("Not set.", "Ollama has no model that can answer.")
    assert all(step.reason == "Not needed." for step in steps[place + 1 :])


def test_the_servers_list_decides_and_a_switch_ends_it(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.models = ["llama3:8b", "mine:latest"]
    monkeypatch.setenv("OLLAMA_HOST", server.address)

    def name() -> str:
        found = model_selection.open_selected_model(configured(agent_model="mine"))
        assert found is not None
        found.close()
        return found.name

    assert name() == "mine:latest"
    monkeypatch.setenv("MEMORANDA_MODEL", "llama3:8b")
    assert name() == "llama3:8b"
    lists = server.lists
    assert model_selection.open_selected_model(configured(agent_mode="off")) is None
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")
    assert model_selection.open_selected_model(configured()) is None
    assert server.lists == lists, "not even asked for its list"


def test_nothing_goes_anywhere_else(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to a proxy of the environment, nor to where a server points."""
    other = OllamaServer()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, other.address)
    monkeypatch.setenv("OLLAMA_HOST", other.address)
    assert chat(server).answer(HI, schema=None, predict=20, seconds=5) == "Hi there."
    assert server.asked and not other.asked and not other.lists
    other.close()


@pytest.mark.parametrize("address", ["http://[", "http://127.0.0.1:99999", "http://a..b"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    config = configured(agent_host=address)
    assert model_selection.open_selected_model(config) is None
    assert "memoranda config agent.host" in read_model_status(config).chosen_step.next
