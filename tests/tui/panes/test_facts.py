"""The facts: in groups by need, in which a change moves nothing; their chips; and what an empty memory waits for."""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.screen import NARROW, Person, opened
from support.stories import Clock, Story, location
from support.tables import each

from store.memory import Memory
from tui.panes.facts import PANE, headings, keep_places, missing_sentences
from tui.panes.pane import Loaded, Reading, View
from tui.workers.engine import Engine

Groups = list[tuple[str, "array[int]"]]


def groups(**found: list[int]) -> Groups:
    return [("" if need == "whole" else need, array("q", keys)) for need, keys in found.items()]


def read(engine: Engine, last: Loaded | None = None, limit: int = -1, **view: bool) -> Loaded:
    return PANE.read(Reading(engine, engine.screen, View(**view), limit, last))


def keys_of(loaded: Loaded) -> list[int]:
    return list(loaded.rows.keys)  # type: ignore[attr-defined]


@pytest.fixture
def engine(story: Story) -> Iterator[Engine]:
    engine = Engine(story.location, str(story.folder), lambda *call: None, Clock())
    yield engine
    engine.close()


# the order


@each(
    "before, after, successors, expected",
    [
        # confirmed: it stays among the stale ones
        (
            groups(stale=[1, 2, 3], fresh=[9]),
            groups(stale=[1, 3], fresh=[9, 2]),
            {},
            {"stale": [1, 2, 3], "fresh": [9]},
        ),
        # corrected: the new one takes the old one's place, once
        (groups(stale=[1, 2, 3]), groups(stale=[1, 3], fresh=[4]), {2: 4}, {"stale": [1, 4, 3]}),
        (groups(stale=[4, 2], fresh=[9]), groups(fresh=[11, 9]), {4: 11, 2: 11}, {"stale": [11], "fresh": [9]}),
        # forgotten: it goes, and the others stay where they stood
        (groups(stale=[4, 2], fresh=[9, 7]), groups(stale=[2], fresh=[7, 9]), {}, {"stale": [2], "fresh": [9, 7]}),
        # learned: behind the one before it in the new order
        (groups(stale=[1], fresh=[9]), groups(stale=[1], fresh=[9, 10]), {}, {"stale": [1], "fresh": [9, 10]}),
        (groups(fresh=[9, 7]), groups(fresh=[7, 8, 9]), {}, {"fresh": [9, 7, 8]}),
        # brought back by undo
        (groups(stale=[1, 3]), groups(stale=[1, 3], low=[5]), {}, {"stale": [1, 3], "low": [5]}),
        # a list in one order is taken as it is read
        (groups(whole=[1, 2]), groups(whole=[2, 1]), {}, {"": [2, 1]}),
    ],
)
def test_a_change_moves_nothing(
    before: Groups, after: Groups, successors: dict[int, int], expected: dict[str, list[int]]
) -> None:
    assert {need: list(keys) for need, keys in keep_places(before, after, successors)} == expected


def test_a_fact_that_keeps_its_place_is_not_counted_under_the_state_it_had() -> None:
    true = groups(stale=[1, 3], fresh=[9, 2])
    shown = keep_places(groups(stale=[1, 2, 3], fresh=[9]), true, {})
    assert [one[:2] for one in headings(shown, true)] == [(0, "Stale 2 + 1 changed"), (3, "Fresh 2")]
    assert [one[:2] for one in headings(true, true)] == [(0, "Stale 2"), (2, "Fresh 2")]


def test_the_first_rows_are_never_taken_for_all_of_them(engine: Engine) -> None:
    """What is shown before the whole order is known ends with it."""
    some = read(engine, limit=3)
    whole = read(engine, last=some)
    assert (len(keys_of(some)), some.whole, len(keys_of(whole)), whole.whole) == (3, False, 10, True)


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=st.lists(st.integers(0, 2**16), min_size=1, max_size=12), hidden=st.booleans())
def test_however_one_lives_the_kept_order_has_the_true_facts(live, tmp_path_factory, plan: list[int], hidden) -> None:
    """Whatever happens to a memory, one reading after another has the rows of a reading from nothing."""
    folder = tmp_path_factory.mktemp("life")
    with Memory(location(folder), "cli", Clock()) as memory:
        engine = Engine(location(folder), str(folder), lambda *call: None, Clock())
        try:
            last = read(engine, hidden=hidden)
            for seed in plan:
                live(memory, [seed])
                last, true = read(engine, last, hidden=hidden), read(engine, hidden=hidden)
                assert sorted(keys_of(last)) == sorted(keys_of(true)) and last.facets == true.facets
        finally:
            engine.close()


# what they are narrowed by


async def test_the_chooser_counts_the_filters_and_adds_the_one_that_is_chosen(person: Person) -> None:
    """Chosen again one goes; what is kept is listed too; a filter that hides all is nothing missing."""

    def shows(number: int, **chosen: str | None) -> Callable[[], bool]:
        return lambda: len(person.rows) == number and dict(person.main.place.view.chosen) == chosen

    work = {"origin": "user", "state": "stale", "domain": "work"}
    await person.follow(
        ("o", "State  2", "Domain  3", "Decisions"),
        ("> you", "you ×", shows(7, origin="user")),
        ("o > stale", shows(2, origin="user", state="stale")),
        ("o > work domain", "work ×", "Stale 2 ×", "1 of 10 · esc all", shows(1, **work)),
        ("o > work", shows(2, origin="user", state="stale")),
        ("o > everything again", shows(10)),
        ("o > forgotten state", lambda: {row[1] for row in person.rows} == {"✕"}),
        ("o > everything again",),
        ("o > newest first", lambda: "Primary LLM" in person.rows[0] and not person.headings),
        ("o > show what is replaced", "all shown", shows(14)),
        ("o > hide what is replaced", shows(10)),
        (":list facts --origin import:notes", "No facts match.", "import from notes ×"),
        (":list facts nobody said this", "No facts match.", lambda: not "".join(person.preview)),
        ("escape", shows(10)),
    )


async def test_a_chip_shows_the_tasks_and_one_key_takes_them_further(story: Story, narrow: Person) -> None:
    def tasks(*listed: str) -> Callable[[], bool]:
        return lambda: [f"{row[1]} {row.split('A#')[1][0]}" for row in narrow.rows if "A#" in row] == [*listed]

    await narrow.follow(
        (":list tasks", "1 done hidden", tasks("◧ 2", "☐ 3")),
        ("o > show what is", "1 done shown", tasks("◧ 2", "☐ 3", "☑ 1")),
        ("o > status done", tasks("☑ 1")),
        ("y", "Reopened A#1", tasks()),
        ("escape 2",),
        (":list tasks",),
    )
    with story.open() as memory:
        memory.tasks.add_task("call the printer")
    await narrow.follow(("", "call the printer"), ("a > write to the lawyer", "A#5  task", "write to the"))
    await narrow.follow(("y", "Started A#5"), ("y", "Done with A#5"), ("u", "A#5  task"))


# what is missing


async def test_a_fresh_memory_teaches_what_brings_its_first_fact(tmp_path: Path) -> None:
    folder = tmp_path / "fresh"
    with Memory.open(location(folder).path, "cli") as memory:
        memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, origin="hook")
        for number in range(12):
            memory.commits.log(f"{number:040x}", message=f"Change {number}", author="Ana")
    async with opened(folder, NARROW) as person:
        assert person.told.startswith(
            "What is missing · Commits read from git: 12. 3 shows them; / and a question asks about them. · 1 is "
            "proposed and waiting for you: 1 goes there. · No agent is connected yet"
        )
        await person.follow(("", lambda: ":import lists what is found" in person.told))
        await person.follow(("3", lambda: "Change 11" in person.told))
        await person.follow(("2 a > The team is five", lambda: person.preview[1] == "The team is five"))


def test_what_is_there_is_not_missing(story: Story) -> None:
    with story.open() as memory:
        memory.turns.add_turns("s1", [])
        said = missing_sentences(memory)
    assert any(sentence.startswith("Commits read from git: 4.") for sentence in said)
    assert any("4 are replaced or forgotten" in sentence for sentence in said) and not any("waiting" in s for s in said)
