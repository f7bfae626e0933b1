"""The places: which one is seen, what the lines around it say, and that a change of size loses no place."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.screen import HUGE, NARROW, SIZES, WIDE, Person, opened
from support.stories import Clock, Story

from store.base.vocabulary import pack_key
from store.memory import Memory
from tui.input.key_table import PANE_KEYS, VIEW_NAMES
from tui.main_screen.places import PANES
from tui.widgets.bars import Bar
from tui.widgets.record_list import RecordList

Size = tuple[int, int]
NAMED = "1 Today 2 Facts 3 Timeline 4 Ask 5 History"


@pytest.fixture
def full(story: Story) -> Story:
    """A memory with more of everything than a screen has lines."""
    with story.open() as memory:
        for number in range(70):
            memory.facts.remember(f"Invoice series {number} is closed", domain="projects")
            memory.tasks.add_task(f"close series {number}")
            memory.inbox.propose("add", {"fact": f"Series {number} is open"}, origin="mcp:codex")
    return story


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A project without git, whose memory holds nothing yet."""
    folder = tmp_path / "bare"
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()):
        return folder


def named(person: Person) -> str:
    """The top line."""
    return " ".join(person.lines[0].split())


# which is seen


@SIZES
async def test_each_number_shows_its_pane_where_the_one_before_was(size: Size, full: Story) -> None:
    """Each with the record that it was left with; all are named above, and what is clicked in these lines exists."""
    async with opened(full.folder, size) as person:
        held = {}
        for name, number in PANE_KEYS.items():
            await person.press(number, "j", "j")
            if name == "today":
                await person.press("space")
            assert (person.place, person.at) == (name, "list")
            held[name] = person.record_list.cursor_key, person.record, set(person.record_list.marks)
            assert named(person).endswith("1 Today 70 2 Facts 3 Timeline 4 Ask 5 History")
            assert person.lines[1].strip().startswith("billing-api / ") is (size == NARROW)
            shown, preview = person.record_list.region, person.main.pane.region
            if size == NARROW:
                assert shown.width == 80 and shown.bottom <= preview.y, "the preview is below"
            else:
                assert (shown.x, shown.right, preview.right) == (0, preview.x, size[0]), "they fill the screen"
                assert abs(shown.width - (0.56 if size == HUGE else 0.6) * size[0]) < 1
            for bar in person.main.query(Bar):
                for _, _, action in bar._actions:
                    owner = person.app if action.startswith("app.") else person.main
                    assert callable(getattr(owner, f"action_{action.partition('(')[0].removeprefix('app.')}")), action
        for name in ("timeline", "today", "facts", "history"):
            await person.press(PANE_KEYS[name])
            assert (person.record_list.cursor_key, person.record, set(person.record_list.marks)) == held[name], name


async def test_a_view_is_reached_by_its_name_and_left_to_the_pane_before(person: Person) -> None:
    await person.press("3", "j")
    record = person.record
    for name in VIEW_NAMES:
        await person.follow((f"colon > {name}", lambda name=name: person.place == name))
        assert named(person).endswith(f"{NAMED} › {name.capitalize()}"), person.lines[0]
    await person.follow(("escape", lambda: person.place == "timeline" and person.record == record))
    assert named(person).endswith(NAMED)


@SIZES
async def test_work_under_way_stands_above_and_leaves_the_panes_their_names(size: Size, person: Person) -> None:
    """No room for names leaves the numbers."""
    person.main.set_status("meaning 12,138/48,502")
    await person.settle()
    assert NAMED in named(person) and person.sees("meaning 12,138/48,502")
    assert ("meaning" in person.lines[0]) is (size == HUGE)
    await person.pilot.resize_terminal(30, 20)
    await person.press("5")
    assert named(person) == "1 2 3 4 5 History"


async def test_its_number_again_takes_the_next_chip_and_escape_shows_all(person: Person) -> None:
    """In each pane its own chips, and no other's."""
    for name, values in (
        ("facts", "stale low aging pinned fresh superseded forgotten decisions tasks"),
        ("timeline", "decision commit event iteration checkpoint"),
        ("history", "checkpoints"),
    ):
        if person.place != name:
            await person.press(PANE_KEYS[name])
        every, shown, marks = len(person.record_list.rows or ()), [], set()
        for _ in values.split():
            await person.press(PANE_KEYS[name])
            shown.append(person.main.place.view.chosen[0][1])
            marks |= {row[1] for row in person.rows}
            assert len(person.record_list.rows or ()) < every and "×" in person.title
        assert shown == values.split() and (name != "timeline" or marks == set("◆○·↻▪"))
        await person.press(PANE_KEYS[name])
        assert not person.main.place.view.chosen and len(person.record_list.rows or ()) == every
        await person.press(PANE_KEYS[name])
    for name in ("facts", "history", "timeline"):
        await person.follow((PANE_KEYS[name], "esc all"), ("escape", "!esc all", lambda at=name: person.place == at))


async def test_a_change_elsewhere_is_there_when_the_pane_comes(story: Story, narrow: Person) -> None:
    await narrow.press("5", "2")
    with story.open() as memory:
        memory.tasks.add_task("call the printer")
    await narrow.follow(("5", lambda: "call the printer" in narrow.rows[0]))


async def test_keys_that_come_before_the_memory_is_open_do_no_harm(story: Story) -> None:
    async with opened(story.folder, settled=False) as person:  # its first rows are not there yet
        for key in ("4", "tab", "Y", "slash", "colon", "space", "z", "I", "o", "escape", "escape", "2"):
            await person.pilot.press(key)
        await person.settle()
        assert person.app.is_running


# sizes


async def resize(person: Person, *sizes: Size) -> AsyncIterator[Size]:
    """Give the terminal each size."""
    for size in sizes:
        await person.pilot.resize_terminal(*size)
        await person.settle()
        assert len(person.lines) == size[1] and all(len(line) <= size[0] for line in person.lines)
        yield size


@pytest.mark.sampled(2)
@pytest.mark.parametrize("pane", ["1", "2", "3", "5"])
async def test_any_change_of_size_keeps_pane_record_and_marks(full: Story, pane: str) -> None:
    async with opened(full.folder, WIDE) as person:
        await person.press("1" if pane == "2" else "2", pane, "space", "ctrl+d", "ctrl+d", "j")
        found = person.record_list
        held = person.place, found.cursor_key, person.record, found.marks
        assert person.record is not None and len(found.marks) == 1
        async for size in resize(person, NARROW, HUGE, WIDE, (60, 15), HUGE, NARROW, WIDE):
            assert (person.place, found.cursor_key, person.record, found.marks) == held, size
            assert found.line_of(found.cursor_index) is not None, f"the cursor is on the screen, {size}"


async def test_what_is_scrolled_stays_scrolled_and_preview_and_plan_keep_their_places(full: Story) -> None:
    async with opened(full.folder, WIDE) as person:
        await person.press("ctrl+d", "j", "j", "j")
        top, rows = person.record_list.scroll_offset.y, person.rows
        assert top > 10 and any(row.startswith("▸") for row in rows)
        async for size in resize(person, HUGE, WIDE, NARROW, (60, 24), WIDE):
            assert person.record_list.scroll_offset.y == top, f"its first line is the same, {size}"
        assert person.rows == rows
        await person.press("3", "G", "k", "enter", "right")
        preview = person.main.pane.preview
        chosen = preview.link
        await person.command("restore K#1")
        await person.until(lambda: person.planning)
        await person.press("j", "j", "j", "j", "space", "j")
        before, shown = person.plan, person.app.screen.query_one("#plan", RecordList)
        key = shown.cursor_key
        async for _ in resize(person, NARROW, HUGE, (60, 15), WIDE):
            assert person.planning and shown.cursor_key == key and any(row.startswith("▸") for row in person.plan)
            assert "220 of 221 chosen" in person.lines[-2]
        assert person.plan == before
        await person.follow(("escape", lambda: person.at == "preview" and preview.link == chosen != ""))
        await person.follow(("enter", lambda: person.record.citation == chosen))


# the layout


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_list_or_preview_has_the_screen_and_the_rule_between_them_stays(story: Story, size: Size) -> None:
    def share(person: Person) -> int:
        region = person.main.query_one("#list").region
        return region.height if size == NARROW else region.width

    async with opened(story.folder, size) as person:
        first, pane = person.record, person.main.pane
        await person.follow(
            (
                "z",
                lambda: pane.region.width == size[0] and pane.region.height >= size[1] - 5 and person.at == "preview",
            ),
            ("escape", lambda: person.at == "list" and person.record == first and share(person)),
            (":list.alone", lambda: person.record_list.region.width == size[0] and not pane.region.width),
            ("3", lambda: pane.region.width),  # another pane shows both again
        )
        before = share(person)
        await person.follow((":list.more",), (":list.more", lambda: share(person) > before))
        for step in (-5, 5):
            for _ in range(20):
                person.main.action_split(step)
            await person.settle()
            most = share(person)
            assert 0 < most < before if step < 0 else most > before
    async with opened(story.folder, size) as person:
        assert share(person) == most, "it is kept"


async def test_tab_goes_from_heading_to_heading(person: Person) -> None:
    states = []
    for _ in range(3):
        await person.press("tab")
        states.append(person.preview[0].split()[-1])
    assert states == ["low", "aging", "pinned"]
    await person.press("j", "j", "shift+tab")
    assert person.record_list.rows.key(person.record_list.cursor_index - 1)[1].startswith("Fresh"), "to its own first"
    await person.press("shift+tab")
    assert person.preview[0].endswith("pinned")


async def test_a_record_is_wrapped_where_it_is_read_well(story: Story) -> None:
    async with opened(story.folder, (300, 80)) as person:
        await person.command("remember " + "a word and another " * 20)
        assert 60 < max(len(line) for line in person.preview[1:4]) <= 84


async def test_where_it_is_narrow_few_hits_leave_their_room_to_the_preview(narrow: Person) -> None:
    """Once one goes through them, not while one types."""
    shown, preview = narrow.main.query_one("#list"), narrow.main.pane
    await narrow.search("jenkins")
    half = shown.size.height
    await narrow.follow(("enter", lambda: shown.size.height == len(narrow.all_rows) < 4 < half < preview.size.height))
    await narrow.follow(("slash", lambda: shown.size.height == half), ("escape", lambda: shown.size.height == half))


# what can be followed


async def test_the_link_that_enter_opens_is_seen_also_where_the_preview_is_low(story: Story) -> None:
    """At 80×24 what a decision replaces is below the eight lines of the preview; one that is pages below is gone to
    before it is opened."""
    with story.open() as memory:
        long = "Forty thousand invoices were inserted in half a second, and each is read back at once. " * 7
        near = memory.decisions.decide("Sort by age", "oldest first", alternatives="abcdef", supersedes=3)
        commit = memory.decisions.decide("Keep one file", "SQLite", rationale=long, alternatives=["DuckDB"])
        memory.commits.link(story.shas["schema"], commit)
        why = "\n".join(f"Reason number {number}." for number in range(30))
        far = memory.decisions.decide("Sort by name", "a first", rationale=why, supersedes=near)
    async with opened(story.folder, NARROW) as person:
        await person.press("3")
        for number, link, words, at_once in (
            (1, "C#", "Implemented", True),
            (near, "D#3", "Replaces", True),
            (commit, "C#", "Implemented  C#", True),
            (far, f"D#{near}", "Replaces", False),
        ):
            await person.put_cursor(pack_key("decision", number))
            assert not person.sees(words)
            await person.press("enter")
            preview = person.main.pane.preview
            assert bool(preview.link) is at_once
            if not at_once:
                await person.press("enter")
            assert preview.link.startswith(link) and f" enter opens {preview.link} " in person.lines[-1]
            assert person.sees(words, f" D#{number}  decision") and "z zoom" in person.lines[-1]
            opens = preview.link
            await person.press("enter")
            assert person.record is not None and person.record.citation == opens
            await person.press("escape")


async def test_arrows_in_the_preview_say_what_enter_opens(person: Person) -> None:
    await person.press("3")
    await person.put_cursor(pack_key("decision", 1))
    await person.press("enter")
    preview = person.main.pane.preview

    def says() -> bool:
        return person.lines[-1].startswith(f" enter opens {preview.link} ")

    await person.follow(*((key, says) for key in ("right", "left", "right")))
    link = preview.link
    await person.follow(("enter", says, lambda: person.record.citation == link != preview.link))
    await person.follow(("backspace", lambda: person.record.citation == "D#1"))
    await person.follow((":preview.forward", lambda: person.record.citation == link))


# what is empty


async def test_empty_panes_teach_and_the_key_they_name_fills_them(bare: Path) -> None:
    async with opened(bare, NARROW) as person:
        for name, number in PANE_KEYS.items():
            await person.press(*([number] if person.place != name else []))
            if name != "ask":
                rows = [person.record_list.render_line(y).text for y in range(8)]
                empty = re.escape(PANES[name].empty).replace(r"\{", "{").replace(r"\}", "}")
                named = re.sub(r"\{[^}]+\}", "[^ ]+", empty)
                assert re.fullmatch(named, " ".join(" ".join(rows).split())), rows
            await person.press("G", "space", "f", "y", "minus", "U", "R", "L", "S", "F", "enter", "escape", "escape")
        with Memory.open(str(bare / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
            assert memory.history.steps() == []
        filled = {
            "2": ["the first fact"],
            "3": ["a first decision", "this", "that", "why not"],
            "5": ["the first moment"],
        }
        for number, answers in filled.items():
            await person.press(number, "a")
            await person.fill(*answers)
            assert any(answers[0] in row for row in person.rows), person.rows
            assert person.at == "list"
        assert {row.split()[1] for row in person.rows} == {"the", "decide", "remember"}
