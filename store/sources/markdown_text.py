"""Markdown as people and tools write memories in it: front matter, bullets, prose."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from store.ingest.plain import fenced

_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?P<text>\S.*)")
_TASK = re.compile(r"\[.\](?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.*)")
_MARK = re.compile(r"^\s*[-*+][ \t]+")
_LABEL = re.compile(r"[^\n]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*(?:(?:\*\*|__|[*_])\([^()\n]*\)(?:\*\*|__|[*_]))?")
COMMENT_LINES = 20  # that a comment above a bullet may have
LONGEST_HEAD = 65_536  # characters of front matter


@dataclass(frozen=True, slots=True)
class Bullet:
    """A bullet with the indented lines that belong to it, lines `line` to `last`; `above` is a comment above it, since
    the last bullet, that begins in line `comment`."""

    text: str
    line: int
    last: int
    heading: str
    above: str
    comment: int = 0


def front_matter(text: str) -> tuple[dict[str, object], str, int]:
    """Return (front matter, the rest, how many lines the front matter takes). Front matter that is no YAML is empty;
    every scalar in it is a text."""
    if not text.startswith("---\n"):
        return {}, text, 0
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, 4)
    if end is None or end.start() > LONGEST_HEAD:
        return {}, text, 0
    return _parsed(text[4 : end.start()]), text[end.end() :], text.count("\n", 0, end.end())


def _parsed(head: str) -> dict[str, object]:
    import yaml

    try:
        value = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # the one in C is not everywhere
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def tags_of(value: object) -> tuple[str, ...]:
    """Return the tags of front matter, a list or a text with commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    found = (str(one).strip().removeprefix("#") for one in parts if isinstance(one, str))
    return tuple(one for one in dict.fromkeys(found) if one)


def bullets(text: str, first: int = 1) -> Iterator[Bullet]:
    """Yield the bullets of a text that are no tasks, outside of code and quotes; `first` is the number of its first
    line. A bullet goes on in indented lines."""
    lines = text.split("\n")
    heading, above, fence, place, comment = "", "", "", 0, 0
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fenced(line, fence)
        if inside or fence:
            place += 1
            continue
        if named := _HEADING.fullmatch(line):
            heading, above = named["text"].rstrip().rstrip("#").rstrip(), ""
        elif "<!--" in line and not _says(line):
            ahead = "\n".join(lines[place : place + COMMENT_LINES])
            start = ahead.index("<!--")
            if (end := ahead.find("-->", start)) >= 0:
                above, comment = ahead[start + 4 : end].strip(), first + place
                place += ahead.count("\n", 0, end)
        elif found := _BULLET.fullmatch(line):
            end = _end(lines, _closed(lines, place))
            if not _TASK.match(found["text"]):
                rest = _dedented(lines[place + 1 : end])
                whole = "\n".join([found["text"].rstrip(), *rest]).strip()
                yield Bullet(whole, first + place, first + end - 1, heading, above, comment if above else 0)
            above = ""
            place = end
            continue
        place += 1


def _says(line: str) -> bool:
    """Return whether a line is a bullet that says something beside comments; the last may end further below."""
    found = _BULLET.fullmatch(_without_comments(line).rstrip())
    return found is not None and not found["text"].startswith("<!--")


def _closed(lines: list[str], place: int) -> int:
    """Return the index of the line in which a comment ends that begins in the bullet at `place`; `place` for none."""
    if "<!--" in _without_comments(lines[place]):
        for ahead in range(place + 1, min(place + COMMENT_LINES, len(lines))):
            if "-->" in lines[ahead]:
                return ahead
    return place


def _end(lines: list[str], place: int) -> int:
    """Return the index behind the last line of the bullet whose first line, or the last that it surely has, is at
    `place`."""
    end = ahead = place + 1
    while ahead < len(lines):
        line = lines[ahead]
        if line.startswith(("  ", "\t")) and line.strip():
            end = ahead + 1
        elif line.strip():
            break
        ahead += 1
    return end


def _dedented(lines: list[str]) -> list[str]:
    wide = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[wide:].rstrip() for line in lines]


def unfilled(text: str) -> bool:
    """Return whether a bullet has labels alone, as a template does: `**Name:**`, `**Pronouns:** _(optional)_`."""
    lines = (_MARK.sub("", line, count=1).strip() for line in text.split("\n") if line.strip())
    return all(_LABEL.fullmatch(line) for line in lines)


def _without_comments(text: str) -> str:
    parts, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[place:start])
        place = end + 3
    return "".join([*parts, text[place:]])


def prose(text: str) -> list[str]:
    """Return the paragraphs of a text that are neither headings, bullets, code nor comments."""
    found: list[str] = []
    held: list[str] = []
    fence, place = "", 0
    lines = _without_comments(text).split("\n")
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fenced(line, fence)
        if not inside and not fence and _BULLET.fullmatch(line):
            place = _end(lines, place)
        elif inside or fence or not line.strip() or _HEADING.fullmatch(line):
            place += 1
        else:
            held.append(line.rstrip())
            place += 1
            continue
        if held:
            found.append("\n".join(held))
            held = []
    return [*found, "\n".join(held)] if held else found
