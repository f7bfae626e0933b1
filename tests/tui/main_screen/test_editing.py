"""A record's text is edited where it stands in the preview, at every size; the list is where it was."""

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from store.base.vocabulary import pack_key
from tui.widgets.inputs import TextEditor


def editor(person: Person) -> TextEditor:
    return person.main.query_one(TextEditor)


def newest(story: Story) -> str:
    with story.open() as memory:
        return memory.facts.get(max(memory.facts.ids(memory.now))).fact


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_it_stands_where_the_text_stood(story: Story, size: tuple[int, int]) -> None:
    more = " and one more, who is there on Tuesdays and now and then also on a Thursday afternoon"
    async with opened(story.folder, size) as person:
        await person.put_cursor(pack_key("fact", story.facts["five"]))
        preview = person.main.pane.preview.region
        assert person.lines[preview.y + 1][preview.x :].startswith("Team of five")
        await person.press("c")
        region = editor(person).region
        assert (region.x, region.y) == (preview.x, preview.y + 1), "below the citation"
        await person.paste(more)
        await person.until(lambda: editor(person).region.height > 1 or size == HUGE)
        await person.press("enter")
        assert person.at == "list" and not person.main.query(TextEditor)
        assert newest(story) == f"Team of five, two of them part time{more}"


async def test_keys_are_text_there_and_end_it(story: Story, person: Person) -> None:
    """Several lines; typed at once the next keys are for the list; the keys below can be clicked, and a text that is
    not seen is asked for in a form."""
    await person.put_cursor(pack_key("fact", story.facts["five"]))
    await person.press("c", "ctrl+j", "f", "/", ":", "q", "?", "1", "backslash", "enter")
    assert newest(story).endswith("part time\nf/:q?1\\") and person.app.is_running and person.at == "list"
    await person.press("u")
    await person.pilot.press("c", "x", "y", "enter", "j")
    await person.settle()
    assert newest(story) == "Team of five, two of them part timexy" and person.at == "list"
    await person.command("list.alone")
    await person.press("c")
    assert person.at == "text" and person.sees("correct F#") and not person.main.query(TextEditor)
    await person.press("escape", "escape", "c", "x")
    assert person.sees("enter saves  ^j new line  ^u empties the line  esc leaves")
    assert await person.pilot.click("#footer", offset=(person.line(" leaves").index("esc"), 0))
    await person.until(lambda: not person.main.query(TextEditor))
    assert person.at == "list" and newest(story).endswith("timexy")


async def test_a_line_is_deleted_whole_where_it_is_wrapped(narrow: Person) -> None:
    """As in a shell: not only the row on which the cursor stands."""
    wrapped = " ".join(["a line that the preview wraps"] * 6)
    await narrow.press("c")
    for text, key, left in ((f"first\n{wrapped}", "ctrl+u", "first\n"), (f"{wrapped}\nlast", "ctrl+k", "\nlast")):
        editor(narrow).load_text(text)
        if key == "ctrl+u":
            editor(narrow).move_cursor(editor(narrow).document.end)
        await narrow.press(key)
        assert editor(narrow).text == left
    await narrow.press("escape")
