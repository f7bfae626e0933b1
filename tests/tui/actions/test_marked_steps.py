"""Undoing marked steps of the history."""

from store.memory import Memory
from tui.actions.history import _plan_marked


def test_it_says_which_were_undone_and_why_others_were_not(memory: Memory) -> None:
    numbers = [memory.facts.remember(text)[0] for text in ("one thing", "another thing", "a third thing")]
    steps = memory.history.steps()
    memory.facts.pin(numbers[2:], True)  # stands in the way of the third
    plan = _plan_marked(steps, None, memory)
    assert plan.title == "UNDO 3 steps" and plan.do is not None
    done = plan.do(memory, frozenset(step.seq for step in steps))
    assert done.text.startswith("Undid 2 steps: 2, 1; 1 not: Step 3") and done.undo
    again = plan.do(memory, frozenset(step.seq for step in steps[:1]))
    assert again.text.startswith("Undid 0 steps; 1 not: Step 3") and not again.undo
