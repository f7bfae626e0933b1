"""Merge the lines of a file with the facts of a memory: pure rules, nothing is written.

Each line is compared with its text in the version of the section that the file carries, and with the fact as it is now.
What one side alone changed is taken; what both changed is asked about, and what came by git, or is too much at once.
"""

import json
import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.location import checkout_root
from store.base.runtime import never_cancelled
from store.base.vocabulary import DOMAINS, FILE_ORIGIN
from store.context.selection import find_accepted_ids
from store.database.database import Database
from store.database.values import clean_text
from store.documents.sections import close_fence, open_fence, parse_section_file
from store.git.process import GitError, run_git
from store.git.repository import git_folders, list_head_moves, read_head_sha
from store.records.facts import AGE_STATES, age_state_sql, text_hash
from store.text.fence import strip_invisible
from store.text.similarity import text_ratio

# The lines of a section: facts as a list under headings by domain, each with its citation at the end.
#
# A fact of several lines is one item, its further lines indented. What is no item, a table or a block of code, is kept
# as it is and put below the section.

# in the order of the file; the heading is the domain with a capital
FILE_DOMAINS = tuple(domain for domain in DOMAINS if domain != "self_correction")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+(.*?))?[ \t]*#*[ \t]*")
# directly behind a query it is a part of an address: `https://example.org/?q=[F#1]`
_CITED_LINE = re.compile(r"(.*?)(?:[ \t]+|(?<![=&]))\[F#([1-9]\d{0,17})\][ \t]*", re.DOTALL)
_INDENT = re.compile(r"  |\t*")
# an item, a heading, code
_BEGINS = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|#{1,6}(?:[ \t]|$)|`{3}|~{3}")
_NO_ITEM = re.compile(r"[|>]|<[!/a-zA-Z]|([-*_=])\1{2,}\s*$|\[\^?[^\]]+\]:")


class SectionLine(NamedTuple):
    """An item of a section: its `text`, without the citation; the `fact` that it cites, None for a new one; the
    `domain` of the heading above it, empty where that names none, and then `heading` is its text; the number of its
    first line in the file."""

    text: str
    fact: int | None
    domain: str
    heading: str
    number: int

    @property
    def shape(self) -> str:
        return normalize_line(self.text)

    @property
    def full_text(self) -> str:
        """The text as if the citation were a part of it."""
        return f"{self.text} [{cite('fact', self.fact)}]" if self.fact is not None else self.text


class SectionContent(NamedTuple):
    """What a section holds: its items, and blocks of lines that are none, to be kept as they are."""

    items: list[SectionLine]
    others: list[str]


def normalize_line(text: str) -> str:
    """Return a text as it is compared: without invisible characters, each run of spaces and line ends one space."""
    return " ".join(strip_invisible(text).split())


def digest_section_line(key: bytes, text: str) -> bytes:
    """Return 16 bytes that identify a text in one memory."""
    return blake2b(normalize_line(text).encode("utf-8", "replace"), digest_size=16, key=key[:64]).digest()


LineDigest = Callable[[str], bytes]


def format_section_item(text: str, fact: int | None) -> list[str]:
    """Return the lines of an item. The citation is at the end of the last line, or of the first where the last ends a
    block of code."""
    first, *rest = [line.rstrip() for line in strip_invisible(text).strip().split("\n")]
    lines = [f"- {first.lstrip()}", *(f"  {line}" if line else "" for line in rest)]
    if fact is not None:
        lines[0 if open_fence(lines[-1]) else -1] += f" [{cite('fact', fact)}]"
    return lines


def format_section(items: Iterable[tuple[str, str, int | None]]) -> list[str]:
    """Return the lines of a section with these items, (domain, text, fact), by domain and otherwise in this order."""
    groups: dict[str, list[str]] = {domain: [] for domain in FILE_DOMAINS}
    for domain, text, fact in items:
        groups.get(domain, groups["general"]).extend(format_section_item(text, fact))
    lines: list[str] = []
    for domain, some in groups.items():
        if some:
            lines += ["", f"## {domain.capitalize()}", "", *some]
    return [*lines, ""]


def parse_section(lines: Sequence[str], first: int, domains: Iterable[str] = FILE_DOMAINS) -> SectionContent:
    """Parse the lines of a section. `first` is the number of its first line; `domains` are the domains that a
    heading may name."""
    content, known = SectionContent([], []), frozenset(domains)
    domain = heading = ""
    # a heading that nothing new stands under, which would be lost
    unused: list[str] = []
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        at += 1
        if match := _HEADING.fullmatch(line):
            content.others.extend(unused)
            heading = (match[1] or "").strip()
            domain = heading.casefold() if heading.casefold() in known else ""
            unused = [f"## {heading}"] if heading and not domain else []
        elif fence := open_fence(line):
            # of one that is never closed, its first line
            at = (close_fence(lines, start, fence) or start) + 1
            content.others.extend(["", *lines[start:at]])
        elif _NO_ITEM.match(line):
            while at < len(lines) and lines[at].strip() and not _BEGINS.match(lines[at]):
                at += 1
            content.others.extend(["", *lines[start:at]])
        elif line.strip():
            at = _end_of_item(lines, at)
            text, fact = _parse_item(lines[start:at])
            if text or fact is not None:
                content.items.append(SectionLine(text, fact, domain, "" if domain else heading, first + start))
                unused = [] if fact is None else unused
    content.others.extend(unused)
    return content


def _end_of_item(lines: Sequence[str], at: int) -> int:
    """Return the index after an item whose first line is just before `at`: indented lines, also after blank ones, and
    lines that go on without indentation."""
    end = at
    for place in range(at, len(lines)):
        line = lines[place]
        if not line.strip():
            continue
        goes_on = line[0] in " \t" or not (_BEGINS.match(line) or _NO_ITEM.match(line))
        if not (goes_on if place == end else line.startswith(("  ", "\t"))):
            break
        end = place + 1
    return end


def _parse_item(lines: Sequence[str]) -> tuple[str, int | None]:
    """Return the text of an item and the fact that it cites, at the end of its last line or of its first."""
    match = _ITEM.fullmatch(lines[0])
    first = (match[1] or "") if match else lines[0]
    texts = [first, *(_INDENT.sub("", line, count=1) for line in lines[1:])]
    fact = None
    for at in (-1, 0):
        if fact is None and (cited := _CITED_LINE.fullmatch(texts[at])):
            texts[at], fact = cited[1], int(cited[2])
    return "\n".join(texts).strip(), fact


# The facts of a memory, as a synced file needs them: which belong in it, and what each is now.

# facts of one file
MOST_FILE_FACTS = 2_000


class FileFact(NamedTuple):
    """What a file needs of an active fact: see `models.Fact`."""

    id: int
    domain: str
    fact: str
    origin: str
    source: str


class FileFacts:
    """The facts of one memory at one moment, for a file that cites these `numbers`. `personal` is whether it is a
    person's own memory, of no project; `digest` that of a line in this memory.

    `writable` are those that belong in the file, by id, `too_many` whether more would; `unaccepted` those that came
    from a file and nobody accepted: their lines stay in it."""

    def __init__(self, database: Database, personal: bool, numbers: Iterable[int], digest: LineDigest) -> None:
        self._database = database
        self.digest = digest
        self._by_text: dict[str, FileFact | None] = {}
        state = age_state_sql(database.clock())
        stale, low = AGE_STATES.index("stale"), AGE_STATES.index("low")
        candidates = self._read_active(
            f"domain <> 'self_correction' AND (? OR domain <> 'personal') AND scope <> 'session' AND {state} < {stale}"
            f" AND NOT (confidence = 'low' AND {state} = {low}) AND id NOT IN (SELECT fact_id FROM mutes)"
            " ORDER BY pinned DESC, importance DESC, id LIMIT ?",
            int(personal),
            3 * MOST_FILE_FACTS,
        )
        yes = find_accepted_ids(database, candidates)
        self.unaccepted = {
            fact.id: fact for fact in candidates if fact.origin == FILE_ORIGIN and fact.id not in yes
        }
        right = [fact for fact in candidates if fact.id in yes]
        self.writable = {fact.id: fact for fact in right[:MOST_FILE_FACTS]}
        self.too_many = len(right) > MOST_FILE_FACTS
        others = self._read_active("id IN (SELECT value FROM json_each(?))", json.dumps([*set(numbers)]))
        self._heads: dict[int, FileFact | None] = {fact.id: fact for fact in (*candidates, *others)}

    def _read_active(self, where: str, *parameters: object) -> list[FileFact]:
        """Return the active facts for which a condition holds."""
        columns = ", ".join(FileFact._fields)
        rows = self._database.rows(f"SELECT {columns} FROM facts WHERE status = 'active' AND {where}", parameters)
        return [FileFact(*row) for row in rows]

    def belongs(self, number: int) -> bool:
        """Return whether a fact has a line in the file."""
        return number in self.writable or number in self.unaccepted

    def current_fact(self, number: int) -> FileFact | None:
        """Return the active fact that this fact is or became; None if it was forgotten or erased."""
        if number not in self._heads:
            newest: int | None = number
            sql = "SELECT max(id) FROM facts WHERE supersedes = ?1 AND id > ?1"
            while newest is not None and not (found := self._read_active("id = ?", newest)):
                newest = self._database.value(sql, (newest,))
            self._heads[number] = found[0] if newest is not None else None
        return self._heads[number]

    def find_same(self, text: str) -> FileFact | None:
        """Return the active fact with this text, in any spelling."""
        wanted = text_hash(text)
        if wanted not in self._by_text:
            found = self._read_active("text_hash = ? ORDER BY id LIMIT 1", wanted)
            self._by_text[wanted] = found[0] if found else None
        return self._by_text[wanted]


# What git brought into a file: the lines that differ between two checked out commits, unless the person committed them
# here themselves.
#
# Read only for a file that changed, and where HEAD was moved by more than commits made here, by some short processes of
# git. Where the repository cannot be read, nothing is known to have come by it.

# of HEAD that are looked at; after more everything counts as brought
MOST_HEAD_MOVES = 12
# files in git's folder while it is in the middle of something
BUSY_FILES = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


@dataclass(slots=True)
class GitChanges:
    """What git brought: `head` is the commit that is checked out now; `added` are the digests of the lines that came,
    `gone` the facts whose lines went; `whole` is whether it cannot be told, and everything counts as brought; `clean`
    whether the file is as that commit has it."""

    head: str = ""
    added: set[bytes] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    whole: bool = False
    clean: bool = False

    @property
    def any(self) -> bool:
        return self.whole or bool(self.added or self.gone)

    def has_removed(self, fact: int) -> bool:
        """Return whether the line of this fact went by git."""
        return self.whole or fact in self.gone


def git_activity(path: str) -> str:
    """Return what git is in the middle of in the checkout of a file, in words; empty if nothing."""
    root = checkout_root(os.path.dirname(path))
    found = git_folders(root) if root else None
    for name, words in BUSY_FILES.items():
        if found and os.path.lexists(os.path.join(found[0], name)):
            return words
    return ""


def read_git_changes(path: str, raw: bytes, before: str, after: int, name: str, digest: LineDigest) -> GitChanges:
    """Return what git brought into the file at `path`, whose content is `raw`, since the commit `before` was checked
    out and the file was written last, at `after` (in seconds): git may have come back to that commit, or was not there
    yet; without either only `head` is read. `name` is that of the memory's section."""
    root = checkout_root(os.path.dirname(path))
    if root is None:
        return GitChanges()
    place = os.path.relpath(path, root).replace(os.sep, "/")
    try:
        changes = GitChanges(read_head_sha(root) or _read_head(root))
        moves = list_head_moves(root, before, after) if changes.head and (before or after) else []
        if moves is None:
            moves = [(before, changes.head)] if before not in ("", changes.head) else []
        changes.whole = len(moves) > MOST_HEAD_MOVES
        for commits in moves[:MOST_HEAD_MOVES]:
            earlier, later = (_read_section_at(root, commit, place, name, digest) for commit in commits)
            if later is None or earlier is None:
                changes.whole = True
                continue
            changes.added |= {text for _, text in later - earlier}
            changes.gone |= {fact for fact, _ in earlier if fact} - {fact for fact, _ in later}
        changes.clean = changes.any and _read_at_commit(root, changes.head, place) == raw
    except GitError:
        return GitChanges()
    return changes


def _read_head(root: str) -> str:
    """Return the commit that is checked out, as git says; empty before the first. Raise GitError."""
    with run_git(root, "rev-parse", "--quiet", "--verify", "HEAD") as child:
        return "".join(child.read_words(never_cancelled, accepted=(0, 1)))


def _read_at_commit(root: str, commit: str, place: str) -> bytes:
    """Return a file as a commit has it; empty where it has none. Raise GitError."""
    with run_git(root, "cat-file", "blob", f"{commit}:{place}") as child:
        raw = b"".join(child.read_chunks(never_cancelled))
        return raw if child.process.wait() == 0 else b""


def _read_section_at(
    root: str, commit: str, place: str, name: str, digest: LineDigest
) -> set[tuple[int, bytes]] | None:
    """Return the lines of a section at a commit as (fact or 0, digest); None where they cannot be read."""
    raw = _read_at_commit(root, commit, place)
    try:
        file = parse_section_file(raw, name)
    except MemorandaError:
        return None
    return {(item.fact or 0, digest(item.text)) for item in parse_section(file.lines, file.first).items}


# lines that are deleted at once, and of all, from which on each is asked about
MANY_DELETED, DELETED_SHARE = 5, 0.5
# of two texts, from which one is the other reworded; pairs of texts that are compared so
MIN_REWORDED, MOST_REWORDED = 0.75, 20_000
# the digest of a deleted line
DELETED_DIGEST = b""
# the state of a proposal
WAITING_STATE = "waiting"


class LineChange(NamedTuple):
    """A change of one line: `verb` is add, correct, conflict, forget or move; `line` as the file has it (None where it
    was deleted); `fact` the one that it is about; `cited` the number that the line has, 0 without one. `why` it is
    asked about, empty where it is taken."""

    verb: str
    line: SectionLine | None
    fact: FileFact | None = None
    cited: int = 0
    why: str = ""


@dataclass(slots=True)
class MergePlan:
    """What a merge does: `changes` in the order of the file; `rows`, the items of the section afterwards, each a fact
    that is in it or a line that stays as it is until it is decided; `held`, the numbers of lines that are compared with
    the same text again, since what was changed of them is not decided."""

    changes: list[LineChange] = field(default_factory=list)
    rows: list[FileFact | SectionLine] = field(default_factory=list)
    held: set[int] = field(default_factory=set)


@dataclass(slots=True)
class LineMerge:
    """One merge. `base` is the digest of each line of the file's version, or, where that is unknown, of the newest one:
    then no line that is missing `deletes` a fact. `pending` is the state of each proposal that a line of this file
    made, by (number cited, digest), `asked` the text with which the line of a fact waits; `came` what git brought,
    `known` each (fact, digest) that a line ever had here; with `review` everything is asked about."""

    facts: FileFacts
    base: Mapping[int, bytes]
    deletes: bool
    pending: Mapping[tuple[int, bytes], str]
    asked: Mapping[int, str]
    came: GitChanges
    known: Container[tuple[int, bytes]]
    review: bool
    plan: MergePlan = field(default_factory=MergePlan)
    # facts that are in the file already
    _kept: set[int] = field(default_factory=set)
    # of new lines
    _texts: set[str] = field(default_factory=set)

    def make_plan(self, items: Sequence[SectionLine], newest: Iterable[int] = ()) -> MergePlan:
        """Return what to do with these items of the section; `newest` are the facts whose lines its newest version
        has."""
        lines = self._identify_facts([item for item in items if item.text])
        deleted = self._missing_lines(lines) if self.deletes else []
        for item in lines:
            self._merge_line(item)
        self._take_deleted(deleted)
        rest = [*self.facts.writable.values(), *filter(None, map(self.facts.unaccepted.get, newest))]
        self.plan.rows += [fact for fact in rest if fact.id not in self._kept]
        return self.plan

    def _is_unchanged(self, item: SectionLine) -> bool:
        """Return whether a line says what it said in the file's version."""
        return item.fact is not None and self.facts.digest(item.text) == self.base.get(item.fact)

    def _says_same(self, item: SectionLine, head: FileFact | None) -> bool:
        """Return whether a line says what a fact says."""
        return head is not None and self.facts.digest(item.text) == self.facts.digest(head.fact)

    # whose line is it

    def _identify_facts(self, items: Sequence[SectionLine]) -> list[SectionLine]:
        """Return the items, each with the fact that it is really about, or none."""
        found = [self._drop_false_citation(item) for item in items]
        first: dict[int | None, int] = {}
        # of a line that was copied the one with the old text keeps the citation
        for at in sorted(range(len(found)), key=lambda at: not self._is_unchanged(found[at])):
            if first.setdefault(found[at].fact, at) != at:
                found[at] = found[at]._replace(fact=None)
        return self._match_reworded(found)

    def _drop_false_citation(self, item: SectionLine) -> SectionLine:
        """Return an item without a citation that it cannot have: of a line that was not in the file, unless it says the
        same as that fact; and of words that are the end of a text."""
        if item.fact is None or self._is_unchanged(item):
            return item
        whole = self.facts.find_same(item.full_text)
        if whole is not None and normalize_line(whole.fact) == normalize_line(item.full_text):
            return item._replace(text=item.full_text, fact=None)
        if item.fact in self.base or self._says_same(item, self.facts.current_fact(item.fact)):
            return item
        return item._replace(fact=None)

    def _match_reworded(self, items: list[SectionLine]) -> list[SectionLine]:
        """Return the items, those that lost their citation with the one of the missing line that said the same, also
        while its change waits, or that they resemble."""
        gone = set(self._missing_lines(items))
        bare = [
            at for at, item in enumerate(items) if item.fact is None and self.facts.find_same(item.text) is None
        ]
        said = {text: number for number, text in self.pending if number in gone}
        said |= {self.base[number]: number for number in gone}

        def cite_pairs(pairs: Iterable[tuple[float, int, int]]) -> None:
            for _, at, number in sorted(pairs):
                if at in bare and number in gone:
                    items[at] = items[at]._replace(fact=number)
                    bare.remove(at)
                    gone.remove(number)

        cite_pairs((0.0, at, said.get(self.facts.digest(items[at].text), 0)) for at in bare)
        missing = [number for number in gone if not self.came.has_removed(number)]
        if len(missing) * len(bare) <= MOST_REWORDED:
            cite_pairs(
                (-score, at, number)
                for at in bare
                for number in missing
                if (score := self._score_reworded(items[at], number))
            )
        return items

    def _score_reworded(self, item: SectionLine, number: int) -> float:
        """Return how much a line resembles a fact, or what it is to become; 0 if it is not the same reworded."""
        head, words = self.facts.current_fact(number), normalize_line(item.text).casefold()
        texts = {self.asked.get(number), head.fact if head is not None else None} - {None}
        least = 100 * MIN_REWORDED
        return max((text_ratio(words, normalize_line(one or "").casefold(), least) for one in texts), default=0)

    # what is done with it

    def _merge_line(self, item: SectionLine) -> None:
        """Merge one line of the file with its fact."""
        number = item.fact or 0
        head = self.facts.current_fact(number) if number else None
        if head is None and number not in self.base:
            self._take_new(item)
        elif head is None:
            if not self._is_unchanged(item):
                self._take_new(item, "It was forgotten here, and changed in the file.", number)
        elif number not in self.base or self._is_unchanged(item) or self._says_same(item, head):
            self._keep_line(head, item)
        elif self.facts.digest(head.fact) == self.base[number]:
            self._take_changed("correct", item, head, self._reason_to_ask(item))
        else:
            self._take_changed("conflict", item, head, "It was changed here and in the file.")

    def _keep_line(self, head: FileFact, item: SectionLine) -> None:
        """Keep a line whose text the memory has, unless it is a copy; under another heading it is moved."""
        if head.id not in self._kept and self.facts.belongs(head.id):
            self.plan.rows.append(head)
            if item.domain and item.domain != head.domain and not self.came.any and not self.review:
                self.plan.changes.append(LineChange("move", item, head, item.fact or 0))
        self._kept.add(head.id)

    def _ask_or_take(self, change: LineChange, text: bytes) -> bool:
        """Plan a change to this text, if it is new; return whether it is undecided, so that the line stays as it is."""
        state = self.pending.get((change.cited, text))
        if state is None:
            self.plan.changes.append(change)
        if undecided := state in (None, WAITING_STATE):
            self.plan.held.add(change.cited)
        return undecided

    def _take_changed(self, verb: str, item: SectionLine, head: FileFact, why: str) -> None:
        """Take a line with another text, or keep it as it is until that is decided."""
        change = LineChange(verb, item, head, item.fact or 0, why)
        text = self.facts.digest(item.text)
        key = (change.cited, text)
        # git brought back what the line said here once
        back = self.came.any and key in self.known and key not in self.pending
        if back or not self._ask_or_take(change, text):
            self._keep_line(head, item)
        else:
            self._kept.add(head.id)
            self.plan.rows.append(item)

    def _take_new(self, item: SectionLine, why: str = "", cited: int = 0) -> None:
        """Take a line that is new, or keep the one that says the same."""
        known = self.facts.find_same(item.text)
        if known is not None:
            if known.id in self._kept or self.facts.belongs(known.id):
                self._keep_line(known, item)
                return
            why = why or "It is known, and no agent is sent it."
        if (words := normalize_line(item.text)) not in self._texts:
            self._texts.add(words)
            change = LineChange("add", item, None, cited, why or self._reason_to_ask(item))
            if self._ask_or_take(change, self.facts.digest(item.text)):
                self.plan.rows.append(item)

    def _reason_to_ask(self, item: SectionLine) -> str:
        """Return why a change of this line is asked about; empty if it is taken."""
        if clean_text(item.text) != item.text:
            return "It holds what looks like a secret, which is cut."
        brought = self.came.whole or self.facts.digest(item.text) in self.came.added
        return "It came by git." if brought else self._review_reason()

    def _review_reason(self) -> str:
        return "You asked to review each change of a file." if self.review else ""

    # what was deleted

    def _missing_lines(self, items: Iterable[SectionLine]) -> list[int]:
        """Return the lines of the file's version whose facts hold, and that no item cites or says."""
        there = {item.fact for item in items}
        there |= {fact.id for item in items if item.fact is None and (fact := self.facts.find_same(item.text))}
        heads = [(number, self.facts.current_fact(number)) for number in self.base]
        return [number for number, head in heads if head and there.isdisjoint((number, head.id))]

    def _take_deleted(self, gone: Sequence[int]) -> None:
        """Take the deletion of lines, or ask about it."""
        fresh = sum((number, DELETED_DIGEST) not in self.pending for number in gone)
        many = fresh >= MANY_DELETED and fresh >= DELETED_SHARE * len(self.base)
        for number in gone:
            head = self.facts.current_fact(number)
            if head is None or head.id in self._kept:
                continue
            why = f"{fresh:,} of {len(self.base):,} lines were deleted at once." if many else self._review_reason()
            if self.facts.digest(head.fact) != self.base[number]:
                why = "It was changed here, and deleted in the file."
            elif self.came.has_removed(number):
                why = "It was deleted by git."
            if self._ask_or_take(LineChange("forget", None, head, number, why), DELETED_DIGEST):
                # it is not written again
                self._kept.add(head.id)
