"""What the keys do to the memory: each hands its work to the pen, says what was done, and shows it.

A key is about the marked records, or about the one in the preview. More than MANY at once are asked about first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from store.citations import cite
from store.clock import to_ms
from store.errors import MemorandaError
from store.keys import pack
from store.models import Checkpoint, Commit, Decision, Fact, Step, Task
from store.vocabulary import PERSON
from tui.commands import count
from tui.describe import how_long_ago
from tui.engine import touched
from tui.keys import named

if TYPE_CHECKING:
    from store.memory import Memory
    from store.models import Record
    from store.plans import Plan
    from tui.screens.main import MainScreen

    Things = Sequence[Record | Step]

MANY = 10
FRESH_MS = 600_000  # what was done longer ago than that is undone with a word about it
JOURNAL = "Only facts, decisions and tasks can be changed; the rest is a journal of what happened."


# facts and decisions


def forget(screen: MainScreen) -> None:
    things = screen.targets()
    facts = [thing.id for thing in things if isinstance(thing, Fact)]
    decisions = [thing.id for thing in things if isinstance(thing, Decision)]
    if not facts and not decisions:
        _refuse(
            screen,
            things,
            f"A task is finished with {named('task.move')}; what was done is never forgotten."
            if _tasks(things)
            else "",
        )
        return

    def go() -> None:
        if len(facts) <= 2 * MANY:
            screen.hide_facts(facts)

        def work(memory: Memory) -> None:
            if facts:
                memory.facts.forget(facts)
            if decisions:
                memory.decisions.forget(decisions)

        _write(
            screen,
            work,
            f"Forgot {_counted(facts, 'fact', decisions, 'decision')}{undoes()}",
            back=pack("fact", facts[0]) if len(facts) == 1 else None,
        )

    _many(screen, f"Forget {_counted(facts, 'fact', decisions, 'decision')}?", len(facts) + len(decisions), go)


def confirm(screen: MainScreen) -> None:
    things = screen.targets()
    facts = [thing for thing in things if isinstance(thing, Fact)]
    if not facts:
        _refuse(screen, things, "Only facts age, so only facts are confirmed.")
        return
    said = facts[0].citation if len(facts) == 1 else count(len(facts), "fact")
    numbers = [fact.id for fact in facts]
    _many(
        screen,
        f"Confirm {said}?",
        len(facts),
        lambda: _write(screen, lambda memory: memory.facts.confirm(numbers), f"Confirmed {said}{undoes()}"),
    )


def pin(screen: MainScreen) -> None:
    things = screen.targets()
    facts = [thing for thing in things if isinstance(thing, Fact)]
    if not facts:
        _refuse(screen, things, "Only facts age, so only facts are pinned.")
        return
    pinned = not all(fact.pinned for fact in facts)
    said = facts[0].citation if len(facts) == 1 else count(len(facts), "fact")
    word = "Pinned" if pinned else "Unpinned"
    numbers = [fact.id for fact in facts if fact.pinned is not pinned]
    _many(
        screen,
        f"{'Pin' if pinned else 'Unpin'} {said}?",
        len(numbers),
        lambda: _write(screen, lambda memory: memory.facts.pin(numbers, pinned), f"{word} {said}{undoes()}"),
    )


def add(screen: MainScreen) -> None:
    """A fact; where the person stands among decisions, checkpoints or tasks, one of these."""
    place = screen.place
    if place == "timeline":
        _decide(screen, None)
    elif place == "checkpoints":
        checkpoint(screen)
    elif place == "tasks":
        screen.ask("to be done", "", lambda text: _add_task(screen, text))
    else:
        domain = screen.view.domain or "general"
        label = "remember" if domain == "general" else f"remember ({domain})"
        screen.ask(label, "", lambda text: _add_fact(screen, text, domain))


def _add_fact(screen: MainScreen, text: str, domain: str) -> None:
    def said(result: object) -> tuple[str, int | None]:
        number, new = result if isinstance(result, tuple) else (0, True)
        known = f"{cite('fact', number)} was known already: confirmed{undoes()}"
        return f"Remembered {cite('fact', number)}{undoes()}" if new else known, pack("fact", number)

    if text.strip():
        _write(screen, lambda memory: memory.facts.remember(text, domain=domain), said)


def _decide(screen: MainScreen, old: Decision | None) -> None:
    """Ask for a decision, one thing after the other; leaving any of the questions leaves all."""
    about = f"instead of {old.citation}: " if old else ""

    def titled(title: str) -> None:
        if title.strip():
            screen.ask(f"{about}chosen", "", lambda chosen: chosen_is(title, chosen))

    def chosen_is(title: str, chosen: str) -> None:
        if chosen.strip():
            others = "; ".join((old.chosen, *old.alternatives)) if old else ""
            screen.ask("instead of (; between several)", others, lambda text: because(title, chosen, text))

    def because(title: str, chosen: str, others: str) -> None:
        alternatives = [other.strip() for other in others.split(";") if other.strip()]
        screen.ask("because", "", lambda why: _write(
            screen,
            lambda memory: memory.decisions.decide(
                title, chosen, alternatives=alternatives, rationale=why, supersedes=old.id if old else None
            ),
            _made("Recorded", "decision"),
        ))  # fmt: skip

    screen.ask(f"{about}decision, in a few words", old.title if old else "", titled, over=True)


def _add_task(screen: MainScreen, text: str) -> None:
    if text.strip():
        _write(screen, lambda memory: memory.tasks.add(text), _made("Added", "task"))


def correct(screen: MainScreen) -> None:
    record = screen.target()
    if record is not None and (work := correction(record)) is not None:
        label = f"{record.citation} now chooses" if isinstance(record, Decision) else f"correct {_name(record)}"
        screen.ask(label, said_by(record), lambda text: replace(screen, record, work, text))
    elif record is not None:
        screen.say(JOURNAL, "warning")


def edit(screen: MainScreen) -> None:
    """`correct`, in the person's editor."""
    from tui.editor import edit as in_editor

    record = screen.target()
    if record is None or (work := correction(record)) is None:
        if record is not None:
            screen.say(JOURNAL, "warning")
        return
    try:
        text = in_editor(screen.app, said_by(record), command=screen.setting("editor"))
    except MemorandaError as error:
        screen.say(str(error), "error")
        return
    if text is None:
        screen.say("Nothing was changed.")
    else:
        replace(screen, record, work, text)


def said_by(record: Record | Step) -> str:
    """The text of a record that a correction replaces."""
    if isinstance(record, Fact):
        return record.fact
    if isinstance(record, Decision):
        return record.chosen
    return record.text if isinstance(record, Task) else ""


def correction(record: Record | Step) -> Callable[[Memory, str], object] | None:
    """What correcting a record does; None for what cannot be corrected."""
    if isinstance(record, Fact):
        return lambda memory, text: memory.facts.correct(record.id, text)
    if isinstance(record, Decision):
        return lambda memory, text: memory.decisions.correct(record.id, text)
    if isinstance(record, Task):
        return lambda memory, text: memory.tasks.correct(record.id, text)
    return None


def replace(screen: MainScreen, record: Record | Step, work: Callable[[Memory, str], object], text: str) -> None:
    """Put another text in the place of a record's own."""

    def said(new: object) -> tuple[str, int | None]:
        if isinstance(record, Decision):
            return f"{_cited('decision', new)} supersedes {record.citation}{undoes()}", _key("decision", new)
        return f"Corrected {_name(record)}{undoes()}", _key("fact", new) if isinstance(record, Fact) else None

    if text.strip():
        _write(screen, lambda memory: work(memory, text), said)


def supersede(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Decision):
        _decide(screen, record)
    elif record is not None:
        screen.say(f"Only a decision is superseded by another; {named('record.correct')} corrects a fact.", "warning")


def tag(screen: MainScreen) -> None:
    facts = [thing for thing in screen.targets() if isinstance(thing, Fact)]
    if not facts:
        screen.say("Only facts have tags.", "warning")
        return
    numbers = [fact.id for fact in facts]

    def answer(text: str) -> None:
        word = text.strip()
        if not word:
            return
        if word.startswith("-"):
            said = f"Took the tag {word[1:]} off {count(len(numbers), 'fact')}{undoes()}"
            _write(screen, lambda memory: memory.facts.untag(numbers, word[1:]), said)
        else:
            said = f"Tagged {count(len(numbers), 'fact')} {word}{undoes()}"
            _write(screen, lambda memory: memory.facts.tag(numbers, word), said)

    known = ", ".join(dict.fromkeys(word for fact in facts for word in fact.tags))
    screen.ask(f"tag {_names(facts)}{f' ({known})' if known else ''}", "", answer)


def link(screen: MainScreen) -> None:
    """Link the marked commits with the marked decisions, or take away the links there are; of one record, ask for the
    other end."""
    things = screen.targets()
    commits = [thing for thing in things if isinstance(thing, Commit)]
    decisions = [thing for thing in things if isinstance(thing, Decision)]
    if commits and decisions:
        _link(screen, [(commit.sha, decision.id) for commit in commits for decision in decisions])
    elif len(commits) == 1:
        sha = commits[0].sha
        label = f"link {commits[0].citation} with which decision? D#… (again takes the link away)"
        screen.ask(label, "", lambda text: _ask_link(screen, text, "decision", lambda other: [(sha, int(other))]))
    elif len(decisions) == 1:
        number = decisions[0].id
        label = f"link {decisions[0].citation} with which commit? C#… (again takes the link away)"
        screen.ask(label, "", lambda text: _ask_link(screen, text, "commit", lambda other: [(other, number)]))
    else:
        screen.say("Put the cursor on a commit or a decision, or mark one of each.", "warning")


def _ask_link(screen: MainScreen, text: str, kind: str, pairs: Callable[[str], list[tuple[str, int]]]) -> None:
    from tui.commands import reference

    if text.strip():
        written = text.strip() if "#" in text or kind == "decision" else f"C#{text.strip()}"
        try:
            _link(screen, pairs(str(reference(written, kind).target)))
        except MemorandaError as error:
            screen.say(str(error), "warning")


def _link(screen: MainScreen, pairs: list[tuple[str, int]]) -> None:
    def turn(memory: Memory) -> tuple[int, int]:
        made = taken = 0
        for sha, decision in pairs:
            ends = {known.decision for known in memory.commits.links_of_commit(memory.commits.resolve(sha))}
            if cite("decision", decision) in ends:
                memory.commits.unlink(sha, decision)
                taken += 1
            else:
                memory.commits.link(sha, decision)
                made += 1
        return made, taken

    def said(result: object) -> tuple[str, int | None]:
        made, taken = result if isinstance(result, tuple) else (0, 0)
        parts = [f"made {count(made, 'link')}" if made else "", f"took {count(taken, 'link')} away" if taken else ""]
        return " and ".join(part for part in parts if part).capitalize() + undoes(), None

    _write(screen, turn, said)


# tasks and iterations


def move_task(screen: MainScreen) -> None:
    tasks = [thing for thing in screen.targets() if isinstance(thing, Task)]
    if not tasks:
        screen.say(f"{named('task.move')} starts and finishes tasks; {named('pane.tasks')} goes to them.", "warning")
        return
    # of several, those that were begun decide: all of them are done then
    first = min((task.status for task in tasks), key=("in_progress", "pending", "done").index)
    status = {"pending": "in_progress", "in_progress": "done", "done": "pending"}[first]
    word = {"in_progress": "Started", "done": "Done:", "pending": "Open again:"}[status]
    tasks = [task for task in tasks if task.status != status]
    numbers = [task.id for task in tasks]
    _write(
        screen,
        lambda memory: memory.tasks.move_all(numbers, status),
        f"{word} {_names(tasks)}{undoes()}",
    )


def iteration(screen: MainScreen) -> None:
    """Start an iteration, or end the one under way: the line to do it, to be completed."""
    running = screen.engine.screen.iterations.active() if screen.engine is not None else None
    screen.action_command(f"iteration complete {running.id}" if running else "iteration start feature ")


# checkpoints and history


def checkpoint(screen: MainScreen) -> None:
    def answer(text: str) -> None:
        _write(screen, lambda memory: memory.checkpoints.take(text), _made("Took", "checkpoint"))

    screen.ask("name this moment", "", answer)


def restore(screen: MainScreen) -> None:
    record = screen.target()
    if isinstance(record, Checkpoint):
        screen.show_plan("checkpoint", record.id)
    elif record is not None:
        screen.say(
            f"{named('checkpoint.restore')} goes back to a checkpoint; {named('pane.checkpoints')} lists them.",
            "warning",
        )


def take_back(screen: MainScreen) -> None:
    """Take the step under the cursor back: at once if nothing stands in the way, else it is shown and decided."""
    record = screen.target()
    if not isinstance(record, Step):
        screen.say(
            f"{named('step.undo')} takes back a step of the history; {named('pane.history')} goes there. "
            f"{named('memory.undo')} takes back your newest change.",
            "warning",
        )
    elif record.undone_by is not None:
        screen.say(f"Step {record.seq} was taken back already, by step {record.undone_by}.", "warning")
    else:
        screen.show_plan("step", record.seq)


def take_back_now(screen: MainScreen, plan: Plan, undone_by: str) -> None:
    """Apply a plan of one record, in whose way nothing stands; `undone_by` says what takes that back."""
    said = f"Took back step {plan.undoes}: {plan.changes[0].title[:40]}; {undone_by}"
    _write(screen, lambda memory: memory.plans.apply(plan, {0}), said)


def take_back_all(screen: MainScreen) -> None:
    """Everything that whoever made this step, or wrote this record, has written."""
    record = screen.target()
    origin = record.actor if isinstance(record, Step) else getattr(record, "origin", "")
    if not origin:
        screen.say(
            f"{named('step.undo-all')} takes back all that one origin wrote: stand on something it wrote.", "warning"
        )
    elif origin == PERSON:
        screen.say(
            f"That is you. A checkpoint takes you back to a moment of yours: {named('pane.checkpoints')} lists them.",
            "warning",
        )
    else:
        screen.show_plan("origin", origin)


def since(screen: MainScreen) -> None:
    """What changed since a day or a checkpoint: the checkpoint under the cursor, unless another moment is typed."""
    record = screen.target() if screen.place == "checkpoints" else None
    start = record.citation if isinstance(record, Checkpoint) else "yesterday"
    screen.ask("changed since", start, screen.show_since, over=True)


def undo(screen: MainScreen) -> None:
    _take_back(screen, lambda memory: memory.history.undo(), "Took back", f"{named('memory.redo')} puts it back")


def redo(screen: MainScreen) -> None:
    _take_back(screen, lambda memory: memory.history.redo(), "Put back", f"{named('memory.undo')} takes it back")


def _take_back(screen: MainScreen, work: Callable[[Memory], Step], said: str, again: str) -> None:
    def stepped(memory: Memory) -> object:
        step = work(memory)
        return f"{said}: {step.reason}{_if_old(memory.now, step.at)}; {again}", touched(step, memory)

    _write(screen, stepped, lambda result: result)  # type: ignore[arg-type, return-value]


def _if_old(now: str, at: str) -> str:
    """How long ago, of what was not done just now."""
    old = to_ms(now) - to_ms(at) > FRESH_MS
    return f" ({how_long_ago(now, at)})" if old else ""


# out of the memory


def copy(screen: MainScreen) -> None:
    _copy(screen, lambda thing: _name(thing), "")


def copy_text(screen: MainScreen) -> None:
    from store.search.keyword import body

    _copy(screen, lambda thing: thing.reason if isinstance(thing, Step) else body(thing), "the text of ")


def _copy(screen: MainScreen, form: Callable[[Record | Step], str], what: str) -> None:
    things = list(screen.targets())
    if things:
        texts = [form(thing) for thing in sorted(things, key=lambda thing: (type(thing).__name__, _name(thing)))]
        screen.copy("\n".join(texts) if what else " ".join(texts), what + _names(things))


def export(screen: MainScreen) -> None:
    home, name = export_path(screen.name_of_memory).split("/", 1)
    screen.action_command(f"export {home}/{quote(name)}")


def export_path(name: str) -> str:
    """Where an export goes unless it is said: home, not the checkout, where the next `git add` would publish it."""
    return f"~/{name}-memory.json"


def day(screen: MainScreen) -> None:
    screen.ask("to the day (2026-10-01, yesterday, 3w)", "", screen.go_to_day)


# words


def undoes() -> str:
    """What is said after a change: how it is taken back."""
    return f", {named('memory.undo')} to undo"


def _tasks(things: Things) -> bool:
    return any(isinstance(thing, Task) for thing in things)


def _refuse(screen: MainScreen, things: Things, reason: str) -> None:
    if things:
        screen.say(reason or JOURNAL, "warning")


def _name(thing: Record | Step) -> str:
    return f"step {thing.seq}" if isinstance(thing, Step) else thing.citation


def _names(things: Things) -> str:
    names = [_name(thing) for thing in things]
    return " ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _made(word: str, kind: str) -> Callable[[object], tuple[str, int | None]]:
    """What to say of a record that was made, by its id, and its key."""
    undo = "" if kind == "checkpoint" else undoes()
    return lambda new: (f"{word} {_cited(kind, new)}{undo}", _key(kind, new))


def _key(kind: str, number: object) -> int | None:
    return pack(kind, number) if isinstance(number, int) else None


def _cited(kind: str, number: object) -> str:
    return cite(kind, number) if isinstance(number, int) else kind


def _counted(some: Sequence[object], word: str, others: Sequence[object], other: str) -> str:
    return " and ".join(count(len(things), name) for things, name in ((some, word), (others, other)) if things)


def _many(screen: MainScreen, question: str, things: int, go: Callable[[], None]) -> None:
    """Do it; ask first when it is about many."""
    if things > MANY:
        screen.ask_first(question, go)
    else:
        go()


def _write(
    screen: MainScreen,
    work: Callable[[Memory], object],
    said: str | Callable[[object], tuple[str, int | None]],
    back: int | None = None,
) -> None:
    """Do `work` with the pen; then say `said`, and put the cursor on the record whose key it names, if it names one; on
    that of `back` if it failed. Marks have had their time once it is done."""

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.say(str(error), "error", timeout=8)
            screen.refresh_records(back)
            return
        words, key = (said, None) if isinstance(said, str) else said(result)
        screen.action_unmark()
        screen.say(words, alone=True)
        screen.refresh_records(key)

    if screen.engine is not None:
        screen.engine.write(work, done)
