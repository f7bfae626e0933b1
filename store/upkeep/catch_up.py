"""What a command that reads does first, for two seconds at most: files, git, checkpoints and vectors that are due."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store.base.errors import MemorandaError
from store.base.runtime import is_part_disabled, start_detached
from store.documents.sections import list_synced_paths
from store.embedding.vectors import Vectors
from store.inbox.duplicates import compare_new_facts, has_uncompared_facts
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.background_embedding import embed_waiting, is_embedding_due
from store.upkeep.maintenance import (
    finish_pending_purge,
    make_due_backup,
    readable_repository,
    run_maintenance,
    take_due_checkpoint,
)

Tell = Callable[[str], None]
# largest file that a command backs up daily
BACKUP_BYTES = 16 << 20
# maximum time that a read command spends to sync the timeline and the documents first
WAIT_SECONDS = 2.0
# new commits from which on it reads only the first batch, the newest
LONG_HISTORY = 250


@contextmanager
def _report_failure(tell: Tell, what: str) -> Iterator[None]:
    """Tell what could not be done: the command goes on."""
    try:
        yield
    except MemorandaError as error:
        tell(f"{what}: {error}")


def catch_up(memory: Memory, cwd: str, meaning: bool, tell: Tell) -> None:
    """Sync the timeline with git and the index with the documents for a limited time, then `tell` what remains, and
    what was synced; `meaning`: vectors too."""
    # read-only: syncs nothing
    if memory.location.look:
        return
    deadline = time.monotonic() + WAIT_SECONDS

    def late() -> bool:
        return time.monotonic() > deadline

    with _report_failure(tell, "What was remembered could not be compared"):
        # first: takes milliseconds, and git may use up the time
        if has_uncompared_facts(memory.database):
            compare_new_facts(memory.database, memory.facts, memory.inbox, late)
    with _report_failure(tell, "The timeline could not catch up with git"):
        _catch_up_with_git(memory, cwd, late, tell)
    with _report_failure(tell, "A file could not be synced"):
        # those that a person keeps so, if they or the memory changed; without any this reads one row
        for report in memory.sync.sync_due(late) if list_synced_paths(memory.database) else ():
            tell(report.describe())
    with _report_failure(tell, "The documents could not be read"):
        read = memory.documents.update_index(cancelled=late)
        if read.elsewhere:
            tell(read.describe())
        elif read.remaining:
            tell(f"{read.remaining:,} documents remain to be read; the next command continues.")
    with _report_failure(tell, "No checkpoint could be taken"):
        # takes milliseconds: the application may never run
        if not late():
            take_due_checkpoint(memory)
    with _report_failure(tell, "No backup could be made"):
        if not late():
            make_due_backup(memory, late, BACKUP_BYTES)
    with _report_failure(tell, "Index incomplete"):
        if meaning and not late():
            _catch_up_with_meaning(memory, late, tell)


def finish_purge(memory: Memory, tell: Tell) -> None:
    """Finish a purge that was interrupted or had to wait."""
    with _report_failure(tell, "Erasing is not finished"):
        finish_pending_purge(memory.database, tell)


def _catch_up_with_meaning(memory: Memory, late: Callable[[], bool], tell: Tell) -> None:
    """Embed pending texts in the remaining time, if an embedding model is ready: choosing one takes seconds of
    measurement, which the application and `memoranda health --index` do. Without one report nothing: `health --check`
    does."""
    if is_part_disabled("model") or Vectors(memory.database).serving is None or not is_embedding_due(memory):
        return
    trouble: list[str] = []
    done = embed_waiting(memory, cancelled=late, trouble=trouble.append)
    if done is None:
        tell("Another program is indexing; until it is done, some texts are found by their words alone.")
    elif done.left and not trouble:
        tell(
            f"{done.left:,} texts remain to be indexed; the next search continues, memoranda health --index does them"
            " all."
        )


def _catch_up_with_git(memory: Memory, cwd: str, late: Callable[[], bool], tell: Tell) -> None:
    """Read the commits that the timeline lacks, newest first, until `late` returns True; of a long history only the
    newest. A process of its own reads the rest."""
    # unknown until git has listed the commits
    remaining: int | None = None
    read = 0

    def progress(done: int, total: int) -> None:
        nonlocal read, remaining
        read, remaining = done, total - done

    def over() -> bool:
        return late() or bool(read and remaining and remaining > LONG_HISTORY)

    new = run_maintenance(memory, cwd, progress, over, tell)
    if new is None:
        tell("Another process is reading git's history right now.")
    elif remaining or (remaining is None and late() and readable_repository(memory, cwd)):
        many = "Commits" if remaining is None else f"{remaining:,} commits"
        tell(f"{many} remain to be read, which goes on beside this.")
        start_detached(os.environ, "store.upkeep.catch_up", memory.database.path, cwd)


def main(path: str, cwd: str) -> None:
    """Read what is left of git's history into the memory at `path`."""
    os.nice(10)
    with Memory(locate(path, {}, cwd), "worker", create=False) as memory:
        run_maintenance(memory, cwd)


if __name__ == "__main__":
    main(*sys.argv[1:])
