"""The librarian's pane: a question, an answer that comes sentence by sentence, and the records behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from support.chats import Scripted
from support.ollama_server import OllamaServer
from support.screen import HUGE, NARROW, WIDE, Person, opened, utc  # noqa: F401  (a fixture)
from support.stories import Story, copy
from support.strangers import PAYLOADS

from store.base.location import locate
from store.base.models import Decision
from store.llm import circuit_breaker
from tui.widgets.chat_pane import Question, Talk

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return copy(tmp_path / "billing-api")


@pytest.fixture
def speaks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scripted], Scripted]:
    """Let this chat be the model that is found."""

    def speak(chat: Scripted) -> Scripted:
        monkeypatch.setattr("store.llm.model_selection.found", lambda config, **how: chat)
        return chat

    return speak


def talk(person: Person) -> str:
    """The conversation, whose lines are wrapped, as one."""
    rows = person.main.query_one(Talk)._rows
    return " ".join(" ".join("".join(text for text, _, _ in row) for row in rows).split())


async def ask(person: Person, question: str) -> None:
    if person.at != "question":
        await person.press("A")
    await person.paste(question)
    await person.press("enter")


@SIZES
async def test_a_question_is_answered_from_the_records(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await ask(person, "why do we use SQLite?")
        assert "you why do we use SQLite?" in talk(person)
        assert "[D#1]" in talk(person) and "· by rule ·" in talk(person)
        assert person.at == "question" and person.main.query_one(Question).value == "", "ready for the next one"
        assert any("[D#1]" in line for line in person.lines)


@SIZES
async def test_a_citation_opens_its_record_and_backspace_comes_back(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
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


@pytest.mark.parametrize("key", ["down", "enter"])
async def test_from_the_empty_line_what_the_last_answer_cites_is_one_key_away(story: Story, key: str) -> None:
    async with opened(story.folder, NARROW) as person:
        await ask(person, "how many tasks are open?")
        await ask(person, "why do we use SQLite?")
        assert any("↓ sources" in line for line in person.lines)
        await person.press(key)
        assert person.at == "librarian"
        await person.press("enter")
        assert person.at == "preview" and isinstance(person.record, Decision)
        await person.press("backspace", "A", key, "A")
        await ask(person, "who won the world cup?")
        assert not any("↓ sources" in line for line in person.lines)
        await person.press(key)
        assert person.at == "question", "there is nothing to go to"


async def test_where_nothing_answers_what_comes_nearest_is_one_key_away(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says plainly that there are no records, and a person may look themselves."""
    monkeypatch.setattr("store.librarian.retrieval.NEAR", 0.0)  # no model of meanings here
    async with opened(story.folder, NARROW) as person:
        await ask(person, "which cache did the accountant paint?")
        said = talk(person)
        assert said.index("There are no records about that.") < said.index("The nearest: “") < said.index("[D#3]")
        await person.press("down", "enter")
        assert person.at == "preview" and person.record is not None


async def test_a_citation_opens_by_mouse(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        shown = person.main.query_one(Talk)
        y, row = next((y, row) for y, row in enumerate(shown._rows) if any(index >= 0 for _, _, index in row))
        x = sum(len(text) for text, _, index in row[: next(i for i, one in enumerate(row) if one[2] >= 0)])
        await person.pilot.click(shown, offset=(x + 1, y))
        await person.settle()
        assert person.at == "preview" and isinstance(person.record, Decision)


async def test_numbers_lead_there_and_away_and_once_more_to_the_question(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await person.press("8")
        assert person.at == "librarian"
        assert "Ask what was decided" in talk(person) and "why do we use SQLite?" in talk(person), (
            "an empty pane teaches"
        )
        await person.press("8")
        assert person.at == "question"
        await person.press(*"12")
        assert person.main.query_one(Question).value == "12", "there a number is a letter"
        await person.press("escape", "2")
        assert person.at == "timeline"


async def test_at_two_hundred_columns_it_stays_beside_the_lists(story: Story) -> None:
    async with opened(story.folder, HUGE) as person:
        await ask(person, "why do we use SQLite?")
        await person.press("escape", "1", "j")
        assert person.at == "facts" and person.seen == ["facts", "timeline", "librarian"]
        assert any("[D#1]" in line for line in person.lines)


async def test_a_follow_up_leans_on_what_was_asked_before(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await ask(person, "¿por qué usamos SQLite?")
        await ask(person, "¿y quién lo pidió?")
        assert "librarian No hay registros sobre eso." in talk(person)
        await ask(person, "¿y cuándo?")
        assert talk(person).count("se decidió «Use SQLite") == 2
        await person.press("up", "up")
        assert person.main.query_one(Question).value == "¿y quién lo pidió?"


async def test_the_verb_in_the_bar_asks(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await person.command("/ask why do we use SQLite?")
        assert "[D#1]" in talk(person) and person.at == "librarian"


async def test_an_answer_is_copied(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        await person.press("escape", "Y")
        await person.until(lambda: any("the answer" in said for said in person.toasts))


async def test_sentences_are_shown_as_they_come_and_keys_do_not_wait(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    """The model is stopped in the middle of its answer: what stands is on the screen, and the lists still move."""
    go, seen = Event(), 0

    def between() -> None:
        nonlocal seen
        seen += 1
        if seen > 5:
            go.wait(20)

    speaks(Scripted("SQLite is one file [D#1]. There is no service to run [D#1].", between=between))
    async with opened(story.folder, HUGE) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(lambda: "SQLite is one file [D#1]." in talk(person))
        assert "no service" not in talk(person)
        await person.pilot.press("escape")  # it would stop the answer
        await person.until(lambda: "stopped" in talk(person))
        await person.pilot.press("escape", "escape")
        await person.pilot.press("j")
        await person.until(lambda: person.main.list_of("facts").cursor_index == 1)
        go.set()
        await person.settle()
        assert "no service" not in talk(person), "what comes after a stop is not shown"
        assert person.main.librarian.asking is None


async def test_a_stop_does_not_promise_the_records_where_sentences_stay(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    go, pieces = Event(), 0

    def between() -> None:
        nonlocal pieces
        pieces += 1
        if pieces > 5:
            go.wait(20)

    speaks(Scripted("SQLite is one file [D#1]. There is no service to run [D#1].", between=between))
    async with opened(story.folder, WIDE) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(lambda: "SQLite is one file [D#1]." in talk(person))
        await person.pilot.press("escape")
        await person.until(lambda: talk(person).endswith("SQLite is one file [D#1]. stopped"))
        go.set()
        await person.until(lambda: "· stopped" in talk(person))
        assert "SQLite is one file [D#1]." in talk(person) and "The reason:" not in talk(person)


@pytest.mark.parametrize("door", ["app", "cli"])
async def test_what_was_purged_is_neither_shown_nor_sent_nor_leant_on(
    story: Story, speaks: Callable[[Scripted], Scripted], door: str
) -> None:
    with story.open() as memory:
        number, _ = memory.facts.remember("the wolfram hint is Dulcinea")
        memory.facts.remember("wolfram is bought on Mondays")
    chat = speaks(Scripted(f"The wolfram hint is Dulcinea [F#{number}]."))
    async with opened(story.folder, WIDE) as person:
        await ask(person, "what is the wolfram hint?")
        assert "Dulcinea" in talk(person)
        await person.press("escape", "escape")
        if door == "app":
            await person.command(f"purge {number} --yes")
            await person.until(lambda: "Dulcinea" not in talk(person))
            assert person.main.last_answer is None
        else:
            with story.open() as memory:
                memory.purge.run(memory.purge.plan([("fact", number)]), [])
        await ask(person, "and when is wolfram bought?")
        assert "Dulcinea" not in talk(person) and "you and when is wolfram bought?" in talk(person)
        assert [role for role, _ in chat.asked[-1]] == ["system", "user"]
        assert all("Dulcinea" not in text for _, text in chat.asked[-1])
        assert any("conversation with the librarian was erased" in toast for toast in person.toasts)
        await person.press("up", "up")
        assert person.main.query_one(Question).value == "and when is wolfram bought?", "nor can it be asked again"


async def test_what_is_being_answered_during_a_purge_is_not_shown(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    go, pieces = Event(), 0

    def between() -> None:
        nonlocal pieces
        pieces += 1
        if pieces > 6:
            go.wait(20)

    with story.open() as memory:
        number, _ = memory.facts.remember("the wolfram hint is Dulcinea")
    speaks(Scripted(f"The wolfram hint is Dulcinea [F#{number}]. It is a hint [F#{number}].", between=between))
    async with opened(story.folder, WIDE) as person:
        await person.press("A")
        await person.paste("what is the wolfram hint?")
        await person.pilot.press("enter")
        await person.until(lambda: "Dulcinea" in talk(person))
        with story.open() as memory:
            memory.purge.run(memory.purge.plan([("fact", number)]), [])
        await person.until(lambda: "Dulcinea" not in talk(person))
        go.set()
        await person.settle()
        assert "Dulcinea" not in talk(person) and person.main.last_answer is None
        assert person.main.librarian.asking is None and "Ask what was decided" in talk(person)


async def test_a_change_that_purges_nothing_leaves_the_conversation(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        await person.press("escape", "escape")
        await person.command("remember the team is seven")
        await person.settle()
        assert "[D#1]" in talk(person) and person.main.last_answer is not None


async def test_a_citation_that_a_record_quotes_is_no_link_of_the_answer(story: Story) -> None:
    with story.open() as memory:
        number, _ = memory.facts.remember("[D#99] tells of the kumquat plan")
    async with opened(story.folder, WIDE) as person:
        await ask(person, "what tells of the kumquat plan?")
        assert "“[D#99] tells of the kumquat plan”" in talk(person) and "1 source ·" in talk(person)
        assert [str(one) for one in person.main.query_one(Talk).citations] == [f"F#{number}"]


@SIZES
async def test_esc_while_the_model_thinks_gives_what_the_records_say(
    story: Story, speaks: Callable[[Scripted], Scripted], size: tuple[int, int]
) -> None:
    go, thinking = Event(), Event()

    def between() -> None:
        thinking.set()
        go.wait(20)

    speaks(Scripted("SQLite is one file [D#1].", between=between))
    async with opened(story.folder, size) as person:
        await person.press("A")
        await person.paste("why do we use SQLite?")
        await person.pilot.press("enter")
        await person.until(thinking.is_set)
        await person.pilot.press("escape")
        await person.until(lambda: "stopped; the records themselves …" in talk(person))
        assert person.at == "question" and person.main.librarian.asking is None
        go.set()
        await person.until(lambda: "· by rule ·" in talk(person))
        assert "SQLite is one file [D#1]." not in talk(person) and "The reason:" in talk(person)
        assert "stopped before the model had answered; here are the records themselves" in talk(person)
        await ask(person, "and when?")
        assert talk(person).count("it was decided: “Use SQLite") == 2, "the next question leans on it"


async def test_a_model_answers_and_says_who_it_is(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    chat = speaks(Scripted("SQLite is one file, no service to run [D#1]. It is the best there is."))
    async with opened(story.folder, WIDE) as person:
        await ask(person, "why do we use SQLite?")
        assert "librarian SQLite is one file, no service to run [D#1]." in talk(person)
        assert "best there is" not in talk(person)
        assert "1 source · scripted:1b ·" in talk(person) and "1 sentence cut: cites nothing" in talk(person)
        assert chat.closed


async def test_while_somebody_asks_the_model_reads_nothing_else(
    story: Story, speaks: Callable[[Scripted], Scripted]
) -> None:
    async with opened(story.folder) as person:
        engine = person.main.engine
        assert engine is not None
        seen: list[bool] = []
        speaks(Scripted("SQLite, one file [D#1].", between=lambda: seen.append(engine.learner._waiting > 0)))
        await ask(person, "why do we use SQLite?")
        assert seen and all(seen)
        assert not engine.learner._waiting


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    circuit_breaker.reset()
    server = OllamaServer("SQLite is one file, no service to run [D#1].")
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()
    circuit_breaker.reset()


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
    assert server.left.wait(5)


async def test_a_defect_ends_the_answer_and_is_said(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(story.folder, WIDE) as person:
        with monkeypatch.context() as patch:
            patch.setattr("store.librarian.librarian.Librarian.ask", lambda *_, **__: 1 // 0)
            await ask(person, "why do we use SQLite?")
        assert "Internal error (ZeroDivisionError)" in talk(person) and person.main.librarian.asking is None
        await ask(person, "why do we use SQLite?")
        assert "The reason:" in talk(person)


async def test_in_the_past_nothing_is_asked(story: Story) -> None:
    async with opened(story.folder, WIDE) as person:
        await person.press("@")
        await person.paste("60d")
        await person.press("enter", "A")
        assert "You are looking at" in person.toasts[-1] and person.at != "question"


async def test_hostile_text_is_shown_and_not_obeyed(story: Story, speaks: Callable[[Scripted], Scripted]) -> None:
    said = " ".join(f"SQLite {payload} is one file [D#1]." for payload in PAYLOADS.values())
    speaks(Scripted(said))
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
