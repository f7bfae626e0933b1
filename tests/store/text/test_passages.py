"""Passages: every word of a text is in one of them, none is much too long, code and speech apart."""

from hypothesis import given
from hypothesis import strategies as st
from support.tables import each

from store.text.passages import PASSAGE_SIZE, looks_like_code, split_passages

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


@each(
    "block",
    [
        # what tools print, as people paste it: no fence around it
        '127.0.0.1 - - [24/Nov/2026:10:00:01 +0000] "POST /login HTTP/1.1" 504 167 "-" "Mozilla/5.0"',
        "I0411 20:22:38.398299   23952 round_trippers.go:463] Content-Length: 248",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: eslint@7.30.0",
        "npm error peer react@19 from the root project\nnpm error node_modules/drizzle-orm\nnpm error Fix it, or retry",
        "==== test session starts ====\nplatform linux -- Python 3.11.4\nrootdir: /srv/app\ncollected 12 items",
        "tests/test_login.py ....F....         [ 75%]\ntests/test_pool.py ...                [100%]",
        "FAILED tests/test_login.py::test_slow - assert 8.1 < 2\n1 failed, 11 passed in 9.21s",
        "src/app.ts(12,5): error TS2322: Type 'string' is no number.\nsrc/app.ts(14,5): error TS2304: Cannot find it.",
        "error[E0382]: borrow of moved value: `x`\n --> src/main.rs:4:20\n  |\n4 |     println!(x);",
        "On branch main\nChanges not staged for commit:\n\tmodified:   a.ts\n\tmodified:   b.ts\n\tdeleted:    c.ts",
        "a1b2c3d Fix the login\ne4f5a6b Add tests\n9a8b776 Bump deps",
        "     1→import os\n     2→\n     3→def main():\n     4→    print('x')",
        # tables
        "| setting | why |\n|---|---|\n| `ingest.claude` | reads files outside of the project; who wants that? |",
        " id | name  | email\n----+-------+-------\n  1 | Ana   | ana@x.org\n(1 row)",
        "┌────┬────┐\n│ a  │ b  │\n└────┴────┘",
        "NAME     READY   STATUS             RESTARTS   AGE\nnginx    0/1     CrashLoopBackOff   7          11m",
        "id,name,price\n1,apple,2.50\n2,pear,3.10",
        # data and statements
        "services:\n  web:\n    image: nginx\n    ports:\n      - 80:80\n    restart: always",
        "SELECT u.id\nFROM users u\nJOIN orders o ON o.user_id = u.id\nWHERE o.total > 100",
        "FROM python:3.11\nWORKDIR /app\nRUN pip install -r requirements.txt",
    ],
)
def test_what_tools_print_and_what_is_pasted_is_told_from_speech(block: str) -> None:
    assert looks_like_code(block)


@each(
    "said",
    [
        "Budget: 4000 euros",
        "deadline: 12 December",
        'Wifi: "casa-azul"',
        "2026-11-21: Ana agreed to sell the boat\n2026-11-22: she did not",
        "let Marta approve every refund",
        "const generics confuse the newcomers",
        "import tickets are handled by Marta",
        "return typo back for new pr, update docs",
        "fix: change View class to Throttle class on SimpleRateThrottle Docstring (#8147)",
        "class names should be short",
        "for this reason:",
        "**Decision:** we stay",
        "**Docker**",
        "https://docs.djangoproject.com/en/stable/faq/install/",
        "[1] Knuth, The Art of Computer Programming\n[2] Brooks, The Mythical Man-Month",
        "Things to do:\n  - buy milk\n  - call Ana",
        "We saw it.   Then it was gone.\nNobody   else did.",
    ],
)
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
