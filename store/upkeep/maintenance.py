"""Retention, reading new commits from git, and the daily backup, by the process that holds the lease."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from store.base.citations import cite
from store.base.clock import days_before
from store.base.location import checkout_root
from store.base.models import Checkpoint, Session
from store.base.runtime import IsCancelled, never_cancelled
from store.base.vocabulary import CHECKPOINT_LEVELS
from store.config.configuration import may_capture
from store.conversations.hook_spool import broken_lines_path, count_broken_lines, drain_spool, has_waiting_lines
from store.conversations.sessions import Sessions, end_session, remove_partial_snapshots
from store.conversations.summaries import Summaries
from store.conversations.turns import expire_turns
from store.database.database import Database, Lease, LeaseLost, Transaction
from store.database.files import create_reserve
from store.database.tombstones import is_purge_pending
from store.exchange.backups import Backup, is_backup_due, make_backup, tidy_backups
from store.git.process import GitError
from store.git.repository import (
    CommitInfo,
    Repository,
    find_commits_made_here,
    refs_fingerprint,
    shallow_boundary,
)
from store.history import compression
from store.history.checkpoint_payload import insert_checkpoint
from store.history.checkpoints import RECOVERY_OFFER_DAYS
from store.ingest.runner import expire_discarded
from store.librarian.structured_output import expire_model_calls
from store.memory import Memory
from store.purge.purge import complete_purge
from store.records.commits import (
    add_commit,
    find_known_shas,
    mark_reachable,
    mark_read_from_git,
    reachable_shas,
    reserve_commit_ids,
)
from store.records.decisions import GIT_IMPORTER, link_mentioned_decisions
from store.upkeep.daily_log import write_daily_log

# Automatic checkpoints: taken as time passes, deleted when old, offered when a session broke off; and the sessions
# that they belong to, from start to end.

# characters of a session's name
LONGEST_SESSION_NAME = 200
OFFERED_KEY = "checkpoints.offered"


def take_due_checkpoint(memory: Memory, level: str = "") -> int | None:
    """Take the checkpoint that is due by time, or one of this `level` if anything happened since the last; return its
    id, or None. Called every minute or so, by any number of processes, and by a command that reads: the one that holds
    the lease takes it."""
    if not _may_checkpoint(memory) or not (level or memory.checkpoints.due_level(memory.now)):
        return None
    lease = Lease(memory.database)
    if not lease.acquire():
        return None
    try:
        return memory.checkpoints.take_due(level, claim=lease.renew)
    except LeaseLost:
        return None
    finally:
        lease.release()


def expire_checkpoints(memory: Memory) -> int:
    """Delete the checkpoints that are older than their level is kept. Return how many."""
    days = {level: memory.config[f"checkpoints.{level}_days"] for level in CHECKPOINT_LEVELS}
    return memory.checkpoints.expire(memory.now, days)


def offer_recovery(memory: Memory) -> Checkpoint | None:
    """Return the checkpoint from which a session that broke off can be continued; each such session is offered once.

    If there are turns after its last checkpoint, take one now, so that none of them is missing.
    """
    last = memory.checkpoints.find_broken_off(memory.now) if _may_checkpoint(memory) else None
    if last is None or memory.database.get_meta(OFFERED_KEY) == last.citation:
        return None
    found = memory.checkpoints.newest(last.session)
    if found is None or found.created_at < last.at:
        take_due_checkpoint(memory, "meso")
        found = memory.checkpoints.newest(last.session)
    if found is not None:
        with memory.database.write("agent", "offer") as write:
            write.set_meta(OFFERED_KEY, last.citation)
    return found


def start_or_resume_session(memory: Memory, name: str = "", cwd: str = "") -> Session:
    """Start a session, or resume one that was over; first end the sessions that broke off. Without a name the
    session is named by the time. Raise StorageError."""
    end_broken_off_sessions(memory)
    called = name.strip()[:LONGEST_SESSION_NAME] or f"session-{memory.now[:19].replace(':', '')}"
    with memory.database.write("user", "session start") as write:
        Sessions(memory.database).start_session(write, called, cwd)
    return Sessions(memory.database).get(called)


def end_broken_off_sessions(memory: Memory) -> int:
    """End the sessions without recent turns that nobody ended. Return how many. If the newest may still be
    continued, take a checkpoint of its end, as if the end had been reported."""
    if memory.database.read_only or not (found := Sessions(memory.database).list_broken_off(memory.now)):
        return 0
    newest = memory.turns.newest_session()
    recent = days_before(memory.now, RECOVERY_OFFER_DAYS)
    # before it is over: a session that is over is not continued
    for session in found:
        if session.last_at >= recent:
            Summaries(memory.database).summarize_due(session.id, all_of_it=True)
    with memory.database.write("agent", "session end") as write:
        open_now = set(write.column("SELECT id FROM sessions WHERE ended_at IS NULL"))
        # another process may be doing the same
        over = [session for session in found if session.id in open_now]
        for session in over:
            end_session(write, session.id, session.last_at)
            if session.id == newest and session.last_at >= recent and _may_checkpoint(memory):
                insert_checkpoint(write, "", "session_end", "macro", session.id)
    return len(over)


def _may_checkpoint(memory: Memory) -> bool:
    """Tell whether automatic checkpoints may be taken in this memory."""
    return not memory.database.read_only and memory.config["enabled"] and memory.config["checkpoints.automatic"]


# Every command that reads waits for this module to be imported. What only some memories need, a third of the time, is
# imported where one does: the log of the day, the calls of a model, what was left out of imports.

# in `meta`, as in `daily_log`
LOG_STATE_KEY = "log"
# commits of one transaction: some 20 ms, so that no writer waits long
COMMIT_BATCH = 250
RENEW_SECONDS = 1.0
# how long an external writer may retry
ANSWERS_DAYS = 30
TIPS_KEY = "git.tips"
BOUNDARY_KEY = "git.shallow"
BOUND_REPOSITORY_KEY = "git.repository"

CommitProgress = Callable[[int, int], None]
ReportTrouble = Callable[[str], None]


def _ignore_report(*arguments: object) -> None:
    """Report nothing."""


def run_maintenance(
    memory: Memory,
    cwd: str,
    progress: CommitProgress = _ignore_report,
    cancelled: IsCancelled = never_cancelled,
    trouble: ReportTrouble = _ignore_report,
) -> int | None:
    """Do what is due when a memory is opened: unfinished work (`clean_up_memory`), retention; then read new commits
    into the timeline, and pack old history.

    Return how many commits were new; None if another process is reading them. The last two run only if the
    configuration allows them. `trouble` is as in `catch_up`. Raise GitError.
    """
    if memory.database.read_only:
        return 0
    clean_up_memory(memory, trouble)
    if not memory.config["enabled"]:
        return 0
    memory.events.expire(memory.now, memory.config["retention_days"])
    expire_checkpoints(memory)
    if memory.database.value("SELECT 1 FROM discarded LIMIT 1"):
        expire_discarded(memory.database, memory.now)
    expire_turns(memory.database, memory.now, memory.config["turns.retention_days"])
    end_broken_off_sessions(memory)
    source = readable_repository(memory, cwd)
    try:
        new = read_new_commits(memory, source, progress, cancelled, trouble) if source else 0
        if memory.config["log.daily"] or memory.database.get_meta(LOG_STATE_KEY):
            write_daily_log(memory, trouble)
        return new
    finally:  # last, since it may take long and nobody waits for it
        days, steps = memory.config["history.pack_days"], memory.config["history.pack_steps"]
        compression.pack_history(memory.database, days, steps, cancelled)


def clean_up_memory(memory: Memory, trouble: ReportTrouble = _ignore_report) -> None:
    """Finish what other processes left: import the spool, finish a purge, delete a partial backup expired answers and
    calls of the model, restore the ballast. `trouble` is called with what could not be done."""
    database = memory.database
    create_reserve(database.path)
    tidy_backups(database)
    remove_partial_snapshots(database.path)
    brought = drain_spool(database)
    if brought.trouble:
        trouble(f"What hooks left to be written still waits: {brought.trouble}")
    if aside := count_broken_lines(database.path):
        lines = "1 line" if aside == 1 else f"{aside:,} lines"
        why = "cannot be read, or were not left by this installation, and were kept aside in"
        trouble(f"{lines} of the spool {why} {broken_lines_path(database.path)}.")
    finish_pending_purge(database, trouble)
    database.delete_before("answers", "at", days_before(memory.now, ANSWERS_DAYS), "answers")
    if database.value("SELECT 1 FROM model_calls LIMIT 1"):
        expire_model_calls(database, memory.now)


def finish_pending_purge(database: Database, trouble: ReportTrouble = _ignore_report) -> None:
    """Finish an interrupted or waiting purge, if there is one and it is possible now; call `trouble` with the reason if
    not."""
    if database.read_only or not is_purge_pending(database):
        return
    done = complete_purge(database)
    if done.pending:
        trouble(f"Erasing is not finished: {done.pending}")
    for name in done.removed:
        trouble(f"The backup {name} held what was purged and could not be rewritten; it was removed.")
    for name in done.unread:
        trouble(f"A purge was finished, but the backup {name} cannot be read: look at it yourself.")


def is_cleanup_due(memory: Memory) -> bool:
    """Tell whether `clean_up_memory` is due; cheap."""
    return not memory.database.read_only and (
        has_waiting_lines(memory.database.path) or is_purge_pending(memory.database)
    )


def check_git_change(memory: Memory, cwd: str, before: str) -> str | None:
    """Return whether the timeline may lack something that git has, in well below a millisecond and without a process.

    None when nothing changed since the call that returned `before`; else this call's text, to be passed the next time,
    and `start` is due. The first call, with ``""``, always reports a change where there is a repository that may be
    read. Call it before the first `start`, so that nothing is missed between the two. Right after a change the next
    call may report one once more: the file system's clock is too coarse to separate two changes.
    """
    source = readable_repository(memory, cwd)
    now = refs_fingerprint(source.root) if source else ""
    return now if now and now != before else None


def readable_repository(memory: Memory, cwd: str) -> Repository | None:
    """Return the repository whose commits are read into the timeline; None where there is none, it may not be
    read, or nothing can be written."""
    if memory.database.read_only or not may_capture(memory.config, "commits"):
        return None
    return timeline_repository(memory, cwd)


def timeline_repository(memory: Memory, cwd: str) -> Repository | None:
    """Return the git repository for this memory's timeline, or None.

    A project's memory belongs to the checkout it is in. One named by --db or $MEMORANDA_DB is bound to the checkout it
    was first used in, so that two projects never mix in one timeline; the personal memory has none.
    """
    location = memory.location
    if location.project:
        here = checkout_root(location.project)
    elif location.kind == "personal":
        here = None
    else:
        here = checkout_root(cwd)
    if here is None:
        return None
    if location.project:
        return Repository(here)
    bound = memory.database.get_meta(BOUND_REPOSITORY_KEY)
    if bound and os.path.isdir(bound) and not os.path.samefile(bound, here):
        return None
    return Repository(here)


def _add_commits(write: Transaction, batch: Sequence[CommitInfo], highest: int) -> list[CommitInfo]:
    """Add a batch of commits, newest first, numbered down from `highest`; return those that were not there."""
    return [info for number, info in enumerate(batch) if add_commit(write, info, highest - number)]


def read_new_commits(
    memory: Memory,
    source: Repository,
    progress: CommitProgress = _ignore_report,
    cancelled: IsCancelled = never_cancelled,
    trouble: ReportTrouble = _ignore_report,
) -> int | None:
    """Read the commits that the timeline lacks, newest first; return how many were new, or None if another process is
    reading.

    Commits that no branch leads to any more are kept and marked, and unmarked when they are reachable again. `progress`
    is called with (done, total) once git has listed what is new, and after each batch; `trouble` at most once, with a
    sentence about what of the history is broken. What was read is kept when it is cancelled (a fifth of a second later
    at most) or killed; the next start reads the rest. Raise GitError when nothing at all can be read.
    """
    database = memory.database
    tips, boundary = source.tips(cancelled), " ".join(shallow_boundary(source.root))
    if cancelled():
        return 0
    if (tips, boundary) == _read_tips(memory):
        progress(0, 0)
        return 0
    lease = Lease(database)
    if not lease.acquire():
        return None
    try:
        # again, now that no other process is reading
        seen, seen_boundary = _read_tips(memory)
        # where a shallow clone was deepened, what is below the tips is new too
        listed, lost, missing = _compare_tips(source, tips, seen if boundary == seen_boundary else [], cancelled)
        if cancelled():
            return 0
        known = find_known_shas(database, listed)
        wanted = [sha for sha in listed if sha not in known]
        back = known
        if lost is None:
            reachable = reachable_shas(database)
            back = known - reachable
            # below a broken commit or the end of a shallow clone the ancestors are unknown
            lost = [] if missing or boundary else list(reachable.difference(listed))
        progress(0, len(wanted))
        done = new = highest = 0
        unmeasured: list[str] = []
        unread = dict.fromkeys(wanted)
        here = find_commits_made_here(source.root, branches=True) if wanted else set[str]()
        for batch in _commit_batches(source.read_commits(wanted, cancelled)):
            with database.write(GIT_IMPORTER, "git") as write:
                lease.renew(write)
                # with the first commits: the rest may never be read
                if not memory.location.project:
                    write.set_meta(BOUND_REPOSITORY_KEY, source.root)
                if not done:
                    highest = reserve_commit_ids(write, len(wanted))
                    # if the rest is not read, the next start compares with everything
                    write.set_meta(TIPS_KEY, "")
                added = _add_commits(write, batch, highest - done)
                if may_capture(memory.config, "decisions"):
                    link_mentioned_decisions(write, added, here)
            new += len(added)
            done += len(batch)
            for info in batch:
                del unread[info.sha]
                if not info.measured:
                    unmeasured.append(info.sha)
            progress(done, len(wanted))
        if cancelled():
            return new
        broken = [*missing, *unread]
        with database.write("agent", "git") as write:
            lease.renew(write)
            mark_read_from_git(write, known)
            mark_reachable(write, back, reachable=True)
            mark_reachable(write, lost, reachable=False)
            # what is broken may be repaired: read it again
            write.set_meta(TIPS_KEY, "" if broken else " ".join(tips))
            write.set_meta(BOUNDARY_KEY, boundary)
            if not memory.location.project:
                write.set_meta(BOUND_REPOSITORY_KEY, source.root)
        # else history changed, and is read again
        if unmeasured or (broken and source.tips(cancelled) == tips):
            trouble(_unread_sentence(broken, unmeasured))
        return new
    except LeaseLost:
        return None
    finally:
        lease.release()


def keep_renewing(database: Database, lease: Lease, cancelled: IsCancelled) -> Callable[..., bool]:
    """Return what long work asks whether it is `cancelled`, which renews its lease every RENEW_SECONDS. It raises
    LeaseLost."""
    renewed = time.monotonic()

    def ends(*arguments: object) -> bool:
        nonlocal renewed
        if time.monotonic() - renewed > RENEW_SECONDS:
            with database.write("agent", "lease") as write:
                lease.renew(write)
            renewed = time.monotonic()
        return cancelled()

    return ends


def make_due_backup(memory: Memory, cancelled: IsCancelled = never_cancelled, most: int = 0) -> Backup | None:
    """Make the backup that is due, if the configuration wants it, and remove those no longer needed; return None when
    there was nothing to do, another process is doing it, or it was cancelled. `most`: skip a file that is larger, in
    bytes. Raise StorageError."""
    database = memory.database
    if database.read_only or not memory.config["backup.daily"] or not is_backup_due(database):
        return None
    if most and database.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") > most:
        return None
    lease = Lease(database, "backup")
    if not lease.acquire():
        return None
    try:
        # it was made while the lease was waited for
        if not is_backup_due(database):
            return None
        return make_backup(database, scheduled=True, cancelled=keep_renewing(database, lease, cancelled))
    except LeaseLost:
        return None
    finally:
        lease.release()


def _compare_tips(
    source: Repository, tips: list[str], seen: list[str], cancelled: IsCancelled
) -> tuple[list[str], list[str] | None, Sequence[str]]:
    """Compare the current tips with those of the last reading, without walking all of history where branches only moved
    on or back. Return the shas (of what is new; of what was lost, None if only a comparison with everything in the
    memory can show it; of what is broken)."""
    if seen:
        # a former tip was collected, or a commit is broken: the whole walk shows it
        with suppress(GitError):
            new = source.list_new_commits(seen, tips, cancelled)
            return new, source.list_lost_commits(seen, tips, cancelled), ()
    shas, broken = source.list_reachable_commits(tips, cancelled)
    return shas, None, broken


def _unread_sentence(broken: Sequence[str], unmeasured: Sequence[str]) -> str:
    """Return one sentence about the commits that could not be read, or only in part."""
    parts = []
    if broken:
        parts.append(f"cannot read {_format_commits(broken)}")
    if unmeasured:
        parts.append(f"cannot tell the size of {_format_commits(unmeasured)}")
    return (
        f"git {' and '.join(parts)}: objects are lost or were never "
        "fetched; `git fsck` names them. The rest was read."
    )


def _format_commits(shas: Sequence[str]) -> str:
    """Return one commit's citation, or how many commits there are with the first of them."""
    first = cite("commit", shas[0])
    return first if len(shas) == 1 else f"{len(shas):,} commits, {first} among them"


def _read_tips(memory: Memory) -> tuple[list[str], str]:
    """Return (the tips up to which history was read, the end of the shallow clone at that time)."""
    return memory.database.get_meta(TIPS_KEY).split(), memory.database.get_meta(BOUNDARY_KEY)


def _commit_batches(infos: Iterable[CommitInfo]) -> Iterator[list[CommitInfo]]:
    """Yield the commits in lists of COMMIT_BATCH, or of what a slow repository returned within RENEW_SECONDS."""
    batch: list[CommitInfo] = []
    started = time.monotonic()
    for info in infos:
        batch.append(info)
        if len(batch) >= COMMIT_BATCH or time.monotonic() - started > RENEW_SECONDS:
            yield batch
            batch, started = [], time.monotonic()
    if batch:
        yield batch
