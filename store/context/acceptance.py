"""Decide which facts a person wrote, said or approved: only those may be sent to a model or an agent.

Apart from `selection`, because a hook that starts a session needs nothing else of it.
"""

import json
from collections.abc import Collection, Sequence

from store.base.vocabulary import PERSON
from store.database.database import Database
from store.history.compression import every_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Authored(Protocol):
        """A fact, or what is needed of one."""

        @property
        def id(self) -> int: ...
        @property
        def origin(self) -> str: ...
        @property
        def source(self) -> str: ...


TALK, IMPORT = "talk:", "import:"  # what the person said in a conversation, and what they imported
BELIEVE = "believe"  # begins the reason of a step that accepted an agent's text, since it quoted the person
# the changes by which a person approves a fact
YES = ("remember", "confirm", "correct", "pin", "accept", "decide", "merge", "supersede", "edit")


def accepted(database: Database, facts: "Sequence[Authored]") -> Collection[int]:
    """Return those of these facts that a person wrote, said, imported, or approved since; or that an agent recorded in
    the person's own words, where they trust it."""
    yes = {
        fact.id
        for fact in facts
        if fact.origin == PERSON
        or fact.origin.startswith(IMPORT)
        or (fact.origin.startswith(TALK) and fact.source == "explicit")
    }
    rest = [f"[{fact.id}]" for fact in facts if fact.id not in yes]
    if rest:
        verbs = " OR ".join(f"h.reason LIKE '{verb}%'" for verb in YES)
        rows = database.rows(
            f"SELECT DISTINCT r.pk FROM json_each(?) AS j CROSS JOIN {every_row(database)} AS r"
            " ON r.tbl = 'facts' AND r.pk = j.value JOIN history AS h ON h.seq = r.seq"
            f" WHERE ((h.actor = ? OR (h.actor LIKE '{TALK}%' AND r.op = 'UPDATE')) AND ({verbs})"
            f" OR h.door = 'mcp' AND h.reason LIKE '{BELIEVE}%')"
            " AND h.undone_by IS NULL AND h.undoes IS NULL"
            # superseding a fact rejects it, though it may have been restored since
            " AND coalesce(r.after ->> '$.status', 'active') = 'active'",
            (json.dumps(rest), PERSON),
        )
        yes |= {json.loads(key)[0] for (key,) in rows}
    return yes
