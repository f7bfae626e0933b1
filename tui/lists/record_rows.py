"""Rows of the lists: snapshots of facts and timeline, which load their records by pages.

A snapshot is the order of the whole list as an array of keys (4 bytes a row; one index scan, made by a worker) and a
few pages of records near the visible ones. So a list knows the position of every record, at any size, and a redraw
reads nothing from the file."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from textual.cache import LRUCache

from store.base.clock import ago, from_ms
from store.base.models import Commit, Decision, Fact, GlobalFact, Record, Summary
from store.base.record_keys import unpack
from store.database.packed_ids import CHUNK, packed
from store.search.lookup import key as record_key
from store.text.prompt_injection import suspicious
from tui.lists.wrapping import Pairs, row
from tui.lists.wrapping import heading as heading_line
from tui.render.badges import DOUBTED, EVIDENCE_BADGES, FACT_BADGES, KIND_GLYPHS, WARNING, fact_badge
from tui.render.line_parts import writer
from tui.render.plurals import count
from tui.render.summary_line import moment, summary
from tui.theme.escape import visible

if TYPE_CHECKING:
    from store.base.models import Step
    from store.memory import Memory

PAGE = 64
PAGES = 24
NEAR = 4096  # rows near a position that are searched before all others
BACK = 6  # undos and redos of one another, beyond which the first step is not looked for
WIDE = 64  # cells of a list from which on the timeline shows times, and the context its whole reasons
ROOMY = 86  # … facts their domain and who wrote them, and other lists dates instead of ages

Reader = Callable[[Sequence[int]], "Mapping[int, Any]"]
Heading = tuple[int, str, str]


class Pages:
    """Records by key, loaded by pages on demand."""

    def __init__(self, keys: Sequence[int], read: Reader) -> None:
        self.keys = keys
        self.read = read
        self._pages: LRUCache[int, Mapping[int, Any]] = LRUCache(PAGES)

    def drop(self) -> None:
        """Reload every page on its next use."""
        self._pages.clear()

    def record(self, index: int) -> Any:
        """Return the record at `index`; None if it was deleted since the order was read."""
        number = index // PAGE
        page = self._pages.get(number)
        if page is None:
            page = self.read(self.keys[number * PAGE : (number + 1) * PAGE])
            self._pages[number] = page
        return page.get(self.keys[index])

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        """Return those of the keys that are in the list; takes 50 ms for a million rows."""
        return frozenset(keys).intersection(self.keys)

    def find(self, key: Hashable, near: int) -> int | None:
        """Return the index of a key: search near `near`, then at both ends, where new rows are, then everywhere, which
        takes 20 ms for a million rows."""
        size = len(self.keys)
        for start, stop in (near - NEAR, near + NEAR), (0, NEAR), (size - NEAR, size), (0, size):
            try:
                return self.keys.index(key, max(0, start), stop)
            except ValueError:
                continue
        return None


class KeyedRows:
    """Records in the order of `keys`, each drawn by `draw(record, width)` as lines, below headings: (index among the
    keys of its first record, its name, why it stands apart)."""

    near = 0
    """The cursor's index, here or in the rows that these replace: a key is first searched near it."""

    def __init__(
        self,
        keys: Sequence[int],
        read: Reader,
        draw: Callable[[Any, int], list[Pairs]],
        headings: Sequence[Heading] = (),
    ) -> None:
        self._pages = Pages(keys, read)
        self._draw = draw
        self.headings = headings
        self._rows_of_headings = array("q", [first + number for number, (first, _, _) in enumerate(headings)])

    @property
    def keys(self) -> Sequence[int]:
        return self._pages.keys

    def anew(self, draw: Callable[[Any, int], list[Pairs]] | None = None) -> KeyedRows:
        """Return the same order with its records to be read again, and drawn by `draw` if given."""
        return KeyedRows(self.keys, self._pages.read, draw or self._draw, self.headings)

    def drop_pages(self) -> None:
        self._pages.drop()

    def __len__(self) -> int:
        return len(self.keys) + len(self._rows_of_headings)

    def selectable(self, index: int) -> bool:
        return self._heading(index) is None

    def key(self, index: int) -> Hashable:
        heading = self._heading(index)
        return self.keys[self._entry(index)] if heading is None else ("heading", self.headings[heading][1])

    def index_of(self, key: Hashable) -> int | None:
        if isinstance(key, tuple):
            names = [name for _, name, _ in self.headings]
            return self._rows_of_headings[names.index(key[1])] if key[1] in names else None
        found = self._pages.find(key, self._entry(self.near))
        return None if found is None else self._row(found)

    def _row(self, entry: int) -> int:
        """Return the row of an entry: its index plus the number of headings above it."""
        return entry + bisect_right(self.headings, entry, key=lambda heading: heading[0])

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return self._pages.among(keys)

    def record(self, index: int) -> Any:
        """Return the record of a row; None for a heading, or if it was deleted since the order was read."""
        return None if self._heading(index) is not None else self._pages.record(self._entry(index))

    def lines(self, index: int, width: int) -> list[Pairs]:
        heading = self._heading(index)
        if heading is not None:
            _, name, reason = self.headings[heading]
            return [heading_line(name, reason, width)]
        record = self._pages.record(self._entry(index))
        return [[("  …", "dim")]] if record is None else self._draw(record, width)

    def _heading(self, index: int) -> int | None:
        place = bisect_right(self._rows_of_headings, index) - 1
        return place if place >= 0 and self._rows_of_headings[place] == index else None

    def _entry(self, index: int) -> int:
        return index - bisect_right(self._rows_of_headings, index)

    def without(self, gone: Iterable[int]) -> KeyedRows:
        """Return the same list without the records of these keys, and without headings that have none left."""
        keys, headings = copy(self.keys), list(self.headings)
        for entry in sorted((at for key in gone if (at := self._pages.find(key, 0)) is not None), reverse=True):
            del keys[entry]  # type: ignore[attr-defined]
            headings = [(first - (first > entry), name, why) for first, name, why in headings]
        ends = [*(first for first, _, _ in headings[1:]), len(keys)]
        kept = [heading for heading, end in zip(headings, ends, strict=False) if heading[0] < end]
        return KeyedRows(keys, self._pages.read, self._draw, kept)


def fact_lines(shown: Fact | GlobalFact, now: str, width: int) -> list[Pairs]:
    """Draw a fact: badge, text, age; in a roomy list its domain and who wrote it too. A stale fact stands out, a global
    one is marked by the word."""
    fact = shown.own if isinstance(shown, GlobalFact) else shown
    badge = fact_badge(fact, now)
    style = badge_style(badge)
    age = f"{ago(now, fact.last_confirmed_at):>5}"
    about = f"{fact.domain.replace('_', ' ')} · {visible(writer(fact.origin))} · " if width >= ROOMY else ""
    word = "" if fact.status == "active" else f"{FACT_BADGES[badge][1]} "
    look = "title" if badge == "stale" else "" if fact.status == "active" else "dim"
    note = [(f"{word}{about}", "dim"), (age, style if badge == "stale" else "dim")]
    if doubt := doubted(fact):
        note.insert(0, doubt)
    if suspicious(fact.fact):
        note.insert(0, (f"{WARNING} ", "warning"))
    if fact is not shown:
        note.insert(0, ("global · " if about else "global ", "accent"))
    return row([(f"{FACT_BADGES[badge][0]} ", style)], visible(fact.fact), look, note, width)


def doubted(record: Fact | Decision) -> tuple[str, str] | None:
    """Return the mark of a record whose evidence moved, changed or is gone: the axis beside its age."""
    if record.evidence_state not in DOUBTED or record.status != "active":
        return None
    glyph, word = EVIDENCE_BADGES[record.evidence_state]
    return f"{glyph} {word} ", f"evidence-{record.evidence_state}"


def badge_style(badge: str) -> str:
    """Return the look of a fact's badge."""
    return f"glyph-{badge}"


def entry_lines(record: Record, width: int, links: str = "") -> list[Pairs]:
    """Draw an entry of the timeline: glyph, text, its citation and a label at the right edge; below, what a decision
    chose, what a commit's message says and how a conversation ended."""
    kind = unpack(record_key(record))[0]
    text, extra = summary(record)
    gone = (isinstance(record, Decision) and record.status != "active") or (
        isinstance(record, Commit) and not record.reachable
    )
    time = datetime.fromisoformat(moment(record)).astimezone().strftime("%H:%M") if width >= ROOMY else ""
    label = "" if isinstance(record, Summary) or (isinstance(record, Decision) and not gone) else extra
    note = " · ".join(filter(None, (label if width >= WIDE or gone else "", links, record.citation, time)))
    second = _body(record) if isinstance(record, Commit) else ""
    if isinstance(record, Decision | Summary):
        second = record.chosen if isinstance(record, Decision) else record.outcome
    look = "dim" if gone or kind == "event" else "title" if kind == "decision" else ""
    glyph = (f"{KIND_GLYPHS[kind]} ", "glyph-record" if kind == "decision" else "dim")
    below = [] if gone else [(visible(second), "dim")]
    notes = [(visible(note), "accent" if links else "dim")]
    if isinstance(record, Decision) and (doubt := doubted(record)):
        notes.insert(0, doubt)
    if suspicious(f"{text}\n{second}"):
        notes.insert(0, (f"{WARNING} ", "warning"))
    return row([glyph], visible(text), look, notes, width, second=below)


def _body(commit: Commit) -> str:
    """Return the first paragraph of a commit's message, without its subject."""
    return " ".join(commit.body.replace("\r\n", "\n").partition("\n\n")[0].split())


def by_day(stream: Iterable[tuple[int, str]]) -> tuple[array[int], list[tuple[int, str]]]:
    """Convert a stream of (key, moment), newest first, to its keys and the index where each local day begins.

    A day's bounds are computed once, as text, and its end is found by bisection, so that the cost of an entry is
    negligible."""
    days: list[tuple[int, str]] = []

    def chunks() -> Iterator[tuple[int, ...]]:
        rows, done, start = iter(stream), 0, "\uffff"  # of the current day
        while chunk := list(islice(rows, CHUNK)):
            numbers, moments = zip(*chunk, strict=True)
            place = bisect_left(moments, True, key=start.__gt__)
            while place < len(moments):
                start, name = local_day(moments[place])
                days.append((done + place, name))
                place = bisect_left(moments, True, place + 1, key=start.__gt__)
            done += len(numbers)
            yield numbers

    return packed(chunks()), days


def local_day(at: str) -> tuple[str, str]:
    """Return (start, name) of the local day of a moment; the start as a timestamp."""
    here = datetime.fromisoformat(at).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return from_ms(round(midnight.timestamp() * 1000)), f"{here:%a %d %b %Y}"


def step_subjects(memory: Memory, steps: Mapping[int, Step]) -> dict[int, str]:
    """Return the subject of each of these steps: the text of its record; of one that undid or redid another, that
    one's reason before it; of a restore of several records, how many."""
    history = memory.history
    texts = history.subjects(list(steps))
    back = {seq: step.undoes for seq, step in steps.items() if step.undoes is not None}
    reasons = dict[int, str]()
    for _ in range(BACK):
        found = {step.seq: step for step in history.many(sorted(set(back.values())))}
        reasons |= {seq: found[other].reason for seq, other in back.items() if other in found}
        further = {seq: found[other].undoes for seq, other in back.items() if other in found}
        back = {seq: other for seq, other in further.items() if other is not None}
        if not back:
            break
    subjects = dict[int, str]()
    for seq, step in steps.items():
        several = step.changes > 1 and reasons.get(seq, step.reason).startswith(("restore ", "undo "))
        about = count(step.changes, "record") if several else texts.get(seq, "")
        subjects[seq] = " · ".join(filter(None, (reasons.get(seq), about)))
    return subjects
