"""Figures of the Health pane."""

from types import SimpleNamespace
from typing import Any

import pytest

from store.services.metrics import Searches
from tui.render.metrics.metric import GOOD, KNOWN
from tui.render.metrics.metric_sections import _change, _searches


@pytest.mark.parametrize(("share", "state"), [(1.0, GOOD), (0.9, GOOD), (0.89, KNOWN), (0.0, KNOWN)])
def test_nine_searches_of_ten_that_find_something_are_good(share: float, state: str) -> None:
    found: Any = SimpleNamespace(searches=Searches((5.0,) * 100, 5.0, None, share), answers=(0, 0, 0), queries=())
    assert [figure.state for figure in _searches(found) if figure.key == "found"] == [state]


def test_one_fact_was_learned_and_two_were() -> None:
    said = [sentence for came in (1, 2) for sentence in _change("fresh", came)]
    assert [sentence.split(" learned")[0] for sentence in said] == ["1 fact was", "2 facts were"]
