"""What each verb does: functions of a session and its arguments, the same for the command line and the app."""

from collections.abc import Callable, Generator

from store.base.citations import Citation, cite, parse
from store.base.errors import InvalidInput
from store.base.location import Location
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from store.base.models import Step
    from tui.input.argument_parser import ParsedArguments

    Result = TypeVar("Result")


class Session:
    """The context of a verb: the memory (None for verbs that open none), the folder, and functions that the door
    provides.

    `ask` shows a yes-or-no question, with optional lines to read first; it returns True or False, and raises
    InvalidInput where no person can answer. `application` runs the app on a memory and a folder and returns its exit
    status; None without a terminal. `tell` prints a line of the result early; None where nobody reads it. `wait` shows
    a progress message until it is called without one; it shows nothing without a terminal."""

    __slots__ = ("_memory", "application", "ask", "cwd", "json", "location", "tell", "wait")

    def __init__(
        self,
        location: Location,
        memory: Memory | None,
        cwd: str,
        ask: "Ask",
        json: bool = False,
        application: "Application | None" = None,
        tell: Callable[[str], None] | None = None,
        wait: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.location = location
        self._memory = memory
        self.cwd = cwd
        self.ask = ask
        self.json = json
        self.application = application
        self.tell = tell
        self.wait = wait

    @property
    def memory(self) -> Memory:
        if self._memory is None:
            raise RuntimeError("this verb opens no memory")
        return self._memory


class Outcome:
    """The result of a verb: one `message`, `lines` to read, and a function that builds the `data` for scripts (a
    function, because only `--json` needs the records); or a `document` in pieces, the same for both. `status` is the
    exit status, `error` the reason on standard error when it is not 0. `after` runs once everything is printed, when
    nobody waits."""

    __slots__ = ("after", "data", "document", "error", "lines", "message", "status")

    def __init__(
        self,
        message: str = "",
        data: Callable[[], object] = dict,
        lines: list[str] | None = None,
        document: "Callable[[], Generator[str, None, None]] | None" = None,
        status: int = 0,
        after: Callable[[], object] = bool,
        error: str = "",
    ) -> None:
        self.message = message
        self.data = data
        self.lines = lines if lines is not None else []
        self.document = document
        self.status = status
        self.after = after
        self.error = error


# verbs that change every record they are given, as a checkpoint before them names it
OF_MANY = {
    "records.facts.forget": "forget", "records.facts.confirm": "confirm", "records.facts.pin": "pin",
    "records.facts.unpin": "unpin", "records.facts.tag": "tag", "records.facts.untag": "untag",
    "records.context.mute": "mute", "records.context.unmute": "unmute",
    "records.inbox.merge": "merge",
}  # fmt: skip

Ask = Callable[..., bool]
Application = Callable[[Location, str], int]
Handler = Callable[[Session, "ParsedArguments"], Outcome]


def run(session: Session, handler: str, arguments: "ParsedArguments") -> Outcome:
    """Run a verb's handler, imported on first use. Errors of SQLite outside `Database.write` get the messages of those
    inside."""
    module, _, function = handler.rpartition(".")
    # not importlib.import_module: that costs 2 ms more
    found: Handler = getattr(__import__(f"tui.commands.{module}", fromlist=[function]), function)
    try:
        first = _checkpoint_first(session, handler, arguments)
        outcome = found(session, arguments)
        if first and outcome.message:
            outcome.message = f"{outcome.message} {first}"
        if session._memory is not None and session._memory.database.cut:
            _tell_cuts(outcome, session._memory)
        return outcome
    except Exception as error:
        if type(error).__module__ != "apsw":
            raise
        from store.database.connection import DISK_ERRORS, understood

        if not isinstance(error, DISK_ERRORS):
            raise
        refused = understood(error, session.location.path)
        refused.next = refused.next.replace("nothing was changed", "then say the same again")  # a part may be done
        raise refused from None


def _checkpoint_first(session: Session, handler: str, given: "ParsedArguments") -> str:
    """Take a checkpoint before a verb that changes many records, and return the sentence that says so."""
    if handler not in OF_MANY:
        return ""
    ids = {text for text in given.ids if parse(text, "fact").kind != "global"}  # those are of another memory
    number = session.memory.checkpoints.before(f"{OF_MANY[handler]} {len(ids)} records", len(ids))
    return "" if number is None else f"{cite('checkpoint', number)} is how it was."


def _tell_cuts(outcome: Outcome, memory: Memory) -> None:
    """Append to a verb's outcome which secrets were redacted from what it wrote."""
    from tui.render.redaction_notice import notice, taken, with_cuts

    cuts = taken(memory.database)
    outcome.data = with_cuts(outcome.data, cuts)
    if outcome.message:
        outcome.message = f"{outcome.message} {notice(cuts)}"
    else:
        outcome.lines = [*outcome.lines, notice(cuts)]


def whose(session: Session, given: "ParsedArguments", of_global: bool = False) -> Session:
    """Return the session of the memory that is meant: with `--global`, or about a global fact, of the person's own."""
    if not vars(given).get("global") and not of_global:
        return session
    own = session.memory.personal
    return Session(own.location, own, session.cwd, session.ask, session.json, session.application, session.tell)


def reason(session: Session, meant: Session, step: "Step") -> str:
    """Return the reason of a step of the memory that is meant, with its facts as the memory of the session cites
    them."""
    return step.reason if meant is session else session.memory.globals.as_cited(step.reason)


def reference(text: str, default: str, *kinds: str) -> Citation:
    """Parse a citation; a bare number has the kind `default`, and only `kinds` are accepted. Raises InvalidInput."""
    citation = parse(text, default)
    if citation.kind not in (kinds or (default,)):
        wanted = " or ".join(kind for kind in kinds or (default,) if kind != "global")  # a fact too
        article = "an" if wanted[0] in "aeiou" else "a"
        raise InvalidInput(f"{citation} is not {article} {wanted}.", "Look it up with `memoranda show`.")
    return citation


def number(text: str, kind: str) -> int:
    """Parse the id of a record of one kind: `12` or `F#12`. Raises InvalidInput."""
    return int(reference(text, kind).target)


def text_of(session: Session, words: list[str], example: str) -> str:
    """Return the text that words say; a single `-` stands for what is piped into the command. Raises InvalidInput,
    with the `example` of a command line, where nobody pipes anything."""
    import sys

    text = " ".join(words)
    if text != "-":
        return text
    if session.memory.database.door == "app":
        raise InvalidInput("There is no standard input here.", "Type the text itself.")
    if sys.stdin.isatty():
        raise InvalidInput("Standard input is a terminal here.", f"Pipe the text into it: … | memoranda {example} -")
    return sys.stdin.read()


def though_purged(session: Session, given: "ParsedArguments", work: "Callable[[bool], Result]") -> "Result":
    """Do work that stores a text; ask first if the text was purged before. Raises Declined."""
    from store.base.errors import Declined, Purged

    try:
        return work(given.yes)
    except Purged as error:
        if not session.ask(f"{error.message} Keep it all the same?"):
            raise Declined("Nothing was kept.") from None
        return work(True)
