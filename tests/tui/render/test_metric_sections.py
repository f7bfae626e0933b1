"""Figures of the Health pane."""

from types import SimpleNamespace
from typing import Any

import pytest

from store.upkeep.metrics import SearchFigures
from tui.render.metrics import GOOD, KNOWN, _change_sentence, _search_figures


@pytest.mark.parametrize(("share", "state"), [(1.0, GOOD), (0.9, GOOD), (0.89, KNOWN), (0.0, KNOWN)])
def test_nine_searches_of_ten_that_find_something_are_good(share: float, state: str) -> None:
    found: Any = SimpleNamespace(searches=SearchFigures((5.0,) * 100, 5.0, None, share), answers=(0, 0, 0), queries=())
    assert [figure.state for figure in _search_figures(found) if figure.key == "found"] == [state]


def test_one_fact_was_learned_and_two_were() -> None:
    said = [sentence for came in (1, 2) for sentence in _change_sentence("fresh", came)]
    assert [sentence.split(" learned")[0] for sentence in said] == ["1 fact was", "2 facts were"]
