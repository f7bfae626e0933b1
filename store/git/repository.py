"""Read a git repository by running `git` (see `process`): its commits, their stats, their diffs.

Nothing here writes or fetches. A damaged part of a repository affects only itself. Needs git 2.31 or newer
(`--diff-merges`). There is no database here.
"""

import codecs
import heapq
import itertools
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from store.base.cancelling import Cancelled, never
from store.git import refs
from store.git.process import Child, GitError, NeverFetched, run

__all__ = ["CommitInfo", "Diff", "GitError", "Repository"]

_WHOLE_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ANY_SHA = re.compile(r"[0-9a-f]{4,64}\Z")
_SHORTSTAT = re.compile(rb"\s*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*\Z")
_COMMIT_DATE = re.compile(rb"^committer .*> (\d+) [+-]\d{4}$", re.MULTILINE)

_DIFF_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--submodule=short",  # `diff` would run git inside the submodule, under the submodule's configuration
    "--ignore-submodules=none",
    "--root",
    "--diff-merges=first-parent",
    "--find-renames",
    "-l1000",  # git's own limit since 2.34; the repository could set none, and pairing is quadratic
)


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit and its size, a merge measured against its first parent and a root commit against nothing.

    `sha` has 40 or 64 hexadecimal digits; `message` is whole, without trailing newlines; `author` is a name after the
    mailmap; `committed_at` is ISO 8601 in UTC with milliseconds. A renamed file counts once, a binary one has no lines.
    `measured` is false, and the size 0, where files that would have to be compared are lost or were never fetched.
    """

    sha: str
    message: str
    author: str
    committed_at: str
    files_changed: int
    insertions: int
    deletions: int
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Diff:
    """A commit's summary of files and its patch. `truncated` means that more follows.

    The cut is at the end of a line, unless the last one is longer than half of the limit.
    """

    text: str
    truncated: bool


class Repository:
    """The git repository that contains the folder `root`: the main checkout, a worktree, a bare or a shallow clone.

    No child process outlives a call. Every method raises GitError; making a Repository runs nothing. Where a method
    takes `cancelled` it is called ten times a second; once it returns true the method ends, and its result is not
    valid.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def tips(self, cancelled: Cancelled = never) -> list[str]:
        """Return the shas of HEAD and of the local branches, sorted, each once; empty before the first commit."""
        try:
            with run(self.root, "show-ref", "--head", "--heads", "--hash") as child:
                shas = child.words(cancelled, accepted=(0, 1))  # 1: no ref at all
        except GitError:  # one branch whose commit is lost is enough for that
            with run(self.root, "for-each-ref", "--format=%(objectname)", "refs/heads") as child:
                shas = child.words(cancelled)
            with run(self.root, "rev-parse", "--quiet", "--verify", "HEAD") as child:
                shas += child.words(cancelled, accepted=(0, 1))
        return sorted(set(shas))

    def missing(
        self, known_tips: Iterable[str], tips: Sequence[str] | None = None, cancelled: Cancelled = never
    ) -> list[str]:
        """Return the shas reachable from the tips and not from `known_tips`, newest first, no parent before its child.

        A known tip that does not exist (amended and collected, for example) is ignored. A known tip stands for all its
        ancestors, so history that `git fetch --unshallow` adds below one is not found unless that tip is left out.
        """
        known = {_checked(sha, _WHOLE_SHA) for sha in known_tips}
        if tips is None:
            tips = self.tips(cancelled)
        if known.issuperset(tips):
            return []
        return self._walk(tips, known, cancelled, "--ignore-missing")

    def lost(self, known_tips: Sequence[str], tips: Sequence[str], cancelled: Cancelled = never) -> list[str]:
        """Return the shas reachable from `known_tips` and no longer from `tips`, newest first. Raise GitError when a
        known tip itself does not exist: its ancestors are unknown then."""
        return self._walk(known_tips, tips, cancelled)

    def reachable(self, tips: Sequence[str], cancelled: Cancelled = never) -> tuple[list[str], list[str]]:
        """Return (all that is reachable from the tips, in the order of `missing`; those of them that git cannot read).

        What is behind a broken commit is known only if another path leads there. Raise GitError if all are broken.
        """
        try:
            return self._walk(tips, (), cancelled), []
        except GitError:
            shas, broken = self._walk_by_hand(tips, cancelled)
            if not shas and not cancelled():
                raise
            return shas, broken

    def _walk(self, tips: Sequence[str], known: Iterable[str], cancelled: Cancelled, *options: str) -> list[str]:
        if not tips:
            return []
        revisions = [*tips, *(f"^{sha}" for sha in sorted(known))]
        with run(self.root, "rev-list", "--date-order", *options, "--stdin", lines=revisions) as child:
            return child.words(cancelled)

    def _walk_by_hand(self, tips: Sequence[str], cancelled: Cancelled) -> tuple[list[str], list[str]]:
        """Return the result of `reachable`, commit by commit: `git rev-list` prints nothing when one of them is lost.
        Some 15,000 commits a second."""
        cut = set(refs.boundary(self.root))
        parents: dict[str, list[str]] = {}
        dates: dict[str, int] = {}
        broken: dict[str, None] = {}
        waiting = list(tips)
        with run(self.root, "cat-file", "--batch", talk=True) as child:
            while waiting and not cancelled():
                sha = waiting.pop()
                if sha in parents or sha in broken:
                    continue
                *_, kind, size = child.ask(sha, cancelled).split() or [b"", b""]
                if kind != b"commit":  # `<sha> missing`, also for one that is damaged
                    child.output.read(int(size) + 1 if size.isdigit() else 0)
                    broken[sha] = None
                    continue
                body = child.output.read(int(size) + 1)
                header = body.partition(b"\n\n")[0]
                date = _COMMIT_DATE.search(header)
                dates[sha] = int(date[1]) if date else 0
                above = re.findall(rb"^parent ([0-9a-f]{40,64})$", header, re.MULTILINE)
                parents[sha] = [] if sha in cut else [parent.decode("ascii") for parent in above]
                waiting += parents[sha]
        return _newest_first(parents, dates), list(broken)

    def read(self, shas: Sequence[str], cancelled: Cancelled = never) -> Generator[CommitInfo, None, None]:
        """Stream the commits in the given order, a repeated sha once; close the generator to stop early.

        A commit that git does not have is left out. About 2.5 s for 20,000 commits, nearly all of it git decompressing
        the files it compares.
        """
        return self._read(list(dict.fromkeys(_checked(sha, _WHOLE_SHA) for sha in shas)), cancelled)

    def _read(self, shas: list[str], cancelled: Cancelled) -> Generator[CommitInfo, None, None]:
        """Run one git for all of them. Where one commit ends it, read single commits and then more and more at a time:
        a broken commit costs only a few processes."""
        place, size, measured = 0, len(shas), True
        while place < len(shas) and not cancelled():
            end = min(place + size, len(shas))
            try:
                for info in self._stream(shas[place:end], measured, cancelled):
                    place = shas.index(info.sha, place, end) + 1
                    yield info
                place, size = end, size * 2
            except NeverFetched:  # by design, and for nearly all commits of such a clone
                if not measured:
                    raise
                measured = False
            except GitError:
                if size == 1:
                    yield from self._unmeasured(shas[place], cancelled)
                    place += 1
                size = 1

    def _unmeasured(self, sha: str, cancelled: Cancelled) -> list[CommitInfo]:
        """Return a commit without its size, if git can read so much of it. Raise GitError if git can read nothing
        here."""
        try:
            return list(self._stream([sha], False, cancelled))
        except GitError:
            self.tips(cancelled)
            return []

    def _stream(self, shas: list[str], measured: bool, cancelled: Cancelled) -> Iterator[CommitInfo]:
        # No field can contain a NUL, so a NUL before each field is a frame that no message can forge. With -z git adds
        # one after the message; --shortstat, unlike --numstat, is then a single field and contains no paths.
        arguments = ("--no-walk=unsorted", "--ignore-missing", "--stdin", "-z", "--encoding=UTF-8", *_DIFF_OPTIONS)
        form = "--format=tformat:%x00%H%x00%ct%x00%aN%x00%B"
        with run(self.root, "log", *arguments, "--shortstat" if measured else "--no-patch", form, lines=shas) as child:
            fields = _fields(child, cancelled)
            next(fields, None)  # the text before the first NUL: empty
            while len(record := list(itertools.islice(fields, 5))) == 5 and not cancelled():
                yield _commit(record, measured)

    def tags(self, cancelled: Cancelled = never) -> dict[str, str]:
        """Return the name of each tag of a commit → that commit's `committed_at`."""
        at = "%(if)%(*objectname)%(then)%(*committerdate:unix)%(else)%(committerdate:unix)%(end)"
        form = f"{at} %(refname:lstrip=2)"
        with run(self.root, "for-each-ref", f"--format={form}", "refs/tags") as child:
            rows = b"".join(child.chunks(cancelled)).split(b"\n")
            if not cancelled():
                child.check()
        named = [row.split(b" ", 1) for row in rows if row]
        return {_text(name): _timestamp(at) for at, name in named if at}

    def diff(self, sha: str, max_bytes: int = 400_000, columns: int = 100) -> Diff:
        """Return the changes of one commit (an abbreviated sha is accepted), at most `max_bytes` of them; the lines of
        its files are at most `columns` wide.

        A merge is compared with its first parent and a root commit with the empty tree; a binary file is one line.
        """
        revision = _checked(sha, _ANY_SHA) + "^{commit}"
        # Plumbing, unlike `git show`, does not read the diff.* configuration meant for people (prefixes, context, …).
        arguments = ("--no-commit-id", f"--stat={columns}", "--patch", *_DIFF_OPTIONS, revision, "--")
        with run(self.root, "diff-tree", *arguments) as child:
            data = child.output.read(max_bytes + 1)
            truncated = len(data) > max_bytes
            if truncated:
                data = data[: data.rfind(b"\n", max_bytes // 2, max_bytes) + 1 or max_bytes]
            else:
                child.check()
        # An incremental decoder omits a character that the cut of a long line has split.
        return Diff(codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not truncated), truncated)


def _newest_first(parents: dict[str, list[str]], dates: dict[str, int]) -> list[str]:
    """Return the commits by date, newest first, but none before its last child."""
    children = dict.fromkeys(parents, 0)
    for above in parents.values():
        for parent in above:
            if parent in children:
                children[parent] += 1
    ready = [(-dates[sha], sha) for sha, count in children.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, sha = heapq.heappop(ready)
        order.append(sha)
        for parent in parents[sha]:
            if parent in children:
                children[parent] -= 1
                if not children[parent]:
                    heapq.heappush(ready, (-dates[parent], parent))
    return order


def _fields(child: Child, cancelled: Cancelled) -> Iterator[bytes]:
    """Yield the fields between the NULs of the output. The last is yielded only when git ended well: else it may be
    incomplete."""
    pending = b""
    for chunk in child.chunks(cancelled):
        *fields, pending = (pending + chunk).split(b"\0")
        yield from fields
    if not cancelled():
        child.check()
        yield pending


def _commit(record: Sequence[bytes], measured: bool) -> CommitInfo:
    sha, seconds, author, message, stat = record
    counts = _SHORTSTAT.match(stat)
    if stat.strip() and not counts:
        raise GitError("git gave the size of a commit in a form not known here.", "Check that git is 2.31 or newer.")
    files, insertions, deletions = (int(count or 0) for count in counts.groups()) if counts else (0, 0, 0)
    return CommitInfo(
        sha=sha.decode("ascii"),
        message=_text(message).rstrip("\r\n"),
        author=_text(author),
        committed_at=_timestamp(seconds),
        files_changed=files,
        insertions=insertions,
        deletions=deletions,
        measured=measured,
    )


def _text(data: bytes) -> str:
    """Decode UTF-8, as git was asked for. A commit without an encoding is stored as it was written: where none of its
    characters is UTF-8 it is Latin-1, as git assumes too; where some are, the rest is damaged."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and text.replace("\ufffd", "").isascii():
        return data.decode("latin-1")
    return text


def _timestamp(seconds: bytes) -> str:
    """Return Unix seconds as ISO 8601; 1970 for a date that is invalid or beyond the year 9999, as git itself shows
    it."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _checked(sha: str, form: re.Pattern[str]) -> str:
    """Return the sha in lower case. Raise for anything else, which could be read as an option or a range."""
    if not form.match(sha.lower()):
        raise GitError("This is not the sha of a commit.", "Give its hexadecimal digits, as `git log` shows them.")
    return sha.lower()
