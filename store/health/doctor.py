"""`examine`: run every check on a memory, one after another."""

import os
from collections.abc import Callable, Iterator
from copy import copy

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import DamagedFile, Defect, MemorandaError, NotOurs
from store.base.location import Location
from store.database.files import refuse_lost_file
from store.health.checks import (
    OK,
    WRONG,
    CheckContext,
    CheckProgress,
    Finding,
    check_agent_model,
    check_backups,
    check_clocks,
    check_documents,
    check_embedding_model,
    check_file_system,
    check_history,
    check_keywords,
    check_learning,
    check_pages,
    check_purges,
    check_records,
    check_references,
    check_synced_files,
    check_values,
    check_vector_extension,
    check_versions,
    ignore_progress,
    salvage_step,
)
from store.health.wal_checks import check_wal, check_wal_length
from store.memory import Memory
from store.trust.ownership import is_own_memory

DOCTOR_CHECKS: tuple[tuple[str, Callable[[CheckContext], Iterator[Finding]]], ...] = (
    ("versions", check_versions),
    ("file", check_pages),
    ("log", check_wal_length),
    ("links", check_references),
    ("history", check_history),
    ("records", check_records),
    ("values", check_values),
    ("clocks", check_clocks),
    ("keywords", check_keywords),
    ("vec0", check_vector_extension),
    ("model", check_embedding_model),
    ("agent", check_agent_model),
    ("documents", check_documents),
    ("sync", check_synced_files),
    ("backups", check_backups),
    ("purge", check_purges),
    ("learning", check_learning),
)


def examine(
    location: Location,
    quick: bool = False,
    head: str = "",
    progress: CheckProgress = ignore_progress,
    cancelled: Callable[[], bool] = lambda: False,
    door: str = "cli",
    clock: Clock = utc_now,
) -> Iterator[Finding]:
    """Yield every finding about the memory at `location`, as it is made; the file is opened here, and never created.

    `quick` skips what must read every row; `head` is the digest of a step that history must contain, in hexadecimal.
    End early once it is `cancelled`.
    """
    path = location.path
    try:
        refuse_lost_file(path)
    except DamagedFile as error:
        yield Finding("file", WRONG, error.message, error.next)
        return
    if not os.path.lexists(path):
        yield Finding("file", WRONG, f"There is no memory at {path}.", "memoranda init starts one.", "init")
        return
    try:
        yield from check_file_system(path, closes=not location.look and is_own_memory(path))
        damage = list(check_wal(path))
    except OSError as error:
        yield Finding("private", WRONG, f"{path} cannot be looked at: {error.strerror}.", "Look at its permissions.")
        return
    yield from damage
    if any(one.state == WRONG for one in damage):
        return  # SQLite would continue without those pages, and overwrite them
    try:
        try:
            memory = Memory(location, door, clock, create=False)
        except NotOurs as error:
            yield Finding("whose", WRONG, error.message, error.next)
            location = copy(location)
            location.look = True
            memory = Memory(location, door, clock, create=False)
        else:
            if not location.look:
                yield Finding("whose", OK, "It is yours: this installation made or adopted it.")
    except MemorandaError as error:
        yield _error_finding("file", error, path)
        return
    with memory:
        yield from _run_checks(CheckContext(memory, quick, head, progress), cancelled, damaged=bool(damage))


def _run_checks(visit: CheckContext, cancelled: Callable[[], bool], damaged: bool) -> Iterator[Finding]:
    """Run every check in order, and yield its findings; continue where a check meets damage."""
    connection = visit.database.connection
    # if the log of another file were beside this one, closing it would write it into the file for good
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_progress_handler(cancelled, 20_000)
    for subject, check in DOCTOR_CHECKS:
        if cancelled():
            return
        try:
            for finding in check(visit):
                damaged = damaged or (finding.state == WRONG and finding.command.startswith("salvage"))
                yield finding
        except apsw.InterruptError:
            return
        except MemorandaError as error:
            if cancelled():
                return
            damaged = True
            yield _error_finding(subject, error, visit.database.path)
        except (apsw.Error, UnicodeDecodeError, ValueError, TypeError) as error:
            # numbers in place of text, text that is not UTF-8: our own code never writes that
            damaged = True
            says = f"What is there cannot be read ({type(error).__name__})."
            yield Finding(subject, WRONG, says, *salvage_step(visit.database.path))
    if not damaged:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _error_finding(subject: str, error: MemorandaError, path: str) -> Finding:
    """Return the finding for an error. Raise a Defect again, as it is our own mistake."""
    if isinstance(error, DamagedFile):
        return Finding(subject, WRONG, error.message, *salvage_step(path))
    if isinstance(error, Defect):
        raise error
    return Finding(subject, WRONG, error.message, error.next)
