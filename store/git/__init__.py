"""Commits of the repository that contains a memory, read by git itself in a process without the repository's settings.
Records of commits are in `records`."""

import os

from store.base.location import checkout_root
from store.base.runtime import never_cancelled


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
