"""What git brought into a file: the lines that differ between two checked out commits, unless the person committed them
here themselves.

Read only for a file that changed, and where HEAD was moved by more than commits made here, by some short processes of
git. Where the repository cannot be read, nothing is known to have come by it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from store.base.cancelling import never
from store.base.location import checkout_root
from store.documents.managed_section import parse
from store.git import refs
from store.git.process import GitError, run
from store.sync.lines import SectionLine, digest, read

MOST_MOVES = 12  # of HEAD that are looked at; after more everything counts as brought
# files in git's folder while it is in the middle of something
BUSY = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


@dataclass(slots=True)
class GitChanges:
    """What git brought: `head` is the commit that is checked out now; `added` are the digests of the lines that came,
    `gone` the facts whose lines went; `known` the digests that each fact's line ever had here. `whole` is whether it
    cannot be told, and everything counts as brought; `clean` whether the file is as that commit has it."""

    head: str = ""
    added: frozenset[bytes] = frozenset()
    gone: frozenset[int] = frozenset()
    known: Mapping[int, frozenset[bytes]] = field(default_factory=dict)
    whole: bool = False
    clean: bool = False
    key: bytes = b""

    @property
    def any(self) -> bool:
        return self.whole or bool(self.added or self.gone)

    def brought(self, item: SectionLine) -> bool:
        """Return whether this line came by git, whatever it cited there."""
        return self.whole or digest(self.key, item.text) in self.added

    def removed(self, fact: int) -> bool:
        """Return whether the line of this fact went by git."""
        return self.whole or fact in self.gone

    def knew(self, fact: int, text: bytes) -> bool:
        """Return whether git brought a text back that the line of this fact had here before."""
        return self.any and text in self.known.get(fact, frozenset())


def busy(path: str) -> str:
    """Return what git is in the middle of in the checkout of a file, in words; empty if nothing."""
    root = checkout_root(os.path.dirname(path))
    found = refs.folders(root) if root else None
    if found is None:
        return ""
    return next((words for name, words in BUSY.items() if os.path.lexists(os.path.join(found[0], name))), "")


def head_of(path: str) -> str:
    """Return the commit that is checked out where a file is; empty outside of git."""
    root = checkout_root(os.path.dirname(path))
    return refs.head(root) if root else ""


def look(
    path: str, raw: bytes, before: str, after: int, name: str, key: bytes, known: Mapping[int, frozenset[bytes]]
) -> GitChanges:
    """Return what git brought into the file at `path`, whose content is `raw`, since the commit `before` was checked
    out and the file was written last, at `after` (in seconds): git may have come back to that commit, or was not there
    yet. `name` is that of the memory's section, `key` that of its digests."""
    root = checkout_root(os.path.dirname(path))
    if root is None:
        return GitChanges()
    place = os.path.relpath(path, root).replace(os.sep, "/")
    try:
        head = refs.head(root) or _asked_head(root)
        moves = refs.moves_since(root, before, after) if head and (before or after) else []
        if not head or (not moves and before in ("", head)):
            return GitChanges(head)
        changes = GitChanges(head, known=known, key=key, whole=moves is not None and len(moves) > MOST_MOVES)
        added, gone = set[bytes](), set[int]()
        for old, new in [(before, head)] if moves is None else moves[:MOST_MOVES]:
            earlier, later = (_lines(_content(root, commit, place), name, key) for commit in (old, new))
            if later is None or earlier is None:
                changes.whole = True
                continue
            added |= {text for _, text in later - earlier}
            gone |= {fact for fact, _ in earlier if fact} - {fact for fact, _ in later}
        changes.added, changes.gone = frozenset(added), frozenset(gone)
        changes.clean = changes.any and _content(root, head, place) == raw
    except GitError:
        return GitChanges()
    return changes


def _asked_head(root: str) -> str:
    """Return the commit that is checked out, as git says; empty before the first. Raise GitError."""
    with run(root, "rev-parse", "--quiet", "--verify", "HEAD") as child:
        return "".join(child.words(never, accepted=(0, 1)))


def _content(root: str, commit: str, place: str) -> bytes | None:
    """Return a file as a commit has it; None where it has none. Raise GitError."""
    with run(root, "cat-file", "blob", f"{commit}:{place}") as child:
        raw = b"".join(child.chunks(never))
        return raw if child.process.wait() == 0 else None


def _lines(raw: bytes | None, name: str, key: bytes) -> set[tuple[int, bytes]] | None:
    """Return the lines of a section as (fact or 0, digest); None where they cannot be read."""
    from store.base.errors import MemorandaError

    try:
        file = parse(raw or b"", name)
    except MemorandaError:
        return None
    return {(item.fact or 0, digest(key, item.text)) for item in read(file.lines, file.first).items}
