"""Trends as columns: in lines of text for a terminal, and as an SVG picture. No library: those for terminals paint
colours of their own, which neither themes nor NO_COLOR reach."""

from __future__ import annotations

from html import escape

from tui.render.field_diff import Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.records.trends import Trend

AXIS = 8  # cells of the numbers at the left
EIGHTHS = " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT, GAP = 640, 180, 60  # of a plot in the picture, and between two


def drawn(trend: Trend, width: int, height: int) -> list[Line]:
    """Draw a trend as columns in `height` lines of at most `width` cells, below its name and above its labels."""
    shown = [value for value in trend.values if value is not None]
    now = f", {_number(shown[-1], trend.unit)} now" if shown else ""
    head: Line = [(trend.name.capitalize(), "heading"), (f"  {trend.means}{now}", "dim")]
    if not any(shown):
        return [head, [("Nothing was counted yet.", "dim")], []]
    room = max(8, width - AXIS)
    values = _fitted(trend.values, room)
    wide = max(1, room // len(values))
    gap = int(wide > 2)  # between two columns
    most = _round(max(shown))
    lines: list[Line] = [head]
    for row in range(height - 1, -1, -1):
        mark = {height - 1: most, height // 2: most / 2, 0: 0.0}.get(row) if height > 2 else {0: most}.get(row)
        number = f"{_number(mark, trend.unit):>{AXIS - 1}} " if mark is not None else " " * AXIS
        bars = "".join(_cell(value, most, row, height) * (wide - gap) + " " * gap for value in values)
        lines.append([(number, "dim"), (bars.rstrip(), "accent")])
    first, last = trend.labels[0], trend.labels[-1]
    between = " " * max(1, wide * len(values) - len(first) - len(last))
    return [*lines, [(" " * AXIS, ""), (f"{first}{between}{last}", "dim")], []]


def told(trend: Trend) -> list[str]:
    """Tell a trend in sentences, for those who hear the screen."""
    counted = [(label, value) for label, value in zip(trend.labels, trend.values, strict=True) if value is not None]
    if not any(value for _, value in counted):
        return [f"{trend.name.capitalize()}: nothing was counted yet."]
    most = max(counted, key=lambda one: one[1])
    lines = [f"{trend.name.capitalize()}: {trend.means}."]
    for word, (label, value) in (("First", counted[0]), ("Most", most), ("Last", counted[-1])):
        lines.append(f"{word}: {_number(value, trend.unit)} at {label}.")
    return lines


def svg(trends: Sequence[Trend], name: str) -> str:
    """Return a picture of all trends, which needs no script and no font of its own."""
    full = GAP + len(trends) * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 80} {full}" role="img"'
        f' aria-label="{escape(name, quote=True)}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH + 80}" height="{full}" fill="#fff"/>',
        f'<text x="60" y="26" font-size="16" font-weight="bold">{escape(name)}</text>',
    ]
    for index, trend in enumerate(trends):
        parts += _plot(trend, GAP + index * (HEIGHT + GAP))
    return "\n".join([*parts, "</svg>", ""])


def _plot(trend: Trend, top: int) -> list[str]:
    shown = [value for value in trend.values if value is not None]
    most = _round(max(shown, default=0) or 1)
    base, wide = top + HEIGHT, WIDTH / len(trend.values)
    parts = [
        f'<text x="60" y="{top - 8}"><tspan font-weight="bold">{trend.name.capitalize()}</tspan>'
        f'<tspan fill="#555"> {escape(trend.means)}</tspan></text>'
    ]
    for mark in (0, most / 2, most):
        y = base - HEIGHT * mark / most
        parts.append(f'<line x1="60" x2="{60 + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="54" y="{y + 4:.1f}" text-anchor="end" fill="#555">{_number(mark, trend.unit)}</text>')
    for index, (label, value) in enumerate(zip(trend.labels, trend.values, strict=True)):
        if value:
            tall = HEIGHT * value / most
            parts.append(
                f'<rect x="{60 + index * wide:.1f}" y="{base - tall:.1f}" width="{max(1.0, wide - 2):.1f}"'
                f' height="{tall:.1f}" fill="#0b6"><title>{escape(label)}: {_number(value, trend.unit)}</title></rect>'
            )
    ends = ((60, "start", trend.labels[0]), (60 + WIDTH, "end", trend.labels[-1]))
    parts += [f'<text x="{x}" y="{base + 16}" text-anchor="{at}" fill="#555">{label}</text>' for x, at, label in ends]
    return parts


def _fitted(values: Sequence[float | None], room: int) -> Sequence[float | None]:
    """Return the newest values that have room, one cell each at the least."""
    return values[-room:]


def _cell(value: float | None, most: float, row: int, height: int) -> str:
    """Return the part of a column in a row, in eighths of a cell; a value that is not zero is seen."""
    eighths = round(8 * height * (value or 0) / most)
    if value and not eighths:
        eighths = 1
    return EIGHTHS[max(0, min(8, eighths - 8 * row))]


def _round(most: float) -> float:
    """Return the next number of one digit or a half that is no lower: the top of the axis."""
    step: float = 1
    while step * 10 <= most:
        step *= 10
    return next(step * factor for factor in (1, 2, 5, 10) if step * factor >= most)


def _number(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if value == round(value) or value >= 10 else f"{value:.1f}"
    return f"{text} %" if unit == "%" else text
