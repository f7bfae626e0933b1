"""Passages: every word of a text is in one of them, none is much too long, code and speech apart."""

from hypothesis import given
from hypothesis import strategies as st
from support.cases import load_cases
from support.tables import each

from store.text.passages import PASSAGE_SIZE, looks_like_code, split_passages

CASES = load_cases(__file__)
REPLY = """Sure. Here is what changed since Monday:

- the parser reads dates
- the index is half as large

```python
def load(path):
    with open(path) as file:
        return json.load(file)
```

2026-11-02 12:00:01 ERROR worker: connection refused
2026-11-02 12:00:03 INFO worker: trying again

Tell me if it happens again."""


def test_a_short_text_is_one_passage() -> None:
    """Whole, on its first line."""
    assert [tuple(one) for one in split_passages("The team is five.")] == [(0, 17, 1, False)]
    assert split_passages(" \n ") == []


def test_code_and_logs_are_told_from_speech() -> None:
    """By fences and by the form of the lines; where they stand is counted."""
    found = split_passages(REPLY, size=200)
    said = [(one.code, REPLY[one.start : one.end].split()[0], one.line) for one in found]
    assert said == [(False, "Sure.", 1), (True, "```python", 6), (False, "Tell", 15)]


def test_what_has_the_form_of_code() -> None:
    """Tables, traces, statements and data; not lists, headings, sentences with a bracket."""
    for text in (
        "| a | b |\n|---|---|\n| 1 | 2 |",
        'Traceback (most recent call last):\n  File "a.py", line 3',
        "x = {1: 2};",
    ):
        assert looks_like_code(text), text
    for text in ("- one (of two)\n- another", "## What we did", "We chose SQLite (one file).\nIt needs no server."):
        assert not looks_like_code(text), text


@each("block", CASES["code"])
def test_what_tools_print_and_what_is_pasted_is_told_from_speech(block: str) -> None:
    assert looks_like_code(block)


@each("said", CASES["speech"])
def test_what_people_say_is_no_code(said: str) -> None:
    """Notes of a line with a colon or a date, sentences that begin with a word of a programming language, bold text."""
    assert not looks_like_code(said)


@given(st.text(alphabet="ab .\n`|#\t", max_size=3_000))
def test_nothing_is_lost_and_nothing_is_too_long(text: str) -> None:
    """Passages follow each other; between them no word is left out."""
    found = split_passages(text)
    at = 0
    for one in found:
        assert at <= one.start < one.end <= len(text)
        assert not any(map(str.isalnum, text[at : one.start]))
        assert one.end - one.start <= PASSAGE_SIZE
        assert one.line == text.count("\n", 0, one.start) + 1
        at = one.end
    assert not any(map(str.isalnum, text[at:]))
