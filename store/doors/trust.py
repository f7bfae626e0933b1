"""Which agent is asking, what it may write, and which records no person has confirmed."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from store.base.clock import from_ms, to_ms
from store.base.errors import StorageError
from store.base.models import Decision, Task
from store.base.state_files import delete_state, last_state_problem, read_state, state_name_of, write_state
from store.base.vocabulary import FILE_ORIGIN, PERSON_ORIGIN
from store.config.configuration import Config
from store.config.settings import TRUST_POLICIES, TRUST_PREFIX
from store.database.database import Database
from store.history.history import find_approved_ids
from store.search.query_parser import why_search_denied

# Pause all doors of one memory for a while: nothing is sent to an agent, and nothing is taken from one.
#
# It is kept in the person's folder for state, outside of every checkout, so that no agent can end it by a file of the
# project, and a hook can look without opening the memory.

PAUSE_KIND = "pauses"
PAUSE_MINUTES = 60


def pause_doors(path: str, now: str, minutes: int = PAUSE_MINUTES) -> str:
    """Pause the doors of the memory at `path` for some minutes from `now` on; return until when. Raise StorageError
    where it cannot be stored, for then no door would see it."""
    until = from_ms(to_ms(now) + minutes * 60_000)
    name = state_name_of(PAUSE_KIND, path)
    if not write_state(name, until):
        delete_state(name)
        raise StorageError(
            f"Nothing is paused: {last_state_problem()}", "Name a folder that can be written in $XDG_STATE_HOME."
        )
    return until


def resume_doors(path: str) -> None:
    """End the pause of the memory at `path`."""
    delete_state(state_name_of(PAUSE_KIND, path))


def get_pause_end(path: str, now: str) -> str:
    """Return until when the memory at `path` is paused; empty if it is not."""
    until = read_state(state_name_of(PAUSE_KIND, path)).strip()
    return until if until > now else ""


MCP_ORIGIN, HOOK_ORIGIN = (
    "mcp:",
    "hook:",
)  # origins of records that came by MCP or a hook; the client's name follows
POLICY_PROPOSE, POLICY_BELIEVE_QUOTED, POLICY_OFF = TRUST_POLICIES
UNKNOWN_CLIENT = "unknown"
# what a client calls itself → what `memoranda connect` calls it
AGENT_OF_CLIENT = {
    "codex-mcp-client": "codex",
    "gemini-cli-mcp-client": "gemini",
    "gemini-cli": "gemini",
}
# what the person brought in, or said in a conversation
_PERSON_ORIGINS = ("import:", "talk:")


def clean_client_name(text: object) -> str:
    """Return the name by which a client introduced itself, as it is kept: letters, digits, `-`, `_` and `.`, 40 at
    most."""
    name = re.sub(r"[^a-z0-9._-]+", "-", text.lower() if isinstance(text, str) else "").strip("-.")[:40]
    return name or UNKNOWN_CLIENT


def agent_of(name: str) -> str:
    """Return the agent that a client's name or an origin means: `mcp:codex-mcp-client`, `hook:codex` → `codex`; empty
    for an origin that is no agent's."""
    if name.startswith((MCP_ORIGIN, HOOK_ORIGIN)):
        name = name.partition(":")[2]
    elif ":" in name or name in (PERSON_ORIGIN, FILE_ORIGIN):
        return ""
    return AGENT_OF_CLIENT.get(name, name)


def get_write_policy(config: Config, client: str) -> str:
    """Return what the person lets a client do: POLICY_PROPOSE (the default), POLICY_BELIEVE_QUOTED or POLICY_OFF.
    `trust.mcp.<client>` names it as it calls itself, or as `connect` does."""
    for name in dict.fromkeys((client, agent_of(client))):
        found = config.find_value(TRUST_PREFIX + name)
        if found is not None:
            return str(found.value)
    return POLICY_PROPOSE


def why_read_denied(config: Config, client: str, session: str) -> str:
    """Return why a session may read nothing of this memory, by the person's rules; empty if it may. A denial is
    logged."""
    # a session that names its chat itself (`discord:channel:7`), or a direct conversation of its client
    key = session if ":" in session else f"{agent_of(client)}:direct:{session}"
    why = why_search_denied(key, config["search.scopeRules"], config["search.scope"])
    if why:
        logging.getLogger("memoranda").warning("the session %s was denied: %s", key, why)
    return why


def get_unconfirmed_origin(record: Decision | Task) -> str:
    """Return the origin of a decision or task that no person said or confirmed; empty for any other. For tasks see
    `task_origins`."""
    origin = record.origin
    if origin == PERSON_ORIGIN or origin.startswith(_PERSON_ORIGINS) or getattr(record, "confirmed_at", None):
        return ""
    return origin


def task_origins(database: Database, tasks: Sequence[Task]) -> dict[str, str]:
    """Return citation → `get_unconfirmed_origin` of each task; empty for one that a person started, changed or
    finished, which confirms it."""
    by = {task.id: get_unconfirmed_origin(task) for task in tasks}
    confirmed = find_approved_ids(database, "tasks", [number for number, origin in by.items() if origin])
    return {task.citation: "" if task.id in confirmed else by[task.id] for task in tasks}
