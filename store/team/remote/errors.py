"""What git says when a remote does not do what is asked, as an error that a person understands."""

from store.git.process import GitError

REASON_CHARACTERS = 200


class RemoteRefuses(GitError):
    """The remote takes no refs of this kind, or lets none be replaced."""

    code = "remote-refuses"


class Malformed(GitError):
    """One of the streams holds objects that git refuses."""

    code = "malformed"


class Overtaken(GitError):
    """The remote's stream of this writer has something that this machine does not have."""

    code = "overtaken"


# words of git, of ssh and of curl → what happened, and what to do; the first that is found counts
_KNOWN = (
    (
        (
            *("could not read Username", "could not read Password", "Authentication failed", "Permission denied ("),
            *("Host key verification failed", "requested URL returned error: 401", "requested URL returned error: 403"),
        ),
        "The remote wants a login that git does not have here, or that may not do this",
        "Have git know it without a question (a credential helper, a key in ssh-agent): try `git ls-remote`.",
    ),
    (
        (
            *(
                "Could not resolve host",
                "resolve hostname",
                "Failed to connect",
                "Connection refused",
                "onnection timed out",
            ),
            *("Network is unreachable", "No route to host", "Operation too slow", "Operation timed out"),
        ),
        "The remote cannot be reached",
        "Nothing was lost; what is new is sent when it answers again.",
    ),
    (
        ("mismatched algorithms", "hash algorithm"),
        "The remote's repository names its objects by another hash than the streams here",
        "Share through a remote like the one before: share --remote NAME.",
    ),
    (
        ("does not appear to be a git repository", "epository not found", "' not found", "No such file or directory"),
        "There is no git repository at the remote's address, or none that you may read",
        "See the address with `git remote -v`, or name another: share --remote NAME.",
    ),
    (
        ("No space left on device", "Disk quota exceeded", "unable to write"),
        "There is no room left on the disk, here or at the remote",
        "Nothing was lost; make room, and try again.",
    ),
    (
        (
            *(
                "RPC failed",
                "Empty reply",
                "hung up unexpectedly",
                "early EOF",
                "unexpected disconnect",
                *("expected flush", "expected 'packfile'"),
            ),
            *("Connection reset", "Recv failure", "Send failure", "transfer closed", "Broken pipe", "end of file"),
            *("bad line length", "unexpected EOF", "invalid server response", "outstanding read data", "bytes missing"),
            "of length header were received",
        ),
        "The connection to the remote was cut in the middle",
        "Nothing was lost; the next exchange goes on from what is whole.",
    ),
)


def failure(verb: str, complaint: str) -> GitError:
    """Return what git complained about while it did `verb`, as an error with its next step."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    reason = next(
        (line for line in lines if line.startswith(("fatal:", "error:", "remote:", "!"))), lines[0] if lines else verb
    )[:REASON_CHARACTERS].rstrip(".?")
    if verb == "push":
        if "[remote rejected]" in complaint or "deny updating" in complaint or "declined" in complaint:
            return RemoteRefuses(
                f"The remote takes no refs below refs/memoranda: {reason}.",
                "Ask whoever runs it to allow them, or share through another remote: share --remote NAME.",
            )
        if any(word in complaint for word in ("non-fast-forward", "fetch first", "stale info")):
            return Overtaken("The remote has a stream of this writer that this machine does not have.")
    if verb == "fetch" and "fsck error" in complaint:
        return Malformed(f"A stream on the remote holds what git refuses: {reason}.")
    if verb in ("push", "fetch", "ls-remote"):
        for words, happened, step in _KNOWN:
            if (found := next((line for line in lines if any(word in line for word in words)), None)) is not None:
                return GitError(f"{happened}: {found[:REASON_CHARACTERS].rstrip('.')}.", step)
    return GitError(f"git {verb} failed: {reason}.", "Nothing was lost; look at the remote, and try again.")
