"""Trends as columns of text, as sentences, and as SVG."""

from xml.etree import ElementTree

import pytest

from store.records.timeline import Trend
from tui.render.metrics import AXIS_CELLS, draw_trend, tell_trend, trends_svg

TREND = Trend("growth", "what <came> & went", "records", tuple("abcdefgh"), (0, 1, 2, 4, 8, 16, None, 20))


def test_columns_stand_on_an_axis_with_its_numbers() -> None:
    lines = draw_trend(TREND, AXIS_CELLS + 8, 4)
    assert lines == [
        "Growth  what <came> & went, 20 now",
        "     20      ▂ █",
        "     10      █ █",
        "            ▅█ █",
        "      0  ▂▃▆██ █",
        "        a      h",
        "",
    ]


@pytest.mark.parametrize("width", [20, 44, 78, 118, 298])
@pytest.mark.parametrize("height", [3, 4, 8, 16])
def test_it_has_the_size_that_it_is_given(width: int, height: int) -> None:
    lines = draw_trend(TREND, width, height)
    assert len(lines) == height + 3
    assert all(len(line) <= width for line in lines[1:])


def test_a_small_value_beside_a_large_one_is_seen_and_a_missing_one_is_not() -> None:
    lines = draw_trend(Trend("x", "", "", tuple("abcdefgh"), (1, 1000, *[None] * 6)), AXIS_CELLS + 8, 4)
    assert lines[-3][AXIS_CELLS:] == "▁█"


def test_without_a_value_it_says_so() -> None:
    none = Trend("recall", "", "%", ("a", "b"), (None, None))
    assert draw_trend(none, 60, 8)[1] == "Nothing was counted yet."
    assert tell_trend(none) == ["Recall: nothing was counted yet."]


def test_it_is_told_in_sentences() -> None:
    assert tell_trend(TREND) == ["Growth: what <came> & went.", "First: 0 at a.", "Most: 20 at h.", "Last: 20 at h."]


def test_the_picture_is_xml_with_a_column_for_each_value_that_is_not_zero() -> None:
    picture = ElementTree.fromstring(trends_svg([TREND, TREND], "<b> & c"))
    columns = [found for found in picture.iter("{http://www.w3.org/2000/svg}rect") if len(found)]
    assert len(columns) == 2 * 6
    tall = [float(found.get("height", "0")) for found in columns[:6]]
    assert tall == sorted(tall) and tall[-1] == 180
    assert picture.get("aria-label") == "<b> & c"
