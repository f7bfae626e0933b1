"""The ablation: each stage that it turns off exists."""

from pkgutil import resolve_name

import pytest

from bench.ablation import LEARNING, LIBRARIAN


@pytest.mark.parametrize("place", [place for place, _ in (*LEARNING.values(), *LIBRARIAN.values())])
def test_what_is_turned_off_is_there(place: str) -> None:
    module, _, name = place.rpartition(".")
    assert hasattr(resolve_name(module), name)
