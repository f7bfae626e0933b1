"""Guard: how long a look takes, and how much is kept of what it sees.

    python -m bench.guard [--files 2000] [--mb 20] [--nights 5]

So many notes of Claude Code in twenty projects and a database of so many MB; the first look, one with nothing changed,
and one after each night in which a tenth of the notes is reworded, a twentieth removed and as much written anew, and a
hundredth of the database's rows is changed. Beside the size of what is kept, that of all versions as they are. Then the
preview of one night's restore, the restore, and the proof that no byte of a text is left. No aims but those that are
printed: a first look within 3 s, one with nothing changed within 0.3 s."""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence

from bench.store import heading, verdict

PROJECTS = 20
FIRST_SECONDS, AGAIN_SECONDS = 3.0, 0.3
SETTINGS = {"guard.days": 90, "guard.megabytes": 500, "guard.paths": [], "guard.key": "file"}
WORDS = (
    "tide port harbour index query ledger rate table cache branch deploy parser export import chart level".split()
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--mb", type=int, default=20)
    parser.add_argument("--nights", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.environ.update(XDG_DATA_HOME=os.path.join(folder, "data"), XDG_STATE_HOME=os.path.join(folder, "state"))
        heading("guard", f"{options.files:,} notes, a database of {options.mb:,} MB")
        _Bench(os.path.join(folder, "home"), options.files, options.mb).run(options.nights)


class _Bench:
    def __init__(self, home: str, files: int, megabytes: int) -> None:
        from store.tools.source import Machine

        self.machine, self.chance, self.seen = Machine(home), random.Random(1), 0
        self.paths: list[str] = []
        for number in range(PROJECTS):
            place = os.path.join(home, ".claude", "projects", f"-home-ana-project{number}", "memory")
            os.makedirs(place)
            self.paths += [os.path.join(place, f"m{one}.md") for one in range(files // PROJECTS)]
        for path in self.paths:
            self._write(path)
        os.makedirs(os.path.join(home, ".engram"))
        self.database = os.path.join(home, ".engram", "engram.db")
        self.rows = megabytes * 250
        connection = sqlite3.connect(self.database)
        connection.execute("CREATE TABLE observations(id INTEGER PRIMARY KEY, title TEXT, content TEXT)")
        with connection:
            connection.executemany(
                "INSERT INTO observations(title, content) VALUES (?, ?)",
                [(f"Row {number}", self._words(600)) for number in range(self.rows)],
            )
        connection.close()
        self._count(self.paths, database=True)

    def run(self, nights: int) -> None:
        self._look("first look", FIRST_SECONDS)
        self._look("nothing changed", AGAIN_SECONDS)
        for night in range(1, nights + 1):
            self._night()
            self._look(f"after night {night}")
        self._restore()
        self._proof()

    def _look(self, what: str, aim: float | None = None) -> None:
        from store.tools import guard_database, guard_moments

        start = time.perf_counter()
        found = guard_moments.look_at_files(SETTINGS, self.machine, guard_moments.current_ms())  # type: ignore[arg-type]
        seconds = time.perf_counter() - start
        with guard_database.open_guard() as open_database:
            guard_moments.mark_told(
                open_database, guard_moments.recent_moments(open_database, 9)
            )  # each night is a moment of its own
        kept = f"{found.files:,} files  {found.bytes / 1e6:7.2f} MB kept of {self.seen / 1e6:8.2f} MB of versions"
        print(f"{what:20} {seconds:7.3f} s  {kept}  {verdict(seconds, aim, ' s')}".rstrip(), flush=True)

    def _night(self) -> None:
        shuffled = self.chance.sample(self.paths, len(self.paths))
        few = len(shuffled) // 20
        changed, gone = shuffled[: 2 * few], shuffled[2 * few : 3 * few]
        for path in changed:
            self._write(path)
        for path in gone:
            os.unlink(path)
        new = [f"{path.removesuffix('.md')}x.md" for path in gone]
        for path in new:
            self._write(path)
        self.paths = [path for path in self.paths if path not in set(gone)] + new
        connection = sqlite3.connect(self.database)
        first = self.chance.randrange(self.rows)
        with connection:  # the newest are changed most: one stretch of rows, and single ones
            connection.execute(
                "UPDATE observations SET content = content || ' more' WHERE id BETWEEN ? AND ? OR id % 1000 = 7",
                (first, first + self.rows // 100),
            )
        connection.close()
        self._count([*changed, *new], database=True)

    def _restore(self) -> None:
        from store.tools import guard_database, guard_moments

        with guard_database.open_guard() as kept:
            last = next(one for one in guard_moments.recent_moments(kept, 9) if one.tool == "claude-code")
        now = guard_moments.current_ms() + 60_000  # two seconds after the last change are over
        at = guard_moments.Occasion(SETTINGS, self.machine, now)  # type: ignore[arg-type]
        start = time.perf_counter()
        plan = guard_moments.plan_guard_restore(at, last.number)
        print(f"{'preview':20} {time.perf_counter() - start:7.3f} s  {len(plan.files):,} files", flush=True)
        start = time.perf_counter()
        guard_moments.run_guard_restore(at, plan)
        print(
            f"{'restore':20} {time.perf_counter() - start:7.3f} s  {len(plan.files):,} files, each synced",
            flush=True,
        )

    def _proof(self) -> None:
        from store.purge import file_eraser as guarded

        start = time.perf_counter()
        size, found = guarded.search_guard_bytes(["a text that nobody wrote"]) or (0, set())
        seconds = time.perf_counter() - start
        print(
            f"{'proof':20} {seconds:7.3f} s  {size / 1e6:,.2f} MB unsealed and read, {len(found)} found",
            flush=True,
        )

    def _count(self, paths: Sequence[str], database: bool) -> None:
        self.seen += sum(os.path.getsize(path) for path in [*paths, *([self.database] if database else [])])

    def _write(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"---\nname: {os.path.basename(path)}\n---\n{self._words(30)}.\n")

    def _words(self, number: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=number))


if __name__ == "__main__":
    sys.exit(main())
