"""`examine`: run every check on a memory, one after another; before it is opened, those of the log beside it."""

from __future__ import annotations

import os
import struct
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from copy import copy
from itertools import count
from typing import NamedTuple

import apsw

from store.base.clock import Clock, utc_now
from store.base.errors import DamagedFile, Defect, MemorandaError, NotOurs
from store.base.location import Location
from store.database.files import refuse_lost_file
from store.database.wal import wal_length
from store.memory import Memory
from store.trust.ownership import is_own_memory
from store.upkeep.checks import (
    NOTE,
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

# The write-ahead log as bytes (SQLite, fileformat2.html §4): which of its pages count, and where it is damaged.
#
# SQLite reads a log up to the first frame whose checksum fails and ignores the rest silently. A frame's checksum starts
# from that of the frame before, as it is stored, so each frame can be checked alone: what follows a damaged one is
# found, and so is the damage.

# bytes of the log: eight times the length to which it is truncated without readers
LONG_WAL = 8 << 20
# seconds after which a log that seemed damaged is read again: it may have been being written
REREAD_SECONDS = 0.05
WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
# … whose low bit is the byte order of a checksum's words
WAL_MAGIC = {0x377F0682: "little", 0x377F0683: "big"}


class WalContent(NamedTuple):
    """A log: `pages`, the offset of the last version of each page up to the last commit, damaged ones included, those
    whose number is damaged after the last page; `damaged`, frames that fail alone; `after`, frames that SQLite does not
    read because they come after one of these; `last`, whether all of them are of the newest transaction, whose commit
    may never have been reported."""

    page_size: int
    pages: dict[int, int]
    damaged: int
    after: int
    last: bool


def parse_wal(data: bytes | memoryview) -> WalContent | None:
    """Parse a write-ahead log. Return None if it is empty or has no valid header."""
    if len(data) < WAL_HEADER_BYTES:
        return None
    magic, _, page_size, _, *salts_and_sums = struct.unpack(">8I", data[:WAL_HEADER_BYTES])
    order = WAL_MAGIC.get(magic)
    if order is None or page_size not in [1 << bits for bits in range(9, 17)]:
        return None
    salts, sums = tuple(salts_and_sums[:2]), tuple(salts_and_sums[2:])
    if _wal_checksum(data[: WAL_HEADER_BYTES - 8], (0, 0), order) != sums:
        return None
    found: list[
        tuple[int, int, int, bool]
    ] = []  # page, size after commit, offset of its bytes, whether it is valid
    for at in range(
        WAL_HEADER_BYTES, len(data) - FRAME_HEADER_BYTES - page_size + 1, FRAME_HEADER_BYTES + page_size
    ):
        page, commit, *rest = struct.unpack(">6I", data[at : at + FRAME_HEADER_BYTES])
        stored = (rest[2], rest[3])
        # of an earlier round of the log; or damaged, if others of this round follow
        if tuple(rest[:2]) != salts:
            found.append((page, 0, at + FRAME_HEADER_BYTES, False))
        else:
            begun = _wal_checksum(data[at : at + 8], sums, order)
            sound = (
                _wal_checksum(data[at + FRAME_HEADER_BYTES : at + FRAME_HEADER_BYTES + page_size], begun, order)
                == stored
            )
            found.append((page, commit, at + FRAME_HEADER_BYTES, sound))
        sums = stored
    while found and not (found[-1][1] and found[-1][3]):
        # never committed, cut while it was written, or of an earlier round
        found.pop()
    size = max(
        (commit for _, commit, _, sound in found if sound), default=0
    )  # pages of the file, as SQLite writes it
    strange = count(size + 1)
    pages = {(page if page <= size else next(strange)): at for page, _, at, _ in found if page}
    first = next((number for number, frame in enumerate(found) if not frame[3]), len(found))
    return WalContent(
        page_size,
        pages,
        sum(not frame[3] for frame in found),
        len(found) - first,
        not any(commit for _, commit, _, _ in found[first:-1]),
    )


def _wal_checksum(data: bytes | memoryview, start: tuple[int, int], order: str) -> tuple[int, int]:
    """Return SQLite's checksum of some bytes, continued from `start`."""
    words = array("I", bytes(data))
    if sys.byteorder != order:
        words.byteswap()
    first, second = start
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def check_wal(path: str) -> Iterator[Finding]:
    """Check whether the log beside the memory at `path` is whole. To be called before SQLite opens it: SQLite leaves
    out what comes after a damaged frame, and the next write deletes it."""
    state, says = _wal_damage(path)
    if says:
        time.sleep(REREAD_SECONDS)
        state, says = _wal_damage(path)
    if says:
        yield Finding("log", state, says, *salvage_step(path))


def _wal_damage(path: str) -> tuple[str, str]:
    """Return (how bad it is, a sentence); empty if the log is whole."""
    try:
        with open(f"{path}-wal", "rb") as file:
            data = file.read()
    except OSError:
        return OK, ""
    log = parse_wal(data)
    if log is None:
        torn = any(data[:WAL_HEADER_BYTES])
        return (WRONG, "The log beside the file is damaged: SQLite reads nothing of it.") if torn else (OK, "")
    if not log.after:
        return OK, ""
    if log.last:
        return (
            NOTE,
            "The newest change in the log is incomplete: the power failed while it was written, or it is damaged.",
        )
    return (
        WRONG,
        f"The log beside the file is damaged: SQLite does not read the last {log.after:,} of its pages.",
    )


def check_wal_length(visit: CheckContext) -> Iterator[Finding]:
    """Report a program that reads an old state and keeps the log from being emptied."""
    size = wal_length(visit.database.path)
    if size > LONG_WAL:
        says = (
            f"The log has grown to {size / 1e6:,.0f} MB: a program that has this memory open reads an old state."
        )
        yield Finding(
            "log", NOTE, says, "Close the programs that have this memory open; the next write empties it."
        )
        return
    frames, done = visit.database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    waiting = max(0, frames - done)
    yield Finding("log", OK, f"{waiting:,} pages wait in the log." if waiting else "The log is short.")


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
        yield Finding(
            "file", WRONG, f"There is no memory at {path}.", "memoranda open --new starts one.", "open --new"
        )
        return
    try:
        yield from check_file_system(path, closes=not location.look and is_own_memory(path))
        damage = list(check_wal(path))
    except OSError as error:
        yield Finding(
            "private", WRONG, f"{path} cannot be looked at: {error.strerror}.", "Look at its permissions."
        )
        return
    yield from damage
    if any(one.state == WRONG for one in damage):
        # SQLite would continue without those pages, and overwrite them
        return
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
                damaged = damaged or (finding.state == WRONG and finding.command.startswith("health --salvage"))
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
