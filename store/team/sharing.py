"""Ask about the team of a memory, which most do not have: nothing is opened, or made, where there is none."""

from dataclasses import replace

from store.base import installation
from store.git.process import printed
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.team.exchange import Team
from store.team.operation import NAME_CHARACTERS
from store.team.team_file import exists


def with_shared(memory: Memory, plan: PurgePlan) -> PurgePlan:
    """Return the plan of a purge with the places on which its records were shared: the remote and other machines, which
    a purge reaches only with the next exchange, and never for certain."""
    if not exists(installation.team_folder(memory.database.path)):
        return plan
    with Team(memory) as team:
        places = team.shared(plan)
    return replace(plan, places=(*plan.places, *places))


def erase_shared(memory: Memory) -> None:
    """Remove from the streams of a memory's team, if there are any, what was purged from it. Raise Busy or GitError."""
    if exists(installation.team_folder(memory.database.path)):
        with Team(memory) as team:
            team.erase()


def shares(memory: Memory) -> bool:
    """Return whether something of a memory is shared, or was received from a team."""
    if not exists(installation.team_folder(memory.database.path)):
        return False
    with Team(memory) as team:
        return bool(team.choice or team.members())


def git_name(folder: str) -> str:
    """Return the name that git has for the person in a folder; empty without one."""
    name = printed(folder, "config", "--get", "user.name")
    return "".join(letter for letter in name if letter.isprintable())[:NAME_CHARACTERS].strip()
