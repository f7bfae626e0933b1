"""The demo's git repository: the commits of commits.txt, written step by step with `git fast-import`."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from store.base.errors import StorageError
from tui.demo.calendar import SECOND_MS, Calendar

AUTHORS = {
    "n": "Nadia Ferrol <nadia@farola.example>",
    "t": "Tomás Arrieta <tomas@farola.example>",
    "g": "Greta Blomvall <greta@farola.example>",
}
SIGN = "§"
MAIN = "main"


@dataclass
class Edit:
    """One change of one file; the meaning of `lines` depends on `kind` (see the head of commits.txt)."""

    kind: str
    path: str
    lines: list[str] = field(default_factory=list)


@dataclass
class DemoCommit:
    """One commit to write. `at` is in milliseconds since 1970."""

    at: int
    author: str
    subject: str
    name: str = ""
    branch: str = MAIN
    merges: str = ""
    body: list[str] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)


class Project:
    """The repository in `folder`, written up to a given moment at each call."""

    def __init__(self, folder: str, calendar: Calendar) -> None:
        self.folder = folder
        self._shas: dict[str, str] = {}  # by the commit's name in commits.txt, or by its subject
        self._waiting = commits(calendar)
        self._written = 0
        self._names: dict[int, str] = {}
        self._trees: dict[str, dict[str, bytes]] = {MAIN: {}}
        self._tips: dict[str, int] = {}
        self._git("init", "--quiet", f"--initial-branch={MAIN}", "--template=", "--object-format=sha1")
        self._marks = os.path.join(folder, ".git", "demo-marks")

    def grow(self, until: int) -> bool:
        """Write the commits up to `until` (milliseconds since 1970); return whether there were any. Raises
        StorageError."""
        due = [commit for commit in self._waiting if commit.at <= until]
        if not due:
            return False
        self._waiting = self._waiting[len(due) :]
        run: list[DemoCommit] = []
        for commit in due:
            if any("{" in line for line in commit.body):  # it names an earlier commit, whose sha must be known
                self._write(run)
                run = []
            run.append(commit)
        self._write(run)
        return True

    def _write(self, run: list[DemoCommit]) -> None:
        if not run:
            return
        marks = (f"--import-marks-if-exists={self._marks}", f"--export-marks={self._marks}")
        self._git("fast-import", "--quiet", *marks, stdin=b"".join(map(self._entry, run)))
        with open(self._marks, encoding="ascii") as file:
            by_mark = {int(mark[1:]): sha for mark, sha in map(str.split, file)}
        self._shas |= {self._names[mark]: sha for mark, sha in by_mark.items()}
        self._log(run, [by_mark[mark] for mark in sorted(by_mark)[-len(run) :]])

    def _log(self, run: list[DemoCommit], shas: list[str]) -> None:
        """Write reflog entries for the commits, as `git commit` does and `fast-import` does not."""
        os.makedirs(os.path.join(self.folder, ".git", "logs"), exist_ok=True)
        with open(os.path.join(self.folder, ".git", "logs", "HEAD"), "a", encoding="utf-8") as file:
            for commit, sha in zip(run, shas, strict=True):
                who = f"{AUTHORS[commit.author]} {commit.at // 1000} +0000"
                file.write(f"{'0' * 40} {sha} {who}\tcommit: {commit.subject}\n")

    def sha(self, subject: str) -> str:
        """Return the commit whose subject starts with this."""
        return next(sha for name, sha in self._shas.items() if name.startswith(subject))

    def check_out(self) -> None:
        """Check out the files of the newest commit."""
        os.unlink(self._marks)
        self._git("reset", "--quiet", "--hard", MAIN)

    def _entry(self, commit: DemoCommit) -> bytes:
        """Format a commit for fast-import."""
        self._written += 1
        mark = self._written
        self._names[mark] = commit.name or commit.subject
        tree = self._trees.setdefault(commit.branch, dict(self._trees[MAIN]))
        changed = self._merged(commit, tree)
        for edit in commit.edits:
            changed |= _applied(edit, tree)
        body = "\n".join(commit.body).strip("\n").format(**self._shas) if commit.body else ""
        message = f"{commit.subject}\n\n{body}\n".encode() if body else f"{commit.subject}\n".encode()
        who = f"{AUTHORS[commit.author]} {commit.at // 1000} +0000"
        pieces = [f"commit refs/heads/{commit.branch}\nmark :{mark}\nauthor {who}\ncommitter {who}\n".encode()]
        pieces.append(b"data %d\n%b" % (len(message), message))
        parent = self._tips.get(commit.branch) or self._tips.get(MAIN)
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

    def _merged(self, commit: DemoCommit, tree: dict[str, bytes]) -> set[str]:
        """Copy the files that exist only on the branch into the tree; return them."""
        if not commit.merges:
            return set()
        new = {path: content for path, content in self._trees.pop(commit.merges).items() if path not in tree}
        tree.update(new)
        return set(new)

    def _git(self, *arguments: str, stdin: bytes = b"") -> None:
        """Run git here without the user's own configuration. Raises StorageError."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        own = ("-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "core.fsync=none")
        command = ["git", "-C", self.folder, *own, *arguments]
        try:
            done = subprocess.run(command, input=stdin, env=environment, capture_output=True, check=False)
        except FileNotFoundError:
            raise StorageError("The demo needs git, and there is none here.", "Install git and try again.") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().partition("\n")[0][:200]
            raise StorageError(f"git {arguments[0]} failed: {said}", "The demo was not made.")


def commits(calendar: Calendar) -> list[DemoCommit]:
    """Return all commits, oldest first, each at least a second after the previous one."""
    path = os.path.join(os.path.dirname(__file__), "commits.txt")
    with open(path, encoding="utf-8") as file:
        found = sorted(_parsed(file.read().split("\n"), calendar), key=lambda commit: commit.at)
    for before, commit in pairwise(found):
        commit.at = max(commit.at, before.at + SECOND_MS)
    return found


def _parsed(lines: list[str], calendar: Calendar) -> Iterator[DemoCommit]:
    start = next(number for number, line in enumerate(lines) if line.startswith(SIGN))
    commit: DemoCommit | None = None
    series: list[str] = []
    header: list[str] = []
    for line in lines[start:]:
        if line.startswith(f"{SIGN}{SIGN} "):
            yield from _series(header, series, calendar)
            header, series, commit = line.split()[1:], [], None
        elif line.startswith(f"{SIGN} "):
            commit = _commit(line.split(" ")[1:], calendar)
            yield commit
        elif commit is None:
            series += [line] if line else []
        elif line.startswith(SIGN):
            kind, path = line[1:].split(" ", 1)
            commit.edits.append(Edit(kind, path))
        elif commit.edits:
            commit.edits[-1].lines.append(line)
        else:
            commit.body.append(line)
    yield from _series(header, series, calendar)


def _commit(words: list[str], calendar: Calendar) -> DemoCommit:
    commit = DemoCommit(calendar.at(words[0]), words[1], "")
    rest = words[2:]
    while "=" in rest[0]:
        key, _, value = rest.pop(0).partition("=")
        if key == "":
            commit.name = value
        elif key == "on":
            commit.branch = value
        else:
            commit.merges = value
    commit.subject = " ".join(rest)
    return commit


def _series(header: list[str], lines: list[str], calendar: Calendar) -> Iterator[DemoCommit]:
    """Yield one commit for each line, spread over the days of the header."""
    if not lines:
        return
    path, first, last, authors = header
    step = (float(first) - float(last)) / len(lines)
    for number, line in enumerate(lines):
        subject, _, text = line.partition(" | ")
        days = float(first) - step * (number + (0, 0.3, 0.15, 0.4)[number % 4])
        author = authors.split(",")[number % len(authors.split(","))]
        yield DemoCommit(calendar.at(str(days)), author, subject, edits=[Edit("add", path, [text])])


def _applied(edit: Edit, tree: dict[str, bytes]) -> set[str]:
    """Apply an edit to the tree; return the changed paths."""
    if edit.kind == "move":
        old, new = edit.path.split(" ")
        tree[new] = tree.pop(old)
        return {old, new}
    if edit.kind == "gone":
        del tree[edit.path]
    elif edit.kind == "data":
        tree[edit.path] = base64.b64decode(edit.lines[0])
    elif edit.kind == "cut":
        before, after = (_side(edit.lines, sign) for sign in ("+", "-"))
        if tree[edit.path].count(before) != 1:
            raise ValueError(f"commits.txt: {edit.path} does not hold this once: {before!r}")
        tree[edit.path] = tree[edit.path].replace(before, after)
    else:
        text = "".join(f"{line}\n" for line in edit.lines).encode()
        tree[edit.path] = tree.get(edit.path, b"") + text if edit.kind == "add" else text
    return {edit.path}


def _side(lines: list[str], left_out: str) -> bytes:
    """Return one side of a diff: its lines without those marked for the other side."""
    return "".join(f"{line[1:]}\n" for line in lines if line and line[0] != left_out).encode()
