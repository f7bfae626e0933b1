"""Global facts in the application: marked in the list and in a search, changed, moved from the box, and undone."""

import pytest
from conftest import Clock
from support.screen import NARROW, Person, opened
from support.stories import Story

from store.base.location import Location, personal_memory_path
from store.base.models import GlobalFact
from store.base.vocabulary import pack_key
from store.memory import Memory
from store.purge.proof import find_traces
from store.upkeep.erasing import plan_in_both

MORNING = "2026-11-21T10:00:00.000Z"
FACT, SHARED = pack_key("fact", 2), pack_key("global", 1)
SIZES = pytest.mark.parametrize("size", [NARROW, (160, 45)])


@pytest.fixture
def shared(story: Story) -> Story:
    """The story, and global facts of the person's."""
    with story.open(MORNING) as memory:
        memory.globals.remember("I write Rioplatense Spanish")
        memory.globals.remember("tabs, not spaces")
    return story


def status(story: Story, number: int) -> str:
    with story.open() as memory:
        return memory.facts.get(number).status


async def test_a_fact_is_made_global_and_back_and_either_is_undone(story: Story, person: Person) -> None:
    await person.put_cursor(FACT)
    text = person.record.fact  # type: ignore[union-attr]
    await person.hears((":fact.move", "Moved F#2 to G#1, seen in every project, u to undo"))
    assert isinstance(person.record, GlobalFact) and (person.record.citation, person.record.fact) == ("G#1", text)
    assert person.preview[0].startswith("G#1  global fact")
    await person.press("u")
    assert person.toasts[-1] == "Undid: move F#2 G#1; ^r redoes it" and status(story, 2) == "active"
    await person.press("ctrl+r")
    assert status(story, 2) == "forgotten"
    await person.put_cursor(SHARED)
    await person.hears((":fact.move", "Moved G#1 to F#15, of this project alone, u to undo"))
    with story.open() as memory:
        assert list(memory.globals.order(memory.now)) == []
    await person.command("fact.move")
    assert status(story, 15) == "forgotten"
    await person.press("5")
    await person.plan_of("g", "U")
    await person.press("enter")
    assert status(story, 15) == "active", "a step of two files is undone in the history too"
    await person.press("ctrl+r")
    with story.open() as memory:
        number = memory.history.next_undo()
    await person.follow((f":undo {number}", lambda: person.planning), ("enter", lambda: status(story, 15) == "active"))


async def test_what_changed_meanwhile_is_not_moved(story: Story, person: Person) -> None:
    await person.put_cursor(FACT)
    with story.open() as memory:
        memory.facts.pin([2], not memory.facts.get(2).pinned)
    await person.command("fact.move")
    assert person.toasts[-1].startswith("F#2 changed since it was shown.") and status(story, 2) == "active"


@SIZES
async def test_a_global_fact_is_marked_by_a_word(shared: Story, size: tuple[int, int]) -> None:
    async with opened(shared.folder, size) as person:
        await person.put_cursor(SHARED)
        (row,) = [row for row in person.rows if "Rioplatense" in row]
        assert "global" in row.split("Spanish")[1]
        assert not any("global" in row for row in person.rows if "Rioplatense" not in row and "tabs" not in row)
        await person.search("Rioplatense")
        assert "global · fresh · G#1" in person.rows[0]


async def test_it_is_changed_in_the_personal_memory_and_undone_from_here(shared: Story) -> None:
    async with opened(shared.folder, clock=Clock()) as person:
        for keys, said, undone in (
            ("y", "Confirmed G#1", "confirm G#1"),
            ("p", "Pinned G#1", "pin G#1"),
            ("minus", "Muted G#1", "mute G#1"),
            ("number_sign ctrl+u t e a enter", "Tagged G#1: tea", "tag G#1"),
            ("c t o o enter", "G#3 replaces G#1", "correct G#1"),
            ("f", "Forgot G#1", "forget G#1"),
        ):
            await person.put_cursor(SHARED)
            await person.hears((keys, f"{said}, in every project, u to undo"))
            assert keys[0] != "c" or any("Spanishtoo" in row for row in person.rows), "it takes its place"
            await person.hears(("u", f"Undid: {undone}; ^r redoes it"))
        await person.hears(("ctrl+r", "Redid: forget G#1; u undoes it"))
        with shared.open() as memory:
            assert memory.globals.order(memory.now).tolist() == [2]
            assert [step for step in memory.history.steps() if step.door == "app"] == []


async def test_undo_takes_the_newer_of_two(shared: Story) -> None:
    """Of a change here and one of a global fact, made one after the other; and none of an earlier sitting there."""
    with shared.open("2026-11-21T11:00:00.000Z") as memory:
        memory.facts.pin([1], False)
    async with opened(shared.folder, clock=Clock()) as person:
        for key in (SHARED, FACT):
            await person.put_cursor(key)
            await person.press("p")
        for undone in ("pin F#2", "pin G#1", "unpin F#1"):
            await person.press("u")
            assert person.toasts[-1].startswith(f"Undid: {undone}"), "what was made in another sitting there stays"
        with shared.open() as memory:
            assert len(memory.globals.order(memory.now)) == 2


@SIZES
async def test_it_is_purged_from_here_with_the_fact_that_it_was(story: Story, size: tuple[int, int]) -> None:
    """The plan shows what goes of both files, and what another project's history keeps."""
    text = "The blue zebrafish is the hint"
    with story.open(MORNING) as memory:
        number, _ = memory.facts.remember(text)
        assert memory.moves.move_to_global(number) == 1
        memory.decisions.decide("Change the hint", "soon", context=f"for {text.lower()}, no?")
        memory.globals.remember("Marta prefers short answers")
    with Memory.open(str(story.folder.parent / "other" / ".memoranda" / "memory.db")) as memory:
        memory.moves.move_to_project(1), memory.moves.move_to_global(1)
    async with opened(story.folder, size) as person:
        await person.put_cursor(pack_key("global", 3))
        await person.plan_of("F")
        assert person.sees("ERASE", "G#1", "G#3", f"F#{number}", "of another project"), "with what says the same"
        await person.press("enter")
        await person.until(lambda: bool(person.toasts) and "Erased" in person.toasts[-1])
        await person.until(lambda: person.sees("Another project's history holds the words too"))
    with story.open() as memory:
        for one in (memory, memory.require_personal()):
            assert not find_traces(one.database, memory.documents, [text]).files_with_text
        left = memory.globals.get_many(memory.globals.order(memory.now))
        assert [fact.fact for fact in left] == ["Marta prefers short answers"]


async def test_in_the_personal_memory_a_number_is_that_memorys_own(story: Story) -> None:
    """A move notes the number that the fact had in the project: it is that of another fact here."""
    with story.open(MORNING) as memory:
        for text in ("one for all", "two for all", "three for all"):
            memory.globals.remember(text)
        memory.moves.move_to_global(2)
    with Memory(Location(personal_memory_path(), "personal", "of the test"), "cli") as own:
        assert own.facts.get(4).fact != "two for all" and own.moves.moved_to(2) == ""
        (gone,) = (plan_in_both(own, [("fact", 2)]) or own.purge.plan([("fact", 2)])).going  # type: ignore[union-attr]
        assert gone.text == "two for all"
        both = plan_in_both(own, [("fact", 4)])
        assert both is not None and [one.citation for one in both.own.going] == ["F#4"] and both.here is None
        assert [number for _, number in both.projects] == [2]
