"""What a writer shared, as segments that are only ever appended: text of one header and one line an operation.

Each header holds the digest of the segment before, so a stream that was cut, rewritten or put together of two shows.
A stream is rewritten by its writer alone, after a purge: the new first segment names the digest it replaces, and its
lines keep their numbers, those of purged records without words (`gone`).

A header also says what its writer saw of others' streams since they last said so: the newest number, and the digest of
its segment. So somebody who comes later notices a stream that was replaced as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from store.base.errors import MemorandaError

# One operation on a shared record, as its line in a stream has it.
#
# A record's identity is its number at its author with the author's writer: `F2@3c7vjyhh2avx`. An operation's name is
# its number in its writer's stream: `14@3c7vjyhh2avx`. `base` names, by field, the operations whose values the
# writer saw when they wrote: what nobody based a newer value on is current, and two current values of one field are
# a conflict.

OPERATION_KINDS = ("add", "change", "confirm", "accept", "forget", "restore", "purge", "gone", "name")
SHARED_KIND_BY_LETTER = {"F": "fact", "D": "decision"}
# kind → its shared fields, its own words first
SHARED_FIELDS = {
    "fact": ("fact", "domain", "confidence", "tags", "created", "scope"),
    "decision": ("title", "chosen", "context", "alternatives", "rationale", "impact", "created"),
}
LIST_FIELDS = ("tags", "alternatives")
# the scope of a fact that holds in every project; any other is of its project, and not said
SHARED_GLOBAL_SCOPE = "global"
WRITER_PATTERN = re.compile(r"[a-z2-7]{12}\Z")
RECORD_ID_PATTERN = re.compile(r"([FD])([1-9]\d{0,11})@([a-z2-7]{12})\Z")
REFERENCE_PATTERN = re.compile(r"[1-9]\d{0,11}@[a-z2-7]{12}\Z")
OPERATION_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z\Z")
# bytes
LONGEST_OPERATION = 256 << 10
# characters of one field
LONGEST_FIELD = 32_000
# operations that one is based on
MOST_BASES = 64
MOST_NAME_CHARACTERS = 60


class RefusedStream(MemorandaError):
    """A line or a segment that another writer sent is not what it should be; nothing of it is taken."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class Operation:
    """What a `writer` did as number `seq` of their stream, by their clock `at`: `op` (one of OPERATION_KINDS) on record
    `id`. `fields` are values by name; `base` the operations seen, by field ("" for those of a confirmation)."""

    writer: str
    seq: int
    at: str
    op: str
    id: str
    fields: dict[str, Any] = field(default_factory=dict)
    base: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """Its name: `14@3c7vjyhh2avx`."""
        return f"{self.seq}@{self.writer}"

    @property
    def own(self) -> bool:
        """Whether its writer is the author of the record."""
        return self.id.endswith(f"@{self.writer}")

    def as_line(self) -> str:
        """Return its line in a stream, without a line break; equal operations have equal lines."""
        parts: dict[str, Any] = {"seq": self.seq, "at": self.at, "op": self.op, "id": self.id}
        if self.fields:
            parts["fields"] = self.fields
        if self.base:
            parts["base"] = {name: list(several) for name, several in self.base.items()}
        return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parse_operation(line: bytes, writer: str) -> Operation:
    """Parse a line in the stream of `writer`, and check each part. Raise RefusedStream."""
    if len(line) > LONGEST_OPERATION:
        raise RefusedStream(f"A line of {writer} is longer than {LONGEST_OPERATION >> 10} KB.")
    try:
        found = json.loads(line)
        seq, at, op, id = found["seq"], found["at"], found["op"], found["id"]
        fields, base = found.get("fields", {}), found.get("base", {})
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RefusedStream(f"A line of {writer} is no operation.") from None
    if type(seq) is not int or not 0 < seq < 1 << 40 or not isinstance(at, str) or not _is_moment(at):
        raise RefusedStream(f"A line of {writer} has no number or no time.")
    if op not in OPERATION_KINDS or not isinstance(id, str):
        raise RefusedStream(f"Operation {seq} of {writer} is of no known kind.")
    if op == "name":
        return Operation(writer, seq, at, op, "", {"name": _check_name(fields, writer, seq)})
    record = RECORD_ID_PATTERN.match(id)
    if not record or not isinstance(fields, dict) or not isinstance(base, dict):
        raise RefusedStream(f"Operation {seq} of {writer} is about no record.")
    if op in ("add", "restore") and record[3] != writer:
        raise RefusedStream(f"Operation {seq} of {writer} speaks for another writer's {id}.")
    kind = SHARED_KIND_BY_LETTER[record[1]]
    for name, value in fields.items():
        if name not in SHARED_FIELDS[kind] or not _is_valid_field(name, value):
            raise RefusedStream(f"Operation {seq} of {writer} has a field that a {kind} does not have.")
    if op == "add" and not all(fields.get(name) for name in SHARED_FIELDS[kind][: 1 if kind == "fact" else 2]):
        raise RefusedStream(f"Operation {seq} of {writer} adds a {kind} without words.")
    bases = {}
    for name, several in base.items():
        if name not in (*SHARED_FIELDS[kind], "") or not isinstance(several, list) or len(several) > MOST_BASES:
            raise RefusedStream(f"Operation {seq} of {writer} is based on nothing known.")
        if not all(isinstance(one, str) and REFERENCE_PATTERN.match(one) for one in several):
            raise RefusedStream(f"Operation {seq} of {writer} is based on nothing known.")
        bases[name] = tuple(several)
    return Operation(writer, seq, at, op, id, fields, bases)


def identity_kind(id: str) -> str:
    """Return the kind of record that an identity names."""
    return SHARED_KIND_BY_LETTER[id[0]]


def identity_writer(id: str) -> str:
    """Return the writer that the identity of a record, or the name of an operation, ends with."""
    return id.rpartition("@")[2]


def _check_name(fields: Any, writer: str, seq: int) -> str:
    """Return the name that an operation gives its writer. Raise RefusedStream."""
    name = fields.get("name") if isinstance(fields, dict) else None
    if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME_CHARACTERS or not name.isprintable():
        raise RefusedStream(f"Operation {seq} of {writer} gives no name.")
    return name.strip()


def _is_moment(text: str) -> bool:
    """Tell whether a text is a time that exists."""
    try:
        return bool(OPERATION_TIME.match(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def _is_valid_field(name: str, value: Any) -> bool:
    """Tell whether a field may have this value."""
    if name == "created":
        return isinstance(value, str) and _is_moment(value)
    if name == "scope":
        return bool(value == SHARED_GLOBAL_SCOPE)
    if name in LIST_FIELDS:
        return (
            isinstance(value, list)
            and len(value) <= 100
            and all(isinstance(one, str) and len(one) <= LONGEST_FIELD for one in value)
        )
    return isinstance(value, str) and len(value) <= LONGEST_FIELD and "\0" not in value


STREAM_FORMAT = 1
# bytes of a segment
LARGEST_SEGMENT = 8 << 20
# operations of a segment
MOST_SEGMENT_OPERATIONS = 20_000
DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}\Z")
SeenStreams = dict[
    str, tuple[int, str]
]  # writer → the newest number that was seen of their stream, the digest of its segment


@dataclass(frozen=True, slots=True)
class StreamSegment:
    """A part of a stream: `operations` numbered `first` and up without a gap, and the digest of the one `previous`
    (empty for the first). `rewrites` is the digest of the newest segment of the stream that this one replaces; `seen`
    what its writer saw of others' streams."""

    writer: str
    first: int
    operations: tuple[Operation, ...]
    previous: str
    rewrites: str = ""
    seen: SeenStreams = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return its bytes."""
        header = {
            "memoranda": "stream",
            "format": STREAM_FORMAT,
            "writer": self.writer,
            "from": self.first,
            "to": self.first + len(self.operations) - 1,
            "previous": self.previous,
            **({"rewrites": self.rewrites} if self.rewrites else {}),
            **({"seen": self.seen} if self.seen else {}),
        }
        lines = [
            json.dumps(header, sort_keys=True, separators=(",", ":")),
            *(one.as_line() for one in self.operations),
        ]
        return "".join(f"{line}\n" for line in lines).encode()


def segment_digest(segment: bytes) -> str:
    """Return the digest of a segment's bytes: 64 hexadecimal digits."""
    return sha256(segment).hexdigest()


def parse_segment(data: bytes, writer: str) -> StreamSegment:
    """Parse a segment in the stream of `writer`, and check every line. Raise RefusedStream."""
    if len(data) > LARGEST_SEGMENT:
        raise RefusedStream(f"A segment of {writer} is larger than {LARGEST_SEGMENT >> 20} MB.")
    head, _, rest = data.partition(b"\n")
    header = _parse_header(head, writer)
    lines = rest.splitlines()
    first, last = header["from"], header["to"]
    if len(lines) > MOST_SEGMENT_OPERATIONS or last - first + 1 != len(lines):
        raise RefusedStream(f"A segment of {writer} does not hold what its header says.")
    operations = tuple(parse_operation(line, writer) for line in lines)
    if any(one.seq != first + place for place, one in enumerate(operations)):
        raise RefusedStream(f"A segment of {writer} has a gap in its numbers.")
    seen = _parse_seen(header.get("seen"))
    return StreamSegment(writer, first, operations, header["previous"], header.get("rewrites", ""), seen)


def require_follows(segment: StreamSegment, seq: int, newest: str) -> None:
    """Raise RefusedStream unless a segment follows the stream whose newest number is `seq`, in the segment with
    the digest `newest` (empty before the first)."""
    if segment.first != seq + 1 or segment.previous != newest:
        raise RefusedStream(f"The stream of {segment.writer} is broken after number {seq}.")


def split_segments(
    writer: str,
    operations: Sequence[Operation],
    previous: str,
    rewrites: str = "",
    seen: SeenStreams | None = None,
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
            segments.append(
                StreamSegment(writer, waiting[0].seq, tuple(waiting), previous, rewrites, seen or {}).to_bytes()
            )
            previous, rewrites, seen, size = segment_digest(segments[-1]), "", {}, 0
            waiting.clear()

    for one in operations:
        length = len(one.as_line().encode()) + 1
        if waiting and (
            size + length > LARGEST_SEGMENT - LONGEST_OPERATION or len(waiting) == MOST_SEGMENT_OPERATIONS
        ):
            close()
        waiting.append(one)
        size += length
    close()
    return segments


def _parse_seen(found: Any) -> SeenStreams:
    """Return what a header says its writer saw, without invalid entries."""
    seen = {}
    for writer, said in found.items() if isinstance(found, dict) else ():
        if WRITER_PATTERN.match(writer) and isinstance(said, list) and len(said) == 2:
            seq, digest = said
            if type(seq) is int and seq > 0 and isinstance(digest, str) and DIGEST_PATTERN.match(digest):
                seen[writer] = (seq, digest)
    return seen


def _parse_header(line: bytes, writer: str) -> dict[str, Any]:
    """Parse the header of a segment. Raise RefusedStream."""
    try:
        found = json.loads(line[:LONGEST_OPERATION])
        known = found["memoranda"] == "stream" and found["writer"] == writer
        numbers = type(found["from"]) is int and type(found["to"]) is int and 0 < found["from"] <= found["to"]
        texts = isinstance(found["previous"], str) and isinstance(found.get("rewrites", ""), str)
    except (ValueError, KeyError, TypeError, RecursionError):
        known = numbers = texts = False
        found = {}
    if not (known and numbers and texts):
        raise RefusedStream(f"A segment of {writer} has no valid header.")
    if found["format"] != STREAM_FORMAT:
        raise RefusedStream(f"{writer} writes a newer form of streams.", "Update Memoranda.")
    return dict(found)


# Merge operations into the state of each record: a pure function of the set of operations, whatever their order.
#
# Of each field the values are kept that no known operation is based on: one of them is the record's, several different
# ones are a conflict. What an author says of a record's being there (forget, restore) holds in the order of their own
# stream; what others say of it is a question. A purge by its author leaves the identity alone, whatever else arrives.


class SharedRecord:
    """One shared record, as far as operations of it are known.

    `values` are the current values of each field by the operation that set them, `replaced` the operations that a newer
    value is based on. `confirmed` is, for each writer, their last confirmation (its number, its time, the values it was
    of). `questions` holds who, not being the author, wants it forgotten or purged. `endorsed` are the writers who took
    it into their own memory."""

    __slots__ = ("added", "confirmed", "endorsed", "forgot", "id", "purged", "questions", "replaced", "values")

    def __init__(self, id: str) -> None:
        self.id = id
        self.added = False
        self.purged = False
        self.values: dict[str, dict[str, Any]] = {}
        self.replaced: dict[str, set[str]] = {}
        self.confirmed: dict[str, tuple[int, str, tuple[str, ...]]] = {}
        # the author's last forget (True) or restore, its number, and the confirmations that they had seen
        self.forgot: tuple[int, bool, tuple[str, ...]] = (0, False, ())
        self.questions: dict[str, dict[str, int]] = {"forget": {}, "purge": {}}
        self.endorsed: set[str] = set()

    @property
    def author(self) -> str:
        return identity_writer(self.id)

    @property
    def kind(self) -> str:
        return identity_kind(self.id)

    @property
    def status(self) -> str:
        """`purged`, `unknown` before its first operation arrived, `forgotten`, or `active`."""
        if self.purged:
            return "purged"
        if not self.added:
            return "unknown"
        return "forgotten" if self.forgot[1] else "active"

    def merge_operation(self, operation: Operation) -> None:
        """Merge one operation; the result does not depend on the order, nor on repetition."""
        if self.purged:
            return
        op, writer = operation.op, operation.writer
        if op == "purge" and operation.own:
            self.__init__(self.id)  # type: ignore[misc]
            self.purged = True
        elif op in ("add", "change"):
            self.added = self.added or op == "add"
            for name, value in operation.fields.items():
                seen = self.replaced.setdefault(name, set())
                seen.update(operation.base.get(name, ()))
                held = self.values.setdefault(name, {})
                for one in seen & held.keys():
                    del held[one]
                if operation.reference not in seen:
                    held[operation.reference] = value
        elif op == "confirm":
            if operation.seq > self.confirmed.get(writer, (0,))[0]:
                self.confirmed[writer] = (operation.seq, operation.at, operation.base.get("", ()))
        elif op in ("forget", "restore") and operation.own:
            if operation.seq > self.forgot[0]:
                self.forgot = (operation.seq, op == "forget", operation.base.get("", ()))
        elif op in self.questions:
            asked = self.questions[op]
            asked[writer] = max(operation.seq, asked.get(writer, 0))
        elif op == "accept":
            self.endorsed.add(writer)

    def current_operations(self, name: str) -> tuple[str, ...]:
        """Return the operations whose values of a field are current, in order."""
        return tuple(sorted(self.values.get(name, {}), key=_reference_order))

    def shown_value(self, name: str) -> Any:
        """Return the shown value of a field: the author's if there are several, else the first; None without one."""
        return self.values[name][self._shown_operation(name)] if self.values.get(name) else None

    def field_writer(self, name: str) -> str:
        """Return who set the shown value of a field; the record's author if it has no value."""
        return identity_writer(self._shown_operation(name)) if self.values.get(name) else self.author

    def _shown_operation(self, name: str) -> str:
        """Return the operation that set the shown value of a field."""
        own = [one for one in self.current_operations(name) if one.endswith(f"@{self.author}")]
        return (own or list(self.current_operations(name)))[0]

    def was_changed_by(self, writer: str) -> bool:
        """Tell whether a writer ever set one of its fields."""
        known = (one for several in (*self.values.values(), *self.replaced.values()) for one in several)
        return any(identity_writer(one) == writer for one in known)

    def shown_fields(self) -> dict[str, Any]:
        """Return the shown value of each field that has one."""
        return {name: value for name in SHARED_FIELDS[self.kind] if (value := self.shown_value(name)) is not None}

    def conflicts(self) -> dict[str, dict[str, Any]]:
        """Return the fields that have several different values, with all of them by operation."""
        return {
            name: {one: held[one] for one in self.current_operations(name)}
            for name, held in self.values.items()
            if len({json.dumps(value, sort_keys=True) for value in held.values()}) > 1
        }

    def unseen_confirmers(self) -> list[str]:
        """Return who confirmed a forgotten record without its author having seen it: a question to the author."""
        if self.status != "forgotten":
            return []
        seen = set(self.forgot[2])
        return sorted(
            writer
            for writer, (seq, _, _) in self.confirmed.items()
            if writer != self.author and f"{seq}@{writer}" not in seen
        )

    def confirmations(self) -> tuple[str, ...]:
        """Return the operations that confirmed the record last, one for each writer."""
        return tuple(f"{seq}@{writer}" for writer, (seq, _, _) in sorted(self.confirmed.items()))

    def to_json(self) -> str:
        """Return the whole record as JSON; equal sets of operations give equal text."""
        if self.purged:
            return json.dumps({"id": self.id, "purged": True}, sort_keys=True, separators=(",", ":"))
        parts = {
            "id": self.id,
            "added": self.added,
            "values": {name: held for name, held in self.values.items() if held},
            "replaced": {name: sorted(several) for name, several in self.replaced.items() if several},
            "confirmed": self.confirmed,
            "forgot": self.forgot,
            "questions": {name: asked for name, asked in self.questions.items() if asked},
            "endorsed": sorted(self.endorsed),
        }
        return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, state: str) -> SharedRecord:
        """Return the record that `to_json` wrote."""
        parts = json.loads(state)
        record = cls(parts["id"])
        if parts.get("purged"):
            record.purged = True
            return record
        record.added = parts["added"]
        record.values = parts["values"]
        record.replaced = {name: set(several) for name, several in parts["replaced"].items()}
        record.confirmed = {writer: (seq, at, tuple(of)) for writer, (seq, at, of) in parts["confirmed"].items()}
        seq, forgot, seen = parts["forgot"]
        record.forgot = (seq, forgot, tuple(seen))
        for name, asked in parts["questions"].items():
            record.questions[name] = asked
        record.endorsed = set(parts["endorsed"])
        return record

    def to_packed(self) -> str:
        """Return a short text from which `from_packed` makes the record again; empty for a purged record. Equal
        records give equal text."""
        if self.purged:
            return ""
        own = f"@{self.author}"
        values: dict[str, dict[str, Any]] = {}
        for name, held in self.values.items():
            for one, value in held.items():
                values.setdefault(one.removesuffix(own), {})[name] = value
        parts = {
            "v": values,
            "r": {name: sorted(several) for name, several in self.replaced.items() if several},
            "c": self.confirmed,
            "f": self.forgot if self.forgot[0] else 0,
            "q": {name: asked for name, asked in self.questions.items() if asked},
            "e": sorted(self.endorsed),
            "u": not self.added,
        }
        kept = {name: part for name, part in parts.items() if part}
        return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_packed(cls, id: str, text: str) -> SharedRecord:
        """Return the record with this identity that `to_packed` wrote."""
        record = cls(id)
        if not text:
            record.purged = True
            return record
        parts = json.loads(text)
        record.added = "u" not in parts
        for one, values in parts.get("v", {}).items():
            reference = one if "@" in one else f"{one}@{record.author}"
            for name, value in values.items():
                record.values.setdefault(name, {})[reference] = value
        record.replaced = {name: set(several) for name, several in parts.get("r", {}).items()}
        record.confirmed = {writer: (seq, at, tuple(of)) for writer, (seq, at, of) in parts.get("c", {}).items()}
        if "f" in parts:
            seq, forgot, seen = parts["f"]
            record.forgot = (seq, forgot, tuple(seen))
        record.questions |= parts.get("q", {})
        record.endorsed = set(parts.get("e", ()))
        return record


def _reference_order(reference: str) -> tuple[str, int]:
    """Return the order of an operation's name: by writer, then by number."""
    seq, _, writer = reference.partition("@")
    return writer, int(seq)


def join_value(value: object, between: str) -> str:
    """Return the text of a field, or of all its members; empty where it is not known."""
    return between.join(value) if isinstance(value, list) else str(value or "")
