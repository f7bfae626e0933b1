"""Global facts in the application: marked in the list and in a search, changed, moved by one key, and undone."""

import pytest
from conftest import Clock
from support.screen import NARROW, Person, opened
from support.stories import Story

from store.base.location import Location, personal_memory_path
from store.base.models import GlobalFact
from store.memory import Memory
from store.purge.proof import find_traces
from tui.commands.privacy import plan_in_both
from tui.lists.fact_groups import fact_list_key
from tui.screens.plans import PurgeScreen


@pytest.fixture
def shared(story: Story) -> Story:
    """The story, and a global fact of the person's."""
    with story.open("2026-11-21T10:00:00.000Z") as memory:
        memory.globals.remember("I write Rioplatense Spanish")
    return story


def status(story: Story, number: int) -> str:
    with story.open() as memory:
        return memory.facts.get(number).status


async def test_a_key_makes_a_fact_global_and_undo_takes_it_back(story: Story, person: Person) -> None:
    await person.put_cursor(2)
    text = person.record.fact  # type: ignore[union-attr]
    await person.press("V")
    assert person.toasts[-1] == "Moved F#2 to G#1, seen in every project, u to undo"
    assert isinstance(person.record, GlobalFact)
    assert (person.record.citation, person.record.fact) == ("G#1", text)
    assert person.preview[0].startswith("G#1  global fact")
    await person.press("u")
    assert person.toasts[-1] == "Undid: move F#2 G#1; ^r redoes it"
    assert status(story, 2) == "active"
    await person.press("ctrl+r")
    assert status(story, 2) == "forgotten"
    await person.put_cursor(fact_list_key("global", 1))
    await person.press("V")
    assert person.toasts[-1].startswith("Moved G#1 to F#")
    with story.open() as memory:
        assert list(memory.globals.order(memory.now)) == []


@pytest.mark.parametrize("size", [NARROW, (160, 45)])
async def test_a_global_fact_is_marked_by_a_word(shared: Story, size: tuple[int, int]) -> None:
    async with opened(shared.folder, size) as person:
        await person.put_cursor(fact_list_key("global", 1))
        (row,) = [row for row in person.rows if "Rioplatense" in row]
        assert "global" in row.split("Spanish")[1]
        assert not any("global" in row for row in person.rows if "Rioplatense" not in row)
        await person.search("Rioplatense")
        assert "global · fresh · G#1" in person.hits[0]


async def test_it_is_changed_in_the_personal_memory_and_undone_from_here(shared: Story) -> None:
    async with opened(shared.folder, clock=Clock()) as person:
        await person.put_cursor(fact_list_key("global", 1))
        for keys, said, undone in (
            (("y",), "Confirmed G#1, in every project, u to undo", "confirm G#1"),
            (("p",), "Pinned G#1, in every project, u to undo", "pin G#1"),
            (("minus",), "Muted G#1, in every project, u to undo", "mute G#1"),
            (("number_sign", *"tea", "enter"), "Tagged G#1: tea, in every project, u to undo", "tag G#1"),
            (("f",), "Forgot G#1, in every project, u to undo", "forget G#1"),
        ):
            await person.put_cursor(fact_list_key("global", 1))
            await person.press(*keys)
            assert person.toasts[-1] == said
            await person.press("u")
            assert person.toasts[-1] == f"Undid: {undone}; ^r redoes it"
        await person.press("ctrl+r")
        assert person.toasts[-1] == "Redid: forget G#1; u undoes it"
        with shared.open() as memory:
            assert list(memory.globals.order(memory.now)) == []
            assert [step for step in memory.history.steps() if step.door == "app"] == []


async def test_a_correction_takes_its_place(shared: Story) -> None:
    async with opened(shared.folder) as person:
        await person.put_cursor(fact_list_key("global", 1))
        await person.press("c", *"too", "enter")
        assert person.toasts[-1] == "G#2 replaces G#1, in every project, u to undo"
        assert any("Rioplatense Spanishtoo" in row for row in person.rows)
        with shared.open() as memory:
            assert [fact.fact for fact in memory.globals.get_many([2])] == ["I write Rioplatense Spanishtoo"]


async def test_undo_takes_the_newer_of_two(shared: Story) -> None:
    """Of a change here and one of a global fact, made one after the other; and none of an earlier sitting there."""
    with shared.open("2026-11-21T10:00:00.000Z") as memory:
        memory.globals.remember("tabs, not spaces")
    async with opened(shared.folder, clock=Clock()) as person:
        await person.put_cursor(fact_list_key("global", 1))
        await person.press("p")
        await person.put_cursor(2)
        await person.press("p", "u")
        assert person.toasts[-1].startswith("Undid: pin F#2") or person.toasts[-1].startswith("Undid: unpin F#2")
        await person.press("u")
        assert person.toasts[-1].startswith("Undid: pin G#1")
        await person.press("u")
        assert "G#" not in person.line("Undo step"), "what was made in another sitting is not among them"


async def test_a_mixture_is_refused(shared: Story) -> None:
    async with opened(shared.folder) as person:
        await person.put_cursor(fact_list_key("global", 1))
        await person.press("space", "up", "up", "space", "f")
        assert person.toasts[-1].startswith("Records of several kinds are changed one kind at a time.")
        with shared.open() as memory:
            assert len(memory.globals.order(memory.now)) == 1


async def test_what_changed_meanwhile_is_not_moved(story: Story, person: Person) -> None:
    await person.put_cursor(2)
    with story.open() as memory:
        memory.facts.pin([2], not memory.facts.get(2).pinned)
    await person.press("V")
    assert person.toasts[-1].startswith("F#2 changed since it was shown.")
    assert status(story, 2) == "active"


async def test_a_step_of_a_move_is_undone_in_the_history(story: Story, person: Person) -> None:
    await person.put_cursor(2)
    await person.press("V", "4", "U")
    assert person.toasts[-1] == "Undid: move F#2 G#1; ^r redoes it"
    assert status(story, 2) == "active"


@pytest.mark.parametrize("size", [NARROW, (160, 45)])
async def test_it_is_purged_from_here_with_the_fact_that_it_was(story: Story, size: tuple[int, int]) -> None:
    """The screen shows what goes of both files, and what another project's history keeps."""
    text = "The blue zebrafish is the hint"
    with story.open("2026-11-21T10:00:00.000Z") as memory:
        number, _ = memory.facts.remember(text)
        assert memory.moves.move_to_global(number) == 1
        memory.decisions.decide("Change the hint", "soon", context=f"for {text.lower()}, no?")
        memory.globals.remember("Marta prefers short answers")
    other = story.folder.parent / "other" / ".memoranda" / "memory.db"
    with Memory.open(str(other)) as memory:
        memory.moves.move_to_project(1), memory.moves.move_to_global(1)
    async with opened(story.folder, size) as person:
        await person.put_cursor(fact_list_key("global", 3))
        await person.press("F")
        await person.until(lambda: isinstance(person.app.screen, PurgeScreen) and person.sees("ERASE", "3 records"))
        assert person.sees("G#1", "G#3", f"F#{number}", "of another project"), "with what says the same"
        await person.press("enter")
        await person.until(lambda: bool(person.toasts) and "Erased" in person.toasts[-1])
        await person.until(lambda: person.sees("Another project's history holds the words too"))
    with story.open() as memory:
        words = (
            find_traces(memory.database, memory.documents, [text]),
            find_traces(memory.personal.database, memory.documents, [text]),
        )
        assert [one for found in words for one in found.files_with_text] == []
        assert [fact.fact for fact in memory.globals.get_many(memory.globals.order(memory.now))] == [
            "Marta prefers short answers"
        ]


async def test_in_the_personal_memory_a_number_is_that_memorys_own(story: Story) -> None:
    """A move notes the number that the fact had in the project: it is that of another fact here."""
    with story.open("2026-11-21T10:00:00.000Z") as memory:
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
