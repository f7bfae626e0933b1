"""Read an open memory for screens of their own: a plan and its title, a context, the figures of its health."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import apsw

from store.base.citations import parse_citation
from store.base.clock import DAY_MS, Clock, format_local_time, from_ms, to_ms
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.models import Chunk, Record, Step
from store.history.restore_plan import RestorePlan
from store.inbox.duplicates import find_decision_matches
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.lookup import get_record, get_records, kind_of_record
from store.search.pipeline import search_for_person
from store.search.query_parser import parse_query
from store.search.results import SearchAnswer, suggest_spellings
from store.upkeep.as_of import PastMemory, PastState, PointInTime, point_in_time
from store.upkeep.metrics import Measures
from tui.input.key_table import HISTORY, key_name
from tui.lists.fact_groups import count_facts
from tui.lists.pane_rows import ContextRows, HealthRows, citations_in_context
from tui.lists.record_rows import KeyedRows, local_day
from tui.lists.view_state import View
from tui.render.metrics import metric_sections
from tui.workers.background import Worker

# Find proposals that contradict a decision, for their rows; computed once for each, on a worker.

MOST_PROPOSALS = 100  # maximum proposals checked, newest first; each takes 1 to 2 ms


class DecisionConflicts:
    """The results for the proposals of a memory."""

    def __init__(self) -> None:
        self._decisions: object = None  # the decisions they were computed with
        self._known: dict[int, str] = {}

    def find_conflicts(self, memory: Memory, numbers: Sequence[int]) -> dict[int, str]:
        """Return a map from each proposal that contradicts a decision to the decision's citation."""
        decisions = memory.database.row("SELECT count(*), max(id) FROM decisions WHERE status = 'active'")
        if decisions != self._decisions:
            self._decisions, self._known = decisions, {}
        for one in memory.inbox.get_many(
            [number for number in numbers[:MOST_PROPOSALS] if number not in self._known]
        ):
            found = find_decision_matches(memory.database, one.text) if one.kind != "forget" else []
            self._known[one.id] = found[0].decision.citation if found and found[0].against else ""
        return {number: cited for number, cited in self._known.items() if cited}


SideRows = KeyedRows | ContextRows | HealthRows  # the side lists beside facts and timeline
MODEL_ORDER_NOTE = (
    "The model may put the facts into another order (agent.mode = smart); it is not asked for this list."
)
PlanTarget = int | str | tuple[str | PointInTime, str]  # a checkpoint or a step; an origin; two moments to compare


def read_plan(memory: Memory, kind: str, target: PlanTarget) -> tuple[RestorePlan, str, str]:
    """Return (the changes, a title, a note) of restoring a checkpoint, of undoing a step or all of an origin, or the
    changes between two moments. Raises NotFound, Conflict, InvalidInput."""
    if isinstance(target, tuple):
        return _plan_between(memory, *target)
    plans, later = memory.plans, f"{key_name('memory.undo')} undoes it all"
    if kind == "checkpoint":
        found = memory.checkpoints.get(int(target))
        title = f"RESTORE {found.citation} “{found.title}”   {format_local_time(found.created_at)}"
        return plans.plan_checkpoint(found.id), title, f"a checkpoint is taken first; {later}"
    if kind == "step":
        step = memory.history.get(int(target))
        title = f"UNDO step {step.seq}: {step.reason}   {format_local_time(step.at)}, by {step.actor}"
        later = f"{key_name('memory.undo')} undoes it"
        if step.undoes is not None:  # undoing an undo is the redo, and u continues with the step before
            later = f"{key_name('step.undo')} on the new step undoes it"
        return plans.plan_step(step.seq), title, later
    return plans.plan_origin(str(target)), f"UNDO all that {target} wrote", f"a checkpoint is taken first; {later}"


def _plan_between(memory: Memory, start: str | PointInTime, end: str) -> tuple[RestorePlan, str, str]:
    """Return the changes between two moments, the second `now` or an earlier one."""
    first = point_in_time(memory, start) if isinstance(start, str) else start
    if end.strip() in ("", "now"):
        return memory.plans.plan_since(first.seq), f"CHANGED since {first.words}", "before and after"
    last = point_in_time(memory, end)
    title = f"CHANGED from {first.words} to {last.words}"
    return memory.plans.plan_between(first.seq, last.seq), title, "before and after"


def read_context(memory: Memory, question: str, session: str) -> ContextRows:
    """Return the context that an agent would be sent, with its records."""
    built = memory.context(question, session)
    found = {}
    for citation in citations_in_context(built):
        try:
            found[citation] = get_record(memory.database, parse_citation(citation))
        except MemorandaError:
            continue  # a document not indexed yet
    if memory.config["agent.mode"] == "smart":
        built = replace(built, notes=(*built.notes, MODEL_ORDER_NOTE))
    return ContextRows(built, found, memory.now, count_facts(memory, memory.now)["active"])


def read_health(memory: Memory, found: Measures, past: bool, due: float = 0) -> HealthRows:
    """Return the metrics, with the records that they name."""
    shown = metric_sections(found, past)
    named = {}
    for citation in (one.record for _, figures in shown for one in figures if one.record):
        try:
            named[citation] = get_record(memory.database, parse_citation(citation))
        except MemorandaError:
            continue  # deleted since the count
    notes = ("the rest is of now: the past has none of it",) if past else ()
    return HealthRows(shown, named, found.at, due, notes)


def find_day(memory: Memory, name: str, text: str, view: View) -> tuple[int | None, str, str]:
    """Return (the key of the newest entry of a day, or of the first before it, in timeline or history; the day; the
    day of that entry). Raises InvalidInput."""
    start, day = local_day(memory.typed_moment(text))
    end, _ = local_day(from_ms(to_ms(start) + DAY_MS * 13 // 12))  # a day of a changed clock has up to 25 hours
    found: tuple[int, str] | None
    if name == HISTORY:
        steps = memory.history.steps(actor=view.actor, before=end, limit=1)
        found = (steps[0].seq, steps[0].at) if steps else None
    else:
        found = next(memory.timeline.stream(view.kinds, before=end, limit=1), None)
    return (None, day, "") if found is None else (found[0], day, local_day(found[1])[1])


def reread_record(memory: Memory, record: Record | Step) -> Record | Step | None:
    """Read a record again; of a document's lines their new position, or the chunk that replaced them, else the old
    ones, whose description tells that they are outdated."""
    if isinstance(record, Step):
        return next(iter(memory.history.get_many([record.seq])), None)
    if isinstance(record, Chunk):
        moved = [found for found in memory.documents.get_many([record.id]) if found.text == record.text]
        try:
            return moved[0] if moved else memory.documents.cited_lines(parse_citation(record.citation))
        except MemorandaError:
            return record
    found = get_records(memory.database, kind_of_record(record), [record.id])
    return found[0] if found else None


class SearchChoices(NamedTuple):
    """What a search can be narrowed by: the number of records of each kind, the tags in use with their numbers,
    and the authors of commits; the highest numbers first."""

    kinds: dict[str, int]
    tags: list[tuple[str, int]]
    authors: list[str]


def read_search_choices(memory: Memory) -> SearchChoices:
    """Count what a search can be narrowed by."""
    rows = memory.database.rows(
        "SELECT 'fact', count(*) FROM facts WHERE status = 'active'"
        " UNION ALL SELECT 'task', count(*) FROM tasks UNION ALL SELECT 'turn', count(*) FROM turns"
    )
    wrote = memory.database.rows(
        "SELECT author FROM commits WHERE author <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    kinds = {**memory.timeline.count_kinds(), **dict(rows)}
    return SearchChoices(kinds, memory.tagging.list_tags(), [author for (author,) in wrote])


# Search for the application: by keywords at once, and in parallel the full search, which may wait for a model.
#
# Two connections, so that a keyword search never waits for the model's answer to an earlier one.

SEARCH_HITS = 100  # maximum hits of a search


class SearchWorker(Worker):
    """Searches one memory; each of the two kinds one at a time."""

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock)
        self._quick, self._whole = _Connection(), _Connection()
        self._past: PastState | None = None  # the past state to search; None for the present

    def search_past(self, past: PastState | None) -> None:
        """Search this past state from now on; None for the present."""
        self._past = past
        self.interrupt()

    def keywords(self, query: str, limit: int = SEARCH_HITS) -> SearchAnswer | None:
        """Search by keywords; return None if `interrupt` stopped it."""
        return self._search(self._quick, query, limit, False, lambda: True)

    def everything(self, query: str, wanted: Callable[[], bool], limit: int = SEARCH_HITS) -> SearchAnswer | None:
        """Search by keywords and meaning; return None if `interrupt` stopped it or it is no longer wanted."""
        return self._search(self._whole, query, limit, True, wanted)

    def adds(self, query: str) -> bool:
        """Return whether meaning can add hits: embeddings are usable here, and the query is longer than one letter."""
        with self._quick.busy:
            memory = self._open_connection(self._quick)
            asked = parse_query(query, memory.now)
            serves = memory.search.meaning
            return bool((len(asked.text) > 1 or asked.related) and serves is not None and serves.has_vectors)

    def kinds(self, query: str) -> dict[str, int]:
        """Count what a query finds by kind; empty if `interrupt` stopped it."""
        with self._quick.busy:
            try:
                return self._open_connection(self._quick).search.count_by_kind(query)
            except apsw.InterruptError:
                return {}

    def spellings(self, query: str) -> dict[str, list[str]]:
        """Return alternative spellings for the words of a query that occur in no record."""
        if self._past is not None:
            return {}  # the vocabulary is that of the present
        with self._quick.busy:
            database = self._open_connection(self._quick).database
            try:
                return suggest_spellings(
                    database, FullTextIndex(database), parse_query(query, database.clock()).words
                )
            except apsw.InterruptError:
                return {}

    def close(self) -> None:
        """Stop the running searches, for good."""
        super().close()
        self.interrupt()

    def interrupt(self) -> None:
        """Stop the running searches."""
        for connection in (self._quick, self._whole):
            if connection.memory is not None:
                connection.memory.database.interrupt()

    def _search(
        self, connection: _Connection, query: str, limit: int, meaning: bool, wanted: Callable[[], bool]
    ) -> SearchAnswer | None:
        with connection.busy:  # an interrupted one takes a moment to end
            if not wanted():
                return None
            try:
                memory = self._open_connection(connection)
                return search_for_person(memory.search, memory.database, query, limit, meaning, typing=True)
            except apsw.InterruptError:
                return None

    def _open_connection(self, connection: _Connection) -> Memory:
        past = self._past
        if connection.memory is None or connection.past is not past:
            if connection.memory is not None:
                connection.memory.close()
                connection.memory = None
            if past is None:
                connection.memory = self.memory()
            else:
                connection.memory = PastMemory(self._location, "app", past)
            connection.past = past
        return connection.memory


class _Connection:
    """A connection and its lock."""

    def __init__(self) -> None:
        self.busy = Lock()
        self.memory: Memory | None = None
        self.past: PastState | None = None  # the past state of its memory
