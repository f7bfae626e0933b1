"""Find where a file defines a name: functions, classes and the like, and headings of Markdown. Nothing is run.

Python is parsed; of other languages the line that defines the name is recognised by its words, and its block by how far
the lines after it are indented.
"""

import re

LARGEST_PARSED = 500_000  # bytes of a file of Python; a larger one is read as any other language
DEFINES = frozenset(
    b"def class function func fn interface struct enum trait type impl module const let var static sub object record"
    b" protocol namespace union macro_rules procedure defn defun table view trigger index".split()
)
_WORD = re.compile(rb"[\w$\x80-\xff]+")  # with letters that are not ASCII, in UTF-8
_CLOSES = (b"}", b")", b"]", b"end")


def find(path: str, lines: list[bytes], symbol: str) -> tuple[int, int] | None:
    """Return the first and the last line (from 1) of the definition of `symbol` in a file's lines; None for none. Of a
    dotted name all of it counts in Python, elsewhere its end."""
    if path.endswith((".py", ".pyi")) and sum(map(len, lines)) <= LARGEST_PARSED:
        try:
            return _python(b"\n".join(lines), symbol.split("."))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # it may be of another version of Python
    name = symbol.rpartition(".")[2].encode()
    if path.lower().endswith((".md", ".markdown")):
        return _heading(lines, symbol)
    for place, line in enumerate(lines):
        if name in line and _defines(line, name):
            return place + 1, _end(lines, place)
    return None


def _python(source: bytes, names: list[str]) -> tuple[int, int] | None:
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside: list[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for name in names:
        node = next((one for one in inside if _named(one, name)), None)
        if node is None:
            return None
        inside = getattr(node, "body", [])
    if node is None:
        return None
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


def _named(node: object, name: str) -> bool:
    import ast

    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _defines(line: bytes, name: bytes) -> bool:
    words = _WORD.findall(line[:2_000])
    if name not in words:
        return False
    before = words[: words.index(name)]
    if before and DEFINES.intersection(before):
        return True
    after = line[line.find(name) + len(name) :].lstrip()
    alone = not line[:1].isspace() and after.startswith(b"(") and not line.endswith(b";")
    whole = alone and bool(before or line.endswith(b"{"))
    return whole and not {b"return", b"if", b"while"}.intersection(before)  # a function of C


def _end(lines: list[bytes], place: int) -> int:
    """Return the last line of the block that begins at an index."""
    depth = _indent(lines[place])
    last = place
    for number in range(place + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _indent(line) <= depth:
            if _indent(line) == depth and line.strip().startswith(_CLOSES):
                return number + 1
            if _indent(line) < depth or not line.strip().startswith((b"{", b")")):
                break
        last = number
    return last + 1


def _heading(lines: list[bytes], title: str) -> tuple[int, int] | None:
    wanted = re.sub(r"\W+", "_", title.lower()).strip("_")
    level = first = 0
    for number, line in enumerate(lines, start=1):
        marks = len(line) - len(line.lstrip(b"#"))
        if not 0 < marks <= 6 or line[marks : marks + 1] != b" ":
            continue
        if first and marks <= level:
            return first, number - 1
        said = re.sub(r"\W+", "_", line[marks:].decode("utf-8", "replace").lower()).strip("_")
        if not first and said == wanted:
            first, level = number, marks
    return (first, len(lines)) if first else None


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
