"""One family of secrets: its label, and the pattern of its members. And the file in which all of them are written.

To write a record of `rules.toml`:

- `keywords` are plain substrings, one of which is in every secret of the family: the text is searched for all of them
  in one pass, and the pattern is tried only there, or `back` characters before.
- The pattern checks its own left edge with a lookbehind, and ends where no letter or digit follows, so that no cut
  makes room for the next. Bodies are greedy or possessive.
- What is already cut, or was a marker before, is masked with NUL: a negated class must exclude NUL.
- A named group is what is cut; without one the whole match is.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

Check = Callable[[re.Match[str], str], bool]

MASK = "\0"
LEFT = r"(?<![A-Za-z0-9])"  # risk-…, MSG.…: the prefix is part of a word
RIGHT = r"(?![A-Za-z0-9])"


_LONGEST_FILLER = 512
"""Of a longer word that is no secret the rest is skipped too, else `glpat-xxxx…` repeated takes hours."""


@dataclass(eq=False)
class Family:
    """A label and the pattern of its secrets, compiled at the first text that contains a keyword.

    `needs`: one more substring, anywhere, without which there is no match (for words as common as "redis"), lower case.
    `fold`: keywords (lower case) and pattern ignore case. `back`: how far before a keyword the match begins, if not
    with it. `gate`: a cheap pattern that matches, in lower case, whatever may follow a keyword, so that ordinary words
    are rejected without the pattern; families that share keywords should share it. `accept`: the final check of a
    match, False for a placeholder.
    """

    label: str
    keywords: tuple[str, ...]
    pattern: str
    needs: str = ""
    fold: bool = False
    back: Sequence[int] = ()
    gate: str = ""
    accept: Check | None = None

    @cached_property
    def edge(self) -> bool:
        """Return whether no letter or digit may precede a keyword."""
        return not self.back and self.pattern.startswith(LEFT)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the pattern; `\\w` and case mean ASCII, since the text is in NFKC."""
        return re.compile(self.pattern, re.ASCII | (re.IGNORECASE if self.fold else re.NOFLAG))

    def spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        """Return the spans that the family cuts out of a text, from left to right; `anchors` are the offsets of its
        keywords."""
        match_at = self.compiled.match
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
            # A value that contains a marker is judged without it: the rest may be a secret of its own.
            parts = _pieces(copy, start, end) if match.lastgroup else [(start, end)]
            parts = [part for part in parts if accept(match, copy[part[0] : part[1]])]
            spans.extend(parts)
            if parts or (end - start > _LONGEST_FILLER and _is_word(copy, start, end)):
                done = match.end()
        return spans


@cache
def read_rules() -> dict[str, Any]:
    """Return what the file of the rules contains."""
    rules = tomllib.loads(Path(__file__).parents[1].joinpath("rules.toml").read_text(encoding="utf-8"))
    rules["parts"]["left"] = LEFT
    return rules


def expand(pattern: str | list[str]) -> str:
    """Return a pattern of the file, in one piece, with the parts that it names."""
    parts = read_rules()["parts"]
    return re.sub(r"\{([a-z_]+)\}", lambda name: expand(parts[name[1]]), "".join(pattern))


def expand_words(words: str | list[str]) -> tuple[str, ...]:
    """Return the words of a line of the file, with the lists that it names."""
    if isinstance(words, list):
        return tuple(words)
    return tuple(re.sub(r"\{([a-z]+)\}", lambda name: read_rules()["words"][name[1]], words).split())


_REACH = 4096


def line_before(text: str, at: int) -> str | None:
    """Return the line before an offset, each masked part as one character: what was cut must not change the distance of
    its neighbours. None if it is longer than _REACH."""
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
    """Return the parts of a span that are not masked."""
    if copy.find(MASK, start, end) < 0:
        return [(start, end)]
    pieces = []
    for piece in copy[start:end].split(MASK):
        if piece:
            pieces.append((start, start + len(piece)))
        start += len(piece) + 1
    return pieces
