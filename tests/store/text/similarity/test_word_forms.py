"""Which words are forms of one, by each of the rules that ask."""

import pytest

from store.text.similarity.word_forms import akin, inflected, same, shared_start, stem

# one, other: by how they begin, by their stem or beginning, by all but an ending
TABLE = [
    ("deploy", "deploying", True, True, True),
    ("deploy", "deployment", True, True, True),
    ("usamos", "usa", False, True, False),
    ("importar", "importador", True, True, True),
    ("invoice", "factura", False, False, False),
    ("invoice", "invoices", True, True, True),
    ("monday", "lunes", False, False, False),
    ("team", "tea", True, True, False),
    ("cache", "cash", False, False, False),
    ("set", "sets", True, True, False),
    ("set", "settle", False, False, False),
    ("drop", "dropped", False, False, True),
    ("test", "text", False, False, False),
    ("2024", "2025", True, True, False),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "begins", "form", "ending"), TABLE, ids=lambda value: str(value))
def test_a_pair_by_each_rule(one: str, other: str, begins: bool, form: bool, ending: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert (akin(first, second), same(first, second), inflected(first, second)) == (begins, form, ending)


@pytest.mark.parametrize(
    ("word", "left"),
    [("usamos", "us"), ("deploying", "deploy"), ("as", "as"), ("v1s", "v1s"), ("comieron", "com"), ("tests", "test")],
)
def test_a_stem_is_the_word_without_its_ending(word: str, left: str) -> None:
    assert stem(word) == left


def test_shared_start_counts_letters() -> None:
    assert [shared_start(*pair) for pair in (("abc", "abd"), ("", "a"), ("ab", "abcd"), ("x", "y"))] == [2, 0, 2, 0]


def test_thresholds_are_arguments() -> None:
    assert akin("cat", "car", least=2) and not akin("cat", "car") and not akin("cat", "car", least=2, share=0.9)
    assert inflected("walker", "walking") and not inflected("walker", "walking", ending=1)
