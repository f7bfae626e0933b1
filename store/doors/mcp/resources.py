"""Resources: facts and decisions, all or one; and the prompt that gives what a session needs to go on."""

from store.base.citations import parse
from store.base.errors import InvalidInput, NotFound
from store.doors.mcp import reading
from store.doors.mcp.answers import Answer, listed
from store.doors.mcp.caller import Caller
from store.doors.mcp.items import Describer
from store.memory import Memory

SCHEME = "memory://"
LETTERS = {"facts": "F", "decisions": "D"}
MOST = 200  # decisions that are listed


def read(memory: Memory, caller: Caller, uri: str) -> Answer:
    """What a resource says: `memory://facts`, `memory://decisions`, each `/12`. Raises NotFound."""
    name, _, number = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or name not in LETTERS:
        raise NotFound("There is no such resource.", "There are memory://facts and memory://decisions, each /ID.")
    if number:
        if not (number.isascii() and number.isdigit()):
            raise InvalidInput("The number of a record follows.", f"For example: {SCHEME}{name}/12")
        return reading.get(memory, caller, {"citation": f"{LETTERS[name]}#{number}"})
    if name == "facts":
        return reading.facts(memory, caller, {"limit": MOST})
    found = memory.decisions.many(memory.decisions.ids(limit=MOST))
    total = memory.database.value("SELECT count(*) FROM decisions WHERE status = 'active'")
    describe = Describer(memory, caller)
    items = [describe.item(one) for one in found]
    said = f"{total:,} decisions in force, newest first. memory_search finds one."
    return listed("decisions", items, limit=MOST, total=total, said=said)


def recover(memory: Memory, caller: Caller, arguments: dict[str, str] | None) -> str:
    """The text of the prompt `recover`. Raises NotFound, InvalidInput."""
    wanted = (arguments or {}).get("checkpoint", "").strip()
    number = None
    if wanted:
        citation = parse(wanted, "checkpoint")
        if citation.kind != "checkpoint":
            raise InvalidInput("That is no checkpoint.", "Write it as K#3, or leave it out for the newest.")
        number = int(citation.target)
    answer = reading.recovery(memory, caller, number)
    return f"Go on with the work of the last session. What memory holds of it:\n\n{answer.text}"
