"""The chain of history: each step's digest is computed from the step before, and from the rows that it changed.

What was erased keeps its leaf, so the chain is valid; what `salvage` could not read is on its own list (`LOST`), and
reported as a note. The chain cannot show that its last steps were removed, but SQLite's counter of assigned numbers
can, and so can a head that was written down.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any

from store.database.database import Database
from store.database.writing.change_capture import framed
from store.health.finding import NOTE, OK, WRONG, CheckContext, Finding, named, salvage
from store.history.compression import every_row

SLICE = 500  # steps that are read in one transaction
QUICK = 1_000  # of the newest steps, with `quick`
NOTHING = (0, sha256().digest(), True)  # the rows of a step that changed none
LOST = "salvage.lost"  # in `meta`: {"steps": […], "rows": […]}, the steps whose header or rows could not be read
STEPS = """
SELECT seq, at, actor, door, reason, undoes, changes, rows_root, digest FROM history
WHERE seq BETWEEN ? AND ? ORDER BY seq
"""
ROWS = """
SELECT seq, tbl, pk, op, indirect, before, after, salt, leaf, purged FROM {}
WHERE seq BETWEEN ? AND ? ORDER BY seq, n
"""


def lost(database: Database) -> tuple[set[int], set[int]]:
    """Return (steps whose header was lost, steps of which some rows were lost) when this memory was salvaged."""
    value = database.value("SELECT value FROM meta WHERE key = ?", (LOST,))
    known = json.loads(value) if value else {}
    return set(known.get("steps", ())), set(known.get("rows", ()))


def history(visit: CheckContext) -> Iterator[Finding]:
    """Check every digest of history, from the first step to the last; with `quick`, of the newest."""
    database = visit.database
    newest, count = database.rows("SELECT coalesce(max(seq), 0), count(*) FROM history")[0]
    first = max(1, newest - QUICK + 1) if visit.quick else 1
    without, partly = lost(database)
    broken: list[int] = []
    missing: list[int] = []
    digest: bytes | None = b""  # None: the step before is unknown
    if first > 1:
        digest = database.value("SELECT digest FROM history WHERE seq = ?", (first - 1,))
    for start in range(first, newest + 1, SLICE):
        end = min(start + SLICE - 1, newest)
        visit.progress("the chain of history", start - first, newest - first + 1)
        with visit.database.read_snapshot():
            steps = database.rows(STEPS, (start, end))
            leaves = _leaves(database, start, end)
        by_seq = {step[0]: step for step in steps}
        for seq in range(start, end + 1):
            step = by_seq.get(seq)
            if step is None:
                missing.append(seq)
                digest = None
                continue
            *about, root, recorded = step
            if seq in without:
                digest = None
                continue
            whole = seq in partly or leaves.get(seq, NOTHING) == (about[-1], root, True)
            follows = digest is None or sha256(digest + framed(*about) + root).digest() == recorded
            if not (whole and follows):
                broken.append(seq)
            digest = recorded
    yield from _undone(visit)
    if broken or missing:
        problems = [f"step {seq} differs from what was written" for seq in broken[:2]]
        problems += [f"step {seq} is missing" for seq in missing[:2]]
        says = f"History was changed from outside: {named(problems, len(broken) + len(missing) > len(problems))}."
        yield Finding("history", WRONG, says, *salvage(database.path))
        return
    given = database.value("SELECT seq FROM sqlite_sequence WHERE name = 'history'") or 0
    if given > newest:
        says = f"The last steps are missing: {given - newest:,} were written after step {newest:,}."
        yield Finding("history", WRONG, says, *salvage(database.path))
        return
    if without or partly:
        says = f"{len(without | partly):,} steps were lost when this memory was salvaged; the others are complete."
        yield Finding("history", NOTE, says)
    yield from _against(visit, count, newest)


def _against(visit: CheckContext, count: int, newest: int) -> Iterator[Finding]:
    """Compare with the given head, or report the current one, to be written down."""
    database = visit.database
    digest: bytes = database.value("SELECT digest FROM history ORDER BY seq DESC LIMIT 1") or b""
    text = f"{count:,} step{'' if count == 1 else 's'}"
    text += (
        f", the newest {min(QUICK, count):,} checked" if visit.quick and count > QUICK else ", each as it was written"
    )
    if visit.head:
        found = _seq_of(database, visit.head)
        if found is None:
            says = "The given head is not in this history: steps were removed, or this is another file."
            yield Finding("history", WRONG, says, "Look for a newer copy of this memory, a backup for instance.")
            return
        text += f"; the head given is step {found:,}, and {newest - found:,} followed"
    yield Finding("history", OK, f"{text}; head {digest.hex() or 'none'}.")


def _seq_of(database: Database, head: str) -> int | None:
    try:
        digest = bytes.fromhex(head)
    except ValueError:
        return None
    seq: int | None = database.value("SELECT seq FROM history WHERE digest = ?", (digest,))
    return seq


def _leaves(database: Database, first: int, last: int) -> dict[int, tuple[int, bytes, bool]]:
    """Return for each of these steps that has rows: how many, the digest of their leaves, whether each leaf is its
    row's."""
    found: dict[int, tuple[int, bytes, bool]] = {}
    rows = database.connection.execute(ROWS.format(every_row(database)), (first, last))
    for seq, group in groupby(rows, itemgetter(0)):
        leaves, number, sound = sha256(), 0, True
        for _, *row, salt, leaf, purged in group:
            number += 1
            leaves.update(leaf)
            sound = sound and true(row, salt, leaf, purged)
        found[seq] = (number, leaves.digest(), sound)
    return found


def _undone(visit: CheckContext) -> Iterator[Finding]:
    """Check `undone_by`, which is no part of the digest: it is derived from what each undo undid."""
    database = visit.database
    with visit.database.read_snapshot():
        undoes: dict[int, int] = dict(
            database.rows("SELECT seq, undoes FROM history WHERE undoes IS NOT NULL ORDER BY seq")
        )
        marked: dict[int, int] = dict(database.rows("SELECT seq, undone_by FROM history WHERE undone_by IS NOT NULL"))
    due = taken_back(undoes)
    if due != marked and not any(lost(database)):
        off = sorted(seq for seq in {*due, *marked} if due.get(seq) != marked.get(seq))
        says = f"What is marked as undone is not what was undone: step {named([str(seq) for seq in off])}."
        yield Finding("history", WRONG, says, *salvage(database.path))


def true(row: list[Any], salt: bytes | None, leaf: bytes, purged: int) -> bool:
    """Return whether a row of history is as it was written; of one that was erased the salt is gone, so it cannot be
    checked."""
    if purged:
        return salt is None
    return salt is not None and sha256(salt + framed(*row)).digest() == leaf


def taken_back(undoes: dict[int, int]) -> dict[int, int]:
    """Return the steps that are undone, and by which: computed from the step that each undo undid, the oldest undo
    first. An undo that is undone itself restores what it undid."""
    found: dict[int, int] = {}
    for seq, target in undoes.items():
        mark: int | None = seq
        step: int | None = target
        while step is not None:
            if mark is None:
                found.pop(step, None)
            else:
                found[step] = mark
            mark = None if mark is not None else step
            step = undoes.get(step)
    return found
