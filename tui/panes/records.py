"""The panes of records by time: today's proposals, the timeline, the history with its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from store.base.citations import cite
from store.base.models import Checkpoint, Commit, Step
from store.base.vocabulary import pack_key
from store.conversations.extraction_queue import count_queued_turns
from store.librarian.structured_output import read_model_stats
from store.memory import Memory
from store.text.display import agree_verb, format_count
from tui.actions.table import ADD_CHECKPOINT, ADD_DECISION
from tui.lists import record_rows
from tui.lists.filters import Facet, FacetChoice, counted_choices, writer_facet
from tui.panes.facts import pack_keys, read_records
from tui.panes.pane import Loaded, Pane, Reading
from tui.render.lines import KIND_GLYPHS
from tui.render.proposals import decisions_beside
from tui.theme.line_filters import Piece

# proposals compared with the decisions, newest first; each takes 1 to 2 ms
MOST_PROPOSALS = 100
# the kind in the key of a step of history, which is no record
STEP = 15
TIMELINE_WORDS = {
    "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "checkpoint": "Checkpoints", "summary": "Summaries, not in All",
}  # fmt: skip
# shown only if it is chosen, and not among all
SHOWN_APART = "summary"


# Today: what agents, imports and files propose to remember.


def read_today(reading: Reading) -> Loaded:
    """Read the proposals, newest first, with those that were put off at the end."""
    memory, now = reading.memory, reading.memory.now
    waiting = memory.inbox.ids(origin=reading.view.get("asker"))
    put_off = [number for number in reading.engine.put_off if number in set(waiting)]
    numbers = [*(number for number in waiting if number not in put_off), *put_off]
    keys = pack_keys("proposal", numbers)
    against = {} if reading.past else _find_conflicts(reading, numbers)
    later = [(len(numbers) - len(put_off), f"Later {len(put_off):,}", "left for the end")] if put_off else []

    def draw(proposal: Any, width: int) -> list[record_rows.RowLine]:
        return record_rows.proposal_lines(proposal, width, now, against.get(proposal.id, ""))

    rows = record_rows.KeyedRows(keys, partial(read_records, reading), draw, later)
    unheard, _ = count_queued_turns(memory.database)
    unread = read_model_stats(memory.database, now).queued
    says: list[Piece] = []
    if unheard:
        waits = agree_verb(unheard, "wait to be learned from")
        says.append((f"{format_count(unheard, 'chat message')} {waits}", "$dim"))
    if unread:
        needs = agree_verb(unread, "need a model")
        says.append((f"{format_count(unread, 'chat message')} {needs}", "$dim", "go('settings', 'model')"))
    facets = [writer_facet("asker", memory.inbox.origins())]
    return Loaded(rows, facets, says, len(numbers), kept=against)


def _find_conflicts(reading: Reading, numbers: Sequence[int]) -> dict[int, str]:
    """Return which proposals contradict a decision, and which; those that were compared before are not compared again,
    unless a decision changed since."""
    memory, kept = reading.memory, reading.kept
    decisions = memory.database.row("SELECT count(*), max(id) FROM decisions WHERE status = 'active'")
    known: dict[Any, Any] = kept if kept and kept.get(0) == decisions else {0: decisions}
    for one in memory.inbox.get_many([number for number in numbers[:MOST_PROPOSALS] if number not in known]):
        found = decisions_beside(memory, one)
        known[one.id] = found[0].decision.citation if found and found[0].against else ""
    return known


# The timeline: decisions, commits, events and iterations by day.


def read_timeline(reading: Reading) -> Loaded:
    """Read the entries by day, newest first."""
    memory, kind = reading.memory, reading.view.get("kind")
    whole = reading.limit < 0
    journal = memory.timeline.journal() if whole else ()
    keys, days = record_rows.split_by_day(memory.timeline.stream((kind,) if kind else (), limit=reading.limit))

    def draw(record: Any, width: int) -> list[record_rows.RowLine]:
        return record_rows.entry_lines(record, width, _links_of(reading, record))

    rows = record_rows.KeyedRows(keys, partial(read_records, reading), draw, days)
    facets = [kind_facet(memory.timeline.count_kinds())] if whole else ()
    return Loaded(rows, facets, (), len(keys) if whole else None, whole=whole, kept=journal)


def _links_of(reading: Reading, record: Any) -> str:
    """Return the decisions that a commit is linked to."""
    if not isinstance(record, Commit):
        return ""
    rows = reading.engine.screen.database.rows(
        "SELECT decision_id FROM commit_links WHERE commit_id = ? ORDER BY 1 LIMIT 3", (record.id,)
    )
    return " ".join(cite("decision", number) for (number,) in rows)


def kind_facet(counts: Mapping[str, int]) -> Facet:
    """Return the kinds by the number of entries of each."""
    total = sum(count for kind, count in counts.items() if kind != SHOWN_APART)
    looks = {"decision": "$text-primary"}
    return Facet("kind", "Kind", counted_choices(TIMELINE_WORDS, counts, KIND_GLYPHS, looks), total)


# The history: every change with the checkpoints among them, or the checkpoints alone.


def step_key(seq: int) -> int:
    """Return the key of a step of history in the list."""
    return seq * 16 + STEP


def read_history(reading: Reading) -> Loaded:
    """Read the steps and the checkpoints that a person took, by day; with the chip only checkpoints, automatic ones too
    if they are not hidden."""
    memory, view = reading.memory, reading.view
    now, actor, whole = memory.now, view.get("actor"), reading.limit < 0
    newest = memory.database.newest_step()
    says: list[Piece] = []
    days: list[record_rows.RowHeading] = []
    if view.get("only") == "checkpoints":
        keys = pack_keys("checkpoint", memory.checkpoints.ids(every=view.hidden))
        if automatic := memory.checkpoints.count_automatic():
            says = [(f"{automatic:,} automatic {'shown' if view.hidden else 'hidden'}", "$dim", "hidden")]
    else:
        keys, days = record_rows.split_by_day(_stream_history(memory, actor, reading.limit))

    def draw(record: Checkpoint | Step, width: int) -> list[record_rows.RowLine]:
        if isinstance(record, Checkpoint):
            return record_rows.checkpoint_lines(record, width, now, newest)
        return record_rows.step_lines(record, reading.engine.subjects.get(record.seq, ""), width, now)

    rows = record_rows.KeyedRows(keys, partial(read_history_records, reading), draw, days)
    return Loaded(rows, _history_facets(memory) if whole else (), says, len(keys) if whole else None, whole=whole)


def _stream_history(memory: Memory, actor: str | None, limit: int) -> Any:
    """Yield (key, moment) of the steps, and of named checkpoints where no writer is chosen, newest first."""
    where, given = ("actor = ?", [actor]) if actor else ("1", [])
    sql = f"SELECT key, at FROM (SELECT seq * 16 + {STEP} AS key, at, seq FROM history WHERE {where}"
    if not actor:
        named = pack_key("checkpoint", 0)
        sql += f" UNION ALL SELECT id * 16 + {named}, created_at, seq FROM checkpoints WHERE trigger = 'person'"
    return memory.database.connection.execute(f"{sql}) ORDER BY at DESC, seq DESC LIMIT ?", (*given, limit))


def read_history_records(reading: Reading, keys: Sequence[int]) -> Mapping[int, Any]:
    """Return the steps and checkpoints of some keys, read on the screen's own connection."""
    memory = reading.engine.screen
    numbers = [key // 16 for key in keys if key % 16 == STEP]
    steps = {step.seq: step for step in memory.history.get_many(numbers)}
    for seq, text in record_rows.step_subjects(memory, steps).items():
        reading.engine.subjects[seq] = text
    found: dict[int, Any] = {step_key(seq): step for seq, step in steps.items()}
    return {**found, **read_records(reading, [key for key in keys if key % 16 != STEP])}


def _history_facets(memory: Memory) -> list[Facet]:
    """Count the checkpoints, and the steps of everybody."""
    every, named = (len(memory.checkpoints.ids(every=every)) for every in (True, False))
    glyph = KIND_GLYPHS["checkpoint"]
    chip = (FacetChoice("checkpoints", "Checkpoints", named, glyph, "$dim"),) if every else ()
    actors = memory.history.actors()
    return [Facet("only", "Show", chip, sum(count for _, count in actors) + named), writer_facet("actor", actors)]


TODAY = Pane(
    "today",
    "Today",
    read_today,
    empty="Nothing needs you. What agents, imports and files propose to remember is here, with its evidence, until you "
    "accept it ({record.confirm}) or reject it ({record.forget}): no agent is sent it before.",
    filtered="Nothing to review from this source. {screen.leave} shows all; {list.only} chooses another source.",
    kinds=("proposal",),
)
TIMELINE = Pane(
    "timeline",
    "Timeline",
    read_timeline,
    empty="Nothing happened here yet. Decisions, commits and events will be here, newest first. {record.add} records a "
    "decision; in a git repository commits stand here by day, on their own.",
    filtered="Nothing of this kind. {screen.leave} shows all kinds.",
    kinds=("decision",),
    actions=(ADD_DECISION,),
    paged=True,
)
HISTORY = Pane(
    "history",
    "History",
    read_history,
    empty="Nothing was changed yet. Every change will be here, with who made it: {step.undo} undoes it. {record.add} "
    "takes a checkpoint; {checkpoint.restore} then shows what going back to it would change.",
    filtered="Nothing by this author. {screen.leave} shows all changes; {list.only} chooses another author.",
    actions=(ADD_CHECKPOINT,),
    paged=True,
)
