"""The daily log: `memory/YYYY-MM-DD.md`, to which what happened is appended by itself, where a person turned that on.

Decisions, commits, phases, accepted facts and what conversations were about, each in a line with its citation, below
the heading of the session in which it was. Nothing that is in a file is ever changed here. One process writes at a
time; what other programs append meanwhile stays.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from store.base.citations import cite
from store.base.clock import DAY_MS, from_ms, to_ms
from store.base.errors import StorageError
from store.base.location import checkout_root
from store.base.vocabulary import PERSON_ORIGIN, pack_key
from store.context.selection import find_accepted_ids
from store.conversations.sessions import open_private_folder, update_gitignore
from store.documents.files import LARGEST_FILE, document_roots, log_folder, note_log_folder
from store.git.process import GitError, run_git
from store.memory import Memory
from store.records.timeline import SESSION_QUIET_MS
from store.text.words import reduce_to_one_line

# in `meta`: since when, and the keys of what was written lately
LOG_STATE_KEY = "log"
# after which what was not written yet is no news
LATE_ENTRY_DAYS = 2
# lines of one time
MOST_LOG_LINES = 500
# characters of a line's text
LONGEST_LOG_TEXT = 400
# domains whose facts are in no file of a project
PRIVATE_DOMAINS = ("personal", "self_correction")
LOG_GITIGNORE = (
    b"# Daily logs hold what conversations were about. To let git see them: memoranda config snapshots.in_git true\n"
    b"/.gitignore\n/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md\n"
)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class LogEntry(NamedTuple):
    """One line: when it was, the key by which it is written once, what it says, its citation, and its session if it is
    known; `talk` is whether it says what a conversation was about."""

    at: str
    key: int
    text: str
    citation: str
    session: str = ""
    talk: bool = False


def write_daily_log(memory: Memory, trouble: Callable[[str], object] | None = None) -> int:
    """Append what happened since the last time, the first time since the day began; return how many lines. Nothing
    where it is turned off, or the memory cannot be written. Call `trouble` with a sentence where the file cannot be."""
    database = memory.database
    if database.read_only or database.moment or not memory.location.project:
        return 0
    if not memory.config["log.daily"]:
        if database.get_meta(LOG_STATE_KEY):
            with database.write("agent", "log") as write:
                write.set_meta(LOG_STATE_KEY, "")
        return 0
    if not _new_entries(memory, *_log_state(memory)):
        return 0
    try:
        # one process appends at a time
        with database.write("agent", "log") as write:
            note_log_folder(write, memory.config)
            since, done = _log_state(memory)
            entries = _new_entries(memory, since, done)[:MOST_LOG_LINES]
            written = _append_entries(memory, entries)
            recent = from_ms(to_ms(write.at) - LATE_ENTRY_DAYS * DAY_MS)
            fresh = json.dumps([max(since, recent), [*done[-5 * MOST_LOG_LINES :], *(one.key for one in entries)]])
            write.set_meta(LOG_STATE_KEY, fresh)
        return written
    except StorageError as error:
        if trouble is not None:
            trouble(str(error))
        return 0


def _log_state(memory: Memory) -> tuple[str, list[int]]:
    """Return (since when it is written, the keys of what was written lately)."""
    text = memory.database.get_meta(LOG_STATE_KEY)
    if not text:
        now = datetime.fromisoformat(memory.now).astimezone()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return from_ms(round(midnight.timestamp() * 1000)), []
    since, keys = json.loads(text)
    return str(since), [int(key) for key in keys]


def _new_entries(memory: Memory, since: str, done: list[int]) -> list[LogEntry]:
    """Return what happened since then and is not in the log yet, in order."""
    known = set(done)
    return sorted(one for one in _all_entries(memory, since) if one.key not in known)


def _all_entries(memory: Memory, since: str) -> Iterator[LogEntry]:
    """Yield what happened since a moment as entries of the log, in no order."""
    rows = memory.database.rows
    for number, title, chosen, at, origin, confirmed in rows(
        "SELECT id, title, chosen, decided_at, origin, confirmed_at FROM decisions"
        " WHERE decided_at >= ? AND status = 'active'",
        (since,),
    ):
        by = "" if origin == PERSON_ORIGIN or confirmed else f" (by {origin}, not confirmed)"
        yield _entry_of(at, "decision", number, f"Decided: {title}: {chosen}{by}")
    for number, message, sha, at in rows(
        "SELECT id, message, sha, committed_at FROM commits WHERE committed_at >= ? AND reachable", (since,)
    ):
        yield _entry_of(at, "commit", number, f"Committed: {message.partition(chr(10))[0]}", sha)
    for number, kind, phase, at in rows(
        "SELECT id, event_type, phase, created_at FROM events WHERE created_at >= ?", (since,)
    ):
        words = kind.replace("_", " ").capitalize()
        yield _entry_of(at, "event", number, f"{words}: {phase}" if phase else words)
    for number, command, description, started, completed, status in rows(
        "SELECT id, command, description, started_at, completed_at, status FROM iterations"
        " WHERE started_at >= ?1 OR completed_at >= ?1",
        (since,),
    ):
        key, about = pack_key("iteration", number), f"{command}: {description or command}"
        if started >= since:
            yield LogEntry(started, key, f"Started {about}", cite("iteration", number))
        if completed and completed >= since:
            yield LogEntry(completed, -key, f"{status.capitalize()} {about}", cite("iteration", number))
    yield from _fact_entries(memory, since)
    for number, topic, outcome, chosen, left, session, at in rows(
        "SELECT id, topic, outcome, decisions, open_questions, session, created_at FROM summaries"
        " WHERE created_at >= ?",
        (since,),
    ):
        lists = (("decided", json.loads(chosen)), ("open", json.loads(left)))
        said = [topic, outcome, *(f"{word}: {'; '.join(map(str, some))}" for word, some in lists if some)]
        if text := " ".join(f"{one.rstrip('.')}." if one[-1] not in "!?…" else one for one in said if one):
            yield LogEntry(
                at, pack_key("summary", number), f"Talked about: {text}", cite("summary", number), session, True
            )


def _entry_of(at: str, kind: str, number: int, text: str, cited: str = "") -> LogEntry:
    """Return the entry of a record, which is `cited` by its number unless something else is given."""
    return LogEntry(at, pack_key(kind, number), text, cite(kind, cited or number))


def _fact_entries(memory: Memory, since: str) -> Iterator[LogEntry]:
    """Yield the accepted facts since a moment, without private domains."""
    numbers = memory.database.column(
        "SELECT id FROM facts WHERE status = 'active' AND last_confirmed_at >= ?1 AND created_at >= ?1",
        (since,),
    )
    facts = [fact for fact in memory.facts.get_many(numbers) if fact.domain not in PRIVATE_DOMAINS]
    yes = find_accepted_ids(memory.database, facts)
    for fact in facts:
        if fact.id in yes:
            key = pack_key("fact", fact.id)
            yield LogEntry(fact.created_at, key, f"Remembered: {fact.fact}", fact.citation, fact.session)


def _append_entries(memory: Memory, entries: list[LogEntry]) -> int:
    """Append lines to the files of their days; return how many. Raise StorageError."""
    base = document_roots(memory.location, memory.config).base
    steps = log_folder(memory.config)
    in_git = bool(memory.config["snapshots.in_git"])
    by_day: dict[str, list[LogEntry]] = {}
    for one in entries:
        by_day.setdefault(_local_time(one.at)[:10], []).append(one)
    written = 0
    try:
        folder = open_private_folder(base, steps)
        try:
            update_gitignore(folder, in_git, LOG_GITIGNORE)
            for day, some in by_day.items():
                path = os.path.join(base, *steps, f"{day}.md")
                if not in_git and any(one.talk for one in some) and _is_visible_to_git(path):
                    some = [one for one in some if not one.talk]
                if some:
                    _append_day(memory, folder, day, some)
                    written += len(some)
        finally:
            os.close(folder)
    except OSError as error:
        where = os.path.join(base, *steps)
        raise StorageError(
            f"The daily log cannot be written to {where}: {(error.strerror or type(error).__name__).lower()}.",
            "Look at that folder; or turn the log off: memoranda config log.daily false",
        ) from None
    return written


def _append_day(memory: Memory, folder: int, day: str, entries: Iterable[LogEntry]) -> None:
    """Append to one file, in one write. Raise OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(f"{day}.md", flags, 0o600, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise OSError(0, f"{day}.md is not a plain file of one name")
        if status.st_size > LARGEST_FILE:
            raise OSError(0, f"{day}.md is too large")
        before = os.pread(handle, status.st_size, 0).decode("utf-8", "replace")
        text = ""
        headings = _HEADING.findall(before)
        last = headings[-1] if headings else ""
        # what was written by a process that was killed before it noted that
        there = set(before.split("\n"))
        for one in entries:
            line = f"- {_local_time(one.at)[11:16]} {_markdown_line(one.text)} [{one.citation}]"
            if line in there:
                continue
            session = one.session or _session_at(memory, one.at)
            heading = f"Session {_markdown_line(session)}" if session else "Outside of sessions"
            if heading != last:
                text += f"\n## {heading}\n\n"
                last = heading
            text += f"{line}\n"
        begun = "" if before.endswith("\n") else "\n" if before else f"# {day}\n"
        raw = f"{begun}{text}".encode("utf-8", "replace") if text else b""
        while raw:
            raw = raw[os.write(handle, raw) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def _session_at(memory: Memory, at: str) -> str:
    """Return the session that was spoken in last before a moment, if that was lately; else an empty text."""
    since = from_ms(to_ms(at) - SESSION_QUIET_MS)
    found = memory.database.value(
        "SELECT session FROM turns WHERE at BETWEEN ? AND ? ORDER BY at DESC, id DESC LIMIT 1", (since, at)
    )
    return str(found or "")


def _markdown_line(text: str) -> str:
    """Return a text as part of a line of Markdown: short, without control characters and breaks."""
    line = _CONTROL_CHARACTERS.sub(" ", reduce_to_one_line(text)).strip()
    return line if len(line) <= LONGEST_LOG_TEXT else f"{line[: LONGEST_LOG_TEXT - 1]}…"


def _local_time(moment: str) -> str:
    """Return a moment as ISO 8601 in the local time zone."""
    return datetime.fromisoformat(moment).astimezone().isoformat()


def _is_visible_to_git(path: str) -> bool:
    """Tell whether git would show a file: it is in a checkout, and no rule leaves it out."""
    root = checkout_root(os.path.dirname(path))
    if root is None:
        return False
    with suppress(GitError), run_git(root, "check-ignore", "-q", "--", path) as child:
        return child.process.wait() != 0
    return True
