"""Decide whether two words are forms of one: by their beginning, and by their endings."""


def shared_start(one: str, other: str) -> int:
    """Return how many letters two words share at their start."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def inflected(one: str, other: str, least: int = 4, ending: int = 2) -> bool:
    """Return whether two words share `least` letters at their start, and all of the shorter but its last `ending`."""
    return shared_start(one, other) >= max(least, min(len(one), len(other)) - ending)
