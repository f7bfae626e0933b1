"""How much text the screen shows: characters of facts, of those shown whole, and lines cut in each pane, at four sizes.

    python -m bench.screen_text

On the demo's records, in the application itself. A line is cut if it ends with an ellipsis that its record does not
have. The preview is not counted."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence

from store.base.location import Location
from store.base.models import Fact
from tui.app import Memoranda
from tui.demo import builder as demo
from tui.input.key_table import FACTS, PANE_KEYS
from tui.widgets.record_list import RecordList

SIZES = ((80, 24), (120, 40), (160, 45), (200, 50))
NOW = "2026-11-21T12:00:00.000Z"
GOALS = {(80, 24): 468, (120, 40): 1415, (160, 45): 1716, (200, 50): 2021}
MOST_CUT = 0.05
SEARCH = "postgres cola"


def main(arguments: Sequence[str] | None = None) -> int:
    os.environ |= {"MEMORANDA_WITHOUT": "model,agent", "TZ": "UTC"}
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = demo.build_demo(folder, NOW)
        for size in SIZES:
            missed += asyncio.run(measure(place, size))
    return 1 if missed else 0


async def measure(place: Location, size: tuple[int, int]) -> int:
    app = Memoranda(place, place.project or "", lambda: NOW)
    async with app.run_test(size=size, tooltips=False) as pilot:

        async def settled() -> None:
            for _ in range(3):
                await pilot.pause(0.2)
                await app.workers.wait_for_complete()

        await settled()
        found = app.screen.query_one("#list", RecordList)
        shown, whole = characters(found)
        goal = GOALS[size]
        missed = int(whole < goal)
        print(
            f"{size[0]}×{size[1]}: {shown:,} characters of facts, {whole:,} in facts shown whole (goal {goal:,})"
        )
        parts = []
        for name, number in sorted(PANE_KEYS.items(), key=lambda pane: pane[0] != FACTS):
            if name != FACTS:  # where it is already, its key takes the next chip
                await pilot.press(number)
                await settled()
            cut, lines = count_cut(found)
            missed += cut > MOST_CUT * lines
            parts.append(f"{name} {cut / max(1, lines):.0%}")
        await pilot.press("slash", *("space" if char == " " else char for char in SEARCH))
        await settled()
        cut, lines = count_cut(found)
        print(f"  lines cut: {', '.join(parts)}; search {cut / max(1, lines):.0%}", flush=True)
        return missed


def _rows(found: RecordList) -> dict[int, list[str]]:
    """Return the visible rows: index → its lines."""
    rows: dict[int, list[str]] = {}
    for y, (index, _) in enumerate(found._layout()):
        rows.setdefault(index, []).append(found.render_line(y).text.rstrip())
    return rows


def characters(found: RecordList) -> tuple[int, int]:
    """Return the visible characters of the facts' texts, and those of facts whose whole text is visible."""
    shown = whole = 0
    for index, lines in _rows(found).items():
        record = found.rows.record(index) if found.rows is not None else None  # type: ignore[attr-defined]
        if not isinstance(record, Fact):
            continue
        words = record.fact.split()
        place = 0
        for line in lines:
            parts = line.split()
            start = next(
                (at for at, part in enumerate(parts) if place < len(words) and part == words[place]), None
            )
            while start is not None and start < len(parts) and place < len(words) and parts[start] == words[place]:
                start, place = start + 1, place + 1
        shown += len(" ".join(words[:place]))
        if place == len(words):
            whole += len(record.fact)
    return shown, whole


def count_cut(found: RecordList) -> tuple[int, int]:
    """Return (lines cut, all lines) of the visible rows; the last row may go on below the screen."""
    cut = lines = 0
    for index, texts in _rows(found).items():
        record = found.rows.record(index) if hasattr(found.rows, "record") else None  # type: ignore[union-attr]
        own = "…" in str(record)
        lines += len(texts)
        cut += 0 if own else sum("…" in text for text in texts)
    return cut, lines


if __name__ == "__main__":
    raise SystemExit(main())
