"""Flush a session before its context is cut, so that nothing of it is lost with the context."""

from contextlib import suppress
from dataclasses import dataclass, field

from store.base.clock import from_ms, to_ms
from store.base.errors import Conflict, ModelFailed, NotFound
from store.base.vocabulary import PERSON
from store.learning import rule_pass, summarizers
from store.learning.rule_pass import RulePassResult
from store.llm import model_selection
from store.memory import Memory
from store.records.timeline.checkpoint_levels import QUIET_MS
from store.services import consolidation, daily_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Session, Turn
    from store.conversations.summaries import Summarise

READING_SECONDS = 2.0  # for the turns that wait to be read, at a flush
SOME = 20  # sessions that are over, in one call of `flush_due`


@dataclass(frozen=True, slots=True)
class Flushed:
    """Result of a flush of a `session`: the ids of the summaries it made, the checkpoint it took (None if nothing had
    happened since the last), and how many waiting turns were `read`."""

    session: str
    summaries: tuple[int, ...]
    checkpoint: int | None
    read: RulePassResult = field(default_factory=RulePassResult)


@dataclass(frozen=True, slots=True)
class Cleared:
    """Result of clearing a `session`: the `path` of its snapshot, how many `messages` are in it, the checkpoint of its
    end."""

    session: str
    path: str
    messages: int
    checkpoint: int


def flush(memory: Memory, name: str = "", seconds: float = READING_SECONDS) -> Flushed:
    """Summarise all turns of a session, the newest unless named, those in its window too, learn for some `seconds` from
    turns that wait to be read, take a checkpoint, and propose what to do with duplicates of the new facts. Called
    again, do what was added since. Raise NotFound."""
    session = memory.sessions.get(name)
    made = memory.summaries.write(session.id, all_of_it=True)
    read = rule_pass.run(memory, seconds=seconds)
    taken = memory.checkpoints.before_compaction(session.id)
    with memory.database.write("agent", "flush") as write:
        write.execute("UPDATE sessions SET flushed = ? WHERE id = ?", (session.turns, session.id))
    consolidation.after_flush(memory)
    daily_log.write_due(memory)
    return Flushed(session.id, tuple(made), taken, read)


def due(memory: Memory, session: "Session", tokens: int | None = None) -> bool:
    """Return whether a session is to be flushed automatically: enough messages since the last time, or few tokens left
    in its context window, where that was reported."""
    messages, room = memory.config["flush.messages"], memory.config["flush.tokens"]
    if tokens is not None and room and tokens >= memory.config["context.window"] - room:
        return session.turns > session.flushed
    return bool(messages) and session.turns - session.flushed >= messages


def flush_due(memory: Memory, by: "Summarise | None" = None) -> int:
    """Summarise what left the windows of the sessions under way, and flush those that are due; return how many. Then
    summarise some of those that are over and are not summarised, imported ones for example. A model that makes the
    summaries, `by`, may fail: what is due to be flushed then is summarised by rule, and the rest the next time."""
    if memory.database.read_only or not memory.config["enabled"]:
        return 0
    quiet = from_ms(to_ms(memory.now) - QUIET_MS)
    flushed, broken_off = 0, False
    under_way = memory.sessions.under_way(quiet)
    for session in under_way:
        wanted = due(memory, session)
        if not broken_off:
            try:
                memory.summaries.write(session.id, all_of_it=wanted, by=by)
            except ModelFailed:
                broken_off = True
        if wanted:
            flush(memory, session.id)
            flushed += 1
    if not broken_off:
        with suppress(ModelFailed):
            catch_up(memory, by, SOME)
    if not under_way:
        consolidation.daily(memory)
    return flushed


def catch_up(memory: Memory, by: "Summarise | None" = None, most: int = -1) -> None:
    """Summarise `most` of the sessions that are over and not fully summarised. Raise what `by` raises."""
    if memory.database.read_only or not memory.config["enabled"]:
        return
    for name in memory.summaries.behind(from_ms(to_ms(memory.now) - QUIET_MS), most):
        memory.summaries.write(name, all_of_it=True, by=by)


def flush_after_import(memory: Memory) -> None:
    """Flush what is due after many turns were imported: where there is a model, only what is too much for it; the model
    does the rest beside the application."""
    chat = model_selection.found(memory.config, loading=None)
    if chat is None:
        flush_due(memory)
        return
    chat.close()
    for session in memory.sessions.under_way(from_ms(to_ms(memory.now) - QUIET_MS)):
        if len(memory.summaries.due(session.id)) > summarizers.MOST:
            memory.summaries.write(session.id)


def clear(memory: Memory, name: str = "", actor: str = PERSON) -> Cleared:
    """End a session, the newest unless named: first write its last messages to a file, then summarise all of it, and
    take a checkpoint of its end. Raise NotFound or StorageError; for a hook also Conflict, where nothing was said since
    the file was written: a client may report an end twice."""
    from store.conversations import session_snapshot
    from store.conversations.rule_summary import by_rule
    from store.documents.paths import log_folder, note_log_folder, places

    session = memory.sessions.get(name)
    named = _last(memory, session.id)
    called = summarizers.name(memory, named, memory.now[:10])
    key = "" if actor == PERSON else f"snapshot {session.id} {session.turns}"
    # a purge runs before what is read here, or after it is written
    with memory.database.write(actor, "clear", key) as write:
        if write.answer is not None:
            raise Conflict("Nothing was said in that session since it was cleared.")
        note_log_folder(write, memory.config)
        turns = _last(memory, session.id)
        if turns != named:
            session = memory.sessions.get(session.id)
            called = session_snapshot.slug(turns, memory.now[:10])
        path = session_snapshot.write(
            places(memory.location, memory.config).base,
            log_folder(memory.config),
            called,
            session_snapshot.text(session.id, by_rule(turns).topic or session.id, turns, session.turns, memory.now),
            memory.database.path,
            memory.config["snapshots.in_git"],
        )
        write.answered()
    memory.summaries.write(session.id, all_of_it=True)
    taken = memory.checkpoints.session_end(session=session.id, actor=actor)
    with memory.database.write(actor, "clear") as write:
        write.execute("UPDATE sessions SET flushed = ? WHERE id = ?", (session.turns, session.id))
    daily_log.write_due(memory)
    return Cleared(session.id, path, len(turns), taken)


def _last(memory: Memory, session: str) -> "list[Turn]":
    """Return the turns of a session for its snapshot. Raise NotFound."""
    from store.conversations import session_snapshot

    turns = memory.turns.last(session, session_snapshot.MESSAGES)
    if not turns:
        raise NotFound("Nothing is left of that session.", "There is nothing to clear.")
    return turns
