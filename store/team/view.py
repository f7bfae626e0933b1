"""Merge operations into the state of each record: a pure function of the set of operations, whatever their order.

Of each field the values are kept that no known operation is based on: one of them is the record's, several different
ones are a conflict. What an author says of a record's being there (forget, restore) holds in the order of their own
stream; what others say of it is a question. A purge by its author leaves the identity alone, whatever else arrives.
"""

import json
from typing import Any

from store.team.operation import FIELDS, Operation, author_of, kind_of


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
        return author_of(self.id)

    @property
    def kind(self) -> str:
        return kind_of(self.id)

    @property
    def status(self) -> str:
        """`purged`, `unknown` before its first operation arrived, `forgotten`, or `active`."""
        if self.purged:
            return "purged"
        if not self.added:
            return "unknown"
        return "forgotten" if self.forgot[1] else "active"

    def take(self, operation: Operation) -> None:
        """Merge one operation; again, or in another order, comes to the same."""
        if self.purged:
            return
        op, writer = operation.op, operation.writer
        if op == "purge" and operation.own:
            self._erase()
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

    def heads(self, name: str) -> tuple[str, ...]:
        """Return the operations whose values of a field are current, in order."""
        return tuple(sorted(self.values.get(name, {}), key=_number))

    def value(self, name: str) -> Any:
        """Return the value of a field that is shown: of several the author's, else the first; None without one."""
        return self.values[name][self._shown(name)] if self.values.get(name) else None

    def writer(self, name: str) -> str:
        """Return who set the value of a field that is shown; the author of the record for one without a value."""
        return author_of(self._shown(name)) if self.values.get(name) else self.author

    def _shown(self, name: str) -> str:
        own = [one for one in self.heads(name) if one.endswith(f"@{self.author}")]
        return (own or list(self.heads(name)))[0]

    def changed_by(self, writer: str) -> bool:
        """Return whether a writer ever set one of its fields."""
        known = (one for several in (*self.values.values(), *self.replaced.values()) for one in several)
        return any(author_of(one) == writer for one in known)

    def fields(self) -> dict[str, Any]:
        """Return the shown value of each field that has one."""
        return {name: value for name in FIELDS[self.kind] if (value := self.value(name)) is not None}

    def conflicts(self) -> dict[str, dict[str, Any]]:
        """Return the fields that have several different values, with all of them by operation."""
        return {
            name: {one: held[one] for one in self.heads(name)}
            for name, held in self.values.items()
            if len({json.dumps(value, sort_keys=True) for value in held.values()}) > 1
        }

    def confirmed_since(self) -> list[str]:
        """Return who confirmed a forgotten record without its author having seen that: a question to them."""
        if self.status != "forgotten":
            return []
        seen = set(self.forgot[2])
        return sorted(
            writer
            for writer, (seq, _, _) in self.confirmed.items()
            if writer != self.author and f"{seq}@{writer}" not in seen
        )

    def confirmations(self) -> tuple[str, ...]:
        """Return the operations that confirmed it last, one a writer."""
        return tuple(f"{seq}@{writer}" for writer, (seq, _, _) in sorted(self.confirmed.items()))

    def state(self) -> str:
        """Return all of it as JSON; equal sets of operations give equal text."""
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
    def of(cls, state: str) -> "SharedRecord":
        """Return the record that `state` gave this text."""
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

    def packed(self) -> str:
        """Return what `unpacked` makes the record of again, half as long as its state; empty for a purged one. Equal
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
    def unpacked(cls, id: str, text: str) -> "SharedRecord":
        """Return the record with this identity that `packed` gave this text."""
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

    def _erase(self) -> None:
        self.__init__(self.id)  # type: ignore[misc]
        self.purged = True


def _number(reference: str) -> tuple[str, int]:
    """Return the order of operations' names: by writer, then by number."""
    seq, _, writer = reference.partition("@")
    return writer, int(seq)
