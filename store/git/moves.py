"""Where git has the files and the lines of an earlier commit now: what was renamed, and how lines moved.

Two commits are compared, never the working tree: for that git would run filters that the repository names.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store.git.process import run

MOST_BYTES = 40_000_000  # of a comparison that are read
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
Hunk = tuple[int, int, int, int]  # first line and number of lines before, and after


@dataclass(frozen=True, slots=True)
class GitMove:
    """What became of a file: its `path` now, empty if it is gone, and the parts in which it changed, in order."""

    path: str
    hunks: Sequence[Hunk] = ()

    def lines(self, first: int, last: int) -> tuple[int, int] | None:
        """Return where lines are now; None if all of them are gone."""
        start = end = 0  # by how much lines before either end moved
        left = last - first + 1
        for old, size, _, grown in self.hunks:
            before = old if size else old + 1  # without lines before, git names the line that they follow
            if before > last:
                break
            inside = min(last, before + size - 1) - max(first, before) + 1
            if size and inside > 0:
                left -= inside
                left += min(grown, inside)
                end += grown - size
                start += max(0, grown - size) if before < first else 0
            elif before + size <= first:
                start += grown - size
                end += grown - size
            else:
                end += grown
        return (max(1, first + start), max(1, first + start, last + end)) if left > 0 else None


def since(root: str, base: str, until: float) -> dict[str, GitMove]:
    """Return what became of each file that differs between the commit `base` and the one that is checked out, by its
    path then, both below the folder `root`; what was read by `until`, a moment of `time.monotonic`. Raise GitError."""
    options = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--relative", "--find-renames", "-l1000")
    form = ("-r", "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", "--no-commit-id", "--no-color")
    with run(root, "diff-tree", *options, *form, base, "HEAD", "--") as child:
        found = dict(_files(_lines(child.chunks(lambda: time.monotonic() > until))))
        if time.monotonic() <= until:
            child.check()
    return found


def files(root: str, until: float) -> list[str]:
    """Return the files below `root` that are tracked, or new and not ignored. Raise GitError."""
    with run(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard") as child:
        data = b"".join(child.chunks(lambda: time.monotonic() > until))
    return [one.decode("utf-8", "surrogateescape") for one in data.split(b"\0") if one]


def holding(root: str, name: str, until: float) -> list[str]:
    """Return the files below `root` that hold a word. Raise GitError."""
    with run(root, "grep", "-l", "-z", "-w", "-F", "--untracked", "-e", name) as child:
        data = b"".join(child.chunks(lambda: time.monotonic() > until))
    return [one.decode("utf-8", "surrogateescape") for one in data.split(b"\0") if one]


def reachable(root: str, shas: Sequence[str], until: float) -> dict[str, tuple[str, bool]]:
    """Return, of each of these shas or prefixes that git has, the whole sha, and whether a branch, a tag or HEAD leads
    to it. Raise GitError."""
    known: dict[str, str] = {}
    form = "--batch-check=%(objectname) %(objecttype)"
    with run(root, "cat-file", form, lines=[f"{sha}^{{commit}}" for sha in shas]) as child:
        answers = b"".join(child.chunks(lambda: time.monotonic() > until)).split(b"\n")
    for sha, answer in zip(shas, answers, strict=False):
        name, _, kind = answer.partition(b" ")
        if kind == b"commit":
            known[sha] = name.decode("ascii")
    if not known:
        return {}
    tips = ("--not", "--branches", "--tags", "--remotes", "HEAD")
    with run(root, "rev-list", "--stdin", *tips, lines=sorted(set(known.values()))) as child:
        lost = set(child.words(lambda: time.monotonic() > until))
    return {sha: (whole, whole not in lost) for sha, whole in known.items()}


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    pending, size = b"", 0
    for chunk in chunks:
        size += len(chunk)
        *whole, pending = (pending + chunk).split(b"\n")
        yield from whole
        if size > MOST_BYTES:
            return


def _files(lines: Iterator[bytes]) -> Iterator[tuple[str, GitMove]]:
    old = new = ""
    hunks: list[Hunk] = []
    left = 0  # lines of a part that are still to come: they may begin as anything does
    for line in lines:
        if left and line[:1] in b"+-":
            left -= 1
        elif line.startswith(b"diff --git "):
            if old:
                yield old, GitMove(new, tuple(hunks))
            old, new, hunks, left = "", "", [], 0
        elif line.startswith((b"--- a/", b"rename from ")):
            old = _path(line.removeprefix(b"--- a/").removeprefix(b"rename from "))
        elif line.startswith((b"+++ b/", b"rename to ")):
            new = _path(line.removeprefix(b"+++ b/").removeprefix(b"rename to "))
        elif match := _HUNK.match(line):
            old_first, old_size, first, size = (1 if part is None else int(part) for part in match.groups())
            hunks.append((old_first, old_size, first, size))
            left = old_size + size
    if old:
        yield old, GitMove(new, tuple(hunks))


def _path(raw: bytes) -> str:
    return raw.rstrip(b"\t").decode("utf-8", "surrogateescape")
