"""How each verb is run: a function of a call and its arguments, the same for the command line and the app."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated, Any, TypeVar

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.citations import Citation, cite, list_citations, parse_citation
from store.base.errors import Declined, ExitStatus, InvalidInput, Purged
from store.base.location import Location
from store.base.models import Record, Step, as_json
from store.base.runtime import require_part
from store.base.vocabulary import PERSON_ORIGIN
from store.database.connection import DISK_ERRORS, to_memoranda_error
from store.memory import Memory
from store.records.table import take_redactions
from store.text.display import format_count
from tui.commands.record_lines import more_line
from tui.input.arguments import ParsedArguments, Shown, Verb
from tui.render.lines import add_cuts, cuts_notice

Result = TypeVar("Result")
Listed = TypeVar("Listed")
Id = Annotated[str, Shown("ID")]
Ids = Annotated[list[str], Shown("ID")]
Text = Annotated[list[str], Shown("TEXT")]
EVERY_PROJECT = ", in every project. To undo it: memoranda undo --global"


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """One call of a verb: the memory (None for verbs that open none), the folder, and functions that the interface
    provides.

    `ask` shows a yes-or-no question, with optional lines to read first; it returns True or False, and raises
    InvalidInput where no person can answer. `application` runs the app on a memory and a folder and returns its exit
    status; None without a terminal. `tell` prints a line of the result early; None where nobody reads it. `wait` shows
    a progress message until it is called without one, or the verb ends; it shows nothing without a terminal. `first`
    names the checkpoint that was taken before many records were changed."""

    location: Location
    opened: Memory | None
    cwd: str
    ask: AskYesNo
    json: bool = False
    application: RunApplication | None = None
    tell: Callable[[str], None] | None = None
    wait: Callable[[str], None] = lambda words: None
    first: str = ""

    @property
    def memory(self) -> Memory:
        assert self.opened is not None, "this verb opens no memory"
        return self.opened

    def run(self, verb: Verb, given: ParsedArguments) -> Outcome:
        """Run a verb, and say which secrets were cut from what it wrote. Errors of SQLite outside `Database.write` get
        the messages of those inside. Raise Unsupported if it is of an optional part that is not installed."""
        if verb.part:
            require_part(verb.part)
        try:
            outcome: Outcome = verb.run(self, **vars(given))
            if self.first and outcome.message:
                outcome.message = f"{outcome.message} {self.first}"
            if self.opened is not None and self.opened.database.cut:
                cuts = take_redactions(self.opened.database)
                outcome.data = add_cuts(outcome.data, cuts)
                if outcome.message:
                    outcome.message = f"{outcome.message} {cuts_notice(cuts)}"
                else:
                    outcome.lines = [*outcome.lines, cuts_notice(cuts)]
            return outcome
        except DISK_ERRORS as error:
            refused = to_memoranda_error(error, self.location.path)
            # a part may be done
            refused.next = refused.next.replace("nothing was changed", "then say the same again")
            raise refused from None
        finally:
            self.wait("")

    # the records that are meant

    def some(self, texts: Sequence[str], *kinds: str, act: str = "", mixed: Sequence[str] = ()) -> list[Citation]:
        """Return the records that are named, each once; a bare number has the first of these kinds. They are of one
        kind, or of those that may be `mixed`. Take a checkpoint before an `act` on many of them. Raise
        InvalidInput."""
        named = list(dict.fromkeys(parse_reference(text, *kinds) for text in texts))
        if len({"" if one.kind in mixed else one.kind for one in named}) > 1:
            raise InvalidInput("Records of several kinds are changed one kind at a time.", "Name only one kind.")
        # global facts are of another memory
        own = [one for one in named if one.kind != "global"]
        act = f"{act} {count_cited(own)}" if act and own else ""
        taken = self.memory.checkpoints.take_before(act, len(own)) if act else None
        if taken is not None:
            self.first = f"{cite('checkpoint', taken)} is how it was."
        return named

    def number(self, text: str, kind: str) -> int:
        """Return the id of a record of a kind: `12` or `F#12`. Raise InvalidInput."""
        return parse_id(text, kind)

    def optional(self, text: str | None, kind: str) -> int | None:
        """Return the id of a record of a kind; None without one. Raise InvalidInput."""
        return parse_id(text, kind) if text else None

    def records(self, named: Sequence[Citation]) -> list[Record]:
        """Return the records of some citations, without those that do not exist."""
        # of every kind: 20 ms, which a message need not wait for
        from store.search.lookup import get_records

        database = self.memory.database
        return [found for one in named for found in get_records(database, one.kind, [int(one.target)])]

    def change_each_kind(
        self, act: str, named: Sequence[Citation], change: Callable[[Citation, list[int]], object]
    ) -> None:
        """Call `change` with the records of each kind: a record of it, and all their ids. It is one step of history."""
        groups: dict[str, list[Citation]] = {}
        for one in named:
            groups.setdefault(one.kind, []).append(one)
        step = self.memory.database.step(PERSON_ORIGIN, f"{act} {list_citations([str(one) for one in named])}")
        with step if len(groups) > 1 else nullcontext():
            for group in groups.values():
                change(group[0], numbers_of(group))

    def part(self, named: Citation) -> Any:
        """Return what confirms, corrects and forgets facts, global facts or decisions."""
        memory = self.memory
        if named.kind == "decision":
            return memory.decisions
        return memory.globals if named.kind == "global" else memory.facts

    # whose memory

    def own(self, of_person: bool) -> Memory:
        """Return this memory, or the person's own."""
        return self.memory.require_personal() if of_person else self.memory

    def reason(self, of_person: bool, step: Step) -> str:
        """Return the reason of a step; of the person's own memory with its facts as this memory cites them."""
        return self.memory.globals.as_cited(step.reason) if of_person else step.reason

    # what is asked, and what is typed

    def agree(self, yes: bool, question: str, lines: Sequence[str] = (), no: str = "Nothing was changed.") -> None:
        """Ask before something is done. Raise Declined, and InvalidInput where nobody can answer."""
        if not yes and not self.ask(question, lines):
            raise Declined(no)

    def ask_if_purged(self, yes: bool, work: Callable[[bool], Result]) -> Result:
        """Do work that stores a text; ask first if the text was purged before. Raise Declined."""
        try:
            return work(yes)
        except Purged as error:
            self.agree(False, f"{error.message} Keep it all the same?", no="Nothing was kept.")
            return work(True)

    def text(self, words: Sequence[str], example: str) -> str:
        """Return the text that words say; a single `-` stands for what is piped into the command. Raise InvalidInput,
        with the `example` of a command line, where nobody pipes anything."""
        if list(words) != ["-"]:
            return " ".join(words)
        if self.opened is not None and self.opened.database.door == "app":
            raise InvalidInput("There is no standard input here.", "Type the text itself.")
        if sys.stdin.isatty():
            raise InvalidInput(
                "Standard input is a terminal here.", f"Pipe the text into it: … | memoranda {example} -"
            )
        return sys.stdin.read()

    def path(self, text: str) -> str:
        """Return the absolute path of a typed file name."""
        return os.path.abspath(os.path.join(self.cwd, os.path.expanduser(text)))

    def may_replace(self, path: str, yes: bool) -> bool:
        """Return whether an existing file may be overwritten. Raise Declined."""
        if not os.path.lexists(path):
            return yes
        self.agree(yes, f"{path} is there already. Replace it?", no="Nothing was written.")
        return True

    # results

    def wrote(self, said: str, kind: str, number: int) -> Outcome:
        """Return what a verb wrote: one record."""
        return Outcome(said, lambda: as_json(self.records([Citation(kind, number)])[0]))

    def acted(self, done: str, named: Sequence[Citation], then: str = ".", shared: str = EVERY_PROJECT) -> Outcome:
        """Return what a verb did to several records: `Pinned F#1: it never ages.`; of global facts, how to undo it."""
        then = shared if named[0].kind == "global" else then
        return Outcome(f"{done} {count_cited(named)}{then}", lambda: [as_json(one) for one in self.records(named)])

    def listed(
        self,
        records: Sequence[Listed],
        limit: int,
        empty: Sequence[str],
        line: Callable[[Listed], str],
        json: Callable[[Any], object] = as_json,
    ) -> Outcome:
        """Return a list of records, each of a line or more; those after the limit only tell that there are others."""
        shown = records[:limit]
        lines = [part for one in shown for part in line(one).split("\n")] or list(empty)
        lines += more_line(len(records) - limit, limit)
        return Outcome(data=lambda: [json(one) for one in shown], lines=lines)


@dataclass(slots=True, eq=False, repr=False)
class Preview:
    """How a verb shows what it would change: at most `limit` records, without changing anything (`dry_run`), or without
    asking (`yes`)."""

    limit: int
    dry_run: bool
    yes: bool


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """The result of a verb: one `message`, `lines` to read, and a function that builds the `data` for scripts (a
    function, because only `--json` needs the records); or a `document` in pieces, the same for both. `status` is how
    the command ends, `error` the reason on standard error when it is not done. `after` runs once everything is printed,
    when nobody waits. The application sets `wrote_step` where a step of history was written, which `u` undoes."""

    message: str = ""
    data: Callable[[], object] = dict
    lines: list[str] = field(default_factory=list)
    document: Callable[[], Generator[str, None, None]] | None = None
    status: ExitStatus = ExitStatus.DONE
    after: Callable[[], object] = bool
    error: str = ""
    wrote_step: bool = False


AskYesNo = Callable[..., bool]
RunApplication = Callable[[Location, str], ExitStatus]


def parse_reference(text: str, *kinds: str) -> Citation:
    """Parse a citation of one of these kinds; a bare number has the first. Raise InvalidInput."""
    citation = parse_citation(text, kinds[0])
    if citation.kind not in kinds:
        # a fact too
        wanted = " or ".join(dict.fromkeys(kind for kind in kinds if kind != "global"))
        article = "an" if wanted[0] in "aeiou" else "a"
        raise InvalidInput(f"{citation} is not {article} {wanted}.", "Look it up with `memoranda show`.")
    return citation


def numbers_of(named: Sequence[Citation]) -> list[int]:
    """Return the ids of records of one kind."""
    return [int(one.target) for one in named]


def count_cited(named: Sequence[Citation]) -> str:
    """Return the citation of a single record; of several, how many of what: `3 facts`, `2 records`."""
    if len(named) == 1:
        return str(named[0])
    kinds = {one.kind for one in named}
    word = {"global": "global fact"}.get(named[0].kind, named[0].kind) if len(kinds) == 1 else "record"
    return format_count(len(named), word)


def parse_id(text: str, kind: str) -> int:
    """Parse the id of a record of a kind: `12` or `F#12`. Raise InvalidInput."""
    return int(parse_reference(text, kind).target)


# Handle ^C during work that can stop at any time and continue later.

STOP_HINT = "^C stops it"


@dataclass(slots=True, eq=False, repr=False)
class Interrupt:
    """Record the first ^C, so that the work can stop at a safe place; a second ^C ends it at once. A KeyboardInterrupt
    could be raised, and lost, anywhere. On another thread than the main one, as in the application, none comes."""

    asked: bool = False
    _before: Callable[[int, FrameType | None], object] | int | None = field(default=None, init=False)

    def __enter__(self) -> Interrupt:
        if current_thread() is main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._note_interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note_interrupt(self, *about: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
