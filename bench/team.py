"""Sharing through a git remote: convergence of random schedules, times and sizes of exchanges.

    python -m bench.team [--records 100000] [--schedules 3000]

First random schedules of five writers, purges among them, each of whom ends with the same operations in another order:
how many end with different records, how many records that somebody added are missing, and how many had conflicts and
purges in them. Then two real memories and a bare repository on this disk: an exchange with nothing new, with one
change, with 5,000 that arrive; and so many records shared and fetched for the first time. What arrives is put into the
inbox, which is measured apart. `floor` is git's own fetch of the same remote, with nothing new."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from bench.store import heading, verdict
from bench.team_schedules import run
from store.memory import Memory
from store.projects.locating import locate
from store.team.collect import ShareChoice
from store.team.exchange import Team
from store.team.stream import SharedRecord

REPEATS = 15
ALL = ShareChoice(("work",), True)


def schedules(number: int) -> None:
    """Run the schedules and print how they ended."""
    different = lost = conflicts = purges = operations = 0
    for seed in range(number):
        several = run(seed)
        views = [one.view() for one in several]
        different += any(view != views[0] for view in views)
        records = {id: SharedRecord.from_json(state) for id, state in views[0].items()}
        added = [one.id for one in several[0].known.values() if one.op == "add"]
        lost += sum(id not in records or records[id].status == "unknown" for id in added)
        conflicts += any(one.conflicts() for one in records.values() if not one.purged)
        purges += any(one.purged for one in records.values())
        operations += len(several[0].known)
    print(
        f"{number:,} schedules of 5 writers, {operations:,} operations; with conflicts {conflicts:,},"
        f" with purges {purges:,}; ended differently: {different}  {verdict(different, 0)}; records lost: {lost}"
        f"  {verdict(lost, 0)}\n"
    )


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Person:
    """One memory with its team."""

    def __init__(self, folder: str, name: str, remote: str) -> None:
        os.mkdir(os.path.join(folder, name))
        self.memory = Memory(locate(os.path.join(folder, name, "memory.db"), {}, folder), "cli")
        with Team(self.memory) as team:
            self.folder = team.folder
            team.choose(ALL, name, remote)

    def sync(self) -> None:
        with Team(self.memory) as team:
            team.exchange()

    def remember(self, first: int, count: int) -> None:
        now = self.memory.now
        with self.memory.database.write("user", "fill") as write:
            for number in range(first, first + count):
                write.insert(
                    "facts",
                    domain="work",
                    fact=f"Service {number} of team {number % 40} is deployed from branch {number % 7}",
                    text_hash=f"{number:064x}",
                    confidence="high",
                    source="explicit",
                    scope="project",
                    status="active",
                    created_at=now,
                    last_confirmed_at=now,
                    importance=0.5,
                    origin="user",
                )


def size(path: str) -> float:
    """Return the megabytes of a file or a folder."""
    if os.path.isfile(path):
        return os.path.getsize(path) / 1e6
    return (
        sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(path) for name in names)
        / 1e6
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--schedules", type=int, default=3_000)
    options = parser.parse_args(arguments)
    heading("team", f"{options.records:,} records")
    schedules(options.schedules)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        remote = os.path.join(folder, "remote.git")
        subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
        ana, bob = Person(folder, "ana", remote), Person(folder, "bob", remote)
        ana.remember(0, 100)
        ana.sync(), bob.sync(), ana.sync(), bob.sync()
        shared = ["git", "--git-dir", os.path.join(bob.folder, "shared.git"), "fetch", "--quiet", remote]
        shared.append("+refs/memoranda/*:refs/incoming/*")
        floor = [timed(lambda: subprocess.run(shared, check=True)) for _ in range(REPEATS)]
        nothing = [timed(bob.sync) for _ in range(REPEATS)]
        one = []
        for number in range(REPEATS):
            ana.memory.facts.remember(f"A change of its own, number {number}", domain="work")
            one.append(timed(ana.sync))
        ana.remember(1_000, 5_000)
        ana.sync()
        many = timed(bob.sync)
        print(f"{'an exchange':40}{'ms':>9}{'aim':>9}")
        print(f"{'git fetch, nothing new (floor)':40}{statistics.median(floor) * 1e3:9.0f}")
        nothing_ms = statistics.median(nothing) * 1e3
        print(f"{'nothing new':40}{nothing_ms:9.0f}{30:9}  {verdict(nothing_ms, 30)}")
        one_ms = statistics.median(one) * 1e3
        print(f"{'one change of ours':40}{one_ms:9.0f}{40:9}  {verdict(one_ms, 40)}")
        print(f"{'5,000 arriving, into the inbox':40}{many * 1e3:9.0f}{1_500:9}  {verdict(many * 1e3, 1_500)}")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        remote = os.path.join(folder, "remote.git")
        subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
        ana, bob = Person(folder, "ana", remote), Person(folder, "bob", remote)
        ana.remember(0, options.records)
        first = timed(ana.sync)
        with Team(bob.memory) as team:
            fetched = timed(lambda: team.exchange(bring=False))
        print(f"\n{f'{options.records:,} records, the first time':40}{'s':>9}{'aim':>9}")
        print(f"{'shared: collected, written, pushed':40}{first:9.1f}{15:9}  {verdict(first, 15)}")
        print(f"{'fetched, verified, merged':40}{fetched:9.1f}{15:9}  {verdict(fetched, 15)}")
        host, here = size(remote), size(os.path.join(bob.folder, "team.db"))
        print(f"{'on the host, MB':40}{host:9.1f}          {host / options.records * 1e6:,.0f} KB a 1,000 changes")
        print(f"{'team.db of whoever fetched, MB':40}{here:9.1f}{40:9}  {verdict(here, 40)}")
        print(f"{'shared.git there, MB, not compressed':40}{size(os.path.join(bob.folder, 'shared.git')):9.1f}")


if __name__ == "__main__":
    main()
