"""Who calls: the client, as it introduced itself, the model if it names one, and the session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from store.base.clock import from_ms, to_ms
from store.database.database import Database
from store.doors.trust import MCP, agent, client_name

CLIENT_INFO = "io.modelcontextprotocol/clientInfo"  # in `_meta` of a request, since 2026-07-28
_SESSION = ("sessionId", "session_id", "threadId", "thread_id", "conversationId")
_NESTED = ("x-codex-turn-metadata",)  # where a client keeps these one step down
_MODEL = ("model", "modelId", "model_id")
HOOKS_MS = 12 * 3_600_000  # for so long after a hook, the hook's session counts as the caller's


@dataclass(frozen=True, slots=True)
class Caller:
    """One that calls a tool: `client` is the name of its program, `session` the key of its conversation, `own` whether
    the server made that one up."""

    client: str
    session: str
    model: str = ""
    own: bool = False

    @property
    def origin(self) -> str:
        """Return the origin of what it writes."""
        return f"{MCP}{self.client}"


def caller_of(meta: Mapping[str, Any] | None, info: object, given: str, made_up: str, database: Database) -> Caller:
    """Return who sent a request with this `_meta`, over a connection whose `initialize` gave this client `info` (its
    name, or None). The session is `given` to the server, or named in `_meta`, or that of the last hook of the same
    agent, or else the one that the server made up."""
    meta = meta if isinstance(meta, Mapping) else {}
    client_info = meta.get(CLIENT_INFO)
    name = client_info.get("name") if isinstance(client_info, Mapping) else None
    client = client_name(name if isinstance(name, str) else info)
    places = [meta, *(inner for key in _NESTED if isinstance(inner := meta.get(key), Mapping))]
    session = given or _first(places, _SESSION) or _of_hooks(database, client)
    return Caller(client, session or made_up, _first(places, _MODEL), not session)


def _first(places: list[Mapping[str, Any]], names: tuple[str, ...]) -> str:
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())[:200]
    return ""


def _of_hooks(database: Database, client: str) -> str:
    """Return the session of the last hook of the same agent, if that is not long ago."""
    since = from_ms(to_ms(database.clock()) - HOOKS_MS)
    rows = database.rows(
        "SELECT session, client FROM agent_sessions WHERE last_at >= ? AND EXISTS"
        " (SELECT 1 FROM turns WHERE turns.session = agent_sessions.session AND turns.origin LIKE 'hook:%')"
        " ORDER BY last_at DESC LIMIT 20",
        (since,),
    )
    return next((session for session, name in rows if agent(name) == agent(client)), "")
