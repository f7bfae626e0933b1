"""Rows of the lists: snapshots of facts and timeline, which load their records by pages.

A snapshot is the order of the whole list as an array of keys (4 bytes a row; one index scan, made by a worker) and a
few pages of records near the visible ones. So a list knows the position of every record, at any size, and a redraw
reads nothing from the file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from rich.cells import cell_len, chop_cells
from textual.cache import LRUCache

from store.base.clock import format_age, format_local_time, from_ms
from store.base.models import Checkpoint, Commit, Decision, Fact, GlobalFact, Proposal, Record, Step, Summary, Task
from store.base.vocabulary import unpack_key
from store.database.database import KEYS_PER_CHUNK, pack_integers
from store.memory import Memory
from store.search.lookup import key_of_record
from store.search.results import Hit
from store.text.fence import is_suspicious
from tui.render.lines import (
    DOUBTFUL_STATES,
    EVIDENCE_BADGES,
    FACT_BADGES,
    KIND_GLYPHS,
    ORDER_WARNING,
    TASK_GLYPHS,
    WARNING_SIGN,
    fact_badge,
    format_count,
    looks_like_order,
    record_time,
    summarize_record,
    writer_name,
)
from tui.render.search_results import densest_mark
from tui.theme.escape import visible
from tui.theme.line_filters import fit_cells

# Lay out a row of a list: a glyph, a text wrapped on a few lines, a note at the right edge, and a dim second part.

RowLine = list[tuple[str, str]]
TEXT_LINES = 2  # lines of a text in a list
LEAST_TEXT_CELLS = 12  # cells of text below which the note is left out


def wrap_text(text: str, first: int, rest: int, most: int = TEXT_LINES) -> list[str]:
    """Wrap an escaped text at spaces into at most `most` lines, the first of `first` cells and the others of `rest`;
    the last one ends with an ellipsis if the text is longer."""
    text = text.strip()
    places = wrap_spans(text, first, rest, most)
    lines = [text[start:end] for start, end in places]
    if places[-1][1] < len(text):
        lines[-1] = fit_cells(text[places[-1][0] :], rest if len(lines) > 1 else first)
    return lines


def wrap_spans(text: str, first: int, rest: int, most: int) -> list[tuple[int, int]]:
    """Return where the lines of `wrapped` begin and end in the text; the last ends before it if the text is longer."""
    places: list[tuple[int, int]] = []
    start, room = 0, max(1, first)
    while True:
        if cell_len(text[start:]) <= room:
            return [*places, (start, len(text))]
        end = start + _break_at(text[start:], room)
        places.append((start, end))
        if len(places) == most:
            return places
        start = end + len(text[end:]) - len(text[end:].lstrip())
        room = max(1, rest)


def _break_at(text: str, room: int) -> int:
    """Return how many characters stand on a line of `room` cells: up to a space, or all that fit if there is none or,
    as in Chinese, hardly any."""
    whole = room if text.isascii() else len(chop_cells(text, room)[0])
    if text[whole : whole + 1] == " ":
        return whole
    space = text.rfind(" ", 0, whole)
    return space if space > whole // 3 else whole


def row_lines(
    head: RowLine,
    text: str,
    look: str,
    note: RowLine,
    width: int,
    most: int = TEXT_LINES,
    second: Sequence[tuple[str, str]] = (),
) -> list[RowLine]:
    """Return the lines of a row: `head`, the text beside it with the note at the right edge of its first line, and the
    parts of `second`, (text, look), each below the text. Texts must be escaped."""
    indent, aside = sum(cell_len(part) for part, _ in head), sum(cell_len(part) for part, _ in note)
    if width - indent - aside - 1 < LEAST_TEXT_CELLS:
        note, aside = [], -1
    body = max(4, width - indent - aside - 1)
    first, *others = wrap_text(text, body, width - indent - 1, most)
    gap = " " if note else ""
    lines: list[RowLine] = [[*head, (fit_cells(first, body), look), (gap, ""), *note]]
    lines += [[(" " * indent, ""), (other, look)] for other in others]
    for part, dim in second:
        if part:
            lines += [
                [(" " * indent, ""), (one, dim)] for one in wrap_text(part, width - indent - 1, width - indent - 1)
            ]
    return lines


def heading_line(name: str, reason: str, width: int) -> RowLine:
    """Return the line above a group of rows: its name, why it stands apart, and a rule."""
    about = f"  {reason}" if reason and cell_len(name) + cell_len(reason) + 4 < width else ""
    rule = "─" * max(0, width - cell_len(name) - cell_len(about) - 2)
    return [(name, "title"), (about, "dim"), (" ", ""), (rule, "rule")]


PAGE_ROWS = 64
CACHED_PAGES = 24
NEAR_ROWS = 4096  # rows near a position that are searched before all others
MOST_UNDOS = 6  # undos and redos of one another, beyond which the first step is not looked for
# cells of a list from which on the timeline shows times, and the context its whole reasons
WIDE_LIST = 64
ROOMY_LIST = 86  # … facts their domain and who wrote them, and other lists dates instead of ages

RecordReader = Callable[[Sequence[int]], "Mapping[int, Any]"]
RowHeading = tuple[int, str, str]


class Pages:
    """Records by key, loaded by pages on demand."""

    def __init__(self, keys: Sequence[int], read: RecordReader) -> None:
        self.keys = keys
        self.read = read
        self._pages: LRUCache[int, Mapping[int, Any]] = LRUCache(CACHED_PAGES)

    def clear(self) -> None:
        """Reload every page on its next use."""
        self._pages.clear()

    def record(self, index: int) -> Any:
        """Return the record at `index`; None if it was deleted since the order was read."""
        number = index // PAGE_ROWS
        page = self._pages.get(number)
        if page is None:
            page = self.read(self.keys[number * PAGE_ROWS : (number + 1) * PAGE_ROWS])
            self._pages[number] = page
        return page.get(self.keys[index])

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        """Return the keys that are in the list; takes 50 ms for a million rows."""
        return frozenset(keys).intersection(self.keys)

    def find_index(self, key: Hashable, near: int) -> int | None:
        """Return the index of a key: search near `near`, then at both ends, where new rows are, then everywhere, which
        takes 20 ms for a million rows."""
        size = len(self.keys)
        for start, stop in (
            (near - NEAR_ROWS, near + NEAR_ROWS),
            (0, NEAR_ROWS),
            (size - NEAR_ROWS, size),
            (0, size),
        ):
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
        read: RecordReader,
        draw: Callable[[Any, int], list[RowLine]],
        headings: Sequence[RowHeading] = (),
    ) -> None:
        self._pages = Pages(keys, read)
        self._draw = draw
        self.headings = headings
        self._rows_of_headings = array("q", [first + number for number, (first, _, _) in enumerate(headings)])

    @property
    def keys(self) -> Sequence[int]:
        return self._pages.keys

    def drop_pages(self) -> None:
        self._pages.clear()

    def __len__(self) -> int:
        return len(self.keys) + len(self._rows_of_headings)

    def selectable(self, index: int) -> bool:
        return self._heading(index) is None

    def key(self, index: int) -> Hashable:
        heading = self._heading(index)
        return self.keys[self._entry(index)] if heading is None else ("heading", self.headings[heading][1])

    def index_of(self, key: Hashable) -> int | None:
        if isinstance(key, tuple) and key[0] == "heading":  # a citation is a tuple as well
            names = [name for _, name, _ in self.headings]
            return self._rows_of_headings[names.index(key[1])] if key[1] in names else None
        found = self._pages.find_index(key, self._entry(self.near))
        return None if found is None else self._row_of_entry(found)

    def _row_of_entry(self, entry: int) -> int:
        """Return the row of an entry: its index plus the number of headings above it."""
        return entry + bisect_right(self.headings, entry, key=lambda heading: heading[0])

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return self._pages.keys_present(keys)

    def record(self, index: int) -> Any:
        """Return the record of a row; None for a heading, or if it was deleted since the order was read."""
        return None if self._heading(index) is not None else self._pages.record(self._entry(index))

    def lines(self, index: int, width: int) -> list[RowLine]:
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


def fact_lines(shown: Fact | GlobalFact, now: str, width: int) -> list[RowLine]:
    """Draw a fact: badge, text, age; in a roomy list its domain and who wrote it too, where the text leaves the room. A
    stale fact stands out, a global one is marked by the word."""
    fact = shown.own if isinstance(shown, GlobalFact) else shown
    badge = fact_badge(fact, now)
    style = badge_style(badge)
    age = f"{format_age(now, fact.last_confirmed_at):>5}"
    text, about = visible(fact.fact), f"{fact.domain.replace('_', ' ')} · {visible(writer_name(fact.origin))} · "
    if width < ROOMY_LIST or cell_len(text) + cell_len(about) + len(age) + 3 > width:
        about = ""
    word = "" if fact.status == "active" else f"{FACT_BADGES[badge][1]} "
    look = "title" if badge == "stale" else "" if fact.status == "active" else "dim"
    note = [(f"{word}{about}", "dim"), (age, style if badge == "stale" else "dim")]
    if doubt := doubt_badge(fact):
        note.insert(0, doubt)
    if is_suspicious(fact.fact):
        note.insert(0, (f"{WARNING_SIGN} ", "warning"))
    if fact is not shown:
        note.insert(0, ("global · " if about else "global ", "accent"))
    return row_lines([(f"{FACT_BADGES[badge][0]} ", style)], text, look, note, width)


def draw_record(record: Any, width: int, now: str) -> list[RowLine]:
    """Draw a record of any kind, by what it is."""
    if isinstance(record, Fact | GlobalFact):
        return fact_lines(record, now, width)
    if isinstance(record, Proposal):
        return proposal_lines(record, width, now)
    return task_lines(record, width, now) if isinstance(record, Task) else entry_lines(record, width)


def doubt_badge(record: Fact | Decision) -> tuple[str, str] | None:
    """Return the mark of a record whose evidence moved, changed or is gone: the axis beside its age."""
    if record.evidence_state not in DOUBTFUL_STATES or record.status != "active":
        return None
    glyph, word = EVIDENCE_BADGES[record.evidence_state]
    return f"{glyph} {word} ", f"evidence-{record.evidence_state}"


def badge_style(badge: str) -> str:
    """Return the look of a fact's badge."""
    return f"glyph-{badge}"


def entry_lines(record: Record, width: int, links: str = "") -> list[RowLine]:
    """Draw an entry of the timeline: glyph, text, its citation and a label at the right edge; below, what a decision
    chose, what a commit's message says and how a conversation ended."""
    kind = unpack_key(key_of_record(record))[0]
    text, extra = summarize_record(record)
    gone = (isinstance(record, Decision) and record.status != "active") or (
        isinstance(record, Commit) and not record.reachable
    )
    time = (
        datetime.fromisoformat(record_time(record)).astimezone().strftime("%H:%M") if width >= ROOMY_LIST else ""
    )
    label = "" if isinstance(record, Summary) or (isinstance(record, Decision) and not gone) else extra
    note = " · ".join(filter(None, (label if width >= WIDE_LIST or gone else "", links, record.citation, time)))
    second = _first_paragraph(record) if isinstance(record, Commit) else ""
    if isinstance(record, Decision | Summary):
        second = record.chosen if isinstance(record, Decision) else record.outcome
    look = "dim" if gone or kind == "event" else "title" if kind == "decision" else ""
    glyph = (f"{KIND_GLYPHS[kind]} ", "glyph-record" if kind == "decision" else "dim")
    below = [] if gone else [(visible(second), "dim")]
    notes = [(visible(note), "accent" if links else "dim")]
    if isinstance(record, Decision) and (doubt := doubt_badge(record)):
        notes.insert(0, doubt)
    if is_suspicious(f"{text}\n{second}"):
        notes.insert(0, (f"{WARNING_SIGN} ", "warning"))
    return row_lines([glyph], visible(text), look, notes, width, second=below)


def _first_paragraph(commit: Commit) -> str:
    """Return the first paragraph of a commit's message, without its subject."""
    return " ".join(commit.body.replace("\r\n", "\n").partition("\n\n")[0].split())


def split_by_day(stream: Iterable[tuple[int, str]]) -> tuple[array[int], list[tuple[int, str]]]:
    """Convert a stream of (key, moment), newest first, to its keys and the index where each local day begins.

    A day's bounds are computed once, as text, and its end is found by bisection, so that the cost of an entry is
    negligible."""
    days: list[tuple[int, str]] = []

    def chunks() -> Iterator[tuple[int, ...]]:
        rows, done, start = iter(stream), 0, "\uffff"  # of the current day
        while chunk := list(islice(rows, KEYS_PER_CHUNK)):
            numbers, moments = zip(*chunk, strict=True)
            place = bisect_left(moments, True, key=start.__gt__)
            while place < len(moments):
                start, name = local_day(moments[place])
                days.append((done + place, name))
                place = bisect_left(moments, True, place + 1, key=start.__gt__)
            done += len(numbers)
            yield numbers

    return pack_integers(chunks()), days


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
    for _ in range(MOST_UNDOS):
        found = {step.seq: step for step in history.get_many(sorted(set(back.values())))}
        reasons |= {seq: found[other].reason for seq, other in back.items() if other in found}
        further = {seq: found[other].undoes for seq, other in back.items() if other in found}
        back = {seq: other for seq, other in further.items() if other is not None}
        if not back:
            break
    subjects = dict[int, str]()
    for seq, step in steps.items():
        several = step.changes > 1 and reasons.get(seq, step.reason).startswith(("restore ", "undo "))
        about = format_count(step.changes, "record") if several else texts.get(seq, "")
        subjects[seq] = " · ".join(filter(None, (reasons.get(seq), about)))
    return subjects


Entry = TypeVar("Entry")


class NumberedRows(ABC):
    """The base of rows that are there as a whole, by their numbers or what a subclass says in `key`; it renders them in
    `lines`."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def lines(self, index: int, width: int) -> Sequence[RowLine]: ...

    def selectable(self, index: int) -> bool:
        return True

    def key(self, index: int) -> Hashable:
        return index

    @cached_property
    def _indexes(self) -> dict[Hashable, int]:
        return {self.key(index): index for index in range(len(self))}

    def index_of(self, key: Hashable) -> int | None:
        return self._indexes.get(key)

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(keys).intersection(self._indexes)


class ListedRows(NumberedRows, Generic[Entry]):
    """Rows of a list of entries, each found by `key_of` it, or by its place, and drawn by `draw(entry, width)`."""

    def __init__(
        self,
        entries: Sequence[Entry],
        draw: Callable[[Entry, int], list[RowLine]],
        key_of: Callable[[Entry], Hashable] | None = None,
    ) -> None:
        self.entries = entries
        self._draw = draw
        self._key_of = key_of

    def __len__(self) -> int:
        return len(self.entries)

    def key(self, index: int) -> Hashable:
        return index if self._key_of is None else self._key_of(self.entries[index])

    def lines(self, index: int, width: int) -> list[RowLine]:
        return self._draw(self.entries[index], width)


# Rows of the search hits, under the headings Exact, Near and Nothing near, with the matching words highlighted.

HIT_LINES = 3  # lines of a hit
TITLED_KINDS = ("decision", "commit", "summary", "event", "proposal")  # kinds whose text begins with a title
EVENT_DATA = " {"  # how the data of an event begin, after its type and phase
EVENT_WORDS = str.maketrans(
    {"_": " ", '"': None, "{": None, "}": None}
)  # of an event's text and data, as people write

HitGroups = Sequence[tuple[str, Sequence[Hit]]]


class HitRows(NumberedRows):
    """Search hits in groups of (heading, hits), in the order given; a group without heading has no row for it."""

    def __init__(self, groups: HitGroups, now: str) -> None:
        self._rows: list[str | Hit] = []
        for heading, hits in groups:
            self._rows += [*([heading] if heading else []), *hits]
        self._now = now

    def __len__(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return not isinstance(self._rows[index], str)

    def key(self, index: int) -> Hashable:
        row = self._rows[index]
        return ("heading", index) if isinstance(row, str) else row.key

    def hit(self, index: int) -> Hit | None:
        """Return the hit of a row; None for a heading."""
        row = self._rows[index]
        return None if isinstance(row, str) else row

    def record(self, index: int) -> Record | None:
        """Return the record of a hit, as the search found it; None for a heading."""
        hit = self.hit(index)
        return None if hit is None else hit.record

    def lines(self, index: int, width: int) -> list[RowLine]:
        hit = self._rows[index]
        if isinstance(hit, str):
            return [heading_line(fit_cells(hit, min(cell_len(hit), width)), "", width)]
        record = hit.record
        shared = isinstance(record, GlobalFact)
        if isinstance(record, GlobalFact):
            record = record.own
        if isinstance(record, Fact):
            badge = fact_badge(record, self._now)
            glyph, style = FACT_BADGES[badge][0], badge_style(badge)
            word, loud = FACT_BADGES[badge][1], badge == "stale"
            word = f"global · {word}" if shared else word
        elif isinstance(record, Proposal):
            warned = looks_like_order(record)
            glyph, style = (WARNING_SIGN, "warning") if warned else (KIND_GLYPHS["proposal"], "glyph-proposed")
            word, loud = f"{record.kind} by {visible(writer_name(record.origin))}", False
        else:
            glyph, style = KIND_GLYPHS[hit.kind], "glyph-record" if hit.kind == "decision" else "dim"
            gone = isinstance(record, Commit) and not record.reachable
            word, loud = "gone" if gone else "", False
        if hit.kind != "proposal" and is_suspicious(hit.snippet):
            glyph, style = WARNING_SIGN, "warning"
        citation = visible(hit.citation)
        if len(citation) > (most := max(9, width // 3)):  # the end of a path is more specific
            citation = f"…{citation[1 - most :]}"
        if isinstance(record, Fact | Decision) and (doubt := doubt_badge(record)):
            word = " · ".join(filter(None, (word, doubt[0].strip())))
        note = " · ".join(filter(None, (word, citation, format_age(self._now, _shown_time(record)))))
        aside = cell_len(note)
        first, rest = max(4, width - aside - 3), max(4, width - 3)
        lines = _wrap_hit(
            _hit_title(hit, first + rest * (HIT_LINES - 1), "title" if loud else ""), first, rest, HIT_LINES
        )
        if (below := _text_below(hit)) and len(lines) < HIT_LINES:
            lines += _wrap_hit(below, rest, rest, HIT_LINES - len(lines))
        lines[0] = [
            (f"{glyph} ", style),
            *_fill_line(lines[0], first),
            (" ", ""),
            (note, style if loud else "dim"),
        ]
        lines[1:] = [[("  ", ""), *line] for line in lines[1:]]
        return lines


def _shown_time(record: Record) -> str:
    """Return the time whose age a row shows: of a fact when it was last confirmed, as its badge and every list do."""
    return record.last_confirmed_at if isinstance(record, Fact) else record_time(record)


def _hit_title(hit: Hit, room: int, look: str) -> RowLine:
    """Return the text of a hit, or only its title if there is a title; from its start, or from shortly before most
    matches if they would not fit in `room` cells."""
    end = _end_of_title(hit)
    marks = [(first, min(last, end)) for first, last in hit.marks if first < end]
    first, last = (
        marks[densest_mark(hit.snippet, marks, 2 * room // 3)] if marks and marks[-1][1] > room - 8 else (0, 0)
    )
    start = max(0, first - room // 3) if last > room - 8 else 0
    if start and (space := hit.snippet.find(" ", start - 1, first)) >= 0:
        start = space + 1  # at the beginning of a word
    pieces = _hit_pieces(hit, start, end, look)
    return [("…", "dim"), *pieces] if start else pieces


def _text_below(hit: Hit) -> RowLine:
    """Return what follows the title, its parts separated; empty for a text without a title."""
    pieces: RowLine = []
    start = _end_of_title(hit)
    for part in hit.snippet[start:].split("\n"):
        if part.strip():
            pieces += [*([(" · ", "dim")] if pieces else []), *_hit_pieces(hit, start, start + len(part), "dim")]
        start += len(part) + 1
    return pieces


def _end_of_title(hit: Hit) -> int:
    """Return where the title of a hit ends in its snippet; the end of the snippet for a record without a title."""
    end = hit.snippet.find(EVENT_DATA if hit.kind == "event" else "\n") if hit.kind in TITLED_KINDS else -1
    return len(hit.snippet) if end < 0 else end


def _hit_pieces(hit: Hit, start: int, end: int, look: str) -> RowLine:
    """Return a part of a hit's snippet, escaped, on one line, with the matching words highlighted."""
    pieces: RowLine = []
    at = start
    for first, last in [*hit.marks, (end, end)]:
        first, last = min(max(first, at), end), min(max(last, at), end)
        for piece, name in ((hit.snippet[at:first], look), (hit.snippet[first:last], "match")):
            if hit.kind == "event":
                piece = piece.translate(EVENT_WORDS)
            if piece:
                pieces.append((visible(piece.replace("\r\n", " ").replace("\n", " ").removesuffix("\r")), name))
        at = max(at, last)
    return pieces


def _wrap_hit(pieces: RowLine, first: int, rest: int, most: int) -> list[RowLine]:
    """Wrap pieces into at most `most` lines."""
    whole = "".join(text for text, _ in pieces)
    places = wrap_spans(whole, first, rest, most)
    lines: list[RowLine] = []
    for begin, end in places:
        line: RowLine = []
        at = 0
        for text, look in pieces:
            if part := text[max(0, begin - at) : max(0, end - at)]:
                line.append((part, look))
            at += len(text)
        lines.append(line)
    if places[-1][1] < len(whole):
        lines[-1].append(("…", "dim"))
    return lines


def _fill_line(line: RowLine, width: int) -> RowLine:
    """Pad a line with spaces to `width` cells."""
    return [*line, (" " * max(0, width - sum(cell_len(text) for text, _ in line)), "")]


# Rows of a list with a fixed order, identified by their index.


# Draw the rows of the side lists: checkpoints, steps of history, tasks, proposals.

PROPOSAL_LINES = 3  # lines of a proposal's text


def _join_note(*parts: str) -> str:
    """Join the parts of a note that are not empty."""
    return " · ".join(filter(None, parts))


def checkpoint_lines(checkpoint: Checkpoint, width: int, now: str, newest: int) -> list[RowLine]:
    """Draw a checkpoint: its name or subject, when it was created; below, the number of steps since, why it was created
    and the cost of recovering it. Those that a person took are highlighted."""
    since = newest - checkpoint.seq
    asked = checkpoint.trigger == "person"
    when = (
        format_local_time(checkpoint.created_at) if width >= ROOMY_LIST else format_age(now, checkpoint.created_at)
    )
    second = _join_note(
        f"{format_count(since, 'step')} since" if since else "nothing since",
        _checkpoint_reason(checkpoint) if checkpoint.is_automatic else "",
        f"{checkpoint.tokens:,} tokens" if checkpoint.tokens and width >= WIDE_LIST else "",
        "recovered ↺" if checkpoint.recovered_at else "",
    )
    glyph = (
        "▫ " if checkpoint.is_automatic else f"{KIND_GLYPHS['checkpoint']} ",
        "glyph-record" if asked else "dim",
    )
    note: RowLine = [(_join_note(checkpoint.citation, when), "dim")]
    return row_lines(
        [glyph], visible(checkpoint.title), "" if asked else "dim", note, width, second=[(second, "dim")]
    )


def _checkpoint_reason(checkpoint: Checkpoint) -> str:
    """Return the level of an automatic checkpoint, and why it was created."""
    if checkpoint.trigger == "usage":
        why = f"{checkpoint.used} %"
    else:
        daily = "daily" if checkpoint.level == "archival" else "by time"
        why = "at end" if checkpoint.trigger == "session_end" else daily
    return f"{checkpoint.level} {why}"


def step_lines(step: Step, subject: str, width: int, now: str) -> list[RowLine]:
    """Draw a step of history: operation and subject, number, author, time; dim if it was undone."""
    back = step.undone_by is not None
    glyph, look = ("↶", "dim") if back else ("↷", "glyph-aging") if step.undoes else ("•", "glyph-record")
    when = format_local_time(step.at) if width >= ROOMY_LIST else format_age(now, step.at)
    who = visible(writer_name(step.actor)) + (f", {step.door}" if width >= ROOMY_LIST else "")
    about = f"undone by {step.undone_by}" if back else visible(subject)
    note: RowLine = [(f"{step.seq} · ", "dim"), (who, "dim" if back or step.actor == "user" else "accent")]
    note.append((f" · {when}", "dim"))
    text = f"{visible(step.reason)}  {about}".rstrip()
    return row_lines([(f"{glyph} ", look)], text, "dim" if back else "", note, width)


def task_lines(task: Task, width: int, now: str) -> list[RowLine]:
    """Draw a task: checkbox, text, who added it if not you, citation and age."""
    done = task.status == "done"
    by = "" if task.origin == "user" else visible(writer_name(task.origin))
    look = {"in_progress": "glyph-aging", "done": "glyph-fresh"}.get(task.status, "glyph-record")
    state = {"in_progress": "in progress", "done": "done"}.get(task.status, "") if width >= 34 else ""
    note: RowLine = [(_join_note(by, state, task.citation, format_age(now, task.updated_at)), "dim")]
    if is_suspicious(task.text):
        note.insert(0, (f"{WARNING_SIGN} ", "warning"))
    return row_lines(
        [(f"{TASK_GLYPHS[task.status]} ", look)], visible(task.text), "dim" if done else "", note, width
    )


def proposal_lines(proposal: Proposal, width: int, now: str, against: str = "") -> list[RowLine]:
    """Draw a proposal: text, operation, origin and age; below, warnings: that it looks like an instruction to an agent,
    and the decision that it contradicts (`against`)."""
    warned = looks_like_order(proposal)
    kind = {"conflict": "file", "forget": ""}.get(proposal.kind, proposal.kind)
    look = "added" if proposal.kind == "add" else "accent"
    origin = visible(writer_name(proposal.origin))
    about = _join_note(proposal.citation, origin, format_age(now, proposal.created_at))
    note: RowLine = [(kind, look), (f" · {about}" if kind else about, "dim")]
    second = [
        (f"{WARNING_SIGN} contradicts {against}" if against else "", "warning"),
        (ORDER_WARNING if warned else "", "warning"),
    ]
    glyph = (f"{WARNING_SIGN if warned else KIND_GLYPHS['proposal']} ", "warning" if warned else "glyph-proposed")
    text = f"forget “{proposal.text}”" if proposal.kind == "forget" else proposal.text  # y does it: the verb first
    return row_lines([glyph], visible(text), "", note, width, PROPOSAL_LINES, second)
