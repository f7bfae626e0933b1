"""The app's hands: every touch of the memory happens here, on threads that are not the screen's.

One thread, the pen, writes, and runs the verbs; one seeks; one reads the order of the lists; one reads git. Each has
its own connection, opened in it. What the screen reads itself, a page or a record at a time, takes a fraction of a
millisecond, on a connection of its own.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import apsw

from store import records
from store.citations import Citation, cite
from store.clock import Clock, utc_now
from store.errors import Defect, InvalidInput, MemorandaError
from store.location import Location
from store.memory import Memory
from store.models import Commit, Record, Step
from store.search import Answer
from tui.commands import Outcome, Session, run
from tui.describe import Line, describe
from tui.rows import FactRows, TimelineRows, by_day
from tui.screens.view import FactView
from tui.verbs import Verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.arguments import Given

FIRST = 256  # rows of a list that are shown before its whole order is known
DIFF_BYTES = 120_000
HITS = 100  # of a search, that are shown


@dataclass(frozen=True)
class Lists:
    """A reading of both lists; `whole` once the order of everything is known."""

    facts: FactRows
    timeline: TimelineRows
    counts: dict[str, int]
    entries: int
    whole: bool


class Engine:
    """The memory as the app uses it. Opened on a worker thread; closed when the app ends."""

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        self.location = location
        self.cwd = cwd
        self._clock = clock
        self.screen = Memory(location, "app", clock)  # the screen's own, for reading
        self.created = self.screen.created
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="pen")
        self._pen_memory: Memory | None = None
        self._seeker: Memory | None = None
        self._seeking = Lock()
        self._closed = False

    def close(self) -> None:
        """Let what is being written finish, then close."""
        self._closed = True
        if self._seeker is not None:
            self._seeker.database.interrupt()
        self._pen.shutdown(wait=True)

    @property
    def closed(self) -> bool:
        return self._closed

    # the screen's own reading: a fraction of a millisecond each

    def read_facts(self, numbers: Sequence[int]) -> dict[int, Record]:
        return {fact.id: fact for fact in self.screen.facts.many(list(numbers))}

    def read_entries(self, keys: Sequence[int]) -> dict[int, Record]:
        return records.by_key(self.screen.database, list(keys))

    def same(self, record: Record) -> Record | None:
        """A record as it is now."""
        found = records.many(self.screen.database, type(record).__name__.lower(), [record.id])
        return found[0] if found else None

    def newest_step(self) -> int:
        """The number of history's newest step."""
        return self.screen.database.value("SELECT max(seq) FROM history") or 0

    def changed_elsewhere(self, since: int) -> tuple[int, list[int]]:
        """(the newest step, the facts that other doors changed after step `since`, at most 200)."""
        rows = self.screen.database.rows(
            "SELECT seq, door, json_extract(pk, '$[0]') FROM history_row JOIN history USING(seq)"
            " WHERE seq > ? AND tbl = 'facts' ORDER BY seq DESC LIMIT 200",
            (since,),
        )
        newest = max((seq for seq, _, _ in rows), default=since)
        return newest, [number for _, door, number in rows if door != "app"]

    def links(self, record: Record) -> str:
        """The decisions a commit is linked to, for its line in the timeline."""
        if not isinstance(record, Commit):
            return ""
        rows = self.screen.database.rows(
            "SELECT decision_id FROM commit_links WHERE commit_id = ? ORDER BY 1 LIMIT 3", (record.id,)
        )
        return " ".join(cite("decision", number) for (number,) in rows)

    def describe(self, record: Record) -> list[Line]:
        """Everything the memory knows of a record."""
        return describe(self.screen, record)

    def lookup(self, citation: Citation) -> Record:
        """The record a citation means. Raises NotFound, Conflict, Unsupported."""
        return records.lookup(self.screen.database, citation)

    # on worker threads

    def describe_apart(self, record: Record) -> list[Line]:
        """`describe`, for a record whose description takes longer than a frame."""
        with Memory(self.location, "app", self._clock, create=False) as memory:
            return describe(memory, record)

    def lists(self, view: FactView, limit: int = -1) -> Lists:
        """Read the order of facts and timeline, the first `limit` rows of each or all."""
        with Memory(self.location, "app", self._clock, create=False) as memory:
            now = memory.now
            numbers = memory.facts.ids(
                now, statuses=view.statuses, domain=view.domain, words=view.words, sort=view.sort, limit=limit
            )
            keys, days = by_day(memory.timeline.stream(limit=limit), lambda: time.sleep(0))
            return Lists(
                FactRows(array("q", numbers), self.read_facts, now),
                TimelineRows(keys, days, self.read_entries, self.links),
                memory.facts.counts(now) if limit < 0 else {},
                len(keys),
                limit < 0,
            )

    def search(self, query: str) -> Answer | None:
        """Search; None when `interrupt` stopped it. One at a time: an interrupted one takes a moment to end."""
        with self._seeking:
            if self._seeker is None:
                self._seeker = Memory(self.location, "app", self._clock, create=False)
            try:
                return self._seeker.search(query, limit=HITS)
            except apsw.InterruptError:
                return None

    def interrupt(self) -> None:
        """Stop the search that is running, if one is."""
        if self._seeker is not None:
            self._seeker.database.interrupt()

    def diff(self, commit: Commit) -> list[Line]:
        """A commit's diff, as coloured lines. Raises GitError."""
        from store import worker
        from tui.diffs import coloured

        with Memory(self.location, "app", self._clock, create=False) as memory:
            source = worker.repository(memory, self.cwd)
        if source is None:
            return []
        diff = source.diff(commit.sha, DIFF_BYTES)
        lines = coloured(diff.text)
        if diff.truncated:
            lines.append([(f"… cut here; the rest: memoranda show {commit.citation} --diff", "dim")])
        return lines

    def catch_up(self, progress: Callable[[int, int], None]) -> int | None:
        """Retention, then the commits the timeline lacks; None when another process is at it. Raises GitError."""
        from store import worker

        with Memory(self.location, "app", self._clock, create=False) as memory:
            return worker.start(memory, self.cwd, progress, lambda: self._closed)

    # the pen

    def write(self, work: Callable[[Memory], object], done: Callable[[object, MemorandaError | None], None]) -> None:
        """Do `work` with the pen's memory, then call `done` with its result or its error, on the pen's thread."""

        def task() -> None:
            try:
                if self._pen_memory is None:
                    self._pen_memory = Memory(self.location, "app", self._clock, create=False)
                result, error = work(self._pen_memory), None
            except MemorandaError as failure:
                result, error = None, failure
            except Exception as defect:  # the pen outlives a defect, and says so; its thread would swallow it
                result, error = None, Defect(defect)
            done(result, error)

        self._pen.submit(task)

    def run(
        self, verb: Verb, given: Given, agreed: bool, done: Callable[[object, MemorandaError | None], None]
    ) -> None:
        """Run a verb. What asks first raises `Asks` with the question, unless it was `agreed` to."""

        def ask(question: str) -> bool:
            if not agreed:
                raise Asks(question)
            return True

        def work(memory: Memory) -> Outcome:
            session = Session(self.location, memory, self.cwd, ask)
            return run(session, verb.handler, given)

        self.write(work, done)


class Asks(InvalidInput):
    """A verb wants an answer first: `message` is its question."""

    code = "asks"


def touched(step: Step, memory: Memory) -> int | None:
    """The key of the first fact that a step changed, to show it."""
    for change in memory.history.changes(step.seq):
        if change.table == "facts":
            return int(change.key[0])
    return None
