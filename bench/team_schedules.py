"""Random schedules of writers who add, change, confirm, forget, restore and purge shared records, and exchange now and
then: each writes upon what they know. Used by `bench.team` and by the tests."""

from __future__ import annotations

import random

from store.team.stream import Operation, SharedRecord

MOMENT = "2026-11-25T12:00:00.000Z"
WRITERS = tuple(letter * 12 for letter in "abcde")


class Writer:
    """One writer: the operations that they know, and the records that these make."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seq = 0
        self.known: dict[str, Operation] = {}
        self.records: dict[str, SharedRecord] = {}

    def take(self, operation: Operation) -> None:
        if operation.reference not in self.known:
            self.known[operation.reference] = operation
            self.records.setdefault(operation.id, SharedRecord(operation.id)).merge_operation(operation)

    def act(self, dice: random.Random) -> None:
        """Do something with one of the known records, or add one."""
        live = [one for one in self.records.values() if one.status in ("active", "forgotten")]
        record = dice.choice(live) if live and dice.random() < 0.75 else None
        if record is None:
            self._write(
                "add", f"F{self.seq + 1}@{self.name}", {"fact": f"{self.name} {self.seq}", "domain": "work"}
            )
            return
        own = record.author == self.name
        op = dice.choices(
            ("change", "confirm", "accept", "forget", "restore" if own else "accept", "purge"), (6, 2, 2, 2, 2, 1)
        )[0]
        base: dict[str, tuple[str, ...]] = {}
        fields = {}
        if op == "change":
            name = dice.choice(("fact", "domain", "tags"))
            fields[name] = [f"tag{dice.randrange(9)}"] if name == "tags" else f"{self.name} {self.seq}"
            base[name] = record.current_operations(name)
        elif op == "confirm":
            base[""] = record.current_operations("fact")
        elif op == "forget":
            base[""] = record.confirmations()
        self._write(op, record.id, fields, base)

    def _write(
        self, op: str, id: str, fields: dict[str, object], base: dict[str, tuple[str, ...]] | None = None
    ) -> None:
        self.seq += 1
        based = {name: several for name, several in (base or {}).items() if several}
        self.take(Operation(self.name, self.seq, MOMENT, op, id, dict(fields), based))

    def view(self) -> dict[str, str]:
        """Return the state of every record, by identity."""
        return {id: record.to_json() for id, record in sorted(self.records.items())}


def run(seed: int, writers: int = 5, steps: int = 60) -> list[Writer]:
    """Run one schedule to its end; every writer knows all operations then, each in an order of their own."""
    dice = random.Random(seed)
    several = [Writer(name) for name in WRITERS[:writers]]
    for _ in range(steps):
        one = dice.choice(several)
        if dice.random() < 0.7:
            one.act(dice)
        else:
            other = dice.choice(several)
            streams = sorted({operation.writer for operation in other.known.values()})
            for name in dice.sample(streams, len(streams)):
                _fetch(one, other, name, dice.randrange(1, 9))
    every = {reference: operation for one in several for reference, operation in one.known.items()}
    for one in several:
        rest = [operation for reference, operation in every.items() if reference not in one.known]
        dice.shuffle(rest)
        for operation in rest:
            one.take(operation)
    return several


def _fetch(one: Writer, other: Writer, writer: str, most: int) -> None:
    """Take the next few operations of a writer's stream from somebody who knows them."""
    known = sum(operation.writer == writer for operation in one.known.values())
    for seq in range(known + 1, known + 1 + most):
        found = other.known.get(f"{seq}@{writer}")
        if found is None:
            break
        one.take(found)
