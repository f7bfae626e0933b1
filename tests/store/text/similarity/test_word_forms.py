"""Which words are forms of one, by each of the rules that ask."""

import pytest

from store.text.similarity.synonyms import same as means_the_same
from store.text.similarity.word_forms import inflected, shared_start

# one, other: by all but an ending, by form or meaning
TABLE = [
    ("deploy", "deploying", True, True),
    ("deploy", "deployment", True, True),
    ("usamos", "usa", False, False),
    ("importar", "importador", True, False),
    ("invoice", "factura", False, True),
    ("invoice", "invoices", True, True),
    ("monday", "lunes", False, True),
    ("team", "tea", False, False),
    ("cache", "cash", False, False),
    ("set", "sets", False, True),
    ("set", "settle", False, False),
    ("drop", "dropped", True, True),
    ("test", "text", False, False),
    ("2024", "2025", False, False),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "ending", "meaning"), TABLE, ids=lambda value: str(value))
def test_a_pair_by_each_rule(one: str, other: str, ending: bool, meaning: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert (inflected(first, second), means_the_same(first, second)) == (ending, meaning)


def test_shared_start_counts_letters() -> None:
    assert [shared_start(*pair) for pair in (("abc", "abd"), ("", "a"), ("ab", "abcd"), ("x", "y"))] == [2, 0, 2, 0]


def test_thresholds_are_arguments() -> None:
    assert inflected("walker", "walking") and not inflected("walker", "walking", ending=1)
