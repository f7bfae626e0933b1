"""`Memory`: one open memory file and its parts. It forwards nothing: `memory.facts.remember(…)`."""

import os

from store import trust
from store.clock import Clock, utc_now
from store.database import Database
from store.location import Location, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.answers_cache import Answers
    from store.checkpoints import Checkpoints
    from store.commits import Commits
    from store.config import Config
    from store.context import Contexts
    from store.conversation.sessions import Sessions
    from store.conversation.summaries import Summaries
    from store.conversation.turns import Turns
    from store.decisions import Decisions
    from store.documents import Documents
    from store.events import Events
    from store.facts import Facts
    from store.history import History
    from store.inbox import Inbox
    from store.iterations import Iterations
    from store.mutes import Mutes
    from store.plans import Plans
    from store.purge import Purge
    from store.search import Search
    from store.tasks import Tasks
    from store.timeline import Timeline

# the parts that need the file alone, each made of it when it is asked for, its module imported only then
PARTS = {
    "checkpoints": "store.checkpoints.Checkpoints",
    "commits": "store.commits.Commits",
    "decisions": "store.decisions.Decisions",
    "events": "store.events.Events",
    "facts": "store.facts.Facts",
    "history": "store.history.History",
    "iterations": "store.iterations.Iterations",
    "mutes": "store.mutes.Mutes",
    "plans": "store.plans.Plans",
    "sessions": "store.conversation.sessions.Sessions",
    "summaries": "store.conversation.summaries.Summaries",
    "tasks": "store.tasks.Tasks",
    "timeline": "store.timeline.Timeline",
    "turns": "store.conversation.turns.Turns",
}


class Memory:
    """A memory, open for one thread. Each part is imported when it is first asked for. Raises NotOurs for a file that
    this installation neither made nor adopted, unless it is only to be looked at, UnsafeFile, ForeignFile,
    StorageError; a file of a newer version opens for reading only, and says so in `database.warnings`."""

    if TYPE_CHECKING:
        checkpoints: Checkpoints
        commits: Commits
        decisions: Decisions
        events: Events
        facts: Facts
        history: History
        iterations: Iterations
        mutes: Mutes
        plans: Plans
        sessions: Sessions
        summaries: Summaries
        tasks: Tasks
        timeline: Timeline
        turns: Turns
    else:

        def __getattr__(self, name):
            if name not in PARTS:
                raise AttributeError(f"a memory has no part {name}")
            module, _, part = PARTS[name].rpartition(".")
            return getattr(__import__(module, fromlist=[part]), part)(self.database)

    def __init__(self, location: Location, door: str, clock: Clock = utc_now, create: bool = True) -> None:
        self.location = location
        self.created = not os.path.lexists(location.path)
        if location.look:
            self.database = Database(location.path, door, clock, create=False, look=True)
        else:
            trust.require(location.path)
            self.database = Database(location.path, door, clock, create, trust=trust.Trust(location.path))
        self._config: Config | None = None

    @classmethod
    def open(cls, path: str, door: str = "cli", clock: Clock = utc_now) -> "Memory":
        """The memory in this very file, made if it is missing."""
        return cls(locate(path, {}, os.getcwd()), door, clock)

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self.database.last_step is not None:
            trust.note(self.database.connection, self.database.path)
        self.database.close()

    @property
    def now(self) -> str:
        """This moment, by this memory's clock."""
        return self.database.clock()

    @property
    def config(self) -> "Config":
        """What is set for this memory, as it was when first asked for."""
        if self._config is None:
            from store.config import load

            self._config = load(self.location)
        return self._config

    @property
    def documents(self) -> "Documents":
        from store.documents import Documents
        from store.documents.places import places

        return Documents(self.database, lambda: places(self.location, self.config))

    @property
    def inbox(self) -> "Inbox":
        from store.inbox import Inbox

        return Inbox(self.database, self.documents)

    @property
    def purge(self) -> "Purge":
        from store.purge import Purge

        return Purge(self.database, self.documents)

    @property
    def search(self) -> "Search":
        from store.search import Search

        return Search.of(self.database, self.config)

    @property
    def answers(self) -> "Answers":
        from store.answers_cache import Answers

        return Answers(self.database, self.search)

    @property
    def context(self) -> "Contexts":
        from store.context import Contexts

        return Contexts(self.database, self.search, self.documents)
