"""Read a git repository by running `git` (see `process`): its commits, their stats, their diffs.

Nothing here writes or fetches. A damaged part of a repository affects only itself. Needs git 2.31 or newer
(`--diff-merges`). There is no database here.
"""

import codecs
import heapq
import itertools
import os
import re
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from store.base.runtime import IsCancelled, never_cancelled, read_file_stamp, read_plain_file
from store.git.checkout import read_checkout
from store.git.process import GitError, GitProcess, ObjectNeverFetched, run_git

# Where git has the files and the lines of an earlier commit now: what was renamed, and how lines moved.
#
# Two commits are compared, never the working tree: for that git would run filters that the repository names.

# of a comparison that are read
MAX_DIFF_BYTES = 40_000_000
_HUNK_HEADER = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# first line and number of lines before, and after
DiffHunk = tuple[int, int, int, int]


class GitMove(NamedTuple):
    """What became of a file: its `path` now, empty if it is gone, and the parts in which it changed, in order."""

    path: str
    hunks: Sequence[DiffHunk] = ()

    def map_lines(self, first: int, last: int) -> tuple[int, int] | None:
        """Return where lines of the earlier file are now, as (first, last); None if all of them are gone."""
        # by how much lines before either end moved
        start = end = 0
        left = last - first + 1
        for old, size, _, grown in self.hunks:
            # without lines before, git names the line that they follow
            before = old if size else old + 1
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


def find_file_moves(root: str, base: str, until: float) -> dict[str, GitMove]:
    """Return what became of each file that differs between the commit `base` and the checked-out commit, by its
    earlier path below the folder `root`. Only what is read by `until`, a moment of `time.monotonic`, is
    returned. Raise GitError."""
    options = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--relative", "--find-renames", "-l1000")
    form = ("-r", "-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", "--no-commit-id", "--no-color")
    with run_git(root, "diff-tree", *options, *form, base, "HEAD", "--") as child:
        found = dict(_parse_file_moves(split_lines(child.read_chunks(lambda: time.monotonic() > until))))
        if time.monotonic() <= until:
            child.check_exit()
    return found


def list_repository_files(root: str, until: float) -> list[str]:
    """Return the files below `root` that are tracked, or new and not ignored. Raise GitError."""
    return _read_names(root, until, "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def find_files_with_word(root: str, name: str, until: float) -> list[str]:
    """Return the files below `root` that hold a word. Raise GitError."""
    return _read_names(root, until, "grep", "-l", "-z", "-w", "-F", "--untracked", "-e", name)


def _read_names(root: str, until: float, *arguments: str) -> list[str]:
    """Return the names of files that git prints until then. Raise GitError."""
    with run_git(root, *arguments) as child:
        data = b"".join(child.read_chunks(lambda: time.monotonic() > until))
    return [one.decode("utf-8", "surrogateescape") for one in data.split(b"\0") if one]


def resolve_commits(root: str, shas: Sequence[str], until: float) -> dict[str, tuple[str, bool]]:
    """Return for each sha or prefix that git has the whole sha, and whether a branch, a tag or HEAD leads to it.
    Raise GitError."""
    known: dict[str, str] = {}
    form = "--batch-check=%(objectname) %(objecttype)"
    with run_git(root, "cat-file", form, lines=[f"{sha}^{{commit}}" for sha in shas]) as child:
        answers = b"".join(child.read_chunks(lambda: time.monotonic() > until)).split(b"\n")
    for sha, answer in zip(shas, answers, strict=False):
        name, _, kind = answer.partition(b" ")
        if kind == b"commit":
            known[sha] = name.decode("ascii")
    if not known:
        return {}
    tips = ("--not", "--branches", "--tags", "--remotes", "HEAD")
    with run_git(root, "rev-list", "--stdin", *tips, lines=sorted(set(known.values()))) as child:
        lost = set(child.read_words(lambda: time.monotonic() > until))
    return {sha: (whole, whole not in lost) for sha, whole in known.items()}


def split_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of an output that arrives in chunks, up to MAX_DIFF_BYTES of it."""
    pending, size = b"", 0
    for chunk in chunks:
        size += len(chunk)
        *whole, pending = (pending + chunk).split(b"\n")
        yield from whole
        if size > MAX_DIFF_BYTES:
            return


def _parse_file_moves(lines: Iterator[bytes]) -> Iterator[tuple[str, GitMove]]:
    """Yield (path of the earlier file, what became of it) from the lines of a comparison."""
    old = new = ""
    hunks: list[DiffHunk] = []
    # lines of a part that are still to come: they may begin as anything does
    left = 0
    for line in lines:
        if left and line[:1] in b"+-":
            left -= 1
        elif line.startswith(b"diff --git "):
            if old:
                yield old, GitMove(new, tuple(hunks))
            old, new, hunks, left = "", "", [], 0
        elif line.startswith((b"--- a/", b"rename from ")):
            old = _decode_path(line.removeprefix(b"--- a/").removeprefix(b"rename from "))
        elif line.startswith((b"+++ b/", b"rename to ")):
            new = _decode_path(line.removeprefix(b"+++ b/").removeprefix(b"rename to "))
        elif match := _HUNK_HEADER.match(line):
            old_first, old_size, first, size = (1 if part is None else int(part) for part in match.groups())
            hunks.append((old_first, old_size, first, size))
            left = old_size + size
    if old:
        yield old, GitMove(new, tuple(hunks))


def _decode_path(raw: bytes) -> str:
    """Return a path that git printed."""
    return raw.rstrip(b"\t").decode("utf-8", "surrogateescape")


# Read a repository's own files without git: where they are, and whether a branch may have moved.
#
# Nothing is written and no process is started. Only plain files of modest size are read: a repository may be from
# anywhere, and a pipe in the place of a file would block for ever.

_POINTER_BYTES = 8_192
_SHALLOW_BYTES = 8_000_000
_LOG_BYTES = 8_000_000
# of branches; a repository with more is read in part
_MAX_REF_FOLDERS = 2_000
# A file system's clock has ticks: a change in the same tick as a read before would not show. So a file this recent is
# not trusted, and the next read differs.
_SETTLED_NS = 50_000_000

# what moves with HEAD is in the worktree's own folder, what moves with the branches in the shared one
_WORKTREE_FILES = ("HEAD", "logs/HEAD")
_SHARED_FILES = ("packed-refs", "shallow", "reftable/tables.list")
_BRANCHES = "refs/heads"
_REVERTS = re.compile(rb'^(?:Revert "|Reapply ")+')


def git_folders(root: str) -> tuple[str, str] | None:
    """Return (the repository's own folder, the one that its worktrees share) of the checkout or bare repository at
    `root`; they differ in a linked worktree. None where there is no repository, or its `.git` cannot be believed."""
    found = read_checkout(root)
    return (found.git, found.common) if found is not None and found.common else None


def shallow_boundary(root: str) -> list[str]:
    """Return the commits whose parents a shallow clone left out, sorted; none in a whole clone. Deepening moves
    them."""
    found = git_folders(root)
    return (
        sorted(
            read_plain_file(os.path.join(found[1], "shallow"), _SHALLOW_BYTES).decode("ascii", "replace").split()
        )
        if found
        else []
    )


def refs_fingerprint(root: str) -> str:
    """Return a text that changes when HEAD or a local branch may have moved, a shallow clone was deepened, or the
    checkout became another repository; empty where there is no repository. Some 50 µs, and a stat for each folder of
    branches."""
    found = git_folders(root)
    if found is None:
        return ""
    own, shared = found
    seen = [read_file_stamp(os.path.join(own, name)) for name in _WORKTREE_FILES]
    seen += [read_file_stamp(os.path.join(shared, name)) for name in _SHARED_FILES]
    waiting = [os.path.join(shared, _BRANCHES)]
    visited = 0
    while waiting and visited < _MAX_REF_FOLDERS:
        folder = waiting.pop()
        visited += 1
        # a branch is replaced by renaming, which changes its folder
        seen.append(read_file_stamp(folder))
        try:
            with os.scandir(folder) as entries:
                waiting += sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
    newest = max(modified for modified, _, _ in seen)
    moment = time.time_ns()
    unsettled = moment if 0 <= moment - newest < _SETTLED_NS else 0
    return f"{own} {shared} {hash(tuple(seen))} {unsettled}"


def find_commits_made_here(root: str, branches: bool = False) -> set[str]:
    """Return the shas of commits that were made in this repository's checkouts, by the log of HEAD; with
    `branches` also by the logs of local branches, which outlive a removed worktree. A commit that was moved
    (`rebase`, `cherry-pick`) counts if a commit of its subject was made here, and a revert if the reverted
    commit was. Return none without such logs."""
    found = git_folders(root)
    if found is None:
        return set()
    own, shared = found
    logs = [os.path.join(own, "logs/HEAD"), os.path.join(shared, "logs/HEAD")]
    try:
        with os.scandir(os.path.join(shared, "worktrees")) as entries:
            logs += [os.path.join(entry.path, "logs/HEAD") for entry in entries]
    except OSError:
        pass
    if branches:
        logs += _list_files_below(os.path.join(shared, "logs", _BRANCHES))
    # sha → subject
    made: dict[bytes, bytes] = {}
    moved: dict[bytes, bytes] = {}
    for log in dict.fromkeys(logs):
        for line in read_plain_file(log, _LOG_BYTES).split(b"\n"):
            place, _, message = line.partition(b"\t")
            shas, (action, _, subject) = place.split(b" ", 2)[:2], message.partition(b": ")
            if len(shas) == 2 and action.startswith(b"commit"):
                made[shas[1]] = subject
            elif len(shas) == 2 and action.endswith((b"(pick)", b"(reword)", b"cherry-pick", b"am", b"rebase")):
                moved[shas[1]] = subject
            elif len(shas) == 2 and action == b"revert":
                moved[shas[1]] = _REVERTS.sub(b"", subject).rstrip(b'"')
    subjects = {subject.rstrip(b'"') for subject in made.values()}
    made |= {sha: subject for sha, subject in moved.items() if subject.rstrip(b'"') in subjects}
    return {sha.decode("ascii", "replace") for sha in made}


def _list_files_below(folder: str) -> list[str]:
    """Return the files below a folder, of a bounded number of folders."""
    files: list[str] = []
    waiting = [folder]
    visited = 0
    while waiting and visited < _MAX_REF_FOLDERS:
        visited += 1
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    (waiting if entry.is_dir(follow_symlinks=False) else files).append(entry.path)
        except OSError:
            continue
    return files


def read_head_sha(root: str) -> str:
    """Return the sha of the commit that is checked out; empty before the first, and where the refs are in a form that
    is not read here (reftable)."""
    found = git_folders(root)
    if found is None:
        return ""
    own, shared = found
    text = read_plain_file(os.path.join(own, "HEAD"), _POINTER_BYTES).strip()
    if text.startswith(b"ref:"):
        name = text.removeprefix(b"ref:").strip()
        if not name.startswith(b"refs/") or b".." in name or b"\0" in name:
            return ""
        text = read_plain_file(os.path.join(shared, os.fsdecode(name)), _POINTER_BYTES).strip()
        if not text:
            packed = read_plain_file(os.path.join(shared, "packed-refs"), _LOG_BYTES).splitlines()
            text = next((line.split(b" ")[0] for line in packed if line.endswith(b" " + name)), b"")
    return text.decode("ascii") if len(text) in (40, 64) and text.isalnum() and text.isascii() else ""


def list_head_moves(root: str, sha: str, after: int) -> list[tuple[str, str]] | None:
    """Return how HEAD moved on since it was at the commit `sha`, the newest first, as (from, to), but for commits that
    were made in this checkout: pulls, merges, checkouts, rebases, resets. Where it was there more than once, since the
    last time before `after`, in seconds since 1970; without a commit, since then. None where the log of HEAD does not
    tell."""
    found = git_folders(root)
    if found is None:
        return None
    moves: list[tuple[str, str]] = []
    there = not sha
    for line in reversed(read_plain_file(os.path.join(found[0], "logs/HEAD"), _LOG_BYTES).splitlines()):
        place, _, message = line.partition(b"\t")
        shas = place.split(b" ", 2)[:2]
        if len(shas) != 2:
            return None
        old, new = (part.decode("ascii", "replace") for part in shas)
        there = there or new == sha
        if there and _log_entry_seconds(place) < after:
            return moves
        action = message.partition(b": ")[0]
        if not action.startswith(b"commit") or action == b"commit (merge)":
            moves.append((old, new))
    return moves if there else None


def _log_entry_seconds(place: bytes) -> int:
    """Return when an entry of the log of HEAD was made; 0 where it does not say."""
    parts = place.rsplit(b" ", 2)
    return int(parts[-2]) if len(parts) == 3 and parts[-2].isdigit() else 0


_WHOLE_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ANY_SHA = re.compile(r"[0-9a-f]{4,64}\Z")
_SHORTSTAT = re.compile(rb"\s*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*\Z")
_COMMITTER_DATE = re.compile(rb"^committer .*> (\d+) [+-]\d{4}$", re.MULTILINE)

_DIFF_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    # `diff` would run git inside the submodule, under the submodule's configuration
    "--submodule=short",
    "--ignore-submodules=none",
    "--root",
    "--diff-merges=first-parent",
    "--find-renames",
    # git's own limit since 2.34; the repository could set none, and pairing is quadratic
    "-l1000",
)


class CommitInfo(NamedTuple):
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


class CommitDiff(NamedTuple):
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

    def tips(self, cancelled: IsCancelled = never_cancelled) -> list[str]:
        """Return the shas of HEAD and of the local branches, sorted, each once; empty before the first commit."""
        try:
            with run_git(self.root, "show-ref", "--head", "--heads", "--hash") as child:
                # 1: no ref at all
                shas = child.read_words(cancelled, accepted=(0, 1))
        except GitError:  # one branch whose commit is lost is enough for that
            with run_git(self.root, "for-each-ref", "--format=%(objectname)", "refs/heads") as child:
                shas = child.read_words(cancelled)
            with run_git(self.root, "rev-parse", "--quiet", "--verify", "HEAD") as child:
                shas += child.read_words(cancelled, accepted=(0, 1))
        return sorted(set(shas))

    def list_new_commits(
        self,
        known_tips: Iterable[str],
        tips: Sequence[str] | None = None,
        cancelled: IsCancelled = never_cancelled,
    ) -> list[str]:
        """Return the shas reachable from the tips and not from `known_tips`, newest first, no parent before its child.

        A known tip that does not exist (amended and collected, for example) is ignored. A known tip stands for all its
        ancestors, so history that `git fetch --unshallow` adds below one is not found unless that tip is left out.
        """
        known = {_validate_sha(sha, _WHOLE_SHA) for sha in known_tips}
        if tips is None:
            tips = self.tips(cancelled)
        if known.issuperset(tips):
            return []
        return self._walk(tips, known, cancelled, "--ignore-missing")

    def list_lost_commits(
        self, known_tips: Sequence[str], tips: Sequence[str], cancelled: IsCancelled = never_cancelled
    ) -> list[str]:
        """Return the shas reachable from `known_tips` and no longer from `tips`, newest first. Raise GitError when a
        known tip itself does not exist: its ancestors are unknown then."""
        return self._walk(known_tips, tips, cancelled)

    def list_reachable_commits(
        self, tips: Sequence[str], cancelled: IsCancelled = never_cancelled
    ) -> tuple[list[str], list[str]]:
        """Return (all that is reachable from the tips, in the order of `list_new_commits`; those of them that git
        cannot read).

        What is behind a broken commit is known only if another path leads there. Raise GitError if all are broken.
        """
        try:
            return self._walk(tips, (), cancelled), []
        except GitError:
            shas, broken = self._walk_by_hand(tips, cancelled)
            if not shas and not cancelled():
                raise
            return shas, broken

    def _walk(self, tips: Sequence[str], known: Iterable[str], cancelled: IsCancelled, *options: str) -> list[str]:
        if not tips:
            return []
        revisions = [*tips, *(f"^{sha}" for sha in sorted(known))]
        with run_git(self.root, "rev-list", "--date-order", *options, "--stdin", lines=revisions) as child:
            return child.read_words(cancelled)

    def _walk_by_hand(self, tips: Sequence[str], cancelled: IsCancelled) -> tuple[list[str], list[str]]:
        """Read the history commit by commit, as `git rev-list` prints nothing when a commit is lost. Some 15,000
        commits a second."""
        cut = set(shallow_boundary(self.root))
        parents: dict[str, list[str]] = {}
        dates: dict[str, int] = {}
        broken: dict[str, None] = {}
        waiting = list(tips)
        with run_git(self.root, "cat-file", "--batch", talk=True) as child:
            while waiting and not cancelled():
                sha = waiting.pop()
                if sha in parents or sha in broken:
                    continue
                *_, kind, size = child.ask_line(sha, cancelled).split() or [b"", b""]
                # `<sha> missing`, also for one that is damaged
                if kind != b"commit":
                    child.output.read(int(size) + 1 if size.isdigit() else 0)
                    broken[sha] = None
                    continue
                body = child.output.read(int(size) + 1)
                header = body.partition(b"\n\n")[0]
                date = _COMMITTER_DATE.search(header)
                dates[sha] = int(date[1]) if date else 0
                above = re.findall(rb"^parent ([0-9a-f]{40,64})$", header, re.MULTILINE)
                parents[sha] = [] if sha in cut else [parent.decode("ascii") for parent in above]
                waiting += parents[sha]
        return _newest_first(parents, dates), list(broken)

    def read_commits(
        self, shas: Sequence[str], cancelled: IsCancelled = never_cancelled
    ) -> Generator[CommitInfo, None, None]:
        """Stream the commits in the given order, a repeated sha once; close the generator to stop early.

        A commit that git does not have is left out. About 2.5 s for 20,000 commits, nearly all of it git decompressing
        the files it compares.
        """
        return self._read_in_batches(
            list(dict.fromkeys(_validate_sha(sha, _WHOLE_SHA) for sha in shas)), cancelled
        )

    def _read_in_batches(self, shas: list[str], cancelled: IsCancelled) -> Generator[CommitInfo, None, None]:
        """Run one git for all of them. Where one commit ends it, read single commits and then more and more at a time:
        a broken commit costs only a few processes."""
        place, size, measured = 0, len(shas), True
        while place < len(shas) and not cancelled():
            end = min(place + size, len(shas))
            try:
                for info in self._stream_commits(shas[place:end], measured, cancelled):
                    place = shas.index(info.sha, place, end) + 1
                    yield info
                place, size = end, size * 2
            except ObjectNeverFetched:  # by design, and for nearly all commits of such a clone
                if not measured:
                    raise
                measured = False
            except GitError:
                if size == 1:
                    yield from self._read_without_size(shas[place], cancelled)
                    place += 1
                size = 1

    def _read_without_size(self, sha: str, cancelled: IsCancelled) -> list[CommitInfo]:
        """Return a commit without its size, if git can read so much of it. Raise GitError if git can read nothing
        here."""
        try:
            return list(self._stream_commits([sha], False, cancelled))
        except GitError:
            self.tips(cancelled)
            return []

    def _stream_commits(self, shas: list[str], measured: bool, cancelled: IsCancelled) -> Iterator[CommitInfo]:
        # No field can contain a NUL, so a NUL before each field is a frame that no message can forge. With -z git adds
        # one after the message; --shortstat, unlike --numstat, is then a single field and contains no paths.
        """Yield the commits of one run of git, in the given order; with their size if `measured`."""
        arguments = (
            "--no-walk=unsorted",
            "--ignore-missing",
            "--stdin",
            "-z",
            "--encoding=UTF-8",
            *_DIFF_OPTIONS,
        )
        form = "--format=tformat:%x00%H%x00%ct%x00%aN%x00%B"
        with run_git(
            self.root, "log", *arguments, "--shortstat" if measured else "--no-patch", form, lines=shas
        ) as child:
            fields = _read_fields(child, cancelled)
            # the text before the first NUL: empty
            next(fields, None)
            while len(record := list(itertools.islice(fields, 5))) == 5 and not cancelled():
                yield _parse_commit(record, measured)

    def tags(self, cancelled: IsCancelled = never_cancelled) -> dict[str, str]:
        """Return the name of each tag of a commit → that commit's `committed_at`."""
        at = "%(if)%(*objectname)%(then)%(*committerdate:unix)%(else)%(committerdate:unix)%(end)"
        form = f"{at} %(refname:lstrip=2)"
        with run_git(self.root, "for-each-ref", f"--format={form}", "refs/tags") as child:
            rows = b"".join(child.read_chunks(cancelled)).split(b"\n")
            if not cancelled():
                child.check_exit()
        named = [row.split(b" ", 1) for row in rows if row]
        return {_decode_text(name): _format_timestamp(at) for at, name in named if at}

    def diff(self, sha: str, max_bytes: int = 400_000, columns: int = 100) -> CommitDiff:
        """Return the changes of one commit (an abbreviated sha is accepted), at most `max_bytes` of them; the lines of
        its files are at most `columns` wide.

        A merge is compared with its first parent and a root commit with the empty tree; a binary file is one line.
        """
        revision = _validate_sha(sha, _ANY_SHA) + "^{commit}"
        # Plumbing, unlike `git show`, does not read the diff.* configuration meant for people (prefixes, context, …).
        arguments = ("--no-commit-id", f"--stat={columns}", "--patch", *_DIFF_OPTIONS, revision, "--")
        with run_git(self.root, "diff-tree", *arguments) as child:
            data = child.output.read(max_bytes + 1)
            truncated = len(data) > max_bytes
            if truncated:
                data = data[: data.rfind(b"\n", max_bytes // 2, max_bytes) + 1 or max_bytes]
            else:
                child.check_exit()
        # An incremental decoder omits a character that the cut of a long line has split.
        return CommitDiff(
            codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not truncated), truncated
        )


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


def _read_fields(child: GitProcess, cancelled: IsCancelled) -> Iterator[bytes]:
    """Yield the fields between the NULs of the output. The last is yielded only when git ended well: else it may be
    incomplete."""
    pending = b""
    for chunk in child.read_chunks(cancelled):
        *fields, pending = (pending + chunk).split(b"\0")
        yield from fields
    if not cancelled():
        child.check_exit()
        yield pending


def _parse_commit(record: Sequence[bytes], measured: bool) -> CommitInfo:
    """Return the commit in the five fields that git printed for it. Raise GitError for a size in an unknown form."""
    sha, seconds, author, message, stat = record
    counts = _SHORTSTAT.match(stat)
    if stat.strip() and not counts:
        raise GitError(
            "git gave the size of a commit in a form not known here.", "Check that git is 2.31 or newer."
        )
    files, insertions, deletions = (int(count or 0) for count in counts.groups()) if counts else (0, 0, 0)
    return CommitInfo(
        sha=sha.decode("ascii"),
        message=_decode_text(message).rstrip("\r\n"),
        author=_decode_text(author),
        committed_at=_format_timestamp(seconds),
        files_changed=files,
        insertions=insertions,
        deletions=deletions,
        measured=measured,
    )


def _decode_text(data: bytes) -> str:
    """Decode UTF-8, as git was asked for. A commit without an encoding is stored as it was written: where none of its
    characters is UTF-8 it is Latin-1, as git assumes too; where some are, the rest is damaged."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and text.replace("\ufffd", "").isascii():
        return data.decode("latin-1")
    return text


def _format_timestamp(seconds: bytes) -> str:
    """Return Unix seconds as ISO 8601; 1970 for a date that is invalid or beyond the year 9999, as git itself shows
    it."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _validate_sha(sha: str, form: re.Pattern[str]) -> str:
    """Return the sha in lower case. Raise for anything else, which could be read as an option or a range."""
    if not form.match(sha.lower()):
        raise GitError("This is not the sha of a commit.", "Give its hexadecimal digits, as `git log` shows them.")
    return sha.lower()
