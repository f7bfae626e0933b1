"""What a reader finds in the memory of another tool, and what a source is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FoundDecision:
    """The parts of a decision besides its title."""

    chosen: str
    alternatives: tuple[str, ...] = ()
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A fact, or with `decision` a decision, whose title is `text`.

    It comes from lines `line` to `last` of the file at `path`, counted from 1; in a database or a JSON document `line`
    is the number of the record, and `place` says which in words. `id` is the tool's own, empty where it has none.
    `created` is UTC, empty where unknown or unreadable; `project` a folder, or its name where the tool keeps none.
    `note` is something to know before it is accepted.
    """

    text: str
    path: str
    line: int = 1
    last: int = 0
    place: str = ""
    id: str = ""
    session: str = ""
    project: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    domain: str = "general"
    pinned: bool = False
    note: str = ""
    decision: FoundDecision | None = None


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn of a conversation; `role` is user or assistant, `at` UTC or empty; `cwd` the working folder, the
    name of the project where the tool keeps no folder, or empty."""

    session: str
    role: str
    text: str
    path: str
    line: int = 1
    at: str = ""
    id: str = ""
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """Prose of a file, which is searched where it lies and is no fact."""

    path: str
    text: str


FoundItem = FoundMemory | FoundTurn | FoundDocument


@dataclass(frozen=True, slots=True)
class ReadTrouble:
    """What could not be read: `line` is 0 for a whole file."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Machine:
    """Where tools are looked for: the home folder, the environment, the system (a `sys.platform`), and the folder of
    the project that alone is wanted, empty for all."""

    home: str
    environment: Mapping[str, str] = field(default_factory=dict)
    system: str = "linux"
    project: str = ""


@dataclass(frozen=True, slots=True)
class MemorySource:
    """A tool whose memory can be read. Reading writes nothing, beside the source neither; damaged parts are appended to
    the troubles while the rest is still read."""

    name: str
    title: str
    detect: Callable[[Machine], list[str]]
    """List the files and folders where the tool keeps its memory on this machine; nothing is read of them."""
    read: Callable[[str, list[ReadTrouble]], Iterator[FoundItem]]
    """Yield what lies in a file or a folder, one at a time."""
    conversations: Callable[[str], Iterator[str]] = lambda path: iter(())
    """Of an agent: yield the folder in which each conversation was held, or the project's name, or nothing where it is
    this project's by its place; what was said is not read."""
