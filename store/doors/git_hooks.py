"""Hooks of git: our lines in them, and what they do at a commit.

Add our lines to git's own hooks, after those that exist, and remove them again.

They are between two marks at the top of a hook and first runs the rest of it: what a hook of `husky` or `pre-commit`
does behind an `exec` or an `exit` would never be reached otherwise. What the rest ends with is what the hook ends with.
"""

import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from store.base.citations import SHORT_SHA_LENGTH, cite
from store.base.runtime import open_at_once
from store.base.state_files import delete_state, read_state, replace_whole_file, state_name_of, write_state
from store.config.configuration import may_capture
from store.git.checkout import is_tracked_by_git
from store.git.process import GitError, run_git
from store.git.repository import Repository, find_commits_made_here
from store.memory import Memory
from store.records.commits import find_known_shas, link_implemented, log_commit
from store.records.decisions import find_mentioned_decisions, link_mentioned_decisions

# A commit that was just made: in the timeline at once, and if it was made here, linked to the decisions that its
# message names.

# bytes of a message
MAX_MESSAGE_BYTES = 1_000_000


def handle_git_hook(memory: Memory, root: str, words: list[str]) -> None:
    """Do what a hook of git asks for: `memoranda hook git post-commit`, or `commit-msg FILE`. Print nothing but, before
    a commit, that a decision which its message names does not exist."""
    if words[0] == "post-commit":
        record_head_commit(memory, root, "hook:git")
    elif words[0] == "commit-msg" and len(words) > 1:
        for number in find_missing_decisions(memory, words[1]):
            print(f"memoranda: there is no decision {cite('decision', number)} here.", file=sys.stderr)


def record_head_commit(memory: Memory, root: str, actor: str) -> str:
    """Keep the commit that HEAD is, and what its message says that it implements: its citation, empty if it was known
    or is not to be kept."""
    if not may_capture(memory.config, "commits"):
        return ""
    try:
        with run_git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") as child:
            shas = child.read_words(lambda: False, accepted=(0, 1))
    except GitError:
        return ""
    return (
        cite("commit", shas[0][:SHORT_SHA_LENGTH]) if shas and record_commit(memory, root, shas[0], actor) else ""
    )


def record_commit(memory: Memory, root: str, sha: str, actor: str, decisions: Sequence[int] = ()) -> bool:
    """Keep a commit that git has at `root`, by its whole hash, as git tells it, in the iteration of its time; that it
    implements these `decisions` and, if it was made here, those that its message names. Return False where it is known,
    or git has none. Raise NotFound."""
    if find_known_shas(memory.database, [sha]):
        return False
    try:
        found = list(Repository(root).read_commits([sha]))
    except GitError:
        return False
    for info in found:
        with memory.database.write(actor, "git") as write:
            if not log_commit(write, info):
                return False
            if may_capture(memory.config, "decisions"):
                here = find_commits_made_here(root)
                here = here if info.sha in here else find_commits_made_here(root, branches=True)
                link_mentioned_decisions(write, found, here)
            if decisions:
                link_implemented(write, info.sha, decisions)
        return True
    return False


def find_missing_decisions(memory: Memory, path: str) -> list[int]:
    """Return the numbers of decisions that a commit's message names and that are not there."""
    try:
        with open(path, "rb") as file:
            message = file.read(MAX_MESSAGE_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    # below is what `commit -v` shows
    message = re.split(r"(?m)^\S+ -{24} >8 -{24}\s*$", message, maxsplit=1)[0]
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    named = find_mentioned_decisions("\n".join(lines), {})
    return sorted(number for number in named if not memory.decisions.get_many([number]))


GIT_HOOKS_KIND = "git-hooks"
GIT_HOOKS = ("post-commit", "commit-msg")
BLOCK_BEGIN, BLOCK_END = "# >>> memoranda >>>", "# <<< memoranda <<<"
HOOK_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")
# bytes of a hook, and of a message
MAX_HOOK_BYTES = 1_000_000


class InstalledHook(NamedTuple):
    """What became of one of git's hooks: `state` is added, there (it was there already), removed, none, or refused,
    which `says` why."""

    hook: str
    path: str
    state: str
    says: str = ""


def install_git_hooks(root: str, command: tuple[str, ...], shared: bool = False) -> list[InstalledHook]:
    """Add our lines to git's hooks of a checkout, after those that exist. Hooks that git keeps for everybody are
    changed only if they are to be `shared`."""
    folder = _hooks_folder(root)
    if folder is None:
        return []
    if not shared and is_tracked_by_git(folder):
        says = f"{folder} is kept in git, so it is the team's: say --project to change it for all."
        return [InstalledHook(hook, os.path.join(folder, hook), "refused", says) for hook in GIT_HOOKS]
    write_state(state_name_of(GIT_HOOKS_KIND, root), "1")
    add = partial(_add_block, command=command)
    return [_change_hook(folder, hook, add) for hook in GIT_HOOKS]


def uninstall_git_hooks(root: str) -> list[InstalledHook]:
    """Remove our lines from git's hooks of a checkout; delete a hook that held nothing else."""
    folder = _hooks_folder(root)
    delete_state(state_name_of(GIT_HOOKS_KIND, root))
    return [_change_hook(folder, hook, _take_block) for hook in GIT_HOOKS] if folder else []


def has_wanted_git_hooks(root: str) -> bool:
    """Return whether the person asked for ours in the hooks of a checkout; a cheap look."""
    return bool(read_state(state_name_of(GIT_HOOKS_KIND, root)))


def list_installed_hooks(root: str) -> list[str]:
    """Return the hooks of a checkout that have ours in them."""
    folder = _hooks_folder(root)
    if folder is None:
        return []
    return [hook for hook in GIT_HOOKS if BLOCK_BEGIN in (_read_hook(os.path.join(folder, hook)) or "")]


def make_hook_block(command: tuple[str, ...], alone: bool) -> str:
    """Return what stands between the marks. One script may be several of git's hooks, told by its name, and may be run
    with `-e` and `-u`."""
    ours = f'{shlex.join([*command, "hook", "git"])} "${{0##*/}}" "$@" >/dev/null'
    called = f"! command -v {shlex.quote(command[0])} >/dev/null 2>&1 || {ours} || :"
    if alone:
        return f"{BLOCK_BEGIN}\n{called}\n{BLOCK_END}\n"
    return "\n".join(
        (
            BLOCK_BEGIN,
            'if [ -z "${MEMORANDA_GIT_HOOK:-}" ]; then',
            "  memoranda_status=0",
            '  MEMORANDA_GIT_HOOK=1 "$0" "$@" || memoranda_status=$?',
            f'  [ "$memoranda_status" -ne 0 ] || {called}',
            '  exit "$memoranda_status"',
            "fi",
            "unset MEMORANDA_GIT_HOOK",
            BLOCK_END,
            "",
        )
    )


def _change_hook(folder: str, hook: str, change: Callable[[str, str], tuple[str, str]]) -> InstalledHook:
    """Change one hook; return what became of it, as `change` says: (its state, the sentence that goes with it)."""
    path = os.path.join(folder, hook)
    try:
        return InstalledHook(hook, path, *change(path, hook))
    except (OSError, UnicodeDecodeError) as error:
        says = f"{path} cannot be changed: {getattr(error, 'strerror', 'no text')}."
        return InstalledHook(hook, path, "refused", says)


def _add_block(path: str, hook: str, command: tuple[str, ...]) -> tuple[str, str]:
    """Add our lines to a hook, or replace them."""
    before = _read_hook(path)
    if before is None:
        write_whole_file(os.path.realpath(path), f"#!/bin/sh\n{make_hook_block(command, alone=True)}", 0o755)
        return "added", ""
    mode = stat.S_IMODE(os.stat(path).st_mode)
    ours = BLOCK_BEGIN in before
    if not ours and not mode & 0o111:
        says = f"{path} is not executable, so git does not run it: remove it, or make it so, and connect again."
        return "refused", says
    first, _, rest = _remove_block(before).partition("\n")
    if not first.startswith("#!") or not any(word.rsplit("/", 1)[-1] in HOOK_SHELLS for word in first[2:].split()):
        line = shlex.join([*command, "hook", "git", hook])
        return "refused", f"{path} is not a shell script: let it call `{line}` itself."
    text = f"{first}\n{make_hook_block(command, alone=ours and not rest.strip())}{rest}"
    if text == before:
        return "there", ""
    write_whole_file(os.path.realpath(path), text, mode | 0o111)
    return "added", ""


def _take_block(path: str, hook: str) -> tuple[str, str]:
    """Remove our lines from a hook, and the hook if nothing else is in it."""
    before = _read_hook(path)
    if before is None or BLOCK_BEGIN not in before:
        return "none", ""
    after = _remove_block(before)
    if after.strip() in ("#!/bin/sh", ""):
        os.unlink(path)
    else:
        write_whole_file(os.path.realpath(path), after, stat.S_IMODE(os.stat(path).st_mode))
    return "removed", ""


def _remove_block(text: str) -> str:
    """Return a hook without what stands between our marks."""
    start, end = text.find(BLOCK_BEGIN), text.find(BLOCK_END)
    if start < 0 or end < start:
        return text
    return text[:start] + text[end + len(BLOCK_END) :].removeprefix("\n")


def _hooks_folder(root: str) -> str | None:
    """Return the folder of git's hooks of a checkout, wherever `core.hooksPath` or a worktree puts it."""
    try:
        with run_git(root, "rev-parse", "--git-path", "hooks") as child:
            path = child.output.read().decode("utf-8", "surrogateescape").rstrip("\n")
            child.check_exit()
    except GitError:
        return None
    return os.path.abspath(os.path.join(root, os.path.expanduser(path))) if path else None


def _read_hook(path: str) -> str | None:
    """Return the text of a hook, None if there is none. Raise OSError, UnicodeDecodeError."""
    try:
        with open(path, "rb", opener=open_at_once) as file:
            return file.read(MAX_HOOK_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None


def write_whole_file(path: str, text: str, mode: int) -> None:
    """Give a file its text, whole, with a mode: whoever reads it meanwhile has the old one. Raise OSError."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with replace_whole_file(path) as file:
        os.fchmod(file.fileno(), mode)
        file.write(text.encode())
