"""The record under the cursor stays under it, whatever changes around it."""

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from store.base.vocabulary import pack_key
from tui.workers.engine import first_changed_key


def line_of_cursor(person: Person) -> int:
    """The line of the list on which the cursor's row begins."""
    found = person.main.list_of(person.main.current_list)
    line = found.line_of(found.cursor_index)
    assert line is not None
    return line


async def test_a_corrected_fact_stays_in_its_place(story: Story, person: Person) -> None:
    await person.put_cursor(story.facts["kubernetes"])
    before, line = person.rows, line_of_cursor(person)
    await person.press("c")
    await person.paste(" or the one after")
    await person.press("enter")
    assert line_of_cursor(person) == line
    assert " ".join(person.preview[1:3]) == "May move to Kubernetes next year or the one after"
    assert person.rows[3].startswith("▸• May move")
    assert [row[3:] for row in person.rows if "Kubernetes" not in row] == [
        row[3:] for row in before if "Kubernetes" not in row
    ]


async def test_a_confirmed_fact_stays_and_the_cursor_goes_on(person: Person) -> None:
    await person.press("y")
    assert person.rows[0].startswith(" • Releases") and person.rows[1].startswith("▸▲ Uses Jenkins")
    await person.press("y")
    assert person.rows[1].startswith(" • Uses Jenkins") and person.rows[2].startswith("▸▽")
    await person.press("s", "s", "s", "s", "s")
    assert person.rows[0][1] == "▽", "sorted again they stand where they belong"


@pytest.mark.parametrize("key", ["p", "minus"])
async def test_pinning_and_muting_move_nothing(key: str, person: Person) -> None:
    await person.press("j", "j")
    record, line = person.record, line_of_cursor(person)
    await person.press(key)
    assert person.record is not None and record is not None and person.record.citation == record.citation
    assert line_of_cursor(person) == line


async def test_an_accepted_proposal_gives_way_to_the_next(story: Story) -> None:
    with story.open(door="mcp") as memory:
        for text in ("The importer is slow", "Invoices have a QR code", "The tax office wants XML"):
            memory.inbox.propose("add", {"fact": text}, origin="mcp:codex")
    async with opened(story.folder) as person:
        await person.press("6", "j")
        rows = person._rows("inbox")
        await person.press("y")
        after = person._rows("inbox")
        assert after[1][1:] == rows[2][1:] and after[1].startswith("▸")


async def test_filters_and_other_lists_keep_or_begin(story: Story, person: Person) -> None:
    """What is looked for is looked for in one list."""
    # a filter and its end keep the record
    await person.put_cursor(story.facts["jenkins"])
    await person.press("d")
    assert person.record is not None and person.record.citation == "F#6"
    await person.press("escape")
    assert person.record.citation == "F#6" and len(person.rows) == 10
    await person.start_again()
    # The key of the first fact, 16, is also the number of a step.
    await person.put_cursor(1)
    await person.press("f", "u", "ctrl+r", "4")
    assert person.main.list_of("history").cursor_index == 0 and person.history[0].startswith("▸")
    await person.start_again()
    # a filter without the record begins at the first row
    await person.press("4", "j", "j", "d", "d")
    found = person.main.list_of("history")
    assert person.main.view.actor is not None and person.history[0].startswith("▸")
    assert found.cursor_index == 0 and person.sees(f"step {found.cursor_key}")


async def test_every_size_keeps_it(story: Story, person: Person) -> None:
    await person.put_cursor(story.facts["model"])
    for size in (NARROW, HUGE, (60, 15), WIDE):
        await person.pilot.resize_terminal(*size)
        await person.settle()
        assert person.record is not None and person.record.citation == f"F#{story.facts['model']}"
        assert line_of_cursor(person) >= 0


async def test_what_an_agent_learns_moves_it_nowhere(story: Story, person: Person) -> None:
    await person.put_cursor(story.facts["kubernetes"])
    record, line = person.record, line_of_cursor(person)
    with story.open(door="mcp") as memory:
        memory.facts.remember("an agent was here", actor="mcp:codex")
        memory.facts.confirm([story.facts["jenkins"]])
    await person.until(lambda: any("an agent was here" in row for row in person.rows))
    assert person.record == record and line_of_cursor(person) == line
    assert person.rows[1].startswith(" • Uses Jenkins"), "what another program confirmed is shown in its place"


@pytest.mark.parametrize(
    ("line", "reasons"), [("tag db", {"tag"}), ("forget", {"forget"}), ("pin", {"pin"}), ("confirm", {"confirm"})]
)
async def test_a_bare_command_is_about_what_is_marked(
    story: Story, line: str, reasons: set[str], person: Person
) -> None:
    facts = [story.facts["kubernetes"], story.facts["model"]]
    await person.put_cursor(facts[0])
    await person.command(line)
    with story.open() as memory:
        step = memory.history.steps(limit=1)[0]
        assert step.reason.split()[0] in reasons and f"F#{facts[0]}" in step.reason
    await person.command("undo")
    for fact in facts:
        await person.put_cursor(fact)
        await person.press("space")
    await person.command(line)
    with story.open() as memory:
        reason = memory.history.steps(limit=1)[0].reason
        assert all(f"F#{fact}" in reason for fact in facts), reason


async def test_a_command_with_words_of_its_own_is_refused_as_before(story: Story, person: Person) -> None:
    before = person.said
    await person.command("forget the old office")
    assert person.said == before + 1
    with story.open() as memory:
        assert not memory.history.steps(limit=1)[0].reason.startswith("forget")


def test_of_a_step_that_is_read_again_the_record_that_holds_is_selected(story: Story) -> None:
    with story.open() as memory:
        new = pack_key("fact", memory.facts.correct(9, "Releases are cut on Fridays"))
        step = memory.history.steps(limit=1)[0]
        assert first_changed_key(step, memory) == new
        memory.history.undo()
        assert first_changed_key(step, memory) == pack_key("fact", 9)
        memory.history.redo()
        assert first_changed_key(step, memory) == new


async def test_arrows_in_the_preview_say_what_enter_opens(person: Person) -> None:
    await person.press("2")
    await person.put_cursor(pack_key("decision", 1), "timeline")
    await person.press("enter")
    pane = person.main.pane.preview
    assert len(pane.citations) > 1
    for key in ("right", "left", "right"):
        await person.press(key)
        assert person.lines[-1].startswith(f" enter opens {pane.link} ")
    link = pane.link
    await person.press("enter")
    assert person.record is not None and person.record.citation == link
    assert pane.link != link and person.lines[-1].startswith(f" enter opens {pane.link} ")


async def test_where_it_is_narrow_enter_opens_a_link_further_below_at_once(narrow: Person) -> None:
    await narrow.press("2")
    await narrow.put_cursor(pack_key("decision", 1), "timeline")
    await narrow.press("enter")
    link = narrow.main.pane.preview.link
    assert link and narrow.lines[-1].startswith(f" enter opens {link} ")
    await narrow.press("enter")
    assert narrow.record is not None and narrow.record.citation == link


async def test_a_restore_that_is_taken_back_leaves_the_cursor_where_it_was(story: Story) -> None:
    """Meanwhile the decision was gone, with others above it."""
    with story.open() as memory:
        new = pack_key("decision", memory.decisions.decide("Print by the night", "After eight"))
        memory.decisions.decide("Print in colour", "Only logos")
    async with opened(story.folder) as person:
        await person.press("2")
        await person.put_cursor(new, "timeline")
        await person.plan_of("3", "R")
        await person.press("enter")
        await person.press("2")
        assert person.main.list_of("timeline").cursor_key != new
        await person.press("3", "u", "y", "2")
        assert person.main.list_of("timeline").cursor_key == new
