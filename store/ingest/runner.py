"""Import conversations: each line once, in batches that let other writers in between.

A line is identified by its own id; without one by its time; without either by its position among the equal lines of its
source in that session. A keyed digest of that is kept, so that a turn that was scrubbed or purged is not imported again
from the same source.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from itertools import chain, groupby
from typing import BinaryIO

from store.base.clock import DAY_MS, days_before, from_ms, parse_moment, to_ms
from store.base.errors import InvalidInput, StorageError
from store.base.runtime import IsCancelled, never_cancelled
from store.conversations.turns import LONGEST_TURN, NewTurn, claim_same_turn, insert_turns
from store.database.database import Database, Transaction
from store.database.tombstones import make_tombstone_test
from store.database.values import Verbatim, clean_text
from store.ingest.formats import (
    FormatEntry,
    ParsedLine,
    RawLine,
    SourceOffset,
    describe_foreign_file,
    is_claude_transcript,
    is_json_lines,
    open_source_file,
    parse_entries,
    read_raw_lines,
    remember_offset,
    resume_source,
    source_name,
)
from store.text.sentences import is_small_talk
from store.text.words import reduce_to_one_line

# Discarded text: what no later session needs. It is kept apart for a day, for a person who looks for it, and is never
# found by a search or put into a prompt.

DISCARD_DAYS = 1
DISCARD_REASONS = {"talk": "a greeting, thanks or the like", "tool": "what a tool wrote"}
# characters that are kept of each
LONGEST_DISCARDED = 2_000


def keep_discarded(write: Transaction, session: str, role: str, kind: str, text: str, at: str) -> bool:
    """Keep discarded text until a day after it was written; return whether it is kept: an older one is dropped."""
    if at < days_before(write.at, DISCARD_DAYS):
        return False
    write.insert(
        "discarded",
        session=session,
        role=role,
        kind=Verbatim(kind),
        text=text[:LONGEST_DISCARDED],
        at=Verbatim(at),
    )
    return True


def list_discarded(database: Database, now: str, limit: int = -1) -> list[dict[str, str]]:
    """List the discarded texts, newest first: session, role, kind, `why` it was discarded, text, when it was written
    (`at`) and when it is deleted (`until`)."""
    rows = database.rows(
        "SELECT session, role, kind, text, at FROM discarded WHERE at >= ? ORDER BY at DESC, id DESC LIMIT ?",
        (days_before(now, DISCARD_DAYS), limit),
    )
    return [
        {
            "session": session,
            "role": role,
            "kind": kind,
            "why": DISCARD_REASONS.get(kind, kind),
            "text": text,
            "at": at,
            "until": from_ms(to_ms(at) + DISCARD_DAYS * DAY_MS),
        }
        for session, role, kind, text, at in rows
    ]


def expire_discarded(database: Database, now: str) -> int:
    """Delete what is older than a day; return how many."""
    return database.delete_before("discarded", "at", days_before(now, DISCARD_DAYS), "retention")


# of one transaction: some 30 ms, so that no writer waits long
BATCH_TURNS, BATCH_BYTES = 100, 1 << 17
# bits: skipped bytes count a sixteenth of written ones
SKIPPED_SHIFT = 4
# broken lines that are listed one by one
MOST_TROUBLES = 20
# seconds between two transactions, in which other writers get the file
INGEST_PAUSE_SECONDS = 0.002
INGEST_KEY = "ingest.key"
TRANSCRIPT_ORIGIN = "import:transcript"
# the origin of turns that others may have written: facts learned from them are proposed
DOUBTFUL_ORIGIN = "import:text"
READABLE_HINT = (
    "Transcripts of Claude Code, JSON lines and `role: text` can be read; exports of ChatGPT and Claude.ai cannot."
)
# seconds without a change of the file, after which its last line counts as complete
SETTLED_SECONDS = 60

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

IngestProgress = Callable[[int, int], None]


@dataclass(slots=True)
class IngestReport:
    """What was imported: turns `added`, lines that were `known` already, that are `discarded` (greetings, thanks,
    output of tools; `dropped` of them are older than the day for which they are kept), of another project
    (`elsewhere`), whose text was `purged` here, and `broken` ones, the first of them as (file, line, why) in
    `troubles`. `cut` turns were longer than the limit. `doubtful` are turns of a user whose words may be another's.
    The last line of `waiting` files is still being written; those in `anew` were read from their beginning because
    they were replaced. `sessions` got turns."""

    files: int = 0
    bytes: int = 0
    added: int = 0
    known: int = 0
    discarded: int = 0
    dropped: int = 0
    elsewhere: int = 0
    purged: int = 0
    broken: int = 0
    cut: int = 0
    doubtful: int = 0
    waiting: int = 0
    troubles: list[tuple[str, int, str]] = field(default_factory=list)
    anew: list[str] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)

    def describe(self) -> list[str]:
        """Return lines about what else was read than turns that came."""
        counts = (
            (self.known, "are already known"),
            (self.discarded - self.dropped, "set aside for a day: greetings, thanks, what tools wrote"),
            (self.dropped, "left out: greetings, thanks, what tools wrote more than a day ago"),
            (self.elsewhere, "of another project, and not taken"),
            (self.purged, "were erased here once, and stay out"),
            (self.cut, f"longer than {LONGEST_TURN:,} characters, and cut there"),
            (
                self.doubtful,
                "may hold another's words: what rules hear in them is proposed, no model reads them",
            ),
            (self.waiting, "still being written in its last line, which is read the next time"),
        )
        lines = [f"{number:,} {says}" for number, says in counts if number]
        lines += [f"{path} is not the file it was: read from its beginning" for path in self.anew]
        lines += [
            f"{os.path.basename(path) or 'standard input'}, line {number:,}: {why}"
            for path, number, why in self.troubles
        ]
        if self.broken:
            more = self.broken - len(self.troubles)
            lines.append(f"{self.broken:,} broken {'line was' if self.broken == 1 else 'lines were'} passed over")
            lines[-1] += f", {more:,} of them not shown" if more else ""
        return lines


def ingest_file(
    database: Database,
    source: str | BinaryIO,
    *,
    session: str = "",
    project: str = "",
    origin: str = TRANSCRIPT_ORIGIN,
    report: IngestReport | None = None,
    progress: IngestProgress = lambda done, total: None,
    cancelled: IsCancelled = never_cancelled,
) -> IngestReport:
    """Import a file or a stream; return the result, added to `report` if given.

    `session` names the conversation where the lines do not; else the file's name does. Of transcripts, only lines
    written inside the folder `project` are taken, if given. `progress` is called with bytes done and total bytes. What
    was read is kept when it is cancelled or killed; the next call continues there. Raise StorageError.
    """
    report = report if report is not None else IngestReport()
    opened = open_source_file(os.path.realpath(source)) if isinstance(source, str) else nullcontext(source)
    with opened as file:
        path = os.path.realpath(source) if isinstance(source, str) else ""
        run = _IngestRun(database, file, path, os.path.realpath(project) if project else "", origin, report)
        run.read_source(session, progress, cancelled)
    report.files += 1
    return report


def ingest_lines(
    database: Database,
    lines: Iterable[tuple[str, ParsedLine]],
    *,
    origin: str,
    project: str = "",
    report: IngestReport | None = None,
    progress: Callable[[int], None] = lambda done: None,
    cancelled: IsCancelled = never_cancelled,
) -> IngestReport:
    """Import turns that were read elsewhere, each with the path it comes from, as `ingest_file` does. Their roles are
    not reliable. `progress` is called with the number of turns read. Raise StorageError."""
    report = report if report is not None else IngestReport()
    run = _IngestRun(database, BytesIO(), "", os.path.realpath(project) if project else "", origin, report)
    for path, several in groupby(lines, key=lambda line: line[0]):
        run.take_lines(path, (line for _, line in several), progress, cancelled)
        report.files += 1
        if cancelled():
            break
    expire_discarded(database, database.clock())
    return report


class _IngestRun:
    """One reading of one source, and what is to be written."""

    def __init__(
        self, database: Database, file: BinaryIO, path: str, project: str, origin: str, report: IngestReport
    ) -> None:
        self._database = database
        self._file = file
        self._path = path
        self._source = source_name(path) if path else ""
        self._project = project
        self._origin = origin
        self._report = report
        self._secret = _digest_secret(database)
        # number of purges when they were last read
        self._purges: object = None
        self._buried = make_tombstone_test(database)
        self._inside: dict[str, bool] = {}
        self._own = bool(path) and is_claude_transcript(path)
        self._from_start = True
        # how often a line without id and time occurred
        self._times: dict[bytes, int] = {}
        # a file without times was written when it was last changed; piped text is of now
        self._at = from_ms(os.fstat(file.fileno()).st_mtime_ns // 1_000_000) if path else ""
        self._batch: list[tuple[ParsedLine, bytes]] = []
        self._weight = 0
        # turns that were read elsewhere
        self._taken = 0

    def read_source(self, session: str, progress: IngestProgress, cancelled: IsCancelled) -> None:
        """Read the source to its end, or until cancelled, and write its turns in batches."""
        place, size, as_json, growing = SourceOffset(), 0, None, False
        if self._path:
            size = os.fstat(self._file.fileno()).st_size
            if what := describe_foreign_file(self._file):
                raise StorageError(
                    f"{self._source} is {what}, and holds no lines of a conversation.", READABLE_HINT
                )
            as_json = is_json_lines(self._file)
            growing = as_json or abs(to_ms(self._database.clock()) - to_ms(self._at)) < SETTLED_SECONDS * 1000
            place, anew = resume_source(self._database, self._path, self._file)
            if anew:
                self._report.anew.append(source_name(self._path))
            session = session or self._conversation_name()
            self._from_start = place.offset == 0
        session = clean_text(reduce_to_one_line(session)) or "standard input"
        start = place.offset
        if as_json is False:
            self._file.seek(0)
        raws = read_raw_lines(self._file, place if as_json else SourceOffset())
        if as_json is None:
            raws, as_json = _peek_format(raws)
        for entry in parse_entries(raws, place, session, growing, as_json):
            if entry.waiting:
                self._report.waiting += 1
                break
            self._take_entry(entry)
            place = entry.place
            if len(self._batch) >= BATCH_TURNS or self._weight > BATCH_BYTES:
                self._write_batch(place)
                progress(place.offset, size)
                if cancelled():
                    break
                time.sleep(INGEST_PAUSE_SECONDS)
        self._write_batch(place)
        expire_discarded(self._database, self._database.clock())
        self._report.bytes += place.offset - start
        progress(place.offset, size)

    def take_lines(
        self, path: str, lines: Iterable[ParsedLine], progress: Callable[[int], None], cancelled: IsCancelled
    ) -> None:
        """Write turns that come from another source, in batches."""
        self._source = source_name(path)
        for line in lines:
            self._take_entry(FormatEntry(SourceOffset(), 0, [line], size=len(line.text)))
            self._taken += 1
            if len(self._batch) >= BATCH_TURNS or self._weight > BATCH_BYTES:
                self._write_batch(SourceOffset())
                progress(self._taken)
                if cancelled():
                    return
                time.sleep(INGEST_PAUSE_SECONDS)
        self._write_batch(SourceOffset())

    def _conversation_name(self) -> str:
        """Return the name of a conversation for a file whose lines name none: the file's name; with its folder, where
        another file of that name was imported before."""
        folder, file = os.path.split(source_name(self._path))
        stem = os.path.splitext(file)[0]
        for name in (stem, f"{os.path.basename(folder)}/{stem}"):
            source = self._database.value(
                "SELECT source FROM sessions WHERE id = ?", (clean_text(reduce_to_one_line(name)),)
            )
            if source in (None, "", source_name(self._path)):
                return name
        return f"{folder}/{stem}"

    def _take_entry(self, entry: FormatEntry) -> None:
        """Sort an entry by what it contains."""
        self._weight += entry.size >> SKIPPED_SHIFT
        if entry.trouble:
            self._report.broken += 1
            if len(self._report.troubles) < MOST_TROUBLES:
                self._report.troubles.append((source_name(self._path), entry.number, entry.trouble))
        for line in entry.said:
            # a role in any other file is not reliable
            line.doubtful |= not self._own
            if self._project and line.cwd and not self._is_inside(line.cwd):
                self._report.elsewhere += 1
                continue
            self._weight += min(len(line.text), LONGEST_TURN)
            if not line.kind and is_small_talk(line.text):
                line.kind = "talk"
            self._batch.append((line, self._line_key(line)))

    def _is_inside(self, cwd: str) -> bool:
        if cwd not in self._inside:
            try:
                real = os.path.realpath(cwd)
            except ValueError:  # not a path: a zero byte in it, or half a character
                real = ""
            self._inside[cwd] = real == self._project or real.startswith(os.path.join(self._project, ""))
        return self._inside[cwd]

    def _line_key(self, line: ParsedLine) -> bytes:
        """Return what identifies this line, as a keyed digest."""
        # a forked session repeats earlier turns
        if _UUID.fullmatch(line.id):
            return self._digest_parts("id", line.role, line.id)
        if line.id:
            return self._digest_parts(line.session, line.role, "id", line.id)
        # not even a digest is made of a secret
        parts = line.session, line.role, line.at, clean_text(line.text)
        return self._digest_parts(*parts) if line.at else self._numbered_key(parts)

    def _numbered_key(self, parts: tuple[str, ...]) -> bytes:
        """Return the key of a line that has neither id nor time: the next number among equal lines."""
        same = self._digest_parts(*parts)
        if same not in self._times:
            self._times[same] = 0
            while not self._from_start and self._is_known(self._digest_parts(*parts, str(self._times[same] + 1))):
                self._times[same] += 1
        self._times[same] += 1
        return self._digest_parts(*parts, str(self._times[same]))

    def _is_known(self, key: bytes) -> bool:
        return self._database.value("SELECT 1 FROM ingested WHERE key = ?", (key,)) is not None

    def _digest_parts(self, *parts: str) -> bytes:
        """Return the keyed digest of texts."""
        digest: bytes = sha256(self._secret + "\0".join(parts).encode("utf-8", "replace")).digest()[:16]
        return digest

    # writing

    def _write_batch(self, place: SourceOffset) -> None:
        """Write the batch, and how far the source was read, in one transaction."""
        if not self._batch and not self._weight:
            return
        added: set[str] = set()
        with self._database.write(self._origin, "ingest") as write:
            # added to the report when it is committed
            counts = Counter[str]()
            seen = self._database.row("SELECT count(*), max(at) FROM tombstones")
            if seen != self._purges:
                self._purges, self._buried = seen, make_tombstone_test(self._database)
            fresh = [line for line, key in self._batch if self._is_new_line(write, line, key, counts)]
            for (session, _), lines in groupby(fresh, key=lambda line: (line.session, line.doubtful)):
                self._write_lines(
                    write,
                    clean_text(reduce_to_one_line(session)) or "standard input",
                    list(lines),
                    added,
                    counts,
                )
            if self._path:
                remember_offset(write, self._path, self._file, place)
        for name, number in counts.items():
            setattr(self._report, name, getattr(self._report, name) + number)
        self._report.sessions |= added
        self._batch, self._weight = [], 0

    def _is_new_line(self, write: Transaction, line: ParsedLine, key: bytes, counts: Counter[str]) -> bool:
        """Tell whether a line is to be written, and count it if not."""
        write.execute("INSERT OR IGNORE INTO ingested(key) VALUES (?)", (key,))
        if not write.changed_rows() or self._is_there(write, line):
            counts["known"] += 1
            return False
        if self._buried(clean_text(line.text)):
            counts["purged"] += 1
            return False
        return True

    def _is_there(self, write: Transaction, line: ParsedLine) -> bool:
        """Return whether a turn from another source, an import for example, is this one."""
        if line.kind or not line.at:
            return False
        line.at = _line_moment(line.at, write.at)
        if claim_same_turn(write, line.session, line.role, line.text[:LONGEST_TURN], line.at, of_hook=True):
            return True
        known = write.column(
            "SELECT text FROM turns WHERE at = ? AND session = ? AND role = ?",
            (Verbatim(line.at), line.session, Verbatim(line.role)),
        )
        return bool(known) and clean_text(line.text[:LONGEST_TURN]) in known

    def _write_lines(
        self, write: Transaction, session: str, lines: list[ParsedLine], added: set[str], counts: Counter[str]
    ) -> None:
        """Write lines of a session: turns, or text that is kept for a day."""
        turns = []
        for line in lines:
            at = _line_moment(line.at, write.at) if line.at else self._at or write.at
            if line.kind:
                kept = keep_discarded(write, session, line.role, line.kind, line.text, at)
                counts["discarded"] += 1
                counts["dropped"] += not kept
            else:
                turns.append(NewTurn(line.role, line.text[:LONGEST_TURN], line.speaker, at))
                counts["cut"] += len(line.text) > LONGEST_TURN
        if turns:
            insert_turns(
                write, session, turns, self._source, lines[0].cwd, DOUBTFUL_ORIGIN if lines[0].doubtful else ""
            )
            counts["added"] += len(turns)
            counts["doubtful"] += lines[0].doubtful and sum(turn.role == "user" for turn in turns)
            added.add(session)


def _line_moment(text: str, now: str) -> str:
    """Return the time of a line; now where it has no valid time, or one in the future."""
    try:
        return min(parse_moment(text, now), now)
    except InvalidInput:
        return now


def _peek_format(raws: Iterator[RawLine]) -> tuple[Iterator[RawLine], bool]:
    """Return the lines of a stream, and whether they are JSON, by the first that is not blank."""
    seen = []
    for raw in raws:
        seen.append(raw)
        if raw.data.strip():
            break
    as_json = bool(seen) and seen[-1].data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return chain(seen, raws), as_json


def _digest_secret(database: Database) -> bytes:
    """Return the key of this memory's digests of lines; made at the first ingest."""
    found = database.get_meta(INGEST_KEY)
    if not found:
        with database.write(TRANSCRIPT_ORIGIN, "ingest") as write:
            write.execute(
                "INSERT OR IGNORE INTO meta(key, value) VALUES (?, ?)",
                (Verbatim(INGEST_KEY), Verbatim(os.urandom(16).hex())),
            )
        found = database.get_meta(INGEST_KEY)
    return bytes.fromhex(found)
