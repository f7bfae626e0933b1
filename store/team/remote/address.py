"""Where a remote is, for a git that runs outside of the project."""

import os

from store.base.errors import InvalidInput
from store.git.process import printed


def addresses(project: str | None, remote: str) -> tuple[str, str]:
    """Return where git fetches of a remote of the project from, and where it pushes to; or twice the path or address
    that `remote` itself is. Raise InvalidInput."""
    if project is not None and (found := printed(project, "remote", "get-url", "--", remote)):
        pushed = printed(project, "remote", "get-url", "--push", "--", remote) or found
        return _absolute(project, found), _absolute(project, pushed)
    if "://" in remote or os.path.isabs(remote) or ("@" in remote and ":" in remote):
        return remote, remote
    raise InvalidInput(
        f"There is no remote {remote} here.", "Add one with `git remote add`, or name another: share --remote NAME."
    )


def _absolute(project: str, address: str) -> str:
    """Return an address; a relative path, which git reads from the root of a checkout, in full."""
    if os.path.isabs(address) or ":" in address.partition("/")[0]:
        return address
    root = printed(project, "rev-parse", "--show-toplevel") or project
    return os.path.normpath(os.path.join(root, address))
