"""The words inside of identifiers, and which words are forms of one."""

import time

import pytest
from support.cases import load_cases
from support.tables import each

from store.text import words as identifiers
from store.text.words import is_inflection, shared_prefix_length

CASES = load_cases(__file__)


@pytest.mark.parametrize(("text", "inside"), CASES["inside"])
def test_the_words_inside_of_names(text: str, inside: str) -> None:
    """By capitals and figures; of one letter alone nothing is made."""
    assert identifiers.expand_identifiers(text).split() == inside.split()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("why is sphinx<9 pinned?", ["sphinx 9"]),
        ("WRITE_LOCKS in a/b.py", ["WRITE LOCKS", "a b py"]),
        ("Python 3.9, and C++ too: don't", ["3 9"]),
        ("no names here", []),
    ],
)
def test_what_symbols_join_is_one_name(text: str, names: list[str]) -> None:
    assert identifiers.split_compounds(text) == names


def test_one_name_of_a_hundred_thousand_letters_or_parts_is_read_at_once() -> None:
    started = time.process_time()
    assert identifiers.split_compounds("a" * 100_000) == []
    assert identifiers.split_compounds("a." * 50_000) == [" ".join("a" * identifiers.MAX_COMPOUND_WORDS)]
    assert time.process_time() - started < 2  # the letters alone took five minutes


@each("one, other, ending", CASES["endings"])
def test_a_pair_by_each_rule(one: str, other: str, ending: bool) -> None:
    for first, second in ((one, other), (other, one)):
        assert is_inflection(first, second) is ending


def test_shared_start_counts_letters() -> None:
    pairs = (("abc", "abd", 2), ("", "a", 0), ("ab", "abcd", 2), ("x", "y", 0))
    assert all(shared_prefix_length(one, other) == length for one, other, length in pairs)


def test_thresholds_are_arguments() -> None:
    assert is_inflection("walker", "walking") and not is_inflection("walker", "walking", ending=1)
