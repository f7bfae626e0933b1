"""The checks of the doctor, each a generator of findings: files, pages, history, records, values, clocks, the log.

The chain of history: each step's digest is computed from the step before, and from the rows that it changed.

What was erased keeps its leaf, so the chain is valid; what a salvage could not read is on its own list
(`LOST_STEPS_KEY`), and reported as a note. The chain cannot show that its last steps were removed, but SQLite's counter
of assigned numbers can, and so can a head that was written down.
"""

from __future__ import annotations

import json
import os
import platform
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter
from shlex import quote
from typing import Any, NamedTuple

import apsw

from store.base.citations import cite
from store.base.clock import format_local_time, from_ms, to_ms
from store.base.errors import ForeignFile
from store.base.location import is_project_folder
from store.base.vocabulary import KIND_NUMBERS
from store.conversations.extraction_queue import MOST_ATTEMPTS, count_queued_turns
from store.database.change_capture import encode_for_hash, find_undone_steps, list_table_columns
from store.database.database import Database
from store.database.files import (
    NETWORK_FILE_SYSTEMS,
    RESERVE_BYTES,
    file_system_type,
    missing_reserve_reason,
    reserve_path,
)
from store.database.schema import DERIVED_TABLES, RECORDED_TABLES, SCHEMA_VERSION
from store.database.tombstones import is_purge_pending
from store.embedding.provider_selection import explain_provider_choice
from store.embedding.vector_codes import load_vec0
from store.embedding.vectors import Vectors
from store.exchange.backups import backup_status
from store.history.checkpoint_payload import find_damaged_checkpoints
from store.history.compression import every_row_view, find_packed_keys, read_packed_afters
from store.history.history import HISTORY_KINDS, primary_key
from store.librarian.chat import name_server, shorten_address
from store.librarian.model_selection import SELECTION_ORDER, read_model_status
from store.memory import Memory
from store.purge.purge import complete_purge
from store.search.fulltext import check_text_index
from store.text.display import format_count
from store.version import __version__

# The findings of the doctor, and the input of a check.

OK, NOTE, WRONG = "ok", "note", "wrong"
# records or files that a finding lists
MOST_SHOWN = 3


class Finding(NamedTuple):
    """The result of one check. `state` is ok, note (nothing is broken) or wrong (a person is needed); `says` is the
    cause, `next` the repair, and `command` the same as a line for the `:` bar, if one of our commands does it."""

    subject: str
    state: str
    says: str
    next: str = ""
    command: str = ""


def doctor_verdict(found: Sequence[Finding]) -> str:
    """Summarise all findings in a sentence."""
    wrong = sum(one.state == WRONG for one in found)
    return f"{format_count(wrong, 'thing')} to be mended." if wrong else "Nothing is wrong."


# what is being checked, how much is done, of how much (0: unknown)
CheckProgress = Callable[[str, int, int], None]


def ignore_progress(what: str, done: int, total: int) -> None:
    """Report no progress."""


class CheckContext(NamedTuple):
    """Input of a check: an open memory, how thorough to be, and a callback for progress.

    `head` is a digest that history must contain, from an earlier check; empty if none was given.
    """

    memory: Memory
    quick: bool
    head: str
    progress: CheckProgress

    @property
    def database(self) -> Database:
        return self.memory.database


def join_names(names: list[str], more: bool = False) -> str:
    """Join the first names with commas; add "…" if there are others, or if `more` says so."""
    shown = ", ".join(names[:MOST_SHOWN])
    return f"{shown} …" if more or len(names) > MOST_SHOWN else shown


def salvage_step(path: str) -> tuple[str, str]:
    """Return (the sentence, the command) of the step that salvages a damaged file."""
    return (
        f"Keep the file as it is; `memoranda health --salvage {quote(path)}` writes what can be read to a new one.",
        f"health --salvage {quote(path)}",
    )


# Check the parts that a memory needs and that are not in its file: versions, the vector extension, models,
# documents.


def check_versions(visit: CheckContext) -> Iterator[Finding]:
    """Check which versions read and write this file, and whether they have all that is needed."""
    schema = visit.database.connection.pragma("user_version")
    text = f"Memoranda {__version__}, SQLite {apsw.sqlite_lib_version()}, APSW {apsw.apsw_version()}"
    text += f", Python {platform.python_version()}, schema {schema}"
    if "fts5" not in visit.database.column("SELECT name FROM pragma_module_list"):
        yield Finding("versions", WRONG, f"{text}: this SQLite has no FTS5.", "pip install --force-reinstall apsw")
    elif schema > SCHEMA_VERSION:
        says = f"{text}: a newer Memoranda wrote it, and here it can only be read."
        yield Finding("versions", WRONG, says, "pip install --upgrade memoranda")
    else:
        yield Finding("versions", OK, f"{text}.")


def check_vector_extension(visit: CheckContext) -> Iterator[Finding]:
    """Check the vector extension."""
    if load_vec0(visit.database.connection):
        yield Finding("vec0", OK, "The vector extension loads.")
    else:
        says = "The vector extension does not load here; numpy looks for the nearest vectors, also if vec0 was chosen."
        yield Finding("vec0", NOTE, says, "pip install sqlite-vec")


def check_embedding_model(visit: CheckContext) -> Iterator[Finding]:
    """Report which model makes vectors, why no other does, and what waits for it."""
    visit.progress("models", 0, 0)
    status = Vectors(visit.database).read_status()
    steps = explain_provider_choice(visit.memory.config)
    for step in steps:
        yield Finding("model", OK if step.taken else NOTE, f"{step.provider}: {step.reason}", step.next)
    if not any(step.taken for step in steps):
        yield Finding("model", NOTE, "No embedding model is available; search uses keywords only.")
    if status.serving:
        made = f"{status.total - status.left:,} of {status.total:,} texts, by {status.provider} {status.model}"
        yield Finding("vectors", OK, f"There for {made}.")
    if status.building:
        yield Finding("vectors", NOTE, f"Being rebuilt by {status.building.partition(' ')[0]}.")
    if status.left:
        wait = "text waits" if status.left == 1 else "texts wait"
        step_ = "memoranda health --index embeds them; so does the application, beside everything else."
        yield Finding("vectors", NOTE, f"{status.left:,} {wait} to be embedded.", step_, "health --index")
    if status.refused:
        says = f"{format_count(status.refused, 'text')} could not be embedded; keywords find them."
        yield Finding("vectors", NOTE, says, "They are tried again when they change.")
    if status.error:
        # it repeats the steps
        missing = not any(step.taken for step in steps)
        says = f"The last run ended: {status.error}"
        yield Finding("vectors", NOTE if missing else WRONG, says, "memoranda health --index", "health --index")


def check_agent_model(visit: CheckContext) -> Iterator[Finding]:
    """Report which model the agent uses, and why not another; without one rules answer, which is not wrong."""
    visit.progress("the agent's model", 0, 0)
    found = read_model_status(visit.memory.config)
    if found.model:
        server = f"{name_server(found.look.address)} {found.look.version}".strip()
        cold = "" if found.state == "ready" else ", which is loaded when it is asked first"
        says = f"{server} at {shorten_address(found.look.address)} has {found.model}{cold}: {found.chosen_step.reason}"
        yield Finding("agent", OK, says)
    else:
        reason = found.chosen_step.reason
        if not reason.endswith("answers come from the records."):
            reason += " Answers come from the records."
        yield Finding("agent", NOTE, reason, "memoranda config model shows what to do.", "config model")
    # models that somebody named, and that are not available
    for step in found.steps:
        if not step.taken and step.next and step.who in SELECTION_ORDER[:2]:
            yield Finding("agent", NOTE, f"{step.who}: {step.reason}", step.next, "config model")


def check_documents(visit: CheckContext) -> Iterator[Finding]:
    """Report the documents that could not be read."""
    found = visit.memory.documents
    problems = found.problems()
    if not problems:
        yield Finding("documents", OK, f"{format_count(found.count_documents(), 'document')} read.")
    for path, why in problems[:MOST_SHOWN]:
        step = "Mend the file, then memoranda health --index documents."
        yield Finding("documents", WRONG, f"{path}: {why}.", step, "health --index documents")
    if len(problems) > MOST_SHOWN:
        says = f"And {len(problems) - MOST_SHOWN:,} more."
        step = "memoranda health --index documents names all."
        yield Finding("documents", WRONG, says, step, "health --index documents")


def check_synced_files(visit: CheckContext) -> Iterator[Finding]:
    """Report the files that are kept in sync, and the files whose last sync failed."""
    for file in visit.memory.sync.files():
        if file.problem:
            verb = f"sync {file.path}"
            yield Finding("sync", WRONG, file.problem, f"memoranda {verb} tries it again.", verb)
        else:
            yield Finding("sync", OK, f"{file.path} is kept in sync.")


def check_backups(visit: CheckContext) -> Iterator[Finding]:
    """Report the age of the newest backup, and whether the last check found all of them whole."""
    state, says, _ = backup_status(visit.database, visit.memory.now)
    mended = "memoranda list backups lists them; memoranda backup makes a new one. Look at the disk."
    step = {OK: "", NOTE: "memoranda backup makes one now.", WRONG: mended}[state]
    yield Finding("backups", state, says, step, "backup" if step else "")


def check_purges(visit: CheckContext) -> Iterator[Finding]:
    """Report a purge whose cleaning is not finished; finish it here, if possible now."""
    if not is_purge_pending(visit.database):
        return
    why = complete_purge(visit.database).pending
    if is_purge_pending(visit.database):
        says = "Erasing is not finished: bytes of the erased text may still be in the file or in a backup."
        step = "Close what else has this memory open; the next Memoranda finishes it."
        yield Finding("purge", WRONG, f"{says} {why}".rstrip(), step)
    else:
        yield Finding("purge", OK, "Erasing that was not finished is finished now.")


def check_learning(visit: CheckContext) -> Iterator[Finding]:
    """Report the turns that could not be learned from, or still wait."""
    waiting, given_up = count_queued_turns(visit.database)
    if given_up:
        turns = format_count(given_up, "turn")
        says = f"Nothing could be learned from {turns}, tried {MOST_ATTEMPTS} times; what was said is kept."
        yield Finding("learning", WRONG, says, "memoranda session flush tries again.", "session flush")
    if waiting:
        turns = "1 turn waits" if waiting == 1 else f"{waiting:,} turns wait"
        does = "The application does it, or session flush."
        yield Finding("learning", NOTE, f"{turns} to be learned from.", does, "session flush")


# Check where a memory is: permissions, file system, free space, and the files beside it.
#
# Run before the file is opened, since opening it restricts permissions that were too wide. Nothing here opens a file.

# bytes of free space below which a warning is shown
LOW_SPACE = 16 << 20
# bytes of free space with which no write can be relied on to succeed
NO_SPACE = 1 << 18
# seconds after which an unfinished file is abandoned
ABANDONED_SECONDS = 3_600


def check_file_system(path: str, closes: bool = True) -> Iterator[Finding]:
    """Yield all findings that need no opening of the memory at `path`; `closes`: opening it will restrict its
    permissions."""
    folder = os.path.dirname(path)
    yield from _check_permissions(path, folder, closes)
    yield from _check_disk(path, folder)
    yield from _check_ballast(path)
    yield from _check_leftovers(folder)


def _check_permissions(path: str, folder: str, closes: bool) -> Iterator[Finding]:
    """Check that nobody else can read the memory and the files beside it."""
    own = is_project_folder(folder)
    files = list(_memory_files(path, folder, own))
    wide = [name for name, status, most in files if stat.S_IMODE(status.st_mode) & ~most & 0o777]
    foreign = [name for name, status, _ in files if stat.S_ISLNK(status.st_mode) or status.st_uid != os.getuid()]
    if foreign:
        says = f"Not a plain file of yours: {join_names(foreign)}."
        yield Finding("private", WRONG, says, "Move it away: only your own plain files are used.")
    tightened = [name for name in wide if closes and name in (folder, path)]
    others = [name for name in wide if name not in tightened and name not in foreign]
    if tightened:
        yield Finding(
            "private", NOTE, f"Others could read {join_names(tightened)}, until now: opening it closed it."
        )
    if others:
        modes = "chmod go= " + " ".join(others[:3])
        yield Finding("private", WRONG, f"Others can read {join_names(others)}.", f"{modes} closes it to them.")
    if not wide and not foreign:
        yield Finding("private", OK, "Nobody else can read it.")


def _memory_files(path: str, folder: str, own: bool) -> Iterator[tuple[str, os.stat_result, int]]:
    """Yield (name, status, the most that its mode may allow) of the memory and all that is kept beside it."""
    names = [path, f"{path}-wal", f"{path}-shm"]
    if own:
        yield folder, os.lstat(folder), 0o700
        names = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name != ".gitignore"]
    for name in names:
        try:
            status = os.lstat(name)
        except FileNotFoundError:
            continue
        yield name, status, 0o700 if stat.S_ISDIR(status.st_mode) else 0o600


def _check_disk(path: str, folder: str) -> Iterator[Finding]:
    """Check the file system, its free space, and whether it can be written."""
    kind = file_system_type(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        says = f"It is on a network file system ({kind}), where SQLite cannot keep a memory safe."
        yield Finding("disk", WRONG, says, "Move it to a local disk, and name it with --db PATH.")
        return
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        says = "The file, or its folder, may only be read: nothing can be remembered."
        yield Finding("disk", WRONG, says, f"Look at the permissions of {folder}.")
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):
        return
    room = disk.f_bavail * disk.f_frsize
    on = f" on {kind}" if kind else ""
    if disk.f_flag & os.ST_RDONLY:
        yield Finding("disk", WRONG, f"It lies{on}, which is mounted read-only.", "Mount it for writing.")
    if room < NO_SPACE or (disk.f_files and not disk.f_favail):
        says = "The disk is full: nothing can be remembered, and nothing was lost."
        yield Finding("disk", WRONG, says, "Free some space.")
    elif room < LOW_SPACE + os.lstat(path).st_size:
        says = f"Only {_format_bytes(room)} are free{on}: a rebuild, a copy or a long run may not fit."
        yield Finding("disk", NOTE, says, "Free some space.")
    else:
        yield Finding("disk", OK, f"{_format_bytes(room)} free{on}.")


def _check_ballast(path: str) -> Iterator[Finding]:
    """Check the disk space reserved for forgetting."""
    why = missing_reserve_reason(path)
    if not why:
        yield Finding("ballast", OK, f"{RESERVE_BYTES >> 10} KiB are kept, so that a full disk can still forget.")
    elif os.path.lexists(reserve_path(path)):
        yield Finding("ballast", NOTE, why, "Move it away; the next command that reads makes it again.")
    else:
        yield Finding("ballast", NOTE, why, "With some room, the next command that reads makes it again.")


def _check_leftovers(folder: str) -> Iterator[Finding]:
    """Report what other processes left: unfinished files, lines that wait in the spool."""
    now = time.time()
    parts = [*_folder_entries(folder, ".part"), *_folder_entries(os.path.join(folder, "backups"), ".part")]
    cut = [entry.path for entry in parts if now - entry.stat().st_mtime > ABANDONED_SECONDS]
    if cut:
        yield Finding(
            "beside", NOTE, f"Left over from interrupted work: {join_names(cut)}.", "They may be deleted."
        )
    waiting = [entry.path for entry in _folder_entries(os.path.join(folder, "spool")) if entry.stat().st_size]
    if waiting:
        says = f"{format_count(len(waiting), 'file')} of the spool wait to be read."
        yield Finding("beside", NOTE, says, "The next command that writes reads them.")


def _folder_entries(folder: str, ending: str = "") -> list[os.DirEntry[str]]:
    """List the files of a folder with an ending, by name; none if it cannot be read."""
    try:
        return sorted(
            (entry for entry in os.scandir(folder) if entry.name.endswith(ending) and entry.is_file()),
            key=lambda entry: entry.name,
        )
    except OSError:
        return []


def _format_bytes(size: float) -> str:
    """Format a size in bytes for a person."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1_000:
            return f"{size:,.0f} {unit}"
        size /= 1_000
    return f"{size:,.0f} GB"


# steps that are read in one transaction
CHAIN_SLICE = 500
# of the newest steps, with `quick`
QUICK_STEPS = 1_000
# the rows of a step that changed none
NO_ROWS = (0, sha256().digest(), True)
# in `meta`: {"steps": […], "rows": […]}, the steps whose header or rows could not be read
LOST_STEPS_KEY = "salvage.lost"
HISTORY_STEPS_SQL = """
SELECT seq, at, actor, door, reason, undoes, changes, rows_root, digest FROM history
WHERE seq BETWEEN ? AND ? ORDER BY seq
"""
HISTORY_ROWS_SQL = """
SELECT seq, tbl, pk, op, indirect, before, after, salt, leaf, purged FROM {}
WHERE seq BETWEEN ? AND ? ORDER BY seq, n
"""


def read_lost_steps(database: Database) -> tuple[set[int], set[int]]:
    """Return the steps whose header was lost, and the steps of which rows were lost, when this memory was
    salvaged."""
    value = database.get_meta(LOST_STEPS_KEY)
    known = json.loads(value) if value else {}
    return set(known.get("steps", ())), set(known.get("rows", ()))


def check_history(visit: CheckContext) -> Iterator[Finding]:
    """Check every digest of history, from the first step to the last; with `quick`, of the newest."""
    database = visit.database
    newest, count = database.rows("SELECT coalesce(max(seq), 0), count(*) FROM history")[0]
    first = max(1, newest - QUICK_STEPS + 1) if visit.quick else 1
    without, partly = read_lost_steps(database)
    broken: list[int] = []
    missing: list[int] = []
    # None: the step before is unknown
    digest: bytes | None = b""
    if first > 1:
        digest = database.value("SELECT digest FROM history WHERE seq = ?", (first - 1,))
    for start in range(first, newest + 1, CHAIN_SLICE):
        end = min(start + CHAIN_SLICE - 1, newest)
        visit.progress("the chain of history", start - first, newest - first + 1)
        with visit.database.read_snapshot():
            steps = database.rows(HISTORY_STEPS_SQL, (start, end))
            leaves = _digest_leaves(database, start, end)
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
            whole = seq in partly or leaves.get(seq, NO_ROWS) == (about[-1], root, True)
            follows = digest is None or sha256(digest + encode_for_hash(*about) + root).digest() == recorded
            if not (whole and follows):
                broken.append(seq)
            digest = recorded
    yield from _check_undone(visit)
    if broken or missing:
        problems = [f"step {seq} differs from what was written" for seq in broken[:2]]
        problems += [f"step {seq} is missing" for seq in missing[:2]]
        says = f"History was changed from outside: {join_names(problems, len(broken) + len(missing) > len(problems))}."
        yield Finding("history", WRONG, says, *salvage_step(database.path))
        return
    given = database.number("SELECT seq FROM sqlite_sequence WHERE name = 'history'")
    if given > newest:
        says = f"The last steps are missing: {given - newest:,} were written after step {newest:,}."
        yield Finding("history", WRONG, says, *salvage_step(database.path))
        return
    if without or partly:
        says = f"{len(without | partly):,} steps were lost when this memory was salvaged; the others are complete."
        yield Finding("history", NOTE, says)
    yield from _check_head(visit, count, newest)


def _check_head(visit: CheckContext, count: int, newest: int) -> Iterator[Finding]:
    """Compare with the given head, or report the current one, to be written down."""
    database = visit.database
    digest: bytes = database.value("SELECT digest FROM history ORDER BY seq DESC LIMIT 1") or b""
    part = visit.quick and count > QUICK_STEPS
    text = f"{format_count(count, 'step')}, "
    text += f"the newest {QUICK_STEPS:,} checked" if part else "each as it was written"
    if visit.head:
        found = _find_head(database, visit.head)
        if found is None:
            says = "The given head is not in this history: steps were removed, or this is another file."
            yield Finding("history", WRONG, says, "Look for a newer copy of this memory, a backup for instance.")
            return
        text += f"; the head given is step {found:,}, and {newest - found:,} followed"
    yield Finding("history", OK, f"{text}; head {digest.hex() or 'none'}.")


def _find_head(database: Database, head: str) -> int | None:
    """Return the number of the step with this digest, in hexadecimal; None if there is none."""
    try:
        digest = bytes.fromhex(head)
    except ValueError:
        return None
    seq: int | None = database.value("SELECT seq FROM history WHERE digest = ?", (digest,))
    return seq


def _digest_leaves(database: Database, first: int, last: int) -> dict[int, tuple[int, bytes, bool]]:
    """Return for each step with rows how many there are, the digest of their leaves, and whether each leaf matches
    its row."""
    found: dict[int, tuple[int, bytes, bool]] = {}
    rows = database.connection.execute(HISTORY_ROWS_SQL.format(every_row_view(database)), (first, last))
    for seq, group in groupby(rows, itemgetter(0)):
        leaves, number, sound = sha256(), 0, True
        for _, *row, salt, leaf, purged in group:
            number += 1
            leaves.update(leaf)
            sound = sound and is_row_intact(row, salt, leaf, purged)
        found[seq] = (number, leaves.digest(), sound)
    return found


def _check_undone(visit: CheckContext) -> Iterator[Finding]:
    """Check `undone_by`, which is no part of the digest: it is derived from what each undo undid."""
    database = visit.database
    with database.read_snapshot():
        due = find_undone_steps(database.connection)
        marked: dict[int, int] = dict(
            database.rows("SELECT seq, undone_by FROM history WHERE undone_by IS NOT NULL")
        )
    if due != marked and not any(read_lost_steps(database)):
        off = sorted(seq for seq in {*due, *marked} if due.get(seq) != marked.get(seq))
        says = f"What is marked as undone is not what was undone: step {join_names([str(seq) for seq in off])}."
        yield Finding("history", WRONG, says, *salvage_step(database.path))


def is_row_intact(row: list[Any], salt: bytes | None, leaf: bytes, purged: int) -> bool:
    """Tell whether a row of history is as it was written. An erased row has lost its salt, so it cannot be
    checked."""
    if purged:
        return salt is None
    return salt is not None and sha256(salt + encode_for_hash(*row)).digest() == leaf


# Check the file itself: SQLite's own checks, references between records, and the index against its source.

# errors that SQLite is asked for
MOST_SQLITE_ERRORS = 20
REBUILD_STEP = ("memoranda health --index rebuild makes it again.", "health --index rebuild")
# a row of the corpus that differs from its record
STALE_CORPUS_SQL = """
SELECT v.record_id FROM corpus_{kind} v LEFT JOIN corpus c ON c.id = v.id
WHERE c.id IS NULL OR c.kind IS NOT v.kind OR c.record_id IS NOT v.record_id OR c.title IS NOT v.title
  OR c.text IS NOT v.text OR c.context IS NOT v.context OR c.at IS NOT v.at OR c.status IS NOT v.status
  OR c.evergreen IS NOT v.evergreen
LIMIT {most}
"""


def check_pages(visit: CheckContext) -> Iterator[Finding]:
    """Check every page of the file, and every index against its table; with `quick`, without the indexes."""
    check = "quick_check" if visit.quick else "integrity_check"
    visit.progress("every page of the file", 0, 0)
    messages = [row[0] for row in visit.database.rows(f"PRAGMA {check}({MOST_SQLITE_ERRORS})")]
    # `keywords` reports what FTS5 finds in its own index
    damage = [
        line
        for line in messages
        if line != "ok" and not line.startswith(("malformed inverted", "unable to valid"))
    ]
    if damage:
        first = damage[0].splitlines()[-1]
        yield Finding("file", WRONG, f"SQLite finds damage: {first}.", *salvage_step(visit.database.path))
    else:
        yield Finding("file", OK, visit.database.path)
    for warning in visit.database.warnings:
        yield Finding("file", NOTE, warning)


def check_references(visit: CheckContext) -> Iterator[Finding]:
    """Check that each record that another refers to exists."""
    visit.progress("references between records", 0, 0)
    broken: dict[str, int] = {}
    for table, *_ in visit.database.connection.execute("PRAGMA foreign_key_check"):
        broken[table] = broken.get(table, 0) + 1
    derived = {table: broken.pop(table) for table in [*broken] if table in DERIVED_TABLES}
    if derived:
        says = f"What was made from records names some that are not there: {join_names([*derived])}."
        yield Finding("links", WRONG, says, *REBUILD_STEP)
    if broken:
        text = join_names([f"{count:,} of {table}" for table, count in broken.items()])
        yield Finding(
            "links",
            WRONG,
            f"Records name others that are not there: {text}.",
            *salvage_step(visit.database.path),
        )
    if not broken and not derived:
        yield Finding("links", OK, "Every record that another names is there.")


def check_keywords(visit: CheckContext) -> Iterator[Finding]:
    """Check the index against the corpus, and the corpus against the records."""
    database = visit.database
    if database.read_only:
        yield Finding("keywords", NOTE, "This file may only be read, so its index was not checked.")
        return
    visit.progress("the search index", 0, len(KIND_NUMBERS))
    try:
        rows = check_text_index(database)
    except ForeignFile:
        yield Finding("keywords", WRONG, "The index does not agree with the records.", *REBUILD_STEP)
        return
    if not visit.quick:
        for number, kind in enumerate(KIND_NUMBERS):
            visit.progress("the search index", number, len(KIND_NUMBERS))
            with visit.database.read_snapshot():
                stale = database.rows(STALE_CORPUS_SQL.format(kind=kind, most=MOST_SHOWN + 1))
                there, due = database.rows(
                    f"SELECT (SELECT count(*) FROM corpus WHERE kind = '{kind}'), count(*) FROM corpus_{kind}"
                )[0]
            if stale or there != due:
                kinds = "summaries" if kind == "summary" else f"{kind}s"
                says = f"What can be found of the {kinds} is not what they say."
                yield Finding("keywords", WRONG, says, *REBUILD_STEP)
                return
    yield Finding("keywords", OK, f"The index agrees with the records: {format_count(rows, 'record')}.")


# Check the records against their history: each row must equal the result of its steps (a silent bit flip does not).
#
# Read from the newest step of a record backwards: the newest step that contains a column gives its current value, so a
# record whose oldest steps are packed away or erased is checked as far as they reach.

RecordRow = dict[str, Any]
# records that are read in one transaction
RECORD_SLICE = 500
# where history is packed: every slice reads every block
PACKED_SLICE = 5_000
RECORD_STEPS_SQL = """
SELECT pk, seq, n, op, after, purged FROM history_row
WHERE tbl = ? AND pk > ? AND pk <= ? ORDER BY pk, seq DESC, n DESC
"""
NEXT_KEYS_SQL = "SELECT DISTINCT pk FROM history_row WHERE tbl = ? AND pk > ? ORDER BY pk LIMIT ?"


@dataclass
class ReconstructedRecord:
    """A record as its steps give it: the columns in `state`, whether that is `whole`, whether it is `gone`, and the
    newest of these steps. Erased steps give nothing (`silent`)."""

    seq: int = 0
    stated: RecordRow = field(default_factory=dict)
    whole: bool = False
    gone: bool = False
    silent: bool = False

    def matches_row(self, row: RecordRow | None) -> bool:
        """Tell whether the result of the steps agrees with a row; None is a row that does not exist."""
        if self.silent:
            return True
        if self.gone or row is None:
            return self.gone and row is None
        return all(name not in row or row[name] == value for name, value in self.stated.items())


def check_records(visit: CheckContext) -> Iterator[Finding]:
    """Check every recorded row, and that none exists without a step that made it."""
    if visit.quick:
        return
    database = visit.database
    names: list[str] = []
    off = done = total = 0
    for table in RECORDED_TABLES:
        total += database.value(f"SELECT count(*) FROM {table}")
    for table in RECORDED_TABLES:
        for key, known, row in reconstruct_records(database, table):
            done += 1
            visit.progress("records against their history", min(done, total), total)
            if not known.matches_row(row):
                off += 1
                names = [*names, record_label(table, key)][: MOST_SHOWN + 1]
        without = find_rows_without_steps(database, table)
        off += len(without)
        names = [*names, *(record_label(table, key) for key in without[: MOST_SHOWN + 1])][: MOST_SHOWN + 1]
    if off:
        says = f"{off:,} record{' is' if off == 1 else 's are'} not as history says: {join_names(names)}."
        yield Finding("records", WRONG, says, *salvage_step(database.path))
    else:
        yield Finding("records", OK, f"{format_count(total, 'record')}, each as history says.")


def reconstruct_records(
    database: Database, table: str
) -> Iterator[tuple[str, ReconstructedRecord, RecordRow | None]]:
    """Yield (key, the result of its steps, its row) of every record in history, a slice of them at a time. Keys are
    JSON lists, as history writes them."""
    keys = primary_key(database.connection, table)
    pairs = ", ".join(f"'{name}', {name}" for name in list_table_columns(database.connection, table))
    row = f"SELECT json_object({pairs}) FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in keys)}"
    last = ""
    while True:
        # as texts, which take a fifth of the memory
        found: list[tuple[str, list[Sequence[Any]], str | None]] = []
        with database.read_snapshot():
            packed = find_packed_keys(database, table, last)
            most = PACKED_SLICE if packed else RECORD_SLICE
            some = set(database.column(NEXT_KEYS_SQL, (table, last, most))).union(nsmallest(most, packed))
            end = max(nsmallest(most, some), default="")
            steps = database.rows(RECORD_STEPS_SQL, (table, last, end))
            if packed:
                steps += read_packed_afters(database, table, last, end)
                steps.sort(key=itemgetter(1, 2), reverse=True)
                steps.sort(key=itemgetter(0))
            for key, group in groupby(steps, itemgetter(0)):
                found.append((key, list(group), database.value(row, json.loads(key))))
        for key, known, text in found:
            yield key, _reconstruct_record(known), None if text is None else json.loads(text)
        if not some:
            return
        last = end


def _reconstruct_record(steps: Iterable[Sequence[Any]]) -> ReconstructedRecord:
    """Return the result of steps, given newest first."""
    known = ReconstructedRecord()
    for _, seq, _, op, after, purged in steps:
        if purged:
            known.silent = True
            break
        if op == "DELETE":
            known.gone = not known.seq
        known.seq = known.seq or seq
        if op == "DELETE":
            break
        known.stated = json.loads(after) | known.stated
        if op == "INSERT":
            known.whole = True
            break
    return known


def find_rows_without_steps(database: Database, table: str) -> list[str]:
    """Return the keys of rows that no step made."""
    own = ", ".join(f"{table}.{name}" for name in primary_key(database.connection, table))
    with database.read_snapshot():
        packed = find_packed_keys(database, table, "")
        rows = database.column(
            f"SELECT json_array({own}) FROM {table} WHERE NOT EXISTS"
            f" (SELECT 1 FROM history_row AS h WHERE h.tbl = ? AND h.pk = json_array({own}))",
            (table,),
        )
    return [key for key in rows if key not in packed]


def record_label(table: str, key: str) -> str:
    """Return the name of a record for a person."""
    parts = json.loads(key)
    if table == "mutes":
        return f"the mute of {cite('fact', parts[0])}"
    if table in HISTORY_KINDS:
        return cite(HISTORY_KINDS[table], parts[0])
    return f"a link of {cite('decision', parts[-1])}"


# Check times and values: times in the future, a clock that was set back, and values that our own code never writes.

# milliseconds by which two machines' clocks may differ
CLOCK_TOLERANCE_MS = 120_000
# … and from which on ages are wrong
FAR_AHEAD_MS = 86_400_000
# the columns of time of each table; a commit's is its author's clock, and not ours
CHECKED_TIMES = {
    "facts": ("created_at", "last_confirmed_at"),
    "decisions": ("decided_at",),
    "tasks": ("created_at", "updated_at"),
    "iterations": ("started_at", "completed_at"),
    "events": ("created_at",),
    "checkpoints": ("created_at",),
    "turns": ("at",),
    "summaries": ("created_at",),
    "commits": ("committed_at",),
    "history": ("at",),
}
CHECKED_JSON = {"facts": ("evidence", "tags"), "decisions": ("alternatives",), "events": ("payload",)}
CHECKED_JSON["iterations"] = ("phases_completed", "artifacts")
CHECKED_JSON["summaries"] = ("discussed", "decisions", "open_questions")
TIME_GLOB = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z"
KNOWN_ORIGINS = ("user", "agent", "hook", "hook:%", "file", "git", "worker", "mcp:%", "import:%")
CLOCK_BACK_SQL = """
SELECT count(*), max(h.seq) FROM history h JOIN history p ON p.seq = h.seq - 1
WHERE h.at < p.at AND unixepoch(p.at) - unixepoch(h.at) > 60
"""


def check_clocks(visit: CheckContext) -> Iterator[Finding]:
    """Report records with a time in the future, and the steps before which the clock was set back."""
    database, now = visit.database, visit.memory.now
    visit.progress("times", 0, 0)
    ahead = from_ms(to_ms(now) + CLOCK_TOLERANCE_MS)
    latest, tables = "", []
    for table, names in CHECKED_TIMES.items():
        if table == "commits":
            continue
        for name in names:
            found = database.value(f"SELECT max({name}) FROM {table} WHERE {name} > ?", (ahead,))
            if found:
                tables.append(table)
                latest = max(latest, found)
    if latest:
        says = (
            f"Records dated in the future ({join_names(sorted(set(tables)))}): the latest {_format_time(latest)}."
        )
        step = "Set this machine's clock right; if it is right, they age from that day on."
        yield Finding("clocks", WRONG if latest > from_ms(to_ms(now) + FAR_AHEAD_MS) else NOTE, says, step)
    count, last = database.rows(CLOCK_BACK_SQL)[0]
    if count:
        says = f"The clock was set back {format_count(count, 'time')}, the last before step {last:,}."
        yield Finding(
            "clocks", NOTE, says, "Times before it are later than they seem; the order of steps is right."
        )
    if not latest and not count:
        yield Finding("clocks", OK, "No record is dated in the future.")


def _format_time(moment: str) -> str:
    """Format a moment in local time, or say that it is not a date."""
    try:
        return format_local_time(moment)
    except (ValueError, OverflowError):
        return "not a date of the calendar"


def check_values(visit: CheckContext) -> Iterator[Finding]:
    """Check that times are times, lists are lists, numbers are not below zero, origins are known."""
    if visit.quick:
        return
    database = visit.database
    visit.progress("values", 0, 0)
    odd: list[str] = []

    def look(table: str, what: str, where: str) -> None:
        if database.value(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1"):
            odd.append(f"{table}: {what}")

    for table, names in CHECKED_TIMES.items():
        for name in names:
            look(table, f"{name} is not a time", f"{name} IS NOT NULL AND {name} NOT GLOB '{TIME_GLOB}'")
    for table, names in CHECKED_JSON.items():
        for name in names:
            look(table, f"{name} is not JSON", f"NOT json_valid({name})")
    known = " AND ".join(f"origin NOT LIKE '{origin}'" for origin in KNOWN_ORIGINS)
    known += " AND origin NOT IN (SELECT actor FROM history)"
    for table in ("iterations", "events", "checkpoints", "turns", "summaries"):
        look(table, "an origin is not known", known)
    look("commits", "a number is below zero", "min(files_changed, insertions, deletions) < 0")
    look("commits", "a sha is not valid", "length(sha) NOT IN (40, 64) OR sha GLOB '*[^0-9a-f]*'")
    look("checkpoints", "one belongs to no step", "seq < 0 OR seq > (SELECT coalesce(max(seq), 0) FROM history)")
    if broken := find_damaged_checkpoints(database):
        odd.append(f"{cite('checkpoint', broken[0])} does not hold what was written")
    if odd:
        says = f"Values that Memoranda never writes: {join_names(odd)}."
        yield Finding("values", WRONG, says, *salvage_step(database.path))
    else:
        yield Finding("values", OK, "Times, lists and numbers are well formed.")
