"""One integer for any record, made of its id and its kind. Lists, the corpus and the screen use it.

`key = id * 16 + the kind's number`; the schema's views use the same numbers, so they can never be reassigned.
"""

NUMBERS = {
    "fact": 0,
    "decision": 1,
    "commit": 2,
    "event": 3,
    "iteration": 4,
    "task": 5,
    "checkpoint": 6,
    "turn": 7,
    "document": 8,
    "summary": 9,
}
"""Of the kinds that are searched."""
UNSEARCHED = {"proposal": 10, "global": 11}  # a global fact is searched in the memory that it is in
_EVERY = {**NUMBERS, **UNSEARCHED}
_KINDS = {number: kind for kind, number in _EVERY.items()}


ROW = (1 << 40) - 1
"""The bits of a passage's id that are the key of its record; the bits above count the passages of one text, from 0."""


def pack(kind: str, record_id: int) -> int:
    """Return the key of a record."""
    return record_id * 16 + _EVERY[kind]


def kind_of(key: int) -> str:
    """Return the kind of a key."""
    return _KINDS[key % 16]


def unpack(key: int) -> tuple[str, int]:
    """Return (kind, id) of a key."""
    return _KINDS[key % 16], key // 16
