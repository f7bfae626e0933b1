"""Parse and format citations, the links between records, such as F#12.

`[F#12]` fact, `[G#12]` global fact, `[D#12]` decision, `[C#a1b2c3d]` commit, `[I#5]` iteration, `[E#42]` event, `[S#7]`
summary, `[T#9]` turn, `[K#3]` checkpoint, `[A#5]` task, `[P#8]` proposal, `path#L10-L22` document.
"""

from collections.abc import Iterator

from store.base.errors import InvalidInput
from store.base.vocabulary import LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

KINDS = {letter: kind for kind, letter in LETTERS.items()}
SHORT_SHA = 7
WHOLE_SHA = 40
LONGEST_SHA = 64  # SHA-256
MAX_ID = 2**63 - 1

_RECORD = r"(?:(?P<letter>[ABD-Zabd-z])#(?P<id>[1-9][0-9]{0,18})|[Cc]#(?P<sha>[0-9a-fA-F]{4,64}))"
# a path contains no brackets, spaces and marks that end one in prose: a citation writes them as %20, as in a link
_PATH = r"[^\s\[\]()<>\"'`#]"
_ENDING = " []()<>\"'`#%"
_LINES = rf"(?P<path>{_PATH}+)#L(?P<first>[1-9][0-9]{{0,8}})(?:-L?(?P<last>[1-9][0-9]{{0,8}}))?"
# matched whole, so that no part of one is read as a citation; brackets behind a sign of a query are a part of it too
_URL = rf"(?<!\w)\w+://(?:{_PATH}|#|(?<=[=&])\[[^\s\[\]]*\])*"
# patterns are compiled by `re` at their first use: most commands need none
_WHOLE = rf"\[?(?:{_RECORD}|{_LINES})\]?"
# a path begins where its run of characters does: tried at each of them, a long run would take n² steps
_WITHIN = rf"{_URL}|(?:(?<![\w#/]){_RECORD}|(?<!{_PATH})(?<!#){_LINES})(?![\w#])"


class Citation:
    """One reference: `kind` as in `vocabulary.LETTERS`, or `document`; `target` an id, a sha (prefix) or a path.

    Written by hand and not a dataclass: every command parses one, and dataclasses cost 13 ms to import.
    """

    __slots__ = ("first", "kind", "last", "target")

    def __init__(self, kind: str, target: int | str, first: int = 0, last: int = 0) -> None:
        self.kind = kind
        self.target = target
        self.first = first
        self.last = last

    def _key(self) -> tuple[str, int | str, int, int]:
        return (self.kind, self.target, self.first, self.last)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Citation) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Citation({self})"

    def __str__(self) -> str:
        if self.kind == "document":
            lines = f"#L{self.first}" if self.last == self.first else f"#L{self.first}-L{self.last}"
            return f"{_quoted(str(self.target))}{lines}"
        target = self.target
        if isinstance(target, str) and len(target) >= WHOLE_SHA:
            target = target[:SHORT_SHA]
        return f"{LETTERS[self.kind]}#{target}"


def cite(kind: str, target: int | str) -> str:
    """Return the bare form of a record's citation, `F#12`; a whole sha is cut to seven characters, a shorter one
    kept."""
    return str(Citation(kind, target))


def parse(text: str, default: str | None = None) -> Citation:
    """Parse a text that is a citation, with or without brackets. A bare number is of kind `default`. Raise
    InvalidInput."""
    import re

    word = text.strip()
    if default and word.isascii() and word.isdigit() and len(word) < 20 and 0 < int(word) <= MAX_ID:
        return Citation(default, int(word))
    match = re.fullmatch(_WHOLE, word)
    found = _read(match) if match and word.startswith("[") == word.endswith("]") else None
    if found is None:
        raise InvalidInput(
            f"“{word[:40]}” is not a citation.", "Write one like F#12, D#3, C#a1b2c3d or notes.md#L10-L22."
        )
    return found


def named(text: str, default: str | None = None) -> Citation:
    """Parse a citation as `parse` does, or a commit's hash alone, of at least SHORT_SHA digits: what somebody typed,
    not a word of a text, which may look like one. Raise InvalidInput."""
    sha = text.strip().lower()
    if (
        SHORT_SHA <= len(sha) <= LONGEST_SHA
        and not set(sha) - set("0123456789abcdef")
        and not (default and sha.isdigit())
    ):
        return Citation("commit", sha)
    return parse(text, default)


def find(text: str) -> Iterator[tuple[int, int, Citation]]:
    """Yield every citation inside `text`, as (start, end, citation), without the brackets."""
    import re

    for match in re.finditer(_WITHIN, text):
        found = _read(match)
        if found is not None:
            yield match.start(), match.end(), found


def without(text: str) -> str:
    """Return a text without the citations in brackets, `as it says [F#12].` → `as it says.`"""
    import re

    def bare(match: "re.Match[str]") -> str:
        if match[1] is None:  # an address
            return match[0]
        try:
            for part in re.split(r"[,;\s]+", match[1].strip()):
                parse(part)
        except InvalidInput:
            return match[0]
        return ""

    return re.sub(rf"{_URL}|\s*,?\s*\[([^\[\]]+)\]", bare, text)


def _read(match: "re.Match[str]") -> Citation | None:
    if match["sha"]:
        return Citation("commit", match["sha"].lower())
    if match["letter"]:
        kind = KINDS.get(match["letter"].upper())
        number = int(match["id"])
        return Citation(kind, number) if kind and number <= MAX_ID else None
    if not match["path"] or "://" in match["path"]:
        return None
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return Citation("document", _unquoted(match["path"]), first, last) if first <= last else None


def _quoted(path: str) -> str:
    """Escape the marks that would end a path: `my notes.md` as `my%20notes.md`."""
    if path.isascii() and path.isprintable() and not any(mark in path for mark in _ENDING):
        return path
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode(errors="surrogateescape"))
        if char in _ENDING or not char.isprintable() or char.isspace()
        else char
        for char in path
    )


def _unquoted(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote

    return unquote(path, errors="replace")
