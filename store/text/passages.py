"""Split a text into passages of some 600 characters, speech and code apart, so that a search finds the place and not
only the whole.

A passage ends between blocks (blank lines, fences), else between lines, else after a sentence, else after a space.
Code, logs, tables, pasted files and output of tools are recognised by their form and never share a passage with speech.
"""

import re
from typing import NamedTuple

SIZE = 600  # characters; 300, 1,000 and 2,000 found less
MOST = 2_048  # passages of one text; those of a longer one are larger
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_BLANK = re.compile(r"\n[ \t\r]*\n")
_SENTENCE = re.compile(r"[.!?…;。][\"'”’»)\]]*\s+")
_CODE_LINE = re.compile(
    r"""^\s*(?:
      [|+][-\w\s|:+=.,%$€/()*'"<>]*[|+]\s*$          # a table
    | (?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[\d|[A-Z][a-z]{2}\s+\d+\s\d\d:)   # a log
    | (?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[\s:\]]
    | (?:Traceback|File\s"|at\s[\w.$<>]+\(|caused\sby:)
    | (?:def|class|import|from\s[\w.]+\simport|return|if\s.*:\s*$|for\s.*:\s*$|else:|elif\s|try:|except|with\s.*:\s*$
        |const|let|var|function|public|private|export|async|await|fn|func|struct|enum|\#include|SELECT|INSERT|UPDATE
        |CREATE|DELETE|package|using|namespace)\b
    | \$\s+\w+ | diff\s--git | @@\s | [+-]{3}\s[ab]/ | index\s[0-9a-f]{7}
    | [{}()\[\];,<>/*]+\s*$
    | </?[A-Za-z][^>]*>
    | "?[\w.-]+"?\s*[:=]\s*["'\[{\d]
    | [-dlrwx]{10}\s
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"(?:[;{}]|\)\s*[{:;]|=>|\\|/>|\"\s*,|\],?|\),?)\s*$")
_HEADING = re.compile(r" {0,3}#{1,6} |\s*(?:[-*•]|\d+[.)])\s+\S")
_WORD = re.compile(r"\w")
_SYMBOLS = re.compile(r"[{}()\[\]<>=;|\\/_$&^~`+*#@]")


class Passage(NamedTuple):
    """A passage: characters `start` to `end` of the text, on `line` (from 1), and whether it is `code`."""

    start: int
    end: int
    line: int
    code: bool


def passages(text: str, size: int = SIZE) -> list[Passage]:
    """Return the passages of a text in order; none of a blank one. A text not longer than `size` is one."""
    size = max(size, -(-len(text) // MOST) * 2)
    found: list[Passage] = []
    start = end = 0
    code = False
    line = counted = 0

    def close() -> None:
        nonlocal line, counted
        if _WORD.search(text, start, end):
            line += text.count("\n", counted, start)
            counted = start
            found.append(Passage(start, end, line + 1, code))

    if len(text) <= size:
        if not text.strip():
            return []
        blocks = _blocks(text)
        amount = sum(last - first for first, last, is_code in blocks if is_code)
        return [Passage(0, len(text), 1, 2 * amount > len(text))]
    for first, last, is_code in _blocks(text):
        for a, b in _pieces(text, first, last, size):
            if end > start and (is_code != code or b - start > size):
                close()
                start = end = a
            if end == start:
                start, code = a, is_code
            end = b
    close()
    return found


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, whether it is code) of the blocks between blank lines and fences."""
    found: list[tuple[int, int, bool]] = []
    at = opened = 0
    fence = ""
    for piece in text.splitlines(keepends=True):
        match = FENCE.match(piece)
        if match and not fence:
            found += _prose(text, opened, at)
            fence, opened = match[1], at
        elif match and match[1].startswith(fence) and not piece.strip().strip(fence[0]):
            found.append((opened, at + len(piece), True))
            fence, opened = "", at + len(piece)
        at += len(piece)
    return found + ([(opened, at, True)] if fence and opened < at else _prose(text, opened, at))


def _prose(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Return the blocks between two offsets outside of fences."""
    found = []
    while start < end:
        match = _BLANK.search(text, start, end)
        last = match.end() if match else end
        if text[start:last].strip():
            found.append((start, last, looks_like_code(text[start:last])))
        start = last
    return found


def looks_like_code(block: str) -> bool:
    """Return whether most of a block's lines have the form of code, a log, a table or data."""
    lines = [line for line in block.splitlines() if line.strip()]
    if not lines:
        return False
    alike = sum(_formed(line) for line in lines)
    return (
        alike > len(lines) / 2
        if len(lines) > 1
        else alike == 1 and not _SENTENCE.search(block.strip().rstrip(";") + " ")
    )


def _formed(line: str) -> bool:
    stripped = line.strip()
    if _HEADING.match(line):
        return False
    if _CODE_LINE.match(line):
        return True
    symbols = len(_SYMBOLS.findall(stripped))
    if stripped.endswith(";") or (_CODE_END.search(stripped) and symbols > 1):
        return True
    return symbols > 0.12 * len(stripped) and len(stripped) > 3


def _pieces(text: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Return a block in pieces of at most `size`."""
    pieces = []
    while end - start > size:
        window = text[start : start + size]
        cut = window.rfind("\n") + 1
        if cut <= size // 2:
            cut = max((match.end() for match in _SENTENCE.finditer(window)), default=0)
        if cut <= size // 2:
            cut = window.rfind(" ") + 1
        if cut <= size // 2:
            cut = size
        pieces.append((start, start + cut))
        start += cut
    return [*pieces, (start, end)] if start < end else pieces
