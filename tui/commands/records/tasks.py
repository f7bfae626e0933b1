"""task, tasks, iteration, iterations."""

from store.base.citations import cite
from store.base.errors import InvalidInput
from tui.commands import Outcome, Session, number, text_of, though_purged
from tui.render.plurals import cited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments

# verb → (the new status, the message)
MOVES = {"start": ("in_progress", "Started"), "done": ("done", "Done with"), "reopen": ("pending", "Reopened")}


def task(session: Session, given: "ParsedArguments") -> Outcome:
    tasks = session.memory.tasks
    if given.what == "add":
        text = text_of(session, given.words, "task add")
        new = though_purged(session, given, lambda again: tasks.add(text, again=again))
        return Outcome(f"Added {cite('task', new)}.", lambda: _json(session, [new])[0])
    if given.what not in MOVES:
        raise InvalidInput("A task can be added, started, done and reopened.", "task add TEXT, or task done 5.")
    status, said = MOVES[given.what]
    ids = list(dict.fromkeys(number(word, "task") for word in given.words))
    tasks.move_all(ids, status)
    return Outcome(f"{said} {cited('task', ids)}.", lambda: _json(session, ids))


def list_tasks(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.vocabulary import TASK_STATUSES
    from store.records.tasks import OPEN
    from tui.commands.record_lines import left_out, none_of, task_line

    tasks = session.memory.tasks
    now = session.memory.now
    statuses = (given.status.replace(" ", "_").replace("-", "_"),) if given.status else OPEN
    iteration = number(given.iteration, "iteration") if given.iteration else None
    ids = tasks.ids(statuses=TASK_STATUSES if given.all else statuses, iteration_id=iteration, limit=given.limit + 1)
    shown = ids[: given.limit]
    lines = [task_line(task, now) for task in tasks.many(shown)]
    if not lines:
        empty = 'No tasks here. Add one: memoranda task add "renew the certificate"'
        lines = none_of("tasks --all", empty, given.status, given.iteration)
    return Outcome(data=lambda: _json(session, shown), lines=[*lines, *left_out(len(ids) - len(shown), given.limit)])


def iteration(session: Session, given: "ParsedArguments") -> Outcome:
    iterations = session.memory.iterations
    if given.what == "start" and (given.phase or given.artifact):
        raise InvalidInput(
            "Phases and artifacts are told when an iteration ends.", "iteration complete --phase design --artifact FILE"
        )
    if given.what == "start":
        command, *words = given.words or [""]
        new = iterations.start(command, " ".join(words))
        said = f"Started {cite('iteration', new)}: what is recorded from now on belongs to it."
    elif given.what in ("complete", "abandon"):
        if len(given.words) > 1:
            raise InvalidInput("One iteration at a time is ended.", f"iteration {given.what} {given.words[0]}")
        named = number(given.words[0], "iteration") if given.words else None
        new = iterations.end(named, abandoned=given.what == "abandon", phases=given.phase, artifacts=given.artifact)
        said = f"{'Abandoned' if given.what == 'abandon' else 'Completed'} {cite('iteration', new)}."
    else:
        raise InvalidInput(
            "An iteration can be started, completed and abandoned.", "iteration start fix TEXT, or iteration complete."
        )
    return Outcome(said, lambda: _iteration(session, new))


def list_iterations(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from tui.commands.record_lines import iteration_line, left_out

    iterations = session.memory.iterations
    ids = iterations.ids(given.limit + 1)
    shown = iterations.many(ids[: given.limit])
    belonging = iterations.belonging([found.id for found in shown])
    lines = [iteration_line(found, *belonging[found.id]) for found in shown]
    if not lines:
        lines = ['No iterations yet. Start one: memoranda iteration start feature "store invoices"']
    return Outcome(
        data=lambda: [
            {**as_json(found), **dict(zip(("decisions", "commits"), belonging[found.id], strict=True))}
            for found in shown
        ],
        lines=[*lines, *left_out(len(ids) - len(shown), given.limit)],
    )


def _json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(task) for task in session.memory.tasks.many(ids)]


def _iteration(session: Session, number: int) -> dict[str, object]:
    from store.base.models import as_json

    return as_json(session.memory.iterations.get(number))
