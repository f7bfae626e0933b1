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
from typing import Any

from rich.cells import cell_len
from textual.cache import LRUCache

from store import ID_CHUNK as CHUNK
from store import Commit, Decision, Fact, Record, ago, from_ms
from store import packed_ids as packed
from store import unpack_key as unpack
from tui.render.badges import FACT_BADGES, KIND_GLYPHS, fact_badge
from tui.render.summary_line import moment, summary
from tui.theme.escape import visible
from tui.theme.line_filters import fit

PAGE = 64
PAGES = 24
NEAR = 4096  # rows near a position that are searched before all others
WIDE = 64  # cells from which on a list shows all its columns

Reader = Callable[[Sequence[int]], "Mapping[int, Any]"]
Pairs = list[tuple[str, str]]

# badge → class of RecordList
BADGE_STYLES = {
    "fresh": "glyph-fresh",
    "pinned": "glyph-fresh",
    "aging": "glyph-aging",
    "low": "glyph-low",
    "stale": "glyph-stale",
}


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
    """Records in the order of `keys`, each rendered by `draw(record, width)`."""

    near = 0
    """The cursor's index, here or in the rows that these replace: a key is first searched near it."""

    def __init__(
        self,
        keys: Sequence[int],
        read: Reader,
        draw: Callable[[Any, int], Pairs],
    ) -> None:
        self._pages = Pages(keys, read)
        self._draw = draw

    def drop_pages(self) -> None:
        self._pages.drop()

    def __len__(self) -> int:
        return len(self._pages.keys)

    def selectable(self, index: int) -> bool:
        return True

    def key(self, index: int) -> Hashable:
        return self._pages.keys[index]

    def index_of(self, key: Hashable) -> int | None:
        return self._pages.find(key, self.near)

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return self._pages.among(keys)

    def record(self, index: int) -> Any:
        """Return the record of a row; None if it was deleted since the order was read."""
        return self._pages.record(index)

    def segments(self, index: int, width: int) -> Pairs:
        record = self.record(index)
        return [("  …", "dim")] if record is None else self._draw(record, width)

    def _left(self, gone: Iterable[int]) -> Sequence[int]:
        """Return the keys without these."""
        keys = copy(self._pages.keys)
        for index in sorted((at for key in gone if (at := self.index_of(key)) is not None), reverse=True):
            del keys[index]  # type: ignore[attr-defined]
        return keys

    def without(self, gone: Iterable[int]) -> KeyedRows:
        """Return the same list without the records of these keys."""
        return KeyedRows(self._left(gone), self._pages.read, self._draw)


class FactRows(KeyedRows):
    """Facts, in the order given by `Facts.order`."""

    def __init__(self, keys: Sequence[int], read: Reader, now: str) -> None:
        super().__init__(keys, read, lambda fact, width: fact_segments(fact, now, width))
        self._now = now

    def anew(self, now: str) -> FactRows:
        """Return the same order with its records to be reloaded; ages are relative to `now`."""
        return FactRows(self._pages.keys, self._pages.read, now)

    def without(self, numbers: Iterable[int]) -> FactRows:
        """Return the same list without these facts."""
        return FactRows(self._left(numbers), self._pages.read, self._now)


def fact_segments(fact: Fact, now: str, width: int) -> Pairs:
    """Render a fact in one line: badge, domain, text, age, origin."""
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    live = fact.status == "active"
    style = BADGE_STYLES.get(badge, "glyph-gone")
    text_style = "" if badge in ("fresh", "pinned") else "dim"
    age = ago(now, fact.last_confirmed_at)
    origin = visible(fact.origin)
    if width >= WIDE:
        body = max(8, width - 42)
        return [
            (f"{glyph} ", style),
            (f"{word:<11}", style if badge != "fresh" else "dim"),
            (fit(fact.domain, 11) + " ", "dim"),
            (fit(visible(fact.fact), body), text_style),
            (f" {age:>6}", "dim" if live else "rule"),
            (f"  {fit(origin, 8)}", "dim"),
        ]
    domain = 12 if width >= 44 else 8 if width >= 34 else 0
    by = "" if origin == "user" else f" {fit(origin, 7).rstrip()}"
    age = f"{age:>7}" if badge not in ("fresh", "pinned") or width >= 44 else ""  # a fresh fact needs no age
    body = max(4, width - 2 - domain - len(age) - len(by))
    return [
        (f"{glyph} ", style),
        (fit(fact.domain, domain - 1) + " " if domain else "", "dim"),
        (fit(visible(fact.fact), body), text_style),
        (by, "dim"),
        (age, "dim"),
    ]


class TimelineRows:
    """The timeline, with a heading for each day in local time."""

    near = 0
    """See FactRows."""

    def __init__(
        self, keys: Sequence[int], days: Sequence[tuple[int, str]], read: Reader, links: Callable[[Record], str]
    ) -> None:
        """`days`: (index among the keys of a day's first entry, the day's name), in order."""
        self._days = days
        self._pages = Pages(keys, read)
        self._links = links
        self._names = [name for _, name in days]
        self._headings = array("q", [first + number for number, (first, _) in enumerate(days)])  # their row indexes

    def anew(self) -> TimelineRows:
        """Return the same order with its records to be reloaded."""
        return TimelineRows(self._pages.keys, self._days, self._pages.read, self._links)

    def drop_pages(self) -> None:
        self._pages.drop()

    def __len__(self) -> int:
        return len(self._pages.keys) + len(self._headings)

    def selectable(self, index: int) -> bool:
        return self._heading(index) is None

    def key(self, index: int) -> Hashable:
        heading = self._heading(index)
        return ("day", self._names[heading]) if heading is not None else self._pages.keys[self._entry(index)]

    def index_of(self, key: Hashable) -> int | None:
        if isinstance(key, tuple):
            return self._headings[self._names.index(key[1])] if key[1] in self._names else None
        found = self._pages.find(key, self._entry(self.near))
        if found is None:
            return None
        # an entry's row is its index plus the number of headings above it
        low, high = 0, len(self._headings)
        while low < high:
            middle = (low + high) // 2
            if self._headings[middle] - middle <= found:
                low = middle + 1
            else:
                high = middle
        return found + low

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return self._pages.among(keys)

    def record(self, index: int) -> Record | None:
        """Return the record of a row; None for a heading, or if it was deleted since the order was read."""
        return None if self._heading(index) is not None else self._pages.record(self._entry(index))

    def segments(self, index: int, width: int) -> Pairs:
        heading = self._heading(index)
        if heading is not None:
            name = self._names[heading]
            return [(f"{name} ", "dim"), ("─" * max(0, width - len(name) - 2), "rule")]
        key = self._pages.keys[self._entry(index)]
        record = self._pages.record(self._entry(index))
        if record is None:
            return [("  …", "dim")]
        return entry_segments(unpack(key)[0], record, width, self._links(record))

    def _heading(self, index: int) -> int | None:
        place = bisect_right(self._headings, index) - 1
        return place if place >= 0 and self._headings[place] == index else None

    def _entry(self, index: int) -> int:
        return index - bisect_right(self._headings, index)


def entry_segments(kind: str, record: Record, width: int, links: str = "") -> Pairs:
    """Render a timeline entry in one line: glyph, citation, text, and a label at the right edge."""
    text, extra = summary(record)
    gone = (isinstance(record, Decision) and record.status != "active") or (
        isinstance(record, Commit) and not record.reachable
    )
    if links:
        extra = f"{links} {extra}" if width >= WIDE else links
    time = datetime.fromisoformat(moment(record)).astimezone().strftime("%H:%M ") if width >= WIDE else ""
    if width < 34:
        extra = ""
    citation = f"{record.citation:<9} " if width >= 34 else ""
    body = max(4, width - 2 - len(time) - len(citation) - cell_len(extra) - 1)
    strong = kind == "decision" and not gone
    return [
        (f"{KIND_GLYPHS[kind]} ", "glyph-record" if kind == "decision" else "rule"),
        (time, "dim"),
        (citation, "dim"),
        (fit(visible(text), body), "title" if strong else "dim" if gone or kind == "event" else ""),
        (f" {extra}" if extra else "", "accent" if links else "dim"),
    ]


def marked(text: str, marks: Sequence[tuple[int, int]], width: int, style: str = "") -> Pairs:
    """Render `width` cells around the first match, with the matches highlighted."""
    text = text.replace("\n", " ")
    start = 0
    if marks and marks[0][1] > width - 8:
        start = max(0, marks[0][0] - width // 3)
    pairs: Pairs = [("…", "dim")] if start else []
    left = width - len(pairs)
    at = start
    for a, b in [*marks, (len(text), len(text))]:
        for piece, name in ((text[at:a], style), (text[a:b], "match")):
            if a < at or left <= 0 or not piece:
                continue
            shown = visible(piece)
            if cell_len(shown) > left:
                shown = fit(shown, left)
            pairs.append((shown, name))
            left -= cell_len(shown)
        at = max(at, b)
    if left > 0:
        pairs.append((" " * left, ""))
    return pairs


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
                start, name = _local_day(moments[place])
                days.append((done + place, name))
                place = bisect_left(moments, True, place + 1, key=start.__gt__)
            done += len(numbers)
            yield numbers

    return packed(chunks()), days


def _local_day(at: str) -> tuple[str, str]:
    """Return (start, name) of the local day of a moment; the start as a timestamp."""
    here = datetime.fromisoformat(at).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return from_ms(round(midnight.timestamp() * 1000)), f"{here:%a %d %b %Y}"
