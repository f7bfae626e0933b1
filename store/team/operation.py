"""One operation on a shared record, as its line in a stream has it.

A record's identity is its number at its author with the author's writer: `F2@3c7vjyhh2avx`. An operation's name is its
number in its writer's stream: `14@3c7vjyhh2avx`. `base` names, by field, the operations whose values the writer saw
when they wrote: what nobody based a newer value on is current, and two current values of one field are a conflict.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from store.base.errors import MemorandaError

OPERATIONS = ("add", "change", "confirm", "accept", "forget", "restore", "purge", "gone", "name")
KINDS = {"F": "fact", "D": "decision"}
# kind → its shared fields, its own words first
FIELDS = {
    "fact": ("fact", "domain", "confidence", "tags", "created", "scope"),
    "decision": ("title", "chosen", "context", "alternatives", "rationale", "impact", "created"),
}
LISTS = ("tags", "alternatives")
GLOBAL = "global"  # the scope of a fact that holds in every project; any other is of its project, and not said
WRITER = re.compile(r"[a-z2-7]{12}\Z")
RECORD = re.compile(r"([FD])([1-9]\d{0,11})@([a-z2-7]{12})\Z")
REFERENCE = re.compile(r"[1-9]\d{0,11}@[a-z2-7]{12}\Z")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z\Z")
LONGEST_LINE = 256 << 10  # bytes
LONGEST_TEXT = 32_000  # characters of one field
MOST_BASES = 64  # operations that one is based on
NAME_CHARACTERS = 60


class Refused(MemorandaError):
    """A line or a segment that another writer sent is not what it should be; nothing of it is taken."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class Operation:
    """What a `writer` did as number `seq` of their stream, by their clock `at`: `op` (one of OPERATIONS) on record
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

    def line(self) -> str:
        """Return its line in a stream, without a line break; equal operations have equal lines."""
        parts: dict[str, Any] = {"seq": self.seq, "at": self.at, "op": self.op, "id": self.id}
        if self.fields:
            parts["fields"] = self.fields
        if self.base:
            parts["base"] = {name: list(several) for name, several in self.base.items()}
        return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parsed(line: bytes, writer: str) -> Operation:
    """Return the operation of a line in the stream of `writer`, checked in each part. Raise Refused."""
    if len(line) > LONGEST_LINE:
        raise Refused(f"A line of {writer} is longer than {LONGEST_LINE >> 10} KB.")
    try:
        found = json.loads(line)
        seq, at, op, id = found["seq"], found["at"], found["op"], found["id"]
        fields, base = found.get("fields", {}), found.get("base", {})
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refused(f"A line of {writer} is no operation.") from None
    if type(seq) is not int or not 0 < seq < 1 << 40 or not isinstance(at, str) or not _moment(at):
        raise Refused(f"A line of {writer} has no number or no time.")
    if op not in OPERATIONS or not isinstance(id, str):
        raise Refused(f"Operation {seq} of {writer} is of no known kind.")
    if op == "name":
        return Operation(writer, seq, at, op, "", {"name": _name(fields, writer, seq)})
    record = RECORD.match(id)
    if not record or not isinstance(fields, dict) or not isinstance(base, dict):
        raise Refused(f"Operation {seq} of {writer} is about no record.")
    if op in ("add", "restore") and record[3] != writer:
        raise Refused(f"Operation {seq} of {writer} speaks for another writer's {id}.")
    kind = KINDS[record[1]]
    for name, value in fields.items():
        if name not in FIELDS[kind] or not _valid(name, value):
            raise Refused(f"Operation {seq} of {writer} has a field that a {kind} does not have.")
    if op == "add" and not all(fields.get(name) for name in FIELDS[kind][: 1 if kind == "fact" else 2]):
        raise Refused(f"Operation {seq} of {writer} adds a {kind} without words.")
    bases = {}
    for name, several in base.items():
        if name not in (*FIELDS[kind], "") or not isinstance(several, list) or len(several) > MOST_BASES:
            raise Refused(f"Operation {seq} of {writer} is based on nothing known.")
        if not all(isinstance(one, str) and REFERENCE.match(one) for one in several):
            raise Refused(f"Operation {seq} of {writer} is based on nothing known.")
        bases[name] = tuple(several)
    return Operation(writer, seq, at, op, id, fields, bases)


def kind_of(id: str) -> str:
    """Return the kind of record that an identity names."""
    return KINDS[id[0]]


def author_of(id: str) -> str:
    """Return the writer whose record an identity names."""
    return id.rpartition("@")[2]


def _name(fields: Any, writer: str, seq: int) -> str:
    name = fields.get("name") if isinstance(fields, dict) else None
    if not isinstance(name, str) or not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
        raise Refused(f"Operation {seq} of {writer} gives no name.")
    return name.strip()


def _moment(text: str) -> bool:
    """Return whether a text is a time that there is."""
    from datetime import datetime

    try:
        return bool(MOMENT.match(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def _valid(name: str, value: Any) -> bool:
    if name == "created":
        return isinstance(value, str) and _moment(value)
    if name == "scope":
        return bool(value == GLOBAL)
    if name in LISTS:
        return (
            isinstance(value, list)
            and len(value) <= 100
            and all(isinstance(one, str) and len(one) <= LONGEST_TEXT for one in value)
        )
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and "\0" not in value
