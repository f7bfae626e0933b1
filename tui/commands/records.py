"""The commands decide, decisions, link, event, task, iteration, and their lists."""

from __future__ import annotations

import json

from store.base.citations import cite
from store.base.errors import InvalidInput, NotFound
from store.base.models import as_json
from store.base.vocabulary import PERSON_ORIGIN, TASK_STATUSES
from store.records.workflow import OPEN_STATUSES
from store.upkeep.maintenance import read_new_commits, readable_repository
from tui.commands.call import Outcome, Session, ask_if_purged, parse_id, parse_reference, typed_or_piped_text
from tui.commands.record_lines import empty_list_line, entry_line, iteration_line, more_line, task_line
from tui.input.arguments import ParsedArguments
from tui.render.lines import cite_or_count

# decide, decisions, link, unlink.


def decide(session: Session, given: ParsedArguments) -> Outcome:
    decisions = session.memory.decisions
    new = ask_if_purged(
        session,
        given,
        lambda again: decisions.decide(
            " ".join(given.title),
            given.chosen,
            context=given.context,
            alternatives=given.alternative,
            rationale=given.rationale,
            impact=given.impact,
            phase=given.phase,
            supersedes=parse_id(given.supersedes, "decision") if given.supersedes else None,
            key=given.key,
            again=again,
        ),
    )
    return Outcome(f"Recorded {cite('decision', new)}.", lambda: as_json(decisions.get(new)))


def list_decisions(session: Session, given: ParsedArguments) -> Outcome:
    decisions = session.memory.decisions
    ids = decisions.ids(
        statuses=("active", "superseded", "forgotten") if given.all else ("active",),
        iteration_id=parse_id(given.iteration, "iteration") if given.iteration else None,
    )
    shown = decisions.get_many(ids[: given.limit])
    lines = [entry_line("decision", decision) for decision in shown]
    if not lines:
        empty = 'No decisions yet. Record one: memoranda decide "Use SQLite" --chosen "SQLite, WAL"'
        lines = empty_list_line("decisions", empty, given.iteration)
    return Outcome(
        data=lambda: [as_json(decision) for decision in shown],
        lines=[*lines, *more_line(len(ids) - len(shown), given.limit)],
    )


def link(session: Session, given: ParsedArguments) -> Outcome:
    """Link a commit with a decision."""
    sha, decision = _parse_link(given)
    try:
        made = session.memory.commits.link(sha, decision, given.type)
    except NotFound:
        session.memory.decisions.get(decision)  # where that is missing, git need not be asked
        if not _read_new_commits(session):
            raise
        made = session.memory.commits.link(sha, decision, given.type)
    said = (
        f"{cite('commit', sha)} {given.type}{' to' if given.type == 'relates' else ''} {cite('decision', decision)}"
    )
    said += "." if made else " already: nothing was changed."
    return Outcome(said, lambda: _links_json(session, decision))


def unlink(session: Session, given: ParsedArguments) -> Outcome:
    """Remove the link between a commit and a decision."""
    sha, decision = _parse_link(given)
    session.memory.commits.unlink(sha, decision)
    said = f"{cite('commit', sha)} and {cite('decision', decision)} are no longer linked."
    return Outcome(said, lambda: _links_json(session, decision))


def _read_new_commits(session: Session) -> bool:
    """Read the commits that the timeline lacks; return whether there were any."""
    source = readable_repository(session.memory, session.cwd)
    return bool(source and read_new_commits(session.memory, source))


def _parse_link(given: ParsedArguments) -> tuple[str, int]:
    """Parse the two ends of a link: the commit and the decision."""
    written = given.commit if "#" in given.commit else f"C#{given.commit}"
    return str(parse_reference(written, "commit").target), parse_id(given.decision, "decision")


def _links_json(session: Session, decision: int) -> list[dict[str, object]]:
    return [as_json(link) for link in session.memory.commits.links_of_decision(decision)]


# event, events.


def event(session: Session, given: ParsedArguments) -> Outcome:
    """Log an event."""
    events = session.memory.events
    new = events.log(
        given.type,
        phase=given.phase,
        payload=None if given.payload is None else _parse_payload(given.payload),
        iteration_id=parse_id(given.iteration, "iteration") if given.iteration else None,
        actor=PERSON_ORIGIN,
        key=given.key,
    )
    return Outcome(f"Logged {cite('event', new)}.", lambda: _events_json(session, [new])[0])


def list_events(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    ids = memory.events.ids(
        event_type=given.type or "",
        iteration_id=parse_id(given.iteration, "iteration") if given.iteration else None,
        since=memory.typed_moment(given.since) if given.since else "",
        limit=given.limit + 1,
    )
    shown = ids[: given.limit]
    lines = [entry_line("event", found) for found in memory.events.get_many(shown)]
    if not lines:
        empty = "No events here. Log one: memoranda event phase_completed --phase design"
        lines = empty_list_line("events", empty, given.type, given.iteration, given.since)
    return Outcome(
        data=lambda: _events_json(session, shown), lines=[*lines, *more_line(len(ids) - len(shown), given.limit)]
    )


def _parse_payload(text: str) -> object:
    try:
        found: object = json.loads(text, parse_constant=_reject_constant)
        return found
    except (ValueError, RecursionError):
        raise InvalidInput(
            "The payload is not JSON.", """For example: --payload '{"result": "approved"}'"""
        ) from None


def _reject_constant(name: str) -> object:
    """Reject NaN and the infinities, which Python parses but JSON does not have."""
    raise ValueError(name)


def _events_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(found) for found in session.memory.events.get_many(ids)]


# task, tasks, iteration, iterations.

# verb → (the new status, the message)
TASK_MOVES = {"start": ("in_progress", "Started"), "done": ("done", "Done with"), "reopen": ("pending", "Reopened")}


def task(session: Session, given: ParsedArguments) -> Outcome:
    """Add a task, or start, finish or reopen tasks."""
    tasks = session.memory.tasks
    if given.what == "add":
        text = typed_or_piped_text(session, given.words, "task add")
        new = ask_if_purged(session, given, lambda again: tasks.add_task(text, again=again))
        return Outcome(f"Added {cite('task', new)}.", lambda: _tasks_json(session, [new])[0])
    if given.what not in TASK_MOVES:
        raise InvalidInput("A task can be added, started, done and reopened.", "task add TEXT, or task done 5.")
    status, said = TASK_MOVES[given.what]
    ids = list(dict.fromkeys(parse_id(word, "task") for word in given.words))
    tasks.move_all(ids, status)
    return Outcome(f"{said} {cite_or_count('task', ids)}.", lambda: _tasks_json(session, ids))


def list_tasks(session: Session, given: ParsedArguments) -> Outcome:
    tasks = session.memory.tasks
    now = session.memory.now
    statuses = (given.status.replace(" ", "_").replace("-", "_"),) if given.status else OPEN_STATUSES
    iteration = parse_id(given.iteration, "iteration") if given.iteration else None
    ids = tasks.ids(
        statuses=TASK_STATUSES if given.all else statuses, iteration_id=iteration, limit=given.limit + 1
    )
    shown = ids[: given.limit]
    lines = [task_line(task, now) for task in tasks.get_many(shown)]
    if not lines:
        empty = 'No tasks here. Add one: memoranda task add "renew the certificate"'
        lines = empty_list_line("tasks --all", empty, given.status, given.iteration)
    return Outcome(
        data=lambda: _tasks_json(session, shown), lines=[*lines, *more_line(len(ids) - len(shown), given.limit)]
    )


def iteration(session: Session, given: ParsedArguments) -> Outcome:
    """Start, complete or abandon an iteration."""
    iterations = session.memory.iterations
    if given.what == "start" and (given.phase or given.artifact):
        raise InvalidInput(
            "Phases and artifacts are told when an iteration ends.",
            "iteration complete --phase design --artifact FILE",
        )
    if given.what == "start":
        command, *words = given.words or [""]
        new = iterations.start_iteration(command, " ".join(words))
        said = f"Started {cite('iteration', new)}: what is recorded from now on belongs to it."
    elif given.what in ("complete", "abandon"):
        if len(given.words) > 1:
            raise InvalidInput("One iteration at a time is ended.", f"iteration {given.what} {given.words[0]}")
        named = parse_id(given.words[0], "iteration") if given.words else None
        new = iterations.end_iteration(
            named, abandoned=given.what == "abandon", phases=given.phase, artifacts=given.artifact
        )
        said = f"{'Abandoned' if given.what == 'abandon' else 'Completed'} {cite('iteration', new)}."
    else:
        raise InvalidInput(
            "An iteration can be started, completed and abandoned.",
            "iteration start fix TEXT, or iteration complete.",
        )
    return Outcome(said, lambda: _iteration_json(session, new))


def list_iterations(session: Session, given: ParsedArguments) -> Outcome:
    iterations = session.memory.iterations
    ids = iterations.ids(given.limit + 1)
    shown = iterations.get_many(ids[: given.limit])
    belonging = iterations.count_belonging([found.id for found in shown])
    lines = [iteration_line(found, *belonging[found.id]) for found in shown]
    if not lines:
        lines = ['No iterations yet. Start one: memoranda iteration start feature "store invoices"']
    return Outcome(
        data=lambda: [
            {**as_json(found), **dict(zip(("decisions", "commits"), belonging[found.id], strict=True))}
            for found in shown
        ],
        lines=[*lines, *more_line(len(ids) - len(shown), given.limit)],
    )


def _tasks_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(task) for task in session.memory.tasks.get_many(ids)]


def _iteration_json(session: Session, number: int) -> dict[str, object]:
    return as_json(session.memory.iterations.get(number))
