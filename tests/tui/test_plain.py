"""For a screen reader: no drawing characters, one below the other, and the terminal's cursor where it reads on."""

from pathlib import Path

import pytest
from support.screen import HUGE, NARROW, Person, opened
from support.stories import Story, copy

from store.conversations.turns import NewTurn
from tui.input.key_table import VIEW_NAMES
from tui.theme.glyphs import ascii_table, spoken_table

SILENT = {chr(code) for code, said in spoken_table().items() if said == " "}


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MEMORANDA_PLAIN", "true")
    return copy(tmp_path / "billing-api")


def drawn(person: Person) -> set[str]:
    """The drawing characters on the screen, as the terminal gets them."""
    text = "".join(
        segment.text
        for strip in person.strips
        for line_filter in [*person.app.get_line_filters()][-1:]
        for segment in line_filter.apply(list(strip), person.app.screen.background_colors[1])
    )
    return set(text) & SILENT


@pytest.mark.parametrize("size", [NARROW, HUGE])
async def test_no_screen_draws_and_the_list_is_above_its_preview(size: tuple[int, int], person: Person) -> None:
    screens = [*"13452", *("colon agents enter", "colon health enter", "colon settings enter", "2 ctrl+a F")]
    for keys in [*screens, "escape escape o", "escape a", "escape question_mark"]:
        await person.press(*[key for word in keys.split() for key in ([*word] if word in VIEW_NAMES else [word])])
        assert not drawn(person), keys
    await person.press("escape")
    assert person.record_list.region.width == size[0]
    assert person.main.pane.region.y > person.record_list.region.y


async def test_a_session_that_broke_off_is_said(story: Story) -> None:
    with story.open("2026-11-21T11:00:00.000Z") as memory:
        memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])
    async with opened(story.folder, NARROW) as person:
        await person.until(lambda: any(said.startswith("A session broke off at K#") for _, said in person.app.messages))


async def test_the_terminals_cursor_follows_the_row_and_the_message(narrow: Person) -> None:
    await narrow.press("j")
    found = narrow.record_list
    line = found.line_of(found.cursor_index)
    assert line is not None and narrow.app.cursor_position == found.region.translate((0, line)).offset
    await narrow.press("p")
    assert narrow.lines[narrow.app.cursor_position.y].startswith(" Pinned"), "the message is read"
    await narrow.press("j")
    assert narrow.lines[narrow.app.cursor_position.y].lstrip().startswith(("▸", ">")), "then the next row"


def test_state_that_only_a_glyph_tells_is_kept() -> None:
    assert [spoken_table()[ord(glyph)] for glyph in "▸✓◧☑"] == [">", "*", ">", "x"]
    assert all(len(said) == 1 for said in spoken_table().values()) and spoken_table().keys() <= ascii_table().keys()
