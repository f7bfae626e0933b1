"""What keys do with decisions, tasks, iterations and evidence.

Record and supersede decisions, and link them with commits.
"""

from __future__ import annotations

from collections.abc import Callable

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Commit, Decision, Fact, Proposal, Task
from store.evidence.evidence import BoundEvidence
from store.memory import Memory
from tui.actions.inbox import supersede_by_proposal
from tui.actions.support import (
    ActionHost,
    refuse_action,
    run_verb,
    undo_hint,
    write_and_report,
)
from tui.commands.call import parse_reference
from tui.input.key_table import key_name
from tui.render.lines import format_count


def ask_for_decision(screen: ActionHost, old: Decision | None) -> None:
    """Prompt for each field of a decision; cancelling one prompt cancels all."""
    about = f"instead of {old.citation}: " if old else ""

    def titled(title: str) -> None:
        if title.strip():
            screen.ask(f"{about}chosen", "", lambda chosen: chosen_is(title, chosen))

    def chosen_is(title: str, chosen: str) -> None:
        if chosen.strip():
            others = " | ".join((old.chosen, *old.alternatives)) if old else ""
            screen.ask("instead of (| between several)", others, lambda text: because(title, chosen, text))

    def because(title: str, chosen: str, others: str) -> None:
        alternatives = [other.strip() for other in others.split("|") if other.strip()]

        def answer(why: str) -> None:
            run_verb(
                screen,
                "decide",
                selects=True,
                title=[title],
                chosen=chosen,
                alternative=alternatives,
                rationale=why,
                supersedes=old.citation if old else None,
            )

        screen.ask("because", "", answer)

    screen.ask(f"{about}decision, in a few words", old.title if old else "", titled, over=True)


def supersede(screen: ActionHost) -> None:
    """Record a decision that replaces the selected decision; let a selected proposal replace a fact."""
    record = screen.target()
    if isinstance(record, Proposal):
        supersede_by_proposal(screen, record)
        return
    if isinstance(record, Decision):
        ask_for_decision(screen, record)
    elif record is not None:
        screen.say(
            f"Only a decision is replaced by another; {key_name('record.correct')} corrects a fact.", "warning"
        )


def link(screen: ActionHost) -> None:
    """Link the marked commits with the marked decisions, or remove the links if they exist; for a single record prompt
    for the other end."""
    things = screen.targets()
    commits = [thing for thing in things if isinstance(thing, Commit)]
    decisions = [thing for thing in things if isinstance(thing, Decision)]
    if commits and decisions:
        _toggle_links(screen, [(commit.sha, decision.id) for commit in commits for decision in decisions])
    elif len(commits) == 1:
        sha = commits[0].sha
        label = f"link {commits[0].citation} with which decision? D#… (again removes the link)"
        screen.ask(label, "", lambda text: _link_typed(screen, text, "decision", lambda other: [(sha, int(other))]))
    elif len(decisions) == 1:
        number = decisions[0].id
        label = f"link {decisions[0].citation} with which commit? C#… (again removes the link)"
        screen.ask(label, "", lambda text: _link_typed(screen, text, "commit", lambda other: [(other, number)]))
    else:
        screen.say("Put the cursor on a commit or a decision, or mark one of each.", "warning")


def _link_typed(screen: ActionHost, text: str, kind: str, pairs: Callable[[str], list[tuple[str, int]]]) -> None:
    if text.strip():
        written = text.strip() if "#" in text or kind == "decision" else f"C#{text.strip()}"
        try:
            _toggle_links(screen, pairs(str(parse_reference(written, kind).target)))
        except MemorandaError as error:
            screen.say(str(error), "warning")


def _toggle_links(screen: ActionHost, pairs: list[tuple[str, int]]) -> None:
    """Link each pair of a commit and a decision; remove the links that exist."""

    def turn(memory: Memory) -> tuple[int, int]:
        made = taken = 0
        for sha, decision in pairs:
            ends = {known.decision for known in memory.commits.links_of_commit(memory.commits.resolve(sha))}
            if cite("decision", decision) in ends:
                memory.commits.unlink(sha, decision)
                taken += 1
            else:
                memory.commits.link(sha, decision)
                made += 1
        return made, taken

    def said(result: object) -> tuple[str, int | None]:
        made, taken = result if isinstance(result, tuple) else (0, 0)
        parts = [
            f"added {format_count(made, 'link')}" if made else "",
            f"removed {format_count(taken, 'link')}" if taken else "",
        ]
        return " and ".join(part for part in parts if part).capitalize() + undo_hint(), None

    write_and_report(screen, turn, said)


# Bind facts and decisions to their evidence.


def bind(screen: ActionHost) -> None:
    """Ask for evidence of the selected record. With - in front it is taken away; an empty answer accepts the
    evidence as it is now."""
    record = screen.target()
    if not isinstance(record, Fact | Decision):
        refuse_action(screen, [record] if record is not None else [], "Only facts and decisions rest on evidence.")
        return
    kind, number = ("fact" if isinstance(record, Fact) else "decision"), record.id

    def answer(text: str) -> None:
        word = text.strip()

        def work(memory: Memory) -> list[BoundEvidence]:
            evidence = memory.evidence
            if not word:
                return evidence.bind_again(kind, number)
            cwd = memory.location.project or ""
            if word.startswith("-"):
                return evidence.unbind(kind, number, [word[1:].strip()], cwd)
            return evidence.bind(kind, number, [word], cwd)

        done = "Took it as it is now" if not word else "Taken away" if word.startswith("-") else f"Bound to {word}"
        write_and_report(screen, work, f"{record.citation}: {done}{undo_hint()}")

    bound = " (nothing: take it as it is now, - takes away)" if record.evidence_state else ""
    screen.ask(f"{record.citation} rests on{bound}", "", answer)


# Tasks and iterations.


def move_task(screen: ActionHost) -> None:
    """Start, finish or reopen the selected tasks."""
    tasks = [thing for thing in screen.targets() if isinstance(thing, Task)]
    if not tasks:
        screen.say(
            f"{key_name('task.move')} starts and finishes tasks; {key_name('pane.tasks')} goes to them.", "warning"
        )
        return
    # tasks in progress come first: with one of them, all are marked done
    first = min((task.status for task in tasks), key=("in_progress", "pending", "done").index)
    what, done = {
        "pending": ("start", "in_progress"),
        "in_progress": ("done", "done"),
        "done": ("reopen", "pending"),
    }[first]
    run_verb(screen, "task", what=what, words=[task.citation for task in tasks if task.status != done])


def begin_iteration_command(screen: ActionHost) -> None:
    """Prefill the `:` line that starts an iteration; while one runs, how it ends is left to be typed."""
    running = screen.engine.screen.iterations.active() if screen.engine is not None else None
    screen.type_command("iteration " if running else "iteration start feature ")
