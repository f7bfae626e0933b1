"""Work of the application on threads of its own: upkeep, embedding, documents, learning, the team.

Maintenance while the application is open: git, backups, checkpoints, unfinished work. Runs on worker threads, each
with its own connection.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock
from time import monotonic, sleep
from typing import Any, TypeVar

import apsw

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.models import Chunk
from store.base.runtime import is_part_disabled
from store.conversations.extraction_queue import has_due_entries
from store.database.connection import to_memoranda_error
from store.documents.documents import DocumentScan
from store.documents.watcher import DocumentWatch
from store.embedding.indexer import IndexResult
from store.git.repository import refs_fingerprint
from store.inbox.duplicates import compare_new_facts, has_uncompared_facts
from store.learning.model_pass import ModelPassResult, is_model_due, run_model_pass
from store.learning.rule_pass import RulePassResult, run_rule_pass
from store.learning.tasks import turn_summarizer
from store.memory import Memory
from store.sync.sync import SyncReport
from store.text.display import visible
from store.upkeep import maintenance
from store.upkeep.as_of import PastState
from store.upkeep.auto_ingest import IngestProcess, list_changed_sources
from store.upkeep.background_embedding import embed_waiting, is_embedding_due
from store.upkeep.optional import OpenTeam, find_sharing
from store.upkeep.session_flush import flush_due_sessions

Result = TypeVar("Result")


class Connection:
    """The memory as a thread reads it with `opens`, opened when it is wanted: as it is, or as it was."""

    def __init__(self, opens: Callable[[PastState | None], Memory]) -> None:
        self._opens = opens
        self._memory: Memory | None = None
        # the past state of its memory
        self._past: PastState | None = None
        self.busy = Lock()

    def open(self, past: PastState | None) -> Memory:
        """Return the memory in a past state; None is the present."""
        if self._memory is None or self._past is not past:
            self.close()
            self._memory, self._past = self._opens(past), past
        return self._memory

    def interrupt(self) -> None:
        """Stop what is read, from another thread."""
        memory = self._memory
        if memory is not None:
            # its thread is about to open that of another moment
            with suppress(apsw.ConnectionClosedError):
                memory.database.interrupt()

    def close(self) -> None:
        """Close the memory, on its thread."""
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()


# The base class of background workers: a memory for each thread, one run at a time, and an end.


class Worker:
    """The work on a memory, on the thread that calls it."""

    # maximum wait of `close` for an exclusive run
    close_seconds = 1.0

    def __init__(self, location: Location, clock: Clock, door: str = "app") -> None:
        """`door` is recorded with this worker's writes (vocabulary.DOORS)."""
        self._location = location
        self._clock = clock
        self._door = door
        self._lock = Lock()
        self._closed = Event()

    def memory(self, door: str = "") -> Memory:
        """Open the memory for the calling thread, which must close it; with another `door` if given. Raises
        StorageError."""
        return Memory(self._location, door or self._door, self._clock, create=False)

    @contextmanager
    def exclusive(self, wait: bool = True) -> Iterator[bool]:
        """Hold the lock of this worker; yield whether it is held. If another thread holds it: wait, or yield False
        without `wait`."""
        held = self._lock.acquire(blocking=wait)
        try:
            yield held
        finally:
            if held:
                self._lock.release()

    @property
    def running(self) -> bool:
        """Return whether an exclusive run is in progress."""
        return self._lock.locked()

    def closing(self) -> bool:
        """Return whether `close` was called; long work checks it between two steps."""
        return self._closed.is_set()

    def close(self) -> None:
        """Ask the current run to end soon, and wait for it, at most `close_seconds`."""
        self._closed.set()
        if self._lock.acquire(timeout=self.close_seconds):
            self._lock.release()


# Index documents at the start, when one changes, and periodically; never on the event loop's thread.

# seconds between scans without a file watcher, and with one
SCAN_SECONDS, RARE_SCAN_SECONDS = 10.0, 60.0


class DocumentWorker(Worker):
    """The indexer of a memory's documents."""

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock)
        self._watch: DocumentWatch | None = None
        self._scanned = 0.0
        # whether nobody used the application for a while
        self.resting = False
        # whether the configuration enables watching
        self._watched = False
        # already reported
        self._problems: list[tuple[str, str]] | None = None
        # called with what a sync did
        self.synced: Callable[[SyncReport], object] = lambda report: None

    def close(self) -> None:
        """Stop: finish the current write; documents being read are read again at the next start."""
        self._closed.set()
        if self._watch is not None:
            self._watch.end()
        super().close()

    def scan_documents(
        self,
        progress: Callable[[int, int], None] = lambda done, total: None,
        trouble: Callable[[str], None] = lambda said: None,
    ) -> DocumentScan | None:
        """Sync the files that are kept so, and index changed documents; return None once closed. Call `trouble` with
        new read errors. Raises StorageError."""
        with self.exclusive():
            if self.closing():
                return None
            with self.memory() as memory:
                for report in memory.sync.sync_due(self.closing):
                    self.synced(report)
                before = memory.documents.problems() if self._problems is None else self._problems
                result = memory.documents.update_index(progress, self.closing)
            self._scanned = monotonic()
        fresh = [problem for problem in result.problems if problem not in before]
        self._problems = result.problems
        if fresh:
            path, why = fresh[0]
            more = f"; and {len(fresh) - 1:,} more, see :scan" if len(fresh) > 1 else ""
            trouble(f"{path} is not in the index, or not as it stands: {why}{more}.")
        return result

    def watch(self, trouble: Callable[[str], None]) -> None:
        """Scan whenever a document changes from now on, if the configuration enables it."""
        with self.memory() as memory:
            self._watched = bool(memory.config["sync.watch"]) and not memory.database.read_only
            places = memory.documents.roots
        if not self._watched or self.closing():
            return

        def changed() -> None:
            try:
                self.scan_documents(trouble=trouble)
            except MemorandaError as error:
                trouble(f"The documents could not be read: {error}")
            except Exception as error:  # must not end the watcher
                trouble(str(to_memoranda_error(error, self._location.path)))

        self._watch = DocumentWatch(places, changed, trouble, lambda: self.resting)
        self._watch.start()
        # closed meanwhile
        if self.closing():
            self._watch.end()

    def is_scan_due(self, screen: Memory) -> bool:
        """Return whether a scan is due: periodically, since file watchers miss changes made on another machine's disk,
        and where a synced file or its memory changed, as the `screen`'s memory says in a fraction of a millisecond."""
        if not self._watched or self.running:
            return False
        watched = self._watch is not None and self._watch.is_alive()
        seconds = RARE_SCAN_SECONDS if watched else SCAN_SECONDS
        return monotonic() - self._scanned > seconds or bool(screen.sync.list_due())

    def path_of(self, chunk: Chunk) -> str:
        """Return the path of a chunk's document, for another program. Raises InvalidInput, NotFound, StorageError."""
        with self.memory() as memory:
            # raises if it is missing or behind a symlink
            memory.documents.read_lines(chunk.path, 1, 1)
            return memory.documents.roots.find_document(chunk.path).path


# Limit background work to a small share of the time while other processes write continuously.
#
# Their writes cause the work (embeddings, questions about similar facts), so it would never end, and they need the CPU.
# After a pause in their writes it catches up at full speed.

# seconds: two writes within them count as continuous; a pause is this long without a write
CONTINUOUS_SECONDS = 2.0
# seconds of work at a time meanwhile
PIECE_SECONDS = 0.3
# the pause after a piece, as a multiple of its duration
PIECE_REST = 30


class Pace:
    """Tells whether other processes write continuously; call `note_write` after each write seen."""

    def __init__(self) -> None:
        self._wrote = self._busy_until = 0.0

    def note_write(self) -> None:
        """Record that something was written since the last check."""
        now = monotonic()
        if now - self._wrote < CONTINUOUS_SECONDS:
            self._busy_until = now + CONTINUOUS_SECONDS
        self._wrote = now

    def busy(self) -> bool:
        return monotonic() < self._busy_until


class Share:
    """The share of the time for a kind of work. A context manager around each run, for a single thread at a time."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._started = self._resumes = 0.0
        # when the current run began its first batch
        self._first: float | None = None

    def resting(self) -> bool:
        """Return whether to postpone the work."""
        return self._pace.busy() and monotonic() < self._resumes

    def is_spent(self) -> bool:
        """Tell whether the current run must end here and continue later. Checked between two batches and before
        the first: loading may take long and does not count, and each run processes at least one batch."""
        if self._first is None:
            self._first = monotonic()
        return self._pace.busy() and monotonic() - self._first > PIECE_SECONDS

    def __enter__(self) -> None:
        self._started = monotonic()
        self._first = None

    def __exit__(self, *_: object) -> None:
        end = monotonic()
        self._resumes = end + PIECE_REST * (end - self._started)


# Embed pending texts on a thread that yields to key presses.

# seconds without a key before embedding continues
QUIET_SECONDS = 0.3
# seconds, well below the duration of a lease
LONGEST_PAUSE = 2.0
# seconds before a retry: while another process embeds; after no model responded
EMBED_AGAIN_SECONDS, EMBED_LATER_SECONDS = 5.0, 600.0
# read by the model's library when it loads
THREADS_VARIABLE = "OMP_NUM_THREADS"


class EmbeddingWorker(Worker):
    """Embeds the pending texts of a memory, at each call of `embed_pending`. `close` keeps finished batches; the
    current batch is repeated at the next start."""

    def __init__(self, location: Location, clock: Clock, pace: Pace) -> None:
        super().__init__(location, clock)
        self._share = Share(pace)
        self.stopped = False
        self._not_before = 0.0
        # the time of the last key
        self._pressed = 0.0
        # why it cannot work, as a sentence
        self.trouble = ""
        # (embedded texts, all texts), as far as it is shown
        self.progress = (0, 0)
        # leave one core for the interface
        os.environ.setdefault(THREADS_VARIABLE, str(max(1, (os.cpu_count() or 2) - 1)))

    @property
    def under_way(self) -> str | None:
        """Return the progress as part of a sentence; None while nothing is embedded."""
        done, total = self.progress
        if not self.running:
            return None
        return f" ({done:,} of {total:,})" if done < total else ""

    def stop_embedding(self) -> bool:
        """End the current run and start no other until `resume`; return False if there is none."""
        if not self.running:
            return False
        self.stopped = True
        return True

    def resume(self) -> None:
        """Continue after `stop` or after an error."""
        self.stopped, self._not_before = False, 0.0

    def note_key(self) -> None:
        """Record a key press, which pauses the work."""
        self._pressed = monotonic()

    def is_embedding_due(self, memory: Memory, resumed: bool = False) -> bool:
        """Return whether texts are pending that may be embedded now, or if it was `resumed`; a cheap query on the
        caller's memory."""
        held = not resumed and (self.stopped or monotonic() < self._not_before)
        if self.closing() or held or self.running or is_part_disabled("model"):
            return False
        return not self._share.resting() and is_embedding_due(memory)

    def embed_pending(
        self, progress: Callable[[int, int], None], trouble: Callable[[str], None]
    ) -> IndexResult | None:
        """Embed the pending texts; return None if another process does it. Call `trouble` with what prevents it."""
        if is_part_disabled("model"):
            return None
        problems: list[str] = []
        result = None
        with self.exclusive(wait=False) as held:
            if not held:
                return None
            try:
                with self.memory() as memory, self._share:
                    if not is_embedding_due(memory):
                        return None
                    result = embed_waiting(memory, progress, self._ends, problems.append)
            except MemorandaError as error:
                problems.append(str(error))
        if result is None and not problems:
            self._not_before = monotonic() + EMBED_AGAIN_SECONDS
        elif problems and (result is None or result.left):
            self._not_before = monotonic() + EMBED_LATER_SECONDS
        self.trouble = problems[-1] if problems else ""
        if problems:
            trouble(self.trouble)
        return result

    def _ends(self) -> bool:
        """Return whether to end, between two batches."""
        return self.give_way() or self.stopped or self._share.is_spent()

    def must_stop(self) -> bool:
        """Tell whether interruptible work must stop: keys are pressed, or the app is closing."""
        return self.closing() or monotonic() - self._pressed < QUIET_SECONDS

    def give_way(self) -> bool:
        """Between two steps of any work: pause briefly while keys are pressed; return whether the app is closing."""
        start = monotonic()
        while self.must_stop() and not self.closing() and monotonic() - start < LONGEST_PAUSE:
            sleep(0.05)
        return self.closing()


# Ingest conversations in a child process, when files that the configuration names have grown.


class IngestWorker(Worker):
    """Ingests the new turns of a memory's conversations, at each call of `ingest_grown`."""

    # no wait: the child process commits as it reads
    close_seconds = 0.0

    def __init__(self, location: Location, clock: Clock, unwanted: Callable[[], bool]) -> None:
        super().__init__(location, clock, "worker")
        self._unwanted = unwanted
        self._process: IngestProcess | None = None

    def ingest_grown(self) -> dict[str, Any]:
        """Return the result of the child process; empty if nothing is due or a run is in progress. Then summarise and
        flush open sessions, from any source, with a model if there is one."""
        with self.exclusive(wait=False) as held:
            if not held:
                return {}
            result: dict[str, Any] = {}
            with self.memory() as memory:
                if list_changed_sources(memory):
                    result = self._run_process()
                if not self.closing():
                    with turn_summarizer(memory, self._unwanted) as by:
                        flush_due_sessions(memory, by)
            return result

    def read_agents(self, agents: Sequence[str]) -> dict[str, Any]:
        """Read the conversations that these agents keep of the project, in a child process; return its result, empty if
        it was ended."""
        with self.exclusive():
            return self._run_process(agents)

    def _run_process(self, agents: Sequence[str] = ()) -> dict[str, Any]:
        if self.closing():
            return {}
        self._process = IngestProcess(self._location.path, agents)
        try:
            return self._process.run_ingest()
        finally:
            self._process = None

    def close(self) -> None:
        """End the child process; what it committed is kept."""
        super().close()
        if (process := self._process) is not None:
            process.end_ingest()


# Learn from conversations: extract facts from turns and compare new facts with the rest, by rules on one thread that
# yields to key presses; with a model, if there is one, on another.

# consecutive requests interrupted by keys, after which one is allowed to complete
MOST_INTERRUPTIONS = 3


class LearningWorker(Worker):
    """Learns from the conversations of a memory, and gives way to keys as the `embedder` does."""

    def __init__(self, location: Location, clock: Clock, embedder: EmbeddingWorker, pace: Pace) -> None:
        super().__init__(location, clock, "worker")
        self._share, self._embedder = Share(pace), embedder
        # requests, since the last complete one
        self._broken_off = 0
        # users' own requests to the model in progress
        self._waiting = 0

    def is_learning_due(self, memory: Memory) -> bool:
        """Return whether turns or facts are still to be processed; a cheap query on the caller's memory."""
        if self._share.resting():
            return False
        database = memory.database
        due = has_uncompared_facts(database)
        return due or (not database.read_only and has_due_entries(database, memory.now))

    def is_model_due(self, memory: Memory) -> bool:
        """Return whether a model has something to process; equally cheap."""
        return not self._give_up() and is_model_due(memory)

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Send the model no background requests while a user waits for it, and interrupt the current one: the server
        would alternate between the two and process both prompts again each time."""
        with self.exclusive():
            self._waiting += 1
        try:
            yield
        finally:
            with self.exclusive():
                self._waiting -= 1

    def _give_up(self) -> bool:
        return self._waiting > 0 or self._embedder.must_stop()

    def run_rules(self) -> tuple[RulePassResult, int]:
        """Process pending turns and facts by rules: return what was learned from turns, and how many questions new
        facts raised."""

        def ends() -> bool:
            return self._embedder.give_way() or self._share.is_spent()

        with self.memory() as memory, self._share:
            asked = compare_new_facts(memory.database, memory.facts, memory.inbox, ends)
            return run_rule_pass(memory, cancelled=ends), len(asked)

    def run_model(self) -> ModelPassResult:
        """Let the model process what the rules have processed. A key interrupts its request. Since a key every second
        would keep it from ever loading or finishing, after MOST_INTERRUPTIONS interruptions one request completes,
        unless a user waits for the model."""
        patient = self._broken_off >= MOST_INTERRUPTIONS
        with self.memory() as memory:
            added = run_model_pass(
                memory,
                entries=1 if patient else None,
                cancelled=(lambda: self._waiting > 0 or self.closing()) if patient else self._give_up,
            )
        self._broken_off = self._broken_off + 1 if added.broken_off else 0
        return added


class MaintenanceWorker(Worker):
    """Maintains one memory."""

    def __init__(self, location: Location, cwd: str, clock: Clock) -> None:
        super().__init__(location, clock)
        self._cwd = cwd
        self._reading_git = self._stop_git = False
        # of the repository at the last check
        self._fingerprint = ""
        # where it is, "" where there is none; None before the first check
        self._root: str | None = None
        # what it and its files were at the last look
        self._evidence: tuple[object, ...] = ()
        # the newest step of history at which nothing was bound to evidence
        self._unbound = -1

    def catch_up(
        self, progress: Callable[[int, int], None], trouble: Callable[[str], None] = lambda sentence: None
    ) -> int | None:
        """Apply retention, then read the commits that the timeline lacks; return None if another process does it. Call
        `trouble` with errors in git's history. Raises GitError."""
        with self.memory() as memory:
            self._stop_git, self._reading_git = False, True
            try:
                return maintenance.run_maintenance(
                    memory, self._cwd, progress, lambda: self.closing() or self._stop_git, trouble
                )
            finally:
                self._reading_git = False

    def verify(self) -> int:
        """Look again at what facts and decisions rest on, if anything about it changed since the last look; return how
        many pieces changed or are gone that were neither before."""
        with self.memory("worker") as memory:
            step = memory.database.value("SELECT max(seq) FROM history")
            if step == self._unbound or memory.database.read_only:
                return 0
            bound = memory.evidence.list_all_bound()
            self._unbound = -1 if bound else step
            if not bound or (stamp := memory.evidence.stamp(bound)) == self._evidence:
                return 0
            self._evidence = stamp
            before = {(one.citation, one.item): one.state for one in bound}
            doubted = [one for one in memory.evidence.verify() if one.state in ("changed", "gone")]
            return sum(before.get((one.citation, one.item)) not in ("changed", "gone") for one in doubted)

    def run(self, work: Callable[[Memory], Result]) -> Result:
        """Call `work` with the memory, whose writes are those of a worker."""
        with self.memory("worker") as memory:
            return work(memory)

    def git_changed(self, clean: bool = False) -> bool:
        """Return whether the repository changed since the last check; takes little more than opening the memory. With
        `clean` first finish unfinished work, such as a purge, as far as possible."""
        with self.memory() as memory:
            if clean and maintenance.is_cleanup_due(memory):
                maintenance.clean_up_memory(memory)
            changed = maintenance.check_git_change(memory, self._cwd, self._fingerprint)
            source = maintenance.readable_repository(memory, self._cwd)
        self._root = source.root if source else ""
        self._fingerprint = changed or self._fingerprint
        return changed is not None

    def git_moved(self) -> bool:
        """Return whether `git_changed` is worth a call: it opens the memory, this does not."""
        return self._root is None or (self._root != "" and refs_fingerprint(self._root) != self._fingerprint)

    def stop_reading_git(self) -> bool:
        """Stop reading git, if that is in progress; what was read is kept."""
        self._stop_git = self._reading_git
        return self._reading_git


# Exchange with the team now and then, if the person shares or has once received something.


class TeamWorker(Worker):
    """Exchanges with the team of a memory, at each call of `exchange`."""

    # no wait: an exchange that is stopped goes on at the next
    close_seconds = 0.0

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock, "worker")
        self._team: OpenTeam | None = None
        # of the last exchange, to be read
        self.report: Sequence[str] = ()

    def exchange(self, wait: bool = False) -> list[str] | None:
        """Exchange with the team; if told to `wait`, after an exchange in progress. Return lines to read on what
        arrived; None where nothing is shared, or if an exchange is in progress. Raise MemorandaError."""
        with self.exclusive(wait) as held, self.memory() as memory:
            sharing = find_sharing(memory) if held and not self.closing() else None
            if sharing is None or not sharing.has_records(memory):
                return None
            with sharing.open_team(memory) as team:
                self._team = team
                try:
                    arrived = [*map(visible, team.report_exchange().lines)]
                    self.report = arrived or ["Nothing new on either side."]
                    return arrived
                finally:
                    self._team = None

    def close(self) -> None:
        """End git, if it is waiting for the remote."""
        super().close()
        if (team := self._team) is not None:
            team.stop_exchange()
