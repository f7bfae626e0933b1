"""Own the application's connections and threads: all reads and writes of the memory run here, off the event loop.

One thread writes and runs the verbs; others search, read the order of the lists, read git
and embed (`tui/workers/background.py`). Each opens its own connection. The screen's own reads, of a page or a record at
a time, take a fraction of a millisecond, on a separate connection."""

from __future__ import annotations

import contextlib
import ctypes
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic

from textual.cache import LRUCache

from store.base.citations import Citation, cite
from store.base.clock import Clock, utc_now
from store.base.errors import InvalidInput, MemorandaError, NotFound
from store.base.location import Location
from store.base.models import Commit, Record, Step
from store.base.vocabulary import pack_key
from store.conversations.extraction_queue import count_queued_turns
from store.database.connection import to_memoranda_error
from store.history.compression import every_row_view
from store.history.history import HISTORY_KINDS
from store.history.restore_plan import RestorePlan
from store.librarian.structured_output import read_model_stats
from store.memory import Memory
from store.search.lookup import get_record, records_by_key
from store.upkeep.as_of import PastMemory, PastState, point_in_time, read_past
from store.upkeep.maintenance import timeline_repository
from store.upkeep.metrics import Measures, measure
from tui.commands import dispatch
from tui.commands.call import Call, Outcome
from tui.input.arguments import ParsedArguments, Verb, settle
from tui.input.key_table import FACTS, HISTORY
from tui.lists.fact_groups import (
    PANE_FACETS,
    changed_groups,
    count_facts,
    fact_list_key,
    fact_numbers,
    group_headings,
    join_groups,
    read_groups,
    settle_groups,
    split_in_groups,
)
from tui.lists.filters import Facet
from tui.lists.pane_rows import ContextRows, HealthRows
from tui.lists.record_rows import (
    KeyedRows,
    RowLine,
    checkpoint_lines,
    entry_lines,
    fact_lines,
    proposal_lines,
    split_by_day,
    step_lines,
    step_subjects,
    task_lines,
)
from tui.lists.view_state import View
from tui.render.details import describe_record, describe_step
from tui.render.lines import StyledLine
from tui.workers.background import (
    DocumentWorker,
    EmbeddingWorker,
    IngestWorker,
    LearningWorker,
    MaintenanceWorker,
    Pace,
    TeamWorker,
)
from tui.workers.first_start import Ledger, read_ledger
from tui.workers.queries import (
    DecisionConflicts,
    PlanTarget,
    SearchChoices,
    SearchWorker,
    SideRows,
    find_day,
    read_context,
    read_health,
    read_plan,
    read_search_choices,
    reread_record,
)

# The single thread that writes to the memory and runs commands, with its own connection.

OWN_STEPS = 200  # latest steps of this application to remember

WhenDone = Callable[[object, "MemorandaError | None"], None]


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
        return set(self._own[-OWN_STEPS:])  # a copy: the writer may be adding one

    def write(self, work: Callable[[Memory], object], done: WhenDone, past: PastState | None) -> None:
        """Call `work` with the memory, then `done` with its result or its error, on this thread. With a `past` state
        `work` gets that instead, and any write raises."""
        self.thread.submit(_run_and_report, lambda: self._run_work(work, past), done, self._location.path)

    def _run_work(self, work: Callable[[Memory], object], past: PastState | None) -> object:
        if past is not None:
            with PastMemory(self._location, "app", past) as then:
                return work(then)
        if self._memory is None:
            self._memory = Memory(self._location, "app", self._clock, create=False)
        result = work(self._memory)
        if (step := self._memory.database.last_step) is not None:
            self._own.append(step)
            del self._own[:-OWN_STEPS]
        return result

    def aside(self, work: Callable[[], object], done: WhenDone) -> None:
        """Call `work`, which waits for a child process, then `done`, beside the thread that writes."""
        self.beside.submit(_run_and_report, work, done, self._location.path)

    def run_verb(
        self, verb: Verb, given: ParsedArguments, agreed: Collection[str], done: WhenDone, past: PastState | None
    ) -> None:
        """Run a verb. A verb that needs a confirmation raises `ConfirmationNeeded` with the question, unless what it
        shows now is among what was `agreed` to."""

        def ask(question: str, lines: Sequence[str] = ()) -> bool:
            asks = ConfirmationNeeded(question, lines)
            if asks.shown_text not in agreed:
                raise asks
            return True

        def work(memory: Memory | None) -> Outcome:
            return dispatch.run_verb(Call(self._location, memory, self._cwd, ask), verb, given)

        if settle(verb.apart, given):
            self.aside(lambda: work(None), done)
        else:
            self.write(work, done, past)


def _run_and_report(work: Callable[[], object], done: WhenDone, path: str) -> None:
    """Run work, and call `done` with its result or its error."""
    try:
        result, error = work(), None
    except Exception as failure:  # the thread must survive a defect, and report it
        result, error = None, to_memoranda_error(failure, path)
    done(result, error)


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


FIRST_ROWS = 256  # rows of a list that are shown before its whole order is known
DIFF_BYTES = 120_000
ORDER_CACHE = -256  # kB of page cache while an order is read: each page is needed once
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of mallopt(3)
MEASURE_REST = 10  # pause before the health is measured again, as a multiple of the last duration
LARGE_BLOCK = 1 << 19  # bytes from which a block is returned to the system when freed


@dataclass(frozen=True)
class LoadedLists:
    """One load of both lists; `whole` once their order is complete."""

    facts: KeyedRows
    groups: Sequence[tuple[str, int]]  # of the facts: their need, and their number
    timeline: KeyedRows
    counts: dict[str, int]
    kinds: dict[str, int]  # of the timeline: how many entries of each
    entries: int
    whole: bool
    view: View
    step: int  # the newest step of history before the load
    shared: int  # and that of the person's own memory, where the global facts are
    journal: tuple[tuple[int, int], ...]  # of the timeline, see there
    kept: bool = False  # whether a fact stands where its state was before it changed


class Engine:
    """The memory as the app uses it. Opened on a worker thread; closed when the app ends."""

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        self.location, self.cwd = location, cwd
        self.clock = self._clock = clock
        self._present = self.screen = Memory(location, "app", clock)  # for the screen's own reads
        self.created = self.screen.created
        self.opened = self.screen.now  # since when changes are of this sitting
        self.past: PastState | None = None  # the past state shown; None for the present
        self.writer = Writer(location, cwd, clock)
        self.upkeep = MaintenanceWorker(location, cwd, clock)
        # a single thread, since each would keep the memory it allocated for a million keys
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="lists")
        self.seeker = SearchWorker(location, clock)
        self._closed = False
        self._measured: tuple[Measures, float] | None = None  # the last figures, and how long they are valid
        self.subjects: LRUCache[int, str] = LRUCache(4096)  # subjects of the visible steps of history
        self._steps: tuple[str | None, array[int]] = (None, array("I"))  # (actor, numbers) of the steps last read
        self.conflicts = DecisionConflicts()
        self.put_off: tuple[int, ...] = ()  # the proposals that were left for later in this sitting
        # what was written in the editor about these proposals, and decided nothing yet
        self.decisions_kept: tuple[list[int], str] = [], ""
        self.undone_together, self.undone_at = (
            (0, 0),
            0.0,
        )  # last of several undos, how many; when one was not asked
        self.documents = DocumentWorker(location, clock)
        self.pace = Pace()
        self.embedder = EmbeddingWorker(location, clock, self.pace)
        self.bringer = IngestWorker(location, clock, self.embedder.must_stop)
        self.team = TeamWorker(location, clock)
        self.learner = LearningWorker(location, clock, self.embedder.give_way, self.embedder.must_stop, self.pace)

    def close(self) -> None:
        """Finish the current write, then close."""
        self._closed = True
        for worker in (
            self.learner,
            self.upkeep,
            self.documents,
            self.embedder,
            self.bringer,
            self.team,
            self.seeker,
        ):
            worker.close()
        self.writer.close()
        self._reader.shutdown(wait=False, cancel_futures=True)

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def present(self) -> Memory:
        """Return the present memory for the screen to read, also in a past view."""
        return self._present

    @property
    def now(self) -> str:
        """Return the present time, also in a past view."""
        return self._present.now

    # past views

    def look_back(self, text: str) -> tuple[PastState, PastMemory]:
        """Return the memory as of a moment; call on a worker thread. Raises InvalidInput, NotFound, Conflict."""
        with Memory(self.location, "app", self._clock, create=False) as memory:
            past = read_past(memory, point_in_time(memory, text))
        return past, PastMemory(self.location, "app", past)

    def enter(self, past: PastState, then: PastMemory) -> None:
        """Let the screen read `then` from now on."""
        self.come_back()
        self.past, self.screen = past, then
        self.seeker.search_past(past)

    def come_back(self) -> None:
        """Let the screen read the present memory again."""
        if self.past is not None:
            self.screen.close()
            self.past, self.screen = None, self._present
            self.seeker.search_past(None)
        self.subjects.clear()

    def _open_memory(self, past: PastState | None) -> Memory:
        """Open the memory for another thread: the present or the past."""
        if past is None:
            return Memory(self.location, "app", self._clock, create=False)
        return PastMemory(self.location, "app", past)

    # the screen's own reads: a fraction of a millisecond each

    def read_facts(self, numbers: Sequence[int]) -> dict[int, Record]:
        here = self.screen.facts.get_many(fact_numbers(numbers, "fact"))
        found: dict[int, Record] = {fact.id: fact for fact in here}
        for shared in self.screen.globals.get_many(fact_numbers(numbers, "global")):
            found[fact_list_key("global", shared.id)] = shared
        return found

    def read_entries(self, keys: Sequence[int]) -> dict[int, Record]:
        return records_by_key(self.screen.database, list(keys))

    def read_steps(self, numbers: Sequence[int]) -> dict[int, Step]:
        steps = {step.seq: step for step in self.screen.history.get_many(list(numbers))}
        for seq, text in step_subjects(self.screen, steps).items():
            self.subjects[seq] = text
        return steps

    def read_marked(self, name: str, marks: Iterable[Hashable]) -> list[Record | Step]:
        """Return the marked records of the list `name`, oldest first."""
        keys = sorted(key for key in marks if isinstance(key, int))
        found: Mapping[int, Record | Step]
        if name == HISTORY:
            found = self.read_steps(keys)
        else:
            found = self.read_facts(keys) if name == FACTS else self.read_entries(keys)
        return [found[key] for key in keys if key in found]

    def waiting(self) -> int:
        """Return the number of pending proposals."""
        return self.screen.inbox.count_waiting()

    def at_day(self, name: str, text: str, view: View) -> tuple[int | None, str, str]:
        """Return `queries.at_day`. Raises InvalidInput."""
        return find_day(self.screen, name, text, view)

    def reread(self, record: Record | Step) -> Record | Step | None:
        """Reload a record."""
        return reread_record(self.screen, record)

    def newest_step(self, memory: Memory | None = None) -> int:
        """Return the number of history's newest step."""
        return (memory or self.screen).database.value("SELECT max(seq) FROM history") or 0

    def changed_elsewhere(self, since: int) -> tuple[int, set[int]]:
        """Return (the newest step, the keys of records that others changed after step `since`: other doors, and other
        windows of this application; at most 200)."""
        rows = self.screen.database.rows(
            f"SELECT seq, tbl, json_extract(pk, '$[0]') FROM {every_row_view(self.screen.database)}"
            " WHERE seq > ? AND tbl IN ('facts', 'decisions', 'tasks', 'proposals') ORDER BY seq DESC LIMIT 200",
            (since,),
        )
        newest = max((seq for seq, _, _ in rows), default=since)
        own = self.writer.own
        changed = {pack_key(HISTORY_KINDS[table], number) for seq, table, number in rows if seq not in own}
        return newest, changed

    def links(self, record: Record) -> str:
        """Return the decisions that a commit is linked to, for its line in the timeline."""
        if not isinstance(record, Commit):
            return ""
        rows = self.screen.database.rows(
            "SELECT decision_id FROM commit_links WHERE commit_id = ? ORDER BY 1 LIMIT 3", (record.id,)
        )
        return " ".join(cite("decision", number) for (number,) in rows)

    def _draw_entry(self, record: Record, width: int) -> list[RowLine]:
        return entry_lines(record, width, self.links(record))

    def describe(self, record: Record | Step) -> list[StyledLine]:
        """Describe a record, or a step of history, in full."""
        return (
            describe_step(self.screen, record) if isinstance(record, Step) else describe_record(self.screen, record)
        )

    def lookup(self, citation: Citation) -> Record:
        """Return the record of a citation. Raises NotFound, Conflict, Unsupported."""
        return get_record(self.screen.database, citation)

    # on worker threads

    def ledger(self) -> Ledger:
        """Return what the first start found and did, and what it offers."""
        with self._open_memory(None) as memory:
            return read_ledger(memory, self.cwd)

    def describe_apart(self, record: Record) -> list[StyledLine]:
        """Describe a record whose description takes longer than a frame."""
        with self._open_memory(self.past) as memory:
            return describe_record(memory, record, coloured=True)

    def lists(
        self,
        view: View,
        limit: int = -1,
        last: LoadedLists | None = None,
        aged: bool = False,
        sorted_again: bool = False,
    ) -> LoadedLists:
        """Load the order of facts and timeline, the first `limit` rows of each or all.

        Reuse the order of unchanged tables from the `last` load; `aged` if time has passed, which changes the facts'
        states. Facts that changed keep their places until the view changes or they are `sorted_again`. Rows written
        meanwhile may be included, and are loaded again next time."""
        return self._reader.submit(self._lists, view, limit, last, aged, sorted_again).result()

    def _lists(
        self, view: View, limit: int, last: LoadedLists | None, aged: bool, sorted_again: bool
    ) -> LoadedLists:
        if last is not None and not last.whole:
            last = None
            _release_blocks()
        with self._open_memory(view.past) as memory:
            memory.database.connection.pragma("cache_size", ORDER_CACHE)
            now = memory.now
            step = memory.database.value("SELECT max(seq) FROM history") or 0
            journal = memory.timeline.journal() if limit < 0 else ()
            changed = _changed_tables(memory, last.step) if last is not None else set()
            shared = memory.globals.step
            changed |= {"facts"} if last is not None and last.shared != shared else set()
            draw = lambda fact, width: fact_lines(fact, now, width)  # noqa: E731
            if last is not None and last.view == view and "facts" not in changed and not aged and not sorted_again:
                facts, groups, counts, kept = last.facts.reread(draw), last.groups, last.counts, last.kept
            else:
                true = found = read_groups(memory, view, now, limit)
                if last is not None and last.view == view and not sorted_again:
                    before = split_in_groups(last.facts.keys, last.groups)
                    found = settle_groups(before, found, _successors(memory, last.step, last.shared))
                counts = count_facts(memory, now) if limit < 0 else {}
                groups = [(need, len(keys)) for need, keys in found]
                moved = changed_groups(found, true)
                kept, titles = bool(moved), group_headings(groups, moved)
                facts = KeyedRows(join_groups(found), self.read_facts, draw, titles)
            same_kind = last is not None and (last.view.kind, last.view.past) == (view.kind, view.past)
            if last is not None and same_kind and last.journal == journal and "decisions" not in changed:
                timeline, entries, kinds = last.timeline.reread(), last.entries, last.kinds
            else:
                keys, days = split_by_day(memory.timeline.stream(view.kinds, limit=limit))
                days_of = [(first, day, "") for first, day in days]
                timeline, entries = KeyedRows(keys, self.read_entries, self._draw_entry, days_of), len(keys)
                kinds = memory.timeline.count_kinds() if limit < 0 else {}
            return LoadedLists(
                facts, groups, timeline, counts, kinds, entries, limit < 0, view, step, shared, journal, kept
            )

    def side(self, view: View, names: Sequence[str]) -> dict[str, SideRows]:
        """Load the order of these side lists."""
        with self._open_memory(view.past) as memory:
            return {name: PANE_ROWS[name](self, memory, view) for name in names}

    def measure_health(self, memory: Memory, past: bool) -> HealthRows:
        """Return the figures; measure those of the present only as often as takes a small part of the time."""
        if past:
            return read_health(memory, measure(memory), True)
        start = monotonic()
        if self._measured is not None and start < self._measured[1]:
            found, until = self._measured
            return read_health(memory, found, False, until - start)
        found = measure(memory)
        end = monotonic()
        self._measured = (found, end + MEASURE_REST * (end - start))
        return read_health(memory, found, False)

    def step_order(self, memory: Memory, actor: str | None) -> array[int]:
        """Return the numbers of the steps of history, newest first. Only new steps are read, since old ones never
        change."""
        known = self._steps[1] if self._steps[0] == actor else array("I")
        newer = memory.history.keys(actor=actor, after_seq=known[0] if known else 0)
        if newer.typecode != known.typecode:
            newer, known = array("q", newer), array("q", known)
        self._steps = (actor, newer + known if newer else known)
        return self._steps[1]

    def facets(self, name: str) -> Sequence[Facet]:
        """Return by what a pane can be narrowed."""
        with self._open_memory(self.past) as memory:
            found: Sequence[Facet] = PANE_FACETS[name](memory) if name in PANE_FACETS else ()
            return found

    def searchable(self) -> SearchChoices:
        """Return what there is to search: see `queries.searchable`."""
        with self._open_memory(self.past) as memory:
            return read_search_choices(memory)

    def plan(self, kind: str, target: PlanTarget) -> tuple[RestorePlan, str, str]:
        """Return a plan with its title and note; see `queries.plan`."""
        with Memory(self.location, "app", self._clock, create=False) as memory:
            return read_plan(memory, kind, target)

    def proposed_changes(self, plan: RestorePlan, strategy: str) -> frozenset[int]:
        """Return which changes of a plan are selected at first."""
        return self.screen.plans.propose_changes(plan, strategy)

    def keeping_mine(self, plan: RestorePlan) -> RestorePlan:
        """Return a plan of restoring a checkpoint that keeps the user's later changes, field by field."""
        return self.screen.plans.keep_mine(plan)

    def diff(self, commit: Commit, columns: int) -> list[StyledLine]:
        """Return a commit's diff as coloured lines, its files in `columns` cells. Raises GitError."""
        from tui.render.syntax import color_diff

        with Memory(self.location, "app", self._clock, create=False) as memory:
            source = timeline_repository(memory, self.cwd)
        if source is None:
            return []
        diff = source.diff(commit.sha, DIFF_BYTES, columns)
        lines = color_diff(diff.text)
        if diff.truncated:
            lines.append([(f"… cut here; the rest: memoranda show {commit.citation} --diff", "dim")])
        return lines

    # writer

    def write(self, work: Callable[[Memory], object], done: WhenDone) -> None:
        """Call `work` with the writer's memory, or with the past state shown: `Writer.write`."""
        self.writer.write(work, done, self.past)

    def run_verb(self, verb: Verb, given: ParsedArguments, agreed: Collection[str], done: WhenDone) -> None:
        """Run a verb: `Writer.run`."""
        self.writer.run_verb(verb, given, agreed, done, self.past)


def _release_blocks() -> None:
    """Make glibc return large blocks to the system when they are freed. By default it keeps them after the first is
    freed: loading the orders of a million rows twenty times took 120 MB."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)
        library.mallopt(M_ARENA_MAX, 1)  # no heap for each thread


def _changed_tables(memory: Memory, since: int) -> set[str]:
    """Return the recorded tables that were changed after step `since`."""
    source = every_row_view(memory.database)
    return {
        table for (table,) in memory.database.rows(f"SELECT DISTINCT tbl FROM {source} WHERE seq > ?", (since,))
    }


def _successors(memory: Memory, since: int, shared: int) -> dict[int, int]:
    """Return which facts were replaced after step `since`, and by which; global ones after step `shared` of the
    person's own memory."""
    found = _replaced_facts(memory, since)
    if shared and memory.globals.step > shared:
        theirs = _replaced_facts(memory.require_personal(), shared)
        found |= {fact_list_key("global", old): fact_list_key("global", theirs[old]) for old in theirs}
    return found


def _replaced_facts(memory: Memory, since: int) -> dict[int, int]:
    """Return which facts were replaced after a step of history, and by which fact."""
    rows = memory.database.rows(
        f"SELECT f.supersedes, f.id FROM facts f JOIN {every_row_view(memory.database)} h"
        " ON h.tbl = 'facts' AND h.op = 'INSERT' AND json_extract(h.pk, '$[0]') = f.id"
        " WHERE h.seq > ? AND f.supersedes IS NOT NULL AND f.status = 'active'",
        (since,),
    )
    return dict(rows)


def first_changed_key(step: Step, memory: Memory, kind: str = "") -> int | None:
    """Return the key of the first record that a step changed, to show it: of this `kind`, if it changed one, and one
    that holds now, if one does."""
    changes = memory.history.changes(step.seq, limit=64)
    keys = [
        (HISTORY_KINDS[change.table], int(change.key[0])) for change in changes if change.table in HISTORY_KINDS
    ]
    mine = [key for key in keys if key[0] == kind] or keys
    held = (
        key for key in mine if _record_status(memory, *key) not in (None, "superseded", "contradicted", "forgotten")
    )
    key = next(held, mine[0] if mine else None)
    return None if key is None else pack_key(*key)


def _record_status(memory: Memory, kind: str, number: int) -> str | None:
    """Return the status of a record, "active" for a kind without a status; None if the record is not there."""
    try:
        return str(getattr(get_record(memory.database, Citation(kind, number)), "status", "active"))
    except NotFound:
        return None


def checkpoint_rows(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    """Return the rows of the checkpoints."""
    now, newest = memory.now, engine.newest_step(memory)
    keys = array("q", (pack_key("checkpoint", number) for number in memory.checkpoints.ids(every=view.hidden)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: checkpoint_lines(record, width, now, newest))


def _count_checkpoints(memory: Memory) -> dict[str, int]:
    """Count the automatic checkpoints."""
    return {"alone": memory.checkpoints.count_automatic()}


def history_rows(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    """Return the rows of the changes."""
    now = memory.now
    keys = memory.history.keys(actor=view.actor) if view.past else engine.step_order(memory, view.actor)
    return KeyedRows(
        keys,
        engine.read_steps,
        lambda step, width: step_lines(step, engine.subjects.get(step.seq, ""), width, now),
    )


def task_rows(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    """Return the rows of the tasks."""
    now = memory.now
    keys = array("q", (pack_key("task", number) for number in memory.tasks.ids(statuses=view.task_statuses)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: task_lines(record, width, now))


def _count_tasks(memory: Memory) -> dict[str, int]:
    """Count the tasks that are done."""
    return {"done": memory.database.value("SELECT count(*) FROM tasks WHERE status = 'done'")}


def _count_inbox(memory: Memory) -> dict[str, int]:
    """Return how many turns wait for rules to read them, and how many for a model."""
    unheard, _ = count_queued_turns(memory.database)
    return {"unheard": unheard, "unread": read_model_stats(memory.database, memory.now).queued}


def inbox_rows(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    """Return the rows of the inbox, with the proposals that were put off at the end."""
    now = memory.now
    waiting = memory.inbox.ids(origin=view.asker)
    put_off = [number for number in engine.put_off if number in set(waiting)]
    numbers = [*(number for number in waiting if number not in put_off), *put_off]
    keys = array("q", (pack_key("proposal", number) for number in numbers))
    against = {} if view.past else engine.conflicts.find_conflicts(memory, numbers)
    return KeyedRows(
        keys,
        engine.read_entries,
        lambda record, width: proposal_lines(record, width, now, against.get(record.id, "")),
        [(len(numbers) - len(put_off), f"Later {len(put_off):,}", "left for the end")] if put_off else [],
    )


def context_pane_rows(engine: Engine, memory: Memory, view: View) -> ContextRows:
    """Return the rows of the context pane."""
    return read_context(memory, view.question, view.session)


def health_pane_rows(engine: Engine, memory: Memory, view: View) -> HealthRows:
    """Return the rows of the health pane."""
    return engine.measure_health(memory, view.past is not None)


PANE_ROWS: Mapping[str, Callable[[Engine, Memory, View], SideRows]] = {
    "checkpoints": checkpoint_rows,
    "history": history_rows,
    "tasks": task_rows,
    "inbox": inbox_rows,
    "context": context_pane_rows,
    "health": health_pane_rows,
}
PANE_COUNTS: Mapping[str, Callable[[Memory], Mapping[str, int]]] = {
    "checkpoints": _count_checkpoints,
    "tasks": _count_tasks,
    "inbox": _count_inbox,
}
