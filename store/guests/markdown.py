"""Texts in the Markdown files of Claude Code, basic-memory and OpenClaw, by their bytes: what is changed is the asked
text alone. Front matter, byte order mark, line endings and every other line stay as they are."""

import os
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from store.base.errors import InvalidInput
from store.guests.guest_text import GuestText, NotEditable, named
from store.sources.files import text_of
from store.sources.markdown_text import Bullet, bullets, front_matter, prose
from store.sources.readers.claude_code import INDEX
from store.sources.readers.observations import OBSERVATION, parted
from store.sources.readers.openclaw import OBSERVED, PLACEHOLDER, STATUS

OPENCLAW_LISTS = ("MEMORY.md", "USER.md")
LONGEST = 5_000  # lines of a text that is compared with its new form line by line
_BREAK = re.compile(rb"\r\n|\r|\n")
_MARKER = re.compile(r" {0,3}[-*+][ \t]+")
_LINK = re.compile(r"\]\((?:\./)?(?P<target>[^()\s]+\.md)\)")
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16


class _Content:
    """A file's bytes, and where its lines are: each begins at `starts`, its text ends at `stops`."""

    def __init__(self, raw: bytes) -> None:
        if raw[:2] in _MARKS:
            raise NotEditable("it is UTF-16, which only an editor can change here")
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise NotEditable("a part of it is not UTF-8") from None
        if "\0" in text:
            raise NotEditable("it is binary, not text")
        self.raw = raw
        self.starts, self.stops = [3 if raw.startswith(b"\xef\xbb\xbf") else 0], list[int]()
        for found in _BREAK.finditer(raw):
            self.stops.append(found.start())
            self.starts.append(found.end())
        self.stops.append(len(raw))
        self.head, self.body, self.above = front_matter(_plain(text))

    def line(self, number: int) -> str:
        return self.raw[self.starts[number - 1] : self.stops[number - 1]].decode()

    def after(self, number: int) -> int:
        """Return where the line after this one begins."""
        return self.starts[number] if number < len(self.starts) else len(self.raw)

    def bullets(self) -> Iterator[Bullet]:
        return bullets(self.body, self.above + 1)


def read(tool: str, path: str, raw: bytes) -> list[GuestText]:
    """Return the texts of a file with these bytes. Raise NotEditable for what is no text in UTF-8."""
    content = _Content(raw)
    name = os.path.basename(path)
    if tool == "claude-code":
        found = _lines(content, path) if name == INDEX else _fact(content, path)
    elif tool == "basic-memory":
        found = _note(content, path)
    else:
        found = _list(content, path) if name in OPENCLAW_LISTS else _whole(content, "openclaw", path, name, "day")
    return named(found)


def _fact(content: _Content, path: str) -> Iterator[GuestText]:
    inner = content.head.get("metadata")
    about = {**content.head, **inner} if isinstance(inner, dict) else content.head
    title = text_of(content.head.get("name")) or os.path.basename(path)
    yield from _whole(content, "claude-code", path, title, text_of(about.get("type")))


def _lines(content: _Content, path: str) -> Iterator[GuestText]:
    for bullet in content.bullets():
        yield _bullet(content, "claude-code", path, bullet, INDEX, "index")


def _note(content: _Content, path: str) -> Iterator[GuestText]:
    title = text_of(content.head.get("title")) or os.path.basename(path).removesuffix(".md")
    for bullet in content.bullets():
        if found := OBSERVATION.fullmatch(bullet.text):
            yield _bullet(content, "basic-memory", path, bullet, title, found["category"].lower())
    if prose(content.body):
        yield from _whole(content, "basic-memory", path, title, "note")


def _list(content: _Content, path: str) -> Iterator[GuestText]:
    for bullet in content.bullets():
        status, observed = STATUS.search(bullet.above), OBSERVED.search(bullet.above)
        if PLACEHOLDER.search(bullet.text) or (observed and PLACEHOLDER.search(observed["date"])):
            continue
        note = status["status"] if status and status["status"] != "active" else ""
        yield _bullet(content, "openclaw", path, bullet, bullet.heading or os.path.basename(path), note)


def _whole(content: _Content, tool: str, path: str, title: str, note: str) -> Iterator[GuestText]:
    """Yield the body of a file as one text."""
    above = content.above
    first = content.starts[above] if above < len(content.starts) else len(content.raw)
    body = content.raw[first:].decode()
    if not (said := body.strip()):
        return
    blank = body[: len(body) - len(body.lstrip())]
    start = first + len(blank.encode())
    line = above + 1 + _plain(blank).count("\n")
    end = start + len(said.encode())
    yield GuestText(tool, path, line, _plain(said), title, note, start, end, (0, len(content.raw)), whole=True)


def _bullet(content: _Content, tool: str, path: str, bullet: Bullet, title: str, note: str) -> GuestText:
    first = content.starts[bullet.line - 1]
    marker = _MARKER.match(content.line(bullet.line))
    start = first + len(marker[0].encode()) if marker else first
    end = content.starts[bullet.last - 1] + len(content.line(bullet.last).rstrip().encode())
    text = bullet.text
    if tool == "basic-memory" and (observed := OBSERVATION.fullmatch(text)):
        ahead, said = text[: observed.start("text")], parted(observed["text"])[0]
        behind = observed["text"][len(said) :]
        if "\n" not in ahead + behind and content.raw[:end].endswith((said.split("\n")[-1] + behind).encode()):
            start, end, text = start + len(ahead.encode()), end - len(behind.encode()), said
    if bullet.comment and (OBSERVED.search(bullet.above) or STATUS.search(bullet.above)):
        first = content.starts[bullet.comment - 1]  # it says when this one was seen, and would be about the next
    rest = [content.line(number) for number in range(bullet.line + 1, bullet.last + 1)]
    spaces = [line[: len(line) - len(line.lstrip())] for line in rest if line.strip()]
    indent = min(spaces, key=len) if spaces else " " * len(marker[0] if marker else "- ")
    cut = (first, content.after(bullet.last))
    return GuestText(tool, path, bullet.line, text, title, note, start, end, cut, indent=indent)


# changing


def corrected(raw: bytes, one: GuestText, text: str) -> bytes:
    """Return the bytes of the file with another text in the place of this one. Raise InvalidInput where the file would
    then be read differently besides."""
    new = raw[: one.start] + _written(raw, one, text) + raw[one.end :]
    _check(raw, new, one, text)
    return new


def without(raw: bytes, one: GuestText) -> bytes | None:
    """Return the bytes of the file without this text; None where nothing is left of it. Raise InvalidInput as
    `corrected` does."""
    if one.whole:
        return None
    new = raw[: one.cut[0]] + raw[one.cut[1] :]
    _check(raw, new, one, None)
    return new


def unlisted(raw: bytes, name: str) -> bytes:
    """Return the bytes of an index without the bullets that lead to the file `name` alone."""
    content = _Content(raw)
    for bullet in reversed(list(content.bullets())):
        if set(_LINK.findall(bullet.text)) == {name}:
            raw = raw[: content.starts[bullet.line - 1]] + raw[content.after(bullet.last) :]
    return raw


def _written(raw: bytes, one: GuestText, text: str) -> bytes:
    """Return the bytes of a new text; lines that it shares with the old one keep theirs, with their endings."""
    pieces = _pieces(raw[one.start : one.end])
    usual = next((piece[1] for piece in pieces if piece[1]), b"") or next(iter(_BREAK.findall(raw)), b"\n")
    old, new = one.text.split("\n"), text.split("\n")
    if len(pieces) != len(old) or max(len(old), len(new)) > LONGEST:
        old, pieces = [], []
    lines: list[tuple[bytes, bytes]] = []
    for kind, first, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step, at in enumerate(range(start, stop)):
            before = pieces[first + step] if first + step < end else (b"", b"")
            if kind == "equal" and bool(first + step) == bool(at):
                lines.append(before)
                continue
            indented = f"{one.indent}{new[at]}" if at and new[at].strip() else new[at]
            lines.append((indented.encode(), before[1]))
    ends = [*(ending or usual for _, ending in lines[:-1]), b""]
    return b"".join(line + ending for (line, _), ending in zip(lines, ends, strict=True))


def _pieces(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Split bytes into lines, each with its ending."""
    pieces, last = [], 0
    for found in _BREAK.finditer(raw):
        pieces.append((raw[last : found.start()], found[0]))
        last = found.end()
    return [*pieces, (raw[last:], b"")]


def _check(raw: bytes, new: bytes, one: GuestText, text: str | None) -> None:
    """Raise InvalidInput unless the new bytes read as the old ones do, but for this text."""
    try:
        before, after = (_alike(read(one.tool, one.path, bytes_), one) for bytes_ in (raw, new))
    except NotEditable as error:
        raise InvalidInput(f"That would leave a file of which {error}.", "Leave such characters out.") from None
    place = next(at for at, other in enumerate(before) if other.start == one.start)
    wanted = [(other.text, other.title, other.note) for other in before]
    wanted[place : place + 1] = [] if text is None else [(text, one.title, one.note)]
    if [(other.text, other.title, other.note) for other in after] != wanted:
        raise InvalidInput(
            "Written so, the file would be read differently: a blank line, a list or a mark of Markdown ends the text.",
            "Word it otherwise, or change the file in your editor.",
        )


def _alike(texts: Sequence[GuestText], one: GuestText) -> list[GuestText]:
    """Return the texts of the same size: a whole body and the bullets in it are texts of their own."""
    return [other for other in texts if other.whole == one.whole]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
