"""Moments in words, as people type them wherever a time is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import load_cases
from support.tables import each

from store.base.clock import from_ms, parse_moment, to_ms
from store.base.errors import InvalidInput
from store.text.dates import find_release, parse_typed_moment

CASES = load_cases(__file__)
NOW = "2026-11-21T12:00:00.000Z"


@each("text, moment", CASES["moments"])
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
    at = "2026-11-01T10:00:00.000Z"
    assert parse_typed_moment(text, NOW, lambda name: "" if name else at) == at
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
