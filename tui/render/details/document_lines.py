"""Render lines of a document from the disk, numbered, with context lines; those of the index where the file has changed
since. The preview colours them; `memoranda show` prints them."""

from store.base.errors import MemorandaError
from store.base.models import Chunk
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.render.field_diff import Line

AROUND = 4  # context lines before and after
WIDEST = 2_000  # maximum characters of a line
BESIDE = 200  # maximum characters of a context line


def passage(memory: Memory, chunk: Chunk, coloured: bool = False) -> "list[Line]":
    """Return the lines of a chunk, or of a part of one."""
    try:
        first = max(1, chunk.first - AROUND)
        found = memory.documents.read(chunk.path, first, chunk.last + AROUND - first + 1)
    except MemorandaError as error:
        return [
            [(f"{error.message} This is what it said when it was read.", "warning")],
            *indexed(chunk),
        ]
    lines = found.text.replace("\r\n", "\n").split("\n") if found.last else []
    cited = lines[chunk.first - first : chunk.last - first + 1]
    if not _same(chunk, cited):
        return [[("The file changed since it was read. This is what it said.", "warning")], *indexed(chunk)]
    if chunk.first == chunk.last:
        cited = [chunk.text]  # may be a part of a very long line
    before, after = lines[: chunk.first - first], lines[chunk.last - first + 1 :]
    return [
        *(_numbered(number, [(line[:BESIDE], "dim")], chunk.last) for number, line in enumerate(before, first)),
        *_cited(chunk, cited, coloured),
        *(_numbered(number, [(line[:BESIDE], "dim")], chunk.last) for number, line in enumerate(after, chunk.last + 1)),
    ]


def indexed(chunk: Chunk) -> "list[Line]":
    """Return the lines of a chunk as indexed."""
    return _cited(chunk, chunk.text.replace("\r\n", "\n").split("\n"), False)


def _cited(chunk: Chunk, lines: list[str], coloured: bool) -> "list[Line]":
    lines = [line if len(line) <= WIDEST else line[:WIDEST] + "…" for line in lines]
    pieces: list[Line] = [[(line, "")] for line in lines]
    if coloured:
        from tui.render.markdown import coloured as colours

        pieces = colours(lines)
    return [_numbered(number, line, chunk.last, True) for number, line in enumerate(pieces, chunk.first)]


def _same(chunk: Chunk, lines: list[str]) -> bool:
    """Return whether the lines on the disk still equal those indexed."""
    from store.database.values import clean

    text = clean("\n".join(lines))
    return text == chunk.text or (chunk.first == chunk.last and bool(lines) and chunk.text in text)


def _numbered(number: int, line: "Line", last: int, cited: bool = False) -> "Line":
    width = len(str(last + AROUND))
    return [(f"{'▸' if cited else ' '} {number:>{width}}  ", "label"), *line]
