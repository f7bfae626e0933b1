"""Rows of the health pane: a memory's figures under their headings, each with a small chart; in the preview their
meaning, sample size, and what Enter opens."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui.commands.records.context import bar
from tui.lists.wrapping import Pairs
from tui.lists.wrapping import heading as heading_line
from tui.lists.wrapping import row as laid_out
from tui.render.field_diff import Line
from tui.render.metrics.metric import POOR, UNKNOWN, Figure, Section, steps
from tui.render.summary_line import summary
from tui.theme.escape import visible
from tui.theme.line_filters import fit

if TYPE_CHECKING:
    from store.base.models import Record

LABEL, VALUE = 11, 8  # cells of a figure's name and of its value
MOST = 16  # cells of a name beside its value; a longer one stands above
SHORT = 8  # cells of the name in a narrow list
LONGEST = 24  # cells of the longest bar
NARROW = 44  # cells below which names have less room and notes are omitted for charts


class HealthRows:
    """The rows of the figures. `records` are those that figures name, by citation; `at` is the time of the measurement,
    and `due` the seconds until the next is possible (0: no newer one is possible)."""

    near = 0
    """See KeyedRows."""

    def __init__(
        self,
        found: Sequence[Section],
        records: Mapping[str, Record],
        at: str,
        due: float = 0,
        notes: Sequence[str] = (),
    ) -> None:
        self.at = at
        self.due = due
        self._records = records
        self._rows: list[Figure | str] = []
        self._notes: dict[Hashable, int] = {}  # cells of the longest note among neighbouring charts
        for heading, figures in found:
            self._rows += [heading, *figures]
            drawn = [one for one in figures if not (one.wide or one.record or one.state == UNKNOWN)]
            longest = max((cell_len(one.note) for one in drawn), default=0)
            self._notes |= {one.key: longest for one in drawn}
        names = [cell_len(visible(row.label)) for row in self._rows if isinstance(row, Figure) and not row.wide]
        self._label = max([LABEL, *(length for length in names if length <= MOST)])
        self._rows += notes
        self._places: dict[Hashable, int] = {
            row.key: index for index, row in enumerate(self._rows) if isinstance(row, Figure)
        }

    def drop_pages(self) -> None:
        """Do nothing: figures are measured again, never read by pages."""

    def __len__(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return isinstance(self._rows[index], Figure)

    def key(self, index: int) -> Hashable:
        row = self._rows[index]
        return row.key if isinstance(row, Figure) else ("heading", row)

    def index_of(self, key: Hashable) -> int | None:
        return self._places.get(key)

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset()

    def record(self, index: int) -> Record | None:
        """Return the record that a figure names, if any."""
        row = self._rows[index]
        return self._records.get(row.record) if isinstance(row, Figure) else None

    def leads(self, index: int) -> str:
        """Return the `:` command that shows a figure's subject; empty if there is none."""
        row = self._rows[index]
        return row.leads if isinstance(row, Figure) else ""

    def explanation(self, index: int) -> list[Line]:
        """Return the lines of a figure in the preview, above its record if it has one."""
        row = self._rows[index]
        if not isinstance(row, Figure):
            return []
        lines: list[Line] = [[(row.label, "title"), (f"  {row.value}".rstrip(), "accent")], []]
        for paragraph in row.says:
            lines += [[(paragraph, "")], []]
        if row.leads:
            lines += [[("enter", "label"), (f"  {row.to}", "dim")], []]
        return lines

    def lines(self, index: int, width: int) -> list[Pairs]:
        row = self._rows[index]
        if isinstance(row, str):
            return [heading_line(row, "", width)]
        if row.wide:
            note: Pairs = [(visible(row.note), "dim")] if row.note else []
            return laid_out([(f"{row.glyph} ", row.look)], visible(row.label), "", note, width)
        label, glyph = visible(row.label), (f"{row.glyph} ", row.look)
        name = self._label if width >= NARROW else SHORT
        if cell_len(label) <= name:
            return [self._figure(row, width, glyph, label, name)]
        above = laid_out([glyph], label, "dim", [], width)  # a name is never shortened
        return [*above, self._figure(row, width, ("  ", ""), "", name)]

    def _figure(self, row: Figure, width: int, glyph: tuple[str, str], label: str, name: int) -> Pairs:
        room = width - 2 - name - 1  # beside the name
        aside = min(self._notes.get(row.key, cell_len(row.note)), width // 2)
        note = (f" {fit(visible(row.note), min(aside, cell_len(row.note))):>{aside}}", "dim")
        named = (fit(label, name) + " ", "dim")
        if row.state == UNKNOWN:
            return [glyph, named, (fit(visible(row.note), room), "dim")]
        if record := self._records.get(row.record):
            text = visible(" ".join(summary(record)[0].split()))
            return [glyph, named, (fit(text, max(4, room - 1 - aside)), ""), note]
        body = max(1, room - VALUE - 2 - aside)
        value = (f"{visible(row.value):>{VALUE}} ", "warning" if row.state == POOR else "")
        chart = steps(row.series, body) if row.share is None else bar(round(row.share * 1000), 1000, min(LONGEST, body))
        return [glyph, named, value, (fit(chart, body), "accent"), note]
