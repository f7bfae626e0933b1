"""What a command that reads does first, for two seconds at most: files, git, checkpoints and vectors that are due."""

from __future__ import annotations

import time
from collections.abc import Callable

from store.base.errors import MemorandaError
from store.base.runtime import is_part_disabled
from store.embedding.vectors import Vectors
from store.inbox.duplicates import compare_new_facts, has_uncompared_facts
from store.memory import Memory
from store.sync.synced_files import list_synced_files
from store.upkeep.background_embedding import embed_waiting, is_embedding_due
from store.upkeep.maintenance import (
    finish_pending_purge,
    make_due_backup,
    readable_repository,
    run_maintenance,
    take_due_checkpoint,
)
from tui.cli_output import print_notice
from tui.commands.record_lines import sync_message

BACKUP_BYTES = 16 << 20  # largest file that a command backs up daily
WAIT_SECONDS = 2.0  # maximum time that a read command spends to sync the timeline and the documents first


def catch_up(memory: Memory, cwd: str) -> Callable[[], bool]:
    """Sync the timeline with git and the index with the documents for a limited time, then report what remains; return
    a function that returns whether the time is over."""
    deadline = time.monotonic() + (0 if memory.location.look else WAIT_SECONDS)

    def late() -> bool:
        return time.monotonic() > deadline

    if memory.location.look:  # read-only: syncs nothing
        return late
    _compare_new(memory, late)  # first: takes milliseconds, and git may use up the time
    _catch_up_with_git(memory, cwd, late)
    _sync_files(memory, late)
    try:
        read = memory.documents.update_index(cancelled=late)
    except MemorandaError as error:
        print_notice(f"The documents could not be read: {error}")
        return late
    if read.elsewhere:
        print_notice("Another process is reading the documents right now.")
    elif read.remaining:
        print_notice(f"{read.remaining:,} documents remain to be read; the next command continues.")
    _keep_moments(memory, late)
    _keep_backups(memory, late)
    return late


def _keep_moments(memory: Memory, late: Callable[[], bool]) -> None:
    """Create the periodic checkpoint that is due, in milliseconds: the application may never run."""
    if late():
        return
    try:
        take_due_checkpoint(memory)
    except MemorandaError as error:
        print_notice(f"No checkpoint could be taken: {error}")


def _compare_new(memory: Memory, late: Callable[[], bool]) -> None:
    """Compare new facts with the existing ones, some 2 ms for each."""
    if not has_uncompared_facts(memory.database):
        return
    try:
        compare_new_facts(memory.database, memory.facts, memory.inbox, late)
    except MemorandaError as error:
        print_notice(f"What was remembered could not be compared: {error}")


def _sync_files(memory: Memory, late: Callable[[], bool]) -> None:
    """Sync the files that a person keeps so, if they or the memory changed; without any this reads one row."""
    if not list_synced_files(memory.database):
        return
    try:
        reports = memory.sync.sync_due(late)
    except MemorandaError as error:
        print_notice(f"A file could not be synced: {error}")
        return
    if reports:
        for report in reports:
            print_notice(sync_message(report))


def _keep_backups(memory: Memory, late: Callable[[], bool]) -> None:
    """Create the daily backup of a small file; a larger one is left to the application."""
    if late():
        return
    try:
        make_due_backup(memory, late, BACKUP_BYTES)
    except MemorandaError as error:
        print_notice(f"No backup could be made: {error}")


def finish_purge(memory: Memory) -> None:
    """Finish a purge that was interrupted or had to wait."""
    try:
        finish_pending_purge(memory.database, print_notice)
    except MemorandaError as error:
        print_notice(f"Erasing is not finished: {error}")


def catch_up_with_meaning(memory: Memory, late: Callable[[], bool]) -> None:
    """Embed pending texts in the remaining time, if an embedding model is ready: choosing one takes seconds of
    measurement, which the application and `memoranda health --index` do. Without one report nothing: `health --check`
    does."""
    if late() or is_part_disabled("model"):
        return
    if Vectors(memory.database).serving is None:
        return
    if not is_embedding_due(memory):
        return
    trouble: list[str] = []
    try:
        done = embed_waiting(memory, cancelled=late, trouble=trouble.append)
    except MemorandaError as error:
        print_notice(f"Index incomplete: {error}")
        return
    if done is None:
        print_notice("Another program is indexing; until it is done, some texts are found by their words alone.")
    elif done.left and not trouble:
        print_notice(
            f"{done.left:,} texts remain to be indexed; the next search continues, memoranda health --index does them"
            " all."
        )


def _catch_up_with_git(memory: Memory, cwd: str, late: Callable[[], bool]) -> None:
    """Read the commits that the timeline lacks, until `late` returns True, and report what remains."""
    remaining: int | None = None  # unknown until git has listed the commits

    def progress(done: int, total: int) -> None:
        nonlocal remaining
        remaining = total - done

    try:
        new = run_maintenance(memory, cwd, progress, late, print_notice)
    except MemorandaError as error:
        print_notice(f"The timeline could not catch up with git: {error}")
        return
    if new is None:
        print_notice("Another process is reading git's history right now.")
    elif remaining is None and late() and readable_repository(memory, cwd):
        print_notice("Reading git timed out; the next command tries again.")
    elif remaining:
        print_notice(f"{remaining:,} commits remain to be read; the next command continues.")
