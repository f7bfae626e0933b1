"""Own the application's connections and threads: all reads and writes of the memory run here, off the event loop.

One thread writes and runs the verbs; queues of one thread each read what lists, dialogs and views show; others read git
and embed (`tui/workers/background.py`). Each opens its own connection. The screen's own reads, of a page or a record at
a time, take a fraction of a millisecond, on a separate connection."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import apsw
from textual.cache import LRUCache

from store.base.citations import parse_citation
from store.base.clock import Clock, utc_now
from store.base.errors import InvalidInput, MemorandaError
from store.base.location import Location
from store.base.models import Chunk, Commit, Record, Step
from store.base.vocabulary import pack_key
from store.database.connection import to_memoranda_error
from store.history.compression import every_row_view
from store.history.history import HISTORY_KINDS
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.lookup import get_records, kind_of_record
from store.search.pipeline import search_for_person
from store.search.query_parser import parse_query
from store.search.results import SearchAnswer, suggest_spellings
from store.upkeep.as_of import PastMemory, PastState, point_in_time, read_past
from store.upkeep.maintenance import timeline_repository
from tui.commands.call import Call, Outcome
from tui.input.arguments import ParsedArguments, Verb, settle
from tui.render.details import describe_record, describe_step
from tui.render.lines import StyledLine, color_diff
from tui.workers import background
from tui.workers.model_worker import Exchange

# latest steps of this application to remember
OWN_STEPS = 200

WhenDone = Callable[[Any, "MemorandaError | None"], None]


class ConfirmationNeeded(InvalidInput):
    """Raised by a verb that needs a confirmation: `message` is its question, `lines` are to be read before."""

    code = "asks"

    def __init__(self, question: str, lines: Sequence[str] = ()) -> None:
        super().__init__(question)
        self.lines = list(lines)

    @property
    def shown_text(self) -> str:
        """Return all that a person reads before the answer."""
        return "\n".join([self.message, *self.lines])


DIFF_BYTES = 120_000
# kB of page cache while an order is read: each page is needed once
ORDER_CACHE = -256

Result = TypeVar("Result")


class Queue:
    """One thread, with a connection of its own. A job `instead` of those before stops the one that runs, and drops
    those that wait and what they found."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._connection = background.Connection(engine.open_memory)
        self._newest = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    def put(self, instead: bool, *job: Callable[[Any], object]) -> None:
        """Do a job: call its `work` with the memory, then its `done` with the result, or `failed`, on the screen's
        thread."""
        if instead:
            self._newest += 1
            self._connection.interrupt()
        self._thread.submit(self._run, self._newest, *job)

    def _run(self, number: int, work: Callable[[Memory], Any], done: Any, failed: Any) -> None:
        try:
            if number == self._newest and not self._engine.is_closed:
                memory = self._connection.open(self._engine.past)
                memory.database.connection.pragma("cache_size", ORDER_CACHE)
                result = work(memory)
                if number == self._newest:
                    self._engine.later(done, result)
        except apsw.InterruptError:
            # a newer job waits
            return
        except Exception as error:  # the thread must survive a defect, and report it
            self._engine.later(failed, to_memoranda_error(error, self._engine.location.path))
        finally:
            self._engine.note_read(-1)

    def close(self) -> None:
        """Stop what runs, and close its connection, which a thread that is gone could not."""
        self._connection.interrupt()
        self._thread.submit(self._connection.close)
        self._thread.shutdown()


# Search for the application: by keywords at once, and in parallel the full search, which may wait for a model.
#
# Two connections, so that a keyword search never waits for the model's answer to an earlier one.

# maximum hits of a search
SEARCH_HITS = 100


class SearchWorker:
    """Searches the memory of an engine, as it is shown; each of the two kinds one at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._quick, self._whole = (
            background.Connection(engine.open_memory),
            background.Connection(engine.open_memory),
        )

    def search(self, query: str, meaning: bool, wanted: Callable[[], bool]) -> SearchAnswer | None:
        """Search by keywords, or by them and `meaning`; return None if `interrupt` stopped it or it is no longer
        wanted."""
        connection = self._whole if meaning else self._quick
        # an interrupted one takes a moment to end
        with connection.busy:
            if not wanted():
                return None
            try:
                memory = connection.open(self._engine.past)
                return search_for_person(memory.search, memory.database, query, SEARCH_HITS, meaning, typing=True)
            except apsw.InterruptError:
                return None

    def adds(self, query: str) -> bool:
        """Return whether meaning can add hits: embeddings are usable here, and the query is longer than one letter."""
        with self._quick.busy:
            memory = self._quick.open(self._engine.past)
            asked = parse_query(query, memory.now)
            serves = memory.search.meaning
            return bool((len(asked.text) > 1 or asked.related) and serves is not None and serves.has_vectors)

    def spellings(self, query: str) -> dict[str, list[str]]:
        """Return alternative spellings for the words of a query that occur in no record."""
        if self._engine.past is not None:
            # the vocabulary is that of the present
            return {}
        with self._quick.busy:
            database = self._quick.open(None).database
            try:
                words = parse_query(query, database.clock()).words
                return suggest_spellings(database, FullTextIndex(database), words)
            except apsw.InterruptError:
                return {}

    def interrupt(self) -> None:
        """Stop the running searches."""
        self._quick.interrupt()
        self._whole.interrupt()


class Engine:
    """The memory as the app uses it. Opened on a worker thread; closed when the app ends. `later` calls a function on
    the screen's thread. `screen` and `present` are for the screen's own reads: of the moment shown, and of now."""

    def __init__(self, location: Location, cwd: str, later: Callable[..., object], clock: Clock = utc_now) -> None:
        self.location, self.cwd, self.later, self.clock = location, cwd, later, clock
        self.present = self.screen = Memory(location, "app", clock)
        self.created = self.screen.created
        # since when changes are of this sitting
        self.opened = self.screen.now
        # the past state shown; None for the present
        self.past: PastState | None = None
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        # waits for child processes
        self.beside = ThreadPoolExecutor(1, thread_name_prefix="beside")
        self._writing = background.Connection(self.open_memory)
        # the last steps written here: not announced as changes
        self._own: list[int] = []
        self.upkeep = background.MaintenanceWorker(location, cwd, clock)
        self.seeker = SearchWorker(self)
        self._queues: dict[str, Queue] = {}
        # the reads that are under way or wait
        self._reads, self._lock = 0, Lock()
        self.is_closed = False
        # subjects of the visible steps of history
        self.subjects: LRUCache[int, str] = LRUCache(4096)
        # the proposals that were left for later in this sitting
        self.put_off: tuple[int, ...] = ()
        # what was written in the editor about these proposals, and decided nothing yet
        self.decisions_kept: tuple[list[int], str] = [], ""
        # the questions of this sitting
        self.exchanges: list[Exchange] = []
        self.documents = background.DocumentWorker(location, clock)
        self.pace = background.Pace()
        self.embedder = background.EmbeddingWorker(location, clock, self.pace)
        self.bringer = background.IngestWorker(location, clock, self.embedder.must_stop)
        self.team = background.TeamWorker(location, clock)
        self.learner = background.LearningWorker(location, clock, self.embedder, self.pace)

    def close(self) -> None:
        """Finish the current write, then close."""
        self.is_closed = True
        # so that no model delays it
        for exchange in self.exchanges:
            exchange.stop.set()
        for queue in self._queues.values():
            queue.close()
        for worker in (self.learner, self.upkeep, self.documents, self.embedder, self.bringer, self.team):
            worker.close()
        self.seeker.interrupt()
        self.beside.shutdown(wait=False, cancel_futures=True)
        self.thread.submit(self._writing.close)
        self.thread.shutdown(wait=True)

    @property
    def now(self) -> str:
        """Return the present time, also in a past view."""
        return self.present.now

    # past views

    def look_back(self, text: str) -> tuple[PastState, Memory]:
        """Return the memory as of a moment; call on a worker thread. Raises InvalidInput, NotFound, Conflict."""
        with self.open_memory(None) as memory:
            past = read_past(memory, point_in_time(memory, text))
        return past, self.open_memory(past)

    def enter(self, past: PastState, then: Memory) -> None:
        """Let everything read `then` from now on."""
        self.come_back()
        self.past, self.screen = past, then
        self.seeker.interrupt()

    def come_back(self) -> None:
        """Let everything read the present memory again."""
        if self.past is not None:
            self.screen.close()
            self.past, self.screen = None, self.present
            self.seeker.interrupt()
        self.subjects.clear()

    def open_memory(self, past: PastState | None) -> Memory:
        """Open the memory for another thread: the present or the past."""
        if past is None:
            return Memory(self.location, "app", self.clock, create=False)
        return PastMemory(self.location, "app", past)

    # the screen's own reads: a fraction of a millisecond each

    def reread(self, record: Record | Step) -> Record | Step | None:
        """Read a record again; of a document's lines their new position, or the chunk that replaced them, else the old
        ones, whose description tells that they are outdated."""
        memory = self.screen
        if isinstance(record, Step):
            return next(iter(memory.history.get_many([record.seq])), None)
        if isinstance(record, Chunk):
            moved = [found for found in memory.documents.get_many([record.id]) if found.text == record.text]
            try:
                return moved[0] if moved else memory.documents.cited_lines(parse_citation(record.citation))
            except MemorandaError:
                return record
        return next(iter(get_records(memory.database, kind_of_record(record), [record.id])), None)

    def newest_step(self) -> int:
        """Return the number of history's newest step."""
        return self.screen.database.value("SELECT max(seq) FROM history") or 0

    def changed_elsewhere(self, since: int) -> tuple[int, set[int]]:
        """Return (the newest step, the keys of records that others changed after step `since`: other doors, and other
        windows of this application; at most 200)."""
        rows = self.screen.database.rows(
            f"SELECT seq, tbl, json_extract(pk, '$[0]') FROM {every_row_view(self.screen.database)}"
            " WHERE seq > ? AND tbl IN ('facts', 'decisions', 'tasks', 'proposals') ORDER BY seq DESC LIMIT 200",
            (since,),
        )
        newest = max((seq for seq, _, _ in rows), default=since)
        own = self.own_steps
        changed = {pack_key(HISTORY_KINDS[table], number) for seq, table, number in rows if seq not in own}
        return newest, changed

    def describe(self, record: Record | Step) -> list[StyledLine]:
        """Describe a record, or a step of history, in full."""
        if isinstance(record, Step):
            return describe_step(self.screen, record)
        return describe_record(self.screen, record)

    # on worker threads

    def read(
        self,
        queue: str,
        work: Callable[[Memory], Result],
        done: Callable[[Result], object],
        failed: Callable[[MemorandaError], object] = lambda error: None,
        instead: bool = True,
    ) -> None:
        """Read on the thread of a queue, `instead` of what it reads now; then call `done` with the result on the
        screen's thread."""
        if self.is_closed:
            return
        self.note_read(1)
        if queue not in self._queues:
            self._queues[queue] = Queue(self, queue)
        self._queues[queue].put(instead, work, done, failed)

    def note_read(self, number: int) -> None:
        """Count a read that begins, or with -1 one that ended."""
        with self._lock:
            self._reads += number

    @property
    def reading(self) -> bool:
        """Tell whether anything is being read."""
        return self._reads > 0

    def describe_apart(self, record: Record) -> list[StyledLine]:
        """Describe a record whose description takes longer than a frame."""
        with self.open_memory(self.past) as memory:
            return describe_record(memory, record, coloured=True)

    def diff(self, commit: Commit, columns: int) -> list[StyledLine]:
        """Return a commit's diff as coloured lines, its files in `columns` cells. Raises GitError."""
        with self.open_memory(None) as memory:
            source = timeline_repository(memory, self.cwd)
        if source is None:
            return []
        diff = source.diff(commit.sha, DIFF_BYTES, columns)
        lines = color_diff(diff.text)
        if diff.truncated:
            lines.append([(f"… cut here; the rest: memoranda show {commit.citation} --diff", "dim")])
        return lines

    # the single thread that writes, with its own connection: one task at a time, in the order of the calls

    @property
    def own_steps(self) -> set[int]:
        """Return the last steps of history written here."""
        # a copy: the writer may be adding one
        return set(self._own[-OWN_STEPS:])

    def write(self, work: Callable[[Memory], object], done: WhenDone) -> None:
        """Call `work` with the memory, on the thread that writes, then `done` with its result or its error. In a past
        view `work` gets the past state, and any write raises."""
        self.thread.submit(self._run_and_report, partial(self._run_work, work, self.past), done)

    def _run_work(self, work: Callable[[Memory], object], past: PastState | None) -> object:
        memory = self._writing.open(past)
        result = work(memory)
        if (step := memory.database.last_step) is not None:
            self._own.append(step)
            del self._own[:-OWN_STEPS]
        return result

    def _run_and_report(self, work: Callable[[], object], done: WhenDone) -> None:
        """Run work, and call `done` with its result or its error, on the screen's thread."""
        try:
            result, error = work(), None
        except Exception as failure:  # the thread must survive a defect, and report it
            result, error = None, to_memoranda_error(failure, self.location.path)
        self.later(done, result, error)

    def wait_beside(self, work: Callable[[], object], done: WhenDone) -> None:
        """Call `work`, which waits for a child process, then `done`, beside the thread that writes."""
        self.beside.submit(self._run_and_report, work, done)

    def run_verb(self, verb: Verb, given: ParsedArguments, agreed: Collection[str], done: WhenDone) -> None:
        """Run a verb. A verb that needs a confirmation raises `ConfirmationNeeded` with the question, unless what it
        shows now is among what was `agreed` to."""

        def ask(question: str, lines: Sequence[str] = ()) -> bool:
            asks = ConfirmationNeeded(question, lines)
            if asks.shown_text not in agreed:
                raise asks
            return True

        def work(memory: Memory | None) -> Outcome:
            before = memory and memory.database.last_step
            outcome = Call(self.location, memory, self.cwd, ask).run(verb, given)
            outcome.wrote_step = memory is not None and memory.database.last_step != before
            return outcome

        if settle(verb.apart, given):
            self.wait_beside(partial(work, None), done)
        else:
            self.write(work, done)
