"""`Memory`: one open memory file and its parts. It forwards nothing: `memory.facts.remember(…)`."""

import os

from store.clock import Clock, utc_now
from store.database import Database
from store.location import Location, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.checkpoints import Checkpoints
    from store.commits import Commits
    from store.config import Config
    from store.conversation import Conversation
    from store.decisions import Decisions
    from store.documents import Documents
    from store.events import Events
    from store.facts import Facts
    from store.history import History
    from store.iterations import Iterations
    from store.plans import Plans
    from store.purge import Purge
    from store.search import Search
    from store.tasks import Tasks
    from store.timeline import Timeline


class Memory:
    """A memory, open for one thread. Each part is imported when it is first asked for. Raises UnsafeFile, ForeignFile,
    StorageError; a file of a newer version opens for reading only, and says so in `database.warnings`."""

    def __init__(self, location: Location, door: str, clock: Clock = utc_now, create: bool = True) -> None:
        self.location = location
        self.created = not os.path.lexists(location.path)
        self.database = Database(location.path, door, clock, create)
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
    def facts(self) -> "Facts":
        from store.facts import Facts

        return Facts(self.database)

    @property
    def decisions(self) -> "Decisions":
        from store.decisions import Decisions

        return Decisions(self.database)

    @property
    def commits(self) -> "Commits":
        from store.commits import Commits

        return Commits(self.database)

    @property
    def iterations(self) -> "Iterations":
        from store.iterations import Iterations

        return Iterations(self.database)

    @property
    def events(self) -> "Events":
        from store.events import Events

        return Events(self.database)

    @property
    def tasks(self) -> "Tasks":
        from store.tasks import Tasks

        return Tasks(self.database)

    @property
    def conversation(self) -> "Conversation":
        from store.conversation import Conversation

        return Conversation(self.database)

    @property
    def documents(self) -> "Documents":
        from store.documents import Documents
        from store.documents.places import places

        return Documents(self.database, lambda: places(self.location, self.config))

    @property
    def timeline(self) -> "Timeline":
        from store.timeline import Timeline

        return Timeline(self.database)

    @property
    def history(self) -> "History":
        from store.history import History

        return History(self.database)

    @property
    def plans(self) -> "Plans":
        from store.plans import Plans

        return Plans(self.database)

    @property
    def purge(self) -> "Purge":
        from store.purge import Purge

        return Purge(self.database, self.documents)

    @property
    def checkpoints(self) -> "Checkpoints":
        from store.checkpoints import Checkpoints

        return Checkpoints(self.database)

    @property
    def search(self) -> "Search":
        from store.search import Search

        return Search.of(self.database, self.config)
