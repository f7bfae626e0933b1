"""What `u` undoes, at once and without a question, and `U` on steps of the history."""

from support.screen import opened
from support.stories import Story

from store.base.vocabulary import pack_key
from tui.panes.records import step_key

BEFORE = "2026-11-21T10:00:00.000Z"  # two hours before the application starts


async def test_u_undoes_the_newest_change_at_once(story: Story) -> None:
    """Of this sitting or before, of one record or many; and says which it was, how old, and what redoes it."""
    with story.open(BEFORE) as memory:
        memory.facts.forget([1])
    async with opened(story.folder) as person:
        rows = person.rows
        await person.hears(("f u", "Undid: forget F#2; ^r redoes it"))
        assert person.rows == rows
        await person.hears(("ctrl+r u", "Undid: forget F#2"))  # what was redone just now is of this sitting too
        await person.hears(("space space space f", "Forgot 3 facts"), ("u", "Undid: forget"))
        assert person.rows == rows
        await person.hears((":correct F#6 no nuts at all", ""), ("u", "Undid: correct F#6"))
        await person.hears(("u", "Undid: forget F#1 (2 h ago); ^r redoes it"))  # an older one
        with story.open() as memory:
            assert memory.facts.get(1).status == "active"
            memory.facts.forget([2])  # from another door, as an agent of the person's
            memory.facts.remember("an agent was here", actor="agent")
        await person.hears(("u", "Undid: forget F#2"))  # the newest of the person's own, not the agent's
        with story.open() as memory:
            assert [memory.facts.get(number).status for number in (2, 16)] == ["active", "active"]


async def test_one_that_is_marked_is_meant_not_the_one_under_the_cursor(story: Story) -> None:
    with story.open() as memory:
        first, second = (memory.facts.remember(text)[0] for text in ("one thing", "another thing"))
    async with opened(story.folder) as person:
        await person.put_cursor(pack_key("fact", story.facts["jenkins"]))
        await person.press("space", "c")
        await person.fill("Uses Buildkite")
        with story.open() as memory:
            assert memory.facts.get(story.facts["jenkins"]).status == "superseded"
        await person.press("u", "5")
        with story.open() as memory:
            steps = {step.reason: step.seq for step in memory.history.steps()}
        await person.put_cursor(step_key(steps[f"remember F#{second}"]))
        await person.press("space")  # the cursor goes on
        await person.plan_of("U")
        await person.press("enter")
        with story.open() as memory:
            assert [fact.id for fact in memory.facts.get_many([first, second])] == [first]


async def test_the_marked_steps_are_undone_as_one_step(story: Story) -> None:
    with story.open() as memory:
        made = [memory.facts.remember(text)[0] for text in ("one thing", "another thing", "a third thing")]
        memory.facts.pin(made[2:], True)  # stands in the way of the third

    def texts() -> list[str]:
        with story.open() as memory:
            return [fact.fact for fact in memory.facts.get_many(made)]

    async with opened(story.folder) as person:
        await person.plan_of("5", "j", "space", "space", "space", "U")  # below the pin
        assert person.sees("UNDO 3 steps", "2 of 3 chosen", "[!] 1 changed since: kept unless chosen")
        await person.hears(("enter", "2 records changed; u undoes it"))
        assert texts() == ["a third thing"]
        await person.press("u")
        assert len(texts()) == 3
        await person.press("ctrl+r")
        assert person.toasts[-1].startswith("Redid: undo ") and texts() == ["a third thing"]


async def test_all_of_this_sitting_is_undone_as_one_step(story: Story) -> None:
    """From a record, whatever it is; what was undone already is not done again, and nothing from before."""
    with story.open(BEFORE) as memory:
        memory.facts.forget([1])
    async with opened(story.folder) as person:
        await person.hears(("U", "You changed nothing in this sitting. 5 lists all."))
        rows = person.rows
        for key, said in (("f", "Forgot"), ("u", "Undid"), ("f", "Forgot"), ("p", "Pinned"), ("j f", "Forgot")):
            await person.hears((key, said))
        await person.plan_of("U")
        assert person.sees("UNDO 3 steps", "3 of 3 chosen")
        await person.hears(("enter", "3 records changed; u undoes it"))
        assert [row[1:] for row in person.rows] == [row[1:] for row in rows]
        with story.open() as memory:
            number, _ = memory.facts.remember("an agent was here", actor="mcp:codex")
        await person.hears(("u", "Undid: undo "))
        await person.until(lambda: any("an agent was here" in row for row in person.rows))
        await person.put_cursor(pack_key("fact", number))
        await person.press("U")
        assert person.sees("everything that mcp:codex wrote", "your 3 changes of this sitting")
