"""The files of a project, read for one look at evidence: each at most once, through no symbolic link, none large; and
what git knows of where they went."""

import os
import time
from collections.abc import Iterable, Iterator

from store.base.location import checkout_root
from store.documents.paths import Root, Unreadable, read_bytes
from store.evidence.items import BASE, EvidenceItem, digest_of, first_digest, lines_of, plain
from store.git import moves, refs
from store.git.process import GitError

GIT_SECONDS = 5.0  # for all that git is asked in one look
MOST_COMPARED = 2_000_000  # lines, in search of one place
MOST_BASES = 40  # commits with which the present one is compared
MOST_NEW = 300  # files that are searched for what is in none that git knows
MOST_NAMES = 40  # names that git is asked about
Lines = tuple[int, int]


class ProjectSources:
    """The files below the folder `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.git = checkout_root(root) is not None
        self._files: dict[str, list[bytes] | None] = {}
        self._firsts: dict[str, dict[str, list[int]]] = {}
        self._moves: dict[str, dict[str, moves.GitMove]] = {}
        self._names: list[str] | None = None
        self._held: dict[str, list[str]] = {}
        self._until = time.monotonic() + GIT_SECONDS

    @property
    def head(self) -> str:
        """The first digits of the commit that is checked out; empty without git."""
        top = checkout_root(self.root)
        return refs.head(top)[:BASE] if top else ""

    def lines(self, path: str) -> list[bytes] | None:
        """Return the lines of a file; None where there is none. Raise Unreadable."""
        if path not in self._files:
            self._files[path] = None
            if plain(path):
                try:
                    self._files[path] = lines_of(read_bytes(Root(self.root, tuple(path.split("/")), path))[0])
                except (FileNotFoundError, NotADirectoryError):
                    pass
        return self._files[path]

    def readable(self, path: str) -> list[bytes] | None:
        """Return the lines of a file; None where there is none that can be read."""
        try:
            return self.lines(path)
        except Unreadable:
            return None

    def find_lines(self, path: str, size: int, digest: str, near: int) -> Lines | None:
        """Return where a file has these lines, the nearest to where they were."""
        lines = self.readable(path)
        if not lines or size < 1:
            return None
        if path not in self._firsts:
            firsts: dict[str, list[int]] = {}
            for place, line in enumerate(lines):
                firsts.setdefault(first_digest(line), []).append(place)
            self._firsts[path] = firsts
        places = sorted(self._firsts[path].get(digest[-8:], ()), key=lambda place: abs(place + 1 - near))
        for place in places[: max(1, MOST_COMPARED // size)]:
            if digest_of(lines[place : place + size]) == digest:
                return place + 1, place + size
        return None

    def moved(self, item: EvidenceItem) -> moves.GitMove | None:
        """Return what git says became of the file of an item since it was bound; None if it does not know."""
        if not self.git or item.base == "-":
            return None
        if item.base not in self._moves:
            known: dict[str, moves.GitMove] = {}
            if len(self._moves) < MOST_BASES and time.monotonic() < self._until:
                try:
                    known = moves.since(self.root, item.base, self._until)
                except GitError:
                    pass  # that commit is of a rewritten history
            self._moves[item.base] = known
        return self._moves[item.base].get(item.target)

    def others(self, path: str) -> Iterator[str]:
        """Yield files in which the content of a missing one may be: those of its name first, then new ones."""
        if self._names is None:
            self._names = []
            if self.git and time.monotonic() < self._until:
                try:
                    self._names = moves.files(self.root, self._until)
                except GitError:
                    pass
        name, ending = os.path.basename(path), os.path.splitext(path)[1]
        same = [one for one in self._names if os.path.basename(one) == name]
        alike = [one for one in self._names if one.endswith(ending) and os.path.basename(one) != name]
        yield from [*same, *alike][:MOST_NEW]

    def holding(self, symbol: str) -> Iterable[str]:
        """Return the files that hold a name as a word."""
        name = symbol.rpartition(".")[2]
        if name not in self._held:
            found: list[str] = []
            if self.git and len(self._held) < MOST_NAMES and time.monotonic() < self._until:
                try:
                    found = moves.holding(self.root, name, self._until)
                except GitError:
                    pass
            self._held[name] = found[:MOST_NEW]
        return self._held[name]

    def commits(self, shas: list[str]) -> dict[str, tuple[str, bool]]:
        """Return, of each commit that git has, its whole sha, and whether something leads to it; nothing where git
        cannot be asked."""
        try:
            return moves.reachable(self.root, shas, self._until) if self.git and shas else {}
        except GitError:
            return {}
