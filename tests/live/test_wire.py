"""The wire itself, with the real `ollama` client and an engine that says what it was told to: framing, errors, faults.

What a model makes of it is for `test_contract.py`, where a real one answers.
"""

import contextlib
import json
import os
import resource
import threading
from collections.abc import Callable, Iterator

import httpx
import ollama
import pytest
from live.fetching import SMALL
from live.scripted import PIECES, Scripted
from live.shelf import Shelf
from live.wire import PULLED, Wire
from pydantic import ValidationError
from support.waiting import until

NAME = SMALL.name
ASKED = [{"role": "user", "content": "three colours"}]
ANSWER = "".join(PIECES)


class Clocked:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def moved() -> Clocked:
    return Clocked()


@pytest.fixture
def wire(moved: Clocked) -> Iterator[Wire]:
    pullable = {"qwen2.5:3b-instruct": SMALL}
    shelf = Shelf({NAME: SMALL}, pullable, lambda model, context: Scripted(context), queue=1, now=moved)
    with Wire(shelf) as wire:
        thread = threading.Thread(target=wire.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield wire
        wire.stopped.set()
        wire.shutdown()
        thread.join()


@pytest.fixture
def client(wire: Wire) -> Iterator[ollama.Client]:
    with ollama.Client(wire.address, timeout=10) as client:
        yield client


@pytest.fixture
def arm(wire: Wire) -> Callable[..., None]:
    def arm(kind: str, **more: object) -> None:
        httpx.post(f"{wire.address}/fault", json={"kind": kind, **more}).raise_for_status()

    return arm


def loaded(wire: Wire) -> Scripted:
    """The engine that answered last, which its `keep_alive` has kept."""
    assert wire.shelf._loaded
    engine = wire.shelf._loaded[1]
    assert isinstance(engine, Scripted)
    return engine


def test_a_client_finds_the_server_its_version_and_its_models(wire: Wire, client: ollama.Client) -> None:
    assert httpx.get(wire.address).text == "Ollama is running"
    head = httpx.head(wire.address)
    assert (head.status_code, head.content) == (200, b"")
    assert httpx.get(f"{wire.address}/api/version").json()["version"].count(".") == 2
    [model] = client.list().models
    assert (model.model, model.size, model.digest) == (NAME, SMALL.bytes, SMALL.sha256)
    assert model.details and model.details.quantization_level == "Q4_K_M" and model.details.families == ["qwen2"]
    shown = client.show(NAME)
    assert shown.modelinfo and shown.modelinfo["qwen2.context_length"] == 32_768
    assert shown.capabilities == ["completion"]
    assert client.ps().models == []


def test_an_answer_comes_whole_or_in_pieces_and_says_what_it_took(client: ollama.Client) -> None:
    whole = client.chat(NAME, ASKED)
    assert whole.message.content == ANSWER and whole.done and whole.done_reason == "stop"
    assert (whole.prompt_eval_count, whole.eval_count) == (7, len(PIECES))
    assert whole.total_duration and whole.load_duration is not None
    pieces = list(client.chat(NAME, ASKED, stream=True))
    assert [piece.message.content for piece in pieces] == [*PIECES, ""]
    assert [piece.done for piece in pieces] == [False] * len(PIECES) + [True]
    assert pieces[-1].eval_duration == 2_000 and pieces[-1].done_reason == "stop"
    cut = client.chat(NAME, ASKED, options={"num_predict": 2})
    assert (cut.message.content, cut.done_reason) == ("".join(PIECES[:2]), "length")


def test_who_asks_how_likely_other_words_were_is_told(client: ollama.Client) -> None:
    first = next(iter(client.chat(NAME, ASKED, stream=True, logprobs=True, top_logprobs=2)))
    assert first.logprobs
    top = first.logprobs[0].top_logprobs or ()
    assert [(one.token, one.logprob) for one in top] == [("Ro", -0.1), (" ver", -3.0)]
    whole = client.chat(NAME, ASKED, logprobs=True, top_logprobs=2)
    assert whole.logprobs and len(whole.logprobs) == len(PIECES)
    assert client.chat(NAME, ASKED).logprobs is None


def test_a_stream_is_lines_of_json_in_chunks(wire: Wire) -> None:
    with httpx.stream("POST", f"{wire.address}/api/generate", json={"model": NAME, "prompt": "x"}) as said:
        assert said.headers["content-type"] == "application/x-ndjson"
        assert said.headers["transfer-encoding"] == "chunked"
        lines = [json.loads(line) for line in said.iter_lines()]
    assert [line["response"] for line in lines] == [*PIECES, ""]
    assert [line["done"] for line in lines[-2:]] == [False, True]


def test_generate_takes_a_system_text_and_a_raw_prompt(wire: Wire, client: ollama.Client) -> None:
    assert client.generate(NAME, "x", system="be short", stream=False).response == ANSWER
    client.generate(NAME, "as it is", raw=True)
    (first, _), (second, _) = loaded(wire).asked
    assert first == [{"role": "system", "content": "be short"}, {"role": "user", "content": "x"}]
    assert second == [{"role": "raw", "content": "as it is"}]


def test_format_and_options_reach_the_engine(wire: Wire, client: ollama.Client) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    client.chat(NAME, ASKED, format=schema, options={"temperature": 0, "seed": 3, "stop": ["."]})
    [(_, request)] = loaded(wire).asked
    assert request["format"] == schema
    assert request["options"] == {"temperature": 0.0, "seed": 3, "stop": ["."]}


def test_a_model_is_loaded_by_no_messages_kept_and_unloaded(wire: Wire, client: ollama.Client, moved: Clocked) -> None:
    assert client.chat(NAME, [], keep_alive="1m").done_reason == "load"
    [running] = client.ps().models
    assert (running.model, running.context_length) == (NAME, 4_096)
    client.chat(NAME, ASKED, keep_alive=60)
    assert wire.shelf.loads == 1
    moved.now = 59.0
    assert client.ps().models
    moved.now = 61.0
    assert client.ps().models == []
    client.chat(NAME, ASKED)
    assert wire.shelf.loads == 2
    assert client.chat(NAME, [], keep_alive=0).done_reason == "unload"
    assert client.ps().models == []
    client.chat(NAME, ASKED, keep_alive=-1)
    moved.now = 1e6
    assert client.ps().models, "below zero is for ever"


def test_another_num_ctx_loads_the_model_again(wire: Wire, client: ollama.Client) -> None:
    for context in (2_048, 2_048, 4_096, 2_048):
        client.chat(NAME, ASKED, options={"num_ctx": context})
    assert wire.shelf.loads == 3


def test_vectors_have_length_one_also_when_they_are_cut(client: ollama.Client) -> None:
    one, two = client.embed(NAME, ["a", "bcd"]).embeddings
    assert sum(value * value for value in one) == pytest.approx(1.0) and one != two
    [short] = client.embed(NAME, "a", dimensions=2).embeddings
    assert len(short) == 2 and sum(value * value for value in short) == pytest.approx(1.0)
    assert client.embed(NAME, []).embeddings == []
    with pytest.raises(ollama.ResponseError, match="input length") as raised:
        client.embed(NAME, "a" * 2_000, truncate=False)
    assert raised.value.status_code == 400


def test_what_is_not_there_or_cannot_be_done_is_said_as_ollama_says_it(wire: Wire, client: ollama.Client) -> None:
    with pytest.raises(ollama.ResponseError, match=r"model 'absent' not found") as raised:
        client.chat("absent", ASKED)
    assert raised.value.status_code == 404
    missing = httpx.post(f"{wire.address}/api/chat")
    assert (missing.status_code, missing.json()) == (400, {"error": "missing request body"})
    assert httpx.post(f"{wire.address}/api/chat", content="{").status_code == 400
    assert httpx.post(f"{wire.address}/api/chat", json={}).json() == {"error": "model is required"}
    with pytest.raises(ollama.ResponseError, match="does not support tools"):
        client.chat(NAME, ASKED, tools=[{"type": "function", "function": {"name": "delete"}}])
    with pytest.raises(ollama.ResponseError, match="grammar") as raised:
        client.chat(NAME, [{"role": "user", "content": "refuse"}])
    assert raised.value.status_code == 500
    assert client.chat(NAME, ASKED).done, "the same connection goes on"


def test_who_comes_when_the_queue_is_full_is_told_that_the_server_is_busy(wire: Wire, client: ollama.Client) -> None:
    client.chat(NAME, [])
    engine = loaded(wire)
    engine.open.clear()
    first = [threading.Thread(target=ollama.Client(wire.address).chat, args=(NAME, ASKED)) for _ in range(2)]
    for thread in first:
        thread.start()
    until(lambda: wire.shelf._waiting._value == 0)
    with pytest.raises(ollama.ResponseError, match="server busy") as raised:
        client.chat(NAME, ASKED)
    assert raised.value.status_code == 503
    engine.open.set()
    for thread in first:
        thread.join()
    assert client.chat(NAME, ASKED).done


def test_an_answer_that_nobody_waits_for_is_broken_off(wire: Wire, client: ollama.Client) -> None:
    """Also while the prompt is read, and also where the answer was to come whole."""
    client.chat(NAME, [])
    engine = loaded(wire)
    engine.open.clear()
    with pytest.raises(httpx.ReadTimeout):
        ollama.Client(wire.address, timeout=0.1).chat(NAME, ASKED)
    until(lambda: engine.left)
    engine.open.set()
    assert client.chat(NAME, ASKED).done


def test_a_descriptor_of_any_number_is_heard(wire: Wire, client: ollama.Client) -> None:
    """`select` knows none above 1,023, of which one process may have more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 1_200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1_200), hard))
    with contextlib.ExitStack() as held, open(os.devnull, "rb") as one:
        try:
            while (held.enter_context(os.fdopen(os.dup(one.fileno()), "rb"))).fileno() < 1_100:
                pass
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert client.chat(NAME, ASKED).message.content == ANSWER


def test_a_pull_is_counted_and_goes_on_where_it_was_broken_off(client: ollama.Client, arm: Callable[..., None]) -> None:
    name = "qwen2.5:3b-instruct"
    arm("trickle", path="/api/pull", seconds=0.02)
    pulling = client.pull(name, stream=True)
    for said in pulling:
        if (said.completed or 0) >= 2 * PULLED:
            break
    pulling.close()
    assert name not in {model.model for model in client.list().models}
    again = list(client.pull(name, stream=True))
    counts = [said.completed for said in again if said.completed is not None]
    assert counts[0] >= 2 * PULLED and counts[-1] == SMALL.bytes and counts == sorted(counts)
    assert {said.total for said in again if said.total} == {SMALL.bytes}
    assert again[-1].status == "success"
    assert name in {model.model for model in client.list().models}
    assert client.pull(name).status == "success"
    with pytest.raises(ollama.ResponseError, match="file does not exist"):
        list(client.pull("no-such-model", stream=True))


@pytest.mark.parametrize(
    ("kind", "error", "status"),
    [
        ("missing", ollama.ResponseError, 404),
        ("busy", ollama.ResponseError, 503),
        ("gateway", ollama.ResponseError, 502),
        ("empty", json.JSONDecodeError, None),
        ("page", json.JSONDecodeError, None),
        ("other", TypeError, None),
        ("fields", ValidationError, None),
        ("cut", httpx.ReadError, None),
    ],
)
def test_a_plain_answer_can_go_wrong_in_every_way(
    client: ollama.Client, arm: Callable[..., None], kind: str, error: type[Exception], status: int | None
) -> None:
    arm(kind)
    with pytest.raises(error) as raised:
        client.chat(NAME, ASKED)
    assert getattr(raised.value, "status_code", None) == status
    assert client.chat(NAME, ASKED).message.content == ANSWER, "once, and no more"


def test_a_stream_can_go_wrong_in_its_middle(wire: Wire, client: ollama.Client, arm: Callable[..., None]) -> None:
    def heard() -> Iterator[str]:
        for piece in client.chat(NAME, ASKED, stream=True):
            yield piece.message.content or ""

    arm("error", after=2)
    stream = heard()
    assert [next(stream), next(stream)] == list(PIECES[:2])
    with pytest.raises(ollama.ResponseError, match="unexpected EOF") as raised:
        next(stream)
    assert raised.value.status_code == -1

    arm("undone", after=2)
    assert list(heard()) == list(PIECES[:2]), "the client says nothing: only `done` tells"

    arm("cut", after=2)
    stream = heard()
    assert [next(stream), next(stream)] == list(PIECES[:2])
    with pytest.raises(httpx.ReadError):
        next(stream)

    arm("hang", after=1)
    with pytest.raises(httpx.ReadTimeout):
        list(ollama.Client(wire.address, timeout=0.2).chat(NAME, ASKED, stream=True))

    arm("trickle", seconds=0.05)
    assert list(heard()) == [*PIECES, ""], "each piece within any timeout of one"


def test_slowness_delays_the_first_byte_and_a_hang_ends_with_the_client(
    wire: Wire, client: ollama.Client, arm: Callable[..., None]
) -> None:
    arm("slow", seconds=0.05, times=2)
    assert client.chat(NAME, ASKED).done and client.chat(NAME, ASKED).done
    arm("hang")
    with pytest.raises(httpx.ReadTimeout):
        ollama.Client(wire.address, timeout=0.1).chat(NAME, ASKED)
    arm("hang", path="/api/tags")
    assert client.chat(NAME, ASKED).done, "another path is not touched"
    httpx.delete(f"{wire.address}/fault").raise_for_status()
    assert client.list().models
    assert httpx.post(f"{wire.address}/fault", json={"kind": "fire"}).status_code == 400
