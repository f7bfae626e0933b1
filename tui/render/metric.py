"""A figure as it is shown: its name, the figure, a small chart, what it means and where it leads."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GOOD, POOR, KNOWN, UNKNOWN = "good", "poor", "known", "unknown"
SIGNS = {GOOD: ("✓", "glyph-fresh"), POOR: ("⚠", "warning"), KNOWN: ("•", "glyph-record"), UNKNOWN: ("·", "rule")}
LATELY = 24  # searches whose times are drawn
STEPS = "▁▂▃▄▅▆▇█"


class Figure:
    """One line. `label` names it, `value` is it in few characters; `share` (0 to 1) is drawn as a bar, `series` as
    steps, and `record` names a record whose text stands there instead; `note` stands at the right. `state` is one of
    GOOD, POOR, KNOWN, UNKNOWN. `says` are paragraphs on what it means. `leads` is a line of the `:` bar that shows what
    it is about, in words `to`."""

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
"""A heading, and what stands under it."""


def unknown(key: str, label: str, note: str, says: str, leads: str = "", to: str = "") -> Figure:
    """A figure that nobody can know yet; `note` says why."""
    return Figure(key, label, "", f"{note[:1].upper()}{note[1:]}.", says, note=note, state=UNKNOWN, leads=leads, to=to)


def steps(series: "Sequence[float]", cells: int = LATELY) -> str:
    """Numbers as steps of a small chart, the last of them, LATELY at the most; the tallest is the largest of these."""
    shown = series[-min(LATELY, cells) :]
    most = max(shown, default=0)
    return "".join(STEPS[round((len(STEPS) - 1) * one / most)] if most else STEPS[0] for one in shown)


def percent(share: float) -> str:
    """`53 %`; what is not nothing is not called nothing, nor what is not all all."""
    shown = round(100 * share)
    if shown == 0 < share:
        return "<1 %"
    return ">99 %" if shown == 100 and share < 1 else f"{shown} %"


def size(number: int) -> str:
    """Bytes as a person reads them: `83.2 kB`, `1.4 MB`."""
    return f"{number / 1_000_000:,.1f} MB" if number >= 100_000 else f"{number / 1000:.1f} kB"
