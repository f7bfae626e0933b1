"""The tools whose memories can be read. To add one, add its name here and to `SOURCE_NAMES`;
tests/store/tools/sources/test_contract.py says what it has to do."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice

from store.base.citations import Citation
from store.base.errors import InvalidInput, MemorandaError, NotFound, Purged
from store.base.models import select_fields
from store.base.vocabulary import SOURCE_NAMES, SOURCE_PARTS
from store.database.tombstones import decision_text, make_tombstone_test
from store.database.values import clean_text
from store.inbox.proposals import ProposalQuestion
from store.ingest.formats import ParsedLine
from store.ingest.runner import DOUBTFUL_ORIGIN, IngestReport, ingest_lines
from store.memory import Memory
from store.records.facts import MAX_FACT_CHARACTERS, text_hash
from store.records.table import require_one_of
from store.text.display import agree_verb, format_count, shorten, visible
from store.text.fence import is_suspicious
from store.tools.agent_readers import AGENT_SOURCES
from store.tools.memory_readers import MEMORY_SOURCES, ForeignTool
from store.tools.source import (
    FoundDocument,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    Troubles,
    left_out_lines,
    take_left_out,
)
from store.upkeep.optional import ForeignMemories, ToolCount

SOURCES_BY_NAME: dict[str, ForeignTool] = {one.name: one for one in (*AGENT_SOURCES, *MEMORY_SOURCES)}


def get_source(name: str) -> ForeignTool:
    """Return the source of a tool by its name. Raise InvalidInput."""
    require_one_of("source", name, SOURCE_NAMES)
    return SOURCES_BY_NAME[name]


def detect_sources(machine: Machine) -> dict[str, list[str]]:
    """Return the places where each tool keeps something on this machine; tools without any are left out."""
    found = {name: SOURCES_BY_NAME[name].detect(machine) for name in SOURCE_NAMES}
    return {name: places for name, places in found.items() if places}


# Bring in the memory of another tool: seen first, as proposals, with the place that each comes from.

NOTHING_NEW = "Nothing of {} is new here; nothing was changed."
# troubles that are listed one by one
LISTED_TROUBLES = 10
# that a citation can name
LARGEST_LINE_NUMBER = 999_999_999
# records between two reports of progress
PROGRESS_EVERY = 200
MEMORY_PART, CONVERSATION_PART = SOURCE_PARTS
# records of one step of history, which keeps other writers waiting for some seconds
STEP_RECORDS = 10_000


class ImportStopped(Exception):
    """A person stopped the import; nothing of the step under way is kept."""


@dataclass(slots=True)
class SourceImportReport:
    """What was brought in: `proposed` proposals, or, trusted, `accepted` records, in one of the `steps` of history (in
    several from STEP_RECORDS on); and turns."""

    steps: list[int] = field(default_factory=list)
    checkpoint: int | None = None
    proposed: int = 0
    accepted: int = 0
    turns: int = 0
    sessions: int = 0
    stopped: bool = False

    def describe(self, title: str) -> str:
        """Return what was brought in of the source `title`, and how to undo it."""
        number = self.proposed
        parts = [f"{format_count(number, 'proposal')} {agree_verb(number, 'wait in the inbox')}"] if number else []
        if self.accepted:
            parts.append(f"{format_count(self.accepted, 'record')} imported unchanged")
        if self.turns:
            parts.append(
                f"{format_count(self.turns, 'turn')} of {format_count(self.sessions, 'session')} imported"
            )
        if not parts and not self.stopped:
            return NOTHING_NEW.format(title)
        verb = "Stopped importing" if self.stopped else "Imported"
        said = f"{verb} {title}: {', '.join(parts) or 'nothing yet'}."
        if self.steps:
            *steps, last = [f"`undo {step}`" for step in reversed(self.steps)]
            said = f"{said} {', '.join(steps)} and {last} undo it." if steps else f"{said} {last} undoes it."
        return f"{said} The same import continues." if self.stopped else said


@dataclass(slots=True)
class SourcePreview:
    """What a source holds for this memory, of which `read` records were read. `fresh` would come; `known` came before
    or is a fact already, `purged` was erased here, `elsewhere` is of another project, `long` is too long for a fact.
    Of those that would come `flagged` reads like instructions to an agent, and `secret` holds a secret, which is cut.
    `documents` are files with prose, which stay where they are; `left` is what was not looked at."""

    fresh: list[FoundMemory] = field(default_factory=list)
    read: int = 0
    known: int = 0
    purged: int = 0
    elsewhere: int = 0
    long: int = 0
    flagged: int = 0
    secret: int = 0
    turns: int = 0
    turns_elsewhere: int = 0
    documents: list[str] = field(default_factory=list)
    domains: Counter[str] = field(default_factory=Counter)
    troubles: Troubles = field(default_factory=list)
    left: Troubles = field(default_factory=list)

    @property
    def decisions(self) -> int:
        return sum(one.decision is not None for one in self.fresh)

    @property
    def amount(self) -> str:
        """How much would come."""
        numbers = (
            (len(self.fresh) - self.decisions, "fact"),
            (self.decisions, "decision"),
            (self.turns, "turn"),
        )
        *parts, last = [format_count(number, word) for number, word in numbers if number] or ["nothing"]
        return f"{', '.join(parts)} and {last}" if parts else last

    def say_nothing(self, title: str) -> str:
        """Return that nothing would come of a source with this title."""
        unread = self.troubles and not self.read
        return f"Nothing of {title} could be read; nothing was changed." if unread else NOTHING_NEW.format(title)

    def describe(self, limit: int) -> list[str]:
        """Return the first memories, what is left out and why, what could not be read."""
        lines = []
        for one in self.fresh[:limit]:
            kind = "decision" if one.decision else "fact"
            name = os.path.basename(one.path)
            place = f"{name}, {one.place}" if one.place else f"{name}:{one.line}"
            chosen = f" → {shorten(clean_text(one.decision.chosen))}" if one.decision else ""
            lines.append(f"+ {kind:<9} {shorten(clean_text(one.text))}{chosen}  {visible(place)}")
        if len(self.fresh) > limit:
            lines.append(f"… and {len(self.fresh) - limit:,} more; --limit shows them")
        counts = (
            (self.secret, "hold a secret, which is cut out"),
            (self.flagged, "look like instructions to agents"),
            (self.known, "repeat what is known, was decided on or stands above"),
            (self.purged, "stay out, as erased here once"),
            (self.elsewhere + self.turns_elsewhere, "are left out, as of other projects; --all brings them"),
            (self.long, "are too long for a fact, and left out"),
        )
        lines += [f"{number:,} {agree_verb(number, says)}" for number, says in counts if number]
        if prose := len(self.documents):
            stays = agree_verb(prose, "stay in place")
            lines.append(
                f"{format_count(prose, 'file')} of prose {stays}; documents.extraPaths makes prose searchable"
            )
        for bad in self.troubles[:LISTED_TROUBLES]:
            at = f", line {bad.line:,}" if bad.line else ""
            lines.append(f"{visible(bad.path)}{at}: {bad.why}")
        if len(self.troubles) > LISTED_TROUBLES:
            lines.append(f"… and {len(self.troubles) - LISTED_TROUBLES:,} more that cannot be read")
        if any(one.is_denied for one in self.troubles):
            lines.append(
                "Look at the permissions of what is named, and of the folders above it, then import again."
            )
        return [*lines, *left_out_lines(self.left)]


def this_machine(project: str = "") -> Machine:
    """Return this machine, for the tools that are looked for."""
    return Machine(os.path.expanduser("~"), os.environ, sys.platform, project)


def find_sources(memory: Memory) -> dict[str, list[str]]:
    """Find the tools that keep something on this machine for this memory's project. Return their places by name."""
    return detect_sources(this_machine(memory.location.project or ""))


def count_conversations(memory: Memory, most: int) -> list[ToolCount]:
    """Return how many conversations agents on this machine keep of this memory's project. No more is looked at than
    where each was held: for Claude Code the names of the files, for others what says the folder."""
    project = memory.location.project
    if not project:
        return []
    where, found = this_machine(project), []
    for source in AGENT_SOURCES:
        folders = (folder for place in source.detect(where) for folder in source.conversation_folders(place))
        if number := sum(1 for _ in islice((one for one in folders if is_in_project(one, project)), most)):
            found.append(ToolCount(source.name, source.title, number, number >= most))
    return found


def count_memories(memory: Memory, most: int) -> list[ToolCount]:
    """Return how many new memories each tool keeps for this memory's project; of a tool that cannot be read nothing is
    said, `import` does."""
    found = []
    for name in find_sources(memory):
        try:
            seen = SourceImport(memory, name, only=MEMORY_PART).read_preview(most=most)
        except MemorandaError:
            continue
        if number := seen.read if seen.read >= most else len(seen.fresh):
            found.append(ToolCount(name, get_source(name).title, number, seen.read >= most))
    return found


def read_conversations(memory: Memory, agents: Sequence[str], cancelled: Callable[[], bool]) -> IngestReport:
    """Import the conversations that these agents keep of the project. Others may have written them, so what is
    learned from them is proposed. An agent that cannot be read does not stop the others."""
    report = IngestReport()
    for agent in agents:
        try:
            SourceImport(memory, agent, only=CONVERSATION_PART).read_conversations(report, cancelled=cancelled)
        except MemorandaError as error:
            report.troubles.append((agent, 0, str(error)))
    return report


class SourceImport:
    """One import of one tool's memory: `path` names where it is, else it is looked for where it lies by default, and
    what belongs to other projects is left out unless `every`; `only` one of SOURCE_PARTS. `project` is another one that
    is taken: a folder, which need not be there any more, or its name. Raise InvalidInput or NotFound."""

    def __init__(
        self, memory: Memory, name: str, path: str = "", every: bool = False, only: str = "", project: str = ""
    ) -> None:
        self.memory = memory
        self.only = only
        self.reader = get_source(name)
        self.name = name
        self.project = project or ("" if path or every else memory.location.project or "")
        if path and not os.path.lexists(path):
            raise NotFound(f"There is no {path}.", "Look at its name, or leave it out.")
        self.places = [path] if path else self.reader.detect(this_machine(self.project))
        if not self.places:
            others = bool(self.project and self.reader.detect(this_machine()))
            where = "for this project" if others else "here"
            all_too = "; --all brings those of all projects" if others else ""
            before = " --project FOLDER brings those of the folder that it was before." if others else ""
            raise NotFound(
                f"Nothing of {self.reader.title} was found {where}.",
                f"Name the place: import {name} PATH{all_too}.{before}",
            )
        self.preview = SourcePreview()

    @property
    def origin(self) -> str:
        return f"import:{self.name}"

    def read_preview(
        self, progress: Callable[[int], None] = lambda done: None, most: int | None = None
    ) -> SourcePreview:
        """Read the source, at most so many records of it, and sort what it holds; write nothing. `progress` is called
        with the records read."""
        found, known, gone = SourcePreview(), self._known_hashes(), make_tombstone_test(self.memory.database)
        documents = set[str]()
        for one in islice(self._read_places(found.troubles), most):
            found.read += 1
            if found.read % PROGRESS_EVERY == 0:
                progress(found.read)
            if isinstance(one, FoundDocument):
                documents.add(one.path)
            elif isinstance(one, FoundTurn):
                inside = self._is_inside(one.cwd)
                found.turns += inside
                found.turns_elsewhere += not inside
            elif not self._is_inside(one.project):
                found.elsewhere += 1
            elif len(one.text) > MAX_FACT_CHARACTERS:
                found.long += 1
            elif (digest := text_hash(text := clean_text(one.text).strip())) in known:
                found.known += 1
            elif gone(text) or any(gone(part) for part in _decision_texts(one)):
                found.purged += 1
            else:
                known.add(digest)
                found.fresh.append(one)
                found.domains[one.domain] += 1
                found.flagged += is_suspicious(one.text)
                found.secret += any(clean_text(part) != part for part in one.texts)
        found.documents, found.left = sorted(documents), take_left_out(found.troubles)
        self.preview = found
        return found

    def import_found(
        self,
        trust: bool = False,
        progress: Callable[[int], None] = lambda done: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> SourceImportReport:
        """Import what `read_preview` found: first a checkpoint, then one step of history, then the turns in
        batches. When it is stopped, the whole step is given up, and turns that came already stay; the next
        import continues from there. Raise StorageError."""
        report = SourceImportReport()
        if self.preview.fresh:
            before = f"before import {self.name}"
            report.checkpoint = self.memory.checkpoints.take_checkpoint(before, actor=self.origin)
            for first in range(0, len(self.preview.fresh), STEP_RECORDS):
                try:
                    several = self.preview.fresh[first : first + STEP_RECORDS]
                    new = self._propose_step(several, trust, report, progress, cancelled)
                except ImportStopped:
                    report.stopped = True
                    return report
                report.accepted += new * trust
                report.proposed += new * (not trust)
        if self.preview.turns and not cancelled():
            turned = self.read_conversations(IngestReport(), progress, cancelled)
            report.turns, report.sessions = turned.added, len(turned.sessions)
        report.stopped = cancelled()
        return report

    def as_dict(self, report: SourceImportReport, limit: int) -> dict[str, object]:
        """Return what `read_preview` found, at most so many records of it, and what of it was brought in."""
        found = self.preview
        return {
            **select_fields(found, "decisions", "turns", "known", "purged", "long", "flagged", "documents"),
            **select_fields(report, "steps", "proposed", "stopped"),
            "source": self.name,
            "places": self.places,
            "new": len(found.fresh),
            "elsewhere": found.elsewhere + found.turns_elsewhere,
            "secrets": found.secret,
            "troubles": [{"path": one.path, "line": one.line, "problem": one.why} for one in found.troubles],
            "left_out": [{"path": one.path, "why": one.why, "files": one.left} for one in found.left],
            "records": [_record_as_dict(one) for one in found.fresh[:limit]],
            "taken": report.accepted,
            "added_turns": report.turns,
        }

    def read_conversations(
        self,
        report: IngestReport,
        progress: Callable[[int], None] = lambda done: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IngestReport:
        """Import the turns alone, also without a preview before."""
        return ingest_lines(
            self.memory.database,
            self._parsed_lines(),
            origin=DOUBTFUL_ORIGIN,
            report=report,
            progress=progress,
            cancelled=cancelled,
        )

    def _propose_step(
        self,
        several: list[FoundMemory],
        trust: bool,
        report: SourceImportReport,
        progress: Callable[[int], None],
        cancelled: Callable[[], bool],
    ) -> int:
        """Write one step; return how many records are new. Raise Stopped."""
        inbox, new = self.memory.inbox, 0
        with self.memory.database.write(self.origin, "import") as write:
            for done, one in enumerate(several, 1):
                if done % PROGRESS_EVERY == 0:
                    progress(done)
                    if cancelled():
                        raise ImportStopped
                question = self._proposal_question(one, write.at)
                try:
                    new += inbox.propose_arrival(write, question, trust)[1]
                except (Purged, InvalidInput):
                    continue
            write.reason = f"import {new} of {self.name}"
        if write.seq is not None:
            report.steps.append(write.seq)
        return new

    def _proposal_question(self, one: FoundMemory, now: str) -> ProposalQuestion:
        """Return the question to the inbox about a memory of another tool."""
        line = min(one.line, LARGEST_LINE_NUMBER)
        place = Citation("document", one.path, line, min(max(one.last, line), LARGEST_LINE_NUMBER))
        change: dict[str, object] = {"fact": one.text, "tags": list(one.tags)}
        if one.decision is None:
            change |= {"domain": one.domain, "confidence": "medium", "pinned": int(one.pinned) or ""}
        if one.created:
            change["created"] = min(one.created, now)
        if one.decision is not None:
            change["decision"] = one.decision._asdict() | {"alternatives": list(one.decision.alternatives)}
        about = [f"From {self.reader.title}", one.place, f"session {one.session}" if one.session else ""]
        reason = [f"{', '.join(filter(None, about))}.", one.note]
        if one.pinned:
            reason.append("It is pinned there.")
        if is_suspicious(one.text):
            reason.append("It looks like an instruction to agents.")
        quote = one.decision.chosen if one.decision else one.text
        change = {name: value for name, value in change.items() if value not in ("", [])}
        evidence = ({"citation": str(place), "quote": quote},)
        return ProposalQuestion("add", change, None, evidence, self.origin, " ".join(filter(None, reason)))

    # reading

    def _read_places(self, troubles: Troubles) -> Iterator[FoundItem]:
        """Yield what the places hold, limited to the chosen part."""
        for place in self.places:
            if self.only == MEMORY_PART:
                yield from self.reader.read_memories(place, troubles)
            else:
                every = self.reader.read(place, troubles)
                yield from (one for one in every if not self.only or isinstance(one, FoundTurn))

    def _parsed_lines(self) -> Iterator[tuple[str, ParsedLine]]:
        """Yield the turns of this project as lines to ingest, each with the path of its file."""
        for one in self._read_places([]):
            if isinstance(one, FoundTurn) and self._is_inside(one.cwd):
                cwd = one.cwd if os.path.isabs(one.cwd) else ""
                yield (
                    one.path,
                    ParsedLine(one.session, one.role, one.text, one.at, one.id, cwd=cwd, doubtful=True),
                )

    def _known_hashes(self) -> set[str]:
        """Return the hashes of the texts that came from this source before, and of the facts that hold."""
        database = self.memory.database
        came = database.column("SELECT text FROM proposals WHERE origin = ?", (self.origin,))
        return {
            *(text_hash(text) for text in came),
            *database.column("SELECT text_hash FROM facts WHERE status = 'active'"),
        }

    def _is_inside(self, folder: str) -> bool:
        """Tell whether a folder, or a project given by name or by the digest of its path, belongs to this memory's
        project."""
        return not self.project or is_in_project(folder, self.project)


def is_in_project(folder: str, project: str) -> bool:
    """Tell whether a folder, or a project given by name or by the digest of its path, is the project, a folder or the
    name of one; true where no folder is given."""
    if not folder:
        return True
    if not os.path.isabs(project):
        return project.casefold() in folder.casefold().split(os.sep)
    if not os.path.isabs(folder):
        digest = sha256(os.path.realpath(project).encode("utf-8", "surrogateescape")).hexdigest()
        return folder.casefold() in (os.path.basename(project).casefold(), digest)
    try:
        real, own = os.path.realpath(folder), os.path.realpath(project)
    except ValueError:  # a zero byte: no path
        return False
    return real == own or real.startswith(os.path.join(own, ""))


def _record_as_dict(one: FoundMemory) -> dict[str, object]:
    """Return what would come of a memory, without secrets."""
    said = {"text": one.text, "tags": one.tags, **(one.decision._asdict() if one.decision else {})}
    about = select_fields(one, "path", "line", "created", "pinned")
    about["kind"] = "decision" if one.decision else "fact"
    for name, value in said.items():
        about[name] = clean_text(value) if isinstance(value, str) else [*map(clean_text, value)]
    return about


def _decision_texts(one: FoundMemory) -> Iterator[str]:
    """Yield the texts by which a purge knows a decision, and what was chosen."""
    if one.decision is not None:
        chosen = clean_text(one.decision.chosen).strip()
        yield decision_text(clean_text(one.text).strip(), chosen)
        yield chosen


FOREIGN_MEMORIES = ForeignMemories(count_memories, count_conversations, read_conversations)
