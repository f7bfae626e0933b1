"""The server of the agent's model: its address is read in one way and told without a password, a look at it ends in
time, and no number or name that it says is believed further than it may be."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
from support.cases import load_cases
from support.model_server import ModelServer
from support.ollama_server import MODEL, OllamaServer

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.librarian import chat as chat_client
from store.librarian import model_selection
from store.librarian.chat import (
    MAX_FIGURE,
    Cancelled,
    DeadlineCall,
    DeadlineExceeded,
    ModelPuller,
    OllamaChat,
    RateMeter,
)
from store.librarian.model_selection import probe_model, read_model_status, read_server_info


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    server = OllamaServer("Hi there.")
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()


@pytest.fixture
def puller(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    server = ModelServer()
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()


def never() -> bool:
    return False


# its address ----------------------------------------------------------------------------------------------------------

SECRET = "hunter2"


@pytest.mark.parametrize("written", load_cases(__file__)["addresses"])
def test_a_password_in_an_address_is_told_nowhere(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", written)
    config = Config()
    stands = read_model_status(config, 0.3)
    told = [chat_client.shorten_address(written), *stands.describe(), json.dumps(stands.as_dict())]
    for make in (
        lambda: ModelPuller(chat_client.get_server_address(config), never),
        lambda: OllamaChat(written, DeadlineCall(never), None, "qwen2.5"),
    ):
        with pytest.raises(ModelFailed) as raised, closing(make()) as asked:
            list(asked.pull("qwen2.5")) if isinstance(asked, ModelPuller) else asked.answer(
                [("user", "Hi")], schema=None, predict=9, seconds=1
            )
        told.append(str(raised.value))
    assert not any(SECRET in line for line in told), told


@pytest.mark.parametrize("before", ["me:hun/ter2", "me:hun?ter2", "me:hun#ter2", "127.0.0.1:9/x", "127.0.0.1:9?x"])
def test_an_address_of_two_hosts_names_none(server: OllamaServer, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a password with a slash in it, or a path with an @: nothing is sent to either."""
    monkeypatch.setenv("OLLAMA_HOST", server.address.replace("://", f"://{before}@"))
    assert model_selection.open_selected_model(Config()) is None and not server.lists
    assert "is not the address of a server" in read_model_status(Config()).chosen_step.reason


def test_an_address_with_a_password_is_read_in_one_way(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is said to be asked is asked, and nobody else."""
    monkeypatch.setenv("OLLAMA_HOST", server.address.replace("://", "://me:hunter2@"))
    found = model_selection.open_selected_model(Config())
    assert found is not None and read_model_status(Config()).model == found.name == MODEL
    with closing(found):
        assert found.answer([("user", "Hi")], schema=None, predict=9, seconds=5) == "Hi there."


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ("http://localhost", ("localhost", 80)),
        ("localhost", ("localhost", 11434)),
        ("HTTP://localhost", ("localhost", 80)),
        ("http://me:hunter2@localhost", ("localhost", 80)),
        ("::1", ("::1", 11434)),
        ("", ("127.0.0.1", 11434)),
        (":8080", ("127.0.0.1", 8080)),
    ],
)
def test_looking_finding_and_asking_go_to_one_port(written: str, where: tuple[str, int], monkeypatch) -> None:
    went = []

    def refuse(to: tuple[str, int], *rest: object, **how: object) -> socket.socket:
        went.append(to)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setenv("OLLAMA_HOST", written)
    assert read_server_info(chat_client.get_server_address(Config())).trouble is not None
    assert model_selection.open_selected_model(Config()) is None
    chat_client.reset_breakers()
    with (
        pytest.raises(ModelFailed) as raised,
        closing(OllamaChat(written, DeadlineCall(never), None, "qwen2.5")) as chat,
    ):
        chat.answer([("user", "Hi")], schema=None, predict=9, seconds=5)
    assert raised.value.kind == "absent" and went == [where] * 3


# its names and numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["", "mine"])
def test_a_model_that_others_answer_for_is_not_asked_whatever_it_is_called(
    server: OllamaServer, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MODEL", named)
    server.models, server.remote = ["mine:latest"], {"mine:latest"}
    stands = read_model_status(Config())
    assert model_selection.open_selected_model(Config()) is None and stands.model == ""
    assert ("other machines" in stands.steps[0].reason) is bool(named)
    assert "runs on other machines" in "\n".join(stands.describe())
    chat_client.reset_breakers()
    server.models = ["mine:latest", "llama3:8b"]
    found = model_selection.open_selected_model(Config())
    assert found is not None and found.name == read_model_status(Config()).model == "llama3:8b"
    found.close()


@pytest.mark.parametrize("number", [10**400, 2**64, 2**1024])
def test_no_number_of_a_servers_is_too_large(puller: ModelServer, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    puller.installed, puller.load_seconds = {MODEL: number}, 0
    stands = read_model_status(Config())
    assert stands.look.models[0].size == MAX_FIGURE and stands.describe()
    monkeypatch.setattr("support.model_server.LAYERS", (("sha256:1", number), ("sha256:2", number)))
    puller.step, pace = number, RateMeter()
    with closing(ModelPuller(puller.address, never)) as fetcher:
        for far in fetcher.pull("qwen2.5:0.5b"):
            pace.add_report(far.done, far.total)
            assert pace.describe(far)
    last: dict[str, Any] = {"eval_count": number, "eval_duration": number, "load_duration": number}
    monkeypatch.setattr("support.model_server.COUNTS", last)
    assert probe_model(Config(), stands, MODEL).describe()


# its time -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def slow_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A resolver that does not answer before the test is over."""
    over, real = threading.Event(), socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **how: Any) -> Any:
        if host != "ollama.lan":
            return real(host, *rest, **how)
        over.wait(20)
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("OLLAMA_HOST", "http://ollama.lan:11434")
    yield over
    over.set()


def took(work: Callable[[], object]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def test_a_name_that_nobody_knows_keeps_nobody_waiting(slow_names: threading.Event) -> None:
    assert took(lambda: model_selection.open_selected_model(Config(), seconds=0.3)) < 10
    assert took(lambda: read_model_status(Config(), 0.3)) < 10
    chat_client.reset_breakers()
    pressed = threading.Event()
    threading.Timer(0.2, pressed.set).start()
    assert took(lambda: model_selection.open_selected_model(Config(), cancelled=pressed.is_set)) < 10
    breaker = chat_client.breaker_of(chat_client.get_server_address(Config()))
    assert breaker.why_open() is None, "who was not waited for has not failed"


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_question_waits_for_no_name_either(slow_names: threading.Event, cancelled: bool) -> None:
    pressed = threading.Event()
    if cancelled:
        threading.Timer(0.2, pressed.set).start()
    call = DeadlineCall(pressed.is_set, 20 if cancelled else 0.3)
    chat = OllamaChat("http://ollama.lan:11434", call, None, "qwen2.5")
    with closing(chat), pytest.raises(ModelFailed) as raised:
        start = time.monotonic()
        chat.answer([("user", "Hi")], schema=None, predict=9, seconds=20)
    assert time.monotonic() - start < 10 and raised.value.kind == ("stopped" if cancelled else "slow")


def test_a_list_that_nobody_waits_for_any_more_ends_at_once(server: OllamaServer) -> None:
    server.deaf = True
    pressed = threading.Event()
    threading.Timer(0.2, pressed.set).start()
    assert took(lambda: model_selection.open_selected_model(Config(), cancelled=pressed.is_set)) < 10
    assert server.left.wait(30), "and the server hears it"


def test_what_is_done_beside_a_call_ends_with_it() -> None:
    call = DeadlineCall(never)
    call.set_deadline(5)
    assert call.run_beside(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        call.run_beside(lambda: 1 // 0)
    over = threading.Event()
    call.set_deadline(0.1)
    with pytest.raises(DeadlineExceeded):
        call.run_beside(lambda: over.wait(20))
    stopped = DeadlineCall(lambda: True)
    stopped.set_deadline(5)
    with pytest.raises(Cancelled):
        stopped.run_beside(lambda: over.wait(20))
    over.set()


def test_all_calls_end_in_the_seconds_that_they_have_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("store.librarian.chat.time", SimpleNamespace(monotonic=lambda: now[0]))
    call = DeadlineCall(never, 20)
    call.set_deadline(60)
    assert call.seconds == 20
    now[0] += 21
    call.set_deadline(60)
    with pytest.raises(DeadlineExceeded):
        assert call.seconds
