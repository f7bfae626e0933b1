"""Show what a restore or an undo would change, and the changes between two moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from store.base.errors import MemorandaError
from tui.actions.host import ActionHost
from tui.panes.host import Host

if TYPE_CHECKING:
    from store.history.restore_plan import AppliedPlan, Plan
    from store.services.point_in_time import PointInTime
    from tui.workers.queries import Target


class PlanHost(Host, ActionHost, Protocol):
    """The interface that plans need of the screen."""

    def refuses(self) -> bool: ...
    def open_citation(self, text: str) -> None: ...


class PlanController:
    """Computes a plan on a worker thread, and shows its screen."""

    def __init__(self, host: PlanHost) -> None:
        self.host = host

    def show_plan(self, kind: str, target: int | str) -> None:
        """Show what a restore, an undo or the undo of an origin would change; undo a single record at once."""
        if self.host.engine is not None and not self.host.refuses():
            self._read(kind, target)

    def show_since(self, start: str | PointInTime, end: str = "now") -> None:
        """Show the changes between two moments."""
        if self.host.engine is not None and (not isinstance(start, str) or start.strip()):
            self._read("since", (start, end))

    def _read(self, kind: str, target: Target) -> None:
        def work() -> None:
            assert self.host.engine is not None
            try:
                found = self.host.engine.plan(kind, target)
            except MemorandaError as error:
                self.host.later(self.host.say, str(error), "warning", 8)
                return
            self.host.later(self._show, kind, *found)

        self.host.in_background(work, "plan", "work out what would change", exclusive=True)

    def _show(self, kind: str, plan: Plan, title: str, note: str) -> None:
        from tui.screens.plans.plan import PlanScreen

        engine = self.host.engine
        if engine is None:
            return
        if not plan.changes:
            unchanged = kind in ("since", "checkpoint")
            self.host.say("Nothing changed since." if unchanged else "Nothing of it is in force any more.")
        elif kind == "step" and len(plan.changes) == 1 and engine.proposed(plan, "replace") == frozenset((0,)):
            from tui.actions.history import take_back_now

            take_back_now(self.host, plan, note)
        else:
            undone_by = note.rpartition("; ")[2]
            shown = PlanScreen(engine, plan, title, note, kind, self.host.form)
            self.host.app.push_screen(shown, lambda result: self._done(result, undone_by))

    def _done(self, result: object, undone_by: str) -> None:
        from store.history.restore_plan import AppliedPlan

        if isinstance(result, str):
            self.host.open_citation(result)
        elif isinstance(result, AppliedPlan):
            self.host.say(applied_words(result, undone_by), alone=True, timeout=6)
            self.host.refresh_records()


def applied_words(applied: AppliedPlan, undone_by: str) -> str:
    """Return the message about what was applied, and how to undo it."""
    from tui.render.plurals import count

    before = f"; K#{applied.checkpoint} is how it was" if applied.checkpoint else ""
    return f"{count(applied.changed, 'record')} changed{before}; {undone_by}"
