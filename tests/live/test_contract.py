"""What a model behind Ollama's wire does for a client, with real weights: `pytest -m live`.

Structure, and never quality: the small model answers wrongly as often as not. The same tests hold for a true Ollama.
"""

import json
import math
import threading

import ollama
import pytest
from live.conftest import SECONDS, Served
from pydantic import BaseModel
from support.waiting import until

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.librarian import chat as circuit_breaker
from store.librarian import chat as endpoint
from store.librarian.chat import CONTEXT_TOKENS, WORD_ONLY_ODDS, ChatClient
from store.librarian.model_selection import open_selected_model, read_model_status

pytestmark = pytest.mark.live

STILL = {"temperature": 0, "seed": 1, "num_ctx": CONTEXT_TOKENS}
COLOURS = [{"role": "system", "content": "Answer in a few words."}, {"role": "user", "content": "Name three colours."}]


class Found(BaseModel):
    fact: str
    certain: bool


class Everything(BaseModel):
    """A shape with all that the tasks' own shapes have: a list of objects, an optional text, one of several words."""

    facts: list[Found]
    language: str
    other: str | None = None


def test_the_model_is_listed_shown_and_running_once_it_has_answered(served: Served, client: ollama.Client) -> None:
    assert served.name in {model.model for model in client.list().models}
    shown = client.show(served.name)
    assert shown.modelinfo and shown.modelinfo["qwen2.context_length"] >= CONTEXT_TOKENS
    assert "completion" in (shown.capabilities or [])
    client.chat(served.name, COLOURS, options={**STILL, "num_predict": 2})
    [running] = [model for model in client.ps().models if model.model == served.name]
    assert running.expires_at and running.context_length in (None, CONTEXT_TOKENS)


def test_an_answer_says_how_it_ended_and_what_it_took(served: Served, client: ollama.Client) -> None:
    whole = client.chat(served.name, COLOURS, options={**STILL, "num_predict": 64})
    assert whole.done and whole.done_reason in ("stop", "length") and (whole.message.content or "").strip()
    assert whole.prompt_eval_count and whole.prompt_eval_count > 10 and whole.eval_count and whole.eval_count <= 64
    assert whole.total_duration and whole.eval_duration and whole.total_duration > whole.eval_duration


def test_the_pieces_of_a_stream_are_the_whole(served: Served, client: ollama.Client) -> None:
    options = {**STILL, "num_predict": 24}
    pieces = list(client.chat(served.name, COLOURS, stream=True, options=options))
    assert len(pieces) > 2 and [piece.done for piece in pieces].index(True) == len(pieces) - 1
    if served.ours:
        whole = client.chat(served.name, COLOURS, options=options).message.content
        assert "".join(piece.message.content or "" for piece in pieces) == whole


def test_no_more_tokens_come_than_were_asked_for_and_the_end_says_so(served: Served, client: ollama.Client) -> None:
    long = [{"role": "user", "content": "Count from one to a hundred."}]
    cut = client.chat(served.name, long, options={**STILL, "num_predict": 8})
    assert (cut.done_reason, cut.eval_count) == ("length", 8)
    stopped = client.chat(served.name, long, options={**STILL, "num_predict": 64, "stop": ["3", "three"]})
    assert stopped.done_reason == "stop" and "3" not in (stopped.message.content or "")


def test_a_schema_holds_whatever_the_model_would_rather_say(served: Served, client: ollama.Client) -> None:
    asked = [
        {"role": "system", "content": f"Answer in JSON of this schema: {json.dumps(Everything.model_json_schema())}"},
        {"role": "user", "content": "Soy alérgica al maní y vivo en Rosario. List the facts, two at most."},
    ]
    said = client.chat(served.name, asked, format=Everything.model_json_schema(), options={**STILL, "num_predict": 300})
    if said.done_reason == "length":  # then it is cut, and that is known
        with pytest.raises(json.JSONDecodeError):
            json.loads(said.message.content or "")
    else:
        Everything.model_validate_json(said.message.content or "")


def test_json_that_is_cut_is_no_json_and_the_end_tells(served: Served, client: ollama.Client) -> None:
    said = client.chat(served.name, COLOURS, format=Everything.model_json_schema(), options={**STILL, "num_predict": 5})
    assert said.done_reason == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(said.message.content or "")


def test_what_does_not_fit_is_left_out_and_the_count_tells(served: Served, client: ollama.Client) -> None:
    many = [{"role": "user", "content": f"note {number}"} for number in range(400)]
    options = {**STILL, "num_ctx": 512, "num_predict": 4}
    said = client.chat(served.name, [*many, COLOURS[-1]], options=options)
    assert said.done and said.prompt_eval_count and said.prompt_eval_count <= 512


def test_vectors_are_of_length_one_and_of_one_dimension(served: Served, client: ollama.Client) -> None:
    try:
        vectors = client.embed(served.name, ["el deploy es los martes", "deploys happen on Tuesdays"]).embeddings
    except ollama.ResponseError as error:
        if served.ours:
            raise
        pytest.skip(f"This Ollama does not embed with {served.name}: {error.error}")
    assert len(vectors) == 2 and len({len(vector) for vector in vectors}) == 1
    for vector in vectors:
        assert math.fsum(value * value for value in vector) == pytest.approx(1.0, abs=1e-3)
    [alone] = client.embed(served.name, "el deploy es los martes").embeddings
    assert math.fsum(a * b for a, b in zip(alone, vectors[0], strict=True)) == pytest.approx(1.0, abs=1e-2)


def test_a_model_is_unloaded_at_once_where_it_is_not_to_be_kept(served: Served, client: ollama.Client) -> None:
    assert client.generate(served.name, "", keep_alive=0).done_reason in ("unload", "stop")
    assert served.name not in {model.model for model in client.ps().models}
    assert client.generate(served.name, "", keep_alive="2m").done
    assert served.name in {model.model for model in client.ps().models}


def test_an_answer_left_in_its_middle_does_not_keep_the_next_waiting(served: Served, client: ollama.Client) -> None:
    asked = [{"role": "user", "content": "Tell a story of ten thousand words."}]
    endless = client.chat(served.name, asked, stream=True, options={**STILL, "num_predict": 3_000})
    assert next(iter(endless)).model
    endless.close()
    assert client.chat(served.name, COLOURS, options={**STILL, "num_predict": 2}).done


def test_a_model_that_is_not_there_is_404(client: ollama.Client) -> None:
    with pytest.raises(ollama.ResponseError) as raised:
        client.chat("no-such-model:1b", COLOURS)
    assert raised.value.status_code == 404


# through our own client


@pytest.fixture(autouse=True)
def mended(served: Served) -> None:
    circuit_breaker.breaker_of(endpoint.complete_address(served.address)).record_answer()


def test_the_application_finds_the_model_and_says_how(chosen: Served) -> None:
    config = Config()
    stands = read_model_status(config)
    assert (stands.look.address, stands.model) == (endpoint.get_server_address(config), chosen.name)
    assert stands.chosen_step.who == "$MEMORANDA_MODEL" and stands.look.find_model(chosen.name)
    chat = open_selected_model(config)
    assert chat and chat.name == chosen.name
    chat.close()


def test_the_application_is_answered_whole_and_in_a_shape(chosen: Served) -> None:
    loads: list[int] = []
    chat = open_selected_model(Config(), loading=lambda: loads.append(1))
    assert chat
    asked = [(one["role"], one["content"]) for one in COLOURS]
    try:
        said = chat.answer([*asked[:1], ("user", "Say yes.")], schema=None, predict=200, seconds=SECONDS)
        assert said.strip()
        shape = Found.model_json_schema()
        Found.model_validate_json(chat.answer(asked, schema=shape, predict=200, seconds=SECONDS))
        with pytest.raises(ModelFailed) as cut:
            chat.answer([("user", "Count to a thousand.")], schema=None, predict=8, seconds=SECONDS)
        assert cut.value.kind == "cut"
        with pytest.raises(ModelFailed) as long:
            chat.answer([("user", "word " * CONTEXT_TOKENS)], schema=None, predict=8, seconds=SECONDS)
        assert long.value.kind == "long"
        assert len(loads) <= 1, "it is loaded once, and stays"
    finally:
        chat.close()


def test_the_application_hears_how_likely_a_first_word_was(chosen: Served, client: ollama.Client) -> None:
    """Of a server that tells it, which Ollama does since 0.12.11; by the word alone where it does not."""
    asked = [("system", "Answer Yes or No."), ("user", "Is snow white? Answer with one word.")]
    chat = open_selected_model(Config())
    assert chat
    try:
        odds = chat.log_odds(asked, yes=("Yes",), no=("No",), seconds=SECONDS)
    finally:
        chat.close()
    assert math.isfinite(odds)
    words = [{"role": role, "content": text} for role, text in asked]
    options = {**STILL, "num_predict": 1}
    first = client.chat(chosen.name, words, options=options, logprobs=True, top_logprobs=20)
    if first.logprobs is None:
        assert odds in (-WORD_ONLY_ODDS, 0.0, WORD_ONLY_ODDS)
    else:
        tops = first.logprobs[0].top_logprobs or ()
        assert len(tops) == 20 and tops[0].logprob == max(one.logprob for one in tops)
        assert 0.5 < math.fsum(math.exp(one.logprob) for one in tops) <= 1.001


def test_the_application_stops_waiting_as_soon_as_nobody_wants_the_answer(chosen: Served) -> None:
    wanted = [True]
    chat = open_selected_model(Config(), cancelled=lambda: not wanted)

    assert isinstance(chat, ChatClient)
    try:
        threading.Thread(target=lambda: (until(lambda: chat.tokens, SECONDS), wanted.clear()), daemon=True).start()
        with pytest.raises(ModelFailed) as stopped:
            chat.answer([("user", "Tell a story of a thousand words.")], schema=None, predict=2_000, seconds=SECONDS)
        assert stopped.value.kind == "stopped"
    finally:
        chat.close()
