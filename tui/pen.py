"""The app's pen: the one thread that writes to the memory and runs the verbs, with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from store.clock import Clock
from store.errors import Defect, InvalidInput, MemorandaError
from store.location import Location
from store.memory import Memory
from tui.commands import Outcome, Session, run
from tui.verbs import Verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.past import Past
    from tui.arguments import Given

OWN = 200  # steps made here that are remembered as such

Done = Callable[[object, "MemorandaError | None"], None]


class Pen:
    """Works with one memory, a piece of work at a time, in the order in which they come."""

    def __init__(self, location: Location, cwd: str, clock: Clock) -> None:
        self._location = location
        self._cwd = cwd
        self._clock = clock
        self._memory: Memory | None = None
        self._own: list[int] = []  # the last steps of history made here, which are no news to this screen
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="pen")

    def close(self) -> None:
        """Let what is being written finish."""
        self.thread.shutdown(wait=True)

    @property
    def own(self) -> set[int]:
        """The last steps of history that were made here."""
        return set(self._own[-OWN:])  # of a copy: the pen may be adding one

    def write(self, work: Callable[[Memory], object], done: Done, past: Past | None) -> None:
        """Do `work` with the memory, then call `done` with its result or its error, on this thread. While a `past` is
        looked at there is only that to work with, and every change of it is an error."""

        def task() -> None:
            try:
                result, error = self._worked(work, past), None
            except MemorandaError as failure:
                result, error = None, failure
            except Exception as defect:  # the pen outlives a defect, and says so; its thread would swallow it
                result, error = None, Defect(defect)
            done(result, error)

        self.thread.submit(task)

    def _worked(self, work: Callable[[Memory], object], past: Past | None) -> object:
        if past is not None:
            from store.past import Then

            with Then(self._location, "app", past) as then:
                return work(then)
        if self._memory is None:
            self._memory = Memory(self._location, "app", self._clock, create=False)
        result = work(self._memory)
        if (step := self._memory.database.last_step) is not None:
            self._own.append(step)
            del self._own[:-OWN]
        return result

    def run(self, verb: Verb, given: Given, agreed: bool, done: Done, past: Past | None) -> None:
        """Run a verb. What asks first raises `Asks` with the question, unless it was `agreed` to."""

        def ask(question: str, lines: Sequence[str] = ()) -> bool:
            if not agreed:
                raise Asks(question, lines)
            return True

        def work(memory: Memory) -> Outcome:
            session = Session(self._location, memory, self._cwd, ask)
            return run(session, verb.handler, given)

        self.write(work, done, past)


class Asks(InvalidInput):
    """A verb wants an answer first: `message` is its question, `lines` are to be read before."""

    code = "asks"

    def __init__(self, question: str, lines: Sequence[str] = ()) -> None:
        super().__init__(question)
        self.lines = list(lines)
