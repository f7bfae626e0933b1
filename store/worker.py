"""Work behind the scenes: retention and the timeline's catching up with git, by whichever process holds the lease."""

import os
import time
from collections.abc import Callable, Iterable, Iterator

from store import commits
from store.database import Verbatim
from store.database.lease import Lease, LeaseLost
from store.git import CommitInfo, Repository
from store.location import checkout_root
from store.memory import Memory

BATCH = 250  # commits of one transaction: some 20 ms, so that no writer waits long
RENEW_SECONDS = 1.0
TIPS = "git.tips"
BOUND = "git.repository"

Progress = Callable[[int, int], None]


def start(
    memory: Memory,
    cwd: str,
    progress: Progress = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> int | None:
    """What is due when a memory is opened: events past their retention go, then the timeline catches up with git.

    How many commits were new; None if another process is reading them. Raises GitError.
    """
    if memory.database.read_only:
        return 0
    memory.events.expire(memory.now, memory.config["retention_days"])
    source = repository(memory, cwd)
    return catch_up(memory, source, progress, cancelled) if source else 0


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
    progress: Progress = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> int | None:
    """Read the commits that the timeline lacks, newest first: how many were new, or None if another process is at it.

    `progress` is called with (done, total) after each batch. What was read stays when it is cancelled or killed; the
    next start reads the rest. Raises GitError.
    """
    database = memory.database
    tips = source.tips()
    seen = (database.value("SELECT value FROM meta WHERE key = ?", (TIPS,)) or "").split()
    if tips == seen:
        return 0
    lease = Lease(database)
    if not lease.take():
        return None
    try:
        # again, now that nobody else is reading
        seen = (database.value("SELECT value FROM meta WHERE key = ?", (TIPS,)) or "").split()
        missing = source.missing(seen)
        known = commits.known(database, missing)
        wanted = [sha for sha in missing if sha not in known]
        progress(0, len(wanted))
        done = new = highest = 0
        for batch in _batches(source.read(wanted, cancelled)):
            with database.write("agent", "git") as write:
                lease.renew(write)
                if not memory.location.project:
                    _remember(write.execute, BOUND, source.root)  # with the first commits: the rest may never come
                if not done:
                    highest = commits.reserve(write, len(wanted))
                for number, info in enumerate(batch, start=done):
                    new += commits.add(
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
            done += len(batch)
            progress(done, len(wanted))
        if cancelled():
            return new
        with database.write("agent", "git") as write:
            lease.renew(write)
            _remember(write.execute, TIPS, " ".join(tips))
            if not memory.location.project:
                _remember(write.execute, BOUND, source.root)
        return new
    except LeaseLost:
        return None
    finally:
        lease.release()


def _remember(execute: Callable[..., object], key: str, value: str) -> None:
    execute(
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
