"""What a record may be bound to, as a text among its evidence.

`src/pay.py#L10-L20 @1a2b3c4d5e6f ~<digest>` lines, `src/pay.py::total @… ~…` a symbol, `src/pay.py @… ~…` a file:
where it was, the commit that was checked out then (`-` without git), and a digest of what was there; the text itself is
in the file. `C#<sha>` a commit, `https://…` an address, `$ make test` a command.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, unquote

from store.base.citations import parse
from store.base.errors import InvalidInput

FILE, SYMBOL, COMMIT, URL, COMMAND = "file", "symbol", "commit", "url", "command"
RUN = (URL, COMMAND)  # looked at only when a person allowed it
UNSEEN, HOLDS, MOVED, CHANGED, GONE = range(5)
LONGEST = 1_000  # characters of an address or a command
BASE = 12  # digits of a commit
NO_BASE = "-"
_KEPT = "/!$&*+,;=@~"  # in a path, written as it is
_PLACED = re.compile(
    r"(?P<path>[^\s#:]{1,4000})(?:#L(?P<first>[1-9]\d{0,8})(?:-L(?P<last>[1-9]\d{0,8}))?|::(?P<symbol>[\w.]{1,200}))?"
    r" @(?P<base>[0-9a-f]{12}|-) ~(?P<digest>[0-9a-f]{24})"
)


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A text of a record's evidence, read: `target` is a path below the project, a sha, an address or a command;
    `first` and `last` are lines, 0 for a whole file; `digest` is that of `digest_of`."""

    type: str
    target: str
    symbol: str = ""
    first: int = 0
    last: int = 0
    base: str = NO_BASE
    digest: str = ""

    def __str__(self) -> str:
        if self.type == COMMIT:
            return f"C#{self.target}"
        if self.type == URL:
            return self.target
        if self.type == COMMAND:
            return f"$ {self.target}"
        lines = f"#L{self.first}" + (f"-L{self.last}" if self.last > self.first else "") if self.first else ""
        symbol = f"::{self.symbol}" if self.symbol else ""
        return f"{quote(self.target, _KEPT)}{lines}{symbol} @{self.base} ~{self.digest}"

    @property
    def shown(self) -> str:
        """How a person writes it: `src/pay.py:10-20`, `src/pay.py::total`, `C#1a2b3c4`, `$ make test`."""
        if self.type == COMMIT:
            return f"C#{self.target[:7]}"
        if self.type in RUN:
            return str(self)
        return placed(self.target, self.first, self.last, self.symbol)

    @property
    def place(self) -> tuple[str, ...]:
        """What it is about, whatever was there."""
        if self.type in (FILE, SYMBOL):
            return (self.type, self.target, self.symbol, str(self.first), str(self.last))
        return (self.type, self.target)


def placed(path: str, first: int = 0, last: int = 0, symbol: str = "") -> str:
    """Return a place as a person writes it."""
    if symbol:
        return f"{path}::{symbol}"
    return f"{path}:{first}-{last}" if last > first else f"{path}:{first}" if first else path


def read(text: str) -> EvidenceItem | None:
    """Read a text of a record's evidence; None for a citation or anything else that is not looked at again."""
    if match := _PLACED.fullmatch(text):
        first = int(match["first"] or 0)
        last = int(match["last"] or first)
        kind = SYMBOL if match["symbol"] else FILE
        path = unquote(match["path"], errors="surrogateescape")
        if last < first or not plain(path):
            return None
        return EvidenceItem(kind, path, match["symbol"] or "", first, last, match["base"], match["digest"])
    if text.startswith("C#"):
        try:
            return EvidenceItem(COMMIT, str(parse(text).target))
        except InvalidInput:
            return None
    if len(text) <= LONGEST and "\n" not in text:
        if text.startswith(("https://", "http://")):
            return EvidenceItem(URL, text)
        if text.startswith("$ ") and text[2:].strip():
            return EvidenceItem(COMMAND, text[2:])
    return None


def plain(path: str) -> bool:
    """Return whether a path is one below the project: no `..`, no `.git`, no root, no line break."""
    steps = path.split("/")
    bad = any(step in ("", ".", "..") or step.lower() == ".git" for step in steps)
    return not bad and "\0" not in path and "\n" not in path


_ASKED = re.compile(
    r"(?P<path>.+?)(?:#L(?P<a>[1-9]\d{0,8})(?:-L?(?P<b>[1-9]\d{0,8}))?|:(?P<c>[1-9]\d{0,8})(?:-(?P<d>[1-9]\d{0,8}))?)"
)


def asked(text: str) -> EvidenceItem:
    """Read what a person typed, without base and digest; a path is as it was typed. Raise InvalidInput."""
    text = text.strip()
    if not text or "\n" in text or "\0" in text or len(text) > LONGEST:
        raise InvalidInput(
            "That is nothing to bind to.", "Write src/pay.py:10-20, src/pay.py::total, C#a1b2c3d or https://…"
        )
    if (found := read(text)) and found.type in (COMMIT, *RUN):
        return found
    if re.fullmatch(r"[0-9a-f]{7,64}", text):
        return EvidenceItem(COMMIT, text)
    if "://" in text:
        raise InvalidInput("Only http and https addresses can be looked at.", "Write https://…")
    path, apart, symbol = text.rpartition("::")
    if apart and path and re.fullmatch(r"[\w.]{1,200}", symbol):
        return EvidenceItem(SYMBOL, path, symbol)
    if match := _ASKED.fullmatch(text):
        first = int(match["a"] or match["c"])
        last = int(match["b"] or match["d"] or first)
        if last < first:
            raise InvalidInput(f"Lines {first} to {last} are no lines.", "Write the first one first: src/pay.py:10-20.")
        return EvidenceItem(FILE, match["path"], "", first, last)
    return EvidenceItem(FILE, text)


def lines_of(raw: bytes) -> list[bytes]:
    """Return the lines of a file as they are compared: what is white at their ends does not count."""
    lines = [line.rstrip() for line in raw.split(b"\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def digest_of(lines: list[bytes]) -> str:
    """Return 16 digits of a digest of these lines, and 8 of their first, by which they are found again."""
    return sha256(b"\n".join(lines)).hexdigest()[:16] + first_digest(lines[0] if lines else b"")


def first_digest(line: bytes) -> str:
    return sha256(line).hexdigest()[:8]
