"""Add our lines to git's own hooks, after those that exist, and remove them again.

They are between two marks at the top of a hook and first runs the rest of it: what a hook of `husky` or `pre-commit`
does behind an `exec` or an `exit` would never be reached otherwise. What the rest ends with is what the hook ends with.
"""

import os
import shlex
import stat
from dataclasses import dataclass

from store.base import installation
from store.git.process import GitError
from store.git.process import run as git

KIND = "git-hooks"
HOOKS = ("post-commit", "commit-msg")
BEGIN, END = "# >>> memoranda >>>", "# <<< memoranda <<<"
SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")
LARGEST = 1_000_000  # bytes of a hook, and of a message


@dataclass(frozen=True, slots=True)
class InstalledHook:
    """What became of one of git's hooks: `state` is added, there (it was there already), removed, none, or refused,
    which `says` why."""

    hook: str
    path: str
    state: str
    says: str = ""


def install(root: str, command: tuple[str, ...], shared: bool = False) -> list[InstalledHook]:
    """Add our lines to git's hooks of a checkout, after those that exist. Hooks that git keeps for everybody are
    changed only if they are to be `shared`."""
    folder = _folder(root)
    if folder is None:
        return []
    if not shared and _tracked(root, folder):
        says = f"{folder} is kept in git, so it is the team's: say --project to change it for all."
        return [InstalledHook(hook, os.path.join(folder, hook), "refused", says) for hook in HOOKS]
    installation.keep(installation.name_of(KIND, root), "1")
    return [_install(os.path.join(folder, hook), hook, command) for hook in HOOKS]


def uninstall(root: str) -> list[InstalledHook]:
    """Remove our lines from git's hooks of a checkout; delete a hook that held nothing else."""
    folder = _folder(root)
    installation.drop(installation.name_of(KIND, root))
    return [_uninstall(os.path.join(folder, hook), hook) for hook in HOOKS] if folder else []


def wanted(root: str) -> bool:
    """Return whether the person asked for ours in the hooks of a checkout; a cheap look."""
    return bool(installation.read(installation.name_of(KIND, root)))


def installed(root: str) -> list[str]:
    """Return the hooks of a checkout that have ours in them."""
    folder = _folder(root)
    if folder is None:
        return []
    return [hook for hook in HOOKS if BEGIN in (_read(os.path.join(folder, hook)) or "")]


def block(command: tuple[str, ...], alone: bool) -> str:
    """Return what stands between the marks. One script may be several of git's hooks, told by its name, and may be run
    with `-e` and `-u`."""
    ours = f'{shlex.join([*command, "hook", "git"])} "${{0##*/}}" "$@" >/dev/null'
    called = f"! command -v {shlex.quote(command[0])} >/dev/null 2>&1 || {ours} || :"
    if alone:
        return f"{BEGIN}\n{called}\n{END}\n"
    return "\n".join(
        (
            BEGIN,
            'if [ -z "${MEMORANDA_GIT_HOOK:-}" ]; then',
            "  memoranda_status=0",
            '  MEMORANDA_GIT_HOOK=1 "$0" "$@" || memoranda_status=$?',
            f'  [ "$memoranda_status" -ne 0 ] || {called}',
            '  exit "$memoranda_status"',
            "fi",
            "unset MEMORANDA_GIT_HOOK",
            END,
            "",
        )
    )


def _install(path: str, hook: str, command: tuple[str, ...]) -> InstalledHook:
    try:
        before = _read(path)
        if before is None:
            text, mode = f"#!/bin/sh\n{block(command, alone=True)}", 0o755
        else:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            if BEGIN not in before and not mode & 0o111:
                says = f"{path} is not executable, so git does not run it: remove it, or make it so, and connect again."
                return InstalledHook(hook, path, "refused", says)
            first, _, rest = before.partition("\n")
            if not first.startswith("#!") or not any(word.rsplit("/", 1)[-1] in SHELLS for word in first[2:].split()):
                says = (
                    f"{path} is not a shell script: let it call `{shlex.join([*command, 'hook', 'git', hook])}` itself."
                )
                return InstalledHook(hook, path, "refused", says)
            if BEGIN in before:
                own = _without(before)
                first, _, rest = own.partition("\n")
                alone = not rest.strip()
            else:
                alone = False
            text = f"{first}\n{block(command, alone)}{rest}"
            mode |= 0o111
            if text == before:
                return InstalledHook(hook, path, "there")
        _write(path, text, mode)
        return InstalledHook(hook, path, "added")
    except (OSError, UnicodeDecodeError) as error:
        return InstalledHook(
            hook, path, "refused", f"{path} cannot be changed: {getattr(error, 'strerror', 'no text')}."
        )


def _uninstall(path: str, hook: str) -> InstalledHook:
    try:
        before = _read(path)
        if before is None or BEGIN not in before:
            return InstalledHook(hook, path, "none")
        after = _without(before)
        if after.strip() in ("#!/bin/sh", ""):
            os.unlink(path)
        else:
            _write(path, after, stat.S_IMODE(os.stat(path).st_mode))
        return InstalledHook(hook, path, "removed")
    except (OSError, UnicodeDecodeError) as error:
        return InstalledHook(
            hook, path, "refused", f"{path} cannot be changed: {getattr(error, 'strerror', 'no text')}."
        )


def _without(text: str) -> str:
    """Return a hook without what stands between our marks."""
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        return text
    return text[:start] + text[end + len(END) :].removeprefix("\n")


def _folder(root: str) -> str | None:
    """Return the folder of git's hooks of a checkout, wherever `core.hooksPath` or a worktree puts it."""
    try:
        with git(root, "rev-parse", "--git-path", "hooks") as child:
            path = child.output.read().decode("utf-8", "surrogateescape").rstrip("\n")
            child.check()
    except GitError:
        return None
    return os.path.abspath(os.path.join(root, os.path.expanduser(path))) if path else None


def _tracked(root: str, folder: str) -> bool:
    """Return whether git keeps files of that folder, so that a change of them is everybody's."""
    inside = os.path.relpath(folder, root)
    if inside.startswith("..") or inside.split(os.sep)[0] == ".git":
        return False
    try:
        with git(root, "ls-files", "--", inside) as child:
            return bool(child.output.read(1))
    except GitError:
        return False


def _read(path: str) -> str | None:
    """Return the text of a hook, None if there is none. Raise OSError, UnicodeDecodeError."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST).decode("utf-8")
    except FileNotFoundError:
        return None


def _write(path: str, text: str, mode: int) -> None:
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.{os.urandom(4).hex()}.part"
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            os.fchmod(handle, mode)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
