"""How long the figures of the health pane take to measure, by the size of the memory.

    python -m bench.health [--facts 1000 100000 1000000] [--turns 20] [--runs 5]

Memories with so many facts, confirmed over two years, as many turns in sessions of `--turns`, 500 contexts of twenty
records and 200 searches. The rows are inserted without the triggers: searchable rows are only counted. `gap` is the
longest time that another thread of the process could not run meanwhile: the delay of a key.

Aim: a gap of 15 ms at any size, and a second at a million."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence

from bench.store import heading, verdict
from store.memory import Memory
from store.upkeep.metrics import measure

GAP_AIM, AIM = 15.0, 1000.0  # ms
TICK = 0.001  # seconds
ROWS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
INSERT INTO facts(domain, fact, text_hash, confidence, source, scope, status, created_at, last_confirmed_at, pinned,
    origin)
  SELECT 'work', 'fact ' || i, hex(randomblob(16)), iif(i % 5, 'high', iif(i % 2, 'medium', 'low')), 'explicit',
    'project', iif(i % 20, 'active', 'superseded'), d, d, i % 50 = 0, 'user'
  FROM (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i * 7919 % 1051200) || ' minutes') AS d FROM n);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)
INSERT INTO turns(session, number, role, speaker, text, at, origin, tokens)
  SELECT 'session ' || (i / :turns), i % :turns + 1, iif(i % 2, 'assistant', 'user'), '', 'turn ' || i,
    strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'agent', 40 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO contexts(at, session, turn, question, tokens, answered)
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'session ' || (i % 9), i, 'why', 1200, 1 FROM n;
INSERT INTO sent(context, key, tokens, cited) SELECT c.id, f.id * 16, 20, f.id % 3 = 0 FROM contexts c, facts f
  WHERE f.id <= 20;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO searches(at, milliseconds, meaning, found)
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), i % 40, i % 2, i % 7 FROM n;
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--turns", type=int, default=20, help="in a session")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(arguments)
    heading("health", f"{options.runs} runs")
    print(f"{'facts and turns':>16}{'measured in':>16}{'gap':>12}")
    for count in options.facts:
        with tempfile.TemporaryDirectory() as folder, Memory.open(os.path.join(folder, "memory.db")) as memory:
            _fill(memory, count, options.turns)
            times, gaps = zip(*(_timed(memory) for _ in range(options.runs)), strict=True)
        took, gap = statistics.median(times), max(gaps)
        judged = f"{verdict(gap, GAP_AIM, ' ms')} {verdict(took, AIM, ' ms')}"
        print(f"{count:>16,}{took:>13.1f} ms{gap:>9.1f} ms   {judged}", flush=True)


def _fill(memory: Memory, count: int, turns: int) -> None:
    connection = memory.database.connection
    connection.pragma("synchronous", 0)
    for (name,) in memory.database.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
        connection.execute(f"DROP TRIGGER {name}")
    with connection:
        connection.execute(ROWS, {"count": count, "turns": turns})


def _timed(memory: Memory) -> tuple[float, float]:
    """Return (milliseconds for the figures, the longest gap between two runs of another thread)."""
    over, gaps = threading.Event(), [0.0]

    def tick() -> None:
        last = time.perf_counter()
        while not over.is_set():
            time.sleep(TICK)
            now = time.perf_counter()
            gaps.append(now - last - TICK)
            last = now

    other = threading.Thread(target=tick)
    other.start()
    start = time.perf_counter()
    measure(memory)
    took = time.perf_counter() - start
    over.set()
    other.join()
    return took * 1000, max(gaps) * 1000


if __name__ == "__main__":
    main()
