"""Purge the marked records, or the one in the preview, after a screen that lists everything affected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.base.models import Decision, Event, Fact, GlobalFact, Proposal, Step, Summary, Task, Turn
from store.search.lookup import kind_of
from store.team.sharing import with_shared as purge_with_shared
from tui.actions.support import refuse
from tui.render.plurals import count

if TYPE_CHECKING:
    from store.memory import Memory
    from store.purge.purge import PurgePlan
    from tui.actions.host import ActionHost
    from tui.screens.plans.purge import Run


def purge(screen: ActionHost) -> None:
    things = screen.targets()
    records = [
        (kind_of(thing), thing.id)
        for thing in things
        if not isinstance(thing, Step)
        and isinstance(thing, Fact | GlobalFact | Decision | Task | Turn | Event | Summary | Proposal)
    ]
    if records:
        show(screen, records, lambda memory: purge_with_shared(memory, memory.purge.plan(records)))
    else:
        refuse(screen, things, "Only facts, decisions, tasks, turns, events, summaries and proposals can be purged.")


def show(
    screen: ActionHost, records: Sequence[tuple[str, int]], planned: Callable[[Memory], PurgePlan], words: str = ""
) -> None:
    """Plan a purge and show the plan: in both memories where these records are in both, else what is `planned`. The
    `words` that found it are typed again before it is carried out."""

    def plan(memory: Memory) -> tuple[PurgePlan, Run | None, Sequence[str]]:
        from tui.commands.privacy.purge_global import plan_of_both

        both = plan_of_both(memory, records)
        return (planned(memory), None, ()) if both is None else (both.as_one(memory), both.run, both.elsewhere)

    def done(made: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.later(screen.say, str(error), "warning", 8)
        elif isinstance(made, tuple):
            screen.later(_ask, screen, words, *made)

    if screen.engine is not None:
        screen.engine.write(plan, done)


def _ask(screen: ActionHost, words: str, plan: PurgePlan, run: Run | None, elsewhere: Sequence[str]) -> None:
    from tui.screens.plans.purge import PurgeScreen

    if screen.engine is not None:
        screen.app.push_screen(
            PurgeScreen(screen.engine, plan, screen.form, run, words), lambda result: _report(screen, result, elsewhere)
        )


def _report(screen: ActionHost, result: object, elsewhere: Sequence[str]) -> None:
    """Report the result; put details in the preview."""
    from tui.commands.privacy.purge import done_lines

    if not isinstance(result, tuple):
        return
    done, traces = result
    lines = [*done_lines(done, traces), *elsewhere]
    screen.unmark()
    screen.say(f"Erased {count(done.purged, 'record')} with all old versions. {lines[-1]}", alone=True, timeout=8)
    screen.refresh_records()
    if len(lines) > 1:
        screen.pane.read_out([f"Erased {count(done.purged, 'record')} with all old versions.", "", *lines])
