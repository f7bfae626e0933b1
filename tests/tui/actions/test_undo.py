"""What `u` asks before it undoes, and `U` on marked steps."""

from support.screen import Person, opened
from support.stories import Story

BEFORE = "2026-11-21T10:00:00.000Z"  # two hours before the application starts


def newest(story: Story) -> tuple[int, str]:
    with story.open() as memory:
        step = memory.history.steps(limit=1)[0]
        return step.seq, step.reason


async def test_a_change_of_this_sitting_is_undone_at_once(person: Person) -> None:
    await person.press("f", "u")
    assert person.toasts[-1].startswith("Undid: forget")
    await person.press("ctrl+r", "u")
    assert person.toasts[-1].startswith("Undid: forget"), "what was redone just now is of this sitting too"


async def test_a_yes_that_nothing_asked_for_confirms_nothing(story: Story, person: Person) -> None:
    """Of several records `u` asks; whoever is used to `u y` must not confirm a fact where it does not."""
    await person.press("f", "u", "y")
    assert person.toasts[-1] == "It was undone already, without a question. Confirm by the same key again."
    assert newest(story)[1].startswith("undo")
    await person.press("y")
    assert person.toasts[-1].startswith("Confirmed")


async def test_a_correction_is_one_record(person: Person) -> None:
    await person.command("correct F#1 no nuts at all")
    await person.press("u")
    assert person.toasts[-1].startswith("Undid: correct F#1")


async def test_an_older_change_is_named_and_asked_about(story: Story) -> None:
    with story.open(BEFORE) as memory:
        memory.facts.forget([1])
    seq, reason = newest(story)
    async with opened(story.folder) as person:
        await person.press("u")
        assert person.sees(f"Undo step {seq}, 2 h ago: {reason}? y/n"), "\n".join(person.lines)
        await person.press("n")
        assert newest(story) == (seq, reason), "nothing was changed"
        await person.press("u", "8")
        assert person.sees("? y/n", "nothing changes  4 shows all changes"), "another key is no answer"
        await person.press("4")
        assert person.at == "history" and newest(story) == (seq, reason)
        await person.press("u", "y")
        assert person.toasts[-1].startswith(f"Undid: {reason}")
        with story.open() as memory:
            assert memory.facts.get(1).status == "active"


async def test_a_change_of_many_records_is_counted_and_asked_about(person: Person) -> None:
    rows = len(person.rows)
    await person.press("space", "space", "space", "f")
    assert person.toasts[-1].startswith("Forgot 3 facts")
    await person.press("u")
    assert person.sees("(3 records)? y/n")
    await person.press("y")
    assert len(person.rows) == rows


async def test_another_change_meanwhile_is_not_undone_instead(story: Story) -> None:
    with story.open(BEFORE) as memory:
        memory.facts.forget([1])
    async with opened(story.folder) as person:
        await person.press("u")
        with story.open() as memory:
            memory.facts.forget([2])
        await person.press("y")
        assert person.toasts[-1].startswith("Another change was made meanwhile.")
        with story.open() as memory:
            assert [memory.facts.get(number).status for number in (1, 2)] == ["forgotten", "forgotten"]


async def test_one_that_is_marked_is_undone_not_the_one_under_the_cursor(story: Story) -> None:
    with story.open() as memory:
        first, second = (memory.facts.remember(text)[0] for text in ("one thing", "another thing"))
    async with opened(story.folder) as person:
        await person.press("4")
        assert person.sees("space mark")
        await person.press("space", "U")  # the cursor went on
        assert person.main.engine is not None
        assert [fact.id for fact in person.main.engine.present.facts.get_many([first, second])] == [first]


async def test_one_that_is_marked_is_corrected_not_the_one_under_the_cursor(story: Story, person: Person) -> None:
    await person.put_cursor(story.facts["jenkins"])
    await person.press("space", "c", "ctrl+u")
    await person.paste("Uses Buildkite")
    await person.press("enter")
    assert person.main.engine is not None
    fact = person.main.engine.present.facts.get(story.facts["jenkins"])
    assert fact.status == "superseded"


async def test_the_marked_steps_are_undone(story: Story) -> None:
    with story.open() as memory:
        made = [memory.facts.remember(text)[0] for text in ("one thing", "another thing", "a third thing")]
        first = memory.history.steps(limit=1)[0].seq - 2
        memory.facts.pin(made[2:], True)  # stands in the way of the third
    async with opened(story.folder) as person:
        await person.press("4", "j")  # below the pin
        await person.press("space", "space", "space")
        await person.press("U")
        assert person.toasts[-1].startswith(f"Undid 2 steps: {first + 1}, {first}, u to undo; 1 not: Step")
        with story.open() as memory:
            assert [fact.fact for fact in memory.facts.get_many(made)] == ["a third thing"]
        await person.press("u")
        assert person.sees("Redo the 2 steps that you undid together? y/n")
        before = newest(story)
        await person.press("ctrl+r")
        assert newest(story) == before, "nothing else is changed while a question waits"
        await person.press("y")
        assert person.toasts[-1] == f"Redid 2 steps: {first}, {first + 1}"
        with story.open() as memory:
            assert len(list(memory.facts.get_many(made))) == 3
        await person.press("g", "space", "space", "U")
        assert person.toasts[-1].startswith("Undid 2 steps: ")
        await person.press("ctrl+r")
        assert person.toasts[-1].startswith("Redid 2 steps: "), "as many as were undone together"
        with story.open() as memory:
            assert len(list(memory.facts.get_many(made))) == 3


async def test_after_another_change_undo_is_of_that_one(story: Story) -> None:
    with story.open() as memory:
        made = [memory.facts.remember(text)[0] for text in ("one thing", "another thing")]
    async with opened(story.folder) as person:
        await person.press("4", "space", "space", "U")
        assert "Undid 2 steps" in person.toasts[-1]
        await person.press("1", "p", "u")
        assert person.toasts[-1].startswith("Undid: pin F#")
        with story.open() as memory:
            assert not memory.facts.get_many(made), "both are undone still"


async def test_a_new_checkpoint_is_under_the_cursor_where_it_is_looked_for(person: Person) -> None:
    await person.press("3", "4", "b")
    await person.paste("release")
    await person.press("enter", "3")
    await person.until(lambda: person.record is not None and person.record.citation == "K#2")
