"""Whether a text says anything by itself."""

import pytest

from store.text.sentences import says_something


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"',
        "y",
        "ok",
        "OK.",
        "Anotado.",
        "Apuntado!",
        "🚀 →",
        "…",
        "Sí, claro",
        "Yes, sure, thanks!",
        "No.",
        "and?",
        "por qué",
    ],
)
def test_what_says_nothing(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize(
    "text", ["peanuts", "ok, Redis", "42", "C++", "日本語", "Anotado: a las nueve", "ñandú", "no " * 40]
)
def test_what_says_something(text: str) -> None:
    assert says_something(text)
