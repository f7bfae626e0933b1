"""Which of the inbox's proposals speak against a decision, for their lines; worked out once for each, on a worker."""

from __future__ import annotations

from collections.abc import Sequence

from store import Memory
from store import find_decision_matches as find_matches

MOST = 100  # proposals, the newest, whose lines tell it; each takes a millisecond or two


class DecisionConflicts:
    """What is known of one memory's proposals."""

    def __init__(self) -> None:
        self._decisions: object = None  # by which it was worked out
        self._known: dict[int, str] = {}

    def read(self, memory: Memory, numbers: Sequence[int]) -> dict[int, str]:
        """Proposal → the decision it speaks against, for those that do."""
        decisions = memory.database.row("SELECT count(*), max(id) FROM decisions WHERE status = 'active'")
        if decisions != self._decisions:
            self._decisions, self._known = decisions, {}
        for one in memory.inbox.many([number for number in numbers[:MOST] if number not in self._known]):
            found = find_matches(memory.database, one.text) if one.kind != "forget" else []
            self._known[one.id] = found[0].decision.citation if found and found[0].against else ""
        return {number: cited for number, cited in self._known.items() if cited}
