"""Write the demo's year: every row of year.jsonl, through the public API, in chronological order.

A row is `[when, actor, what, arguments]`. `when` is the calendar's; `what` is one of `Year.calls`, whose arguments
follow. A fact that later rows change has a `name`, else its text is its name; `seen` is when a person confirmed it. The
numbers of decisions and tasks are their places in the year: the commits of commits.txt cite decisions by them.

Retention deletes five-minute checkpoints after a day and half-hour ones after a week. The last links of commits before
Monday are after that day's commits, so that they are not among the changes since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from store.base.citations import cite
from store.base.location import FILE, FOLDER, Location
from store.conversations.turns import NewTurn
from store.inbox import new_fact_check
from store.learning import rule_pass
from store.memory import Memory
from store.services import maintenance
from tui.demo.calendar import Calendar, Hands
from tui.demo.project import Project

# actor → the door that it writes through
DOORS = {
    "user": "app",
    "agent": "hook",
    "mcp:claude-code": "mcp",
    "hook": "hook",
    "file": "worker",
    "import:notes": "cli",
    "duplicates": "worker",
}

Act = tuple[str, str, Callable[[], object]]
"""When, by whom, and what is done."""


def read_rows() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield the rows of the year, in the order of the file."""
    for line in Path(__file__).with_name("year.jsonl").read_text(encoding="utf-8").splitlines():
        when, actor, what, arguments = json.loads(line)
        yield when, actor, what, arguments


def tell(folder: str, calendar: Calendar, project: Project) -> Location:
    """Write the memory of the project in `folder`, and its commits alongside."""
    location = Location(os.path.join(folder, FOLDER, FILE), "project", "made by memoranda demo", folder)
    hands = Hands(calendar)
    with Memory(location, "cli", hands) as memory:
        memory.database.connection.pragma("synchronous", 0)  # not synced: a demo lost to a power cut is built again
        year = Year(memory, project, hands)
        for when, actor, do in sorted(year.acts(), key=lambda act: calendar.at(act[0])):
            hands.put(calendar.at(when))
            memory.database.door = DOORS[actor]
            do()
        hands.put(calendar.now - 1)
        year.read_git()
        new_fact_check.settle(memory.database)  # facts of that year are marked as checked
    return location


class Year:
    """One build of the demo; keeps the ids of written facts by their names."""

    def __init__(self, memory: Memory, project: Project, hands: Hands) -> None:
        self._memory = memory
        self._project = project
        self._hands = hands
        self._facts: dict[str, int] = {}
        self.calls: dict[str, Callable[..., object]] = {
            "remember": self._remember,
            "confirm": self._confirm,
            "correct": self._correct,
            "forget": self._forget,
            "decide": memory.decisions.decide,
            "forget decisions": memory.decisions.forget,
            "start iteration": memory.iterations.start,
            "end iteration": memory.iterations.end,
            "log event": memory.events.log,
            "add task": memory.tasks.add,
            "move task": memory.tasks.move,
            "take checkpoint": memory.checkpoints.take,
            "take due checkpoint": lambda level, actor: memory.checkpoints.take_due(level),
            "report tokens": memory.checkpoints.usage,
            "end session": memory.checkpoints.session_end,
            "say": self._say,
            "send context": self._send_context,
            "read session": self._read_session,
            "propose": self._propose,
            "link commit": self._link_commit,
        }

    def acts(self) -> Iterator[Act]:
        """Yield everything that happens, in no order."""
        for when, actor, what, arguments in read_rows():
            seen = arguments.pop("seen", "")
            yield when, actor, partial(self.calls[what], **arguments, actor=actor)
            for later in seen.split():
                name = arguments.get("name", arguments["text"])
                yield later, "user", partial(self._confirm, [name], "user")

    def read_git(self) -> None:
        """Write the commits up to this moment, and read the new ones into the timeline."""
        door = self._memory.database.door
        self._memory.database.door = "worker"
        if self._project.grow(self._hands.ms):
            source = maintenance.repository(self._memory, self._project.folder)
            if source is not None:
                maintenance.catch_up(self._memory, source)
        self._memory.database.door = door

    def _remember(self, text: str, actor: str, name: str = "", **details: Any) -> None:
        source = "explicit" if actor == "user" else "inferred"
        self._facts[name or text], _ = self._memory.facts.remember(text, actor=actor, source=source, **details)

    def _confirm(self, facts: Sequence[str], actor: str) -> None:
        self._memory.facts.confirm([self._facts[name] for name in facts], actor=actor)

    def _correct(self, fact: str, text: str, name: str, actor: str) -> None:
        self._facts[name] = self._memory.facts.correct(self._facts[fact], text, actor=actor)

    def _forget(self, facts: Sequence[str], actor: str) -> None:
        self._memory.facts.forget([self._facts[name] for name in facts], actor=actor)

    def _say(self, session: str, role: str, text: str, actor: str) -> None:
        turn = NewTurn(role, text, "Nadia" if role == "user" else "")
        self._memory.turns.add(session, [turn], origin=actor)

    def _send_context(self, session: str, actor: str, cites: Sequence[str] = ()) -> None:
        """Send the agent a context for the last turn of a session; its answer cites these facts."""
        context = self._memory.context
        number = context.sent.keep(context("", session), actor=actor)
        cited = [cite("fact", self._facts[name]) for name in cites]
        context.sent.answered(number, valid=True, cited=cited, actor=actor)

    def _read_session(self, session: str, actor: str) -> None:
        """Look for facts in a session, and summarise it."""
        rule_pass.run(self._memory)
        self._memory.summaries.write(session, all_of_it=True)

    def _propose(
        self,
        kind: str,
        actor: str,
        about: str = "",
        others: Sequence[str] = (),
        quotes: Sequence[tuple[str, str]] = (),
        reason: str = "",
        **change: Any,
    ) -> None:
        """Propose a change that waits for Nadia's decision; a quote is from a citation, or from a fact by its text."""
        evidence = [
            {"citation": cite("fact", self._facts[at]) if at in self._facts else at, "quote": words}
            for at, words in quotes
        ]
        self._memory.inbox.propose(
            kind,
            {"fact": "", "domain": "", "confidence": "", "tags": [], "others": [self._facts[one] for one in others]}
            | change,
            target=self._facts[about] if about else None,
            evidence=evidence,
            origin=actor,
            reason=reason,
        )

    def _link_commit(self, commit: str, decision: int, actor: str, **kind: str) -> None:
        """Link a commit, named by the start of its subject, that states no decision. The rows are in a few batches:
        each reads git first, which takes 0.1 s."""
        self.read_git()
        self._memory.commits.link(self._project.sha(commit), decision, actor=actor, **kind)
