"""What may be sent, in tokens as `store/base/token_count.py` counts them, and how a part is filled up to
its limit.

Every part has a limit, and so has the whole. Where the whole would pass its own, summaries give way first, then the
window, from its oldest turn on; what was just asked, the facts and the standing part never do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base import token_count as tokens
from store.text.fence import fenced, harmless, item
from store.text.prompt_injection import suspicious

PROMPT = 3_050  # of everything that is sent
ANSWER = 950  # that the model keeps for its answer
WARN = 3_500  # prompt and answer together: beyond it a person is warned
LIMITS = {"static": 400, "facts": 150, "summaries": 200, "log": 200, "window": 2_000, "tools": 300}  # `log` shares …
SHARED = 200  # … this with the summaries
LEAST = 12  # tokens of a text that is cut: what is shorter says nothing
HEADINGS = {
    "facts": "What the person lets you remember:",
    "summaries": "What was talked about before, newest last:",
    "log": "Written down today",
    "window": "The conversation, newest last:",
    "tools": "What tools returned:",
}


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """One thing that may be sent: what it is cited by (empty for what has no record), its key
    (`store/base/record_keys.py`, None without one), our own words before it, and its text as it was written."""

    citation: str
    key: int | None
    start: str
    text: str

    @property
    def line(self) -> str:
        """As it stands in its fence."""
        return item(self.start, self.text)

    @property
    def flagged(self) -> bool:
        """Whether it looks like an instruction to agents."""
        return suspicious(self.text)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a context: `text` as it is sent, heading and fence among it; `tokens` of that; what is in it, in
    order; and how many of what it might have held are `left_out` for want of room."""

    name: str
    text: str
    tokens: int
    pieces: tuple[ContextPiece, ...] = ()
    left_out: int = 0


def empty(name: str) -> Part:
    return Part(name, "", 0)


def rendered(name: str, pieces: Sequence[ContextPiece], left_out: int = 0) -> Part:
    """A part that holds these pieces."""
    heading = HEADINGS[name]
    if name == "log" and pieces:  # its lines follow each other: one citation for all of them
        heading += f" [{pieces[0].citation}-{pieces[-1].citation.rpartition('#')[2]}]:"
    text = fenced(name, heading, [piece.line for piece in pieces])
    return Part(name, text, tokens.count(text), tuple(pieces), left_out)


def unfenced(name: str, text: str) -> Part:
    """A part of which all is ours, or the person's own word."""
    return Part(name, text, tokens.count(text))


def first_that_fit(name: str, pieces: Sequence[ContextPiece], limit: int) -> Part:
    """As many pieces as there is room for, the first ones before the others; one that is too long is passed over."""
    chosen: list[ContextPiece] = []
    part = empty(name)
    for piece in pieces:
        longer = rendered(name, [*chosen, piece])
        if longer.tokens <= limit:
            chosen.append(piece)
            part = longer
    return Part(name, part.text, part.tokens, part.pieces, len(pieces) - len(chosen))


def last_that_fit(name: str, pieces: Sequence[ContextPiece], limit: int, cut: bool = False) -> Part:
    """As many of the last pieces, in their order, as there is room for; with `cut` the first that does not fit is cut
    down to what is left. The very last is cut rather than left out."""
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
    """The pieces from `number` on, that one cut so that they fit; the part without it where that would say nothing."""
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
    """The context as it is sent."""
    return "\n\n".join(part.text for part in parts if part.text)


def within(parts: dict[str, Part]) -> dict[str, Part]:
    """The parts, by name and in their order, with so much left out that the whole keeps to its limit."""
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
