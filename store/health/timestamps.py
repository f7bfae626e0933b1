"""Check times and values: times in the future, a clock that was set back, and values that our own code never writes."""

from collections.abc import Iterator

from store.base.citations import cite
from store.base.clock import from_ms, local_time, to_ms
from store.health.finding import NOTE, OK, WRONG, CheckContext, Finding, named, salvage
from store.history.checkpoint_payload import torn

AHEAD = 120_000  # milliseconds by which two machines' clocks may differ
FAR = 86_400_000  # … and from which on ages are wrong
# the columns of time of each table; a commit's is its author's clock, and not ours
MOMENTS = {
    "facts": ("created_at", "last_confirmed_at"),
    "decisions": ("decided_at",),
    "tasks": ("created_at", "updated_at"),
    "iterations": ("started_at", "completed_at"),
    "events": ("created_at",),
    "checkpoints": ("created_at",),
    "turns": ("at",),
    "summaries": ("created_at",),
    "commits": ("committed_at",),
    "history": ("at",),
}
JSON = {"facts": ("evidence", "tags"), "decisions": ("alternatives",), "events": ("payload",)}
JSON["iterations"] = ("phases_completed", "artifacts")
JSON["summaries"] = ("discussed", "decisions", "open_questions")
MOMENT = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z"
ORIGINS = ("user", "agent", "hook", "hook:%", "file", "git", "worker", "mcp:%", "import:%")
BACK = """
SELECT count(*), max(h.seq) FROM history h JOIN history p ON p.seq = h.seq - 1
WHERE h.at < p.at AND unixepoch(p.at) - unixepoch(h.at) > 60
"""


def clocks(visit: CheckContext) -> Iterator[Finding]:
    """Report records with a time in the future, and the steps before which the clock was set back."""
    database, now = visit.database, visit.memory.now
    visit.progress("times", 0, 0)
    ahead = from_ms(to_ms(now) + AHEAD)
    latest, tables = "", []
    for table, names in MOMENTS.items():
        if table == "commits":
            continue
        for name in names:
            found = database.value(f"SELECT max({name}) FROM {table} WHERE {name} > ?", (ahead,))
            if found:
                tables.append(table)
                latest = max(latest, found)
    if latest:
        says = f"Records dated in the future ({named(sorted(set(tables)))}): the latest {_shown(latest)}."
        step = "Set this machine's clock right; if it is right, they age from that day on."
        yield Finding("clocks", WRONG if latest > from_ms(to_ms(now) + FAR) else NOTE, says, step)
    count, last = database.rows(BACK)[0]
    if count:
        says = f"The clock was set back {count:,} time{'' if count == 1 else 's'}, the last before step {last:,}."
        yield Finding("clocks", NOTE, says, "Times before it are later than they seem; the order of steps is right.")
    if not latest and not count:
        yield Finding("clocks", OK, "No record is dated in the future.")


def _shown(moment: str) -> str:
    try:
        return local_time(moment)
    except (ValueError, OverflowError):
        return "not a date of the calendar"


def values(visit: CheckContext) -> Iterator[Finding]:
    """Check that times are times, lists are lists, numbers are not below zero, origins are known."""
    if visit.quick:
        return
    database = visit.database
    visit.progress("values", 0, 0)
    odd: list[str] = []

    def look(table: str, what: str, where: str) -> None:
        if database.value(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1"):
            odd.append(f"{table}: {what}")

    for table, names in MOMENTS.items():
        for name in names:
            look(table, f"{name} is not a time", f"{name} IS NOT NULL AND {name} NOT GLOB '{MOMENT}'")
    for table, names in JSON.items():
        for name in names:
            look(table, f"{name} is not JSON", f"NOT json_valid({name})")
    known = " AND ".join(f"origin NOT LIKE '{origin}'" for origin in ORIGINS)
    known += " AND origin NOT IN (SELECT actor FROM history)"
    for table in ("iterations", "events", "checkpoints", "turns", "summaries"):
        look(table, "an origin is not known", known)
    look("commits", "a number is below zero", "min(files_changed, insertions, deletions) < 0")
    look("commits", "a sha is not valid", "length(sha) NOT IN (40, 64) OR sha GLOB '*[^0-9a-f]*'")
    look("checkpoints", "one belongs to no step", "seq < 0 OR seq > (SELECT coalesce(max(seq), 0) FROM history)")
    if broken := torn(database):
        odd.append(f"{cite('checkpoint', broken[0])} does not hold what was written")
    if odd:
        says = f"Values that Memoranda never writes: {named(odd)}."
        yield Finding("values", WRONG, says, *salvage(database.path))
    else:
        yield Finding("values", OK, "Times, lists and numbers are well formed.")
