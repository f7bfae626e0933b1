"""Write the demo's year: every record of the tables, through the public API, in chronological order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from store.base.citations import cite
from store.base.location import FILE, FOLDER, Location
from store.conversations.turns import NewTurn
from store.inbox import new_fact_check
from store.learning import rule_pass
from store.memory import Memory
from store.services import maintenance
from tui.demo.calendar import Calendar, Hands
from tui.demo.conversations import READ, SENT, TALK
from tui.demo.decisions import DECISIONS, FORGOTTEN
from tui.demo.facts import CHANGES, FACTS
from tui.demo.journal import AUTOMATIC, CHECKPOINTS, EVENTS, ITERATIONS, LINKS, TASKS
from tui.demo.project import Project
from tui.demo.proposals import PROPOSED
from tui.demo.records import (
    DOORS,
    Automatic,
    DemoChange,
    DemoCheckpoint,
    DemoDecision,
    DemoEvent,
    DemoFact,
    DemoIteration,
    DemoLink,
    DemoSent,
    DemoTask,
    Forgotten,
    Proposed,
    Read,
    Said,
)

# when, origin, the function to call, the row of the table
Act = tuple[str, str, Callable[[Any], object], object]


def tell(folder: str, calendar: Calendar, project: Project) -> Location:
    """Write the memory of the project in `folder`, and its commits alongside."""
    location = Location(os.path.join(folder, FOLDER, FILE), "project", "made by memoranda demo", folder)
    hands = Hands(calendar)
    with Memory(location, "cli", hands) as memory:
        memory.database.connection.pragma("synchronous", 0)  # not synced: a demo lost to a power cut is built again
        telling = Telling(memory, project, hands)
        for when, by, do, record in sorted(telling.acts(), key=lambda act: calendar.at(act[0])):
            hands.put(calendar.at(when))
            memory.database.door = DOORS[by]
            do(record)
        hands.put(calendar.now - 1)
        telling.read_git()
        new_fact_check.settle(memory.database)  # facts of that year are marked as checked
    return location


class Telling:
    """One build of the demo; keeps the ids of written records by the names and texts of the tables."""

    def __init__(self, memory: Memory, project: Project, hands: Hands) -> None:
        self._memory = memory
        self._project = project
        self._hands = hands
        self._facts: dict[str, int] = {}
        self._tasks: dict[str, int] = {}

    def acts(self) -> Iterator[Act]:
        """Yield everything that happens, in no order."""
        for iteration in ITERATIONS:
            yield iteration.when, iteration.by, self._start, iteration
            if iteration.until:
                yield iteration.until, iteration.by, self._end, iteration
        for fact in FACTS:
            yield fact.when, fact.by, self._remember, fact
            for when in fact.seen.split():
                yield when, "user", self._confirm, fact
        for change in CHANGES:
            yield change.when, change.by, self._change, change
        for decision in DECISIONS:
            yield decision.when, decision.by, self._decide, decision
        for forgotten in FORGOTTEN:
            yield forgotten.when, forgotten.by, self._forget, forgotten
        for event in EVENTS:
            yield event.when, event.by, self._log, event
        for task in TASKS:
            yield task.when, task.by, self._add, task
            for when, status in ((task.started, "in_progress"), (task.done, "done")):
                if when:
                    yield when, task.by, self._move, (task, status)
        for checkpoint in CHECKPOINTS:
            yield checkpoint.when, checkpoint.by, self._take, checkpoint
        for said in TALK:
            yield said.when, said.by, self._say, said
        for sent in SENT:
            yield sent.when, sent.by, self._send, sent
        for read in READ:
            yield read.when, read.by, self._read, read
        for automatic in AUTOMATIC:
            yield automatic.when, automatic.by, self._take_by_itself, automatic
        for proposed in PROPOSED:
            yield proposed.when, proposed.by, self._propose, proposed
        for link in LINKS:
            yield link.when, link.by, self._link, link

    def read_git(self) -> None:
        """Write the commits up to this moment, and read the new ones into the timeline."""
        door = self._memory.database.door
        self._memory.database.door = "worker"
        if self._project.grow(self._hands.ms):
            source = maintenance.repository(self._memory, self._project.folder)
            if source is not None:
                maintenance.catch_up(self._memory, source)
        self._memory.database.door = door

    def _remember(self, fact: DemoFact) -> None:
        number, _ = self._memory.facts.remember(
            fact.text,
            actor=fact.by,
            domain=fact.domain,
            confidence=fact.confidence,
            source="explicit" if fact.by == "user" else "inferred",
            pinned=fact.pinned,
            evidence=fact.evidence.split(),
            tags=fact.tags.split(),
        )
        self._facts[fact.name or fact.text] = number

    def _confirm(self, fact: DemoFact) -> None:
        self._memory.facts.confirm([self._facts[fact.name or fact.text]])

    def _change(self, change: DemoChange) -> None:
        facts = self._memory.facts
        numbers = [self._facts[name] for name in change.names.split()]
        if change.verb == "correct":
            self._facts[change.to] = facts.correct(numbers[0], change.text, actor=change.by)
        elif change.verb == "confirm":
            facts.confirm(numbers, actor=change.by)
        else:
            facts.forget(numbers, actor=change.by)

    def _decide(self, decision: DemoDecision) -> None:
        self._memory.decisions.decide(
            decision.title,
            decision.chosen,
            context=decision.context,
            alternatives=decision.instead,
            rationale=decision.why,
            impact=decision.impact,
            phase=decision.phase,
            supersedes=decision.supersedes or None,
            actor=decision.by,
        )

    def _forget(self, forgotten: Forgotten) -> None:
        self._memory.decisions.forget([forgotten.number], actor=forgotten.by)

    def _start(self, iteration: DemoIteration) -> None:
        self._memory.iterations.start(iteration.command, iteration.text, actor=iteration.by)

    def _end(self, iteration: DemoIteration) -> None:
        self._memory.iterations.end(
            abandoned=iteration.abandoned,
            phases=iteration.phases.split(),
            artifacts=iteration.artifacts.split(),
            actor=iteration.by,
        )

    def _log(self, event: DemoEvent) -> None:
        self._memory.events.log(event.kind, phase=event.phase, payload=event.payload, actor=event.by)

    def _add(self, task: DemoTask) -> None:
        self._tasks[task.text] = self._memory.tasks.add(task.text, actor=task.by)

    def _move(self, step: tuple[DemoTask, str]) -> None:
        task, status = step
        self._memory.tasks.move(self._tasks[task.text], status, actor=task.by)

    def _take(self, checkpoint: DemoCheckpoint) -> None:
        self._memory.checkpoints.take(checkpoint.name, actor=checkpoint.by)

    def _say(self, said: Said) -> None:
        speaker = "Nadia" if said.role == "user" else ""
        turn = NewTurn(said.role, said.text, speaker)
        self._memory.turns.add(said.session, [turn], origin=said.by)

    def _send(self, sent: DemoSent) -> None:
        context = self._memory.context
        number = context.sent.keep(context("", sent.session), actor=sent.by)
        cited = [cite("fact", self._facts[name]) for name in sent.cites]
        context.sent.answered(number, valid=True, cited=cited, actor=sent.by)

    def _read(self, read: Read) -> None:
        rule_pass.run(self._memory)
        self._memory.summaries.write(read.session, all_of_it=True)

    def _propose(self, proposed: Proposed) -> None:
        change: dict[str, Any] = {
            "fact": proposed.text,
            "domain": proposed.domain,
            "confidence": proposed.confidence,
            "tags": proposed.tags.split(),
            "others": [self._facts[name] for name in proposed.others],
        }
        evidence = [
            {"citation": cite("fact", self._facts[at]) if at in self._facts else at, "quote": words}
            for at, words in proposed.quotes
        ]
        self._memory.inbox.propose(
            proposed.kind,
            change,
            target=self._facts[proposed.about] if proposed.about else None,
            evidence=evidence,
            origin=proposed.by,
            reason=proposed.why,
        )

    def _take_by_itself(self, automatic: Automatic) -> None:
        checkpoints = self._memory.checkpoints
        if automatic.level:
            checkpoints.take_due(automatic.level)
        elif automatic.tokens:
            checkpoints.usage(automatic.tokens, session=automatic.session)
        else:
            checkpoints.session_end(session=automatic.session)

    def _link(self, link: DemoLink) -> None:
        self.read_git()
        self._memory.commits.link(self._project.sha(link.commit), link.decision, link.kind, actor=link.by)
