"""One run on one file: read it, merge it, write what it takes, and then the file, if it is still what was read.

A section carries its version, and what each version said is recorded before it is written: a run that is killed
anywhere is repeated by the next, to the same end.
"""

import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from store.base.errors import Conflict, InvalidInput, MemorandaError, NotFound
from store.base.file_stamp import NO_FILE, Stamp, stamp_of
from store.base.vocabulary import FILE, PERSON
from store.config.configuration import Config
from store.database.database import Database
from store.database.values import Verbatim
from store.documents import atomic_write, own_text
from store.documents.managed_section import SectionFile, parse, section_name
from store.documents.paths import SUFFIX, Root, Unreadable, hidden, read_bytes
from store.history.checkpoint_payload import mark
from store.history.checkpoints import MANY
from store.inbox.inbox import Inbox
from store.sync import git_changes, synced_files
from store.sync.apply import Applied, LineApply
from store.sync.file_facts import MOST, FileFact, FileFacts
from store.sync.lines import WRITTEN, SectionContent, SectionLine, digest, read, rendered
from store.sync.merge import WAITING, LineMerge, MergePlan
from store.sync.synced_files import SyncedFile

NEW_TEXT = "# Memory\n\n"
FRESH_NS = 50_000_000  # a file that was changed so short ago may change again without its time telling
UNCHANGED = "Nothing was changed."


class Changed(Exception):
    """The file or the memory was changed since it was read: nothing was written."""


@dataclass(frozen=True, slots=True)
class SyncMemory:
    """The memory of a run: its synced files are below the folder `base`; `personal` is whether it is a person's own, of
    no project."""

    database: Database
    inbox: Inbox
    base: str
    personal: bool
    config: Callable[[], Config]

    def place(self, name: str) -> Root:
        """Return the place of a file that can be kept in sync. Raise InvalidInput for one that is not a Markdown file
        inside of the project's folder."""
        steps = tuple(name.split("/"))
        plain = not any(step in ("", ".", "..") or hidden(step) or "\0" in step for step in steps)
        if not plain or not steps[-1].lower().endswith(SUFFIX):
            raise InvalidInput(
                "Only a Markdown file inside of the project can be kept in sync.",
                "Name one as in MEMORY.md, CLAUDE.md or docs/notes.md.",
            )
        return Root(self.base, steps, name)

    def step(self) -> int:
        """The newest step of history."""
        return self.database.value("SELECT max(seq) FROM history") or 0

    def today(self) -> str:
        return self.database.clock()[:10]


@dataclass(slots=True)
class SyncReport:
    """What one run did to the file at `path`, and to the memory in `step` (None if nothing): see `Applied`. `written`
    is whether the file was changed, `facts` and `waiting` how many facts and undecided lines its section has, `bytes`
    its size; `others` how many lines were put below the section, `too_many` whether facts are left out; `from_file` is
    whether the changes are of an editor that is not ours; `problem` says why a file could not be synced by itself."""

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
    applied: Applied = field(default_factory=Applied)

    @property
    def changed(self) -> bool:
        """Whether there is something to tell."""
        return self.written or self.step is not None or bool(self.applied.left or self.problem)


class FileRun:
    """One run on one file."""

    def __init__(
        self,
        memory: SyncMemory,
        file: SyncedFile,
        actor: str = FILE,
        asked: bool = True,
        instead: bytes | None = None,
        expected: bytes = b"",
        since: SectionFile | None = None,
    ) -> None:
        """Without `asked` a file or a section that is not there is left so. `instead` is what an editor of ours made of
        the file, which is `expected` on the disk: it is merged, with what it was made of, `since`, as the base, and
        written in the place of what is there."""
        self._memory = memory
        self._database = memory.database
        self._file = file
        self._actor = actor
        self._asked = asked
        self._instead = instead
        self._expected = expected
        self._since = since
        self._place = memory.place(file.path)
        self._name = section_name(self._database)
        self._report = SyncReport(file.path, from_file=actor == FILE)

    def run(self) -> SyncReport:
        disk, stamp = self._read()
        if self._instead is not None and disk != self._expected:
            raise Changed
        raw = disk if self._instead is None else self._instead
        self._refuse_git()
        file, content = self._parsed(raw or b"")
        self._version = file.version
        if self._since is not None:
            since = read(self._since.lines, self._since.first)
            base = {item.fact: digest(self._key, item.text) for item in since.items if item.fact is not None}
            known = True
        else:
            base, known = synced_files.base(self._database, self._file, file.version)
        if file.version is None and self._file.version and not self._asked:
            raise NotFound(
                f"{self._file.path} has no section of this memory any more; nothing was forgotten.",
                f"`memoranda sync {self._file.path}` writes it again, with --off it is left alone.",
            )
        came = self._came(raw or b"")
        plan, facts = self._plan(content, base, known and file.version is not None, came)
        if plan.changes:
            self._apply(plan, facts, file)
            plan, facts = self._plan(content, base, known and file.version is not None, came)
        new = self._write(disk, raw, file, content, plan, facts, base, came)
        self._note(new, stamp if new == disk else self._written(new), came)
        return self._report

    # read

    def _read(self) -> tuple[bytes | None, Stamp]:
        """Return (the content of the file, None where there is none and it may be made; its stamp)."""
        try:
            raw, status = read_bytes(self._place)
            if not status.st_mode & stat.S_IWUSR:
                raise Unreadable("it is write-protected", f"Allow it with chmod u+w. {UNCHANGED}")
            fresh = time.time_ns() - status.st_mtime_ns < FRESH_NS
            return raw, NO_FILE if fresh else stamp_of(status)
        except FileNotFoundError:
            if self._asked or not self._file.version:
                return None, NO_FILE
            raise NotFound(
                f"{self._file.path} was deleted; nothing was forgotten.",
                f"`memoranda sync {self._file.path}` writes it again, with --off it is left alone.",
            ) from None
        except Unreadable as error:
            raise self._about(error) from None

    def _refuse_git(self) -> None:
        if doing := git_changes.busy(self._place.path):
            raise Conflict(
                f"git is in the middle of {doing}: {self._file.path} is left alone until that is over.",
                f"Finish it, then sync again. {UNCHANGED}",
            )

    def _parsed(self, raw: bytes) -> tuple[SectionFile, SectionContent]:
        try:
            file = parse(raw, self._name)
        except MemorandaError as error:
            raise self._about(error) from None
        domains = WRITTEN if self._memory.personal else tuple(one for one in WRITTEN if one != "personal")
        content = read(file.lines, file.first, domains)
        if len(content.items) > MOST:
            raise InvalidInput(
                f"The section of {self._file.path} has {len(content.items):,} lines, and at most {MOST:,} are synced.",
                f"Move some to a file in memory/. {UNCHANGED}",
            )
        return file, content

    def _about(self, error: MemorandaError) -> MemorandaError:
        """Return an error that names the file."""
        said = f"{self._file.path}: {error.message[:1].lower()}{error.message[1:]}".rstrip(".")
        return type(error)(f"{said}.", error.next)

    def _came(self, raw: bytes) -> git_changes.GitChanges:
        if self._actor == PERSON or sha256(raw).digest() == self._file.digest:
            return git_changes.GitChanges(git_changes.head_of(self._place.path))
        return git_changes.look(
            self._place.path,
            raw,
            self._file.head,
            self._file.modified_ns // 1_000_000_000,
            self._name,
            self._key,
            synced_files.texts(self._database, self._file),
        )

    @property
    def _key(self) -> bytes:
        return bytes(self._database.value("SELECT value FROM meta WHERE key = 'identity'") or "", "utf-8")

    # merge

    def _plan(
        self, content: SectionContent, base: dict[int, bytes], deletes: bool, came: git_changes.GitChanges
    ) -> tuple[MergePlan, FileFacts]:
        cited = [item.fact for item in content.items if item.fact is not None]
        self._planned = self._memory.step()
        newest, _ = synced_files.base(self._database, self._file, self._file.version)
        facts = FileFacts(self._database, self._memory.personal, [*base, *newest, *cited])
        review = bool(self._memory.config()["sync.review"]) and self._actor != PERSON
        self._pending = synced_files.pending(self._database, self._file, self._version)
        asked = synced_files.asked(self._database, self._file)
        return LineMerge(facts, base, deletes, self._pending, asked, came, review).plan(content.items, newest), facts

    def _apply(self, plan: MergePlan, facts: FileFacts, file: SectionFile) -> None:
        digests = {item: facts.of_text(item.text) for one in plan.changes if (item := one.line) is not None}
        with self._database.write(self._actor, "sync") as write:
            if self._memory.step() != self._planned:
                raise Changed
            if sum(not one.why for one in plan.changes) > MANY:
                mark(write, f"before: sync {self._file.path}"[:200], "person")
            work = LineApply(write, self._memory.inbox, self._file.id, self._file.path)
            self._report.applied = work.apply(plan.changes, digests)
            if file.version is not None:
                taken = {one.cited for one in plan.decided("correct")}
                seen = {fact: digest for fact, digest in plan.seen.items() if fact in taken}
                synced_files.note_seen(write, self._file, file.version, seen)
        self._report.step = write.seq

    # write

    def _write(
        self,
        disk: bytes | None,
        raw: bytes | None,
        file: SectionFile,
        content: SectionContent,
        plan: MergePlan,
        facts: FileFacts,
        base: dict[int, bytes],
        came: git_changes.GitChanges,
    ) -> bytes:
        """Write the section where it changed; return the content of the file afterwards."""
        report = self._report
        lines = rendered(self._item(row) for row in plan.rows)
        same = file.version == self._file.version and list(file.lines) == lines and not content.others
        version = self._file.version if same else max(self._file.version, file.version or 0) + 1
        report.facts = sum(isinstance(row, FileFact) for row in plan.rows)
        report.waiting = len(plan.rows) - report.facts
        report.too_many = facts.too_many
        new = raw or b""
        if not self._left(came):
            now = {row.id: facts.digest(row) for row in plan.rows if isinstance(row, FileFact)}
            now |= {number: base[number] for number in plan.held if number in base}
            if not same or now != base:
                with self._database.write(FILE, "sync") as write:
                    if not synced_files.stands(write, self._file):
                        raise Changed  # another run wrote a version since
                    synced_files.note_version(write, self._file, version, now)
            if not same:
                report.others = sum(bool(line.strip()) for line in content.others)
                start = file.edited(NEW_TEXT, "") if raw is None else file
                new = start.with_section(self._name, version, lines, content.others).encode()
            if disk is None or new != disk:
                self._put(disk, new)
                report.written, report.created = True, disk is None
        report.bytes = len(new)
        return new

    def _written(self, new: bytes) -> Stamp:
        """Return the stamp of what was just written; NO_FILE where somebody has changed it already."""
        try:
            now, status = read_bytes(self._place)
        except (FileNotFoundError, Unreadable):
            return NO_FILE
        return stamp_of(status) if now == new else NO_FILE

    def _note(self, new: bytes, stamp: Stamp, came: git_changes.GitChanges) -> None:
        """Note up to what the file and the memory agree; decided changes are in the file as they were decided."""
        values = (sha256(new).digest(), *stamp, self._planned, self._memory.today(), came.head, "")
        was = self._file
        decided = [] if self._left(came) else [change for change, state in self._pending.items() if state != WAITING]
        own = self._report.created
        if decided or own or values != (was.digest, *was.stamp, was.step, was.day, was.head, was.problem):
            with self._database.write(FILE, "sync") as write:
                synced_files.settle(write, self._file, decided)
                if own:
                    own_text.accept(write, self._file.path, [NEW_TEXT.strip()])
                write.execute(
                    "UPDATE synced_files SET digest = ?, modified_ns = ?, size = ?, inode = ?, step = ?, day = ?,"
                    " head = ?, problem = ? WHERE id = ?",
                    (*values[:5], *map(Verbatim, values[5:]), self._file.id),
                )

    def _left(self, came: git_changes.GitChanges) -> bool:
        """Return whether the file is not written: a checkout stays clean until there is more to write."""
        return not self._asked and came.any and came.clean

    def _item(self, row: FileFact | SectionLine) -> tuple[str, str, int | None]:
        if isinstance(row, FileFact):
            return row.domain, row.fact, row.id
        return row.domain, row.text, row.fact

    def _put(self, raw: bytes | None, new: bytes) -> None:
        """Write the file, which must still be what was read. Raise Unreadable or Changed."""
        try:
            if raw is None:
                atomic_write.create(self._place, new, 0o600 if self._memory.personal else 0o644)
            else:
                atomic_write.replace(self._place, sha256(raw).digest(), new)
        except Unreadable as error:
            if self._stands(raw):
                raise self._about(error) from None
            raise Changed from None

    def _stands(self, raw: bytes | None) -> bool:
        """Return whether the file is still as it was read."""
        try:
            return read_bytes(self._place)[0] == raw
        except FileNotFoundError:
            return raw is None
        except Unreadable:
            return True
