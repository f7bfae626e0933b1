"""Reading a git repository by running `git` in a child process: which commits there are, their stats, their diffs.

Nothing here writes, fetches, or runs a program that the repository's own configuration names: a repository may have
been downloaded from anywhere. Needs git 2.31 or newer (`--diff-merges`). There is no database here.
"""

import codecs
import itertools
import os
import re
import selectors
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO

from store.errors import MemorandaError

_CANCEL_POLL_SECONDS = 0.1
_PIPE_BYTES = 65_536
_REASON_CHARACTERS = 200

_WHOLE_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_ANY_SHA = re.compile(r"[0-9a-f]{4,64}\Z")
_SHORTSTAT = re.compile(rb"\s*(\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?\s*\Z")

# Given on the command line these win over the repository's own configuration, which may be hostile.
_CONFIGURATION = (
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "color.ui=false",
    "diff.orderFile=" + os.devnull,
    "log.showSignature=false",  # else gpg.program runs
    "protocol.allow=never",
)
_DIFF_OPTIONS = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--submodule=short",  # `diff` would run git inside the submodule, under the submodule's configuration
    "--ignore-submodules=none",
    "--root",
    "--diff-merges=first-parent",
    "--find-renames",
    "-l1000",  # git's own limit since 2.34; the repository could ask for none, and pairing is quadratic
)
# What a person's or a container's own set-up may need (safe.directory above all). Every other GIT_* variable goes: a
# hook's GIT_DIR or GIT_INDEX_FILE would send us to another repository, GIT_TRACE would fill the error output.
_KEPT_VARIABLES = re.compile(
    r"GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)\Z"
)
_OWN_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "",  # stronger than protocol.allow, which protocol.<name>.allow overrules
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a sha is remembered for ever, so it must mean its own content
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # git's complaints are matched below; records are asked for in UTF-8 by name
}


class GitError(MemorandaError):
    """git is missing, refuses the folder, or does not have what was asked for."""

    code = "git"


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """A commit and its size, a merge measured against its first parent and a root commit against nothing.

    `sha` has 40 or 64 hexadecimal digits; `message` is whole, without trailing newlines; `author` is a name after the
    mailmap; `committed_at` is ISO 8601 in UTC with milliseconds. A renamed file counts once, a binary one has no lines.
    """

    sha: str
    message: str
    author: str
    committed_at: str
    files_changed: int
    insertions: int
    deletions: int


@dataclass(frozen=True, slots=True)
class Diff:
    """A commit's summary of files and its patch. `truncated` says that more follows.

    The cut is at the end of a line, unless the last one is longer than half of all that was asked for.
    """

    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    complaints: IO[bytes]
    root: str

    def check(self, accepted: Sequence[int] = (0,)) -> None:
        """Wait for the end; raise GitError with git's reason when it failed."""
        if self.process.wait() not in accepted:
            self.complaints.seek(0)
            raise _failure(self.complaints.read(20_000).decode("utf-8", "replace"), self.root)


class Repository:
    """The git repository that holds the folder `root`: the main checkout, a worktree, a bare or a shallow clone.

    No child process outlives a call. Every method raises GitError; making a Repository runs nothing.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def tips(self) -> list[str]:
        """The shas of HEAD and of the local branches, sorted, each once; empty before the first commit."""
        with self._git("show-ref", "--head", "--heads", "--hash") as child:
            shas = child.output.read().decode("ascii").split()
            child.check(accepted=(0, 1))  # 1: no ref at all
        return sorted(set(shas))

    def missing(self, known_tips: Iterable[str]) -> list[str]:
        """The shas reachable from the tips and not from `known_tips`, newest first, no parent before its child.

        A known tip that is gone (amended and collected, say) is ignored. A known tip stands for all its ancestors, so
        history that `git fetch --unshallow` adds below one is not found unless that tip is left out.
        """
        known = {_checked(sha, _WHOLE_SHA) for sha in known_tips}
        tips = self.tips()
        if known.issuperset(tips):
            return []
        revisions = [*tips, *(f"^{sha}" for sha in sorted(known))]
        with self._git("rev-list", "--date-order", "--ignore-missing", "--stdin", lines=revisions) as child:
            shas = child.output.read().decode("ascii").split()
            child.check()
        return shas

    def read(
        self, shas: Sequence[str], cancelled: Callable[[], bool] = lambda: False
    ) -> Generator[CommitInfo, None, None]:
        """Stream the commits in the given order, a repeated sha once; close the generator to stop early.

        `cancelled` is asked before each commit and, ten times a second, while git is busy; once true the stream ends
        without an error. About 2.5 s for 20,000 commits, nearly all of it git inflating the files it compares.
        """
        return self._read(list(dict.fromkeys(_checked(sha, _WHOLE_SHA) for sha in shas)), cancelled)

    def _read(self, shas: list[str], cancelled: Callable[[], bool]) -> Generator[CommitInfo, None, None]:
        if not shas or cancelled():  # with nothing on standard input `git log` would show HEAD
            return
        # No field can hold a NUL, so a NUL ahead of each field is a frame that no message can forge. With -z git adds
        # one after the message; --shortstat, unlike --numstat, is then a single field and holds no paths.
        arguments = ("--no-walk=unsorted", "--stdin", "-z", "--encoding=UTF-8", *_DIFF_OPTIONS)
        form = "--format=tformat:%x00%H%x00%ct%x00%aN%x00%B"
        with self._git("log", *arguments, "--shortstat", form, lines=shas) as child:
            fields = _fields(child, cancelled)
            next(fields, None)  # what stands before the first NUL: nothing
            for sha in shas:
                record = list(itertools.islice(fields, 5))
                if cancelled():
                    return
                if len(record) < 5 or record[0] != sha.encode():
                    raise GitError(f"git has no commit {sha}.", "Read the history again: it may have been rewritten.")
                yield _commit(record)

    def diff(self, sha: str, max_bytes: int = 400_000) -> Diff:
        """The changes of one commit (an abbreviated sha will do), at most `max_bytes` of them.

        A merge is compared with its first parent and a root commit with the empty tree; a binary file is one line.
        """
        revision = _checked(sha, _ANY_SHA) + "^{commit}"
        # Plumbing, unlike `git show`, does not read the diff.* configuration meant for people (prefixes, context, …).
        arguments = ("--no-commit-id", "--stat=100", "--patch", *_DIFF_OPTIONS, revision, "--")
        with self._git("diff-tree", *arguments) as child:
            data = child.output.read(max_bytes + 1)
            truncated = len(data) > max_bytes
            if truncated:
                data = data[: data.rfind(b"\n", max_bytes // 2, max_bytes) + 1 or max_bytes]
            else:
                child.check()
        # An incremental decoder leaves out a character that the cut of a long line has split.
        return Diff(codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not truncated), truncated)

    @contextmanager
    def _git(self, *arguments: str, lines: Sequence[str] = ()) -> Iterator[_Child]:
        """Run git with `lines` on its standard input; on the way out, however that is, it is killed and reaped."""
        settings = (word for setting in _CONFIGURATION for word in ("-c", setting))
        command = ["git", "--no-pager", *settings, "-C", self.root, *arguments]
        # Files and not pipes for what we do not read as it comes: a full pipe would stop git, and then us.
        with tempfile.TemporaryFile() as fed, tempfile.TemporaryFile() as complaints:
            fed.write("".join(f"{line}\n" for line in lines).encode("ascii"))
            fed.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    stdin=fed if lines else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    env=_environment(),
                )
            except FileNotFoundError as error:
                raise GitError("git is not installed, or not on PATH.", "Install git and try again.") from error
            except (OSError, ValueError) as error:  # ValueError: a NUL in the folder's name
                raise GitError(f"git could not be started: {error}.", "Check that `git --version` works.") from error
            with process:
                assert process.stdout is not None
                try:
                    yield _Child(process, process.stdout, complaints, self.root)
                finally:
                    process.kill()


def _fields(child: _Child, cancelled: Callable[[], bool]) -> Iterator[bytes]:
    """What stands between the NULs of the output. The last comes only when git ended well: else it may be half."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.output, selectors.EVENT_READ)
        while not cancelled():
            if not selector.select(_CANCEL_POLL_SECONDS):
                continue
            chunk = os.read(child.output.fileno(), _PIPE_BYTES)
            if not chunk:
                child.check()
                yield pending
                return
            *fields, pending = (pending + chunk).split(b"\0")
            yield from fields


def _commit(record: Sequence[bytes]) -> CommitInfo:
    sha, seconds, author, message, stat = record
    counts = _SHORTSTAT.match(stat)
    if stat.strip() and not counts:
        raise GitError("git gave the size of a commit in a form not known here.", "Check that git is 2.31 or newer.")
    files, insertions, deletions = (int(count or 0) for count in counts.groups()) if counts else (0, 0, 0)
    return CommitInfo(
        sha=sha.decode("ascii"),
        message=message.decode("utf-8", "replace").rstrip("\r\n"),
        author=author.decode("utf-8", "replace"),
        committed_at=_timestamp(seconds),
        files_changed=files,
        insertions=insertions,
        deletions=deletions,
    )


def _timestamp(seconds: bytes) -> str:
    """Unix seconds as ISO 8601; 1970 for a date that is broken or beyond the year 9999, as git itself shows it."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _checked(sha: str, form: re.Pattern[str]) -> str:
    """The sha in lower case. Anything else stops here, before it could be read as an option or a range."""
    if not form.match(sha.lower()):
        raise GitError("This is not the sha of a commit.", "Give its hexadecimal digits, as `git log` shows them.")
    return sha.lower()


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT_VARIABLES.match(key)}
    return kept | _OWN_VARIABLES


def _failure(complaint: str, root: str) -> GitError:
    """git's complaint as an error that names the next step."""
    lines = [line.strip() for line in complaint.splitlines()]
    fatal = [line[7:] for line in lines if line.startswith(("fatal: ", "error: "))]
    reason = (fatal or lines or ["no reason given"])[-1].replace("^{commit}", "")[:_REASON_CHARACTERS].rstrip(".")
    if "not a git repository" in complaint:
        return GitError(f"There is no git repository at {root}.", "Open a folder of one, or run `git init` there.")
    if "dubious ownership" in complaint or "unsafe repository" in complaint:
        advice = next((line for line in lines if line.startswith("git config ")), "git config safe.directory")
        return GitError(f"git does not read {root}: it belongs to another user.", f"If you trust it, run `{advice}`.")
    if "cannot change to" in complaint:
        return GitError(f"git could not open the folder: {reason}.", "Check that it is there and that you may read it.")
    if re.search(r"promisor|lazy fetching", complaint):
        mend = "This clone was made with --filter and is not completed behind your back: make a whole one to see it."
        return GitError(f"An object was never fetched: {reason}.", mend)
    if re.search(r"bad object|bad revision|unable to read|missing", complaint):
        mend = "It may be of a rewritten history or another clone: try `git fetch`; failing that, `git fsck`."
        return GitError(f"An object is not in this repository: {reason}.", mend)
    return GitError(f"git failed: {reason}.", f"Run `git -C {root} log` to see whether git can read it.")
