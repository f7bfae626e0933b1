"""`Sync`: keep files and the memory saying the same. A file is kept so once a person asked for it."""

import os
from collections.abc import Callable, Sequence

from store.base.errors import Conflict, MemorandaError, NotFound
from store.base.file_stamp import file_stamp
from store.base.location import Location
from store.base.models import Proposal
from store.base.vocabulary import FILE, PERSON
from store.config.configuration import Config
from store.database.database import Database
from store.database.values import Verbatim
from store.documents import own_text
from store.documents.managed_section import SectionFile, parse, section_name
from store.documents.paths import MEMORY_FILE, Root, read_bytes
from store.inbox.inbox import Inbox, InboxChoice
from store.sync import synced_files
from store.sync.file_run import UNCHANGED, Changed, FileRun, SyncMemory, SyncReport
from store.sync.synced_files import SyncedFile

TRIES = 4  # times that a run begins again, since the file or the memory was changed meanwhile


class Sync:
    """The synced files of one memory."""

    def __init__(self, database: Database, inbox: Inbox, location: Location, config: Callable[[], Config]) -> None:
        base = os.path.abspath(location.project or os.path.dirname(location.path))
        self._database = database
        self._inbox = inbox
        self._memory = SyncMemory(database, inbox, base, location.project is None, config)

    def files(self) -> list[SyncedFile]:
        """List the files that are kept in sync."""
        return synced_files.listed(self._database)

    def place(self, name: str = MEMORY_FILE) -> Root:
        """Return the place of a file that can be kept in sync. Raise InvalidInput for one that is not a Markdown file
        inside of the project's folder."""
        return self._memory.place(name)

    def start(self, name: str = MEMORY_FILE) -> None:
        """Keep a file in sync from now on. Raise InvalidInput."""
        self.place(name)
        if synced_files.named(self._database, name) is None:
            with self._database.write(PERSON, "sync") as write:
                synced_files.start(write, name)

    def stop(self, name: str) -> None:
        """Keep a file in sync no longer; it stays as it is. Raise NotFound."""
        self._known(name)
        with self._database.write(PERSON, "sync") as write:
            synced_files.stop(write, name)

    def due(self) -> list[str]:
        """List the files that changed, or whose memory did, since they were looked at: a look at each file, and one row
        of history."""
        if self._database.read_only or not (files := self.files()):
            return []
        step, day = self._memory.step(), self._memory.today()
        return [
            file.path
            for file in files
            if (file.step, file.day) != (step, day) or file.stamp != file_stamp(self.place(file.path).path)
        ]

    def run_due(self, cancelled: Callable[[], bool] = lambda: False) -> list[SyncReport]:
        """Sync what is due; return what there is to tell. What cannot be synced is noted as the file's problem, once,
        and stops nothing."""
        reports = []
        for name in self.due():
            if cancelled():
                break
            try:
                reports.append(self.run(name, asked=False))
            except MemorandaError as error:
                self._note_problem(name, error)
                reports.append(SyncReport(name, problem=str(error)))
        return [report for report in reports if report.changed]

    def run(self, name: str = MEMORY_FILE, *, asked: bool = True) -> SyncReport:
        """Sync one file. Unless it was `asked` for, a file or a section that is not there is left so.

        Raise NotFound (not kept in sync), InvalidInput, Conflict, Unreadable: nothing was changed, or, where only the
        file could not be written, the next run goes on.
        """
        self._database.refuse_unwritable()
        for _ in range(TRIES):
            try:
                return FileRun(self._memory, self._known(name), asked=asked).run()
            except Changed:
                continue
        raise Conflict(f"{name} is being changed by another program.", "Nothing was lost: sync it again.")

    def run_edited(self, name: str, before: bytes, after: bytes) -> SyncReport:
        """Take what a person made of a file in an editor of ours, `after`, where it was `before`, as their own word;
        the text outside of the section that they wrote is accepted. Where the file was changed meanwhile both are
        merged. Raise Conflict where both changed the text outside of the section: nothing of it was taken then."""
        self._database.refuse_unwritable()
        section = section_name(self._database)
        old, new = parse(before, section), parse(after, section)
        for _ in range(TRIES):
            now = self.content(name)
            if now != before:
                self.run(name)
                now = self.content(name)
            disk = parse(now, section)
            outside = (new.before, new.after)
            if outside == (old.before, old.after):
                outside = (disk.before, disk.after)
            elif (disk.before, disk.after) != (old.before, old.after):
                raise Conflict(f"{name} was changed while you edited it, outside of its section.", UNCHANGED)
            merged = new.edited(*outside).whole(section)
            try:
                report = FileRun(self._memory, self._known(name), PERSON, instead=merged, expected=now, since=old).run()
            except Changed:
                continue
            known = {line for _, line in old.own_lines()}
            self.accept(name, (), [line for _, line in new.own_lines() if line not in known])
            return report
        raise Conflict(f"{name} is being changed by another program.", UNCHANGED)

    # what waits for the person

    def file(self, name: str = MEMORY_FILE) -> SectionFile:
        """Return a synced file as it is on the disk. Raise NotFound and what its reading raises."""
        self._known(name)
        return parse(self.content(name), section_name(self._database))

    def waiting(self, name: str = MEMORY_FILE) -> tuple[list[Proposal], list[str]]:
        """Return what a person has not accepted of a file: the facts that were written there, as the proposals to
        confirm them, and of MEMORY.md, of which agents are sent them, the lines outside of its section."""
        rows = self._database.rows(
            "SELECT p.id FROM proposals AS p JOIN synced_lines AS l ON l.fact = p.target"
            " WHERE l.file = ? AND l.last IS NULL AND p.state = 'waiting' AND p.kind = 'confirm' AND p.origin = ?"
            " ORDER BY p.id",
            (self._known(name).id, FILE),
        )
        others = self._own(name)[1] if name == MEMORY_FILE else []
        return self._inbox.many([number for (number,) in rows]), [line for _, line in others]

    def accept(self, name: str, proposals: Sequence[int], lines: Sequence[str]) -> int | None:
        """Accept these of a file's proposals, as one step of history, and these lines outside of its section; return
        the step, None without proposals. By the person."""
        yes, _ = self._own(name)
        step = None
        if proposals:
            self._inbox.decide([InboxChoice(number, "accept") for number in proposals])
            step = self._database.last_step
        with self._database.write(PERSON, "sync") as write:
            own_text.accept(write, name, [*(line for _, line in yes), *lines])
        return step

    def _own(self, name: str) -> tuple[list[own_text.NumberedLine], list[own_text.NumberedLine]]:
        accepted = own_text.accepted_in(self._database, name)
        return own_text.parted(section_name(self._database), self.file(name), accepted)

    def content(self, name: str) -> bytes:
        """Return what a file that can be synced says now. Raise NotFound or Unreadable."""
        try:
            return read_bytes(self.place(name))[0]
        except FileNotFoundError:
            raise NotFound(f"There is no {name}.", f"`memoranda sync {name}` writes it.") from None

    def _known(self, name: str) -> SyncedFile:
        file = synced_files.named(self._database, name)
        if file is None:
            raise NotFound(f"{name} is not kept in sync.", f"`memoranda sync {name}` begins it.")
        return file

    def _note_problem(self, name: str, error: MemorandaError) -> None:
        file = synced_files.named(self._database, name)
        if file is None:
            return
        stamp = file_stamp(self.place(name).path)
        with self._database.write(FILE, "sync") as write:
            write.execute(
                "UPDATE synced_files SET problem = ?, modified_ns = ?, size = ?, inode = ?, step = ?, day = ?"
                " WHERE id = ?",
                (str(error), *stamp, self._memory.step(), Verbatim(self._memory.today()), file.id),
            )
