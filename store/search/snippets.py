"""Snippets: the part of a text with the matching words, and their positions in it.

Words are found with FTS5's own tokenizer, so the marks agree with the matches: stems, and letters without accents.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH = 700  # characters of a snippet
ELLIPSES = 4  # characters of the ellipses at both ends
SENTENCE_END = r"[.!?…]+[\"'”’»)\]]*\s+|\n+"
MAX_BYTES = 65_536  # of a text that is searched for marks


class Marker:
    """Finds the words of one query in a text."""

    def __init__(
        self, tokenizer: apsw.FTS5Tokenizer, words: Sequence[str], prefix: str | None, literal: Sequence[str] = ()
    ) -> None:
        self._tokenizer = tokenizer
        self._literal = (
            re.compile("|".join(map(re.escape, sorted(literal, key=len, reverse=True)))) if literal else None
        )
        self._stems: set[str] = set()
        self._prefix = ""
        for word in words:
            stems = [stem for _, _, *tokens in self._tokens(word.encode("utf-8", "replace")) for stem in tokens]
            self._stems.update(stems)
            if word == prefix and stems:
                self._prefix = stems[-1]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) in characters of every matching word of `text`, in order."""
        if self._literal:
            stand = [match.span() for match in self._literal.finditer(text[:MAX_BYTES])]
            words = [
                one for one in self._words(text) if not any(one[0] < end and start < one[1] for start, end in stand)
            ]
            return sorted(stand + words)
        return self._words(text)

    def _words(self, text: str) -> list[tuple[int, int]]:
        if not self._stems:
            return []
        raw = text[:MAX_BYTES].encode("utf-8", "replace")
        spans = [(start, end) for start, end, *stems in self._tokens(raw) if self._matches(stems)]
        if len(raw) == len(text):
            return spans  # one byte a character
        found = []
        done_bytes = done_characters = 0
        for start, end in spans:
            done_characters += len(raw[done_bytes:start].decode("utf-8", "replace"))
            width = len(raw[start:end].decode("utf-8", "replace"))
            found.append((done_characters, done_characters + width))
            done_characters += width
            done_bytes = end
        return found

    def _matches(self, stems: "list[str]") -> bool:
        return not self._stems.isdisjoint(stems) or (
            bool(self._prefix) and any(stem.startswith(self._prefix) for stem in stems)
        )

    def _tokens(self, raw: bytes) -> "list[tuple[Any, ...]]":
        """Return (start byte, end byte, stem, …) of every word."""
        return list(self._tokenizer(raw, apsw.FTS5_TOKENIZE_DOCUMENT, None))  # type: ignore[arg-type]


def snippet(
    text: str, marker: Marker | None, length: int = LENGTH, before: bool = False, after: bool = False
) -> tuple[str, list[tuple[int, int]]]:
    """Return (at most `length` characters of `text` around its matching words, their spans in the result).

    The window is the one with the most matches: whole sentences, or whole words of a sentence that is longer than
    `length`. Without matches it is the beginning of the text. An ellipsis marks omitted text, also the text `before` or
    `after` the passage that `text` is.
    """
    if before or after:
        text = text.strip()
    spans = marker.spans(text) if marker else []
    start, end = 0, len(text)
    if len(text) > length - ELLIPSES * (before or after):
        start, end = _window(text, spans, length - ELLIPSES)
    head, tail = ("… " if start or before else ""), (" …" if end < len(text) or after else "")
    shift = len(head) - start
    return head + text[start:end] + tail, [(a + shift, b + shift) for a, b in spans if a >= start and b <= end]


def _window(text: str, spans: Sequence[tuple[int, int]], length: int) -> tuple[int, int]:
    """Return (start, end) of the sentences with the most matches that fit in `length` characters."""
    ends = [match.end() for match in re.finditer(SENTENCE_END, text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    starts = [0, *ends[:-1]]
    matches = [a for a, _ in spans]
    best, most = (0, 0), -1
    last = 0
    for first, start in enumerate(starts):
        last = max(last, first)
        while last + 1 < len(ends) and ends[last + 1] - start <= length:
            last += 1
        held = bisect_left(matches, ends[last]) - bisect_left(matches, start)
        if held > most:
            best, most = (start, ends[last]), held
    start, end = best
    if end - start > length:  # one sentence, longer than a snippet
        inside = [a for a in matches if start <= a < end]
        if inside:
            within = [bisect_left(inside, a + length - 80) - place for place, a in enumerate(inside)]
            begin = max(start, min(inside[within.index(max(within))] - 40, end - length))
            space = text.find(" ", begin, begin + 40) if begin > start else -1
            start = space + 1 if space >= 0 else begin
        if end - start > length:
            space = text.rfind(" ", start + length - 40, start + length)
            end = space if space > start else start + length
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end
