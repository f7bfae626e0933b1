"""Diversity by maximal marginal relevance (Carbonell and Goldstein 1998): keeps hits from repeating each other."""

from collections.abc import Callable, Sequence


def mmr(scores: Sequence[float], alike: Callable[[int, int], float], weight: float, most: int) -> list[int]:
    """Return the indices of the `most` best, each chosen for `weight` × its score − (1 − `weight`) × its similarity to
    the most similar one chosen before. `scores` are from 0 to 1, best first; `alike(a, b)` gives 0 to 1."""
    if weight >= 1:
        return list(range(min(most, len(scores))))
    left = list(range(len(scores)))
    closest = [0.0] * len(scores)
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda place: weight * scores[place] - (1 - weight) * closest[place])
        left.remove(best)
        chosen.append(best)
        for place in left:
            closest[place] = max(closest[place], alike(best, place))
    return chosen


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common (Jaccard), for passages without vectors."""
    return len(one & other) / len(one | other) if one and other else 0.0
