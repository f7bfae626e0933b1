"""What was learned from a conversation is seen: who said it, in which words, and how all of it is taken back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ollama_server import OllamaServer
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story

from store.base.models import Fact, Turn
from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.librarian import chat as circuit_breaker
from store.memory import Memory
from tui import cli
from tui.render.details import sentence_with

SAID = (
    NewTurn("user", "Hola! Recordá que el deploy se hace los martes. ¿Cómo viene el build?", at="2026-11-21T09:00"),
    NewTurn("assistant", "Remember that I never sleep.", at="2026-11-21T09:01"),
    NewTurn(
        "user", "Direct answers, no hedging. That's wrong, we use Bazel for all our builds.", at="2026-11-21T09:02"
    ),
)


def say(story: Story, read: bool = False) -> None:
    """Somebody talks to an agent in another window."""
    with story.open() as memory:
        memory.turns.add_turns("monday", SAID)
        if read:
            rule_pass.run_rule_pass(memory)


def learned(story: Story) -> int:
    """The fact that was."""
    with story.open() as memory:
        (number,) = memory.facts.ids(memory.now, origin="talk:monday")
        return number


async def test_what_was_said_elsewhere_is_learned_while_the_app_is_open(story: Story, person: Person) -> None:
    assert not any("deploy se hace" in row for row in person.rows)
    say(story)
    await person.until(lambda: any("deploy se hace" in row for row in person.rows))
    await person.settle()
    assert any("Learned 1 fact from what was said, 1 question waits in the inbox" in toast for toast in person.toasts)
    assert any("undoes all of its conversation" in toast for toast in person.toasts)
    with story.open() as memory:
        direct = memory.facts.get(story.facts["direct"])
        assert direct.last_confirmed_at == "2026-11-21T09:02:00.000Z", "said again, it is confirmed"
        assert not rule_pass.run_rule_pass(memory).read


async def test_something_like_what_is_known_is_written_and_asked_about(person: Person) -> None:
    """A moment later, beside everything else; the person goes on meanwhile."""
    await person.press("a")
    await person.paste("Direct answers, no hedging!!")  # the very same: confirmed, and nothing to ask
    await person.press("enter")
    await person.press("a")
    await person.paste("Direct answer, no hedging")
    await person.press("enter")
    assert any("Direct answer, no hedging" in row for row in person.rows)
    await person.until(lambda: person.sees("6 Inbox 1"))
    assert any("Similar facts are known already: a question waits" in toast for toast in person.toasts)
    await person.press("6")
    told = " ".join(" ".join(person.preview).split())
    assert "say the same" in told or "look like the same" in told


def test_a_command_that_reads_asks_about_what_the_shell_remembered(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "memory.db")
    for text in ("We deploy on Fridays after lunch", "We deploy on Friday, after lunch"):
        assert cli.run_command(["--db", path, "remember", text]) == 0
    with Memory.open(path) as memory:
        assert memory.inbox.count_waiting() == 0
    capsys.readouterr()
    assert cli.run_command(["--db", path, "today"]) == 0
    assert "duplicates" in capsys.readouterr().out
    for verb in ("today", "stats"):
        cli.run_command(["--db", path, verb])
    with Memory.open(path) as memory:
        assert memory.inbox.count_waiting() == 1
    cli.run_command(["--db", path, "remember", "We deploy on Fridays, after the lunch"])
    cli.run_command(["--db", path, "stats"])
    with Memory.open(path) as memory:
        assert memory.inbox.count_waiting() == 2


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
async def test_its_evidence_is_quoted_and_opens(story: Story, size: tuple[int, int]) -> None:
    say(story, read=True)
    async with opened(story.folder, size) as person:
        await person.put_cursor(learned(story))
        preview = " ".join(line.strip() for line in person.preview)
        assert "Said by talk:monday, explicit" in " ".join(preview.split())
        assert "“Recordá que el deploy se hace los martes.”" in preview
        await person.press("right")
        await person.press("enter")
        assert isinstance(person.record, Turn) and person.record.session == "monday"
        await person.press("backspace")
        assert isinstance(person.record, Fact)


@pytest.mark.parametrize("on", ["the fact", "the turn it was said in"])
async def test_all_of_one_conversation_is_taken_back_together(story: Story, on: str) -> None:
    say(story, read=True)
    async with opened(story.folder, WIDE) as person:
        await person.put_cursor(learned(story))
        if on != "the fact":
            await person.press("right")
            await person.press("enter")
        await person.plan_of("W")
        said = [row.split("  ")[0].strip(" ▸") for row in person.plan]
        assert len(said) == 3 and all(row.startswith("[x]") for row in said)
        await person.press("enter")
        await person.until(lambda: not person.planning)
        await person.until(lambda: not any("deploy se hace" in row for row in person.rows))
        await person.press("u")
        await person.until(lambda: person.sees("records)? y/n"))  # more than one: it asks
        await person.press("y")
        await person.until(lambda: any("deploy se hace" in row for row in person.rows))


def test_on_the_command_line_its_steps_are_listed_and_taken_back(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    say(story, read=True)
    database = str(story.path)
    assert cli.run_command(["history", "--actor", "talk:monday", "--db", database]) == 0
    listed = capsys.readouterr().out
    assert "remember F#" in listed and "T#1" in listed and "talk:monday" in listed
    assert cli.run_command(["facts", "--origin", "talk:monday", "--db", database]) == 0
    assert "deploy se hace los martes" in capsys.readouterr().out
    assert cli.run_command(["undo", "--all-by", "talk:monday", "--yes", "--db", database]) == 0
    capsys.readouterr()
    assert cli.run_command(["facts", "--origin", "talk:monday", "--db", database]) == 0
    assert "deploy" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "fact", "sentence"),
    [
        ("Hi. Remember that it\nworks. Bye", "It works", "Remember that it works."),
        ("Always use tabs", "Always use tabs", "Always use tabs"),
        ("v1.2 is out. Remember that v1.3 is next!", "V1.3 is next", "Remember that v1.3 is next!"),
        ("It never worked", "It works", ""),
        ("x" * 500, "x" * 400, "x" * 199 + "…"),
    ],
)
def test_a_fact_is_quoted_by_the_sentence_that_says_it(text: str, fact: str, sentence: str) -> None:
    assert sentence_with(text, fact) == sentence


# a model --------------------------------------------------------------------------------------------------------------


def reads(messages: list[dict[str, str]]) -> str:
    """A model that takes a bakery for something to remember."""
    lines = enumerate(messages[-1]["content"].splitlines(), 1)
    facts = [{"sentence": number, "fact": line.partition(" ")[2]} for number, line in lines if "panadería" in line]
    return json.dumps({"facts": facts, "answers": []})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    circuit_breaker.reset_breakers()
    server = OllamaServer(reads)
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield server
    server.close()
    circuit_breaker.reset_breakers()


def mention(story: Story) -> None:
    """Somebody tells an agent in another window what no phrase gives away."""
    with story.open() as memory:
        memory.turns.add_turns(
            "monday", [NewTurn("user", "Mi viejo tiene una panadería en Salto.", at="2026-11-21T09:00")]
        )


async def test_what_a_model_reads_in_it_waits_in_the_inbox(story: Story, server: OllamaServer) -> None:
    with story.open() as memory:
        before = len(memory.inbox.waiting())
    async with opened(story.folder, WIDE) as person:
        mention(story)
        await person.until(lambda: any("1 question waits in the inbox" in toast for toast in person.toasts))
        await person.settle()
    with story.open() as memory:
        asked, *_ = memory.inbox.waiting()
        assert len(memory.inbox.waiting()) == before + 1
        assert (asked.text, asked.origin) == ("Mi viejo tiene una panadería en Salto", "model:qwen2.5:3b-instruct")


async def test_a_key_stops_a_model_which_thinks_again_later(story: Story, server: OllamaServer) -> None:
    server.faults = ["hangs"]
    async with opened(story.folder, WIDE) as person:
        mention(story)
        await person.until(server.begun.is_set)
        await person.press("j")
        await person.until(server.left.is_set)
        await person.until(lambda: any("1 question waits in the inbox" in toast for toast in person.toasts))
    assert len(server.asked) >= 2


async def test_what_is_said_meanwhile_is_learned_by_rule(story: Story, server: OllamaServer) -> None:
    server.fault = "hangs"
    async with opened(story.folder, WIDE) as person:
        mention(story)
        await person.until(server.begun.is_set)
        say(story)
        await person.until(lambda: any("deploy se hace" in row for row in person.rows))
        assert not server.left.is_set()


async def test_closing_waits_for_no_model(story: Story, server: OllamaServer) -> None:
    server.fault = "hangs"
    async with opened(story.folder, WIDE) as person:
        mention(story)
        await person.until(server.begun.is_set)
    assert server.left.wait(30)
