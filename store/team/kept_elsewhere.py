"""Where a shared record stays after a purge of it here: said before it is done."""

from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.scan.column_scan import RemainingMatch
from store.team import former
from store.team.collect import ORIGIN
from store.team.operation import author_of
from store.team.team_file import TeamFile

REACH = "shared: `team sync` erases it from {} and from machines that exchange later; copies elsewhere stay"
BEFORE = "as {}, who you were before, "
THEIRS = "shared by {}: until they purge it their stream keeps it, on {} and here"
ASKED = "; `team sync` asks them to"
CHANGED = "; your change of it leaves your stream with `team sync`, and stays with those who accepted it"


def places(memory: Memory, team: TeamFile, plan: PurgePlan, remote: str, shares: bool) -> list[RemainingMatch]:
    """Return the place of each record of a plan that was shared, by oneself or by somebody else. `shares` says whether
    there is a stream of one's own, or will be."""
    held = _held(memory, team)
    names = {state.writer: state.shown for state in team.streams().values()}
    before = {one.writer for one in former.read(team).values() if one.owned}
    found = []
    for one in plan.going:
        if id := held.get((one.kind[0].upper(), int(one.key.strip("[]")))):
            author = author_of(id)
            what = REACH.format(remote)
            if author in before:
                what = f"{BEFORE.format(author)}{what}"
            elif author != team.writer:
                what = THEIRS.format(names.get(author, author), remote)
                what += ASKED if shares else ""
                what += CHANGED if any(map(team.record(id).changed_by, (team.writer, *before))) else ""
            found.append(RemainingMatch(id, "team", one.key, what, one.text, can=False))
    return found


def _held(memory: Memory, team: TeamFile) -> dict[tuple[str, int], str]:
    """Return the shared record of each fact and decision here: also of what was accepted since the last exchange."""
    sql = f"SELECT id, made FROM proposals WHERE state = 'accepted' AND made IS NOT NULL AND origin LIKE '{ORIGIN}%'"
    made = dict(memory.database.rows(sql))
    since = {("F", made[one.proposal]): one.id for one in team.offers().values() if one.proposal in made}
    return since | {(id[0], number): id for id, number in team.numbers().items()}
