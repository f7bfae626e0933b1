"""Limits in tokens, counted by `store/base/token_count.py`, and how a part is filled up to its limit.

Every part has a limit, and so has the whole. Where the whole would exceed its limit, summaries are dropped first, then
the window, from its oldest turn on; the question, the facts and the standing part never are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base import token_count as tokens
from store.text.fence import fenced, harmless, item
from store.text.prompt_injection import suspicious

PROMPT = 3_050  # of everything that is sent
ANSWER = 950  # that the model keeps for its answer
WARN = 3_500  # prompt and answer together: above it a warning is shown
# `own` is taken from the window's, and `log` shares …
LIMITS = {"static": 400, "own": 500, "facts": 150, "summaries": 200, "log": 200, "window": 2_000, "tools": 300}
SHARED = 200  # … this with the summaries
LEAST = 12  # tokens of a text that is cut: a shorter one is useless
PASSAGES = ("own", "log")  # parts that are lines of one document
HEADINGS = {
    "own": "What the person wrote for you",
    "facts": "What the person lets you remember:",
    "summaries": "What was talked about before, newest last:",
    "log": "Written down today",
    "window": "The conversation, newest last:",
    "tools": "What tools returned:",
}


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """One item that may be sent: its citation (empty for what has no record), its key (`store/base/record_keys.py`,
    None without one), our own words before it, and its text as it was written."""

    citation: str
    key: int | None
    start: str
    text: str

    @property
    def line(self) -> str:
        """The item as a line of its fence."""
        return item(self.start, self.text)

    @property
    def flagged(self) -> bool:
        """Whether it looks like an instruction to agents."""
        return suspicious(self.text)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a context: `text` as it is sent, with heading and fence; `tokens` of that; its items, in order; and
    how many are `left_out` for lack of space."""

    name: str
    text: str
    tokens: int
    pieces: tuple[ContextPiece, ...] = ()
    left_out: int = 0


def empty(name: str) -> Part:
    return Part(name, "", 0)


def rendered(name: str, pieces: Sequence[ContextPiece], left_out: int = 0) -> Part:
    """Return a part with these pieces."""
    heading = HEADINGS[name]
    if name in PASSAGES and pieces:  # consecutive lines have one citation
        heading += f" [{pieces[0].citation}-{pieces[-1].citation.rpartition('#')[2]}]:"
    text = fenced(name, heading, [piece.line for piece in pieces])
    return Part(name, text, tokens.count(text), tuple(pieces), left_out)


def unfenced(name: str, text: str) -> Part:
    """Return a part that consists of our own or the person's words."""
    return Part(name, text, tokens.count(text))


def first_that_fit(name: str, pieces: Sequence[ContextPiece], limit: int) -> Part:
    """Return a part with as many pieces as fit, the first ones first; one that is too long is skipped."""
    chosen: list[ContextPiece] = []
    part = empty(name)
    for piece in pieces:
        longer = rendered(name, [*chosen, piece])
        if longer.tokens <= limit:
            chosen.append(piece)
            part = longer
    return Part(name, part.text, part.tokens, part.pieces, len(pieces) - len(chosen))


def last_that_fit(name: str, pieces: Sequence[ContextPiece], limit: int, cut: bool = False) -> Part:
    """Return a part with as many of the last pieces, in order, as fit; with `cut` the first that does not fit is cut to
    the remaining space. The very last is cut instead of left out."""
    part = empty(name)
    for number in range(len(pieces) - 1, -1, -1):
        longer = rendered(name, pieces[number:], number)
        if longer.tokens > limit:
            if cut or not part.pieces:
                return _with_cut(name, pieces, number, limit, part)
            break
        part = longer
    return Part(name, part.text, part.tokens, part.pieces, len(pieces) - len(part.pieces))


def _with_cut(name: str, pieces: Sequence[ContextPiece], number: int, limit: int, without: Part) -> Part:
    """Return a part with the pieces from `number` on, that one cut so that they fit; `without` where the rest of it
    would be useless."""
    piece, later = pieces[number], pieces[number + 1 :]
    text = harmless(piece.text)
    low, high = 0, tokens.count(text)
    best: Part | None = None
    while low <= high:
        room = (low + high) // 2
        shorter = ContextPiece(piece.citation, piece.key, piece.start, tokens.cut(text, room))
        part = rendered(name, [shorter, *later], number)
        if part.tokens <= limit:
            best, low = part, room + 1
        else:
            high = room - 1
    if best is None or high < LEAST:
        return Part(name, without.text, without.tokens, without.pieces, number + 1)
    return best


def whole(parts: Iterable[Part]) -> str:
    """Return the context as it is sent."""
    return "\n\n".join(part.text for part in parts if part.text)


def within(parts: dict[str, Part]) -> dict[str, Part]:
    """Return the parts, by name and in order, reduced until the whole is within its limit."""
    parts = dict(parts)
    while tokens.count(whole(parts.values())) > PROMPT:
        name = next((name for name in ("summaries", "log") if parts[name].pieces), "window")
        part = parts[name]
        if len(part.pieces) > 1:
            parts[name] = rendered(name, part.pieces[1:], part.left_out + 1)
        elif name != "window":
            parts[name] = Part(name, "", 0, (), part.left_out + 1)
        else:
            over = tokens.count(whole(parts.values())) - PROMPT
            parts[name] = last_that_fit(name, part.pieces, max(0, part.tokens - over))
            if parts[name].tokens >= part.tokens:
                raise RuntimeError("a context cannot be brought within its budget")
    return parts
