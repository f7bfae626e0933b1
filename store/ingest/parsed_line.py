"""The content of a line of a source, in any form: a turn, discardable text, nothing, or an error."""

from dataclasses import dataclass

LONGEST = 200_000  # characters of a turn; the rest of a longer one is cut off
ROLES = {
    **dict.fromkeys(("user", "human", "usuario", "usuaria", "persona"), "user"),
    **dict.fromkeys(("assistant", "ai", "asistente", "agent", "agente", "claude", "model", "bot"), "assistant"),
}


class Broken(Exception):
    """A line that cannot be read; the message gives the reason in a few words, and none of its text."""


@dataclass(slots=True)
class ParsedLine:
    """A text written in `session` by `role` at a moment (empty if unknown). `kind` is why it is discardable, empty for
    a turn. `id` is unique among the lines of its session, empty where it has none; `cwd` is the working folder, if
    known. `doubtful`: others may have written it, whatever its role."""

    session: str
    role: str
    text: str
    at: str = ""
    id: str = ""
    kind: str = ""
    cwd: str = ""
    speaker: str = ""
    doubtful: bool = False
