"""Merge the lines of a file with the facts of a memory: pure rules, nothing is written.

Each line is compared with its text in the version of the section that the file carries, and with the fact as it is now.
What one side alone changed is taken; what both changed is asked about, and what came by git, or is too much at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from store.database.values import clean
from store.sync.file_facts import FileFact, FileFacts
from store.sync.git_changes import GitChanges
from store.sync.lines import SectionLine, shape

MANY, SHARE = 5, 0.5  # lines that are deleted at once, and of all, from which on each is asked about
ALIKE = 0.75  # of two texts, from which one is the other reworded
DELETED = b""  # the digest of a deleted line
WAITING = "waiting"  # the state of a proposal


@dataclass(frozen=True, slots=True)
class LineChange:
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

    def decided(self, verb: str) -> list[LineChange]:
        """Return the changes of this verb that are taken."""
        return [one for one in self.changes if one.verb == verb and not one.why]

    @property
    def asked(self) -> list[LineChange]:
        return [one for one in self.changes if one.why]


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
        self._kept: set[int] = set()  # facts that are in the file already
        self._texts: set[str] = set()  # of new lines

    def plan(self, items: Sequence[SectionLine], newest: Iterable[int] = ()) -> MergePlan:
        """Return what to do with these items of the section; `newest` are the facts whose lines its newest version
        has."""
        lines = self._identified([item for item in items if item.text])
        for item in lines:
            if item.fact is not None and (text := self._facts.of_text(item.text)) != self._base.get(item.fact):
                self._plan.seen[item.fact] = text
        deleted = self._missing(lines) if self._deletes else []
        for item in lines:
            self._merge(item)
        self._forget(deleted)
        rest = [*self._facts.writable.values(), *filter(None, map(self._facts.unaccepted.get, newest))]
        self._plan.rows += [fact for fact in rest if fact.id not in self._kept]
        return self._plan

    # whose line is it

    def _identified(self, items: Sequence[SectionLine]) -> list[SectionLine]:
        """Return the items, each with the fact that it is really about, or none."""
        found = [self._claimed(item) for item in items]
        by_fact: dict[int, list[int]] = {}
        for at, item in enumerate(found):
            if item.fact is not None:
                by_fact.setdefault(item.fact, []).append(at)
        for number, places in by_fact.items():
            if len(places) > 1:  # a line that was copied: the one with the old text keeps the citation
                same = [at for at in places if self._facts.of_text(found[at].text) == self._base.get(number)]
                for at in places:
                    if at != (same or places)[0]:
                        found[at] = _citing(found[at], None)
        return self._reworded(found)

    def _claimed(self, item: SectionLine) -> SectionLine:
        """Return an item without a citation that it cannot have: of a line that was not in the file, unless it says the
        same as that fact; and of words that are the end of a text."""
        if item.fact is None or self._facts.of_text(item.text) == self._base.get(item.fact):
            return item
        if (whole := self._facts.same(item.whole)) is not None and shape(whole.fact) == shape(item.whole):
            return SectionLine(item.whole, None, item.domain, item.heading, item.number)
        if item.fact in self._base:
            return item
        head = self._facts.head(item.fact)
        return item if head is not None and self._says(item, head) else _citing(item, None)

    def _reworded(self, items: list[SectionLine]) -> list[SectionLine]:
        """Return the items, those that lost their citation with the one of the missing line that said the same, also
        while its change waits, or that they resemble."""
        gone = self._missing(items)
        bare = [at for at, item in enumerate(items) if item.fact is None and self._facts.same(item.text) is None]
        if not gone or not bare:
            return items
        said = {text: number for number, text in self._pending if number in gone}
        said |= {self._base[number]: number for number in gone}
        for at in list(bare):
            if (number := said.get(self._facts.of_text(items[at].text))) in gone:
                items[at] = _citing(items[at], number)
                bare.remove(at)
                gone.remove(number)
        missing = [number for number in gone if not self._came.removed(number)]
        if len(missing) * len(bare) > 20_000:
            return items
        from rapidfuzz.fuzz import ratio

        pairs = []
        for at in bare:
            for number in missing:
                head = self._facts.head(number)
                assert head is not None
                words = shape(items[at].text).casefold()
                for text in dict.fromkeys((head.fact, self._asked.get(number, head.fact))):
                    if score := ratio(words, shape(text).casefold(), score_cutoff=100 * ALIKE):
                        pairs.append((-score, at, number))
        for _, at, number in sorted(pairs):
            if at in bare and number in missing:
                items[at] = _citing(items[at], number)
                bare.remove(at)
                missing.remove(number)
        return items

    # what is done with it

    def _merge(self, item: SectionLine) -> None:
        number = item.fact
        head = None if number is None else self._facts.head(number)
        if number is None or number not in self._base:
            if head is not None:  # it says the same
                self._keep(head, item)
            else:
                self._new(item)
            return
        if head is None:
            if self._facts.of_text(item.text) != self._base[number]:
                self._new(item, "It was forgotten here, and changed in the file.", number)
        elif self._says(item, head) or self._facts.of_text(item.text) == self._base[number]:
            self._keep(head, item)
        elif self._facts.digest(head) == self._base[number]:
            self._changed("correct", item, head, self._why(item))
        else:
            self._changed("conflict", item, head, "It was changed here and in the file.")

    def _keep(self, head: FileFact, item: SectionLine) -> None:
        """Keep a line whose text the memory has; under another heading it is moved."""
        if head.id in self._kept:
            return  # a copy of a line
        self._kept.add(head.id)
        if head.id in self._facts.writable or head.id in self._facts.unaccepted:
            self._plan.rows.append(head)
            if item.domain and item.domain != head.domain and not self._came.any and not self._review:
                self._plan.changes.append(LineChange("move", item, head, item.fact or 0))

    def _changed(self, verb: str, item: SectionLine, head: FileFact, why: str) -> None:
        """Take a line with another text, or keep it as it is until that is decided."""
        assert item.fact is not None
        text = self._facts.of_text(item.text)
        state = self._pending.get((item.fact, text))
        if state not in (None, WAITING) or (state is None and self._came.knew(item.fact, text)):
            self._keep(head, item)  # it was decided; or git brought back what the line said here once
            return
        self._kept.add(head.id)
        self._plan.rows.append(item)
        self._plan.held.add(item.fact)
        if state is None:
            self._plan.changes.append(LineChange(verb, item, head, item.fact, why))

    def _new(self, item: SectionLine, why: str = "", cited: int = 0) -> None:
        """Take a line that is new, or keep the one that says the same."""
        known = self._facts.same(item.text)
        if known is not None:
            if known.id in self._facts.writable or known.id in self._facts.unaccepted or known.id in self._kept:
                self._keep(known, item)
                return
            why = why or "It is known, and no agent is sent it."
        if (words := shape(item.text)) in self._texts:
            return
        self._texts.add(words)
        state = self._pending.get((cited, self._facts.of_text(item.text)))
        if state is not None and state != WAITING:
            return
        if state is None:
            self._plan.changes.append(LineChange("add", item, None, cited, why or self._why(item)))
        self._plan.rows.append(item)
        self._plan.held |= {cited} if cited else set()

    def _why(self, item: SectionLine) -> str:
        if clean(item.text) != item.text:
            return "It holds what looks like a secret, which is cut."
        return "It came by git." if self._came.brought(item) else self._review

    # what was deleted

    def _missing(self, items: Iterable[SectionLine]) -> list[int]:
        """Return the lines of the file's version whose facts hold, and that no item cites or says."""
        there = {item.fact for item in items}
        said = {fact.id for item in items if item.fact is None and (fact := self._facts.same(item.text))}
        heads = {number: head for number in self._base if (head := self._facts.head(number)) is not None}
        return [
            number
            for number, head in heads.items()
            if number not in there and head.id not in there and head.id not in said
        ]

    def _forget(self, gone: Sequence[int]) -> None:
        fresh = [number for number in gone if self._pending.get((number, DELETED)) is None]
        many = len(fresh) >= MANY and len(fresh) >= SHARE * len(self._base)
        for number in gone:
            head = self._facts.head(number)
            if head is None or head.id in self._kept:
                continue
            state = self._pending.get((number, DELETED))
            if state not in (None, WAITING):
                continue  # it was decided that the line comes back
            self._kept.add(head.id)  # it is not written again
            self._plan.held.add(number)
            if state == WAITING:
                continue
            why = self._review
            if self._facts.digest(head) != self._base[number]:
                why = "It was changed here, and deleted in the file."
            elif self._came.removed(number):
                why = "It was deleted by git."
            elif many:
                why = f"{len(fresh):,} of {len(self._base):,} lines were deleted at once."
            self._plan.changes.append(LineChange("forget", None, head, number, why))

    def _says(self, item: SectionLine, head: FileFact) -> bool:
        return self._facts.of_text(item.text) == self._facts.digest(head)


def _citing(item: SectionLine, fact: int | None) -> SectionLine:
    return SectionLine(item.text, fact, item.domain, item.heading, item.number)
