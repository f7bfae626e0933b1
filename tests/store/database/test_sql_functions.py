"""What the schema's functions give without the modules that they need for other texts is what those modules give."""

from hypothesis import example, given
from hypothesis import strategies as st

from store.database import sql_functions
from store.text import identifiers
from store.text.passages import SIZE, passages

WORDS = st.sampled_from(
    "the team deploys on Fridays José prefiere té import from return if else SELECT ERROR at File 4 2024 a1 getUserName"
    " it's ¿qué? Yes, drwxrwxrwx lll XML p/q 12:30 - ; ( ) = { \n \t".split(" ")
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=40)


@given(TEXTS)
@example("the team is five")
@example("return it to Ana")
@example("drwxrwxrwx lists")
@example("Use 3 of B2")
@example("x" * (SIZE + 1))
def test_a_plain_text_is_one_passage_of_speech(text: str) -> None:
    found = [[one.start, one.end, one.line, int(one.code)] for one in passages(text)] or [[0, len(text), 1, 0]]
    assert sql_functions._passages_of(text) == str(found)


@given(TEXTS)
@example("José prefiere té")
@example("ask McKay, then B2")
def test_a_text_without_identifiers_has_no_words_inside_of_names(text: str) -> None:
    assert sql_functions._identifiers(text) == identifiers.words(text)
