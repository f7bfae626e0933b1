"""The last calls of the model: kept for a day, redacted, shown to a person alone, deleted by a purge."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from store.base.errors import ModelFailed
from store.librarian import structured_output as call_log
from store.librarian.structured_output import ModelSession
from store.memory import Memory
from store.upkeep import maintenance

TASK = "summarize"
ANSWER = '{"topic": "Zanzibar"}'


@dataclass
class Form:
    topic: str


class Scripted:
    """A model that says one thing, and keeps what it was sent."""

    name = "qwen2.5:3b-instruct"

    def __init__(self, answer: str | ModelFailed = ANSWER) -> None:
        self.said = answer
        self.sent: list[str] = []

    def answer(self, messages: Any, **how: Any) -> str:
        self.sent += [text for _, text in messages]
        if isinstance(self.said, ModelFailed):
            raise self.said
        return self.said


def ask(memory: Memory, chat: Scripted) -> ModelSession:
    session = ModelSession(chat, 1.0, memory.database)  # type: ignore[arg-type]
    session.run_or_fall_back(
        TASK, lambda: session.ask_for_form(TASK, Form, [("system", "Sum it up."), ("user", "Hi.")], 10), lambda: None
    )
    return session


def calls(memory: Memory) -> list[call_log.LoggedCall]:
    return call_log.list_recent_calls(memory.database, memory.now)


def test_an_answer_that_is_used_is_kept_as_it_came(memory: Memory) -> None:
    ask(memory, Scripted())
    (call,) = calls(memory)
    assert (call.task, call.model, call.answer) == (TASK, Scripted.name, ANSWER)
    assert call.at <= memory.now and (call.dropped, call.fallback) == ("", "")


@pytest.mark.parametrize(
    ("said", "answer", "why"),
    [
        ("no JSON at all", "no JSON at all", "requested form"),
        (ModelFailed("slow", "It did not answer in time.", ""), "", "It did not answer in time."),
    ],
    ids=["form", "slow"],
)
def test_one_that_is_not_says_why_and_what_was(memory: Memory, said: str | ModelFailed, answer: str, why: str) -> None:
    ask(memory, Scripted(said))
    (call,) = calls(memory)
    assert call.answer == answer and why in call.dropped
    assert call.fallback == call_log.TASK_FALLBACKS[TASK]


def test_a_task_may_drop_a_part_of_an_answer(memory: Memory) -> None:
    ask(memory, Scripted()).log_dropped(TASK, "It does not rest on what was said.")
    assert calls(memory)[0].dropped == "It does not rest on what was said."


def test_a_call_is_gone_after_a_day(memory: Memory, clock: Any) -> None:
    ask(memory, Scripted())
    clock.advance(days=0.95)
    assert len(calls(memory)) == 1
    clock.advance(days=0.1)
    assert calls(memory) == []
    maintenance.clean_up_memory(memory)
    assert memory.database.value("SELECT count(*) FROM model_calls") == 0


def test_no_more_than_so_many_are_kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MAX_LOGGED_CALLS", 3)
    for number in range(5):
        ask(memory, Scripted(json.dumps({"topic": str(number)})))
    assert [json.loads(call.answer)["topic"] for call in calls(memory)] == ["4", "3", "2"]


def test_a_secret_in_an_answer_is_cut(memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ask(memory, Scripted(json.dumps({"topic": secret})))
    (call,) = calls(memory)
    assert secret not in call.answer and "REDACTED" in call.answer


def test_no_answer_is_found_or_sent_to_a_model(memory: Memory) -> None:
    """Neither a search, nor a context, nor the next question has a word of it."""
    ask(memory, Scripted())
    memory.facts.remember("The team is five")
    assert memory.search("Zanzibar").hits == []
    assert "Zanzibar" not in memory.context("Who is in the team?").text
    later = Scripted()
    ask(memory, later)
    assert not any("Zanzibar" in text for text in later.sent)


def test_a_purge_deletes_all_of_them(memory: Memory) -> None:
    """An answer may say in other words what is purged."""
    number, _ = memory.facts.remember("Marta lives in Zanzibar")
    ask(memory, Scripted())
    memory.purge.run_plan(memory.purge.plan([("fact", number)]))
    assert calls(memory) == []
