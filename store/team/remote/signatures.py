"""Signatures of streams, made and checked by git with a person's own ssh or gpg key.

The newest commit of what is sent is signed, which covers every commit before it. The key that a writer's stream is
first seen with is theirs: what comes later without it, or with another one, waits until the person says otherwise.
"""

from dataclasses import dataclass

from store.team.team_file import StreamState

GOOD = ("G", "U")  # of git's %G?: by a key that the person trusts, by one that git knows nothing of
NONE, UNKNOWN = "N", "E"  # not signed; by a key that is not here
FORMAT = "%H %G? %GF %GS"  # of `git log`


@dataclass(frozen=True, slots=True)
class Signature:
    """What git says of a commit's signature: its `verdict` (%G?), the fingerprint of the `key`, and `who` that is by
    the person's own list of keys."""

    verdict: str = NONE
    key: str = ""
    who: str = ""

    @property
    def good(self) -> bool:
        return self.verdict in GOOD and bool(self.key)

    @property
    def shown(self) -> str:
        """The key, and whose it is if that is known."""
        return f"{self.key} {self.who}".strip()


def parsed(lines: list[str]) -> dict[str, Signature]:
    """Return the signatures that `git log` printed as FORMAT, by commit."""
    found = {}
    for line in lines:
        commit, verdict, key, who = (*line.split(" ", 3), "", "", "")[:4]
        found[commit] = Signature(verdict, key, "".join(letter for letter in who if letter.isprintable()))
    return found


def doubt(state: StreamState, signature: Signature) -> str:
    """Return why what is new of a stream has to wait, empty if nothing is wrong; note a key that is seen for the first
    time."""
    ours = state.key.partition(" ")[0]
    step = f"what is new waits; `team trust {state.writer}` takes it if they tell you so"
    if signature.good:
        if ours and signature.key != ours:
            return f"it is signed by another key, {signature.key}, and was by {ours}: {step}"
        state.key = signature.shown
        return ""
    if signature.verdict == UNKNOWN:
        return f"its signature cannot be checked, since git has not the key: {step}" if ours else ""
    if signature.verdict != NONE:
        return "its signature is bad: what is new waits until its writer signs it again"
    return f"it was signed by {ours} and is signed no longer: {step}" if ours else ""
