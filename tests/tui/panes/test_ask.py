"""The librarian's pane: a question, what the search finds at once, its order, and the records behind it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from support.chats import Scripted
from support.ollama_server import OllamaServer
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story
from support.strangers import PAYLOADS
from textual import events
from textual.worker import WorkerFailed

from store.base.errors import ModelFailed
from store.base.location import locate
from store.base.models import Decision, Fact
from store.librarian import chat as circuit_breaker
from tui.panes.controllers import LibrarianController
from tui.widgets.chat_pane import Question, Talk
from tui.workers.model_worker import Exchange

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])


@pytest.fixture
def speaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scripted], Scripted]:
    """Let this chat be the model that is found."""

    def speak(chat: Scripted) -> Scripted:
        monkeypatch.setattr("store.librarian.model_selection.open_selected_model", lambda config, **how: chat)
        return chat

    return speak


def talk(person: Person) -> str:
    """The conversation, whose lines are wrapped, as one."""
    rows = person.main.query_one(Talk)._rows
    return " ".join(" ".join("".join(text for text, _, _ in row) for row in rows).split())


def steps_of(story: Story) -> int:
    """How many steps of history there are."""
    with story.open() as memory:
        return int(memory.database.value("SELECT count(*) FROM history"))


async def ask(person: Person, question: str) -> None:
    if person.at != "question":
        await person.press("A")
    await person.paste(question)
    await person.press("enter")


@SIZES
async def test_a_question_is_answered_from_the_records(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    assert "you why do we use SQLite?" in talk(person)
    assert "[D#1]" in talk(person) and "· by rule ·" in talk(person)
    assert person.at == "question" and person.main.query_one(Question).value == "", "ready for the next one"
    assert any("[D#1]" in line for line in person.lines)


@SIZES
async def test_a_citation_opens_its_record_and_backspace_comes_back(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    await person.press("escape")
    assert person.at == "librarian"
    await person.press("right", "enter")
    assert person.at == "preview" and isinstance(person.record, Decision)
    assert any("Use SQLite" in line for line in person.lines), "it is seen, also where it is narrow"
    await person.press("backspace")
    assert person.at == "librarian" and "[D#1]" in talk(person)
    await person.press("escape")
    assert person.at == "facts"


@pytest.mark.parametrize("key", ["escape", "backspace"])
async def test_a_source_that_was_read_is_still_selected(key: str, person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    await person.press("escape", "right", "enter")
    opened_one = person.record
    assert opened_one is not None and opened_one.citation == "D#1" and person.at == "preview"
    await person.press("right", "enter", "escape" if key == "escape" else "backspace")
    if key == "backspace":
        await person.press("backspace")
    assert person.at == "librarian" and person.main.query_one(Talk).link == "D#1"
    assert person.record is not None and person.record.citation == "D#1", "not what was read after it"
    assert person.sees("enter opens D#1")


async def test_an_answer_opens_its_first_source_for_the_keys(story: Story, person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    assert person.record is not None and person.record.citation == "D#1" and person.at == "question"
    await ask(person, "who won the world cup?")
    assert person.record is None
    await person.press("escape", "f")
    assert person.at == "question" and not person.toasts, "a letter begins the next question"
    with story.open() as memory:
        assert memory.facts.get(1).status == "active"


@pytest.mark.parametrize("line", [":forget F#1", "/memory forget F#1", "/forget F#1"])
async def test_a_command_typed_there_is_run_and_is_no_question(story: Story, line: str, person: Person) -> None:
    await ask(person, line)
    await person.settle()
    with story.open() as memory:
        assert memory.facts.get(1).status == "forgotten"
    assert line not in talk(person)


async def test_a_question_may_begin_with_a_path(person: Person) -> None:
    await ask(person, "/etc/hosts says what?")
    assert "/etc/hosts says what?" in talk(person)


@SIZES
async def test_a_search_that_is_left_comes_back_to_the_conversation(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    await person.press("escape", "slash", *"sqlite")
    await person.settle()
    await person.press("escape")
    await person.press("escape")
    assert "[D#1]" in talk(person) and not person.main.search.active
    await person.press("1")
    assert person.at == "facts"


@pytest.mark.parametrize("key", ["down", "enter"])
async def test_from_the_empty_line_what_the_last_answer_cites_is_one_key_away(key: str, narrow: Person) -> None:
    await ask(narrow, "how many tasks are open?")
    await ask(narrow, "why do we use SQLite?")
    assert any("↓ sources" in line for line in narrow.lines)
    await narrow.press(key)
    assert narrow.at == "librarian"
    await narrow.press("enter")
    assert narrow.at == "preview" and isinstance(narrow.record, Decision)
    await narrow.press("backspace", "A", key, "A")
    await ask(narrow, "who won the world cup?")
    assert not any("↓ sources" in line for line in narrow.lines)
    await narrow.press(key)
    assert narrow.at == "question", "there is nothing to go to"


async def test_without_an_answer_the_nearest_is_one_key_away(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    """It says plainly that there are no records, and a person may look themselves."""
    speaks(Scripted("{}", leans=lambda asked: -1.0))
    async with opened(story.folder, NARROW) as person:
        await ask(person, "which cache did the accountant paint?")
        said = talk(person)
        assert said.index("There are no records about that.") < said.index("The nearest: “") < said.index("[D#3]")
        await person.press("down", "enter")
        assert person.at == "preview" and person.record is not None


async def test_a_citation_opens_by_mouse(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    shown = person.main.query_one(Talk)
    y, row = next((y, row) for y, row in enumerate(shown._rows) if any(index >= 0 for _, _, index in row))
    x = sum(len(text) for text, _, index in row[: next(i for i, one in enumerate(row) if one[2] >= 0)])
    await person.pilot.click(shown, offset=(x + 1, y))
    await person.settle()
    assert person.at == "preview" and isinstance(person.record, Decision)


async def test_numbers_lead_there_and_away_and_once_more_to_the_question(person: Person) -> None:
    await person.press("8")
    assert person.at == "librarian"
    assert "Ask what was decided" in talk(person) and "why do we use SQLite?" in talk(person), "an empty pane teaches"
    await person.press("8")
    assert person.at == "question"
    await person.press(*"12")
    assert person.main.query_one(Question).value == "12", "there a number is a letter"
    await person.press("escape", "2")
    assert person.at == "timeline"


@SIZES
async def test_what_is_typed_there_begins_the_question_and_does_nothing_else(story: Story, person: Person) -> None:
    """Whoever sees a line to type in types; the letters are keys that forget, confirm and quit elsewhere."""
    steps = steps_of(story)
    await person.press("8", *"fy")
    assert person.at == "question" and person.main.query_one(Question).value == "fy"
    await person.press("ctrl+u", "escape")
    for letter in "¿qué cita at: /path":  # in one chunk, as over a slow line; `t` asks for a day elsewhere
        person.app.post_message(events.Key(letter, letter))
    await person.settle()
    assert person.main.query_one(Question).value == "¿qué cita at: /path" and person.app.is_running
    for letter in "WAYz":
        await person.press("ctrl+u", "escape", letter)
        assert person.main.query_one(Question).value == letter
    await person.press("ctrl+u", "escape")
    await person.paste("why do we use SQLite?")
    assert person.main.query_one(Question).value == "why do we use SQLite?"
    await person.press("enter")
    await person.until(lambda: "[D#1]" in talk(person))
    assert steps_of(story) == steps
    await person.press("escape", "1", "8", *"how f")
    assert person.at == "question" and person.main.query_one(Question).value == "how f", "beside an answer too"
    assert steps_of(story) == steps


@SIZES
async def test_no_key_there_changes_a_record_of_another_pane(person: Person) -> None:
    """Nothing of it is on the screen, or nobody chose it: not before a question, and not after the records changed
    meanwhile."""
    await person.press("j", "8")
    assert person.record is None
    person.main.refresh_records()
    await person.settle()
    assert person.record is None
    await ask(person, "why do we use SQLite?")
    assert isinstance(person.record, Decision)
    await person.press("escape", "1", "j", "8")
    assert isinstance(person.record, Decision), "the source of the last answer, as before"
    await person.press("1")
    assert isinstance(person.record, Fact), "and a list has its own again"


async def test_an_answer_is_still_there_after_another_pane(huge: Person) -> None:
    await ask(huge, "why do we use SQLite?")
    await huge.press("escape", "1", "j")
    assert huge.at == "facts" and huge.seen == ["facts"]
    await huge.press("8")
    assert huge.seen == ["librarian"] and any("[D#1]" in line for line in huge.lines)


async def test_a_follow_up_leans_on_what_was_asked_before(person: Person) -> None:
    await ask(person, "¿por qué usamos SQLite?")
    await ask(person, "¿y quién lo pidió?")
    await ask(person, "¿y cuándo?")
    assert talk(person).count("se decidió «Use SQLite") == 3
    await person.press("up", "up")
    assert person.main.query_one(Question).value == "¿y quién lo pidió?"


async def test_the_verb_in_the_bar_asks(person: Person) -> None:
    await person.command("/ask why do we use SQLite?")
    assert "[D#1]" in talk(person) and person.at == "librarian"


async def test_an_answer_is_copied(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    await person.press("escape")
    assert person.sees("^y copy") and not person.sees("z zoom"), "z begins a question"
    await person.press("ctrl+y")
    await person.until(lambda: any("the answer" in said for said in person.toasts))


def waiting(go: Event, leans: Callable[[str], float] = lambda asked: 1.0) -> Scripted:
    """A model that judges nothing before `go`."""

    def lean(asked: str) -> float:
        go.wait(20)
        return leans(asked)

    return Scripted("{}", leans=lean)


async def test_the_hits_are_shown_at_once_and_keys_do_not_wait(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    """The model has said nothing yet: the first records are on the screen, and the lists still move."""
    go = Event()
    speaks(waiting(go))
    async with opened(story.folder, HUGE) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(lambda: "The reason: “" in talk(person) and "reads 1 of" in talk(person))
        await person.until(lambda: "s · esc stops" in talk(person))
        await person.pilot.press("escape")  # it stops the answer
        await person.until(lambda: "stopped" in talk(person))
        await person.pilot.press("escape", "escape")
        await person.pilot.press("j")
        await person.until(lambda: person.main.list_of("facts").cursor_key == story.facts["jenkins"])
        go.set()
        await person.settle()
        assert person.main.librarian.asking is None


async def test_the_order_settles_under_what_is_selected(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    go = Event()
    speaks(waiting(go, lambda asked: 2.0 if "Cache" in asked.split("Question:")[0] else 0.0))
    async with opened(story.folder, WIDE) as person:
        await person.press("A")
        await person.paste("why SQLite or a cache?")
        await person.pilot.press("enter")
        shown = person.main.query_one(Talk)
        await person.until(lambda: "reads 1 of" in talk(person) and len(shown.citations) > 1)
        shown.selected = 0
        before = shown.citations[0]
        go.set()
        await person.until(lambda: "scripted:1b" in talk(person))
        assert shown.citations[shown.selected] == before


async def test_a_question_of_the_data_shows_its_filter_and_lets_it_be_edited(person: Person) -> None:
    await ask(person, "which tasks are open?")
    assert "kind:task" in talk(person) and "is:open" in talk(person) and "↑ edits" in talk(person)
    await person.press("up")
    assert person.main.query_one(Question).value == "kind:task is:open"
    await person.press("end", "backspace", "backspace", "backspace", "backspace")
    await person.paste("done")
    await person.press("enter")
    assert "you kind:task is:done" in talk(person)


@pytest.mark.parametrize("door", ["app", "cli"])
async def test_what_was_purged_is_neither_shown_nor_sent(
    story: Story, speaks: Callable[[Scripted], Scripted], door: str
) -> None:
    with story.open() as memory:
        number, _ = memory.facts.remember("the wolfram hint is Dulcinea")
        memory.facts.remember("wolfram is bought on Mondays")
    chat = speaks(Scripted("{}"))
    async with opened(story.folder, WIDE) as person:
        await ask(person, "what is the wolfram hint?")
        assert "Dulcinea" in talk(person)
        await person.press("escape", "escape")
        if door == "app":
            await person.command(f"purge {number} --yes")
            await person.until(lambda: "Dulcinea" not in talk(person))
            assert person.main.librarian.last_answer is None
        else:
            with story.open() as memory:
                memory.purge.run_plan(memory.purge.plan([("fact", number)]), [])
        await ask(person, "and when is wolfram bought?")
        assert "Dulcinea" not in talk(person) and "you and when is wolfram bought?" in talk(person)
        assert all("Dulcinea" not in text for text in chat.judged[1:])
        assert any("conversation with the librarian was erased" in said for _, said in person.app.messages)
        await person.press("up", "up")
        assert person.main.query_one(Question).value == "and when is wolfram bought?", "nor can it be asked again"


async def test_an_answer_during_a_purge_is_not_shown(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    go = Event()
    with story.open() as memory:
        number, _ = memory.facts.remember("the wolfram hint is Dulcinea")
    speaks(waiting(go))
    async with opened(story.folder, WIDE) as person:
        await person.press("A")
        await person.paste("what is the wolfram hint?")
        await person.pilot.press("enter")
        await person.until(lambda: "Dulcinea" in talk(person))
        with story.open() as memory:
            memory.purge.run_plan(memory.purge.plan([("fact", number)]), [])
        await person.until(lambda: "Dulcinea" not in talk(person))
        go.set()
        await person.settle()
        assert "Dulcinea" not in talk(person) and person.main.librarian.last_answer is None
        assert person.main.librarian.asking is None and "Ask what was decided" in talk(person)


async def test_a_change_that_purges_nothing_leaves_the_conversation(person: Person) -> None:
    await ask(person, "why do we use SQLite?")
    await person.press("escape", "escape")
    await person.command("remember the team is seven")
    await person.settle()
    assert "[D#1]" in talk(person) and person.main.librarian.last_answer is not None


async def test_a_citation_that_a_record_quotes_is_no_link_of_the_answer(story: Story) -> None:
    with story.open() as memory:
        number, _ = memory.facts.remember("[D#99] tells of the kumquat plan")
    async with opened(story.folder, WIDE) as person:
        await ask(person, "what tells of the kumquat plan?")
        assert "“[D#99] tells of the kumquat plan”" in talk(person) and "1 source ·" in talk(person)
        assert [str(one) for one in person.main.query_one(Talk).citations] == [f"F#{number}"]


@SIZES
async def test_esc_while_the_model_reads_leaves_the_order_of_the_search(
    story: Story, speaks: Callable[[Scripted], Scripted], size: tuple[int, int]
) -> None:
    go, reads = Event(), Event()

    def lean(asked: str) -> float:
        reads.set()
        go.wait(20)
        raise ModelFailed("stopped", "The question was taken back.")

    speaks(Scripted("{}", leans=lean))
    async with opened(story.folder, size) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(reads.is_set)
        await person.pilot.press("escape")
        await person.until(lambda: "stopped; the order of the search …" in talk(person))
        assert person.at == "question" and person.main.librarian.asking is None
        go.set()
        await person.until(lambda: "· by rule ·" in talk(person))
        assert "The reason:" in talk(person) and "stopped before the model had answered" in talk(person)


async def test_a_model_orders_and_says_who_it_is(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    chat = speaks(Scripted("It is the best there is."))
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        assert "scripted:1b ·" in talk(person) and "best there is" not in talk(person)
        assert chat.judged and chat.closed


async def test_why_rules_answered_is_said(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit_breaker.reset_breakers()
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        await person.until(lambda: "Nothing answers at 127.0.0.1:9." in talk(person))
        assert "It is asked again in" in talk(person)
    circuit_breaker.reset_breakers()


async def test_during_a_question_the_model_reads_nothing_else(
    speaks: Callable[[Scripted], Scripted], person: Person
) -> None:
    engine = person.main.engine
    assert engine is not None
    seen: list[bool] = []

    def lean(asked: str) -> float:
        seen.append(engine.learner._waiting > 0)
        return 1.0

    speaks(Scripted("{}", leans=lean))
    await ask(person, "why do we use SQLite?")
    assert seen and all(seen)
    assert not engine.learner._waiting


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    circuit_breaker.reset_breakers()
    server = OllamaServer("Yes")
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()
    circuit_breaker.reset_breakers()


@pytest.mark.parametrize("fault", ["hangs", "hangs midway"])
@pytest.mark.parametrize("leaves", ["the app", "the memory"])
async def test_leaving_waits_for_no_answer(
    story: Story, tmp_path: Path, server: OllamaServer, fault: str, leaves: str
) -> None:
    server.fault = fault
    async with opened(story.folder, WIDE) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(server.begun.is_set)
        if leaves == "the memory":
            other = tmp_path / "other"
            other.mkdir()
            await person.app.open(locate(None, {}, str(other)), str(other))
            await person.until(server.left.is_set)
    assert server.left.wait(30)


async def test_a_defect_ends_the_answer_and_is_said(monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("store.librarian.librarian.Librarian.ask", lambda *_, **__: 1 // 0)
        with suppress(WorkerFailed):  # raised here too where the worker still runs when this waits for it
            await ask(person, "why do we use SQLite?")
        await person.until(lambda: person.main.librarian.asking is None)
    assert "Internal error (ZeroDivisionError)" in talk(person) and person.main.librarian.asking is None
    await ask(person, "why do we use SQLite?")
    assert "The reason:" in talk(person)


async def test_in_the_past_nothing_is_asked(person: Person) -> None:
    await person.press("@")
    await person.paste("60d")
    await person.press("enter", "A")
    assert "You are looking at" in person.toasts[-1] and person.at != "question"


async def test_hostile_text_is_shown_and_not_obeyed(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    speaks(Scripted("{}"))
    with story.open() as memory:
        for payload in PAYLOADS.values():
            if payload.strip():
                memory.facts.remember(f"SQLite hostile {payload}")
    async with opened(story.folder, WIDE) as person:
        for question in ("why SQLite \x1b]52;c;eA==\x07 [/nope]?", "which facts are hostile?"):
            await ask(person, question)
            for strip in person.strips:
                assert strip.cell_length == person.app.size.width
                assert not any(ord(char) < 32 or char == "\u202e" for segment in strip for char in segment.text)


def test_the_clock_of_an_answer_may_tick_once_more_while_the_screen_is_closed() -> None:
    """Its widgets are gone by then; it ended the application with a traceback."""
    controller = LibrarianController(SimpleNamespace(widget_of_kind=lambda kind: None))  # type: ignore[arg-type]
    controller._exchanges = [Exchange("who feeds the cat?")]
    controller._count_seconds()
    assert controller.asking is not None


async def test_arrows_take_the_preview_along_and_the_footer_names_enter_once(person: Person) -> None:
    await ask(person, "what was decided?")
    await person.press("escape")
    shown = person.main.query_one(Talk)
    assert len(set(map(str, shown.citations))) > 1
    for _ in range(len(shown.citations)):
        await person.press("right")
        assert person.record is not None and person.record.citation == shown.link
        assert person.lines[-1].startswith(f" enter opens {shown.link} ") and "open, ask" not in person.lines[-1]


async def test_a_long_answer_is_read_from_its_question_on(story: Story) -> None:
    async with opened(story.folder, (80, 14)) as person:
        await ask(person, "what was decided?")
        shown = person.main.query_one(Talk)
        assert len(shown._rows) > shown.size.height
        assert any("you        what was decided?" in line for line in person.lines)


@pytest.mark.parametrize("leaves", [(), ("escape",)])
async def test_the_footer_names_the_key_that_scrolls_a_long_answer(story: Story, leaves: tuple[str, ...]) -> None:
    """Also where a question is typed; not where all of the answer is seen."""
    async with opened(story.folder, (80, 14)) as person:
        await ask(person, "how many tasks are open?")
        await person.press(*leaves)
        assert "PgDn" not in person.lines[-1]
        if leaves:
            await person.press("enter")
        await ask(person, "what was decided?")
        await person.press(*leaves)
        await person.until(lambda: " PgUp PgDn scroll " in person.lines[-1])
        before = person.lines
        await person.press("pageup")
        assert person.lines != before
