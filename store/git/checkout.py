"""Read the `.git` of a folder and of those above it: which checkout it is of, and what that repository says of itself.

No process is started, and nothing is written. A `.git` that leads to a repository is believed only if the repository
knows this folder: whoever can write a folder could otherwise have another project's memory read to its agents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import BinaryIO, NamedTuple

from store.base.location import checkout_root
from store.base.runtime import never_cancelled

OTHER_SYSTEMS = {
    ".hg": "Mercurial",
    ".jj": "Jujutsu",
    ".svn": "Subversion",
    ".sl": "Sapling",
    ".pijul": "Pijul",
    "_darcs": "Darcs",
    ".fslckout": "Fossil",
}
# bytes of a small file that git or we wrote
MAX_LINE_BYTES = 8_192
# the index of a pack: how it begins, and where its tables are
IDX_MAGIC = b"\xfftOc\0\0\0\2"
FANOUT_START, NAMES_START = 8, 8 + 256 * 4
MOST_ALTERNATES = 10


class Checkout(NamedTuple):
    """A checkout of git. `kind` is `main`, `worktree`, `submodule`, `separate` (its git directory is elsewhere) or
    `bare`. `git` is its own git directory, `common` the one that all its worktrees share, `main` the root of the main
    checkout (empty for a bare repository), `worktree` the name that git gave a linked one. `problem` says why its
    `.git` cannot be believed, and `mend` what to do."""

    kind: str
    root: str
    git: str = ""
    common: str = ""
    main: str = ""
    worktree: str = ""
    branch: str = ""
    problem: str = ""
    mend: str = ""


class CheckoutPlace(NamedTuple):
    """Where in a project's repository somebody works: the git directory of the checkout, the common one, the linked
    worktree's name and the folder below the root, each empty if there is none."""

    git: str
    common: str
    worktree: str = ""
    folder: str = ""

    @property
    def branch(self) -> str:
        """The branch that is checked out now."""
        return read_branch(self.git)

    def has_branch(self, name: str) -> bool:
        """Return whether the repository has a branch, as far as its files tell; True where git alone reads them."""
        if any(os.path.lexists(os.path.join(self.common, one)) for one in ("reftable", f"refs/heads/{name}")):
            return True
        try:
            with open(os.path.join(self.common, "packed-refs"), "rb") as file:
                return any(line.rstrip().endswith(f" refs/heads/{name}".encode()) for line in file)
        except OSError:
            return False


def folders_above(folder: str) -> Iterator[str]:
    """Yield a folder and all above it, the nearest first."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def find_checkout(folder: str) -> Checkout | None:
    """Return the innermost checkout that a folder is in; of a folder inside a git directory the checkout of that."""
    start = _checkout_of_git_directory(folder) or folder
    return next((found for one in folders_above(start) if (found := read_checkout(one)) is not None), None)


def find_other_system(folder: str, home: str) -> tuple[str, str] | None:
    """Return (title, root) of the checkout of another version control that a folder is in, below the home folder."""
    below_home = takewhile(lambda above: above != home, folders_above(folder))
    found = ((title, above) for above in below_home for name, title in OTHER_SYSTEMS.items() if _has(above, name))
    return next(found, None)


def list_worktree_roots(common: str) -> list[str]:
    """List the roots of a repository's linked worktrees, as it knows them."""
    folder = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    pointers = [(os.path.join(folder, name), read_line(os.path.join(folder, name, "gitdir"))) for name in names]
    return [os.path.dirname(_join(one, pointer)) for one, pointer in pointers if pointer]


def read_remotes(common: str) -> list[str]:
    """Return the addresses of a repository's remotes, in the one spelling that their forms have in common."""
    found, inside = list[str](), False
    for line in _config_lines(common):
        if line.startswith("["):
            inside = line.lower().startswith("[remote ")
        elif inside and line.partition("=")[0].strip().lower() == "url":
            found.append(same_address(line.partition("=")[2]))
    return found


def same_address(address: str) -> str:
    """Return the spelling of an address that its forms have in common: `git@host:a/b.git` is `host/a/b`, as is
    `https://host/a/b`."""
    at = address.strip().strip('"')
    if "://" in at:
        at = at.partition("://")[2].rpartition("@")[2]
    elif ":" in at and "/" not in at.partition(":")[0]:
        at = at.rpartition("@")[2].replace(":", "/", 1)
    host, slash, path = at.partition("/")
    return f"{host.lower()}{slash}{path}".rstrip("/").removesuffix(".git")


# one checkout


def read_checkout(folder: str) -> Checkout | None:
    """Return the checkout whose root a folder is; None if it is none. Its `.git` may say anything."""
    pointer = os.path.join(folder, ".git")
    try:
        mode = os.lstat(pointer).st_mode
    except OSError:
        return _with_branch(Checkout("bare", folder, folder, folder)) if _is_git_directory(folder) else None
    if stat.S_ISDIR(mode):
        # git looks further up as well
        return _read_git_folder(folder, pointer) if _is_git_directory(pointer) else None
    if stat.S_ISLNK(mode):
        return _read_git_link(folder, pointer)
    return _read_git_file(folder, pointer)


def _read_git_folder(folder: str, git: str) -> Checkout:
    if shared := read_line(os.path.join(git, "commondir")):
        # git writes that into the directory of a linked worktree alone
        says = f"{git} names {shared} as its repository, which does not know it"
        return Checkout("main", folder, git, problem=says, mend=f"Delete {os.path.join(git, 'commondir')}.")
    return _with_branch(Checkout("main", folder, git, git, folder))


def _read_git_link(folder: str, pointer: str) -> Checkout:
    target = os.path.realpath(pointer)
    if _is_git_directory(target) and target.startswith(os.path.join(folder, "")):
        return _with_branch(Checkout("separate", folder, target, target, folder))
    what = "does not know this folder" if _is_git_directory(target) else "is no repository"
    return Checkout(
        "separate", folder, problem=f"{pointer} is a link to {target}, which {what}", mend=f"Delete {pointer}."
    )


def _read_git_file(folder: str, pointer: str) -> Checkout:
    says = read_line(pointer)
    target = _join(folder, says.removeprefix("gitdir:").strip())
    if not says.startswith("gitdir:"):
        return Checkout("separate", folder, problem=f"{pointer} leads to no repository", mend=f"Delete {pointer}.")
    if not _is_git_directory(target, linked=True):
        mend = "git worktree repair, run in the main checkout, mends a worktree."
        return Checkout("separate", folder, problem=f"{pointer} leads to {target}, which is not there", mend=mend)
    if shared := read_line(os.path.join(target, "commondir")):
        return _read_worktree(folder, pointer, target, _join(target, shared))
    for above in folders_above(os.path.dirname(folder)):
        if os.path.lexists(os.path.join(above, ".git")):
            if (found := _read_submodule(folder, target, read_checkout(above))) is not None:
                return found
            break
    return _with_branch(Checkout("separate", folder, target, target, folder))


def _read_worktree(folder: str, pointer: str, git: str, common: str) -> Checkout:
    """Return a linked worktree, whose repository must lead back to it."""
    back, name = read_line(os.path.join(git, "gitdir")), os.path.basename(git)
    other = _join(git, back) if back else ""
    if os.path.dirname(git) == os.path.join(common, "worktrees") and other == os.path.realpath(pointer):
        return _with_branch(Checkout("worktree", folder, git, common, _main_checkout(common), name))
    there = read_line(other) if other else ""
    if there.startswith("gitdir:") and _join(os.path.dirname(other), there[len("gitdir:") :].strip()) == git:
        problem = f"{folder} is a copy of the worktree {os.path.dirname(other)}, and git knows that one alone"
        mend = "Remove the copy, and make a worktree with git worktree add."
    else:
        problem = f"{folder} says that it is a worktree of {common}, which knows that worktree elsewhere"
        mend = "git worktree repair, run here, mends it."
    return Checkout("worktree", folder, git, worktree=name, problem=problem, mend=mend)


def _read_submodule(folder: str, git: str, outer: Checkout | None) -> Checkout | None:
    """Return a submodule, which the checkout around it holds, and which leads back; None if it is none. In a worktree
    of the outer project it has a git directory of its own, and is the same submodule."""
    if outer is None or outer.problem:
        return None
    own, shared = (os.path.join(one, "modules", "") for one in (outer.git, outer.common))
    back = _config_value(git, "core", "worktree")
    if not git.startswith((own, shared)) or not back or _join(git, back) != os.path.realpath(folder):
        return None
    common = os.path.join(shared, os.path.relpath(git, own)) if git.startswith(own) else git
    return _with_branch(Checkout("submodule", folder, git, common, folder))


def _main_checkout(common: str) -> str:
    """Return the main checkout of a common git directory; empty for a bare repository."""
    if os.path.basename(common) == ".git" and _config_value(common, "core", "bare") != "true":
        return os.path.dirname(common)
    named = _config_value(common, "core", "worktree")
    return _join(common, named) if named else ""


def read_branch(git: str) -> str:
    """Return the branch that is checked out where the git directory is `git`; empty where HEAD is detached, but for a
    rebase or a bisection, which say of which branch."""
    head = read_line(os.path.join(git, "HEAD"))
    names = [head.removeprefix("ref:").strip()] if head.startswith("ref:") else []
    if not names:
        files = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
        names = [read_line(os.path.join(git, name)).strip() for name in files]
    name = next(filter(None, names), "").removeprefix("refs/heads/")
    # in a repository of reftables HEAD is elsewhere, and git alone reads it
    return "" if name in (".invalid", "detached HEAD") else name


def _with_branch(checkout: Checkout) -> Checkout:
    return checkout._replace(branch=read_branch(checkout.git))


def _is_git_directory(folder: str, linked: bool = False) -> bool:
    if not os.path.isfile(os.path.join(folder, "HEAD")):
        return False
    if all(os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs")):
        return True
    return linked and os.path.isfile(os.path.join(folder, "commondir"))


def _checkout_of_git_directory(folder: str) -> str:
    """Return the checkout whose git directory a folder is in; empty anywhere else. git runs its hooks there."""
    if not {".git", "worktrees"} & set(folder.split(os.sep)):
        return ""
    for above in folders_above(folder):
        if os.path.basename(above) == ".git" and _is_git_directory(above):
            return os.path.dirname(above)
        if os.path.basename(os.path.dirname(above)) == "worktrees":
            back = read_line(os.path.join(above, "gitdir"))
            root = os.path.dirname(_join(above, back)) if back else ""
            if root and os.path.isdir(root):
                return root
    return ""


def is_tracked_by_git(path: str) -> bool | None:
    """Return whether git tracks the file: then whoever can push can write it. None where git cannot tell."""
    root = checkout_root(os.path.dirname(os.path.abspath(path)))
    if root is None:
        return False
    # subprocess and more, 4 ms of each command, which few files need
    from store.git.process import GitError, run_git

    try:
        with run_git(root, "ls-files", "-z", "--", os.path.realpath(path)) as child:
            found = b"".join(child.read_chunks(never_cancelled))
            child.check_exit()
            return bool(found)
    except GitError:
        return None


# small files


def _has(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))


def read_line(path: str) -> str:
    """Return the text of a small regular file without its last newline; empty if there is none, or it is no text."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            raw = file.read(MAX_LINE_BYTES)
    except (OSError, ValueError):
        return ""
    return "" if b"\0" in raw else os.fsdecode(raw).strip("\r\n")


def read_own_line(path: str) -> str:
    """Return the text of a small file that this person alone may have written; empty for a link, or another's."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return read_line(path).strip() if stat.S_ISREG(found.st_mode) and own else ""


def _join(base: str, path: str) -> str:
    return os.path.realpath(os.path.join(base, path))


def _config_lines(git: str) -> list[str]:
    return [line.strip() for line in read_line(os.path.join(git, "config")).split("\n")]


def _config_value(git: str, section: str, key: str) -> str:
    """Return a value of a git directory's configuration, in the plain form that git itself writes."""
    found, inside = "", False
    for line in _config_lines(git):
        if line.startswith("["):
            inside = line.lower() == f"[{section}]"
        elif inside and line.partition("=")[0].strip().lower() == key:
            found = line.partition("=")[2].strip().strip('"')
    return found


# objects


def find_objects(git: str, shas: Iterable[str], depth: int = MOST_ALTERNATES) -> set[str]:
    """Return which of the objects of full hexadecimal `shas` the repository with the common git directory `git` holds,
    loose, packed, or by a repository that it borrows from. What cannot be read holds nothing."""
    return _find_in_store(os.path.join(git, "objects"), set(shas), depth)


def _find_in_store(objects: str, shas: set[str], depth: int) -> set[str]:
    packs = os.path.join(objects, "pack")
    found = {sha for sha in shas if os.path.isfile(os.path.join(objects, sha[:2], sha[2:]))}
    try:
        indexes = [name for name in os.listdir(packs) if name.endswith(".idx")]
    except OSError:
        indexes = []
    for name in indexes:
        found |= _find_in_index(os.path.join(packs, name), shas - found)
    borrowed = read_line(os.path.join(objects, "info", "alternates"))
    for other in borrowed.split("\n") if borrowed and depth else ():
        found |= _find_in_store(os.path.join(objects, other), shas - found, depth - 1)
    return found


def _find_in_index(path: str, shas: set[str]) -> set[str]:
    """Return which objects the index of a pack names, in the form that git has written since 2007."""
    try:
        with open(path, "rb") as file:
            head = file.read(NAMES_START)
            ends = [int.from_bytes(head[at : at + 4]) for at in range(FANOUT_START, NAMES_START, 4)]
            return {
                sha for sha in shas if head.startswith(IDX_MAGIC) and _is_among(file, ends, bytes.fromhex(sha))
            }
    except (OSError, ValueError):
        return set()


def _is_among(file: BinaryIO, ends: Sequence[int], name: bytes) -> bool:
    """Search the sorted names of an index; `ends` are the numbers of those that begin with each byte or a lower one."""
    low, high = (ends[name[0] - 1] if name[0] else 0), ends[name[0]]
    while low < high:
        middle = (low + high) // 2
        file.seek(NAMES_START + middle * len(name))
        found = file.read(len(name))
        if found == name:
            return True
        low, high = (middle + 1, high) if found < name else (low, middle)
    return False
