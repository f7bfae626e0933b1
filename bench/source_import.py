"""Importing the memory of each tool: duration and peak memory of so many records.

    python -m bench.source_import [--records 10000] [--sources engram mem0 …]

Each source is generated in the tool's form and imported in a process of its own, into a new memory: what it takes to
see it, to bring it in, and to find that all of it is known. Agents that keep conversations alone bring turns."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

from bench.store import heading
from store.base.clock import from_ms
from store.base.vocabulary import SOURCE_NAMES

CHILD = """
import json, os, resource, sys, time
from store.memory import Memory
from store.tools.source_import import SourceImport
name, path, file = sys.argv[1:]
with Memory.open(file) as memory:
    times = []
    def spent(work):
        start, used = time.perf_counter(), sum(os.times()[:2])
        made = work()
        times.append((time.perf_counter() - start, sum(os.times()[:2]) - used))
        return made
    source = SourceImport(memory, name, path)
    seen = spent(source.look)
    done = spent(source.apply)
    again = SourceImport(memory, name, path)
    spent(again.look)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
print(json.dumps({"came": done.proposed + done.turns, "times": times, "peak": peak}))
"""
START = 1_780_000_000_000  # milliseconds; a turn a minute
WORDS = (
    "tide port harbour index query ledger rate table cache branch deploy parser export import chart level".split()
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--sources", nargs="*", default=list(SOURCE_NAMES), choices=SOURCE_NAMES)
    options = parser.parse_args(arguments)
    heading(
        "source_import", f"{options.records:,} records of each source; seconds, and of a processor in brackets"
    )
    for name in options.sources:
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            os.mkdir(os.path.join(folder, "source"))
            os.mkdir(os.path.join(folder, "ours"))
            path = MAKERS[name](os.path.join(folder, "source"), options.records)
            command = [sys.executable, "-c", CHILD, name, path, os.path.join(folder, "ours", "memory.db")]
            result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            parts = "  ".join(
                f"{what} {seconds:6.1f} s ({used:5.1f})"
                for what, (seconds, used) in zip(("seen", "brought", "again"), result["times"], strict=True)
            )
            print(f"{name:20} {result['came']:7,}  {parts}  peak {result['peak']:4.0f} MB", flush=True)


def _text(number: int) -> str:
    words = [WORDS[(number // len(WORDS) ** place) % len(WORDS)] for place in range(4)]
    return f"The {' '.join(words)} of service {number} is kept by host h{number % 97}."


def _database(path: str, table: str, columns: str, rows: list[tuple[object, ...]]) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {table}({columns})")
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    connection.close()
    return path


def _files(folder: str, count: int, text: Callable[[int], str], each: int = 1) -> str:
    for first in range(0, count, each):
        with open(os.path.join(folder, f"n{first}.md"), "w", encoding="utf-8") as file:
            file.writelines(text(number) for number in range(first, min(first + each, count)))
    return folder


def _lines(path: str, lines: list[dict[str, object]]) -> str:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def _claude_code(folder: str, count: int) -> str:
    os.mkdir(os.path.join(folder, "memory"))
    head = "---\nname: n{0}\nmetadata:\n  type: project\n---\n{1}\n"
    _files(os.path.join(folder, "memory"), count, lambda number: head.format(number, _text(number)))
    return folder


def _codex(folder: str, count: int) -> str:
    lines: list[dict[str, object]] = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/x"}}]
    for number in range(count):
        part = {"type": "input_text", "text": _text(number)}
        payload = {"type": "message", "role": "user", "id": f"m{number}", "content": [part]}
        lines.append({"type": "response_item", "timestamp": from_ms(START + number * 60_000), "payload": payload})
    return _lines(os.path.join(folder, "rollout.jsonl"), lines)


def _gemini(folder: str, count: int) -> str:
    lines: list[dict[str, object]] = [{"sessionId": "s", "kind": "main"}]
    lines += [
        {
            "id": f"m{number}",
            "type": "user",
            "content": _text(number),
            "timestamp": from_ms(START + number * 60_000),
        }
        for number in range(count)
    ]
    return _lines(os.path.join(folder, "session.jsonl"), lines)


def _opencode(folder: str, count: int) -> str:
    path = os.path.join(folder, "opencode.db")
    _database(path, "session", "id, parent_id, directory", [("s", None, "/x")])
    numbers = range(count)
    _database(
        path,
        "message",
        "id, time_created, data",
        [(f"m{n}", START + n * 60_000, '{"role":"user"}') for n in numbers],
    )
    parts = [(f"m{n}", "s", json.dumps({"type": "text", "text": _text(n)})) for n in numbers]
    return _database(path, "part", "message_id, session_id, data", parts)


def _openclaw(folder: str, count: int) -> str:
    with open(os.path.join(folder, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.writelines(f"- {_text(number)}\n" for number in range(count))
    return folder


def _engram(folder: str, count: int) -> str:
    rows = [(n + 1, "fact", _text(n), "2026-08-03 09:15:00") for n in range(count)]
    return _database(
        os.path.join(folder, "engram.db"),
        "observations",
        "id INTEGER PRIMARY KEY, type, content, created_at",
        rows,
    )


def _claude_mem(folder: str, count: int) -> str:
    rows = [(n + 1, f"Title {n}", _text(n), '["a"]', 1785748560000) for n in range(count)]
    columns = "id INTEGER PRIMARY KEY, title, narrative, concepts, created_at_epoch"
    return _database(os.path.join(folder, "claude-mem.db"), "observations", columns, rows)


def _basic_memory(folder: str, count: int) -> str:
    return _files(folder, count, lambda number: f"- [fact] {_text(number)} #tag (context)\n", 100)


def _mcp_memory_service(folder: str, count: int) -> str:
    rows = [(n + 1, f"{n:064x}", _text(n), "a,b", 1785748500.25) for n in range(count)]
    columns = "id INTEGER PRIMARY KEY, content_hash, content, tags, created_at"
    return _database(os.path.join(folder, "sqlite_vec.db"), "memories", columns, rows)


def _mem0(folder: str, count: int) -> str:
    rows = [(f"m{n}", _text(n), "ADD", "2026-08-03T09:15:01+00:00", 0) for n in range(count)]
    return _database(
        os.path.join(folder, "history.db"), "history", "memory_id, new_memory, event, created_at, is_deleted", rows
    )


def _server_memory(folder: str, count: int) -> str:
    lines: list[dict[str, object]] = [
        {"type": "entity", "name": f"e{n}", "entityType": "t", "observations": [_text(n)]} for n in range(count)
    ]
    return _lines(os.path.join(folder, "memory.jsonl"), lines)


def _okf(folder: str, count: int) -> str:
    return _files(folder, count, lambda number: f"---\ntype: fact\n---\n\n- [fact] {_text(number)}\n")


def _markdown(folder: str, count: int) -> str:
    return _files(folder, count, lambda number: f"- {_text(number)}\n", 100)


MAKERS: dict[str, Callable[[str, int], str]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "openclaw": _openclaw,
    "engram": _engram,
    "claude-mem": _claude_mem,
    "basic-memory": _basic_memory,
    "mcp-memory-service": _mcp_memory_service,
    "mem0": _mem0,
    "server-memory": _server_memory,
    "okf": _okf,
    "markdown": _markdown,
    "obsidian": _markdown,
}

if __name__ == "__main__":
    main()
