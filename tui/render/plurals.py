"""Format counts of things."""


def count(things: int, word: str) -> str:
    """Return `1 fact`, `3 facts`."""
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"
