"""Which words are forms of one, by each of the rules that ask."""

import pytest

from store.text.words import is_inflection, shared_prefix_length

# one, other: by all but an ending
TABLE = [
    ("deploy", "deploying", True),
    ("deploy", "deployment", True),
    ("usamos", "usa", False),
    ("importar", "importador", True),
    ("invoice", "factura", False),
    ("invoice", "invoices", True),
    ("monday", "lunes", False),
    ("team", "tea", False),
    ("cache", "cash", False),
    ("set", "sets", False),
    ("set", "settle", False),
    ("drop", "dropped", True),
    ("test", "text", False),
    ("2024", "2025", False),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "ending"), TABLE, ids=lambda value: str(value))
def test_a_pair_by_each_rule(one: str, other: str, ending: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert is_inflection(first, second) is ending


def test_shared_start_counts_letters() -> None:
    assert [shared_prefix_length(*pair) for pair in (("abc", "abd"), ("", "a"), ("ab", "abcd"), ("x", "y"))] == [
        2,
        0,
        2,
        0,
    ]


def test_thresholds_are_arguments() -> None:
    assert is_inflection("walker", "walking") and not is_inflection("walker", "walking", ending=1)
