"""Link commits to shared decisions that their messages name by their writer: `Decision: D12@3c7vjyhh2avx`."""

from zlib import crc32

from store.base import installation
from store.config.configuration import captures
from store.memory import Memory
from store.records import decision_mentions
from store.team.collect import LETTERS
from store.team.team_file import TeamFile, exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Decision, Fact

LINKED = "linked"  # how many commits and which decisions there were when it was done last


def link_named(memory: Memory, team: TeamFile) -> int:
    """Link what is in the memory of both; each pair once, so that a link which a person deleted is not made again.
    Return how many links were made."""
    held = {id: number for id, number in team.numbers().items() if id.startswith("D")}
    known = f"{memory.database.value('SELECT count(*) FROM commits')} {crc32(' '.join(sorted(held)).encode())}"
    if not held or team.get(LINKED) == known or not captures(memory.config, "decisions"):
        return 0
    messages = memory.database.rows("SELECT sha, message FROM commits WHERE message LIKE '%decision%@%' ORDER BY id")
    pairs = [
        (sha, id)
        for sha, message in messages
        for id in decision_mentions.shared(message)
        if id in held and team.first_link(id, sha)
    ]
    made = 0
    if pairs:
        with memory.database.write(decision_mentions.IMPORTER, "git") as write:
            made = decision_mentions.add_links(write, [(sha, held[id], "implements") for sha, id in pairs])
    team.put(LINKED, known)
    return made


def shared_identity(memory: Memory, record: "Fact | Decision") -> str:
    """Return what a record is called on every machine: `D12@3c7vjyhh2avx`; empty if it is not shared."""
    folder = installation.team_folder(memory.database.path)
    if not exists(folder):
        return ""
    team = TeamFile(folder)
    try:
        letter = LETTERS[type(record).__name__.lower()]
        return next((id for id, number in team.numbers().items() if number == record.id and id[0] == letter), "")
    finally:
        team.close()
