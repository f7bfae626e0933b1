"""Explain a hit's rank: each signal's part of the score, as a small table with bars."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.search.results import Hit
    from tui.render.field_diff import Line

MEANS = {
    "text": "words of the question, the rarer the more",
    "meaning": "what it says is near what was asked",
    "speaker": "said by somebody the question names",
    "beside": "what was said before or after it is near",
    "standing": "how you want it always done, or what you prefer",
    "date": "of the time the question names",
    "time": "says when, as was asked",
    "session": "near, or in a session with something near",
    "new": "recent; decides between equals",
    "order": "the latest was asked for, or the first",
    "asks": "it asks, and answers little",
    "spread": "better records of its session are ranked above it",
    "citation": "the record that was named",
}
BAR = 12  # cells of the largest signal's bar
NOTHING = ("0.0", "-0.0")
HIGH = "█"
PARTS = " ▏▎▍▌▋▊▉"  # eighths of a cell


def rows(hit: "Hit") -> list[tuple[str, str, str]]:
    """Return (signal, its part of the score, a bar in proportion), the largest first."""
    most = max(hit.why.values(), default=0.0)
    found = sorted(hit.why.items(), key=lambda item: -item[1])
    return [(name, f"{value:.1f}", _bar(value / most if most > 0 else 0.0)) for name, value in found]


def lines_of(hit: "Hit") -> list[str]:
    """Return the table as text, with the model's similarity."""
    lines = [f"{name:<10}{value:>4}  {bar:<{BAR}}  {MEANS.get(name, '')}".rstrip() for name, value, bar in rows(hit)]
    return [*lines, *([similarity(hit)] if hit.similarity is not None else [])]


def similarity(hit: "Hit") -> str:
    """Return the calibrated similarity in words."""
    return f"alike     {hit.similarity or 0.0:>4.2f}  0 is unrelated, 1 the same in other words"


def table(hit: "Hit") -> "list[Line]":
    """Return the table for the narrow preview: without words, and without negligible signals."""
    lines: list[Line] = [[("Why this result", "heading")]]
    lines += [
        [(f"{name:<10}{value:>4}  ", "label"), (bar, "accent")]
        for name, value, bar in rows(hit)
        if value not in NOTHING
    ]
    if not hit.why:
        lines.append([("It passes the filters; nothing else was asked.", "dim")])
    if hit.similarity is not None:
        lines.append([(f"{'alike':<10}{hit.similarity:>4.2f}", "label"), ("  of 1", "dim")])
    return [*lines, []]


def _bar(share: float) -> str:
    eighths = max(0, round(share * BAR * 8))
    whole, part = divmod(eighths, 8)
    return HIGH * whole + (PARTS[part] if part else "" if whole or share < 0 else PARTS[1])
