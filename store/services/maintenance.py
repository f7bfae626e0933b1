"""Retention, reading new commits from git, and the daily backup, by the process that holds the lease."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from store.base.cancelling import Cancelled, never
from store.base.citations import cite
from store.base.clock import days_before
from store.base.location import checkout_root
from store.config.configuration import captures
from store.conversations import hook_spool, retention
from store.database.database import Database, Transaction
from store.database.erasure import purge_state
from store.database.lease import Lease, LeaseLost
from store.database.values import Verbatim
from store.database.writing import disk_reserve
from store.git import refs
from store.history import compression
from store.ingest import discard
from store.llm import call_log
from store.memory import Memory
from store.records import decision_mentions
from store.records.timeline import commits
from store.services import automatic_checkpoints, daily_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.exchange.backups.backup import Backup
    from store.git.repository import CommitInfo, Repository

BATCH = 250  # commits of one transaction: some 20 ms, so that no writer waits long
RENEW_SECONDS = 1.0
ANSWERS_DAYS = 30  # how long an external writer may retry
TIPS = "git.tips"
BOUNDARY = "git.shallow"
BOUND = "git.repository"

Progress = Callable[[int, int], None]
Say = Callable[[str], None]


def _quiet(*arguments: object) -> None:
    """Report nothing."""


def start(
    memory: Memory,
    cwd: str,
    progress: Progress = _quiet,
    cancelled: Cancelled = never,
    trouble: Say = _quiet,
) -> int | None:
    """Do what is due when a memory is opened: unfinished work (`clean_up`), retention; then read new commits into the
    timeline, and pack old history.

    Return how many commits were new; None if another process is reading them. The last two run only if the
    configuration allows them. `trouble` is as in `catch_up`. Raise GitError.
    """
    if memory.database.read_only:
        return 0
    clean_up(memory, trouble)
    if not memory.config["enabled"]:
        return 0
    memory.events.expire(memory.now, memory.config["retention_days"])
    automatic_checkpoints.expire(memory)
    discard.expire(memory.database, memory.now)
    retention.expire(memory.database, memory.now, memory.config["turns.retention_days"])
    automatic_checkpoints.sweep(memory)
    source = read_from(memory, cwd)
    try:
        new = catch_up(memory, source, progress, cancelled, trouble) if source else 0
        daily_log.write_due(memory, trouble)
        return new
    finally:  # last, since it may take long and nobody waits for it
        days, steps = memory.config["history.pack_days"], memory.config["history.pack_steps"]
        compression.pack(memory.database, days, steps, cancelled)


def clean_up(memory: Memory, trouble: Say = _quiet) -> None:
    """Finish what other processes left: import the spool, finish a purge, delete a partial backup expired answers and
    calls of the model, restore the ballast. `trouble` is called with what could not be done."""
    from store.conversations import session_snapshot
    from store.exchange.backups import due

    database = memory.database
    disk_reserve.keep(database.path)
    due.tidy(database)
    session_snapshot.tidy(database.path)
    brought = hook_spool.drain(database)
    if brought.trouble:
        trouble(f"What hooks left to be written still waits: {brought.trouble}")
    if aside := hook_spool.broken(database.path):
        lines = "1 line" if aside == 1 else f"{aside:,} lines"
        why = "cannot be read, or were not left by this installation, and were kept aside in"
        trouble(f"{lines} of the spool {why} {hook_spool.aside(database.path)}.")
    finish_purge(database, trouble)
    cut = days_before(memory.now, ANSWERS_DAYS)
    if database.value("SELECT 1 FROM answers WHERE at < ? LIMIT 1", (cut,)):
        with database.write("agent", "answers") as write:
            write.execute("DELETE FROM answers WHERE at < ?", (Verbatim(cut),))
    call_log.expire(database, memory.now)


def finish_purge(database: Database, trouble: Say = _quiet) -> None:
    """Finish an interrupted or waiting purge, if there is one and it is possible now; call `trouble` with the reason if
    not."""
    if database.read_only or not purge_state.pending(database):
        return
    from store.purge import purge

    done = purge.finish(database)
    if done.pending:
        trouble(f"Erasing is not finished: {done.pending}")
    for name in done.removed:
        trouble(f"The backup {name} held what was purged and could not be rewritten; it was removed.")
    for name in done.unread:
        trouble(f"A purge was finished, but the backup {name} cannot be read: look at it yourself.")


def cleanup_due(memory: Memory) -> bool:
    """Return whether `clean_up` is due; cheap."""
    return not memory.database.read_only and (
        hook_spool.waiting(memory.database.path) or purge_state.pending(memory.database)
    )


def git_changed(memory: Memory, cwd: str, before: str) -> str | None:
    """Return whether the timeline may lack something that git has, in well below a millisecond and without a process.

    None when nothing changed since the call that returned `before`; else this call's text, to be passed the next time,
    and `start` is due. The first call, with ``""``, always reports a change where there is a repository that may be
    read. Call it before the first `start`, so that nothing is missed between the two. Right after a change the next
    call may report one once more: the file system's clock is too coarse to separate two changes.
    """
    source = read_from(memory, cwd)
    now = refs.fingerprint(source.root) if source else ""
    return now if now and now != before else None


def git_moved(root: str, before: str) -> bool:
    """Return whether `git_changed` would report a change of this repository, without opening the memory: some 50 µs."""
    return refs.fingerprint(root) != before


def read_from(memory: Memory, cwd: str) -> "Repository | None":
    """Return the repository that `start` reads; None where there is none, it may not be read, or nothing can be
    written."""
    if memory.database.read_only or not captures(memory.config, "commits"):
        return None
    return repository(memory, cwd)


def repository(memory: Memory, cwd: str) -> "Repository | None":
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
    from store.git.repository import Repository  # a project without git loads nothing of it

    if location.project:
        return Repository(here)
    bound = memory.database.value("SELECT value FROM meta WHERE key = ?", (BOUND,))
    if bound and os.path.isdir(bound) and not os.path.samefile(bound, here):
        return None
    return Repository(here)


def catch_up(
    memory: Memory,
    source: "Repository",
    progress: Progress = _quiet,
    cancelled: Cancelled = never,
    trouble: Say = _quiet,
) -> int | None:
    """Read the commits that the timeline lacks, newest first; return how many were new, or None if another process is
    reading.

    Commits that no branch leads to any more are kept and marked, and unmarked when they are reachable again. `progress`
    is called with (done, total) once git has listed what is new, and after each batch; `trouble` at most once, with a
    sentence about what of the history is broken. What was read is kept when it is cancelled (a fifth of a second later
    at most) or killed; the next start reads the rest. Raise GitError when nothing at all can be read.
    """
    database = memory.database
    tips, boundary = source.tips(cancelled), " ".join(refs.boundary(source.root))
    if cancelled():
        return 0
    if (tips, boundary) == _remembered(memory):
        progress(0, 0)
        return 0
    lease = Lease(database)
    if not lease.take():
        return None
    try:
        seen, seen_boundary = _remembered(memory)  # again, now that no other process is reading
        # where a shallow clone was deepened, what is below the tips is new too
        now = _compare(source, tips, seen if boundary == seen_boundary else [], cancelled)
        if cancelled():
            return 0
        known = commits.known(database, now.new)
        wanted = [sha for sha in now.new if sha not in known]
        lost, back = now.lost, known
        if lost is None:
            reachable = commits.reachable(database)
            back = known - reachable
            # below a broken commit or the end of a shallow clone the ancestors are unknown
            lost = [] if now.broken or boundary else list(reachable.difference(now.new))
        progress(0, len(wanted))
        done = new = highest = 0
        unmeasured: list[str] = []
        unread = dict.fromkeys(wanted)
        here = refs.made_here(source.root, branches=True) if wanted else set[str]()
        for batch in _batches(source.read(wanted, cancelled)):
            with database.write(decision_mentions.IMPORTER, "git") as write:
                lease.renew(write)
                if not memory.location.project:
                    _remember(write, BOUND, source.root)  # with the first commits: the rest may never be read
                if not done:
                    highest = commits.reserve(write, len(wanted))
                    _remember(write, TIPS, "")  # if the rest is not read, the next start compares with everything
                added = [
                    info
                    for number, info in enumerate(batch, start=done)
                    if commits.add(
                        write,
                        info.sha,
                        info.message,
                        info.author,
                        info.files_changed,
                        info.insertions,
                        info.deletions,
                        info.committed_at,
                        highest - number,
                    )
                ]
                if captures(memory.config, "decisions"):
                    decision_mentions.link(write, added, here)
            new += len(added)
            done += len(batch)
            for info in batch:
                del unread[info.sha]
                if not info.measured:
                    unmeasured.append(info.sha)
            progress(done, len(wanted))
        if cancelled():
            return new
        broken = [*now.broken, *unread]
        with database.write("agent", "git") as write:
            lease.renew(write)
            commits.read_from_git(write, known)
            commits.mark(write, back, reachable=True)
            commits.mark(write, lost, reachable=False)
            _remember(write, TIPS, "" if broken else " ".join(tips))  # what is broken may be repaired: read it again
            _remember(write, BOUNDARY, boundary)
            if not memory.location.project:
                _remember(write, BOUND, source.root)
        if unmeasured or (broken and source.tips(cancelled) == tips):  # else history changed, and is read again
            trouble(_trouble(broken, unmeasured))
        return new
    except LeaseLost:
        return None
    finally:
        lease.release()


def keep_backups(memory: Memory, cancelled: Cancelled = never, most: int = 0) -> "Backup | None":
    """Make the backup that is due, if the configuration wants it, and remove those no longer needed; return None when
    there was nothing to do, another process is doing it, or it was cancelled. `most`: skip a file that is larger, in
    bytes. Raise StorageError."""
    from store.exchange.backups.due import due

    database = memory.database
    if database.read_only or not memory.config["backup.daily"] or not due(database):
        return None
    if most and database.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") > most:
        return None
    lease = Lease(database, "backup")
    if not lease.take():
        return None
    renewed = time.monotonic()

    def ends() -> bool:
        nonlocal renewed
        if time.monotonic() - renewed > RENEW_SECONDS:
            with database.write("agent", "lease") as write:
                lease.renew(write)
            renewed = time.monotonic()
        return cancelled()

    try:
        if not due(database):  # it was made while the lease was waited for
            return None
        from store.exchange.backups import backup

        return backup.make(database, scheduled=True, cancelled=ends)
    except LeaseLost:
        return None
    finally:
        lease.release()


class _Compared:
    """The current tips and those of the last reading: what is `new`; what was `lost`, None if only a comparison with
    everything in the memory can show it; the shas of what is `broken`."""

    __slots__ = ("broken", "lost", "new")

    def __init__(self, new: list[str], lost: list[str] | None, broken: Sequence[str] = ()) -> None:
        self.new = new
        self.lost = lost
        self.broken = broken


def _compare(source: "Repository", tips: list[str], seen: list[str], cancelled: Cancelled) -> _Compared:
    """Compare without walking all of history where branches only moved on or back."""
    from store.git.process import GitError

    if seen:
        try:
            return _Compared(source.missing(seen, tips, cancelled), source.lost(seen, tips, cancelled))
        except GitError:
            pass  # a former tip was collected, or a commit is broken: the whole walk shows it
    shas, broken = source.reachable(tips, cancelled)
    return _Compared(shas, None, broken)


def _trouble(broken: Sequence[str], unmeasured: Sequence[str]) -> str:
    """Return one sentence about the commits that could not be read, or only in part."""
    parts = []
    if broken:
        parts.append(f"cannot read {_named(broken)}")
    if unmeasured:
        parts.append(f"cannot tell the size of {_named(unmeasured)}")
    return (
        f"git {' and '.join(parts)}: objects are lost or were never fetched; `git fsck` names them. The rest was read."
    )


def _named(shas: Sequence[str]) -> str:
    first = cite("commit", shas[0])
    return first if len(shas) == 1 else f"{len(shas):,} commits, {first} among them"


def _remembered(memory: Memory) -> tuple[list[str], str]:
    """Return (the tips up to which history was read, the end of the shallow clone at that time)."""
    values = dict(memory.database.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", (TIPS, BOUNDARY)))
    return values.get(TIPS, "").split(), values.get(BOUNDARY, "")


def _remember(write: Transaction, key: str, value: str) -> None:
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (Verbatim(key), Verbatim(value)),
    )


def _batches(infos: "Iterable[CommitInfo]") -> "Iterator[list[CommitInfo]]":
    """Yield the commits in lists of BATCH, or of what a slow repository returned within RENEW_SECONDS."""
    batch: list[CommitInfo] = []
    started = time.monotonic()
    for info in infos:
        batch.append(info)
        if len(batch) >= BATCH or time.monotonic() - started > RENEW_SECONDS:
            yield batch
            batch = []
            started = time.monotonic()
    if batch:
        yield batch
