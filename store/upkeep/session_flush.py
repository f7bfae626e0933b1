"""Flush a session before its context is cut, so that nothing of it is lost with the context."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from store.base.clock import DAY_MS, from_ms, to_ms
from store.base.errors import Conflict, ModelFailed, NotFound
from store.base.models import Fact, Session, Turn
from store.base.vocabulary import PERSON_ORIGIN, SEARCHABLE
from store.conversations import summaries
from store.conversations.sessions import (
    SNAPSHOT_MESSAGES,
    Sessions,
    format_snapshot,
    slug_of_turns,
    write_snapshot,
)
from store.conversations.summaries import Summaries, Summarise
from store.documents.files import document_roots, log_folder, note_log_folder
from store.history.checkpoints import RecoveredCheckpoint
from store.inbox.duplicates import DUPLICATES_ORIGIN, propose_duplicates
from store.learning import tasks
from store.learning.rule_pass import RulePassResult, run_rule_pass
from store.learning.tasks import name_snapshot
from store.librarian import model_selection
from store.memory import Memory
from store.records.facts import fact_age_state
from store.records.timeline import SESSION_QUIET_MS
from store.search.pipeline import Search
from store.search.results import Hit
from store.upkeep.daily_log import write_daily_log

# Propose what to do with duplicates and contradictions automatically: after a flush, and once a day while the
# application is idle. Results wait in the inbox; without a changed fact since the last time nothing is compared.

# new proposals of one pass
MOST_CONSOLIDATIONS = 8
# of a memory; a larger one is not compared automatically
MOST_COMPARED_FACTS = 2_000
# keys of meta
_SEEN_FACTS_KEY, _CONSOLIDATED_AT_KEY = "consolidated.facts", "consolidated.at"


def propose_consolidation(memory: Memory) -> tuple[int, ...]:
    """Compare the facts if one changed since the last time; return the ids of the new proposals."""
    database = memory.database
    if database.read_only or database.moment or not memory.config["enabled"]:
        return ()
    # another where a fact was added, confirmed, corrected or forgotten
    row = memory.database.row(
        "SELECT count(*), coalesce(max(id), 0), coalesce(max(last_confirmed_at), '') FROM facts WHERE status = 'active'"
    )
    state = " ".join(map(str, row or ()))
    if state == database.get_meta(_SEEN_FACTS_KEY):
        return ()
    found: tuple[int, ...] = ()
    if memory.database.value("SELECT count(*) FROM facts WHERE status = 'active'") <= MOST_COMPARED_FACTS:
        found = propose_duplicates(
            database, memory.facts, memory.inbox, memory.now, actor=DUPLICATES_ORIGIN, most=MOST_CONSOLIDATIONS
        ).proposals
    with database.write("agent", "consolidate") as write:
        write.set_meta(_SEEN_FACTS_KEY, state)
        write.set_meta(_CONSOLIDATED_AT_KEY, memory.now)
    return found


def consolidate_daily(memory: Memory) -> tuple[int, ...]:
    """Compare the facts if a day has passed since the last time and a fact changed. Return the ids of the new
    proposals."""
    last = memory.database.get_meta(_CONSOLIDATED_AT_KEY)
    if last and 0 <= to_ms(memory.now) - to_ms(last) < DAY_MS:
        return ()
    return propose_consolidation(memory)


# Find other records related to the topic of a checkpoint.

MOST_RELATED = 8
# characters of the question
LONGEST_QUESTION = 300
RELATED_RECORD_KINDS = tuple(kind for kind in SEARCHABLE if kind not in ("checkpoint", "event"))


def find_related_records(
    search: Search, recovered: RecoveredCheckpoint, now: str, limit: int = MOST_RELATED
) -> list[Hit]:
    """Return what is similar to the topic of a recovered checkpoint, best first, without what it holds already and
    without facts that are too old for a prompt."""
    held = recovered.held
    asked = [
        recovered.checkpoint.name,
        *(turn["text"] for turn in reversed(held.turns) if turn["role"] == "user"),
    ]
    asked += [task["text"] for task in held.tasks if task["status"] == "in_progress"]
    query = " ".join(" ".join(asked).replace(":", " ").split())[:LONGEST_QUESTION]
    if not query:
        return []
    known = {one["citation"] for one in (*held.turns, *held.tasks, *held.decisions)}
    hits = search(query, limit + len(known), kinds=RELATED_RECORD_KINDS).hits
    return [hit for hit in hits if hit.citation not in known and not _is_too_old(hit, now)][:limit]


def _is_too_old(hit: Hit, now: str) -> bool:
    fact = hit.record
    if not isinstance(fact, Fact):
        return False
    return fact_age_state(now, fact) in ("low", "stale")


# for the turns that wait to be read, at a flush
READING_SECONDS = 2.0
# sessions that are over, in one call of `flush_due_sessions`
SESSIONS_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class FlushResult:
    """Result of a flush of a `session`: the ids of the summaries it made, the checkpoint it took (None if nothing had
    happened since the last), and how many waiting turns were `read`."""

    session: str
    summaries: tuple[int, ...]
    checkpoint: int | None
    read: RulePassResult = field(default_factory=RulePassResult)


class ClearResult(NamedTuple):
    """Result of clearing a `session`: the `path` of its snapshot, how many `messages` are in it, the checkpoint of its
    end."""

    session: str
    path: str
    messages: int
    checkpoint: int


def flush_session(memory: Memory, name: str = "", seconds: float = READING_SECONDS) -> FlushResult:
    """Summarise all turns of a session, the newest unless named, those in its window too, learn for some `seconds` from
    turns that wait to be read, take a checkpoint, and propose what to do with duplicates of the new facts. Called
    again, do what was added since. Raise NotFound."""
    session = Sessions(memory.database).get(name)
    made = Summaries(memory.database).summarize_due(session.id, all_of_it=True)
    read = run_rule_pass(memory, seconds=seconds)
    taken = memory.checkpoints.before_compaction(session.id)
    with memory.database.write("agent", "flush") as write:
        write.execute("UPDATE sessions SET flushed = ? WHERE id = ?", (session.turns, session.id))
    propose_consolidation(memory)
    write_daily_log(memory)
    return FlushResult(session.id, tuple(made), taken, read)


def is_flush_due(memory: Memory, session: Session, tokens: int | None = None) -> bool:
    """Tell whether a session is to be flushed automatically: enough messages came since the last time, or few
    tokens are left in its context window, where this was reported."""
    messages, room = memory.config["flush.messages"], memory.config["flush.tokens"]
    if tokens is not None and room and tokens >= memory.config["context.window"] - room:
        return session.turns > session.flushed
    return bool(messages) and session.turns - session.flushed >= messages


def flush_due_sessions(memory: Memory, by: Summarise | None = None) -> int:
    """Summarise what left the windows of the sessions under way, and flush those that are due; return how many. Then
    summarise some of those that are over and are not summarised, imported ones for example. A model that makes the
    summaries, `by`, may fail: what is due to be flushed then is summarised by rule, and the rest the next time."""
    if memory.database.read_only or not memory.config["enabled"]:
        return 0
    quiet = from_ms(to_ms(memory.now) - SESSION_QUIET_MS)
    flushed, broken_off = 0, False
    under_way = Sessions(memory.database).list_under_way(quiet)
    for session in under_way:
        wanted = is_flush_due(memory, session)
        if not broken_off:
            try:
                Summaries(memory.database).summarize_due(session.id, all_of_it=wanted, by=by)
            except ModelFailed:
                broken_off = True
        if wanted:
            flush_session(memory, session.id)
            flushed += 1
    if not broken_off:
        with suppress(ModelFailed):
            summarize_ended_sessions(memory, by, SESSIONS_AT_ONCE)
    if not under_way:
        consolidate_daily(memory)
    return flushed


def summarize_ended_sessions(memory: Memory, by: Summarise | None = None, most: int = -1) -> None:
    """Summarise `most` of the sessions that are over and not fully summarised. Raise what `by` raises."""
    if memory.database.read_only or not memory.config["enabled"]:
        return
    for name in Summaries(memory.database).list_behind(from_ms(to_ms(memory.now) - SESSION_QUIET_MS), most):
        Summaries(memory.database).summarize_due(name, all_of_it=True, by=by)


def flush_after_import(memory: Memory) -> None:
    """Flush what is due after many turns were imported: where there is a model, only what is too much for it; the model
    does the rest beside the application."""
    chat = model_selection.open_selected_model(memory.config, loading=None)
    if chat is None:
        flush_due_sessions(memory)
        return
    chat.close()
    for session in Sessions(memory.database).list_under_way(from_ms(to_ms(memory.now) - SESSION_QUIET_MS)):
        if len(Summaries(memory.database).find_due_turns(session.id)) > tasks.MOST_MODEL_SUMMARIES:
            Summaries(memory.database).summarize_due(session.id)


def clear_session(memory: Memory, name: str = "", actor: str = PERSON_ORIGIN) -> ClearResult:
    """End a session, the newest unless named: first write its last messages to a file, then summarise all of it, and
    take a checkpoint of its end. Raise NotFound or StorageError; for a hook also Conflict, where nothing was said since
    the file was written: a client may report an end twice."""
    session = Sessions(memory.database).get(name)
    named = _last_turns(memory, session.id)
    called = name_snapshot(memory, named, memory.now[:10])
    key = "" if actor == PERSON_ORIGIN else f"snapshot {session.id} {session.turns}"
    # a purge runs before what is read here, or after it is written
    with memory.database.write(actor, "clear", key) as write:
        if write.earlier_answer is not None:
            raise Conflict("Nothing was said in that session since it was cleared.")
        note_log_folder(write, memory.config)
        turns = _last_turns(memory, session.id)
        if turns != named:
            session = Sessions(memory.database).get(session.id)
            called = slug_of_turns(turns, memory.now[:10])
        path = write_snapshot(
            document_roots(memory.location, memory.config).base,
            log_folder(memory.config),
            called,
            format_snapshot(
                session.id,
                summaries.summarize_by_rule(turns).topic or session.id,
                turns,
                session.turns,
                memory.now,
            ),
            memory.database.path,
            memory.config["snapshots.in_git"],
        )
        write.store_answer()
    Summaries(memory.database).summarize_due(session.id, all_of_it=True)
    taken = memory.checkpoints.record_session_end(session=session.id, actor=actor)
    with memory.database.write(actor, "clear") as write:
        write.execute("UPDATE sessions SET flushed = ? WHERE id = ?", (session.turns, session.id))
    write_daily_log(memory)
    return ClearResult(session.id, path, len(turns), taken)


def _last_turns(memory: Memory, session: str) -> list[Turn]:
    """Return the turns of a session for its snapshot. Raise NotFound."""
    turns = memory.turns.last_turns(session, SNAPSHOT_MESSAGES)
    if not turns:
        raise NotFound("Nothing is left of that session.", "There is nothing to clear.")
    return turns
