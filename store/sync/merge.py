"""Merge the lines of a file with the facts of a memory: pure rules, nothing is written.

Each line is compared with its text in the version of the section that the file carries, and with the fact as it is now.
What one side alone changed is taken; what both changed is asked about, and what came by git, or is too much at once.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from store.base.citations import cite, parse_citation
from store.base.errors import InvalidInput, MemorandaError
from store.base.location import checkout_root
from store.base.runtime import never_cancelled
from store.base.vocabulary import DOMAINS, FILE_ORIGIN
from store.context.selection import find_accepted_ids
from store.database.database import Database
from store.database.values import clean_text
from store.documents.sections import parse_section_file
from store.git.process import GitError, run_git
from store.git.repository import git_folders, list_head_moves, read_head_sha
from store.records.facts import AGE_STATES, age_state_sql, text_hash
from store.text.fence import strip_invisible
from store.text.similarity import text_ratio

# The lines of a section: facts as a list under headings by domain, each with its citation at the end.
#
# A fact of several lines is one item, its further lines indented. What is no item, a table or a block of code, is kept
# as
# it is and put below the section.

# in the order of the file
FILE_DOMAINS = tuple(domain for domain in DOMAINS if domain != "self_correction")
DOMAIN_TITLES = {domain: domain.capitalize() for domain in FILE_DOMAINS}
_BY_TITLE = {title.casefold(): domain for domain, title in DOMAIN_TITLES.items()}
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+(.*?))?[ \t]*#*[ \t]*")
# directly behind a query it is a part of an address: `https://example.org/?q=[F#1]`
_CITED_LINE = re.compile(r"(.*?)(?:[ \t]+|(?<![=&]))\[([^\[\]\s]{3,24})\][ \t]*", re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})")
# an item, a heading, code
_BEGINS = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|#{1,6}(?:[ \t]|$)|`{3}|~{3}")
_NO_ITEM = re.compile(r"[|>]|<[!/a-zA-Z]|([-*_=])\1{2,}[ \t]*$|\[\^?[^\]]+\]:")


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


@dataclass(slots=True)
class SectionContent:
    """What a section holds: its items, and blocks of lines that are none, to be kept as they are."""

    items: list[SectionLine] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def normalize_line(text: str) -> str:
    """Return a text as it is compared: without invisible characters, each run of spaces and line ends one space."""
    return " ".join(strip_invisible(text).split())


def digest_section_line(key: bytes, text: str) -> bytes:
    """Return 16 bytes that identify a text in one memory."""
    return blake2b(normalize_line(text).encode("utf-8", "replace"), digest_size=16, key=key[:64]).digest()


def format_section_item(text: str, fact: int | None) -> list[str]:
    """Return the lines of an item. The citation is at the end of the last line, or of the first where the last ends a
    block of code."""
    first, *rest = [line.rstrip() for line in strip_invisible(text).strip().split("\n")]
    lines = [f"- {first.lstrip()}", *(f"  {line}" if line else "" for line in rest)]
    if fact is not None:
        at = 0 if _FENCE.match(lines[-1].lstrip()) else -1
        lines[at] = f"{lines[at]} [{cite('fact', fact)}]"
    return lines


def format_section(items: Iterable[tuple[str, str, int | None]]) -> list[str]:
    """Return the lines of a section with these items, (domain, text, fact), by domain and otherwise in this order."""
    groups: dict[str, list[list[str]]] = {domain: [] for domain in FILE_DOMAINS}
    for domain, text, fact in items:
        groups.get(domain, groups["general"]).append(format_section_item(text, fact))
    lines: list[str] = []
    for domain, some in groups.items():
        if some:
            lines += ["", f"## {DOMAIN_TITLES[domain]}", "", *(line for item in some for line in item)]
    return [*lines, ""]


def parse_section(lines: Sequence[str], first: int, domains: Iterable[str] = FILE_DOMAINS) -> SectionContent:
    """Parse the lines of a section. `first` is the number of its first line; `domains` are the domains that a
    heading may name."""
    content, known = SectionContent(), frozenset(domains)
    domain, heading, used = "", "", True
    at = 0
    while at < len(lines):
        line = lines[at]
        start = at
        at += 1
        if not line.strip():
            continue
        if match := _HEADING.fullmatch(line):
            if not used:
                content.others.append(f"## {heading}")
            heading = (match[1] or "").strip()
            named = _BY_TITLE.get(heading.casefold(), "")
            domain = named if named in known else ""
            used = bool(domain) or not heading
        elif fence := _FENCE.match(line):
            end = next((later for later in range(at, len(lines)) if lines[later].startswith(fence[1])), start)
            # of one that is never closed, its first line
            at = end + 1
            content.others += ["", *lines[start:at]]
        elif (_NO_ITEM.match(line) and not _ITEM.fullmatch(line)) or _is_rule(line):
            while at < len(lines) and lines[at].strip() and not _BEGINS.match(lines[at]):
                at += 1
            content.others += ["", *lines[start:at]]
        else:
            at = _end_of_item(lines, at)
            item = _parse_item(lines[start:at], domain, heading if not domain else "", first + start)
            if item is not None:
                content.items.append(item)
                used = used or item.fact is None
    if not used:
        content.others.append(f"## {heading}")
    return content


def _is_rule(line: str) -> bool:
    """Return whether a line divides the text: `---`, `***`."""
    marks = line.rstrip()
    return len(marks) >= 3 and marks[0] in "-*_=" and not marks.strip(marks[0])


def _end_of_item(lines: Sequence[str], at: int) -> int:
    """Return the index after an item whose first line is just before `at`: indented lines, also after blank ones, and
    lines that go on without indentation."""
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            after = next((later for later in range(at, len(lines)) if lines[later].strip()), len(lines))
            if after == len(lines) or not lines[after].startswith(("  ", "\t")):
                return at
            at = after
        elif line[0] in " \t" or not (_BEGINS.match(line) or _NO_ITEM.match(line)):
            at += 1
        else:
            return at
    return at


def _parse_item(lines: Sequence[str], domain: str, heading: str, number: int) -> SectionLine | None:
    """Return an item; None for one without any text and citation."""
    match = _ITEM.fullmatch(lines[0])
    texts = [(match[1] or "") if match else lines[0], *(_outdent(line) for line in lines[1:])]
    fact = None
    for at in dict.fromkeys((-1, 0)):
        bare, fact = _split_citation(texts[at])
        if fact is not None:
            texts[at] = bare
            break
    text = "\n".join(texts).strip()
    return SectionLine(text, fact, domain, heading, number) if text or fact is not None else None


def _split_citation(line: str) -> tuple[str, int | None]:
    """Return (a line without the citation of a fact at its end, the fact); None where there is none."""
    match = _CITED_LINE.fullmatch(line)
    if match is None:
        return line, None
    try:
        found = parse_citation(match[2])
    except InvalidInput:
        return line, None
    return (match[1], int(found.target)) if found.kind == "fact" else (line, None)


def _outdent(line: str) -> str:
    """Remove the indentation of a further line of an item."""
    return line[2:] if line.startswith("  ") else line.lstrip("\t")


# The facts of a memory, as a synced file needs them: which belong in it, and what each is now.

MOST_FILE_FACTS = 2_000  # facts of one file
_FACT_COLUMNS = "id, domain, fact, origin, source"


class FileFact(NamedTuple):
    """What a file needs of an active fact: see `models.Fact`."""

    id: int
    domain: str
    fact: str
    origin: str
    source: str


class FileFacts:
    """The facts of one memory at one moment, for a file that cites these `numbers`. `personal` is whether it is a
    person's own memory, of no project.

    `writable` are those that belong in the file, by id, `too_many` whether more would; `unaccepted` those that came
    from a file and nobody accepted: their lines stay in it."""

    def __init__(self, database: Database, personal: bool, numbers: Iterable[int]) -> None:
        self._database = database
        self.key = database.get_meta("identity").encode()
        self._heads: dict[int, FileFact | None] = {}
        self._of_texts: dict[str, bytes] = {}
        self._by_text: dict[str, FileFact | None] = {}
        self.writable: dict[int, FileFact] = {}
        self._choose_facts(personal)
        missing = json.dumps([number for number in dict.fromkeys(numbers) if number not in self._heads])
        found = self._read_active("id IN (SELECT value FROM json_each(?))", missing)
        self._heads |= {fact.id: fact for fact in found}

    def _choose_facts(self, personal: bool) -> None:
        """Choose the facts that belong in the file."""
        state = age_state_sql(self._database.clock())
        stale, low = AGE_STATES.index("stale"), AGE_STATES.index("low")
        candidates = self._read_active(
            f"domain <> 'self_correction' AND (? OR domain <> 'personal') AND scope <> 'session' AND {state} < {stale}"
            f" AND NOT (confidence = 'low' AND {state} = {low}) AND id NOT IN (SELECT fact_id FROM mutes)"
            " ORDER BY pinned DESC, importance DESC, id LIMIT ?",
            int(personal),
            3 * MOST_FILE_FACTS,
        )
        yes = find_accepted_ids(self._database, candidates)
        self.unaccepted = {
            fact.id: fact for fact in candidates if fact.origin == FILE_ORIGIN and fact.id not in yes
        }
        right = [fact for fact in candidates if fact.id in yes]
        self.writable = {fact.id: fact for fact in right[:MOST_FILE_FACTS]}
        self.too_many = len(right) > MOST_FILE_FACTS
        self._heads |= {fact.id: fact for fact in candidates}

    def _read_active(self, where: str, *parameters: object) -> list[FileFact]:
        """Return the active facts for which a condition holds."""
        rows = self._database.rows(
            f"SELECT {_FACT_COLUMNS} FROM facts WHERE status = 'active' AND {where}", parameters
        )
        return [FileFact(*row) for row in rows]

    def fact_digest(self, fact: FileFact) -> bytes:
        """Return the digest of a fact's text as a line has it."""
        return self.text_digest(fact.fact)

    def text_digest(self, text: str) -> bytes:
        """Return the digest of the text of a line."""
        if text not in self._of_texts:
            self._of_texts[text] = digest_section_line(self.key, text)
        return self._of_texts[text]

    def current_fact(self, number: int) -> FileFact | None:
        """Return the active fact that this fact is or became; None if it was forgotten or erased."""
        if number not in self._heads:
            found: int | None = number
            fact = None
            while found is not None and fact is None:
                fact = next(iter(self._read_active("id = ?", found)), None)
                if fact is None:
                    found = self._database.value(
                        "SELECT max(id) FROM facts WHERE supersedes = ?1 AND id > ?1", (found,)
                    )
            self._heads[number] = fact
        return self._heads[number]

    def find_same(self, text: str) -> FileFact | None:
        """Return the active fact with this text, in any spelling."""
        wanted = text_hash(text)
        if wanted not in self._by_text:
            self._by_text[wanted] = next(
                iter(self._read_active("text_hash = ? ORDER BY id LIMIT 1", wanted)), None
            )
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
    `gone` the facts whose lines went; `known` the digests that each fact's line ever had here. `whole` is whether it
    cannot be told, and everything counts as brought; `clean` whether the file is as that commit has it."""

    head: str = ""
    added: frozenset[bytes] = frozenset()
    gone: frozenset[int] = frozenset()
    known: Mapping[int, set[bytes]] = field(default_factory=dict)
    whole: bool = False
    clean: bool = False
    key: bytes = b""

    @property
    def any(self) -> bool:
        return self.whole or bool(self.added or self.gone)

    def has_brought(self, item: SectionLine) -> bool:
        """Return whether this line came by git, whatever it cited there."""
        return self.whole or digest_section_line(self.key, item.text) in self.added

    def has_removed(self, fact: int) -> bool:
        """Return whether the line of this fact went by git."""
        return self.whole or fact in self.gone

    def has_brought_back(self, fact: int, text: bytes) -> bool:
        """Return whether git brought back a text that the line of this fact had here before."""
        return self.any and text in self.known.get(fact, ())


def git_activity(path: str) -> str:
    """Return what git is in the middle of in the checkout of a file, in words; empty if nothing."""
    root = checkout_root(os.path.dirname(path))
    found = git_folders(root) if root else None
    if found is None:
        return ""
    return next((words for name, words in BUSY_FILES.items() if os.path.lexists(os.path.join(found[0], name))), "")


def checked_out_commit(path: str) -> str:
    """Return the commit that is checked out where a file is; empty outside of git."""
    root = checkout_root(os.path.dirname(path))
    return read_head_sha(root) if root else ""


def read_git_changes(
    path: str, raw: bytes, before: str, after: int, name: str, key: bytes, known: Mapping[int, set[bytes]]
) -> GitChanges:
    """Return what git brought into the file at `path`, whose content is `raw`, since the commit `before` was checked
    out and the file was written last, at `after` (in seconds): git may have come back to that commit, or was not there
    yet. `name` is that of the memory's section, `key` that of its digests."""
    root = checkout_root(os.path.dirname(path))
    if root is None:
        return GitChanges()
    place = os.path.relpath(path, root).replace(os.sep, "/")
    try:
        head = read_head_sha(root) or _read_head(root)
        moves = list_head_moves(root, before, after) if head and (before or after) else []
        if not head or (not moves and before in ("", head)):
            return GitChanges(head)
        changes = GitChanges(head, known=known, key=key, whole=moves is not None and len(moves) > MOST_HEAD_MOVES)
        added, gone = set[bytes](), set[int]()
        for old, new in [(before, head)] if moves is None else moves[:MOST_HEAD_MOVES]:
            earlier, later = (
                _read_section_lines(_read_at_commit(root, commit, place), name, key) for commit in (old, new)
            )
            if later is None or earlier is None:
                changes.whole = True
                continue
            added |= {text for _, text in later - earlier}
            gone |= {fact for fact, _ in earlier if fact} - {fact for fact, _ in later}
        changes.added, changes.gone = frozenset(added), frozenset(gone)
        changes.clean = changes.any and _read_at_commit(root, head, place) == raw
    except GitError:
        return GitChanges()
    return changes


def _read_head(root: str) -> str:
    """Return the commit that is checked out, as git says; empty before the first. Raise GitError."""
    with run_git(root, "rev-parse", "--quiet", "--verify", "HEAD") as child:
        return "".join(child.read_words(never_cancelled, accepted=(0, 1)))


def _read_at_commit(root: str, commit: str, place: str) -> bytes | None:
    """Return a file as a commit has it; None where it has none. Raise GitError."""
    with run_git(root, "cat-file", "blob", f"{commit}:{place}") as child:
        raw = b"".join(child.read_chunks(never_cancelled))
        return raw if child.process.wait() == 0 else None


def _read_section_lines(raw: bytes | None, name: str, key: bytes) -> set[tuple[int, bytes]] | None:
    """Return the lines of a section as (fact or 0, digest); None where they cannot be read."""
    try:
        file = parse_section_file(raw or b"", name)
    except MemorandaError:
        return None
    return {
        (item.fact or 0, digest_section_line(key, item.text))
        for item in parse_section(file.lines, file.first).items
    }


# lines that are deleted at once, and of all, from which on each is asked about
MANY_DELETED, DELETED_SHARE = 5, 0.5
# of two texts, from which one is the other reworded
MIN_REWORDED = 0.75
DELETED_DIGEST = b""  # the digest of a deleted line
WAITING_STATE = "waiting"  # the state of a proposal


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
    the same text again, since what was changed of them is not decided; `seen`, the digest of each cited line that has
    another text than before."""

    changes: list[LineChange] = field(default_factory=list)
    rows: list[FileFact | SectionLine] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    seen: dict[int, bytes] = field(default_factory=dict)

    def taken_changes(self, verb: str) -> list[LineChange]:
        """Return the changes of this verb that are taken."""
        return [one for one in self.changes if one.verb == verb and not one.why]


class LineMerge:
    """One merge. `base` is the digest of each line of the file's version, or, where that is unknown, of the newest one:
    then no line that is missing `deletes` a fact. `pending` is the state of each proposal that a line of this file
    made, by (number cited, digest), `asked` the text with which the line of a fact waits; `came` what git brought; with
    `review` everything is asked about."""

    def __init__(
        self,
        facts: FileFacts,
        base: Mapping[int, bytes],
        deletes: bool,
        pending: Mapping[tuple[int, bytes], str],
        asked: Mapping[int, str],
        came: GitChanges,
        review: bool,
    ) -> None:
        self._facts = facts
        self._base = base
        self._deletes = deletes
        self._pending = pending
        self._asked = asked
        self._came = came
        self._review = "You asked to review each change of a file." if review else ""
        self._plan = MergePlan()
        # facts that are in the file already
        self._kept: set[int] = set()
        self._texts: set[str] = set()  # of new lines

    def make_plan(self, items: Sequence[SectionLine], newest: Iterable[int] = ()) -> MergePlan:
        """Return what to do with these items of the section; `newest` are the facts whose lines its newest version
        has."""
        lines = self._identify_facts([item for item in items if item.text])
        for item in lines:
            if item.fact is not None and (text := self._facts.text_digest(item.text)) != self._base.get(item.fact):
                self._plan.seen[item.fact] = text
        deleted = self._missing_lines(lines) if self._deletes else []
        for item in lines:
            self._merge_line(item)
        self._take_deleted(deleted)
        rest = [*self._facts.writable.values(), *filter(None, map(self._facts.unaccepted.get, newest))]
        self._plan.rows += [fact for fact in rest if fact.id not in self._kept]
        return self._plan

    # whose line is it

    def _identify_facts(self, items: Sequence[SectionLine]) -> list[SectionLine]:
        """Return the items, each with the fact that it is really about, or none."""
        found = [self._drop_false_citation(item) for item in items]
        by_fact: dict[int, list[int]] = {}
        for at, item in enumerate(found):
            if item.fact is not None:
                by_fact.setdefault(item.fact, []).append(at)
        for number, places in by_fact.items():
            # a line that was copied: the one with the old text keeps the citation
            if len(places) > 1:
                same = [at for at in places if self._facts.text_digest(found[at].text) == self._base.get(number)]
                for at in places:
                    if at != (same or places)[0]:
                        found[at] = _with_citation(found[at], None)
        return self._match_reworded(found)

    def _drop_false_citation(self, item: SectionLine) -> SectionLine:
        """Return an item without a citation that it cannot have: of a line that was not in the file, unless it says the
        same as that fact; and of words that are the end of a text."""
        if item.fact is None or self._facts.text_digest(item.text) == self._base.get(item.fact):
            return item
        if (whole := self._facts.find_same(item.full_text)) is not None and normalize_line(
            whole.fact
        ) == normalize_line(item.full_text):
            return SectionLine(item.full_text, None, item.domain, item.heading, item.number)
        if item.fact in self._base:
            return item
        head = self._facts.current_fact(item.fact)
        return item if head is not None and self._says_same(item, head) else _with_citation(item, None)

    def _match_reworded(self, items: list[SectionLine]) -> list[SectionLine]:
        """Return the items, those that lost their citation with the one of the missing line that said the same, also
        while its change waits, or that they resemble."""
        gone = self._missing_lines(items)
        bare = [
            at for at, item in enumerate(items) if item.fact is None and self._facts.find_same(item.text) is None
        ]
        if not gone or not bare:
            return items
        said = {text: number for number, text in self._pending if number in gone}
        said |= {self._base[number]: number for number in gone}
        for at in list(bare):
            if (number := said.get(self._facts.text_digest(items[at].text))) in gone:
                items[at] = _with_citation(items[at], number)
                bare.remove(at)
                gone.remove(number)
        missing = [number for number in gone if not self._came.has_removed(number)]
        if len(missing) * len(bare) > 20_000:
            return items
        pairs = []
        for at in bare:
            for number in missing:
                head = self._facts.current_fact(number)
                assert head is not None
                words = normalize_line(items[at].text).casefold()
                for text in dict.fromkeys((head.fact, self._asked.get(number, head.fact))):
                    if score := text_ratio(words, normalize_line(text).casefold(), 100 * MIN_REWORDED):
                        pairs.append((-score, at, number))
        for _, at, number in sorted(pairs):
            if at in bare and number in missing:
                items[at] = _with_citation(items[at], number)
                bare.remove(at)
                missing.remove(number)
        return items

    # what is done with it

    def _merge_line(self, item: SectionLine) -> None:
        """Merge one line of the file with its fact."""
        number = item.fact
        head = None if number is None else self._facts.current_fact(number)
        if number is None or number not in self._base:
            if head is not None:  # it says the same
                self._keep_line(head, item)
            else:
                self._take_new(item)
            return
        if head is None:
            if self._facts.text_digest(item.text) != self._base[number]:
                self._take_new(item, "It was forgotten here, and changed in the file.", number)
        elif self._says_same(item, head) or self._facts.text_digest(item.text) == self._base[number]:
            self._keep_line(head, item)
        elif self._facts.fact_digest(head) == self._base[number]:
            self._take_changed("correct", item, head, self._reason_to_ask(item))
        else:
            self._take_changed("conflict", item, head, "It was changed here and in the file.")

    def _keep_line(self, head: FileFact, item: SectionLine) -> None:
        """Keep a line whose text the memory has; under another heading it is moved."""
        if head.id in self._kept:
            return  # a copy of a line
        self._kept.add(head.id)
        if head.id in self._facts.writable or head.id in self._facts.unaccepted:
            self._plan.rows.append(head)
            if item.domain and item.domain != head.domain and not self._came.any and not self._review:
                self._plan.changes.append(LineChange("move", item, head, item.fact or 0))

    def _take_changed(self, verb: str, item: SectionLine, head: FileFact, why: str) -> None:
        """Take a line with another text, or keep it as it is until that is decided."""
        assert item.fact is not None
        text = self._facts.text_digest(item.text)
        state = self._pending.get((item.fact, text))
        if state not in (None, WAITING_STATE) or (state is None and self._came.has_brought_back(item.fact, text)):
            # it was decided; or git brought back what the line said here once
            self._keep_line(head, item)
            return
        self._kept.add(head.id)
        self._plan.rows.append(item)
        self._plan.held.add(item.fact)
        if state is None:
            self._plan.changes.append(LineChange(verb, item, head, item.fact, why))

    def _take_new(self, item: SectionLine, why: str = "", cited: int = 0) -> None:
        """Take a line that is new, or keep the one that says the same."""
        known = self._facts.find_same(item.text)
        if known is not None:
            if known.id in self._facts.writable or known.id in self._facts.unaccepted or known.id in self._kept:
                self._keep_line(known, item)
                return
            why = why or "It is known, and no agent is sent it."
        if (words := normalize_line(item.text)) in self._texts:
            return
        self._texts.add(words)
        state = self._pending.get((cited, self._facts.text_digest(item.text)))
        if state is not None and state != WAITING_STATE:
            return
        if state is None:
            self._plan.changes.append(LineChange("add", item, None, cited, why or self._reason_to_ask(item)))
        self._plan.rows.append(item)
        self._plan.held |= {cited} if cited else set()

    def _reason_to_ask(self, item: SectionLine) -> str:
        """Return why a change of this line is asked about; empty if it is taken."""
        if clean_text(item.text) != item.text:
            return "It holds what looks like a secret, which is cut."
        return "It came by git." if self._came.has_brought(item) else self._review

    # what was deleted

    def _missing_lines(self, items: Iterable[SectionLine]) -> list[int]:
        """Return the lines of the file's version whose facts hold, and that no item cites or says."""
        there = {item.fact for item in items}
        said = {fact.id for item in items if item.fact is None and (fact := self._facts.find_same(item.text))}
        heads = {number: head for number in self._base if (head := self._facts.current_fact(number)) is not None}
        return [
            number
            for number, head in heads.items()
            if number not in there and head.id not in there and head.id not in said
        ]

    def _take_deleted(self, gone: Sequence[int]) -> None:
        """Take the deletion of lines, or ask about it."""
        fresh = [number for number in gone if self._pending.get((number, DELETED_DIGEST)) is None]
        many = len(fresh) >= MANY_DELETED and len(fresh) >= DELETED_SHARE * len(self._base)
        for number in gone:
            head = self._facts.current_fact(number)
            if head is None or head.id in self._kept:
                continue
            state = self._pending.get((number, DELETED_DIGEST))
            if state not in (None, WAITING_STATE):
                # it was decided that the line comes back
                continue
            # it is not written again
            self._kept.add(head.id)
            self._plan.held.add(number)
            if state == WAITING_STATE:
                continue
            why = self._review
            if self._facts.fact_digest(head) != self._base[number]:
                why = "It was changed here, and deleted in the file."
            elif self._came.has_removed(number):
                why = "It was deleted by git."
            elif many:
                why = f"{len(fresh):,} of {len(self._base):,} lines were deleted at once."
            self._plan.changes.append(LineChange("forget", None, head, number, why))

    def _says_same(self, item: SectionLine, head: FileFact) -> bool:
        """Tell whether a line says what a fact says."""
        return self._facts.text_digest(item.text) == self._facts.fact_digest(head)


def _with_citation(item: SectionLine, fact: int | None) -> SectionLine:
    """Return a line that cites another fact, or none."""
    return SectionLine(item.text, fact, item.domain, item.heading, item.number)
