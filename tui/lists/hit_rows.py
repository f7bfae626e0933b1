"""Rows of the search hits, under the headings Exact, Near and Nothing near, with the matching words highlighted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

from rich.cells import cell_len

from store import Fact, Hit, Record, ago
from tui.lists.record_rows import BADGE_STYLES, Pairs, marked
from tui.render.badges import FACT_BADGES, KIND_GLYPHS, fact_badge
from tui.render.summary_line import moment
from tui.theme.escape import visible
from tui.theme.line_filters import fit

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

    def segments(self, index: int, width: int) -> Pairs:
        hit = self._rows[index]
        if isinstance(hit, str):
            return [(f"{fit(hit, min(len(hit), width))} ", "dim"), ("─" * max(0, width - len(hit) - 2), "rule")]
        record = hit.record
        if isinstance(record, Fact):
            badge = fact_badge(record, self._now)
            glyph, style = FACT_BADGES[badge][0], BADGE_STYLES.get(badge, "glyph-gone")
        else:
            glyph, style = KIND_GLYPHS[hit.kind], "glyph-record" if hit.kind == "decision" else "rule"
        day = ago(self._now, moment(record)) if width >= 34 else ""
        citation = visible(hit.citation)
        if len(citation) > (most := max(9, width // 3)):  # the end of a path is more specific
            citation = f"…{citation[1 - most :]}"
        citation = fit(citation, max(9, cell_len(citation)))
        body = max(4, width - 2 - cell_len(citation) - 1 - len(day) - 1)
        return [
            (f"{glyph} ", style),
            (f"{citation} ", "dim"),
            *marked(hit.snippet, hit.marks, body),
            (f" {day}" if day else "", "dim"),
        ]
