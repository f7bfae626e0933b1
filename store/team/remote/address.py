"""Where a remote is, for a git that runs outside of the project."""

import os

from store.base.errors import InvalidInput
from store.base.location import checkout_root
from store.git.process import GitError, printed, run

ORIGIN = "origin"


def usual(project: str | None) -> str:
    """Return the remote that git takes where none is named: origin, or the only one that there is."""
    try:
        names = _names(project)
    except GitError:
        names = []
    return names[0] if len(names) == 1 else ORIGIN


def addresses(project: str | None, remote: str) -> tuple[str, str]:
    """Return where git fetches of a remote of the project from, and where it pushes to; or twice the path or address
    that `remote` itself is. Without a name it is the usual one. Raise InvalidInput, or GitError where git does not read
    the repository."""
    if project is not None:
        name = remote or ORIGIN
        found = printed(project, "remote", "get-url", "--", name)
        if not found and not remote:
            name = usual(project)
            found = printed(project, "remote", "get-url", "--", name)
        if found:
            pushed = printed(project, "remote", "get-url", "--push", "--", name) or found
            return _absolute(project, found), _absolute(project, pushed)
    if "://" in remote or os.path.isabs(remote) or ("@" in remote and ":" in remote):
        return remote, remote
    names = _names(project)
    there = f", but {', '.join(names)}" if names else ""
    step = f"Name it: share --remote {names[0]}" if names else "Add one with `git remote add`: share --remote NAME."
    raise InvalidInput(f"There is no remote {remote or ORIGIN} here{there}.", step)


def _names(project: str | None) -> list[str]:
    """Return the names of a project's remotes. Raise GitError where git does not read its repository."""
    if project is None or checkout_root(project) is None:
        return []
    with run(project, "remote") as child:
        names = child.output.read().decode("utf-8", "replace").split()
        child.check()
    return names


def _absolute(project: str, address: str) -> str:
    """Return an address; a relative path, which git reads from the root of a checkout, in full."""
    if os.path.isabs(address) or ":" in address.partition("/")[0]:
        return address
    root = printed(project, "rev-parse", "--show-toplevel") or project
    return os.path.normpath(os.path.join(root, address))
