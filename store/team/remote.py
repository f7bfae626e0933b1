"""The git repository that holds the streams: `shared.git`, bare, in the installation's folder, never the project's own.

`refs/memoranda/WRITER` is what was verified, `refs/incoming/WRITER` what was fetched last. Git's configuration of the
project does not count here, no hook runs, and no question is asked on a terminal.
"""

import os
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from store.base.clock import to_ms
from store.base.errors import InvalidInput
from store.base.location import checkout_root
from store.git.process import GitError, capture_git_output, run_git
from store.team.stream import LARGEST_SEGMENT, WRITER_PATTERN, RefusedStream
from store.team.team_file import StreamState
from store.text.words import read_language_file

# Where a remote is, for a git that runs outside of the project.

DEFAULT_REMOTE = "origin"


def usual_remote(project: str | None) -> str:
    """Return the remote that git takes where none is named: origin, or the only one that there is."""
    try:
        names = _remote_names(project)
    except GitError:
        names = []
    return names[0] if len(names) == 1 else DEFAULT_REMOTE


def remote_addresses(project: str | None, remote: str) -> tuple[str, str]:
    """Return where git fetches of a remote of the project from, and where it pushes to; or twice the path or address
    that `remote` itself is. Without a name it is the usual one. Raise InvalidInput, or GitError where git does not read
    the repository."""
    if project is not None:
        name = remote or DEFAULT_REMOTE
        found = capture_git_output(project, "remote", "get-url", "--", name)
        if not found and not remote:
            name = usual_remote(project)
            found = capture_git_output(project, "remote", "get-url", "--", name)
        if found:
            pushed = capture_git_output(project, "remote", "get-url", "--push", "--", name) or found
            return _absolute_address(project, found), _absolute_address(project, pushed)
    if "://" in remote or os.path.isabs(remote) or ("@" in remote and ":" in remote):
        return remote, remote
    names = _remote_names(project)
    there = f", but {', '.join(names)}" if names else ""
    step = (
        f"Name it: share --remote {names[0]}" if names else "Add one with `git remote add`: share --remote NAME."
    )
    raise InvalidInput(f"There is no remote {remote or DEFAULT_REMOTE} here{there}.", step)


def _remote_names(project: str | None) -> list[str]:
    """Return the names of a project's remotes. Raise GitError where git does not read its repository."""
    if project is None or checkout_root(project) is None:
        return []
    with run_git(project, "remote") as child:
        names = child.output.read().decode("utf-8", "replace").split()
        child.check_exit()
    return names


def _absolute_address(project: str, address: str) -> str:
    """Return an address; a relative path, which git reads from the root of a checkout, in full."""
    if os.path.isabs(address) or ":" in address.partition("/")[0]:
        return address
    root = capture_git_output(project, "rev-parse", "--show-toplevel") or project
    return os.path.normpath(os.path.join(root, address))


# What git says when a remote does not do what is asked, as an error that a person understands.

MOST_REASON_CHARACTERS = 200


class RemoteRefuses(GitError):
    """The remote takes no refs of this kind, or lets none be replaced."""

    code = "remote-refuses"


class MalformedStream(GitError):
    """One of the streams holds objects that git refuses."""

    code = "malformed"


class StreamOvertaken(GitError):
    """The remote's stream of this writer has something that this machine does not have."""

    code = "overtaken"


def remote_error(verb: str, complaint: str) -> GitError:
    """Return what git complained about while it did `verb`, as an error with its next step."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    reason = next(
        (line for line in lines if line.startswith(("fatal:", "error:", "remote:", "!"))),
        lines[0] if lines else verb,
    )[:MOST_REASON_CHARACTERS].rstrip(".?")
    if verb == "push":
        if "[remote rejected]" in complaint or "deny updating" in complaint or "declined" in complaint:
            return RemoteRefuses(
                f"The remote takes no refs below refs/memoranda: {reason}.",
                "Ask whoever runs it to allow them, or share through another remote: share --remote NAME.",
            )
        if any(word in complaint for word in ("non-fast-forward", "fetch first", "stale info")):
            return StreamOvertaken("The remote has a stream of this writer that this machine does not have.")
    if verb == "fetch" and "fsck error" in complaint:
        return MalformedStream(f"A stream on the remote holds what git refuses: {reason}.")
    if verb in ("push", "fetch", "ls-remote"):
        for error in read_language_file(os.path.dirname(__file__), "git_errors")["error"]:
            found = next((line for line in lines if any(part in line for part in error["says"])), None)
            if found is not None:
                return GitError(
                    f"{error['message']}: {found[:MOST_REASON_CHARACTERS].rstrip('.')}.", error["next"]
                )
    return GitError(f"git {verb} failed: {reason}.", "Nothing was lost; look at the remote, and try again.")


# What a person's own configuration of git says about reaching a remote: also what it says for a project's folder alone
# (`includeIf`), which a git that runs elsewhere does not read. Nothing is taken from the project's configuration.

# until a remote that sends nothing is given up
SILENT_SECONDS = 60
SSH_WITHOUT_QUESTIONS = f"-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval={SILENT_SECONDS // 3}"
OWN_SCOPES = ("global", "system")
SSH_COMMAND_KEY = "core.sshcommand"
_REACHING_KEYS = (SSH_COMMAND_KEY, "credential.", "http.", "ssh.", "user.signingkey", "gpg.")

GitSetting = tuple[
    str, str | None
]  # a key in lower case, but for what is between its first and its last dot, and its value


def reaching_environment(project: str | None, folder: str) -> dict[str, str]:
    """Return the variables that a git outside of a project needs to reach its remote as the person's git does in it.
    `folder` is any other one."""
    settings = _own_settings(project or folder)
    found: dict[str, str] = {}
    commands = [value for key, value in settings if key == SSH_COMMAND_KEY and value]
    if "GIT_SSH_COMMAND" not in os.environ and (commands or "GIT_SSH" not in os.environ):
        found["GIT_SSH_COMMAND"] = _without_questions(commands[-1] if commands else "ssh")
    if project is not None and any(key.startswith("includeif.") for key, _ in settings):
        elsewhere = Counter(_own_settings(folder))
        here = Counter(settings) - elsewhere
        more = [one for one in settings if one in here and one[0].startswith(_REACHING_KEYS)]
        found["GIT_CONFIG_COUNT"] = str(len(more))
        for number, (key, value) in enumerate(more):
            found |= {
                f"GIT_CONFIG_KEY_{number}": key,
                f"GIT_CONFIG_VALUE_{number}": "true" if value is None else value,
            }
    return found


def _without_questions(command: str) -> str:
    """Return a command of SSH that asks nothing on a terminal; a program of the person's own as it is."""
    try:
        program = os.path.basename(shlex.split(command)[0])
    except (ValueError, IndexError):
        return command
    return f"{command} {SSH_WITHOUT_QUESTIONS}" if program == "ssh" else command


def _own_settings(folder: str) -> list[GitSetting]:
    """Return what the person's own configuration says in a folder, in order; nothing where git cannot tell."""
    parts = capture_git_output(folder, "config", "--list", "--show-scope", "-z").split("\0")
    found: list[GitSetting] = []
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, apart, value = entry.partition("\n")
        if scope in OWN_SCOPES:
            found.append((key, value if apart else None))
    return found


# Signatures of streams, made and checked by git with a person's own ssh or gpg key.
#
# The newest commit of what is sent is signed, which covers every commit before it. The key that a writer's stream is
# first seen with is theirs: what comes later without it, or with another one, waits until the person says otherwise.

# of git's %G?: by a key that the person trusts, by one that git knows nothing of
GOOD_VERDICTS = ("G", "U")
# not signed; by a key that is not here
NOT_SIGNED, UNKNOWN_KEY = "N", "E"
# of `git log`
SIGNATURE_FORMAT = "%H %G? %GF %GS"


class Signature(NamedTuple):
    """What git says of a commit's signature: its `verdict` (%G?), the fingerprint of the `key`, and `who` that is by
    the person's own list of keys."""

    verdict: str = NOT_SIGNED
    key: str = ""
    who: str = ""

    @property
    def is_good(self) -> bool:
        """Tell whether the signature is valid."""
        return self.verdict in GOOD_VERDICTS and bool(self.key)

    @property
    def display_key(self) -> str:
        """The key, and whose it is if that is known."""
        return f"{self.key} {self.who}".strip()


def signature_doubt(state: StreamState, signature: Signature) -> str:
    """Return why what is new of a stream has to wait, empty if nothing is wrong; note a key that is seen for the first
    time."""
    ours = state.key.partition(" ")[0]
    step = f"what is new waits; `team trust {state.writer}` takes it if they tell you so"
    if signature.is_good:
        if ours and signature.key != ours:
            return f"it is signed by another key, {signature.key}, and was by {ours}: {step}"
        state.key = signature.display_key
        return ""
    if signature.verdict == UNKNOWN_KEY:
        return f"its signature cannot be checked, since git has not the key: {step}" if ours else ""
    if signature.verdict != NOT_SIGNED:
        return "its signature is bad: what is new waits until its writer signs it again"
    return f"it was signed by {ours} and is signed no longer: {step}" if ours else ""


STREAMS_FOLDER = "shared.git"
# in the tree of each commit
SEGMENT_FILE = "segment"
SIGNERS_KEY = "gpg.ssh.allowedSignersFile"
VERIFIED_REFS, INCOMING_REFS = "refs/memoranda/", "refs/incoming/"
# for a fetch or a push
TRANSFER_SECONDS = 600
MOST_WRITERS = 2_000
# digits of an object's name, where a repository does not use SHA-1
SHA256_DIGITS = 64
_GIT_SETTINGS = (
    *("core.hooksPath=" + os.devnull, "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"),
    *("transfer.fsckObjects=true", "fetch.recurseSubmodules=false", "core.quotePath=false"),
    *("commit.gpgSign=false", "push.gpgSign=false", "core.logAllRefUpdates=false"),
    # nothing is unpacked before its size is known
    *("fetch.unpackLimit=1", "core.bigFileThreshold=16m"),
    *("core.askPass=", "credential.interactive=false", "http.lowSpeedLimit=1"),
    # not compressed on the disk, so that the proof of a purge, which reads bytes, reads these too
    *("core.compression=0", "fastimport.unpackLimit=1000000000"),
)
_GIT_PROTOCOLS = "file:git:http:https:ssh"
_KEPT_VARIABLES = (
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_ASKPASS",
)


class StreamRepository:
    """The repository of streams in the folder of a memory."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, STREAMS_FOLDER)
        # as they were read last
        self._refs: dict[str, str] | None = None
        self._child: subprocess.Popen[bytes] | None = None
        # variables with which git reaches the remote
        self.reaching: dict[str, str] = {}
        # writers of whose streams not all was taken by the last fetch, and why
        self.refused: dict[str, str] = {}

    def stop_git(self) -> None:
        """End the git that another thread is waiting for."""
        if (child := self._child) is not None:
            child.kill()

    def exists(self) -> bool:
        return os.path.isfile(os.path.join(self.path, "HEAD"))

    def create(self, address: str = "") -> None:
        """Make the repository if it is missing, with object names like those of the remote at `address`, if given.
        Raise GitError."""
        if not self.exists():
            head = self._run_git("ls-remote", "--", address, "HEAD", inside=False) if address else b""
            named = ["--object-format=sha256"] if len(head.partition(b"\t")[0]) == SHA256_DIGITS else []
            self._run_git("init", "--quiet", "--bare", "--template=", *named, self.path, inside=False)
            os.chmod(self.path, 0o700)

    def heads(self, where: str = VERIFIED_REFS) -> dict[str, str]:
        """Return the newest commit of each writer. Raise GitError."""
        if self._refs is None:
            names = self._run_git(
                "for-each-ref", "--format=%(refname) %(objectname)", VERIFIED_REFS, INCOMING_REFS
            )
            self._refs = dict(line.split(" ") for line in names.decode().splitlines())
        found = {
            writer: commit
            for name, commit in self._refs.items()
            if name.startswith(where) and WRITER_PATTERN.match(writer := name.removeprefix(where))
        }
        if len(found) > MOST_WRITERS:
            raise GitError(f"The remote has more than {MOST_WRITERS:,} streams.", "Look at who may push there.")
        return found

    def stream_size(self, commit: str) -> int:
        """Return the bytes that a stream up to this commit takes here; 0 where git cannot say. Raise nothing."""
        try:
            # of git 2.31
            return int(self._run_git("rev-list", "--objects", "--disk-usage", commit))
        except GitError:
            return 0

    def fetch(self, address: str) -> None:
        """Bring every stream of a remote to `refs/incoming`, and drop there what it has no more. Of a stream with what
        a segment cannot be, the commits before that are kept, and `refused` says why. Raise GitError."""
        self.refused = {}
        try:
            self._unpack_packs()  # what an exchange that was killed had fetched
        except GitError:  # by a power cut in the middle of a write: it is fetched again
            self.point_refs(dict.fromkeys(self.heads(INCOMING_REFS), ""), INCOMING_REFS)
            self._unpack_packs(drop=True)
        quiet = ("--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-auto-maintenance")
        words = ("fetch", *quiet, "--", address)
        try:
            self._run_git(*words, f"+{VERIFIED_REFS}*:{INCOMING_REFS}*")
        except MalformedStream:  # of one of them: each for itself
            here = self.heads(INCOMING_REFS)
            listed = self._run_git("ls-remote", "--", address, f"{VERIFIED_REFS}*").decode().splitlines()
            there = {
                name.removeprefix(VERIFIED_REFS): commit
                for commit, _, name in (one.partition("\t") for one in listed)
            }
            for writer in sorted(there):
                if WRITER_PATTERN.match(writer) and there[writer] != here.get(writer):
                    try:
                        self._run_git(*words, f"+{VERIFIED_REFS}{writer}:{INCOMING_REFS}{writer}")
                    except MalformedStream:
                        self.refused[writer] = "it holds what git itself refuses to take"
            self._refs = None
            self.point_refs(dict.fromkeys(here.keys() - there.keys(), ""), INCOMING_REFS)
        self._refs = None
        self._unpack_fetched(self._cut_foreign_objects())

    def push(self, address: str, writer: str, expected: str | None = None) -> None:
        """Send a writer's stream to a remote; with the commit that is `expected` there (empty for none) it may replace
        what is there. Raise Overtaken, RemoteRefuses or GitError."""
        ref = f"{VERIFIED_REFS}{writer}"
        words = ("push", "--quiet", "--no-verify")
        lease = [] if expected is None else [f"--force-with-lease={ref}:{expected}"]
        try:
            self._run_git(*words, *lease, "--", address, f"{ref}:{ref}")
        except RemoteRefuses:
            if not expected:
                raise
            # it may still remove it, and take it as new
            try:
                self._run_git(*words, *lease, "--", address, f":{ref}")
                self._run_git(*words, "--", address, f"{ref}:{ref}")
            except RemoteRefuses as error:
                raise RemoteRefuses(
                    "The remote lets no stream be replaced, so what was purged is on it still.",
                    f"Ask whoever runs it to let you replace, or delete, {ref} there; then exchange again.",
                ) from error

    def read_segments(self, writer: str, commits: Sequence[str]) -> Iterator[bytes]:
        """Yield the segment of each of these commits. Raise Refused for one that is no segment, or too large."""
        if not commits:
            return
        names = "".join(f"{commit}:{SEGMENT_FILE}\n" for commit in commits).encode()
        sizes = (
            self._run_git("cat-file", "--batch-check=%(objecttype) %(objectsize)", given=names)
            .decode()
            .splitlines()
        )
        for answer in sizes:
            kind, _, length = answer.rpartition(" ")
            if kind != "blob" or int(length) > LARGEST_SEGMENT:
                raise RefusedStream(
                    f"The stream of {writer} holds something else than segments, or one that is too large."
                )
        # at most 512 MB at once, of which most are small
        for first in range(0, len(commits), 64):
            names = "".join(f"{commit}:{SEGMENT_FILE}\n" for commit in commits[first : first + 64]).encode()
            data = self._run_git("cat-file", "--batch=%(objectsize)", given=names)
            at = 0
            while at < len(data):
                end = data.index(b"\n", at)
                size = int(data[at:end])
                yield data[end + 1 : end + 1 + size]
                at = end + 2 + size

    def read_signatures(self, commits: Iterable[str]) -> dict[str, Signature]:
        """Return what git says of the signature of each commit: by the person's own list of keys, if they have one.
        Raise GitError."""
        chosen = list(commits)
        if not chosen:
            return {}
        own = self._run_git("config", "--type=path", "--get", SIGNERS_KEY, accepted=(0, 1)).decode().strip()
        words = (
            "-c",
            f"{SIGNERS_KEY}={own or os.devnull}",
            "log",
            "--no-walk=unsorted",
            f"--format={SIGNATURE_FORMAT}",
        )
        found = {}
        for line in self._run_git(*words, *chosen, detached=True).decode("utf-8", "replace").splitlines():
            commit, verdict, key, who = (*line.split(" ", 3), "", "", "")[:4]
            found[commit] = Signature(verdict, key, "".join(letter for letter in who if letter.isprintable()))
        return found

    def sign_head(self, writer: str, commit: str) -> str:
        """Replace the newest commit of a writer's stream by a commit signed with the key of git's own settings.
        Return it. Raise GitError."""
        *parents, moment = self._run_git("log", "-1", "--format=%P %ct", commit).decode().split()
        by = {"NAME": "Memoranda", "EMAIL": f"{writer}@memoranda", "DATE": f"{moment} +0000"}
        who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in by.items()}
        behind = [word for parent in parents for word in ("-p", parent)]
        try:
            made = self._run_git("commit-tree", "-S", f"{commit}^{{tree}}", *behind, detached=True, more=who)
        except GitError as error:
            raise GitError(
                f"git could not sign what is shared: {error.message.partition('failed: ')[2] or error.message}",
                "Nothing was sent. Set user.signingKey (and gpg.format) in git's own settings, with the key in an"
                " agent; or set team.sign to false.",
            ) from None
        signed = made.decode().strip()
        self.point_refs({writer: signed})
        return signed

    def list_commits(self, writer: str, newest: str, after: str = "") -> list[str]:
        """Return the commits of a stream, oldest first, those since the commit `after` alone. Raise Refused where one
        has several parents, or `after` is not among them."""
        limits = [newest, f"^{after}"] if after else [newest]
        found = []
        first = True
        for line in (
            self._run_git("rev-list", "--reverse", "--topo-order", "--parents", *limits).decode().splitlines()
        ):
            commit, *parents = line.split(" ")
            if len(parents) > 1 or (first and after and parents != [after]) or (first and not after and parents):
                raise RefusedStream(f"The stream of {writer} is not one line of commits.")
            found.append(commit)
            first = False
        return found

    def is_descendant(self, newer: str, older: str) -> bool:
        """Tell whether a commit is another commit, or follows it."""
        return (
            newer == older or self._run_git("merge-base", newer, older, accepted=(0, 1)).decode().strip() == older
        )

    def has_commit(self, commit: str) -> bool:
        """Tell whether a commit is here."""
        answer = self._run_git("cat-file", "--batch-check=%(objecttype)", given=f"{commit}\n".encode())
        return answer.strip() == b"commit"

    def append_segments(self, writer: str, segments: Iterable[bytes], after: str, at: str) -> list[str]:
        """Write segments as commits of a writer's stream behind the commit `after` (empty: a new stream); return these
        commits. The time is in each, so that equal streams are equal commits. Raise GitError."""
        ref, moment = f"{VERIFIED_REFS}{writer}", to_ms(at) // 1000
        parts = [b"" if after else f"reset {ref}\n\n".encode()]
        written = 0
        for written, segment in enumerate(segments, 1):
            parts.append(f"commit {ref}\nmark :{written}\n".encode())
            parts.append(f"committer Memoranda <{writer}@memoranda> {moment} +0000\ndata 0\n".encode())
            if written == 1 and after:
                parts.append(f"from {after}\n".encode())
            parts.append(f"M 100644 inline {SEGMENT_FILE}\ndata {len(segment)}\n".encode() + segment + b"\n")
        parts += [f"get-mark :{mark}\n".encode() for mark in range(1, written + 1)]
        answers = self._run_git("fast-import", "--quiet", "--force", "--done", given=b"".join(parts) + b"done\n")
        commits = answers.decode().split()
        if self._refs is not None and commits:
            self._refs[ref] = commits[-1]
        return commits

    def point_refs(self, changes: Mapping[str, str], where: str = VERIFIED_REFS) -> None:
        """Set the newest commit of writers' streams; an empty one removes the stream. Raise GitError."""
        there = self.heads(where)
        changes = {writer: commit for writer, commit in changes.items() if commit != there.get(writer, "")}
        lines = [
            f"update {where}{writer} {commit}\n" if commit else f"delete {where}{writer}\n"
            for writer, commit in changes.items()
        ]
        if lines:
            self._run_git("update-ref", "--stdin", given="".join(lines).encode())
            self._refs = None

    def prune_objects(self) -> None:
        """Remove from the disk what no stream holds any more, as after a purge. Raise GitError."""
        self._run_git("prune", "--expire=now")

    def _cut_foreign_objects(self) -> bytes | None:
        """Cut each stream that was fetched before its first commit with something else than a segment, or a large one;
        return a pack of the rest, None where nothing was cut."""
        if not any(name.endswith(".pack") for name in os.listdir(os.path.join(self.path, "objects", "pack"))):
            return None
        known = [f"^{commit}" for commit in self.heads().values()]
        assert self._refs is not None
        came = {
            name.removeprefix(INCOMING_REFS): self._refs[name]
            for name in self._refs
            if name.startswith(INCOMING_REFS)
        }
        objects = self._list_objects([*came.values(), *known])
        names = "".join(f"{name}\n" for name, _ in objects).encode()
        sizes = (
            self._run_git("cat-file", "--batch-check=%(objectname) %(objectsize)", given=names)
            .decode()
            .splitlines()
        )
        large = {name for name, _, size in (line.partition(" ") for line in sizes) if int(size) > LARGEST_SEGMENT}
        if (
            not large
            and all(path in (None, "", SEGMENT_FILE) for _, path in objects)
            and all(map(WRITER_PATTERN.match, came))
        ):
            return None
        kept: dict[str, str] = {}
        for writer, newest in came.items():
            if not WRITER_PATTERN.match(writer):
                continue
            good, current = "", ""
            for name, path in self._list_objects([newest, *known]):
                if path is None:
                    good, current = current, name
                elif name in large or path not in ("", SEGMENT_FILE):
                    self.refused[writer] = (
                        f"a part of it is larger than {LARGEST_SEGMENT >> 20} MB"
                        if name in large
                        else "it holds something else than segments"
                    )
                    break
            else:
                good = current or newest
            kept[writer] = good or self.heads().get(writer, "")
        strange = "".join(f"delete {INCOMING_REFS}{name}\n" for name in came if not WRITER_PATTERN.match(name))
        self._run_git("update-ref", "--stdin", given=strange.encode())
        self.point_refs(kept, INCOMING_REFS)
        wanted = "\n".join([*filter(None, kept.values()), *known, ""]).encode()
        return self._run_git("pack-objects", "--revs", "--stdout", "--quiet", given=wanted)

    def _list_objects(self, commits: Sequence[str]) -> list[tuple[str, str | None]]:
        """Return the objects of these commits, each commit before its own and behind its parent, with their paths; None
        for a commit."""
        words = ("rev-list", "--objects", "--in-commit-order", "--reverse", "--stdin")
        lines = (
            self._run_git(*words, given="\n".join([*commits, ""]).encode()).decode("utf-8", "replace").splitlines()
        )
        return [(name, path if apart else None) for name, apart, path in (line.partition(" ") for line in lines)]

    def _unpack_fetched(self, instead: bytes | None) -> None:
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
        self._unpack_packs()

    def _unpack_packs(self, drop: bool = False) -> None:
        """Unpack, or `drop`, the packs that lie beside the objects: git leaves out what it has in a pack of its own."""
        for name in sorted(os.listdir(self.path)):
            if name.endswith(".pack"):
                path = os.path.join(self.path, name)
                if not drop:
                    with open(path, "rb") as pack:
                        self._run_git("unpack-objects", "-q", source=pack)
                os.unlink(path)

    def _run_git(
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
        settings = (word for setting in _GIT_SETTINGS for word in ("-c", setting))
        place = ("--git-dir", self.path) if inside else ()
        try:
            with subprocess.Popen(
                ["git", "--no-pager", *settings, *place, *arguments],
                stdin=subprocess.PIPE if source is None else source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**_git_environment(), **self.reaching, **(more or {})},
                start_new_session=detached,
            ) as child:
                self._child = child
                try:
                    out, complaint = child.communicate(given if source is None else None, timeout=TRANSFER_SECONDS)
                except subprocess.TimeoutExpired:
                    child.kill()
                    raise GitError(
                        "The remote did not answer in time.", "Nothing was lost; try again later."
                    ) from None
                finally:
                    self._child = None
        except FileNotFoundError:
            raise GitError("git is not installed, or not on PATH.", "Install git and try again.") from None
        if child.returncode not in accepted:
            raise remote_error(arguments[0], complaint.decode("utf-8", "replace"))
        return out


def _git_environment() -> dict[str, str]:
    """Return the environment of git: without its own variables, and without questions on a terminal."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    return kept | {
        # git's credential manager opens no window
        "GCM_INTERACTIVE": "never",
        "GIT_HTTP_LOW_SPEED_TIME": str(SILENT_SECONDS),
        "GIT_ALLOW_PROTOCOL": _GIT_PROTOCOLS,
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
