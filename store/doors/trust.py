"""Which agent is asking, what it may write, and which records no person has confirmed."""

import re

from store.base.vocabulary import FILE, PERSON
from store.config.settings import POLICIES, TRUST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Decision, Task
    from store.config.configuration import Config
    from store.database.database import Database

MCP, HOOK = "mcp:", "hook:"  # origins of records that came by MCP or a hook; the client's name follows
PROPOSE, BELIEVE_QUOTED, OFF = POLICIES
UNKNOWN = "unknown"
# what a client calls itself → what `memoranda connect` calls it
AGENTS = {
    "codex-mcp-client": "codex",
    "gemini-cli-mcp-client": "gemini",
    "gemini-cli": "gemini",
}
_BROUGHT = ("import:", "talk:")  # what the person brought in, or said in a conversation


def client_name(text: object) -> str:
    """Return the name by which a client introduced itself, as it is kept: letters, digits, `-`, `_` and `.`, 40 at
    most."""
    name = re.sub(r"[^a-z0-9._-]+", "-", text.lower() if isinstance(text, str) else "").strip("-.")[:40]
    return name or UNKNOWN


def agent(name: str) -> str:
    """Return the agent that a client's name or an origin means: `mcp:codex-mcp-client`, `hook:codex` → `codex`; empty
    for an origin that is no agent's."""
    if name.startswith((MCP, HOOK)):
        name = name.partition(":")[2]
    elif ":" in name or name in (PERSON, FILE):
        return ""
    return AGENTS.get(name, name)


def policy(config: "Config", client: str) -> str:
    """Return what the person lets a client do: PROPOSE (the default), BELIEVE_QUOTED or OFF. `trust.mcp.<client>` names
    it as it calls itself, or as `connect` does."""
    for name in dict.fromkeys((client, agent(client))):
        found = config.find(TRUST + name)
        if found is not None:
            return str(found.value)
    return PROPOSE


def session_key(client: str, session: str) -> str:
    """Return the key by which the rules of `search.scopeRules` know who asks: a session that names its chat itself
    (`discord:channel:7`) by that, every other as a direct conversation of its client (`claude-code:direct:ID`)."""
    return session if ":" in session else f"{agent(client)}:direct:{session}"


def denied(config: "Config", client: str, session: str) -> str:
    """Return why a session may read nothing of this memory, by the person's rules; empty if it may. A denial is
    logged."""
    from store.search.query.access_scope import denied as by_rules

    key = session_key(client, session)
    why = by_rules(key, config["search.scopeRules"], config["search.scope"])
    if why:
        import logging

        logging.getLogger("memoranda").warning("the session %s was denied: %s", key, why)
    return why


def unconfirmed(record: "Decision | Task") -> str:
    """Return the origin of a decision or task that no person said or confirmed; empty for any other. For tasks see also
    `worked_on`."""
    origin = record.origin
    if origin == PERSON or origin.startswith(_BROUGHT) or getattr(record, "confirmed_at", None):
        return ""
    return origin


def worked_on(database: "Database", tasks: "list[Task]") -> set[int]:
    """Return the ids of those tasks that a person started, changed or finished: which confirms them."""
    import json

    from store.history.compression import every_row

    rows = database.rows(
        f"SELECT DISTINCT r.pk FROM json_each(?) AS j CROSS JOIN {every_row(database)} AS r"
        " ON r.tbl = 'tasks' AND r.pk = j.value JOIN history AS h ON h.seq = r.seq"
        " WHERE h.actor = ? AND h.undone_by IS NULL AND h.undoes IS NULL",
        (json.dumps([f"[{task.id}]" for task in tasks]), PERSON),
    )
    return {json.loads(key)[0] for (key,) in rows}
