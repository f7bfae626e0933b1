"""A screen of a list whose changes are seen before they are done: `y` does what is shown, `n` leaves everything."""

from __future__ import annotations

from abc import abstractmethod  # checked by mypy: the metaclass of a screen is not ABCMeta
from typing import Generic, TypeVar

from store.base.errors import MemorandaError
from tui.screens.list_screen import ListScreen

Plan = TypeVar("Plan")


class PlannedScreen(ListScreen["str | None"], Generic[Plan]):
    """`plan` is what is shown and asked; None while nothing is."""

    def __init__(self) -> None:
        super().__init__()
        self.plan: Plan | None = None

    @abstractmethod
    def carry_out(self, plan: Plan) -> object:
        """Do what was shown, on a worker thread."""

    @abstractmethod
    def usual_keys(self) -> None:
        """Show the keys while nothing is asked."""

    @abstractmethod
    def show_current(self) -> None:
        """Show what is under the cursor."""

    def draw_keys(self) -> None:
        if self.plan is not None:
            self.put_keys([("y", "does it", "yes"), ("n", "leaves it", "no")], "leaves it")
        else:
            self.usual_keys()

    def action_yes(self) -> None:
        """Do what is shown."""
        if self.plan is not None:
            plan, self.plan = self.plan, None
            self.carry_out(plan)

    def action_no(self) -> None:
        """Leave everything as it is."""
        if self.plan is not None:
            self.plan = None
            self.draw_keys()
            self.show_current()

    def refused(self, error: MemorandaError) -> None:
        """Say why nothing was done."""
        self.say(str(error), "error")
        self.action_no()
        self.draw_keys()

    def action_leave(self) -> None:
        """Leave what is asked, then the screen."""
        if self.plan is not None:
            self.action_no()
        else:
            self.dismiss(None)
