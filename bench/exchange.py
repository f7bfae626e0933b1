"""What export and import cost, against a plain dump of the same tables and its load.

    python -m bench.exchange [--facts 100000] [--folder PATH]

The memory has so many facts, each written through the door in steps of a hundred, with full history. The dump is what
SQLite itself would make of the same tables: INSERT statements with quoted values, written to a file. Its load runs them
in a new memory, through the same triggers, in one transaction. All alternate on the same disk, so the ratios of one run
are under the same load. The backup is created, restored and compared row by row, as always.

Aims: export at most 1.5 × the dump, import at most 3 × its load."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from bench.store import Writer, heading, pairs, verdict
from store.database.values import Json, Verbatim
from store.exchange import backups as backup
from store.exchange import exporter
from store.exchange.export_schema import EXPORT_TABLES
from store.exchange.importer import Import
from store.memory import Memory
from store.records.facts import text_hash

EXPORT_AIM, IMPORT_AIM = 1.5, 3.0
STEP = 100  # facts of one step


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    parser.add_argument("--import", dest="path", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.path:
        return _import_alone(options.path)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
        source = os.path.join(folder, "memory.db")
        _tell(source, options.facts)
        heading("exchange", f"{options.facts:,} facts with their history, {os.path.getsize(source) >> 20} MB")
        times: dict[str, list[float]] = {}
        for number in range(options.rounds):
            _round(folder, source, number, times)
        _table(times)
        peak = subprocess.run(
            [sys.executable, "-m", "bench.exchange", "--import", os.path.join(folder, "export.json")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        print(f"\nlargest memory of a process that imports it: {peak.strip()}")
    return None


def _tell(path: str, count: int) -> None:
    """Write a memory of `count` facts, all of them in history."""
    writer = Writer(5)
    with Memory.open(path) as memory:
        memory.database.connection.pragma("synchronous", 0)
        for start in range(0, count, STEP):
            with memory.database.write("agent", "told") as write:
                for number in range(start, min(start + STEP, count)):
                    text = f"{writer.sentence(6, 24)} ({number})"
                    write.insert(
                        "facts",
                        domain=Verbatim("work"),
                        fact=text,
                        text_hash=Verbatim(text_hash(text)),
                        confidence=Verbatim("high"),
                        source=Verbatim("explicit"),
                        scope=Verbatim("project"),
                        status=Verbatim("active"),
                        created_at=Verbatim(write.at),
                        last_confirmed_at=Verbatim(write.at),
                        importance=0.5,
                        pinned=0,
                        origin="agent",
                        evidence=Json([]),
                        tags=Json([]),
                    )


def _round(folder: str, source: str, number: int, times: dict[str, list[float]]) -> None:
    dump, document = os.path.join(folder, "dump.sql"), os.path.join(folder, "export.json")
    packed = os.path.join(folder, "export.json.gz")

    def new(name: str) -> str:
        return os.path.join(folder, f"{name}-{number}.db")

    ways: dict[str, Callable[[], object]] = {
        "dump": lambda: _dump(source, dump),
        "export": lambda: _export(source, document, False),
        "export, packed": lambda: _export(source, packed, True),
        "load": lambda: _load(dump, new("loaded")),
        "import": lambda: _import(document, new("imported")),
        "import, packed": lambda: _import(packed, new("unpacked")),
        "import, merged": lambda: _import(document, new("merged"), "something of its own"),
        "import again": lambda: _import(document, new("imported")),
        "backup": lambda: _backup(source),
    }
    for name, way in ways.items():
        start = time.perf_counter()
        way()
        times.setdefault(name, []).append(time.perf_counter() - start)
    for name in ("loaded", "imported", "unpacked", "merged"):
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(new(name) + ending):
                os.unlink(new(name) + ending)


def _dump(source: str, path: str) -> None:
    with Memory.open(source) as memory, open(path, "w", encoding="utf-8") as file:
        connection = memory.database.connection
        for table in EXPORT_TABLES:
            names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            quoted = " || ',' || ".join(f"quote({name})" for name in names)
            for (values,) in connection.execute(f"SELECT {quoted} FROM {table}"):
                file.write(f"INSERT INTO {table} VALUES({values});\n")
        file.flush()
        os.fsync(file.fileno())


def _load(path: str, target: str) -> None:
    with Memory.open(target) as memory, open(path, encoding="utf-8") as file:
        connection = memory.database.connection
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA defer_foreign_keys = ON")
        statement = ""
        for line in file:  # texts may contain line breaks
            statement += line
            if line.endswith(");\n"):
                connection.execute(statement)
                statement = ""
        connection.execute("COMMIT")


def _export(source: str, path: str, compressed: bool) -> None:
    with Memory.open(source) as memory:
        exporter.save_export(memory.database, path, True, compressed)


def _import(path: str, target: str, own: str = "") -> None:
    with Memory.open(target) as memory:
        if own:
            memory.facts.remember(own)
        with Import(memory.database, path) as found:
            if found.changes:
                found.apply_import()


def _backup(source: str) -> None:
    with Memory.open(source) as memory:
        backup.make_backup(memory.database)


def _import_alone(path: str) -> None:
    """Import in a process of its own, and print its peak memory."""
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        _import(path, os.path.join(folder, "memory.db"))
    print(
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; {os.path.getsize(path) >> 20} MB document"
    )


def _table(times: dict[str, list[float]]) -> None:
    floors = {"export": ("dump", EXPORT_AIM), "import": ("load", IMPORT_AIM)}
    print(f"{'':16}{'best':>9}  ratio")
    for name, taken in times.items():
        floor, aim = floors.get(name, (floors.get(name.split(",")[0], ("", 0))[0], None))
        ratio = pairs(taken, times[floor]) if floor in times else None
        told = f"{ratio:5.2f} × the {floor}  {verdict(ratio, aim, ' ×')}" if ratio is not None else ""
        print(f"{name:16}{min(taken):7.2f} s  {told}".rstrip())


if __name__ == "__main__":
    main()
