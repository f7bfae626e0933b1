"""Make the demo: its git repository and its memory, a year long, in seconds.

The demo's git repository: the commits of commits.txt, written step by step with `git fast-import`.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from store.base.citations import cite
from store.base.clock import DAY_MS, from_ms, to_ms
from store.base.errors import StorageError
from store.base.location import DATABASE_FILE, MEMORANDA_FOLDER, Location
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.inbox.duplicates import mark_all_compared
from store.learning.rule_pass import run_rule_pass
from store.memory import Memory
from store.upkeep.maintenance import read_new_commits, timeline_repository

# The demo's time: every date is relative to the `now` that it is built for.

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
SECOND_MS = 1_000


class Calendar:
    """Moments before `now`, of which `ms` is the present one: a clock that never goes back, on which two writes at one
    moment are a second apart. The sprint began on this week's Monday, or on last week's if now is a Monday."""

    def __init__(self, now: str) -> None:
        self.now = to_ms(now)
        day = datetime.fromisoformat(now).astimezone(UTC)
        monday = (day - timedelta(days=day.weekday() or 7)).replace(hour=5, minute=0, second=0, microsecond=0)
        self._monday = round(monday.timestamp() * 1000)
        # the end of the sprint's days and the start of yesterday, also if yesterday was Monday
        self._yesterday = max(self.now - 26 * HOUR_MS, self._monday + 6 * HOUR_MS)
        self.ms = self.at("358")

    def at(self, when: str) -> int:
        """Convert a table's time to milliseconds since 1970: `12` is that many days ago in working hours; `12.9` to
        `12.1` early to late on that day; `1.5` exactly that many days ago; `+.3` that fraction of the way from Monday
        to yesterday.

        The order of the tables is kept: values below 2 come after all of `+`, and those after the rest."""
        if when.startswith("+"):
            part = float(when)
            raw = self._monday + round(part * (self._yesterday - self._monday))
            midnight = raw // DAY_MS * DAY_MS
            # any hour of a day is mapped into 8 to 18 o'clock UTC, in the same order
            worked = midnight + 8 * HOUR_MS + (raw - midnight) * 10 // 24
            return min(worked, self._yesterday - round((1 - part) * MINUTE_MS))
        days, part = divmod(float(when), 1)
        if days < 2:
            ago = float(when)
            return max(self.now - round(ago * DAY_MS), self._yesterday + round((2 - ago) * 30 * MINUTE_MS))
        # so that not everything happens on the hour
        minutes = int(days) * 13 % 10 / 100
        of_day = 0.9 * (1 - part) + minutes if part else 0.25 + int(days) * 37 % 60 / 100
        return self.now // DAY_MS * DAY_MS - int(days) * DAY_MS + round((8 + 10 * of_day) * HOUR_MS)

    def __call__(self) -> str:
        return from_ms(self.ms)

    def move_to(self, at: int) -> None:
        """Move to `at`, or slightly forward if that has passed."""
        self.ms = max(at, self.ms + SECOND_MS)


DEMO_AUTHORS = {
    "n": "Nadia Ferrol <nadia@farola.example>",
    "t": "Tomás Arrieta <tomas@farola.example>",
    "g": "Greta Blomvall <greta@farola.example>",
}
EDIT_SIGN = "§"
MAIN_BRANCH = "main"


class DemoEdit(NamedTuple):
    """One change of one file; the meaning of `lines` depends on `kind` (see the head of commits.txt)."""

    kind: str
    path: str
    lines: list[str]


@dataclass
class DemoCommit:
    """One commit to write. `at` is in milliseconds since 1970."""

    at: int
    author: str
    subject: str
    name: str = ""
    branch: str = MAIN_BRANCH
    merges: str = ""
    body: str = ""
    edits: list[DemoEdit] = field(default_factory=list)

    @property
    def who(self) -> str:
        """The author, and when."""
        return f"{DEMO_AUTHORS[self.author]} {self.at // 1000} +0000"


class DemoProject:
    """The repository in `folder`, written up to a given moment at each call."""

    def __init__(self, folder: str, calendar: Calendar) -> None:
        self.folder = folder
        # by the commit's name in commits.txt, or by its subject
        self._shas: dict[str, str] = {}
        text = Path(__file__).with_name("commits.txt").read_text(encoding="utf-8")
        # oldest first, each at least a second after the one before
        self._waiting = sorted(_parse_commits(text, calendar), key=lambda commit: commit.at)
        for before, commit in pairwise(self._waiting):
            commit.at = max(commit.at, before.at + SECOND_MS)
        # of the commits written, by their marks from 1 on
        self._names: list[str] = []
        self._trees: dict[str, dict[str, bytes]] = {MAIN_BRANCH: {}}
        self._tips: dict[str, int] = {}
        self._git("init", "--quiet", f"--initial-branch={MAIN_BRANCH}", "--template=", "--object-format=sha1")
        self._marks = os.path.join(folder, ".git", "demo-marks")

    def grow(self, until: int) -> bool:
        """Write the commits up to `until` (milliseconds since 1970); return whether there were any. Raises
        StorageError."""
        due = [commit for commit in self._waiting if commit.at <= until]
        self._waiting = self._waiting[len(due) :]
        run: list[DemoCommit] = []
        for commit in due:
            # it names an earlier commit, whose sha must be known
            if "{" in commit.body:
                self._write(run)
                run = []
            run.append(commit)
        self._write(run)
        return bool(due)

    def _write(self, run: list[DemoCommit]) -> None:
        """Write these commits, and what `git commit` writes to the reflog and `fast-import` does not."""
        if not run:
            return
        marks = (f"--import-marks-if-exists={self._marks}", f"--export-marks={self._marks}")
        self._git("fast-import", "--quiet", *marks, stdin=b"".join(map(self._entry, run)))
        with open(self._marks, encoding="ascii") as file:
            written = sorted((int(mark[1:]), sha) for mark, sha in map(str.split, file))
        shas = [sha for _, sha in written]
        self._shas |= zip(self._names, shas, strict=True)
        logs = os.path.join(self.folder, ".git", "logs")
        os.makedirs(logs, exist_ok=True)
        with open(os.path.join(logs, "HEAD"), "a", encoding="utf-8") as file:
            for commit, sha in zip(run, shas[-len(run) :], strict=True):
                file.write(f"{'0' * 40} {sha} {commit.who}\tcommit: {commit.subject}\n")

    def sha(self, subject: str) -> str:
        """Return the commit whose subject starts with this."""
        return next(sha for name, sha in self._shas.items() if name.startswith(subject))

    def check_out(self) -> None:
        """Check out the files of the newest commit."""
        os.unlink(self._marks)
        self._git("reset", "--quiet", "--hard", MAIN_BRANCH)

    def _entry(self, commit: DemoCommit) -> bytes:
        """Format a commit for fast-import."""
        self._names.append(commit.name or commit.subject)
        mark = len(self._names)
        tree = self._trees.setdefault(commit.branch, dict(self._trees[MAIN_BRANCH]))
        merged = self._trees.pop(commit.merges) if commit.merges else {}
        new = {path: content for path, content in merged.items() if path not in tree}
        tree |= new
        changed = set(new).union(*(_apply_edit(edit, tree) for edit in commit.edits))
        body = commit.body.strip("\n").format(**self._shas)
        message = f"{commit.subject}\n\n{body}".strip().encode() + b"\n"
        pieces = [
            f"commit refs/heads/{commit.branch}\nmark :{mark}\nauthor {commit.who}\ncommitter {commit.who}\n".encode()
        ]
        pieces.append(b"data %d\n%b" % (len(message), message))
        parent = self._tips.get(commit.branch) or self._tips.get(MAIN_BRANCH)
        pieces += [b"from :%d\n" % parent] if parent else []
        pieces += [b"merge :%d\n" % self._tips[commit.merges]] if commit.merges else []
        for path in sorted(changed):
            content = tree.get(path)
            if content is None:
                pieces.append(f"D {path}\n".encode())
            else:
                pieces.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(content), content))
        if commit.merges:
            pieces.append(f"reset refs/heads/{commit.merges}\nfrom {'0' * 40}\n\n".encode())
        self._tips[commit.branch] = mark
        return b"".join(pieces)

    def _git(self, *arguments: str, stdin: bytes = b"") -> None:
        """Run git here without the user's own configuration. Raises StorageError."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        own = ("-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "core.fsync=none")
        command = ["git", "-C", self.folder, *own, *arguments]
        try:
            done = subprocess.run(command, input=stdin, env=environment, capture_output=True, check=False)
        except FileNotFoundError:
            raise StorageError(
                "The demo needs git, and there is none here.", "Install git and try again."
            ) from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().partition("\n")[0][:200]
            raise StorageError(f"git {arguments[0]} failed: {said}", "The demo was not made.")


def _parse_commits(text: str, calendar: Calendar) -> Iterator[DemoCommit]:
    """Yield the commits of commits.txt: those that stand alone, then the series."""
    alone, *series = text.split(f"\n{EDIT_SIGN}{EDIT_SIGN} ")
    for part in alone.split(f"\n{EDIT_SIGN} ")[1:]:
        head, *edits = part.split(f"\n{EDIT_SIGN}")
        header, _, body = head.partition("\n")
        when, author, *words = header.split(" ")
        commit = DemoCommit(calendar.at(when), author, "", body=body)
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            setattr(commit, name, value)
        commit.subject = " ".join(words)
        for edit in edits:
            place, *lines = edit.split("\n")
            kind, _, path = place.partition(" ")
            commit.edits.append(DemoEdit(kind, path, lines))
        yield commit
    for part in series:
        yield from _parse_series(part.rstrip("\n").split("\n"), calendar)


def _parse_series(rows: list[str], calendar: Calendar) -> Iterator[DemoCommit]:
    """Yield one commit for each line below a header, spread over its days."""
    header, *lines = rows
    path, first, last, authors = header.split()
    step = (float(first) - float(last)) / len(lines)
    for number, line in enumerate(lines):
        subject, _, text = line.partition(" | ")
        days = float(first) - step * (number + (0, 0.3, 0.15, 0.4)[number % 4])
        author = authors.split(",")[number % len(authors.split(","))]
        yield DemoCommit(calendar.at(str(days)), author, subject, edits=[DemoEdit("add", path, [text])])


def _apply_edit(edit: DemoEdit, tree: dict[str, bytes]) -> set[str]:
    """Apply an edit to the tree; return the changed paths."""
    if edit.kind == "move":
        old, new = edit.path.split(" ")
        tree[new] = tree.pop(old)
        return {old, new}
    if edit.kind == "data":
        tree[edit.path] = base64.b64decode(edit.lines[0])
    elif edit.kind == "cut":
        before, after = (_side_of_diff(edit.lines, sign) for sign in ("+", "-"))
        if tree[edit.path].count(before) != 1:
            raise ValueError(f"commits.txt: {edit.path} does not hold this once: {before!r}")
        tree[edit.path] = tree[edit.path].replace(before, after)
    else:
        text = "".join(f"{line}\n" for line in edit.lines).encode()
        tree[edit.path] = tree.get(edit.path, b"") + text if edit.kind == "add" else text
    return {edit.path}


def _side_of_diff(lines: list[str], left_out: str) -> bytes:
    """Return one side of a diff: its lines without those marked for the other side."""
    return "".join(f"{line[1:]}\n" for line in lines if line and line[0] != left_out).encode()


# Write the demo's year: every row of year.jsonl, through the public API, in chronological order.
#
# A row is `[when, actor, what, arguments]`. `when` is the calendar's; `what` is a method of `DemoYear`, or with a dot
# of the memory, as in `tasks.move`, whose arguments follow. A fact that later rows change has a `name`, else its text
# is its name; `seen` is when a person confirmed it. The numbers of decisions and tasks are their places in the year:
# the commits of commits.txt cite decisions by them.
#
# Retention deletes five-minute checkpoints after a day and half-hour ones after a week. The last links of commits
# before Monday are after that day's commits, so that they are not among the changes since.

# actor → the door that it writes through
DEMO_DOORS = {
    "user": "app",
    "agent": "hook",
    "mcp:claude-code": "mcp",
    "hook": "hook",
    "file": "worker",
    "import:notes": "cli",
    "duplicates": "worker",
}


def read_year_rows() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Return the rows of the year, in the order of the file."""
    text = Path(__file__).with_name("year.jsonl").read_text(encoding="utf-8")
    return [tuple(json.loads(line)) for line in text.splitlines()]


class DemoYear:
    """One build of the demo; keeps the ids of written facts by their names."""

    def __init__(self, memory: Memory, project: DemoProject, calendar: Calendar) -> None:
        self._memory = memory
        self._project = project
        self._calendar = calendar
        self._facts: dict[str, int] = {}

    def acts(self) -> Iterator[tuple[int, str, Callable[[], object]]]:
        """Yield everything that happens, in no order: when, by whom, and what is done."""
        for when, actor, what, arguments in read_year_rows():
            seen = arguments.pop("seen", "")
            call = attrgetter(what)(self._memory if "." in what else self)
            yield self._calendar.at(when), actor, partial(call, **arguments, actor=actor)
            for later in seen.split():
                name = arguments.get("name", arguments["text"])
                yield self._calendar.at(later), "user", partial(self.confirm, [name], "user")

    def read_git(self) -> None:
        """Write the commits up to this moment, and read the new ones into the timeline."""
        door = self._memory.database.door
        self._memory.database.door = "worker"
        if self._project.grow(self._calendar.ms):
            source = timeline_repository(self._memory, self._project.folder)
            if source is not None:
                read_new_commits(self._memory, source)
        self._memory.database.door = door

    def remember(self, text: str, actor: str, name: str = "", **details: Any) -> None:
        source = "explicit" if actor == "user" else "inferred"
        self._facts[name or text], _ = self._memory.facts.remember(text, actor=actor, source=source, **details)

    def confirm(self, facts: Sequence[str], actor: str) -> None:
        self._memory.facts.confirm([self._facts[name] for name in facts], actor=actor)

    def correct(self, fact: str, text: str, name: str, actor: str) -> None:
        self._facts[name] = self._memory.facts.correct(self._facts[fact], text, actor=actor)

    def forget(self, facts: Sequence[str], actor: str) -> None:
        self._memory.facts.forget([self._facts[name] for name in facts], actor=actor)

    def say(self, session: str, role: str, text: str, actor: str) -> None:
        turn = NewTurn(role, text, "Nadia" if role == "user" else "")
        self._memory.turns.add_turns(session, [turn], origin=actor)

    def send_context(self, session: str, actor: str, cites: Sequence[str] = ()) -> None:
        """Send the agent a context for the last turn of a session; its answer cites these facts."""
        context = self._memory.context
        number = context.sent_log.log_context(context("", session), actor=actor)
        cited = [cite("fact", self._facts[name]) for name in cites]
        context.sent_log.log_answer(number, valid=True, cited=cited, actor=actor)

    def take_due(self, level: str, actor: str) -> None:
        self._memory.checkpoints.take_due(level)

    def read_session(self, session: str, actor: str) -> None:
        """Look for facts in a session, and summarise it."""
        run_rule_pass(self._memory)
        Summaries(self._memory.database).summarize_due(session, all_of_it=True)

    def propose(
        self,
        kind: str,
        actor: str,
        about: str = "",
        others: Sequence[str] = (),
        quotes: Sequence[tuple[str, str]] = (),
        reason: str = "",
        **change: Any,
    ) -> None:
        """Propose a change that waits for Nadia's decision; a quote is from a citation, or from a fact by its text."""
        evidence = [
            {"citation": cite("fact", self._facts[at]) if at in self._facts else at, "quote": words}
            for at, words in quotes
        ]
        empty = {"fact": "", "domain": "", "confidence": "", "tags": []}
        self._memory.inbox.propose(
            kind,
            empty | {"others": [self._facts[one] for one in others]} | change,
            target=self._facts[about] if about else None,
            evidence=evidence,
            origin=actor,
            reason=reason,
        )

    def link_commit(self, commit: str, decision: int, actor: str, **kind: str) -> None:
        """Link a commit, named by the start of its subject, that states no decision. The rows are in a few batches:
        each reads git first, which takes 0.1 s."""
        self.read_git()
        self._memory.commits.link(self._project.sha(commit), decision, actor=actor, **kind)


DEMO_NAME = "billing-api"


def build_demo(folder: str, now: str) -> Location:
    """Create `folder/billing-api`, its git repository and its memory, which ends at `now`; return the memory's
    location.

    The same `now` gives the same shas, ids and times. Raises StorageError, also if something exists there already."""
    root = os.path.join(os.path.abspath(folder), DEMO_NAME)
    try:
        os.makedirs(root)
    except OSError as error:
        why = "is there already" if isinstance(error, FileExistsError) else f"cannot be made: {error.strerror}"
        raise StorageError(f"{root} {why}.", "Name another folder for the demo.") from None
    calendar = Calendar(now)
    project = DemoProject(root, calendar)
    path = os.path.join(root, MEMORANDA_FOLDER, DATABASE_FILE)
    location = Location(path, "new-project", "made by memoranda demo", root)
    with Memory(location, "cli", calendar) as memory:
        # not synced: a demo lost to a power cut is built again
        memory.database.connection.pragma("synchronous", 0)
        year = DemoYear(memory, project, calendar)
        for at, actor, do in sorted(year.acts(), key=lambda act: act[0]):
            calendar.move_to(at)
            memory.database.door = DEMO_DOORS[actor]
            do()
        calendar.move_to(calendar.now - 1)
        year.read_git()
        # facts of that year are marked as checked
        mark_all_compared(memory.database)
    project.check_out()
    return location
