"""Find proposals that contradict a decision, for their rows; computed once for each, on a worker."""

from __future__ import annotations

from collections.abc import Sequence

from store.inbox.decision_conflicts import find_matches
from store.memory import Memory

MOST = 100  # maximum proposals checked, newest first; each takes 1 to 2 ms


class DecisionConflicts:
    """The results for one memory's proposals."""

    def __init__(self) -> None:
        self._decisions: object = None  # the decisions they were computed with
        self._known: dict[int, str] = {}

    def read(self, memory: Memory, numbers: Sequence[int]) -> dict[int, str]:
        """Return proposal → the decision that it contradicts, for those that do."""
        decisions = memory.database.row("SELECT count(*), max(id) FROM decisions WHERE status = 'active'")
        if decisions != self._decisions:
            self._decisions, self._known = decisions, {}
        for one in memory.inbox.many([number for number in numbers[:MOST] if number not in self._known]):
            found = find_matches(memory.database, one.text) if one.kind != "forget" else []
            self._known[one.id] = found[0].decision.citation if found and found[0].against else ""
        return {number: cited for number, cited in self._known.items() if cited}
