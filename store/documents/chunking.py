"""Split a Markdown text into chunks: whole lines of about 400 tokens that can be found, and cited by their numbers.

A token is estimated as four characters: no tokenizer here counts exactly, and chunks must not change with the model. A
chunk never crosses a heading; within a section it ends between paragraphs, or between fenced blocks, where possible.
The next chunk of a section repeats at most 80 tokens of whole lines. A line longer than a chunk becomes several chunks
with that line's number, cut at sentences, else at spaces.
"""

from itertools import accumulate

TOKEN = 4  # characters
SIZE = 400 * TOKEN
OVERLAP = 80 * TOKEN
BETWEEN = " › "  # the headings of a path
SENTENCES = (". ", "! ", "? ", "; ", chr(0x3002))  # ends of a sentence, with the full stop of Chinese and Japanese
LONGEST_HEADING = 200  # characters of one heading that are kept


class Piece:
    """Some lines of a text, `first` to `last` counted from 1, under `heading`, the path of headings above them."""

    __slots__ = ("first", "heading", "last", "text")

    def __init__(self, first: int, last: int, heading: str, text: str) -> None:
        self.first = first
        self.last = last
        self.heading = heading
        self.text = text

    def __repr__(self) -> str:
        return f"Piece({self.first}, {self.last}, {self.heading!r}, {self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piece) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class _Block:
    """Lines that belong together, by their indexes from 0: a paragraph, a fenced block, a heading."""

    __slots__ = ("first", "kind", "last", "level", "title")

    def __init__(self, first: int, last: int, kind: str, level: int = 0, title: str = "") -> None:
        self.first = first
        self.last = last
        self.kind = kind
        self.level = level
        self.title = title


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as editors and `grep -n` count them: ended by \\n or \\r\\n, the last one also by the
    end."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def chunks(lines: list[str]) -> list[Piece]:
    """Return the lines as pieces, in order; together they contain every line that is not blank."""
    pieces: list[Piece] = []
    sums = [0, *accumulate(len(line) + 1 for line in lines)]
    section: list[_Block] = []
    path: list[tuple[int, str]] = []
    heading = ""
    bodied = False  # whether the section has more than headings
    for block in _blocks(lines):
        if block.kind == "heading":
            if bodied:  # consecutive headings are kept together, under the last
                pieces += _packed(lines, sums, section, heading)
                section, bodied = [], False
            path = [above for above in path if above[0] < block.level]
            path.append((block.level, block.title))
            heading = BETWEEN.join(title for _, title in path if title)
        else:
            bodied = True
        section.append(block)
    return pieces + _packed(lines, sums, section, heading)


def _blocks(lines: list[str]) -> list[_Block]:
    """Return the blocks of a text in order; lines between them are blank."""
    blocks: list[_Block] = []
    at = _front_matter(lines)
    if at:
        blocks.append(_Block(0, at - 1, "paragraph"))
    start: int | None = None  # of the paragraph that is being read

    def end(place: int) -> None:
        nonlocal start
        if start is not None:
            blocks.append(_Block(start, place - 1, "paragraph"))
        start = None

    while at < len(lines):
        line = lines[at].strip()
        if not line:
            end(at)
        elif fence := _fence(line):
            end(at)
            last = _closed(lines, at, fence)
            blocks.append(_Block(at, last, "fence"))
            at = last
        elif level := _level(lines[at]):
            end(at)
            blocks.append(_Block(at, at, "heading", level, _title(line[level:])))
        elif start == at - 1 and line[0] in "=-" and not line.strip(line[0]) and len(line) > 1:
            title = lines[start].strip()  # underlined, one line of it
            blocks.append(_Block(start, at, "heading", 1 if line[0] == "=" else 2, _title(title)))
            start = None
        elif start is None:
            start = at
        at += 1
    end(len(lines))
    return blocks


def _front_matter(lines: list[str]) -> int:
    """Return how many lines at the top are YAML between dashes; 0 if there are none."""
    if lines and lines[0].rstrip() == "---":
        for at in range(1, len(lines)):
            if lines[at].rstrip() in ("---", "..."):
                return at + 1
    return 0


def _fence(line: str) -> str:
    """Return the mark that opens a fenced block on this line, or an empty string."""
    for mark in ("`", "~"):
        size = len(line) - len(line.lstrip(mark))
        if size >= 3 and not (mark == "`" and mark in line[size:]):  # else code inside a line
            return mark * size
    return ""


def _closed(lines: list[str], at: int, fence: str) -> int:
    """Return the line that closes the fenced block opened at `at`; the last of all if none does."""
    for place in range(at + 1, len(lines)):
        line = lines[place].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return place
    return len(lines) - 1


def _level(line: str) -> int:
    """Return the level of a heading `# …` on this line; 0 if it is none."""
    text = line.lstrip(" ")
    level = len(text) - len(text.lstrip("#"))
    return level if 1 <= level <= 6 and len(line) - len(text) < 4 and text[level : level + 1] in ("", " ", "\t") else 0


def _title(text: str) -> str:
    """Return a heading's words, without the marks that may close it."""
    text = text.strip()
    closed = text.rstrip("#")
    return (text if closed and closed[-1] not in " \t" else closed.strip())[:LONGEST_HEADING]


def _packed(lines: list[str], sums: list[int], section: list[_Block], heading: str) -> list[Piece]:
    """Return the chunks of one section. `sums[n]` is the number of characters of the first n lines, with their ends."""
    pieces: list[Piece] = []
    held: list[tuple[int, int]] = []  # the atoms of the chunk that is being filled, as (first, last)
    fresh = False  # whether it holds more than what it repeats

    def close() -> None:
        if not fresh:
            return
        first, last = held[0][0], held[-1][1]
        text = "\n".join(lines[first : last + 1])
        if text.strip():  # false where a fenced block was cut and the rest of it is blank
            pieces.append(Piece(first + 1, last + 1, heading, text))

    for first, last in _atoms(sums, section):
        if first == last and len(lines[first]) > SIZE:
            close()
            held, fresh = [], False
            pieces += [Piece(first + 1, first + 1, heading, part) for part in _parts(lines[first])]
            continue
        if held and sums[last + 1] - sums[held[0][0]] > SIZE:
            close()
            held, fresh = _repeated(lines, sums, held, SIZE - (sums[last + 1] - sums[held[-1][1] + 1])), False
        held.append((first, last))
        fresh = True
    close()
    return pieces


def _atoms(sums: list[int], section: list[_Block]) -> list[tuple[int, int]]:
    """Return what a chunk keeps whole: blocks, and the lines of a block that is larger than a chunk."""
    atoms: list[tuple[int, int]] = []
    for block in section:
        if sums[block.last + 1] - sums[block.first] <= SIZE:
            atoms.append((block.first, block.last))
        else:
            atoms += [(at, at) for at in range(block.first, block.last + 1)]
    return atoms


def _repeated(lines: list[str], sums: list[int], atoms: list[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """Return what the next chunk repeats of a chunk: its last atoms; where none fits, the last lines of a paragraph."""
    room, end = min(room, OVERLAP), atoms[-1][1]
    taken: list[tuple[int, int]] = []
    for atom in reversed(atoms[1:]):
        if sums[end + 1] - sums[atom[0]] > room:
            break
        taken.insert(0, atom)
    first, last = atoms[-1]
    if not taken and not _fence(lines[first].strip()):
        while first <= last and sums[last + 1] - sums[first] > room:
            first += 1
        taken = [(first, last)] if first <= last else []
    while taken and not any(map(str.strip, lines[taken[0][0] : taken[0][1] + 1])):
        del taken[0]  # a blank line of a fenced block that was cut
    return taken


def _parts(line: str) -> list[str]:
    """Split a very long line after a sentence, else after a space, else anywhere; joined, the parts are the line,
    except blank ones."""
    parts: list[str] = []
    at = 0
    while len(line) - at > SIZE:
        window = line[at : at + SIZE]
        cut = max(window.rfind(mark) for mark in SENTENCES) + 1
        if cut <= SIZE // 2:
            cut = window.rfind(" ")
        cut = cut + 1 if cut > SIZE // 2 else SIZE
        parts.append(line[at : at + cut])
        at += cut
    return [part for part in (*parts, line[at:]) if part.strip()]
