"""Snippets: the part of a text where the words are, and where exactly they stand in it.

The words are found with FTS5's own tokenizer, so what is marked is what matched: stems, and letters without accents.
"""

from bisect import bisect_left
from collections.abc import Sequence

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH = 700  # characters of a snippet [004]
MAX_BYTES = 65_536  # of a text that is looked through for marks


class Marker:
    """Finds the words of one query in any text."""

    def __init__(self, tokenizer: apsw.FTS5Tokenizer, words: Sequence[str], prefix: str | None) -> None:
        self._tokenizer = tokenizer
        self._stems: set[str] = set()
        self._prefix = ""
        for word in words:
            stems = [stem for _, _, *tokens in self._tokens(word.encode("utf-8", "replace")) for stem in tokens]
            self._stems.update(stems)
            if word == prefix and stems:
                self._prefix = stems[-1]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) in characters of every matching word of `text`, in order."""
        if not self._stems:
            return []
        raw = text[:MAX_BYTES].encode("utf-8", "replace")
        found = []
        done_bytes = done_characters = 0
        for start, end, *stems in self._tokens(raw):
            if any(stem in self._stems or (self._prefix and stem.startswith(self._prefix)) for stem in stems):
                done_characters += len(raw[done_bytes:start].decode("utf-8", "replace"))
                width = len(raw[start:end].decode("utf-8", "replace"))
                found.append((done_characters, done_characters + width))
                done_characters += width
                done_bytes = end
        return found

    def _tokens(self, raw: bytes) -> "list[tuple[Any, ...]]":
        """(start byte, end byte, stem, …) of every word."""
        return list(self._tokenizer(raw, apsw.FTS5_TOKENIZE_DOCUMENT, None))  # type: ignore[arg-type]


def snippet(text: str, marker: Marker | None, length: int = LENGTH) -> tuple[str, list[tuple[int, int]]]:
    """(at most `length` characters of `text` around its matching words, their spans in it).

    The window is the one that holds the most matches; it starts and ends between words, with an ellipsis where text
    was left out.
    """
    spans = marker.spans(text) if marker else []
    if len(text) <= length:
        return text, spans
    start = 0
    if spans:
        starts = [a for a, _ in spans]
        within = [bisect_left(starts, a + length - 80) - place for place, a in enumerate(starts)]
        best = within.index(max(within))
        start = max(0, min(spans[best][0] - 40, len(text) - length))
    end = min(len(text), start + length)
    if start:
        space = text.find(" ", start, start + 40)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", end - 40, end)
        end = space if space > 0 else end
    head, tail = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(head) - start
    return head + text[start:end] + tail, [(a + shift, b + shift) for a, b in spans if a >= start and b <= end]
