"""Health: whether anything is wrong with the memory, then its figures, each with its chart; in the preview what one
means, from how much it is known, and what Enter opens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from time import monotonic
from typing import Any, NamedTuple

from rich.cells import cell_len

from store.base.clock import format_local_time
from store.base.models import Record
from store.text.display import visible
from store.upkeep.checks import NOTE, OK, WRONG, Finding, doctor_verdict
from store.upkeep.doctor import examine
from store.upkeep.metrics import Measures, measure
from tui.actions.action import Action
from tui.commands.health import check_words, draw_chart
from tui.lists.record_rows import RowLine, row_lines
from tui.panes.pane import Entry, EntryRows, Heading, Loaded, Pane, Reading
from tui.render.details import describe_record
from tui.render.lines import StyledLine, summarize_record
from tui.render.metrics import POOR, UNKNOWN, Figure, MetricSection, figure, metric_sections
from tui.theme.line_filters import Piece, fit_cells
from tui.workers.engine import Engine

# pause before the figures are measured again, as a multiple of the time that it took
MEASURE_REST = 10
# minimum seconds between two messages about a check
PROGRESS_SECONDS = 0.1
# a check that leaves out what reads every record
QUICK = "quick"
# cells of the subject of a finding
SUBJECT_CELLS = 11
# cells of a figure's name and of its value
NAME_CELLS, VALUE_CELLS = 11, 8
# cells of a name beside its value; a longer one is above
LONGEST_NAME = 16
# cells of the name in a narrow list
SHORT_NAME_CELLS = 8
# cells below which names have less room and notes are omitted for charts
NARROW_CELLS = 44
WORST_FIRST = {WRONG: ("✕ ", "removed"), NOTE: ("· ", "warning"), OK: ("✓ ", "added")}
PAST_NOTE = "the rest is of now: the past has none of it"
PLOTS = figure(
    "over time",
    "",
    "Growth, recall and age, as columns of weeks. health --plot FILE draws them as SVG.",
    note="growth, recall, age",
    sign=UNKNOWN,
    leads=("health --plot -", "draws them"),
)


class Known(NamedTuple):
    """What was read: the figures, of which state of the file, until when they are not measured again; the findings, and
    the check that they are from."""

    measures: Measures | None = None
    stamp: Sequence[int] = ()
    until: float = 0
    findings: tuple[Finding, ...] = ()
    check: str = ""


def read_health(reading: Reading) -> Loaded:
    """Read the figures, and look for damage if that is asked. In the past only the ages of facts are known."""
    known = reading.kept or Known()
    if reading.past is not None:
        measures = measure(reading.memory)
        entries = [*_figure_entries(reading, metric_sections(measures, True)), Heading(PAST_NOTE)]
        return Loaded(EntryRows(entries), says=_as_of(measures), kept=known)
    check = reading.view.get("check") or ""
    if check != known.check:
        known = known._replace(check=check, findings=_examine(reading, check == QUICK) if check else ())
    known = _measure(reading, known)
    assert known.measures is not None
    says = _as_of(known.measures)
    if known.findings:
        wrong = any(one.state == WRONG for one in known.findings)
        says.append((doctor_verdict(known.findings), "$text-warning" if wrong else "$text-success"))
    sections = metric_sections(known.measures)
    sections[0][1].append(PLOTS)
    entries = [*_check_entries(known), *_figure_entries(reading, sections)]
    return Loaded(EntryRows(entries), says=says, kept=known)


def _as_of(measures: Measures) -> list[Piece]:
    return [(f"as of {format_local_time(measures.at)}", "$dim")]


def _measure(reading: Reading, known: Known) -> Known:
    """Measure the figures again, if the file changed since and if that takes a small part of the time."""
    path, start = reading.engine.location.path, monotonic()
    stamp = [os.stat(one).st_mtime_ns for one in (path, f"{path}-wal") if os.path.exists(one)]
    if known.measures is not None and (start < known.until or (stamp and stamp == known.stamp)):
        return known
    measures, end = measure(reading.memory), monotonic()
    return known._replace(measures=measures, stamp=stamp, until=end + MEASURE_REST * (end - start))


# what is wrong


def _examine(reading: Reading, quick: bool) -> tuple[Finding, ...]:
    """Look for damage; return what was found, the worst first."""
    engine, told = reading.engine, 0.0

    def progress(what: str, done: int, total: int) -> None:
        nonlocal told
        if monotonic() - told > PROGRESS_SECONDS:
            told = monotonic()
            reading.tell(check_words(what, done, total))

    reading.tell("looking …")
    found = examine(engine.location, quick, "", progress, lambda: engine.is_closed, door="app", clock=engine.clock)
    return tuple(sorted(found, key=lambda one: list(WORST_FIRST).index(one.state)))


def _check_entries(known: Known) -> Iterator[Entry | Heading]:
    """Yield the row that looks for damage, and below it what was found."""
    yield Heading("checks")
    # another than the last one
    check = "damage again" if known.check == "damage" else "damage"
    words = doctor_verdict(known.findings) if known.findings else "the file, history, every record"
    name = "Check again" if known.findings else "Check for damage"
    lines: list[StyledLine] = [
        [("Check for damage", "title")],
        [("Looks whether the file is undamaged and private, and each record is as history says.", "")],
        [("health --check --quick leaves out what reads every record.", "dim")],
    ]
    draw = partial(row_lines, [("? ", "accent")], name, "", [(words, "dim")])
    yield Entry("check", check, draw, lambda: lines)
    for place, one in enumerate(known.findings):
        yield Entry(f"finding {place}", one, partial(_draw_finding, one), partial(_describe_finding, one))


def _draw_finding(found: Finding, width: int) -> list[RowLine]:
    look = "dim" if found.state == OK else ""
    subject = (fit_cells(visible(found.subject), SUBJECT_CELLS) + " ", look)
    return row_lines([WORST_FIRST[found.state], subject], visible(found.says), look, [], width)


def _describe_finding(found: Finding) -> list[StyledLine]:
    lines: list[StyledLine] = [[(f"{found.subject}  {found.state}", "title")], [(visible(found.says), "")]]
    return [*lines, [], [("Next  ", "label"), (visible(found.next), "")]] if found.next else lines


# the figures


def _figure_entries(reading: Reading, sections: Sequence[MetricSection]) -> Iterator[Entry | Heading]:
    """Yield the figures under their headings; one that names a record is that record, for the keys."""
    rows = [one for _, figures in sections for one in figures]
    names = [cell_len(visible(one.label)) for one in rows if not one.wide]
    cells = max([NAME_CELLS, *(length for length in names if length <= LONGEST_NAME)])
    for heading, figures in sections:
        yield Heading(heading)
        drawn = [cell_len(one.note) for one in figures if not (one.wide or one.record or one.sign == UNKNOWN)]
        for one in figures:
            record = reading.find_record(one.record) if one.record else None
            draw = partial(_draw_figure, one, record, cells, max(drawn, default=0))
            yield Entry(one.key, record or one, draw, partial(_describe_figure, reading.engine, one, record))


def _describe_figure(engine: Engine, one: Figure, record: Record | None) -> list[StyledLine]:
    """Return what a figure means, and the record that it names."""
    lines: list[StyledLine] = [[(one.label, "title"), (f"  {one.value}".rstrip(), "accent")], []]
    for paragraph in one.says:
        lines += [[(paragraph, "")], []]
    if one.leads:
        lines += [[("enter", "label"), (f"  {one.to}", "dim")], []]
    return [*lines, *(describe_record(engine.screen, record) if record is not None else [])]


def _draw_figure(one: Figure, record: Record | None, cells: int, longest_note: int, width: int) -> list[RowLine]:
    """Draw a figure: its name in so many cells, its value, its chart, and its note at the right."""
    label, glyph = visible(one.label), (f"{one.sign[0]} ", one.sign[1])
    if one.wide:
        return row_lines([glyph], label, "", [(visible(one.note), "dim")] if one.note else [], width)
    above: list[RowLine] = []
    name = cells if width >= NARROW_CELLS else SHORT_NAME_CELLS
    # a name is never shortened
    if cell_len(label) > name:
        above = row_lines([glyph], label, "dim", [], width)
        label, glyph = "", ("  ", "")
    # beside the name
    room = width - 2 - name - 1
    named = [glyph, (fit_cells(label, name) + " ", "dim")]
    if one.sign == UNKNOWN:
        return [*above, [*named, (fit_cells(visible(one.note), room), "dim")]]
    aside = min(cell_len(one.note) if record is not None else longest_note, width // 2, room - VALUE_CELLS - 3)
    note = (f" {fit_cells(visible(one.note), min(aside, cell_len(one.note))):>{aside}}", "dim")
    if record is not None:
        text = visible(" ".join(summarize_record(record)[0].split()))
        return [*above, [*named, (fit_cells(text, max(4, room - 1 - aside)), ""), note]]
    body = max(1, room - VALUE_CELLS - 2 - aside)
    value = (f"{visible(one.value):>{VALUE_CELLS}} ", "warning" if one.sign == POOR else "")
    return [*above, [*named, value, (fit_cells(draw_chart(one, body), body), "accent"), note]]


def _follow_line(kind: type, field: str, word: str | Callable[[Any], str]) -> Action:
    """Return the action that runs the line which a thing of a kind has in a field."""
    line = attrgetter(field)
    return Action(
        FOLLOW, word, (kind,), run=lambda screen, things: screen.run_line(line(things[0])), fits=line, looks=True
    )


FOLLOW = "preview.follow"
PANE = Pane(
    "health",
    "Health",
    read_health,
    actions=(
        Action(FOLLOW, "look", (str,), run=lambda screen, things: screen.go_to("health", check=things[0])),
        _follow_line(Finding, "command", attrgetter("command")),
        _follow_line(Figure, "leads", "go there"),
    ),
    seconds=5,
)
