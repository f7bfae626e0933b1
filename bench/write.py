"""What a write costs: an INSERT of one row against `Facts.remember`, with the parts of the difference.

    python -m bench.write [--writes 500] [--folder PATH]

Seven ways to write the same facts alternate on the same disk, each with the connection settings of a memory
(synchronous=FULL among them). Each adds one part to the previous one, so differences of medians are the parts:

    bare        one INSERT into the table alone, in a transaction
    indexes     the same with the table's indexes
    corpus      the same with the triggers, the corpus and its full-text index
    door        the same INSERT through `Database.write`, with a session and nothing to redact or to record
    history     the same, and the session's changes become a step of history
    redaction   the same, and its texts are redacted
    remember    `Facts.remember`: the same, and its checks and the search for the same fact

Aim: redaction, corpus and history together add at most 0.5 ms to the bare insert."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

import apsw

from bench.store import Writer, copy, heading, memory, quantile, verdict
from store.database.connection import CONNECTION_PRAGMAS
from store.database.database import Transaction
from store.database.values import Json, Verbatim
from store.memory import Memory
from store.records.facts import text_hash

AIM = 0.5  # ms
COLUMNS = (
    "domain, fact, text_hash, confidence, source, scope, status, created_at, last_confirmed_at, importance, pinned,"
    " origin, evidence, tags"
)
INSERT = f"INSERT INTO facts({COLUMNS}) VALUES ({', '.join('?' * (COLUMNS.count(',') + 1))})"
PARTS = (
    ("indexes of the table", "indexes", "bare"),
    ("corpus and its full-text index", "corpus", "indexes"),
    ("the door: transaction, session", "door", "corpus"),
    ("history: changeset, rows, digest", "history", "door"),
    ("redaction of a fact's texts", "redaction", "history"),
    ("remember: checks, the same fact", "remember", "redaction"),
)
AIMED = ("corpus", "history", "redaction")


class Plain(Transaction):
    """A write whose session is recorded and discarded."""

    def _commit_step(self) -> None:
        self._connection.execute("COMMIT")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=int, default=500)
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    options = parser.parse_args(arguments)
    heading("write", f"{options.writes} writes each in turn, facts of 6 to 24 words")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
        print(f"on {folder}, commit alone {_commit_alone(folder) * 1e3:.2f} ms (one page, synchronous=FULL)")
        _table("a new memory", folder, None, options.writes)
        _table("100,000 facts, 200,000 entries", folder, memory(100_000, 200_000), options.writes)


def _table(title: str, folder: str, source: str | None, writes: int) -> None:
    ways: dict[str, Callable[[str], object]] = {}
    closing: list[Callable[[], None]] = []
    for name in ("bare", "indexes", "corpus", "door", "history", "redaction", "remember"):
        path = os.path.join(folder, f"{name}-{'large' if source else 'new'}.db")
        ways[name], close = _way(name, path, source)
        closing.append(close)
    writer = Writer(11)
    texts = [f"{writer.sentence(6, 24)} ({number})" for number in range(writes)]
    times: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number, text in enumerate(texts):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:  # rotate the order: each affects the disk state of the next
            start = time.perf_counter()
            ways[name](text)
            times[name].append((time.perf_counter() - start) * 1e3)
    for close in closing:
        close()
    middle = {name: statistics.median(values) for name, values in times.items()}
    print(f"\n{title:34} median    p95   mean  ms")
    for name, values in times.items():
        print(f"  {name:32} {middle[name]:6.3f} {quantile(values, 0.95):6.3f} {statistics.mean(values):6.3f}")
    print(f"  {'what each part adds':32} median of pairs")
    shares = {name: _between(times[name], times[before]) for _, name, before in PARTS}
    for label, name, _ in PARTS:
        print(f"    {label:32} {shares[name]:6.3f}")
    added = sum(shares[name] for name in AIMED)
    print(f"  {'redaction + corpus + history':34} {added:6.3f}  {verdict(added, AIM, ' ms')}")
    print(f"  {'remember − bare, everything':34} {middle['remember'] - middle['bare']:6.3f}")


def _between(more: Sequence[float], less: Sequence[float]) -> float:
    """Return the median difference of writes made side by side."""
    return statistics.median(a - b for a, b in zip(more, less, strict=True))


def _way(name: str, path: str, source: str | None) -> tuple[Callable[[str], object], Callable[[], None]]:
    """Return (a function that writes one fact, a function that closes its file)."""
    if source:
        copy(source, path)
    opened = Memory.open(path, "cli")
    database, connection = opened.database, opened.database.connection
    if name in ("bare", "indexes"):
        _strip(connection, indexes=name == "bare")

    def row(at: str, text: str) -> tuple[object, ...]:
        known = text_hash(text)
        return (
            "general",
            text,
            known,
            "high",
            "explicit",
            "project",
            "active",
            at,
            at,
            0.5,
            0,
            "user",
            "[]",
            "[]",
        )

    def plain(text: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(INSERT, row(database.clock(), text))
        connection.execute("COMMIT")

    def door(text: str) -> None:
        with Plain(database, "user", "remember") as write:
            write._connection.execute(INSERT, row(write.at, text))

    def history(text: str) -> None:
        with Transaction(database, "user", "remember") as write:
            write._connection.execute(INSERT, row(write.at, text))

    def redaction(text: str) -> None:
        with Transaction(database, "user", "remember") as write:
            fixed = {1, 9, 10, 11, 12, 13}  # text, numbers, origin and lists; the rest is ours
            values = [v if i in fixed else Verbatim(v) for i, v in enumerate(row(write.at, text))]
            values[12] = values[13] = Json([])
            write.execute(INSERT, values)  # type: ignore[arg-type]

    def remember(text: str) -> None:
        opened.facts.remember(text)

    ways = {"door": door, "history": history, "redaction": redaction, "remember": remember}
    return ways.get(name, plain), opened.close


def _strip(connection: apsw.Connection, indexes: bool) -> None:
    """Remove the triggers, and optionally the indexes, from the table of facts; keep its columns and rows."""
    kinds = "'trigger', 'index'" if indexes else "'trigger'"
    found = connection.execute(
        f"SELECT type, name FROM sqlite_schema WHERE tbl_name = 'facts' AND type IN ({kinds}) AND sql NOTNULL"
    ).fetchall()
    for kind, name in found:
        connection.execute(f"DROP {kind} {name}")


def _commit_alone(folder: str) -> float:
    """Return the seconds of a transaction of one small row: the disk's minimum for every writer."""
    path = os.path.join(folder, "commit.db")
    connection = apsw.Connection(path)
    connection.pragma("journal_mode", "wal")
    for name, value in CONNECTION_PRAGMAS:
        connection.pragma(name, value)
    connection.execute("CREATE TABLE one(n)")
    times = []
    for number in range(200):
        start = time.perf_counter()
        connection.execute("INSERT INTO one VALUES (?)", (number,))
        times.append(time.perf_counter() - start)
    connection.close()
    return statistics.median(times)


if __name__ == "__main__":
    main()
