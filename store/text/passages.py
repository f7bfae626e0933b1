"""Split a text into passages of some 600 characters, speech and code apart, so that a search finds the place and not
only the whole.

A passage ends between blocks (blank lines, fences), else before an item of a list, else after a sentence, else between
lines, else after a space; code between lines first.
Code, logs, tables, pasted files and output of tools are recognised by their form and never share a passage with speech.
"""

import re
from functools import cache
from typing import NamedTuple

# characters; 300, 1,000 and 2,000 found less
PASSAGE_SIZE = 600
# passages of one text; those of a longer one are larger
MAX_PASSAGES = 2_048
# a pattern that is no compiled one is compiled at its first use: most commands split no text
CODE_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_BLANK = re.compile(r"\n[ \t\r]*\n")
_SENTENCE = r"[.!?…;。][\"'”’»)\]]*\s+"
# characters of a line that are looked at for a form
_LINE = 500
_CODE_LINE = r"""^\s*(?:
    # tables
      \|.*\|\s*$ | \+[-=+|\s]*\+\s*$ | [┌├└│┃║╔╠╚─━═╭╰] | \(\d+\ rows?\)\s*$
    # logs
    | \d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \d\d:\d\d:\d\d | \[\d{2,4}[-/:.]\d | [A-Z][a-z]{2}\s+\d+\s\d\d:
    | [IWEF]\d{4}\s\d\d: | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[\s:\]] | [\d.a-f:]{3,39}\s\S+\s\S+\s\[\d
    # traces, tests, compilers and package managers
    | Traceback | File\s" | at\s[\w.$<>]+\s?\( | caused\sby: | [E>]\s{3,}\S | \S+\s.*\[\s*\d{1,3}%\]\s*$
    | (?:PASSED|FAILED|PASS|FAIL|SKIPPED)\s+\S*[/.:]\S | [=_-]{5,}\s\S.*\s[=_-]{5,}\s*$ | platform\s\w+\s--\s
    | rootdir:\s | collected\s\d+\sitem | \d+\s(?:passed|failed)\b.*\sin\s[\d.]+s | -->\s
    | (?:error|warning)(?:\[\w+\])?:\s | \d+:\d+\s+(?:error|warning)\s | npm\s(?:ERR!|WARN|error|warn|notice)(?:\s|$)
    | [\w./\\@-]+\.\w{1,8}(?::\d+|\(\d+[,)])
    # git, files, prompts
    | (?:modified|new\ file|deleted|renamed|both\ modified):\s+\S | \(use\ "git\s | diff\s--git | @@\s | [+-]{3}\s[ab]/
    | index\s[0-9a-f]{7} | (?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\s\S | commit\s[0-9a-f]{40}
    | \S+\s+\|\s+\d+\s[+-]+\s*$
    | \d+(?:\t|→|\s*\|) | \.{0,2}/?[\w@.-]+(?:/[\w@.-]+)+/?\s*$ | [-dlrwx]{10}\s
    | \$\s+\w+ | >>>\s | [\w.-]+@[\w.-]+:\S*[$\#]\s
    # statements
    | (?:def|elif|except)\b | (?:else|try|finally):\s*$ | class\s+\w+\s*(?:[:({<]|extends\b|implements\b|$) | end\s*$
    | import\s+(?:["'{*]|[\w.]+(?:\s+as\s+\w+)?(?:,\s*[\w.]+)*;?\s*$|\w+.*\sfrom\s["']) | from\s[\w.]+\simport\b
    | return\b(?:\s*;?\s*$|\s+["'\[{(]|\s+[\w.]+\s*(?:[;([+*/%<=>!?-]|$)|\s+(?:not|await|new)\s)
    | if\s.*:\s*$ | for\s+\w+(?:,\s*\w+)*\s+in\s.*:\s*$ | with\s.*\sas\s.*:\s*$ | await\s+[\w.]+\(
    | (?:const|let|var)\s+(?:mut\s)?[\w${}\[\],\s]+?(?::[^=]+)?=
    | (?:fn|func)\s+[\w(].*[({] | function\b\s*\*?\s*\w*\s*\(
    | (?:public|private|protected|static)\s.*[({;=] | (?:struct|enum|interface)\s+\w+\s*[{<(:] | \#include
    | export\s+(?:default|const|let|var|function|class|async|type|interface|enum|[{*]|\w+=)
    | async\s+(?:def|fn|function|with|for|\() | (?:package|namespace|using)\s+[\w.:]+\s*(?:[;={]|$)
    | (?:SELECT|INSERT|UPDATE|CREATE|DELETE|ALTER|DROP|FROM|WHERE|(?:LEFT|INNER|OUTER|CROSS)?\s?JOIN|GROUP\sBY|ORDER\sBY
        |HAVING|VALUES|UNION|WORKDIR|COPY|RUN|CMD|ENTRYPOINT|EXPOSE)\s
    | [{}()\[\];,<>/*]+\s*$ | </?[A-Za-z][^>]*>
    # data
    | "[\w.-]+"\s*:\s | [\w.-]+\s*=\s*["'\[{\d] | [A-Z_][A-Z0-9_]*=\S | [a-z_][\w.-]*:\s*["'\[{\d]
    )"""
# between the heads of a table and its rows
_RULE = r"^[-=+|\s]*-{2}[-=+|\s]*[+|][-=+|\s]*$"
_COLUMNS = r"[^\s.!?…] {3,}\S|\S\t+\S.*\t\S"
_VALUES = r"(?:[^,\s][^,]*)?(?:,[^,\s][^,]*|,){2,}$"
_KEY = r"\s*(?:- )?[a-z_\"'][\w.\"'/-]*:(?:\s|$)"
_ITEM = r"\s+- \S"
# addresses, emphasis
_NO_SYMBOLS = r"https?://\S+|\*{2,3}|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`"
_CODE_END = r"(?:[;{}]|\)\s*[{:;]|=>|\\|/>|\"\s*,|\],?|\),?)\s*$"
_HEADING = r" {0,3}#{1,6} |\s*(?:[-*•]|\d+[.)])\s+\S"
# the ends of lines before a heading or an item
_ITEMS = rf"\n(?={_HEADING})"
# where speech ends, and code, the best first: a line of speech may end within a sentence
_ENDS = ((_ITEMS, _SENTENCE, "\n", " "), ("\n", _SENTENCE, " "))
_WORD = re.compile(r"\w")
_SYMBOLS = re.compile(r"[{}()\[\]<>=;|\\/_$&^~`+*#@]")


@cache
def _code_line() -> re.Pattern[str]:
    return re.compile(_CODE_LINE, re.VERBOSE)


class TextPassage(NamedTuple):
    """A passage: characters `start` to `end` of the text, on `line` (from 1), and whether it is `code`."""

    start: int
    end: int
    line: int
    code: bool


def split_passages(text: str, size: int = PASSAGE_SIZE) -> list[TextPassage]:
    """Return the passages of a text in order; none of a blank text. A text of at most `size` characters is a
    single passage."""
    size = max(size, -(-len(text) // MAX_PASSAGES) * 2)
    found: list[TextPassage] = []
    start = end = 0
    code = False
    line = counted = 0

    def close() -> None:
        nonlocal line, counted
        if _WORD.search(text, start, end):
            line += text.count("\n", counted, start)
            counted = start
            found.append(TextPassage(start, end, line + 1, code))

    if len(text) <= size:
        if not text.strip():
            return []
        blocks = _split_blocks(text)
        amount = sum(last - first for first, last, is_code in blocks if is_code)
        return [TextPassage(0, len(text), 1, 2 * amount > len(text))]
    for first, last, is_code in _split_blocks(text):
        for a, b in _split_block(text, first, last, size, is_code):
            if end > start and (is_code != code or b - start > size):
                close()
                start = end = a
            if end == start:
                start, code = a, is_code
            end = b
    close()
    return found


def _split_blocks(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, whether it is code) of the blocks between blank lines and fences."""
    found: list[tuple[int, int, bool]] = []
    at = opened = 0
    fence = ""
    for piece in text.splitlines(keepends=True):
        match = CODE_FENCE.match(piece)
        if match and not fence:
            found += _split_prose(text, opened, at)
            fence, opened = match[1], at
        elif match and match[1].startswith(fence) and not piece.strip().strip(fence[0]):
            found.append((opened, at + len(piece), True))
            fence, opened = "", at + len(piece)
        at += len(piece)
    return found + ([(opened, at, True)] if fence and opened < at else _split_prose(text, opened, at))


def _split_prose(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
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
    lines = [line.rstrip() for line in block.splitlines() if line.strip()]
    if not lines:
        return False
    alike = sum(map(_has_code_form, lines))
    if len(lines) > 1:
        return alike > len(lines) / 2 or _is_table(lines) or _is_yaml(lines)
    return (
        alike == 1 and not re.match(_KEY, lines[0]) and not re.search(_SENTENCE, block.strip().rstrip(";") + " ")
    )


def _has_code_form(line: str) -> bool:
    """Tell whether a line has the form of code, a log, a table or data."""
    stripped = line.strip()
    if re.match(_HEADING, line):
        return False
    if _code_line().match(line, 0, _LINE):
        return True
    symbols = len(_SYMBOLS.findall(stripped))
    if stripped.endswith(";") or (re.search(_CODE_END, stripped) and symbols > 1):
        return True
    if symbols <= 0.12 * len(stripped):
        return False
    bare = re.sub(_NO_SYMBOLS, "", stripped)
    return len(_SYMBOLS.findall(bare)) > 0.12 * len(bare) and len(bare) > 3


def _is_table(lines: list[str]) -> bool:
    """Return whether two lines or more are the rows of a table: values under each other, or between commas or bars."""
    columns = sum(bool(re.search(_COLUMNS, line)) for line in lines if "   " in line or "\t" in line)
    values = len(lines) > 2 and all(re.match(_VALUES, line) for line in lines)
    if columns >= max(2, len(lines) - 1) or (values and len({line.count(",") for line in lines}) == 1):
        return True
    ruled = any(re.match(_RULE, line) for line in lines)
    return ruled and sum("|" in line or "-+-" in line for line in lines) > len(lines) / 2


def _is_yaml(lines: list[str]) -> bool:
    """Return whether all lines are keys with their values, of which some stand below others."""
    keys = [bool(re.match(_KEY, line)) for line in lines]
    if sum(keys) < 2 or not all(key or re.match(_ITEM, line) for key, line in zip(keys, lines, strict=True)):
        return False
    indents = [len(line) - len(line.lstrip()) for line in lines]
    return any(
        line.endswith(":") and after > before
        for line, before, after in zip(lines, indents, indents[1:], strict=False)
    )


def _split_block(text: str, start: int, end: int, size: int, code: bool) -> list[tuple[int, int]]:
    """Return a block in pieces of at most `size`, none of them but the last shorter than half of that."""
    pieces = []
    while end - start > size:
        window = text[start : start + size]
        cuts = (max((match.end() for match in re.finditer(ends, window)), default=0) for ends in _ENDS[code])
        cut = next((cut for cut in cuts if cut > size // 2), size)
        pieces.append((start, start + cut))
        start += cut
    return [*pieces, (start, end)] if start < end else pieces
