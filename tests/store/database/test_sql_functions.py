"""The schema's triggers keep the passages and the words of a text, whichever of them writes its rows."""

import functools

import apsw
from hypothesis import example, given
from hypothesis import strategies as st

from store.database import schema
from store.text.passages import PASSAGE_SIZE, split_passages

WORDS = st.sampled_from(
    "the team deploys on Fridays José prefiere té import from return if else SELECT ERROR at File 4 2024 a1 getUserName"
    " it's ¿qué? Yes, drwxrwxrwx lll XML p/q 12:30 - ; ( ) = { \n \t FROM GROUP BY RUN npm error ERR! commit end E"
    " FAILED PASS class static protected a1b2c3d".split(" ")
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=40)


@given(TEXTS)
@example("Deploys run on Fridays.")
@example("Call getUserName()")
@example("drwxrwxrwx lists")
@example("return it to Ana")
@example("damaged \ufffd")
@example("Use 3 of B2")
@example("")
@example("x" * (PASSAGE_SIZE + 1))
def test_a_short_text_gets_the_passages_and_the_index_of_any_text(text: str) -> None:
    connection = _empty()
    connection.execute("DELETE FROM corpus")
    connection.execute("INSERT INTO corpus VALUES (16, 'fact', 1, 'work', ?, 'ctx', '2026', 'active', 0)", (text,))
    rows = connection.execute("SELECT id, row, start, end, line, code FROM passages ORDER BY id").fetchall()
    found = [(one.start, one.end, one.line, int(one.code)) for one in split_passages(text)] or [(0, len(text), 1, 0)]
    assert rows == [(16 | number << 40, 16, *one) for number, one in enumerate(found)]
    connection.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('integrity-check', 1)")


@functools.cache
def _empty() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    schema.create_memory_schema(connection, "")
    return connection
