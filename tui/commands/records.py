"""The commands decide, link, task and iteration."""

from __future__ import annotations

import json
from typing import Annotated

from store.base.citations import cite
from store.base.errors import InvalidInput, NotFound
from store.base.models import as_json
from store.base.vocabulary import IMPACTS, LINK_TYPES, PERSON_ORIGIN
from store.upkeep.maintenance import read_new_commits, readable_repository
from tui.commands.call import Call, Outcome, numbers_of, parse_reference
from tui.input.arguments import Shown, verb

Key = Annotated[str, Shown("K")]
Sentence = Annotated[str, Shown("TEXT")]
Sentences = Annotated[list[str], Shown("TEXT")]
ITERATION_ACTS = ("start", "complete", "abandon", "event")

# decide, link.


@verb()
def decide(
    call: Call,
    title: Annotated[list[str], Shown("TITLE")],
    *,
    chosen: Sentence,
    context: Sentence = "",
    alternative: Sentences = [],
    rationale: Sentence = "",
    impact: Annotated[str, Shown("I", IMPACTS)] = "medium",
    phase: Sentence = "",
    supersedes: Annotated[str | None, Shown("D")] = None,
    key: Key = "",
    yes: bool = False,
) -> Outcome:
    """Record a decision: what was chosen, instead of what, and why.

    title: the decision in a few words
    chosen: the option taken
    context: the problem it solves
    alternative: an option not taken (repeatable)
    rationale: why
    impact: low, medium, high or critical
    phase: the phase of the work it belongs to
    supersedes: the decision it replaces, D#3
    yes: even if the text was purged once
    """
    decisions = call.memory.decisions
    old = call.optional(supersedes, "decision")
    new = call.ask_if_purged(
        yes,
        lambda again: decisions.decide(
            " ".join(title),
            chosen,
            context=context,
            alternatives=alternative,
            rationale=rationale,
            impact=impact,
            phase=phase,
            supersedes=old,
            key=key,
            again=again,
        ),
    )
    return call.wrote(f"Recorded {cite('decision', new)}.", "decision", new)


@verb()
def link(
    call: Call,
    commit: str,
    decision: str,
    *,
    type: Annotated[str, Shown("TYPE", LINK_TYPES)] = "implements",
    off: bool = False,
) -> Outcome:
    """Say that a commit implements, reverts or relates to a decision, or take that back.

    commit: a sha, or C#a1b2c3d
    decision: a decision's number, or D#3
    type: implements, reverts or relates
    """
    memory, number = call.memory, call.number(decision, "decision")
    sha = str(parse_reference(commit if "#" in commit else f"C#{commit}", "commit").target)
    ends = cite("commit", sha), cite("decision", number)
    if off:
        memory.commits.unlink(sha, number)
        said = f"{ends[0]} and {ends[1]} are no longer linked."
    else:
        try:
            made = memory.commits.link(sha, number, type)
        except NotFound:
            # where that is missing, git need not be asked
            memory.decisions.get(number)
            source = readable_repository(memory, call.cwd)
            if not (source and read_new_commits(memory, source)):
                raise
            made = memory.commits.link(sha, number, type)
        said = f"{ends[0]} {type}{' to' if type == 'relates' else ''} {ends[1]}"
        said += "." if made else " already: nothing was changed."
    return Outcome(said, lambda: [as_json(one) for one in memory.commits.links_of_decision(number)])


# task, iteration.

# verb → (the new status, the message)
TASK_MOVES = {
    "start": ("in_progress", "Started"),
    "done": ("done", "Done with"),
    "reopen": ("pending", "Reopened"),
}


@verb()
def task(
    call: Call,
    what: Annotated[str, Shown("add|start|done|reopen", ("add", *TASK_MOVES))],
    words: Annotated[list[str], Shown("TEXT|ID")],
    *,
    yes: bool = False,
) -> Outcome:
    """Add a task, or start, finish or reopen some: task add TEXT, task done 3 4.

    what: what to do
    words: what is to be done; or a task's number, or A#5
    yes: even if the text was purged once
    """
    tasks = call.memory.tasks
    if what == "add":
        text = call.text(words, "task add")
        new = call.ask_if_purged(yes, lambda again: tasks.add_task(text, again=again))
        return call.wrote(f"Added {cite('task', new)}.", "task", new)
    if what not in TASK_MOVES:
        raise InvalidInput("A task can be added, started, done and reopened.", "task add TEXT, or task done 5.")
    status, done = TASK_MOVES[what]
    named = call.some(words, "task")
    tasks.move_all(numbers_of(named), status)
    return call.acted(done, named)


@verb()
def iteration(
    call: Call,
    what: Annotated[str, Shown("start|complete|abandon|event", ITERATION_ACTS)],
    words: Annotated[list[str], Shown("COMMAND TEXT|ID|TYPE")] = [],
    *,
    phase: Sentences = [],
    artifact: Sentences = [],
    payload: Annotated[str | None, Shown("JSON")] = None,
    iteration: Annotated[str | None, Shown("I")] = None,
    key: Key = "",
) -> Outcome:
    """Start, complete or abandon a cycle of work, or log an event of it: iteration start fix TEXT.

    what: what to do
    words: feature, fix, spike … and what it is about; or I#5; or an event in one word: gate_passed, approval …
    phase: at its end: a phase that was completed (repeatable); of an event: the phase of the work it belongs to
    artifact: at its end: what it left, docs/design.md (repeatable)
    payload: what else is to be kept with an event, any JSON
    iteration: the iteration an event belongs to (the active one)
    """
    iterations, (first, *rest) = call.memory.iterations, words or [""]
    if what == "event":
        if rest or artifact:
            raise InvalidInput("An event has a type, one word.", "iteration event gate_passed --phase design")
        new = call.memory.events.log(
            first,
            phase=phase[-1] if phase else "",
            payload=None if payload is None else _parse_payload(payload),
            iteration_id=call.optional(iteration, "iteration"),
            actor=PERSON_ORIGIN,
            key=key,
        )
        return call.wrote(f"Logged {cite('event', new)}.", "event", new)
    if payload is not None or iteration or key:
        raise InvalidInput(
            "Only an event has a payload, an iteration and a key.", "iteration event gate_passed --iteration I#5"
        )
    if what == "start":
        if phase or artifact:
            raise InvalidInput(
                "Phases and artifacts are told when an iteration ends.",
                "iteration complete --phase design --artifact FILE",
            )
        new = iterations.start_iteration(first, " ".join(rest))
        said = f"Started {cite('iteration', new)}: what is recorded from now on belongs to it."
    elif what in ("complete", "abandon"):
        if rest:
            raise InvalidInput("One iteration at a time is ended.", f"iteration {what} {first}")
        new = iterations.end_iteration(
            call.optional(first, "iteration"), abandoned=what == "abandon", phases=phase, artifacts=artifact
        )
        said = f"{'Abandoned' if what == 'abandon' else 'Completed'} {cite('iteration', new)}."
    else:
        raise InvalidInput(
            "An iteration can be started, completed and abandoned.",
            "iteration start fix TEXT, or iteration complete.",
        )
    return call.wrote(said, "iteration", new)


def _parse_payload(text: str) -> object:
    try:
        found: object = json.loads(text, parse_constant=_reject_constant)
        return found
    except (ValueError, RecursionError):
        raise InvalidInput(
            "The payload is not JSON.", """For example: --payload '{"result": "approved"}'"""
        ) from None


def _reject_constant(name: str) -> object:
    """Reject NaN and the infinities, which Python parses but JSON does not have."""
    raise ValueError(name)
