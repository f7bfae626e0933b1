"""`examine`: run every check on a memory, one after another."""

import os
from collections.abc import Callable, Iterator
from copy import copy

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import DamagedFile, Defect, MemorandaError, NotOurs
from store.base.location import Location
from store.database.files import refuse_lost
from store.health import components, filesystem, hash_chain, integrity, record_history, timestamps, wal
from store.health.finding import NOTE, OK, WRONG, CheckContext, Finding, Progress, quiet, salvage
from store.memory import Memory
from store.trust import ownership

__all__ = ["NOTE", "OK", "WRONG", "Finding", "examine", "quiet"]

CHECKS: tuple[tuple[str, Callable[[CheckContext], Iterator[Finding]]], ...] = (
    ("versions", components.versions),
    ("file", integrity.file),
    ("log", wal.length),
    ("links", integrity.references),
    ("history", hash_chain.history),
    ("records", record_history.records),
    ("values", timestamps.values),
    ("clocks", timestamps.clocks),
    ("keywords", integrity.keywords),
    ("vec0", components.extension),
    ("model", components.model),
    ("agent", components.agent),
    ("documents", components.documents),
    ("sync", components.synced),
    ("backups", components.backups),
    ("purge", components.purges),
    ("learning", components.learning),
)


def examine(
    location: Location,
    quick: bool = False,
    head: str = "",
    progress: Progress = quiet,
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
        refuse_lost(path)
    except DamagedFile as error:
        yield Finding("file", WRONG, error.message, error.next)
        return
    if not os.path.lexists(path):
        yield Finding("file", WRONG, f"There is no memory at {path}.", "memoranda init starts one.", "init")
        return
    try:
        yield from filesystem.look(path, closes=not location.look and ownership.ours(path))
        damage = list(wal.damage(path))
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
        yield _of("file", error, path)
        return
    with memory:
        yield from _checks(CheckContext(memory, quick, head, progress), cancelled, damaged=bool(damage))


def _checks(visit: CheckContext, cancelled: Callable[[], bool], damaged: bool) -> Iterator[Finding]:
    connection = visit.database.connection
    # if the log of another file were beside this one, closing it would write it into the file for good
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_progress_handler(cancelled, 20_000)
    for subject, check in CHECKS:
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
            yield _of(subject, error, visit.database.path)
        except (apsw.Error, UnicodeDecodeError, ValueError, TypeError) as error:
            # numbers in place of text, text that is not UTF-8: our own code never writes that
            damaged = True
            says = f"What is there cannot be read ({type(error).__name__})."
            yield Finding(subject, WRONG, says, *salvage(visit.database.path))
    if not damaged:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _of(subject: str, error: MemorandaError, path: str) -> Finding:
    if isinstance(error, DamagedFile):
        return Finding(subject, WRONG, error.message, *salvage(path))
    if isinstance(error, Defect):
        raise error
    return Finding(subject, WRONG, error.message, error.next)
