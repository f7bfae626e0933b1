"""Run `git` in a child process, so that a repository from anywhere can do no harm.

Nothing that the repository's own configuration names is run, nothing is fetched, no child outlives its block, and
waiting for git can be cancelled. There is no database here.
"""

import os
import re
import selectors
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, NamedTuple

from store.base.errors import MemorandaError
from store.base.runtime import IsCancelled, never_cancelled

CANCEL_POLL_SECONDS = 0.1
PIPE_BYTES = 65_536
MAX_REASON_LENGTH = 200

# On the command line these override the repository's own configuration, which may be hostile.
_SAFE_CONFIGURATION = (
    # a larger file counts as binary: comparing two costs git ten times their size
    "core.bigFileThreshold=64m",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "color.ui=false",
    "diff.orderFile=" + os.devnull,
    # else gpg.program is run
    "log.showSignature=false",
    "protocol.allow=never",
)
# What a person's or a container's own set-up may need (safe.directory above all). Every other GIT_* variable is
# removed: a hook's GIT_DIR or GIT_INDEX_FILE would select another repository, GIT_TRACE would fill the error output.
_KEPT_VARIABLES = re.compile(
    r"GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)\Z"
)
_OWN_VARIABLES = {
    # stronger than protocol.allow, which protocol.<name>.allow overrides
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    # a sha is stored for ever, so it must mean its own content
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # git's messages are matched below; records are requested in UTF-8 by name
    "LC_ALL": "C",
}


class GitError(MemorandaError):
    """git is missing, refuses the folder, or does not have the object."""

    code = "git"


class ObjectNeverFetched(GitError):
    """The object is one that a partial clone left on the server."""


def read_chunks(output: IO[bytes], cancelled: IsCancelled) -> Iterator[bytes]:
    """Yield the output of a process as it arrives, to its end or until `cancelled`, which is called ten times a second
    at least."""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while not cancelled():
            if selector.select(CANCEL_POLL_SECONDS):
                chunk = os.read(output.fileno(), PIPE_BYTES)
                if not chunk:
                    return
                yield chunk


class GitProcess(NamedTuple):
    """A running git, and its output."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    complaints: IO[bytes]
    root: str

    def check_exit(self, accepted: Sequence[int] = (0,)) -> None:
        """Wait for the end; raise GitError with git's reason when it failed."""
        if self.process.wait() not in accepted:
            self.complaints.seek(0)
            raise _git_failure(self.complaints.read(20_000).decode("utf-8", "replace"), self.root)

    def read_chunks(self, cancelled: IsCancelled) -> Iterator[bytes]:
        """Yield the output as it arrives, to its end or until `cancelled`, which is called ten times a second at
        least."""
        return read_chunks(self.output, cancelled)

    def read_words(self, cancelled: IsCancelled, accepted: Sequence[int] = (0,)) -> list[str]:
        """Return the whole output as ASCII words, which are shas; none if it was cancelled. Raise GitError."""
        data = b"".join(self.read_chunks(cancelled))
        if cancelled():
            return []
        self.check_exit(accepted)
        return data.decode("ascii").split()

    def ask_line(self, question: str, cancelled: IsCancelled) -> bytes:
        """Write a line to a git that was started with `talk`, and read the first line of its answer; empty when it was
        cancelled. The answer before must have been read whole. Raise GitError when git ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{question}\n".encode("ascii"))
            self.process.stdin.flush()
        except BrokenPipeError:
            self.check_exit()
        with selectors.DefaultSelector() as selector:
            selector.register(self.output, selectors.EVENT_READ)
            while not selector.select(CANCEL_POLL_SECONDS):
                if cancelled():
                    return b""
        line = self.output.readline()
        if not line:
            self.check_exit(accepted=())
        return line


@contextmanager
def run_git(root: str, *arguments: str, lines: Sequence[str] = (), talk: bool = False) -> Iterator[GitProcess]:
    """Run git in `root` with `lines` on its standard input, or with a pipe there to `talk` to it; on any exit it is
    killed and reaped. Raise GitError."""
    settings = (word for setting in _SAFE_CONFIGURATION for word in ("-c", setting))
    command = ["git", "--no-pager", *settings, "-C", root, *arguments]
    # Files and not pipes for what is not read as it arrives: a full pipe would block git, and then us.
    with tempfile.TemporaryFile() as fed, tempfile.TemporaryFile() as complaints:
        fed.write("".join(f"{line}\n" for line in lines).encode("ascii"))
        fed.seek(0)
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if talk else fed if lines else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=_git_environment(),
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed, or not on PATH.", "Install git and try again.") from error
        except (OSError, ValueError) as error:  # ValueError: a NUL in the folder's name
            raise GitError(f"git could not be started: {error}.", "Check that `git --version` works.") from error
        try:
            assert process.stdout is not None
            yield GitProcess(process, process.stdout, complaints, root)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        # a last line that git did not wait for
                        pass


def _git_environment() -> dict[str, str]:
    """Return the environment for git: of its own variables only the harmless, and ours."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT_VARIABLES.match(key)
    }
    return kept | _OWN_VARIABLES


def _git_failure(complaint: str, root: str) -> GitError:
    """Return git's message as an error that names the next step."""
    lines = [line.strip() for line in complaint.splitlines()]
    fatal = [line[7:] for line in lines if line.startswith(("fatal: ", "error: "))]
    reason = (fatal or lines or ["no reason given"])[-1].replace("^{commit}", "")[:MAX_REASON_LENGTH].rstrip(".")
    if "not a git repository" in complaint:
        return GitError(f"There is no git repository at {root}.", "Open a folder of one, or run `git init` there.")
    if "dubious ownership" in complaint or "unsafe repository" in complaint:
        advice = next((line for line in lines if line.startswith("git config ")), "git config safe.directory")
        return GitError(
            f"git does not read {root}: it belongs to another user.", f"If you trust it, run `{advice}`."
        )
    if "cannot change to" in complaint:
        return GitError(
            f"git could not open the folder: {reason}.", "Check that it is there and that you may read it."
        )
    if re.search(r"promisor|lazy fetching", complaint):
        mend = (
            "This clone was made with --filter and is not completed behind your back: make a whole one to see it."
        )
        return ObjectNeverFetched(f"An object was never fetched: {reason}.", mend)
    if re.search(r"bad object|bad revision|unable to read|missing", complaint):
        mend = "It may be of a rewritten history or another clone: try `git fetch`; failing that, `git fsck`."
        return GitError(f"An object is not in this repository: {reason}.", mend)
    return GitError(f"git failed: {reason}.", f"Run `git -C {root} log` to see whether git can read it.")


def capture_git_output(folder: str, *arguments: str) -> str:
    """Return what git prints in a folder; empty where it fails."""
    try:
        with run_git(folder, *arguments) as child:
            found = b"".join(child.read_chunks(never_cancelled)).decode("utf-8", "replace").strip()
            child.check_exit()
            return found
    except GitError:
        return ""
