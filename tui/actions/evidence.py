"""Bind facts and decisions to their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.base.models import Decision, Fact
from tui.actions.support import refuse, undoes, write

if TYPE_CHECKING:
    from store.evidence.evidence import BoundEvidence
    from store.memory import Memory
    from tui.actions.host import ActionHost


def bind(screen: ActionHost) -> None:
    """Ask what the record rests on; with - in front it is taken away, and nothing takes it as it is now."""
    record = screen.target()
    if not isinstance(record, Fact | Decision):
        refuse(screen, [record] if record is not None else [], "Only facts and decisions rest on evidence.")
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
        write(screen, work, f"{record.citation}: {done}{undoes()}")

    bound = " (nothing: take it as it is now, - takes away)" if record.evidence_state else ""
    screen.ask(f"{record.citation} rests on{bound}", "", answer)
