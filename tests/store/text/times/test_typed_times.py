"""Moments in words, as people type them wherever a time is asked for."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.base.clock import from_ms, to_ms
from store.base.errors import InvalidInput
from store.text.times.typed_times import typed_moment

NOW = "2026-11-21T12:00:00.000Z"


@pytest.fixture(autouse=True)
def at_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2 weeks ago", "2026-11-07T12:00"),
        ("two weeks ago", "2026-11-07T12:00"),
        ("hace dos semanas", "2026-11-07T12:00"),
        ("1 week", "2026-11-14T12:00"),
        ("3 weeks", "2026-10-31T12:00"),
        ("one month", "2026-10-21T12:00"),
        ("dos semanas", "2026-11-07T12:00"),
        ("2 días", "2026-11-19T12:00"),
        ("2 march", "2026-03-02T00:00"),
        ("last week", "2026-11-09T00:00"),
        ("la semana pasada", "2026-11-09T00:00"),
        ("in March", "2026-03-01T00:00"),
        ("en marzo", "2026-03-01T00:00"),
        ("december", "2025-12-01T00:00"),
        ("september 2025", "2025-09-01T00:00"),
        ("last monday", "2026-11-16T00:00"),
        ("el lunes pasado", "2026-11-16T00:00"),
        ("anteayer", "2026-11-19T00:00"),
        ("el 19 de noviembre", "2026-11-19T00:00"),
        ("last year", "2025-01-01T00:00"),
        ("2d", "2026-11-19T12:00"),
        ("2026-11-01", "2026-11-01T00:00"),
    ],
)
def test_a_moment_is_typed_in_words_of_either_language(text: str, moment: str) -> None:
    assert typed_moment(text, NOW)[:16] == moment


@pytest.mark.parametrize("text", ["", "a", "soon", "the", "la primavera", "tomorrowish", "03/04/2026", "x" * 500])
def test_words_that_name_no_moment_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="2026-11-01"):
        typed_moment(text, NOW)


@pytest.mark.parametrize(
    "text", ["release", "the release", "since the last release", "la última versión", "desde el lanzamiento"]
)
def test_the_release_is_a_moment_where_one_is_known(text: str) -> None:
    assert typed_moment(text, NOW, lambda: "2026-11-01T10:00:00.000Z") == "2026-11-01T10:00:00.000Z"
    with pytest.raises(InvalidInput, match="No release is recorded"):
        typed_moment(text, NOW, lambda: "")


@given(st.text(max_size=60))
def test_any_typed_text_is_a_moment_or_is_refused(text: str) -> None:
    try:
        moment = typed_moment(text, NOW)
    except InvalidInput:
        return
    assert from_ms(to_ms(moment)) == moment


def test_the_parser_of_dates_is_not_imported_before_words_are_typed() -> None:
    code = (
        "import sys, store.search.query.query_parser as q; q.parse('since:2d', '2026-11-21T12:00:00.000Z');"
        " print('dateparser' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
