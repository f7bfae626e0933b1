"""Rows of the search hits, under the headings Exact, Near and Nothing near, with the matching words highlighted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

from rich.cells import cell_len

from store.base.clock import ago
from store.base.models import Commit, Decision, Fact, GlobalFact, Proposal, Record
from store.search.results import Hit
from store.text.prompt_injection import suspicious
from tui.lists.record_rows import badge_style, doubted
from tui.lists.wrapping import Pairs, spans
from tui.lists.wrapping import heading as heading_line
from tui.render.badges import FACT_BADGES, KIND_GLYPHS, WARNING, fact_badge
from tui.render.details.proposal_detail import flagged
from tui.render.highlight import densest
from tui.render.line_parts import writer
from tui.render.summary_line import moment
from tui.theme.escape import visible
from tui.theme.line_filters import fit

MOST = 3  # lines of a hit
TITLED = ("decision", "commit", "summary", "event", "proposal")  # kinds whose text begins with a title
DATA = " {"  # how the data of an event begin, after its type and phase
WORDS = str.maketrans({"_": " ", '"': None, "{": None, "}": None})  # of an event's text and data, as people write

Groups = Sequence[tuple[str, Sequence[Hit]]]


class HitRows:
    """Search hits in groups of (heading, hits), in the order given; a group without heading has no row for it."""

    def __init__(self, groups: Groups, now: str) -> None:
        self._rows: list[str | Hit] = []
        for heading, hits in groups:
            self._rows += [*([heading] if heading else []), *hits]
        self._now = now
        self._places = {row.key: index for index, row in enumerate(self._rows) if not isinstance(row, str)}

    def __len__(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return not isinstance(self._rows[index], str)

    def key(self, index: int) -> Hashable:
        row = self._rows[index]
        return ("heading", index) if isinstance(row, str) else row.key

    def index_of(self, key: Hashable) -> int | None:
        return self._places.get(key)  # type: ignore[call-overload, no-any-return]

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(keys).intersection(self._places)

    def hit(self, index: int) -> Hit | None:
        """Return the hit of a row; None for a heading."""
        row = self._rows[index]
        return None if isinstance(row, str) else row

    def record(self, index: int) -> Record | None:
        """Return the record of a hit, as the search found it; None for a heading."""
        hit = self.hit(index)
        return None if hit is None else hit.record

    def lines(self, index: int, width: int) -> list[Pairs]:
        hit = self._rows[index]
        if isinstance(hit, str):
            return [heading_line(fit(hit, min(cell_len(hit), width)), "", width)]
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
            warned = flagged(record)
            glyph, style = (WARNING, "warning") if warned else (KIND_GLYPHS["proposal"], "glyph-proposed")
            word, loud = f"{record.kind} by {visible(writer(record.origin))}", False
        else:
            glyph, style = KIND_GLYPHS[hit.kind], "glyph-record" if hit.kind == "decision" else "dim"
            gone = isinstance(record, Commit) and not record.reachable
            word, loud = "gone" if gone else "", False
        if hit.kind != "proposal" and suspicious(hit.snippet):
            glyph, style = WARNING, "warning"
        citation = visible(hit.citation)
        if len(citation) > (most := max(9, width // 3)):  # the end of a path is more specific
            citation = f"…{citation[1 - most :]}"
        if isinstance(record, Fact | Decision) and (doubt := doubted(record)):
            word = " · ".join(filter(None, (word, doubt[0].strip())))
        note = " · ".join(filter(None, (word, citation, ago(self._now, _when(record)))))
        aside = cell_len(note)
        first, rest = max(4, width - aside - 3), max(4, width - 3)
        lines = _laid_out(_title(hit, first + rest * (MOST - 1), "title" if loud else ""), first, rest, MOST)
        if (below := _below(hit)) and len(lines) < MOST:
            lines += _laid_out(below, rest, rest, MOST - len(lines))
        lines[0] = [(f"{glyph} ", style), *_filled(lines[0], first), (" ", ""), (note, style if loud else "dim")]
        lines[1:] = [[("  ", ""), *line] for line in lines[1:]]
        return lines


def _when(record: Record) -> str:
    """Return the time whose age a row shows: of a fact when it was last confirmed, as its badge and every list do."""
    return record.last_confirmed_at if isinstance(record, Fact) else moment(record)


def _title(hit: Hit, room: int, look: str) -> Pairs:
    """Return the text of a hit, or only its title if it has one, from its start or from shortly before the most marks
    if these would not fit in `room` cells."""
    end = _end_of_title(hit)
    marks = [(first, min(last, end)) for first, last in hit.marks if first < end]
    first, last = marks[densest(hit.snippet, marks, 2 * room // 3)] if marks and marks[-1][1] > room - 8 else (0, 0)
    start = max(0, first - room // 3) if last > room - 8 else 0
    if start and (space := hit.snippet.find(" ", start - 1, first)) >= 0:
        start = space + 1  # at the beginning of a word
    pieces = _pieces(hit, start, end, look)
    return [("…", "dim"), *pieces] if start else pieces


def _below(hit: Hit) -> Pairs:
    """Return what follows the title, its parts separated; empty for a text without a title."""
    pieces: Pairs = []
    start = _end_of_title(hit)
    for part in hit.snippet[start:].split("\n"):
        if part.strip():
            pieces += [*([(" · ", "dim")] if pieces else []), *_pieces(hit, start, start + len(part), "dim")]
        start += len(part) + 1
    return pieces


def _end_of_title(hit: Hit) -> int:
    """Return where the title of a record that has one ends in its snippet; for another, where the snippet does."""
    end = hit.snippet.find(DATA if hit.kind == "event" else "\n") if hit.kind in TITLED else -1
    return len(hit.snippet) if end < 0 else end


def _pieces(hit: Hit, start: int, end: int, look: str) -> Pairs:
    """Return a part of a hit's snippet, escaped, on one line, with the matching words highlighted."""
    pieces: Pairs = []
    at = start
    for first, last in [*hit.marks, (end, end)]:
        first, last = min(max(first, at), end), min(max(last, at), end)
        for piece, name in ((hit.snippet[at:first], look), (hit.snippet[first:last], "match")):
            if hit.kind == "event":
                piece = piece.translate(WORDS)
            if piece:
                pieces.append((visible(piece.replace("\r\n", " ").replace("\n", " ").removesuffix("\r")), name))
        at = max(at, last)
    return pieces


def _laid_out(pieces: Pairs, first: int, rest: int, most: int) -> list[Pairs]:
    """Wrap pieces into at most `most` lines."""
    whole = "".join(text for text, _ in pieces)
    places = spans(whole, first, rest, most)
    lines: list[Pairs] = []
    for begin, end in places:
        line: Pairs = []
        at = 0
        for text, look in pieces:
            if part := text[max(0, begin - at) : max(0, end - at)]:
                line.append((part, look))
            at += len(text)
        lines.append(line)
    if places[-1][1] < len(whole):
        lines[-1].append(("…", "dim"))
    return lines


def _filled(line: Pairs, width: int) -> Pairs:
    return [*line, (" " * max(0, width - sum(cell_len(text) for text, _ in line)), "")]
