"""One text in the memory of another tool, and where in its file it is."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256

SHORT = 7  # digits of a name that are shown
FEWEST = 4  # that find it again


class NotEditable(Exception):
    """A file cannot be read as what it should be, or edited; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class GuestText:
    """A text of `tool`, from line `line` of the file at `path`; in a database `line` is the row's id.

    `name` tells it from all others, and is another one as soon as the text is. `start` and `end` are its bytes in the
    file, `cut` those that a deletion takes; `whole` is whether that is the file itself. Lines after its first begin
    with `indent`. `note` says what the tool calls it.
    """

    tool: str
    path: str
    line: int
    text: str
    title: str = ""
    note: str = ""
    start: int = 0
    end: int = 0
    cut: tuple[int, int] = (0, 0)
    whole: bool = False
    indent: str = ""
    name: str = ""

    @property
    def short(self) -> str:
        """The name as it is shown."""
        return self.name[:SHORT]


def named(texts: Iterable[GuestText]) -> list[GuestText]:
    """Return the texts of one file with their names: a digest of file and text, and of the how-manieth such it is."""
    seen: dict[tuple[int, str], int] = {}
    found = []
    for one in texts:
        row = one.line if not one.end else 0  # a row of a database has a number that stays
        seen[row, one.text] = times = seen.get((row, one.text), -1) + 1
        about = "\0".join((one.tool, one.path, str(row), str(one.whole), one.text, str(times)))
        found.append(replace(one, name=sha256(about.encode("utf-8", "surrogateescape")).hexdigest()))
    return found
