"""Only the bytes of the asked text change: of every text in the samples, and of files as other systems write them."""

import pytest
from support.guests import GuestHome
from support.tables import refuses

from store.base.errors import InvalidInput
from store.tools import guests
from store.tools.guests import GuestText, NotEditable

FILES = ("claude-code", "basic-memory", "openclaw")


def only(tool: str, path: str, raw: bytes, part: str = "") -> GuestText:
    return next(one for one in guests.read_markdown_texts(tool, path, raw) if part in one.text)


def test_of_every_text_only_its_own_bytes_change(home: GuestHome) -> None:
    texts = home.texts(*FILES)
    assert len(texts) > 40
    for one in texts:
        with open(one.path, "rb") as file:
            raw = file.read()
        new = guests.correct_text(raw, one, "Ñandú: other words.")
        assert new == raw[: one.start] + "Ñandú: other words.".encode() + raw[one.end :]
        assert guests.correct_text(new, only(one.tool, one.path, new, "Ñandú"), one.text) == raw


def test_of_every_text_only_its_own_lines_are_deleted(home: GuestHome) -> None:
    for one in home.texts(*FILES):
        with open(one.path, "rb") as file:
            raw = file.read()
        new = guests.remove_text(raw, one)
        if one.whole:
            assert new is None
            continue
        assert new is not None
        before, after = (
            [other.text for other in guests.read_markdown_texts(one.tool, one.path, content) if not other.whole]
            for content in (raw, new)
        )
        before.remove(one.text)
        assert after == before


HEAD = b"---\r\nname: x\r\nmetadata: \r\n  type: user\r\n---\r\n\r\n"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no mark", "byte order mark"])
def test_line_endings_and_byte_order_mark_stay(mark: bytes) -> None:
    raw = mark + HEAD + b"One.\r\n\r\nTwo.  \nThree.\r\n"
    one = only("claude-code", "/x/memory/a.md", raw)
    assert (one.text, one.line, one.note) == ("One.\n\nTwo.  \nThree.", 7, "user")
    new = guests.correct_text(raw, one, "One.\n\nTwo.  \nFour.\nFive.")
    assert new == mark + HEAD + b"One.\r\n\r\nTwo.  \nFour.\r\nFive.\r\n"


@pytest.mark.parametrize(
    ("tool", "raw", "part", "text", "typed", "new"),
    [
        ("openclaw", b"- one\n- two", "two", "two", "three", b"- one\n- three"),
        (
            "openclaw", b"* recipe:\n\t1. make\n\t2. check\n* other\n", "recipe", "recipe:\n1. make\n2. check",
            "recipe:\n1. make\n2. look\n3. check", b"* recipe:\n\t1. make\n\t2. look\n\t3. check\n* other\n",
        ),
        (
            "basic-memory", b"---\ntitle: N\n---\n- [fact] Tides are metres #c++ (faro)\n", "", "Tides are metres",
            "Tides are long", b"---\ntitle: N\n---\n- [fact] Tides are long #c++ (faro)\n",
        ),
    ],
    ids=["no last line ending", "indent of a bullet's lines", "tags, context and category"],
)  # fmt: skip
def test_what_is_around_a_text_stays(tool: str, raw: bytes, part: str, text: str, typed: str, new: bytes) -> None:
    one = only(tool, "/x/MEMORY.md", raw, part)
    assert one.text == text and guests.correct_text(raw, one, typed) == new
    if tool == "basic-memory":
        assert (one.title, one.note) == ("N", "fact")
    if part == "two":
        assert guests.remove_text(raw, one) == b"- one\n"


def test_what_was_noted_above_a_bullet_goes_with_it_and_not_to_the_next() -> None:
    raw = b"# U\n\n<!-- observed: 2026-08-03 | status: active -->\n\n- one\n\n- two\n"
    one = only("openclaw", "/x/USER.md", raw, "one")
    assert guests.remove_text(raw, one) == b"# U\n\n\n- two\n"


@pytest.mark.parametrize(
    ("path", "raw", "text"),
    [
        ("/x/USER.md", b"- one\n- two\n", "[ ] a task"),
        ("/x/USER.md", b"- one\n- two\n", "# heading\n# other"),
        ("/x/USER.md", b"- one\n- two\n", "```\nopen"),
        ("/x/USER.md", b"- one\n- two\n", "<!-- gone"),
    ],
)
def test_a_text_that_changes_how_the_rest_is_read_is_refused(path: str, raw: bytes, text: str) -> None:
    one = only("openclaw", path, raw, "one")
    try:
        new = guests.correct_text(raw, one, text)
    except InvalidInput as error:
        assert "read differently" in error.message
    else:
        assert [other.text for other in guests.read_markdown_texts("openclaw", path, new)] == [text, "two"]


def test_what_an_editor_writes_with_line_endings_of_windows_is_what_was_typed(home: GuestHome) -> None:
    """A carriage return is refused elsewhere, as a control character."""
    one = home.text("percebe", "openclaw")
    home.correct(one, "\r\nThe staging host\r\nis called navaja.\r\n")
    assert home.text("navaja", "openclaw").text == "The staging host\nis called navaja."
    assert b"\r" not in (home.openclaw / "MEMORY.md").read_bytes()


def test_a_body_that_would_be_front_matter_is_refused() -> None:
    one = only("claude-code", "/x/a.md", b"Plain.\n")
    refuses(InvalidInput, "read differently", guests.correct_text, b"Plain.\n", one, "---\nname: y\n---\nOther.")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"caf\xe9\n", "a part of it is not UTF-8"),
        ("x\n".encode("utf-16"), "UTF-16"),
        (b"a\0b", "binary"),
    ],
)
def test_what_is_no_text_is_named(raw: bytes, why: str) -> None:
    refuses(NotEditable, why, guests.read_markdown_texts, "claude-code", "/x/a.md", raw)


def test_each_line_of_claude_codes_index_is_a_text(home: GuestHome) -> None:
    found = [one for one in home.texts("claude-code") if one.note == "index"]
    assert len(found) == 6 and found[-1].text == "[Gone](missing_file.md) — a file that no longer exists"


def test_a_line_of_the_index_is_taken_out_whole() -> None:
    raw = b"# Index\r\n- [A](a.md) one\r\n- [B](b.md), see [A](a.md)\r\n- [C](./c.md) x"
    assert guests.remove_index_link(raw, "a.md") == b"# Index\r\n- [B](b.md), see [A](a.md)\r\n- [C](./c.md) x"
    assert guests.remove_index_link(raw, "c.md") == b"# Index\r\n- [A](a.md) one\r\n- [B](b.md), see [A](a.md)\r\n"


def test_two_texts_that_say_the_same_have_two_names() -> None:
    texts = guests.read_markdown_texts("openclaw", "/x/USER.md", b"- same\n- same\n")
    assert len({one.name for one in texts}) == 2
    again = guests.read_markdown_texts("openclaw", "/x/USER.md", b"# New\n\n- same\n- same\n")
    assert [one.name for one in again] == [one.name for one in texts]
