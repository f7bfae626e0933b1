"""One family of secrets: its label, and how its members look.

Writing a record:

- `keywords` are plain substrings, one of which stands in every secret of the family: the text is searched for them
  first, all of them in one pass, and the pattern is tried only there, or `back` characters before.
- The pattern says its own left edge with a lookbehind, and ends where no letter or digit follows, so that no cut makes
  room for the next. Bodies are greedy or possessive.
- What is already cut, or was a marker to begin with, is masked with NUL: a negated class must leave NUL out.
- A named group is what is cut; without one the whole match is.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

MASK = "\0"
LEFT = r"(?<![A-Za-z0-9])"  # risk-…, MSG.…: the prefix is part of a word
RIGHT = r"(?![A-Za-z0-9])"


_LONGEST_FILLER = 512
"""Of a longer word that is no secret the rest is not looked at either, else `glpat-xxxx…` over and over takes hours."""


class Family:
    """A label and how its secrets look. The pattern is compiled at the first text that holds one of the keywords.

    `needs`: one more substring, anywhere, without which there is no match (for words as common as "redis"), lower case.
    `fold`: keywords (lower case) and pattern ignore case. `back`: how far before a keyword the match begins, if not
    with it. `gate`: a cheap pattern that fits, in lower case, whatever may follow a keyword, so that ordinary words are
    told apart without the pattern; families that share keywords should share it. `accept`: a last word on a match,
    False for a placeholder.
    """

    __slots__ = ("_compiled", "accept", "back", "edge", "fold", "gate", "keywords", "label", "needs", "pattern")

    def __init__(
        self,
        label: str,
        keywords: tuple[str, ...],
        pattern: str,
        *,
        needs: str = "",
        fold: bool = False,
        back: "Sequence[int]" = (),
        gate: str = "",
        accept: "Callable[[re.Match[str], str], bool] | None" = None,
    ) -> None:
        self.label = label
        self.keywords = keywords
        self.pattern = pattern
        self.needs = needs
        self.fold = fold
        self.back = back
        self.edge = not back and pattern.startswith(LEFT)
        self.gate = gate
        self.accept = accept
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> "re.Pattern[str]":
        """The pattern; `\\w` and case mean ASCII, since the text has been through NFKC."""
        if self._compiled is None:
            import re

            self._compiled = re.compile(self.pattern, re.ASCII | (re.IGNORECASE if self.fold else re.NOFLAG))
        return self._compiled

    def spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        """What the family cuts out of a text, from left to right; `anchors` are where its keywords stand."""
        match_at = self.compiled().match
        accept = self.accept
        spans = []
        done = 0
        for at in anchors:
            if at < done:
                continue
            match = match_at(copy, at)
            if match is None:
                continue
            start, end = match.span(match.lastgroup or 0)
            if accept is None:
                spans.append((start, end))
                done = match.end()
                continue
            # A value that holds a marker is judged without it: what stands beside it may be a secret of its own.
            parts = _pieces(copy, start, end) if match.lastgroup else [(start, end)]
            parts = [part for part in parts if accept(match, copy[part[0] : part[1]])]
            spans.extend(parts)
            if parts or (end - start > _LONGEST_FILLER and _is_word(copy, start, end)):
                done = match.end()
        return spans


_REACH = 4096


def line_before(text: str, at: int) -> str | None:
    """The line that a place stands in, up to it, each part that is masked as one sign: what was cut must not change how
    far away its neighbours are. None if it is longer than _REACH."""
    start = text.rfind("\n", max(0, at - _REACH), at) + 1
    if not start and at > _REACH:
        return None
    line = text[start:at]
    while MASK + MASK in line:
        line = line.replace(MASK + MASK, MASK)
    return line


def _is_word(copy: str, start: int, end: int) -> bool:
    return not any(copy.find(blank, start, end) >= 0 for blank in " \t\n")


def _pieces(copy: str, start: int, end: int) -> list[tuple[int, int]]:
    """The parts of a span that are not masked."""
    if copy.find(MASK, start, end) < 0:
        return [(start, end)]
    pieces = []
    for piece in copy[start:end].split(MASK):
        if piece:
            pieces.append((start, start + len(piece)))
        start += len(piece) + 1
    return pieces
