"""Whether a file that is kept in sync loses a line, and how long a sync takes.

Each schedule is some forty acts, drawn at random, of an editor that saves what it shows (also an old version), of the
application, and of git: commits, pulls from a colleague who edits the file too, older commits that are checked out. At
its end every line that anybody ever wrote must be in the memory, in the inbox or in the file; and what nobody changed
or deleted must hold.

python -m bench.sync [--schedules 2000] [--lines 1000]"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence

from bench.store import heading, verdict
from store.base.errors import MemorandaError
from store.documents.sections import parse_section_file, section_name
from store.memory import Memory
from store.sync.merge import SectionLine, normalize_line, parse_section

ACTS = 40
SYNC_AIM = 100.0  # ms, of a thousand lines
ROUNDS = 15
WORDS = (
    "invoice rounding deploy cache equipo memoria release branch schema marzo factura ledger review shift".split()
)
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": "ana@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class Lost(AssertionError):
    """A line is nowhere, or what nobody touched does not hold."""


class Schedule:
    """A project with a synced file, and everybody who works on it. `written` are all texts that the application wrote,
    or that the file had when it was synced, `touched` those that somebody changed, deleted or decided on."""

    def __init__(self, folder: str, seed: int, git: bool = True) -> None:
        self.dice = random.Random(seed)
        self.folder = os.path.join(folder, "project")
        self.clone = os.path.join(folder, "clone")
        self.git_acts = git
        os.makedirs(self.folder)
        self.memory = Memory.open(os.path.join(self.folder, ".memoranda", "memory.db"))
        self.path = os.path.join(self.folder, "MEMORY.md")
        self.name = section_name(self.memory.database)
        self.count = 0
        self.written: set[str] = set()
        self.touched: set[str] = set()
        self.log: list[str] = []
        for _ in range(self.dice.randrange(1, 9)):
            self.remember()
        self.memory.sync.start_file()
        self.sync()
        if git:
            with open(os.path.join(self.folder, ".gitignore"), "w") as file:
                file.write(".memoranda\n")
            self.git("init", "-q", "-b", "main")
            self.commit()
            self.sync()
            self.git("clone", "-q", self.folder, self.clone, here=folder)
        self.buffer = self.text

    def close(self) -> None:
        self.memory.close()

    def live(self) -> None:
        """Do all acts, and check the end."""
        acts = [self.remember, self.correct, self.forget, self.undo, self.decide, self.open, self.save, self.sync]
        weights = [3, 2, 1, 1, 2, 3, 8, 6]
        if self.git_acts:
            acts += [self.commit, self.pull, self.visit]
            weights += [2, 2, 1]
        for act in self.dice.choices(acts, weights, k=ACTS):
            self.log.append(act.__name__)
            try:
                act()
            except MemorandaError as error:
                self.log.append(f"refused: {error.message}")
        self.check()

    # the application

    def remember(self) -> None:
        self.memory.facts.remember(self.learned(), domain=self.dice.choice(("work", "preferences", "general")))

    def correct(self) -> None:
        if fact := self.any_fact():
            self.touched.add(fact[1])
            self.memory.facts.correct(fact[0], self.learned())

    def forget(self) -> None:
        if fact := self.any_fact():
            self.touched.add(fact[1])
            self.memory.facts.forget([fact[0]])

    def undo(self) -> None:
        step = self.memory.history.steps(limit=1)[0]
        for change in self.memory.history.changes(step.seq):
            for row in (change.before, change.after):
                self.touched |= {normalize_line(str((row or {}).get(name) or "")) for name in ("fact", "text")}
        rows = self.memory.database.rows("SELECT id, fact FROM facts")
        before = {text for number, text in rows}
        self.memory.history.undo(step.seq)
        rows = self.memory.database.rows("SELECT fact, status FROM facts")
        self.touched |= before - {normalize_line(text) for text, status in rows if status == "active"}

    def decide(self) -> None:
        for proposal in self.memory.inbox.waiting(limit=3):
            self.touched.add(normalize_line(proposal.text))
            if proposal.target is not None:
                for fact in self.memory.facts.chain(proposal.target):
                    self.touched.add(normalize_line(fact.fact))
            if self.dice.random() < 0.5:
                self.memory.inbox.accept(proposal.id)
            else:
                self.memory.inbox.reject([proposal.id])

    def any_fact(self) -> tuple[int, str] | None:
        rows = self.memory.database.rows("SELECT id, fact FROM facts WHERE status = 'active'")
        return self.dice.choice(rows) if rows else None

    # the editor

    def open(self) -> None:
        """Show the file, as it is after a sync: what a person opens and saves of a pull before that is their own."""
        self.sync()
        self.buffer = self.text

    def save(self) -> None:
        """Change what the editor shows, and save it, over whatever there is now."""
        for _ in range(self.dice.randrange(1, 4)):
            self.buffer = self.edited(self.buffer)
        self.put(self.path, self.buffer)
        self.sync() if self.dice.random() < 0.3 else None

    def edited(self, text: str) -> str:
        """Change one line of a section, as a person does."""
        file = parse_section_file(text.encode(), self.name)
        lines, items = list(file.lines), parse_section(file.lines, 0).items
        if not items or self.dice.random() < 0.3:
            lines.insert(self.dice.randrange(len(lines) + 1), f"- {self.new()}")
        else:
            item = self.dice.choice(items)
            at = item.number
            act = self.dice.choice(("reword", "reword", "delete", "move", "bare", "copy", "clear", "own"))
            if act in ("reword", "delete", "clear"):
                self.touch(item)
            if act == "reword":
                new = f"{item.text} {self.new()}"
                lines[at] = lines[at].replace(item.text, new)
            elif act == "delete":
                del lines[at]
            elif act == "clear":
                lines[at] = "-"
            elif act == "move":
                line = lines.pop(at)
                lines.insert(self.dice.randrange(len(lines) + 1), line)
            elif act == "bare":
                lines[at] = f"- {item.text}"
            elif act == "copy":
                lines.insert(at, lines[at])
            else:
                return text + f"Own words {self.dice.random()}\n"
        start = text.index("\n", text.index(f"<!-- memoranda {self.name} ")) + 1
        end = text.index(f"<!-- memoranda {self.name} end")
        return text[:start] + "\n".join([*lines, ""]) + text[end:]

    def touch(self, item: SectionLine) -> None:
        """Note that a line is changed or deleted, and so the fact that it cites, which may say something else."""
        self.touched.add(item.shape)
        for fact in self.memory.facts.get_many([item.fact or 0]):
            self.touched |= {normalize_line(one.fact) for one in self.memory.facts.chain(fact.id)}

    def sync(self) -> None:
        before = None
        if os.path.exists(self.path):
            before = self.outside()
            file = parse_section_file(self.text.encode(), self.name)
            self.written |= {item.shape for item in parse_section(file.lines, 0).items if item.text}
        if self.dice.random() < 0.5:
            self.memory.sync.sync_file()
        else:
            self.memory.sync.sync_due()
        if before is not None and self.outside()[: len(before)] != before:
            raise Lost(f"own text: {before} became {self.outside()}")

    def outside(self) -> list[str]:
        return [line for _, line in parse_section_file(self.text.encode(), self.name).own_lines()]

    # git

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "More")

    def pull(self) -> None:
        """Let a colleague change the file, and bring that here."""
        self.commit()
        self.git("fetch", "-q", self.folder, "HEAD", here=self.clone)
        self.git("reset", "-q", "--hard", "FETCH_HEAD", here=self.clone)
        file = os.path.join(self.clone, "MEMORY.md")
        with open(file, encoding="utf-8", newline="") as stream:
            text = stream.read()
        touched = set(self.touched)
        self.put(file, self.edited(text))
        self.touched = touched  # it is only proposed
        self.git("commit", "-qam", "Theirs", "--allow-empty", here=self.clone)
        if self.dice.random() < 0.5:
            self.sync()
            self.put(self.path, self.edited(self.text))
            self.sync()
            self.commit()
        self.git("fetch", "-q", self.clone, "HEAD")
        self.git("merge", "-q", "--no-edit", "-X", self.dice.choice(("ours", "theirs")), "FETCH_HEAD")

    def visit(self) -> None:
        """Look at an older commit, sync there, and come back."""
        self.commit()
        older = self.git("rev-list", "HEAD").split()
        self.git("checkout", "-q", self.dice.choice(older))
        self.sync()
        self.git("checkout", "-q", "-f", "main")

    def git(self, *words: str, here: str = "") -> str:
        command = ["git", "-C", here or self.folder, "-c", "core.autocrlf=false", "-c", "gc.auto=0", *words]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout

    # the end

    def check(self) -> None:
        """Raise Lost where a line is nowhere, what nobody touched does not hold, or syncing does not come to rest."""
        self.sync()
        self.memory.sync.sync_file()
        report = self.memory.sync.sync_file()
        if report.has_news:
            raise Lost(f"another sync still changed something: {report}, {report.reason}")
        database = self.memory.database
        active = {
            normalize_line(text) for (text,) in database.rows("SELECT fact FROM facts WHERE status = 'active'")
        }
        asked = {normalize_line(text) for (text,) in database.rows("SELECT text FROM proposals")}
        changes = database.rows("SELECT coalesce(before, '') || coalesce(after, '') FROM history_row")
        held = "\n".join([*active, *asked, normalize_line(self.text), *(text for (text,) in changes)])
        for text in self.written:
            if text not in held:
                raise Lost(f"nowhere: {text}")
            if text not in self.touched and text not in active and text not in asked:
                raise Lost(f"nobody touched it, and it does not hold: {text}")

    @property
    def text(self) -> str:
        with open(self.path, encoding="utf-8", newline="") as file:
            return file.read()

    def put(self, path: str, text: str) -> None:
        """Save as editors do: over the file, or another in its place."""
        place = path if self.dice.random() < 0.5 else f"{path}~"
        with open(place, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(place, path)

    def new(self) -> str:
        self.count += 1
        return f"{self.count} {' '.join(self.dice.sample(WORDS, 4))}"

    def learned(self) -> str:
        """A text that the application writes."""
        text = self.new()
        self.written.add(text)
        return text


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=2_000)
    parser.add_argument("--lines", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first schedule")
    options = parser.parse_args(arguments)
    heading("sync", f"{options.schedules:,} schedules of {ACTS} acts; a file of {options.lines:,} lines")
    lost = 0
    start = time.perf_counter()
    for seed in range(options.first, options.first + options.schedules):
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
            schedule = Schedule(folder, seed, git=seed % 4 == 0)
            try:
                schedule.live()
            except Lost as error:
                lost += 1
                print(f"schedule {seed}: {error}")
            finally:
                schedule.close()
    seconds = time.perf_counter() - start
    print(f"\nschedules that lost a line   {lost:,} of {options.schedules:,}   ({seconds:,.0f} s)\n")
    _times(options.lines)


def _times(lines: int) -> None:
    """Measure a sync of many lines: with nothing to do, one edit in the file, one new fact, and the first."""
    took: dict[str, list[float]] = {"first": [], "one edit in the file": [], "one new fact": [], "nothing": []}
    with (
        tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder,
        Memory.open(os.path.join(folder, ".memoranda", "memory.db")) as memory,
    ):
        for number in range(lines):
            memory.facts.remember(f"Rule {number} of the house: {WORDS[number % len(WORDS)]} before {number}")
        memory.sync.start_file()
        took["first"].append(_timed(memory))
        path = os.path.join(folder, "MEMORY.md")
        for number in range(ROUNDS):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(f"Rule {number} of the house", f"Rule {number} of this house"))
            took["one edit in the file"].append(_timed(memory))
            memory.facts.remember(f"A new rule, number {number}")
            took["one new fact"].append(_timed(memory))
            took["nothing"].append(_timed(memory))
    print(f"{'a sync, ms':30} median     max")
    for what, seconds in took.items():
        middle = statistics.median(seconds) * 1e3
        print(f"{what:30}{middle:7.1f}{max(seconds) * 1e3:8.1f}  {verdict(middle, SYNC_AIM, ' ms')}")


def _timed(memory: Memory) -> float:
    start = time.perf_counter()
    memory.sync.sync_file()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
