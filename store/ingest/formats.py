"""Parse the lines of a source in any supported form; report and skip what cannot be read."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from store.ingest import claude, ignored_lines, plain
from store.ingest.parsed_line import Broken, ParsedLine
from store.ingest.source_file import Raw, SourceOffset

_FOREIGN = {
    "a ZIP archive": re.compile(rb"PK\x03\x04"),
    "a web page": re.compile(rb"<(?:!doctype )?html\b", re.IGNORECASE),
    "one JSON document": re.compile(rb"\[\s*[\[{]|[\[{]\s*\n"),
}


@dataclass(slots=True)
class FormatEntry:
    """What was read up to `place`: `said`, or the `trouble` with line `number`; `waiting` for the last line of a file
    that is still being written, and is read again the next time. `size` in bytes."""

    place: SourceOffset
    number: int
    said: list[ParsedLine] = field(default_factory=list)
    trouble: str = ""
    size: int = 0
    waiting: bool = False


def is_json(file: BinaryIO) -> bool:
    """Return whether a file is JSON lines, by its first line that is not blank; rewind it afterwards."""
    file.seek(0)
    head = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return head.startswith(b"{")


def foreign(file: BinaryIO) -> str:
    """Return what a file is that has no lines to read, as exports of chats are; empty for others. Rewind it."""
    file.seek(0)
    head = file.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return next((what for what, begins in _FOREIGN.items() if begins.match(head)), "")


def entries(
    raws: Iterable[Raw], place: SourceOffset, session: str, growing: bool, as_json: bool
) -> Iterator[FormatEntry]:
    """Parse the lines from `place` on; for a `role: text` file pass all of its lines. With `growing` the last line of
    the file may be incomplete."""
    return _json(raws, session, growing) if as_json else _plain(raws, place, session, growing)


def _json(raws: Iterable[Raw], session: str, growing: bool) -> Iterator[FormatEntry]:
    cwd = ""
    for raw in raws:
        entry = FormatEntry(SourceOffset(raw.after, raw.number), raw.number, size=len(raw.data))
        complete = False
        try:
            if raw.long:
                raise Broken("it is too long")
            data = raw.data.removeprefix(b"\xef\xbb\xbf") if raw.number == 1 else raw.data
            if data.strip():
                value = _parsed(data)
                complete = True
                entry.said = _said(value, session)
        except Broken as why:
            if growing and not raw.whole and not complete:
                entry.waiting = True
                yield entry
                return
            entry.trouble = str(why)
        for line in entry.said:
            line.cwd = cwd = line.cwd or cwd
        yield entry


def _said(value: object, session: str) -> list[ParsedLine]:
    """Parse a line, whatever program wrote it. Raise Broken."""
    if claude.is_claude(value):
        return claude.read(value)
    return [] if ignored_lines.is_bookkeeping(value) else plain.read_json(value, session)


def _parsed(data: bytes) -> object:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        raise Broken("it is not JSON") from None
    return value


def _plain(raws: Iterable[Raw], place: SourceOffset, session: str, growing: bool) -> Iterator[FormatEntry]:
    """Parse turns of several lines. The source is read from its beginning, to know the role of the text at `place` and
    whether it is in a fence; turns before `place` are not returned again."""
    lines: list[str] = []
    role, fence, first, before, size = "", "", 0, place, 0
    for raw in raws:
        text = raw.data.decode("utf-8", "replace")
        text = text.removeprefix("\ufeff") if raw.number == 1 else text
        begins = None if fence else plain.starts(text)
        fence = plain.fenced(begins[1] if begins else text, fence)
        if raw.after <= place.offset:
            role = begins[0] if begins else role
            continue
        if growing and not raw.whole:
            if first and begins:  # else the line continues the turn
                yield _turn(session, role, lines, first, before, size)
            yield FormatEntry(before, raw.number, waiting=True)
            return
        if begins:
            if first:
                yield _turn(session, role, lines, first, before, size)
            role, lines, first, size = begins[0], [begins[1]], raw.number, 0
        elif role and (lines or text.strip()):
            first = first or raw.number
            lines.append("" if raw.long else text)
        elif text.strip():
            yield FormatEntry(
                SourceOffset(raw.after, raw.number),
                raw.number,
                trouble="no speaker: there is no `role:` line before it",
            )
        size += len(raw.data)
        before = SourceOffset(raw.after, raw.number)
    if first:
        yield _turn(session, role, lines, first, before, size)


def _turn(session: str, role: str, lines: list[str], first: int, place: SourceOffset, size: int) -> FormatEntry:
    text = "\n".join(lines).strip()
    return FormatEntry(place, first, [ParsedLine(session, role, text, doubtful=True)] if text else [], size=size)
