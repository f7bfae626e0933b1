"""How many of something, in words."""


def count(things: int, word: str) -> str:
    """`1 fact`, `3 facts`."""
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"
