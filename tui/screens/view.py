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
    def statuses(self) -> tuple[str, ...]:
        return ("active", "superseded", "contradicted", "forgotten") if self.hidden else ("active",)


def titles(
    view: FactView, counts: Mapping[str, int], sizes: tuple[str, str], narrow: bool
) -> dict[str, tuple[Pieces, Pieces]]:
    """(left, right) of the titles of facts and timeline; in a narrow screen they are the tabs of the two."""
    about = [part for part in (view.domain, f"“{view.words}”" if view.words else "") if part]
    about.append(SORT_WORDS.get(view.sort, f"by {view.sort}"))
    gone = [f"{counts[word]:,} {word}" for word in ("forgotten", "superseded") if counts.get(word)]
    left_out = "all shown: H hides" if view.hidden else f"{', '.join(gone)} hidden: H" if gone else ""
    if narrow:
        names = (f"1 facts {sizes[0]}".strip(), f"2 timeline {sizes[1]}".strip())
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
