"""Advice on a synced file that has grown: each session of an agent loads all of it, and files in `memory/` are found
when they are needed."""

from dataclasses import dataclass

from store.base import token_count
from store.documents.managed_section import SectionFile
from store.sync.lines import read

BYTES, TOKENS = 10_000, 2_500  # from which on a file is large
MOST = 3  # parts that are named
LEAST = 100  # tokens of a part that is worth moving


@dataclass(frozen=True, slots=True)
class MovablePart:
    """A part of a file that could be moved to a file in `memory/`: a heading with the text below it, or a fact; the
    lines `first` to `last`, of `tokens`."""

    title: str
    first: int
    last: int
    tokens: int


def large(text: str) -> bool:
    """Return whether a file is so large that some of it should be moved."""
    return len(text.encode()) > BYTES or token_count.count(text) > TOKENS


def movable(file: SectionFile) -> list[MovablePart]:
    """Return the largest parts of a file that could be moved, the largest first."""
    parts: list[MovablePart] = []
    title, first, held = "", 0, list[str]()

    def close(last: int) -> None:
        tokens = token_count.count("\n".join(held))
        if tokens >= LEAST:
            parts.append(MovablePart(title or held[0].strip()[:60], first, last, tokens))

    last = 0
    for number, line in file.own_lines():
        if line.startswith("#") or not held:
            if held:
                close(last)
            title, first, held = line.lstrip("# ").strip()[:60] if line.startswith("#") else "", number, []
        held.append(line)
        last = number
    if held:
        close(last)
    for item in read(file.lines, file.first).items:
        tokens = token_count.count(item.text)
        if tokens >= LEAST:
            lines = item.text.count("\n")
            name = f"F#{item.fact}" if item.fact is not None else item.text[:40]
            parts.append(MovablePart(name, item.number, item.number + lines, tokens))
    return sorted(parts, key=lambda part: -part.tokens)[:MOST]
