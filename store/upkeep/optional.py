"""What the rest of Memoranda can use of the parts `tools` and `team`, where they are installed (store/parts.py)."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple, Protocol

from store.base.models import Decision, Fact
from store.base.runtime import find_extension
from store.base.state_files import team_folder
from store.ingest.runner import IngestReport
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.word_search import RemainingMatch

# in the folder of a memory's team
TEAM_FILE = "team.db"
UNREACHED_NOTE = "what was shared with a team, which cannot be reached without the part `team`"


class ToolCount(NamedTuple):
    """How much another tool keeps of a project; `more` where no more was counted."""

    name: str
    title: str
    number: int
    more: bool


class ForeignMemories(NamedTuple):
    """Other tools' memories on this machine: what they keep of a memory's project, at most so much of each tool, and
    the conversations of agents, which are read into the memory."""

    count_memories: Callable[[Memory, int], list[ToolCount]]
    count_conversations: Callable[[Memory, int], list[ToolCount]]
    read_conversations: Callable[[Memory, Sequence[str], Callable[[], bool]], IngestReport]


class ExchangeReport(NamedTuple):
    """What an exchange with a team did: in a sentence; in `lines`, what arrived and what is wrong, with names
    as others chose them; as `data` for scripts."""

    message: str
    lines: list[str]
    data: dict[str, object]


class OpenTeam(Protocol):
    """The team of a memory while it is open, as whoever exchanges with it sees it."""

    def report_exchange(self, wait: Callable[[str], None] = ...) -> ExchangeReport:
        """Exchange; `wait` is called with what is being done. Raise MemorandaError."""

    def stop_exchange(self) -> None:
        """End an exchange that another thread runs."""


class Sharing(NamedTuple):
    """What is shared with a team, of a memory that has a TEAM_FILE: asked where something is shared or was received,
    for the name of a record on every machine, which is empty if it is not shared, and for the places on which the
    records of a purge were shared. `erase_purged` removes from the streams what was purged, `exchange_due` exchanges
    where `team.minutes` passed since the last time."""

    open_team: Callable[[Memory], AbstractContextManager[OpenTeam]]
    has_records: Callable[[Memory], bool]
    record_identity: Callable[[Memory, Fact | Decision], str]
    shared_places: Callable[[Memory, PurgePlan], list[RemainingMatch]]
    erase_purged: Callable[[Memory], None]
    exchange_due: Callable[[Memory], None]


def find_sharing(memory: Memory) -> Sharing | None:
    """Return what the part `team` does for a memory; None where nothing was ever shared, or the part is missing."""
    return find_extension("team", Sharing) if _has_team_file(memory) else None


def has_shared_records(memory: Memory) -> bool:
    """Tell whether something of a memory is shared, or was received from a team."""
    sharing = find_sharing(memory)
    return sharing is not None and sharing.has_records(memory)


def with_shared_places(memory: Memory, plan: PurgePlan) -> PurgePlan:
    """Return the plan of a purge with the places on which its records were shared: the remote and other machines, which
    a purge reaches only with the next exchange, and never for certain."""
    if not _has_team_file(memory):
        return plan
    if sharing := find_sharing(memory):
        return replace(plan, places=(*plan.places, *sharing.shared_places(memory, plan)))
    unreached = RemainingMatch("team", "team", _team_file(memory), UNREACHED_NOTE, "", can=False)
    return replace(plan, places=(*plan.places, unreached))


def _team_file(memory: Memory) -> str:
    return os.path.join(team_folder(memory.database.path), TEAM_FILE)


def _has_team_file(memory: Memory) -> bool:
    return os.path.lexists(_team_file(memory))
