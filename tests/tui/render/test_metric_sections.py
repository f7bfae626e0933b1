"""Figures of the Health pane."""

from types import SimpleNamespace
from typing import Any

import pytest

from store.upkeep.metrics import SearchFigures
from tui.render import metrics
from tui.render.metrics import GOOD, KNOWN, draw_steps, format_percent


@pytest.mark.parametrize(("share", "state"), [(1.0, GOOD), (0.9, GOOD), (0.89, KNOWN), (0.0, KNOWN)])
def test_nine_searches_of_ten_that_find_something_are_good(share: float, state: tuple[str, str]) -> None:
    found: Any = SimpleNamespace(searches=SearchFigures((5.0,) * 100, 5.0, None, share), answers=(0, 0, 0), queries=())
    assert [figure.sign for figure in metrics._search_figures(found) if figure.key == "found"] == [state]


def test_one_fact_was_learned_and_two_were() -> None:
    said = [sentence for came in (1, 2) for sentence in metrics._change_sentence("fresh", came)]
    assert [sentence.split(" learned")[0] for sentence in said] == ["1 fact was", "2 facts were"]


def test_numbers_are_told_as_people_do() -> None:
    told = [metrics.format_duration(seconds) for seconds in (0, 59, 60, 300, 7_199, 7_200, 86_400, 172_800)]
    assert told == ["0 s", "59 s", "1 min", "5 min", "120 min", "2 h", "24 h", "2 d"]
    assert [format_percent(share) for share in (0, 0.001, 0.5, 0.999, 1)] == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]
    assert draw_steps((0, 50, 100)) == "▁▅█" and draw_steps(()) == "" and draw_steps((0, 0)) == "▁▁"
    assert len(draw_steps(range(100))) == 24 and draw_steps((1, 2, 9), 2) == "▃█"
