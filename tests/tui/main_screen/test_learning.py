"""What was learned from a conversation is seen: who said it, in which words, and how all of it is taken back."""

import json
import re

import pytest
from support.commands import Do
from support.ollama_server import OllamaServer, Serve
from support.screen import TWO_SIZES, WIDE, Person, opened
from support.stories import Story
from support.tables import each

from store.base.models import Fact, Turn
from store.base.vocabulary import pack_key
from store.conversations.turns import NewTurn
from store.learning import rule_pass
from tui.render.details import sentence_with

SAID = (
    NewTurn("user", "Hola! Recordá que el deploy se hace los martes. ¿Cómo viene el build?", at="2026-11-21T09:00"),
    NewTurn("assistant", "Remember that I never sleep.", at="2026-11-21T09:01"),
    NewTurn(
        "user", "Direct answers, no hedging. That's wrong, we use Bazel for all our builds.", at="2026-11-21T09:02"
    ),
)


def say(story: Story, *turns: NewTurn, read: bool = False) -> int:
    """Somebody talks to an agent in another window; return the fact that was learned from it, if it was read."""
    with story.open() as memory:
        memory.turns.add_turns("monday", turns or SAID)
        if not read:
            return 0
        rule_pass.run_rule_pass(memory)
        (number,) = memory.facts.ids(memory.now, origin="talk:monday")
        return number


def has_learned(person: Person) -> bool:
    return any("deploy se hace" in row for row in person.rows)


def told(person: Person, words: str) -> bool:
    return any(words in said for _, said in person.app.messages)


async def test_what_was_said_elsewhere_is_learned_while_the_app_is_open(story: Story, person: Person) -> None:
    """And what is like something known is written and asked about, beside everything else; the very same is confirmed,
    and nothing to ask."""
    assert not has_learned(person)
    say(story)
    await person.until(lambda: has_learned(person))
    await person.settle()
    for words in ("Learned 1 fact from what was said", "1 question waits in the inbox", "(U on one undoes all of its"):
        await person.until(lambda: told(person, words))  # noqa: B023  # of one reading, or on a busy machine of two
    with story.open() as memory:
        direct = memory.facts.get(story.facts["direct"])
        assert direct.last_confirmed_at == "2026-11-21T09:02:00.000Z", "said again, it is confirmed"
        assert not rule_pass.run_rule_pass(memory).read
    await person.follow(
        ("a > Direct answers, no hedging!!", "1 Today 1"),
        ("a > Direct answer, no hedging", "1 Today 2", "Similar facts are known already: a question waits"),
        ("1", lambda: re.search("say the same|look like the same", person.told)),
    )


@TWO_SIZES
async def test_its_evidence_opens_and_its_conversation_is_taken_back(story: Story, size: tuple[int, int]) -> None:
    """From the fact, and from the turn it was said in."""
    key = pack_key("fact", say(story, read=True))
    async with opened(story.folder, size) as person:
        for on in ("the fact", "the turn"):
            await person.put_cursor(key)
            assert "Said by talk:monday, explicit" in person.told
            assert "“Recordá que el deploy se hace los martes.”" in person.told
            await person.press("right", "enter")
            assert isinstance(person.record, Turn) and person.record.session == "monday"
            if on == "the fact":
                await person.follow(("backspace escape", lambda: isinstance(person.record, Fact)))
            await person.plan_of("U")
            assert len(person.plan) == 3 and all(row.strip(" ▸").startswith("[x]") for row in person.plan)
            await person.follow(("enter", lambda: not has_learned(person)), ("escape u", lambda: has_learned(person)))


def test_on_the_command_line_it_is_asked_about_listed_and_taken_back(story: Story, do: Do) -> None:
    """A command that reads asks about what the shell remembered."""
    database = ("--db", str(story.path))

    def waiting() -> int:
        with story.open() as memory:
            return memory.inbox.count_waiting()

    for text in ("We ship on Fridays after lunch", "We ship on Friday, after lunch"):
        assert do(*database, "remember", text).status == 0
    assert waiting() == 0 and "duplicates" in do(*database, "today").out
    for verb in ("today", "health"):
        do(*database, verb)
    assert waiting() == 1
    do(*database, "remember", "We ship on Fridays, after the lunch")
    do(*database, "health")
    assert waiting() == 2
    say(story, read=True)
    listed = do("history", "--actor", "talk:monday", *database).out
    assert "remember F#" in listed and "T#1" in listed and "talk:monday" in listed
    facts = ("list", "facts", "--origin", "talk:monday", *database)
    assert "deploy se hace los martes" in do(*facts).out
    assert do("undo", "--all-by", "talk:monday", "--yes", *database).status == 0
    assert "deploy" not in do(*facts).out


@each(
    "text, fact, sentence",
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


# a model


MENTION = NewTurn("user", "Mi viejo tiene una panadería en Salto.", at="2026-11-21T09:00")  # no phrase gives it away
ASKED = "1 question waits in the inbox"


def reads(messages: list[dict[str, str]]) -> str:
    """A model that takes a bakery for something to remember."""
    lines = enumerate(messages[-1]["content"].splitlines(), 1)
    facts = [{"sentence": number, "fact": line.partition(" ")[2]} for number, line in lines if "panadería" in line]
    return json.dumps({"facts": facts, "answers": []})


@pytest.fixture
def server(serve: Serve) -> OllamaServer:
    return serve(OllamaServer(reads))


async def test_what_a_model_reads_waits_and_a_key_stops_it_until_later(story: Story, server: OllamaServer) -> None:
    server.faults = ["hangs"]
    async with opened(story.folder, WIDE) as person:
        say(story, MENTION)
        await person.until(server.begun.is_set)
        await person.press("j")
        await person.until(server.left.is_set)
        await person.until(lambda: told(person, ASKED))
        await person.settle()
    assert len(server.asked) >= 2
    with story.open() as memory:
        (asked,) = memory.inbox.waiting()
        assert (asked.text, asked.origin) == ("Mi viejo tiene una panadería en Salto", "model:qwen2.5:3b-instruct")


async def test_meanwhile_rules_learn_and_closing_waits_for_no_model(story: Story, server: OllamaServer) -> None:
    server.fault = "hangs"
    async with opened(story.folder, WIDE) as person:
        say(story, MENTION)
        await person.until(server.begun.is_set)
        say(story)
        await person.until(lambda: has_learned(person))
        assert not server.left.is_set()
    assert server.left.wait(30)
