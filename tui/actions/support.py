"""Shared parts of the actions: run work on the writer's thread, and show its result.

An action applies to the marked records, or to the one in the preview. More than MANY at once need a confirmation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from store.base.citations import cite, parse_citation
from store.base.errors import MemorandaError, Purged
from store.base.models import Checkpoint, Record, Step
from store.base.vocabulary import pack_key
from store.history.checkpoints import MANY_RECORDS
from store.librarian.answer import LibrarianAnswer
from store.memory import Memory
from store.purge.secret_scan import LoggedRedaction
from store.upkeep.as_of import PointInTime
from tui.commands.call import Call, Outcome, count_cited
from tui.input.key_table import key_name
from tui.input.verb_table import verb_named
from tui.lists.fact_groups import fact_list_key
from tui.lists.view_state import View
from tui.render.lines import cuts_notice, take_cuts
from tui.widgets.chat_pane import Talk
from tui.widgets.preview import PreviewPane
from tui.widgets.record_list import RecordList
from tui.workers.engine import ConfirmationNeeded, Engine

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget


# The interface that an action needs of its screen.


class SessionOffer(Protocol):
    """Hold the checkpoint at which a session broke off, while it is offered."""

    offered: Checkpoint | None


class ActionHost(Protocol):
    """A screen that runs actions: the records that one applies to, a line for prompts, and a place for its result."""

    @property
    def engine(self) -> Engine | None: ...
    @property
    def view(self) -> View: ...
    @property
    def app(self) -> App[Any]: ...
    @property
    def focused(self) -> Widget | None: ...
    @property
    def pane(self) -> PreviewPane: ...
    @property
    def talk(self) -> Talk | None: ...
    @property
    def form(self) -> str: ...
    @property
    def current_list(self) -> str: ...
    @property
    def moment(self) -> PointInTime | None: ...
    @property
    def checkpoints(self) -> SessionOffer: ...
    @property
    def last_answer(self) -> LibrarianAnswer | None: ...
    @property
    def read_documents(self) -> Callable[[], object]: ...
    @property
    def name_of_memory(self) -> str: ...

    def list_of(self, name: str) -> RecordList: ...
    def setting(self, name: str) -> str: ...
    def target(self) -> Record | Step | None: ...
    def targets(self) -> Sequence[Record | Step]: ...

    def say(
        self, text: str, severity: str = "information", timeout: float = 8, alone: bool = False, stays: bool = False
    ) -> None: ...
    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None: ...
    def edit_text(self, label: str, text: str, answer: Callable[[str], None]) -> None: ...
    def ask_first(
        self, question: str, agreed: Callable[[], None], changes: Callable[[], None] | None = None
    ) -> None: ...
    def later(self, function: Callable[..., object], *arguments: object) -> None: ...
    def copy(self, text: str, what: str) -> object: ...

    def refresh_records(self, wanted: int | None = None) -> None: ...
    def hide_facts(self, numbers: Sequence[int]) -> None: ...
    def hide_proposals(self, numbers: Sequence[int]) -> None: ...
    def change_view(self, **changes: object) -> None: ...
    def go_to_day(self, text: str) -> None: ...
    def look_back(self, text: str) -> None: ...
    def show_plan(self, kind: str, target: int | str) -> None: ...
    def show_since(self, start: str | PointInTime, end: str = "now") -> None: ...

    def type_command(self, line: str = "") -> None: ...
    def go_to(self, name: str) -> None: ...
    def run_line(self, line: str) -> None: ...
    def unmark(self) -> None: ...


Things = Sequence[Record | Step]
Report = Callable[[object], tuple[str, int | None]]

CANNOT_CHANGE = "Only facts, decisions and tasks can be changed."


def ask_if_many(screen: ActionHost, question: str, things: int, go: Callable[[], None]) -> None:
    """Run an action; ask first when it applies to many."""
    if things > MANY_RECORDS:
        screen.ask_first(question, go)
    else:
        go()


def write_and_report(
    screen: ActionHost,
    work: Callable[[Memory], object],
    said: str | Callable[[object], tuple[str, int | None]],
    back: int | None = None,
    onward: bool = False,
    before: tuple[str, int] = ("", 0),
    agree: Callable[[str], None] | None = None,
) -> None:
    """Run `work` on the writer's thread, show `said`, and clear the marks. Move the cursor to the record whose key the
    result names, or to that of `back` on failure; with `onward` to the next row, if nothing was marked. Where the work
    asks, or the text was purged before, ask, and call `agree` with the question on a yes. `before` says what is done,
    and to how many records: of many a checkpoint is taken first."""

    cut: list[LoggedRedaction] = []
    taken_first: list[int] = []

    def worked(memory: Memory) -> object:
        if (first := memory.checkpoints.take_before(*before)) is not None:
            taken_first.append(first)
        result = work(memory)
        cut.extend(take_cuts(memory.database))
        return result

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if isinstance(error, ConfirmationNeeded | Purged) and agree is not None:
            question = f"{error.message} Keep it all the same?" if isinstance(error, Purged) else error.message
            screen.ask_first(question, lambda: agree(question))
            return
        if error is not None:
            screen.say(str(error), "error", timeout=8)
            screen.refresh_records(back)
            return
        words, key = (said, None) if isinstance(said, str) else said(result)
        if taken_first:
            words = f"{words}; {cite('checkpoint', taken_first[0])} is how it was"
        if (
            onward
            and screen.current_list == "facts"
            and screen.focused is (current := screen.list_of("facts"))
            and not current.marks
        ):
            here = current.cursor_key
            current.action_move(1)
            if current.cursor_key != here:
                words = f"{words}; the cursor is on {citation_or_kind('fact', current.cursor_key)} now"
        screen.unmark()
        if cut:
            screen.say(f"{words}. {cuts_notice(cut)}", "warning", timeout=12, alone=True)
        else:
            screen.say(words, alone=True)
        screen.refresh_records(key)

    if screen.engine is not None:
        screen.engine.write(worked, done)


def run_verb(
    screen: ActionHost,
    name: str,
    *,
    selects: bool = False,
    onward: bool = False,
    back: int | None = None,
    **given: Any,
) -> None:
    """Run a verb on the writer's thread, as the command line does, and show what it says with how to undo it. What it
    asks is asked in the prompt line. `selects`: the cursor goes to the record that it wrote; the rest is as in
    `write_and_report`."""
    agreed: list[str] = []

    def ask(question: str, lines: Sequence[str] = ()) -> bool:
        if question not in agreed:
            raise ConfirmationNeeded(question, lines)
        return True

    def work(memory: Memory) -> object:
        call = Call(memory.location, memory, memory.location.project or "", ask)
        outcome: Outcome = verb_named(name).run(call, **given)
        words = f"{outcome.message.split('. ')[0].removesuffix('.')}{undo_hint()}"
        written = outcome.data() if selects else {}
        cited = parse_citation(written["citation"]) if isinstance(written, dict) and written else None
        key = None if cited is None else pack_key(cited.kind, int(cited.target))
        return f"{words}; {call.first.removesuffix('.')}" if call.first else words, key

    def go() -> None:
        write_and_report(screen, work, cast("Report", lambda result: result), back, onward=onward, agree=agree)

    def agree(question: str) -> None:
        agreed.append(question)
        go()

    go()


def run_on_records(
    screen: ActionHost,
    verb: str,
    records: Sequence[Record],
    *,
    onward: bool = False,
    hides: bool = False,
    **given: Any,
) -> None:
    """Run a verb on records; ask first about many. `hides`: facts go from the list at once."""
    cited = [parse_citation(record.citation) for record in records]
    facts = [fact_list_key(one.kind, int(one.target)) for one in cited if one.kind in ("fact", "global")]

    def go() -> None:
        if hides and len(facts) <= 2 * MANY_RECORDS:
            screen.hide_facts(facts)
        back = pack_key(cited[0].kind, int(cited[0].target)) if len(cited) == 1 else None
        run_verb(screen, verb, ids=[str(one) for one in cited], onward=onward, back=back, **given)

    off = "un" if given.get("off") else ""
    ask_if_many(screen, f"{f'{off}{verb}'.capitalize()} {count_cited(cited)}?", len(cited), go)


def refuse_action(screen: ActionHost, things: Things, reason: str) -> None:
    """Say why an action does not apply to the selected records; say nothing if none is selected."""
    if things:
        screen.say(reason or CANNOT_CHANGE, "warning")


def record_key_or_none(kind: str, number: object) -> int | None:
    """Return the key of a record; None if its number is not known."""
    return pack_key(kind, number) if isinstance(number, int) else None


def undo_hint() -> str:
    """Return how to undo, to append to a message."""
    return f", {key_name('memory.undo')} to undo"


def citation_or_step(thing: Record | Step) -> str:
    """Return the citation of a record, or `step 12` for a step of history."""
    return f"step {thing.seq}" if isinstance(thing, Step) else thing.citation


def join_citations(things: Things) -> str:
    """Join the citations of up to five records, and add how many more there are."""
    names = [citation_or_step(thing) for thing in things]
    return " ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def citation_or_kind(kind: str, number: object) -> str:
    """Return the citation of a record; its kind if its number is not known."""
    return cite(kind, number) if isinstance(number, int) else kind
