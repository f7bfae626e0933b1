"""What each verb does: functions of a session and its arguments, the same for the command line and the app."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from threading import current_thread, main_thread
from types import FrameType
from typing import TypeVar

from store.base.citations import Citation, parse_citation
from store.base.errors import Declined, ExitStatus, InvalidInput, Purged
from store.base.location import Location
from store.base.models import Step
from store.memory import Memory
from tui.input.arguments import ParsedArguments

Result = TypeVar("Result")


@dataclass(slots=True, eq=False, repr=False)
class Session:
    """The context of a verb: the memory (None for verbs that open none), the folder, and functions that the door
    provides.

    `ask` shows a yes-or-no question, with optional lines to read first; it returns True or False, and raises
    InvalidInput where no person can answer. `application` runs the app on a memory and a folder and returns its exit
    status; None without a terminal. `tell` prints a line of the result early; None where nobody reads it. `wait` shows
    a progress message until it is called without one, or the verb ends; it shows nothing without a terminal."""

    location: Location
    _memory: Memory | None
    cwd: str
    ask: AskYesNo
    json: bool = False
    application: RunApplication | None = None
    tell: Callable[[str], None] | None = None
    wait: Callable[[str], None] = lambda words: None

    @property
    def memory(self) -> Memory:
        if self._memory is None:
            raise RuntimeError("this verb opens no memory")
        return self._memory


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """The result of a verb: one `message`, `lines` to read, and a function that builds the `data` for scripts (a
    function, because only `--json` needs the records); or a `document` in pieces, the same for both. `status` is how
    the command ends, `error` the reason on standard error when it is not done. `after` runs once everything is printed,
    when nobody waits."""

    message: str = ""
    data: Callable[[], object] = dict
    lines: list[str] = field(default_factory=list)
    document: Callable[[], Generator[str, None, None]] | None = None
    status: ExitStatus = ExitStatus.DONE
    after: Callable[[], object] = bool
    error: str = ""


AskYesNo = Callable[..., bool]
RunApplication = Callable[[Location, str], ExitStatus]


def session_for(session: Session, given: ParsedArguments, of_global: bool = False) -> Session:
    """Return the session of the memory that is meant: with `--global`, or about a global fact, of the person's own."""
    if not vars(given).get("global") and not of_global:
        return session
    own = session.memory.require_personal()
    return replace(session, location=own.location, _memory=own)


def step_reason(session: Session, meant: Session, step: Step) -> str:
    """Return the reason of a step of the memory that is meant, with its facts as the memory of the session cites
    them."""
    return step.reason if meant is session else session.memory.globals.as_cited(step.reason)


def parse_reference(text: str, default: str, *kinds: str) -> Citation:
    """Parse a citation; a bare number has the kind `default`, and only `kinds` are accepted. Raises InvalidInput."""
    citation = parse_citation(text, default)
    if citation.kind not in (kinds or (default,)):
        wanted = " or ".join(kind for kind in kinds or (default,) if kind != "global")  # a fact too
        article = "an" if wanted[0] in "aeiou" else "a"
        raise InvalidInput(f"{citation} is not {article} {wanted}.", "Look it up with `memoranda show`.")
    return citation


def parse_id(text: str, kind: str) -> int:
    """Parse the id of a record of a kind: `12` or `F#12`. Raise InvalidInput."""
    return int(parse_reference(text, kind).target)


def absolute_path(session: Session, text: str) -> str:
    """Return the absolute path of a typed file name."""
    return os.path.abspath(os.path.join(session.cwd, os.path.expanduser(text)))


def typed_or_piped_text(session: Session, words: list[str], example: str) -> str:
    """Return the text that words say; a single `-` stands for what is piped into the command. Raises InvalidInput,
    with the `example` of a command line, where nobody pipes anything."""
    text = " ".join(words)
    if text != "-":
        return text
    if session.memory.database.door == "app":
        raise InvalidInput("There is no standard input here.", "Type the text itself.")
    if sys.stdin.isatty():
        raise InvalidInput(
            "Standard input is a terminal here.", f"Pipe the text into it: … | memoranda {example} -"
        )
    return sys.stdin.read()


def ask_if_purged(session: Session, given: ParsedArguments, work: Callable[[bool], Result]) -> Result:
    """Do work that stores a text; ask first if the text was purged before. Raises Declined."""
    try:
        return work(given.yes)
    except Purged as error:
        if not session.ask(f"{error.message} Keep it all the same?"):
            raise Declined("Nothing was kept.") from None
        return work(True)


# Handle ^C during work that can stop at any time and continue later.

STOP_HINT = "^C stops it"


@dataclass(slots=True, eq=False, repr=False)
class Interrupt:
    """Record the first ^C, so that the work can stop at a safe place; a second ^C ends it at once. A KeyboardInterrupt
    could be raised, and lost, anywhere. On another thread than the main one, as in the application, none comes."""

    asked: bool = False
    _comes: bool = field(default_factory=lambda: current_thread() is main_thread(), init=False)
    _before: Callable[[int, FrameType | None], object] | int | None = field(default=signal.SIG_DFL, init=False)

    def __enter__(self) -> Interrupt:
        if self._comes:
            self._before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._note_interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        if self._comes:
            signal.signal(signal.SIGINT, self._before)

    def _note_interrupt(self, *about: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)
