"""Render a metric: its name, value, a small chart, its meaning and where to look further."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD, POOR, KNOWN, UNKNOWN = "good", "poor", "known", "unknown"
SIGNS = {GOOD: ("✓", "glyph-fresh"), POOR: ("⚠", "warning"), KNOWN: ("•", "glyph-record"), UNKNOWN: ("·", "rule")}
LATELY = 24  # maximum searches whose durations are drawn
STEPS = "▁▂▃▄▅▆▇█"


class Figure:
    """One metric. `label` names it, `value` is short; `share` (0 to 1) is drawn as a bar, `series` as steps; `record`
    names a record whose text is shown instead; `note` is at the right. `state` is one of GOOD, POOR, KNOWN, UNKNOWN.
    `says` are paragraphs that explain it. `leads` is a `:` command that shows its subject, described by `to`."""

    __slots__ = (
        *("glyph", "key", "label", "leads", "look", "note", "record", "says", "series", "share", "state", "to"),
        *("value", "wide"),
    )

    def __init__(
        self,
        key: str,
        label: str,
        value: str = "",
        *says: str,
        share: float | None = None,
        series: "Sequence[float]" = (),
        record: str = "",
        note: str = "",
        state: str = KNOWN,
        badge: tuple[str, str] | None = None,
        leads: str = "",
        to: str = "",
        wide: bool = False,
    ) -> None:
        self.key = key
        self.label = label
        self.value = value
        self.says = says
        self.share = share
        self.series = series
        self.record = record
        self.note = note
        self.state = state
        self.glyph, self.look = badge or SIGNS[state]
        self.leads = leads
        self.to = to
        self.wide = wide


Section = tuple[str, list[Figure]]
"""A heading, and its metrics."""


def unknown(key: str, label: str, note: str, says: str, leads: str = "", to: str = "") -> Figure:
    """Build a metric without a value yet; `note` is the reason."""
    return Figure(key, label, "", f"{note[:1].upper()}{note[1:]}.", says, note=note, state=UNKNOWN, leads=leads, to=to)


def steps(series: "Sequence[float]", cells: int = LATELY) -> str:
    """Draw the last `cells` numbers, at most LATELY, as steps of a small chart scaled to their maximum."""
    shown = series[-min(LATELY, cells) :]
    most = max(shown, default=0)
    return "".join(STEPS[round((len(STEPS) - 1) * one / most)] if most else STEPS[0] for one in shown)


def percent(share: float) -> str:
    """Format a share as `53 %`; only exactly 0 and 1 are shown as 0 % and 100 %."""
    shown = round(100 * share)
    if shown == 0 < share:
        return "<1 %"
    return ">99 %" if shown == 100 and share < 1 else f"{shown} %"


def size(number: int) -> str:
    """Format bytes as `83.2 kB`, `1.4 MB`."""
    return f"{number / 1_000_000:,.1f} MB" if number >= 100_000 else f"{number / 1000:.1f} kB"
