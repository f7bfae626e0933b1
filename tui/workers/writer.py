"""The single thread that writes to the memory and runs commands, with its own connection."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from store.base.clock import Clock
from store.base.errors import InvalidInput, MemorandaError
from store.base.location import Location
from store.database.connection import understood
from store.memory import Memory
from tui.commands import Outcome, Session, run
from tui.input.commands.command import Verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.services.as_of import PastState
    from tui.input.argument_parser import ParsedArguments

OWN = 200  # latest steps of this application to remember

Done = Callable[[object, "MemorandaError | None"], None]


class Writer:
    """Works with one memory, on one task at a time, in the order of the calls."""

    def __init__(self, location: Location, cwd: str, clock: Clock) -> None:
        self._location = location
        self._cwd = cwd
        self._clock = clock
        self._memory: Memory | None = None
        self._own: list[int] = []  # the last steps written here: not announced as changes
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self.beside = ThreadPoolExecutor(1, thread_name_prefix="beside")  # waits for child processes

    def close(self) -> None:
        """Finish the current write."""
        self.beside.shutdown(wait=False, cancel_futures=True)
        self.thread.shutdown(wait=True)

    @property
    def own(self) -> set[int]:
        """Return the last steps of history written here."""
        return set(self._own[-OWN:])  # a copy: the writer may be adding one

    def write(self, work: Callable[[Memory], object], done: Done, past: PastState | None) -> None:
        """Call `work` with the memory, then `done` with its result or its error, on this thread. With a `past` state
        `work` gets that instead, and any write raises."""
        self.thread.submit(_reporting, lambda: self._worked(work, past), done, self._location.path)

    def _worked(self, work: Callable[[Memory], object], past: PastState | None) -> object:
        if past is not None:
            from store.services.as_of import PastMemory

            with PastMemory(self._location, "app", past) as then:
                return work(then)
        if self._memory is None:
            self._memory = Memory(self._location, "app", self._clock, create=False)
        result = work(self._memory)
        if (step := self._memory.database.last_step) is not None:
            self._own.append(step)
            del self._own[:-OWN]
        return result

    def aside(self, work: Callable[[], object], done: Done) -> None:
        """Call `work`, which waits for a child process, then `done`, beside the thread that writes."""
        self.beside.submit(_reporting, work, done, self._location.path)

    def run(
        self, verb: Verb, given: ParsedArguments, agreed: Collection[str], done: Done, past: PastState | None
    ) -> None:
        """Run a verb. A verb that needs a confirmation raises `Asks` with the question, unless what it shows now is
        among what was `agreed` to."""

        def ask(question: str, lines: Sequence[str] = ()) -> bool:
            asks = Asks(question, lines)
            if asks.shown not in agreed:
                raise asks
            return True

        def work(memory: Memory | None) -> Outcome:
            session = Session(self._location, memory, self._cwd, ask)
            return run(session, verb.handler, given)

        if verb.apart:
            self.aside(lambda: work(None), done)
        else:
            self.write(work, done, past)


def _reporting(work: Callable[[], object], done: Done, path: str) -> None:
    """Run work, and call `done` with its result or its error."""
    try:
        result, error = work(), None
    except Exception as failure:  # the thread must survive a defect, and report it
        result, error = None, understood(failure, path)
    done(result, error)


class Asks(InvalidInput):
    """Raised by a verb that needs a confirmation: `message` is its question, `lines` are to be read before."""

    code = "asks"

    def __init__(self, question: str, lines: Sequence[str] = ()) -> None:
        super().__init__(question)
        self.lines = list(lines)

    @property
    def shown(self) -> str:
        """All that a person reads before the answer."""
        return "\n".join([self.message, *self.lines])
