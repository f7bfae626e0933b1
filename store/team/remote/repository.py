"""The git repository that holds the streams: `shared.git`, bare, in the installation's folder, never the project's own.

`refs/memoranda/WRITER` is what was verified, `refs/incoming/WRITER` what was fetched last. Git's configuration of the
project does not count here, no hook runs, and no question is asked on a terminal.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from store.git.process import GitError
from store.team.operation import WRITER, Refused
from store.team.remote import signatures
from store.team.remote.errors import Malformed, RemoteRefuses, failure
from store.team.remote.own_settings import SILENT_SECONDS
from store.team.remote.signatures import Signature
from store.team.stream import LARGEST

FOLDER = "shared.git"
FILE = "segment"  # in the tree of each commit
KEYS = "gpg.ssh.allowedSignersFile"
VERIFIED, INCOMING = "refs/memoranda/", "refs/incoming/"
SECONDS = 600  # for a fetch or a push
MOST_WRITERS = 2_000
SHA256 = 64  # digits of an object's name, where a repository does not use SHA-1
_SETTINGS = (
    *("core.hooksPath=" + os.devnull, "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"),
    *("transfer.fsckObjects=true", "fetch.recurseSubmodules=false", "core.quotePath=false"),
    *("commit.gpgSign=false", "push.gpgSign=false", "core.logAllRefUpdates=false"),
    *("fetch.unpackLimit=1", "core.bigFileThreshold=16m"),  # nothing is unpacked before its size is known
    *("core.askPass=", "credential.interactive=false", "http.lowSpeedLimit=1"),
    # not compressed on the disk, so that the proof of a purge, which reads bytes, reads these too
    *("core.compression=0", "fastimport.unpackLimit=1000000000"),
)
_PROTOCOLS = "file:git:http:https:ssh"
_KEPT = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_ASKPASS")


class StreamRepository:
    """The repository of streams in the folder of a memory."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, FOLDER)
        self._refs: dict[str, str] | None = None  # as they were read last
        self._child: subprocess.Popen[bytes] | None = None
        self.reaching: dict[str, str] = {}  # variables with which git reaches the remote
        self.refused: dict[str, str] = {}  # writers of whose streams not all was taken by the last fetch, and why

    def stop(self) -> None:
        """End the git that another thread is waiting for."""
        if (child := self._child) is not None:
            child.kill()

    def exists(self) -> bool:
        return os.path.isfile(os.path.join(self.path, "HEAD"))

    def create(self, address: str = "") -> None:
        """Make the repository if it is missing, with object names like those of the remote at `address`, if given.
        Raise GitError."""
        if not self.exists():
            head = self._git("ls-remote", "--", address, "HEAD", inside=False) if address else b""
            named = ["--object-format=sha256"] if len(head.partition(b"\t")[0]) == SHA256 else []
            self._git("init", "--quiet", "--bare", "--template=", *named, self.path, inside=False)
            os.chmod(self.path, 0o700)

    def heads(self, where: str = VERIFIED) -> dict[str, str]:
        """Return the newest commit of each writer. Raise GitError."""
        if self._refs is None:
            names = self._git("for-each-ref", "--format=%(refname) %(objectname)", VERIFIED, INCOMING)
            self._refs = dict(line.split(" ") for line in names.decode().splitlines())
        found = {
            writer: commit
            for name, commit in self._refs.items()
            if name.startswith(where) and WRITER.match(writer := name.removeprefix(where))
        }
        if len(found) > MOST_WRITERS:
            raise GitError(f"The remote has more than {MOST_WRITERS:,} streams.", "Look at who may push there.")
        return found

    def size(self, commit: str) -> int:
        """Return the bytes that a stream up to this commit takes here; 0 where git cannot say. Raise nothing."""
        try:
            return int(self._git("rev-list", "--objects", "--disk-usage", commit))  # of git 2.31
        except GitError:
            return 0

    def fetch(self, address: str) -> None:
        """Bring every stream of a remote to `refs/incoming`, and drop there what it has no more. Of a stream with what
        a segment cannot be, the commits before that are kept, and `refused` says why. Raise GitError."""
        self.refused = {}
        try:
            self._loosen()  # what an exchange that was killed had fetched
        except GitError:  # by a power cut in the middle of a write: it is fetched again
            self.point(dict.fromkeys(self.heads(INCOMING), ""), INCOMING)
            self._loosen(drop=True)
        quiet = ("--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-auto-maintenance")
        words = ("fetch", *quiet, "--", address)
        try:
            self._git(*words, f"+{VERIFIED}*:{INCOMING}*")
        except Malformed:  # of one of them: each for itself
            here = self.heads(INCOMING)
            listed = self._git("ls-remote", "--", address, f"{VERIFIED}*").decode().splitlines()
            there = {name.removeprefix(VERIFIED): commit for commit, _, name in (one.partition("\t") for one in listed)}
            for writer in sorted(there):
                if WRITER.match(writer) and there[writer] != here.get(writer):
                    try:
                        self._git(*words, f"+{VERIFIED}{writer}:{INCOMING}{writer}")
                    except Malformed:
                        self.refused[writer] = "it holds what git itself refuses to take"
            self._refs = None
            self.point(dict.fromkeys(here.keys() - there.keys(), ""), INCOMING)
        self._refs = None
        self._unpack(self._streams_alone())

    def push(self, address: str, writer: str, expected: str | None = None) -> None:
        """Send a writer's stream to a remote; with the commit that is `expected` there (empty for none) it may replace
        what is there. Raise Overtaken, RemoteRefuses or GitError."""
        ref = f"{VERIFIED}{writer}"
        words = ("push", "--quiet", "--no-verify")
        lease = [] if expected is None else [f"--force-with-lease={ref}:{expected}"]
        try:
            self._git(*words, *lease, "--", address, f"{ref}:{ref}")
        except RemoteRefuses:
            if not expected:
                raise
            try:  # it may still remove it, and take it as new
                self._git(*words, *lease, "--", address, f":{ref}")
                self._git(*words, "--", address, f"{ref}:{ref}")
            except RemoteRefuses as error:
                raise RemoteRefuses(
                    "The remote lets no stream be replaced, so what was purged is on it still.",
                    f"Ask whoever runs it to let you replace, or delete, {ref} there; then exchange again.",
                ) from error

    def segments(self, writer: str, commits: Sequence[str]) -> Iterator[bytes]:
        """Yield the segment of each of these commits. Raise Refused for one that is no segment, or too large."""
        if not commits:
            return
        names = "".join(f"{commit}:{FILE}\n" for commit in commits).encode()
        sizes = self._git("cat-file", "--batch-check=%(objecttype) %(objectsize)", given=names).decode().splitlines()
        for answer in sizes:
            kind, _, length = answer.rpartition(" ")
            if kind != "blob" or int(length) > LARGEST:
                raise Refused(f"The stream of {writer} holds something else than segments, or one that is too large.")
        for first in range(0, len(commits), 64):  # at most 512 MB at once, of which most are small
            names = "".join(f"{commit}:{FILE}\n" for commit in commits[first : first + 64]).encode()
            data = self._git("cat-file", "--batch=%(objectsize)", given=names)
            at = 0
            while at < len(data):
                end = data.index(b"\n", at)
                size = int(data[at:end])
                yield data[end + 1 : end + 1 + size]
                at = end + 2 + size

    def signatures(self, commits: Iterable[str]) -> dict[str, Signature]:
        """Return what git says of the signature of each commit: by the person's own list of keys, if they have one.
        Raise GitError."""
        chosen = list(commits)
        if not chosen:
            return {}
        own = self._git("config", "--type=path", "--get", KEYS, accepted=(0, 1)).decode().strip()
        words = ("-c", f"{KEYS}={own or os.devnull}", "log", "--no-walk=unsorted", f"--format={signatures.FORMAT}")
        return signatures.parsed(self._git(*words, *chosen, detached=True).decode("utf-8", "replace").splitlines())

    def sign(self, writer: str, commit: str) -> str:
        """Replace the newest commit of a writer's stream by one that is signed with the key of git's own settings;
        return it. Raise GitError."""
        *parents, moment = self._git("log", "-1", "--format=%P %ct", commit).decode().split()
        by = {"NAME": "Memoranda", "EMAIL": f"{writer}@memoranda", "DATE": f"{moment} +0000"}
        who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in by.items()}
        behind = [word for parent in parents for word in ("-p", parent)]
        try:
            made = self._git("commit-tree", "-S", f"{commit}^{{tree}}", *behind, detached=True, more=who)
        except GitError as error:
            raise GitError(
                f"git could not sign what is shared: {error.message.partition('failed: ')[2] or error.message}",
                "Nothing was sent. Set user.signingKey (and gpg.format) in git's own settings, with the key in an"
                " agent; or set team.sign to false.",
            ) from None
        signed = made.decode().strip()
        self.point({writer: signed})
        return signed

    def commits(self, writer: str, newest: str, after: str = "") -> list[str]:
        """Return the commits of a stream, oldest first, those since the commit `after` alone. Raise Refused where one
        has several parents, or `after` is not among them."""
        limits = [newest, f"^{after}"] if after else [newest]
        found = []
        first = True
        for line in self._git("rev-list", "--reverse", "--topo-order", "--parents", *limits).decode().splitlines():
            commit, *parents = line.split(" ")
            if len(parents) > 1 or (first and after and parents != [after]) or (first and not after and parents):
                raise Refused(f"The stream of {writer} is not one line of commits.")
            found.append(commit)
            first = False
        return found

    def descends(self, newer: str, older: str) -> bool:
        """Return whether one commit is another, or follows it."""
        return newer == older or self._git("merge-base", newer, older, accepted=(0, 1)).decode().strip() == older

    def knows(self, commit: str) -> bool:
        """Return whether a commit is here."""
        answer = self._git("cat-file", "--batch-check=%(objecttype)", given=f"{commit}\n".encode())
        return answer.strip() == b"commit"

    def append(self, writer: str, segments: Iterable[bytes], after: str, at: str) -> list[str]:
        """Write segments as commits of a writer's stream behind the commit `after` (empty: a new stream); return these
        commits. The time is in each, so that equal streams are equal commits. Raise GitError."""
        from store.base.clock import to_ms

        ref, moment = f"{VERIFIED}{writer}", to_ms(at) // 1000
        parts = [b"" if after else f"reset {ref}\n\n".encode()]
        written = 0
        for written, segment in enumerate(segments, 1):
            parts.append(f"commit {ref}\nmark :{written}\n".encode())
            parts.append(f"committer Memoranda <{writer}@memoranda> {moment} +0000\ndata 0\n".encode())
            if written == 1 and after:
                parts.append(f"from {after}\n".encode())
            parts.append(f"M 100644 inline {FILE}\ndata {len(segment)}\n".encode() + segment + b"\n")
        parts += [f"get-mark :{mark}\n".encode() for mark in range(1, written + 1)]
        answers = self._git("fast-import", "--quiet", "--force", "--done", given=b"".join(parts) + b"done\n")
        commits = answers.decode().split()
        if self._refs is not None and commits:
            self._refs[ref] = commits[-1]
        return commits

    def point(self, changes: Mapping[str, str], where: str = VERIFIED) -> None:
        """Set the newest commit of writers' streams; an empty one removes the stream. Raise GitError."""
        there = self.heads(where)
        changes = {writer: commit for writer, commit in changes.items() if commit != there.get(writer, "")}
        lines = [
            f"update {where}{writer} {commit}\n" if commit else f"delete {where}{writer}\n"
            for writer, commit in changes.items()
        ]
        if lines:
            self._git("update-ref", "--stdin", given="".join(lines).encode())
            self._refs = None

    def prune(self) -> None:
        """Remove from the disk what no stream holds any more, as after a purge. Raise GitError."""
        self._git("prune", "--expire=now")

    def _streams_alone(self) -> bytes | None:
        """Cut each stream that was fetched before its first commit with something else than a segment, or a large one;
        return a pack of the rest, None where nothing was cut."""
        if not any(name.endswith(".pack") for name in os.listdir(os.path.join(self.path, "objects", "pack"))):
            return None
        known = [f"^{commit}" for commit in self.heads().values()]
        assert self._refs is not None
        came = {name.removeprefix(INCOMING): self._refs[name] for name in self._refs if name.startswith(INCOMING)}
        objects = self._objects([*came.values(), *known])
        names = "".join(f"{name}\n" for name, _ in objects).encode()
        sizes = self._git("cat-file", "--batch-check=%(objectname) %(objectsize)", given=names).decode().splitlines()
        large = {name for name, _, size in (line.partition(" ") for line in sizes) if int(size) > LARGEST}
        if not large and all(path in (None, "", FILE) for _, path in objects) and all(map(WRITER.match, came)):
            return None
        kept: dict[str, str] = {}
        for writer, newest in came.items():
            if not WRITER.match(writer):
                continue
            good, current = "", ""
            for name, path in self._objects([newest, *known]):
                if path is None:
                    good, current = current, name
                elif name in large or path not in ("", FILE):
                    self.refused[writer] = (
                        f"a part of it is larger than {LARGEST >> 20} MB"
                        if name in large
                        else "it holds something else than segments"
                    )
                    break
            else:
                good = current or newest
            kept[writer] = good or self.heads().get(writer, "")
        strange = "".join(f"delete {INCOMING}{name}\n" for name in came if not WRITER.match(name))
        self._git("update-ref", "--stdin", given=strange.encode())
        self.point(kept, INCOMING)
        wanted = "\n".join([*filter(None, kept.values()), *known, ""]).encode()
        return self._git("pack-objects", "--revs", "--stdout", "--quiet", given=wanted)

    def _objects(self, commits: Sequence[str]) -> list[tuple[str, str | None]]:
        """Return the objects of these commits, each commit before its own and behind its parent, with their paths; None
        for a commit."""
        words = ("rev-list", "--objects", "--in-commit-order", "--reverse", "--stdin")
        lines = self._git(*words, given="\n".join([*commits, ""]).encode()).decode("utf-8", "replace").splitlines()
        return [(name, path if apart else None) for name, apart, path in (line.partition(" ") for line in lines)]

    def _unpack(self, instead: bytes | None) -> None:
        """Write what was fetched, or the pack that is `instead` of it, as objects of their own, not compressed: the
        proof of a purge reads bytes."""
        folder = os.path.join(self.path, "objects", "pack")
        if instead is not None:
            with open(os.path.join(self.path, "kept.pack"), "wb") as file:
                file.write(instead)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".pack") and instead is None:
                os.replace(os.path.join(folder, name), os.path.join(self.path, name))
            else:
                os.unlink(os.path.join(folder, name))
        self._loosen()

    def _loosen(self, drop: bool = False) -> None:
        """Unpack, or `drop`, the packs that lie beside the objects: git leaves out what it has in a pack of its own."""
        for name in sorted(os.listdir(self.path)):
            if name.endswith(".pack"):
                path = os.path.join(self.path, name)
                if not drop:
                    with open(path, "rb") as pack:
                        self._git("unpack-objects", "-q", source=pack)
                os.unlink(path)

    def _git(
        self,
        *arguments: str,
        given: bytes = b"",
        source: IO[bytes] | None = None,
        accepted: Sequence[int] = (0,),
        inside: bool = True,
        detached: bool = False,
        more: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git; `detached` from the terminal, where what it runs could ask something, with `more` variables."""
        settings = (word for setting in _SETTINGS for word in ("-c", setting))
        place = ("--git-dir", self.path) if inside else ()
        try:
            with subprocess.Popen(
                ["git", "--no-pager", *settings, *place, *arguments],
                stdin=subprocess.PIPE if source is None else source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**_environment(), **self.reaching, **(more or {})},
                start_new_session=detached,
            ) as child:
                self._child = child
                try:
                    out, complaint = child.communicate(given if source is None else None, timeout=SECONDS)
                except subprocess.TimeoutExpired:
                    child.kill()
                    raise GitError("The remote did not answer in time.", "Nothing was lost; try again later.") from None
                finally:
                    self._child = None
        except FileNotFoundError:
            raise GitError("git is not installed, or not on PATH.", "Install git and try again.") from None
        if child.returncode not in accepted:
            raise failure(arguments[0], complaint.decode("utf-8", "replace"))
        return out


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return kept | {
        "GCM_INTERACTIVE": "never",  # git's credential manager opens no window
        "GIT_HTTP_LOW_SPEED_TIME": str(SILENT_SECONDS),
        "GIT_ALLOW_PROTOCOL": _PROTOCOLS,
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
