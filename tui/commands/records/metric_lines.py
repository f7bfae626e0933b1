"""Format the metrics of a memory as lines with small charts, for `stats`."""

from tui.commands.record_lines import cut
from tui.commands.records.context import bar
from tui.render.metrics.metric import POOR, UNKNOWN, Section, steps

BAR = 24  # cells of the longest bar
LABEL, VALUE = 14, 9
QUERY = 60


def lines_of(found: list[Section]) -> list[str]:
    """Return each metric with its chart; say which ones are unknown, and where to look for poor ones."""
    lines: list[str] = []
    for heading, figures in found:
        lines += ["", heading.upper()]
        for one in figures:
            if one.state == UNKNOWN:
                lines.append(f"  {one.glyph} {one.label:<{LABEL}} {one.note}")
                continue
            chart = steps(one.series) if one.share is None else bar(round(one.share * 1000), 1000, BAR)
            label = f"{cut(one.label, QUERY):<{QUERY}}" if one.wide else f"{cut(one.label, LABEL):<{LABEL}}"
            value = "" if one.wide else f" {one.value:>{VALUE}}  {chart:<{BAR}}"
            lines.append(f"  {one.glyph} {label}{value}  {one.note}".rstrip())
            if one.state == POOR and one.leads:
                lines.append(f"      memoranda {one.leads}")
    return lines[1:]
