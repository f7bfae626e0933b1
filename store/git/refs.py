"""Read a repository's own files without git: where they are, and whether a branch may have moved.

Nothing is written and no process is started. Only plain files of modest size are read: a repository may be from
anywhere, and a pipe in the place of a file would block for ever.
"""

import os
import re
import stat
import time

from store.base.file_stamp import file_stamp

_POINTER_BYTES = 8_192
_SHALLOW_BYTES = 8_000_000
_LOG_BYTES = 8_000_000
_FOLDERS = 2_000  # of branches; a repository with more is read in part
# A file system's clock has ticks: a change in the same tick as a read before would not show. So a file this recent is
# not trusted, and the next read differs.
_SETTLED_NS = 50_000_000

# what moves with HEAD is in the worktree's own folder, what moves with the branches in the shared one
_OWN = ("HEAD", "logs/HEAD")
_SHARED = ("packed-refs", "shallow", "reftable/tables.list")
_BRANCHES = "refs/heads"
_REVERTS = re.compile(rb'^(?:Revert "|Reapply ")+')


def folders(root: str) -> tuple[str, str] | None:
    """Return (the repository's own folder, the one that its worktrees share) of the checkout or bare repository at
    `root`.

    They differ in a worktree that `git worktree add` made. None where there is no repository.
    """
    own = os.path.join(root, ".git")
    if not os.path.isdir(own):
        pointer = _read(own, _POINTER_BYTES)
        if pointer.startswith(b"gitdir:") and b"\0" not in pointer:
            own = os.path.join(root, os.fsdecode(pointer.removeprefix(b"gitdir:").strip()))
        elif os.path.isdir(os.path.join(root, "objects")):
            own = root
        else:
            return None
    shared = os.fsdecode(_read(os.path.join(own, "commondir"), _POINTER_BYTES).strip())
    return own, os.path.normpath(os.path.join(own, shared)) if shared else own


def boundary(root: str) -> list[str]:
    """Return the commits whose parents a shallow clone left out, sorted; none in a whole clone. Deepening moves
    them."""
    found = folders(root)
    return (
        sorted(_read(os.path.join(found[1], "shallow"), _SHALLOW_BYTES).decode("ascii", "replace").split())
        if found
        else []
    )


def fingerprint(root: str) -> str:
    """Return a text that changes when HEAD or a local branch may have moved, a shallow clone was deepened, or the
    checkout became another repository; empty where there is no repository. Some 50 µs, and a stat for each folder of
    branches."""
    found = folders(root)
    if found is None:
        return ""
    own, shared = found
    seen = [file_stamp(os.path.join(own, name)) for name in _OWN]
    seen += [file_stamp(os.path.join(shared, name)) for name in _SHARED]
    waiting = [os.path.join(shared, _BRANCHES)]
    visited = 0
    while waiting and visited < _FOLDERS:
        folder = waiting.pop()
        visited += 1
        seen.append(file_stamp(folder))  # a branch is replaced by renaming, which changes its folder
        try:
            with os.scandir(folder) as entries:
                waiting += sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
    newest = max(modified for modified, _, _ in seen)
    moment = time.time_ns()
    unsettled = moment if 0 <= moment - newest < _SETTLED_NS else 0
    return f"{own} {shared} {hash(tuple(seen))} {unsettled}"


def _read(path: str, limit: int) -> bytes:
    """Return the first `limit` bytes of a plain file; empty for anything else."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(limit)
    except (OSError, ValueError):  # ValueError: a NUL in a name from the repository
        return b""


def made_here(root: str, branches: bool = False) -> set[str]:
    """Return the shas of commits that were made in this repository's checkouts, and did not come from elsewhere, from
    its own log of HEAD; with `branches` those of local branches too, which outlive a worktree that was removed. A
    commit that was moved (`rebase`, `cherry-pick`) was made here if one of its subject was, and one that reverts if
    what it reverts was. Without such logs none is known."""
    found = folders(root)
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
        logs += _below(os.path.join(shared, "logs", _BRANCHES))
    made: dict[bytes, bytes] = {}  # sha → subject
    moved: dict[bytes, bytes] = {}
    for log in dict.fromkeys(logs):
        for line in _read(log, _LOG_BYTES).split(b"\n"):
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


def _below(folder: str) -> list[str]:
    """Return the files below a folder, of a bounded number of folders."""
    files: list[str] = []
    waiting = [folder]
    visited = 0
    while waiting and visited < _FOLDERS:
        visited += 1
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    (waiting if entry.is_dir(follow_symlinks=False) else files).append(entry.path)
        except OSError:
            continue
    return files


def head(root: str) -> str:
    """Return the sha of the commit that is checked out; empty before the first, and where the refs are in a form that
    is not read here (reftable)."""
    found = folders(root)
    if found is None:
        return ""
    own, shared = found
    text = _read(os.path.join(own, "HEAD"), _POINTER_BYTES).strip()
    if text.startswith(b"ref:"):
        name = text.removeprefix(b"ref:").strip()
        if not name.startswith(b"refs/") or b".." in name or b"\0" in name:
            return ""
        text = _read(os.path.join(shared, os.fsdecode(name)), _POINTER_BYTES).strip()
        if not text:
            packed = _read(os.path.join(shared, "packed-refs"), _LOG_BYTES).splitlines()
            text = next((line.split(b" ")[0] for line in packed if line.endswith(b" " + name)), b"")
    return text.decode("ascii") if len(text) in (40, 64) and text.isalnum() and text.isascii() else ""


def moves_since(root: str, sha: str, after: int) -> list[tuple[str, str]] | None:
    """Return how HEAD moved on since it was at the commit `sha`, the newest first, as (from, to), but for commits that
    were made in this checkout: pulls, merges, checkouts, rebases, resets. Where it was there more than once, since the
    last time before `after`, in seconds since 1970; without a commit, since then. None where the log of HEAD does not
    tell."""
    found = folders(root)
    if found is None:
        return None
    moves: list[tuple[str, str]] = []
    there = not sha
    for line in reversed(_read(os.path.join(found[0], "logs/HEAD"), _LOG_BYTES).splitlines()):
        place, _, message = line.partition(b"\t")
        shas = place.split(b" ", 2)[:2]
        if len(shas) != 2:
            return None
        old, new = (part.decode("ascii", "replace") for part in shas)
        there = there or new == sha
        if there and _second(place) < after:
            return moves
        action = message.partition(b": ")[0]
        if not action.startswith(b"commit") or action == b"commit (merge)":
            moves.append((old, new))
    return moves if there else None


def _second(place: bytes) -> int:
    """Return when an entry of the log of HEAD was made; 0 where it does not say."""
    parts = place.rsplit(b" ", 2)
    return int(parts[-2]) if len(parts) == 3 and parts[-2].isdigit() else 0
