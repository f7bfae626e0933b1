"""Setting the agent's model up: what the server is and has, who is asked and by whose word, fetching, trying."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.model_server import FAULTS, LAYERS, ModelServer
from support.tables import each

from store.base.errors import ModelFailed
from store.config.configuration import Config, load_config, user_settings_path
from store.librarian import chat as circuit_breaker
from store.librarian.chat import ModelPuller, PullResult, RateMeter, complete_address, shorten_address
from store.librarian.model_selection import (
    SELECTION_ORDER,
    USUAL_MODEL,
    open_selected_model,
    probe_model,
    read_model_status,
    read_server_info,
    why_no_model,
)
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.checks import NOTE, OK
from store.upkeep.doctor import examine

WHOLE = sum(total for _, total in LAYERS)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    server = ModelServer()
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Config]:
    """A person's own file with these settings under [agent]."""

    def configure(**values: str) -> Config:
        path = Path(user_settings_path())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[agent]\n" + "".join(f'{name} = "{value}"\n' for name, value in values.items()))
        return load_config(locate(str(tmp_path / "memory.db"), {}, str(tmp_path)))

    return configure


@pytest.mark.parametrize("ends", [False, True])
def test_nobody_is_told_that_a_server_is_missing_that_they_never_had(
    configured: Callable[..., Config], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: bool
) -> None:
    """Only somebody who named a model or a server, or has Ollama; and a process that ends asks nothing again."""
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    gone = ModelFailed("absent", "Nothing answers at 127.0.0.1:11434.", "Start Ollama: ollama serve")
    circuit_breaker.breaker_of("http://127.0.0.1:11434").record_failure(gone)
    assert why_no_model(configured(), ends=ends) == ""
    (tmp_path / "ollama").write_text("#!/bin/sh\n")
    (tmp_path / "ollama").chmod(0o755)
    said = why_no_model(configured(), ends=ends)
    assert said.startswith("Nothing answers at 127.0.0.1:11434.") and ("asked again" in said) is not ends
    (tmp_path / "ollama").unlink()
    assert "ollama serve" in why_no_model(configured(model="qwen2.5:1.5b"), ends=ends)


def failure(address: str, name: str = USUAL_MODEL, silence: float = 5.0) -> ModelFailed:
    """What keeps a model from being fetched."""
    with pytest.raises(ModelFailed) as raised, closing(ModelPuller(address, lambda: False)) as fetcher:
        list(fetcher.pull(name, silence))
    return raised.value


# looking --------------------------------------------------------------------------------------------------------------


def test_what_the_server_is_and_has(server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1_929_903_332, "nomic-embed-text:latest": 274_302_450}
    server.loaded = {USUAL_MODEL}
    found = read_server_info(server.address)
    assert (found.version, found.trouble) == ("0.12.6", None)
    qwen, vectors = found.models
    assert (qwen.name, qwen.size, qwen.parameters, qwen.quantization) == (USUAL_MODEL, 1_929_903_332, "3.1B", "Q4_K_M")
    assert qwen.loaded and not vectors.loaded
    assert found.find_model("nomic-embed-text") == vectors and found.find_model("nomic") is None


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_a_server_ends_in_time_and_says_what_it_is(server: ModelServer, fault: str) -> None:
    server.fault = fault
    kinds = {"hangs": "slow", "trickles": "slow", "cut": "cut", "busy": "busy"}
    trouble = read_server_info(server.address, 0.3 if kinds.get(fault) == "slow" else 30).trouble
    assert trouble is not None and trouble.next
    assert trouble.kind == kinds.get(fault, "broken")
    assert f"127.0.0.1:{server.port}" in trouble.message


def test_a_list_is_believed_where_it_makes_sense(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server says is data: no name that could not be typed, no size that is none."""
    strange = [3, {}, {"model": "x\x1b[2J"}, {"model": "y" * 300}, {"name": "z", "size": "much", "details": [1]}]
    monkeypatch.setattr(ModelServer, "models", property(lambda self: strange))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "loaded", set())
        found = read_server_info(server.address)
    assert found.trouble is not None or [(one.name, one.size, one.parameters) for one in found.models] == [("z", 0, "")]


@each(
    "said, meant, told",
    [
        ("", "http://127.0.0.1:11434", "127.0.0.1:11434"),
        ("localhost", "http://localhost:11434", "localhost:11434"),
        ("nas:8080", "http://nas:8080", "nas:8080"),
        (":8080", "http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://nas", "http://nas:80", "nas:80"),
        ("https://nas/ollama/", "https://nas:443/ollama", "https://nas:443/ollama"),
        ("::1", "http://[::1]:11434", "[::1]:11434"),
        ("http://[::1]:9/", "http://[::1]:9", "[::1]:9"),
        ("https://ana:secret@nas", "https://nas:443", "https://nas:443"),
    ],
)
def test_an_address_as_people_write_it(said: str, meant: str, told: str) -> None:
    """A password in it is not shown."""
    assert (complete_address(said), shorten_address(said)) == (meant, told)


@pytest.mark.parametrize("address", ["ftp://x", "http://", "http://a b", "http://x:99999", "127.0.0.1:9"])
def test_what_is_no_address_or_where_nothing_listens_is_said(address: str) -> None:
    trouble = read_server_info(address, 0.3).trouble
    assert trouble is not None and trouble.message and trouble.next


def test_a_proxy_is_not_asked(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert read_server_info(server.address).trouble is None
    with closing(ModelPuller(server.address, lambda: False)) as fetcher:
        assert list(fetcher.pull(USUAL_MODEL))[-1].status == "success"


# which is asked -------------------------------------------------------------------------------------------------------


def test_the_order_is_told_to_its_end(server: ModelServer, configured: Callable[..., Config], monkeypatch) -> None:
    """Variable, setting, the first qwen2.5, any other, rules: who is taken, why those before were not, and that those
    behind were not needed."""
    config = configured()
    found = read_model_status(config)
    assert [step.who for step in found.steps] == list(SELECTION_ORDER) and found.state == "rules"
    assert [step.reason for step in found.steps[:2]] == ["Not set.", "Not set."] and found.chosen_step.who == "rules"
    server.installed = {"llama3.2:1b": 1}
    assert (read_model_status(config).model, read_model_status(config).chosen_step.who) == ("llama3.2:1b", "any")
    server.installed |= {"qwen2.5:1.5b": 1}
    found = read_model_status(config)
    assert (found.model, found.chosen_step.who, found.state) == ("qwen2.5:1.5b", "qwen2.5", "cold")
    assert [step.reason for step in found.steps[3:]] == ["Not needed.", "Not needed."]
    server.loaded = {"qwen2.5:1.5b"}
    assert read_model_status(config).state == "ready"
    config = configured(model="llama3.2:1b")
    assert read_model_status(config).chosen_step.who == "agent.model"
    monkeypatch.setenv("MEMORANDA_MODEL", "mistral")
    found = read_model_status(config)
    assert found.model == "llama3.2:1b" and "no model mistral" in found.steps[0].reason and found.steps[0].next
    assert read_model_status(configured(mode="off")).model == ""


def test_without_a_server_rules_answer_and_say_why(server: ModelServer, configured: Callable[..., Config]) -> None:
    server.close()
    config = configured(model="llama3.2:1b")
    found = read_model_status(config)
    assert (found.model, found.state, found.chosen_step.who) == ("", "rules", "rules")
    assert found.chosen_step.reason == f"Nothing answers at 127.0.0.1:{server.port}."
    assert found.chosen_step.next.startswith("Start Ollama: ollama serve")
    assert "llama3.2:1b" in found.steps[1].reason and open_selected_model(config) is None


def test_switched_off_nothing_is_looked_at(server: ModelServer, configured: Callable[..., Config], monkeypatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")
    assert read_model_status(configured()).state == "rules" and server.paths == []


def test_a_server_that_answers_again_is_asked_at_once(server: ModelServer, configured: Callable[..., Config]) -> None:
    """Who starts Ollama after it was missed need not wait for the pause to be over."""
    server.installed = {USUAL_MODEL: 1}
    tripped = circuit_breaker.breaker_of(server.address)
    tripped.record_failure(ModelFailed("absent", "Nothing answers."))
    assert tripped.why_open()
    read_model_status(configured(), seconds=30)
    assert not tripped.why_open()


# fetching -------------------------------------------------------------------------------------------------------------


def test_a_pull_tells_how_far_it_is(server: ModelServer) -> None:
    with closing(ModelPuller(server.address, lambda: False)) as fetcher:
        told = list(fetcher.pull(USUAL_MODEL))
    assert told[0] == PullResult("pulling manifest") and told[-1] == PullResult("success", WHOLE, WHOLE)
    done = [far.done for far in told]
    assert done == sorted(done) and {far.total for far in told[2:]} <= {LAYERS[0][1], WHOLE}
    assert read_server_info(server.address).find_model(USUAL_MODEL) is not None


def test_a_pull_is_stopped_at_once_and_goes_on_from_there(server: ModelServer) -> None:
    """Also while the server says nothing; it hears that nobody waits any more, and keeps what it has."""
    server.step, stop, told = 600_000_000, threading.Event(), []
    begun = threading.Event()
    server.hold.clear()

    def pull() -> None:
        with pytest.raises(ModelFailed) as raised, closing(ModelPuller(server.address, stop.is_set)) as fetcher:
            for far in fetcher.pull(USUAL_MODEL):
                told.append(far)
                if far.done == 0 and server.held.wait(30):
                    server.pulled[LAYERS[0][0]] = server.step
                    begun.set()
        assert raised.value.kind == "stopped"

    puller = threading.Thread(target=pull)
    puller.start()
    assert server.held.wait(30) and begun.wait(30)
    stop.set()
    puller.join(10)
    assert not puller.is_alive() and server.left.wait(30)
    assert read_server_info(server.address).find_model(USUAL_MODEL) is None
    server.hold.set()
    with closing(ModelPuller(server.address, lambda: False)) as fetcher:
        first = next(far for far in fetcher.pull(USUAL_MODEL) if far.total)
    assert first.done == server.step


@pytest.mark.parametrize(
    "said, kind, told",
    [
        ("pull model manifest: file does not exist", "missing", "library has no model"),
        ("write /root/.ollama/models/blobs/x: no space left on device", "refused", "not enough disk space"),
        ("pull model manifest: 412: The model requires a newer version of Ollama.", "refused", "a newer Ollama"),
        ('Get "https://registry.ollama.ai/v2/": dial tcp: lookup registry.ollama.ai: no such host', "cut", "network"),
        ("max retries exceeded: unexpected EOF", "cut", "network"),
        ("invalid model name", "refused", "is not a valid name"),
        ("something\nnobody   foresaw\x1b[2J", "refused", "something nobody foresaw"),
    ],
)
def test_what_keeps_a_model_away_is_said_with_a_next_step(server: ModelServer, said: str, kind: str, told: str) -> None:
    server.breaks = said
    found = failure(server.address)
    assert found.kind == kind and told in found.message and found.next and "\n" not in found.message


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "trickles"])
def test_a_pull_survives_every_fault_of_a_server(server: ModelServer, fault: str) -> None:
    server.fault = fault
    found = failure(server.address, silence=0.3)
    assert found.kind in ("slow", "cut", "broken", "busy", "refused") and found.next


def test_a_server_that_leaves_before_the_end_has_not_fetched_it(server: ModelServer) -> None:
    server.fault = "ends early"
    found = failure(server.address)
    assert found.kind == "cut" and "continues where it stopped" in found.next
    server.close()
    assert failure(server.address).kind == "absent"


def test_the_pace_is_that_of_the_last_seconds() -> None:
    """What was there before counts for nothing, a pause slows it down, and who begins anew is not behind."""
    seconds = [0.0]
    pace = RateMeter(lambda: seconds[0])

    def told(at: float, done: int) -> None:
        seconds[0] = at
        pace.add_report(done, 10_000)

    told(0, 1_000)
    assert pace.rate is None and pace.seconds_left is None
    for at in range(1, 5):
        told(at, 1_000 + at * 100)
    assert pace.rate == pytest.approx(100) and pace.seconds_left == pytest.approx(86)
    for at in range(5, 30):
        told(at, 1_400)
    assert pace.rate is None
    told(29, 0)
    told(31, 500)
    assert pace.rate == pytest.approx(250)


# trying ---------------------------------------------------------------------------------------------------------------


def test_a_trial_tells_how_quick_and_cold_a_model_is(server: ModelServer, configured: Callable[..., Config]) -> None:
    server.installed = {USUAL_MODEL: 1}
    config = configured()
    tried = probe_model(config, read_model_status(config))
    assert (tried.model, tried.answer, tried.tokens, tried.rate) == (USUAL_MODEL, "Nothing is lost.", 24, 30.0)
    assert tried.is_cold and tried.loading == 2.5
    assert not probe_model(config, read_model_status(config)).is_cold
    assert server.asked[-1]["options"]["num_ctx"] == 4096, "another number would load it anew"


def test_a_trial_is_stopped_and_says_what_is_missing(server: ModelServer, configured: Callable[..., Config]) -> None:
    config = configured()
    with pytest.raises(ModelFailed) as raised:
        probe_model(config, read_model_status(config))
    assert raised.value.kind == "missing" and "memoranda config model pull" in raised.value.next
    with pytest.raises(ModelFailed) as raised:
        probe_model(config, read_model_status(config), "mistral")
    assert raised.value.kind == "missing" and "mistral" in raised.value.message
    server.installed, stop = {USUAL_MODEL: 1}, threading.Event()
    server.hold.clear()
    threading.Thread(target=lambda: (server.held.wait(30), stop.set())).start()
    with pytest.raises(ModelFailed) as raised:
        probe_model(config, read_model_status(config), USUAL_MODEL, stop.is_set)
    assert raised.value.kind == "stopped" and server.left.wait(30)


def test_a_trial_that_does_not_come_to_an_end_is_ended(server: ModelServer, configured: Callable[..., Config]) -> None:
    server.installed, server.says = {USUAL_MODEL: 1}, "word " * 400
    config = configured()
    with pytest.raises(ModelFailed) as raised:
        probe_model(config, read_model_status(config))
    assert raised.value.kind == "broken" and "did not stop writing" in raised.value.message
    server.says = "Nothing \u202eis\x1b lost."
    assert probe_model(config, read_model_status(config)).answer == "Nothing is lost."


# the doctor -----------------------------------------------------------------------------------------------------------


def test_the_doctor_tells_of_it(server: ModelServer, configured: Callable[..., Config], tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    path = str(tmp_path / ".memoranda" / "memory.db")
    Memory.open(path).close()

    def told() -> list[tuple[str, str, str]]:
        here = locate(path, {}, str(tmp_path))
        return [(one.state, one.says, one.command) for one in examine(here, quick=True) if one.subject == "agent"]

    server.installed = {USUAL_MODEL: 1}
    configured()
    [(state, says, _)] = told()
    assert state == OK and says.startswith("Ollama 0.12.6 at 127.0.0.1:")
    assert USUAL_MODEL in says and "loaded when" in says
    configured(model="mistral")
    assert [state for state, _, _ in told()] == [OK, NOTE]
    assert "agent.model: Ollama has no model mistral." in told()[1][1]
    server.close()
    [(state, says, command)] = told()
    assert (state, command) == (NOTE, "config model") and says.startswith("Nothing answers at")
    assert "Answers come from the records." in says


def test_nothing_but_the_set_address_is_spoken_to(server: ModelServer, configured: Callable[..., Config], monkeypatch):
    spoken: list[object] = []
    connect = socket.socket.connect

    def listened(self: socket.socket, where: object) -> None:
        spoken.append(where)
        connect(self, where)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", listened)
    config = configured()
    read_model_status(config)
    with closing(ModelPuller(server.address, lambda: False)) as fetcher:
        list(fetcher.pull(USUAL_MODEL))
    probe_model(config, read_model_status(config))
    assert set(spoken) == {("127.0.0.1", server.port)}


def test_an_answer_that_never_ends_costs_its_seconds_and_no_more(server: ModelServer) -> None:
    server.fault, started = "trickles", time.monotonic()
    assert read_server_info(server.address, 0.2).trouble
    assert time.monotonic() - started < 10
