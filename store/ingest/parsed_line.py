"""What a line of a source says, whatever its form: a turn, something discardable, nothing, or nonsense."""

from dataclasses import dataclass

LONGEST = 200_000  # characters of a turn; the rest of a longer one is cut off
ROLES = {
    **dict.fromkeys(("user", "human", "usuario", "usuaria", "persona"), "user"),
    **dict.fromkeys(("assistant", "ai", "asistente", "agent", "agente", "claude", "model", "bot"), "assistant"),
}


class Broken(Exception):
    """A line that cannot be read; the message says why, in a few words, and not what it holds."""


@dataclass(slots=True)
class ParsedLine:
    """What was said in `session` by `role` at a moment (empty if nobody says when). `kind` says why it is discardable,
    empty for a turn. `id` tells it from other lines of its session, empty where it has none; `cwd` is the folder it was
    said in, if that is known. `doubtful`: others may have written it, whatever role it has."""

    session: str
    role: str
    text: str
    at: str = ""
    id: str = ""
    kind: str = ""
    cwd: str = ""
    speaker: str = ""
    doubtful: bool = False
