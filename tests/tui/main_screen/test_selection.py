"""The record under the cursor stays under it, whatever changes around it."""

import pytest
from support.screen import Person, opened
from support.stories import Story

from store.base.vocabulary import pack_key
from tui.actions.history import first_changed_key
from tui.panes.records import step_key


def line_of_cursor(person: Person) -> int:
    """The line of the list on which the cursor's row begins."""
    line = person.record_list.line_of(person.record_list.cursor_index)
    assert line is not None
    return line


def cited(person: Person) -> str:
    assert person.record is not None
    return str(person.record.citation)


async def test_what_is_done_to_a_fact_moves_nothing(story: Story, person: Person) -> None:
    """Corrected, pinned or muted it keeps its place; confirmed too, and the cursor goes on."""
    await person.press("y")
    assert person.rows[0].startswith(" • Releases") and person.rows[1].startswith("▸▲ Uses Jenkins")
    await person.press("y")
    assert person.rows[1].startswith(" • Uses Jenkins") and person.rows[2].startswith("▸▽")
    await person.put_cursor(pack_key("fact", story.facts["kubernetes"]))
    before, line = person.rows, line_of_cursor(person)
    await person.press("c")
    await person.paste(" or the one after")
    await person.press("enter")
    assert line_of_cursor(person) == line and person.rows[3].startswith("▸• May move")
    assert " ".join(person.preview[1:3]) == "May move to Kubernetes next year or the one after"
    assert [row[3:] for row in person.rows if "Kubernetes" not in row] == [
        row[3:] for row in before if "Kubernetes" not in row
    ]
    await person.press("j")
    for key in ("p", "minus"):
        record, line = cited(person), line_of_cursor(person)
        await person.press(key)
        assert (cited(person), line_of_cursor(person)) == (record, line), key
    await person.press("o")
    await person.choose("projects domain")
    await person.press("escape")
    assert person.rows[0][1] == "▽", "read from nothing they stand where they belong"


async def test_filters_and_other_lists_keep_or_begin(story: Story, person: Person) -> None:
    """What is looked for is looked for in one list; a filter without the record begins at the first row."""
    first = lambda: person.rows[0].startswith("▸")  # noqa: E731
    await person.put_cursor(pack_key("fact", story.facts["jenkins"]))
    await person.follow(("2", lambda: cited(person) == "F#6"), ("escape", lambda: cited(person) == "F#6"))
    await person.put_cursor(pack_key("fact", story.facts["nuts"]))
    await person.follow(("2", first), ("escape",))
    await person.put_cursor(pack_key("fact", 1))  # its key, 16, is also the number of a step
    await person.follow(("f u ctrl+r 5", first), ("j j 5", first, lambda: cited(person) == "K#1"))


async def test_what_others_write_moves_it_nowhere(story: Story, person: Person) -> None:
    await person.put_cursor(pack_key("fact", story.facts["kubernetes"]))
    record, line = person.record, line_of_cursor(person)
    with story.open(door="mcp") as memory:
        memory.facts.remember("an agent was here", actor="mcp:codex")
        memory.facts.confirm([story.facts["jenkins"]])
    await person.until(lambda: any("an agent was here" in row for row in person.rows))
    assert person.record == record and line_of_cursor(person) == line
    assert person.rows[1].startswith(" • Uses Jenkins"), "what another program confirmed is shown in its place"
    await person.press("5", "j", "j")
    record = person.record
    with story.open(door="mcp") as memory:
        memory.facts.remember("an agent was here again", actor="mcp:codex")
    await person.until(lambda: "here again" in person.rows[0])
    assert person.record == record and person.rows[3].startswith("▸") and person.record_list.scroll_offset.y == 0


@pytest.mark.parametrize("line", ["tag db", "forget", "pin", "confirm"])
async def test_a_bare_command_is_about_what_is_marked(story: Story, line: str, person: Person) -> None:
    facts = [story.facts["kubernetes"], story.facts["model"]]

    def newest(*numbers: int) -> str:
        with story.open() as memory:
            reason = memory.history.steps(limit=1)[0].reason
        assert reason.startswith(line.split()[0]) and all(f"F#{number}" in reason for number in numbers), reason
        return reason

    await person.put_cursor(pack_key("fact", facts[0]))
    await person.follow((f":{line}", lambda: newest(facts[0])), (":undo",))
    for fact in facts:
        await person.put_cursor(pack_key("fact", fact))
        await person.press("space")
    await person.command(line)
    step = newest(*facts)
    await person.command("forget the old office")  # words of its own, which no record has
    assert newest() == step


def test_of_a_step_that_is_read_again_the_record_that_holds_is_selected(story: Story) -> None:
    with story.open() as memory:
        new = pack_key("fact", memory.facts.correct(9, "Releases are cut on Fridays"))
        step = memory.history.steps(limit=1)[0]
        assert first_changed_key(step, memory) == new
        memory.history.undo()
        assert first_changed_key(step, memory) == pack_key("fact", 9)
        memory.history.redo()
        assert first_changed_key(step, memory) == new


async def test_an_undo_leaves_the_cursor_on_its_step(story: Story) -> None:
    """The key of the record that was undone is no number of a step; of a restore too."""
    with story.open() as memory:
        memory.facts.forget([1])
        assert memory.history.steps(limit=1)[0].seq > 16, "there is a step with the number of the fact's key"
    async with opened(story.folder) as person:
        await person.press("5")
        await person.put_cursor(step_key(3))
        await person.press("u")
        assert person.record_list.cursor_key == step_key(3)
        await person.command("restore K#1")
        await person.until(lambda: person.planning)
        await person.press("enter", "u")
        assert person.record_list.cursor_key == step_key(3) and "Undid: restore K#1" in person.toasts[-1]
