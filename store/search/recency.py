"""Exponential decay, for whoever sets a half-life; our own form of recency is a signal of `ranking`.

A half-life of 30 days buries what was asked for (R@10 72 → 36): old answers are answers.
"""

from collections.abc import Mapping, Sequence

from store.base.clock import DAY_MS, to_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# (key, score, what each signal gave to it)
Scored = tuple[int, float, dict[str, float]]


def decayed(
    order: Sequence[Scored], at: Mapping[int, str], evergreen: "Collection[int]", now: str, half_life: int
) -> list[Scored]:
    """Every score halved for each `half_life` days of age, best first again; evergreen ones keep theirs."""
    end = to_ms(now)
    result = []
    for key, score, why in order:
        days = max(0.0, (end - to_ms(at[key])) / DAY_MS)
        left = 1.0 if key in evergreen else 0.5 ** (days / half_life)
        result.append((key, score * left, {**why, "age": score * left - score}))
    return sorted(result, key=lambda scored: scored[1], reverse=True)
