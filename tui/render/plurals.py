"""Format counts of things, and what is said of them."""

from collections.abc import Sequence


def count(things: int, word: str) -> str:
    """Return `1 fact`, `3 facts`."""
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"


def cited(kind: str, ids: Sequence[int]) -> str:
    """Return the citation of one record, or how many there are: `F#1`, `3 facts`."""
    from store.base.citations import cite

    return cite(kind, ids[0]) if len(ids) == 1 else count(len(ids), "global fact" if kind == "global" else kind)


def said_of(things: int, words: str) -> str:
    """Return words that begin with a verb in the plural, as so many things take it: `1 turn waits`, `1 is left out`."""
    verb, _, rest = words.partition(" ")
    if things == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{verb} {rest}" if rest else verb
