"""What a writer shared, as segments that are only ever appended: text of one header and one line an operation.

Each header holds the digest of the segment before, so a stream that was cut, rewritten or put together of two shows.
A stream is rewritten by its writer alone, after a purge: the new first segment names the digest it replaces, and its
lines keep their numbers, those of purged records without words (`gone`).

A header also says what its writer saw of others' streams since they last said so: the newest number, and the digest of
its segment. So somebody who comes later notices a stream that was replaced as a whole.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from store.team.operation import LONGEST_LINE, WRITER, Operation, Refused, parsed

FORMAT = 1
LARGEST = 8 << 20  # bytes of a segment
MOST = 20_000  # operations of a segment
DIGEST = re.compile(r"[0-9a-f]{64}\Z")
Seen = dict[str, tuple[int, str]]  # writer → the newest number that was seen of their stream, the digest of its segment


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a stream: `operations` numbered `first` and up without a gap, and the digest of the one `previous`
    (empty for the first). `rewrites` is the digest of the newest segment of the stream that this one replaces; `seen`
    what its writer saw of others' streams."""

    writer: str
    first: int
    operations: tuple[Operation, ...]
    previous: str
    rewrites: str = ""
    seen: Seen = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return its bytes."""
        header = {
            "memoranda": "stream",
            "format": FORMAT,
            "writer": self.writer,
            "from": self.first,
            "to": self.first + len(self.operations) - 1,
            "previous": self.previous,
            **({"rewrites": self.rewrites} if self.rewrites else {}),
            **({"seen": self.seen} if self.seen else {}),
        }
        lines = [json.dumps(header, sort_keys=True, separators=(",", ":")), *(one.line() for one in self.operations)]
        return "".join(f"{line}\n" for line in lines).encode()


def digest(segment: bytes) -> str:
    """Return the digest of a segment's bytes: 64 hexadecimal digits."""
    return sha256(segment).hexdigest()


def decoded(data: bytes, writer: str) -> Segment:
    """Return the segment of these bytes in the stream of `writer`, every line checked. Raise Refused."""
    if len(data) > LARGEST:
        raise Refused(f"A segment of {writer} is larger than {LARGEST >> 20} MB.")
    head, _, rest = data.partition(b"\n")
    header = _header(head, writer)
    lines = rest.splitlines()
    first, last = header["from"], header["to"]
    if len(lines) > MOST or last - first + 1 != len(lines):
        raise Refused(f"A segment of {writer} does not hold what its header says.")
    operations = tuple(parsed(line, writer) for line in lines)
    if any(one.seq != first + place for place, one in enumerate(operations)):
        raise Refused(f"A segment of {writer} has a gap in its numbers.")
    seen = _seen(header.get("seen"))
    return Segment(writer, first, operations, header["previous"], header.get("rewrites", ""), seen)


def follows(segment: Segment, seq: int, newest: str) -> None:
    """Raise Refused unless a segment follows the stream whose newest number is `seq`, in the segment with the digest
    `newest` (empty before the first)."""
    if segment.first != seq + 1 or segment.previous != newest:
        raise Refused(f"The stream of {segment.writer} is broken after number {seq}.")


def split(
    writer: str, operations: Sequence[Operation], previous: str, rewrites: str = "", seen: Seen | None = None
) -> list[bytes]:
    """Return operations, numbered without a gap, as the segments that follow the one with the digest `previous`; the
    first says what was `seen` of others' streams."""
    segments: list[bytes] = []
    waiting: list[Operation] = []
    size = 0
    seen = seen or {}

    def close() -> None:
        nonlocal previous, rewrites, seen, size
        if waiting:
            segments.append(Segment(writer, waiting[0].seq, tuple(waiting), previous, rewrites, seen or {}).encoded())
            previous, rewrites, seen, size = digest(segments[-1]), "", {}, 0
            waiting.clear()

    for one in operations:
        length = len(one.line().encode()) + 1
        if waiting and (size + length > LARGEST - LONGEST_LINE or len(waiting) == MOST):
            close()
        waiting.append(one)
        size += length
    close()
    return segments


def _seen(found: Any) -> Seen:
    """Return what a header says that its writer saw, without what is no such thing."""
    seen = {}
    for writer, said in found.items() if isinstance(found, dict) else ():
        if WRITER.match(writer) and isinstance(said, list) and len(said) == 2:
            seq, digest = said
            if type(seq) is int and seq > 0 and isinstance(digest, str) and DIGEST.match(digest):
                seen[writer] = (seq, digest)
    return seen


def _header(line: bytes, writer: str) -> dict[str, Any]:
    try:
        found = json.loads(line[:LONGEST_LINE])
        known = found["memoranda"] == "stream" and found["writer"] == writer
        numbers = type(found["from"]) is int and type(found["to"]) is int and 0 < found["from"] <= found["to"]
        texts = isinstance(found["previous"], str) and isinstance(found.get("rewrites", ""), str)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = numbers = texts = False
        found = {}
    if not (known and numbers and texts):
        raise Refused(f"A segment of {writer} has no valid header.")
    if found["format"] != FORMAT:
        raise Refused(f"{writer} writes a newer form of streams.", "Update Memoranda.")
    return dict(found)
