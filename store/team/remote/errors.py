"""What git says when a remote does not do what is asked, as an error that a person understands."""

import os

from store.git.process import GitError
from store.text.vocabulary import whole_file

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
        for error in whole_file(os.path.dirname(__file__), "git_errors")["error"]:
            found = next((line for line in lines if any(part in line for part in error["says"])), None)
            if found is not None:
                return GitError(f"{error['message']}: {found[:REASON_CHARACTERS].rstrip('.')}.", error["next"])
    return GitError(f"git {verb} failed: {reason}.", "Nothing was lost; look at the remote, and try again.")
