"""Rows of the lists: snapshots of facts and timeline, which load their records by pages.

A snapshot is the order of the whole list as an array of keys (4 bytes a row; one index scan, made by a worker) and a
few pages of records near the visible ones. So a list knows the position of every record, at any size, and a redraw
reads nothing from the file."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

from rich.cells import cell_len, chop_cells
from textual.cache import LRUCache

from store.base import models
from store.base.clock import format_age, format_local_time, parse_moment
from store.database.database import KEYS_PER_CHUNK, pack_integers
from store.memory import Memory
from store.search.lookup import kind_of_record
from store.search.results import Hit
from store.text.display import format_count, visible
from store.text.fence import is_suspicious
from tui.render.lines import (
    DOUBTFUL_STATES,
    EVIDENCE_BADGES,
    FACT_BADGES,
    KIND_GLYPHS,
    ORDER_WARNING,
    TASK_GLYPHS,
    WARNING_SIGN,
    StyledLine,
    branch_mark,
    fact_badge,
    looks_like_order,
    record_time,
    summarize_record,
    writer_name,
)
from tui.render.search_results import densest_mark
from tui.theme.line_filters import cut_pieces, fit_cells, pieces_width

# Lay out a row of a list: a glyph, a text wrapped on a few lines, a note at the right edge, and a dim second part.

RowLine = StyledLine
# lines of a text in a list
TEXT_LINES = 2
# cells of text below which the note is left out
LEAST_TEXT_CELLS = 12


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
    indent, aside = pieces_width(head), pieces_width(note)
    room = width - indent - 1
    if room - aside < LEAST_TEXT_CELLS:
        note, aside = [], -1
    body = max(4, room - aside)
    first, *others = wrap_text(text, body, room, most)
    below = [(other, look) for other in others]
    for part, dim in second:
        below += [(line, dim) for line in wrap_text(part, room, room) if line]
    start: RowLine = [*head, (fit_cells(first, body), look), (" " if note else "", ""), *note]
    return [start, *([(" " * indent, ""), piece] for piece in below)]


def heading_line(name: str, reason: str, width: int) -> RowLine:
    """Return the line above a group of rows: its name, why it stands apart, and a rule."""
    about = f"  {reason}" if reason and cell_len(name) + cell_len(reason) + 4 < width else ""
    rule = "─" * max(0, width - cell_len(name) - cell_len(about) - 2)
    return [(name, "title"), (about, "dim"), (" ", ""), (rule, "rule")]


PAGE_ROWS = 64
CACHED_PAGES = 24
# rows near a position that are searched before all others
NEAR_ROWS = 4096
# undos and redos of one another, beyond which the first step is not looked for
MOST_UNDOS = 6
# cells of a list from which on the timeline shows times, and the context its whole reasons
WIDE_LIST = 64
# … facts their domain and who wrote them, and other lists dates instead of ages
ROOMY_LIST = 86

RecordReader = Callable[[Sequence[int]], "Mapping[int, Any]"]
RowHeading = tuple[int, str, str]


class KeyedRows:
    """Records in the order of `keys`, loaded by pages on demand, each drawn by `draw(record, width)` as lines, below
    headings: (index among the keys of its first record, its name, why it stands apart)."""

    near = 0
    """The cursor's index, here or in the rows that these replace: a key is first searched near it."""

    def __init__(
        self,
        keys: Sequence[int],
        read: RecordReader,
        draw: Callable[[Any, int], list[RowLine]],
        headings: Sequence[RowHeading] = (),
    ) -> None:
        self.keys = keys
        self.headings = headings
        self._read, self._draw = read, draw
        self._pages: LRUCache[int, Mapping[int, Any]] = LRUCache(CACHED_PAGES)
        self._rows_of_headings = array("q", [first + number for number, (first, _, _) in enumerate(headings)])

    def drop_pages(self) -> None:
        """Reload every page on its next use."""
        self._pages.clear()

    def __len__(self) -> int:
        return len(self.keys) + len(self._rows_of_headings)

    def selectable(self, index: int) -> bool:
        return self._heading(index) is None

    def key(self, index: int) -> Hashable:
        heading = self._heading(index)
        return self.keys[self._entry(index)] if heading is None else ("heading", heading[1])

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of a key: search near `near`, then at both ends, where new rows are, then everywhere, which
        takes 20 ms for a million rows."""
        # a citation is a tuple as well
        if isinstance(key, tuple) and key[0] == "heading":
            names = [name for _, name, _ in self.headings]
            return self._rows_of_headings[names.index(key[1])] if key[1] in names else None
        size, near = len(self.keys), self._entry(self.near)
        ends = ((0, NEAR_ROWS), (size - NEAR_ROWS, size), (0, size))
        for start, stop in ((near - NEAR_ROWS, near + NEAR_ROWS), *ends):
            try:
                entry = self.keys.index(key, max(0, start), stop)
            except ValueError:
                continue
            return entry + bisect_right(self.headings, entry, key=lambda heading: heading[0])
        return None

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        """Return the keys that are in the list; takes 50 ms for a million rows."""
        return frozenset(keys).intersection(self.keys)

    def record(self, index: int) -> Any:
        """Return the record of a row; None for a heading, or if it was deleted since the order was read."""
        if self._heading(index) is not None:
            return None
        entry = self._entry(index)
        number = entry // PAGE_ROWS
        page = self._pages.get(number)
        if page is None:
            page = self._read(self.keys[number * PAGE_ROWS : (number + 1) * PAGE_ROWS])
            self._pages[number] = page
        return page.get(self.keys[entry])

    def lines(self, index: int, width: int) -> list[RowLine]:
        if (heading := self._heading(index)) is not None:
            return [heading_line(heading[1], heading[2], width)]
        record = self.record(index)
        return [[("  …", "dim")]] if record is None else self._draw(record, width)

    def _heading(self, index: int) -> RowHeading | None:
        place = bisect_right(self._rows_of_headings, index) - 1
        return self.headings[place] if place >= 0 and self._rows_of_headings[place] == index else None

    def _entry(self, index: int) -> int:
        return index - bisect_right(self._rows_of_headings, index)


def record_glyph(record: models.Record, now: str) -> tuple[str, str]:
    """Return the glyph of a record, and its look."""
    if isinstance(record, models.Fact):
        badge = fact_badge(record, now)
        return FACT_BADGES[badge][0], f"glyph-{badge}"
    if isinstance(record, models.Proposal):
        return (
            (WARNING_SIGN, "warning") if looks_like_order(record) else (KIND_GLYPHS["proposal"], "glyph-proposed")
        )
    kind = kind_of_record(record)
    return KIND_GLYPHS[kind], "glyph-record" if kind == "decision" else "dim"


def doubt_badge(record: models.Record) -> tuple[str, str] | None:
    """Return the mark of a record whose evidence moved, changed or is gone: the axis beside its age."""
    if not isinstance(record, models.Fact | models.Decision) or record.evidence_state not in DOUBTFUL_STATES:
        return None
    glyph, word = EVIDENCE_BADGES[record.evidence_state]
    return (f"{glyph} {word} ", f"evidence-{record.evidence_state}") if record.status == "active" else None


def _warnings(record: models.Record, text: str) -> RowLine:
    """Return what stands before the note of a record: that its text looks like an order, what is doubtful, and the
    branch on which it was made where that is another than the current one."""
    doubt, branch = doubt_badge(record), branch_mark(record)
    warned: RowLine = [(f"{WARNING_SIGN} ", "warning")] if is_suspicious(text) else []
    return [*warned, *([doubt] if doubt else []), *([(f"{branch} ", "accent")] if branch else [])]


def join_note(*parts: str) -> str:
    """Join the parts of a note that are not empty."""
    return " · ".join(filter(None, parts))


def draw_record(record: Any, width: int, now: str) -> list[RowLine]:
    """Draw a record of any kind, by what it is."""
    if isinstance(record, models.Fact | models.GlobalFact):
        return fact_lines(record, width, now)
    if isinstance(record, models.Proposal):
        return proposal_lines(record, width, now)
    return task_lines(record, width, now) if isinstance(record, models.Task) else entry_lines(record, width)


def fact_lines(shown: models.Fact | models.GlobalFact, width: int, now: str) -> list[RowLine]:
    """Draw a fact: badge, text, age; in a roomy list its domain and who wrote it too, where the text leaves the room. A
    stale fact stands out, a global one is marked by the word."""
    fact = shown.own if isinstance(shown, models.GlobalFact) else shown
    glyph, style = record_glyph(fact, now)
    stale, active = style == "glyph-stale", fact.status == "active"
    age = f"{format_age(now, fact.last_confirmed_at):>5}"
    text, about = visible(fact.fact), f"{fact.domain.replace('_', ' ')} · {visible(writer_name(fact.origin))} · "
    if width < ROOMY_LIST or cell_len(text) + cell_len(about) + len(age) + 3 > width:
        about = ""
    word = "" if active else f"{FACT_BADGES[fact.status][1]} "
    note = [*_warnings(fact, fact.fact), (f"{word}{about}", "dim"), (age, style if stale else "dim")]
    if fact is not shown:
        note.insert(0, ("global · " if about else "global ", "accent"))
    look = "title" if stale else "" if active else "dim"
    return row_lines([(f"{glyph} ", style)], text, look, note, width)


def entry_lines(record: models.Record, width: int, links: str = "") -> list[RowLine]:
    """Draw an entry of the timeline: glyph, text, its citation and a label at the right edge; below, what a decision
    chose, what a commit's message says and how a conversation ended."""
    glyph, style = record_glyph(record, "")
    text, extra = summarize_record(record)
    kind, gone, second = kind_of_record(record), False, ""
    if isinstance(record, models.Decision):
        gone, second = record.status != "active", record.chosen
    elif isinstance(record, models.Commit):  # the first paragraph of its message, without its subject
        gone = not record.reachable
        second = " ".join(record.body.replace("\r\n", "\n").partition("\n\n")[0].split())
    elif isinstance(record, models.Summary):
        second = record.outcome
    plain = gone or (width >= WIDE_LIST and kind not in ("decision", "summary"))
    time = f"{record.created:%H:%M}" if width >= ROOMY_LIST else ""
    note = visible(join_note(extra if plain else "", links, record.citation, time))
    look = "dim" if gone or kind == "event" else "title" if kind == "decision" else ""
    notes = [*_warnings(record, f"{text}\n{second}"), (note, "accent" if links else "dim")]
    below = [] if gone else [(visible(second), "dim")]
    return row_lines([(f"{glyph} ", style)], visible(text), look, notes, width, second=below)


def split_by_day(stream: Iterable[tuple[int, str]]) -> tuple[array[int], list[RowHeading]]:
    """Convert a stream of (key, moment), newest first, to its keys and the headings of the local days.

    A day's bounds are computed once, as text, and its end is found by bisection, so that the cost of an entry is
    negligible."""
    days: list[RowHeading] = []

    def chunks() -> Iterator[tuple[int, ...]]:
        # of the current day
        rows, done, start = iter(stream), 0, "\uffff"
        while chunk := list(islice(rows, KEYS_PER_CHUNK)):
            numbers, moments = zip(*chunk, strict=True)
            place = bisect_left(moments, True, key=start.__gt__)
            while place < len(moments):
                start, name = local_day(moments[place])
                days.append((done + place, name, ""))
                place = bisect_left(moments, True, place + 1, key=start.__gt__)
            done += len(numbers)
            yield numbers

    return pack_integers(chunks()), days


def local_day(at: str) -> tuple[str, str]:
    """Return (start, name) of the local day of a moment; the start as a timestamp."""
    return parse_moment("today", at), f"{datetime.fromisoformat(at).astimezone():%a %d %b %Y}"


def step_subjects(memory: Memory, steps: Mapping[int, models.Step]) -> dict[int, str]:
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


class Row(NamedTuple):
    """A row with its key, how it is drawn at a width, the record or the entry that it is about, without which it cannot
    be selected, what the preview shows above that, and the hit of a search that it is."""

    key: Hashable
    draw: Callable[[int], list[RowLine]]
    record: Any = None
    above: Sequence[StyledLine] = ()
    hit: Hit | None = None


def heading_row(key: Hashable, name: str, reason: str = "") -> Row:
    """Return the row of a heading, and why what is below it stands apart."""
    return Row(key, lambda width: [heading_line(name, reason, width)])


class ListedRows:
    """Rows that are all there at once."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    @cached_property
    def _indexes(self) -> dict[Hashable, int]:
        return {row.key: index for index, row in enumerate(self.rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def selectable(self, index: int) -> bool:
        return self.rows[index].record is not None

    def key(self, index: int) -> Hashable:
        return self.rows[index].key

    def index_of(self, key: Hashable) -> int | None:
        return self._indexes.get(key)

    def keys_present(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(keys).intersection(self._indexes)

    def record(self, index: int) -> Any:
        """Return the record that a row is about, or its entry; None for a heading."""
        return self.rows[index].record

    def lines_above(self, index: int) -> Sequence[StyledLine]:
        """Return the lines above a row's record in the preview."""
        return self.rows[index].above

    def lines(self, index: int, width: int) -> list[RowLine]:
        return self.rows[index].draw(width)


Rows = KeyedRows | ListedRows
"""A snapshot of a list's contents; the list asks only for lines at or near the visible ones."""

# Rows of the search hits, under the headings Exact, Near and Nothing near, with the matching words highlighted.

HIT_LINES = 3  # lines of a hit
# kinds whose text begins with a title
TITLED_KINDS = ("decision", "commit", "summary", "event", "proposal")
# how the data of an event begin, after its type and phase
EVENT_DATA = " {"
EVENT_WORDS = str.maketrans(
    {"_": " ", '"': None, "{": None, "}": None}
)  # of an event's text and data, as people write

HitGroups = Sequence[tuple[str, Sequence[Hit]]]


def hit_rows(groups: HitGroups, now: str) -> ListedRows:
    """Return search hits in groups of (heading, hits), in the order given; a group without heading has no row for
    it."""
    rows: list[Row] = []
    for heading, hits in groups:
        if heading:
            rows.append(Row(("heading", len(rows)), partial(_draw_level, heading)))
        rows += [Row(hit.key, partial(draw_hit, hit, now), hit.record, hit=hit) for hit in hits]
    return ListedRows(rows)


def _draw_level(heading: str, width: int) -> list[RowLine]:
    return [heading_line(fit_cells(heading, min(cell_len(heading), width)), "", width)]


def draw_hit(hit: Hit, now: str, width: int) -> list[RowLine]:
    """Draw a hit: its title, and what follows it; at the right its state, its citation and its age."""
    shared = isinstance(hit.record, models.GlobalFact)
    record = hit.record.own if isinstance(hit.record, models.GlobalFact) else hit.record
    glyph, style = record_glyph(record, now)
    word, time = "", record_time(record)
    loud = style == "glyph-stale"
    if isinstance(record, models.Fact):
        word = f"{'global · ' if shared else ''}{FACT_BADGES[fact_badge(record, now)][1]}"
        # as its badge and every list do
        time = record.last_confirmed_at
    elif isinstance(record, models.Proposal):
        word = f"{record.kind} by {visible(writer_name(record.origin))}"
    elif isinstance(record, models.Commit) and not record.reachable:
        word = "gone"
    if hit.kind != "proposal" and is_suspicious(hit.snippet):
        glyph, style = WARNING_SIGN, "warning"
    citation = visible(hit.citation)
    # the end of a path is more specific
    if len(citation) > (most := max(9, width // 3)):
        citation = f"…{citation[1 - most :]}"
    doubt = doubt_badge(record)
    note = join_note(word, doubt[0].strip() if doubt else "", citation, format_age(now, time))
    first, rest = max(4, width - cell_len(note) - 3), max(4, width - 3)
    title = _hit_title(hit, first + rest * (HIT_LINES - 1), "title" if loud else "")
    lines = _wrap_hit(title, first, rest, HIT_LINES)
    if (below := _text_below(hit)) and len(lines) < HIT_LINES:
        lines += _wrap_hit(below, rest, rest, HIT_LINES - len(lines))
    gap = " " * max(0, first - pieces_width(lines[0]))
    aside: RowLine = [(gap, ""), (" ", ""), (note, style if loud else "dim")]
    return [[(f"{glyph} ", style), *lines[0], *aside], *([("  ", ""), *line] for line in lines[1:])]


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
        # at the beginning of a word
        start = space + 1
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
    lines = [cut_pieces(pieces, begin, end) for begin, end in places]
    if places[-1][1] < len(whole):
        lines[-1].append(("…", "dim"))
    return lines


# Draw the rows of the side lists: checkpoints, steps of history, tasks, proposals.

# lines of a proposal's text
PROPOSAL_LINES = 3


def checkpoint_lines(checkpoint: models.Checkpoint, width: int, now: str, newest: int) -> list[RowLine]:
    """Draw a checkpoint: its name or subject, when it was created; below, the number of steps since, why it was created
    and the cost of recovering it. Those that a person took are highlighted."""
    since = newest - checkpoint.seq
    asked = checkpoint.trigger == "person"
    when = (
        format_local_time(checkpoint.created_at) if width >= ROOMY_LIST else format_age(now, checkpoint.created_at)
    )
    second = join_note(
        f"{format_count(since, 'step')} since" if since else "nothing since",
        _checkpoint_reason(checkpoint) if checkpoint.is_automatic else "",
        f"{checkpoint.tokens:,} tokens" if checkpoint.tokens and width >= WIDE_LIST else "",
        "recovered ↺" if checkpoint.recovered_at else "",
    )
    glyph = (
        "▫ " if checkpoint.is_automatic else f"{KIND_GLYPHS['checkpoint']} ",
        "glyph-record" if asked else "dim",
    )
    note: RowLine = [(join_note(checkpoint.citation, when), "dim")]
    return row_lines(
        [glyph], visible(checkpoint.title), "" if asked else "dim", note, width, second=[(second, "dim")]
    )


def _checkpoint_reason(checkpoint: models.Checkpoint) -> str:
    """Return the level of an automatic checkpoint, and why it was created."""
    daily = "daily" if checkpoint.level == "archival" else "by time"
    why = {"usage": f"{checkpoint.used} %", "session_end": "at end"}.get(checkpoint.trigger, daily)
    return f"{checkpoint.level} {why}"


def step_lines(step: models.Step, subject: str, width: int, now: str) -> list[RowLine]:
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


def task_lines(task: models.Task, width: int, now: str) -> list[RowLine]:
    """Draw a task: checkbox, text, who added it if not you, citation and age."""
    done = task.status == "done"
    by = "" if task.origin == "user" else visible(writer_name(task.origin))
    look = {"in_progress": "glyph-aging", "done": "glyph-fresh"}.get(task.status, "glyph-record")
    state = {"in_progress": "in progress", "done": "done"}.get(task.status, "") if width >= 34 else ""
    note = (join_note(by, state, task.citation, format_age(now, task.updated_at)), "dim")
    glyph, text = (f"{TASK_GLYPHS[task.status]} ", look), visible(task.text)
    return row_lines([glyph], text, "dim" if done else "", [*_warnings(task, task.text), note], width)


def proposal_lines(proposal: models.Proposal, width: int, now: str, against: str = "") -> list[RowLine]:
    """Draw a proposal: text, operation, origin and age; below, warnings: that it looks like an instruction to an agent,
    and the decision that it contradicts (`against`)."""
    glyph, style = record_glyph(proposal, now)
    kind = {"conflict": "file", "forget": ""}.get(proposal.kind, proposal.kind)
    look = "added" if proposal.kind == "add" else "accent"
    origin = visible(writer_name(proposal.origin))
    about = join_note(proposal.citation, origin, format_age(now, proposal.created_at))
    note: RowLine = [(kind, look), (f" · {about}" if kind else about, "dim")]
    second = [
        (f"{WARNING_SIGN} contradicts {against}" if against else "", "warning"),
        (ORDER_WARNING if style == "warning" else "", "warning"),
    ]
    # y does it: the verb first
    text = f"forget “{proposal.text}”" if proposal.kind == "forget" else proposal.text
    return row_lines([(f"{glyph} ", style)], visible(text), "", note, width, PROPOSAL_LINES, second)
