"""Secrets in another encoding: percent-encoded as in addresses, or in Base64 as in manifests and headers.

Encoded text is decoded and matched against the same table. Of a percent-encoded text the exact places are cut; of
Base64 the whole run, as its letters do not map to single characters.
"""

import binascii
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from store.redaction.rules.family import Family

_FEWEST = 4
"""Letters of Base64 that a mark must determine, else they occur in most words."""

_PERCENT = re.compile("%(?:0[9AD]|2[0-9A-F]|[3-6][0-9A-F]|7[0-9A-E])", re.IGNORECASE)


def percent(copy: str) -> tuple[str, list[int]] | None:
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


def _in_base64(mark: str) -> set[str]:
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
    return tuple(sorted(set().union(*map(_in_base64, marks))))


@dataclass(eq=False)
class EncodedFamily(Family):
    """Runs of Base64, of either alphabet, in which the table finds something; `reads` applies the table."""

    reads: Callable[[str], object] = field(init=False)

    def spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        spans = []
        waiting = iter(anchors)
        at = next(waiting, -1)
        for match in self.compiled.finditer(copy, max(0, anchors[0] - LONGEST)):
            while 0 <= at < match.start():
                at = next(waiting, -1)
            if at < 0:
                break
            if at < match.end() and (decoded := _decoded(match[0])) and self.reads(decoded):
                spans.append(match.span())
        return spans


LONGEST = 20_000
"""Letters of one run that are decoded together, as the pattern of the rule has it."""


def _decoded(run: str) -> str:
    """Return the text of a run of Base64; empty if it is not ASCII."""
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = binascii.a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except binascii.Error:
        return ""
    text = decoded.decode("ascii", "replace")
    return text if text.isascii() else ""
