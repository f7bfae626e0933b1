"""`Sync`: keep files and the memory saying the same. A file is kept so once a person asked for it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from typing import NamedTuple

from store.base.citations import cite, list_citations
from store.base.errors import Conflict, InvalidInput, MemorandaError, NotFound
from store.base.location import Location
from store.base.models import Proposal, select_fields
from store.base.runtime import NO_FILE_STAMP, FileStamp, read_file_stamp, stamp_of_status
from store.base.vocabulary import FILE_ORIGIN, PERSON_ORIGIN
from store.config.configuration import Config
from store.database.database import Database, Transaction
from store.database.tombstones import refuse_purged
from store.database.values import Json, Verbatim, clean_text
from store.documents.files import (
    MARKDOWN_SUFFIX,
    MEMORY_FILE,
    ChangedFile,
    DocumentPath,
    Unreadable,
    create_file,
    is_hidden,
    read_document_bytes,
    replace_file,
)
from store.documents.sections import (
    NumberedLine,
    SectionFile,
    accept_lines,
    accepted_digests,
    parse_section_file,
    section_name,
    split_accepted,
)
from store.history.checkpoint_payload import insert_checkpoint
from store.history.checkpoints import MANY_RECORDS
from store.inbox.inbox import Inbox, InboxChoice
from store.inbox.proposals import ProposalQuestion
from store.records.facts import clean_fact_text, find_same_fact, insert_fact, set_fact_status, supersede_fact
from store.sync.merge import (
    DELETED_DIGEST,
    FILE_DOMAINS,
    MOST_FILE_FACTS,
    WAITING_STATE,
    FileFact,
    FileFacts,
    LineChange,
    LineMerge,
    MergePlan,
    digest_section_line,
    format_section,
    git_activity,
    parse_section,
    read_git_changes,
)
from store.text.display import agree_verb, format_count, shorten, visible
from store.text.words import count_tokens

# Advice on a synced file that has grown: each session of an agent loads all of it, and files in `memory/` are found
# when they are needed.

# from which on a file is large
LARGE_BYTES = 10_000
# parts that are named
MOST_MOVABLE_PARTS = 3
# tokens of a part that is worth moving
MIN_PART_TOKENS = 100


def find_movable_parts(file: SectionFile) -> list[tuple[int, str, int, int]]:
    """Return the largest parts of a file that could be moved to a file in `memory/`, the largest first: a heading with
    the text below it, or a fact, as (tokens, title, first line, last line)."""
    blocks: list[tuple[str, list[NumberedLine]]] = []
    for number, line in file.own_lines():
        if line.startswith("#") or not blocks:
            blocks.append((line.lstrip("# ").strip()[:60], []))
        blocks[-1][1].append((number, line))
    parts = [
        (count_tokens("\n".join(line for _, line in lines)), title, lines[0][0], lines[-1][0])
        for title, lines in blocks
    ]
    for item in parse_section(file.lines, file.first).items:
        name = cite("fact", item.fact) if item.fact is not None else item.text[:40]
        parts.append((count_tokens(item.text), name, item.number, item.number + item.text.count("\n")))
    large = [part for part in parts if part[0] >= MIN_PART_TOKENS]
    return sorted(large, key=lambda part: -part[0])[:MOST_MOVABLE_PARTS]


# One run on one file: read it, merge it, write what it takes, as one step of history, ask in the inbox about the rest,
# and then write the file, if it is still what was read.
#
# A section carries its version, and what each version said is recorded before it is written: a run that is killed
# anywhere is repeated by the next, to the same end.

# versions of a section whose lines are known
KEPT_VERSIONS = 200
NEW_FILE_TEXT = "# Memory\n\n"
# a file that was changed so short ago may change again without its time telling
FRESH_FILE_NS = 50_000_000
NOTHING_CHANGED = "Nothing was changed."


class ChangedMeanwhile(Exception):
    """The file or the memory was changed since it was read: nothing was written."""


@dataclass(slots=True)
class SyncReport:
    """What one run did to the file at `path`, and to the memory in `step` (None if nothing): `added` facts, `corrected`
    as (old, new), `forgotten` and `moved` ones; `proposed` proposals; `left`, what could not be taken, each with its
    line and the reason. `written` is whether the file was changed, `facts` and `waiting` how many facts and
    undecided lines its section has, `bytes` its size; `others` how many lines were put below the section, `too_many`
    whether facts are left out; `problem` says why a file could not be synced by itself."""

    path: str
    facts: int = 0
    waiting: int = 0
    bytes: int = 0
    written: bool = False
    created: bool = False
    others: int = 0
    too_many: bool = False
    step: int | None = None
    problem: str = ""
    added: list[int] = field(default_factory=list)
    corrected: list[tuple[int, int]] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    proposed: list[int] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)

    @property
    def has_news(self) -> bool:
        """Whether there is something to tell."""
        return self.written or self.step is not None or bool(self.left or self.problem)

    @property
    def reason(self) -> str:
        """The reason of the step: verbs and citations."""
        corrected = [number for pair in self.corrected for number in pair]
        changed = {"add": self.added, "correct": corrected, "forget": self.forgotten, "move": self.moved}
        kind = "fact"
        if not any(changed.values()):
            kind, changed = "proposal", {"propose": self.proposed}
        parts = [
            f"{verb} {list_citations([cite(kind, number) for number in numbers])}"
            for verb, numbers in changed.items()
            if numbers
        ]
        return f"sync {', '.join(parts)}".strip()

    def describe(self, begins: bool = False) -> str:
        """Return what was done, in sentences; `begins`: the file is kept in sync only since now."""
        if self.problem:
            return visible(self.problem)
        name, facts = visible(self.path), format_count(self.facts, "fact")
        changes = (
            (format_count(len(self.added), "new line"), self.added),
            (f"{len(self.corrected):,} changed", [new for _, new in self.corrected]),
            (f"{len(self.forgotten):,} forgotten", self.forgotten),
            (f"{len(self.moved):,} under another heading", self.moved),
        )
        parts = [f"{words} ({_cite_facts(numbers)})" for words, numbers in changes if numbers]
        sentences = []
        if parts:
            back = f" `undo {self.step}` takes that back." if self.step else ""
            sentences.append(f"Read {name}: {', '.join(parts)}.{back}")
        if waiting := len(self.proposed):
            waits = agree_verb(waiting, "wait in the inbox.")
            sentences.append(f"{format_count(waiting, 'proposal')} of {'it' if parts else name} {waits}")
        if begins:
            sentences.append(
                f"{name} is kept in sync from now on, with {facts}. Edit it in any editor: what you add, change and"
                " delete in its section is read by the next command and by the application."
            )
        elif self.written and not parts:
            sentences.append(f"Wrote {name}: {facts}.")
        elif not sentences:
            sentences.append(f"{name} and the memory say the same: {facts}.")
        if self.others:
            others = format_count(self.others, "line")
            sentences.append(f"{others} of it are no facts, and stand below its section now.")
        if self.too_many:
            sentences.append("More facts than 2,000 would belong there: the least important are left out.")
        return " ".join(sentences)

    def refused_lines(self) -> list[str]:
        """Return a line for each line of the file that was not accepted."""
        name = visible(self.path)
        return [f"Line {number:,} of {name} stays as it is: {why}" if number else why for number, why in self.left]

    def as_dict(self) -> dict[str, object]:
        facts = select_fields(self, "added", "forgotten", "moved")
        return {
            **select_fields(self, "path", "facts", "waiting", "written", "bytes", "step"),
            **{name: [cite("fact", number) for number in numbers] for name, numbers in facts.items()},
            "synced": True,
            "corrected": [{"old": cite("fact", old), "new": cite("fact", new)} for old, new in self.corrected],
            "proposed": [cite("proposal", number) for number in self.proposed],
            "left": [{"line": number, "problem": why} for number, why in self.left],
        }


def _cite_facts(numbers: Sequence[int]) -> str:
    """Return the citations of up to five facts, and how many more there are."""
    more = f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else ""
    return " ".join(cite("fact", number) for number in numbers[:5]) + more


class SyncedFile(NamedTuple):
    """A file that a person asked to keep in sync; the columns of `synced_files`."""

    id: int
    path: str
    version: int
    digest: bytes
    modified_ns: int
    size: int
    inode: int
    step: int
    day: str
    head: str
    own: str
    problem: str

    @property
    def stamp(self) -> FileStamp:
        """What `read_file_stamp` returned when it was read or written last."""
        return self.modified_ns, self.size, self.inode


_FILE_QUERY = f"SELECT {', '.join(SyncedFile._fields)} FROM synced_files"


def note_section_version(write: Transaction, file: int, version: int, lines: Mapping[int, bytes]) -> None:
    """Record the lines of the newest version of a section, with what changed since the one before."""
    known = "SELECT fact, digest FROM synced_lines WHERE file = ? AND last IS NULL"
    before = dict(write.rows(known, (file,)))
    ended = [fact for fact in before if lines.get(fact) != before[fact]]
    write.execute(
        "UPDATE synced_lines SET last = ? WHERE file = ? AND last IS NULL"
        " AND fact IN (SELECT value FROM json_each(?))",
        (version - 1, file, Json(ended)),
    )
    # also what was of this version alone, as another run wrote it
    write.execute("DELETE FROM synced_lines WHERE file = ? AND last < first", (file,))
    for fact, digest in lines.items():
        if digest != before.get(fact):
            write.execute(
                "INSERT INTO synced_lines(file, fact, first, seen, last, digest) VALUES (?, ?, ?, 0, NULL, ?)",
                (file, fact, version, digest),
            )
    for table in ("synced_lines", "synced_proposals"):
        write.execute(f"DELETE FROM {table} WHERE file = ? AND last < ?", (file, version - KEPT_VERSIONS))
    write.execute("UPDATE synced_files SET version = ? WHERE id = ?", (version, file))


class EditedFile(NamedTuple):
    """What an editor of ours made of a file: `content`, to be merged with `since`, what it was made of, as the base,
    and written in the place of what is on the disk, which is `disk`."""

    content: bytes
    since: SectionFile
    disk: bytes


class FileRun:
    """One run on one file, with the facts, the lines and the plan that its steps work on. Without `asked` a file or a
    section that is not there is left so. What was `edited` is the person's own word."""

    def __init__(self, sync: Sync, file: SyncedFile, asked: bool = True, edited: EditedFile | None = None) -> None:
        self._sync = sync
        self._database = sync.database
        self._file = file
        self._actor = FILE_ORIGIN if edited is None else PERSON_ORIGIN
        self._asked = asked
        self._edited = edited
        self._place = sync.path_of_file(file.path)
        self._name = section_name(self._database)
        self._digest = cache(partial(digest_section_line, self._database.get_meta("identity").encode()))
        self._report = SyncReport(file.path)

    def sync_file(self) -> SyncReport:
        """Sync the file; return what was done. Raise ChangedMeanwhile, and MemorandaError if it cannot be synced."""
        disk, stamp = self._read_file()
        if self._edited is not None and disk != self._edited.disk:
            raise ChangedMeanwhile
        raw = disk if self._edited is None else self._edited.content
        if doing := git_activity(self._place.path):
            raise Conflict(
                f"git is in the middle of {doing}: {self._file.path} is left alone until that is over.",
                f"Finish it, then sync again. {NOTHING_CHANGED}",
            )
        self._parse_file(raw or b"")
        self._read_base()
        if self._section.version is None and self._file.version and not self._asked:
            raise self._missing_error("has no section of this memory any more")
        quiet = self._edited is not None or sha256(raw or b"").digest() == self._file.digest
        before = ("", 0) if quiet else (self._file.head, self._file.modified_ns // 1_000_000_000)
        self._came = read_git_changes(self._place.path, raw or b"", *before, self._name, self._digest)
        self._make_plan()
        if self._plan.changes:
            self._apply_plan()
            self._make_plan()
        new = self._write_section(disk, raw)
        self._note_state(new, stamp if new == disk else self._stamp_written(new))
        return self._report

    # read

    def _read_file(self) -> tuple[bytes | None, FileStamp]:
        """Return (the content of the file, None where there is none and it may be made; its stamp)."""
        try:
            raw, status = read_document_bytes(self._place)
            if not status.st_mode & stat.S_IWUSR:
                raise Unreadable("it is write-protected", f"Allow it with chmod u+w. {NOTHING_CHANGED}")
            fresh = time.time_ns() - status.st_mtime_ns < FRESH_FILE_NS
            return raw, NO_FILE_STAMP if fresh else stamp_of_status(status)
        except FileNotFoundError:
            if self._asked or not self._file.version:
                return None, NO_FILE_STAMP
            raise self._missing_error("was deleted") from None
        except Unreadable as error:
            raise self._name_file(error) from None

    def _missing_error(self, what: str) -> NotFound:
        """Return that the file, or its section, is gone, which changes nothing."""
        return NotFound(
            f"{self._file.path} {what}; nothing was forgotten.",
            f"`memoranda sync {self._file.path}` writes it again, with --off it is left alone.",
        )

    def _parse_file(self, raw: bytes) -> None:
        """Read the file in parts, and what its section holds. Raise InvalidInput or Conflict."""
        try:
            self._section = parse_section_file(raw, self._name)
        except MemorandaError as error:
            raise self._name_file(error) from None
        domains = [one for one in FILE_DOMAINS if self._sync.personal or one != "personal"]
        self._content = parse_section(self._section.lines, self._section.first, domains)
        if len(self._content.items) > MOST_FILE_FACTS:
            raise InvalidInput(
                f"The section of {self._file.path} has {len(self._content.items):,} "
                f"lines, and at most {MOST_FILE_FACTS:,} are synced.",
                f"Move some to a file in memory/. {NOTHING_CHANGED}",
            )

    def _name_file(self, error: MemorandaError) -> MemorandaError:
        """Return an error that names the file."""
        said = f"{self._file.path}: {error.message[:1].lower()}{error.message[1:]}".rstrip(".")
        return type(error)(f"{said}.", error.next)

    def _read_base(self) -> None:
        """Read the digest of each line of the file's version, and whether a line that is missing was deleted: not
        where that version is unknown. What counts for a file of the newest version counts there."""
        version, newest = self._section.version, self._file.version
        self._version = newest if version is None else version
        self._deletes = version is not None
        if self._edited is not None:
            items = parse_section(self._edited.since.lines, 0).items
            self._base = {item.fact: self._digest(item.text) for item in items if item.fact is not None}
        else:
            self._deletes = self._deletes and max(0, newest - KEPT_VERSIONS) < self._version <= newest
            self._base = self._read_line_digests(self._version if self._deletes else newest)

    def _read_line_digests(self, version: int) -> dict[int, bytes]:
        """Return the digest of each line of a version of the section, by the fact that it cites."""
        rows = self._database.rows(
            "SELECT fact, digest FROM synced_lines WHERE file = ?1 AND first <= ?2 AND coalesce(last, ?2) >= ?2"
            " ORDER BY seen",
            (self._file.id, version),
        )
        return dict(rows)

    # merge

    def _make_plan(self) -> None:
        """Make the plan of a merge of the section, and read the facts that it compares."""
        database, number, items = self._database, self._file.id, self._content.items
        self._planned = database.newest_step()
        newest = self._read_line_digests(self._file.version)
        cited = [item.fact for item in items if item.fact is not None]
        self._facts = FileFacts(database, self._sync.personal, [*self._base, *newest, *cited], self._digest)
        # as it counts for a file of this version: what was decided since is in a newer one. A proposal that was erased
        # or undone counts as rejected
        pending = database.rows(
            "SELECT s.fact, s.digest, coalesce(p.state, 'rejected') FROM synced_proposals AS s"
            " LEFT JOIN proposals AS p ON p.id = s.proposal WHERE s.file = ?1 AND (s.last IS NULL OR s.last >= ?2)",
            (number, self._version),
        )
        self._pending = {(fact, digest): state for fact, digest, state in pending}
        # the newest proposal that waits for the line of each fact
        asked = database.rows(
            "SELECT s.fact, p.text FROM synced_proposals AS s JOIN proposals AS p ON p.id = s.proposal"
            " WHERE s.file = ? AND s.fact > 0 AND s.last IS NULL AND p.state = 'waiting' ORDER BY p.id",
            (number,),
        )
        said = "SELECT fact, digest FROM synced_lines WHERE file = ?"
        merge = LineMerge(
            self._facts,
            self._base,
            self._deletes,
            self._pending,
            dict(asked),
            self._came,
            set(database.rows(said, (number,)) if self._came.any else ()),
            self._edited is None and bool(self._sync.config()["sync.review"]),
        )
        self._plan: MergePlan = merge.make_plan(items, newest)

    def _apply_plan(self) -> None:
        """Write the changes of the plan to the memory, as one step; one that is refused stays in the file as it is.
        Raise ChangedMeanwhile."""
        changes, report = self._plan.changes, self._report
        with self._database.write(self._actor, "sync") as write:
            if self._database.newest_step() != self._planned:
                raise ChangedMeanwhile
            if sum(not one.why for one in changes) > MANY_RECORDS:
                insert_checkpoint(write, f"before: sync {self._file.path}"[:200], "person")
            for change in changes:
                try:
                    if change.why:
                        self._propose_change(write, change)
                    elif change.fact is None:
                        self._add_fact(write, change)
                    else:
                        self._change_fact(write, change, change.fact)
                except MemorandaError as error:
                    report.left.append((change.line.number if change.line else 0, error.message))
            if self._actor != PERSON_ORIGIN:
                self._ask_to_confirm(write)
            write.reason = report.reason
        report.step = write.seq

    def _add_fact(self, write: Transaction, change: LineChange) -> None:
        """Add the fact of a new line, unless another line of this file says the same."""
        assert change.line is not None
        text = clean_fact_text(change.line.text)
        if find_same_fact(write, text) is not None:
            return
        refuse_purged(write, text, again=False)
        heading = "-".join(change.line.heading.split())[:40]
        person = self._actor == PERSON_ORIGIN
        number = insert_fact(
            write,
            text,
            domain=change.line.domain or "general",
            confidence="high" if person else "medium",
            source="explicit" if person else "inferred",
            origin=self._actor,
            evidence=Json([]),
            tags=Json([heading] if heading else []),
        )
        if person:
            # see store/inbox/duplicates.py
            write.execute("INSERT INTO uncompared VALUES (?)", (number,))
        self._report.added.append(number)

    def _change_fact(self, write: Transaction, change: LineChange, fact: FileFact) -> None:
        """Move, correct or forget the fact of a line; it is forgotten too where the line says what another fact
        says."""
        line, done = change.line, self._report
        if line is not None and change.verb == "move":
            write.execute("UPDATE facts SET domain = ? WHERE id = ?", (Verbatim(line.domain), fact.id))
            done.moved.append(fact.id)
            return
        text = clean_fact_text(line.text) if line is not None else ""
        if line is not None and find_same_fact(write, text) in (None, fact.id):
            refuse_purged(write, text, again=False)
            done.corrected.append((fact.id, supersede_fact(write, fact.id, text)))
        else:
            set_fact_status(write, fact.id, "forgotten")
            done.forgotten.append(fact.id)
        self._sync.inbox.withdraw_confirmations(write, [fact.id], FILE_ORIGIN)
        if line is not None and self._section.version is not None:
            # an editor that still shows what the line said may save it again
            seen = (self._file.id, change.cited, self._version, self._version, self._digest(line.text))
            write.execute(
                "INSERT OR REPLACE INTO synced_lines(file, fact, first, seen, last, digest) VALUES (?, ?, ?, 1, ?, ?)",
                seen,
            )

    def _propose_change(self, write: Transaction, change: LineChange) -> None:
        """Propose a change, and note that the line waits for it."""
        line, place = change.line, self._file.path
        fields: dict[str, object] = {}
        if line is not None:
            place += f", line {line.number}"
            fields["fact"] = line.text
            if change.verb == "add":
                fields["domain"] = line.domain or "general"
        number = self._propose(
            write, change.verb, fields, change.fact and change.fact.id, f"{place}. {change.why}"
        )
        text = self._digest(line.text) if line is not None else DELETED_DIGEST
        write.execute(
            "INSERT OR REPLACE INTO synced_proposals(file, fact, digest, proposal) VALUES (?, ?, ?, ?)",
            (self._file.id, change.cited, text, number),
        )

    def _ask_to_confirm(self, write: Transaction) -> None:
        """Ask about each fact that the file wrote: no agent is sent it until a person accepts it."""
        old = {new: f" It took the place of {cite('fact', old)}." for old, new in self._report.corrected}
        for number in [*self._report.added, *old]:
            why = f"{self._file.path}.{old.get(number, '')} It holds, and no agent is sent it until you accept it."
            self._propose(write, "confirm", {}, number, why)

    def _propose(
        self, write: Transaction, verb: str, fields: dict[str, object], target: int | None, why: str
    ) -> int:
        """Propose something of the file, and return the proposal, which may have waited already."""
        question = ProposalQuestion(verb, fields, target, (), FILE_ORIGIN, why)
        number, new = self._sync.inbox.propose_within(write, question)
        if new:
            self._report.proposed.append(number)
        return number

    # write

    def _write_section(self, disk: bytes | None, raw: bytes | None) -> bytes:
        """Write the section where it changed; return the content of the file afterwards."""
        report, file, others, rows = self._report, self._section, self._content.others, self._plan.rows
        lines = format_section(
            (row.domain, row.fact, row.id) if isinstance(row, FileFact) else (row.domain, row.text, row.fact)
            for row in rows
        )
        same = file.version == self._file.version and list(file.lines) == lines and not others
        version = self._file.version if same else max(self._file.version, file.version or 0) + 1
        now = {row.id: self._digest(row.fact) for row in rows if isinstance(row, FileFact)}
        report.facts = len(now)
        report.waiting = len(rows) - report.facts
        report.too_many = self._facts.too_many
        new = raw or b""
        if not self._leaves_file:
            now |= {number: self._base[number] for number in self._plan.held if number in self._base}
            if not same or now != self._base:
                with self._database.write(FILE_ORIGIN, "sync") as write:
                    newest = write.first("SELECT version FROM synced_files WHERE id = ?", (self._file.id,))
                    if newest != self._file.version:
                        # another run wrote a version since
                        raise ChangedMeanwhile
                    note_section_version(write, self._file.id, version, now)
            if not same:
                report.others = sum(bool(line.strip()) for line in others)
                start = file._replace(before=NEW_FILE_TEXT) if raw is None else file
                new = start.with_section(self._name, version, lines, others).encode()
            if disk is None or new != disk:
                self._write_file(disk, new)
                report.written, report.created = True, disk is None
        report.bytes = len(new)
        return new

    def _stamp_written(self, new: bytes) -> FileStamp:
        """Return the stamp of what was just written; NO_FILE_STAMP where somebody has changed it already."""
        try:
            now, status = read_document_bytes(self._place)
        except (FileNotFoundError, Unreadable):
            return NO_FILE_STAMP
        return stamp_of_status(status) if now == new else NO_FILE_STAMP

    def _note_state(self, new: bytes, stamp: FileStamp) -> None:
        """Note up to what the file and the memory agree; decided changes are in the file as they were decided."""
        was, own = self._file, self._report.created
        values = (sha256(new).digest(), *stamp, self._planned, self._sync.today(), self._came.head, "")
        decided = [change for change, state in self._pending.items() if state != WAITING_STATE]
        if self._leaves_file:
            decided = []
        if decided or own or values != (was.digest, *was.stamp, was.step, was.day, was.head, was.problem):
            with self._database.write(FILE_ORIGIN, "sync") as write:
                # versions newer than the file's have the outcome
                for fact, digest in decided:
                    write.execute(
                        "UPDATE synced_proposals SET last = ?"
                        " WHERE file = ? AND fact = ? AND digest = ? AND last IS NULL",
                        (was.version, was.id, fact, digest),
                    )
                if own:
                    accept_lines(write, was.path, [NEW_FILE_TEXT.strip()])
                write.execute(
                    "UPDATE synced_files SET digest = ?, modified_ns = ?, size = ?, inode = ?, step = ?, day = ?,"
                    " head = ?, problem = ? WHERE id = ?",
                    (*values[:5], *map(Verbatim, values[5:]), was.id),
                )

    @property
    def _leaves_file(self) -> bool:
        """Whether the file is not written: a checkout stays clean until there is more to write."""
        return not self._asked and self._came.any and self._came.clean

    def _write_file(self, raw: bytes | None, new: bytes) -> None:
        """Write the file, which must still be what was read. Raise Unreadable or ChangedMeanwhile."""
        try:
            if raw is None:
                create_file(self._place, new, 0o600 if self._sync.personal else 0o644)
            else:
                replace_file(self._place, sha256(raw).digest(), new)
        except ChangedFile:
            raise ChangedMeanwhile from None
        except Unreadable as error:
            raise self._name_file(error) from None


# times that a run begins again, since the file or the memory was changed meanwhile
SYNC_TRIES = 4


class Sync:
    """The synced files of one memory. They are below the folder `base`; `personal` is whether the memory is a person's
    own, of no project."""

    def __init__(self, database: Database, inbox: Inbox, location: Location, config: Callable[[], Config]) -> None:
        self.database = database
        self.inbox = inbox
        self.base = os.path.abspath(location.project or os.path.dirname(location.path))
        self.personal = location.project is None
        self.config = config

    def files(self) -> list[SyncedFile]:
        """List the files that are kept in sync, by path."""
        return [SyncedFile(*row) for row in self.database.rows(f"{_FILE_QUERY} ORDER BY path")]

    def path_of_file(self, name: str = MEMORY_FILE) -> DocumentPath:
        """Return the place of a file that can be kept in sync. Raise InvalidInput for one that is not a Markdown file
        inside of the project's folder."""
        steps = tuple(name.split("/"))
        plain = not any(step in ("", ".", "..") or is_hidden(step) or "\0" in step for step in steps)
        if not plain or not steps[-1].lower().endswith(MARKDOWN_SUFFIX):
            raise InvalidInput(
                "Only a Markdown file inside of the project can be kept in sync.",
                "Name one as in MEMORY.md, CLAUDE.md or docs/notes.md.",
            )
        return DocumentPath(self.base, steps, name)

    def today(self) -> str:
        """Return the day that it is, in UTC."""
        return self.database.clock()[:10]

    def start_file(self, name: str = MEMORY_FILE) -> None:
        """Keep a file in sync from now on. Raise InvalidInput."""
        self.path_of_file(name)
        if self._find_synced(name) is None:
            with self.database.write(PERSON_ORIGIN, "sync") as write:
                write.execute("INSERT OR IGNORE INTO synced_files(path, version) VALUES (?, 0)", (Verbatim(name),))

    def stop_file(self, name: str) -> None:
        """Keep a file in sync no longer; it stays as it is. Raise NotFound."""
        self._require_synced(name)
        with self.database.write(PERSON_ORIGIN, "sync") as write:
            write.execute("DELETE FROM synced_files WHERE path = ?", (Verbatim(name),))

    def list_due(self) -> list[str]:
        """List the files that changed, or whose memory did, since they were looked at: a look at each file, and one row
        of history."""
        if self.database.read_only or not (files := self.files()):
            return []
        step, day = self.database.newest_step(), self.today()
        return [
            file.path
            for file in files
            if (file.step, file.day) != (step, day)
            or file.stamp != read_file_stamp(self.path_of_file(file.path).path)
        ]

    def sync_due(self, cancelled: Callable[[], bool] = lambda: False) -> list[SyncReport]:
        """Sync what is due; return what there is to tell. What cannot be synced is noted as the file's problem, once,
        and stops nothing."""
        reports = []
        for name in self.list_due():
            if cancelled():
                break
            try:
                reports.append(self.sync_file(name, asked=False))
            except MemorandaError as error:
                self._note_problem(name, error)
                reports.append(SyncReport(name, problem=str(error)))
        return [report for report in reports if report.has_news]

    def sync_file(self, name: str = MEMORY_FILE, *, asked: bool = True) -> SyncReport:
        """Sync one file. Unless it was `asked` for, a file or a section that is not there is left so.

        Raise NotFound (not kept in sync), InvalidInput, Conflict, Unreadable: nothing was changed, or, where only the
        file could not be written, the next run goes on.
        """
        return self._run(name, lambda: FileRun(self, self._require_synced(name), asked))

    def _run(self, name: str, prepare: Callable[[], FileRun]) -> SyncReport:
        """Run until nobody else changes the file or the memory meanwhile. Raise what `sync_file` does."""
        self.database.refuse_unwritable()
        for _ in range(SYNC_TRIES):
            try:
                return prepare().sync_file()
            except ChangedMeanwhile:
                continue
        raise Conflict(f"{name} is being changed by another program.", "Nothing was lost: sync it again.")

    def sync_edited(self, name: str, before: bytes, after: bytes) -> SyncReport:
        """Take what a person made of a file in an editor of ours, `after`, where it was `before`, as their own word;
        the text outside of the section that they wrote is accepted. Where the file was changed meanwhile both are
        merged. Raise Conflict where both changed the text outside of the section: nothing of it was taken then."""
        section = section_name(self.database)
        old, new = parse_section_file(before, section), parse_section_file(after, section)

        def prepare() -> FileRun:
            now = self.read_content(name)
            if now != before:
                self.sync_file(name)
                now = self.read_content(name)
            outside, disk = new, parse_section_file(now, section)
            if (new.before, new.after) == (old.before, old.after):
                outside = disk
            elif (disk.before, disk.after) != (old.before, old.after):
                raise Conflict(f"{name} was changed while you edited it, outside of its section.", NOTHING_CHANGED)
            merged = new._replace(before=outside.before, after=outside.after).to_bytes(section)
            return FileRun(self, self._require_synced(name), edited=EditedFile(merged, old, now))

        report = self._run(name, prepare)
        known = {line for _, line in old.own_lines()}
        self.accept(name, (), [line for _, line in new.own_lines() if line not in known])
        return report

    # what waits for the person

    def parse_file(self, name: str = MEMORY_FILE) -> SectionFile:
        """Return a synced file as it is on the disk. Raise NotFound and what its reading raises."""
        self._require_synced(name)
        return parse_section_file(self.read_content(name), section_name(self.database))

    def size_advice(self, report: SyncReport) -> list[str]:
        """Return what could move out of a synced file that is too large to be loaded at each start, in lines."""
        if report.bytes <= LARGE_BYTES:
            return []
        return [
            f"{visible(report.path)} has {report.bytes / 1_000:,.0f} KB, some {report.bytes // 4:,} tokens, which"
            " a session loads as a whole. What could move to a file in memory/, where it is found when it is needed:",
            *(
                f"  lines {first:,} to {last:,}, some {tokens:,} tokens: {shorten(clean_text(title))}"
                for tokens, title, first, last in find_movable_parts(self.parse_file(report.path))
            ),
        ]

    def waiting(self, name: str = MEMORY_FILE) -> tuple[list[Proposal], list[str]]:
        """Return what a person has not accepted of a file: the facts that were written there, as the proposals to
        confirm them, and of MEMORY.md, of which agents are sent them, the lines outside of its section."""
        rows = self.database.column(
            "SELECT p.id FROM proposals AS p JOIN synced_lines AS l ON l.fact = p.target"
            " WHERE l.file = ? AND l.last IS NULL AND p.state = 'waiting' AND p.kind = 'confirm' AND p.origin = ?"
            " ORDER BY p.id",
            (self._require_synced(name).id, FILE_ORIGIN),
        )
        others = self._own_lines(name)[1] if name == MEMORY_FILE else []
        return self.inbox.get_many(rows), [line for _, line in others]

    def accept(self, name: str, proposals: Sequence[int], lines: Sequence[str]) -> int | None:
        """Accept these of a file's proposals, as one step of history, and these lines outside of its section; return
        the step, None without proposals. By the person."""
        yes, _ = self._own_lines(name)
        step = None
        if proposals:
            self.inbox.decide([InboxChoice(number, "accept") for number in proposals])
            step = self.database.last_step
        with self.database.write(PERSON_ORIGIN, "sync") as write:
            accept_lines(write, name, [*(line for _, line in yes), *lines])
        return step

    def _own_lines(self, name: str) -> tuple[list[NumberedLine], list[NumberedLine]]:
        """Return the accepted lines outside of a file's section, and the others."""
        accepted = accepted_digests(self.database, name)
        return split_accepted(section_name(self.database), self.parse_file(name), accepted)

    def read_content(self, name: str) -> bytes:
        """Return what a file that can be synced says now. Raise NotFound or Unreadable."""
        try:
            return read_document_bytes(self.path_of_file(name))[0]
        except FileNotFoundError:
            raise NotFound(f"There is no {name}.", f"`memoranda sync {name}` writes it.") from None

    def _find_synced(self, path: str) -> SyncedFile | None:
        """Return a file that is kept in sync, by its path; None if it is not."""
        return next((file for file in self.files() if file.path == path), None)

    def _require_synced(self, name: str) -> SyncedFile:
        """Return a file that is kept in sync. Raise NotFound."""
        file = self._find_synced(name)
        if file is None:
            raise NotFound(f"{name} is not kept in sync.", f"`memoranda sync {name}` begins it.")
        return file

    def _note_problem(self, name: str, error: MemorandaError) -> None:
        """Note why a file could not be synced, and what it was then."""
        stamp = read_file_stamp(self.path_of_file(name).path)
        with self.database.write(FILE_ORIGIN, "sync") as write:
            write.execute(
                "UPDATE synced_files SET problem = ?, modified_ns = ?, size = ?, inode = ?, step = ?, day = ?"
                " WHERE path = ?",
                (str(error), *stamp, self.database.newest_step(), Verbatim(self.today()), Verbatim(name)),
            )
