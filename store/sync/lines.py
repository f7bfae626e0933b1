"""The lines of a section: facts as a list under headings by domain, each with its citation at the end.

A fact of several lines is one item, its further lines indented. What is no item, a table or a block of code, is kept as
it is and put below the section.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from store.base.citations import cite, parse
from store.base.errors import InvalidInput
from store.base.vocabulary import DOMAINS
from store.text.fence import plain

WRITTEN = tuple(domain for domain in DOMAINS if domain != "self_correction")  # in the order of the file
TITLES = {domain: domain.capitalize() for domain in WRITTEN}
_BY_TITLE = {title.casefold(): domain for domain, title in TITLES.items()}
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+(.*?))?[ \t]*#*[ \t]*")
# directly behind a query it is a part of an address: `https://example.org/?q=[F#1]`
_CITED = re.compile(r"(.*?)(?:[ \t]+|(?<![=&]))\[([^\[\]\s]{3,24})\][ \t]*", re.DOTALL)
_FENCE = re.compile(r"(`{3,}|~{3,})")
_BEGINS = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|#{1,6}(?:[ \t]|$)|`{3}|~{3}")  # an item, a heading, code
_NO_ITEM = re.compile(r"[|>]|<[!/a-zA-Z]|([-*_=])\1{2,}[ \t]*$|\[\^?[^\]]+\]:")


@dataclass(frozen=True, slots=True)
class SectionLine:
    """An item of a section: its `text`, without the citation; the `fact` that it cites, None for a new one; the
    `domain` of the heading above it, empty where that names none, and then `heading` is its text; the number of its
    first line in the file."""

    text: str
    fact: int | None
    domain: str
    heading: str
    number: int

    @property
    def shape(self) -> str:
        return shape(self.text)

    @property
    def whole(self) -> str:
        """The text as if the citation were a part of it."""
        return f"{self.text} [{cite('fact', self.fact)}]" if self.fact is not None else self.text


@dataclass(slots=True)
class SectionContent:
    """What a section holds: its items, and blocks of lines that are none, to be kept as they are."""

    items: list[SectionLine] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def shape(text: str) -> str:
    """Return a text as it is compared: without invisible characters, each run of spaces and line ends one space."""
    return " ".join(plain(text).split())


def digest(key: bytes, text: str) -> bytes:
    """Return 16 bytes that identify a text in one memory."""
    return blake2b(shape(text).encode("utf-8", "replace"), digest_size=16, key=key[:64]).digest()


def written(text: str, fact: int | None) -> list[str]:
    """Return the lines of an item. The citation is at the end of the last line, or of the first where the last ends a
    block of code."""
    first, *rest = [line.rstrip() for line in plain(text).strip().split("\n")]
    lines = [f"- {first.lstrip()}", *(f"  {line}" if line else "" for line in rest)]
    if fact is not None:
        at = 0 if _FENCE.match(lines[-1].lstrip()) else -1
        lines[at] = f"{lines[at]} [{cite('fact', fact)}]"
    return lines


def rendered(items: Iterable[tuple[str, str, int | None]]) -> list[str]:
    """Return the lines of a section with these items, (domain, text, fact), by domain and otherwise in this order."""
    groups: dict[str, list[list[str]]] = {domain: [] for domain in WRITTEN}
    for domain, text, fact in items:
        groups.get(domain, groups["general"]).append(written(text, fact))
    lines: list[str] = []
    for domain, some in groups.items():
        if some:
            lines += ["", f"## {TITLES[domain]}", "", *(line for item in some for line in item)]
    return [*lines, ""]


def read(lines: Sequence[str], first: int, domains: Iterable[str] = WRITTEN) -> SectionContent:
    """Return what the lines of a section hold; `first` is the number of the first of them, `domains` those that a
    heading may name."""
    content, known = SectionContent(), frozenset(domains)
    domain, heading, used = "", "", True
    at = 0
    while at < len(lines):
        line = lines[at]
        start = at
        at += 1
        if not line.strip():
            continue
        if match := _HEADING.fullmatch(line):
            if not used:
                content.others.append(f"## {heading}")
            heading = (match[1] or "").strip()
            named = _BY_TITLE.get(heading.casefold(), "")
            domain = named if named in known else ""
            used = bool(domain) or not heading
        elif fence := _FENCE.match(line):
            end = next((later for later in range(at, len(lines)) if lines[later].startswith(fence[1])), start)
            at = end + 1  # of one that is never closed, its first line
            content.others += ["", *lines[start:at]]
        elif (_NO_ITEM.match(line) and not _ITEM.fullmatch(line)) or _rule(line):
            while at < len(lines) and lines[at].strip() and not _BEGINS.match(lines[at]):
                at += 1
            content.others += ["", *lines[start:at]]
        else:
            at = _end_of_item(lines, at)
            item = _item(lines[start:at], domain, heading if not domain else "", first + start)
            if item is not None:
                content.items.append(item)
                used = used or item.fact is None
    if not used:
        content.others.append(f"## {heading}")
    return content


def _rule(line: str) -> bool:
    """Return whether a line divides the text: `---`, `***`."""
    marks = line.rstrip()
    return len(marks) >= 3 and marks[0] in "-*_=" and not marks.strip(marks[0])


def _begins(line: str) -> bool:
    """Return whether a line begins something of its own: an item, a heading, a block."""
    return bool(_BEGINS.match(line) or _NO_ITEM.match(line))


def _end_of_item(lines: Sequence[str], at: int) -> int:
    """Return the index after an item whose first line is just before `at`: indented lines, also after blank ones, and
    lines that go on without indentation."""
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            after = next((later for later in range(at, len(lines)) if lines[later].strip()), len(lines))
            if after == len(lines) or not lines[after].startswith(("  ", "\t")):
                return at
            at = after
        elif line[0] in " \t" or not _begins(line):
            at += 1
        else:
            return at
    return at


def _item(lines: Sequence[str], domain: str, heading: str, number: int) -> SectionLine | None:
    """Return an item; None for one without any text and citation."""
    match = _ITEM.fullmatch(lines[0])
    texts = [(match[1] or "") if match else lines[0], *(_outdented(line) for line in lines[1:])]
    fact = None
    for at in dict.fromkeys((-1, 0)):
        bare, fact = _cited(texts[at])
        if fact is not None:
            texts[at] = bare
            break
    text = "\n".join(texts).strip()
    return SectionLine(text, fact, domain, heading, number) if text or fact is not None else None


def _cited(line: str) -> tuple[str, int | None]:
    """Return (a line without the citation of a fact at its end, the fact); None where there is none."""
    match = _CITED.fullmatch(line)
    if match is None:
        return line, None
    try:
        found = parse(match[2])
    except InvalidInput:
        return line, None
    return (match[1], int(found.target)) if found.kind == "fact" else (line, None)


def _outdented(line: str) -> str:
    return line[2:] if line.startswith("  ") else line.lstrip("\t")
