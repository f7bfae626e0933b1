"""The command stats: what a memory holds, as lines with small charts, or as a plot over time."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import asdict
from shutil import get_terminal_size

from store.embedding.vectors import Vectors
from store.exchange.exporter import save_export
from store.memory import Memory
from store.records.timeline import measure_trends
from store.search.lookup import records_by_key
from store.upkeep.metrics import measure
from tui.commands.call import Outcome, Session, absolute_path
from tui.commands.context import draw_bar
from tui.commands.record_lines import fact_line, keyed_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import format_count
from tui.render.metrics import POOR, UNKNOWN, MetricSection, draw_steps, draw_trend, metric_sections, trends_svg

TO_TERMINAL = "-"  # instead of a file: to the terminal
PLOT_LINES = 8  # lines of a plot there


def plot_trends(session: Session, given: ParsedArguments) -> Outcome:
    """Write the trends of growth, recall and age into an SVG file, or print them."""
    memory = session.memory
    found = measure_trends(memory.database, memory.now)
    if given.plot == TO_TERMINAL:
        width = _terminal_columns()
        lines = ["".join(text for text, _ in line) for one in found for line in draw_trend(one, width, PLOT_LINES)]
        data = {one.name: dict(zip(one.labels, one.values, strict=True)) for one in found}
        return Outcome(lines=lines, data=lambda: data)
    path = absolute_path(session, given.plot)

    def picture() -> Generator[str, None, None]:
        yield trends_svg(found, session.location.display_name)

    size = save_export(memory.database, path, session.may_replace(path, given.yes), text=picture)
    return Outcome(f"Drawn to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def _terminal_columns() -> int:
    return min(120, get_terminal_size().columns)


STATS_LABEL_CELLS, STATS_VALUE_CELLS = 14, 9
STATS_BAR_CELLS = 24  # cells of the longest bar
STATS_QUERY_CELLS = 60


def stats_lines(found: list[MetricSection]) -> list[str]:
    """Return each metric with its chart; say which ones are unknown, and where to look for poor ones."""
    lines: list[str] = []
    for heading, figures in found:
        lines += ["", heading.upper()]
        for one in figures:
            if one.state == UNKNOWN:
                lines.append(f"  {one.sign[0]} {one.label:<{STATS_LABEL_CELLS}} {one.note}")
                continue
            chart = (
                draw_steps(one.series)
                if one.share is None
                else draw_bar(round(one.share * 1000), 1000, STATS_BAR_CELLS)
            )
            label = (
                f"{shorten(one.label, STATS_QUERY_CELLS):<{STATS_QUERY_CELLS}}"
                if one.wide
                else f"{shorten(one.label, STATS_LABEL_CELLS):<{STATS_LABEL_CELLS}}"
            )
            value = "" if one.wide else f" {one.value:>{STATS_VALUE_CELLS}}  {chart:<{STATS_BAR_CELLS}}"
            lines.append(f"  {one.sign[0]} {label}{value}  {one.note}".rstrip())
            if one.state == POOR and one.leads:
                lines.append(f"      memoranda {one.leads}")
    return lines[1:]


def stats(session: Session, given: ParsedArguments) -> Outcome:
    """Show counts and the metrics of the memory, or plot its trends."""
    if given.plot:
        return plot_trends(session, given)
    numbers, measures = memory_figures(session), measure(session.memory)
    width = max(map(len, numbers))
    return Outcome(
        data=lambda: {**numbers, "health": asdict(measures)},
        lines=[
            *(f"{name:<{width}}  {_format_figure(value)}" for name, value in numbers.items()),
            "",
            *stats_lines(metric_sections(measures, past=bool(session.memory.database.moment))),
        ],
    )


def memory_figures(session: Session) -> dict[str, object]:
    """Collect the counts of records, sizes and paths."""
    memory = session.memory
    database = memory.database
    facts = memory.facts.count_by_state(memory.now)
    tables = ("decisions", "iterations", "commits", "events", "commit_links", "tasks", "checkpoints", "history")
    counted = {table: database.value(f"SELECT count(*) FROM {table}") for table in tables}
    return {
        "facts": facts["active"],
        **{name: facts[name] for name in ("fresh", "aging", "low", "stale", "superseded", "forgotten")},
        **counted,
        "schema": database.connection.pragma("user_version"),
        "created_at": database.value("SELECT value FROM meta WHERE key = 'created_at'"),
        **_vector_figures(memory),
        "bytes": 0 if memory.passing else os.path.getsize(memory.location.path),
        "path": session.location.path,
    }


def _vector_figures(memory: Memory) -> dict[str, object]:
    """Return which provider and model make the vectors, and how many texts wait for theirs."""
    status = Vectors(memory.database).read_status()
    return {"embedded_by": status.provider, "embedding_model": status.model, "to_embed": status.left}


def _format_figure(value: object) -> str:
    """Format a figure of the statistics."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def overview_lines(session: Session) -> list[str]:
    """Return the lines that `memoranda` prints without a terminal."""
    memory = session.memory
    now = memory.now
    counts = memory.facts.count_by_state(now)
    keys = [key for key, _ in memory.timeline.stream(limit=8)]
    found = records_by_key(memory.database, keys)
    old = memory.facts.get_many(memory.facts.ids(now, limit=8))
    ageing = ", ".join(f"{counts[state]} {state}" for state in ("aging", "low", "stale") if counts[state])
    lines = [
        f"memoranda  {memory.location.display_name}  "
        f"{format_count(counts['active'], 'fact')}{f' ({ageing})' if ageing else ''}"
    ]
    lines += ["", "FACTS, longest unconfirmed first", *(fact_line(fact, now) for fact in old)]
    if not old:
        lines.append('none yet; add one: memoranda remember "team of 5"')
    lines += ["", "TIMELINE, newest first", *(keyed_line(key, found[key]) for key in keys if key in found)]
    if not keys:
        lines.append("nothing yet")
    return [*lines, "", "memoranda --help lists what can be done; in a terminal, memoranda opens the application."]
