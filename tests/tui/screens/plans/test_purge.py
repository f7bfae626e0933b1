"""Erasing in the application: a plan that shows all that goes and all that holds the same words."""

from pathlib import Path

import pytest
from support.screen import NARROW, TWO_SIZES, WIDE, Person, opened
from support.stories import Story, copy
from support.traces import traces

from store.base.errors import NotFound
from store.conversations.turns import NewTurn
from store.database.tombstones import is_purge_pending
from store.purge import cleanup

TEXT = "The blue zebrafish is the hint"


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


def is_gone(story: Story) -> bool:
    with story.open() as memory:
        try:
            return not memory.facts.get(story.facts["hint"])
        except NotFound:
            return True


def boxes(person: Person) -> dict[str, str]:
    """citation → its box."""
    return {row[7:20].split()[0]: row[1:4] for row in person.plan}


def told(person: Person) -> str:
    return " ".join(person.plan_preview)


async def to_the_plan(person: Person, what: object) -> None:
    await person.command(f"purge {what}")
    await person.until(lambda: person.planning)
    assert person.sees("ERASE", "This cannot be undone")


@TWO_SIZES
async def test_it_shows_all_and_does_what_is_chosen(story: Story, person: Person) -> None:
    """The record is there and cannot be left out; every place is scrubbed that is not left out; the rest is told."""
    hint, quote = f"F#{story.facts['hint']}", f"D#{story.decisions['quote']}"
    await person.follow(("g F", "ERASE F#2"), ("escape",))
    with story.open() as memory:
        assert memory.database.value("SELECT count(*) FROM history_row WHERE purged") == 0, "leaving changes nothing"
    person.main.say("said before", seconds=60)
    await to_the_plan(person, story.facts["hint"])
    assert not person.toasts, "it would cover what is asked"
    assert boxes(person) == {hint: "[x]", quote: "[x]", "T#1": "[x]"} and person.sees("3 of 3 chosen")
    assert TEXT in told(person) and "What stays is that something was here" in told(person)
    await person.press("space")
    assert "This record is erased." in person.toasts[-1]
    await person.press("a", "a")
    assert set(boxes(person).values()) == {"[x]"}
    await person.follow(
        ("G space", "2 of 3 chosen", lambda: boxes(person)["T#1"] == "[ ]"),
        ("enter", "Still holds the words: T#1", lambda: is_gone(story)),
    )
    with story.open() as memory:
        assert memory.decisions.get(story.decisions["quote"]).context == "for [purged], no?"
        assert memory.turns.get(1).text == f"Remember: {TEXT}"


@TWO_SIZES
async def test_a_word_is_looked_for_everywhere_and_typed_again(story: Story, person: Person) -> None:
    await to_the_plan(person, TEXT.split()[-1])
    assert list(boxes(person).values()).count("[x]") == len(boxes(person))
    await person.press("enter")
    assert person.at == "word" and person.sees("This cannot be undone. Type hint to go on.")
    await person.fill("xa")
    assert any("nothing was changed" in toast for toast in person.toasts) and person.planning and not is_gone(story)
    await person.press("enter", "escape", "enter")
    await person.fill(TEXT.split()[-1].upper())
    assert not person.planning and is_gone(story)


async def test_what_cannot_be_erased_is_said(person: Person) -> None:
    await person.follow(
        (":purge nonsuchword", "That search finds nothing that can be purged."),
        (":purge F#1 and more", "“and” is not a citation.", lambda: person.app.screen is person.main),
        (":show K#1",),
        ("F", "not for what is chosen."),
    )


async def test_the_proof_and_that_nothing_brings_it_back(story: Story, person: Person) -> None:
    await to_the_plan(person, story.facts["hint"])
    await person.follow(("enter", "bytes: not found."), ("escape u", "Undid", "!zebrafish"))
    assert traces(story.folder / ".memoranda", TEXT, "zebrafish") == []


@TWO_SIZES
async def test_a_file_of_the_persons_own_is_cut_unless_it_is_left_out(story: Story, size: tuple[int, int]) -> None:
    """What would be cut out of it is shown; left out, it stays; else it is cut, and what git keeps is said."""
    notes = story.folder / "MEMORY.md"
    notes.write_text(f"# Notes\n\nGood. {TEXT}, he said. Bye.\n")
    async with opened(story.folder, size) as person:
        await to_the_plan(person, story.facts["hint"])
        await person.press("G")
        assert f"{TEXT}, he said." in told(person) and "This cannot be undone" in told(person)
        assert boxes(person)["MEMORY.md#L3"] == "[x]" and person.sees("[x] ¶ MEMORY.md#L3", "your file")
        await person.follow(
            ("space", "3 of 4 chosen", lambda: "Chosen, this is cut out of your file" in told(person)),
            ("space", "4 of 4 chosen", lambda: "Git's history keeps" in told(person)),
            ("enter", "Cut out of your file MEMORY.md; git's"),
        )
    assert notes.read_text() == "# Notes\n\nGood. Bye.\n"


async def test_what_is_said_is_wrapped_for_another_size(story: Story, narrow: Person) -> None:
    """After a resize the screen shows the same words, none cut off."""
    said = "What stays is that something was here, and a keyed hash that knows the text again."
    await to_the_plan(narrow, story.facts["hint"])
    for size in (WIDE, NARROW, (60, 24), WIDE):
        await narrow.pilot.resize_terminal(*size)
        await narrow.settle()
        beside = [line.partition("│")[2] or line for line in narrow.lines]
        assert said in " ".join(" ".join(beside).replace("▐", "").split()), size


async def test_what_was_purged_is_asked_about_when_it_is_typed_again(story: Story) -> None:
    """Escape keeps it away, Enter keeps it: the person's own word counts."""
    with story.open() as memory:
        plan = memory.purge.plan([("fact", story.facts["hint"])])
        memory.purge.run_plan(plan, range(len(plan.places)))
    async with opened(story.folder) as person:
        for key, rows in (("escape", 10), ("enter", 11)):
            await person.follow((f"a > {TEXT}", "Keep it all the same?"), (key,))
            assert len(person.rows) == rows and ("Remembered F#" in "".join(person.toasts)) == (key == "enter")


async def test_a_purge_that_waits_is_finished_in_the_app(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process could not finish, the application does by itself."""
    with story.open() as memory:
        plan = memory.purge.plan([("fact", story.facts["hint"])])
        with monkeypatch.context() as patch:
            patch.setattr(cleanup, "clean_up_after_purge", lambda *arguments: cleanup.CleanupResult("a reader"))
            memory.purge.run_plan(plan, range(len(plan.places)))
        assert is_purge_pending(memory.database)
        async with opened(story.folder) as person:
            await person.until(lambda: not is_purge_pending(memory.database))
    assert traces(story.folder / ".memoranda", TEXT, "zebrafish") == []
