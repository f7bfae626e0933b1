"""Purging in the application: asked once, on a screen that shows all that goes and all that holds the same words."""

from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, Person, _shown, _texts, opened
from support.stories import Story, copy
from support.traces import traces

from store.base.errors import NotFound
from store.conversations.turns import NewTurn
from tui.screens.plans import PurgeScreen
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

TEXT = "The blue zebrafish is the hint"
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """The memory, with a fact that is to go, quoted by a decision and a turn."""
    story = copy(tmp_path / "billing-api")
    with story.open() as memory:
        story.facts["hint"], _ = memory.facts.remember(TEXT, pinned=True)
        story.decisions["quote"] = memory.decisions.decide(
            "Change the hint", "soon", context=f"for {TEXT.lower()}, no?"
        )
        memory.turns.add_turns("s", [NewTurn("user", f"Remember: {TEXT}")])
    return story


def boxes(person: Person) -> dict[str, str]:
    """citation → its box."""
    rows = _shown(person.app.screen.query_one("#purge", RecordList))
    return {row[7:20].split()[0]: row[1:4] for row in rows}


async def to_the_screen(person: Person, number: int) -> PurgeScreen:
    await person.until(lambda: person.rows)
    await person.press(":")
    await person.paste(f"purge {number}")
    await person.press("enter")
    await person.until(lambda: isinstance(person.app.screen, PurgeScreen) and person.sees("ERASE"))
    screen = person.app.screen
    assert isinstance(screen, PurgeScreen)
    return screen


@SIZES
async def test_it_shows_all_and_does_what_is_chosen(story: Story, person: Person):
    """The record is there and cannot be left out; every place is scrubbed that is not left out; the rest is told."""
    hint, quote = f"F#{story.facts['hint']}", f"D#{story.decisions['quote']}"
    person.main.say("said before", timeout=60)
    await to_the_screen(person, story.facts["hint"])
    assert not person.toasts, "it would cover what is asked"
    assert person.sees("This cannot be undone", "1 record to erase", "in 2 of 2 other places too")
    assert boxes(person) == {hint: "[x]", quote: "[x]", "T#1": "[x]"}
    told = " ".join(_texts(person.app.screen.query_one("#purge-preview", Preview)))
    assert TEXT in told and "What stays is that something was here" in told
    await person.press("space")
    await person.until(lambda: any("This record is erased." in toast for toast in person.toasts))
    await person.press("G", "space")
    await person.until(lambda: boxes(person)["T#1"] == "[ ]" and person.sees("1 of 2 other", "1 keeps them"))
    await person.press("enter")
    await person.until(lambda: not isinstance(person.app.screen, PurgeScreen))
    await person.until(lambda: person.sees("Still holds the words: T#1"))
    with story.open() as memory:
        with pytest.raises(NotFound):
            memory.facts.get(story.facts["hint"])
        assert memory.decisions.get(story.decisions["quote"]).context == "for [purged], no?"
        assert memory.turns.get(1).text == f"Remember: {TEXT}"


@SIZES
async def test_a_word_is_looked_for_everywhere_and_typed_again(story: Story, person: Person):
    """`:purge WORD` shows every place; the word is typed again, and esc goes to the list first."""
    await person.press(":")
    await person.paste(f"purge {TEXT.split()[-1]}")
    await person.press("enter")
    await person.until(lambda: person.at == "line" and person.sees("again to erase it"))
    assert person.sees("ERASE") and list(boxes(person).values()).count("[x]") == len(boxes(person))
    await person.press(*"xa", "space", "enter")
    await person.until(lambda: any("nothing was erased" in toast for toast in person.toasts))
    assert isinstance(person.app.screen, PurgeScreen) and person.at == "purge"
    await person.press("enter", "escape", "enter")
    await person.until(lambda: person.at == "line")
    await person.paste(TEXT.split()[-1].upper())
    await person.press("enter")
    await person.until(lambda: not isinstance(person.app.screen, PurgeScreen))
    with story.open() as memory, pytest.raises(NotFound):
        memory.facts.get(story.facts["hint"])


async def test_a_word_that_nothing_holds_is_said_and_the_application_stays(person: Person):
    await person.command("purge nonsuchword")
    await person.until(lambda: any("That search finds nothing that can be purged." in toast for toast in person.toasts))
    await person.command("purge F#1 and more")
    await person.until(lambda: any("“and” is not a citation." in toast for toast in person.toasts))
    assert person.app.screen is person.main


async def test_all_places_at_once_and_the_proof(story: Story, person: Person):
    await to_the_screen(person, story.facts["hint"])
    await person.press("a")
    await person.until(lambda: person.sees("in 0 of 2 other places too", "2 keep them"))
    await person.press("a")
    await person.until(lambda: person.sees("in 2 of 2 other places too"))
    await person.press("enter")
    await person.until(lambda: person.sees("bytes: not found."))
    await person.press("escape", "u")
    await person.until(lambda: any("Undid" in toast for toast in person.toasts))
    assert not person.sees("zebrafish")
    assert traces(story.folder / ".memoranda", TEXT, "zebrafish") == []


@SIZES
async def test_a_file_of_the_persons_own_is_cut_unless_it_is_left_out(story: Story, size):
    """What would be cut out of it is shown; left out, it stays; else it is cut, and what git keeps is said."""
    notes = story.folder / "MEMORY.md"
    notes.write_text(f"# Notes\n\nGood. {TEXT}, he said. Bye.\n")
    async with opened(story.folder, size) as person:
        await to_the_screen(person, story.facts["hint"])
        await person.until(lambda: person.sees("in 3 of 3 other places too"))
        await person.press("G")
        told = person.app.screen.query_one("#purge-preview", Preview)
        await person.until(lambda: f"{TEXT}, he said." in " ".join(_texts(told)))
        assert boxes(person)["MEMORY.md#L3"] == "[x]" and person.sees("[x] ¶ MEMORY.md#L3", "your file")
        assert "This cannot be undone" in " ".join(_texts(told))
        await person.press("space")
        await person.until(lambda: person.sees("in 2 of 3 other places too", "1 keeps them"))
        await person.until(lambda: "Chosen, this is cut out of your file" in " ".join(_texts(told)))
        await person.press("space")
        await person.until(lambda: person.sees("in 3 of 3 other places too"))
        assert "Git's history keeps" in " ".join(_texts(told))
        await person.press("enter")
        await person.until(lambda: not isinstance(person.app.screen, PurgeScreen))
        await person.until(lambda: person.sees("Cut out of your file MEMORY.md; git's"))
    assert notes.read_text() == "# Notes\n\nGood. Bye.\n"


async def test_leaving_changes_nothing(story: Story, person: Person):
    """From the list, by its key, for the record under the cursor."""
    await person.until(lambda: person.rows)
    await person.press("g", "F")
    await person.until(lambda: isinstance(person.app.screen, PurgeScreen) and person.sees("ERASE F#"))
    await person.press("escape")
    await person.until(lambda: not isinstance(person.app.screen, PurgeScreen))
    with story.open() as memory:
        assert memory.database.value("SELECT count(*) FROM history_row WHERE purged") == 0


async def test_what_is_said_is_wrapped_for_another_size(story: Story, narrow: Person):
    """After a resize the screen shows the same words, none cut off."""
    said = "What stays is that something was here, and a keyed hash that knows the text again."
    await to_the_screen(narrow, story.facts["hint"])
    for size in (WIDE, NARROW, (60, 24), WIDE):
        await narrow.pilot.resize_terminal(*size)
        await narrow.settle()
        beside = [line.partition("│")[2] or line for line in narrow.lines]
        seen = " ".join(" ".join(beside).replace("▐", "").split())
        assert said in seen, size


async def test_the_journal_says_why_not(person: Person):
    await person.press("3", "F")
    await person.until(
        lambda: any("turns, events, summaries and proposals can be purged." in toast for toast in person.toasts)
    )


async def test_what_was_purged_is_asked_about_when_it_is_typed_again(story: Story):
    """n keeps it away, y keeps it: the person's own word counts."""
    with story.open() as memory:
        plan = memory.purge.plan([("fact", story.facts["hint"])])
        memory.purge.run_plan(plan, range(len(plan.places)))
        before = memory.facts.count_by_state(memory.now)["active"]
    async with opened(story.folder, WIDE) as person:
        await person.until(lambda: person.rows)
        for answer, after in (("n", before), ("y", before + 1)):
            await person.press("1", "a")
            await person.paste(TEXT)
            await person.press("enter")
            await person.until(lambda: person.sees("Keep it all the same? y/n"))
            await person.press(answer)
            said = "Nothing was changed." if answer == "n" else "Remembered F#"
            await person.until(lambda said=said: any(said in toast for toast in person.toasts))
            with story.open() as memory:
                assert memory.facts.count_by_state(memory.now)["active"] == after


async def test_a_purge_that_waits_is_finished_while_the_app_is_open(story: Story):
    """What another process could not finish, the application does by itself."""
    from store.database.tombstones import is_purge_pending
    from store.purge import cleanup as finalize

    real = finalize.clean_up_after_purge
    with story.open() as memory:
        plan = memory.purge.plan([("fact", story.facts["hint"])])
        try:
            finalize.clean_up_after_purge = lambda *arguments: finalize.CleanupResult("a reader")
            memory.purge.run_plan(plan, range(len(plan.places)))
        finally:
            finalize.clean_up_after_purge = real
        assert is_purge_pending(memory.database)
        async with opened(story.folder, WIDE) as person:
            await person.until(lambda: not is_purge_pending(memory.database))
    assert traces(story.folder / ".memoranda", TEXT, "zebrafish") == []
