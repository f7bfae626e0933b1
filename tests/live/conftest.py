"""One real model for a run of `pytest -m live`: behind our own wire, or the true Ollama that OLLAMA_HOST names."""

import os
from collections.abc import Iterator
from typing import NamedTuple

import ollama
import pytest
from live.fetching import SMALL, Unavailable, folder
from live.starting import serving

TRUE = os.environ.get("OLLAMA_HOST", "")  # read before any test is shielded from it
NAMED = os.environ.get("MEMORANDA_MODEL", "")
SECONDS = 120.0  # of one call: the first may load the model, on a machine that does other things


class Served(NamedTuple):
    """Where a model answers; `ours`: behind the wire of these tests, where the same question has the same answer."""

    address: str
    name: str
    ours: bool


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    if TRUE:
        yield Served(TRUE, _installed(TRUE), False)
        return
    os.environ["MEMORANDA_TEST_MODELS"] = folder()  # where it is now: tests move the home
    try:
        with serving(("0.5b",), "--pullable", "qwen2.5:3b-instruct") as address:
            yield Served(address, SMALL.name, True)
    except Unavailable as error:
        pytest.skip(f"No real model, so nothing is tested against one: {error}")


def _installed(address: str) -> str:
    """The model of a true Ollama that is asked: the one named, else the smallest qwen2.5 it has."""
    try:
        models = ollama.Client(address, timeout=SECONDS).list().models
    except (ConnectionError, ollama.ResponseError) as error:
        pytest.skip(f"OLLAMA_HOST names {address}, and that does not answer: {error}")
    ours = sorted((model for model in models if "qwen2.5" in str(model.model)), key=lambda model: model.size or 0)
    name = NAMED or next((str(model.model) for model in ours), "")
    if not name:
        pytest.skip(f"The Ollama at {address} has no qwen2.5: ollama pull qwen2.5-coder:0.5b")
    return name


@pytest.fixture
def client(served: Served) -> Iterator[ollama.Client]:
    with ollama.Client(served.address, timeout=SECONDS) as client:
        yield client


@pytest.fixture
def chosen(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The application finds this server and this model by itself."""
    monkeypatch.setenv("OLLAMA_HOST", served.address)
    monkeypatch.setenv("MEMORANDA_MODEL", served.name)
    return served
