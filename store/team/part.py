"""What the team does for the rest of Memoranda, of a memory that has a team's file (store/upkeep/optional.py)."""

from contextlib import closing

from store.base.clock import to_ms
from store.base.models import Decision, Fact
from store.base.runtime import Part
from store.base.state_files import team_folder
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.word_search import RemainingMatch
from store.team.collect import SHARED_LETTER_BY_KIND
from store.team.exchange import Team
from store.team.team_file import TeamFile
from store.upkeep.optional import Sharing


def find_places(memory: Memory, plan: PurgePlan) -> list[RemainingMatch]:
    """Return the places on which the records of a purge were shared."""
    with Team(memory) as team:
        return team.shared_places(plan)


def erase_shared_records(memory: Memory) -> None:
    """Remove from the streams of a memory's team what was purged from it. Raise Busy or GitError."""
    with Team(memory) as team:
        team.erase_purged()


def shares_or_receives(memory: Memory) -> bool:
    """Tell whether something of a memory is shared, or was received."""
    with Team(memory) as team:
        return bool(team.choice or team.members())


def exchange_due(memory: Memory) -> None:
    """Exchange with the team, where something is shared and `team.minutes` passed since the last time. Raise what
    Team.exchange does."""
    minutes = int(memory.config["team.minutes"])
    if minutes and shares_or_receives(memory):
        with Team(memory) as team:
            if not team.last_attempt or to_ms(memory.now) - to_ms(team.last_attempt) >= minutes * 60_000:
                team.exchange()


def shared_identity(memory: Memory, record: Fact | Decision) -> str:
    """Return what a record is called on every machine: `D12@3c7vjyhh2avx`; empty if it is not shared."""
    letter = SHARED_LETTER_BY_KIND[type(record).__name__.lower()]
    with closing(TeamFile(team_folder(memory.database.path))) as team:
        return next(
            (id for id, number in team.held_numbers().items() if number == record.id and id[0] == letter), ""
        )


PART = Part((Sharing(Team, shares_or_receives, shared_identity, find_places, erase_shared_records, exchange_due),))
