"""Bring in the memory of another tool: seen first, as proposals, with the place that each comes from.

What was brought in before, in whatever state it is now, what is known as a fact, and what was purged here is left out,
so that a second import changes nothing. Memories become proposals in one step of history, which one undo takes back;
conversations become turns, which history never rolls back, and what is learned from them is proposed too.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice

from store.base.citations import Citation
from store.base.errors import InvalidInput, NotFound, Purged
from store.base.vocabulary import SOURCE_PARTS
from store.database.erasure.tombstones import buried, decision_text
from store.database.values import clean
from store.inbox.proposal_basis import ProposalQuestion
from store.ingest.parsed_line import ParsedLine
from store.ingest.runner import DOUBTFUL, IngestReport, ingest_lines
from store.memory import Memory
from store.records.fact_rows import MAX_CHARACTERS, text_hash
from store.sources.readers import claude_code
from store.sources.registry import AGENTS, detected, reader
from store.sources.source import Found, FoundDocument, FoundMemory, FoundTurn, Machine, Trouble
from store.text.prompt_injection import suspicious

LAST_LINE = 999_999_999  # that a citation can name
EVERY = 200  # records between two reports of progress
MEMORIES, CONVERSATIONS = SOURCE_PARTS
MOST = 5_000  # conversations of an agent that are counted
STEP = 10_000  # records of one step of history, which keeps other writers waiting for some seconds


class Stopped(Exception):
    """A person stopped the import; nothing of the step under way is kept."""


@dataclass(slots=True)
class SourceImportReport:
    """What was brought in: `proposed` proposals, or, trusted, `accepted` records, in one of the `steps` of history (in
    several from STEP on); and turns."""

    steps: list[int] = field(default_factory=list)
    checkpoint: int | None = None
    proposed: int = 0
    accepted: int = 0
    turns: int = 0
    sessions: int = 0
    stopped: bool = False


@dataclass(slots=True)
class SourcePreview:
    """What a source holds for this memory. `fresh` would come; `known` came before or is a fact already, `purged` was
    erased here, `elsewhere` is of another project, `long` is too long for a fact. Of those that would come `flagged`
    reads like instructions to an agent, and `secret` holds a secret, which is cut. `documents` are files with prose,
    which stay where they are."""

    fresh: list[FoundMemory] = field(default_factory=list)
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
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def decisions(self) -> int:
        return sum(one.decision is not None for one in self.fresh)


def machine(project: str = "") -> Machine:
    """Return this machine, for the tools that are looked for."""
    return Machine(os.path.expanduser("~"), os.environ, sys.platform, project)


def found_sources(memory: Memory) -> dict[str, list[str]]:
    """Return the tools that keep something on this machine for this memory's project, with the places."""
    return detected(machine(memory.location.project or ""))


def found_conversations(memory: Memory) -> dict[str, int]:
    """Return how many conversations, MOST at most, agents on this machine keep of this memory's project. No more is
    looked at than where each was held: for Claude Code the names of the files, for others what says the folder."""
    project = memory.location.project
    if not project:
        return {}
    where, found = machine(project), {}
    for name in AGENTS:
        several = (folder for place in reader(name).detect(where) for folder in reader(name).conversations(place))
        if number := sum(1 for _ in islice((one for one in several if inside(one, project)), MOST)):
            found[name] = number
    return found


class SourceImport:
    """One import of one tool's memory: `path` names where it is, else it is looked for where it lies by default, and
    what belongs to other projects is left out unless `every`; `only` one of SOURCE_PARTS. Raise InvalidInput or
    NotFound."""

    def __init__(self, memory: Memory, name: str, path: str = "", every: bool = False, only: str = "") -> None:
        self.memory = memory
        self.only = only
        self.reader = reader(name)
        self.name = name
        self.project = "" if path or every else memory.location.project or ""
        if path and not os.path.lexists(path):
            raise NotFound(f"There is no {path}.", "Look at its name, or leave it out.")
        self.places = [path] if path else self.reader.detect(machine(self.project))
        if not self.places:
            others = bool(self.project and self.reader.detect(machine()))
            where = "for this project" if others else "here"
            all_too = "; --all brings those of all projects" if others else ""
            raise NotFound(
                f"Nothing of {self.reader.title} was found {where}.", f"Name the place: import {name} PATH{all_too}."
            )
        self.preview = SourcePreview()

    @property
    def origin(self) -> str:
        return f"import:{self.name}"

    def look(self, progress: Callable[[int], None] = lambda done: None) -> SourcePreview:
        """Read the source, and sort what it holds; write nothing. `progress` is called with the records read."""
        found, known, gone = SourcePreview(), self._known(), buried(self.memory.database)
        documents = set[str]()
        for done, one in enumerate(self._read(found.troubles), 1):
            if done % EVERY == 0:
                progress(done)
            if isinstance(one, FoundDocument):
                documents.add(one.path)
            elif isinstance(one, FoundTurn):
                inside = self._inside(one.cwd)
                found.turns += inside
                found.turns_elsewhere += not inside
            elif not self._inside(one.project):
                found.elsewhere += 1
            elif len(one.text) > MAX_CHARACTERS:
                found.long += 1
            elif (digest := text_hash(text := clean(one.text).strip())) in known:
                found.known += 1
            elif gone(text) or any(gone(part) for part in _decided(one)):
                found.purged += 1
            else:
                known.add(digest)
                found.fresh.append(one)
                found.domains[one.domain] += 1
                found.flagged += suspicious(one.text)
                found.secret += any(clean(part) != part for part in _parts(one))
        found.documents = sorted(documents)
        self.preview = found
        return found

    def apply(
        self,
        trust: bool = False,
        progress: Callable[[int], None] = lambda done: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> SourceImportReport:
        """Bring in what `look` found: a checkpoint, then one step of history, then the turns in batches. Stopped, the
        step is given up whole, and turns that were brought in stay; the next import goes on from there. Raise
        StorageError."""
        report = SourceImportReport()
        if self.preview.fresh:
            report.checkpoint = self.memory.checkpoints.take(f"before import {self.name}", actor=self.origin)
            for first in range(0, len(self.preview.fresh), STEP):
                try:
                    new = self._propose(self.preview.fresh[first : first + STEP], trust, report, progress, cancelled)
                except Stopped:
                    report.stopped = True
                    return report
                report.accepted += new * trust
                report.proposed += new * (not trust)
        if self.preview.turns and not cancelled():
            turned = self.read_conversations(IngestReport(), progress, cancelled)
            report.turns, report.sessions = turned.added, len(turned.sessions)
        report.stopped = cancelled()
        return report

    def read_conversations(
        self,
        report: IngestReport,
        progress: Callable[[int], None] = lambda done: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IngestReport:
        """Bring in the turns alone, also without a `look` before."""
        return ingest_lines(
            self.memory.database,
            self._lines(),
            origin=DOUBTFUL,
            project=self.project,
            report=report,
            progress=progress,
            cancelled=cancelled,
        )

    def _propose(
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
                if done % EVERY == 0:
                    progress(done)
                    if cancelled():
                        raise Stopped
                question = self._question(one, write.at)
                try:
                    new += (inbox.trust(write, question) if trust else inbox.ask(write, question))[1]
                except (Purged, InvalidInput):
                    continue
            write.reason = f"import {new} of {self.name}"
        if write.seq is not None:
            report.steps.append(write.seq)
        return new

    def _question(self, one: FoundMemory, now: str) -> ProposalQuestion:
        line = min(one.line, LAST_LINE)
        place = Citation("document", one.path, line, min(max(one.last, line), LAST_LINE))
        change: dict[str, object] = {
            "fact": one.text,
            "domain": one.domain,
            "confidence": "medium",
            "tags": list(one.tags),
            "created": min(one.created, now) if one.created else "",
        }
        if one.decision is not None:
            change = {
                "fact": one.text,
                "created": change["created"],
                "decision": {
                    "chosen": one.decision.chosen,
                    "alternatives": list(one.decision.alternatives),
                    "rationale": one.decision.rationale,
                },
            }
        about = [f"From {self.reader.title}", one.place, f"session {one.session}" if one.session else ""]
        reason = [f"{', '.join(filter(None, about))}.", one.note]
        if one.pinned:
            reason.append("It is pinned there.")
        if suspicious(one.text):
            reason.append("It looks like an instruction to agents.")
        quote = one.decision.chosen if one.decision else one.text
        return ProposalQuestion(
            "add",
            {name: value for name, value in change.items() if value not in ("", [])},
            None,
            ({"citation": str(place), "quote": quote},),
            self.origin,
            " ".join(filter(None, reason)),
        )

    # reading

    def _read(self, troubles: list[Trouble]) -> Iterator[Found]:
        for place in self.places:
            if self.only == MEMORIES and self.name == claude_code.CLAUDE_CODE.name:
                yield from claude_code.read_memories(place, troubles)
            elif self.only != MEMORIES or self.name not in AGENTS:
                yield from (one for one in self.reader.read(place, troubles) if self._wanted(one))

    def _wanted(self, one: Found) -> bool:
        return not self.only or isinstance(one, FoundTurn) == (self.only == CONVERSATIONS)

    def _lines(self) -> Iterator[tuple[str, ParsedLine]]:
        for one in self._read([]):
            if isinstance(one, FoundTurn) and self._inside(one.cwd):
                cwd = one.cwd if os.path.isabs(one.cwd) else ""
                yield one.path, ParsedLine(one.session, one.role, one.text, one.at, one.id, cwd=cwd, doubtful=True)

    def _known(self) -> set[str]:
        """Return the hashes of the texts that came from this source before, and of the facts that hold."""
        database = self.memory.database
        came = database.rows("SELECT text FROM proposals WHERE origin = ?", (self.origin,))
        return {
            *(text_hash(text) for (text,) in came),
            *(digest for (digest,) in database.rows("SELECT text_hash FROM facts WHERE status = 'active'")),
        }

    def _inside(self, folder: str) -> bool:
        """Return whether something of a folder, or of a project of that name or of a path with that digest, belongs to
        this memory's project."""
        return not self.project or inside(folder, self.project)


def inside(folder: str, project: str) -> bool:
    """Return whether a folder, or a project of that name or of a path with that digest, is a project's; also where
    none is named."""
    if not folder:
        return True
    if not os.path.isabs(folder):
        digest = sha256(os.path.realpath(project).encode("utf-8", "surrogateescape")).hexdigest()
        return folder.casefold() in (os.path.basename(project).casefold(), digest)
    try:
        real, own = os.path.realpath(folder), os.path.realpath(project)
    except ValueError:  # a zero byte: no path
        return False
    return real == own or real.startswith(os.path.join(own, ""))


def _decided(one: FoundMemory) -> Iterator[str]:
    """Yield the texts by which a purge knows a decision, and what was chosen."""
    if one.decision is not None:
        chosen = clean(one.decision.chosen).strip()
        yield decision_text(clean(one.text).strip(), chosen)
        yield chosen


def _parts(one: FoundMemory) -> tuple[str, ...]:
    """Return all texts of a memory."""
    if one.decision is None:
        return (one.text,)
    return (one.text, one.decision.chosen, one.decision.rationale, *one.decision.alternatives)
