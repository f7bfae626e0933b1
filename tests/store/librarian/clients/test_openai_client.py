"""The contract of a chat, for both clients, and a server that speaks OpenAI's API over a real socket.

What it fakes: `/v1/models`, and `/v1/chat/completions` as server-sent events; the words are the test's.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from support.ollama_server import MODEL, OllamaServer

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.librarian import model_selection
from store.librarian.chat import WORD_ONLY_ODDS, ChatClient, ChatModel, ModelPuller, shorten_address
from store.librarian.librarian import run_trial
from store.librarian.model_selection import read_model_status, read_server_info
from store.librarian.structured_output import ModelStats
from store.upkeep.checks import check_agent_model
from tui.panes.pane import Heading
from tui.panes.settings import model_rows
from tui.workers.model_worker import ModelWorker

if TYPE_CHECKING:
    from store.upkeep.checks import CheckContext

YES, NO = ("Yes", "Sí"), ("No",)
ASKED = [("user", "well?")]


class OpenAIServer:
    """`says` is what it answers, `fault` how it fails, `keys` the Authorization headers that it was sent."""

    def __init__(self) -> None:
        self.says, self.fault, self.likely = "Yes, it is.", "", dict[str, float]()
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments: object) -> None:
                """Quietly."""

            def do_GET(self) -> None:
                owner.keys.append(self.headers["Authorization"])
                self._whole(200, {"object": "list", "data": [{"id": MODEL}, {"id": "nomic-embed-text"}]})

            def do_POST(self) -> None:
                owner.keys.append(self.headers["Authorization"])
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.asked.append(body)
                if owner.fault.isdigit():
                    self._whole(int(owner.fault), {"error": {"message": "no"}})
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for place, word in enumerate(owner.says.split(" ")):
                    choice: dict[str, Any] = {"delta": {"content": f"{' ' if place else ''}{word}"}}
                    if body.get("logprobs") and owner.likely and not place:
                        told = [{"token": one, "logprob": value} for one, value in owner.likely.items()]
                        choice["logprobs"] = {"content": [{"token": word, "logprob": -0.1, "top_logprobs": told}]}
                    self._event({"choices": [choice]})
                    if owner.fault == "cut":
                        return
                    if owner.fault == "error":
                        self._event({"error": {"message": "out of memory"}})
                        return
                if owner.fault == "nonsense":
                    self.wfile.write(b"data: <html>\n\n")
                    return
                reason = "length" if owner.fault == "length" else "stop"
                self._event({"choices": [{"delta": {}, "finish_reason": reason}]})
                self.wfile.write(b"data: [DONE]\n\n")

            def _event(self, event: dict[str, Any]) -> None:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

            def _whole(self, status: int, value: object) -> None:
                said = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Config]:
    monkeypatch.delenv("MEMORANDA_WITHOUT", raising=False)

    def configure(address: str) -> Config:
        monkeypatch.setenv("OLLAMA_HOST", address)
        return Config()

    return configure


@pytest.fixture(params=["ollama", "openai"])
def served(request: pytest.FixtureRequest) -> Iterator[Any]:
    server: Any = OllamaServer("Yes, it is.") if request.param == "ollama" else OpenAIServer()
    yield server
    server.close()


@pytest.fixture
def chat(served: Any, configured: Callable[[str], Config]) -> Iterator[ChatClient]:
    found = model_selection.open_selected_model(configured(served.address))
    assert found is not None
    yield found
    found.close()


# the contract of a chat: the same for every client


def test_a_chat_answers_and_leans(chat: ChatClient, served: Any) -> None:
    kept: ChatModel = chat
    assert kept.name == MODEL
    assert kept.answer(ASKED, schema=None, predict=40, seconds=5) == "Yes, it is."
    assert kept.log_odds(ASKED, yes=YES, no=NO, seconds=5) == 0.0, "of several words"
    served.say, served.says = (lambda _: "Yes"), "Yes"
    assert kept.log_odds(ASKED, yes=YES, no=NO, seconds=5) == WORD_ONLY_ODDS, "of a server that tells no likelihoods"
    served.likely = {"Yes": -0.1, "No": -3.1}
    assert kept.log_odds(ASKED, yes=YES, no=NO, seconds=5) == pytest.approx(3.0)
    served.likely = {"Maybe": -0.1}
    assert kept.log_odds(ASKED, yes=YES, no=NO, seconds=5) == 0.0


def test_a_chat_whose_time_is_over_fails_and_is_not_waited_for(chat: ChatClient) -> None:
    with pytest.raises(ModelFailed) as raised:
        chat.answer(ASKED, schema=None, predict=40, seconds=0)
    assert raised.value.kind == "slow"


def test_a_chat_refuses_what_is_longer_than_it_reads(chat: ChatClient) -> None:
    with pytest.raises(ModelFailed) as raised:
        chat.answer([("user", "word " * 8_000)], schema=None, predict=40, seconds=5)
    assert raised.value.kind == "long"


# what is its own


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    server = OpenAIServer()
    yield server
    server.close()


def test_a_key_comes_from_the_environment_and_is_sent_with_each_question(
    server: OpenAIServer, configured: Callable[[str], Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_API_KEY", "k-123")
    chat = model_selection.open_selected_model(configured(server.address))
    assert chat is not None
    chat.answer(ASKED, schema={"type": "object"}, predict=40, seconds=5)
    assert set(server.keys) == {"Bearer k-123"}
    (asked,) = server.asked
    assert asked["response_format"]["json_schema"]["schema"] == {"type": "object"} and asked["stream"] is True
    chat.close()


@pytest.mark.parametrize(
    "fault, kind",
    [("404", "missing"), ("401", "refused"), ("503", "busy"), ("cut", "cut"), ("error", "broken"),
     ("nonsense", "broken"), ("length", "cut")],
)  # fmt: skip
def test_a_failure_is_in_our_words(server: OpenAIServer, configured: Callable[[str], Config], fault: str, kind: str):
    chat = model_selection.open_selected_model(configured(server.address))
    assert chat is not None
    server.fault = fault
    with pytest.raises(ModelFailed) as raised:
        chat.answer(ASKED, schema=None, predict=40, seconds=5)
    assert raised.value.kind == kind and "out of memory" not in str(raised.value)
    assert "ollama" not in str(raised.value).lower(), "which need not be installed"
    chat.close()


def test_a_look_lists_its_models_or_says_none_is(server: OpenAIServer, configured: Callable[[str], Config]) -> None:
    found = read_server_info(server.address)
    assert [(one.name, one.loaded) for one in found.models] == [(MODEL, True), ("nomic-embed-text", True)]
    config = configured("http://127.0.0.1:9/v1")
    assert model_selection.open_selected_model(config) is None
    assert model_selection.why_no_model(config).startswith("Nothing answers at 127.0.0.1:9/v1.")
    assert "It is asked again in" in model_selection.why_no_model(config)


def test_nobody_is_sent_to_ollama_for_another_server(
    server: OpenAIServer, configured: Callable[[str], Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing, config = read_model_status(configured("http://127.0.0.1:9/v1")), configured(server.address)
    monkeypatch.setenv("MEMORANDA_MODEL", "phi-4")
    _, steps = model_selection.choose_model(config, ())
    told = [f"{step.reason} {step.next}" for step in (*nothing.steps, *steps, *read_model_status(config).steps)]
    assert any("The server has no model phi-4." in text for text in told) and "ollama" not in " ".join(told).lower()
    address = f"The server at {shorten_address(server.address)}"
    assert not nothing.look.lacks_ollama and read_model_status(config).server == address
    asked = SimpleNamespace(memory=SimpleNamespace(config=config), progress=lambda *_: None)
    assert next(check_agent_model(cast("CheckContext", asked))).says.startswith(f"{address} has {MODEL}")
    with pytest.raises(ModelFailed, match="Only Ollama fetches models"):
        ModelPuller(server.address, lambda: False)


def test_the_models_of_another_server_are_listed_and_none_is_offered_for_it(
    server: OpenAIServer, configured: Callable[[str], Config]
) -> None:
    status = read_model_status(configured(server.address))
    found = [row.key for row in model_rows(ModelWorker(print), status, ModelStats()) if not isinstance(row, Heading)]
    assert f"model {MODEL}" in found and not any(key.startswith("pull") for key in found)


def test_ten_questions_show_what_a_model_is_worth() -> None:
    class Reader:
        """Leans by the words that a question and a record share."""

        def log_odds(self, messages: Any, *, yes: object, no: object, seconds: float) -> float:
            record, question, _ = messages[-1][1].split("\n")
            return -2.0 if len(set(record.lower().split()) & set(question.lower().split())) < 3 else 2.0

    found = list(run_trial(Reader(), 5.0))
    assert len(found) == 10 and 0 < sum(one.right for one in found) < 10
