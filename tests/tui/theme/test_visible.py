"""Nothing a stranger wrote moves the cursor, hides, or becomes markup."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from store.text.display import visible, visible_lines
from tui.theme.line_filters import StripControls, escaped_content, fit_cells

HOSTILE = [
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1b[2J\x1b[H owned",
    "\x9b2J",
    "user\u202egnp.exe",
    "a\u2066b\u2069c\u200e\u200f\u061c",
    "pass\u200bword\u200c\u2060\ufeff",
    "hi" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules"),
    "soft\xadhyphen",
    "\u3164\uffa0\u115f\u1160",
    "x\ufe01y\U000e0101",
    "line\u2028para\u2029",
    "\ud800 lone \udfff",
    "\ufffe\uffff\U0001ffff",
    "\ufff9a\ufffab\ufffb",
    "tab\tnew\nline\r\n",
    "\0\x07\x08\x7f",
    "a\u200db\ufe0f",
    "\u200d\u200d\ufe0f\ufe0f",
]
ANY = st.text(st.characters(), max_size=60)  # surrogates too


def obeyed_or_unseen(text: str) -> list[str]:
    """What a terminal would act upon or nobody would see, by Unicode's categories; the joiner is judged elsewhere."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u3164\uffa0\u115f\u1160"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_marks(text: str) -> None:
    shown = visible(text)
    assert shown != text
    assert not obeyed_or_unseen(shown)
    assert not [c for c in shown if unicodedata.category(c) == "Cf"]
    shown.encode()  # a surrogate would end the writer thread
    assert visible(shown) == shown


def test_marks_can_be_read() -> None:
    assert visible("\x1b[2J") == "␛[2J"
    assert visible("\x7f") == "␡"
    assert visible("a\u202eb") == "a⟨U+202E⟩b"
    assert visible("\U000e0041") == "⟨U+E0041⟩"
    assert visible("a\tb") == "a    b"


def test_newlines_stay_where_they_are_wanted() -> None:
    assert visible("a\r\nb\nc\u2028d") == "a ⏎ b ⏎ c ⏎ d"
    assert visible("a\r\nb\n", newlines=True) == visible_lines("a\r\nb\n") == "a\nb\n"
    assert visible_lines("over\rwritten") == "over␍written"
    assert visible_lines("a\n\u200db") == "a\n⟨U+200D⟩b"


@pytest.mark.parametrize(
    "text",
    [
        "Use SQLite, not PostgreSQL",
        "Se eligió SQLite — «ya está», ñandú, 日本語, العربية, ру́сский",
        "10\u00a0km",
        "👩\u200d👧 ☎\ufe0f 1\ufe0f\u20e3 ❤\ufe0f\u200d🔥 👍🏽",
        "क्\u200dष",
        "[b]not markup[/nope] [@click=app.quit]x[/]",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


@given(ANY)
def test_one_line_is_one_line_and_once_is_enough(text: str) -> None:
    shown = visible(text)
    assert not obeyed_or_unseen(shown)
    assert visible(shown) == shown
    assert not [c for c in visible_lines(text).replace("\n", "") if c < " " or "\x7f" <= c <= "\x9f"]


@given(ANY, st.integers(0, 40))
def test_fit_fills_its_cells_exactly(text: str, width: int) -> None:
    assert cell_len(fit_cells(visible(text), width)) == width


def test_fit_says_that_it_cut() -> None:
    assert fit_cells("abc", 5) == "abc  "
    assert fit_cells("abcdef", 4) == "abc…"
    assert fit_cells("日本語", 4) == "日 …"
    assert fit_cells("日本", 4) == "日本"
    assert fit_cells("abc", 0) == ""


def test_content_is_never_markup() -> None:
    assert escaped_content("[@click=app.quit]x[/nope]").plain == "[@click=app.quit]x[/nope]"
    assert escaped_content("\x1b[2J", "bold").plain == "␛[2J"


class TestStripControls:
    black = Color(0, 0, 0)

    def test_clean_segments_are_handed_back_as_they_are(self) -> None:
        segments = [Segment("Añb 👩\u200d👧"), Segment("x", Style(bold=True))]
        assert StripControls().apply(segments, self.black) is segments

    @pytest.mark.parametrize("text", HOSTILE)
    def test_what_the_first_layer_missed_is_deleted(self, text: str) -> None:
        segments = [Segment(text, Style(bold=True))]
        [*clean] = StripControls().apply(segments, self.black)
        assert segments == [Segment(text, Style(bold=True))]  # shared with Textual's cache
        shown = "".join(segment.text for segment in clean)
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
        assert sum(segment.cell_length for segment in clean) == cell_len(text)

    def test_a_link_cannot_carry_a_sequence_out(self) -> None:
        [segment] = StripControls().apply([Segment("x", Style(link="http://a\x1b\\\x1b[2J"))], self.black)
        assert segment.style is not None and segment.style.link is None
        [kept] = StripControls().apply([Segment("x", Style(link="http://a/b"))], self.black)
        assert kept.style is not None and kept.style.link == "http://a/b"
