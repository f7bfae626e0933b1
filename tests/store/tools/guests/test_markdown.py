"""Only the bytes of the asked text change: of every text in the samples, and of files as other systems write them."""

import tomllib
from pathlib import Path

import pytest
from support.guests import GuestHome
from support.tables import refuses

from store.base.errors import InvalidInput
from store.tools import guests
from store.tools.guests import GuestText
from store.tools.source import CannotUse

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


AROUND = tomllib.loads(Path(__file__).with_name("around.toml").read_text())


@pytest.mark.parametrize("case", AROUND.values(), ids=list(AROUND))
def test_what_is_around_a_text_stays(case: dict[str, str]) -> None:
    raw = case["raw"].encode()
    one = only(case["tool"], "/x/MEMORY.md", raw, case["part"])
    assert one.text == case["text"] and guests.correct_text(raw, one, case["typed"]) == case["new"].encode()
    if one.tool == "basic-memory":
        assert (one.title, one.note) == ("N", "fact")
    if one.text == "two":
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
    refuses(CannotUse, why, guests.read_markdown_texts, "claude-code", "/x/a.md", raw)


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
