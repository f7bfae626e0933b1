"""Purge the marked records, or the one in the preview, after a screen that lists everything affected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from store import Decision, Event, Fact, GlobalFact, MemorandaError, Proposal, Step, Summary, Task, Turn, kind_of
from tui.actions.support import names_of, refuse
from tui.render.plurals import count

if TYPE_CHECKING:
    from store import Memory, PurgePlan
    from tui.actions.host import ActionHost


def purge(screen: ActionHost) -> None:
    things = screen.targets()
    records = [
        (kind_of(thing), thing.id)
        for thing in things
        if not isinstance(thing, Step) and isinstance(thing, Fact | Decision | Task | Turn | Event | Summary | Proposal)
    ]
    if records:
        from store import purge_with_shared

        show(screen, lambda memory: purge_with_shared(memory, memory.purge.plan(records)))
    else:
        if any(isinstance(thing, GlobalFact) for thing in things):
            refuse(screen, things, f"On the command line: memoranda purge {names_of(things)} erases it everywhere.")
            return
        refuse(screen, things, "Only facts, decisions, tasks, turns, events, summaries and proposals can be purged.")


def show(screen: ActionHost, planned: Callable[[Memory], PurgePlan]) -> None:
    """Plan a purge and show the plan."""

    def done(plan: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.later(screen.say, str(error), "warning", 8)
        else:
            screen.later(_ask, screen, plan)

    if screen.engine is not None:
        screen.engine.write(planned, done)


def _ask(screen: ActionHost, plan: PurgePlan) -> None:
    from tui.screens.plans.purge import PurgeScreen

    if screen.engine is not None:
        screen.app.push_screen(PurgeScreen(screen.engine, plan, screen.form), lambda result: _report(screen, result))


def _report(screen: ActionHost, result: object) -> None:
    """Report the result; put details in the preview."""
    from tui.commands.privacy.purge import done_lines

    if not isinstance(result, tuple):
        return
    done, traces = result
    lines = done_lines(done, traces)
    screen.unmark()
    screen.say(f"Erased {count(done.purged, 'record')} with all old versions. {lines[-1]}", alone=True, timeout=8)
    screen.refresh_records()
    if len(lines) > 1:
        screen.pane.read_out([f"Erased {count(done.purged, 'record')} with all old versions.", "", *lines])
