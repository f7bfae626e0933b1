"""The tour of the demo: five steps, each done by the keys that it names; left, and resumed where it was."""

from pathlib import Path

import pytest
from support.screen import NARROW, Person, opened
from support.stories import Story, copy

from tui import cli
from tui import demo as tour
from tui.input.key_table import fill_in_keys


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A memory with something for every step, and the tour that `memoranda demo` begins."""
    story = copy(tmp_path / "billing-api")
    with story.open() as memory:
        memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, origin="hook")
    tour.keep_tour(str(story.path), 0, left=False)
    return story


def told(person: Person) -> str:
    """What the two lines of the tour say; empty if they are hidden."""
    bars = [person.main.query_one_optional(f"#{name}") for name in ("tour-why", "tour-what")]
    return " ".join(person.lines[bar.region.y] for bar in bars if bar is not None and bar.region.height)


async def test_each_step_is_done_by_the_keys_that_it_names(story: Story, narrow: Person) -> None:
    steps = (
        ("1 of 5", "2, and 2 again: only the stale", ["2"]),
        ("2 of 5", "c, change the text, enter", ["c", "x", "enter"]),
        ("3 of 5", "u undoes it", ["u"]),
        ("4 of 5", "/, type “why SQLite?”, enter", ["slash", *"why SQLite?", "enter"]),
        ("5 of 5", "1, read the evidence, then y", ["1", "y"]),
    )
    for place, what, keys in steps:
        assert place in told(narrow) and what in told(narrow), told(narrow)
        await narrow.press(*keys)
        await narrow.until(lambda place=place: place not in told(narrow))
    assert "That was all" in told(narrow)
    await narrow.press("2")
    await narrow.until(lambda: told(narrow) == "")
    assert tour.read_tour(str(story.path)) == (len(tour.TOUR_STOPS), True)


async def test_what_was_done_before_it_is_asked_for_is_not_asked_for(narrow: Person) -> None:
    """Every line fits the narrowest screen."""
    assert "1 of 5" in told(narrow)
    await narrow.press("c", "x", "enter")
    await narrow.press("2")
    await narrow.until(lambda: "3 of 5" in told(narrow))
    assert "2 done already" in told(narrow)
    await narrow.press("u")
    await narrow.until(lambda: "4 of 5" in told(narrow))
    assert "done already" not in told(narrow)
    for number in range(len(tour.TOUR_STOPS) + 1):
        narrow.main.tour._go_to(number)
        await narrow.settle()
        assert fill_in_keys(tour.tour_stop(number).why) in told(narrow), tour.tour_stop(number)
        assert ":tour leaves" in told(narrow)


async def test_a_proposal_that_came_meanwhile_leaves_the_last_step_to_be_done(story: Story) -> None:
    tour.keep_tour(str(story.path), len(tour.TOUR_STOPS) - 1, left=False)
    async with opened(story.folder, NARROW) as person:
        assert "5 of 5" in told(person)
        with story.open() as memory:
            memory.inbox.propose("add", {"fact": "Invoices are sent on Mondays"}, origin="hook")
        await person.until(lambda: person.sees("Today 2"))
        person.main.tour.poll(1)
        await person.press("1", "y")
        await person.until(lambda: "That was all" in told(person))


async def test_it_is_left_and_resumed_in_another_sitting(story: Story) -> None:
    """The list takes the lines of a tour that is left."""
    with story.open() as memory:
        for number in range(40):
            memory.facts.remember(f"Port {9000 + number} is taken")
    async with opened(story.folder) as person:
        await person.press("2")
        await person.until(lambda: "2 of 5" in told(person))
        await person.press("escape")
        await person.command("tour")
        assert not told(person) and person.toasts == ["The tour is left; :tour resumes it."]
        region = person.record_list.region
        assert all(person.lines[region.y : region.bottom]), "\n".join(person.lines)
    async with opened(story.folder) as person:
        assert not told(person), "who left it is not shown it again"
        await person.command("tour")
        assert "2 of 5" in told(person)
    async with opened(story.folder) as person:
        assert "2 of 5" in told(person), "who did not goes on"


async def test_a_memory_that_is_no_demo_says_where_the_tour_is(tmp_path: Path) -> None:
    async with opened(copy(tmp_path / "own").folder) as person:
        await person.command("tour")
        assert person.toasts == ["The tour is in the demo: leave the application and type memoranda demo."]
        assert not told(person)


def test_the_demo_begins_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that says nothing of use is no tour."""
    place = tmp_path / "demo"
    assert cli.run_command(["demo", str(place)]) == 0
    file = place / "billing-api" / ".memoranda" / "memory.db"
    assert tour.read_tour(str(file)) == (0, False)
    for text in (b"", b"\xff", b"soon", b"-1"):
        file.with_name("tour").write_bytes(text)
        assert tour.read_tour(str(file)) is None
