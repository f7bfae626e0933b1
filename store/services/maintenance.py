"""Retention, catching up with git, and the daily backup, by whichever process
holds the lease."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from store.base.citations import cite
from store.base.clock import days_before
from store.base.location import checkout_root
from store.config.configuration import captures
from store.conversations import hook_spool, retention
from store.database import disk_reserve, purge_state
from store.database.database import Database, Transaction
from store.database.lease import Lease, LeaseLost
from store.database.values import Verbatim
from store.git import refs
from store.git.process import Cancelled, GitError, never
from store.git.repository import CommitInfo, Repository
from store.history import compression
from store.ingest import discard
from store.memory import Memory
from store.purge import purge
from store.records import commits, decision_mentions
from store.services import automatic_checkpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.exchange.backup import Backup

BATCH = 250  # commits of one transaction: some 20 ms, so that no writer waits long
RENEW_SECONDS = 1.0
ANSWERS_DAYS = 30  # how long a writer from outside may ask again
TIPS = "git.tips"
BOUNDARY = "git.shallow"
BOUND = "git.repository"

Progress = Callable[[int, int], None]
Say = Callable[[str], None]


def _quiet(*told: object) -> None:
    """Nobody listens."""


def start(
    memory: Memory,
    cwd: str,
    progress: Progress = _quiet,
    cancelled: Cancelled = never,
    trouble: Say = _quiet,
) -> int | None:
    """What is due when a memory is opened: what was left undone (`tidy`), what is past its retention;
    then the timeline catches up with git, and old history is packed.

    How many commits were new; None if another process is reading them. The last two happen only if the configuration
    lets them. `trouble` is as in `catch_up`. Raises GitError.
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
        return catch_up(memory, source, progress, cancelled, trouble) if source else 0
    finally:  # last, for it may take long and nobody waits for it
        days, steps = memory.config["history.pack_days"], memory.config["history.pack_steps"]
        compression.pack(memory.database, days, steps, cancelled)


def clean_up(memory: Memory, trouble: Say = _quiet) -> None:
    """What other processes left to be done: the spool is brought in, a purge finished, half a backup and answers that
    nobody asks for any more are dropped, the ballast is there again. `trouble` is told what could not be done."""
    from store.conversations import session_snapshot
    from store.exchange import backup

    database = memory.database
    disk_reserve.keep(database.path)
    backup.tidy(database)
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


def finish_purge(database: Database, trouble: Say = _quiet) -> None:
    """Finish a purge that was cut off or had to wait, if there is one and it can be now; `trouble` is told why not."""
    if database.read_only or not purge_state.pending(database):
        return
    done = purge.finish(database)
    if done.pending:
        trouble(f"Erasing is not finished: {done.pending}")
    for name in done.removed:
        trouble(f"The backup {name} held what was purged and could not be rewritten; it was removed.")
    for name in done.unread:
        trouble(f"A purge was finished, but the backup {name} cannot be read: look at it yourself.")


def cleanup_due(memory: Memory) -> bool:
    """A cheap look at whether something was left undone."""
    return not memory.database.read_only and (
        hook_spool.waiting(memory.database.path) or purge_state.pending(memory.database)
    )


def git_changed(memory: Memory, cwd: str, before: str) -> str | None:
    """A cheap look (well below a millisecond, no process) at whether the timeline may lack something that git has.

    None when nothing stirred since the look that gave `before`; else this look's own text, to be given the next time,
    and `start` is due. The first look, before ``""``, always stirs where there is a repository that may be read. Take
    it before the first `start`, so that nothing falls between the two. Right after a change the next look may stir
    once more: the file system's clock is too coarse to tell two changes apart.
    """
    source = read_from(memory, cwd)
    now = refs.fingerprint(source.root) if source else ""
    return now if now and now != before else None


def read_from(memory: Memory, cwd: str) -> Repository | None:
    """The repository that `start` reads; None where there is none, or it may not be read, or nothing can be written."""
    if memory.database.read_only or not captures(memory.config, "commits"):
        return None
    return repository(memory, cwd)


def repository(memory: Memory, cwd: str) -> Repository | None:
    """The git repository that this memory's timeline is filled from, or None.

    A project's memory belongs to the checkout it lies in. One named by --db or $MEMORANDA_DB is bound to the checkout
    it was first used in, so that two projects never mix in one timeline; the personal memory has none.
    """
    location = memory.location
    if location.project:
        root = checkout_root(location.project)
        return Repository(root) if root else None
    here = checkout_root(cwd)
    if location.kind == "personal" or here is None:
        return None
    bound = memory.database.value("SELECT value FROM meta WHERE key = ?", (BOUND,))
    if bound and os.path.isdir(bound) and not os.path.samefile(bound, here):
        return None
    return Repository(here)


def catch_up(
    memory: Memory,
    source: Repository,
    progress: Progress = _quiet,
    cancelled: Cancelled = never,
    trouble: Say = _quiet,
) -> int | None:
    """Read the commits that the timeline lacks, newest first: how many were new, or None if another process is at it.

    Commits that no branch leads to any more are kept and marked, and unmarked when they come back. `progress` is called
    with (done, total) once git has listed what is new, and after each batch; `trouble` at most once, with a sentence
    about what of the history is broken. What was read stays when it is cancelled (a fifth of a second later at most) or
    killed; the next start reads the rest. Raises GitError when nothing at all can be read.
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
        seen, seen_boundary = _remembered(memory)  # again, now that nobody else is reading
        # where a shallow clone was deepened, what lies below the tips is new too
        now = _compare(source, tips, seen if boundary == seen_boundary else [], cancelled)
        if cancelled():
            return 0
        known = commits.known(database, now.new)
        wanted = [sha for sha in now.new if sha not in known]
        lost, back = now.lost, known
        if lost is None:
            reachable = commits.reachable(database)
            back = known - reachable
            # below a break or the end of a shallow clone nobody can tell what the tips lead to
            lost = [] if now.broken or boundary else list(reachable.difference(now.new))
        progress(0, len(wanted))
        done = new = highest = 0
        unmeasured: list[str] = []
        unread = dict.fromkeys(wanted)
        for batch in _batches(source.read(wanted, cancelled)):
            with database.write(decision_mentions.IMPORTER, "git") as write:
                lease.renew(write)
                if not memory.location.project:
                    _remember(write, BOUND, source.root)  # with the first commits: the rest may never come
                if not done:
                    highest = commits.reserve(write, len(wanted))
                    _remember(write, TIPS, "")  # should the rest not come, the next start compares with everything
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
                    decision_mentions.link(write, added)
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
            commits.mark(write, back, reachable=True)
            commits.mark(write, lost, reachable=False)
            _remember(write, TIPS, "" if broken else " ".join(tips))  # what is broken may be mended: look again
            _remember(write, BOUNDARY, boundary)
            if not memory.location.project:
                _remember(write, BOUND, source.root)
        if unmeasured or (broken and source.tips(cancelled) == tips):  # else history moved under us, and is read anew
            trouble(_trouble(broken, unmeasured))
        return new
    except LeaseLost:
        return None
    finally:
        lease.release()


def keep_backups(memory: Memory, cancelled: Cancelled = never, most: int = 0) -> "Backup | None":
    """Make the backup that is due, if one is and the configuration wants it, and remove those that nobody needs any
    more; None when there was nothing to do, another process is at it, or it was cancelled. `most`: not of a file that
    is larger, in bytes. Raises StorageError."""
    from store.exchange import backup

    database = memory.database
    if database.read_only or not memory.config["backup.daily"] or not backup.due(database):
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
        if not backup.due(database):  # it was made while the lease was waited for
            return None
        return backup.make(database, scheduled=True, cancelled=ends)
    except LeaseLost:
        return None
    finally:
        lease.release()


class _Compared:
    """The tips of now and those of the last reading: what is `new`; what was `lost`, None if only a comparison with
    everything in the memory can tell; the shas of what is `broken`."""

    __slots__ = ("broken", "lost", "new")

    def __init__(self, new: list[str], lost: list[str] | None, broken: Sequence[str] = ()) -> None:
        self.new = new
        self.lost = lost
        self.broken = broken


def _compare(source: Repository, tips: list[str], seen: list[str], cancelled: Cancelled) -> _Compared:
    """Without a walk through all of history where branches only moved on or back."""
    if seen:
        try:
            return _Compared(source.missing(seen, tips, cancelled), source.lost(seen, tips, cancelled))
        except GitError:
            pass  # a tip of then was collected, or a commit is broken: the whole walk tells
    shas, broken = source.reachable(tips, cancelled)
    return _Compared(shas, None, broken)


def _trouble(broken: Sequence[str], unmeasured: Sequence[str]) -> str:
    """One sentence about the commits that could not be read, or not whole."""
    said = []
    if broken:
        said.append(f"cannot read {_named(broken)}")
    if unmeasured:
        said.append(f"cannot tell the size of {_named(unmeasured)}")
    return (
        f"git {' and '.join(said)}: objects are lost or were never fetched; `git fsck` names them. The rest was read."
    )


def _named(shas: Sequence[str]) -> str:
    first = cite("commit", shas[0])
    return first if len(shas) == 1 else f"{len(shas):,} commits, {first} among them"


def _remembered(memory: Memory) -> tuple[list[str], str]:
    """(the tips up to which history was read, the end of the shallow clone it then was)."""
    values = dict(memory.database.rows("SELECT key, value FROM meta WHERE key IN (?, ?)", (TIPS, BOUNDARY)))
    return values.get(TIPS, "").split(), values.get(BOUNDARY, "")


def _remember(write: Transaction, key: str, value: str) -> None:
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (Verbatim(key), Verbatim(value)),
    )


def _batches(infos: Iterable[CommitInfo]) -> Iterator[list[CommitInfo]]:
    """The commits in lists of BATCH, or of what a slow repository gave within RENEW_SECONDS."""
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
