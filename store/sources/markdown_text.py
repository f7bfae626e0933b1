"""Markdown as people and tools write memories in it: front matter, bullets, prose."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from store.ingest.formats import fence_after_line

_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?P<text>\S.*)")
_TASK = re.compile(r"\[.\](?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.*)")
_MARK = re.compile(r"^\s*[-*+][ \t]+")
_LABEL = re.compile(r"[^\n]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*(?:(?:\*\*|__|[*_])\([^()\n]*\)(?:\*\*|__|[*_]))?")
COMMENT_LINES = 20  # that a comment above a bullet may have
LONGEST_FRONT_MATTER = 65_536  # characters of front matter


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


def parse_front_matter(text: str) -> tuple[dict[str, object], str, int]:
    """Return the front matter, the rest of the text, and how many lines the front matter takes. Front matter that
    is not YAML is empty; every scalar in it is a text."""
    if not text.startswith("---\n"):
        return {}, text, 0
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, 4)
    if end is None or end.start() > LONGEST_FRONT_MATTER:
        return {}, text, 0
    return _parse_yaml(text[4 : end.start()]), text[end.end() :], text.count("\n", 0, end.end())


def _parse_yaml(head: str) -> dict[str, object]:
    """Parse front matter; return an empty dict if it is not a YAML mapping."""
    import yaml

    try:
        value = yaml.load(
            head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        )  # the one in C is not everywhere
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def parse_tag_list(value: object) -> tuple[str, ...]:
    """Parse the tags of front matter: a list, or a text with commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    found = (str(one).strip().removeprefix("#") for one in parts if isinstance(one, str))
    return tuple(one for one in dict.fromkeys(found) if one)


def parse_bullets(text: str, first: int = 1) -> Iterator[Bullet]:
    """Yield the bullets of a text that are not tasks, outside of code and quotes; `first` is the number of its
    first line. A bullet continues in indented lines."""
    lines = text.split("\n")
    heading, above, fence, place, comment = "", "", "", 0, 0
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if inside or fence:
            place += 1
            continue
        if named := _HEADING.fullmatch(line):
            heading, above = named["text"].rstrip().rstrip("#").rstrip(), ""
        elif "<!--" in line and not _says_something(line):
            ahead = "\n".join(lines[place : place + COMMENT_LINES])
            start = ahead.index("<!--")
            if (end := ahead.find("-->", start)) >= 0:
                above, comment = ahead[start + 4 : end].strip(), first + place
                place += ahead.count("\n", 0, end)
        elif found := _BULLET.fullmatch(line):
            end = _bullet_end(lines, _comment_end(lines, place))
            if not _TASK.match(found["text"]):
                rest = _dedent_lines(lines[place + 1 : end])
                whole = "\n".join([found["text"].rstrip(), *rest]).strip()
                yield Bullet(whole, first + place, first + end - 1, heading, above, comment if above else 0)
            above = ""
            place = end
            continue
        place += 1


def _says_something(line: str) -> bool:
    """Tell whether a line is a bullet that says something beside comments; the last comment may end further below."""
    found = _BULLET.fullmatch(_remove_comments(line).rstrip())
    return found is not None and not found["text"].startswith("<!--")


def _comment_end(lines: list[str], place: int) -> int:
    """Return the index of the line in which a comment ends that begins in the bullet at `place`; `place` if there
    is none."""
    if "<!--" in _remove_comments(lines[place]):
        for ahead in range(place + 1, min(place + COMMENT_LINES, len(lines))):
            if "-->" in lines[ahead]:
                return ahead
    return place


def _bullet_end(lines: list[str], place: int) -> int:
    """Return the index behind the last line of the bullet at `place`."""
    end = ahead = place + 1
    while ahead < len(lines):
        line = lines[ahead]
        if line.startswith(("  ", "\t")) and line.strip():
            end = ahead + 1
        elif line.strip():
            break
        ahead += 1
    return end


def _dedent_lines(lines: list[str]) -> list[str]:
    """Remove the indentation that all lines share."""
    wide = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[wide:].rstrip() for line in lines]


def is_unfilled(text: str) -> bool:
    """Tell whether a bullet has only labels, as a template does: `**Name:**`, `**Pronouns:** _(optional)_`."""
    lines = (_MARK.sub("", line, count=1).strip() for line in text.split("\n") if line.strip())
    return all(_LABEL.fullmatch(line) for line in lines)


def _remove_comments(text: str) -> str:
    """Remove the HTML comments from a text."""
    parts, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[place:start])
        place = end + 3
    return "".join([*parts, text[place:]])


def prose_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text that are neither headings, bullets, code nor comments."""
    found: list[str] = []
    held: list[str] = []
    fence, place = "", 0
    lines = _remove_comments(text).split("\n")
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if not inside and not fence and _BULLET.fullmatch(line):
            place = _bullet_end(lines, place)
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
