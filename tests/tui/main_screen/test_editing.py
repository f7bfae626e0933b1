"""A record's text is edited where it stands in the preview, at every size; the list is where it was."""

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from tui.widgets.inputs import TextEditor
from tui.widgets.preview import Preview


def editor(user: Person) -> TextEditor:
    return user.main.query_one(TextEditor)


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_it_stands_where_the_text_stood(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as user:
        await user.put_cursor(story.facts["five"])
        preview = user.main.query_one(Preview).region
        before = [line[preview.x : preview.right] for line in user.lines[preview.y : preview.y + 2]]
        assert before[1].startswith("Team of five")
        await user.press("c")
        region = editor(user).region
        assert (region.x, region.y) == (preview.x, preview.y + 1), "below the citation"
        await user.paste(" and one more, who is there on Tuesdays and now and then also on a Thursday afternoon")
        await user.until(lambda: editor(user).region.height > 1 or size == HUGE)
        await user.press("enter")
        assert user.at == "facts" and not user.main.query(TextEditor)
        with story.open() as memory:
            assert memory.facts.get(max(memory.facts.ids(memory.now))).fact == (
                "Team of five, two of them part time and one more, who is there on Tuesdays and now and then also on a"
                " Thursday afternoon"
            )


async def test_several_lines_and_the_letters_of_keys_are_text(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.put_cursor(story.facts["five"])
        await user.press("c", "ctrl+j", "f", "/", ":", "q", "?", "1", "backslash", "enter")
        with story.open() as memory:
            assert memory.facts.get(max(memory.facts.ids(memory.now))).fact.endswith("part time\nf/:q?1\\")
        assert user.app.is_running and user.at == "facts"


async def test_a_line_is_deleted_whole_where_it_is_wrapped(story: Story) -> None:
    """As in a shell: not only the row on which the cursor stands."""
    wrapped = " ".join(["a line that the preview wraps"] * 6)
    async with opened(story.folder, NARROW) as user:
        await user.put_cursor(story.facts["five"])
        await user.press("c")
        assert user.sees("enter saves  ^j new line  ^u empties the line  esc leaves")
        editor(user).load_text(f"first\n{wrapped}")
        editor(user).move_cursor(editor(user).document.end)
        await user.press("ctrl+u")
        assert editor(user).text == "first\n"
        editor(user).load_text(f"{wrapped}\nlast")
        await user.press("ctrl+k")
        assert editor(user).text == "\nlast"
        await user.press("escape")


async def test_keys_typed_at_once_are_for_the_editor_and_then_for_the_list(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.put_cursor(story.facts["five"])
        await user.pilot.press("c", "x", "y", "enter", "j")
        await user.settle()
        assert "replaces F#5, u to undo" in " ".join(user.toasts[:1]) or user.said
        with story.open() as memory:
            assert memory.facts.get(max(memory.facts.ids(memory.now))).fact == "Team of five, two of them part timexy"


async def test_where_the_text_is_not_seen_the_bottom_line_asks(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.put_cursor(story.facts["five"])
        await user.press("Z", "c")
        assert user.at == "line" and user.sees("correct F#5") and not user.main.query(TextEditor)
        await user.press("escape")


async def test_the_keys_below_can_be_clicked(story: Story) -> None:
    async with opened(story.folder) as user:
        await user.press("c", "x")
        assert await user.pilot.click("#footer", offset=(user.line(" leaves").index("esc"), 0))
        await user.until(lambda: not user.main.query(TextEditor))
        assert user.at == "facts"
        with story.open() as memory:
            assert memory.history.steps(limit=1)[0].door == "cli"
