"""`Memory`: one open memory file and its parts. It forwards nothing: `memory.facts.remember(…)`.

A part that `memoranda remember` does not need is imported when it is first asked for.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from store.base.clock import Clock, utc_now
from store.base.errors import MemorandaError
from store.base.location import Location
from store.config.configuration import Config, load_config
from store.conversion import convert_memory
from store.database.database import Database
from store.git.checkout import CheckoutPlace
from store.personal.memory import GlobalFacts, personal_location, require_personal_memory
from store.projects.locating import keep_strays, locate, note_project
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.records.tags import Tagging
from store.records.timeline import Timeline
from store.records.workflow import Events, Iterations, Tasks
from store.trust.ownership import Trust, require_trust, require_writable_state, update_known_step

if TYPE_CHECKING:
    from store.context.builder import ContextBuilder
    from store.conversations.turns import Turns
    from store.documents.documents import Documents
    from store.evidence.evidence import Evidence
    from store.history.checkpoints import Checkpoints
    from store.history.history import History
    from store.history.moves import Moves
    from store.inbox.inbox import Inbox
    from store.purge.purge import Purge
    from store.records.commits import Commits
    from store.records.decisions import Decisions
    from store.search.pipeline import Search
    from store.sync.sync import Sync


_UNFINISHED_MOVE = "SELECT 1 FROM moves WHERE state = 'begun' LIMIT 1"


class Memory:
    """A memory, open for one thread. Each part is imported when it is first asked for. Raises NotOurs for a file that
    this installation neither made nor adopted, unless it is only to be looked at, UnsafeFile, ForeignFile,
    StorageError; a file of a newer version opens for reading only, and says so in `database.warnings`."""

    def __init__(
        self, location: Location, door: str, clock: Clock = utc_now, create: bool = True, passing: bool = False
    ) -> None:
        if location.problem is not None:
            raise location.problem
        self.location = location
        self.passing = passing
        self.created = not os.path.lexists(location.path)
        if location.look:
            self.database = Database(location.path, door, clock, create=False, look=True, convert=convert_memory)
        elif passing:  # a file that is gone afterwards: it is not kept that it is ours
            self.database = Database(location.path, door, clock, convert=convert_memory)
        else:
            # what is known to be there is never begun anew
            create = create and location.kind != "project"
            if self.created and create:
                require_writable_state(location.path)
            ours = Trust(location.path, require_trust(location.path))
            self.database = Database(location.path, door, clock, create, trust=ours, convert=convert_memory)
            note_project(location)
            self.database.warnings += keep_strays(location) if location.strays else []
        if location.git:
            self.database.here = CheckoutPlace(location.git, location.place[0], location.worktree, location.folder)
        self._config: Config | None = None
        try:
            if not self.database.read_only and self.database.value(_UNFINISHED_MOVE) is not None:
                self._settle_moves()
        except BaseException:  # a failing disk
            self.database.close()
            raise

    def _settle_moves(self) -> None:
        """Finish the moves that another process broke off."""
        try:
            self.database.warnings += self.moves.finish_begun()
        except MemorandaError as error:  # a disk that is full, a file that is busy: the next open tries again
            self.database.warnings.append(f"A move of a fact was broken off, and is not finished yet: {error}")

    @property
    def personal(self) -> Memory | None:
        """The person's own memory, closed together with this one; this one, if it is that. None where there is none,
        or where it cannot be opened: `require_personal` then says why."""
        try:
            return self.require_personal()
        except MemorandaError:
            return None

    def require_personal(self) -> Memory:
        """Return the person's own memory, as `personal`. Raise NotFound where there is none, and StorageError where it
        cannot be opened."""
        own = require_personal_memory(self.database)
        if own is self.database:
            return self
        memory = Memory.__new__(Memory)
        memory.location, memory.created, memory.database, memory._config = personal_location(), False, own, None
        return memory

    @classmethod
    def open(cls, path: str, door: str = "cli", clock: Clock = utc_now) -> Memory:
        """Open the memory in the file at `path`; create it if it is missing."""
        return cls(locate(path, {}, os.getcwd()), door, clock)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        for one in (self.database, self.database.beside):
            if one is not None and one.last_step is not None:
                update_known_step(one.connection, one.path)
        self.database.close()

    @property
    def now(self) -> str:
        """This moment, by this memory's clock."""
        return self.database.clock()

    @property
    def config(self) -> Config:
        """What is set for this memory, as it was when first asked for."""
        if self._config is None:
            self._config = load_config(self.location)
        return self._config

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """Checkpoints: taking, listing, and which expire."""
        from store.history.checkpoints import Checkpoints

        return Checkpoints(self.database)

    @cached_property
    def commits(self) -> Commits:
        """Commits, and what they are linked to."""
        from store.records.commits import Commits

        return Commits(self.database)

    @cached_property
    def decisions(self) -> Decisions:
        """Decisions."""
        from store.records.decisions import Decisions

        return Decisions(self.database)

    @cached_property
    def events(self) -> Events:
        """Events."""
        return Events(self.database)

    @cached_property
    def facts(self) -> Facts:
        """Facts of this project."""
        return Facts(self.database)

    @cached_property
    def globals(self) -> GlobalFacts:
        """The person's global facts, as this project sees them."""
        return GlobalFacts(self.database)

    @cached_property
    def history(self) -> History:
        """The steps of this memory, and undoing them."""
        from store.history.history import History

        return History(self.database)

    @cached_property
    def iterations(self) -> Iterations:
        """Iterations."""
        return Iterations(self.database)

    @cached_property
    def moves(self) -> Moves:
        """Facts moved between this memory and the person's own."""
        from store.history.moves import Moves

        return Moves(self.database)

    @cached_property
    def mutes(self) -> Mutes:
        """Records that no agent is sent."""
        return Mutes(self.database)

    @cached_property
    def tagging(self) -> Tagging:
        """Tags of records."""
        return Tagging(self.database)

    @cached_property
    def tasks(self) -> Tasks:
        """Tasks."""
        return Tasks(self.database)

    @cached_property
    def timeline(self) -> Timeline:
        """What happened, newest first."""
        return Timeline(self.database)

    @cached_property
    def turns(self) -> Turns:
        """Turns of conversations."""
        from store.conversations.turns import Turns

        return Turns(self.database)

    @cached_property
    def documents(self) -> Documents:
        from store.documents.documents import Documents, find_roots

        return Documents(self.database, lambda: find_roots(self.database, self.location, self.config))

    @cached_property
    def evidence(self) -> Evidence:
        from store.evidence.evidence import Evidence

        return Evidence(self.database, self.location.project)

    @cached_property
    def inbox(self) -> Inbox:
        from store.inbox.inbox import Inbox

        return Inbox(self.database, self.documents)

    @cached_property
    def purge(self) -> Purge:
        from store.purge.purge import Purge

        return Purge(self.database, self.documents)

    @cached_property
    def sync(self) -> Sync:
        from store.sync.sync import Sync

        return Sync(self.database, self.inbox, self.location, lambda: self.config)

    @property
    def search(self) -> Search:
        from store.search.pipeline import Search

        return Search.from_config(self.database, self.config)

    @property
    def context(self) -> ContextBuilder:
        from store.context.builder import ContextBuilder

        return ContextBuilder(self.database, self.search, self.documents)
