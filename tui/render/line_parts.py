"""The parts of a record's description: a heading, a label with its value, a text, a time."""

from store.base.clock import how_long_ago, local_time
from store.base.models import Record
from store.base.vocabulary import PERSON
from tui.render.field_diff import LABEL, Line, who

OWN = {PERSON: "you", "duplicates": "Memoranda"}
"""Origins that are no agent's → who they are."""
TAKEN = {name.casefold() for name in (*OWN, *OWN.values())}
UUID = 36  # characters of one, which agents name conversations by


def head(kind: str, record: Record, *words: str) -> Line:
    extra = "".join(f" · {word}" for word in words if word)
    return [(record.citation, "own"), (f"  {kind}{extra}", "dim")]


def when(at: str, now: str) -> str:
    return f"{local_time(at)} ({how_long_ago(now, at)})"


def row(label: str, value: str, style: str = "") -> Line:
    return [(label.ljust(LABEL), "label"), (value, style)]


def words(text: str, style: str) -> list[Line]:
    """Split a text into lines, all but the first indented, so that none can pass for a line of the interface."""
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [[(first, style)], *([("  " + line, style)] for line in rest)]


def spoken(origin: str, *words: str) -> Line:
    """Return who said a record, and how."""
    return row("Said by", ", ".join((who(origin), *words)))


def writer(origin: str) -> str:
    """Return who wrote a record, as people name them: `you`, an agent, `import from notes`, a conversation by
    the beginning of its UUID; in full, with the door, an agent that calls itself what only these are called."""
    if origin in OWN:
        return OWN[origin]
    door, _, name = origin.partition(":")
    if door == "team":  # with the identity of whoever bears that name
        name = name.partition(" (")[0]
    if name.strip().casefold() in TAKEN:
        return origin
    if door == "talk" and len(name) == UUID and name.count("-") == 4:
        return f"chat {name[:8]}"
    return f"import from {name}" if name and door == "import" else name or origin
