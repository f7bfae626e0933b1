"""The ablation: each stage that it turns off exists, and takes what its replacement takes."""

from inspect import Parameter, signature
from pkgutil import resolve_name
from typing import Any

import pytest

from bench.ablation import LEARNING, LIBRARIAN


@pytest.mark.parametrize(("place", "instead"), [*LEARNING.values(), *LIBRARIAN.values()])
def test_what_is_turned_off_is_there(place: str, instead: Any) -> None:
    module, _, name = place.rpartition(".")
    stage = getattr(resolve_name(module), name)
    if callable(stage):
        needed = [one for one in signature(stage).parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
        assert len(needed) == len(signature(instead).parameters)
