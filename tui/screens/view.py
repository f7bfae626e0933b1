"""Which facts are shown and how, and what the panes' titles say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from store.vocabulary import DOMAINS

SORT_ORDER = ("oldest", "state", "domain", "newest", "text")
DOMAIN_ORDER = (None, *DOMAINS)
SORT_WORDS = {"oldest": "by age", "newest": "newest first"}

Pieces = list[tuple[str, str]]


@dataclass(frozen=True)
class FactView:
    """The facts pane's state: order, filters, and whether what was superseded or forgotten is shown too."""

    sort: str = "oldest"
    domain: str | None = None
    hidden: bool = False
    words: str = ""

    @property
    def shows_all(self) -> bool:
        """Whether no filter is set, so that an empty list means that there are no facts."""
        return self.domain is None and not self.words

    @property
    def statuses(self) -> tuple[str, ...]:
        return ("active", "superseded", "contradicted", "forgotten") if self.hidden else ("active",)


def titles(
    view: FactView, counts: Mapping[str, int], sizes: tuple[str, str], narrow: bool, room: int = 80
) -> dict[str, tuple[Pieces, Pieces]]:
    """(left, right) of the titles of facts and timeline, `room` cells wide; in a narrow screen they are the tabs of the
    two. What is left out is said in fewer words where there is little room, but it is said."""
    about = [part for part in (view.domain, f"“{view.words}”" if view.words else "") if part]
    about.append(SORT_WORDS.get(view.sort, f"by {view.sort}"))
    gone = [f"{counts[word]:,} {word}" for word in ("forgotten", "superseded") if counts.get(word)]
    left_out = "all shown: H hides" if view.hidden else f"{', '.join(gone)} hidden: H" if gone else ""
    names = (f"1 facts {sizes[0]}".strip(), f"2 timeline {sizes[1]}".strip())
    taken = sum(len(name) + 3 for name in names) if narrow else len(f"FACTS {sizes[0]}")
    if gone and taken + sum(len(part) + 2 for part in about) + len(left_out) >= room:
        left_out = "H hides" if view.hidden else f"{counts['forgotten'] + counts['superseded']:,} hidden: H"
    if narrow:
        right = ("  ".join([*about, left_out]).strip(), "newest first")
        return {
            pane: (
                [(f"{name}   ", "bold $text-accent" if name is names[here] else "$foreground 50%") for name in names],
                [(right[here], "$foreground 60%")],
            )
            for here, pane in enumerate(("facts", "timeline"))
        }
    return {
        "facts": (
            [("FACTS ", ""), (f"{sizes[0]}  {'  '.join(about)}", "$foreground 60%")],
            [(left_out, "$foreground 50%")],
        ),
        "timeline": ([("TIMELINE ", ""), (sizes[1], "$foreground 60%")], [("newest first", "$foreground 50%")]),
    }
