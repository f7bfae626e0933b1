"""Moments in words, as people type them wherever a time is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each

from store.base.clock import from_ms, parse_moment, to_ms
from store.base.errors import InvalidInput
from store.text.dates import find_release, parse_typed_moment

NOW = "2026-11-21T12:00:00.000Z"


@each(
    "text, moment",
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
        ("since last monday", "2026-11-16T00:00"),
        ("antes del lunes pasado", "2026-11-16T00:00"),
        ("last summer", "2026-06-01T00:00"),
        ("since the summer of 2025", "2025-06-01T00:00"),
        ("el verano de 2025", "2025-06-01T00:00"),
        ("beginning of June", "2026-06-01T00:00"),
        ("a mediados de junio", "2026-06-11T00:00"),
        ("the third quarter of 2025", "2025-07-01T00:00"),
        ("la primera semana de junio", "2026-06-01T00:00"),
        ("the week before last", "2026-11-02T00:00"),
        ("el mes antepasado", "2026-09-01T00:00"),
        ("a couple of weeks ago", "2026-11-07T00:00"),
        ("hace un par de días", "2026-11-19T00:00"),
        ("last weekend", "2026-11-14T00:00"),
        ("last ten minutes", "2026-11-21T11:50"),
        ("la última hora", "2026-11-21T11:00"),
        ("in the last 2 weeks", "2026-11-07T00:00"),
        ("2d", "2026-11-19T12:00"),
        ("2026-11-01", "2026-11-01T00:00"),
    ],
)
def test_a_moment_is_typed_in_words_of_either_language(text: str, moment: str) -> None:
    assert parse_typed_moment(text, NOW)[:16] == moment


@each(
    "text",
    [
        *("", "a", "soon", "the", "la primavera", "tomorrowish", "03/04/2026", "x" * 500),
        *("between March and May", "last summer and today", "the last week of the course", "last summer's"),
    ],
)
def test_words_that_name_no_moment_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="2026-11-01"):
        parse_typed_moment(text, NOW)


@pytest.mark.parametrize(
    "text", ["release", "the release", "since the last release", "la última versión", "desde el lanzamiento"]
)
def test_the_release_is_a_moment_where_one_is_known(text: str) -> None:
    assert parse_typed_moment(text, NOW, lambda name: "" if name else "2026-11-01T10:00:00.000Z").startswith(
        "2026-11-01T10"
    )
    with pytest.raises(InvalidInput, match="No release is recorded"):
        parse_typed_moment(text, NOW)


def _tagged(name: str) -> str:
    return find_release(name, {"1.0.0": "2026-10-01T10:00:00.000Z", "nightly": "2026-10-02T10:00:00.000Z"})


VERSIONS = ["v1.0", "1.0.0", "V1", "since v1.0", "la versión 1", "desde la versión 1.0", "release 1.0", "before tag v1"]
RELEASED = [
    *((text, "2026-10-01T10:00:00.000Z") for text in VERSIONS),
    *((text, "2026-10-02T10:00:00.000Z") for text in ("nightly", "since nightly", "the tag nightly")),
]


@each("text, moment", RELEASED)
def test_a_version_however_it_is_called_and_another_tag_is_a_moment(text: str, moment: str) -> None:
    assert parse_typed_moment(text, NOW, _tagged) == moment


@pytest.mark.parametrize("text", ["v9", "9.1", "version 9", "la versión 9.1", "tag weekly"])
def test_a_version_that_nobody_released_is_said_by_its_name(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"No release is called {text.split()[-1]}"):
        parse_typed_moment(text, NOW, _tagged)


def test_a_refusal_offers_only_what_is_accepted() -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_typed_moment("someday", NOW)
    for offered in ("2026-11-01", "2d", "3w", "yesterday", "last monday"):
        assert offered in refused.value.next and parse_typed_moment(offered, NOW)
    with pytest.raises(InvalidInput) as refused:
        parse_moment("last monday", NOW)
    assert "monday" not in refused.value.next
    with pytest.raises(InvalidInput, match="not a time"):
        parse_typed_moment("1", NOW, _tagged)


@given(st.text(max_size=60))
def test_any_typed_text_is_a_moment_or_is_refused(text: str) -> None:
    try:
        moment = parse_typed_moment(text, NOW)
    except InvalidInput:
        return
    assert from_ms(to_ms(moment)) == moment
