"""Sessions: when a conversation began, where it came from, and whether it is over."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from store.base.clock import format_local_time, from_ms, to_ms
from store.base.errors import NotFound, StorageError
from store.base.models import Session, Turn
from store.base.vocabulary import PERSON_ORIGIN
from store.conversations.turns import Turns
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean_text
from store.records.table import cite_all, list_cited
from store.records.timeline import LAST_TURN_SQL, SESSION_QUIET_MS
from store.text.words import load_stop_words, normalize_text, reduce_to_one_line

# Snapshots: the last messages of a session that was cleared, as a Markdown file beside the project's notes.
#
# `memory/snapshots/<slug>.md`: private, written whole or not at all, and never over an existing file. A `.gitignore`
# beside them keeps them out of git, unless somebody wants them there.

SNAPSHOT_MESSAGES = 15
# in that of the logs
SNAPSHOT_FOLDER = "snapshots"
# of a slug: words, characters
SLUG_WORDS, LONGEST_SLUG = 6, 48
# snapshots of one slug
MOST_SNAPSHOTS = 1_000
GITIGNORE = ".gitignore"
GITIGNORE_TEXT = b"# Conversations are private. To let git see them: memoranda config snapshots.in_git true\n*\n"
# prefix of a file being written, beside the memory
PART_PREFIX = ".snapshot-"
STALE_SECONDS = 60
# this file system has no hard links, or none from the other one
NO_LINK_ERRORS = (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=-)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def slug_of_turns(turns: Sequence[Turn], day: str) -> str:
    """Return the name of a snapshot: its day, and the first distinctive words of its turns."""
    return slug_of_topic(
        next((turn.text for turn in turns if turn.role == PERSON_ORIGIN), turns[0].text if turns else ""), day
    )


def slug_of_topic(topic: str, day: str) -> str:
    """Return a file name from a day and the first distinctive words of a text."""
    words = re.findall(
        r"[a-z0-9]+", normalize_text(re.sub(r"```.*?(?:```|\Z)|https?://\S+", " ", topic, flags=re.DOTALL))
    )
    stop = load_stop_words("slug")
    name = day
    for word in [word for word in words if word not in stop][:SLUG_WORDS] or ["session"]:
        if len(name) + len(word) < LONGEST_SLUG:
            name += f"-{word}"
    return name


def format_snapshot(session: str, title: str, turns: Sequence[Turn], total: int, now: str) -> str:
    """Return a snapshot's Markdown. Every line of a turn is indented, so that none looks like a heading of ours; with
    spaces alone, since a purge matches a text with any spaces in it."""
    lines = [
        f"# {reduce_to_one_line(title)}",
        "",
        f"The last {len(turns)} of {total:,} messages of session "
        f"`{reduce_to_one_line(session)}`, cleared on {format_local_time(now)}.",
    ]
    for turn in turns:
        lines += [
            "",
            f"## {reduce_to_one_line(turn.speaker) or turn.role}, {format_local_time(turn.at)} [{turn.citation}]",
            "",
        ]
        lines += [f"    {_CONTROL.sub('', line)}".rstrip() for line in turn.text.splitlines()]
    return "\n".join(lines) + "\n"


def write_snapshot(
    base: str, logs: tuple[str, ...], name: str, content: str, memory: str, in_git: bool = False
) -> str:
    """Write a snapshot below the folder of the `logs`, which is below `base`; return its path. It is first written
    beside the file `memory`, where a proof reads it and `remove_partial_snapshots` removes it. The folder is
    ignored by git, unless it is to be `in_git`. Raise StorageError, and then leave nothing behind."""
    try:
        folder = open_private_folder(base, (*logs, SNAPSHOT_FOLDER))
        try:
            update_gitignore(folder, in_git or _is_shown_to_git(base, logs), GITIGNORE_TEXT)
            return os.path.join(
                base,
                *logs,
                SNAPSHOT_FOLDER,
                _write_first_free(folder, name, content.encode("utf-8", "replace"), memory),
            )
        finally:
            os.close(folder)
    except OSError as error:
        where = os.path.join(base, *logs, SNAPSHOT_FOLDER)
        raise StorageError(
            f"The snapshot cannot be written to {where}: {error.strerror}.",
            "Look at that folder; nothing was cleared.",
        ) from None


def open_private_folder(base: str, steps: tuple[str, ...]) -> int:
    """Return a handle on a folder below `base`, created private where it is missing; follow no link. Raise OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(base, flags)
    for step in steps:
        try:
            os.mkdir(step, 0o700, dir_fd=handle)
        except FileExistsError:
            pass
        try:
            below = os.open(step, flags | os.O_NOFOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def update_gitignore(folder: int, in_git: bool, rule: bytes) -> None:
    """Write our rule for git into the folder, or remove it; where there are rules of others they are left alone."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    if not in_git:
        with suppress(FileExistsError):
            _write_new_file(GITIGNORE, folder, rule)
        return
    try:
        handle = os.open(GITIGNORE, os.O_RDONLY | os.O_NONBLOCK | flags, dir_fd=folder)
    except OSError:  # missing, or a link
        return
    try:
        ours = os.read(handle, len(rule) + 1) == rule
    finally:
        os.close(handle)
    if ours:
        os.unlink(GITIGNORE, dir_fd=folder)


def _is_shown_to_git(base: str, logs: tuple[str, ...]) -> bool:
    """Return whether a person's own rule lets git see the folder: a rule inside it would override theirs."""
    for place in (base, os.path.join(base, *logs)):
        with (
            suppress(OSError, UnicodeDecodeError),
            open(os.path.join(place, GITIGNORE), encoding="utf-8") as file,
        ):
            if any(line.startswith("!") and SNAPSHOT_FOLDER in line for line in file):
                return True
    return False


def remove_partial_snapshots(memory: str) -> None:
    """Remove what killed processes left partly written beside the file `memory`; not what is being written now."""
    folder, name = os.path.split(memory)
    for left in os.listdir(folder):
        path = os.path.join(folder, left)
        with suppress(FileNotFoundError):
            if left.startswith(f"{name}{PART_PREFIX}") and time.time() - os.stat(path).st_mtime > STALE_SECONDS:
                os.unlink(path)


def rename_cut_snapshot(path: str) -> str:
    """Rename the snapshot at `path`, of which something was cut, so that its name does not contain it; return the new
    path."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != SNAPSHOT_FOLDER or not (day := _DAY.match(name)):
        return path
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        final = _take_first_free(f"{day[0]}-session", lambda free: _link_file(path, free, handle))
        os.unlink(path)
        return os.path.join(folder, final)
    finally:
        os.close(handle)


def _write_first_free(folder: int, name: str, raw: bytes, memory: str) -> str:
    """Write a new file, under the first free name; return that name."""
    part = f"{memory}{PART_PREFIX}{os.urandom(4).hex()}"
    try:
        _write_new_file(part, None, raw)
        try:
            return _take_first_free(name, lambda free: _link_file(part, free, folder))
        except OSError as error:
            if error.errno not in NO_LINK_ERRORS:
                raise
            return _take_first_free(name, lambda free: _write_new_file(free, folder, raw))
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _take_first_free(name: str, make: Callable[[str], None]) -> str:
    """Make a file under the first free name; return that name."""
    for number in range(1, MOST_SNAPSHOTS):
        final = f"{name}.md" if number == 1 else f"{name}-{number}.md"
        try:
            make(final)
        except FileExistsError:
            continue
        return final
    raise FileExistsError(17, "there are too many of that name")


def _link_file(path: str, name: str, folder: int) -> None:
    """Link a file into a folder under a new name. Raise FileExistsError if it is taken."""
    os.link(path, name, dst_dir_fd=folder, follow_symlinks=False)
    os.fsync(folder)


def _write_new_file(name: str, folder: int | None, raw: bytes) -> None:
    """Write a private file that does not exist yet, and sync it to the disk."""
    handle = os.open(
        name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise


SESSION_COLUMNS = "s.id, s.started_at, s.ended_at, s.source, s.cwd, s.flushed"


class Sessions:
    """The sessions of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str = "") -> Session:
        """Return the session of this name, the newest without one. Raise NotFound."""
        wanted = clean_text(name.strip()) or Turns(self._database).newest_session()
        found = self._read_sessions("WHERE s.id = ?", wanted)
        if not found:
            if not wanted:
                raise NotFound(
                    "There is no conversation yet.", "Bring a conversation in: memoranda import FILE.jsonl"
                )
            raise NotFound(f"There is no session “{wanted[:60]}”.", "List them: memoranda list sessions")
        return found[0]

    def list_newest(self, limit: int = -1) -> list[Session]:
        """List sessions: first those without turns, then by their last turn, the newest first."""
        return self._read_sessions(
            f"ORDER BY {LAST_TURN_SQL.format('t.id')} DESC NULLS FIRST, s.started_at DESC, s.id LIMIT ?", limit
        )

    def list_broken_off(self, now: str) -> list[Session]:
        """List the sessions that are not ended and have no turn for QUIET_MS; by their last turn, the newest first."""
        cut = from_ms(to_ms(now) - SESSION_QUIET_MS)
        return self._read_sessions(
            f"WHERE s.ended_at IS NULL AND coalesce({LAST_TURN_SQL.format('t.at')}, s.started_at) < ?"
            f" ORDER BY {LAST_TURN_SQL.format('t.id')} DESC",
            cut,
        )

    def list_under_way(self, since: str) -> list[Session]:
        """List the sessions that are not over and have a turn since a moment."""
        return self._read_sessions(f"WHERE s.ended_at IS NULL AND {LAST_TURN_SQL.format('t.at')} >= ?", since)

    def start_session(self, write: Transaction, name: str, cwd: str) -> None:
        """Record that a session begins, or resumes after its end."""
        write.execute(
            "INSERT INTO sessions(id, started_at, cwd) VALUES (?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET ended_at = NULL WHERE ended_at IS NOT NULL",
            (name, write.at, cwd),
        )

    def _read_sessions(self, where: str, *parameters: object) -> list[Session]:
        """Return the sessions that a clause selects."""
        rows = self._database.rows(
            f"SELECT {SESSION_COLUMNS}, coalesce({LAST_TURN_SQL.format('t.number')}, 0), "
            f"coalesce({LAST_TURN_SQL.format('t.at')}, s.started_at)"
            f" FROM sessions s {where}",
            parameters,
        )
        return [Session(*row) for row in rows]


def end_session(write: Transaction, name: str, at: str = "") -> None:
    """Record that a session is over, since `at` or now, inside a transaction. Facts of scope `session` that belong
    to it end with it: a step of history whose reason lists them, and which can be undone."""
    write.execute("UPDATE sessions SET ended_at = ? WHERE id = ?", (Verbatim(at or write.at), name))
    ended = write.column(
        "UPDATE facts SET status = 'forgotten' WHERE session = ? AND session <> '' AND scope = 'session'"
        " AND status = 'active' RETURNING id",
        (name,),
    )
    if ended:
        write.reason = f"session end {list_cited(cite_all('fact', ended))}"
