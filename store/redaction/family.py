"""Select the families that a text may contain, and their offsets: all keywords are searched in one pass over the text.

A pattern is compiled at the first occurrence of one of its keywords.
"""

from __future__ import annotations

import binascii
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ahocorasick_rs import AhoCorasick, Implementation

# One family of secrets: its label, and the pattern of its members. And the file in which all of them are written.
#
# To write a record of `rules.toml`:
#
# - `keywords` are plain substrings, one of which is in every secret of the family: the text is searched for all of them
# in one pass, and the pattern is tried only there, or `back` characters before.
# - The pattern checks its own left edge with a lookbehind, and ends where no letter or digit follows, so that no cut
# makes room for the next. Bodies are greedy or possessive.
# - What is already cut, or was a marker before, is masked with NUL: a negated class must exclude NUL.
# - A named group is what is cut; without one the whole match is.

Check = Callable[[re.Match[str], str], bool]

MASK = "\0"
# risk-…, MSG.…: the prefix is part of a word
LEFT = r"(?<![A-Za-z0-9])"
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
    def compile_pattern(self) -> re.Pattern[str]:
        """Return the pattern; `\\w` and case mean ASCII, since the text is in NFKC."""
        return re.compile(self.pattern, re.ASCII | (re.IGNORECASE if self.fold else re.NOFLAG))

    def find_spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        """Return the spans that the family cuts out of a text, from left to right; `anchors` are the offsets of its
        keywords."""
        match_at = self.compile_pattern.match
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
            parts = _unmasked_parts(copy, start, end) if match.lastgroup else [(start, end)]
            parts = [part for part in parts if accept(match, copy[part[0] : part[1]])]
            spans.extend(parts)
            if parts or (end - start > _LONGEST_FILLER and _is_single_word(copy, start, end)):
                done = match.end()
        return spans


@cache
def read_rules() -> dict[str, Any]:
    """Return what the file of the rules contains."""
    rules = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    rules["parts"]["left"] = LEFT
    return rules


def expand_pattern(pattern: str | list[str]) -> str:
    """Return a pattern of the file, in one piece, with the parts that it names."""
    parts = read_rules()["parts"]
    return re.sub(r"\{([a-z_]+)\}", lambda name: expand_pattern(parts[name[1]]), "".join(pattern))


def expand_words(words: str | list[str]) -> tuple[str, ...]:
    """Return the words of a line of the file, with the lists that it names."""
    if isinstance(words, list):
        return tuple(words)
    return tuple(re.sub(r"\{([a-z]+)\}", lambda name: read_rules()["words"][name[1]], words).split())


_MAX_LINE_REACH = 4096


def line_before(text: str, at: int) -> str | None:
    """Return the line before an offset, each masked part as one character: what was cut must not change the distance of
    its neighbours. None if it is longer than _MAX_LINE_REACH."""
    start = text.rfind("\n", max(0, at - _MAX_LINE_REACH), at) + 1
    if not start and at > _MAX_LINE_REACH:
        return None
    line = text[start:at]
    while MASK + MASK in line:
        line = line.replace(MASK + MASK, MASK)
    return line


def _is_single_word(copy: str, start: int, end: int) -> bool:
    """Tell whether a span has no blank in it."""
    return not any(copy.find(blank, start, end) >= 0 for blank in " \t\n")


def _unmasked_parts(copy: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of a span that are not masked."""
    if copy.find(MASK, start, end) < 0:
        return [(start, end)]
    pieces = []
    for piece in copy[start:end].split(MASK):
        if piece:
            pieces.append((start, start + len(piece)))
        start += len(piece) + 1
    return pieces


Find = Callable[..., list[tuple[int, int, int]]]
Gate = Callable[[str, int], re.Match[str] | None]

Meaning = tuple[bool, str, str, list[int]]

_WORD_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
"""Characters that may not precede a mark that begins a word, in lower case."""


class KeywordIndex:
    """The keywords of some families. `families` are in the order in which they are tried."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = families
        self._gates: dict[str, Gate] = {}
        wanted: dict[str, list[Meaning]] = {}
        for number, family in enumerate(families):
            edge, fold, gate = family.edge, family.fold, family.gate
            for keyword in family.keywords:
                exact = "" if fold else keyword
                meanings = wanted.setdefault(keyword if fold else keyword.lower(), [])
                for meaning in meanings:
                    if meaning[1] == exact and meaning[0] == edge and meaning[2] == gate:
                        if meaning[3][-1] != number:
                            meaning[3].append(number)
                        break
                else:
                    meanings.append((edge, exact, gate, [number]))
        self._meant = list(wanted.values())
        # five times as fast to build as a DFA, and a third slower to search with
        automaton = AhoCorasick(wanted, implementation=Implementation.ContiguousNFA, store_patterns=False)
        self._find: Find = automaton.find_matches_as_indexes

    def _compile_gate(self, pattern: str) -> Gate:
        """Compile the pattern of a gate and keep it; return its match function."""
        gate = self._gates[pattern] = re.compile(pattern, re.ASCII).match
        return gate

    def find_anchors(self, text: str) -> list[tuple[Family, list[int]]]:
        """Return the families with a keyword in a text, in their order, each with the offsets where a match could
        begin, ascending."""
        lowered = text.lower()
        try:
            hits = self._find(lowered, True)
        except UnicodeEncodeError:  # an unpaired surrogate of UTF-16, which no keyword contains
            hits = self._find(lowered.encode("utf-8", "replace").decode(), True)
        if not hits:
            return []
        found: dict[int, list[int]] = {}
        gates = self._gates
        for keyword, start, end in hits:
            for edge, exact, gate, numbers in self._meant[keyword]:
                # most keywords are parts of ordinary words, and are rejected here
                if (
                    (edge and start and lowered[start - 1] in _WORD_CHARACTERS)
                    or (exact and text[start:end] != exact)
                    or (gate and not (gates.get(gate) or self._compile_gate(gate))(lowered, end))
                ):
                    continue
                for number in numbers:
                    if number in found:
                        found[number].append(start)
                    else:
                        found[number] = [start]
        return self._order_families(lowered, found) if found else []

    def _order_families(self, lowered: str, found: dict[int, list[int]]) -> list[tuple[Family, list[int]]]:
        """Return the families found, in their order, each with the offsets where a match could begin."""
        likely = []
        for number in sorted(found):
            family = self.families[number]
            if family.needs and family.needs not in lowered:
                continue
            starts = found[number]
            if family.back:
                starts = [at - distance for at in starts for distance in family.back if distance <= at]
            likely.append((family, starts if len(starts) == 1 else sorted(set(starts))))
        return likely


# Secrets in another encoding: percent-encoded as in addresses, or in Base64 as in manifests and headers.
#
# Encoded text is decoded and matched against the same table. Of a percent-encoded text the exact places are cut; of
# Base64 the whole run, as its letters do not map to single characters.

_FEWEST = 4
"""Letters of Base64 that a mark must determine, else they occur in most words."""

_PERCENT = re.compile("%(?:0[9AD]|2[0-9A-F]|[3-6][0-9A-F]|7[0-9A-E])", re.IGNORECASE)


def decode_percent(copy: str) -> tuple[str, list[int]] | None:
    """Decode `%3A` and the like; return the text and, for each character and for the end, its offset in the original;
    None if there is none of them."""
    parts: list[str] = []
    places: list[int] = []
    last = 0
    for match in _PERCENT.finditer(copy):
        parts += (copy[last : match.start()], chr(int(match[0][1:], 16)))
        places.extend(range(last, match.start() + 1))
        last = match.end()
    if not last:
        return None
    parts.append(copy[last:])
    places.extend(range(last, len(copy) + 1))
    return "".join(parts), places


def _base64_marks(mark: str) -> set[str]:
    """Return the Base64 of a mark at each of the three offsets in a group: the letters that hold no bit of the text
    around it."""
    looks = set()
    for before in range(3):
        coded = binascii.b2a_base64(bytes(before) + mark.encode(), newline=False).decode()
        fixed = coded[-(-8 * before // 6) : 8 * (before + len(mark)) // 6]
        if len(fixed) >= _FEWEST:
            looks.add(fixed)
    return looks


def base64_forms(marks: Iterable[str]) -> tuple[str, ...]:
    """Return the Base64 of the marks, at any offset."""
    return tuple(sorted(set().union(*map(_base64_marks, marks))))


@dataclass(eq=False)
class EncodedFamily(Family):
    """Runs of Base64, of either alphabet, in which the table finds something; `reads` applies the table."""

    reads: Callable[[str], object] = field(init=False)

    def find_spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        spans = []
        waiting = iter(anchors)
        at = next(waiting, -1)
        for match in self.compile_pattern.finditer(copy, max(0, anchors[0] - MAX_BASE64_RUN)):
            while 0 <= at < match.start():
                at = next(waiting, -1)
            if at < 0:
                break
            if at < match.end() and (decoded := _decode_base64(match[0])) and self.reads(decoded):
                spans.append(match.span())
        return spans


MAX_BASE64_RUN = 20_000
"""Letters of one run that are decoded together, as the pattern of the rule has it."""


def _decode_base64(run: str) -> str:
    """Return the text of a run of Base64; empty if it is not ASCII."""
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = binascii.a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except binascii.Error:
        return ""
    text = decoded.decode("ascii", "replace")
    return text if text.isascii() else ""
