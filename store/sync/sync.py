"""`Sync`: keep files and the memory saying the same. A file is kept so once a person asked for it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    GitChanges,
    LineChange,
    LineMerge,
    MergePlan,
    SectionLine,
    checked_out_commit,
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
LARGE_BYTES, LARGE_TOKENS = 10_000, 2_500
MOST_MOVABLE_PARTS = 3  # parts that are named
# tokens of a part that is worth moving
MIN_PART_TOKENS = 100


class MovablePart(NamedTuple):
    """A part of a file that could be moved to a file in `memory/`: a heading with the text below it, or a fact; the
    lines `first` to `last`, of `tokens`."""

    title: str
    first: int
    last: int
    tokens: int


def is_large_file(text: str) -> bool:
    """Return whether a file is so large that some of it should be moved."""
    return len(text.encode()) > LARGE_BYTES or count_tokens(text) > LARGE_TOKENS


def find_movable_parts(file: SectionFile) -> list[MovablePart]:
    """Return the largest parts of a file that could be moved, the largest first."""
    parts: list[MovablePart] = []
    title, first, held = "", 0, list[str]()

    def close(last: int) -> None:
        tokens = count_tokens("\n".join(held))
        if tokens >= MIN_PART_TOKENS:
            parts.append(MovablePart(title or held[0].strip()[:60], first, last, tokens))

    last = 0
    for number, line in file.own_lines():
        if line.startswith("#") or not held:
            if held:
                close(last)
            title, first, held = line.lstrip("# ").strip()[:60] if line.startswith("#") else "", number, []
        held.append(line)
        last = number
    if held:
        close(last)
    for item in parse_section(file.lines, file.first).items:
        tokens = count_tokens(item.text)
        if tokens >= MIN_PART_TOKENS:
            lines = item.text.count("\n")
            name = f"F#{item.fact}" if item.fact is not None else item.text[:40]
            parts.append(MovablePart(name, item.number, item.number + lines, tokens))
    return sorted(parts, key=lambda part: -part.tokens)[:MOST_MOVABLE_PARTS]


# Write what a merge takes from a file, as one step of history, and ask in the inbox about the rest.


@dataclass(slots=True, eq=False, repr=False)
class AppliedLines:
    """What one step changed: `added` facts, `corrected` as (old, new), `forgotten` and `moved` ones; new `proposed`
    proposals; and what could not be taken, each with its line and the reason."""

    added: list[int] = field(default_factory=list)
    corrected: list[tuple[int, int]] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    proposed: list[int] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """The reason of the step: verbs and citations."""
        changed = {
            "add": self.added,
            "correct": [number for pair in self.corrected for number in pair],
            "forget": self.forgotten,
            "move": self.moved,
        }
        parts = [
            f"{verb} {list_citations([cite('fact', number) for number in numbers])}"
            for verb, numbers in changed.items()
            if numbers
        ]
        if self.proposed and not parts:
            parts.append(f"propose {list_citations([cite('proposal', number) for number in self.proposed])}")
        return f"sync {', '.join(parts)}" if parts else "sync"


class LineApply:
    """Applies the changes of one file, as part of a transaction; `key` makes digests as its lines have them."""

    def __init__(self, write: Transaction, inbox: Inbox, file: int, path: str) -> None:
        self._write = write
        self._inbox = inbox
        self._file = file
        self._path = path
        self.done = AppliedLines()

    def apply_changes(self, changes: Sequence[LineChange], digests: dict[SectionLine, bytes]) -> AppliedLines:
        """Apply all changes; one that is refused stays in the file as it is."""
        apply_by_verb = {"add": self._add, "correct": self._correct, "forget": self._forget, "move": self._move}
        for change in changes:
            try:
                if change.why:
                    self._propose_change(change, digests)
                else:
                    apply_by_verb[change.verb](change)
            except MemorandaError as error:
                self.done.left.append((change.line.number if change.line else 0, error.message))
        self._ask_to_confirm()
        self._write.reason = self.done.reason
        return self.done

    def _add(self, change: LineChange) -> None:
        assert change.line is not None
        text = clean_fact_text(change.line.text)
        # another line of this file
        if find_same_fact(self._write, text) is not None:
            return
        refuse_purged(self._write, text, again=False)
        heading = "-".join(change.line.heading.split())[:40]
        person = self._write.actor == PERSON_ORIGIN
        number = insert_fact(
            self._write,
            text,
            domain=change.line.domain or "general",
            confidence="high" if person else "medium",
            source="explicit" if person else "inferred",
            origin=self._write.actor,
            evidence=Json([]),
            tags=Json([heading] if heading else []),
        )
        if person:
            # see store/inbox/duplicates.py
            self._write.execute("INSERT INTO uncompared VALUES (?)", (number,))
        self.done.added.append(number)

    def _correct(self, change: LineChange) -> None:
        assert change.line is not None and change.fact is not None
        text = clean_fact_text(change.line.text)
        known = find_same_fact(self._write, text)
        if known is not None and known != change.fact.id:
            # the line says what another fact says
            self._forget(change)
            return
        refuse_purged(self._write, text, again=False)
        new = supersede_fact(self._write, change.fact.id, text)
        self.done.corrected.append((change.fact.id, new))
        self._inbox.withdraw_confirmations(self._write, [change.fact.id], FILE_ORIGIN)

    def _forget(self, change: LineChange) -> None:
        assert change.fact is not None
        set_fact_status(self._write, change.fact.id, "forgotten")
        self.done.forgotten.append(change.fact.id)
        self._inbox.withdraw_confirmations(self._write, [change.fact.id], FILE_ORIGIN)

    def _move(self, change: LineChange) -> None:
        assert change.line is not None and change.fact is not None
        domain = Verbatim(change.line.domain)
        self._write.execute("UPDATE facts SET domain = ? WHERE id = ?", (domain, change.fact.id))
        self.done.moved.append(change.fact.id)

    def _propose_change(self, change: LineChange, digests: dict[SectionLine, bytes]) -> None:
        """Propose a change, and note that the line waits for it."""
        place = f"{self._path}, line {change.line.number}" if change.line else self._path
        fields: dict[str, object] = {}
        if change.line is not None:
            fields["fact"] = change.line.text
            if change.verb == "add":
                fields["domain"] = change.line.domain or "general"
        target = change.fact.id if change.fact is not None else None
        question = ProposalQuestion(change.verb, fields, target, (), FILE_ORIGIN, f"{place}. {change.why}")
        number, new = self._inbox.propose_within(self._write, question)
        if new:
            self.done.proposed.append(number)
        text = digests[change.line] if change.line is not None else DELETED_DIGEST
        self._write.execute(
            "INSERT OR REPLACE INTO synced_proposals(file, fact, digest, proposal) VALUES (?, ?, ?, ?)",
            (self._file, change.cited, text, number),
        )

    def _ask_to_confirm(self) -> None:
        """Ask about each fact that the file wrote: no agent is sent it until a person accepts it."""
        if self._write.actor == PERSON_ORIGIN:
            return
        old = {new: f" It took the place of {cite('fact', old)}." for old, new in self.done.corrected}
        for number in [*self.done.added, *old]:
            why = f"{self._path}.{old.get(number, '')} It holds, and no agent is sent it until you accept it."
            question = ProposalQuestion("confirm", {}, number, (), FILE_ORIGIN, why)
            self.done.proposed.append(self._inbox.propose_within(self._write, question)[0])


# One run on one file: read it, merge it, write what it takes, and then the file, if it is still what was read.
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
    """What one run did to the file at `path`, and to the memory in `step` (None if nothing): see `AppliedLines`.
    `written` is whether the file was changed, `facts` and `waiting` how many facts and undecided lines its section has,
    `bytes` its size; `others` how many lines were put below the section, `too_many` whether facts are left out;
    `from_file` is whether the changes are of an editor that is not ours; `problem` says why a file could not be synced
    by itself."""

    path: str
    facts: int = 0
    waiting: int = 0
    bytes: int = 0
    written: bool = False
    created: bool = False
    others: int = 0
    too_many: bool = False
    step: int | None = None
    from_file: bool = True
    problem: str = ""
    applied: AppliedLines = field(default_factory=AppliedLines)

    @property
    def has_news(self) -> bool:
        """Whether there is something to tell."""
        return self.written or self.step is not None or bool(self.applied.left or self.problem)

    def describe(self, begins: bool = False) -> str:
        """Return what was done, in sentences; `begins`: the file is kept in sync only since now."""
        if self.problem:
            return visible(self.problem)
        name, done = visible(self.path), self.applied
        corrected = [new for _, new in done.corrected]
        changes = (
            (format_count(len(done.added), "new line"), done.added),
            (f"{len(corrected):,} changed", corrected),
            (f"{len(done.forgotten):,} forgotten", done.forgotten),
            (f"{len(done.moved):,} under another heading", done.moved),
        )
        parts = [f"{words} ({_cite_facts(numbers)})" for words, numbers in changes if numbers]
        facts, sentences = format_count(self.facts, "fact"), []
        if parts:
            back = f" `undo {self.step}` takes that back." if self.step else ""
            sentences.append(f"Read {name}: {', '.join(parts)}.{back}")
        if waiting := len(done.proposed):
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
        return [
            f"Line {number:,} of {visible(self.path)} stays as it is: {why}" if number else why
            for number, why in self.applied.left
        ]

    def as_dict(self) -> dict[str, object]:
        done = self.applied
        facts = select_fields(done, "added", "forgotten", "moved")
        return {
            **select_fields(self, "path", "facts", "waiting", "written", "bytes", "step"),
            **{name: [cite("fact", number) for number in numbers] for name, numbers in facts.items()},
            "synced": True,
            "corrected": [{"old": cite("fact", old), "new": cite("fact", new)} for old, new in done.corrected],
            "proposed": [cite("proposal", number) for number in done.proposed],
            "left": [{"line": number, "problem": why} for number, why in done.left],
        }


def _cite_facts(numbers: Sequence[int]) -> str:
    """Return the citations of up to five facts, and how many more there are."""
    more = f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else ""
    return " ".join(cite("fact", number) for number in numbers[:5]) + more


_FILE_COLUMNS = "id, path, version, digest, modified_ns, size, inode, step, day, head, own, problem"


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


def note_section_version(write: Transaction, file: int, version: int, lines: Mapping[int, bytes]) -> None:
    """Record the lines of the newest version of a section, with what changed since the one before."""
    sql = "SELECT fact, first, digest FROM synced_lines WHERE file = ? AND last IS NULL"
    same = set()
    for fact, first, digest in list(write.rows(sql, (file,))):
        row = (file, fact, first)
        if lines.get(fact) == digest:
            same.add(fact)
        elif first >= version:
            write.execute("DELETE FROM synced_lines WHERE file = ? AND fact = ? AND first = ? AND seen = 0", row)
        else:
            write.execute(
                "UPDATE synced_lines SET last = ? WHERE file = ? AND fact = ? AND first = ? AND seen = 0",
                (version - 1, *row),
            )
    for fact, digest in lines.items():
        if fact not in same:
            write.execute(
                "INSERT INTO synced_lines(file, fact, first, seen, last, digest) VALUES (?, ?, ?, 0, NULL, ?)",
                (file, fact, version, digest),
            )
    for table in ("synced_lines", "synced_proposals"):
        write.execute(f"DELETE FROM {table} WHERE file = ? AND last < ?", (file, version - KEPT_VERSIONS))
    write.execute("UPDATE synced_files SET version = ? WHERE id = ?", (version, file))


class FileRun:
    """One run on one file, with the facts, the lines and the plan that its steps work on."""

    def __init__(
        self,
        sync: Sync,
        file: SyncedFile,
        actor: str = FILE_ORIGIN,
        asked: bool = True,
        instead: bytes | None = None,
        expected: bytes = b"",
        since: SectionFile | None = None,
    ) -> None:
        """Without `asked` a file or a section that is not there is left so. `instead` is what an editor of ours made of
        the file, which is `expected` on the disk: it is merged, with what it was made of, `since`, as the base, and
        written in the place of what is there."""
        self._sync = sync
        self._database = sync.database
        self._file = file
        self._actor = actor
        self._asked = asked
        self._instead = instead
        self._expected = expected
        self._since = since
        self._place = sync.path_of_file(file.path)
        self._name = section_name(self._database)
        self._digest_key = self._database.get_meta("identity").encode()
        self._report = SyncReport(file.path, from_file=actor == FILE_ORIGIN)

    def sync_file(self) -> SyncReport:
        """Sync the file; return what was done. Raise ChangedMeanwhile, and MemorandaError if it cannot be synced."""
        disk, stamp = self._read_file()
        if self._instead is not None and disk != self._expected:
            raise ChangedMeanwhile
        raw = disk if self._instead is None else self._instead
        if doing := git_activity(self._place.path):
            raise Conflict(
                f"git is in the middle of {doing}: {self._file.path} is left alone until that is over.",
                f"Finish it, then sync again. {NOTHING_CHANGED}",
            )
        self._parse_file(raw or b"")
        self._read_base()
        if self._section.version is None and self._file.version and not self._asked:
            raise self._missing_error("has no section of this memory any more")
        self._came = self._read_git_changes(raw or b"")
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
        where that version is unknown."""
        version = self._section.version
        if self._since is None:
            known = (
                version is not None and max(0, self._file.version - KEPT_VERSIONS) < version <= self._file.version
            )
            self._base = self._read_line_digests(version if known else None)
        else:
            known = version is not None
            since = parse_section(self._since.lines, self._since.first).items
            lines = ((item.fact, digest_section_line(self._digest_key, item.text)) for item in since)
            self._base = {fact: digest for fact, digest in lines if fact is not None}
        self._deletes = known

    def _read_line_digests(self, version: int | None = None) -> dict[int, bytes]:
        """Return the digest of each line of a version of the section, else of the newest, by the fact that it
        cites."""
        rows = self._database.rows(
            "SELECT fact, digest FROM synced_lines WHERE file = ?1 AND first <= ?2 AND coalesce(last, ?2) >= ?2"
            " ORDER BY seen",
            (self._file.id, self._file.version if version is None else version),
        )
        return dict(rows)

    def _read_git_changes(self, raw: bytes) -> GitChanges:
        """Return what git brought into the file."""
        if self._actor == PERSON_ORIGIN or sha256(raw).digest() == self._file.digest:
            return GitChanges(checked_out_commit(self._place.path))
        # all that the line of each fact ever said here, as far as it is known
        known: dict[int, set[bytes]] = {}
        for fact, digest in self._database.rows(
            "SELECT fact, digest FROM synced_lines WHERE file = ?", (self._file.id,)
        ):
            known.setdefault(fact, set()).add(digest)
        return read_git_changes(
            self._place.path,
            raw,
            self._file.head,
            self._file.modified_ns // 1_000_000_000,
            self._name,
            self._digest_key,
            known,
        )

    # merge

    def _make_plan(self) -> None:
        """Make the plan of a merge of the section, and read the facts that it compares."""
        items, version = self._content.items, self._section.version
        self._planned = self._database.newest_step()
        newest = self._read_line_digests()
        cited = [item.fact for item in items if item.fact is not None]
        self._facts = FileFacts(self._database, self._sync.personal, [*self._base, *newest, *cited])
        review = bool(self._sync.config()["sync.review"]) and self._actor != PERSON_ORIGIN
        # the state of the proposal that each changed line made, by (number cited, digest), as it counts for a file of
        # this version: what was decided since is in a newer one. One that was erased or undone counts as rejected
        pending = self._database.rows(
            "SELECT s.fact, s.digest, coalesce(p.state, 'rejected') FROM synced_proposals AS s"
            " LEFT JOIN proposals AS p ON p.id = s.proposal WHERE s.file = ?1 AND (s.last IS NULL OR s.last >= ?2)",
            (self._file.id, self._file.version if version is None else version),
        )
        self._pending = {(fact, digest): state for fact, digest, state in pending}
        # the text of the newest proposal that waits for the line of each fact
        asked = self._database.rows(
            "SELECT s.fact, p.text FROM synced_proposals AS s JOIN proposals AS p ON p.id = s.proposal"
            " WHERE s.file = ? AND s.fact > 0 AND s.last IS NULL AND p.state = 'waiting' ORDER BY p.id",
            (self._file.id,),
        )
        merge = LineMerge(self._facts, self._base, self._deletes, self._pending, dict(asked), self._came, review)
        self._plan: MergePlan = merge.make_plan(items, newest)

    def _apply_plan(self) -> None:
        """Write the changes of the plan to the memory, as one step. Raise ChangedMeanwhile."""
        plan, version = self._plan, self._section.version
        digests = {
            item: self._facts.text_digest(item.text) for one in plan.changes if (item := one.line) is not None
        }
        with self._database.write(self._actor, "sync") as write:
            if self._database.newest_step() != self._planned:
                raise ChangedMeanwhile
            if sum(not one.why for one in plan.changes) > MANY_RECORDS:
                insert_checkpoint(write, f"before: sync {self._file.path}"[:200], "person")
            work = LineApply(write, self._sync.inbox, self._file.id, self._file.path)
            self._report.applied = work.apply_changes(plan.changes, digests)
            if version is not None:
                taken = {one.cited for one in plan.taken_changes("correct")}
                # what lines said that was taken: an editor that still shows them may save them again
                for fact in filter(taken.__contains__, plan.seen):
                    write.execute(
                        "INSERT OR REPLACE INTO synced_lines(file, fact, first, seen, last, digest)"
                        " VALUES (?, ?, ?, 1, ?, ?)",
                        (self._file.id, fact, version, version, plan.seen[fact]),
                    )
        self._report.step = write.seq

    # write

    def _write_section(self, disk: bytes | None, raw: bytes | None) -> bytes:
        """Write the section where it changed; return the content of the file afterwards."""
        report, file, others, rows = self._report, self._section, self._content.others, self._plan.rows
        lines = format_section(self._section_item(row) for row in rows)
        same = file.version == self._file.version and list(file.lines) == lines and not others
        version = self._file.version if same else max(self._file.version, file.version or 0) + 1
        now = {row.id: self._facts.fact_digest(row) for row in rows if isinstance(row, FileFact)}
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
                start = file.with_text(NEW_FILE_TEXT, "") if raw is None else file
                new = start.with_section(self._name, version, lines, others).encode()
            if disk is None or new != disk:
                self._write_file(disk, new)
                report.written, report.created = True, disk is None
        report.bytes = len(new)
        return new

    def _stamp_written(self, new: bytes) -> FileStamp:
        """Return the stamp of what was just written; NO_FILE where somebody has changed it already."""
        try:
            now, status = read_document_bytes(self._place)
        except (FileNotFoundError, Unreadable):
            return NO_FILE_STAMP
        return stamp_of_status(status) if now == new else NO_FILE_STAMP

    def _note_state(self, new: bytes, stamp: FileStamp) -> None:
        """Note up to what the file and the memory agree; decided changes are in the file as they were decided."""
        values = (sha256(new).digest(), *stamp, self._planned, self._sync.today(), self._came.head, "")
        was = self._file
        decided = (
            []
            if self._leaves_file
            else [change for change, state in self._pending.items() if state != WAITING_STATE]
        )
        own = self._report.created
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

    def _section_item(self, row: FileFact | SectionLine) -> tuple[str, str, int | None]:
        """Return a row of a plan as an item of the section: (domain, text, fact)."""
        if isinstance(row, FileFact):
            return row.domain, row.fact, row.id
        return row.domain, row.text, row.fact

    def _write_file(self, raw: bytes | None, new: bytes) -> None:
        """Write the file, which must still be what was read. Raise Unreadable or Changed."""
        try:
            if raw is None:
                create_file(self._place, new, 0o600 if self._sync.personal else 0o644)
            else:
                replace_file(self._place, sha256(raw).digest(), new)
        except Unreadable as error:
            if self._is_as_read(raw):
                raise self._name_file(error) from None
            raise ChangedMeanwhile from None

    def _is_as_read(self, raw: bytes | None) -> bool:
        """Return whether the file is still as it was read."""
        try:
            return read_document_bytes(self._place)[0] == raw
        except FileNotFoundError:
            return raw is None
        except Unreadable:
            return True


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
        rows = self.database.rows(f"SELECT {_FILE_COLUMNS} FROM synced_files ORDER BY path")
        return [SyncedFile(*row) for row in rows]

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
        self.database.refuse_unwritable()
        for _ in range(SYNC_TRIES):
            try:
                return FileRun(self, self._require_synced(name), asked=asked).sync_file()
            except ChangedMeanwhile:
                continue
        raise Conflict(f"{name} is being changed by another program.", "Nothing was lost: sync it again.")

    def sync_edited(self, name: str, before: bytes, after: bytes) -> SyncReport:
        """Take what a person made of a file in an editor of ours, `after`, where it was `before`, as their own word;
        the text outside of the section that they wrote is accepted. Where the file was changed meanwhile both are
        merged. Raise Conflict where both changed the text outside of the section: nothing of it was taken then."""
        self.database.refuse_unwritable()
        section = section_name(self.database)
        old, new = parse_section_file(before, section), parse_section_file(after, section)
        for _ in range(SYNC_TRIES):
            now = self.read_content(name)
            if now != before:
                self.sync_file(name)
                now = self.read_content(name)
            disk = parse_section_file(now, section)
            outside = (new.before, new.after)
            if outside == (old.before, old.after):
                outside = (disk.before, disk.after)
            elif (disk.before, disk.after) != (old.before, old.after):
                raise Conflict(f"{name} was changed while you edited it, outside of its section.", NOTHING_CHANGED)
            merged = new.with_text(*outside).to_bytes(section)
            try:
                report = FileRun(
                    self,
                    self._require_synced(name),
                    PERSON_ORIGIN,
                    instead=merged,
                    expected=now,
                    since=old,
                ).sync_file()
            except ChangedMeanwhile:
                continue
            known = {line for _, line in old.own_lines()}
            self.accept(name, (), [line for _, line in new.own_lines() if line not in known])
            return report
        raise Conflict(f"{name} is being changed by another program.", NOTHING_CHANGED)

    # what waits for the person

    def parse_file(self, name: str = MEMORY_FILE) -> SectionFile:
        """Return a synced file as it is on the disk. Raise NotFound and what its reading raises."""
        self._require_synced(name)
        return parse_section_file(self.read_content(name), section_name(self.database))

    def size_advice(self, report: SyncReport) -> list[str]:
        """Return what could move out of a synced file that is too large to be loaded at each start, in lines."""
        # a token has a byte at least
        if report.bytes <= LARGE_TOKENS:
            return []
        file = self.parse_file(report.path)
        text = "\n".join([file.before, *file.lines, file.after])
        if not is_large_file(text):
            return []
        return [
            f"{visible(report.path)} has {report.bytes / 1_000:,.0f} KB, some {len(text.encode()) // 4:,} tokens, which"
            " a session loads as a whole. What could move to a file in memory/, where it is found when it is needed:",
            *(
                f"  lines {one.first:,} to {one.last:,}, some {one.tokens:,} tokens: {shorten(clean_text(one.title))}"
                for one in find_movable_parts(file)
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
        row = self.database.row(f"SELECT {_FILE_COLUMNS} FROM synced_files WHERE path = ?", (path,))
        return None if row is None else SyncedFile(*row)

    def _require_synced(self, name: str) -> SyncedFile:
        """Return a file that is kept in sync. Raise NotFound."""
        file = self._find_synced(name)
        if file is None:
            raise NotFound(f"{name} is not kept in sync.", f"`memoranda sync {name}` begins it.")
        return file

    def _note_problem(self, name: str, error: MemorandaError) -> None:
        file = self._find_synced(name)
        if file is None:
            return
        stamp = read_file_stamp(self.path_of_file(name).path)
        with self.database.write(FILE_ORIGIN, "sync") as write:
            write.execute(
                "UPDATE synced_files SET problem = ?, modified_ns = ?, size = ?, inode = ?, step = ?, day = ?"
                " WHERE id = ?",
                (str(error), *stamp, self.database.newest_step(), Verbatim(self.today()), file.id),
            )
