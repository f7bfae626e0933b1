"""Own the application's connections and threads: all reads and writes of the memory run here, off the event loop.

One thread writes and runs the commands (`tui/workers/writer.py`); others search, read the order of the lists, read git
and embed (`tui/workers/background`). Each opens its own connection. The screen's own reads, of a page or a record at a
time, take a fraction of a millisecond, on a separate connection."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic

from textual.cache import LRUCache

from store.base.citations import Citation, cite
from store.base.clock import Clock, utc_now
from store.base.errors import NotFound
from store.base.location import Location
from store.base.models import Commit, Record, Step
from store.base.record_keys import pack
from store.base.record_keys import pack as pack_key
from store.conversations import extraction_queue
from store.history.compression import every_row
from store.history.history import KINDS
from store.llm.usage_stats import model_stats
from store.memory import Memory
from store.search import lookup as records
from tui.input.commands.command import Verb
from tui.input.key_table import FACTS, HISTORY
from tui.lists import fact_groups
from tui.lists.decision_conflicts import DecisionConflicts
from tui.lists.pane_facets import FACETS
from tui.lists.record_rows import KeyedRows, by_day, entry_lines, fact_lines, step_subjects
from tui.lists.side_rows import checkpoint_lines, proposal_lines, step_lines, task_lines
from tui.lists.view_state import View
from tui.lists.wrapping import Pairs
from tui.render.details.record_detail import describe, describe_step
from tui.render.field_diff import Line
from tui.workers import queries
from tui.workers.background.document_worker import DocumentWorker
from tui.workers.background.embedding_worker import EmbeddingWorker
from tui.workers.background.ingest_worker import IngestWorker
from tui.workers.background.learning_worker import LearningWorker
from tui.workers.background.maintenance_worker import MaintenanceWorker
from tui.workers.background.team_worker import TeamWorker
from tui.workers.search_worker import SearchWorker
from tui.workers.throttle import Pace
from tui.workers.writer import Done, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.history.restore_plan import Plan
    from store.memory import Memory
    from store.services.as_of import PastMemory, PastState
    from store.services.metrics import Measures
    from tui.input.argument_parser import ParsedArguments
    from tui.lists.context_rows import ContextRows
    from tui.lists.filters.facets import Facet
    from tui.lists.health_rows import HealthRows
    from tui.lists.view_state import View
    from tui.workers.first_start import Ledger
    from tui.workers.queries import SideRows, Target

FIRST = 256  # rows of a list that are shown before its whole order is known
DIFF_BYTES = 120_000
CACHE = -256  # kB of page cache while an order is read: each page is needed once
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of mallopt(3)
MEASURED_REST = 10  # pause before the health is measured again, as a multiple of the last duration
LARGE = 1 << 19  # bytes from which a block is returned to the system when freed


@dataclass(frozen=True)
class Lists:
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
        self.undone_together, self.undone_at = (0, 0), 0.0  # last of several undos, how many; when one was not asked
        self.documents = DocumentWorker(location, clock)
        self.pace = Pace()
        self.embedder = EmbeddingWorker(location, clock, self.pace)
        self.bringer = IngestWorker(location, clock, self.embedder.unwanted)
        self.team = TeamWorker(location, clock)
        self.learner = LearningWorker(location, clock, self.embedder.give_way, self.embedder.unwanted, self.pace)

    def close(self) -> None:
        """Finish the current write, then close."""
        self._closed = True
        for worker in (self.learner, self.upkeep, self.documents, self.embedder, self.bringer, self.team, self.seeker):
            worker.close()
        self.writer.close()
        self._reader.shutdown(wait=False, cancel_futures=True)

    @property
    def closed(self) -> bool:
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
        from store.services.as_of import PastMemory, read
        from store.services.point_in_time import moment

        with Memory(self.location, "app", self._clock, create=False) as memory:
            past = read(memory, moment(memory, text))
        return past, PastMemory(self.location, "app", past)

    def enter(self, past: PastState, then: PastMemory) -> None:
        """Let the screen read `then` from now on."""
        self.come_back()
        self.past, self.screen = past, then
        self.seeker.look(past)

    def come_back(self) -> None:
        """Let the screen read the present memory again."""
        if self.past is not None:
            self.screen.close()
            self.past, self.screen = None, self._present
            self.seeker.look(None)
        self.subjects.clear()

    def _open(self, past: PastState | None) -> Memory:
        """Open the memory for another thread: the present or the past."""
        if past is None:
            return Memory(self.location, "app", self._clock, create=False)
        from store.services.as_of import PastMemory

        return PastMemory(self.location, "app", past)

    # the screen's own reads: a fraction of a millisecond each

    def read_facts(self, numbers: Sequence[int]) -> dict[int, Record]:
        here = self.screen.facts.many(fact_groups.numbers(numbers, "fact"))
        found: dict[int, Record] = {fact.id: fact for fact in here}
        for shared in self.screen.globals.many(fact_groups.numbers(numbers, "global")):
            found[fact_groups.list_key("global", shared.id)] = shared
        return found

    def read_entries(self, keys: Sequence[int]) -> dict[int, Record]:
        return records.by_key(self.screen.database, list(keys))

    def read_steps(self, numbers: Sequence[int]) -> dict[int, Step]:
        steps = {step.seq: step for step in self.screen.history.many(list(numbers))}
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
        return self.screen.inbox.count()

    def at_day(self, name: str, text: str, view: View) -> tuple[int | None, str, str]:
        """Return `queries.at_day`. Raises InvalidInput."""
        return queries.at_day(self.screen, name, text, view)

    def same(self, record: Record | Step) -> Record | Step | None:
        """Reload a record."""
        return queries.same(self.screen, record)

    def newest_step(self, memory: Memory | None = None) -> int:
        """Return the number of history's newest step."""
        return (memory or self.screen).database.value("SELECT max(seq) FROM history") or 0

    def changed_elsewhere(self, since: int) -> tuple[int, set[int]]:
        """Return (the newest step, the keys of records that others changed after step `since`: other doors, and other
        windows of this application; at most 200)."""
        rows = self.screen.database.rows(
            f"SELECT seq, tbl, json_extract(pk, '$[0]') FROM {every_row(self.screen.database)}"
            " WHERE seq > ? AND tbl IN ('facts', 'decisions', 'tasks', 'proposals') ORDER BY seq DESC LIMIT 200",
            (since,),
        )
        newest = max((seq for seq, _, _ in rows), default=since)
        own = self.writer.own
        changed = {pack(KINDS[table], number) for seq, table, number in rows if seq not in own}
        return newest, changed

    def links(self, record: Record) -> str:
        """Return the decisions that a commit is linked to, for its line in the timeline."""
        if not isinstance(record, Commit):
            return ""
        rows = self.screen.database.rows(
            "SELECT decision_id FROM commit_links WHERE commit_id = ? ORDER BY 1 LIMIT 3", (record.id,)
        )
        return " ".join(cite("decision", number) for (number,) in rows)

    def _draw_entry(self, record: Record, width: int) -> list[Pairs]:
        return entry_lines(record, width, self.links(record))

    def describe(self, record: Record | Step) -> list[Line]:
        """Describe a record, or a step of history, in full."""
        return describe_step(self.screen, record) if isinstance(record, Step) else describe(self.screen, record)

    def lookup(self, citation: Citation) -> Record:
        """Return the record of a citation. Raises NotFound, Conflict, Unsupported."""
        return records.lookup(self.screen.database, citation)

    # on worker threads

    def ledger(self) -> Ledger:
        """Return what the first start found and did, and what it offers."""
        from tui.workers import first_start

        with self._open(None) as memory:
            return first_start.read(memory, self.cwd)

    def describe_apart(self, record: Record) -> list[Line]:
        """Describe a record whose description takes longer than a frame."""
        with self._open(self.past) as memory:
            return describe(memory, record, coloured=True)

    def lists(
        self, view: View, limit: int = -1, last: Lists | None = None, aged: bool = False, sorted_again: bool = False
    ) -> Lists:
        """Load the order of facts and timeline, the first `limit` rows of each or all.

        Reuse the order of unchanged tables from the `last` load; `aged` if time has passed, which changes the facts'
        states. Facts that changed keep their places until the view changes or they are `sorted_again`. Rows written
        meanwhile may be included, and are loaded again next time."""
        return self._reader.submit(self._lists, view, limit, last, aged, sorted_again).result()

    def _lists(self, view: View, limit: int, last: Lists | None, aged: bool, sorted_again: bool) -> Lists:
        if last is not None and not last.whole:
            last = None
            _give_back()
        with self._open(view.past) as memory:
            memory.database.connection.pragma("cache_size", CACHE)
            now = memory.now
            step = memory.database.value("SELECT max(seq) FROM history") or 0
            journal = memory.timeline.journal() if limit < 0 else ()
            changed = _changed(memory, last.step) if last is not None else set()
            shared = memory.globals.step
            changed |= {"facts"} if last is not None and last.shared != shared else set()
            draw = lambda fact, width: fact_lines(fact, now, width)  # noqa: E731
            if last is not None and last.view == view and "facts" not in changed and not aged and not sorted_again:
                facts, groups, counts, kept = last.facts.anew(draw), last.groups, last.counts, last.kept
            else:
                true = found = fact_groups.read(memory, view, now, limit)
                if last is not None and last.view == view and not sorted_again:
                    before = fact_groups.parted(last.facts.keys, last.groups)
                    found = fact_groups.settled(before, found, _successors(memory, last.step, last.shared))
                counts = fact_groups.counts(memory, now) if limit < 0 else {}
                groups = [(need, len(keys)) for need, keys in found]
                moved = fact_groups.changed_since(found, true)
                kept, titles = bool(moved), fact_groups.headings(groups, moved)
                facts = KeyedRows(fact_groups.joined(found), self.read_facts, draw, titles)
            same_kind = last is not None and (last.view.kind, last.view.past) == (view.kind, view.past)
            if last is not None and same_kind and last.journal == journal and "decisions" not in changed:
                timeline, entries, kinds = last.timeline.anew(), last.entries, last.kinds
            else:
                keys, days = by_day(memory.timeline.stream(view.kinds, limit=limit))
                days_of = [(first, day, "") for first, day in days]
                timeline, entries = KeyedRows(keys, self.read_entries, self._draw_entry, days_of), len(keys)
                kinds = memory.timeline.counts() if limit < 0 else {}
            return Lists(facts, groups, timeline, counts, kinds, entries, limit < 0, view, step, shared, journal, kept)

    def side(self, view: View, names: Sequence[str]) -> dict[str, SideRows]:
        """Load the order of those of the other lists that are named."""
        with self._open(view.past) as memory:
            return {name: ROWS[name](self, memory, view) for name in names}

    def measured(self, memory: Memory, past: bool) -> HealthRows:
        """Return the figures; measure those of the present only as often as takes a small part of the time."""
        from store.services.metrics import measure

        if past:
            return queries.health(memory, measure(memory), True)
        start = monotonic()
        if self._measured is not None and start < self._measured[1]:
            found, until = self._measured
            return queries.health(memory, found, False, until - start)
        found = measure(memory)
        end = monotonic()
        self._measured = (found, end + MEASURED_REST * (end - start))
        return queries.health(memory, found, False)

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
        with self._open(self.past) as memory:
            found: Sequence[Facet] = FACETS[name](memory) if name in FACETS else ()
            return found

    def searchable(self) -> queries.Searchable:
        """Return what there is to search: see `queries.searchable`."""
        with self._open(self.past) as memory:
            return queries.searchable(memory)

    def plan(self, kind: str, target: Target) -> tuple[Plan, str, str]:
        """Return a plan with its title and note; see `queries.plan`."""
        with Memory(self.location, "app", self._clock, create=False) as memory:
            return queries.plan(memory, kind, target)

    def proposed(self, plan: Plan, strategy: str) -> frozenset[int]:
        """Return which changes of a plan are selected at first."""
        return self.screen.plans.proposed(plan, strategy)

    def keeping_mine(self, plan: Plan) -> Plan:
        """Return a plan of restoring a checkpoint that keeps the user's later changes, field by field."""
        return self.screen.plans.keeping_mine(plan)

    def diff(self, commit: Commit, columns: int) -> list[Line]:
        """Return a commit's diff as coloured lines, its files in `columns` cells. Raises GitError."""
        from store.services import maintenance
        from tui.render.diff import coloured

        with Memory(self.location, "app", self._clock, create=False) as memory:
            source = maintenance.repository(memory, self.cwd)
        if source is None:
            return []
        diff = source.diff(commit.sha, DIFF_BYTES, columns)
        lines = coloured(diff.text)
        if diff.truncated:
            lines.append([(f"… cut here; the rest: memoranda show {commit.citation} --diff", "dim")])
        return lines

    # writer

    def write(self, work: Callable[[Memory], object], done: Done) -> None:
        """Call `work` with the writer's memory, or with the past state shown: `Writer.write`."""
        self.writer.write(work, done, self.past)

    def run(self, verb: Verb, given: ParsedArguments, agreed: Collection[str], done: Done) -> None:
        """Run a verb: `Writer.run`."""
        self.writer.run(verb, given, agreed, done, self.past)


def _give_back() -> None:
    """Make glibc return large blocks to the system when they are freed. By default it keeps them after the first is
    freed: loading the orders of a million rows twenty times took 120 MB."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, LARGE)
        library.mallopt(M_ARENA_MAX, 1)  # no heap for each thread


def _changed(memory: Memory, since: int) -> set[str]:
    """Return the recorded tables that were changed after step `since`."""
    source = every_row(memory.database)
    return {table for (table,) in memory.database.rows(f"SELECT DISTINCT tbl FROM {source} WHERE seq > ?", (since,))}


def _successors(memory: Memory, since: int, shared: int) -> dict[int, int]:
    """Return which facts were replaced after step `since`, and by which; global ones after step `shared` of the
    person's own memory."""
    found = _replaced(memory, since)
    if shared and memory.globals.step > shared:
        theirs = _replaced(memory.personal, shared)
        found |= {fact_groups.list_key("global", old): fact_groups.list_key("global", theirs[old]) for old in theirs}
    return found


def _replaced(memory: Memory, since: int) -> dict[int, int]:
    rows = memory.database.rows(
        f"SELECT f.supersedes, f.id FROM facts f JOIN {every_row(memory.database)} h"
        " ON h.tbl = 'facts' AND h.op = 'INSERT' AND json_extract(h.pk, '$[0]') = f.id"
        " WHERE h.seq > ? AND f.supersedes IS NOT NULL AND f.status = 'active'",
        (since,),
    )
    return dict(rows)


def touched(step: Step, memory: Memory, kind: str = "") -> int | None:
    """Return the key of the first record that a step changed, to show it: of this `kind`, if it changed one, and one
    that holds now, if one does."""
    changes = memory.history.changes(step.seq, limit=64)
    keys = [(KINDS[change.table], int(change.key[0])) for change in changes if change.table in KINDS]
    mine = [key for key in keys if key[0] == kind] or keys
    held = (key for key in mine if _status(memory, *key) not in (None, "superseded", "contradicted", "forgotten"))
    key = next(held, mine[0] if mine else None)
    return None if key is None else pack(*key)


def _status(memory: Memory, kind: str, number: int) -> str | None:
    """Return the status of a record, "active" for one that has none; None if it is not there."""
    try:
        return str(getattr(records.lookup(memory.database, Citation(kind, number)), "status", "active"))
    except NotFound:
        return None


def checkpoints(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now, newest = memory.now, engine.newest_step(memory)
    keys = array("q", (pack_key("checkpoint", number) for number in memory.checkpoints.ids(every=view.hidden)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: checkpoint_lines(record, width, now, newest))


def _count_checkpoints(memory: Memory) -> dict[str, int]:
    """Count the automatic checkpoints."""
    return {"alone": memory.checkpoints.taken_by_itself()}


def history(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    keys = memory.history.keys(actor=view.actor) if view.past else engine.step_order(memory, view.actor)
    return KeyedRows(
        keys,
        engine.read_steps,
        lambda step, width: step_lines(step, engine.subjects.get(step.seq, ""), width, now),
    )


def tasks(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    keys = array("q", (pack_key("task", number) for number in memory.tasks.ids(statuses=view.task_statuses)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: task_lines(record, width, now))


def _count_tasks(memory: Memory) -> dict[str, int]:
    """Count the tasks that are done."""
    return {"done": memory.database.value("SELECT count(*) FROM tasks WHERE status = 'done'")}


def _count_inbox(memory: Memory) -> dict[str, int]:
    """Return how many turns wait for rules to read them, and how many for a model."""
    unheard, _ = extraction_queue.counts(memory.database)
    return {"unheard": unheard, "unread": model_stats(memory.database, memory.now).queued}


def inbox(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    waiting = memory.inbox.ids(origin=view.asker)
    put_off = [number for number in engine.put_off if number in set(waiting)]
    numbers = [*(number for number in waiting if number not in put_off), *put_off]
    keys = array("q", (pack_key("proposal", number) for number in numbers))
    against = {} if view.past else engine.conflicts.read(memory, numbers)
    return KeyedRows(
        keys,
        engine.read_entries,
        lambda record, width: proposal_lines(record, width, now, against.get(record.id, "")),
        [(len(numbers) - len(put_off), f"Later {len(put_off):,}", "left for the end")] if put_off else [],
    )


def context(engine: Engine, memory: Memory, view: View) -> ContextRows:
    return queries.context(memory, view.question, view.session)


def health(engine: Engine, memory: Memory, view: View) -> HealthRows:
    return engine.measured(memory, view.past is not None)


ROWS: Mapping[str, Callable[[Engine, Memory, View], SideRows]] = {
    "checkpoints": checkpoints,
    "history": history,
    "tasks": tasks,
    "inbox": inbox,
    "context": context,
    "health": health,
}
COUNTS: Mapping[str, Callable[[Memory], Mapping[str, int]]] = {
    "checkpoints": _count_checkpoints,
    "tasks": _count_tasks,
    "inbox": _count_inbox,
}
