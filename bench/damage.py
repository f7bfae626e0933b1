"""Which damage the doctor detects, and how much of a damaged memory is salvaged.

Flipped bits, torn pages, truncated files, zeroed headers, WALs of another file: `python -m bench.damage [ROUNDS]
[SEED]`. A round is missed if the readable content of the file has changed and the doctor reports nothing; the exit
status is 1 if any is. Of the rows not recovered it counts those on damaged pages; the others were lost needlessly."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import apsw

from bench.store import heading, quantile
from store.base.runtime import DISABLED_PARTS_VARIABLE
from store.base.state_files import KnownMemory, find_known_memory, save_known_memory
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.history.history import primary_key
from store.memory import Memory
from store.projects.locating import locate
from store.rescue.pages import PageReader, table_shapes, tree_pages
from store.rescue.salvage import salvage_file
from store.upkeep.checks import WRONG
from store.upkeep.doctor import examine

PAGE = 4096
SECTOR = 512
FACTS = 1_500
TABLES = (*RECORDED_TABLES, *JOURNAL_TABLES)

Rows = dict[str, Counter[str]]
Hurt = Callable[[str, random.Random], None]
Damage = tuple[str, str, Hurt | None, Rows]  # the memory, whose WAL is beside it, the damage, the content
Homes = dict[tuple[str, str], set[int]]  # the pages of each row, as text, of a table


def live(memory: Memory, seed: int, count: int) -> None:
    """Write `count` records of every kind, and change some of them."""
    dice = random.Random(seed)
    words = "team invoice deploy Friday Ana José peanuts SQLite cache queue release branch review".split()
    for number in range(count):
        text = f"{seed}-{number} " + " ".join(dice.choices(words, k=dice.choice((4, 9, 20, 90))))
        fact, _ = memory.facts.remember(text, tags=[dice.choice(words).lower()])
        act = number % 12
        if act == 1:
            memory.facts.correct(fact, f"{text}, rather")
        elif act == 3:
            memory.facts.pin([fact])
        elif act == 4:
            memory.facts.forget([fact])
            memory.history.undo()
        elif act == 6:
            decision = memory.decisions.decide(text, "yes", rationale=text, alternatives=["no"])
            memory.commits.log(f"{dice.getrandbits(160):040x}", message=f"feat: {text}", author="Ana")
            memory.events.log("gate_passed", phase="build", payload={"decision": decision})
        elif act == 8:
            memory.tasks.add_task(text)
            memory.events.log("noted", payload=text)
        elif act == 10:
            memory.iterations.start_iteration("fix", text)
            memory.checkpoints.take_checkpoint(text[:20])
            memory.iterations.end_iteration()


def contents(path: str) -> Rows:
    """Return every row of the recorded and journal tables, as text, as SQLite reads it. Raises apsw.Error."""
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return {table: Counter(map(repr, connection.execute(f"SELECT * FROM {table}"))) for table in TABLES}


class Followed(PageReader):
    """A page source that records which pages were read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.asked: set[int] = set()

    def read_page(self, number: int) -> bytes:
        self.asked.add(number)
        return super().read_page(number)


def homes(path: str) -> Homes:
    """Return the pages of each row of an undamaged memory: its leaf, and the overflow pages of a long one."""
    pages = Followed(path)
    standing: dict[tuple[str, str], set[int]] = {}
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        for table in table_shapes(pages, connection, list(TABLES)):
            if table.name not in TABLES:
                continue
            keys = primary_key(connection, table.name)
            for number in [number for root in table.roots for number in tree_pages(pages, root)]:
                pages.asked.clear()
                for rowid, row in pages.read_records(number):
                    named = table.name_values(rowid, row)
                    key = repr(tuple(named[name] for name in keys))
                    standing[table.name, key] = {number, *pages.asked}
                    pages.asked.clear()
        found: Homes = {}
        for table in TABLES:
            keys = ", ".join(primary_key(connection, table))
            count = keys.count(",") + 1
            for values in connection.execute(f"SELECT {keys}, * FROM {table}"):
                found[table, repr(values[count:])] = standing[table, repr(values[:count])]
        return found


def changed(path: str, hurt: str) -> set[int]:
    """Return the pages of a memory that differ, or are missing, in a damaged copy of it."""
    before, after = PageReader(path), PageReader(hurt)
    return {number for number in range(1, len(before) + 1) if before.read_page(number) != after.read_page(number)}


def bits(path: str, dice: random.Random, most: int = 20) -> None:
    """Flip one bit, or up to twenty."""
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        for _ in range(dice.randint(1, most)):
            at = dice.randrange(size)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << dice.randrange(8)]))


def torn(path: str, dice: random.Random) -> None:
    """Overwrite some sectors of up to three pages: with zeroes, noise, or another page's."""
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for _ in range(dice.randint(1, 3)):
            page = dice.randrange(size // PAGE) * PAGE
            for sector in dice.sample(range(PAGE // SECTOR), dice.randint(1, 7)):
                file.seek(dice.randrange(size // PAGE) * PAGE + sector * SECTOR)
                other = file.read(SECTOR)
                file.seek(page + sector * SECTOR)
                file.write(dice.choice((bytes(SECTOR), dice.randbytes(SECTOR), other)))


def cut(path: str, dice: random.Random) -> None:
    """Cut off the end of the file, up to four pages."""
    os.truncate(path, os.path.getsize(path) - dice.randint(1, 4 * PAGE))


def header(path: str, dice: random.Random) -> None:
    """Zero the first hundred bytes, or the whole first page."""
    with open(path, "r+b") as file:
        file.write(bytes(dice.choice((16, 100, SECTOR, PAGE))))


def log(path: str, dice: random.Random) -> None:
    """Flip a bit of the WAL, or cut it in its middle."""
    bits(f"{path}-wal", dice, 3)


def overwritten(path: str, dice: random.Random) -> None:
    """Overwrite up to three headers of the WAL's frames, and what is around them, with noise."""
    frame = 24 + PAGE
    with open(f"{path}-wal", "r+b") as file:
        for _ in range(dice.randint(1, 3)):
            number = dice.randrange(1, os.path.getsize(file.name) // frame)
            file.seek(32 + number * frame - dice.randrange(200))
            file.write(dice.randbytes(220))


@dataclass
class Memories:
    """The memories to damage: one with all its pages in the file, one with a WAL; another's WAL, and one of an earlier
    day."""

    folder: str
    facts: int = FACTS
    rows: Rows = field(default_factory=dict)
    logged: Rows = field(default_factory=dict)
    late: Rows = field(default_factory=dict)
    standing: dict[str, Homes] = field(default_factory=dict)  # by the memory's name

    def __post_init__(self) -> None:
        with self._open("whole") as memory:
            live(memory, 1, self.facts)
        self.rows = contents(self.path("whole"))
        shutil.copy(self.path("whole"), self.path("early"))
        with self._open("early") as memory:
            memory.database.connection.wal_autocheckpoint(0)  # nothing of the log is in the file yet
            live(memory, 2, 30)
            self._keep_log(memory)
        shutil.copy(self.path("early"), self.path("logged"))
        shutil.copy(f"{self.path('early')}-wal", f"{self.path('logged')}-wal")
        with self._open("early") as memory:  # its WAL is now the one of an earlier day
            memory.database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            live(memory, 3, 60)
        with self._open("other") as memory:
            live(memory, 4, self.facts // 6)
            memory.database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            live(memory, 5, 30)
            self._keep_log(memory)
        shutil.copy(self.path("early"), self.path("late"))
        self.standing = {name: homes(self.path(name)) for name in ("whole", "logged", "late")}
        self.logged = contents(self.path("logged"))
        self.late = contents(self.path("late"))

    def path(self, name: str) -> str:
        return os.path.join(self.folder, f"{name}.db")

    def _open(self, name: str) -> Memory:
        return Memory.open(self.path(name))

    def _keep_log(self, memory: Memory) -> None:
        memory.database.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def copy(self, name: str, log: str, to: str) -> None:
        """Copy `name` to `to`, with the WAL of `log` if one is named."""
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(to + ending):
                os.unlink(to + ending)
        shutil.copy(self.path(name), to)
        if log:
            shutil.copy(f"{self.path(log)}-wal", f"{to}-wal")
        made = find_known_memory(self.path("whole"))
        assert made is not None
        save_known_memory(KnownMemory(made.identity, os.path.realpath(to), os.stat(to).st_ino))


@dataclass
class Score:
    """The results of one kind of damage."""

    noticed: int = 0
    harmless: int = 0
    missed: list[str] = field(default_factory=list)
    came: list[float] = field(default_factory=list)
    hurt: int = 0  # rows on damaged pages
    lost: int = 0  # of those
    needlessly: int = 0  # lost rows of other pages

    def weigh(self, lost: Rows, rows: Rows, damaged: set[tuple[str, str]]) -> None:
        """Count the rows that a salvage lost, of which `rows` stood on damaged pages."""
        gone = [(table, row) for table, found in lost.items() for row in found.elements()]
        self.came.append(1 - len(gone) / sum(found.total() for found in rows.values()))
        self.hurt += len(damaged)
        self.lost += sum(one in damaged for one in gone)
        self.needlessly += sum(one not in damaged for one in gone)


def look(path: str) -> list[str]:
    """Return the problems that the doctor finds, or for which salvage is the next step."""
    return [
        f"{found.subject}: {found.says}"
        for found in examine(locate(path, {}, "/"))
        if found.state == WRONG or found.command.startswith("salvage")
    ]


def share(path: str, rows: Rows) -> float:
    """Return the share of these rows that a salvage of the file recovers unchanged."""
    lost = sum(found.total() for found in missing(path, rows).values())
    return 1 - lost / sum(found.total() for found in rows.values())


def missing(path: str, rows: Rows) -> Rows:
    """Return the rows that a salvage of the file does not recover unchanged."""
    into = f"{path}.new"
    if os.path.exists(into):
        os.unlink(into)
    salvage_file(path, into)
    there = contents(into)
    return {table: rows[table] - there[table] for table in TABLES}


def bytes_of(path: str) -> list[bytes]:
    """Return the bytes of the file, and of its WAL if it is not empty."""
    found = []
    for name in (path, f"{path}-wal"):
        if os.path.exists(name) and os.path.getsize(name):
            with open(name, "rb") as file:
                found.append(file.read())
    return found


def round_of(memories: Memories, damage: Damage, seed: int, score: Score) -> None:
    """Damage a copy; run doctor and salvage."""
    name, beside, hurt, rows = damage
    path = os.path.join(memories.folder, "hurt.db")
    memories.copy(name, beside, path)
    if hurt is not None:
        hurt(path, random.Random(seed))
    kept = bytes_of(path)
    pages = changed(memories.path(name), path) if hurt is not None else set()
    damaged = {one for one, standing in memories.standing[name].items() if standing & pages}
    score.weigh(missing(path, rows), rows, damaged)
    found = look(path)
    if found and bytes_of(path) != kept:
        score.missed.append(f"seed {seed}: the damaged file was changed")
    if found:
        score.noticed += 1
        return
    memories.copy(name, beside, path)
    if hurt is not None:
        hurt(path, random.Random(seed))
    try:
        same = contents(path) == rows
    except apsw.Error:
        same = False
    if same:
        score.harmless += 1
    else:
        score.missed.append(f"seed {seed}")


def kinds(memories: Memories) -> dict[str, Damage]:
    """Return each kind of damage by its name."""
    whole, logged = memories.rows, memories.logged
    return {
        "one bit flipped": ("whole", "", lambda path, dice: bits(path, dice, 1), whole),
        "bits flipped": ("whole", "", bits, whole),
        "pages torn": ("whole", "", torn, whole),
        "end cut off": ("whole", "", cut, whole),
        "header of zeroes": ("whole", "", header, whole),
        "bits of the log flipped": ("logged", "logged", log, logged),
        "log overwritten": ("logged", "logged", overwritten, logged),
        "another memory's log": ("whole", "other", None, whole),
        "an earlier day's log": ("late", "logged", None, memories.late),
    }


def main(rounds: int = 20, seed: int = 1) -> int:
    os.environ[DISABLED_PARTS_VARIABLE] = "model"
    heading("damage", f"{FACTS:,} facts, {rounds} rounds of each, from seed {seed}")
    print(
        f"\n{'damage':26}{'noticed':>10}{'harmless':>10}{'missed':>8}{'rows through: median':>23}{'worst of 20':>13}"
        f"{'on damaged pages':>18}{'lost':>7}{'elsewhere':>11}"
    )
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        memories = Memories(folder)
        for name, damage in kinds(memories).items():
            score = Score()
            for number in range(rounds if damage[2] else 1):
                round_of(memories, damage, seed + number, score)
            missed += len(score.missed)
            low = quantile(sorted(score.came), 0.05)
            print(
                f"{name:26}{score.noticed:>10}{score.harmless:>10}{len(score.missed):>8}"
                f"{statistics.median(score.came):>22.2%}{low:>13.2%}"
                f"{score.hurt:>18,}{score.lost:>7,}{score.needlessly:>11,}  {', '.join(score.missed[:3])}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
