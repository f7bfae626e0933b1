"""What history costs: undo, past views, its size, packed and not, and its effect on everything else.

    python -m bench.history [--changes 100000] [--rounds 5] [--quick] [--only PART…]

One memory is written by the calls behind a user's keys: 10,000 facts are remembered, then confirmed, corrected, pinned,
tagged and forgotten. Aims: the undo of a step takes at most 3 times the write that it undoes (`bare` is the minimum:
the statements alone, through the same door); a restore of 10,000 changed records 2 s; the view of any moment 300 ms at
100,000 changes, packed or not; 600 bytes an edit with all indexes, 150 of its rows once they are packed (author, time
and reason of a step are never packed); and no figure of writing, of a command's process, of start and of keys is worse
with 100,000 changes than with none (the same facts without history: at most 1.15 times, the difference between two
equal runs here). `--quick` skips processes and the application."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from bench.keys import open_pane, press
from bench.process import _run
from bench.start import start
from bench.store import ALONE, CACHE, Writer, copy, heading, installed, locked, shape, verdict
from bench.terminal import Terminal
from store.base.clock import from_ms, to_ms, utc_now
from store.database.values import Verbatim
from store.history import compression
from store.history.restore_plan import Plans
from store.memory import Memory
from store.upkeep.as_of import PastMemory, point_in_time, read_past

FACTS = 10_000
UNDO, RESTORE, VIEW, BYTES, PACKED, SLOWER = 3.0, 2_000.0, 300.0, 600.0, 150.0, 1.15
YEAR_MS = 365 * 86_400_000
PARTS = ("size", "views", "undo", "restore", "doctor", "writes", "processes", "application")
SLOW = ("processes", "application")
EXAMINED = """
import sys
from store.upkeep.doctor import examine
from store.projects.locating import locate
for finding in examine(locate(sys.argv[1], {}, "/"), quick=len(sys.argv) > 2):
    assert finding.subject not in ("history", "records") or finding.state == "ok", finding
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts alone")
    options = parser.parse_args(arguments)
    source = lived(options.changes)
    heading("history", f"{options.changes:,} changes of {FACTS:,} facts, {options.rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        paths = {name: copy(source, os.path.join(folder, f"{name}.db")) for name in ("none", "plain", "packed")}
        _forget_history(paths["none"])
        with Memory.open(paths["packed"]) as memory:
            begun = time.perf_counter()
            blocks = compression.pack_history(memory.database, 36_500, 0)
            seconds = time.perf_counter() - begun
        print(f"packed into {blocks} blocks, {seconds / blocks * 1e3:.1f} ms each")
        parts: dict[str, Callable[[], None]] = {
            "size": lambda: _size(paths),
            "views": lambda: _views(paths, options.rounds),
            "undo": lambda: _undo(paths),
            "restore": lambda: _restore(paths, options.rounds),
            "doctor": lambda: _doctor(paths),
            "writes": lambda: _compare("remember, ms", {name: _writes(path) for name, path in paths.items()}),
            "processes": lambda: _processes(paths),
            "application": lambda: _application(paths),
        }
        for name in options.only or [part for part in PARTS if not (options.quick and part in SLOW)]:
            parts[name]()


# measurements


def _size(paths: dict[str, str]) -> None:
    print(f"\n{'bytes an edit':34}  all  steps  their indexes   rows")
    for name, aim in (("plain", BYTES), ("packed", PACKED)):
        with Memory.open(paths[name]) as memory:
            steps = memory.database.value("SELECT count(*) FROM history")
            table, indexes, rows = (
                memory.database.value(
                    f"SELECT sum(pgsize) FROM dbstat JOIN sqlite_schema USING(name) WHERE {which}"
                )
                / steps
                for which in (
                    "name = 'history'",
                    "tbl_name = 'history' AND name <> 'history'",
                    "tbl_name IN ('history_row', 'history_block')",
                )
            )
        every = table + indexes + rows
        counted = every if name == "plain" else rows
        print(
            f"  {name:32} {every:5.0f}  {table:5.0f}  {indexes:13.0f}  {rows:5.0f}  {verdict(counted, aim, ' bytes')}"
        )


def _views(paths: dict[str, str], rounds: int) -> None:
    print(f"\n{'the view of a moment, ms':34} median    max")
    for name in ("plain", "packed"):
        with Memory.open(paths[name]) as memory:
            newest = memory.database.value("SELECT max(seq) FROM history")
            for share in (0.1, 0.5, 0.99):
                times = []
                for _ in range(rounds):
                    begun = time.perf_counter()
                    past = read_past(memory, point_in_time(memory, str(int(newest * share))))
                    with PastMemory(memory.location, "cli", past) as then:
                        then.facts.get_many(then.facts.ids(then.now, limit=64))
                    times.append((time.perf_counter() - begun) * 1e3)
                middle = statistics.median(times)
                label = f"{name}, {newest - int(newest * share):,} changes back"
                print(f"  {label:32} {middle:6.0f} {max(times):6.0f}  {verdict(middle, VIEW, ' ms')}")


def _undo(paths: dict[str, str]) -> None:
    print(f"\n{'undo of one step, ms':34}  write   bare   undo      ×")
    for name in ("none", "plain"):
        wrote, bare, undone = dict[str, list[float]](), dict[str, list[float]](), dict[str, list[float]]()
        with Memory.open(paths[name]) as memory:
            for place, number in enumerate(memory.facts.ids(memory.now, limit=400)):
                kind, act, inverse = _acts(memory, number)[place % 4]
                wrote.setdefault(kind, []).append(_timed(act))
                undone.setdefault(kind, []).append(_timed(memory.history.undo))
                act()
                bare.setdefault(kind, []).append(_timed(inverse))
        for kind in wrote:
            _said(f"{name}: {kind}", wrote[kind], bare[kind], undone[kind])
    with Memory.open(paths["packed"]) as memory:
        wrote, undone = {}, {}
        ids = memory.facts.ids(memory.now, limit=400)
        for start in range(0, len(ids), 100):  # undo the newest two dozen of each hundred
            acts = [_acts(memory, number)[place % 4] for place, number in enumerate(ids[start : start + 100])]
            for kind, act, _ in acts:
                wrote.setdefault(kind, []).append(_timed(act))
            compression.pack_history(memory.database, 36_500, 0, least=1)
            for kind, *_ in acts[:-25:-1]:
                undone.setdefault(kind, []).append(_timed(memory.history.undo))
        for kind in wrote:
            _said(f"packed: {kind}", wrote[kind], [], undone[kind])
        old = [_timed(lambda seq=seq: memory.history.undo(seq)) for seq in _confirmed(memory, 100)]  # type: ignore[misc]
        _said("packed: confirm, anywhere", wrote["confirm"], [], old)


def _said(what: str, wrote: list[float], bare: list[float], undone: list[float]) -> None:
    one, back = statistics.median(wrote), statistics.median(undone)
    least = f"{statistics.median(bare):6.3f}" if bare else " " * 6
    print(f"  {what:32} {one:6.3f} {least} {back:6.3f}  {back / one:5.2f}  {verdict(back / one, UNDO)}")


def _acts(memory: Memory, number: int) -> list[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Return the operations on a fact, each with its minimal undo: the bare statements, through the door."""
    was: str = memory.database.value("SELECT last_confirmed_at FROM facts WHERE id = ?", (number,))

    def bare(*statements: str) -> Callable[[], None]:
        def write() -> None:
            with memory.database.write("user", "undo") as write:
                for sql in statements:
                    write.execute(sql, (Verbatim(was), number)[-sql.count("?") :] if "?" in sql else ())

        return write

    newest = "DELETE FROM facts WHERE id = (SELECT max(id) FROM facts)"
    active = "UPDATE facts SET status = 'active' WHERE id = ?"
    return [
        (
            "confirm",
            lambda: memory.facts.confirm([number]),
            bare("UPDATE facts SET last_confirmed_at = ? WHERE id = ?"),
        ),
        ("correct", lambda: memory.facts.correct(number, f"another text {number}"), bare(newest, active)),
        ("forget", lambda: memory.facts.forget([number]), bare(active)),
        ("remember", lambda: memory.facts.remember(f"a new fact {number}"), bare(newest)),
    ]


def _confirmed(memory: Memory, count: int) -> list[int]:
    """Return steps throughout history that confirmed a fact which has not changed since."""
    found = []
    for number in random.Random(7).sample(memory.facts.ids(memory.now)[400:], count * 4):
        step = memory.history.steps(record=("fact", number), limit=1)[0]
        if step.reason.startswith("confirm") and step.undone_by is None:
            found.append(step.seq)
    return found[:count]


def _restore(paths: dict[str, str], rounds: int) -> None:
    print(f"\n{'restoring 10,000 records, ms':34}   plan  apply    all")
    for name in ("plain", "packed"):
        with Memory.open(paths[name]) as memory:
            ids = memory.facts.ids(memory.now)
            plans, applies = [], []
            for _ in range(max(1, rounds // 2)):
                taken = memory.checkpoints.take_checkpoint("then")
                memory.tagging.add_tags([("fact", one) for one in ids], "restored")
                if name == "packed":
                    compression.pack_history(memory.database, 36_500, 0, least=1)
                begun = time.perf_counter()
                plan = Plans(memory.database).plan_checkpoint(taken)
                seen = time.perf_counter()
                Plans(memory.database).apply_plan(plan, range(len(plan.changes)))
                plans.append((seen - begun) * 1e3)
                applies.append((time.perf_counter() - seen) * 1e3)
            every = statistics.median(a + b for a, b in zip(plans, applies, strict=True))
            label = f"{name}, {len(plan.changes):,} records"
            print(
                f"  {label:32} {statistics.median(plans):6.0f} {statistics.median(applies):6.0f} {every:6.0f}"
                f"  {verdict(every, RESTORE, ' ms')}"
            )


def _doctor(paths: dict[str, str]) -> None:
    """Measure in a process each, since a process keeps its peak memory; Linux reports it."""
    print(f"\n{'memoranda health --check':34} seconds   most memory, MB   with --quick")
    for name in ("plain", "packed"):
        seconds, peaks = 0.0, []
        for words in (["--quick"], []):
            begun = time.perf_counter()
            child = subprocess.run(
                [sys.executable, "-c", EXAMINED, paths[name], *words], capture_output=True, check=True
            )
            seconds = time.perf_counter() - begun
            peaks.append(int(child.stdout) / 1024)
        print(f"  {name:32} {seconds:7.1f}   {peaks[1]:15.0f}   {peaks[0]:12.0f}")


def _writes(path: str) -> list[float]:
    with Memory.open(path) as memory:
        return [_timed(lambda number=number: memory.facts.remember(f"a fact {number}")) for number in range(600)][
            100:
        ]


def _processes(paths: dict[str, str]) -> None:
    programs = installed()
    for name, words in (("remember", ["remember", "A fact, {}."]), ("facts", ["facts", "--limit", "5"])):
        times: dict[str, list[float]] = {path: [] for path in paths}
        for run in range(-2, 15):
            for which, path in paths.items():
                seconds = _run(
                    [programs.memoranda, "--db", path, *(word.replace("{}", str(run)) for word in words)]
                )
                if run >= 0:
                    times[which].append(seconds * 1e3)
        _compare(f"memoranda {name}, ms", times)


def _application(paths: dict[str, str]) -> None:
    """Measure without history, and with a packed one: the application packs it at its start."""
    program = installed().memoranda
    chosen = {name: paths[name] for name in ("none", "packed")}
    for path in chosen.values():
        _writes(path)  # or the history pane would be empty in one of them
    starts: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(9):
        for name, path in chosen.items():
            starts[name].append(start([program, "--db", path], "FACTS", "▸", r"[\d,]{4,} facts").counted * 1e3)
    _compare("start, all counted, ms", starts)
    for pane in ("facts", "history"):
        keys: dict[str, list[float]] = {}
        for name, path in chosen.items():
            with Terminal([program, "--db", path], ALONE, (120, 40)) as terminal:
                open_pane(terminal, "facts")
                terminal.write("4" if pane == "history" else "1")
                terminal.quiet(0.5)
                keys[name] = press(terminal, "j", 40)
        _compare(f"j in {pane}, ms", {name: times for name, times in keys.items() if times})


def _compare(what: str, times: dict[str, list[float]]) -> None:
    print(f"\n{what:34} median  × none")
    base = statistics.median(times["none"])
    for name, values in times.items():
        ratio = statistics.median(values) / base
        aim = None if name == "none" else SLOWER
        print(f"  {name:32} {statistics.median(values):6.2f}   {ratio:5.2f}  {verdict(ratio, aim)}")


def _timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1e3


# memories


def lived(changes: int) -> str:
    """Return the path of a cached memory with so many steps of history. Do not write to it: take a `copy`."""
    path = os.path.join(CACHE, f"history-{changes}-{shape()}.db")
    with locked():
        if not os.path.exists(path):
            building = f"{path}.building"
            for end in ("", "-wal", "-shm"):
                if os.path.exists(building + end):
                    os.unlink(building + end)
            _live(building, changes)
            os.rename(building, path)
    return path


def _live(path: str, changes: int) -> None:
    chance, writer = random.Random(5), Writer(5)
    end = to_ms(utc_now())
    now = [end - YEAR_MS]

    def clock() -> str:
        now[0] += YEAR_MS // (changes + 1)
        return from_ms(min(now[0], end))

    with Memory.open(path, "cli", clock) as memory:
        connection = memory.database.connection
        connection.pragma("synchronous", 0)
        connection.pragma("wal_autocheckpoint", 20_000)
        alive = [memory.facts.remember(f"{writer.sentence(6, 24)} ({number})")[0] for number in range(FACTS)]
        pinned: set[int] = set()
        for number in range(changes - FACTS):
            place = chance.randrange(len(alive))
            fact, kind = alive[place], chance.random()
            if kind < 0.5:
                memory.facts.confirm([fact])
            elif kind < 0.65:
                pinned ^= {fact}
                memory.facts.pin([fact], fact in pinned)
            elif kind < 0.8:
                memory.tagging.add_tags([("fact", fact)], f"tag-{number}")
            elif kind < 0.95:
                alive[place] = memory.facts.correct(fact, f"{writer.sentence(6, 24)} (corrected, {number})")
            else:
                memory.facts.forget([fact])
                alive[place] = memory.facts.remember(f"{writer.sentence(6, 24)} (new, {number})")[0]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _forget_history(path: str) -> None:
    """Remove the history, and keep the facts."""
    with Memory.open(path) as memory:
        connection = memory.database.connection
        connection.pragma("foreign_keys", 0)
        for table in ("history_row", "history"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("VACUUM")


if __name__ == "__main__":
    main()
