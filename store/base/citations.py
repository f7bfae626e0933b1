"""Parse and format citations, the links between records, such as F#12.

`[F#12]` fact, `[G#12]` global fact, `[D#12]` decision, `[C#a1b2c3d]` commit, `[I#5]` iteration, `[E#42]` event, `[S#7]`
summary, `[T#9]` turn, `[K#3]` checkpoint, `[A#5]` task, `[P#8]` proposal, `path#L10-L22` document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from store.base.errors import InvalidInput
from store.base.vocabulary import CITATION_LETTERS

KIND_BY_LETTER = {letter: kind for kind, letter in CITATION_LETTERS.items()}
SHORT_SHA_LENGTH = 7
FULL_SHA_LENGTH = 40
MAX_SHA_LENGTH = 64  # SHA-256
MAX_RECORD_ID = 2**63 - 1

_RECORD = r"(?:(?P<letter>[ABD-Zabd-z])#(?P<id>[1-9][0-9]{0,18})|[Cc]#(?P<sha>[0-9a-fA-F]{4,64}))"
# a path contains no brackets, spaces and marks that end one in prose: a citation writes them as %20, as in a link
_PATH = r"[^\s\[\]()<>\"'`#]"
_ENDING = " []()<>\"'`#%"
_LINES = rf"(?P<path>{_PATH}+)#L(?P<first>[1-9][0-9]{{0,8}})(?:-L?(?P<last>[1-9][0-9]{{0,8}}))?"
# matched whole, so that no part of one is read as a citation; brackets behind a sign of a query are a part of it too
_URL = rf"(?<!\w)\w+://(?:{_PATH}|#|(?<=[=&])\[[^\s\[\]]*\])*"
_CITATION = rf"\[?(?:{_RECORD}|{_LINES})\]?"
# a path begins where its run of characters does: tried at each of them, a long run would take n² steps
_CITATION_OR_URL = rf"{_URL}|(?:(?<![\w#/]){_RECORD}|(?<!{_PATH})(?<!#){_LINES})(?![\w#])"


class Citation(NamedTuple):
    """One reference: `kind` as in `CITATION_LETTERS` (`store/base/vocabulary.py`), or `document`; `target` an id, a sha
    (prefix) or a path."""

    kind: str
    target: int | str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if self.kind == "document":
            lines = f"#L{self.first}" if self.last == self.first else f"#L{self.first}-L{self.last}"
            return f"{_escape_path(str(self.target))}{lines}"
        target = self.target
        if isinstance(target, str) and len(target) >= FULL_SHA_LENGTH:
            target = target[:SHORT_SHA_LENGTH]
        return f"{CITATION_LETTERS[self.kind]}#{target}"


def cite(kind: str, target: int | str) -> str:
    """Return the bare form of a record's citation, `F#12`; a whole sha is cut to seven characters, a shorter one
    kept."""
    return str(Citation(kind, target))


def list_citations(cited: Sequence[str]) -> str:
    """Return citations for the reason of a step, ten at most: `F#1 F#2 +3`."""
    return " ".join([*cited[:10], *([f"+{len(cited) - 10}"] if len(cited) > 10 else [])])


def parse_citation(text: str, default: str | None = None) -> Citation:
    """Parse a text that is a citation, with or without brackets. A bare number is of kind `default`. Raise
    InvalidInput."""
    word = text.strip()
    if default and word.isascii() and word.isdigit() and len(word) < 20 and 0 < int(word) <= MAX_RECORD_ID:
        return Citation(default, int(word))
    match = re.fullmatch(_CITATION, word)
    found = _citation_of_match(match) if match and word.startswith("[") == word.endswith("]") else None
    if found is None:
        raise InvalidInput(
            f"“{word[:40]}” is not a citation.", "Write one like F#12, D#3, C#a1b2c3d or notes.md#L10-L22."
        )
    return found


def parse_typed_citation(text: str, default: str | None = None) -> Citation:
    """Parse a citation as a person types it: also a bare commit hash of seven digits or more. Raise InvalidInput."""
    sha = text.strip().lower()
    if (
        SHORT_SHA_LENGTH <= len(sha) <= MAX_SHA_LENGTH
        and not set(sha) - set("0123456789abcdef")
        and not (default and sha.isdigit())
    ):
        return Citation("commit", sha)
    return parse_citation(text, default)


def find_citations(text: str) -> Iterator[tuple[int, int, Citation]]:
    """Yield (start, end, citation) for each citation in a text; the span leaves the brackets out."""
    for match in re.finditer(_CITATION_OR_URL, text):
        found = _citation_of_match(match)
        if found is not None:
            yield match.start(), match.end(), found


def remove_citations(text: str) -> str:
    """Return a text without its citations in brackets: `as it says [F#12]` becomes `as it says`."""

    def bare(match: re.Match[str]) -> str:
        # an address
        if match[1] is None:
            return match[0]
        try:
            for part in re.split(r"[,;\s]+", match[1].strip()):
                parse_citation(part)
        except InvalidInput:
            return match[0]
        return ""

    return re.sub(rf"{_URL}|\s*,?\s*\[([^\[\]]+)\]", bare, text)


def _citation_of_match(match: re.Match[str]) -> Citation | None:
    """Return the citation that a pattern matched; None if its number, address or lines are not valid."""
    if match["sha"]:
        return Citation("commit", match["sha"].lower())
    if match["letter"]:
        kind = KIND_BY_LETTER.get(match["letter"].upper())
        number = int(match["id"])
        return Citation(kind, number) if kind and number <= MAX_RECORD_ID else None
    if not match["path"] or "://" in match["path"]:
        return None
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return Citation("document", _unescape_path(match["path"]), first, last) if first <= last else None


def _escape_path(path: str) -> str:
    """Escape the characters that would end a path in a citation: `my notes.md` becomes `my%20notes.md`."""
    if path.isascii() and path.isprintable() and not any(mark in path for mark in _ENDING):
        return path
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode(errors="surrogateescape"))
        if char in _ENDING or not char.isprintable() or char.isspace()
        else char
        for char in path
    )


def _unescape_path(path: str) -> str:
    """Return the path that a citation escaped."""
    if "%" not in path:
        return path
    return unquote(path, errors="replace")
