"""What a person says in a session, to be learned from, and which facts a memory then has."""

from typing import Any

from store.base.clock import days_before
from store.base.models import Fact
from store.conversations.turns import NewTurn
from store.learning.rule_pass import RulePassResult, run_rule_pass
from store.memory import Memory


def say(memory: Memory, *texts: str, session: str = "monday", origin: str = "agent", days: float = 0) -> list[int]:
    """A person says this in a session, so many days ago."""
    at = days_before(memory.now, days) if days else ""  # type: ignore[arg-type]
    return memory.turns.add_turns(session, [NewTurn("user", text, at=at) for text in texts], origin)


def hear(memory: Memory, *texts: str, **how: Any) -> RulePassResult:
    """Say it, and let rules read it."""
    say(memory, *texts, **how)
    return run_rule_pass(memory)


def active_facts(memory: Memory) -> list[Fact]:
    return memory.facts.get_many(sorted(memory.facts.ids(memory.now)))


def active_texts(memory: Memory) -> list[str]:
    return [fact.fact for fact in active_facts(memory)]
