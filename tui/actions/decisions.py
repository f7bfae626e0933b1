"""Record and supersede decisions, and link them with commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Commit, Decision, Proposal
from tui.actions import inbox
from tui.actions.support import made, undoes, write
from tui.input.key_table import named
from tui.render.plurals import count

if TYPE_CHECKING:
    from store.memory import Memory
    from tui.actions.host import ActionHost


def decide(screen: ActionHost, old: Decision | None) -> None:
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
        number = old.id if old else None

        def answer(why: str) -> None:
            def work(memory: Memory, again: bool = False) -> int:
                return memory.decisions.decide(
                    title, chosen, alternatives=alternatives, rationale=why, supersedes=number, again=again
                )

            write(screen, work, made("Recorded", "decision"), again=lambda memory: work(memory, True))

        screen.ask("because", "", answer)

    screen.ask(f"{about}decision, in a few words", old.title if old else "", titled, over=True)


def supersede(screen: ActionHost) -> None:
    record = screen.target()
    if isinstance(record, Proposal):
        inbox.supersede(screen, record)
        return
    if isinstance(record, Decision):
        decide(screen, record)
    elif record is not None:
        screen.say(f"Only a decision is replaced by another; {named('record.correct')} corrects a fact.", "warning")


def link(screen: ActionHost) -> None:
    """Link the marked commits with the marked decisions, or remove the links if they exist; for a single record prompt
    for the other end."""
    things = screen.targets()
    commits = [thing for thing in things if isinstance(thing, Commit)]
    decisions = [thing for thing in things if isinstance(thing, Decision)]
    if commits and decisions:
        _link(screen, [(commit.sha, decision.id) for commit in commits for decision in decisions])
    elif len(commits) == 1:
        sha = commits[0].sha
        label = f"link {commits[0].citation} with which decision? D#… (again removes the link)"
        screen.ask(label, "", lambda text: _ask_link(screen, text, "decision", lambda other: [(sha, int(other))]))
    elif len(decisions) == 1:
        number = decisions[0].id
        label = f"link {decisions[0].citation} with which commit? C#… (again removes the link)"
        screen.ask(label, "", lambda text: _ask_link(screen, text, "commit", lambda other: [(other, number)]))
    else:
        screen.say("Put the cursor on a commit or a decision, or mark one of each.", "warning")


def _ask_link(screen: ActionHost, text: str, kind: str, pairs: Callable[[str], list[tuple[str, int]]]) -> None:
    from tui.commands import reference

    if text.strip():
        written = text.strip() if "#" in text or kind == "decision" else f"C#{text.strip()}"
        try:
            _link(screen, pairs(str(reference(written, kind).target)))
        except MemorandaError as error:
            screen.say(str(error), "warning")


def _link(screen: ActionHost, pairs: list[tuple[str, int]]) -> None:
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
        parts = [f"added {count(made, 'link')}" if made else "", f"removed {count(taken, 'link')}" if taken else ""]
        return " and ".join(part for part in parts if part).capitalize() + undoes(), None

    write(screen, turn, said)
